/// Thomas: Gaussian elimination along each line. Factors once, then two short recurrences a solve.
///
/// T = L U with U unit upper bidiagonal (ADI thesis, section 2.1, with the divisions moved to the factorization). The same algebra has two
/// forms: a thread per line on a device (thomas_device.hpp); packs of lines, eliminated from both ends, on the host (thomas_host.hpp).
/// Limits: no pivoting, so lines should be diagonally dominant or definite.
#pragma once
#include <string>
#include <type_traits>

#include "line/methods/thomas/thomas_device.hpp"
#include "line/methods/thomas/thomas_host.hpp"

namespace weft {

struct Thomas {
  static constexpr const char *name = "thomas";

  /// Operations of a solve: two multiplications and a subtraction inward (or forward), one of each outward.
  static double flops(const LineLayout &layout) { return 5.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &) { return nothing_against; }

  template <class Space>
  using Form = std::conditional_t<is_host_space<Space>, ThomasOnHost, ThomasOnDevice>;
};

} // namespace weft
