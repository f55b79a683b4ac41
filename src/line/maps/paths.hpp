/// From a [0,2]-factor to lines: cycles are cut at their weakest edge, then each row learns its line and its place there.
///
/// A port is a row with one of its two places: port 2 i + s leaves row i through place s, arrives at the partner, and goes on through the
/// partner's other place, which is the next port. Ports form lists that end at free places, so that pointer doubling (J. C. Wyllie, 1979)
/// ranks all rows of all lines in O(log n) passes, from both ends at once as in the bidirectional scan of Klein and Strzodka
/// (two_factor.hpp). A place whose partner is a ghost is free here: lines end where they go on on another rank.
#pragma once
#include "line/maps/line_arrays.hpp"
#include "line/maps/two_factor.hpp"

namespace weft {

struct Port {
  std::uint32_t next;     ///< a port further on, with the bit `arrived` once that is the one that leaves the line
  std::uint32_t distance; ///< rows from here to there

  static constexpr std::uint32_t arrived = std::uint32_t(1) << 31;
  KOKKOS_FUNCTION bool has_arrived() const { return (next & arrived) != 0; }
  KOKKOS_FUNCTION RowNumber row() const { return static_cast<RowNumber>((next & ~arrived) / 2); }
};

template <class Space>
struct Ports {
  Factor<Space> factor;
  OwnedArray<Port, Space> now, then;
  OwnedArray<RowNumber, Space> chosen; ///< the rows to work on, all of them where this is empty

