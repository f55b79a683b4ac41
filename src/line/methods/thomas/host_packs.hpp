/// Packs: how host kernels walk lines. A pack is up to four cache lines' worth of neighbouring lines, eliminated together so that the inner
/// loop runs over lines: it vectorizes, and the waiting times of one line's recurrence are filled by the others.
///
/// The lanes of a pack are its even-coloured lines, then its odd ones. A table "in the order of packs" holds a pack's rows one after the
/// other with a word per lane, so that a sweep of one colour reads half of each row and nothing in between, whatever the layout of the lines.
/// Right-hand sides and solutions pass through tiles of a few rows: `gather` and `scatter` are all that knows of strides. They touch a cache
/// line of a contiguous line once, so lengths that are powers of two do not evict it.
#pragma once
#include <algorithm>
#include <string>
#include <type_traits>

#include "base/simd.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

template <class Scalar>
struct Packs {
  static constexpr int block = 64 / sizeof(Scalar); ///< rows of a tile: a cache line of a contiguous line
  static constexpr int half  = 2 * block;           ///< most lanes of one colour
  static constexpr int most  = 2 * half;            ///< most lanes

  using Space = Kokkos::DefaultHostExecutionSpace;

  LineLayout layout;
  Index lines[2] = {0, 0}; ///< even lines, odd lines
  Index width    = 1;      ///< lanes of one colour in a full pack: fewer where threads would have none
  Index count    = 0;      ///< packs
  Index slots    = 0;      ///< packs in work at a time; slot s walks packs s, s + slots, ... which have no more lanes than pack s
  OwnedArray<Index, Space> order, starts; ///< all lines, in the order of packs, and their first elements

  /// Some lanes of a pack: those of one colour, or all.
  struct Lanes {
    Index first;       ///< lanes of the packs before this one
    int pitch;         ///< lanes of the pack
    int begin, lanes;  ///< which of them
    bool neighbours;   ///< lanes l and lanes / 2 + l are next to each other, and so are those before and after them
    Index start[most]; ///< their first elements
  };

  Packs() = default;
  explicit Packs(const LineLayout &of)
      : layout(of), order("weft packs order", static_cast<std::size_t>(of.count())),
        starts("weft packs starts", static_cast<std::size_t>(of.count()))
  {
    for (Index line = 0; line < layout.count(); line++) lines[static_cast<int>(layout.colour(line))]++;
    const Index larger = std::max(lines[0], lines[1]), threads = Space().concurrency();
    // Strided lines are few streams however many they are, and wide packs use more of each row's page, as long as their z, and the factors
    // beside it in one-shot solves, stay in a cache of a megabyte. Contiguous lines are a stream each, of which a processor follows few.
    const bool wide    = !layout.rows_are_closest() && layout.length * most <= Index(256 * 1024 / sizeof(Scalar));
    const Index widest = wide ? half : layout.rows_are_closest() ? block / 2 : block;
    width              = std::clamp<Index>((larger + threads - 1) / threads, 1, widest);
    count              = layout.length > 0 ? (larger + width - 1) / width : 0;
    slots              = std::min(threads, count);
    Index next[2]      = {0, 0};
    for (Index line = 0; line < layout.count(); line++) {
      const int colour = static_cast<int>(layout.colour(line));
      const Index k = next[colour]++, pack = k / width;
      const Index lane = first(pack) + (colour == 0 ? 0 : filled(pack, 0)) + k % width;
      order(lane)      = line;
      starts(lane)     = layout.start(line);
    }
  }

  /// Lanes of the packs before pack p.
  Index first(Index p) const { return std::min(p * width, lines[0]) + std::min(p * width, lines[1]); }
  /// Lanes of a colour in pack p.
  int filled(Index p, int colour) const { return static_cast<int>(std::clamp<Index>(lines[colour] - p * width, 0, width)); }

  Lanes pack(Index p, Colour colour = Colour::all) const
  {
    const int even = filled(p, 0), odd = filled(p, 1);
    Lanes pack;
    pack.first = first(p);
    pack.pitch = even + odd;
    pack.begin = colour == Colour::odd ? even : 0;
    pack.lanes = colour == Colour::all ? pack.pitch : colour == Colour::odd ? odd : even;
    for (int l = 0; l < pack.lanes; l++) pack.start[l] = starts(pack.first + pack.begin + l);
    pack.neighbours = even == odd && pack.lanes == pack.pitch;
    for (int l = 0; l < pack.lanes; l++) {
      const Index from_first = l < even ? 2 * l : 2 * (l - even) + 1;
      pack.neighbours        = pack.neighbours && pack.start[l] == pack.start[0] + from_first;
    }
    return pack;
  }

