/// The five methods of reduction.hpp: cyclic reduction, parallel cyclic reduction and their hybrids, with each other and with Thomas. They are
/// kept to compare with. F. Pereira da Silva, MSc dissertation, University of Minho 2021 (the ADI thesis), sections 2.3 to 2.5, for any length;
/// cr-pcr also Zhang, Cohen, Owens, PPoPP 2010.
///
/// Rows are divided by their diagonal; a row outside the line counts as x = 0. A step at distance d takes a row's neighbours out of it:
///   pivot    = 1 - lower_i upper_{i-d} - upper_i lower_{i+d}
///   lower'_i = -lower_i lower_{i-d} / pivot,   upper'_i = -upper_i upper_{i+d} / pivot
///   rhs'_i   = (rhs_i - lower_i rhs_{i-d} - upper_i rhs_{i+d}) / pivot
///
/// Words moved per row: 5 where lines fit in a team's scratch memory, which is one kernel. Longer lines go through device memory first, see
/// reduction.hpp: 11 words a row of the first level of cyclic reduction and 4 to 9 of each further one, which are half as long; 6 to 7 words a
/// row and step of parallel cyclic reduction (the neighbours come from cache), which split a line into 2^k interleaved ones.
/// Limits: no pivoting.
#pragma once
#include "line/methods/reduction/reduction.hpp"

namespace weft {

/// CR: each level eliminates its even rows from the odd ones, which are the next level, half as long; when one row is left the even rows
/// follow, last level first. With k = 0, 1, ..:
///   row'_k = row_{2k+1} without row_{2k} and row_{2k+2}   (a step at distance 1)
///   x_{2k} = rhs_{2k} - lower_{2k} x_{2k-1} - upper_{2k} x_{2k+1}
/// O(n) operations as Thomas, but from level to level fewer threads have work, and 2 log2(n) times they wait.
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

/// PCR: steps at distance 1, 2, 4, .. of all rows side by side; when the distance passes the length, every row stands alone. O(n log n)
/// operations, so it pays where lines are too few for Thomas to fill the device.
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

/// CR-PCR: cyclic reduction until few rows are left, parallel cyclic reduction of those, then the even rows of the levels. CR's late levels
/// leave most threads idle; PCR takes half as many steps there, at the price of more operations on few rows.
/// Parameters: switch_rows, the most rows at which PCR takes over (64 on a device, 4 on the host, where nobody is idle). 1 is cr; from the
/// length on it is pcr, for lines that fit on chip.
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

/// PCR-Thomas: k steps of parallel cyclic reduction split a line into 2^k interleaved ones, each of which a thread solves by Thomas. PCR makes
/// work for all threads, Thomas does the rest with the fewest operations. With d = 2^k:
///   pivot = 1 - lower_i upper'_{i-d},  upper'_i = upper_i / pivot,  rhs'_i = (rhs_i - lower_i rhs'_{i-d}) / pivot,
///   x_i = rhs'_i - upper'_i x_{i+d}
/// Parameters: steps, the k (such that 16 rows at most are left to a thread); lines that do not fit on chip take as many as make them fit,
/// and more than log2(length) change nothing.
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

/// CR-PCR-Thomas: levels of cyclic reduction, steps of parallel cyclic reduction on the rows that are left, Thomas on the interleaved systems
/// that those leave, then the even rows of the levels (the ADI thesis' own method, with free counts instead of 2 levels of 2048 rows).
/// Parameters: steps, the levels of cyclic reduction (2); slice, the most rows that Thomas solves (8). Lines that do not fit on chip take as
/// many levels as make them fit; more than log2(length) change nothing.
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
