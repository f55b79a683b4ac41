/// The pieces of the native CUDA form of block_wide.hpp: rows of b * b blocks that b neighbouring lanes share, a column of each block a lane.
#pragma once
#include <limits>

#include "block_tridiagonal/block.hpp"
#include "tridiagonal/cuda/wide_parts.hpp"

namespace weft::cuda {

inline constexpr unsigned every_lane = 0xffffffff;

/// Couplings of this size are rounding error; no number is larger than this one. Variables, since device code may not call numeric_limits.
template <class Scalar>
inline constexpr Scalar small_coupling = std::numeric_limits<Scalar>::epsilon() / 8;
template <class Scalar>
inline constexpr Scalar largest_number = std::numeric_limits<Scalar>::max();

/// Where a lane stands.
template <int b>
struct BlockLane {
  static constexpr int groups = 32 / b; ///< of a warp
  static constexpr int last   = groups - 1;
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int column() { return threadIdx.x % b; }
  __device__ static int group() { return lane() / b; }
  __device__ static int of_column(int q) { return lane() - column() + q; }
};

/// A row of a part of a line: x = value - before x_before - after x_after. A lane has its column of the blocks, and all of the vector.
template <class Scalar, int b>
struct BlockRow {
  Scalar value[b], before[b], after[b];

