/// Loads and stores of 16 bytes at a time, for threads that own consecutive rows. Addresses are multiples of 16 bytes.
#pragma once
#include <Kokkos_Core.hpp>

namespace weft {

template <class Scalar, int R>
KOKKOS_INLINE_FUNCTION void load_aligned(const Scalar *from, Scalar (&to)[R])
{
  constexpr int piece = 16 / sizeof(Scalar);
  struct alignas(16) Piece {
    Scalar values[piece];
  };
  for (int k = 0; k < R / piece; k++) {
    const Piece p = reinterpret_cast<const Piece *>(from)[k];
    for (int j = 0; j < piece; j++) to[k * piece + j] = p.values[j];
  }
}

template <class Scalar, int R>
KOKKOS_INLINE_FUNCTION void store_aligned(const Scalar (&from)[R], Scalar *to)
{
  constexpr int piece = 16 / sizeof(Scalar);
  struct alignas(16) Piece {
    Scalar values[piece];
  };
  for (int k = 0; k < R / piece; k++) {
    Piece p;
    for (int j = 0; j < piece; j++) p.values[j] = from[k * piece + j];
    reinterpret_cast<Piece *>(to)[k] = p;
  }
}

} // namespace weft
