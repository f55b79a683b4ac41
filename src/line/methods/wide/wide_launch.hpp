/// Which lines the native kernels of wide.hpp take, and their launches.
#pragma once
#include <algorithm>
#include <array>
#include <iterator>

#include "base/cuda/launch.hpp"
#include "base/native_forms.hpp"
#include "line/methods/wide/wide_cluster.hpp"
#include "line/methods/wide/wide_cuda.hpp"
#include "line/methods/wide/wide_direct.hpp"
#include "line/methods/wide/wide_long.hpp"
#include "line/methods/wide/wide_strided_long.hpp"

namespace weft::cuda {

/// Complex numbers take twice the registers and shared memory of real ones: threads have about half the rows.
template <class Scalar>
constexpr int rows_for(int real, int complex)
{
  return is_complex<Scalar> ? complex : real;
}

/// Rows that a thread takes: of 5 to 17, 9 leaves most blocks on a multiprocessor without spilling (docs/results/kernels.md).
template <class Scalar>
inline constexpr int native_rows = rows_for<Scalar>(9, 5);
/// A block of this many threads holds a line of up to native_rows times as many rows. In two passes what is longer is cut into tiles of 256
/// threads.
template <class Scalar>
inline constexpr int native_most_threads = is_complex<Scalar> ? 448 : 480; ///< with which the portable form has scratch memory too
template <class Scalar>
inline constexpr int native_threads[]    = {32, 64, 128, 256, native_most_threads<Scalar>};
inline constexpr int native_tile_threads = 256;
/// What is longer is shared by blocks of this shape, where there are enough: with two more warps, twelve in all, which have 168 registers a
/// thread.
template <class Scalar>
inline constexpr int native_long_rows    = rows_for<Scalar>(13, 5);
inline constexpr int native_long_threads = 320;
/// Complex lines that one block does not hold are shared by a cluster, if it holds them. Its blocks are small, four on a multiprocessor, so that some
/// work while others wait. Checks of pivots cost more where warps are more and have fewer rows a thread: 96 threads of 7 rows take 1.10 times as long with
/// them and 0.99 times without, one block of 416 threads with 5 rows 1.2 times.
inline constexpr int native_cluster_rows = 9, native_cluster_threads = 64, native_cluster_blocks = 4;

/// A launch for each number of blocks that a cluster can have.
template <class Scalar, class Make>
std::array<NativeLaunch<Scalar>, most_of_cluster + 1> by_cluster_size(const Make &make)
{
  std::array<NativeLaunch<Scalar>, most_of_cluster + 1> launches;
  for (int blocks = 1; blocks <= most_of_cluster; blocks++) launches[static_cast<std::size_t>(blocks)] = make(blocks);
  return launches;
}

// -------------------------------------------------------------------------------------------------------- rows that follow each other

template <class Scalar, int T, WidePart part, bool alike, bool checks>
NativeLaunch<Scalar> native_launch()
{
  constexpr int at_least                   = T > 256 ? 1 : 512 / T;
  static const NativeLaunch<Scalar> launch = launch_of<Scalar>(native_wide<Scalar, native_rows<Scalar>, T, at_least, part, alike, checks>,
                                                               T, sizeof(NativeTile<Scalar, native_rows<Scalar>, T, alike>));
  return launch;
}

template <class Scalar, WidePart part, bool alike, bool checks>
NativeLaunch<Scalar> native_launch_for(int threads)
{
  if constexpr (part == WidePart::whole) {
    switch (threads) {
    case 32:
      return native_launch<Scalar, 32, part, alike, checks>();
    case 64:
      return native_launch<Scalar, 64, part, alike, checks>();
    case 128:
      return native_launch<Scalar, 128, part, alike, checks>();
    case native_most_threads<Scalar>:
      return native_launch<Scalar, native_most_threads<Scalar>, part, alike, checks>();
    default:
      break;
    }
  }
  return native_launch<Scalar, native_tile_threads, part, alike, checks>();
}

/// Lines of up to so many rows, in blocks of one to eight warps, in single precision sixteen, go straight into registers: 8 rows a thread, 24
/// warps a multiprocessor, which leaves a thread 80 registers. Complex ones: 4 rows, 16 warps, 128 registers, and up to four warps a line.
template <class Scalar>
inline constexpr int direct_rows = rows_for<Scalar>(8, 4);
template <class Scalar>
inline constexpr int direct_warps = is_complex<Scalar> ? 16 : 24; ///< of a multiprocessor
template <class Scalar>
inline constexpr int most_direct_rows = (is_complex<Scalar>   ? 4
                                         : sizeof(Scalar) < 8 ? 16
                                                              : 8) *
                                        32 * direct_rows<Scalar>;

template <class Scalar, int warps, bool checks>
NativeLaunch<Scalar> direct_launch()
{
  static const auto launch = launch_of<Scalar>(native_wide_direct<Scalar, direct_rows<Scalar>, warps, direct_warps<Scalar> / warps, checks>,
                                               32 * warps, std::size_t(0));
  return launch;
}
template <class Scalar, bool checks>
NativeLaunch<Scalar> direct_launch_for(Index length)
{
  const Index warps = (length - 1) / (32 * direct_rows<Scalar>)+1;
  if constexpr (8 * 32 * direct_rows<Scalar> < most_direct_rows<Scalar>) {
    if (warps > 8) return direct_launch<Scalar, 16, checks>();
  }
  return warps == 1   ? direct_launch<Scalar, 1, checks>()
         : warps == 2 ? direct_launch<Scalar, 2, checks>()
         : warps <= 4 ? direct_launch<Scalar, 4, checks>()
                      : direct_launch<Scalar, 8, checks>();
}

template <class Scalar, bool alike, bool checks>
NativeLaunch<Scalar> native_cluster_launch(Index blocks)
{
  constexpr int R = native_cluster_rows, T = native_cluster_threads;
  static const auto launches = by_cluster_size<Scalar>([](int size) {
    return launch_of<Scalar>(native_wide_cluster<Scalar, R, T, native_cluster_blocks, alike, checks>, T,
                             sizeof(ClusterTile<Scalar, R, T, alike>), size);
  });
  return launches[static_cast<std::size_t>(blocks)];
}
/// Whether clusters share lines of so many rows.
template <class Scalar>
bool clusters_take(Index length)
{
  if constexpr (is_complex<Scalar>) {
    const Index blocks = (length - 1) / (native_cluster_rows * native_cluster_threads) + 1;
    return length > Index(native_rows<Scalar>) * native_most_threads<Scalar> && blocks <= most_of_cluster &&
           native_cluster_launch<Scalar, false, true>(blocks).resident > 0 &&
           native_cluster_launch<Scalar, true, true>(blocks).resident > 0;
  }
  return false;
}

template <class Scalar>
using NativeLongTile = LongTile<Scalar, native_long_rows<Scalar>, native_long_threads, false>; ///< the largest

template <class Scalar, bool alike, bool checks>
NativeLaunch<Scalar> native_long_launch()
{
  static const NativeLaunch<Scalar> launch =
      launch_of<Scalar>(native_wide_long<Scalar, native_long_rows<Scalar>, native_long_threads, alike, checks>,
                        NativeLongTile<Scalar>::threads, most_shared_bytes);
  return launch;
}
/// Blocks of those kernels that fit the device at once.
template <class Scalar>
int native_long_resident()
{
  return std::min(native_long_launch<Scalar, false, true>().resident, native_long_launch<Scalar, true, true>().resident);
}

/// How blocks share lines.
struct LongShape {
  Index tile_rows = 0; ///< of a block; none if one block holds a line or there are not enough blocks
  int blocks      = 1; ///< of a line
};
/// The one that takes the fewest rows one after the other, a turn counting as the time in which memory brings some 1500 more, and 12 for
/// each block to hear.
template <class Scalar>
LongShape long_shape(const LineLayout &layout)
{
  if (layout.length <= Index(native_rows<Scalar>) * native_most_threads<Scalar>) return {};
  using Tile              = NativeLongTile<Scalar>;
  constexpr Index of_turn = 1500, of_block = 12;
  const Index resident = native_long_resident<Scalar>(), lines = std::max<Index>(1, layout.count());
  Index best = 0;
  LongShape shape;
  for (Index groups = 1; groups <= resident; groups++) {
    const Index blocks = std::min<Index>(most_blocks, resident / groups);
    const Index rows = ((layout.length - 1) / blocks / Tile::portion + 1) * Tile::portion, used = (layout.length - 1) / rows + 1;
    if (rows > native_long_rows<Scalar> * native_long_threads || Tile::bytes(rows, used) > most_shared_bytes)
      break; // more groups have larger tiles
    const Index cost = ((lines - 1) / groups + 1) * (rows + of_turn + of_block * used);
    if (shape.tile_rows == 0 || cost < best) shape = {rows, static_cast<int>(used)}, best = cost;
  }
  return shape;
}

/// Threads of a block for lines of this length. shared: how blocks share those that one does not hold.
template <class Scalar>
int native_threads_for(Index length, const LongShape &shared)
{
  for (int threads : native_threads<Scalar>) {
    if (length <= Index(native_rows<Scalar>) * threads) return threads;
  }
  return shared.tile_rows > 0 ? native_long_threads : native_tile_threads;
}

// -------------------------------------------------------------------------------------------------------------- lines side by side

template <class Scalar>
inline constexpr int strided_threads     = is_complex<Scalar> ? 256 : 512;
inline constexpr int most_strided_blocks = 112; ///< that share a bundle of lines: their rows fill shared memory up
/// Lines of a bundle: 128 bytes of a row.
template <class Scalar>
inline constexpr int strided_lines = 128 / sizeof(Scalar);
/// Rows of a thread: with the fewer of them a block holds 2^8 rows, with the others 2^8 + 1 as well; complex ones 224 and 2^8.
template <class Scalar>
inline constexpr int strided_rows[] = {is_complex<Scalar>    ? 7
                                       : sizeof(Scalar) == 8 ? 8
                                                             : 16,
                                       is_complex<Scalar>    ? 8
                                       : sizeof(Scalar) == 8 ? 9
                                                             : 16};

/// Those that keep most of the device at work: clusters lie within groups of 16 multiprocessors. Longer lines take the fewer rows.
template <class Scalar>
int strided_rows_for(Index length)
{
  const auto at_work = [&](int rows) {
    const Index tile = Index(rows) * strided_threads<Scalar> / strided_lines<Scalar>, blocks = (length - 1) / tile + 1;
    return blocks <= most_of_cluster ? double(most_of_cluster / blocks) * double(length) / double(tile) : 0;
  };
  const auto &rows = strided_rows<Scalar>;
  return at_work(rows[1]) > at_work(rows[0]) ? rows[1] : rows[0];
}

template <class Scalar, int R, WidePart part, bool in_line, bool alike, bool checks>
NativeLaunch<Scalar> strided_launch()
{
  constexpr int T = strided_threads<Scalar>, W = strided_lines<Scalar>;
  static const auto launch = launch_of<Scalar>(native_wide_strided<Scalar, R, T, W, Sharing::none, in_line, alike, checks, part>, T,
                                               sizeof(StridedTile<Scalar, R, T, W, Sharing::none, in_line, alike>));
  return launch;
}

template <class Scalar, int R, bool in_line, bool alike, bool checks>
NativeLaunch<Scalar> strided_launch(int tiles, Sharing sharing)
{
  constexpr int T = strided_threads<Scalar>, W = strided_lines<Scalar>;
  if (sharing == Sharing::none) return strided_launch<Scalar, R, WidePart::whole, in_line, alike, checks>();
  if (sharing == Sharing::cluster) {
    static const auto launches = by_cluster_size<Scalar>([](int blocks) {
      return launch_of<Scalar>(native_wide_strided<Scalar, R, T, W, Sharing::cluster, in_line, alike, checks, WidePart::whole>, T,
                               sizeof(StridedTile<Scalar, R, T, W, Sharing::cluster, in_line, alike>), blocks);
    });
    return launches[tiles];
  }
  // Shared memory grows with the blocks: it is asked for as if there were the most.
  using Tile = LateTile<Scalar, strided_rows<Scalar>[0], T, W, in_line, alike>;
  static_assert(Tile::bytes(most_strided_blocks) <= most_shared_bytes);
  static const auto launch = launch_of<Scalar>(native_wide_strided_long<Scalar, strided_rows<Scalar>[0], T, W, in_line, alike, checks>, T,
                                               static_cast<std::size_t>(Tile::bytes(most_strided_blocks)));
  return launch;
}

/// Blocks of the kernels for lines that many blocks share that fit the device at once.
template <class Scalar>
int strided_shared_resident()
{
  constexpr int rows = strided_rows<Scalar>[0];
  return std::min(strided_launch<Scalar, rows, false, false, true>(2, Sharing::device).resident,
                  strided_launch<Scalar, rows, false, true, true>(2, Sharing::device).resident);
}

/// Who works on lines of this many tiles. Two passes are Sharing::none of many tiles; then rows are the fewer ones.
template <class Scalar>
Sharing strided_sharing(int rows, Index tiles)
{
  if (tiles == 1) return Sharing::none;
  const bool few = tiles <= most_of_cluster;
  if (few &&
      (rows == strided_rows<Scalar>[0] ? strided_launch<Scalar, strided_rows<Scalar>[0], false, false, true>(int(tiles), Sharing::cluster)
                                       : strided_launch<Scalar, strided_rows<Scalar>[1], false, false, true>(int(tiles), Sharing::cluster))
              .resident > 0)
    return Sharing::cluster;
  return rows == strided_rows<Scalar>[0] && tiles <= std::min(most_strided_blocks, strided_shared_resident<Scalar>()) ? Sharing::device
                                                                                                                      : Sharing::none;
}

template <class Scalar, bool in_line, bool alike, bool checks>
NativeLaunch<Scalar> strided_launch_for(const WideShape &shape, Sharing sharing, WidePart part)
{
  if constexpr (!alike) {
    if (part == WidePart::reduce) return strided_launch<Scalar, strided_rows<Scalar>[0], WidePart::reduce, in_line, alike, checks>();
    if (part == WidePart::finish) return strided_launch<Scalar, strided_rows<Scalar>[0], WidePart::finish, in_line, alike, false>();
  }
  const int tiles = static_cast<int>(shape.tiles);
  return shape.rows == strided_rows<Scalar>[0] ? strided_launch<Scalar, strided_rows<Scalar>[0], in_line, alike, checks>(tiles, sharing)
                                               : strided_launch<Scalar, strided_rows<Scalar>[1], in_line, alike, checks>(tiles, sharing);
}

// -------------------------------------------------------------------------------------------------------------------------- both

/// Work space of lines that several blocks share; empty for others.
template <class Scalar>
struct NativePlan {
  Kokkos::View<Message<Scalar> *, Kokkos::CudaSpace> messages;
  int resident = 0;        ///< blocks that it is for
  LongShape shape;         ///< of lines whose rows follow each other
  bool native     = false; ///< the shape is one of the native kernels'
  Sharing sharing = Sharing::none;
  bool many() const { return sharing != Sharing::none; } ///< lines of several tiles are solved at once
};

/// Shapes lines that the native kernels are for, of more rows than the portable one solves as fast: rows that follow each other, or lines
/// that do.
template <class Scalar>
NativePlan<Scalar> native_plan(WideShape &shape, const MethodParameters &parameters)
{
  NativePlan<Scalar> plan;
  const LineLayout &layout = shape.layout;
  const bool side_by_side  = layout.components == 1 && layout.across_stride[0] == 1 && !layout.rows_are_closest();
  if (!native_forms.lines || parameters.slice != 0 || parameters.partitions != 0 || layout.length <= 128) return plan;
  Index messages = 0;
  if (layout.stride == 1 && layout.rows_are_closest()) {
    const bool cluster = clusters_take<Scalar>(layout.length);
    if (cluster) plan.sharing = Sharing::cluster;
    shape.rows = cluster ? native_cluster_rows : native_rows<Scalar>;
    if (!cluster) plan.shape = long_shape<Scalar>(layout);
    shape.threads = cluster ? native_cluster_threads : native_threads_for<Scalar>(layout.length, plan.shape);
    shape.lines   = 1;
    shape.cut();
    if (plan.shape.tile_rows > 0) {
      plan.sharing  = Sharing::device;
      plan.resident = native_long_resident<Scalar>();
      messages      = Index(4 * 6) * plan.resident;
    }
  } else if (side_by_side) {
    WideShape native = shape;
    native.rows      = strided_rows_for<Scalar>(layout.length);
    native.lines     = strided_lines<Scalar>;
    native.threads   = strided_threads<Scalar> / native.lines;
    native.cut();
    plan.sharing = strided_sharing<Scalar>(native.rows, native.tiles);
    // Two passes over a few lines would ask for each piece of memory several times.
    if (native.tiles > 1 && !plan.many() && 2 * layout.across[0] < native.lines) return plan;
    shape = native;
    if (plan.sharing == Sharing::device) {
      plan.resident = strided_shared_resident<Scalar>();
      messages      = Index(2 * 7) * native.lines * plan.resident;
    }
  } else {
    return plan;
  }
  plan.native = true;
  if (messages > 0) plan.messages = decltype(plan.messages)("weft wide messages", static_cast<std::size_t>(messages));
  return plan;
}

/// True if a native kernel can work on these arguments: coefficients as they are stored or the same for all lines, which then must not take
/// two passes; all arrays at multiples of 16 bytes.
template <class Scalar>
bool native_takes(const WideArguments<Kokkos::Cuda, Scalar> &a, const NativePlan<Scalar> &plan)
{
  if (!plan.native || !begins_in_pieces(a) || !a.solves || a.matrix.problem.periodic) return false;
  return a.matrix.problem.coefficients == Coefficients::general ? !a.matrix.transposed : a.shape.tiles == 1 || plan.many();
}

/// True if the launch clears the flag: one launch less. Lines of tiles' last unknowns report beside the lines that they are of.
template <class Scalar>
bool clears_flag(const WideArguments<Kokkos::Cuda, Scalar> &a, const NativePlan<Scalar> &plan)
{
  return a.checks && a.step == 0 && plan.sharing == Sharing::device && native_takes(a, plan);
}

/// True if blocks read and write the lines without a detour: they begin at multiples of 16 bytes, as the arrays do.
template <class Scalar>
bool goes_directly(const WideArguments<Kokkos::Cuda, Scalar> &a)
{
  constexpr Index piece    = 16 / sizeof(Scalar);
  const LineLayout &layout = a.shape.layout;
  return a.shape.rows_first && layout.length <= most_direct_rows<Scalar> && a.matrix.problem.coefficients == Coefficients::general &&
         layout.components == 1 && layout.across_stride[0] % piece == 0 && layout.across_stride[1] % piece == 0;
}

/// What every native kernel is told of whole lines.
template <class Scalar>
NativeArguments<Scalar> native_arguments(const WideArguments<Kokkos::Cuda, Scalar> &a)
{
  NativeArguments<Scalar> n{};
  n.lower           = a.matrix.lower.data();
  n.diagonal        = a.matrix.diagonal.data();
  n.upper           = a.matrix.upper.data();
  n.rhs             = a.rhs.data();
  n.solution        = a.solution.data();
  n.matrix          = a.matrix;
  n.layout          = a.shape.layout;
  n.update          = a.update;
  n.colour          = a.colour;
  n.in_pieces       = !a.update.add;
  n.flag            = a.flag;
  n.step            = a.step;
  n.rows_of_row     = a.rows_of_row;
  n.original_length = a.original_length;
  n.tiles           = 1;
  return n;
}

/// The kernel for these arguments.
template <class Scalar, bool alike, bool checks>
NativeLaunch<Scalar> kernel_for(const WideArguments<Kokkos::Cuda, Scalar> &a, Sharing sharing)
{
  const LineLayout &layout = a.shape.layout;
  if constexpr (!alike) {
    if (goes_directly(a)) return direct_launch_for<Scalar, checks>(layout.length);
  }
  if (!a.shape.rows_first) {
    constexpr Index piece = 16 / sizeof(Scalar);
    if constexpr (piece == 1) {
      return strided_launch_for<Scalar, true, alike, checks>(a.shape, sharing, a.part);
    } else {
      return layout.stride % piece == 0 && layout.across_stride[1] % piece == 0
                 ? strided_launch_for<Scalar, true, alike, checks>(a.shape, sharing, a.part)
                 : strided_launch_for<Scalar, false, alike, checks>(a.shape, sharing, a.part);
    }
  }
  if (sharing == Sharing::device) return native_long_launch<Scalar, alike, checks>();
  if constexpr (is_complex<Scalar>) {
    if (sharing == Sharing::cluster) return native_cluster_launch<Scalar, alike, checks>(a.shape.tiles);
  }
  if constexpr (!alike) {
    if (a.part == WidePart::reduce) return native_launch_for<Scalar, WidePart::reduce, alike, checks>(a.shape.threads);
    if (a.part == WidePart::finish) return native_launch_for<Scalar, WidePart::finish, alike, false>(a.shape.threads);
  }
  return native_launch_for<Scalar, WidePart::whole, alike, checks>(a.shape.threads);
}

template <class Scalar>
void launch_native(const Kokkos::Cuda &space, const WideArguments<Kokkos::Cuda, Scalar> &a, const NativePlan<Scalar> &plan)
{
  const LineLayout &layout  = a.shape.layout;
  const Sharing sharing     = a.part == WidePart::whole ? plan.sharing : Sharing::none;
  NativeArguments<Scalar> n = native_arguments(a);
  n.tiles                   = sharing == Sharing::none ? a.shape.tiles : 1;
  n.tile_rows               = a.tiles;
  n.last                    = a.last.data();
  const bool is_long        = a.shape.rows_first && sharing == Sharing::device;
  n.exchange                = {plan.messages.data(),
                sharing == Sharing::none ? 1
                               : is_long                ? plan.shape.blocks
                                                        : static_cast<int>(a.shape.tiles),
                               static_cast<int>(plan.shape.tile_rows)};

  const bool alike = a.matrix.problem.coefficients != Coefficients::general;
  const NativeLaunch<Scalar> launch =
      alike      ? (a.checks ? kernel_for<Scalar, true, true>(a, sharing) : kernel_for<Scalar, true, false>(a, sharing))
      : a.checks ? kernel_for<Scalar, false, true>(a, sharing)
                 : kernel_for<Scalar, false, false>(a, sharing);
  const cudaStream_t stream = space.cuda_stream();
  const Index blocks = n.exchange.blocks, lines = a.shape.lines;
  const Index items = (a.shape.rows_first ? layout.count() : (layout.across[0] + lines - 1) / lines * layout.across[1]) * n.tiles;
  const Index groups =
      goes_directly(a) ? items : std::min<Index>(sharing == Sharing::device ? plan.resident / blocks : launch.resident, items);
  void *arguments[] = {&n};
  const dim3 grid(static_cast<unsigned>(groups * blocks)), block(static_cast<unsigned>(launch.threads));
  const auto bytes = static_cast<std::size_t>(
      is_long
          ? (alike ? LongTile<Scalar, native_long_rows<Scalar>, native_long_threads, true>::bytes(plan.shape.tile_rows, n.exchange.blocks)
                   : NativeLongTile<Scalar>::bytes(plan.shape.tile_rows, n.exchange.blocks))
          : launch.shared_bytes);
  if (sharing == Sharing::device) { // blocks wait for each other: all must be there at once
    const auto messages = static_cast<int>(plan.messages.span());
    clear_messages<<<(messages + 255) / 256, 256, 0, stream>>>(plan.messages.data(), messages, a.flag, clears_flag(a, plan));
    check_launch(cudaGetLastError(), "messages");
    check_launch(cudaLaunchCooperativeKernel(launch.kernel, grid, block, arguments, bytes, stream), "launch");
  } else if (sharing == Sharing::cluster) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = cluster_launch(launch, grid, static_cast<int>(blocks), stream, attribute);
    check_launch(cudaLaunchKernelExC(&config, launch.kernel, arguments), "launch");
  } else {
    check_launch(cudaLaunchKernel(launch.kernel, grid, block, arguments, bytes, stream), "launch");
  }
}

} // namespace weft::cuda
