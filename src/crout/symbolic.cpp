#include "crout/symbolic.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

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

/// One augmenting path from row `first` over entries for which allowed(entry) holds; without recursion, since paths may be long.
class AugmentingPaths {
public:
  AugmentingPaths(const HostPattern &pattern, std::vector<Index> &row_of_column)
      : pattern_(pattern), row_of_column_(row_of_column), visited_(row_of_column.size(), -1), next_(row_of_column.size()),
        cheap_(row_of_column.size())
  {
  }

  template <class Allowed>
  bool augment(Index first, Index stamp, const Allowed &allowed)
  {
    path_.assign(1, first);
    start(first);
    while (!path_.empty()) {
      const Index row = path_.back();
      // A column without a row ends the path.
      for (Index &k = at(cheap_, row); k < at(pattern_.starts, row + 1); k++) {
        if (allowed(row, k) && at(row_of_column_, at(pattern_.columns, k)) == -1) {
          take(k);
          return true;
        }
      }
      Index deeper = -1;
      for (Index &k = at(next_, row); k < at(pattern_.starts, row + 1) && deeper == -1; k++) {
        const Index column = at(pattern_.columns, k);
        if (!allowed(row, k) || at(visited_, column) == stamp) continue;
        at(visited_, column) = stamp;
        deeper               = at(row_of_column_, column);
        if (deeper != -1) {
          chosen_.push_back(k);
          break; // the loop's k++ must wait until this entry is given up
        }
      }
      if (deeper == -1) {
        path_.pop_back();
        if (!chosen_.empty()) {
          chosen_.pop_back();
          at(next_, path_.back())++;
        }
      } else {
        path_.push_back(deeper);
        start(deeper);
      }
    }
    return false;
  }

private:
  template <class Values>
  static auto &at(Values &values, Index i)
  {
    return values[static_cast<std::size_t>(i)];
  }
  void start(Index row) { at(next_, row) = at(cheap_, row) = at(pattern_.starts, row); }
  /// The last row of the path takes the column of entry k, each row before it the column that it wanted.
  void take(Index k)
  {
    at(row_of_column_, at(pattern_.columns, k)) = path_.back();
    for (std::size_t p = chosen_.size(); p-- > 0;) at(row_of_column_, at(pattern_.columns, chosen_[p])) = path_[p];
    chosen_.clear();
  }

  const HostPattern &pattern_;
  std::vector<Index> &row_of_column_;
  std::vector<Index> visited_, next_, cheap_, path_, chosen_;
};

} // namespace

std::vector<Index> row_of_each_column(const HostPattern &pattern, const std::vector<double> &sizes)
{
  const Index rows = pattern.rows();
  std::vector<double> largest(static_cast<std::size_t>(rows), 0);
  const auto of = [](auto &values, Index i) -> auto &
  {
    return values[static_cast<std::size_t>(i)];
  };
  for (Index i = 0; i < rows; i++) {
    for (Index k = of(pattern.starts, i); k < of(pattern.starts, i + 1); k++) of(largest, i) = std::max(of(largest, i), of(sizes, k));
  }
  std::vector<Index> row_of_column(static_cast<std::size_t>(rows), -1);
  AugmentingPaths paths(pattern, row_of_column);
  std::vector<bool> has_column(static_cast<std::size_t>(rows), false);
  Index stamp = 0;
  for (const double share : {0.5, 0.1, 1e-3, 0.0}) {
    const auto allowed = [&](Index row, Index k) { return of(sizes, k) > 0 && of(sizes, k) >= share * of(largest, row); };
    for (Index i = 0; i < rows; i++) {
      if (!has_column[static_cast<std::size_t>(i)]) has_column[static_cast<std::size_t>(i)] = paths.augment(i, stamp++, allowed);
    }
  }
  return row_of_column;
}

} // namespace weft::crout
