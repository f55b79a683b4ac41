/// The list of tridiagonal methods. Tests, benchmarks and the option -pc_line_kernel come from here: a method added to the list is
/// tested, measured and selectable.
#pragma once
#include <tuple>

#include "tridiagonal/pcr.hpp"
#include "tridiagonal/thomas.hpp"

namespace weft {

using TridiagonalMethods = std::tuple<Thomas, Pcr>;

/// Calls visit(Method{}) for each method of the list.
template <class Visit>
void for_each_tridiagonal_method(Visit &&visit)
{
  std::apply([&](auto... method) { (visit(method), ...); }, TridiagonalMethods{});
}

/// Lines from which on a thread per line beats a thread per row on a device, factors at hand (docs/results/kernels.md: the two are even at
/// 4096 lines of 4096 rows on an H200, strided or not).
inline constexpr Index lines_that_fill_a_device = 4096;

/// The method that `auto` stands for. On a host core Thomas does the least work; a device needs many lines for it.
inline const char *choose_tridiagonal_method(const LineLayout &layout, bool device)
{
  return device && layout.length > 2 && layout.count() < lines_that_fill_a_device ? Pcr::name : Thomas::name;
}

} // namespace weft
