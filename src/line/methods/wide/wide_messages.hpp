/// Messages between blocks that share lines, through device memory, for the native CUDA forms of wide.hpp.
#pragma once
#include "base/scalar_parts.hpp"
#include "line/methods/wide/wide_parts.hpp"

namespace weft::cuda {

/// A real number and the turn it belongs to, written and read as one: who reads the turn that he waits for has the number too, without a fence.
template <class Real>
struct alignas(16) PartMessage {
  Real number;
  unsigned turn;
};
/// A number, each part by itself.
template <class Scalar>
struct Message {
  PartMessage<RealOf<Scalar>> parts[parts_of<Scalar>];
};

/// Before a launch whose blocks share lines: no message is of a turn. clears: the flag says nothing, in the same launch.
template <class Scalar>
__global__ void clear_messages(Message<Scalar> *messages, int count, const PivotFlag<Kokkos::CudaSpace> flag, bool clears)
{
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) messages[i] = {};
  if (i == 0 && clears) flag.clear();
}

template <class Real>
__device__ void send_part(PartMessage<Real> *to, Real number, unsigned turn)
{
  const auto low = static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(number)));
  asm volatile("{\n.reg .b128 m;\nmov.b128 m, {%1, %2};\nst.relaxed.gpu.global.b128 [%0], m;\n}" ::"l"(to), "l"(low),
               "l"(static_cast<unsigned long long>(turn))
               : "memory");
}
template <class Scalar>
__device__ void send(Message<Scalar> *to, const Scalar &number, unsigned turn)
{
#pragma unroll
  for (int part = 0; part < parts_of<Scalar>; part++) send_part(to->parts + part, part_of(number, part), turn);
}
/// What a message says at the moment.
struct Heard {
  double number;
  unsigned turn;
};
template <class Real>
__device__ Heard hear(const PartMessage<Real> *from)
{
  unsigned long long low, high;
  asm volatile("{\n.reg .b128 m;\nld.relaxed.gpu.global.b128 m, [%2];\nmov.b128 {%0, %1}, m;\n}"
               : "=l"(low), "=l"(high)
               : "l"(from)
               : "memory");
  return {__longlong_as_double(static_cast<long long>(low)), static_cast<unsigned>(high)};
}
/// `numbers` of that turn to shared memory, by a warp that asks for many at once, and again for all that are not there yet.
template <class Scalar>
__device__ void hear_all(const Message<Scalar> *messages, int numbers, unsigned turn, Scalar *heard_numbers)
{
  constexpr int at_once = 13;
  const auto *from      = messages->parts;
  auto *to              = reinterpret_cast<RealOf<Scalar> *>(heard_numbers);
  const int count       = numbers * parts_of<Scalar>;
  for (int begin = static_cast<int>(threadIdx.x) % 32; begin < count; begin += 32 * at_once) {
    Heard heard[at_once];
    bool waits = true;
#pragma unroll
    for (int k = 0; k < at_once; k++) heard[k].turn = begin + 32 * k < count ? turn - 1 : turn;
    while (waits) {
#pragma unroll
      for (int k = 0; k < at_once; k++) {
        if (heard[k].turn != turn) heard[k] = hear(from + begin + 32 * k);
      }
      waits = false;
#pragma unroll
      for (int k = 0; k < at_once; k++) waits = waits || heard[k].turn != turn;
    }
#pragma unroll
    for (int k = 0; k < at_once; k++) {
      if (begin + 32 * k < count) to[begin + 32 * k] = static_cast<RealOf<Scalar>>(heard[k].number);
    }
  }
}
template <class Scalar>
__device__ Scalar receive(const Message<Scalar> *from, unsigned turn)
{
  double numbers[parts_of<Scalar>];
#pragma unroll
  for (int part = 0; part < parts_of<Scalar>; part++) {
    Heard heard;
    do {
      heard = hear(from->parts + part);
    } while (heard.turn != turn);
    numbers[part] = heard.number;
  }
  return from_parts<Scalar>(numbers);
}

