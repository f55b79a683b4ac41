/// The lists of tridiagonal methods. Tests, benchmarks and the option -pc_line_kernel come from here: a method added to the list is
/// tested, measured and selectable.
#pragma once
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/type_list.hpp"
#include "line/methods/compared.hpp"
#include "line/methods/pivoted/pivoted.hpp"
#include "line/methods/reduction/methods.hpp"
#include "line/methods/spike/spike.hpp"
#include "line/methods/thomas/thomas.hpp"
#include "line/methods/thomas/thomas_late.hpp"
#include "line/methods/toeplitz/toeplitz.hpp"
#include "line/methods/tpr/tpr.hpp"
#include "line/methods/wide/wide.hpp"

namespace weft {

/// All, in the order of -help.
using EveryMethod = std::tuple<Thomas, ThomasLate, Cr, Pcr, CrPcr, PcrThomas, CrPcrThomas, Spike, Tpr, Toeplitz, Wide, Pivoted>;

/// Those that are kept to compare with: they stand in the tables of the papers that they come from, and `auto` takes none of them.
using ComparedMethods = std::tuple<ThomasLate, Cr, Pcr, CrPcr, PcrThomas, CrPcrThomas, Tpr>;

/// Those that callers should choose from, as `auto` does: Thomas, Spike, Toeplitz, Wide, Pivoted.
using ServingMethods = Without<EveryMethod, ComparedMethods>;

/// Those that this library has.
using TridiagonalMethods = std::conditional_t<compared_methods_built, EveryMethod, ServingMethods>;

/// What the fastest method of a measured case was. A row applies to lines of at least these numbers; the last one that does is taken.
struct Measured {
  bool device;
  bool constant; ///< coefficients
  Index length, lines;
  const char *method;
};

/// From docs/results/kernels.md: one core of a server, and an H200. Shared and general coefficients have the same order there, and so have
/// strides and both precisions: what differs between them is inside the methods.
inline constexpr Measured measured[] = {
    {false, false, 0, 0, Thomas::name},  {false, true, 0, 0, Thomas::name}, // one line is a chain of dependent rows: Thomas works from both ends
    {false, true, 3, 8, Toeplitz::name}, {true, false, 0, 0, Thomas::name}, // nothing to do in parallel
    {true, false, 3, 0, Wide::name},     {true, true, 0, 0, Wide::name},    {true, true, 3, 0, Toeplitz::name},
};

/// The method that `auto` stands for.
inline const char *choose_tridiagonal_method(const LineProblem &problem, bool device, const MethodParameters &parameters = {})
{
  const char *chosen = Thomas::name;
  for (const Measured &m : measured) {
    if (m.device != device || m.constant != (problem.coefficients == Coefficients::constant)) continue;
    if (problem.layout.length < m.length || problem.layout.count() < m.lines) continue;
    for_each_type<ServingMethods>([&](auto method) {
      if (std::string_view(m.method) == method.name && !method.refuses(problem, parameters)) chosen = m.method;
    });
  }
  return chosen;
}

} // namespace weft
