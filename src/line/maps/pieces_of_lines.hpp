/// What the pieces of a line that goes on on other ranks agree upon.
#pragma once
#include <vector>

#include "line/maps/chains.hpp"
#include "line/maps/ghosts.hpp"

namespace weft {

/// Does nothing where no line goes on on another rank. Else all that is asked of it is collective.
template <class Space>
class PiecesOfLines {
public:
  /// `line_of`: the line of each row of this rank. Waits.
  PiecesOfLines(const Space &space, const GhostRows *ranks, const JoinedPieces &joined, const OwnedArray<RowNumber, Space> &line_of)
      : ranks_(ranks), joined_(joined)
  {
    std::vector<Index> first;
    for (std::size_t piece = 0; piece + 1 < joined.own.starts.size(); piece++)
      first.push_back(joined.own.rows[static_cast<std::size_t>(joined.own.starts[piece])]);
    lines_ = row_numbers(space, first);
    to_lines(space, line_of);
  }

  /// Of what each line has in `values`, those of all its pieces together, in the order of the line: together(so far, next). Waits.
  template <class T, class Together>
  void share(const Space &space, const OwnedArray<T, Space> &values, const Together &together) const
  {
    if (joined_.count() == 0) return;
    const std::vector<std::int64_t> combined = combine(space, values, together);
    std::vector<std::int64_t> own; // of this rank's pieces
    for (std::size_t line = 0; line < combined.size(); line++) {
      for (auto k = static_cast<std::size_t>(joined_.starts[line]); k < static_cast<std::size_t>(joined_.starts[line + 1]); k++)
        if (joined_.ranks[k] == ranks_->rank) own.push_back(combined[line]);
    }
    scatter(space, from_host(space, "weft words of pieces", own), values);
    space.fence("weft: words of pieces");
  }
  /// What the first piece of each line has, on all ranks. Waits.
  template <class T>
  std::vector<std::int64_t> of_lines(const Space &space, const OwnedArray<T, Space> &values) const
  {
    if (joined_.count() == 0) return {};
    return combine(space, values, [](std::int64_t first, std::int64_t) { return first; });
  }

  // Launches; public for nvcc.
  using Words = OwnedArray<std::int64_t, Space>;

  void to_lines(const Space &space, const OwnedArray<RowNumber, Space> &line_of)
  {
    const auto lines = lines_;
    Kokkos::parallel_for(
        "weft lines of pieces", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(lines.extent(0))),
        KOKKOS_LAMBDA(const Index piece) { lines(piece) = line_of(lines(piece)); });
  }
  template <class T>
  void gather(const Space &space, const OwnedArray<T, Space> &values, const Words &words) const
  {
    const auto lines = lines_;
    Kokkos::parallel_for(
        "weft words of pieces", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(lines.extent(0))),
        KOKKOS_LAMBDA(const Index piece) { words(piece) = static_cast<std::int64_t>(values(lines(piece))); });
  }
  template <class T>
  void scatter(const Space &space, const Words &words, const OwnedArray<T, Space> &values) const
  {
    const auto lines = lines_;
    Kokkos::parallel_for(
        "weft words to pieces", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(lines.extent(0))),
        KOKKOS_LAMBDA(const Index piece) { values(lines(piece)) = static_cast<T>(words(piece)); });
  }

private:
  template <class T, class Together>
  std::vector<std::int64_t> combine(const Space &space, const OwnedArray<T, Space> &values, const Together &together) const
  {
    const Words words("weft words of pieces", lines_.extent(0));
    gather(space, values, words);
    space.fence("weft: words of pieces");
    const auto host = host_copy(words);
    std::vector<Index> next; // of each rank's words
    const std::vector<std::int64_t> all = ranks_->gather(std::vector<std::int64_t>(host.data(), host.data() + host.extent(0)), next);
    std::vector<std::int64_t> combined;
    for (std::size_t line = 0; line + 1 < joined_.starts.size(); line++) {
      for (Index k = joined_.starts[line]; k < joined_.starts[line + 1]; k++) {
        const std::int64_t word =
            all[static_cast<std::size_t>(next[static_cast<std::size_t>(joined_.ranks[static_cast<std::size_t>(k)])]++)];
        if (k == joined_.starts[line])
          combined.push_back(word);
        else
          combined.back() = together(combined.back(), word);
      }
    }
    return combined;
  }

  const GhostRows *ranks_;
  const JoinedPieces &joined_;
  OwnedArray<RowNumber, Space> lines_; ///< of each of this rank's pieces
};

} // namespace weft