/// What all blocks hear of a block: the two rows of its part of a line, said by the threads at positions 0 to 5 of those that have them.
template <class Scalar>
__device__ void tell_device(const Ends<Scalar> &ends, Message<Scalar> *to, unsigned turn, int position)
{
  const Scalar numbers[6] = {ends.first.value, ends.first.before, ends.first.after, ends.last.value, ends.last.before, ends.last.after};
#pragma unroll
  for (int n = 0; n < 6; n++) {
    if (position == n) send(to + n, numbers[n], turn);
  }
}

inline constexpr int most_blocks = 128; ///< that can share a line

/// What several blocks that share lines tell each other; turns start from 0 before the launch.
template <class Scalar>
struct Exchange {
  Message<Scalar> *rows = nullptr; ///< of the groups of blocks
  int blocks            = 1;       ///< that share a line
  int tile_rows         = 0;       ///< of a block, where rows follow each other
};

/// The line that the blocks' rows form, solved by one warp: tell(t, x) hears the last unknown of each block from some lane. M: rows of a
/// lane.
template <int M, class Scalar, class Check, class Tell>
__device__ void solve_blocks_by(const Scalar *rows, int blocks, const Check &check, const Tell &tell)
{
  const int lane = threadIdx.x % 32;
  Chunk<Scalar, M> chunk;
#pragma unroll
  for (int j = 0; j < M; j++) {
    const int t    = lane * M + j;
    chunk.lower[j] = chunk.upper[j] = chunk.rhs[j] = 0;
    chunk.diagonal[j]                              = 1;
    if (t < blocks) {
      const Scalar *row = rows + t * 6;
      Hanging<Scalar> next{0, 0, 0};
      if (t + 1 < blocks) next = {row[6], row[7], row[8]};
      const Hanging<Scalar> here{row[3], row[4], row[5]};
      chunk.rhs[j]      = here.value - here.after * next.value;
      chunk.lower[j]    = here.before;
      chunk.diagonal[j] = 1 - here.after * next.before;
      chunk.upper[j]    = -here.after * next.after;
    }
  }
  Hanging<Scalar> mine =
      chunk.eliminate([&](Scalar pivot, Scalar inverse, RealOf<Scalar> scale, int) { check(pivot, inverse, 1 + scale, 8); });
  const Ends<Scalar> all = reduce_warp<32, 1>(mine, chunk.head(), 0, check);
  const Scalar end       = number_of(all.last.value, 31);
  const Scalar x         = lane == 31 ? end : mine.value - mine.after * end;
  Scalar x_before        = number_before(x, 1);
  if (lane == 0) x_before = 0;
  chunk.substitute(x_before, x);
#pragma unroll
  for (int j = 0; j < M; j++) {
    if (lane * M + j < blocks) tell(lane * M + j, chunk.rhs[j]);
  }
}

template <class Scalar, class Check, class Tell>
__device__ void solve_blocks(const Scalar *rows, int blocks, const Check &check, const Tell &tell)
{
  if (blocks <= 32)
    solve_blocks_by<1>(rows, blocks, check, tell);
  else if (blocks <= 64)
    solve_blocks_by<2>(rows, blocks, check, tell);
  else
    solve_blocks_by<4>(rows, blocks, check, tell);
}

/// Solves the line of the blocks once more and reports the first unusable pivot. row: the first one of this block's part, in whose row
/// `row_of_tile` it is reported.
template <class Scalar, class Arguments>
__device__ __noinline__ void look_at_blocks(const Arguments &a, const Scalar *said, int blocks, Index line, Index row, int row_of_tile)
{
  Watch<true> watch;
  solve_blocks(said, blocks, watch.at(row_of_tile), [](int, Scalar) {});
  watch.report(a, line, row);
}

} // namespace weft::cuda
