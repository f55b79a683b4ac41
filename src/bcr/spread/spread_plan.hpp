/// How a separable operator's transforms and lines are spread over processes.
///
/// Each process has a slab, whole planes across the lines: it transforms them, and it solves for its piece of each line as if that were alone.
/// Then neighbouring pieces are joined (joined_pieces.hpp): only what is at their ends travels.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "bcr/detect/separate.hpp"

namespace weft {

/// What a process has of something that is counted.
struct Share {
  Index begin = 0, end = 0;
  Index size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const Share &, const Share &) = default;
};

struct SpreadPlan {
  int processes = 1;
  int order[3]  = {0, 1, 2}; ///< directions of the grid: two that are transformed (of the second there may be one node), that of the lines
  // In that order:
  Index grid[3]  = {1, 1, 1}; ///< nodes of the grid
  Index first[3] = {0, 0, 0}; ///< first node within the eliminated faces
  Index nodes[3] = {1, 1, 1}; ///< nodes within them
  /// Where the slabs begin within the nodes of the lines, and their end.
  std::vector<Index> starts;
  bool in_place = false; ///< a slab is what its process has of the caller's arrays, in their order

  /// Modes lie by those of the second direction, and of each by those of the first one. So that they begin at whole pieces of memory, some that are none
  /// stand behind these.
  Index line() const { return (nodes[0] + 3) / 4 * 4; }
  Index modes() const { return line() * nodes[1]; }
  bool is_mode(Index m) const { return m % line() < nodes[0]; }
  /// Nodes of the lines, from `first` on, in the slab of a process.
  Share rows(int process) const { return {starts[static_cast<std::size_t>(process)], starts[static_cast<std::size_t>(process) + 1]}; }
  /// The same with the eliminated faces next to them, counted over the grid: they stay with their neighbours.
  Share layers(int process) const;
  /// Modes whose pieces a process joins.
  Share joins(int process) const { return share(modes(), process); }
  /// One of `processes` nearly equal shares.
  Share share(Index count, int process) const { return {count * process / processes, count * (process + 1) / processes}; }

  friend bool operator==(const SpreadPlan &, const SpreadPlan &) = default;
};

/// Along each direction of the grid, where the boxes of nodes begin that processes have, and the end of the last one.
using Owners = std::array<std::vector<Index>, 3>;

/// Of `facr` without levels and of `auto`: the directions whose transforms take least time. Nothing for other methods, for one process,
/// where all nodes lie along one direction, where a direction has no transform, or where `auto` is faster otherwise. Slabs are nearly equal, or, where
/// the grid is cut across the lines alone and none is much larger than others, those of `owners`.
std::optional<SpreadPlan> spread_plan(const Separation &separation, const DirectOptions &options, int processes, const Owners &owners = {});

/// What is left of a separation in a process's slab, in the plan's order: its grid and faces. The operator is the whole one, of three
/// directions in that order. Factors of the rows, where there are some, are for the caller to bring.
Separation slab_of(const Separation &whole, const SpreadPlan &plan, int process);

} // namespace weft
