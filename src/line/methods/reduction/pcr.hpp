/// PCR: parallel cyclic reduction, rows side by side. Each step couples a row to rows twice as far away; when the distance passes the length,
/// every row stands alone (ADI thesis, section 2.4, for any length instead of powers of two up to 2048).
///
/// One step at distance d, rows divided by their diagonal, rows outside the line counting as x = 0:
///   pivot = 1 - lower_i upper_{i-d} - upper_i lower_{i+d}
///   lower'_i = -lower_i lower_{i-d} / pivot,   upper'_i = -upper_i upper_{i+d} / pivot
///   rhs'_i   = (rhs_i - lower_i rhs_{i-d} - upper_i rhs_{i+d}) / pivot
///
/// Lines that fit in a team's scratch memory: one kernel, 5 words moved per row. Longer ones: k steps through device memory, 6 to 7 words a
/// row each (the neighbours come from cache), split a line into 2^k interleaved ones that fit. See reduction.hpp.
/// Limits: no pivoting; O(n log n) operations, so it pays where lines are too few for Thomas to fill the device.
#pragma once
#include "line/methods/reduction/reduction.hpp"

namespace weft {

struct Pcr : Reduction<Pcr> {
  static constexpr const char *name = "pcr";

  struct Pieces {
    static constexpr bool cyclic = false, parallel = true, substitution = false;
  };

  /// Operations of a solve: 4 to divide a row by its diagonal, 14 a row and step.
  static double flops(const LineLayout &layout) { return (4.0 + 14.0 * halvings(layout.length, 1)) * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &) { return nothing_against; }

  static int levels(Index, const MethodParameters &, bool) { return 0; }
  static int steps(Index rows, const MethodParameters &) { return halvings(rows, 1); }
};

} // namespace weft
