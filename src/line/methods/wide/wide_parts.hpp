/// The pieces of the native CUDA form of wide.hpp: asynchronous copies, elimination in registers and by shuffles, clusters.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "base/cuda/shuffle.hpp"
#include "line/methods/wide/wide_kernel.hpp"

namespace weft::cuda {

// ------------------------------------------------------------------------------------------------- asynchronous copies (PTX ISA, mbarrier)

__device__ inline std::uint32_t shared_address(const void *p)
{
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// A barrier in shared memory that counts arrivals and the bytes of bulk copies.
struct Arrival {
  std::uint64_t word;

  /// count: arrivals that make a phase.
  __device__ void init(int count = 1)
  {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&word)), "r"(count) : "memory");
  }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&word)) : "memory"); }
  __device__ void expect(std::uint32_t bytes)
  {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&word)), "r"(bytes) : "memory");
  }
  /// Bytes that other blocks of the cluster sent are there too, and seen.
  __device__ void wait_for_cluster(std::uint32_t phase)
  {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra finished;\n"
                 "bra again;\n"
                 "finished:\n"
                 "}" ::"r"(shared_address(&word)),
                 "r"(phase)
                 : "memory");
  }
  __device__ void wait(std::uint32_t phase)
  {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@done bra finished;\n"
                 "bra again;\n"
                 "finished:\n"
                 "}" ::"r"(shared_address(&word)),
                 "r"(phase)
                 : "memory");
  }
};

/// What some threads have done in a turn, for others that wait for it and do not hold them up. A turn ahead is far enough: even and odd
/// turns have barriers of their own. A thread answers for itself, not for its warp, and who writes what another one has read waits for that
/// one, even where a third already tells that it has: such waits cost nothing, and a race checker, which follows single barriers and not
/// chains of them, knows the order.
struct Done {
  Arrival of_turns[2];

  /// By one thread, before others use it; threads: that say so in each turn.
  __device__ void init(int threads)
  {
    for (Arrival &arrival : of_turns) arrival.init(threads);
  }
  __device__ void say(unsigned turn) { of_turns[turn % 2].arrive(); }
  /// Turns from 1 on.
  __device__ void wait(unsigned turn) { of_turns[turn % 2].wait((turn - 1) / 2 % 2); }
};

/// The warps that have rows, T threads, meet, where a block has others too.
enum class Meeting : int { left = 1, read, solved };
template <int T>
__device__ void meet(Meeting meeting)
{
  asm volatile("bar.sync %0, %1;" ::"r"(static_cast<int>(meeting)), "n"(T) : "memory");
}

/// `bytes` is a multiple of 16, both addresses too.
__device__ inline void bulk_copy(void *to, const void *from, std::uint32_t bytes, Arrival &arrival)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(&arrival.word))
               : "memory");
}

