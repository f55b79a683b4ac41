/// The pieces of the native CUDA form of block_wide.hpp: rows of 4 * 4 blocks that two neighbouring lanes share, two columns of each block a lane.
///
/// A lane counts the unknowns of a node from its own two on: its number p is number p ^ (2 half) of the node, half = 0 or 1 being the lane's
/// place in its group. Both lanes then do the same to the same places of their arrays, and nothing is selected by lane.
#pragma once
#include <limits>

#include "line/blocks/block.hpp"
#include "line/methods/wide/wide_parts.hpp"

namespace weft::cuda {

inline constexpr unsigned every_lane = 0xffffffff;

/// Couplings of this size are rounding error; no number is larger than this one. Variables, since device code may not call numeric_limits.
template <class Scalar>
inline constexpr Scalar small_coupling = std::numeric_limits<RealOf<Scalar>>::epsilon() / 8;
template <class Scalar>
inline constexpr Scalar largest_number = std::numeric_limits<RealOf<Scalar>>::max();

/// Where a lane stands: groups of two in a warp.
struct BlockLane {
  static constexpr int groups = 16, last = groups - 1;
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int half() { return threadIdx.x % 2; }
  __device__ static int group() { return lane() / 2; }
  /// The lane with the same half of group `group`.
  __device__ static int of_group(int group) { return 2 * group + half(); }
};

/// Two words that travel together.
template <class Scalar>
struct alignas(2 * sizeof(Scalar)) Pair {
  Scalar x, y;
};

template <class Scalar>
__device__ Pair<Scalar> from_lane(const Pair<Scalar> &p, int lane)
{
  return {__shfl_sync(every_lane, p.x, lane), __shfl_sync(every_lane, p.y, lane)};
}

/// To another block of the cluster, as send_to_block of wide_parts.hpp.
__device__ inline void send_to_block(std::uint32_t address, const Pair<double> &p, std::uint32_t arrival)
{
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(address), "d"(p.x), "d"(p.y),
               "r"(arrival)
               : "memory");
}
__device__ inline void send_to_block(std::uint32_t address, const Pair<float> &p, std::uint32_t arrival)
{
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(address), "f"(p.x), "f"(p.y),
               "r"(arrival)
               : "memory");
}

/// A lane's two columns of a block.
template <class Scalar>
using Columns = Scalar[2][4];

/// A row of a part of a line: x = value - before x_before - after x_after. A lane has its columns of the blocks, and all of the vector.
template <class Scalar>
struct BlockRow {
  Scalar value[4];
  Columns<Scalar> before, after;

  /// Of a group that only passes on what is before it.
  __device__ static BlockRow passing()
  {
    BlockRow r{};
    r.before[0][0] = r.before[1][1] = -1;
    return r;
  }
  __device__ BlockRow from_lane(int lane) const
  {
    BlockRow r;
#pragma unroll
    for (int p = 0; p < 4; p++) {
      r.value[p] = __shfl_sync(every_lane, value[p], lane);
#pragma unroll
      for (int k = 0; k < 2; k++) {
        r.before[k][p] = __shfl_sync(every_lane, before[k][p], lane);
        r.after[k][p]  = __shfl_sync(every_lane, after[k][p], lane);
      }
    }
    return r;
  }

  // As pairs: those of a lane for its columns, and one for its own two entries of the vector.
  static constexpr int pairs = 9;
  __device__ Pair<Scalar> pair(int n) const
  {
    if (n == 8) return {value[0], value[1]};
    const Scalar *const column = n < 4 ? before[n / 2] : after[n / 2 - 2];
    return {column[n % 2 * 2], column[n % 2 * 2 + 1]};
  }
  __device__ void set_pair(int n, const Pair<Scalar> &p)
  {
    Scalar *const column  = n < 4 ? before[n / 2] : after[n / 2 - 2];
    column[n % 2 * 2]     = p.x;
    column[n % 2 * 2 + 1] = p.y;
  }
};

/// A row that another warp has written: the pairs of both lanes side by side.
template <class Scalar>
using BlockMessage = Pair<Scalar>[BlockRow<Scalar>::pairs][2];

template <class Scalar>
__device__ BlockRow<Scalar> read_message(const BlockMessage<Scalar> &from)
{
  BlockRow<Scalar> r;
  const int half = BlockLane::half();
#pragma unroll
  for (int n = 0; n < 8; n++) r.set_pair(n, from[n][half]);
  const Pair<Scalar> own = from[8][half], other = from[8][1 - half];
  r.value[0] = own.x;
  r.value[1] = own.y;
  r.value[2] = other.x;
  r.value[3] = other.y;
  return r;
}

