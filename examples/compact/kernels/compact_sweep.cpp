#include "kernels/compact_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/vendor.hpp"
#include "kernels/compact_ends.hpp"
#include "kernels/compact_overlap.hpp"
#include "kernels/compact_sweep_kernel.hpp"
#include "line/methods/toeplitz/near_toeplitz.hpp"

namespace weft {

namespace {

/// The factors of a line in the precision of set-up, and from how many rows away an unknown is felt.
struct ExactFactors {
  ExactChunk<long double> rows; ///< of an open line; of a ring some rows that all are equal
  Index begin = 0, end = 0;     ///< rows [begin, end) are equal to rounding
  Index reach = 0;
  bool ring   = false;

  /// Rows outside of an open line are asked for only where a rank's neighbour is too short for a sweep, and refuses it.
  std::size_t at(Index row) const { return static_cast<std::size_t>(ring ? begin : std::clamp<Index>(row, 0, rows.rows() - 1)); }
  long double low(Index row) const { return rows.low[at(row)]; }
  long double inverse(Index row) const { return rows.inverse[at(row)]; }
  long double after(Index row) const { return rows.after[at(row)]; }
};

constexpr Index rows_of_a_ring = 512; ///< enough for factors to settle, if they do so at all

ExactFactors factors_of(const BoxPiece &piece, const CompactMatrix &matrix, long double epsilon)
{
  const auto row = [](const std::array<double, 3> &r) {
    return ExactRow<long double>{r[0], r[1], r[2], std::abs(r[0]) + std::abs(r[1]) + std::abs(r[2])};
  };
  const Index n     = piece.ring ? rows_of_a_ring : piece.length;
  const Index heads = piece.ring ? 0 : static_cast<Index>(matrix.head.size()),
              tails = piece.ring ? 0 : static_cast<Index>(matrix.tail.size());
  const NearToeplitz<long double> line(NearToeplitzForm(n, heads, tails), false, [&](Index i) {
    if (i < heads) return row(matrix.head[static_cast<std::size_t>(i)]);
    if (n - 1 - i < tails) return row(matrix.tail[static_cast<std::size_t>(n - 1 - i)]);
    return row(matrix.inner);
  });
  PivotWatch watch{std::sqrt(epsilon), {}};
  ExactFactors f{line.chunk(0, n, watch), 0, 0, 0, piece.ring};
  check_stencil(!watch.bad_row, "a line breaks down at row " + std::to_string(watch.bad_row.value_or(0)));
  const auto at   = [](const std::vector<long double> &values, Index i) { return values[static_cast<std::size_t>(i)]; };
  const auto same = [&](Index i, Index j) {
    for (const auto *values : {&f.rows.low, &f.rows.inverse, &f.rows.after}) {
      if (std::abs(at(*values, i) - at(*values, j)) > epsilon / 4 * std::abs(at(*values, j))) return false;
    }
    return true;
  };
  f.end           = n - std::max<Index>(tails, 1);
  const Index mid = f.end - 1;
  for (f.begin = std::max<Index>(mid, 0); f.begin > 0 && mid >= 0 && same(f.begin - 1, mid);) f.begin--;
  // How many rows it takes until a product of factors is lost in rounding, from any row.
  const auto reach = [&](const std::vector<long double> &values) {
    Index most = 0;
    for (Index i = 0; i < n; i++) {
      if (i > f.begin + most && i + most < f.end) continue; // as the row before
      long double product = 1;
      Index rows          = 0;
      for (; i + rows < n && !(std::abs(product) <= epsilon / 2); rows++) product *= at(values, i + rows);
      most = std::max(most, rows);
    }
    return most;
  };
  f.reach = std::max(reach(f.rows.low), reach(f.rows.after));
  return f;
}

/// Between rows p - 1 and p of the whole line: the value that the elimination has in row p - 1, and the unknown of row p, as products with rows
/// of f on either side. Rows of f are counted from p away. Of the rows that are `width` away the other side's first row alone feels anything: it is
/// put into the number that is told, as what would do the same to that row.
struct Interface {
  std::vector<long double> value_own, value_beyond;     ///< of f_{p-1-k}, and of f_{p+k}, as far as the stencil reaches
  std::vector<long double> unknown_own, unknown_beyond; ///< of f_{p+k} with a value of 0 before them, and of f_{p-1-k}
  long double unknown_of_value = 0;                     ///< of the value in row p - 1
};

Interface interface_at(const ExactFactors &factors, Index p, const CompactRows &rows)
{
  const Index reach = factors.reach, width = rows.width();
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  // unknown_p = sum of fades_r value_{p+r}; a value of 1 in row p + q goes on as -low from row to row.
  std::vector<long double> fades{1};
  for (Index i = 0; i < reach; i++) fades.push_back(-fades.back() * factors.after(p + i));
  const auto unknown_of = [&](Index q, long double value) {
    long double sum = 0;
    for (Index row = q; row <= reach; row++) {
      sum += fades[size(row)] * value;
      if (row < reach) value *= -factors.low(p + row + 1);
    }
    return sum;
  };
  Interface f;
  f.value_own.resize(size(reach + width));
  f.unknown_own.resize(size(reach + width));
  f.value_beyond.resize(size(width));
  f.unknown_beyond.resize(size(width));
  f.unknown_of_value  = unknown_of(0, -factors.low(p));
  long double goes_on = 1;
  for (Index q = 0; q < reach; q++) {
    const long double up = unknown_of(q, factors.inverse(p + q)), down = goes_on * factors.inverse(p - 1 - q);
    goes_on *= -factors.low(p - 1 - q);
    for (Index j = -width; j <= width; j++) { // the stencil of row p + q at f_{p+q+j}, of row p - 1 - q at f_{p-1-q-j}
      const Index k = q + j;
      (k >= 0 ? f.unknown_own[size(k)] : f.unknown_beyond[size(-1 - k)]) += up * rows.inner[size(width + j)];
      (k >= 0 ? f.value_own[size(k)] : f.value_beyond[size(-1 - k)]) += down * rows.inner[size(width - j)];
    }
  }
  const long double of_last = factors.inverse(p) * rows.inner.front(), of_first = factors.inverse(p - 1) * rows.inner.back();
  f.value_own[size(width - 1)] -= of_last / factors.low(p);
  f.unknown_own[size(width - 1)] += of_first * (f.unknown_of_value - 1 / factors.after(p - 1));
  return f;
}

} // namespace

template <class Scalar>
class CompactSweep<Scalar>::Impl {
public:
  virtual ~Impl()                                                                                                = default;
  virtual void tell(const Scalar *f, Scalar *to_before, Scalar *to_after, bool in_order) const                   = 0;
  virtual void apply_inside(const Scalar *f, Scalar *g) const                                                    = 0;
  virtual void apply_ends(const Scalar *f, const Scalar *from_before, const Scalar *from_after, Scalar *g) const = 0;
  virtual void apply(const Scalar *f, const SweepMail<Scalar> &mail, Scalar *g) const                            = 0;
};

template <class Scalar>
template <class Space>
class CompactSweep<Scalar>::ImplOn final : public CompactSweep<Scalar>::Impl {
public:
  using Real                    = RealOf<Scalar>;
  static constexpr bool on_host = is_host_space<Space>;
  using EndsOfLines             = EndsToTell<Space, Scalar>;

