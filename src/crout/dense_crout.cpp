#include "crout/dense_crout.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/backend.hpp"
#include "crout/dense/dense_sections.hpp"
#include "line/host_copies.hpp"

namespace weft {

namespace dense {

/// Rows up to which sections beside a finished diagonal one, and blocks of a solve, are gone through without products.
inline constexpr int leaf = 32;

/// Scratch memory that a diagonal section may have.
inline constexpr std::size_t most_scratch = 32 * 1024;

template <class Space, class Scalar>
class DenseCroutImpl final : public DenseCrout<Scalar> {
public:
  DenseCroutImpl(const Space &space, const Execution &execution, Index n, const DenseCroutOptions &options)
      : space_(space), products_(execution, options.products), n_(n), options_(options),
        section_(std::min(options.section ? options.section : leaf, std::max<Index>(n, 1))), z_("weft dense factors", std::size_t(n * n)),
        sizes_("weft row sizes", std::size_t(n)), column_sizes_("weft column sizes", std::size_t(n)),
        rows_("weft rows of A", std::size_t(n)), sweeps_("weft section sweeps", std::size_t(2 * (n / section_ + 1)))
  {
    if (!small(section_)) {
      for (auto &work : section_work_) work = Array("weft section", std::size_t(section_ * section_));
    }
    if (options_.pivot && n_ > 0) reserve_pivots();
  }

  const DenseCroutReport &factor(const Scalar *a, Index lda) override
  {
    if (lda < n_) throw std::invalid_argument("columns cannot be closer than their length");
    using Failure   = DenseCroutReport::Failure;
    auto &report    = this->report_;
    report          = {};
    report.pivoted  = options_.pivot;
    a_              = {a, lda, rows_.data()};
    Index row       = n_;
    const auto rows = range(n_);
    const Matrix<const Scalar> all{a, lda};
    Kokkos::parallel_reduce("weft row sizes", rows, RowSizes<Scalar>{all, n_, sizes_.data()}, Kokkos::Min<Index>(row));
    if (row < n_) {
      report.failure = Failure::not_finite_input;
      report.row     = row;
      return report;
    }
    if (n_ == 0) return report;
    Kokkos::parallel_for("weft column sizes", Kokkos::TeamPolicy<Space>(space_, static_cast<int>(n_), on_host ? 1 : 128),
                         ColumnSizes<Scalar>{all, n_, column_sizes_.data()});
    tolerance_ =
        options_.relative && options_.tolerance > 0 ? options_.tolerance * norm(all) / static_cast<double>(n_) : options_.tolerance;
    for_each("weft rows of A", n_, FirstRows{rows_.data()});
    Kokkos::deep_copy(space_, z_, Scalar(0));
    done_.clear();
    launched_ = 0;
    if (options_.pivot)
      columns(0, n_);
    else
      square(0, n_);
    count_sweeps();
    row = n_;
    Kokkos::parallel_reduce("weft dense pivots", rows,
                            FirstBadPivot<Scalar>{const_z(0, 0), rows_.data(), sizes_.data(), column_sizes_.data()},
                            Kokkos::Min<Index>(row));
    // Too few sweeps explain a bad pivot of their own or a later section; with as many as may be needed, only a bad pivot keeps them going.
    const bool limited = report.failure == Failure::not_converged && options_.most_sweeps && report.row <= row;
    if (row < n_ && !limited) {
      report.failure = finite(value_at<Space>(space_, z_, row * (n_ + 1))) ? Failure::zero_pivot : Failure::not_finite;
      report.row     = row;
    }
    return report;
  }

  const Index *rows_of_a() const override { return rows_.data(); }
  const Scalar *factors() const override { return z_.data(); }
  std::string description() const override
  {
    return "dense, sections of " + std::to_string(options_.section ? options_.section : leaf) + " rows, " +
           (options_.pivot ? "rows exchanged, " : "") + "products by " + products_.name();
  }

  void solve(const KernelScalar *rhs, KernelScalar *x, Transpose transpose, int nrhs, Index ld) override
  {
    if (n_ == 0 || nrhs == 0) return;
    if (static_cast<Index>(work_.size()) < n_ * nrhs) work_ = Array("weft dense work", std::size_t(n_ * nrhs));
    const bool transposed     = transpose == Transpose::yes;
    const Index *const places = options_.pivot ? rows_.data() : nullptr;
    for_each("weft take vectors", n_ * nrhs,
             CopyVectors<Scalar, KernelScalar>{rhs, ld, work_.data(), n_, n_, transposed ? nullptr : places});
    // P A = L U and A^T = U^T L^T P: the first factor has the unit diagonal where it is U's.
    for (Index first = 0; first < n_; first += leaf) block(true, transposed, first, nrhs);
    for (Index first = (n_ - 1) / leaf * leaf; first >= 0; first -= leaf) block(false, transposed, first, nrhs);
    for_each("weft give vectors", n_ * nrhs,
             CopyVectors<KernelScalar, Scalar>{work_.data(), n_, x, ld, n_, nullptr, transposed ? places : nullptr});
  }

private:
  using Array   = Kokkos::View<Scalar *, typename Space::memory_space>;
  using Indices = Kokkos::View<Index *, typename Space::memory_space>;