template <class Scalar>
__device__ void unit_columns(Columns<Scalar> &x)
{
#pragma unroll
  for (int p = 0; p < 4; p++) {
#pragma unroll
    for (int k = 0; k < 2; k++) x[k][p] = p == k;
  }
}

/// A block of which the two lanes of a group have two columns each.
template <class Scalar>
__device__ Block<Scalar, 4> whole_block(const Columns<Scalar> &own)
{
  Block<Scalar, 4> m;
#pragma unroll
  for (int p = 0; p < 4; p++) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      m(p, k)     = own[k][p];
      m(p, k + 2) = __shfl_xor_sync(every_lane, own[k][p ^ 2], 1);
    }
  }
  return m;
}

/// y -= m x, of vectors or of columns.
template <class Scalar>
__device__ void subtract(Scalar (&y)[4], const Block<Scalar, 4> &m, const Scalar (&x)[4])
{
#pragma unroll
  for (int q = 0; q < 4; q++) {
#pragma unroll
    for (int p = 0; p < 4; p++) y[p] -= m(p, q) * x[q];
  }
}
template <class Scalar>
__device__ void subtract(Columns<Scalar> &y, const Block<Scalar, 4> &m, const Columns<Scalar> &x)
{
  subtract(y[0], m, x[0]);
  subtract(y[1], m, x[1]);
}

/// Adds what the other lane of the group has of the same entries.
template <class Scalar>
__device__ void add_other(Scalar (&s)[4])
{
  Scalar other[4];
#pragma unroll
  for (int p = 0; p < 4; p++) other[p] = __shfl_xor_sync(every_lane, s[p ^ 2], 1);
#pragma unroll
  for (int p = 0; p < 4; p++) s[p] += other[p];
}

template <class Scalar>
__device__ bool all_below(const Columns<Scalar> &x, Scalar bound)
{
  bool below = true;
#pragma unroll
  for (int p = 0; p < 4; p++) below = below && abs(x[0][p]) <= bound && abs(x[1][p]) <= bound;
  return below;
}

/// `row` becomes pivot^-1 row by Gauss-Jordan elimination with the pivots of `invert`, each row of the pivot measured by its scale. False
/// where one of them is less than `margin` times its scale.
template <class Scalar>
__device__ bool solve_with_pivots(Block<Scalar, 4> &pivot, BlockRow<Scalar> &row, Scalar (&scale)[4], Scalar margin)
{
  bool safe = true;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int chosen  = k;
    Scalar best = abs(pivot(k, k)), best_scale = scale[k];
#pragma unroll
    for (int p = k + 1; p < 4; p++) {
      const Scalar size = abs(pivot(p, k));
      if (size * best_scale > best * scale[p]) {
        best       = size;
        best_scale = scale[p];
        chosen     = p;
      }
    }
    const auto for_each_column = [&](const auto &change) {
      change(row.value);
#pragma unroll
      for (int q = 0; q < 2; q++) {
        change(row.before[q]);
        change(row.after[q]);
      }
    };
#pragma unroll
    for (int p = k + 1; p < 4; p++) {
      if (p != chosen) continue;
      const auto exchange = [=](Scalar(&v)[4]) {
        const Scalar x = v[k];
        v[k]           = v[p];
        v[p]           = x;
      };
      exchange(scale);
      for_each_column(exchange);
#pragma unroll
      for (int q = 0; q < 4; q++) {
        const Scalar x = pivot(k, q);
        pivot(k, q)    = pivot(p, q);
        pivot(p, q)    = x;
      }
    }
    safe                 = safe && best > margin * best_scale && abs(pivot(k, k)) <= largest_number<Scalar>;
    const Scalar inverse = reciprocal(pivot(k, k));
    Scalar f[4];
#pragma unroll
    for (int p = 0; p < 4; p++) f[p] = pivot(p, k);
    for_each_column([&](Scalar(&v)[4]) {
      v[k] *= inverse;
#pragma unroll
      for (int p = 0; p < 4; p++) {
        if (p != k) v[p] -= f[p] * v[k];
      }
    });
#pragma unroll
    for (int q = k + 1; q < 4; q++) {
      pivot(k, q) *= inverse;
#pragma unroll
      for (int p = 0; p < 4; p++) {
        if (p != k) pivot(p, q) -= f[p] * pivot(k, q);
      }
    }
  }
  return safe;
}

