/// The serial twin of the linear forest: a greedy pass over all edges, walks along lines and cycles, colours one line after another.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "line/maps/edge.hpp"
#include "line/maps/line_map.hpp"

namespace weft::reference {

/// A matrix by its entries, columns beyond the rows left out.
struct Sparse {
  int rows = 0;
  std::map<std::pair<int, int>, double> entries;

  double at(int i, int j) const
  {
    const auto found = entries.find({i, j});
    return found == entries.end() ? 0 : found->second;
  }
};

using Partners = std::vector<std::vector<int>>;

/// 1 / sqrt(|a_ii|), or of the largest entry of the row where the diagonal is zero.
inline std::vector<double> row_scales(const Sparse &a)
{
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows), 0), largest = diagonal, scale = diagonal;
  std::vector<bool> finite(static_cast<std::size_t>(a.rows), true);
  for (const auto &[at, value] : a.entries) {
    const auto i = static_cast<std::size_t>(at.first);
    if (!std::isfinite(value)) finite[i] = false;
    if (at.first == at.second) diagonal[i] = std::abs(value);
    largest[i] = std::max(largest[i], std::abs(value));
  }
  for (std::size_t i = 0; i < scale.size(); i++) {
    const double size = diagonal[i] > 0 ? diagonal[i] : largest[i];
    scale[i]          = finite[i] && size > 0 ? 1 / std::sqrt(size) : 1;
  }
  return scale;
}

/// All edges that count, strongest first.
inline std::vector<Edge> strong_edges(const Sparse &a, const ForestOptions &options)
{
  const std::vector<double> scale = row_scales(a);
  std::map<std::pair<int, int>, Weight> weights;
  std::vector<Weight> strongest(static_cast<std::size_t>(a.rows), no_weight);
  for (const auto &[at, value] : a.entries) {
    const auto [i, j] = at;
    const Weight w    = weight_of(std::abs(value) * (scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)]));
    if (i == j || w == no_weight) continue;
    Weight &edge = weights[{std::min(i, j), std::max(i, j)}];
    edge         = std::max(edge, w);
    for (int end : {i, j}) strongest[static_cast<std::size_t>(end)] = std::max(strongest[static_cast<std::size_t>(end)], w);
  }
  std::vector<Edge> edges;
  for (const auto &[at, w] : weights) {
    const double most = size_of(std::max(strongest[static_cast<std::size_t>(at.first)], strongest[static_cast<std::size_t>(at.second)]));
    if (size_of(w) >= options.least_weight && size_of(w) >= options.least_relative * most) edges.emplace_back(w, at.first, at.second);
  }
  std::sort(edges.begin(), edges.end(), stronger);
  return edges;
}

/// The edges that a greedy pass takes.
inline std::vector<Edge> greedy_factor(const Sparse &a, const ForestOptions &options)
{
  std::vector<int> degree(static_cast<std::size_t>(a.rows), 0);
  std::vector<Edge> taken;
  for (const Edge &edge : strong_edges(a, options)) {
    int &low = degree[static_cast<std::size_t>(edge.low)], &high = degree[static_cast<std::size_t>(edge.high)];
    if (low == 2 || high == 2) continue;
    low++, high++;
    taken.push_back(edge);
  }
  return taken;
}

inline Partners partners_of(int rows, const std::vector<Edge> &edges)
{
  Partners partners(static_cast<std::size_t>(rows));
  for (const Edge &edge : edges) {
    partners[static_cast<std::size_t>(edge.low)].push_back(edge.high);
    partners[static_cast<std::size_t>(edge.high)].push_back(edge.low);
  }
  return partners;
}

/// The rows from `start` on, not going back to `before`, until the line ends or comes back to its start.
inline std::vector<int> walk(const Partners &partners, int start)
{
  std::vector<int> rows{start};
  for (int before = -1;;) {
    const int here = rows.back();
    int next       = -1;
    for (int p : partners[static_cast<std::size_t>(here)])
      if (p != before && next < 0) next = p;
    if (next < 0 || next == start) return rows;
    rows.push_back(next);
    before = here;
  }
}

/// Leaves out the weakest edge of each cycle.
inline std::vector<Edge> without_cycles(int rows, std::vector<Edge> edges)
{
  const Partners partners = partners_of(rows, edges);
  std::set<int> seen;
  std::vector<Edge> cut;
  for (int start = 0; start < rows; start++) {
    if (seen.count(start)) continue;
    const std::vector<int> line = walk(partners, start);
    const std::set<int> members(line.begin(), line.end());
    const bool cycle = line.size() > 2 && std::all_of(line.begin(), line.end(), [&](int i) {
                         return partners[static_cast<std::size_t>(i)].size() == 2 &&
                                members.count(partners[static_cast<std::size_t>(i)][0]) &&
                                members.count(partners[static_cast<std::size_t>(i)][1]);
                       });
    if (!cycle) continue;
    seen.insert(members.begin(), members.end());
    const auto weakest =
        std::find_if(edges.rbegin(), edges.rend(), [&](const Edge &e) { return members.count(e.low) > 0; }); // strongest first
    cut.push_back(*weakest);
  }
  std::erase_if(edges,
                [&](const Edge &e) { return std::any_of(cut.begin(), cut.end(), [&](const Edge &c) { return c.joins(e.low, e.high); }); });
  return edges;
}

/// The lines, each from its lower end, in the order of those ends.
inline HostLines lines_of(int rows, const std::vector<Edge> &edges)
{
  const Partners partners = partners_of(rows, edges);
  std::set<int> seen;
  HostLines lines;
  for (int start = 0; start < rows; start++) {
    if (seen.count(start) || partners[static_cast<std::size_t>(start)].size() > 1) continue;
    for (int i : walk(partners, start)) {
      seen.insert(i);
      lines.rows.push_back(i);
    }
    lines.starts.push_back(static_cast<Index>(lines.rows.size()));
  }
  return lines;
}

/// The linear forest of a matrix, without regard to pivots.
inline HostLines linear_forest(const Sparse &a, const ForestOptions &options)
{
  return lines_of(a.rows, without_cycles(a.rows, greedy_factor(a, options)));
}

} // namespace weft::reference
