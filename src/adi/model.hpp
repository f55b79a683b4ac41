/// AdiModel: AdiSolver's arrays and kernels on one backend, its types hidden. Included by adi_solver.cpp only.
#pragma once
#include "adi/bounds.hpp"
#include "adi/native_half_sweeps.hpp"
#include "adi/sweep.hpp"
#include "backend.hpp"

namespace weft {

template <class Scalar>
class AdiModel {
public:
  using Host = Kokkos::View<Scalar *, Kokkos::HostSpace>;
  /// Everything that another backend needs to know of a split matrix.
  struct Copy {
    std::array<Host, 3> lower, share, upper;
    Host diagonal, rest_values;
    Kokkos::View<std::uint8_t *, Kokkos::HostSpace> fixed;
    Kokkos::View<Index *, Kokkos::HostSpace> rest_starts, rest_columns;
    Scalar sign = 1;
  };

  virtual ~AdiModel()                                                                                                        = default;
  virtual AdiSplit read(const CsrMatrix<Scalar, std::int32_t> &, const AdiHalo<Scalar> &, const std::vector<std::uint8_t> &) = 0;
  virtual AdiSplit read(const CsrMatrix<Scalar, std::int64_t> &, const AdiHalo<Scalar> &, const std::vector<std::uint8_t> &) = 0;
  virtual void read(const Copy &)                                                                                            = 0;
  virtual Copy copy() const                                                                                                  = 0;
  virtual SpectralInterval bounds(int direction, AdiBoundsMethod method) const                                               = 0;
  /// alone: what stands on the diagonal of fixed rows in place of the matrix's, 0 for none; both for x, y and z.
  virtual void set_shifts(const std::vector<AdiShift> &shifts, const std::vector<AdiShift> &alone) = 0;
  virtual void factor()                                                                            = 0;
  virtual std::optional<AdiBadPivot> bad_pivot() const                                             = 0;
  /// b - A x in an array of its own, or with the transpose of A.
  virtual const Scalar *residual(const Scalar *b, const Scalar *x, Transpose transpose)                                      = 0;
  virtual void correct(const AdiSweep &sweep, const Scalar *r, Scalar *x, bool from_zero, Transpose transpose, bool measure) = 0;
  /// Peaceman and Rachford's cycle `count` times, where sweeps_in_halves() says that it can be: x is what `correct` and `residual` make of it.
  virtual bool sweeps_in_halves() const                                                         = 0;
  virtual void half_sweeps(const Scalar *b, Scalar *x, bool from_zero, int count, bool measure) = 0;
  virtual const double *change() const                                                          = 0;
  virtual double read_change() const                                                            = 0;
  virtual const AdiLines<Scalar> &lines(int direction) const                                    = 0;
};

/// One backend of a solver, whose box, options and ranks it looks at.
struct AdiSetting {
  AdiBox box;
  AdiOptions options;
  AdiRanks ranks;
};

template <class Space, class Scalar>
class AdiModelOn final : public AdiModel<Scalar> {
public:
  using Base   = AdiModel<Scalar>;
  using Copy   = typename Base::Copy;
  using Memory = typename Space::memory_space;
  using Values = OwnedArray<Scalar, Space>;

  AdiModelOn(const Space &space, const AdiSetting &setting, const MakeAdiLines<Scalar> &make_lines)
      : space_(space), setting_(setting), grid_(setting.box), make_lines_(make_lines), rest_starts_("weft adi rest starts", size() + 1),
        diagonal_(values()), work_(values()), residual_(setting.options.symmetric ? values() : work_), fixed_("weft adi fixed", size()),
        change_("weft adi change")
  {
    for (int k = 0; k < 3; k++) {
      if (grid_.has[k]) lower_[k] = values(), share_[k] = values(), upper_[k] = values();
    }
  }

