#include "crout/pattern/symbolic.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft::crout {

std::vector<Index> elimination_tree(const HostPattern &lower)
{
  const Index rows = lower.rows();
  const auto size  = static_cast<std::size_t>(rows);
  std::vector<Index> parent(size, -1), ancestor(size, -1);
  const auto of = [](auto &values, Index i) -> auto &
  {
    return values[static_cast<std::size_t>(i)];
  };
  for (Index i = 0; i < rows; i++) {
    for (Index k = of(lower.starts, i); k < of(lower.starts, i + 1); k++) {
      for (Index j = of(lower.columns, k); j != -1 && j < i;) {
        const Index next = of(ancestor, j);
        of(ancestor, j)  = i;
        if (next == -1) of(parent, j) = i;
        j = next;
      }
    }
  }
  return parent;
}

HostPattern complete_fill(const HostPattern &lower, Index most)
{
  const Index rows                = lower.rows();
  const auto size                 = static_cast<std::size_t>(rows);
  const std::vector<Index> parent = elimination_tree(lower);
  std::vector<Index> mark(size, -1);
  const auto of = [](auto &values, Index i) -> auto &
  {
    return values[static_cast<std::size_t>(i)];
  };
  const auto walk = [&](Index i, const auto &body) { // each entry of row i of the factor once
    of(mark, i) = i;
    for (Index k = of(lower.starts, i); k < of(lower.starts, i + 1); k++) {
      for (Index j = of(lower.columns, k); j != -1 && of(mark, j) != i; j = of(parent, j)) {
        of(mark, j) = i;
        body(j);
      }
    }
  };
  HostPattern factor;
  factor.starts.assign(size + 1, 0);
  Index total = 0;
  for (Index i = 0; i < rows; i++) {
    walk(i, [&](Index) { total++; });
    of(factor.starts, i + 1) = total;
  }
  if (total > most)
    throw std::length_error("the complete factors have " + std::to_string(total) + " entries in each triangle, more than the " +
                            std::to_string(most) + " that are allowed");
  factor.columns.reserve(static_cast<std::size_t>(total));
  std::fill(mark.begin(), mark.end(), -1);
  for (Index i = 0; i < rows; i++) {
    walk(i, [&](Index j) { factor.columns.push_back(static_cast<std::int32_t>(j)); });
    std::sort(factor.columns.begin() + of(factor.starts, i), factor.columns.end());
  }
  return factor;
}

namespace {

/// Shortest augmenting paths over the costs log(largest of the row / size), which no entry has negative. A row and a column have a potential
/// each: an entry's cost less both is its slack, never negative and 0 where it is matched.
class ShortestPaths {
public:
  ShortestPaths(const HostPattern &pattern, const std::vector<double> &sizes)
      : pattern_(pattern), costs_(sizes.size(), INFINITY), row_of_column_(rows(), -1), column_of_row_(rows(), -1), of_row_(rows(), 0),
        of_column_(rows(), INFINITY), distance_(rows(), INFINITY), came_from_(rows(), -1), done_(rows(), false)
  {
    for (std::size_t i = 0; i < rows(); i++) {
      double largest = 0;
      for_row(i, [&](std::size_t k, std::size_t) { largest = std::max(largest, sizes[k]); });
      for_row(i, [&](std::size_t k, std::size_t j) {
        if (sizes[k] > 0) costs_[k] = std::log(largest) - std::log(sizes[k]);
        of_column_[j] = std::min(of_column_[j], costs_[k]);
      });
    }
    for (double &potential : of_column_)
      if (!std::isfinite(potential)) potential = 0; // a column of zeros
    for (std::size_t i = 0; i < rows(); i++) {
      double least = INFINITY;
      for_row(i, [&](std::size_t k, std::size_t j) { least = std::min(least, costs_[k] - of_column_[j]); });
      if (std::isfinite(least)) of_row_[i] = least;
    }
    // What is free of cost, the diagonal before the rest.
    for (const bool diagonal : {true, false}) {
      for (std::size_t i = 0; i < rows(); i++)
        for_row(i, [&](std::size_t k, std::size_t j) {
          if (column_of_row_[i] == -1 && row_of_column_[j] == -1 && (i == j || !diagonal) && slack(i, j, k) <= free) match(i, j);
        });
    }
    for (std::size_t i = 0; i < rows(); i++)
      if (column_of_row_[i] == -1) augment(i);
  }

