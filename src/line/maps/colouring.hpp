/// Colours of lines: no two lines of a colour are coupled by an entry that the matrix stores.
///
/// M. T. Jones and P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14 (1993): in each round, lines whose
/// number, scrambled, is greater than those of all their neighbours without a colour take the smallest colour that no neighbour has. The
/// neighbours of a line are read from the matrix in each round, through its rows; the graph of lines is never built. A line's number is
/// that of its first row in the whole matrix, so that colours do not depend on the ranks that the rows lie on.
#pragma once
#include <stdexcept>

#include "line/maps/line_arrays.hpp"
#include "line/maps/pieces_of_lines.hpp"

namespace weft {

template <class Space>
struct LineColours {
  OwnedArray<RowNumber, Space> line_of; ///< of each row
  OwnedArray<RowNumber, Space> number;  ///< of each line
  OwnedArray<int, Space> colour;        ///< of each line
};

/// What a line is told in a round of colouring.
template <class Space>
struct LineFlags {
  OwnedArray<std::uint64_t, Space> waits; ///< 1 where a neighbour goes first
  OwnedArray<std::uint64_t, Space> taken; ///< a bit for each colour of a neighbour

  explicit LineFlags(std::size_t lines) : waits("weft lines that wait", lines), taken("weft colours of neighbours", lines) {}
};

template <class Space>
struct ColouredLines {
  LineColours<Space> own;
  std::vector<int> joined; ///< colour of each line that goes on on other ranks
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
  const auto n       = lines.order.extent(0);
  const auto line_of = table<RowNumber, Space>("weft line of row", n);
  const auto order   = lines.order;
  const auto begins  = lines.begins;
  Kokkos::parallel_scan(
      "weft line of row", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(n)),
      KOKKOS_LAMBDA(const Index position, RowNumber &begun, const bool last) {
        begun += begins(position);
        if (last) line_of(order(position)) = begun - 1;
      });
  return line_of;
}

/// What the rows of this rank and the ghosts have of their lines; the ghosts' is brought.
template <class Space, class T>
void spread_to_rows(const Space &space, const Ghosts<Space> &ghosts, const OwnedArray<RowNumber, Space> &line_of,
                    const OwnedArray<T, Space> &of_line, const OwnedArray<T, Space> &of_row)
{
  Kokkos::parallel_for(
      "weft lines to rows", Kokkos::RangePolicy<Space>(space, 0, ghosts.numbering.rows),
      KOKKOS_LAMBDA(const RowNumber i) { of_row(i) = of_line(line_of(i)); });
  bring(space, ghosts, of_row, 1);
}

/// Tells each line without a colour whether a neighbour goes first, and what colours its neighbours have.
template <class Space, class Scalar, class Int>
void look_at_neighbours(const Space &space, const CsrMatrix<Scalar, Int> &matrix, const Ghosts<Space> &ghosts,
                        const LineColours<Space> &colours, const OwnedArray<RowNumber, Space> &number, const OwnedArray<int, Space> &colour,
                        const LineFlags<Space> &flags)
{
  const auto rows = ghosts.numbering.rows;
  Kokkos::parallel_for(
      "weft neighbouring lines", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const RowNumber i) {
        // Both of a pair are told, since the other's rows may store nothing of it.
        const auto tell = [&](RowNumber here, RowNumber there) {
          if (colour(here) != no_colour) return;
          const RowNumber line = colours.line_of(here);
          if (colour(there) != no_colour)
            Kokkos::atomic_or(&flags.taken(line), std::uint64_t(1) << colour(there));
          else if (goes_first(number(there), number(here)))
            Kokkos::atomic_store(&flags.waits(line), std::uint64_t(1));
        };
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Int column = matrix.columns[k];
          if (column < 0 || column >= rows || number(column) == number(i)) continue;
          const auto j = static_cast<RowNumber>(column);
          tell(i, j);
          tell(j, i);
        }
        ghosts.visit(i, [&](RowNumber j, double, double) {
          if (number(j) != number(i)) tell(i, j);
        });
      });
}

/// `joined`: the lines that go on on other ranks, if there are ghosts. Collective then. Waits.
template <class Space, class Scalar, class Int>
ColouredLines<Space> colour_lines(const Space &space, const LineArrays<Space> &lines, const CsrMatrix<Scalar, Int> &matrix,
                                  const Ghosts<Space> &ghosts, const JoinedPieces &joined)
{
  const auto count = static_cast<RowNumber>(lines.starts.extent(0)) - 1;
  const auto all   = static_cast<std::size_t>(ghosts.numbering.all());
  const LineFlags<Space> flags(static_cast<std::size_t>(count));
  const OwnedArray<RowNumber, Space> row_number("weft line numbers of rows", all);
  const OwnedArray<int, Space> row_colour("weft colours of rows", all);
  const LineColours<Space> colours{lines_of_rows(space, lines), OwnedArray<RowNumber, Space>("weft line numbers", flags.waits.extent(0)),
                                   OwnedArray<int, Space>("weft line colours", flags.waits.extent(0))};
  const PiecesOfLines<Space> pieces(space, ghosts.ranks, joined, colours.line_of);
  Kokkos::parallel_for(
      "weft line numbers", Kokkos::RangePolicy<Space>(space, 0, count),
      KOKKOS_LAMBDA(const RowNumber line) { colours.number(line) = ghosts.numbering.number(lines.order(lines.starts(line))); });
  pieces.share(space, colours.number, [](std::int64_t first, std::int64_t) { return first; });
  spread_to_rows(space, ghosts, colours.line_of, colours.number, row_number);
  Kokkos::deep_copy(space, colours.colour, no_colour);
  for (Index left = 1; left > 0;) {
    Kokkos::deep_copy(space, flags.waits, std::uint64_t(0));
    Kokkos::deep_copy(space, flags.taken, std::uint64_t(0));
    spread_to_rows(space, ghosts, colours.line_of, colours.colour, row_colour);
    look_at_neighbours(space, matrix, ghosts, colours, row_number, row_colour, flags);
    const auto either = [](std::int64_t x, std::int64_t y) { return x | y; };
    pieces.share(space, flags.waits, either);
    pieces.share(space, flags.taken, either);
    Index still = 0, without = 0;
    Kokkos::parallel_reduce(
        "weft colour lines", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(const RowNumber line, Index &uncoloured, Index &no_colour_left) {
          if (colours.colour(line) != no_colour) return;
          const std::uint64_t free = ~flags.taken(line);
          if (flags.waits(line)) {
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
    if (ghosts.sum(without) > 0)
      throw std::runtime_error("the lines of this matrix need more than " + std::to_string(most_line_colours) +
                               " colours: so many rows are coupled to each other that an ordering by colours gains nothing");
    left = ghosts.sum(still);
  }
  const std::vector<std::int64_t> joined_colours = pieces.of_lines(space, colours.colour);
  return {colours, std::vector<int>(joined_colours.begin(), joined_colours.end())};
}

/// Sorts the lines by colour, keeping their order within a colour. Returns where each colour's rows start, and their end. Waits.
template <class Space>
std::vector<Index> sort_lines(const Space &space, const LineColours<Space> &colours, LineArrays<Space> &lines)
{
  const auto rows  = static_cast<RowNumber>(lines.order.extent(0));
  const auto count = static_cast<RowNumber>(lines.starts.extent(0)) - 1;
  const OwnedArray<RowNumber, Space> starts("weft line starts", static_cast<std::size_t>(count) + 1);
  const OwnedArray<RowNumber, Space> moved_to("weft new line starts", static_cast<std::size_t>(count));
  const auto order            = table<RowNumber, Space>("weft line order", rows);
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