  static constexpr bool on_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

  /// body(std::true_type) where products are fused with sums: on a device that does so in vendor's products as well. A host may have to
  /// compute that by software.
  template <class Body>
  void by_rounding(const Body &body) const
  {
    if constexpr (!on_host) {
      if (options_.products == Products::vendor) return body(std::true_type{});
    }
    body(std::false_type{});
  }

  /// functor(0) .. functor(size - 1). So few are not worth waking the threads of a host.
  template <class Functor>
  void for_each(const char *label, Index size, const Functor &functor) const
  {
    if constexpr (on_host) {
      if (size <= 256) {
        for (Index k = 0; k < size; k++) functor(k);
        return;
      }
    }
    Kokkos::parallel_for(label, range(size), functor);
  }
  auto range(Index size) const { return Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, size); }
  Matrix<Scalar> z(Index i, Index j) const { return {z_.data() + i + j * n_, n_}; }
  Matrix<const Scalar> const_z(Index i, Index j) const { return {z_.data() + i + j * n_, n_}; }
  OrderedRows<Scalar> a(Index i, Index j) const { return {a_.data + j * a_.ld, a_.ld, a_.rows + i}; }
  static bool small(Index size) { return SmallDiagonal<Space, false, Scalar>::scratch_bytes(size) <= most_scratch; }
  /// The greatest multiple of `unit` rows that halves [first, last), at least one.
  static Index middle(Index first, Index last, Index unit) { return first + std::max<Index>(1, (last - first) / (2 * unit)) * unit; }

  /// P[r0:r1, c0:c1] += L[r0:r1, k0:k1] U[k0:k1, c0:c1].
  void product(Index r0, Index r1, Index c0, Index c1, Index k0, Index k1)
  {
    products_.add(1, Transpose::no, r1 - r0, c1 - c0, k1 - k0, z(r0, k0).data, n_, z(k0, c0).data, n_, z(r0, c0).data, n_);
  }

  /// Rows and columns from `first` to `last`, where products of all sections before are known. Halves, so that products are large.
  void square(Index first, Index last)
  {
    if (last - first <= section_) {
      diagonal(first, last);
      return;
    }
    const Index mid = middle(first, last, section_);
    square(first, mid);
    right(first, mid, mid, last);
    below(mid, last, first, mid);
    product(mid, last, mid, last, first, mid);
    square(mid, last);
  }
  /// The same for all rows that are left, so that any of them can give the next pivot (after S. Toledo, "Locality of reference in LU
  /// decomposition with partial pivoting", SIAM J. Matrix Anal. Appl. 18, 1997).
  void columns(Index first, Index last)
  {
    if (last - first <= section_) {
      exchange(first, last);
      diagonal(first, last);
      if (last < n_) below(last, n_, first, last);
      return;
    }
    const Index mid = middle(first, last, section_);
    columns(first, mid);
    right(first, mid, mid, last);
    product(mid, n_, mid, last, first, mid);
    columns(mid, last);
  }

  /// Rows that compete in a team of the tournament.
  static Index pivot_block(Index width) { return std::max<Index>(128, 4 * width); }
  static bool in_scratch(Index width)
  {
    return PivotRound<Space, Scalar>::scratch_bytes(pivot_block(width), width) <= most_scratch + 64; // and alignment
  }
  void reserve_pivots()
  {
    used_     = Kokkos::View<char *, typename Space::memory_space>("weft rows taken", std::size_t(n_));
    partners_ = Indices("weft row exchanges", std::size_t(section_));
    for (auto &winners : winners_) winners = Indices("weft pivot rows", std::size_t(((n_ - 1) / pivot_block(section_) + 1) * section_));
    if (!in_scratch(section_)) pivot_work_ = Array("weft pivot work", std::size_t(n_ * section_));
  }

