/// Lines of many modes that lie side by side in memory, a thread for each on a device: elimination downwards and back, neighbouring threads on
/// neighbouring numbers. For steps that solve one shifted line for each row of the grid, in its place, and are too many for teams to be worth
/// their barriers: what moves is the right-hand side, the factors, and both again, six words a point.
#pragma once
#include <Kokkos_Core.hpp>

#include "bcr/prepare.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson {

/// True for steps and grids that SideBySide takes.
inline bool lies_side_by_side(const LineStep &step, const LineMatrix &line, const Grid &grid)
{
  if (step.kind != Lines::fractions || step.sources != 1 || step.outputs != 1 || line.periodic) return false;
  if (static_cast<Index>(step.groups.size()) * grid.planes < least_side_by_side) return false;
  if (grid.row_stride != 1 && grid.plane_stride != 1) return false;
  for (const LineStep::Group &group : step.groups) {
    if (group.poles != 1 || group.sources.size() != 1 || group.sources[0].size() != 1) return false;
    if (group.outputs.size() != 1 || !group.outputs[0].kept.empty() || group.outputs[0].row != group.sources[0][0].row) return false;
  }
  return true;
}

template <class Scalar>
struct SideBySide {
  LineArguments<Scalar> a;
  Scalar *room; ///< a number for each point

  KOKKOS_INLINE_FUNCTION Index lines() const { return a.step.groups * a.rows.grid.planes; }

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Grid &grid      = a.rows.grid;
    const bool rows_first = grid.row_stride == 1;
    const Index first = rows_first ? a.step.groups : grid.planes, slow = number / first, fast = number - slow * first;
    const Index group = rows_first ? fast : slow, plane = rows_first ? slow : fast;
    const Index pole = a.step.first_pole(group), all = lines(), n = grid.length;
    const Scalar shift    = a.b.plane_shift(plane) - a.step.pole(pole);
    const Scalar in       = a.step.in(pole)*a.step.term_factor(a.step.list(a.step.list_of(group, 0))) * a.step.out(pole);
    const Index pinned    = a.pins(pole, plane) ? a.b.pinned_row : -1;
    Scalar *const line    = a.rows.row(a.step.output_row(group), plane);
    Scalar *const factors = room + number;
    Scalar value = 0, factor = 0;
    for (Index i = 0; i < n; i += ahead) {
      Scalar own[ahead]; // on their way while those before are eliminated
      for (int k = 0; k < ahead; k++) own[k] = i + k < n ? line[(i + k) * grid.line_stride] : Scalar(0);
      for (int k = 0; k < ahead; k++) {
        if (i + k < n) down(i + k, pinned, shift, in * own[k], value, factor, line + (i + k) * grid.line_stride, factors + (i + k) * all);
      }
    }
    for (Index i = n - 2; i >= 0; i -= ahead) {
      Scalar own[ahead], times[ahead];
      for (int k = 0; k < ahead; k++) {
        own[k]   = i >= k ? line[(i - k) * grid.line_stride] : Scalar(0);
        times[k] = i >= k ? factors[(i - k) * all] : Scalar(0);
      }
      for (int k = 0; k < ahead; k++) {
        if (i >= k) line[(i - k) * grid.line_stride] = value = own[k] - times[k] * value;
      }
    }
  }

private:
  static constexpr int ahead = 4; ///< rows that are read before they are needed

  /// Row i: its solution in terms of the next one, value - factor * next.
  KOKKOS_INLINE_FUNCTION void down(Index i, Index pinned, Scalar shift, Scalar rhs, Scalar &value, Scalar &factor, Scalar *to_value,
                                   Scalar *to_factor) const
  {
    const bool pin     = i == pinned;
    const Scalar lower = pin || i == 0 ? Scalar(0) : a.b.lower(i), upper = pin || i + 1 == a.rows.grid.length ? Scalar(0) : a.b.upper(i);
    const Scalar inverse = 1 / ((pin ? Scalar(1) : a.b.diagonal(i) + shift) - lower * factor);
    *to_value = value = ((pin ? Scalar(0) : rhs) - lower * value) * inverse;
    *to_factor = factor = upper * inverse;
  }
};

template <class Space, class Scalar>
void run_side_by_side(const Space &space, const SideBySide<Scalar> &lines)
{
  using Range =
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, Kokkos::LaunchBounds<128, 8>>; // 64 registers: 1024 threads of a processor
  Kokkos::parallel_for("weft poisson lines side by side", Range(space, 0, lines.lines()), lines);
}

} // namespace weft::poisson