/// The other way. Committed as one group; bulk_stored waits until shared memory may be written again.
__device__ inline void bulk_store(void *to, const void *from, std::uint32_t bytes)
{
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void bulk_stored()
{
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Waits until all of them have arrived.
__device__ inline void bulk_left()
{
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/// `count` numbers, together 4, 8 or 16 bytes, by a thread, without waiting. copies_arrived waits for all of a thread's.
template <int count, class Scalar>
__device__ void thread_copy(Scalar *to, const Scalar *from)
{
  constexpr int bytes = count * static_cast<int>(sizeof(Scalar));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(bytes) : "memory");
}
__device__ inline void copies_arrived()
{
  asm volatile("cp.async.wait_all;" ::: "memory");
}
/// What was written to shared memory is there for bulk copies too.
__device__ inline void share_with_copies()
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ------------------------------------------------------------------------------------------------------------------- clusters of blocks

/// Where block number `block` of this cluster has what this one has at `p`.
__device__ inline std::uint32_t address_in_block(const void *p, int block)
{
  std::uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(p)), "r"(block));
  return address;
}
__device__ inline void store_in_block(std::uint32_t address, double x)
{
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"(x) : "memory");
}
__device__ inline void store_in_block(std::uint32_t address, float x)
{
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
}
template <class Real>
__device__ void store_in_block(std::uint32_t address, const Complex<Real> &x)
{
  store_in_block(address, x.real());
  store_in_block(address + static_cast<std::uint32_t>(sizeof(Real)), x.imag());
}
/// The same without waiting for cluster_arrive: the arrival there, whose address is of that block too, counts the bytes.
__device__ inline void send_to_block(std::uint32_t address, double x, std::uint32_t arrival)
{
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(address), "d"(x), "r"(arrival) : "memory");
}
__device__ inline void send_to_block(std::uint32_t address, float x, std::uint32_t arrival)
{
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address), "f"(x), "r"(arrival) : "memory");
}
template <class Real>
__device__ void send_to_block(std::uint32_t address, const Complex<Real> &x, std::uint32_t arrival)
{
  send_to_block(address, x.real(), arrival);
  send_to_block(address + static_cast<std::uint32_t>(sizeof(Real)), x.imag(), arrival);
}
/// Barriers that were initialized before the next cluster_arrive are so for other blocks too.
__device__ inline void share_arrivals()
{
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// All threads of all blocks of the cluster arrive; who has waited then sees what they wrote in each other's memory before.
__device__ inline void cluster_arrive()
{
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void cluster_wait()
{
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// ----------------------------------------------------------------------------------------------------------------------- elimination

/// Rows of one thread, and after `eliminate` what hangs on what: lower becomes before, upper after, rhs value.
template <class Scalar, int R>
struct Chunk {
  Scalar lower[R], diagonal[R], upper[R], rhs[R];

  /// Rows of the identity.
  __device__ void clear()
  {
#pragma unroll
    for (int j = 0; j < R; j++) {
      lower[j] = upper[j] = rhs[j] = 0;
      diagonal[j]                  = 1;
    }
  }
  template <class Check>
  __device__ Hanging<Scalar> eliminate(const Check &check)
  {
    Scalar before = 0, after = 0, value = 0;
#pragma unroll
    for (int j = 0; j < R; j++) {
      const Scalar pivot = diagonal[j] - lower[j] * after, inverse = reciprocal(pivot);
      check(pivot, inverse, taxicab(lower[j]) + taxicab(diagonal[j]) + taxicab(upper[j]), j);
      value    = (rhs[j] - lower[j] * value) * inverse;
      before   = (j == 0 ? lower[j] : -lower[j] * before) * inverse;
      after    = upper[j] * inverse;
      lower[j] = before;
      upper[j] = after;
      rhs[j]   = value;
    }
    return {value, before, after};
  }
  /// The first unknown, hanging on the one before the chunk and on its last one.
  __device__ Hanging<Scalar> head() const
  {
    Hanging<Scalar> h{0, 0, -1};
#pragma unroll
    for (int j = R - 2; j >= 0; j--) h = {rhs[j] - upper[j] * h.value, lower[j] - upper[j] * h.before, -upper[j] * h.after};
    return h;
  }
  /// rhs becomes the unknowns.
  __device__ void substitute(Scalar x_before, Scalar x_last)
  {
    rhs[R - 1] = x_last;
#pragma unroll
    for (int j = R - 2; j >= 0; j--) rhs[j] = rhs[j] - lower[j] * x_before - upper[j] * rhs[j + 1];
  }
};

/// The same of lines that have the same coefficients: these are eliminated once, before the first line, and are then lower (before), upper
/// (after) and diagonal (the pivot's inverse). What is left to do for a line are its right-hand sides.
template <class Scalar, int R>
struct AlikeChunk : Chunk<Scalar, R> {
  using Base = Chunk<Scalar, R>;
  using Base::diagonal, Base::lower, Base::upper, Base::rhs;
  Scalar multiplier[R]; ///< lower of the line over the pivot
  Scalar head_before, head_after;

  /// row(j): the coefficients of row j.
  template <class RowOf, class Check>
  __device__ void factor(const RowOf &row, const Check &check)
  {
#pragma unroll
    for (int j = 0; j < R; j++) {
      const Row<Scalar> r = row(j);
      lower[j]            = r.lower;
      diagonal[j]         = r.diagonal;
      upper[j]            = r.upper;
      rhs[j]              = 0;
    }
    Base::eliminate([&](Scalar pivot, Scalar inverse, RealOf<Scalar> scale, int j) {
      check(pivot, inverse, scale, j);
      diagonal[j]   = inverse;
      multiplier[j] = lower[j] * inverse;
    });
    const Hanging<Scalar> top = Base::head();
    head_before               = top.before;
    head_after                = top.after;
  }
  __device__ void clear()
  {
#pragma unroll
    for (int j = 0; j < R; j++) rhs[j] = 0;
  }
  template <class Check>
  __device__ Hanging<Scalar> eliminate(const Check &)
  {
    Scalar value = 0;
#pragma unroll
    for (int j = 0; j < R; j++) value = rhs[j] = rhs[j] * diagonal[j] - multiplier[j] * value;
    return {value, lower[R - 1], upper[R - 1]};
  }
  __device__ Hanging<Scalar> head() const
  {
    Scalar value = 0;
#pragma unroll
    for (int j = R - 2; j >= 0; j--) value = rhs[j] - upper[j] * value;
    return {value, head_before, head_after};
  }
};

/// alike: all lines have the same coefficients.
template <class Scalar, int R, bool alike>
using ChunkOf = std::conditional_t<alike, AlikeChunk<Scalar, R>, Chunk<Scalar, R>>;

template <class Scalar>
__device__ Hanging<Scalar> shuffle_up(const Hanging<Scalar> &h, int distance)
{
  return {number_before(h.value, distance), number_before(h.before, distance), number_before(h.after, distance)};
}
template <class Scalar>
__device__ Hanging<Scalar> shuffle_down(const Hanging<Scalar> &h, int distance)
{
  return {number_after(h.value, distance), number_after(h.before, distance), number_after(h.after, distance)};
}
template <class Scalar>
__device__ Hanging<Scalar> shuffle(const Hanging<Scalar> &h, int lane)
{
  return {number_of(h.value, lane), number_of(h.before, lane), number_of(h.after, lane)};
}

/// Remembers the first unusable pivot that a thread meets, so that there is one place to report it from: reports cost registers.
template <bool checks>
struct Watch {
  static constexpr int closed = 1 << 30;

  int step = -1, row = 0;

  /// Looks at nothing from now on.
  __device__ void close() { step = closed; }
  /// A check for elimination in this row of the tile.
  __device__ auto at(int row_of_tile)
  {
    return [this, row_of_tile](auto pivot, auto, auto scale, int at_step) { look(pivot, scale, at_step, row_of_tile); };
  }
  template <class Scalar>
  __device__ void look(Scalar pivot, RealOf<Scalar> scale, int at_step, int row_of_tile)
  {
    if (!checks || step >= 0) return;
    if constexpr (is_complex<Scalar>) { // a part tells, for nearly all, without a root
      using Limits      = std::numeric_limits<RealOf<Scalar>>;
      const auto larger = fmax(fabs(pivot.real()), fabs(pivot.imag()));
      if (larger > 100 * Limits::epsilon() * scale && larger >= Limits::min() && larger <= Limits::max() / 2) return;
    }
    if (usable_pivot(pivot, scale)) return;
    step = at_step;
    row  = row_of_tile;
  }
  /// Tile: first row of it in its line.
  template <class Arguments>
  __device__ void report(const Arguments &a, Index line, Index tile) const
  {
    if (!checks || step < 0 || step == closed) return;
    const Index end = (tile + row + 1) * a.rows_of_row;
    a.flag.report(line, (end < a.original_length ? end : a.original_length) - 1, a.step + step);
  }
};

/// Adds up what tells that no pivot was small: a row's scale over its pivot, NaN where there is no inverse. That costs less than a Watch;
/// where the sum is too large, the rows are eliminated once more with one.
template <bool checks, class Scalar>
struct Doubt {
  using Real                   = RealOf<Scalar>;
  static constexpr Real most   = 1 / (200 * std::numeric_limits<Real>::epsilon()); ///< half of what makes a pivot unusable
  static constexpr Real doubts = std::numeric_limits<Real>::infinity();

  Real sum = 0;

  /// always: rows whose scale is another one than elimination knows.
  __device__ void begin(bool always) { sum = always ? doubts : Real(0); }
  /// A check for elimination.
  __device__ auto look()
  {
    return [this](Scalar pivot, Scalar inverse, Real scale, int) {
      if constexpr (checks) sum += taxicab(inverse) * scale;
      if constexpr (checks && sizeof(Real) < 8)
        sum += taxicab(0 * pivot); // the inverse of an infinite pivot is NaN in double precision only
    };
  }
  /// The same answer for all threads of a warp.
  __device__ bool raised() const
  {
    if constexpr (checks) return __any_sync(0xffffffff, !(sum <= most));
    return false;
  }
};

/// Two rows of a part of a line that keeps its last unknown g: see TileRows.
template <class Scalar>
struct Ends {
  Hanging<Scalar> first, last;
};

/// The chunks of a line that a warp holds, every `spacing`-th lane one (the lanes between hold those of other lines), and of each chunk its
/// last unknown. That of the warp's last chunk is kept; chunks before `first` only pass on what is before them. On return `mine` hangs on
/// the last unknown before the warp and on the one that is kept, and the result's `last` is valid where that is. count: chunks from `first`
/// on.
template <int count, int spacing, class Scalar, class Check>
__device__ Ends<Scalar> reduce_warp(Hanging<Scalar> &mine, const Hanging<Scalar> &head, int first, const Check &check)
{
  constexpr int last = 32 / spacing - 1;
  const int chunk = threadIdx.x % 32 / spacing, line = threadIdx.x % spacing;
  const auto scale           = [](const Hanging<Scalar> &h) { return 1 + taxicab(h.before) + taxicab(h.after); };
  const Hanging<Scalar> next = shuffle_down(head, spacing);
  if (chunk < last) {
    Join<Scalar> join(mine);
    join.right(next);
    const Scalar inverse = reciprocal(join.pivot());
    check(join.pivot(), inverse, scale(mine), 1);
    mine = join.row(inverse);
  }
#pragma unroll
  for (int distance = 1, step = 2; distance < count - 1; distance *= 2, step++) {
    const Hanging<Scalar> left = shuffle_up(mine, distance * spacing), right = shuffle_down(mine, distance * spacing);
    if (chunk < last) {
      Join<Scalar> join(mine);
      if (chunk >= distance) join.left(left);
      if (chunk + distance < last) join.right(right);
      const Scalar inverse = reciprocal(join.pivot());
      check(join.pivot(), inverse, scale(mine), step);
      mine = join.row(inverse);
    }
  }
  Ends<Scalar> ends;
  const int first_lane       = first * spacing + line;
  const Hanging<Scalar> left = shuffle_up(mine, spacing), of_first = shuffle(mine, first_lane), top = shuffle(head, first_lane);
  ends.first = {top.value - top.after * of_first.value, top.before - top.after * of_first.before, -top.after * of_first.after};
  if (first == last) ends.first = top;
  ends.last = mine;
  if (chunk == last) {
    Join<Scalar> join(mine);
    join.left(left);
    const Scalar inverse = reciprocal(join.pivot());
    check(join.pivot(), inverse, scale(mine), 7);
    ends.last = join.row(inverse);
  }
  return ends;
}

// ---------------------------------------------------------------------------------------------------- lines that blocks of a cluster share

inline constexpr int most_of_cluster = 16; ///< blocks

/// Who works on a line.
enum class Sharing { none, cluster, device };

/// The two rows of this block's part of a line, for all blocks of the cluster: at `rows` in their memories they stand in turn, six numbers
/// each. The line has `lanes` lanes of the warp, others' between them; they share out the numbers and whom they go to. store_to(block) is
/// what stores a number at an address in that block.
template <int lanes, class Scalar, class StoreTo>
__device__ void share_out(const Ends<Scalar> &ends, Scalar *rows, int blocks, int block, const StoreTo &store_to)
{
  constexpr int shares = lanes / most_of_cluster;
  const int position = threadIdx.x % 32 / (32 / lanes), to = position % most_of_cluster, share = position / most_of_cluster;
  if (to >= blocks) return;
  const Scalar numbers[6]   = {ends.first.value, ends.first.before, ends.first.after, ends.last.value, ends.last.before, ends.last.after};
  const std::uint32_t place = address_in_block(rows + block * 6, to);
  const auto store          = store_to(to);
#pragma unroll
  for (int n = 0; n < 6; n++) {
    if (n / (6 / shares) == share) store(place + n * sizeof(Scalar), numbers[n]);
  }
}
/// Counted by the arrival there.
template <int lanes, class Scalar>
__device__ void tell_cluster(const Ends<Scalar> &ends, Scalar *rows, Arrival &arrival, int blocks, int block)
{
  share_out<lanes>(ends, rows, blocks, block, [&](int to) {
    return [there = address_in_block(&arrival.word, to)](std::uint32_t address, Scalar number) { send_to_block(address, number, there); };
  });
}

/// The rows of a cluster's blocks, joined by the lanes of a line: the last unknowns before block number `block` and of it. most: blocks.
template <int lanes, int most = most_of_cluster, class Scalar, class Check>
__device__ void solve_cluster(const Scalar *rows, int blocks, int block, const Check &check, Scalar &g_before, Scalar &g)
{
  constexpr int spread = 32 / lanes, first = lanes - most; // the blocks' rows at the upper lanes
  const int lane = threadIdx.x % 32, position = lane / spread, t = position - first;
  const auto lane_of = [&](int number) { return (first + number) * spread + lane % spread; };
  Hanging<Scalar> row{0, Scalar(t < 0 ? -1 : 0), 0}, head = row;
  if (t >= 0 && t < blocks) {
    head = {rows[t * 6], rows[t * 6 + 1], rows[t * 6 + 2]};
    row  = {rows[t * 6 + 3], rows[t * 6 + 4], rows[t * 6 + 5]};
  }
  const Ends<Scalar> all = reduce_warp<most, spread>(row, head, first, check);
  const Scalar end       = number_of(all.last.value, lane_of(most - 1));
  const Scalar x         = position == lanes - 1 ? end : row.value - row.after * end;
  g                      = number_of(x, lane_of(block));
  g_before               = number_of(x, lane_of(block > 0 ? block - 1 : 0));
  if (block == 0) g_before = 0;
}

} // namespace weft::cuda