  explicit Ports(const Factor<Space> &f)
      : factor(f), now(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft ports"), 2 * static_cast<std::size_t>(f.rows)),
        then(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft ports"), 2 * static_cast<std::size_t>(f.rows))
  {
  }
  RowNumber count() const { return chosen.extent(0) > 0 ? static_cast<RowNumber>(chosen.extent(0)) : factor.rows; }
  KOKKOS_FUNCTION RowNumber row(RowNumber k) const { return chosen.extent(0) > 0 ? chosen(k) : k; }
  /// Passes after which a list of so many rows has been walked.
  int passes() const
  {
    int passes = 1;
    while ((Index(1) << passes) < count()) passes++;
    return passes;
  }
};

template <class Space>
void start_ports(const Space &space, const Ports<Space> &ports)
{
  Kokkos::parallel_for(
      "weft ports", Kokkos::RangePolicy<Space>(space, 0, ports.count()), KOKKOS_LAMBDA(const RowNumber k) {
        const RowNumber i = ports.row(k);
        for (int s = 0; s < 2; s++) {
          const auto port   = 2 * static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(s);
          const RowNumber j = ports.factor.partner(port);
          ports.now(port)   = j == no_row || j >= ports.factor.rows
                                  ? Port{port | Port::arrived, 0}
                                  : Port{2 * static_cast<std::uint32_t>(j) + 1 - static_cast<std::uint32_t>(ports.factor.place_at(j, i)), 1};
        }
      });
}

/// Each port jumps as far again as it has come. Returns the number of ports that have not arrived. Waits.
template <class Space>
Index double_ports(const Space &space, Ports<Space> &ports)
{
  Index travelling = 0;
  const auto from = ports.now, to = ports.then;
  const Ports<Space> all = ports;
  Kokkos::parallel_reduce(
      "weft pointer doubling", Kokkos::RangePolicy<Space>(space, 0, ports.count()),
      KOKKOS_LAMBDA(const RowNumber k, Index &count) {
        for (int s = 0; s < 2; s++) {
          const auto port = 2 * static_cast<std::uint32_t>(all.row(k)) + static_cast<std::uint32_t>(s);
          Port here       = from(port);
          if (!here.has_arrived()) {
            const Port there = from(here.next);
            here             = {there.next, here.distance + there.distance};
            count += !here.has_arrived();
          }
          to(port) = here;
        }
      },
      travelling);
  std::swap(ports.now, ports.then);
  return travelling;
}

/// Ranks the chosen rows; returns whether all arrived: those on cycles never do.
template <class Space>
bool rank_rows(const Space &space, Ports<Space> &ports)
{
  start_ports(space, ports);
  for (int pass = 0; pass <= ports.passes(); pass++)
    if (double_ports(space, ports) == 0) return true;
  return false;
}

/// The rows whose ports have not arrived.
template <class Space>
OwnedArray<RowNumber, Space> rows_of_cycles(const Space &space, const Ports<Space> &ports)
{
  OwnedArray<RowNumber, Space> rows;
  const Factor<Space> factor = ports.factor;
  const auto now             = ports.now;
  for (bool fill : {false, true}) {
    RowNumber found = 0;
    Kokkos::parallel_scan(
        "weft rows of cycles", Kokkos::RangePolicy<Space>(space, 0, factor.rows),
        KOKKOS_LAMBDA(const RowNumber i, RowNumber &count, const bool last) {
          if (now(2 * i).has_arrived()) return;
          if (last && fill) rows(count) = i;
          count++;
        },
        found);
    if (!fill) rows = OwnedArray<RowNumber, Space>("weft rows of cycles", static_cast<std::size_t>(found));
  }
  return rows;
}

/// Cuts each cycle through the chosen rows at its weakest edge: doubling again, now with the weakest edge passed.
template <class Space>
void cut_cycles(const Space &space, Ports<Space> &ports)
{
  start_ports(space, ports);
  const auto policy      = Kokkos::RangePolicy<Space>(space, 0, ports.count());
  const auto places      = 2 * static_cast<std::size_t>(ports.factor.rows);
  const Ports<Space> all = ports;
  const auto unset       = [&] { return Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft weakest edges"); };
  OwnedArray<Edge, Space> weakest(unset(), places), other(unset(), places);
  Kokkos::parallel_for(
      "weft edges of cycles", policy, KOKKOS_LAMBDA(const RowNumber k) {
        const RowNumber i = all.row(k);
        for (int s = 0; s < 2; s++) weakest(2 * i + s) = all.factor.edge(i, s);
      });
  for (int pass = 0; pass <= ports.passes(); pass++) {
    const auto from = weakest, to = other;
    const auto now = ports.now;
    Kokkos::parallel_for(
        "weft weakest edges", policy, KOKKOS_LAMBDA(const RowNumber k) {
          for (int s = 0; s < 2; s++) {
            const RowNumber port = 2 * all.row(k) + s;
            const Edge here = from(port), there = from(now(port).next);
            to(port) = stronger(here, there) ? there : here;
          }
        });
    double_ports(space, ports);
    std::swap(weakest, other);
  }
  Kokkos::parallel_for(
      "weft cut cycles", policy, KOKKOS_LAMBDA(const RowNumber k) {
        const RowNumber i = all.row(k);
        for (int s = 0; s < 2; s++) {
          const RowNumber j = all.factor.partner(2 * i + s);
          if (weakest(2 * i + s).joins(all.factor.numbering.number(i), all.factor.numbering.number(j)))
            all.factor.partner(2 * i + s) = no_row;
        }
      });
}

/// Where a row stands, once ranked. A line begins at the one of its ends that has the lower number.
struct Place {
  RowNumber head, position, length;
};

template <class Space>
KOKKOS_INLINE_FUNCTION Place place_of(const OwnedArray<Port, Space> &ports, RowNumber i)
{
  const Port one = ports(2 * i), other = ports(2 * i + 1);
  const RowNumber end = one.row(), other_end = other.row();
  const auto length = static_cast<RowNumber>(one.distance + other.distance + 1);
  return end < other_end ? Place{end, static_cast<RowNumber>(one.distance), length}
                         : Place{other_end, static_cast<RowNumber>(other.distance), length};
}

/// Cuts all cycles and ranks all rows.
template <class Space>
Ports<Space> rank_paths(const Space &space, const Factor<Space> &factor)
{
  Ports<Space> ports(factor);
  if (rank_rows(space, ports)) return ports;
  ports.chosen = rows_of_cycles(space, ports);
  cut_cycles(space, ports);
  // The rows of other lines keep their ranks: the last pass left the same in both arrays.
  rank_rows(space, ports);
  return ports;
}

/// Marks where lines begin.
template <class Space>
void mark_begins(const Space &space, LineArrays<Space> &lines)
{
  lines.begins      = OwnedArray<std::uint8_t, Space>("weft line begins", lines.order.extent(0));
  const auto starts = lines.starts;
  const auto begins = lines.begins;
  Kokkos::parallel_for(
      "weft line begins", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(starts.extent(0)) - 1),
      KOKKOS_LAMBDA(const Index line) { begins(starts(line)) = 1; });
}

/// The lines one after another, in the order of their heads. Returns the longest line's rows. Waits.
template <class Space>
Index order_rows(const Space &space, const Factor<Space> &factor, LineArrays<Space> &lines)
{
  const OwnedArray<Port, Space> ports = rank_paths(space, factor).now;
  const auto n                        = static_cast<std::size_t>(factor.rows);
  const auto rows                     = Kokkos::RangePolicy<Space>(space, 0, factor.rows);
  Index count = 0, longest = 0;
  Kokkos::parallel_reduce(
      "weft count lines", rows,
      KOKKOS_LAMBDA(const RowNumber i, Index &sum, Index &most) {
        const Place place = place_of<Space>(ports, i);
        sum += place.head == i;
        most = Kokkos::max(most, static_cast<Index>(place.length));
      },
      count, Kokkos::Max<Index>(longest));
  const OwnedArray<RowNumber, Space> starts("weft line starts", static_cast<std::size_t>(count) + 1);
  const auto order    = table<RowNumber, Space>("weft line order", n);
  const auto start_of = table<RowNumber, Space>("weft start of head", n);
  Kokkos::parallel_scan(
      "weft line starts", rows, KOKKOS_LAMBDA(const RowNumber i, Index &before, const bool last) {
        const Place place = place_of<Space>(ports, i);
        if (place.head != i) return;
        const Index line = before >> 32, start = before & 0xffffffff; // lines and their rows, in the two halves of a word
        before += (Index(1) << 32) + place.length;
        if (!last) return;
        start_of(i)      = static_cast<RowNumber>(start);
        starts(line + 1) = static_cast<RowNumber>(start) + place.length;
      });
  Kokkos::parallel_for(
      "weft order rows", rows, KOKKOS_LAMBDA(const RowNumber i) {
        const Place place                            = place_of<Space>(ports, i);
        order(start_of(place.head) + place.position) = i;
      });
  lines.order  = order;
  lines.starts = starts;
  mark_begins(space, lines);
  return n > 0 ? longest : 0;
}

/// Turns the chosen lines round.
template <class Space>
void turn_lines_round(const Space &space, const LineArrays<Space> &lines, const OwnedArray<RowNumber, Space> &chosen)
{
  using Policy      = Kokkos::TeamPolicy<Space>;
  const auto starts = lines.starts, order = lines.order;
  Kokkos::parallel_for(
      "weft turn lines round", Policy(space, static_cast<int>(chosen.extent(0)), Kokkos::AUTO),
      KOKKOS_LAMBDA(const typename Policy::member_type &team) {
        const RowNumber line = chosen(team.league_rank()), first = starts(line), last = starts(line + 1) - 1;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (last - first + 1) / 2),
                             [&](const RowNumber k) { Kokkos::kokkos_swap(order(first + k), order(last - k)); });
      });
}

} // namespace weft
