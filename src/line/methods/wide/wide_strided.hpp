/// wide_cuda.hpp for lines that stand side by side in memory (y and z lines of a grid): a block takes W neighbouring lines, 128 bytes of
/// every row, since the cache between device and memory serves narrower pieces at a fraction of its speed (docs/results/kernels.md). Thread t
/// has chunk t / W of line t % W, so that its words of shared memory meet no bank conflict and its solution is stored as it stands. The chunks
/// of a line are then joined by the lanes of one warp.
///
/// A line that one block does not hold is shared by several: by a cluster of up to 16, which tell each other their rows through their shared
/// memories and solve for them all alike. Longer ones are those of wide_strided_long.hpp.
///
/// Words moved per row: 5.
#pragma once
#include "line/methods/wide/wide_cuda.hpp"

namespace weft::cuda {

/// What a block keeps in shared memory.
template <class Scalar, int R, int T, int W, Sharing sharing, bool in_line, bool alike = false>
struct StridedTile {
  static constexpr int chunks = T / W, rows = R * chunks, lines_of_warp = 32 / chunks, pitch = chunks + 1;
  static_assert(T % 32 == 0 && chunks <= 32 && chunks % most_of_cluster == 0 && T / 32 * lines_of_warp == W);

  static constexpr int piece = 16 / sizeof(Scalar); ///< elements
  /// Rows come in pieces, which may begin early; where room is short and they do not begin at pieces, word by word.
  static constexpr bool by_words = sharing == Sharing::device && !in_line;
  static constexpr int in_pitch  = in_line || by_words ? W : W + piece;
  static constexpr int arrays    = alike ? 1 : 4; ///< that are read for each line; the last one is rhs

  alignas(128) Scalar in[arrays][rows * in_pitch];
  Scalar ends[6][W * pitch]; ///< of the chunks: last row, first row; one line after another
  Scalar x[W * pitch];       ///< last unknown before the block, then of each chunk
  Arrival told[2];           ///< of the rows below
  /// Rows of the cluster's blocks, by line, in two sets that take turns: nobody says anything for the second next bundle before all have been
  /// heard for the next one.
  Scalar of_blocks[sharing == Sharing::cluster ? 2 : 1][sharing == Sharing::cluster ? W * most_of_cluster * 6 : 1];
};

/// What a block does with a bundle of lines. in_line: all rows begin at a multiple of 16 bytes. alike: all lines have the same coefficients.
template <class Scalar, int R, int T, int W, Sharing sharing, bool in_line, bool checks, bool alike = false>
struct StridedBlock {
  using Tile                         = StridedTile<Scalar, R, T, W, sharing, in_line, alike>;
  using Number                       = Scalar;
  using Rows                         = ChunkOf<Scalar, R, alike>;
  static constexpr int rows_of_chunk = R, lines = W;
  static constexpr bool same = alike;
  const NativeArguments<Scalar> &a;
  Tile &tile;
  int block;           ///< its number among those that share lines
  bool watches = true; ///< pivots

  // Functions, so that the compiler may find them again where registers are short.
  __device__ int w() const { return threadIdx.x % W; }
  __device__ int chunk_of_line() const { return threadIdx.x / W; }
  __device__ int first() const { return chunk_of_line() * R; }
  /// What this thread joins.
  __device__ int joined_line() const { return threadIdx.x / 32 * Tile::lines_of_warp + threadIdx.x % Tile::lines_of_warp; }
  __device__ int joined_chunk() const { return threadIdx.x % 32 / Tile::lines_of_warp; }
  __device__ Index bundles_across() const { return (a.layout.across[0] + W - 1) / W; }
  __device__ Index bundles() const { return bundles_across() * a.layout.across[1]; }
  __device__ Index first_row() const { return Index(block) * Tile::rows; }
  __device__ int rows() const
  {
    const Index left = a.layout.length - first_row();
    return static_cast<int>(left < 0 ? 0 : left < Tile::rows ? left : Tile::rows);
  }
  /// Elements of the arrays that copies reach.
  __device__ Index copied() const { return Tile::by_words ? a.layout.span() : a.layout.span() / Tile::piece * Tile::piece; }

  /// A bundle, of which `lines` exist.
  struct Place {
    Index line = 0, element = 0; ///< of its first line; of this block's first row of that
    int lines = 0, apart = 1;    ///< from a line's number to the next one's