  ImplOn(const Space &space, const Space &ends, const BoxPiece &piece, const ExactFactors &exact, const CompactRows &rows,
         bool needs_before, bool needs_after, bool slow_messages)
      : space_(space), ends_(ends), piece_(piece), weights_(weights_of<Real>(rows)), reach_(exact.reach), needs_before_(needs_before),
        needs_after_(needs_after)
  {
    constexpr Index around = LineFactors<Real>::around;
    const auto at          = [&](Index row) {
      return RowFactors<Real>{static_cast<Real>(exact.low(row)), static_cast<Real>(exact.inverse(row)),
                              static_cast<Real>(exact.after(row))};
    };
    const bool cut = needs_before || needs_after;
    factors_       = {at(exact.begin), piece.ring ? 0 : std::max<Index>(exact.begin - piece.first, 0),
                piece.ring ? piece.rows() : std::min(exact.end - piece.first, piece.rows()), nullptr};
    Interface before, after;
    if (needs_before) before = interface_at(exact, piece.first, rows);
    if (needs_after) after = interface_at(exact, piece.first + piece.rows(), rows);
    if (!piece.ring || cut) {
      table_          = Table(Kokkos::view_alloc(space, "weft compact factors"), static_cast<std::size_t>(piece.rows() + 2 * around));
      const auto here = Kokkos::create_mirror(Kokkos::HostSpace(), table_);
      for (Index i = 0; i < piece.rows(); i++) here(static_cast<std::size_t>(i + around)) = at(piece.first + i);
      // Rows whose unknown is their right-hand side, and for the one after the piece what the value before it does to it.
      if (needs_before) here(static_cast<std::size_t>(around - 1)) = {0, 1, 0};
      if (needs_after) here(static_cast<std::size_t>(around + piece.rows())) = {static_cast<Real>(-after.unknown_of_value), 1, 0};
      Kokkos::deep_copy(space, table_, here);
      space.fence("weft: compact factors");
      factors_.table = table_.data() + around;
    }
    early_ = piece.lines();
    if (!cut) return;
    early_              = slow_messages ? piece.lines() : early_lines();
    const auto weights  = Kokkos::View<EndWeights<Real>, Kokkos::HostSpace>("weft compact end weights");
    EndWeights<Real> &w = weights();
    const auto take     = [](const std::vector<long double> &from, Real *to) {
      for (std::size_t i = 0; i < from.size(); i++) to[i] = static_cast<Real>(from[i]);
    };
    if (needs_before) {
      take(before.unknown_own, w.unknown_own);
      take(before.value_beyond, w.value_of_own);
    }
    if (needs_after) {
      take(after.value_own, w.value_own);
      take(after.unknown_beyond, w.unknown_of_own);
    }
    end_weights_ = Kokkos::View<EndWeights<Real>, typename Space::memory_space>("weft compact end weights");
    Kokkos::deep_copy(space, end_weights_, weights);
    space.fence("weft: compact end weights");
  }

