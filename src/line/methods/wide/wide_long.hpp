/// The native CUDA form of wide.hpp for lines of rows that follow each other which are too long for a block: several share each of them.
///
/// Above the three levels of wide_cuda.hpp there is a fourth: blocks put the two rows of their tile into device memory and each solves the
/// small line of all. Nobody waits for these messages: a block goes on with its tile of the next line and finishes this one afterwards,
/// when all have long said what they had to. Until then it keeps what its unknowns hang on in shared memory, three words a row (rhs only,
/// where all lines have the same coefficients), beside the tile that is on its way. What a warp has to do alone, two warps without rows do
/// while the others go on: one joins the warps and tells the other blocks, one hears them and solves the line of the blocks.
///
/// Words moved per row: 5.
#pragma once
#include "line/methods/wide/wide_tile.hpp"

namespace weft::cuda {

/// What a block keeps in shared memory, for tiles of `rows` rows and as many blocks a line as there are at run time: this, the arrays on
/// their way (in), what waits for the end of its line (lower, upper), right-hand sides and then unknowns (out), and rows of blocks (said).
/// T threads have rows.
template <class Scalar, int R, int T, bool alike>
struct LongTile {
  static_assert(R % 2 == 1 && T % 32 == 0);
  static constexpr int threads = T + 64, warps = T / 32, arrays = alike ? 1 : 4, kept = alike ? 0 : 2;
  static constexpr int portion = R * 16 / int(sizeof(Scalar)); ///< rows that are whole chunks and whole pieces: tiles have a multiple of it

  Arrival arrival;
  Done eliminated, joined, found;
  // In turn for even and odd turns:
  WarpRows<Scalar, warps> of_warps[2];
  Hanging<Scalar> warp_rows[2][warps]; ///< what the warps' last unknowns hang on
  Scalar warp_x[2][warps + 1];         ///< last unknown before the block, then of each warp

