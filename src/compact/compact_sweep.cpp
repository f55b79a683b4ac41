#include "compact/compact_sweep.hpp"

#include <cmath>

#include "backend.hpp"
#include "compact/compact_sweep_kernel.hpp"
#include "tridiagonal/near_toeplitz.hpp"

namespace weft {

namespace {

/// The factors of a line in the precision of set-up, and from how many rows away an unknown is felt.
struct ExactFactors {
  ExactChunk rows;          ///< of an open line; of a ring some rows that all are equal
  Index begin = 0, end = 0; ///< rows [begin, end) are equal to rounding
  Index reach = 0;
};

constexpr Index rows_of_a_ring = 512; ///< enough for factors to settle, if they do so at all

ExactFactors factors_of(const BoxPiece &piece, const CompactMatrix &matrix, long double epsilon)
{
  const auto row = [](const std::array<double, 3> &r) {
    return ExactRow{r[0], r[1], r[2], std::abs(r[0]) + std::abs(r[1]) + std::abs(r[2])};
  };
  const Index n     = piece.ring ? rows_of_a_ring : piece.length;
  const Index heads = piece.ring ? 0 : static_cast<Index>(matrix.head.size()),
              tails = piece.ring ? 0 : static_cast<Index>(matrix.tail.size());
  const NearToeplitz line(NearToeplitzForm(n, heads, tails), false, [&](Index i) {
    if (i < heads) return row(matrix.head[static_cast<std::size_t>(i)]);
    if (n - 1 - i < tails) return row(matrix.tail[static_cast<std::size_t>(n - 1 - i)]);
    return row(matrix.inner);
  });
  PivotWatch watch{std::sqrt(epsilon), {}};
  ExactFactors f{line.chunk(0, n, watch), 0, 0, 0};
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

} // namespace

template <class Scalar>
class CompactSweep<Scalar>::Model {
public:
  virtual ~Model()                                                                                     = default;
  virtual void apply_inside(const Scalar *f, Scalar *g) const                                          = 0;
  virtual void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *g) const = 0;
};

template <class Scalar>
template <class Space>
class CompactSweep<Scalar>::ModelOn final : public CompactSweep<Scalar>::Model {
public:
  static constexpr bool on_host = is_host_space<Space>;
  ModelOn(const Space &space, const BoxPiece &piece, const ExactFactors &exact, const CompactRows &rows, Index depth, bool needs_before,
          bool needs_after)
      : space_(space), piece_(piece), weights_(weights_of<Scalar>(rows)), depth_(depth), reach_(exact.reach), needs_before_(needs_before),
        needs_after_(needs_after)
  {
    const auto at = [&](Index row) {
      const auto i = static_cast<std::size_t>(row);
      return RowFactors<Scalar>{static_cast<Scalar>(exact.rows.low[i]), static_cast<Scalar>(exact.rows.inverse[i]),
                                static_cast<Scalar>(exact.rows.after[i])};
    };
    factors_ = {at(exact.begin), exact.begin, exact.end, nullptr};
    if (!piece.ring) {
      constexpr Index around = LineFactors<Scalar>::around;
      table_          = Table(Kokkos::view_alloc(space, "weft compact factors"), static_cast<std::size_t>(piece.length + 2 * around));
      const auto here = Kokkos::create_mirror(Kokkos::HostSpace(), table_);
      for (Index i = 0; i < piece.length; i++) here(static_cast<std::size_t>(i + around)) = at(i);
      Kokkos::deep_copy(space, table_, here);
      space.fence("weft: compact factors");
      factors_.table = table_.data() + around;
    }
  }

  void apply_inside(const Scalar *f, Scalar *g) const override { launch(Part::inside, {f, nullptr, nullptr, g, 0, 0, 0}); }
  void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *g) const override
  {
    if (needs_before_) launch(Part::first, {f, before, after, g, 0, 0, 0});
    if (needs_after_) launch(Part::last, {f, before, after, g, 0, 0, 0});
  }

private:
  using Table = Kokkos::View<RowFactors<Scalar> *, typename Space::memory_space>;
  enum class Part { first, inside, last };

