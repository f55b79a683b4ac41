/// The workhorse of all methods: sums of shifted line solves, a LineStep of schedule.hpp on a backend.
///
///   output_d = kept_d + sum_p out_{p,d} (B + mu_b I - pole_p I)^-1 sum_s in_{p,s} source_s
///
/// for every group of the step and every b of a batch (the modes of a third direction). Sources, kept rows and outputs belong to rows of
/// the grid. Where groups are few their poles are split, and parts of the sums are added in a fixed order.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "bcr/reduction/schedule.hpp"
#include "line/tridiagonal.hpp"

namespace weft::poisson {

/// Most outputs of a group.
inline constexpr int most_outputs = 4;

/// Where the rows of the grid lie: row r of plane b begins at b * plane_stride + r * row_stride of its array.
struct Grid {
  Index length = 0, line_stride = 1; ///< unknowns of a row
  Index rows = 0, row_stride = 0;
  Index planes = 1, plane_stride = 0;

  WEFT_INLINE Index unknowns() const { return length * rows * planes; }
};

/// The solution array and the work array behind one numbering of rows.
template <class Scalar>
struct RowArrays {
  Grid grid;
  Scalar *solution = nullptr, *work = nullptr;

  KOKKOS_INLINE_FUNCTION Scalar *row(Index r, Index plane) const
  {
    const bool is_work = r >= grid.rows;
    return (is_work ? work : solution) + (is_work ? r - grid.rows : r) * grid.row_stride + plane * grid.plane_stride;
  }
};

/// A table in the memory of a backend, owned by a TableStore: kernels' arguments stay small.
template <class T>
struct Words {
  const T *first = nullptr;

  KOKKOS_INLINE_FUNCTION const T &operator()(Index i) const { return first[i]; }
  KOKKOS_INLINE_FUNCTION const T *data() const { return first; }
};

/// A copy of numbers in the memory of a backend.
template <class To, class Space, class From>
OwnedArray<To, Space> upload(const std::string &label, const std::vector<From> &values)
{
  OwnedArray<To, Space> array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), values.size());
  const auto host = Kokkos::create_mirror_view(array);
  for (std::size_t i = 0; i < values.size(); i++) host(i) = static_cast<To>(values[i]);
  Kokkos::deep_copy(array, host);
  return array;
}

/// Owns tables of the three kinds of numbers there are.
template <class Space, class Scalar>
class TableStore {
public:
  template <class To, class From>
  Words<To> keep(const std::string &label, const std::vector<From> &values)
  {
    auto &arrays = std::get<std::vector<OwnedArray<To, Space>>>(arrays_);
    arrays.push_back(upload<To, Space>("weft poisson " + label, values));
    bytes_ += values.size() * sizeof(To);
    return {arrays.back().data()};
  }
  std::size_t bytes() const { return bytes_; }

private:
  std::tuple<std::vector<OwnedArray<Index, Space>>, std::vector<OwnedArray<int, Space>>, std::vector<OwnedArray<Scalar, Space>>> arrays_;
  std::size_t bytes_ = 0;
};

/// B, and what each plane adds to it.
template <class Scalar>
struct LineOperator {
  Words<Scalar> lower, diagonal, upper, plane_shift;
  bool ring        = false;
  Index equal_from = 0, equal_to = 0; ///< rows of B that are equal: the longest run of them
  Index pinned_row   = 0;             ///< of a singular line: the row whose unknown is set to 0, of rings the last one
  Index pinned_plane = 0;             ///< of a singular operator: the plane whose pinned pole gives a singular line
};

/// B from its rows; `shifts`: what each plane adds.
template <class Space, class Scalar>
LineOperator<Scalar> make_operator(const LineMatrix &line, const std::vector<double> &shifts, Index pinned_row,
                                   TableStore<Space, Scalar> &store)
{
  LineOperator<Scalar> b;
  b.lower                            = store.template keep<Scalar>("lower", line.lower);
  b.diagonal                         = store.template keep<Scalar>("diagonal", line.diagonal);
  b.upper                            = store.template keep<Scalar>("upper", line.upper);
  b.plane_shift                      = store.template keep<Scalar>("modes", shifts);
  b.ring                             = line.periodic;
  b.pinned_row                       = pinned_row;
  std::tie(b.equal_from, b.equal_to) = line.equal_rows();
  return b;
}

/// A LineStep in the memory of a backend.
template <class Scalar>
struct StepTables {
  Lines kind  = Lines::fractions;
  int sources = 1, outputs = 1, splits = 1;
  Index groups = 0, pinned = -1; ///< the pole whose line is singular, see LineOperator
  int most_poles = 0;
  Words<Index> first_pole, term_row, output_row; ///< output_row: -1 where a group has fewer outputs
  Words<int> poles, list;                        ///< list: first term of every source and kept combination of every group
  Words<Scalar> term_factor, pole, in, out;

  KOKKOS_INLINE_FUNCTION Index list_of(Index group, int which) const { return group * (sources + outputs) + which; }

