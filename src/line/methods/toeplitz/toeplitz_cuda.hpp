/// The native CUDA form of toeplitz.hpp for lines whose rows follow each other in memory, on Hopper. The steps of a line are those of
/// ToeplitzTeam, with its tables; what differs is how rows travel: a bulk copy brings the next line (or window of one) while the threads
/// work on this one, and another takes the solution away. A thread takes an odd number R of consecutive rows, so that its reads of shared
/// memory meet no bank conflict.
///
/// Words moved per row: 2.
#pragma once
#include "line/methods/toeplitz/toeplitz_kernel.hpp"
#include "line/methods/wide/wide_parts.hpp"

namespace weft::cuda {

/// What a block keeps in shared memory.
template <class Scalar, int R, int T>
struct ToeplitzTile {
  static_assert(R % 2 == 1 && T % 32 == 0);
  static constexpr int rows  = R * T;
  static constexpr int piece = 16 / int(sizeof(Scalar)); ///< elements
  static constexpr int own   = 8;                        ///< chunks whose own tables have a place here

  alignas(128) Scalar in[rows + piece]; ///< a copy may begin an element or three early
  alignas(16) Scalar out[rows];
  Scalar numbers[2 * T]; ///< that the threads show each other
  Scalar tables[own * OwnChunk<Scalar, R>::words];
  Arrival arrival;
};

/// What a thread needs for its chunk of every line to take part in the joined line: read once, since the threads that find theirs in memory
/// keep all others waiting. Of lines whose couplings decay this is all; later steps of others are read in advance.
template <class Scalar>
struct ToeplitzConstants {
  static constexpr int steps = 3;
  Scalar left[steps], right[steps], last_after, inverse, inverse_before;
};

/// team.lines is 1 and rows come first; a line (or window) has R * T rows at most. Both arrays begin at a multiple of 16 bytes.
/// Steps are numbered as in docs/kernels/toeplitz.md.
template <class Scalar, int R, int T, int at_least, bool ring>
__global__ void __launch_bounds__(T, at_least) native_toeplitz(const __grid_constant__ ToeplitzTeam<Kokkos::Cuda, Scalar, R> team)
{
  using Tile          = ToeplitzTile<Scalar, R, T>;
  using Team          = ToeplitzTeam<Kokkos::Cuda, Scalar, R>;
  using Constants     = ToeplitzConstants<Scalar>;
  constexpr int piece = Tile::piece;
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const auto &line         = team.line;
  const auto &steps        = team.steps;
  const LineLayout &layout = line.layout;
  const Scalar *rhs        = team.arrays.rhs.data();
  Scalar *solution         = team.arrays.solution.data();
  const typename Team::Board board{tile.numbers, T};
  const Index windows = team.windows, items = layout.count() * windows;
  const int thread = threadIdx.x, rows = static_cast<int>(layout.length), chunks = team.chunks();
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
  // Step 2. Copies whole pieces; what is left at the end is at most piece - 1 elements, which their thread reads itself.
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
  // Step 1: tables of this block, constants of this thread.
  const int own_words = static_cast<int>(line.first_inner + line.chunks - line.first_tail) * OwnChunk<Scalar, R>::words;
  const bool own_fit  = own_words <= Tile::own * OwnChunk<Scalar, R>::words;
  for (int n = thread; own_fit && n < own_words; n += T) tile.tables[n] = line.own[n];
  __syncthreads();
  Index k = after(blockIdx.x);
  if (thread == 0 && k < items) fetch(k);

  typename Team::Thread t;
  const int first = thread * R;
  t.rank = t.chunk = thread;
  t.rows           = thread < chunks ? line.rows_of(thread) : 0;
  t.mine = t.start = 0;
  const bool inner = line.is_inner(thread);
  const OwnChunk<Scalar, R> own{(own_fit ? tile.tables : line.own) + (inner ? 0 : line.own_chunk(thread).table - line.own)};
  const auto left_of  = [&](int s) { return steps.equal(s, thread) ? steps.left[s] : steps.left_of(s, thread); };
  const auto right_of = [&](int s) { return steps.equal(s, thread) ? steps.right[s] : steps.right_of(s, thread); };
  Constants constants{};
  if (!ring && t.rows > 0) {
    constants.last_after     = thread + 1 < chunks ? line.last_after(thread) : Scalar(0);
    constants.inverse        = steps.inverse_of(thread);
    constants.inverse_before = thread > 0 ? steps.inverse_of(thread - 1) : Scalar(0);
#pragma unroll
    for (int s = 0; s < Constants::steps; s++) {
      constants.left[s]  = s < steps.count && thread >= 1 << s ? left_of(s) : Scalar(0);
      constants.right[s] = s < steps.count && thread + (1 << s) < chunks ? right_of(s) : Scalar(0);
    }
  }

  unsigned phase = 0;
  while (k < items) {
    const Index element = element_of(k), next_k = after(k + gridDim.x);
    const int early = static_cast<int>(element % piece), copied = static_cast<int>((element + rows) / piece * piece - element);
    tile.arrival.wait(phase);
    phase ^= 1;
    // Step 3: the chunk.
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
    if (t.rows > 0) {
      t.ends              = inner ? eliminate(line.inner, R, t.x) : eliminate(own, t.rows, t.x);
      board.at(1, thread) = t.ends.head;
    }
    if (thread == 0) bulk_stored();
    __syncthreads(); // everybody has read: the next line may come, and the last one has left
    if (thread == 0 && next_k < items) fetch(next_k);
    // Step 4: the chunks, joined. Step 5: all unknowns, upwards.
    if constexpr (ring) {
      team.join(t, board);
      __syncthreads();
      for (int s = 0; s < steps.count; s++) {
        team.step(t, s, board);
        __syncthreads();
      }
      team.substitute(t, board);
    } else {
      // The same, a thread's constants at hand.
      t.mine = t.ends.value;
      if (thread + 1 < chunks) t.mine -= constants.last_after * board.at(1, thread + 1);
      board.at(0, thread) = t.mine;
      int set             = 0;
      const auto step     = [&](Scalar left, Scalar right, int distance) {
        if (thread >= distance) t.mine -= left * board.at(set, thread - distance);
        if (thread + distance < chunks) t.mine -= right * board.at(set, thread + distance);
        set ^= 1;
        board.at(set, thread) = t.mine;
      };
#pragma unroll
      for (int s = 0; s < Constants::steps; s++) {
        if (s < steps.count) {
          __syncthreads();
          step(constants.left[s], constants.right[s], 1 << s);
        }
      }
      for (int s = Constants::steps; s < steps.count; s++) {
        const Scalar left = t.rows > 0 ? left_of(s) : Scalar(0), right = t.rows > 0 ? right_of(s) : Scalar(0);
        __syncthreads();
        step(left, right, 1 << s);
      }
      __syncthreads();
      if (t.rows > 0) {
        const Scalar last   = constants.inverse * t.mine,
                     before = thread > 0 ? constants.inverse_before * board.at(set, thread - 1) : Scalar(0);
        if (inner)
          substitute(line.inner, R, before, last, t.x);
        else
          substitute(own, t.rows, before, last, t.x);
      }
    }
    // Step 6: their way out.
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
