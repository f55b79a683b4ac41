/// Lines that go on on other ranks: which of a map's do, and cycles that they close.
#pragma once
#include "line/maps/chains.hpp"
#include "line/maps/paths.hpp"

namespace weft {

/// The lines, as they are in `lines`, that have a ghost as partner at an end. Waits.
template <class Space>
std::vector<OpenLine> find_open_lines(const Space &space, const GhostRows &ranks, const Factor<Space> &factor,
                                      const LineArrays<Space> &lines)
{
  const auto count = static_cast<Index>(lines.starts.extent(0)) - 1;
  const OwnedArray<RowNumber, Space> ends("weft rows beyond the ends", 2 * static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "weft rows beyond the ends", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index line) {
        const RowNumber first = lines.order(lines.starts(line)), last = lines.order(lines.starts(line + 1) - 1);
        const auto ghost = [&](RowNumber i, int place) {
          const RowNumber j = factor.partner(2 * i + place);
          return j >= factor.rows ? factor.numbering.number(j) : no_row;
        };
        // Rows of longer lines have one partner on the line, and the ghost at the other place.
        const RowNumber one = ghost(first, 0), other = ghost(first, 1);
        ends(2 * line)     = first == last || one != no_row ? one : other;
        ends(2 * line + 1) = first == last ? other : Kokkos::max(ghost(last, 0), ghost(last, 1));
      });
  space.fence("weft: rows beyond the ends");
  const auto beyond = host_copy(ends);
  const auto starts = host_copy(lines.starts);
  const auto order  = host_copy(lines.order);
  std::vector<OpenLine> open;
  for (Index line = 0; line < count; line++) {
    if (beyond(2 * line) == no_row && beyond(2 * line + 1) == no_row) continue;
    open.push_back({line, ranks.first + order(starts(line)), ranks.first + order(starts(line + 1) - 1), beyond(2 * line),
                    beyond(2 * line + 1), starts(line + 1) - starts(line)});
  }
  return open;
}

/// Cuts the cycles that lines of several ranks close, each at its weakest edge, as those of one rank are. Returns whether there were any:
/// lines are to be ranked again then. Collective. Waits.
template <class Space>
bool cut_cycles_across(const Space &space, const GhostRows &ranks, const Factor<Space> &factor, const LineArrays<Space> &lines,
                       const std::vector<OpenLine> &open)
{
  const Chains chains = chains_of(ranks, open);
  if (chains.cycles.empty()) return false;
  const auto partner = host_copy(factor.partner);
  const auto weight  = host_copy(factor.weight);
  const auto order   = host_copy(lines.order);
  const auto starts  = host_copy(lines.starts);
  const auto number  = [&](RowNumber row) {
    return static_cast<RowNumber>(row < factor.rows ? ranks.first + row : ranks.numbers[static_cast<std::size_t>(row - factor.rows)]);
  };
  const auto weaker = [](const Edge &x, const Edge &y) { return x.low < 0 || (y.low >= 0 && stronger(x, y)) ? y : x; };

  std::vector<std::int64_t> words;
  for (std::size_t cycle = 0; cycle < chains.cycles.size(); cycle++) {
    Edge weakest;
    for (const Chains::Piece &piece : chains.cycles[cycle]) {
      if (piece.rank != ranks.rank) continue;
      const Index line = open[static_cast<std::size_t>(piece.place)].line;
      for (Index k = starts(line); k < starts(line + 1); k++) {
        for (const RowNumber port : {2 * order(k), 2 * order(k) + 1})
          weakest = weaker(weakest, Edge(weight(port), number(port / 2), number(partner(port))));
      }
    }
    if (weakest.low < 0) continue;
    for (const std::int64_t word :
         {std::int64_t(cycle), std::int64_t(weakest.weight), std::int64_t(weakest.low), std::int64_t(weakest.high)})
      words.push_back(word);
  }
  std::vector<Index> places;
  words = ranks.gather(words, places);
  std::vector<Edge> weakest(chains.cycles.size());
  for (std::size_t k = 0; k + 4 <= words.size(); k += 4) {
    Edge &edge = weakest[static_cast<std::size_t>(words[k])];
    edge =
        weaker(edge, Edge(static_cast<Weight>(words[k + 1]), static_cast<RowNumber>(words[k + 2]), static_cast<RowNumber>(words[k + 3])));
  }
  for (const Edge &edge : weakest) {
    for (const RowNumber end : {edge.low, edge.high}) {
      const Index row = end - ranks.first;
      if (row < 0 || row >= factor.rows) continue;
      for (const Index port : {2 * row, 2 * row + 1})
        if (edge.joins(number(static_cast<RowNumber>(row)), partner(port) < 0 ? no_row : number(partner(port)))) partner(port) = no_row;
    }
  }
  Kokkos::deep_copy(space, factor.partner, partner);
  space.fence("weft: cycles across ranks are cut");
  return true;
}

} // namespace weft