  void tell(const Scalar *f, Scalar *to_before, Scalar *to_after, bool in_order) const override
  {
    tell_ends(in_order ? space_ : ends_, {piece_.lines, piece_.rows, piece_.stride, reach_ + weights_.width, weights_.width, end_weights_,
                                          f, needs_before_ ? to_before : nullptr, needs_after_ ? to_after : nullptr});
  }
  void apply_inside(const Scalar *f, Scalar *g) const override
  {
    SweepRange<Scalar> range{};
    range.f = f, range.g = g, range.end_line = early_;
    launch(space_, needs_before_ || needs_after_ ? Part::inside : Part::all, range);
  }
  void apply_ends(const Scalar *f, const Scalar *from_before, const Scalar *from_after, Scalar *g) const override
  {
    const SweepRange<Scalar> range = range_of(f, from_before, from_after, g);
    SweepRange<Scalar> others      = range;
    others.first_line              = early_;
    others.end_line                = piece_.lines;
    launch(ends_, Part::all, others); // beside inner rows: its teams take the room that theirs leave
    if (needs_before_) launch(space_, Part::first, range);
    if (needs_after_) launch(space_, Part::last, range);
  }
  void apply(const Scalar *f, const SweepMail<Scalar> &mail, Scalar *g) const override
  {
    if constexpr (meets_neighbours<Space>) {
      SweepRange<Scalar> range = range_of(f, mail.from_before, mail.from_after, g);
      range.end_line           = piece_.lines;
      launch(space_, Part::all, range,
             NeighboursMet{{mail.told_before, mail.told_after}, {mail.is_before, mail.is_after}, mail.turn, most_teams(space_)});
    } else {
      throw std::logic_error("kernels of this backend cannot wait for another device");
    }
  }

