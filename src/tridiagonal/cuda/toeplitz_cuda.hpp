/// The native CUDA form of toeplitz.hpp for lines whose rows follow each other in memory, on Hopper. The steps of a line are those of
/// ToeplitzTeam, with its tables; what differs is how rows travel: a bulk copy brings the next line (or window of one) while the threads
/// work on this one, and another takes the solution away. A thread takes an odd number R of consecutive rows, so that its reads of shared
/// memory meet no bank conflict.
///
/// Words moved per row: 2.
#pragma once
#include "tridiagonal/cuda/wide_parts.hpp"
#include "tridiagonal/toeplitz_kernel.hpp"

namespace weft::cuda {

/// What a block keeps in shared memory.
template <class Scalar, int R, int T>
struct ToeplitzTile {
  static_assert(R % 2 == 1 && T % 32 == 0);
  static constexpr int rows  = R * T;
  static constexpr int piece = 16 / int(sizeof(Scalar)); ///< elements

  alignas(128) Scalar in[rows + piece]; ///< a copy may begin an element or three early
  alignas(16) Scalar out[rows];
  Scalar numbers[2 * T]; ///< that the threads show each other
  Arrival arrival;
};

/// team.lines is 1 and rows come first; a line (or window) has R * T rows at most. Both arrays begin at a multiple of 16 bytes.
template <class Scalar, int R, int T, int at_least>
__global__ void __launch_bounds__(T, at_least) native_toeplitz(const __grid_constant__ ToeplitzTeam<Kokkos::Cuda, Scalar, R> team)
{
  using Tile          = ToeplitzTile<Scalar, R, T>;
  using Team          = ToeplitzTeam<Kokkos::Cuda, Scalar, R>;
  constexpr int piece = Tile::piece;
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = team.line.layout;
  const Scalar *rhs        = team.arrays.rhs.data();
  Scalar *solution         = team.arrays.solution.data();
  const typename Team::Board board{tile.numbers, T};
  const Index windows = team.windows, items = layout.count() * windows;
  const int thread = threadIdx.x, rows = static_cast<int>(layout.length);
  const int keep_from = static_cast<int>(team.keep_from), keep_to = static_cast<int>(team.keep_to < rows ? team.keep_to : rows);

  // Item k is window k % windows of line k / windows.
  const auto after = [&](Index k) { // the next item that is wanted
    while (k < items && !layout.has_colour(k / windows, team.arrays.colour)) k += gridDim.x;
    return k;
  };
  const auto element_of = [&](Index k) { // of its first row
    if (windows == 1) return layout.start(k) + team.first_window;
    return layout.start(k / windows) + team.first_window + k % windows * team.apart_rows;
  };
  // Copies whole pieces; what is left at the end is at most piece - 1 elements, which their thread reads itself.
  const auto fetch = [&](Index k) {
    const Index element = element_of(k), begin = element / piece * piece;
    const auto bytes = static_cast<std::uint32_t>(((element + rows) / piece * piece - begin) * Index(sizeof(Scalar)));
    tile.arrival.expect(bytes);
    bulk_copy(tile.in, rhs + begin, bytes, tile.arrival);
  };

  if (thread == 0) {
    tile.arrival.init();
    share_with_copies();
  }
  __syncthreads();
  Index k = after(blockIdx.x);
  if (thread == 0 && k < items) fetch(k);
  typename Team::Thread t;
  const int first = thread * R;
  t.rank = t.chunk = thread;
  t.rows           = thread < team.chunks() ? team.line.rows_of(thread) : 0;
  t.mine = t.start = 0;
  unsigned phase   = 0;
  while (k < items) {
    const Index element = element_of(k), next_k = after(k + gridDim.x);
    const int early = static_cast<int>(element % piece), copied = static_cast<int>((element + rows) / piece * piece - element);
    tile.arrival.wait(phase);
    phase ^= 1;
    if (first + R <= copied) {
#pragma unroll
      for (int j = 0; j < R; j++) t.x[j] = tile.in[early + first + j];
    } else {
#pragma unroll
      for (int j = 0; j < R; j++) {
        const int r = first + j;
        t.x[j]      = r < copied ? tile.in[early + r] : r < rows ? rhs[element + r] : Scalar(0);
      }
    }
    team.eliminate(t, board);
    if (thread == 0) bulk_stored();
    __syncthreads(); // everybody has read: the next line may come, and the last one has left
    if (thread == 0 && next_k < items) fetch(next_k);
    team.join(t, board);
    __syncthreads();
    for (int s = 0; s < team.steps.count; s++) {
      team.step(t, s, board);
      __syncthreads();
    }
    team.substitute(t, board);
    const bool in_pieces = !team.arrays.update.add && early == 0 && keep_from % piece == 0 && keep_to % piece == 0;
    if (t.rows > 0) {
#pragma unroll
      for (int j = 0; j < R; j++) tile.out[first + j] = in_pieces ? team.arrays.update.scale * t.x[j] : t.x[j];
    }
    if (in_pieces) share_with_copies();
    __syncthreads();
    if (!in_pieces) {
      for (int r = keep_from + thread; r < keep_to; r += T) put(solution[element + r], team.arrays.update, tile.out[r]);
    } else if (thread == 0) {
      bulk_store(solution + element + keep_from, tile.out + keep_from, static_cast<std::uint32_t>((keep_to - keep_from) * sizeof(Scalar)));
    }
    k = next_k;
  }
  if (thread == 0) bulk_left(); // shared memory ends with the block
}

} // namespace weft::cuda