  AdiSplit read(const CsrMatrix<Scalar, std::int32_t> &matrix, const AdiHalo<Scalar> &halo, const std::vector<std::uint8_t> &inner) override
  {
    return read_csr(matrix, halo, inner);
  }
  AdiSplit read(const CsrMatrix<Scalar, std::int64_t> &matrix, const AdiHalo<Scalar> &halo, const std::vector<std::uint8_t> &inner) override
  {
    return read_csr(matrix, halo, inner);
  }
  void read(const Copy &from) override
  {
    for (int k = 0; k < 3; k++) {
      if (!grid_.has[k]) continue;
      Kokkos::deep_copy(space_, lower_[k], from.lower[k]);
      Kokkos::deep_copy(space_, share_[k], from.share[k]);
      Kokkos::deep_copy(space_, upper_[k], from.upper[k]);
    }
    Kokkos::deep_copy(space_, diagonal_, from.diagonal);
    Kokkos::deep_copy(space_, fixed_, from.fixed);
    Kokkos::deep_copy(space_, rest_starts_, from.rest_starts);
    rest_columns_ = Kokkos::View<Index *, Memory>("weft adi rest columns", from.rest_columns.extent(0));
    rest_values_  = Values("weft adi rest values", from.rest_values.extent(0));
    Kokkos::deep_copy(space_, rest_columns_, from.rest_columns);
    Kokkos::deep_copy(space_, rest_values_, from.rest_values);
    sign_ = from.sign;
    space_.fence("weft: read an adi split");
  }
  Copy copy() const override
  {
    const auto to_host = [&](const auto &view) {
      using View = std::decay_t<decltype(view)>;
      Kokkos::View<typename View::data_type, Kokkos::HostSpace> host("weft adi copy", view.extent(0));
      Kokkos::deep_copy(space_, host, view);
      return host;
    };
    Copy to;
    for (int k = 0; k < 3; k++) {
      if (grid_.has[k]) to.lower[k] = to_host(lower_[k]), to.share[k] = to_host(share_[k]), to.upper[k] = to_host(upper_[k]);
    }
    to.diagonal     = to_host(diagonal_);
    to.fixed        = to_host(fixed_);
    to.rest_starts  = to_host(rest_starts_);
    to.rest_columns = to_host(rest_columns_);
    to.rest_values  = to_host(rest_values_);
    to.sign         = sign_;
    space_.fence("weft: copy an adi split");
    return to;
  }

  SpectralInterval bounds(int k, AdiBoundsMethod method) const override
  {
    const AdiBox &box  = setting_.box;
    const Values lower = values(), diagonal = values(), upper = values();
    const SymmetricPart<Scalar> part{lower.data(), diagonal.data(), upper.data()};
    make_symmetric(space_, box, k, parts(), sign_, ends_[k][0].data(), ends_[k][1].data(), part);
    SpectralInterval found = gershgorin(space_, grid_.rows, fixed_.data(), part);
    double ends[2]         = {found.low, -found.high};
    setting_.ranks.least(ends, 2);
    found = {ends[0], -ends[1]};
    if (found.low > found.high) return {1, 1}; // every row is fixed
    const double n = static_cast<double>(box.global[k]);
    if (method == AdiBoundsMethod::gershgorin) return found;

    // The parts of operators without boundary values are singular, so the inverse is that of H + sigma, sigma well below the second eigenvalue.
    const double sigma = found.high / (1e3 * n * n);
    add_to_diagonal(space_, grid_.rows, fixed_.data(), static_cast<Scalar>(sigma), diagonal.data());
    const auto lines = make_lines_(k, box.lines(k));
    lines->use(lower.data(), diagonal.data(), upper.data());
    lines->factor();
    double bad = lines->bad_pivot() ? 1 : 0;
    setting_.ranks.sum(&bad, 1);
    if (bad > 0) throw std::domain_error("a part of the matrix is not regular");
    const SpectralInterval inverse = lanczos_of_inverse(space_, box, fixed_.data(), *lines, setting_.ranks);
    found.low                      = inverse.low < 0 ? 1 / inverse.low : 1 / inverse.high - sigma;
    if (std::abs(found.low) < 0.01 * sigma) found.low = 0;
    found.low = std::min(found.low, found.high);
    return found;
  }

  void set_shifts(const std::vector<AdiShift> &shifts, const std::vector<AdiShift> &alone) override
  {
    const bool as_many = shifts.size() == shifts_.size(); // then the lines can stay
    shifts_            = shifts;
    alone_             = alone;
    if (as_many) return;
    for (int k = 0; k < 3; k++) {
      lines_[k].clear();
      shifted_[k].clear();
      if (!grid_.has[k]) continue;
      const std::size_t kept = setting_.options.keep_factors ? shifts.size() : 1;
      for (std::size_t j = 0; j < kept; j++) {
        shifted_[k].push_back(values());
        lines_[k].push_back(make_lines_(k, setting_.box.lines(k)));
        lines_[k].back()->use(lower_[k].data(), shifted_[k].back().data(), upper_[k].data());
      }
    }
  }