  Matching matching() const
  {
    Matching result;
    result.row_of_column = row_of_column_;
    double most          = 0;
    for (std::size_t i = 0; i < rows(); i++) {
      double here = INFINITY;
      for_row(i, [&](std::size_t k, std::size_t j) {
        if (i == j) here = slack(i, j, k);
      });
      most = std::max(most, column_of_row_[i] == -1 ? INFINITY : here);
    }
    result.smallest_diagonal = std::exp(-most);
    return result;
  }

private:
  static constexpr double free = 1e-12; ///< slack up to this is rounding

  std::size_t rows() const { return pattern_.starts.size() - 1; }
  template <class Body>
  void for_row(std::size_t i, const Body &body) const
  {
    for (auto k = static_cast<std::size_t>(pattern_.starts[i]); k < static_cast<std::size_t>(pattern_.starts[i + 1]); k++)
      body(k, static_cast<std::size_t>(pattern_.columns[k]));
  }
  double slack(std::size_t i, std::size_t j, std::size_t k) const { return costs_[k] - of_row_[i] - of_column_[j]; }
  void match(std::size_t i, std::size_t j)
  {
    column_of_row_[i] = static_cast<Index>(j);
    row_of_column_[j] = static_cast<Index>(i);
  }

  /// The shortest path from this row to a column without a row, if there is one (Dijkstra's method over slacks). It ends with the first such
  /// column that no other can be nearer than: among columns that are equally far, those with rows would be walked through for nothing. Columns
  /// from which none is in reach stay done, no later path comes out of them either.
  void augment(std::size_t first)
  {
    struct Reached {
      double distance;
      std::size_t number, column; ///< of those that are equally far the first reached goes first: the search grows on all sides
      bool operator>(const Reached &other) const { return distance != other.distance ? distance > other.distance : number > other.number; }
    };
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
    std::vector<std::size_t> reached, finished;
    double so_far = 0, nearest = INFINITY;
    std::size_t row = first, end = rows(), number = 0;
    for (;;) {
      for_row(row, [&](std::size_t k, std::size_t j) {
        if (done_[j] || !std::isfinite(costs_[k])) return;
        const double distance = so_far + std::max(0.0, slack(row, j, k));
        if (distance >= distance_[j] || distance > nearest || (distance == nearest && j != first)) return;
        if (!std::isfinite(distance_[j])) reached.push_back(j);
        distance_[j]  = distance;
        came_from_[j] = static_cast<Index>(row);
        if (row_of_column_[j] == -1) {
          nearest = distance;
          end     = j;
        } else {
          queue.push({distance, number++, j});
        }
      });
      while (!queue.empty() && (done_[queue.top().column] || queue.top().distance > distance_[queue.top().column])) queue.pop();
      if (queue.empty() || queue.top().distance >= nearest) break;
      const std::size_t column = queue.top().column;
      so_far                   = queue.top().distance;
      queue.pop();
      done_[column] = true;
      finished.push_back(column);
      row = static_cast<std::size_t>(row_of_column_[column]);
    }
    if (end == rows()) return;
    of_row_[first] += nearest;
    for (const std::size_t j : finished) {
      of_row_[static_cast<std::size_t>(row_of_column_[j])] += nearest - distance_[j];
      of_column_[j] -= nearest - distance_[j];
    }
    for (std::size_t column = end;;) {
      const auto i       = static_cast<std::size_t>(came_from_[column]);
      const Index before = column_of_row_[i];
      match(i, column);
      if (i == first) break;
      column = static_cast<std::size_t>(before);
    }
    for (const std::size_t j : reached) {
      distance_[j] = INFINITY;
      done_[j]     = false;
    }
  }

  const HostPattern &pattern_;
  std::vector<double> costs_;
  std::vector<Index> row_of_column_, column_of_row_;
  std::vector<double> of_row_, of_column_; ///< potentials
  std::vector<double> distance_;           ///< of columns from the row that a path begins with
  std::vector<Index> came_from_;
  std::vector<bool> done_;
};

} // namespace

Matching largest_product(const HostPattern &pattern, const std::vector<double> &sizes)
{
  return ShortestPaths(pattern, sizes).matching();
}

} // namespace weft::crout
