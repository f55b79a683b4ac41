/// Colours of lines: no two lines of a colour are coupled by an entry that the matrix stores.
///
/// M. T. Jones and P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14 (1993): in each round, lines whose number,
/// scrambled, is greater than those of all their neighbours without a colour take the smallest colour that no neighbour has. The
/// neighbours of a line are read from the matrix in each round, through its rows; the graph of lines is never built.
#pragma once
#include <stdexcept>

#include "forest/line_arrays.hpp"
#include "forest/paths.hpp"

namespace weft {

template <class Space>
struct LineColours {
  OwnedArray<RowNumber, Space> line_of; ///< of each row
  OwnedArray<int, Space> colour;        ///< of each line
};

inline constexpr int no_colour = -1;

KOKKOS_INLINE_FUNCTION bool goes_first(RowNumber line, RowNumber other)
{
  const std::uint64_t x = scramble(static_cast<std::uint64_t>(line) + 1), y = scramble(static_cast<std::uint64_t>(other) + 1);
  return x != y ? x > y : line > other;
}

template <class Space>
OwnedArray<RowNumber, Space> lines_of_rows(const Space &space, const LineArrays<Space> &lines)
{
  const auto n = lines.order.extent(0);
  const OwnedArray<RowNumber, Space> line_of(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft line of row"), n);
  const auto order  = lines.order;
  const auto begins = lines.begins;
  Kokkos::parallel_scan(
      "weft line of row", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(n)),
      KOKKOS_LAMBDA(const Index position, RowNumber &begun, const bool last) {
        begun += begins(position);
        if (last) line_of(order(position)) = begun - 1;
      });
  return line_of;
}

/// Waits.
template <class Space, class Scalar, class Int>
LineColours<Space> colour_lines(const Space &space, const LineArrays<Space> &lines, const CsrMatrix<Scalar, Int> &matrix)
{
  const auto rows  = static_cast<RowNumber>(lines.order.extent(0));
  const auto count = static_cast<RowNumber>(lines.starts.extent(0)) - 1;
  const LineColours<Space> colours{lines_of_rows(space, lines),
                                   OwnedArray<int, Space>("weft line colours", static_cast<std::size_t>(count))};
  const OwnedArray<std::uint8_t, Space> waits("weft lines that wait", static_cast<std::size_t>(count));
  const OwnedArray<std::uint64_t, Space> taken("weft colours of neighbours", static_cast<std::size_t>(count));
  Kokkos::deep_copy(space, colours.colour, no_colour);
  RowNumber left = count;
  while (left > 0) {
    Kokkos::deep_copy(space, waits, std::uint8_t(0));
    Kokkos::deep_copy(space, taken, std::uint64_t(0));
    Kokkos::parallel_for(
        "weft neighbouring lines", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const RowNumber i) {
          const RowNumber line = colours.line_of(i);
          const int own        = colours.colour(line);
          for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
            const Int column = matrix.columns[k];
            if (column < 0 || column >= rows) continue;
            const RowNumber other = colours.line_of(column);
            const int theirs      = colours.colour(other);
            if (other == line || (own != no_colour && theirs != no_colour)) continue;
            // Both are told, since the other's rows may store nothing of it.
            if (own == no_colour && theirs == no_colour)
              Kokkos::atomic_store(&waits(goes_first(line, other) ? other : line), std::uint8_t(1));
            else if (own == no_colour)
              Kokkos::atomic_or(&taken(line), std::uint64_t(1) << theirs);
            else
              Kokkos::atomic_or(&taken(other), std::uint64_t(1) << own);
          }
        });
    RowNumber still = 0, without = 0;
    Kokkos::parallel_reduce(
        "weft colour lines", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(const RowNumber line, RowNumber &uncoloured, RowNumber &no_colour_left) {
          if (colours.colour(line) != no_colour) return;
          const std::uint64_t free = ~taken(line);
          if (waits(line)) {
            uncoloured++;
          } else if (free == 0) {
            no_colour_left++;
          } else {
            int colour = 0;
            while (!(free >> colour & 1)) colour++;
            colours.colour(line) = colour;
          }
        },
        still, without);
    if (without > 0)
      throw std::runtime_error("the lines of this matrix need more than " + std::to_string(most_line_colours) +
                               " colours: so many rows are coupled to each other that an ordering by colours gains nothing");
    left = still;
  }
  return colours;
}

/// Sorts the lines by colour, keeping their order within a colour. Returns where each colour's rows start, and their end. Waits.
template <class Space>
std::vector<Index> sort_lines(const Space &space, const LineColours<Space> &colours, LineArrays<Space> &lines)
{
  const auto rows  = static_cast<RowNumber>(lines.order.extent(0));
  const auto count = static_cast<RowNumber>(lines.starts.extent(0)) - 1;
  const OwnedArray<RowNumber, Space> starts("weft line starts", static_cast<std::size_t>(count) + 1);
  const OwnedArray<RowNumber, Space> moved_to("weft new line starts", static_cast<std::size_t>(count));
  const OwnedArray<RowNumber, Space> order(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft line order"),
                                           static_cast<std::size_t>(rows));
  const LineArrays<Space> old = lines;
  std::vector<Index> colour_rows{0};
  for (Index lines_done = 0; colour_rows.back() < rows;) {
    const int colour      = static_cast<int>(colour_rows.size()) - 1;
    const Index rows_done = colour_rows.back();
    Index found           = 0;
    Kokkos::parallel_scan(
        "weft lines of a colour", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(const RowNumber line, Index &before, const bool last) {
          if (colours.colour(line) != colour) return;
          const RowNumber length = old.starts(line + 1) - old.starts(line);
          const Index start      = rows_done + (before & 0xffffffff); // lines and their rows, in the two halves of a word
          if (last) {
            moved_to(line)                          = static_cast<RowNumber>(start);
            starts(lines_done + (before >> 32) + 1) = static_cast<RowNumber>(start) + length;
          }
          before += (Index(1) << 32) + length;
        },
        found);
    lines_done += found >> 32;
    colour_rows.push_back(rows_done + (found & 0xffffffff));
  }
  Kokkos::parallel_for(
      "weft order rows by colour", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const RowNumber position) {
        const RowNumber i = old.order(position), line = colours.line_of(i);
        order(moved_to(line) + position - old.starts(line)) = i;
      });
  lines.order  = order;
  lines.starts = starts;
  mark_begins(space, lines);
  return colour_rows;
}

} // namespace weft