  __host__ __device__ static constexpr int space(int rows) { return rows + 16 / int(sizeof(Scalar)); }
  __host__ __device__ static constexpr int begin() { return (int(sizeof(LongTile)) + 127) / 128 * 128; }
  static constexpr Index bytes(Index rows, Index blocks)
  {
    return begin() + Index(sizeof(Scalar)) * (arrays * (rows + space(0)) + (kept + 1) * rows + 6 * blocks);
  }
};

/// Alike: all lines have the same coefficients, which a block eliminates once. All blocks must be there at once. Steps are numbered as in
/// docs/kernels/wide.md.
template <class Scalar, int R, int T, bool alike, bool checks>
__global__ void __launch_bounds__(T + 64, 1) native_wide_long(const __grid_constant__ NativeArguments<Scalar> a)
{
  using Tile          = LongTile<Scalar, R, T, alike>;
  using Rows          = ChunkOf<Scalar, R, alike>;
  constexpr int piece = 16 / sizeof(Scalar); // elements
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = a.layout;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int rows = a.exchange.tile_rows, space = Tile::space(rows), blocks = a.exchange.blocks, block = blockIdx.x % blocks;
  const Index groups = gridDim.x / blocks, group = blockIdx.x / blocks, lines = layout.count();
  Scalar *in = reinterpret_cast<Scalar *>(shared + Tile::begin()), *lower = in + Tile::arrays * space, *upper = lower + rows;
  Scalar *out = lower + Tile::kept * rows, *said = out + rows;
  // The last threads have the rows, so that the tile's last row is that of the last one; those before only pass on what is before the tile.
  const int unused = T - rows / R, begin_warp = unused / 32, first = (thread - unused) * R;
  const bool holds = first >= 0;
  const Hanging<Scalar> none{0, -1, 0};

  const auto place = [&](Index line) { return TilePlace(layout, line, block, rows); };
  const auto after = [&](Index line) { // the next line that is wanted
    while (line < lines && !layout.has_colour(line, a.colour)) line += groups;
    return line;
  };
  const auto messages = [&](unsigned turn) { return a.exchange.rows + (group * 4 + turn % 4) * blocks * 6; };

  if (thread == 0) {
    tile.arrival.init();
    tile.eliminated.init(Tile::warps);
    tile.joined.init(32);
    tile.found.init(32);
    share_with_copies();
  }
  __syncthreads();
  Index line = after(group), line_before = -1;
  unsigned turn = 1; // in which a line is read; it ends in the next one

  if (warp == Tile::warps) { // step 4: tells
    const int w = lane - (32 - Tile::warps);
    for (; line < lines; turn++, line = after(line + groups)) {
      const auto &of_warps = tile.of_warps[turn % 2];
      Hanging<Scalar> row;
      Doubt<checks, Scalar> doubt;
      tile.eliminated.wait(turn);
      if (turn > 2) tile.found.wait(turn - 2); // before warp_rows change
      const Ends<Scalar> ends = join_warps(of_warps, begin_warp, row, doubt.look());
      if (w >= 0) tile.warp_rows[turn % 2][w] = row;
      if constexpr (checks) {
        if ((!alike || turn == 1) && doubt.raised()) look_at_warps(a, of_warps, begin_warp, place(line));
      }
      tile.joined.say(turn);
      tell_device(Ends<Scalar>{ends.first, shuffle(ends.last, 31)}, messages(turn) + 6 * block, turn, lane);
    }
    return;
  }
  if (warp == Tile::warps + 1) { // step 5: hears; every block solves for itself: what it need not say costs no time
    const int w = lane - (32 - Tile::warps);
    for (; line < lines; turn++, line = after(line + groups)) {
      Scalar *x = tile.warp_x[turn % 2];
      Doubt<checks, Scalar> doubt;
      hear_all(messages(turn), 6 * blocks, turn, said);
      __syncwarp();               // a thread that waits for a barrier would hold up those that still hear
      tile.eliminated.wait(turn); // before warp_x change, which finish the line two turns before
      solve_blocks(said, blocks, doubt.look(), [&](int t, Scalar last) {
        if (t == block - 1) x[0] = last;
        if (t == block) x[Tile::warps] = last;
      });
      __syncwarp();
      tile.joined.wait(turn);
      const Scalar before_block = block > 0 ? x[0] : Scalar(0), last_of_block = x[Tile::warps];
      __syncwarp(); // before lanes put their own there
      find_warps(w >= 0 ? tile.warp_rows[turn % 2][w] : none, before_block, last_of_block, x, Tile::warps);
      tile.found.say(turn);
      if constexpr (checks) {
        if ((!alike || turn == 1) && doubt.raised()) look_at_blocks(a, said, blocks, line, place(line).row, place(line).rows - 1);
      }
      __syncwarp(); // before `said` changes
    }
    return;
  }

  // Step 1: the tile of a line is on its way while the one before is eliminated.
  const auto fetch = [&](Index line) { fetch_tile<alike>(a, place(line), in, space, tile.arrival); };
  if (thread == 0 && line < lines) fetch(line);
  Rows chunk;
  Doubt<checks, Scalar> doubt;
  // Step 2, once for all lines, where their coefficients are the same.
  if constexpr (alike) {
    const Index r = Index(block) * rows + first;
    doubt.begin(false);
    chunk.factor([&](int j) { return holds && r + j < layout.length ? a.matrix.at(r + j, r + j) : Row<Scalar>{}; }, doubt.look());
  }
  // Step 6. Of the line of the turn before: right-hand sides, until the last solution has left `out`, and the last unknown.
  Scalar rhs_before[R];
  Hanging<Scalar> mine_before{};
  const auto bring_back = [&] {
    if (thread == 0) bulk_stored();
    meet<T>(Meeting::left);
    if (!holds) return;
#pragma unroll
    for (int j = 0; j < R; j++) write_whole(out + first + j, rhs_before[j]);
  };
  // Step 7: the unknowns of the line before, upwards, and their way out.
  const auto finish = [&] {
    const TilePlace at = place(line_before);
    Scalar before_warp = 0, last_of_warp = 0;
    if (lane == 0) {
      before_warp  = tile.warp_x[(turn - 1) % 2][warp];
      last_of_warp = tile.warp_x[(turn - 1) % 2][warp + 1];
    }
    before_warp     = number_of(before_warp, 0);
    last_of_warp    = number_of(last_of_warp, 0);
    Scalar x        = lane == 31 ? last_of_warp : mine_before.value - mine_before.before * before_warp - mine_before.after * last_of_warp;
    Scalar x_before = number_before(x, 1);
    if (lane == 0) x_before = before_warp;
    const bool in_pieces       = a.in_pieces && at.goes_in_pieces(piece);
    const RealOf<Scalar> scale = in_pieces ? a.update.scale : RealOf<Scalar>(1);
    if (holds) {
      write_whole(out + first + R - 1, scale * x);
#pragma unroll
      for (int j = R - 2; j >= 0; j--) {
        const int r = first + j;
        if constexpr (alike)
          x = read_whole(out + r) - chunk.lower[j] * x_before - chunk.upper[j] * x;
        else
          x = read_whole(out + r) - read_whole(lower + r) * x_before - read_whole(upper + r) * x;
        write_whole(out + r, scale * x);
      }
    }
    if (in_pieces) share_with_copies();
    meet<T>(Meeting::solved);
    store_tile<T>(a, at, out, in_pieces);
  };

  unsigned phase = 0;
  for (; line < lines; turn++) {
    const Index next_line = after(line + groups);
    const bool ends       = line_before >= 0;
    if (ends) bring_back();
    Rows own;
    Rows &rows_of_line = alike ? chunk : own;
    tile.arrival.wait(phase);
    phase ^= 1;
    if (holds)
      read_chunk<R, alike>(rows_of_line, a, place(line), first, in, space);
    else
      rows_of_line.clear();
    meet<T>(Meeting::read); // the next tile may come
    if (thread == 0 && next_line < lines) fetch(next_line);

    // Step 2: the chunk. Step 3: the chunks of the warp.
    if constexpr (!alike) doubt.begin(a.step > 0);
    Hanging<Scalar> mine = rows_of_line.eliminate(doubt.look()), head = rows_of_line.head();
    if (!holds) mine = head = none;
    const Ends<Scalar> warp_ends    = reduce_warp<32, 1>(mine, head, warp == begin_warp ? unused % 32 : 0, doubt.look());
    const Hanging<Scalar> warp_last = shuffle(warp_ends.last, 31);
    if (lane == 0) {
      tile.of_warps[turn % 2].first[warp] = warp_ends.first;
      tile.of_warps[turn % 2].last[warp]  = warp_last;
      tile.eliminated.say(turn);
    }
    if (ends) {
      tile.found.wait(turn - 1);
      tile.joined.wait(turn - 1); // before of_warps change
      finish();
    }

    // Step 6: what the line needs in the next turn.
    if (!alike && holds) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        write_whole(lower + first + j, rows_of_line.lower[j]);
        write_whole(upper + first + j, rows_of_line.upper[j]);
      }
    }
#pragma unroll
    for (int j = 0; j < R; j++) rhs_before[j] = rows_of_line.rhs[j];
    mine_before = mine;
    if constexpr (checks) { // here, where few registers hold anything; the pivots of the first line are those of all alike ones
      if ((!alike || turn == 1) && doubt.raised()) look_again<R, alike>(a, place(line), first);
    }
    line_before = line;
    line        = next_line;
  }
  if (line_before >= 0) {
    bring_back();
    tile.found.wait(turn - 1);
    finish();
  }
  if (thread == 0) bulk_left(); // shared memory ends with the block
}

} // namespace weft::cuda
