/// Exact factors in one launch where no row has more than 64 entries, natively on CUDA: as waiting_elimination.hpp, a warp a row, with the row in
/// registers. Lane k has entry k, and for each lower entry it reads a byte that says which word of that row of U its product needs. So nothing
/// is searched for, products have no way to go, and all loads of a few lower entries are under way at a time. Rows publish what others
/// divide by with its inverse: a product, and what it leaves of the number that was to be divided, give the quotient.
///
/// Bytes of a row with n entries, l of them lower: the matrix, the factors, 32 l (64 l from 33 entries on) and the words of U, mostly in the L2
/// cache.
#pragma once
#include <cuda_runtime.h>

#include "crout/in_order.hpp"
#include "crout/values.hpp"
#include "tridiagonal/cuda/launch.hpp"

namespace weft::crout {

inline constexpr Index most_in_registers = 64;

/// Bytes for each lower entry.
inline int lanes_of_row(Index longest)
{
  return longest <= 32 ? 32 : 64;
}

/// words[lanes * e + k] of lower entry e = (i, m): the distance from the first word of row m of U (symmetric: of its part from column i on) to
/// the one in the column of entry k of row i; no_word: there is none.
template <class Space>
struct FindWords {
  FactorEntries<Space> entries;
  Array<std::uint64_t, Space> mirror; ///< symmetric: the upper entry of each lower one
  std::uint8_t *words;
  int lanes;
  bool symmetric;

  static constexpr std::uint8_t no_word = 255;

  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const
  {
    std::uint8_t *const mine = words + e * lanes;
    for (int k = 0; k < lanes; k++) mine[k] = no_word;
    const Index i = entries.row_of(e), m = entries.columns(e), first = entries.lower_starts(i), above = entries.upper_start(i);
    const Index below = entries.lower_starts(i + 1) - first, right = entries.upper_start(i + 1) - above;
    const Index begin = symmetric ? static_cast<Index>(mirror(e) & 0xffffffffu) : entries.upper_start(m);
    Index l = e + 1, u = above;
    for (Index word = begin; word < entries.upper_start(m + 1); word++) {
      const Index j = entries.columns(word);
      Index place   = -1;
      if (j == i) place = below + right;
      if (j < i && !symmetric) {
        while (l < first + below && entries.columns(l) < j) l++;
        if (l < first + below && entries.columns(l) == j) place = l - first;
      }
      if (j > i) {
        while (u < above + right && entries.columns(u) < j) u++;
        if (u < above + right && entries.columns(u) == j) place = below + u - above;
      }
      if (place >= 0) mine[place] = static_cast<std::uint8_t>(word - begin);
    }
  }
};

} // namespace weft::crout

