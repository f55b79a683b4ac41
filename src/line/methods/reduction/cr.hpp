/// CR: cyclic reduction. Each level eliminates its even rows from the odd ones, which are the next level, half as long; when one row is left
/// the even rows follow, last level first (ADI thesis, section 2.3, for any length).
///
/// One level, rows divided by their diagonal, k = 0, 1, ..; a row outside the line counts as x = 0:
///   row'_k = row_{2k+1} without row_{2k} and row_{2k+2}   (one step of pcr.hpp at distance 1)
///   x_{2k} = rhs_{2k} - lower_{2k} x_{2k-1} - upper_{2k} x_{2k+1}
///
/// Lines that fit in a team's scratch memory: one kernel, 5 words moved per row. Longer ones: levels through device memory, 11 words a row of
/// the first, 4 to 9 of each further one, which are half as long. See reduction.hpp.
/// Limits: no pivoting; O(n) operations as Thomas, but from level to level fewer threads have work, and 2 log2(n) times they wait.
#pragma once
#include "line/methods/reduction/reduction.hpp"

namespace weft {

struct Cr : Reduction<Cr> {
  static constexpr const char *name = "cr";

  struct Pieces {
    static constexpr bool cyclic = true, parallel = false, substitution = false;
  };

  /// Operations of a solve: 4 to divide a row by its diagonal, 14 to reduce it (once on average), 4 on the way back.
  static double flops(const LineLayout &layout) { return 22.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &) { return nothing_against; }

  static int levels(Index length, const MethodParameters &, bool) { return most_levels(length); }
  static int steps(Index, const MethodParameters &) { return 0; }
};

} // namespace weft
