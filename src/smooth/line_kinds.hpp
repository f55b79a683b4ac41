/// How the lines of a matrix couple to each other: what may be relaxed in place. And the small kernels of a relaxation.
#pragma once
#include "smooth/residual.hpp"

namespace weft {

struct LineKind {
  bool known               = false;
  bool same_colour_couples = false; ///< some line to another one of its colour
  bool any_couple          = false; ///< some line to another one
  bool own_couple          = false; ///< rows of a line beyond their neighbours, around a period say
  bool ends_couple         = false; ///< something stands in the matrix where a line's first row has its lower, or its last its upper
};

template <class Space>
class LineKinds {
public:
  LineKinds() = default;
  LineKinds(const LineLayout &layout, Index rows) : layout_(layout), line_of_("weft line of a row", static_cast<std::size_t>(rows)) {}

  /// Looks at all entries that are not 0. Waits.
  template <class Scalar>
  LineKind look(const Space &space, const Diagonals<Scalar> &matrix)
  {
    enum : int { same_colour = 1, any = 2, own = 4, ends = 8 };
    const LineLayout layout = layout_;
    const auto line_of      = line_of_;
    if (!numbered_) number_rows(space);
    int found = 0;
    Kokkos::parallel_reduce(
        "weft how lines couple", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, matrix.rows),
        KOKKOS_LAMBDA(const Index i, int &what) {
          const Index line = line_of(i);
          if (line < 0) return;
          for (int d = 0; d < matrix.count; d++) {
            const Index offset = matrix.offsets[d], j = i + offset;
            if (offset == 0 || matrix.values[d * matrix.pitch + i] == 0) continue;
            const Index to = line_of(j);
            if (layout.length > 1 && (offset == layout.stride || offset == -layout.stride)) {
              if (to != line) what |= ends;
            } else if (to == line) {
              what |= own;
            } else {
              what |= any;
              if (to >= 0 && layout.colour(to) == layout.colour(line)) what |= same_colour;
            }
          }
        },
        Kokkos::BOr<int>(found));
    return {true, (found & same_colour) != 0, (found & any) != 0, (found & own) != 0, (found & ends) != 0};
  }

  /// The line of every row that has one: once, it does not depend on values.
  void number_rows(const Space &space)
  {
    const LineLayout layout = layout_;
    const auto line_of      = line_of_;
    Kokkos::deep_copy(space, line_of, Index(-1));
    Kokkos::parallel_for(
        "weft line of a row", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index k) {
          const LineRow at                                        = line_row(layout, k);
          line_of(layout.start(at.line) + at.row * layout.stride) = at.line;
        });
    numbered_ = true;
  }

private:
  LineLayout layout_;
  OwnedArray<Index, Space> line_of_;
  bool numbered_ = false;
};

template <class Scalar>
struct ValueOfRow {
  SomeRows rows;
  const Scalar *values;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    return i < 0 ? 0 : measure(type, static_cast<double>(values[i]));
  }
};

template <class Scalar>
struct AddToRow {
  SomeRows rows;
  const Scalar *values;
  Scalar *x;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    if (i < 0) return 0;
    x[i] += values[i];
    return measure(type, static_cast<double>(values[i]));
  }
};

template <class Scalar>
struct ZeroOfRow {
  SomeRows rows;
  Scalar *x;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    if (i >= 0) x[i] = 0;
    return 0;
  }
};

/// A part of a norm that a team left.
struct Part {
  const double *parts;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const { return parts[k]; }
};

} // namespace weft