  void factor() override
  {
    for (int k = 0; k < 3; k++) {
      for (std::size_t j = 0; j < lines_[k].size(); j++) {
        shift(k, j, j);
        lines_[k][j]->factor();
      }
    }
    native_.forget();
    if (!sweeps_in_halves() || !setting_.options.keep_factors || setting_.options.line_solver != "auto") return;
    for (int k = 0; k < 3; k++) {
      if (!grid_.has[k] || setting_.box.closed(k)) continue;
      std::vector<Scalar> shifts;
      for (const AdiShift &shift : shifts_) shifts.push_back(static_cast<Scalar>(sign_ * shift[static_cast<std::size_t>(k)]));
      native_.factor(space_, k, setting_.box.lines(k).layout, parts(), shifts, work_.data());
    }
  }
  std::optional<AdiBadPivot> bad_pivot() const override
  {
    std::optional<AdiBadPivot> first;
    for (int k = 0; k < 3; k++) {
      for (std::size_t j = 0; j < lines_[k].size(); j++) {
        const auto at = lines_[k][j]->bad_pivot(); // collective where lines cross ranks: asked of all
        if (at && !first) first = AdiBadPivot{k, static_cast<int>(j), *at};
      }
    }
    return first;
  }

  const Scalar *residual(const Scalar *b, const Scalar *x, Transpose transpose) override
  {
    const AdiRest<Scalar> rest{rest_starts_.data(), rest_columns_.data(), rest_values_.data(), rest_values_.extent(0) == 0};
    const bool transposed = transpose == Transpose::yes;
    Scalar *r             = residual_.data();
    const int directions  = grid_.has[0] + grid_.has[1] + grid_.has[2];
    if (directions == 1) adi_residual(space_, AdiStencil<Scalar, 1>(grid_, parts(), transposed), rest, b, x, r);
    if (directions == 2) adi_residual(space_, AdiStencil<Scalar, 2>(grid_, parts(), transposed), rest, b, x, r);
    if (directions == 3) adi_residual(space_, AdiStencil<Scalar, 3>(grid_, parts(), transposed), rest, b, x, r);
    return r;
  }

  void correct(const AdiSweep &sweep, const Scalar *r, Scalar *x, bool from_zero, Transpose transpose, bool measure) override
  {
    const auto j                 = static_cast<std::size_t>(sweep.shift);
    const std::size_t last       = sweep.directions.size() - 1;
    const Scalar *first          = r;
    SolveOptions<Scalar> options = {};
    options.transpose            = transpose;
    for (std::size_t n = 0; n < last; n++) {
      solve(sweep.directions[n], j, r, work_.data(), options);
      r = work_.data();
    }
    const int k          = sweep.directions[last];
    options.update.scale = static_cast<Scalar>(sweep.sum ? sign_ * sweep.scale : sweep.scale);
    if (measure) {
      const Scalar scale   = options.update.scale;
      options.update.scale = 1;
      solve(k, j, r, work_.data(), options);
      add_and_measure(space_, grid_.rows, work_.data(), scale, !from_zero, x, change_);
    } else if (from_zero) {
      solve(k, j, r, x, options);
    } else {
      AdiLines<Scalar> &lines = *lines_[k][refactor(k, j)];
      lines.solve_add(const_cast<Scalar *>(r), x, options); // r is work space where there is an x to add to
    }
    if (sweep.sum && sweep.residual) solve_fixed(space_, grid_.rows, fixed_.data(), diagonal_.data(), first, !from_zero, x);
  }

