/// How a separable operator's transforms and lines are spread over processes.
///
/// Right-hand sides lie in slabs, in which whole planes across the lines are: they are transformed there. Modes lie in columns, in which
/// whole lines are: they are solved there. Each process has a slab and some columns; every other process sends it a piece of each line
/// between.
#pragma once
#include <optional>

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
  int block      = 1;         ///< neighbouring modes that travel together

  Index modes() const { return nodes[0] * nodes[1]; }
  /// Blocks of modes, the last of which may not be full.
  Index blocks() const { return (modes() + block - 1) / block; }
  /// Nodes of the lines, from `first` on, in the slab of a process.
  Share rows(int process) const { return share(nodes[2], process); }
  /// The same with the eliminated faces next to them, counted over the grid: they stay with their neighbours.
  Share layers(int process) const;
  /// Blocks of modes whose lines a process solves.
  Share columns(int process) const { return share(blocks(), process); }

  friend bool operator==(const SpreadPlan &, const SpreadPlan &) = default;

private:
  Share share(Index count, int process) const { return {count * process / processes, count * (process + 1) / processes}; }
};

/// Of `facr` without levels and of `auto`: the directions whose transforms take least time. Nothing for other methods, for one process,
/// where all nodes lie along one direction, where a direction has no transform, or where `auto` is faster otherwise.
std::optional<SpreadPlan> spread_plan(const Separation &separation, const DirectOptions &options, int processes);

/// What is left of a separation in a process's slab, in the plan's order: its grid and faces. The operator is the whole one, of three
/// directions in that order. Factors of the rows, where there are some, are for the caller to bring.
Separation slab_of(const Separation &whole, const SpreadPlan &plan, int process);

} // namespace weft
