/// 16 bytes of an array, what a thread reads or writes at once.
#pragma once

namespace weft::cuda {

template <class Scalar>
struct alignas(16) Piece {
  static constexpr int size = 16 / static_cast<int>(sizeof(Scalar));
  Scalar values[size];
};

} // namespace weft::cuda