  /// Calls body(slot, lanes) for each pack that has lanes of the colour, slots side by side.
  template <class Body>
  void for_each(const char *label, const Space &space, Colour colour, const Body &body) const
  {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(space, 0, slots), [packs = *this, colour, body](const Index slot) {
      for (Index p = slot; p < packs.count; p += packs.slots) {
        const Lanes lanes = packs.pack(p, colour);
        if (lanes.lanes > 0) body(slot, lanes);
      }
    });
  }
};

/// Calls body(number) with the number of lanes, as a constant where it is a usual one.
template <class Scalar, class Body>
void with_lanes(int lanes, const Body &body)
{
  using P = Packs<Scalar>;
  if (lanes == P::most) return with_widest_vectors([&] { body(std::integral_constant<int, P::most>()); });
  if (lanes == P::block) return body(std::integral_constant<int, P::block>());
  if (lanes == P::half) return body(std::integral_constant<int, P::half>());
  if (lanes == P::block / 2) return body(std::integral_constant<int, P::block / 2>());
  if (lanes == 1) return body(std::integral_constant<int, 1>());
  body(lanes);
}

/// Room for as many lanes: exact where the number is a constant, so that the compiler keeps a single lane in registers.
template <class Scalar, class Number>
constexpr int room()
{
  if constexpr (std::is_same_v<Number, int>)
    return Packs<Scalar>::most;
  else
    return Number::value;
}

/// A value of each lane.
template <class Scalar, class Number>
using LaneValues = Scalar[room<Scalar, Number>()];

/// A few rows of a pack.
template <class Scalar, class Number>
struct Tile {
  using Lanes                = typename Packs<Scalar>::Lanes;
  static constexpr int block = Packs<Scalar>::block;
  LaneValues<Scalar, Number> rows[block];

  /// Takes rows first .. first + count - 1 of the lanes, to row `at` of the tile and on.
  void gather(const Scalar *from, const Lanes &pack, Number lanes, Index stride, Index first, int count, int at = 0)
  {
    if (stride == 1) {
      if (lanes == 1)
        gather_row_by_row(from + pack.start[0] + first, count, at);
      else
        gather_lines(from, pack, lanes, first, count, at);
      return;
    }
    for (int r = 0; r < count; r++) {
      const Scalar *row = from + (first + r) * stride;
      if (pack.neighbours) {
        const Scalar *KOKKOS_RESTRICT pairs = row + pack.start[0];
        Scalar *KOKKOS_RESTRICT to          = rows[at + r];
        for (int l = 0; l < lanes / 2; l++) {
          to[l]             = pairs[2 * l];
          to[lanes / 2 + l] = pairs[2 * l + 1];
        }
      } else {
        for (int l = 0; l < lanes; l++) rows[at + r][l] = row[pack.start[l]];
      }
    }
  }
  /// Asks for `block` rows from `first` on that will soon be gathered.
  [[gnu::always_inline]] static void expect(const Scalar *from, const Lanes &pack, Number lanes, Index stride, Index first)
  {
    if (lanes == 1) return; // processors follow so few streams by themselves
    if (stride == 1) {
      for (int l = 0; l < lanes; l++) fetch(from + (pack.start[l] + first));
    } else if (pack.neighbours) {
      for (int r = 0; r < block; r++) {
        for (int l = 0; l < lanes; l += block) fetch(from + ((first + r) * stride + pack.start[0] + l));
      }
    }
  }
  /// Puts them into the solution.
  void scatter(Scalar *to, const Lanes &pack, Number lanes, Index stride, Index first, int count, const Update<Scalar> &update) const
  {
    if (update.add)
      put(to, pack, lanes, stride, first, count, [scale = update.scale](Scalar &x, Scalar z) { x += scale * z; });
    else if (update.scale != 1)
      put(to, pack, lanes, stride, first, count, [scale = update.scale](Scalar &x, Scalar z) { x = scale * z; });
    else
      put(to, pack, lanes, stride, first, count, [](Scalar &x, Scalar z) { x = z; });
  }

private:
  void gather_row_by_row(const Scalar *line, int count, int at)
  {
    whole_block(count, [&](auto number) {
      for (int r = 0; r < number; r++) rows[at + r][0] = line[r];
    });
  }
  /// One value at a time, which no vector unit makes faster: in a function of its own the compiler does not spread it over its callers.
  [[gnu::noinline]] void gather_lines(const Scalar *from, const Lanes &pack, Number lanes, Index first, int count, int at)
  {
    whole_block(count, [&](auto number) {
      for (int l = 0; l < lanes; l++) {
        const Scalar *line = from + (pack.start[l] + first);
        for (int r = 0; r < number; r++) rows[at + r][l] = line[r];
      }
    });
  }
  /// Calls body(count), a constant where the tile is full.
  template <class Body>
  static void whole_block(int count, const Body &body)
  {
    if (count == block)
      body(std::integral_constant<int, block>());
    else
      body(count);
  }
  template <class Store>
  [[gnu::always_inline]] void put(Scalar *to, const Lanes &pack, Number lanes, Index stride, Index first, int count,
                                  const Store &store) const
  {
    if (stride == 1) {
      whole_block(count, [&](auto number) {
        for (int l = 0; l < lanes; l++) {
          Scalar *line = to + (pack.start[l] + first);
          for (int r = 0; r < number; r++) store(line[r], rows[r][l]);
        }
      });
      return;
    }
    for (int r = 0; r < count; r++) {
      Scalar *row = to + (first + r) * stride;
      if (pack.neighbours) {
        Scalar *KOKKOS_RESTRICT pairs      = row + pack.start[0];
        const Scalar *KOKKOS_RESTRICT from = rows[r];
        for (int l = 0; l < lanes / 2; l++) {
          store(pairs[2 * l], from[l]);
          store(pairs[2 * l + 1], from[lanes / 2 + l]);
        }
      } else {
        for (int l = 0; l < lanes; l++) store(row[pack.start[l]], rows[r][l]);
      }
    }
  }
  /// Into the second level of cache: the first is too small for a few rows of every line of a pack, whose strides are often powers of two.
  [[gnu::always_inline]] static void fetch(const Scalar *address) { __builtin_prefetch(address, 0, 2); }
};