    __device__ Index number(int w) const { return line + w * apart; }
  };
  __device__ Place place(Index k) const { return place(k % bundles_across(), k / bundles_across()); }
  /// Bundle number `bundle` among those of plane j.
  __device__ Place place(Index bundle, Index j) const
  {
    const LineLayout &layout = a.layout;
    const Index across = bundle * W, left = layout.across[0] - across;
    return {j * layout.across[0] + across, across + j * layout.across_stride[1] + first_row() * layout.stride,
            left < W ? static_cast<int>(left) : W};
  }
  /// Whole pieces of 16 bytes, a thread always the same of a row. What is left at the end of the arrays is less than a piece, which `read`
  /// gets itself.
  __device__ void fetch(const Place &at) const
  {
    constexpr int piece = Tile::by_words ? 1 : Tile::piece, pieces = W / piece, apart = T / pieces;
    const Index stride = a.layout.stride;
    const int mine     = int(threadIdx.x) % pieces * piece;
    if (Tile::by_words && mine >= at.lines) return;
    Index from = at.element + threadIdx.x / pieces * stride;
#pragma unroll
    for (int r = int(threadIdx.x) / pieces; r < Tile::rows; r += apart, from += apart * stride) {
      if (r < rows()) copy<piece>(r * Tile::in_pitch + mine, from - (from & (piece - 1)) + mine);
    }
    if constexpr (!in_line && !Tile::by_words) {
      for (int r = int(threadIdx.x); r < rows(); r += T)
        copy<piece>(r * Tile::in_pitch + W, ((at.element + r * stride) | (piece - 1)) - (piece - 1) + W);
    }
  }
  template <int count>
  __device__ void copy(int to, Index from) const
  {
    if (from >= copied()) return;
    if constexpr (!alike) {
      thread_copy<count>(tile.in[0] + to, a.lower + from);
      thread_copy<count>(tile.in[1] + to, a.diagonal + from);
      thread_copy<count>(tile.in[2] + to, a.upper + from);
    }
    thread_copy<count>(tile.in[Tile::arrays - 1] + to, a.rhs + from);
  }
  /// Before the first bundle, which begins at `line`.
  __device__ void factor(Index line, Rows &chunk) const
  {
    if constexpr (alike) {
      const Index r = first_row() + first();
      Watch<checks> watch;
      chunk.factor([&](int j) { return r + j < a.layout.length ? a.matrix.at(r + j, (r + j) * a.layout.stride) : Row<Scalar>{}; },
                   [&](Scalar pivot, Scalar, RealOf<Scalar> scale, int j) { watch.look(pivot, scale, 0, first() + j); });
      watch.report(a, line, first_row());
    }
  }
  /// What can be done before the bundle has arrived.
  __device__ void begin(const Place &, Rows &) const {}
  __device__ void read(const Place &at, Rows &chunk) const
  {
    const Index stride = a.layout.stride;
    const int early = static_cast<int>(at.element), step = static_cast<int>(stride); // their last bits count
    const auto place_in = [&](int r) {
      return r * Tile::in_pitch + (Tile::in_pitch == W ? 0 : (early + r * step) & (Tile::piece - 1)) + w();
    };
    if (rows() == Tile::rows && at.lines == W && at.element + (rows() - 1) * stride + W <= copied()) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        const int in = place_in(first() + j);
        if constexpr (!alike) {
          chunk.lower[j]    = read_whole(tile.in[0] + in);
          chunk.diagonal[j] = read_whole(tile.in[1] + in);
          chunk.upper[j]    = read_whole(tile.in[2] + in);
        }
        chunk.rhs[j] = read_whole(tile.in[Tile::arrays - 1] + in);
      }
      if (!alike && first_row() + first() == 0) chunk.lower[0] = 0;
      if (!alike && first_row() + first() + R == a.layout.length) chunk.upper[R - 1] = 0;
      return;
    }
#pragma unroll
    for (int j = 0; j < R; j++) {
      const int r       = first() + j;
      const bool exists = r < rows() && w() < at.lines;
      const Index i     = at.element + r * stride + w();
      const auto get    = [&](int array, const Scalar *from) { return i < copied() ? tile.in[array][place_in(r)] : from[i]; };
      if constexpr (!alike) {
        chunk.lower[j]    = exists && first_row() + r > 0 ? get(0, a.lower) : Scalar(0);
        chunk.diagonal[j] = exists ? get(1, a.diagonal) : Scalar(1);
        chunk.upper[j]    = exists && first_row() + r + 1 < a.layout.length ? get(2, a.upper) : Scalar(0);
      }
      chunk.rhs[j] = exists ? get(Tile::arrays - 1, a.rhs) : Scalar(0);
    }
  }
  /// Finish: what the first pass has found takes the place of the tile's last row and of what is before its first one. A tile that is not
  /// full ends its line: what it kept is a row beyond, which is 0 already.
  __device__ void put_known(const Place &at, Rows &chunk) const
  {
    if (w() >= at.lines) return;
    const Index count  = a.layout.count();
    const Scalar *last = a.last + Index(block) * count + at.line + w();
    if (chunk_of_line() == Tile::chunks - 1 && rows() == Tile::rows) {
      chunk.lower[R - 1] = chunk.upper[R - 1] = 0;
      chunk.diagonal[R - 1]                   = 1;
      chunk.rhs[R - 1]                        = last[0];
    }
    if (chunk_of_line() == 0 && block > 0) {
      chunk.rhs[0] -= chunk.lower[0] * last[-count];
      chunk.lower[0] = 0;
    }
  }
  /// Reduce: the two rows of the tile.
  __device__ void tell(const Place &at, const Ends<Scalar> &ends) const
  {
    if (joined_chunk() > 0 || joined_line() >= at.lines) return;
    const Index t = Index(block) * a.layout.count() + at.line + joined_line();
    a.tile_rows.set_first(t, ends.first);
    a.tile_rows.set_last(t, ends.last);
  }
  /// Eliminates and joins the chunks: `row` of the joined chunk, and the two rows of the block's part of the joined line.
  __device__ Ends<Scalar> eliminate(const Place &at, Rows &chunk, Hanging<Scalar> &row) const
  {
    const RealOf<Scalar> joined_scale = a.step > 0 ? 1 : 0;
    Watch<checks> own, joint;
    if (alike && !watches) joint.close();
    const Hanging<Scalar> mine =
        chunk.eliminate([&](Scalar pivot, Scalar, RealOf<Scalar> scale, int j) { own.look(pivot, joined_scale + scale, 0, first() + j); });
    own.report(a, at.number(w()), first_row());
    show_ends(mine, chunk);
    const Ends<Scalar> ends = join(row, joint.at((joined_chunk() + 1) * R - 1));
    joint.report(a, at.number(joined_line()), first_row());
    return ends;
  }
  /// The same with one check for all pivots, which are looked at again where it asks for that.
  template <class Check>
  __device__ Ends<Scalar> eliminate(Rows &chunk, Hanging<Scalar> &row, const Check &check) const
  {
    show_ends(chunk.eliminate(check), chunk);
    return join(row, check);
  }
  __device__ void show_ends(const Hanging<Scalar> &last, const Rows &chunk) const
  {
    const Hanging<Scalar> top = chunk.head();
    const Scalar numbers[6]   = {last.value, last.before, last.after, top.value, top.before, top.after};
#pragma unroll
    for (int n = 0; n < 6; n++) tile.ends[n][w() * Tile::pitch + chunk_of_line()] = numbers[n];
    __syncthreads();
  }
  template <class Check>
  __device__ Ends<Scalar> join(Hanging<Scalar> &row, const Check &check) const
  {
    const int joined = joined_line() * Tile::pitch + joined_chunk();
    row              = {tile.ends[0][joined], tile.ends[1][joined], tile.ends[2][joined]};
    const Hanging<Scalar> head{tile.ends[3][joined], tile.ends[4][joined], tile.ends[5][joined]};
    Ends<Scalar> ends = reduce_warp<Tile::chunks, Tile::lines_of_warp>(row, head, 0, check);
    ends.last         = shuffle(ends.last, 32 - Tile::lines_of_warp + static_cast<int>(threadIdx.x) % Tile::lines_of_warp);
    return ends;
  }
  /// From the last unknowns before the block and of it to those of the chunks.
  __device__ void found(const Hanging<Scalar> &row, Scalar g_before, Scalar g) const
  {
    Scalar *x             = tile.x + joined_line() * Tile::pitch;
    x[joined_chunk() + 1] = joined_chunk() == Tile::chunks - 1 ? g : row.value - row.before * g_before - row.after * g;
    if (joined_chunk() == 0) x[0] = g_before;
  }
  /// From the last unknowns of the chunks to all.
  __device__ void substitute_and_store(const Place &at, Rows &chunk) const
  {
    const Scalar *x = tile.x + w() * Tile::pitch + chunk_of_line();
    chunk.substitute(x[0], x[1]);
    if (!stores(at)) return;
    Scalar *row = to(at, 0);
#pragma unroll
    for (int j = 0; j < R; j++, row += a.layout.stride) {
      if (first() + j < rows()) put(*row, a.update, chunk.rhs[j]);
    }
  }
  /// True if this thread's line exists and is wanted.
  __device__ bool stores(const Place &at) const
  {
    return w() < at.lines && (a.colour == Colour::all || a.layout.has_colour(at.line + w(), a.colour));
  }
  /// Where the solution of this thread's row number j belongs.
  __device__ Scalar *to(const Place &at, int j) const
  {
    return a.solution + at.element + (first() + j) * a.layout.stride + w();
  }
};