/// The inverse of a block without row exchanges, by halves: two reciprocals one after the other instead of four.
template <class Scalar>
struct Halves {
  Scalar first[2][2], second[2][2], taken[2][2]; ///< inverses of the halves; what the second half takes of the first one
  Scalar determinants[2];

  __device__ explicit Halves(const Block<Scalar, 4> &m)
  {
    Scalar s[2][2];
    determinants[0] = invert({{m(0, 0), m(0, 1)}, {m(1, 0), m(1, 1)}}, first);
#pragma unroll
    for (int p = 0; p < 2; p++) {
#pragma unroll
      for (int q = 0; q < 2; q++) taken[p][q] = m(2 + p, 0) * first[0][q] + m(2 + p, 1) * first[1][q];
#pragma unroll
      for (int q = 0; q < 2; q++) s[p][q] = m(2 + p, 2 + q) - taken[p][0] * m(0, 2 + q) - taken[p][1] * m(1, 2 + q);
    }
    determinants[1] = invert(s, second);
  }
  /// False, also with NaN, where rows should be exchanged: a determinant is measured by the product of two scales.
  __device__ bool good(const Scalar (&scale)[4]) const
  {
    const Scalar least = Scalar(0.03), largest = largest_number<Scalar>;
    return abs(determinants[0]) > least * scale[0] * scale[1] && abs(determinants[1]) > least * scale[2] * scale[3] &&
           abs(determinants[0]) <= largest && abs(determinants[1]) <= largest;
  }
  __device__ void apply(const Block<Scalar, 4> &m, Scalar (&y)[4]) const
  {
    multiply(second, y[2] - taken[0][0] * y[0] - taken[0][1] * y[1], y[3] - taken[1][0] * y[0] - taken[1][1] * y[1], y[2], y[3]);
    multiply(first, y[0] - m(0, 2) * y[2] - m(0, 3) * y[3], y[1] - m(1, 2) * y[2] - m(1, 3) * y[3], y[0], y[1]);
  }

private:
  __device__ static Scalar invert(const Scalar (&m)[2][2], Scalar (&inverse)[2][2])
  {
    const Scalar determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0], i = reciprocal(determinant);
    inverse[0][0] = m[1][1] * i;
    inverse[0][1] = -m[0][1] * i;
    inverse[1][0] = -m[1][0] * i;
    inverse[1][1] = m[0][0] * i;
    return determinant;
  }
  __device__ static void multiply(const Scalar (&m)[2][2], Scalar x, Scalar y, Scalar &to_x, Scalar &to_y)
  {
    to_x = m[0][0] * x + m[0][1] * y;
    to_y = m[1][0] * x + m[1][1] * y;
  }
};

/// `row` becomes m^-1 row. All lanes of the warp call it.
template <class Scalar>
__device__ bool solve_row(Block<Scalar, 4> &m, BlockRow<Scalar> &row, Scalar (&scale)[4], Scalar margin)
{
  const Halves<Scalar> halves(m);
  if (!__all_sync(every_lane, halves.good(scale))) return solve_with_pivots(m, row, scale, margin);
  halves.apply(m, row.value);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    halves.apply(m, row.before[k]);
    halves.apply(m, row.after[k]);
  }
  return true;
}

/// The same where the pivot was an identity before the row was joined to others. What is an identity still is not solved with.
template <class Scalar>
__device__ bool solve_joined(const Columns<Scalar> &pivot, BlockRow<Scalar> &row, Scalar margin)
{
  Columns<Scalar> rest;
  Scalar scale[4];
#pragma unroll
  for (int p = 0; p < 4; p++) {
#pragma unroll
    for (int k = 0; k < 2; k++) rest[k][p] = pivot[k][p] - (p == k);
  }
  if (__all_sync(every_lane, all_below(rest, small_coupling<Scalar>))) return true;
#pragma unroll
  for (int p = 0; p < 4; p++) scale[p] = abs(rest[0][p]) + abs(rest[1][p]);
  add_other(scale);
#pragma unroll
  for (int p = 0; p < 4; p++) scale[p] += 1;
  Block<Scalar, 4> whole = whole_block(pivot);
  return solve_row(whole, row, scale, margin);
}

/// Two rows of a part of a line that keeps its last unknown.
template <class Scalar>
struct BlockEnds {
  BlockRow<Scalar> first, last;
};

