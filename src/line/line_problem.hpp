/// What lines are solved and what a line solve is asked to do. Free of Kokkos, for callers that see no kernel.
#pragma once
#include "base/real_of.hpp"
#include "line/line_layout.hpp"

namespace weft {

enum class Transpose { no, yes };

/// How the three diagonals of the lines are stored.
enum class Coefficients {
  general,  ///< a value per row of every line: arrays in the layout of the lines
  shared,   ///< a value per row, the same for all lines: arrays of `length` values
  constant, ///< the same along a line too, but for some rows at either end (near-Toeplitz lines)
};

/// A batch of lines and the form of their coefficients.
struct LineProblem {
  LineLayout layout;
  Coefficients coefficients = Coefficients::general;
  Index closure             = 0;     ///< constant coefficients: rows at either end of a line that have values of their own
  bool periodic             = false; ///< lower of row 0 couples to the last row, upper of the last row to row 0

  LineProblem() = default;
  LineProblem(const LineLayout &lines) : layout(lines) {}
  friend bool operator==(const LineProblem &, const LineProblem &) = default;

  /// Elements of each coefficient array: the layout's span; `length`; or the first `closure` rows, the inner row, the last `closure` rows.
  WEFT_INLINE Index coefficient_size() const
  {
    switch (coefficients) {
    case Coefficients::general:
      return layout.span();
    case Coefficients::shared:
      return layout.length;
    default:
      return 2 * closure + 1;
    }
  }
  /// Where the coefficients of row `row`, which is element `element` of the layout, stand in those arrays.
  WEFT_INLINE Index coefficient(Index row, Index element) const
  {
    if (coefficients == Coefficients::general) return element;
    if (coefficients == Coefficients::shared || row < closure) return row;
    const Index from_end = layout.length - row; // 1 for the last row
    return from_end <= closure ? 2 * closure + 1 - from_end : closure;
  }
};

/// What a method can be told about how to work; 0 is the method's own choice. Each method documents which of these it reads.
struct MethodParameters {
  Index switch_rows = 0; ///< rows (of what is left of a line) at which a hybrid changes to its next method
  int steps         = 0; ///< reduction steps before that, where a hybrid counts steps
  int partitions    = 0; ///< parts that a line is cut into
  int slice         = 0; ///< rows of a slice, or rows that a thread owns
  double tolerance  = 0; ///< size below which a coupling may be dropped; 0 drops nothing

  friend bool operator==(const MethodParameters &, const MethodParameters &) = default;
};

/// What becomes of the line solutions z = T^-1 rhs:  add false: solution = scale * z, rhs is kept (it may be the same array as solution).
/// add true: solution += scale * z, and rhs is work space afterwards.
template <class Scalar>
struct Update {
  RealOf<Scalar> scale = 1;
  bool add             = false;
};

/// What a solve is asked to do.
template <class Scalar>
struct SolveOptions {
  Update<Scalar> update = {};
  Colour colour         = Colour::all; ///< other lines are not touched
  Transpose transpose   = Transpose::no;
  int nrhs              = 1; ///< right-hand sides with the same matrix
  Index ld              = 0; ///< elements from one of them, and of the solutions, to the next
};

} // namespace weft
