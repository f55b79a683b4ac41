/// Parts: lines cut into parts of equal length, for methods that give a part to a thread or to a team. One part of one line is a lane;
/// lanes are numbered so that neighbouring lanes lie close in memory, and a tile is a few neighbouring lanes that a team works on together.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <type_traits>

#include "base/backend.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// Where a team finds an entry of its tile: row `row` of the tile's lane number `lane`.
struct TilePlace {
  int lane, row;
};

struct Parts {
  LineLayout layout;
  Index rows       = 1; ///< of a part; the last part of a line may have fewer
  Index count      = 0; ///< parts of a line
  Index lines      = 0;
  bool parts_first = true; ///< neighbouring lanes are neighbouring parts of a line; otherwise they are neighbouring lines

  Parts() = default;
  Parts(const LineLayout &cut, Index rows_of_a_part)
      : layout(cut), rows(rows_of_a_part), count((cut.length + rows_of_a_part - 1) / rows_of_a_part), lines(cut.count()),
        parts_first(cut.rows_are_closest()), one_row(1 / static_cast<float>(rows_of_a_part))
  {
  }
  KOKKOS_INLINE_FUNCTION Index lanes() const { return count * lines; }
  KOKKOS_INLINE_FUNCTION Index lane(Index line, Index part) const { return parts_first ? line * count + part : part * lines + line; }
  KOKKOS_INLINE_FUNCTION Index line(Index lane) const { return parts_first ? lane / count : lane % lines; }
  KOKKOS_INLINE_FUNCTION Index part(Index lane) const { return parts_first ? lane % count : lane / lines; }
  /// From a lane to the one with the next part of its line.
  KOKKOS_INLINE_FUNCTION Index step() const { return parts_first ? 1 : lines; }
  KOKKOS_INLINE_FUNCTION Index rows_of(Index part) const
  {
    const Index left = layout.length - part * rows;
    return left < rows ? left : rows;
  }
  /// The lines that one value per part makes; value `lane` of an array belongs to that lane.
  LineLayout ends() const
  {
    LineLayout reduced;
    reduced.length           = count;
    reduced.stride           = step();
    reduced.across[0]        = lines;
    reduced.across_stride[0] = parts_first ? count : 1;
    return reduced;
  }

  /// Tiles of 2^log_width lanes. Entry number `number` of a tile, in the order of memory. Integers divide slowly: the product is exact for
  /// fewer than 2^22 entries, since half a number keeps it further from the next integer than rounding reaches.
  KOKKOS_INLINE_FUNCTION TilePlace place(int number, int log_width) const
  {
    if (!parts_first) return TilePlace{number & ((1 << log_width) - 1), number >> log_width};
    const int lane = log_width == 0 ? 0 : static_cast<int>((static_cast<float>(number) + 0.5f) * one_row);
    return TilePlace{lane, number - lane * static_cast<int>(rows)};
  }
  Index tiles(int log_width) const { return (lanes() + (Index(1) << log_width) - 1) >> log_width; }

private:
  float one_row = 1; ///< part of a part
};

template <class Space>
constexpr bool runs_on_host()
{
  return std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
}

/// A policy for tiles: teams of about `threads` threads on a device, whatever Kokkos takes on the host.
template <class Space>
Kokkos::TeamPolicy<Space> tile_policy(const Space &space, Index tiles, int threads, std::size_t scratch)
{
  const int league = static_cast<int>(tiles);
  if constexpr (runs_on_host<Space>()) {
    return Kokkos::TeamPolicy<Space>(space, league, Kokkos::AUTO).set_scratch_size(scratch_level<Space>(), Kokkos::PerTeam(scratch));
  } else {
    const int size = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(threads, warp_threads<Space>, 256))));
    return Kokkos::TeamPolicy<Space>(space, league, size).set_scratch_size(scratch_level<Space>(), Kokkos::PerTeam(scratch));
  }
}

} // namespace weft