  /// Brings the pivot rows of the columns from `first` to `last` to their places.
  void exchange(Index first, Index last)
  {
    using Round       = PivotRound<Space, Scalar>;
    const Index width = last - first, block = pivot_block(width);
    const bool small = in_scratch(section_);
    Round round{a(first, first), const_z(first, first), nullptr, n_ - first, width, block, small ? nullptr : pivot_work_.data(),
                used_.data(),    winners_[0].data()};
    for (int which = 0;; which = 1 - which) {
      round.winners     = winners_[which].data();
      const Index teams = (round.count - 1) / block + 1;
      Kokkos::TeamPolicy<Space> policy(space_, static_cast<int>(teams), on_host ? 1 : 256);
      if (small) policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Round::scratch_bytes(block, width))));
      Kokkos::parallel_for("weft pivot rows", policy, round);
      if (teams == 1) break;
      round.count      = (teams - 1) * width + std::min(width, round.count - (teams - 1) * block);
      round.candidates = round.winners;
    }
    Kokkos::parallel_for("weft row exchanges", range(1), Exchanges{round.winners, width, partners_.data(), rows_.data() + first});
    for_each("weft exchange rows", n_, ExchangeRows<Scalar>{z(first, 0), partners_.data(), width});
  }

  double norm(const Matrix<const Scalar> &all) const
  {
    using Real              = RealOf<Scalar>;
    Real largest            = 0;
    double sum              = 0;
    const Real *const sizes = sizes_.data();
    Kokkos::parallel_reduce("weft largest entry", range(n_), LargestOf<Real>{sizes}, Kokkos::Max<Real>(largest));
    if (largest == 0) return 0;
    Kokkos::parallel_reduce("weft squares", range(n_), SquaresOfColumn<Scalar>{all, n_, largest}, sum);
    space_.fence("weft: norm of a matrix");
    return static_cast<double>(largest) * std::sqrt(sum);
  }

  void right(Index r0, Index r1, Index c0, Index c1)
  {
    if (r1 - r0 <= leaf) {
      by_rounding([&](auto fused) {
        for_each("weft right section", c1 - c0,
                 Beside<true, fused, Scalar, leaf>{a(r0, c0), const_z(r0, r0), z(r0, c0), static_cast<int>(r1 - r0)});
      });
      return;
    }
    const Index mid = middle(r0, r1, leaf);
    right(r0, mid, c0, c1);
    product(mid, r1, c0, c1, r0, mid);
    right(mid, r1, c0, c1);
  }
  void below(Index r0, Index r1, Index c0, Index c1)
  {
    if (c1 - c0 <= leaf) {
      by_rounding([&](auto fused) {
        for_each("weft lower section", r1 - r0,
                 Beside<false, fused, Scalar, leaf>{a(r0, c0), const_z(c0, c0), z(r0, c0), static_cast<int>(c1 - c0)});
      });
      return;
    }
    const Index mid = middle(c0, c1, leaf);
    below(r0, r1, c0, mid);
    product(r0, r1, mid, c1, c0, mid);
    below(r0, r1, mid, c1);
  }

  /// Sweeps until the section has converged.
  void diagonal(Index first, Index last)
  {
    by_rounding([&](auto fused) { iterate<fused>(first, last); });
  }
  template <bool fused>
  void iterate(Index first, Index last)
  {
    const Index size = last - first, count = size * size;
    // An entry is final one sweep after those it is made of: 2 size - 1 sweeps at most (icm_reference.py), and one that finds no change.
    const int most = options_.most_sweeps ? options_.most_sweeps : static_cast<int>(2 * size);
    const Sweep<fused, Scalar> sweep{a(first, first),
                                     const_z(first, first),
                                     size,
                                     static_cast<RealOf<Scalar>>(tolerance_),
                                     options_.stop == DenseCroutOptions::Stop::residual,
                                     options_.start == DenseCroutOptions::Start::scaled};
    if (small(section_)) {
      using Kernel = SmallDiagonal<Space, fused, Scalar>;
      const Kernel kernel{sweep, z(first, first), most, sweeps_.data() + launched_};
      Kokkos::TeamPolicy<Space> policy(space_, 1, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes(size))));
      const int most_threads =
          on_host ? 1 : policy.team_size_max(kernel, Kokkos::ParallelForTag()); // a thread an entry, if there are so many
      Kokkos::parallel_for("weft diagonal section",
                           Kokkos::TeamPolicy<Space>(space_, 1, std::min(most_threads, 1024))
                               .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes(size)))),
                           kernel);
      done_.push_back(0); // known when the kernels have run
      launched_++;
      return;
    }
    Matrix<Scalar> old_z{section_work_[0].data(), size}, new_z{section_work_[1].data(), size};
    for_each("weft start of a section", count, LargeStart<fused, Scalar>{sweep, old_z});
    Index unsettled = 1;
    int done        = 0;
    while (unsettled > 0 && done < most) {
      Kokkos::parallel_reduce("weft sweep of a section", range(count), LargeSweep<fused, Scalar>{sweep, old_z, new_z}, unsettled);
      std::swap(old_z, new_z);
      done++;
    }
    for_each("weft end of a section", count, LargeEnd<Scalar>{old_z, z(first, first), size});
    done_.push_back(unsettled > 0 ? -done : done);
  }

  /// What the diagonal sections took, in their order.
  void count_sweeps()
  {
    if (launched_ > 0) {
      Kokkos::deep_copy(space_, Kokkos::View<int *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(done_.data(), done_.size()),
                        Kokkos::subview(sweeps_, Kokkos::make_pair(std::size_t(0), done_.size())));
      space_.fence("weft: read the sweeps");
    }
    auto &report    = this->report_;
    report.sections = static_cast<Index>(done_.size());
    for (std::size_t s = 0; s < done_.size(); s++) {
      const Index sweeps = std::abs(done_[s]);
      report.sweeps += sweeps;
      report.most_sweeps = std::max(report.most_sweeps, sweeps);
      if (done_[s] < 0 && report.failure == DenseCroutReport::Failure::none) {
        report.failure = DenseCroutReport::Failure::not_converged;
        report.row     = static_cast<Index>(s) * section_;
      }
    }
  }

  /// Solves with the block of rows from `first` on, and takes what was found out of the rows that come after it.
  void block(bool forward, bool transposed, Index first, int count)
  {
    const Index last = std::min(first + leaf, n_), size = last - first;
    const int team = on_host ? 1 : static_cast<int>(leaf);
    Kokkos::parallel_for(
        "weft dense substitution", Kokkos::TeamPolicy<Space>(space_, count, team),
        BlockSubstitution<Scalar>{const_z(first, first), size, forward, transposed, forward == transposed, work_.data() + first, n_});
    const Index r0 = forward ? last : 0, r1 = forward ? n_ : first;
    const Scalar *factor = transposed ? z(first, r0).data : z(r0, first).data;
    products_.add(-1, transposed ? Transpose::yes : Transpose::no, r1 - r0, count, size, factor, n_, work_.data() + first, n_,
                  work_.data() + r0, n_);
  }

  Space space_;
  MatrixProduct<Scalar> products_;
  Index n_;
  DenseCroutOptions options_;
  Index section_;
  Array z_, work_, section_work_[2], pivot_work_;
  Kokkos::View<RealOf<Scalar> *, typename Space::memory_space> sizes_, column_sizes_;
  Indices rows_; ///< row i of the factors is row rows_[i] of A
  Indices partners_, winners_[2];
  Kokkos::View<char *, typename Space::memory_space> used_;
  Kokkos::View<int *, typename Space::memory_space> sweeps_;
  std::vector<int> done_; ///< sweeps of each diagonal section, negative where they did not converge
  Index launched_   = 0;
  double tolerance_ = 0;
  OrderedRows<Scalar> a_{nullptr, 0, nullptr};
};

} // namespace dense

