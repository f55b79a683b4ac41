/// PCR-Thomas: k steps of parallel cyclic reduction split a line into 2^k interleaved ones, each of which a thread solves by Thomas (ADI
/// thesis, section 2.5, for any length). PCR makes work for all threads, Thomas does the rest with the fewest operations.
///
/// The formulas are those of pcr.hpp and, rows divided by their diagonal, with d = 2^k:
///   pivot = 1 - lower_i upper'_{i-d},  upper'_i = upper_i / pivot,  rhs'_i = (rhs_i - lower_i rhs'_{i-d}) / pivot,
///   x_i = rhs'_i - upper'_i x_{i+d}
///
/// Words moved as in pcr.hpp.
/// Parameters: steps, the k (such that 16 rows at most are left to a thread); lines that do not fit on chip take as many as make them fit,
/// and more than log2(length) change nothing.
/// Limits: no pivoting; k reductions a row.
#pragma once
#include "line/methods/reduction/reduction.hpp"

namespace weft {

struct PcrThomas : Reduction<PcrThomas> {
  static constexpr const char *name = "pcr-thomas";

  struct Pieces {
    static constexpr bool cyclic = false, parallel = true, substitution = true;
  };
  static constexpr int thomas_rows = 16;

  /// Operations of a solve: 4 to divide a row by its diagonal, 14 a row and step, 9 of Thomas.
  static double flops(const LineLayout &layout) { return (13.0 + 14.0 * steps(layout.length, {})) * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.steps < 0) return "'pcr-thomas' cannot take " + std::to_string(parameters.steps) + " steps";
    return nothing_against;
  }

  static int levels(Index, const MethodParameters &, bool) { return 0; }
  static int steps(Index rows, const MethodParameters &parameters)
  {
    if (parameters.steps > 0) return std::min(parameters.steps, halvings(rows, 1));
    return halvings(rows, thomas_rows);
  }
};

} // namespace weft