namespace weft::cuda {

template <class Scalar>
struct ShortRows {
  using Space = Kokkos::Cuda;
  Index rows, lower, upper;
  const Index *lower_starts, *upper_starts;
  const std::int32_t *columns, *order;
  const std::uint64_t *mirror; ///< null unless symmetric
  const std::uint8_t *words;
  crout::PivotRule<Space> rule;
  const Scalar *matrix;
  Scalar *values, *inverses; ///< of U and of its pivots: unfinished() until they are known
  int *ticket;
  Index *not_finite; ///< the first row with such a value
};

inline constexpr int rows_of_block = 4;

template <class Scalar, int R>
__global__ void __launch_bounds__(32 * rows_of_block) eliminate_short_rows(const ShortRows<Scalar> a)
{
  using namespace triangular;
  constexpr int at_once  = 8 / R; // lower entries whose loads are under way at a time
  constexpr unsigned all = 0xffffffffu;
  __shared__ int number;
  if (threadIdx.x == 0) number = atomicAdd(a.ticket, 1);
  __syncthreads();
  const int lane       = static_cast<int>(threadIdx.x % 32);
  const Index position = Index(number) * rows_of_block + threadIdx.x / 32;
  if (position >= a.rows) return;

  const Index i = a.order[position], first = a.lower_starts[i], above = a.lower + a.upper_starts[i], diagonal = a.lower + a.upper;
  const int below = static_cast<int>(a.lower_starts[i + 1] - first), right = static_cast<int>(a.lower + a.upper_starts[i + 1] - above);
  const int last = below + right; // the diagonal's place
  Index entry[R];
  Scalar own[R], pivot[R], inverse[R];
  std::int32_t column[R];
  crout::Position begin[R];
  for (int r = 0; r < R; r++) {
    const int k = lane + 32 * r;
    entry[r]    = k < below ? first + k : k < last ? above + k - below : diagonal + i;
    own[r]      = k <= last ? a.matrix[entry[r]] : Scalar(0);
    column[r]   = k < below ? a.columns[entry[r]] : 0;
    pivot[r]    = k < below ? look(a.values[diagonal + column[r]]) : Scalar(0);
    inverse[r]  = k < below ? look(a.inverses[column[r]]) : Scalar(0);
    begin[r]    = 0;
    if (k < below) {
      const Index in_mirror = a.mirror ? static_cast<Index>(a.mirror[entry[r]] & 0xffffffffu) : a.lower + a.upper_starts[column[r]];
      begin[r]              = static_cast<crout::Position>(in_mirror);
    }
  }
  const auto of_lane = [&](const auto(&array)[R], int l) { return R == 1 || l < 32 ? array[0] : array[R - 1]; };

  const std::uint8_t *const words = a.words + first * (32 * R) + lane;
  for (int l = 0; l < below; l += at_once) {
    Scalar seen[at_once][R];
    const Scalar *from[at_once][R];
    for (int g = 0; g < at_once; g++) {
      const Index base = __shfl_sync(all, of_lane(begin, l + g), (l + g) % 32);
      for (int r = 0; r < R; r++) {
        const int word = l + g < below ? words[(l + g) * (32 * R) + 32 * r] : 255;
        from[g][r]     = a.values + base + word;
        seen[g][r]     = word < 255 ? look(*from[g][r]) : Scalar(0);
      }
    }
    for (int g = 0; g < at_once; g++) {
      if (l + g >= below) break;
      const int source = (l + g) % 32, part = (l + g) / 32;
      for (int r = 0; r < R; r++) {
        while (is_unfinished(seen[g][r])) seen[g][r] = look(*from[g][r]);
        while (lane == source && r == part && (is_unfinished(inverse[r]) || is_unfinished(pivot[r]))) {
          pivot[r]   = look(a.values[diagonal + column[r]]);
          inverse[r] = look(a.inverses[column[r]]);
        }
      }
      if (a.mirror) { // l_im is u_mi / u_mm, and that word has met the diagonal's lane
        const Scalar size = __shfl_sync(all, of_lane(seen[g], last), last % 32);
        for (int r = 0; r < R; r++)
          if (lane == source && r == part) own[r] = size;
      }
      const Scalar size = of_lane(own, l + g), product = size * of_lane(inverse, l + g);
      const Scalar rest   = fma(-product, of_lane(pivot, l + g), size);
      const Scalar factor = __shfl_sync(all, fma(rest, of_lane(inverse, l + g), product), source);
      for (int r = 0; r < R; r++) own[r] = lane == source && r == part ? factor : own[r] - factor * seen[g][r];
    }
  }

  bool finite = true;
  for (int r = 0; r < R; r++) {
    const int k = lane + 32 * r;
    if (k > last) continue;
    if (k == last) {
      const double found = static_cast<double>(own[r]);
      if (!a.rule.usable(found, i)) own[r] = static_cast<Scalar>(a.rule.replacement(found, i));
      publish(a.inverses[i], finished(1 / own[r]));
    }
    publish(a.values[entry[r]], finished(own[r]));
    finite = finite && isfinite(own[r]);
  }
  if (!finite) atomicMin(reinterpret_cast<long long *>(a.not_finite), static_cast<long long>(i));
}

template <class Scalar>
void launch_short_rows(const Kokkos::Cuda &space, const ShortRows<Scalar> &rows, int lanes)
{
  const auto kernel = lanes == 32 ? eliminate_short_rows<Scalar, 1> : eliminate_short_rows<Scalar, 2>;
  const auto blocks = static_cast<unsigned>((rows.rows + rows_of_block - 1) / rows_of_block);
  kernel<<<blocks, 32 * rows_of_block, 0, space.cuda_stream()>>>(rows);
  check_launch(cudaGetLastError(), "elimination of short rows");
}

} // namespace weft::cuda