  /// Only the first half-sweep looks at neighbouring lines. After (H + s) u = g the next one's right-hand side is
  ///   b - (H - s') u = b - g + (s + s') u
  bool sweeps_in_halves() const override
  {
    int directions = 0;
    for (int k = 0; k < 3; k++) {
      if (grid_.has[k] && setting_.box.crosses[k]) return false;
      directions += grid_.has[k];
    }
    return directions == 2 && !setting_.options.symmetric && setting_.options.type == AdiType::peaceman_rachford &&
           rest_values_.extent(0) == 0;
  }
  void half_sweeps(const Scalar *b, Scalar *x, bool from_zero, int count, bool measure) override
  {
    const int first = grid_.has[0] ? 0 : 1, second = grid_.has[2] ? 2 : 1;
    const std::size_t cycle = shifts_.size(), last = 2 * cycle * static_cast<std::size_t>(count) - 1;
    const auto direction = [&](std::size_t n) { return n % 2 == 0 ? first : second; };
    const auto shift_of  = [&](std::size_t n) {
      return static_cast<Scalar>(sign_ * shifts_[n / 2 % cycle][static_cast<std::size_t>(direction(n))]);
    };
    Scalar *const g = work_.data();
    if (!from_zero) start_half_sweep(space_, AdiStencil<Scalar, 1>(grid_, parts(), false, second), fixed_.data(), shift_of(0), b, x, g);
    for (std::size_t n = 0; n <= last; n++) {
      const Scalar *now   = n == 0 && from_zero ? b : g;
      const int k         = direction(n);
      const std::size_t j = n / 2 % cycle;
      const bool compared = measure && n + 1 == last; // x must be there to be compared with
      const bool native   = native_.ready(k);
      if (n == last) {
        if (measure) Kokkos::deep_copy(space_, change_, 0.0);
        if (native) {
          native_.solve(space_, k, j, now, x, measure ? change_.data() : nullptr);
        } else if (measure) {
          solve(k, j, now, g, {});
          replace_and_measure(space_, grid_.rows, g, x, change_);
        } else {
          solve(k, j, now, x, {});
        }
      } else if (native && !compared) {
        native_.reflect(space_, k, j, now, b, shift_of(n) + shift_of(n + 1), g);
      } else {
        if (native)
          native_.solve(space_, k, j, now, x, nullptr);
        else
          solve(k, j, now, x, {});
        reflect(space_, grid_.rows, fixed_.data(), b, now, shift_of(n) + shift_of(n + 1), x, g);
      }
    }
  }

  const double *change() const override { return change_.data(); }
  double read_change() const override
  {
    double value = 0;
    Kokkos::deep_copy(space_, Kokkos::View<double, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&value), change_);
    space_.fence("weft: read the change");
    return value;
  }
  const AdiLines<Scalar> &lines(int k) const override { return *lines_[k].front(); }

private:
  std::size_t size() const { return static_cast<std::size_t>(grid_.rows); }
  Values values() const { return Values("weft adi", static_cast<std::size_t>(grid_.rows)); }
  AdiParts<Scalar> parts() const
  {
    AdiParts<Scalar> all{};
    for (int k = 0; k < 3; k++) {
      all.lower[k] = lower_[k].data();
      all.share[k] = share_[k].data();
      all.upper[k] = upper_[k].data();
    }
    all.diagonal = diagonal_.data();
    all.fixed    = fixed_.data();
    return all;
  }
  void shift(int k, std::size_t slot, std::size_t j) const
  {
    const auto d = static_cast<std::size_t>(k);
    shift_diagonal(space_, grid_.rows, fixed_.data(), share_[k].data(), static_cast<Scalar>(sign_ * shifts_[j][d]),
                   static_cast<Scalar>(alone_[j][d]), shifted_[k][slot].data());
  }
  /// The slot of the lines with shift j, factored.
  std::size_t refactor(int k, std::size_t j)
  {
    if (setting_.options.keep_factors) return j;
    shift(k, 0, j);
    lines_[k][0]->factor();
    return 0;
  }
  void solve(int k, std::size_t j, const Scalar *r, Scalar *z, const SolveOptions<Scalar> &options)
  {
    if (!setting_.options.keep_factors && options.transpose == Transpose::no) {
      shift(k, 0, j);
      return lines_[k][0]->solve_once(r, z, options);
    }
    lines_[k][refactor(k, j)]->solve(r, z, options);
  }