  /// Of a group that only passes on what is before it.
  __device__ static BlockRow passing()
  {
    BlockRow r;
#pragma unroll
    for (int p = 0; p < b; p++) {
      r.value[p] = r.after[p] = 0;
      r.before[p]             = p == BlockLane<b>::column() ? -1 : 0;
    }
    return r;
  }
  static constexpr int words = b + 2 * b * b;
  __device__ static BlockRow read(const Scalar *from)
  {
    BlockRow r;
#pragma unroll
    for (int p = 0; p < b; p++) {
      r.value[p]  = from[p];
      r.before[p] = from[b + p * b + BlockLane<b>::column()];
      r.after[p]  = from[b + b * b + p * b + BlockLane<b>::column()];
    }
    return r;
  }
  /// store(place, word)
  template <class Store>
  __device__ void write(const Store &store) const
  {
    const int c = BlockLane<b>::column();
#pragma unroll
    for (int p = 0; p < b; p++) {
      if (p == c) store(p, value[p]);
      store(b + p * b + c, before[p]);
      store(b + b * b + p * b + c, after[p]);
    }
  }
  __device__ BlockRow from_lane(int lane) const
  {
    BlockRow r;
#pragma unroll
    for (int p = 0; p < b; p++) {
      r.value[p]  = __shfl_sync(every_lane, value[p], lane);
      r.before[p] = __shfl_sync(every_lane, before[p], lane);
      r.after[p]  = __shfl_sync(every_lane, after[p], lane);
    }
    return r;
  }
};

/// A lane's entry of a vector, by selection: an index would move the vector out of the registers.
template <class Scalar, int b>
__device__ Scalar own_entry(const Scalar (&v)[b])
{
  Scalar x = v[0];
#pragma unroll
  for (int p = 1; p < b; p++) x = p == BlockLane<b>::column() ? v[p] : x;
  return x;
}

template <class Scalar, int b>
__device__ void unit_column(Scalar (&x)[b])
{
#pragma unroll
  for (int p = 0; p < b; p++) x[p] = p == BlockLane<b>::column() ? 1 : 0;
}

/// A block of which the lanes of a group have a column each.
template <class Scalar, int b>
__device__ Block<Scalar, b> whole_block(const Scalar (&column)[b], int group)
{
  Block<Scalar, b> m;
#pragma unroll
  for (int q = 0; q < b; q++) {
#pragma unroll
    for (int p = 0; p < b; p++) m(p, q) = __shfl_sync(every_lane, column[p], group * b + q);
  }
  return m;
}

/// y -= m x, by columns or of vectors.
template <class Scalar, int b>
__device__ void subtract(Scalar (&y)[b], const Block<Scalar, b> &m, const Scalar (&x)[b])
{
#pragma unroll
  for (int k = 0; k < b; k++) {
#pragma unroll
    for (int p = 0; p < b; p++) y[p] -= m(p, k) * x[k];
  }
}

/// Sums over the lanes of a group.
template <class Scalar, int b>
__device__ void sum_group(Scalar (&s)[b])
{
#pragma unroll
  for (int distance = 1; distance < b; distance *= 2) {
#pragma unroll
    for (int p = 0; p < b; p++) s[p] += __shfl_xor_sync(every_lane, s[p], distance);
  }
}

template <class Scalar, int b>
__device__ bool all_below(const Scalar (&x)[b], Scalar bound)
{
  bool below = true;
#pragma unroll
  for (int p = 0; p < b; p++) below = below && abs(x[p]) <= bound;
  return below;
}

/// `row` becomes pivot^-1 row by Gauss-Jordan elimination with the pivots of `invert`, each row of the pivot measured by its scale. False
/// where one of them is less than `margin` times its scale.
template <class Scalar, int b>
__device__ bool solve_with_pivots(Scalar (&pivot)[b], BlockRow<Scalar, b> &row, Scalar (&scale)[b], Scalar margin)
{
  bool safe = true;
#pragma unroll
  for (int k = 0; k < b; k++) {
    Scalar f[b]; // column k
#pragma unroll
    for (int p = 0; p < b; p++) f[p] = __shfl_sync(every_lane, pivot[p], BlockLane<b>::of_column(k));
    int chosen  = k;
    Scalar best = abs(f[k]) / scale[k];
#pragma unroll
    for (int p = k + 1; p < b; p++) {
      const Scalar size = abs(f[p]) / scale[p];
      if (size > best) {
        best   = size;
        chosen = p;
      }
    }
#pragma unroll
    for (int p = k + 1; p < b; p++) {
      if (p != chosen) continue;
      const auto exchange = [=](Scalar(&v)[b]) {
        const Scalar x = v[k];
        v[k]           = v[p];
        v[p]           = x;
      };
      exchange(f);
      exchange(scale);
      exchange(pivot);
      exchange(row.value);
      exchange(row.before);
      exchange(row.after);
    }
    safe                 = safe && best > margin && abs(f[k]) <= largest_number<Scalar>;
    const Scalar inverse = reciprocal(f[k]);
    const auto eliminate = [&](Scalar(&v)[b]) {
      v[k] *= inverse;
#pragma unroll
      for (int p = 0; p < b; p++) {
        if (p != k) v[p] -= f[p] * v[k];
      }
    };
    eliminate(pivot);
    eliminate(row.value);
    eliminate(row.before);
    eliminate(row.after);
  }
  return safe;
}

/// The inverse of a block of 4 without row exchanges, by halves: two reciprocals one after the other instead of four.
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

/// `row` becomes pivot^-1 row. All lanes of the warp call it.
template <class Scalar>
__device__ bool solve_row(Scalar (&pivot)[4], BlockRow<Scalar, 4> &row, Scalar (&scale)[4], Scalar margin)
{
  const Block<Scalar, 4> m = whole_block(pivot, BlockLane<4>::group());
  const Halves<Scalar> halves(m);
  if (!__all_sync(every_lane, halves.good(scale))) return solve_with_pivots(pivot, row, scale, margin);
  halves.apply(m, row.value);
  halves.apply(m, row.before);
  halves.apply(m, row.after);
  return true;
}

/// The same where the pivot was an identity before the row was joined to others. What is an identity still is not solved with.
template <class Scalar>
__device__ bool solve_joined(Scalar (&pivot)[4], BlockRow<Scalar, 4> &row, Scalar margin)
{
  Scalar rest[4], scale[4];
#pragma unroll
  for (int p = 0; p < 4; p++) rest[p] = pivot[p] - (p == BlockLane<4>::column() ? 1 : 0);
  if (__all_sync(every_lane, all_below(rest, small_coupling<Scalar>))) return true;
#pragma unroll
  for (int p = 0; p < 4; p++) scale[p] = abs(rest[p]);
  sum_group(scale);
#pragma unroll
  for (int p = 0; p < 4; p++) scale[p] += 1;
  return solve_row(pivot, row, scale, margin);
}

/// Two rows of a part of a line that keeps its last unknown.
template <class Scalar, int b>
struct BlockEnds {
  BlockRow<Scalar, b> first, last;
};

/// A row hangs on a neighbour's unknown by `coupling`: what that unknown's own row says of it takes its place. The neighbour's column `toward`
/// goes to `own`, where the row has that unknown already (its pivot, say), its column `away` to that column of the row.
template <class Scalar, int b>
__device__ void insert(const Block<Scalar, b> &coupling, const BlockRow<Scalar, b> &neighbour, Scalar (BlockRow<Scalar, b>::*toward)[b],
                       Scalar (BlockRow<Scalar, b>::*away)[b], Scalar (&own)[b], BlockRow<Scalar, b> &row)
{
#pragma unroll
  for (int p = 0; p < b; p++) (row.*away)[p] = 0;
  subtract(own, coupling, neighbour.*toward);
  subtract(row.value, coupling, neighbour.value);
  subtract(row.*away, coupling, neighbour.*away);
}

/// reduce_warp of wide_parts.hpp for blocks: the chunks of a line that the groups of a warp hold, from group `first` on. Stops where
/// couplings are rounding error. `safe` turns false where a pivot is not.
template <class Scalar, int b>
__device__ BlockEnds<Scalar, b> reduce_groups(BlockRow<Scalar, b> &mine, const BlockRow<Scalar, b> &head, int first, Scalar margin,
                                              bool &safe)
{
  using Lane      = BlockLane<b>;
  using Row       = BlockRow<Scalar, b>;
  const int group = Lane::group(), lane = Lane::lane();
  const Scalar small = small_coupling<Scalar>;
  Scalar pivot[b];
  { // joined to the next one
    const BlockRow<Scalar, b> next = head.from_lane(lane + b < 32 ? lane + b : lane);
    const Block<Scalar, b> after   = whole_block(mine.after, group);
    BlockRow<Scalar, b> row        = mine;
    unit_column(pivot);
    insert(after, next, &Row::before, &Row::after, pivot, row);
    if (group == Lane::last) unit_column(pivot);
    safe = solve_joined(pivot, row, margin) && safe;
    if (group < Lane::last) mine = row;
  }
#pragma unroll 1
  for (int distance = 1; distance < Lane::last - first; distance *= 2) {
    const bool has_left = group >= distance && group < Lane::last, has_right = group + distance < Lane::last;
    if (__all_sync(every_lane, (!has_left || all_below(mine.before, small)) && (!has_right || all_below(mine.after, small)))) break;
    BlockRow<Scalar, b> row = mine;
    unit_column(pivot);
    {
      const BlockRow<Scalar, b> left = mine.from_lane(lane >= distance * b ? lane - distance * b : lane);
      const Block<Scalar, b> before  = whole_block(mine.before, group);
      if (has_left) insert(before, left, &Row::after, &Row::before, pivot, row);
    }
    {
      const BlockRow<Scalar, b> right = mine.from_lane(lane + distance * b < 32 ? lane + distance * b : lane);
      const Block<Scalar, b> after    = whole_block(mine.after, group);
      if (has_right) insert(after, right, &Row::before, &Row::after, pivot, row);
    }
    safe = solve_joined(pivot, row, margin) && safe;
    if (group < Lane::last) mine = row;
  }
  BlockEnds<Scalar, b> ends;
  const int place = first * b + Lane::column();
  ends.first      = head.from_lane(place);
  {
    const BlockRow<Scalar, b> of_first = mine.from_lane(place);
    const Block<Scalar, b> after       = whole_block(head.after, first);
    if (first < Lane::last) insert(after, of_first, &Row::before, &Row::after, ends.first.before, ends.first);
  }
  ends.last = mine;
  {
    const BlockRow<Scalar, b> left = mine.from_lane(lane >= b ? lane - b : lane);
    const Block<Scalar, b> before  = whole_block(mine.before, group);
    unit_column(pivot);
    if (group == Lane::last) insert(before, left, &Row::after, &Row::before, pivot, ends.last);
    safe      = solve_joined(pivot, ends.last, margin) && safe;
    ends.last = ends.last.from_lane(Lane::last * b + Lane::column());
  }
  return ends;
}

/// This lane's entry of value - before g_before - after g; of both g each lane has its entry.
template <class Scalar, int b>
__device__ Scalar known_entry(const BlockRow<Scalar, b> &row, Scalar g_before, Scalar g)
{
  Scalar y[b], x[b];
#pragma unroll
  for (int p = 0; p < b; p++) y[p] = row.before[p] * g_before + row.after[p] * g;
  sum_group(y);
#pragma unroll
  for (int p = 0; p < b; p++) x[p] = row.value[p] - y[p];
  return own_entry(x);
}

} // namespace weft::cuda
