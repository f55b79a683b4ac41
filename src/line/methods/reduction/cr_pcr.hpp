/// CR-PCR: cyclic reduction until few rows are left, parallel cyclic reduction of those, then the even rows of the levels (ADI thesis, section
/// 2.5; Zhang, Cohen, Owens, PPoPP 2010, for any length). CR's late levels leave most threads idle; PCR takes half as many steps
/// there, at the price of more operations on few rows.
///
/// The formulas are those of cr.hpp and pcr.hpp; words moved as in cr.hpp.
/// Parameters: switch_rows, the most rows at which PCR takes over (64 on a device, 4 on the host, where nobody is idle). 1 is cr; from the
/// length on it is pcr, for lines that fit on chip.
/// Limits: no pivoting.
#pragma once
#include "line/methods/reduction/reduction.hpp"

namespace weft {

struct CrPcr : Reduction<CrPcr> {
  static constexpr const char *name = "cr-pcr";

  struct Pieces {
    static constexpr bool cyclic = true, parallel = true, substitution = false;
  };

  /// Operations of a solve, long lines: as cr.
  static double flops(const LineLayout &layout) { return 22.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.switch_rows < 0) return "'cr-pcr' cannot change to PCR at " + std::to_string(parameters.switch_rows) + " rows";
    return nothing_against;
  }

  static int levels(Index length, const MethodParameters &parameters, bool on_host)
  {
    const Index at = parameters.switch_rows > 0 ? parameters.switch_rows : on_host ? 4 : 64;
    int levels     = 0;
    while (length >> levels > at) levels++;
    return levels;
  }
  static int steps(Index rows, const MethodParameters &) { return halvings(rows, 1); }
};

} // namespace weft
