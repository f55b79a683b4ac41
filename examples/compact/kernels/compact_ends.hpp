/// What ranks tell each other of the ends of lines that they share, for compact_sweep.cpp.
#pragma once
#include "base/backend.hpp"
#include "base/real_of.hpp"
#include "base/streamed.hpp"
#include "kernels/compact_weights.hpp"

namespace weft {

inline constexpr Index most_reach = 3 * 16; ///< of the widest sweep there is, with the stencil

/// What products at the ends need, by value on the backend; an Interface's, as each side makes use of it.
template <class Real>
struct EndWeights {
  Real unknown_own[most_reach] = {}, value_own[most_reach] = {}; ///< told to the rank before, and to the one after
  Real value_of_own[most_stencil_width]   = {};                  ///< of the value before: of own rows of f
  Real unknown_of_own[most_stencil_width] = {};                  ///< of the unknown after: of own rows of f
};

/// What a neighbour told lacks what the rows of f here do to it. first_row, last_row: of this rank's part of a line.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar value_before_of(const EndWeights<RealOf<Scalar>> &w, int width, Scalar told, const Scalar *first_row,
                                              Index stride)
{
  for (int k = 0; k < width; k++) told += w.value_of_own[k] * first_row[k * stride];
  return told;
}
/// The unknown after, but for a product of the value in this rank's last row, which a sweep adds.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar unknown_after_of(const EndWeights<RealOf<Scalar>> &w, int width, Scalar told, const Scalar *last_row,
                                               Index stride)
{
  for (int k = 0; k < width; k++) told += w.unknown_of_own[k] * last_row[-k * stride];
  return told;
}

/// What ranks tell their neighbours of the ends of lines.
template <class Space, class Scalar>
struct EndsToTell {
  static constexpr int bundle = 32, pitch = static_cast<int>(most_reach) + 1; ///< lines of a team; their products in its scratch memory
  static constexpr std::size_t scratch_bytes = bundle * pitch * sizeof(Scalar);

  using Real = RealOf<Scalar>;
  Index lines, rows, stride, deep;
  int width;
  Kokkos::View<EndWeights<Real>, typename Space::memory_space> weights;
  const Scalar *f;
  Scalar *to_before, *to_after;

  KOKKOS_INLINE_FUNCTION const Scalar *end_of(bool first, Index line) const
  {
    return f + line % stride + line / stride * stride * rows + (first ? 0 : (rows - 1) * stride);
  }
  KOKKOS_INLINE_FUNCTION Scalar *row_of(bool first, int k) const
  {
    return (first ? to_before : to_after) + (first ? k : width - 2 - k) * lines;
  }

  /// An end of a line by a thread. The rows themselves go first, while others are read.
  KOKKOS_INLINE_FUNCTION void tell_line(bool first, Index line) const
  {
    constexpr int together = 16; // loads under way
    static_assert(most_reach % together == 0);
    const Scalar *const at = end_of(first, line);
    const Index step       = first ? stride : -stride;
    const Real *const w    = first ? weights().unknown_own : weights().value_own;
    Scalar sum             = 0;
    for (int k = 0; k + 1 < width; k++) row_of(first, k)[line] = at[k * step];
    for (Index k = 0; k < deep; k += together) {
      Scalar values[together];
      for (int j = 0; j < together; j++) values[j] = k + j < deep ? streamed(at + (k + j) * step) : Scalar(0);
      for (int j = 0; j < together; j++) sum += w[k + j] * values[j];
    }
    tell(first, line, sum);
  }

  /// The same of `bundle` lines by a team, where rows follow each other in memory: neighbouring threads read them.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void tell_bundle(const Member &team, bool first, Index begin) const
  {
    constexpr int together = 4;
    Scalar *const products = static_cast<Scalar *>(team.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
    const int count = static_cast<int>(lines - begin < bundle ? lines - begin : bundle), each = static_cast<int>(deep), all = count * each;
    const int step = team.team_size(), towards = first ? 1 : -1;
    const Real *const w = first ? weights().unknown_own : weights().value_own;
    for (int base = team.team_rank(); base < all; base += together * step) {
      Scalar values[together];
      for (int m = 0; m < together; m++) {
        const int e = base + m * step < all ? base + m * step : base, line = e / each, k = e - line * each;
        values[m] = w[k] * streamed(end_of(first, begin + line) + towards * k);
      }
      for (int m = 0; m < together; m++) {
        const int e = base + m * step, line = e / each, k = e - line * each;
        if (e < all) products[line * pitch + k] = values[m];
      }
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < count; i += step) {
      Scalar sum = 0;
      for (int k = 0; k < each; k++) sum += products[i * pitch + k];
      for (int k = 0; k + 1 < width; k++) row_of(first, k)[begin + i] = end_of(first, begin + i)[towards * k];
      tell(first, begin + i, sum);
    }
  }

private:
  KOKKOS_INLINE_FUNCTION void tell(bool first, Index line, Scalar sum) const
  {
    (first ? to_before : to_after)[(width - 1) * lines + line] = sum;
  }
};

} // namespace weft