  // Launches; public for nvcc.

  /// The rows of f next to either neighbour, and what it needs to know beside them, in a row more. A null message is none.
  static void tell_ends(const Space &space, const EndsOfLines &ends)
  {
    const Index lines = ends.lines, sides = (ends.to_before ? 1 : 0) + (ends.to_after ? 1 : 0);
    const bool before = ends.to_before;
    if (!on_host && ends.stride == 1) {
      const Index bundles = (lines + EndsOfLines::bundle - 1) / EndsOfLines::bundle;
      Kokkos::TeamPolicy<Space> policy(space, static_cast<int>(sides * bundles), on_host ? 1 : 256);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(EndsOfLines::scratch_bytes)));
      Kokkos::parallel_for(
          "weft compact tell", policy, KOKKOS_LAMBDA(const typename Kokkos::TeamPolicy<Space>::member_type &team) {
            let_next_begin();
            const Index number = team.league_rank(), bundle = number < bundles ? number : number - bundles;
            ends.tell_bundle(team, before && number < bundles, bundle * EndsOfLines::bundle);
          });
      return;
    }
    Kokkos::parallel_for(
        "weft compact tell", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, sides * lines),
        KOKKOS_LAMBDA(const Index number) {
          let_next_begin();
          ends.tell_line(before && number < lines, number < lines ? number : number - lines);
        });
  }

