/// 16 bytes of an array, what a thread reads or writes at once.
#pragma once
#include <vector_types.h>

namespace weft::cuda {

template <class Scalar>
struct alignas(16) Piece {
  static constexpr int size = 16 / static_cast<int>(sizeof(Scalar));
  Scalar values[size];
};

/// A number that begins at a multiple of its size, read or written by one access, where that is up to 16 bytes.
template <class Scalar>
__device__ Scalar read_whole(const Scalar *from)
{
  if constexpr (sizeof(Scalar) == 16)
    return __builtin_bit_cast(Piece<Scalar>, *reinterpret_cast<const float4 *>(from)).values[0];
  else
    return *from;
}
template <class Scalar>
__device__ void write_whole(Scalar *to, const Scalar &x)
{
  if constexpr (sizeof(Scalar) == 16)
    *reinterpret_cast<float4 *>(to) = __builtin_bit_cast(float4, Piece<Scalar>{{x}});
  else
    *to = x;
}

} // namespace weft::cuda
