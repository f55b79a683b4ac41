/// What another lane of the warp has, by all lanes together: real or complex numbers.
#pragma once
#include "base/real_of.hpp"

namespace weft::cuda {

/// exchange(x) for a real number, for each part of a complex one.
template <class Scalar, class Exchange>
__device__ Scalar by_parts(const Scalar &x, const Exchange &exchange)
{
  if constexpr (is_complex<Scalar>)
    return {exchange(x.real()), exchange(x.imag())};
  else
    return exchange(x);
}

/// Of lane number `lane`.
template <class Scalar>
__device__ Scalar number_of(const Scalar &x, int lane)
{
  return by_parts(x, [&](auto part) { return __shfl_sync(0xffffffff, part, lane); });
}
/// Of the lane `distance` before; a lane that has none keeps its own.
template <class Scalar>
__device__ Scalar number_before(const Scalar &x, int distance)
{
  return by_parts(x, [&](auto part) { return __shfl_up_sync(0xffffffff, part, distance); });
}
/// Of the lane `distance` after.
template <class Scalar>
__device__ Scalar number_after(const Scalar &x, int distance)
{
  return by_parts(x, [&](auto part) { return __shfl_down_sync(0xffffffff, part, distance); });
}
/// Of the lane whose number differs in the bits of `mask`.
template <class Scalar>
__device__ Scalar number_across(const Scalar &x, int mask)
{
  return by_parts(x, [&](auto part) { return __shfl_xor_sync(0xffffffff, part, mask); });
}

} // namespace weft::cuda
