/// Exact factors in one launch where no row has more than 128 entries, natively on CUDA: as waiting_elimination.hpp, a warp a row, with the row in
/// registers. Lane k has entries k, k + 32, ..., and for each lower entry it reads a byte that says which word of that row of U its product needs. So nothing
/// is searched for, products have no way to go, and all loads of a few lower entries are under way at a time. Rows publish what others
/// divide by with its inverse: a product, and what it leaves of the number that was to be divided, give the quotient. Rows that divide by a pivot whose
/// inverse overflows (2^-1024 in double) are not finite.
///
/// Bytes of a row with n entries, l of them lower: the matrix, the factors, 8 l, 256 for each 8 of l (512 from 33 entries on, 1024 from 65) and the words
/// of U, mostly in the L2 cache.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "base/cuda/launch.hpp"
#include "crout/elimination/short_pattern.hpp"
#include "crout/sweeps/values.hpp"

namespace weft::cuda {

template <class Scalar>
struct ShortRows {
  Index rows, diagonal; ///< number of the first diagonal entry
  const crout::ShortRow *row;
  const std::int32_t *columns;
  const crout::Position *begins;
  const std::uint64_t *words;
  crout::PivotRule<Kokkos::Cuda> rule;
  const Scalar *matrix;
  Scalar *values, *inverses; ///< of U and of its pivots: unfinished() until they are known
  int *ticket;
  Index *not_finite; ///< the first row with such a value
};

inline constexpr int rows_of_block = 4;

/// R: entries of a lane. So many blocks share a multiprocessor; with more of them registers run out. Steps are numbered as in
/// docs/kernels/crout.md.
template <class Scalar, int R, bool symmetric>
__global__ void __launch_bounds__(32 * rows_of_block, R == 1 ? 8 : 4) eliminate_short_rows(const ShortRows<Scalar> a)
{
  using namespace triangular;
  using crout::Position;
  constexpr int G        = crout::word_group / R; // lower entries whose words of U are under way at a time
  constexpr unsigned all = 0xffffffffu, no_word = crout::ShortPattern<Kokkos::Cuda>::no_word;
  // Step 1: the next rows that nobody has.
  __shared__ int number;
  if (threadIdx.x == 0) number = atomicAdd(a.ticket, 1);
  __syncthreads();
  const int lane       = static_cast<int>(threadIdx.x % 32);
  const Index position = Index(number) * rows_of_block + threadIdx.x / 32;
  if (position >= a.rows) return;

  // Step 2: the row, in registers.
  const crout::ShortRow row = a.row[position];
  const int below = row.below, last = below + row.right; // the diagonal's place
  const std::uint64_t *const words = a.words + Index(row.group) * (32 * R) + lane;
  const Scalar *const pivots       = a.values + a.diagonal;
  std::uint64_t next[R], bytes[R];
  Scalar own[R], pivot[R], inverse[R];
  std::int32_t column[R];
  Position begin[R];
  const auto entry = [&](int k) {
    return k < below ? Index(row.lower) + k : k < last ? Index(row.upper) + k - below : a.diagonal + row.row;
  };
  for (int r = 0; r < R; r++) {
    const int k = lane + 32 * r;
    next[r]     = below > 0 ? words[32 * r] : ~std::uint64_t(0);
    column[r]   = k < below ? a.columns[Index(row.lower) + k] : 0;
    begin[r]    = k < below ? a.begins[Index(row.lower) + k] : 0;
    own[r]      = k <= last ? a.matrix[entry(k)] : Scalar(0);
  }
  for (int r = 0; r < R; r++) {
    const bool is_lower = lane + 32 * r < below;
    pivot[r]            = is_lower ? look(pivots[column[r]]) : Scalar(1);
    inverse[r]          = is_lower ? look(a.inverses[column[r]]) : Scalar(1);
  }
  const auto of_lane = [&](const auto(&array)[R], int l) {
    auto found = array[0];
    for (int r = 1; r < R; r++) found = l / 32 == r ? array[r] : found;
    return found;
  };

  // Step 3: words of U for the next lower entries, asked for together.
  for (int l = 0; l < below; l += G) {
    Scalar seen[G][R];
    for (int r = 0; r < R; r++) {
      const bool new_group = l % crout::word_group == 0;
      bytes[r]             = new_group ? next[r] : bytes[r] >> (8 * G % 64); // R parts of a group
      if (new_group && l + crout::word_group < below) next[r] = words[(l / crout::word_group + 1) * (32 * R) + 32 * r];
    }
    const auto word = [&](int g, int r) { return static_cast<unsigned>(bytes[r] >> (8 * g)) & 0xffu; };
    for (int g = 0; g < G; g++) {
      const Position base = __shfl_sync(all, of_lane(begin, l + g), (l + g) % 32);
      for (int r = 0; r < R; r++) seen[g][r] = word(g, r) < no_word ? look(a.values[base + word(g, r)]) : Scalar(0);
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
      if (l + g >= below) break;
      // Step 4: until all of an entry have come.
      const int source = (l + g) % 32, part = (l + g) / 32;
      for (;;) {
        bool ready = true;
        for (int r = 0; r < R; r++)
          ready = ready && !is_unfinished(seen[g][r]) &&
                  (lane != source || r != part || !(is_unfinished(inverse[r]) || is_unfinished(pivot[r])));
        if (__all_sync(all, ready)) break;
        // All that is missing at once: one way to the L2 cache and back.
        for (int r = 0; r < R; r++) {
          if (is_unfinished(pivot[r])) pivot[r] = look(pivots[column[r]]);
          if (is_unfinished(inverse[r])) inverse[r] = look(a.inverses[column[r]]);
        }
#pragma unroll
        for (int h = 0; h < G; h++) {
          if (h < g) continue;
          const Position base = __shfl_sync(all, of_lane(begin, l + h), (l + h) % 32);
          for (int r = 0; r < R; r++) {
            if (is_unfinished(seen[h][r])) seen[h][r] = look(a.values[base + word(h, r)]);
          }
        }
      }
      // Step 5: the entry, and what its row of U takes from the others.
      Scalar size = of_lane(own, l + g);
      if (symmetric) size = __shfl_sync(all, of_lane(seen[g], last), last % 32); // l_im u_mm = u_mi, which has met the diagonal's lane
      const Scalar product = size * of_lane(inverse, l + g);
      const Scalar rest    = fma(-product, of_lane(pivot, l + g), size);
      const Scalar factor  = __shfl_sync(all, fma(rest, of_lane(inverse, l + g), product), source);
      for (int r = 0; r < R; r++) own[r] = lane == source && r == part ? factor : own[r] - factor * seen[g][r];
    }
  }

  // Step 6: the row is published.
  bool finite = true;
  for (int r = 0; r < R; r++) {
    const int k = lane + 32 * r;
    if (k > last) continue;
    if (k == last) {
      const double found = static_cast<double>(own[r]);
      if (!a.rule.usable(found, row.row)) own[r] = static_cast<Scalar>(a.rule.replacement(found, row.row));
    }
    publish(a.values[entry(k)], finished(own[r]));
    if (k == last) publish(a.inverses[row.row], finished(1 / own[r]));
    finite = finite && isfinite(own[r]);
  }
  if (!finite) atomicMin(reinterpret_cast<long long *>(a.not_finite), static_cast<long long>(row.row));
}

/// Of the device's memory.
inline Index free_bytes()
{
  std::size_t free = 0, all = 0;
  check_launch(cudaMemGetInfo(&free, &all), "free memory");
  return static_cast<Index>(free);
}

/// Bytes that blocks leave no room with for more than `blocks` on a multiprocessor, as far as one block may have so many.
inline int room_of_blocks(int blocks)
{
  int device = 0, of_all = 0, of_block = 0;
  check_launch(cudaGetDevice(&device), "device");
  check_launch(cudaDeviceGetAttribute(&of_all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device), "shared memory");
  check_launch(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared memory");
  constexpr int of_system = 1024; // of each block
  return std::min(of_all / blocks - of_system, of_block) - of_system;
}

/// blocks: so many at a time share a multiprocessor at most, by leaving no room for others; 0: as many as fit.
template <class Scalar>
void launch_short_rows(const Kokkos::Cuda &space, const ShortRows<Scalar> &rows, int lanes, bool symmetric, int blocks)
{
  const auto kernel = [&]<bool of_symmetric>(std::bool_constant<of_symmetric>) {
    return lanes == 32   ? eliminate_short_rows<Scalar, 1, of_symmetric>
           : lanes == 64 ? eliminate_short_rows<Scalar, 2, of_symmetric>
                         : eliminate_short_rows<Scalar, 4, of_symmetric>;
  };
  const auto chosen = symmetric ? kernel(std::true_type()) : kernel(std::false_type());
  const int room    = blocks > 0 ? room_of_blocks(blocks) : 0;
  if (room > 0) check_launch(cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize, room), "shared memory");
  const auto all = static_cast<unsigned>((rows.rows + rows_of_block - 1) / rows_of_block);
  chosen<<<all, 32 * rows_of_block, static_cast<std::size_t>(room), space.cuda_stream()>>>(rows);
  check_launch(cudaGetLastError(), "elimination of short rows");
}

} // namespace weft::cuda