/// The coefficients of a few rows of a pack.
template <class Scalar, class Number>
struct CoefficientTile {
  using Space = typename Packs<Scalar>::Space;
  Tile<Scalar, Number> lower, diagonal, upper;

  void gather(const Tridiagonal<Scalar, Space> &matrix, const typename Packs<Scalar>::Lanes &pack, Number lanes, Index first, int count)
  {
    const Index n = matrix.problem.layout.length, stride = matrix.problem.layout.stride;
    if (matrix.problem.coefficients != Coefficients::general) {
      for (int r = 0; r < count; r++) at_row(matrix, pack, lanes, first + r, r);
      return;
    }
    // Rows that have two neighbours need none of the care of Tridiagonal::at.
    const Scalar *below = matrix.transposed ? matrix.upper.data() - stride : matrix.lower.data();
    const Scalar *above = matrix.transposed ? matrix.lower.data() + stride : matrix.upper.data();
    const Index inner   = std::max<Index>(first, 1);
    const int skipped = static_cast<int>(inner - first), inner_count = static_cast<int>(std::min(first + count, n - 1) - inner);
    lower.gather(below, pack, lanes, stride, inner, inner_count, skipped);
    diagonal.gather(matrix.diagonal.data(), pack, lanes, stride, inner, inner_count, skipped);
    upper.gather(above, pack, lanes, stride, inner, inner_count, skipped);
    if (first == 0 && count > 0) at_row(matrix, pack, lanes, 0, 0);
    if (first + count == n && count > 0) at_row(matrix, pack, lanes, n - 1, count - 1);
  }

  [[gnu::always_inline]] static void expect(const Tridiagonal<Scalar, Space> &matrix, const typename Packs<Scalar>::Lanes &pack,
                                            Number lanes, Index first)
  {
    if (matrix.problem.coefficients != Coefficients::general) return;
    const Index stride = matrix.problem.layout.stride;
    Tile<Scalar, Number>::expect(matrix.lower.data(), pack, lanes, stride, first);
    Tile<Scalar, Number>::expect(matrix.diagonal.data(), pack, lanes, stride, first);
    Tile<Scalar, Number>::expect(matrix.upper.data(), pack, lanes, stride, first);
  }

private:
  void at_row(const Tridiagonal<Scalar, Space> &matrix, const typename Packs<Scalar>::Lanes &pack, Number lanes, Index row, int r)
  {
    for (int l = 0; l < lanes; l++) {
      const Row<Scalar> coefficients = matrix.at(row, pack.start[l] + row * matrix.problem.layout.stride);
      lower.rows[r][l]               = coefficients.lower;
      diagonal.rows[r][l]            = coefficients.diagonal;
      upper.rows[r][l]               = coefficients.upper;
    }
  }
};

} // namespace weft
