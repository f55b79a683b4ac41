/// Chunks of a line whose rows hang on the unknowns around them, and how neighbouring ones are joined. Kernels that share a line between threads
/// differ in where the neighbours are - registers, team scratch, other blocks - and do this with them: wide_kernel.hpp is the plainest.
#pragma once
#include <Kokkos_Core.hpp>

namespace weft {

/// x = value - before * (left) - after * (right).
template <class Scalar>
struct Hanging {
  Scalar value = 0, before = 0, after = 0;
};

/// A row without its neighbours, so that it hangs on theirs: what joins a chunk to the next one, and what a step of parallel cyclic reduction
/// does. Where there is no neighbour to take out, what hangs there goes on doing so.
///   pivot = 1 - before left.after - after right.before
///   value' = (value - before left.value - after right.value) / pivot,   before' = -before left.before / pivot,   after' = -after right.after / pivot
template <class Scalar>
class Join {
public:
  KOKKOS_INLINE_FUNCTION explicit Join(const Hanging<Scalar> &row) : row_(row), sum_(row) {}

  KOKKOS_INLINE_FUNCTION void left(const Hanging<Scalar> &neighbour)
  {
    pivot_ -= row_.before * neighbour.after;
    sum_.value -= row_.before * neighbour.value;
    sum_.before = -row_.before * neighbour.before;
  }
  KOKKOS_INLINE_FUNCTION void right(const Hanging<Scalar> &neighbour)
  {
    pivot_ -= row_.after * neighbour.before;
    sum_.value -= row_.after * neighbour.value;
    sum_.after = -row_.after * neighbour.after;
  }
  KOKKOS_INLINE_FUNCTION Scalar pivot() const { return pivot_; }
  /// inverse: 1 / pivot(), which kernels find in different ways.
  KOKKOS_INLINE_FUNCTION Hanging<Scalar> row(Scalar inverse) const
  {
    return {sum_.value * inverse, sum_.before * inverse, sum_.after * inverse};
  }

private:
  Hanging<Scalar> row_, sum_;
  Scalar pivot_ = 1;
};

} // namespace weft
