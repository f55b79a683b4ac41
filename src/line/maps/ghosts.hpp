/// Rows of other ranks in the memory of an execution: they are numbered on after the rows of this rank, and arrays of rows have room for
/// them.
#pragma once
#include "line/host_copies.hpp"
#include "line/maps/chains.hpp"
#include "line/maps/edge.hpp"

namespace weft {

inline constexpr RowNumber no_row    = -1;
inline constexpr RowNumber elsewhere = -3; ///< a row that is neither of this rank nor a ghost

template <class Space>
OwnedArray<RowNumber, Space> row_numbers(const Space &space, const std::vector<Index> &numbers)
{
  return from_host(space, "weft row numbers", std::vector<RowNumber>(numbers.begin(), numbers.end()));
}

/// What a row is called in the whole matrix. All ranks compare rows by that.
template <class Space>
struct Numbering {
  RowNumber rows  = 0; ///< of this rank
  RowNumber first = 0;
  OwnedArray<RowNumber, Space> ghosts;

  RowNumber all() const { return rows + static_cast<RowNumber>(ghosts.extent(0)); }
  KOKKOS_FUNCTION RowNumber number(RowNumber row) const { return row < rows ? first + row : ghosts(row - rows); }
  /// The row of that number; what is below 0 stays as it is.
  KOKKOS_FUNCTION RowNumber row(RowNumber number) const
  {
    if (number < 0) return number;
    if (number >= first && number < first + rows) return number - first;
    RowNumber low = 0, high = static_cast<RowNumber>(ghosts.extent(0));
    while (low < high) {
      const RowNumber middle = low + (high - low) / 2;
      if (ghosts(middle) < number)
        low = middle + 1;
      else
        high = middle;
    }
    return low < static_cast<RowNumber>(ghosts.extent(0)) && ghosts(low) == number ? rows + low : elsewhere;
  }
};

template <class Space>
struct Ghosts {
  const GhostRows *ranks = nullptr; ///< null on one rank
  Numbering<Space> numbering;
  OwnedArray<RowNumber, Space> shown;
  OwnedArray<RowNumber, Space> starts, rows; ///< the couplings: the ghosts as rows
  OwnedArray<double, Space> mine, theirs;

  Ghosts() = default;
  Ghosts(const Space &space, RowNumber own_rows, const GhostRows *others) : ranks(others)
  {
    numbering.rows = own_rows;
    if (!ranks) return;
    numbering.first  = static_cast<RowNumber>(ranks->first);
    numbering.ghosts = row_numbers(space, ranks->numbers);
    shown            = row_numbers(space, ranks->shown);
    starts           = row_numbers(space, ranks->starts);
    std::vector<Index> as_rows(ranks->ghosts);
    for (Index &row : as_rows) row += own_rows;
    rows   = row_numbers(space, as_rows);
    mine   = from_host(space, "weft couplings across", ranks->mine);
    theirs = from_host(space, "weft couplings across", ranks->theirs);
  }

  Index sum(Index here) const { return ranks ? ranks->sum(here) : here; }
  /// Calls visit(j, a_ij, a_ji) for the ghosts j that row i couples to.
  template <class Visit>
  KOKKOS_FUNCTION void visit(RowNumber i, const Visit &visit) const
  {
    if (starts.extent(0) == 0) return;
    for (RowNumber k = starts(i); k < starts(i + 1); k++) visit(rows(k), mine(k), theirs(k));
  }
};

/// Fills what `values` has of the ghosts, `words` a row, with what their ranks have: send(element) -> double, receive(double) -> element.
/// Waits.
template <class Space, class T, class Send, class Receive>
void bring(const Space &space, const Ghosts<Space> &ghosts, const OwnedArray<T, Space> &values, int words, const Send &send,
           const Receive &receive)
{
  if (!ghosts.ranks) return;
  const auto w     = static_cast<std::size_t>(words);
  const auto shown = ghosts.shown;
  const auto out   = table<double, Space>("weft rows to show", w * shown.extent(0));
  const auto in    = table<double, Space>("weft ghosts", w * ghosts.numbering.ghosts.extent(0));
  Kokkos::parallel_for(
      "weft show rows", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(out.extent(0))),
      KOKKOS_LAMBDA(const Index k) { out(k) = send(values(static_cast<Index>(shown(k / words)) * words + k % words)); });
  const auto host_out = Kokkos::create_mirror_view(out);
  const auto host_in  = Kokkos::create_mirror_view(in);
  Kokkos::deep_copy(space, host_out, out);
  space.fence("weft: rows to show");
  ghosts.ranks->bring(host_out.data(), host_in.data(), words);
  Kokkos::deep_copy(space, in, host_in);
  const Index first = static_cast<Index>(ghosts.numbering.rows) * words;
  Kokkos::parallel_for(
      "weft take ghosts", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(in.extent(0))),
      KOKKOS_LAMBDA(const Index k) { values(first + k) = receive(in(k)); });
  space.fence("weft: ghosts");
}

template <class T>
struct AsDouble {
  KOKKOS_FUNCTION double operator()(T value) const { return static_cast<double>(value); }
};
template <class T>
struct FromDouble {
  KOKKOS_FUNCTION T operator()(double value) const { return static_cast<T>(value); }
};

/// The same for plain numbers.
template <class Space, class T>
void bring(const Space &space, const Ghosts<Space> &ghosts, const OwnedArray<T, Space> &values, int words)
{
  bring(space, ghosts, values, words, AsDouble<T>(), FromDouble<T>());
}

template <class Space>
struct RowAsNumber {
  Numbering<Space> numbering;
  KOKKOS_FUNCTION double operator()(RowNumber row) const { return row < 0 ? row : numbering.number(row); }
};
template <class Space>
struct NumberAsRow {
  Numbering<Space> numbering;
  KOKKOS_FUNCTION RowNumber operator()(double number) const { return numbering.row(static_cast<RowNumber>(number)); }
};

/// The same for rows, which have other names on other ranks.
template <class Space>
void bring_rows(const Space &space, const Ghosts<Space> &ghosts, const OwnedArray<RowNumber, Space> &rows, int words)
{
  bring(space, ghosts, rows, words, RowAsNumber<Space>{ghosts.numbering}, NumberAsRow<Space>{ghosts.numbering});
}

} // namespace weft