  void launch(Part part, const SweepRange<Scalar> &range) const
  {
    if (weights_.width == 1)
      launch_width<1>(part, range);
    else
      launch_width<2>(part, range);
  }
  /// A tile's rows are in registers on a device, in the cache of a core on a host. Rows of a tile, tiles that a sweep looks ahead and lines at once
  /// as measured (docs/results/compact.md).
  template <int width>
  void launch_width(Part part, const SweepRange<Scalar> &range) const
  {
    const bool contiguous = piece_.stride == 1, near = reach_ <= 32 - width;
    if constexpr (on_host) {
      if (contiguous)
        run<CompactSweepKernel<Space, Scalar, 64, 1, width, 8, true>, 0>(part, range);
      else
        run<CompactSweepKernel<Space, Scalar, 64, 1, width, 16, false>, 0>(part, range);
    } else if (contiguous) {
      if (near)
        run<CompactSweepKernel<Space, Scalar, 16, 2, width, 1, true>, 8>(part, range);
      else
        run<CompactSweepKernel<Space, Scalar, 16, 3, width, 1, true>, 8>(part, range);
    } else {
      if (near)
        run<CompactSweepKernel<Space, Scalar, 8, 4, width, 1, false>, 16>(part, range);
      else
        run<CompactSweepKernel<Space, Scalar, 16, 3, width, 1, false>, 8>(part, range);
    }
  }
  /// `teams`: of a multiprocessor, which limits registers.
  template <class Kernel, unsigned teams>
  void run(Part part, SweepRange<Scalar> range) const
  {
    // Tiles that need no neighbour: a sweep begins `looks` tiles early and ends as late.
    constexpr Index tile = Kernel::rows_of_tile, looks = Kernel::looks_ahead;
    const Index all = (piece_.rows + tile - 1) / tile, begin = needs_before_ ? std::min(looks, all) : 0,
                end = needs_after_ ? std::max(piece_.rows / tile - looks, begin) : all;
    range.from      = part == Part::first ? 0 : part == Part::inside ? begin : end;
    range.to        = part == Part::first ? begin : part == Part::inside ? end : all;
    if (range.from >= range.to) return;
    // Segments where there are few lines.
    Kernel kernel{piece_, depth_, weights_, factors_, range};
    const Index tiles = range.to - range.from, bundles = kernel.bundles();
    const Index wanted = on_host ? space_.concurrency() : space_.concurrency() / 256, most = std::max<Index>(tiles / (4 * looks), 1);
    const Index segments = std::min((wanted + bundles - 1) / bundles, most);
    kernel.range.segment = (tiles + segments - 1) / segments;
    const Index items    = (tiles + kernel.range.segment - 1) / kernel.range.segment * bundles;
    if constexpr (on_host) {
      Kokkos::parallel_for("weft compact sweep", Kokkos::RangePolicy<Space>(space_, 0, items), kernel);
    } else {
      Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<Kernel::team, teams>> policy(space_, static_cast<int>(items), Kernel::team);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes)));
      // Weights travel with the launch: Kokkos would rather stage kernels of this size through a buffer and wait for it.
      Kokkos::parallel_for("weft compact sweep",
                           Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight), kernel);
    }
  }

  Space space_;
  SweptLines piece_;
  StencilWeights<Scalar> weights_;
  Index depth_;
  LineFactors<Scalar> factors_;
  Table table_;
  Index reach_;
  bool needs_before_, needs_after_;
};

template <class Scalar>
CompactSweep<Scalar>::CompactSweep(const Execution &execution, const BoxPiece &piece, const CompactMatrix &matrix, const CompactRows &rows)
    : needs_before_(piece.ring ? piece.rows() < piece.length : piece.first > 0),
      needs_after_(piece.ring ? piece.rows() < piece.length : piece.first + piece.rows() < piece.length)
{
  check_stencil(rows.width() >= 1 && rows.width() <= 2, "a sweep takes stencils of one or two rows to either side");
  check_stencil(rows.head.size() <= 2 && rows.tail.size() <= 2, "a sweep takes one or two rows with weights of their own at an end");
  check_stencil(piece.rows() >= 2 * most_end_weights, "a sweep takes boxes of at least 12 rows");
  const ExactFactors exact = factors_of(piece, matrix, std::numeric_limits<Scalar>::epsilon());
  depth_                   = exact.reach + rows.width();
  check_stencil(exact.reach <= 3 * 16 - rows.width(),
                "an unknown is felt over " + std::to_string(exact.reach) + " rows, too many for a sweep");
  model_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<Model> {
    return std::make_unique<ModelOn<std::decay_t<decltype(space)>>>(space, piece, exact, rows, depth_, needs_before_, needs_after_);
  });
}

template <class Scalar>
CompactSweep<Scalar>::~CompactSweep()
{
  destroy_or_leave(model_);
}

template <class Scalar>
void CompactSweep<Scalar>::apply_inside(const Scalar *f, Scalar *g) const
{
  model_->apply_inside(f, g);
}

template <class Scalar>
void CompactSweep<Scalar>::apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *g) const
{
  model_->apply_ends(f, before, after, g);
}

template class CompactSweep<double>;
template class CompactSweep<float>;

} // namespace weft
