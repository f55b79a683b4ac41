/// Which backend has a native form of the kernel of toeplitz_kernel.hpp, and for which lines.
#pragma once
#include <type_traits>

#include "base/native.hpp"
#include "line/methods/toeplitz/toeplitz_kernel.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "line/methods/toeplitz/toeplitz_launch.hpp"
#endif

namespace weft {

/// A native form of the team's kernel for a backend that has one.
template <class Space, class Scalar>
struct NativeToeplitz {
  static constexpr Index most = 0, window_rows = 0; ///< rows of a line that it takes, of a window of a longer one
  static bool takes(const LineLayout &, const MethodParameters &) { return false; }
  static int rows(Index) { return 16; } ///< of a thread
  /// True for those that its threads can have.
  static constexpr bool has(int) { return false; }
  /// False where it could not.
  template <class Team>
  static bool launch(const Space &, const Team &)
  {
    return false;
  }
};

#if defined(WEFT_NATIVE_HOPPER)
template <class Scalar>
requires std::is_floating_point_v<Scalar>
struct NativeToeplitz<Kokkos::Cuda, Scalar> {
  static constexpr Index most = cuda::toeplitz_most, window_rows = 4096;
  static bool takes(const LineLayout &layout, const MethodParameters &parameters) { return cuda::toeplitz_lines(layout, parameters); }
  static int rows(Index length) { return cuda::toeplitz_rows(length); }
  static constexpr bool has(int rows) { return rows == 9 || rows == 11; }
  template <class Team>
  static bool launch(const Kokkos::Cuda &space, const Team &team)
  {
    return cuda::launch_toeplitz(space, team);
  }
};
#endif

} // namespace weft