/// A row hangs on a neighbour's unknown by `coupling`: what that unknown's own row says of it takes its place. The neighbour's columns `toward`
/// go to `own`, where the row has that unknown already (its pivot, say), its columns `away` to those columns of the row.
template <class Scalar>
__device__ void insert(const Block<Scalar, 4> &coupling, const BlockRow<Scalar> &neighbour, Columns<Scalar> BlockRow<Scalar>::*toward,
                       Columns<Scalar> BlockRow<Scalar>::*away, Columns<Scalar> &own, BlockRow<Scalar> &row)
{
#pragma unroll
  for (int p = 0; p < 4; p++) (row.*away)[0][p] = (row.*away)[1][p] = 0;
  subtract(own, coupling, neighbour.*toward);
  subtract(row.value, coupling, neighbour.value);
  subtract(row.*away, coupling, neighbour.*away);
}

/// reduce_warp of wide_parts.hpp for blocks: the chunks of a line that the groups of a warp hold, from group `first` on; those before it have
/// passing() rows. Stops where couplings are rounding error. `safe` turns false where a pivot is not. `whole`: the part is the whole line,
/// whose first row nobody asks for.
template <bool whole, class Scalar>
__device__ BlockEnds<Scalar> reduce_groups(BlockRow<Scalar> &mine, const BlockRow<Scalar> &head, int first, Scalar margin, bool &safe)
{
  using Lane      = BlockLane;
  using Row       = BlockRow<Scalar>;
  const int group = Lane::group(), lane = Lane::lane();
  const Scalar small = small_coupling<Scalar>;
  Columns<Scalar> pivot;
  { // joined to the next one
    const Row next               = head.from_lane(lane + 2 < 32 ? lane + 2 : lane);
    const Block<Scalar, 4> after = whole_block(mine.after);
    Row row                      = mine;
    unit_columns(pivot);
    insert(after, next, &Row::before, &Row::after, pivot, row);
    if (group == Lane::last) unit_columns(pivot);
    safe = solve_joined(pivot, row, margin) && safe;
    if (group < Lane::last) mine = row;
  }
#pragma unroll 1
  for (int distance = 1; distance < Lane::last - first; distance *= 2) {
    const bool has_left = group >= first + distance && group < Lane::last, has_right = group >= first && group + distance < Lane::last;
    if (__all_sync(every_lane, (!has_left || all_below(mine.before, small)) && (!has_right || all_below(mine.after, small)))) break;
    const int at_left = lane >= distance * 2 ? lane - distance * 2 : lane, at_right = lane + distance * 2 < 32 ? lane + distance * 2 : lane;
    Row row = mine;
    unit_columns(pivot);
    {
      const Row left                = mine.from_lane(at_left);
      const Block<Scalar, 4> before = whole_block(mine.before);
      if (has_left) insert(before, left, &Row::after, &Row::before, pivot, row);
    }
    {
      const Row right              = mine.from_lane(at_right);
      const Block<Scalar, 4> after = whole_block(mine.after);
      if (has_right) insert(after, right, &Row::before, &Row::after, pivot, row);
    }
    safe = solve_joined(pivot, row, margin) && safe;
    if (group < Lane::last) mine = row;
  }
  BlockEnds<Scalar> ends;
  if constexpr (!whole) {
    const int place              = Lane::of_group(first);
    ends.first                   = head.from_lane(place);
    const Row of_first           = mine.from_lane(place);
    const Block<Scalar, 4> after = whole_block(ends.first.after);
    if (first < Lane::last) insert(after, of_first, &Row::before, &Row::after, ends.first.before, ends.first);
  }
  ends.last = mine;
  {
    const Row left                = mine.from_lane(lane >= 2 ? lane - 2 : lane);
    const Block<Scalar, 4> before = whole_block(mine.before);
    unit_columns(pivot);
    if (group == Lane::last) insert(before, left, &Row::after, &Row::before, pivot, ends.last);
    safe      = solve_joined(pivot, ends.last, margin) && safe;
    ends.last = ends.last.from_lane(Lane::of_group(Lane::last));
  }
  return ends;
}

/// A lane's own two entries of value - before g_before - after g; of both g each lane has its own two.
template <class Scalar>
__device__ Pair<Scalar> known_pair(const BlockRow<Scalar> &row, const Pair<Scalar> &g_before, const Pair<Scalar> &g)
{
  Scalar y[4];
#pragma unroll
  for (int p = 0; p < 4; p++)
    y[p] = row.before[0][p] * g_before.x + row.before[1][p] * g_before.y + row.after[0][p] * g.x + row.after[1][p] * g.y;
  return {row.value[0] - y[0] - __shfl_xor_sync(every_lane, y[2], 1), row.value[1] - y[1] - __shfl_xor_sync(every_lane, y[3], 1)};
}

} // namespace weft::cuda