  /// Element i of a combination: source s, or sources + d for what output d keeps.
  KOKKOS_INLINE_FUNCTION Scalar combined(const RowArrays<Scalar> &rows, Index group, int which, Index plane, Index i) const
  {
    const Index l = list_of(group, which);
    Scalar sum    = 0;
    for (int t = list(l); t < list(l + 1); t++) sum += term_factor(t) * rows.row(term_row(t), plane)[i * rows.grid.line_stride];
    return sum;
  }
  /// Writes the outputs of a group at element i. All are worked out before the first is written: they may keep one another's old values.
  KOKKOS_INLINE_FUNCTION void finish(const RowArrays<Scalar> &rows, Index group, Index plane, Index i, const Scalar *sums) const
  {
    Scalar value[most_outputs];
    for (int d = 0; d < outputs; d++) value[d] = sums[d] + combined(rows, group, sources + d, plane, i);
    for (int d = 0; d < outputs; d++) {
      const Index row = output_row(group * outputs + d);
      if (row >= 0) rows.row(row, plane)[i * rows.grid.line_stride] = value[d];
    }
  }
};

template <class Space, class Scalar>
StepTables<Scalar> make_tables(const LineStep &step, TableStore<Space, Scalar> &store)
{
  StepTables<Scalar> tables;
  tables.kind    = step.kind;
  tables.sources = step.sources;
  tables.outputs = step.outputs;
  tables.groups  = static_cast<Index>(step.groups.size());
  std::vector<Index> first_pole, term_row, output_row;
  std::vector<int> poles, list{0};
  std::vector<double> term_factor;
  const auto add_list = [&](const Combination &combination) {
    for (const Term &term : combination) {
      term_row.push_back(term.row);
      term_factor.push_back(term.factor);
    }
    list.push_back(static_cast<int>(term_row.size()));
  };
  for (const LineStep::Group &group : step.groups) {
    first_pole.push_back(group.first_pole);
    poles.push_back(group.poles);
    tables.most_poles = std::max(tables.most_poles, group.poles);
    for (int s = 0; s < step.sources; s++) add_list(static_cast<std::size_t>(s) < group.sources.size() ? group.sources[s] : Combination{});
    for (int d = 0; d < step.outputs; d++) {
      const bool used = static_cast<std::size_t>(d) < group.outputs.size();
      add_list(used ? group.outputs[d].kept : Combination{});
      output_row.push_back(used ? group.outputs[d].row : -1);
    }
  }
  tables.first_pole  = store.template keep<Index>("first poles", first_pole);
  tables.poles       = store.template keep<int>("poles of groups", poles);
  tables.list        = store.template keep<int>("lists", list);
  tables.term_row    = store.template keep<Index>("rows", term_row);
  tables.term_factor = store.template keep<Scalar>("factors", term_factor);
  tables.output_row  = store.template keep<Index>("outputs", output_row);
  tables.pole        = store.template keep<Scalar>("poles", step.pole);
  tables.in          = store.template keep<Scalar>("weights in", step.in);
  tables.out         = store.template keep<Scalar>("weights out", step.out);
  return tables;
}

/// All that a launch needs.
template <class Scalar>
struct LineArguments {
  StepTables<Scalar> step;
  LineOperator<Scalar> b;
  RowArrays<Scalar> rows;
  Scalar *parts = nullptr; ///< where poles are split: group, plane, split, output, row element

  KOKKOS_INLINE_FUNCTION Scalar *part(Index group, Index plane, int split, int output) const
  {
    return parts + (((group * rows.grid.planes + plane) * step.splits + split) * step.outputs + output) * rows.grid.length;
  }
  KOKKOS_INLINE_FUNCTION bool pins(Index pole, Index plane) const { return pole == step.pinned && plane == b.pinned_plane; }
};

static_assert(sizeof(LineArguments<double>) <= 400,
              "larger arguments would reach a device's kernels through constant memory, which is slow");

/// Elements of `parts` that a step needs.
template <class Scalar>
Index parts_of(const StepTables<Scalar> &step, const Grid &grid)
{
  return step.splits == 1 ? 0 : step.groups * grid.planes * step.splits * step.outputs * grid.length;
}

/// The sum of `count` numbers, one after the other, eight of them on their way from memory at a time.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar sum_of(const Scalar *first, Index apart, Index count)
{
  constexpr int at_once = 8;
  Scalar sum            = 0;
  Index k               = 0;
  for (; k + at_once <= count; k += at_once) {
    Scalar some[at_once];
    for (int l = 0; l < at_once; l++) some[l] = first[(k + l) * apart];
    for (int l = 0; l < at_once; l++) sum += some[l];
  }
  for (; k < count; k++) sum += first[k * apart];
  return sum;
}

/// Adds the parts of split sums.
template <class Scalar>
struct AddParts {
  LineArguments<Scalar> a;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index length = a.rows.grid.length, i = number % length, rest = number / length;
    const Index group = rest / a.rows.grid.planes, plane = rest % a.rows.grid.planes;
    Scalar sums[most_outputs];
    for (int d = 0; d < a.step.outputs; d++) sums[d] = sum_of(a.part(group, plane, 0, d) + i, a.step.outputs * length, a.step.splits);
    a.step.finish(a.rows, group, plane, i, sums);
  }
};

template <class Space, class Scalar>
void add_parts(const Space &space, const LineArguments<Scalar> &a)
{
  const Index all = a.step.groups * a.rows.grid.planes * a.rows.grid.length;
  Kokkos::parallel_for("weft poisson add parts", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, all), AddParts<Scalar>{a});
}

} // namespace weft::poisson