/// All bundles of lines that a block or a cluster of blocks holds, one after another, or in two passes all tiles of longer lines; `blocks` of
/// them share a line.
template <Sharing sharing, bool checks, WidePart part = WidePart::whole, class Block>
__device__ void solve_bundles(Block block, int blocks)
{
  using Tile             = typename Block::Tile;
  using Scalar           = typename Block::Number;
  constexpr bool cluster = sharing == Sharing::cluster, whole = part == WidePart::whole;
  Tile &tile          = block.tile;
  const Index bundles = block.bundles(), items = bundles * (whole ? 1 : block.a.tiles), groups = gridDim.x / blocks;
  // Item k is tile k / bundles of bundle k % bundles, or this block's tile of bundle k. The second of two passes goes backwards: what the first
  // one read last is still in the cache.
  const auto turn_to = [&](Index turn) {
    const Index k = part == WidePart::finish ? items - 1 - turn : turn;
    if constexpr (!whole) block.block = static_cast<int>(k / bundles);
    return block.place(whole ? k : k % bundles);
  };
  const auto fetch = [&](Index k) {
    if (k < items) block.fetch(turn_to(k));
  };

  Index k = blockIdx.x / blocks;
  fetch(k);
  if constexpr (cluster) { // nobody writes to a block that is not there yet
    if (threadIdx.x == 0) {
      for (Arrival &told : tile.told) told.init();
      share_arrivals();
    }
    cluster_arrive();
    cluster_wait();
  }
  typename Block::Rows chunk;
  if (k < items) block.factor(turn_to(k).line, chunk);
  for (unsigned turn = 0; k < items; k += groups, turn++) {
    auto at = turn_to(k);
    Hanging<Scalar> row;
    block.begin(at, chunk);
    copies_arrived();
    __syncthreads();
    block.read(at, chunk);
    __syncthreads(); // everybody has read: the next bundle may come
    if constexpr (!cluster) fetch(k + groups);
    if constexpr (!whole) at = turn_to(k);
    if constexpr (part == WidePart::finish) block.put_known(at, chunk);
    const Ends<Scalar> ends = block.eliminate(at, chunk, row);
    if constexpr (part == WidePart::reduce) {
      block.tell(at, ends);
      __syncthreads(); // everybody has seen the chunks' ends
      continue;
    }
    Scalar g_before = 0, g = ends.last.value;
    if constexpr (cluster) {
      Scalar *rows  = tile.of_blocks[turn % 2] + block.joined_line() * most_of_cluster * 6;
      Arrival &told = tile.told[turn % 2];
      if (threadIdx.x == 0) told.expect(static_cast<std::uint32_t>(blocks * Block::lines * 6 * sizeof(Scalar)));
      tell_cluster<Tile::chunks>(ends, rows, told, blocks, block.block);
      fetch(k + groups);
      told.wait_for_cluster(turn / 2 % 2);
      Watch<checks> watch;
      if (!block.watches) watch.close();
      solve_cluster<Tile::chunks>(rows, blocks, block.block, watch.at(Tile::rows - 1), g_before, g);
      watch.report(block.a, at.number(block.joined_line()), block.first_row());
    }
    block.found(row, g_before, g);
    __syncthreads();
    block.substitute_and_store(at, chunk);
    if (Block::same) block.watches = false; // the pivots are those of the first lines
  }
  if constexpr (cluster) { // a block's memory must outlive what others write there
    cluster_arrive();
    cluster_wait();
  }
}

template <class Scalar, int R, int T, int W, Sharing sharing, bool in_line, bool alike, bool checks, WidePart part>
__global__ void __launch_bounds__(T, 1) native_wide_strided(const NativeArguments<Scalar> a)
{
  using Block = StridedBlock<Scalar, R, T, W, sharing, in_line, checks, alike>;
  extern __shared__ __align__(128) char shared[];
  const int blocks = sharing == Sharing::cluster ? a.exchange.blocks : 1;
  solve_bundles<sharing, checks, part>(Block{a, *reinterpret_cast<typename Block::Tile *>(shared), static_cast<int>(blockIdx.x % blocks)},
                                       blocks);
}

} // namespace weft::cuda