std::string DenseCroutReport::text() const
{
  const std::string at = "row " + std::to_string(row);
  switch (failure) {
  case Failure::not_finite_input:
    return "the matrix holds NaN or infinity in " + at;
  case Failure::zero_pivot:
    return pivoted ? "zero pivot in column " + std::to_string(row) + ": no row that is left has an entry there, the matrix is singular"
                   : "zero pivot in " + at + ": rows are not exchanged; LU of the same matrix does so (-pc_type lu)";
  case Failure::not_finite:
    return "the factors overflow in " + at + ": scale the matrix, or use another factorization";
  case Failure::not_converged:
    return "the section from " + at + " on did not converge in " + std::to_string(most_sweeps) + " sweeps: allow more, or a tolerance";
  default:
    return std::to_string(sections) + " sections, " + std::to_string(sweeps) + " sweeps (at most " + std::to_string(most_sweeps) +
           " in one)";
  }
}

template <class Scalar>
Owner<DenseCrout<Scalar>> DenseCrout<Scalar>::make(const Execution &execution, Index n, const DenseCroutOptions &options)
{
  if (n < 0) throw std::invalid_argument("a matrix cannot have a negative number of rows");
  if (options.section < 0 || options.most_sweeps < 0) throw std::invalid_argument("sections and sweeps cannot be negative");
  if (!(options.tolerance >= 0)) throw std::invalid_argument("the tolerance of the sweeps must not be negative");
  return on_backend(execution, [&](const auto &space) -> Owner<DenseCrout> {
    return make_owner<dense::DenseCroutImpl<std::decay_t<decltype(space)>, Scalar>>(space, execution, n, options);
  });
}

template class DenseCrout<KernelScalar>;
template class DenseCrout<OtherScalar>;

} // namespace weft