  template <class Int>
  AdiSplit read_csr(const CsrMatrix<Scalar, Int> &matrix, const AdiHalo<Scalar> &halo, const std::vector<std::uint8_t> &inner_nodes)
  {
    using Bytes = Kokkos::View<std::uint8_t *, Memory>;
    const Bytes inner("weft adi mask", inner_nodes.size());
    if (!inner_nodes.empty())
      Kokkos::deep_copy(space_, inner,
                        Kokkos::View<const std::uint8_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(inner_nodes.data(),
                                                                                                                       inner_nodes.size()));
    const std::uint8_t *mask = inner_nodes.empty() ? nullptr : inner.data();
    split_couplings(space_, grid_, matrix, mask, parts(), rest_starts_.data());
    count_rest(space_, rest_starts_);
    Index left = 0;
    Kokkos::deep_copy(space_, Kokkos::View<Index, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&left),
                      Kokkos::subview(rest_starts_, size()));
    space_.fence("weft: count what is left over");
    if (static_cast<Index>(rest_values_.extent(0)) != left) {
      rest_columns_ = Kokkos::View<Index *, Memory>("weft adi rest columns", static_cast<std::size_t>(left));
      rest_values_  = Values("weft adi rest values", static_cast<std::size_t>(left));
    }
    if (left > 0) split_rest(space_, grid_, matrix, mask, rest_starts_.data(), rest_columns_.data(), rest_values_.data());
    for (int k = 0; k < 3; k++) {
      if (!grid_.has[k]) continue;
      const LineLayout layout = setting_.box.lines(k).layout;
      const Values before = to_memory(halo.out[k][0]), after = to_memory(halo.out[k][1]);
      put_ends(space_, layout, before.data(), after.data(), lower_[k].data(), upper_[k].data());
      for (int side : {0, 1}) ends_[k][side] = to_memory(halo.in[k][side]);
      space_.fence("weft: adi ends, whose copies end here");
    }

    AdiSums sums = sum_couplings(space_, grid_, mask, parts(), rest_starts_.data(), rest_values_.data());
    sums.value[AdiSums::rest] += halo.rest;
    setting_.ranks.sum(sums.value, AdiSums::size);
    sign_ = sums.value[AdiSums::sign] < 0 ? Scalar(-1) : Scalar(1);
    std::array<Scalar, 3> mean{};
    for (std::size_t k = 0; k < 3; k++) {
      const double count = sums.value[AdiSums::count + k];
      mean[k]            = static_cast<Scalar>(count > 0 ? sums.value[AdiSums::strength + k] / count : 0);
    }
    double least = least_excess(space_, grid_, parts(), sign_);
    setting_.ranks.least(&least, 1);
    if (!(std::abs(least) < std::numeric_limits<double>::max())) least = 0; // no row but fixed ones
    share_diagonal(space_, grid_, parts(), sign_, static_cast<Scalar>(least), mean);

    AdiSplit split;
    split.finite = sums.value[AdiSums::bad] == 0;
    split.on     = sums.value[AdiSums::on];
    split.rest   = sums.value[AdiSums::rest];
    split.fixed  = static_cast<Index>(sums.value[AdiSums::fixed]);
    split.empty  = static_cast<Index>(sums.value[AdiSums::empty]);
    split.rows   = static_cast<Index>(sums.value[AdiSums::rows]);
    split.excess = least;
    return split;
  }
  Values to_memory(const std::vector<Scalar> &from) const
  {
    if (from.empty()) return {};
    Values to("weft adi ends", from.size());
    Kokkos::deep_copy(space_, to,
                      Kokkos::View<const Scalar *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from.data(), from.size()));
    return to;
  }

  Space space_;
  AdiSetting setting_;
  AdiGrid grid_;
  MakeAdiLines<Scalar> make_lines_;
  Scalar sign_ = 1; ///< -1 for a matrix with a negative diagonal
  Values lower_[3], share_[3], upper_[3];
  Kokkos::View<Index *, Memory> rest_starts_, rest_columns_;
  Values rest_values_, diagonal_, work_;
  Values residual_; ///< the work space, but where a residual must outlive a sweep
  Kokkos::View<std::uint8_t *, Memory> fixed_;
  Kokkos::View<double, Memory> change_;
  Values ends_[3][2]; ///< couplings of the neighbouring pieces to this one
  std::vector<AdiShift> shifts_, alone_;
  std::vector<Values> shifted_[3]; ///< diagonals, for each shift
  std::vector<std::unique_ptr<AdiLines<Scalar>>> lines_[3];
  NativeHalfSweeps<Space, Scalar> native_;
};

} // namespace weft
