/// The host's kernel of toeplitz.hpp: a line is one chunk, and neighbouring lines share the registers of a core.
#pragma once
#include <algorithm>

#include "base/simd.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// The tables of a whole line, `length` words each: low, inverse, after; for a ring before and weight too. Of a ring, the last unknown x is
/// kept out and the other rows hang on it from both sides:
///   x = inverse (rhs_last - lower value_{last-1} - upper sum_j weight_j value_j),   the sum being the first unknown without x.
template <class Scalar>
struct SweepTables {
  Index length      = 0;
  bool ring         = false;
  const Scalar *low = nullptr, *inverse = nullptr, *after = nullptr, *before = nullptr, *weight = nullptr;
  Scalar ring_lower = 0, ring_upper = 0, ring_inverse = 0;
};

/// A few lines at once. A row's values are worked out and put back in loops of their own, each of which vectorizes. What elimination leaves
/// of a row waits until the way back: in `room` where lines follow each other in memory, since their rows, powers of two apart as they
/// often are, would push each other out of the cache, and where rows do; else in the solution, or in the right-hand side where the solution
/// is added to.
template <class Space, class Scalar>
struct ToeplitzSweep {
  static constexpr int few = 8, many = 64; ///< lines worked on at once; many where they follow each other in memory
  static constexpr int cache_line = 64 / sizeof(Scalar), rows_ahead = 8; ///< of many lines, rows that are asked for early
  LineLayout layout;
  SweepTables<Scalar> tables;
  Array<Scalar, Space> rhs, solution;
  Update<Scalar> update;
  Colour colour = Colour::all;
  int width     = few; ///< lines of a block
  Index slots   = 1;   ///< blocks in work at a time, each with room of its own
  Array<Scalar, Space> room;

  ToeplitzSweep(const LineLayout &lines, Index threads) : layout(lines)
  {
    // Whole cache lines of a row and their neighbours, where that leaves every core something to do.
    if (!layout.rows_are_closest() && layout.count() >= 2 * many * threads) width = many;
    slots = std::min(threads, blocks());
  }

  /// Lines that follow each other in memory.
  struct Neighbours {
    static constexpr bool together = true;
    Index first, stride;
    Index element(Index row, int lane) const { return first + row * stride + lane; }
  };
  struct Apart {
    static constexpr bool together = false; ///< words are gathered before they are worked on
    Index starts[few], stride;
    Index element(Index row, int lane) const { return starts[lane] + row * stride; }
  };

  Index blocks() const { return (layout.count() + width - 1) / width; }
  /// Words of room of a slot, and of all.
  Index slot_size() const { return width == many || turns() ? width * layout.length : 0; }
  Index room_size() const { return slots * slot_size(); }

  /// True where rows follow each other in memory, and are turned round in registers: real ones.
  bool turns() const
  {
#if defined(WEFT_HAS_FOUR)
    return !is_complex<Scalar> && layout.stride == 1 && has_avx2();
#else
    return false;
#endif
  }

  void operator()(const Index slot) const
  {
    const Index end = blocks() * (slot + 1) / slots;
    with_widest_vectors([&] {
      for (Index block = blocks() * slot / slots; block < end; block++) solve_lines(block, room.data() + slot * slot_size());
    });
  }

  void solve_lines(Index block, Scalar *z) const
  {
    const Index begin = block * width, end = begin + width < layout.count() ? begin + width : layout.count();
    if (end - begin == many && colour == Colour::all && follow_each_other(begin, end)) {
      sweep<many>(Neighbours{layout.start(begin), layout.stride}, many, z);
      return;
    }
    Apart apart{{}, layout.stride};
    int lanes = 0;
    for (Index line = begin; line < end; line++) {
      if (layout.has_colour(line, colour)) apart.starts[lanes++] = layout.start(line);
      if (lanes == few) {
        sweep_few(apart, z);
        lanes = 0;
      }
    }
    if (lanes > 0) sweep<0>(apart, lanes, z);
  }

  void sweep_few(const Apart &lines, Scalar *z) const
  {
#if defined(WEFT_HAS_FOUR)
    if constexpr (!is_complex<Scalar>) {
      if (turns()) return sweep_turned(lines, z);
    }
#endif
    sweep<few>(lines, few, z);
  }

  bool follow_each_other(Index begin, Index end) const
  {
    for (Index line = begin + 1; line < end; line++) {
      if (layout.start(line) != layout.start(begin) + line - begin) return false;
    }
    return true;
  }

