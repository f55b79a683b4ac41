/// Lines of many modes that lie side by side in memory, a thread for each on a device: elimination downwards and back, neighbouring threads on
/// neighbouring numbers. For steps that solve one shifted line for each row of the grid, in its place, and are too many for teams to be worth
/// their barriers. Of the factors one in `chunk` rows is kept; the others are made again on the way back, where they wait for no memory. So what
/// moves is the right-hand side twice, there and back, and two words in `chunk` points.
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
  Scalar *room; ///< a number for each `chunk` rows of each line

  /// Rows that are read before they are needed, after each of which a factor is kept.
  static constexpr int chunk = 8;

  KOKKOS_INLINE_FUNCTION Index lines() const { return a.step.groups * a.rows.grid.planes; }

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Grid &grid      = a.rows.grid;
    const bool rows_first = grid.row_stride == 1;
    const Index first = rows_first ? a.step.groups : grid.planes, slow = number / first, fast = number - slow * first;
    const Index group = rows_first ? fast : slow, plane = rows_first ? slow : fast;
    const Index pole = a.step.first_pole(group), all = lines(), n = grid.length;
    const Scalar in = a.step.in(pole)*a.step.term_factor(a.step.list(a.step.list_of(group, 0))) * a.step.out(pole);
    const Rows rows{a.b, a.b.plane_shift(plane) - a.step.pole(pole), n, a.pins(pole, plane) ? a.b.pinned_row : -1};
    Scalar *const line = a.rows.row(a.step.output_row(group), plane);
    Scalar *const kept = room + number;
    Scalar value = 0, factor = 0;
    for (Index i = 0; i < n; i += chunk) {
      Scalar own[chunk];
      for (int k = 0; k < chunk; k++) own[k] = i + k < n ? line[(i + k) * grid.line_stride] : Scalar(0);
      kept[i / chunk * all] = factor;
      for (int k = 0; k < chunk; k++) {
        if (i + k < n) {
          const Row row                    = rows(i + k, factor);
          value                            = ((i + k == rows.pinned ? Scalar(0) : in * own[k]) - row.lower * value) * row.inverse;
          factor                           = row.factor;
          line[(i + k) * grid.line_stride] = value;
        }
      }
    }
    value = 0; // beyond the last row, whose factor is 0
    for (Index i = (n - 1) / chunk * chunk; i >= 0; i -= chunk) {
      Scalar own[chunk], factors[chunk];
      for (int k = 0; k < chunk; k++) own[k] = i + k < n ? line[(i + k) * grid.line_stride] : Scalar(0);
      factor = kept[i / chunk * all];
      for (int k = 0; k < chunk; k++) factors[k] = factor = i + k < n ? rows(i + k, factor).factor : Scalar(0);
      for (int k = chunk - 1; k >= 0; k--) {
        if (i + k < n) line[(i + k) * grid.line_stride] = value = own[k] - factors[k] * value;
      }
    }
  }

private:
  /// A row's solution in terms of the next one: (rhs - lower * the row before's) * inverse - factor * next.
  struct Row {
    Scalar lower, inverse, factor;
  };
  struct Rows {
    const LineOperator<Scalar> &b;
    Scalar shift;
    Index n, pinned;

    KOKKOS_INLINE_FUNCTION Row operator()(Index i, Scalar factor_before) const
    {
      const bool pin     = i == pinned;
      const Scalar lower = pin || i == 0 ? Scalar(0) : b.lower(i), upper = pin || i + 1 == n ? Scalar(0) : b.upper(i);
      const Scalar inverse = 1 / ((pin ? Scalar(1) : b.diagonal(i) + shift) - lower * factor_before);
      return {lower, inverse, upper * inverse};
    }
  };
};

template <class Space, class Scalar>
void run_side_by_side(const Space &space, const SideBySide<Scalar> &lines)
{
  using Range =
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, Kokkos::LaunchBounds<128, 6>>; // 80 registers: 768 threads of a processor
  Kokkos::parallel_for("weft poisson lines side by side", Range(space, 0, lines.lines()), lines);
}

} // namespace weft::poisson