private:
  using Table = Kokkos::View<RowFactors<Real> *, typename Space::memory_space>;
  enum class Part { first, inside, last, all };

  /// The early lines, with what neighbours told.
  SweepRange<Scalar> range_of(const Scalar *f, const Scalar *from_before, const Scalar *from_after, Scalar *g) const
  {
    const Index number = (weights_.width - 1) * piece_.lines; // behind the rows
    SweepRange<Scalar> range{};
    range.f = f, range.g = g, range.end_line = early_, range.ends = end_weights_.data();
    if (needs_before_) range.before = from_before, range.told_before = from_before + number;
    if (needs_after_) range.after = from_after, range.told_after = from_after + number;
    return range;
  }
  /// Lines whose inner rows are swept while messages are under way. An eighth takes as long as a message at 512^3; on a device the others
  /// keep all multiprocessors busy to their end, in whole waves of teams, where that makes early lines of no more than a third.
  Index early_lines() const
  {
    constexpr Index team = lines_of_team<Space>;
    const Index bundles  = (piece_.lines + team - 1) / team;
    Index early          = bundles / 4;
    if constexpr (!on_host) {
      with_kernel<NobodyMet>([&]<class Kernel, unsigned teams>() {
        const Index wave = multiprocessors(space_) * Index(teams), others = (bundles - bundles / 8) / wave * wave;
        if (3 * (bundles - others) <= bundles) early = bundles - others;
      });
    }
    return early * team;
  }
  static Index multiprocessors([[maybe_unused]] const Space &space)
  {
#if defined(WEFT_HAVE_VENDOR)
    if constexpr (std::is_same_v<Space, vendor::Space>) return vendor::properties(space).multiProcessorCount;
#endif
    return std::max<Index>(space.concurrency() / 2048, 1);
  }
  /// That a device can begin before one of them ends, whatever they are: small ones more than what a kernel is bounded for.
  static Index most_teams([[maybe_unused]] const Space &space)
  {
#if defined(WEFT_HAVE_VENDOR)
    if constexpr (std::is_same_v<Space, vendor::Space>)
      return multiprocessors(space) * vendor::properties(space).maxBlocksPerMultiProcessor;
#endif
    return std::numeric_limits<Index>::max();
  }

  template <class Meet = NobodyMet>
  void launch(const Space &space, Part part, const SweepRange<Scalar> &range, const Meet &meet = {}) const
  {
    with_kernel<Meet>([&]<class Kernel, unsigned teams>() { run<Kernel, teams>(space, part, range, meet); });
  }
  /// Calls body with the kernel for these lines. A tile's rows are in registers on a device, in the cache of a core on a host. Rows of a tile,
  /// tiles that a sweep looks ahead, lines at once and teams of a multiprocessor as measured (docs/results/compact.md).
  template <class Meet, class Body>
  void with_kernel(const Body &body) const
  {
    if (weights_.width == 1)
      with_width<1, Meet>(body);
    else
      with_width<2, Meet>(body);
  }
  template <int width, class Meet, class Body>
  void with_width(const Body &body) const
  {
    const bool contiguous = piece_.stride == 1, near = reach_ <= 32 - width;
    if constexpr (on_host) {
      constexpr int parts = is_complex<Scalar> ? 2 : 1; // as many real numbers in a tile
      if (contiguous)
        body.template operator()<CompactSweepKernel<Space, Scalar, 64, 1, width, 8 / parts, true>, 0>();
      else
        body.template operator()<CompactSweepKernel<Space, Scalar, 64, 1, width, 16 / parts, false>, 0>();
    } else if (contiguous) {
      if (near)
        body.template operator()<CompactSweepKernel<Space, Scalar, 16, 2, width, 1, true, Meet>, 8>();
      else
        body.template operator()<CompactSweepKernel<Space, Scalar, 16, 3, width, 1, true, Meet>, 8>();
    } else {
      if (near)
        body.template operator()<CompactSweepKernel<Space, Scalar, 8, 4, width, 1, false, Meet>, 16>();
      else
        body.template operator()<CompactSweepKernel<Space, Scalar, 16, 3, width, 1, false, Meet>, 8>();
    }
  }
  /// `teams`: of a multiprocessor, which limits registers.
  template <class Kernel, unsigned teams, class Meet>
  void run(const Space &space, Part part, SweepRange<Scalar> range, const Meet &meet) const
  {
    // Tiles that need no neighbour: a sweep begins `looks` tiles early and ends as late.
    constexpr Index tile = Kernel::rows_of_tile, looks = Kernel::looks_ahead;
    const Index all = (piece_.rows + tile - 1) / tile, begin = needs_before_ ? std::min(looks, all) : 0,
                end = needs_after_ ? std::max(piece_.rows / tile - looks, begin) : all;
    range.from      = part == Part::first || part == Part::all ? 0 : part == Part::inside ? begin : end;
    range.to        = part == Part::first ? begin : part == Part::inside ? end : all;
    if (range.from >= range.to || range.first_line >= range.end_line) return;
    // Segments where there are few lines.
    Kernel kernel{piece_, weights_, factors_, range, meet};
    const Index tiles = range.to - range.from, bundles = kernel.bundles();
    const Index wanted = on_host ? space.concurrency() : space.concurrency() / 256, most = std::max<Index>(tiles / (4 * looks), 1);
    const Index segments = std::min((wanted + bundles - 1) / bundles, most);
    kernel.range.segment = (tiles + segments - 1) / segments;
    const Index items    = (tiles + kernel.range.segment - 1) / kernel.range.segment * bundles;
    if constexpr (on_host) {
      Kokkos::parallel_for("weft compact sweep", Kokkos::RangePolicy<Space>(space, 0, items), kernel);
#if defined(WEFT_NATIVE_HOPPER)
    } else if constexpr (Meet::in_kernel) {
      static_assert(Kernel::team == cuda::WarpTeam::threads);
      cuda::launch_overlapping<teams>(space, static_cast<int>(items), Kernel::scratch_bytes, kernel);
#endif
    } else {
      // HIP counts wavefronts of a SIMD unit here, of which a multiprocessor has four: one alone leaves all registers to be taken.
      constexpr unsigned resident = warp_threads < Space >> 32 ? 1 : teams;
      Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<Kernel::team, resident>> policy(space, static_cast<int>(items), Kernel::team);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes)));
      // Weights travel with the launch: Kokkos would rather stage kernels of this size through a buffer and wait for it.
      Kokkos::parallel_for("weft compact sweep",
                           Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight), kernel);
    }
  }

  Space space_, ends_; ///< of the sweeps, and of what ranks tell each other and the ends of the early lines
  SweptLines piece_;
  StencilWeights<Real> weights_;
  LineFactors<Real> factors_;
  Table table_;
  Index reach_, early_;
  bool needs_before_, needs_after_;
  Kokkos::View<EndWeights<Real>, typename Space::memory_space> end_weights_;
};

