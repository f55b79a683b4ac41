/// Sums of several numbers that Kokkos adds up at once. Included by kernel files only.
#pragma once
#include <Kokkos_Core.hpp>

/// A struct with `using is_sum = void` has a += of its own, and is nothing as it is made.
template <class Sums>
requires requires
{
  typename Sums::is_sum;
}
struct Kokkos::reduction_identity<Sums> {
  KOKKOS_FORCEINLINE_FUNCTION static Sums sum() { return {}; }
};