  /// `fixed`: the number of lanes where the compiler may know it, or 0.
  template <int fixed, class Lines>
  void sweep(const Lines &lines, int some, Scalar *KOKKOS_RESTRICT z) const
  {
    const int lanes          = fixed ? fixed : some;
    const Index n            = tables.length - (tables.ring ? 1 : 0);
    const Scalar *const b    = rhs.data();
    Scalar *const to         = solution.data();
    Scalar *const work       = update.add ? rhs.data() : to; // of lines that are apart
    const Update<Scalar> how = update;                       // a copy: stores cannot change it
    constexpr int most       = fixed ? fixed : few;
    Scalar value[most] = {}, x[most] = {}, first[most] = {};
    [[maybe_unused]] Scalar row_values[most];
    for (Index row = 0; row < n; row++) {
      const Scalar low = tables.low[row], inverse = tables.inverse[row];
      if constexpr (Lines::together) {
        const Scalar *KOKKOS_RESTRICT const from = b + lines.element(row, 0);
        for (int l = 0; l < lanes; l += cache_line) fetch_early(from + rows_ahead * lines.stride + l);
        for (int l = 0; l < lanes; l++) value[l] = from[l] * inverse - low * value[l];
        for (int l = 0; l < lanes; l++) z[row * lanes + l] = value[l];
      } else {
        for (int l = 0; l < lanes; l++) row_values[l] = b[lines.element(row, l)];
        for (int l = 0; l < lanes; l++) value[l] = row_values[l] * inverse - low * value[l];
        for (int l = 0; l < lanes; l++) work[lines.element(row, l)] = value[l];
      }
      if (tables.ring) {
        for (int l = 0; l < lanes; l++) first[l] += tables.weight[row] * value[l];
      }
    }
    if (tables.ring) {
      for (int l = 0; l < lanes; l++) {
        const Index i = lines.element(n, l);
        x[l]          = (b[i] - tables.ring_lower * value[l] - tables.ring_upper * first[l]) * tables.ring_inverse;
        first[l]      = x[l];
        put(to[i], how, x[l]);
      }
    }
    for (Index row = n - 1; row >= 0; row--) {
      const Scalar after = tables.after[row];
      if constexpr (Lines::together) {
        for (int l = 0; l < lanes; l++) x[l] = z[row * lanes + l] - after * x[l];
      } else {
        for (int l = 0; l < lanes; l++) row_values[l] = work[lines.element(row, l)];
        for (int l = 0; l < lanes; l++) x[l] = row_values[l] - after * x[l];
      }
      if (tables.ring) {
        for (int l = 0; l < lanes; l++) x[l] -= tables.before[row] * first[l];
      }
      if constexpr (Lines::together) {
        for (int l = 0; l < lanes; l += cache_line) fetch_early_to_write(to + lines.element(row - rows_ahead, l));
      }
      if (how.add) {
        for (int l = 0; l < lanes; l++) to[lines.element(row, l)] += how.scale * x[l];
      } else {
        for (int l = 0; l < lanes; l++) to[lines.element(row, l)] = how.scale * x[l];
      }
    }
  }

#if defined(WEFT_HAS_FOUR)
  static constexpr int fours = few / 4;
  struct Turned {
    Four<Scalar> value[fours] = {}, x[fours] = {}, first[fours] = {};
  };

  /// The same for a few lines whose rows follow each other in memory: four rows of four lines are turned round in registers.
  WEFT_AVX2 void sweep_turned(const Apart &lines, Scalar *KOKKOS_RESTRICT z) const
  {
    const Index n = tables.length - (tables.ring ? 1 : 0), whole = n / 4 * 4;
    Turned t;
    for (Index row = 0; row < whole; row += 4) eliminate_turned<4>(lines, row, 4, z, t);
    eliminate_turned<0>(lines, whole, static_cast<int>(n - whole), z, t);
    if (tables.ring) {
      for (int f = 0; f < fours; f++) {
        for (int l = 0; l < 4; l++) {
          const Index i = lines.element(n, 4 * f + l);
          t.x[f][l]     = (rhs(i) - tables.ring_lower * t.value[f][l] - tables.ring_upper * t.first[f][l]) * tables.ring_inverse;
          put(solution(i), update, static_cast<Scalar>(t.x[f][l]));
        }
        t.first[f] = t.x[f];
      }
    }
    substitute_turned<0>(lines, whole, static_cast<int>(n - whole), z, t);
    for (Index row = whole - 4; row >= 0; row -= 4) substitute_turned<4>(lines, row, 4, z, t);
  }

  /// Rows row .. row + left - 1; `fixed` is `left` where the compiler may know it.
  template <int fixed>
  WEFT_AVX2 void eliminate_turned(const Apart &lines, Index row, int left, Scalar *KOKKOS_RESTRICT z, Turned &state) const
  {
    const int some = fixed ? fixed : left;
    for (int f = 0; f < fours; f++) {
      Four<Scalar> t[4];
      for (int l = 0; l < 4; l++) t[l] = load_four(rhs.data() + lines.element(row, 4 * f + l), some);
      transpose_four<Scalar>(t);
      for (int r = 0; r < some; r++) {
        state.value[f] = t[r] * tables.inverse[row + r] - tables.low[row + r] * state.value[f];
        store_four(z + (row + r) * few + 4 * f, 4, state.value[f]);
        if (tables.ring) state.first[f] += tables.weight[row + r] * state.value[f];
      }
    }
  }
  template <int fixed>
  WEFT_AVX2 void substitute_turned(const Apart &lines, Index row, int left, const Scalar *KOKKOS_RESTRICT z, Turned &state) const
  {
    const int some           = fixed ? fixed : left;
    const Update<Scalar> how = update;
    for (int f = 0; f < fours; f++) {
      Four<Scalar> t[4] = {};
      for (int r = some - 1; r >= 0; r--) {
        state.x[f] = load_four(z + (row + r) * few + 4 * f, 4) - tables.after[row + r] * state.x[f];
        if (tables.ring) state.x[f] -= tables.before[row + r] * state.first[f];
        t[r] = how.scale * state.x[f];
      }
      transpose_four<Scalar>(t);
      for (int l = 0; l < 4; l++) {
        Scalar *const at = solution.data() + lines.element(row, 4 * f + l);
        store_four(at, some, how.add ? load_four(at, some) + t[l] : t[l]);
      }
    }
  }
#endif
};

} // namespace weft