template <class Scalar>
CompactSweep<Scalar>::CompactSweep(const Execution &execution, const BoxPiece &piece, const CompactMatrix &matrix, const CompactRows &rows,
                                   bool slow_messages)
    : execution_(execution), width_(rows.width()), needs_before_(piece.ring ? piece.rows() < piece.length : piece.first > 0),
      needs_after_(piece.ring ? piece.rows() < piece.length : piece.first + piece.rows() < piece.length)
{
  check_stencil(rows.width() >= 1 && rows.width() <= 2, "a sweep takes stencils of one or two rows to either side");
  check_stencil(rows.head.size() <= 2 && rows.tail.size() <= 2, "a sweep takes one or two rows with weights of their own at an end");
  check_stencil(piece.rows() >= 2 * most_end_weights, "a sweep takes boxes of at least 12 rows");
  const ExactFactors exact = factors_of(piece, matrix, std::numeric_limits<RealOf<Scalar>>::epsilon());
  reach_                   = exact.reach;
  check_stencil(exact.reach <= most_reach - rows.width(),
                "an unknown is felt over " + std::to_string(exact.reach) + " rows, too many for a sweep");
  check_stencil((!needs_before_ && !needs_after_) || piece.rows() >= least_rows(),
                "a box has " + std::to_string(piece.rows()) + " rows, and a sweep beside neighbours takes " + std::to_string(least_rows()));
  const bool cut = needs_before_ || needs_after_;
  check_stencil(!cut || (matrix.inner[0] != 0 && matrix.inner[2] != 0), "its matrix does not couple a row to both sides");
  if (cut) {
    beside_ = Execution::beside(execution);
    ready_  = std::make_unique<Milestone>(execution);
    told_   = std::make_unique<Milestone>(*beside_);
    done_   = std::make_unique<Milestone>(*beside_);
  }
  impl_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<Impl> {
    using Space = std::decay_t<decltype(space)>;
    return std::make_unique<ImplOn<Space>>(space, cut ? space_of<Space>(*beside_) : space, piece, exact, rows, needs_before_, needs_after_,
                                           slow_messages);
  });
}

template <class Scalar>
CompactSweep<Scalar>::~CompactSweep()
{
  destroy_or_leave(impl_);
}

template <class Scalar>
void CompactSweep<Scalar>::tell(const Scalar *f, Scalar *to_before, Scalar *to_after)
{
  if (!beside_) return;
  ready_->set();
  ready_->hold(*beside_);
  impl_->tell(f, to_before, to_after, false);
  told_->set();
}

template <class Scalar>
void CompactSweep<Scalar>::apply_inside(const Scalar *f, Scalar *g) const
{
  if (told_) told_->hold(execution_);
  impl_->apply_inside(f, g);
}

template <class Scalar>
void CompactSweep<Scalar>::apply_ends(const Scalar *f, const Scalar *from_before, const Scalar *from_after, Scalar *g)
{
  if (!beside_) return;
  done_->set();
  done_->hold(execution_);
  impl_->apply_ends(f, from_before, from_after, g);
  done_->set();
  done_->hold(execution_);
}

template <class Scalar>
void CompactSweep<Scalar>::tell_in_order(const Scalar *f, Scalar *to_before, Scalar *to_after) const
{
  if (beside_) impl_->tell(f, to_before, to_after, true);
}

template <class Scalar>
void CompactSweep<Scalar>::apply(const Scalar *f, const SweepMail<Scalar> &mail, Scalar *g) const
{
  impl_->apply(f, mail, g);
}

template class CompactSweep<KernelScalar>;
template class CompactSweep<OtherScalar>;

} // namespace weft
