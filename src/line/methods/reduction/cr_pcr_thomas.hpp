/// CR-PCR-Thomas: levels of cyclic reduction, steps of parallel cyclic reduction on the rows that are left, Thomas on the interleaved systems
/// that those leave, then the even rows of the levels (the ADI thesis' own method, section 2.5, with free counts instead of 2 levels of 2048
/// rows).
///
/// The formulas are those of cr.hpp and pcr_thomas.hpp; words moved as in cr.hpp.
/// Parameters: steps, the levels of cyclic reduction (2); slice, the most rows that Thomas solves (8). Lines that do not fit on chip take as
/// many levels as make them fit; more than log2(length) change nothing.
/// Limits: no pivoting.
#pragma once
#include "line/methods/reduction/reduction.hpp"

namespace weft {

struct CrPcrThomas : Reduction<CrPcrThomas> {
  static constexpr const char *name = "cr-pcr-thomas";

  struct Pieces {
    static constexpr bool cyclic = true, parallel = true, substitution = true;
  };

  /// Operations of a solve: 22 a row that is eliminated by CR, as cr; a quarter of the rows takes PCR's 14 a step and Thomas' 9.
  static double flops(const LineLayout &layout)
  {
    return (22.0 * 0.75 + 0.25 * (9.0 + 14.0 * steps(layout.length / 4, {}))) * layout.rows();
  }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.steps < 0) return "'cr-pcr-thomas' cannot take " + std::to_string(parameters.steps) + " levels of cyclic reduction";
    if (parameters.slice < 0) return "'cr-pcr-thomas' cannot leave " + std::to_string(parameters.slice) + " rows to Thomas";
    return nothing_against;
  }

  static int levels(Index length, const MethodParameters &parameters, bool)
  {
    return std::min(parameters.steps > 0 ? parameters.steps : 2, most_levels(length));
  }
  static int steps(Index rows, const MethodParameters &parameters) { return halvings(rows, parameters.slice > 0 ? parameters.slice : 8); }
};

} // namespace weft
