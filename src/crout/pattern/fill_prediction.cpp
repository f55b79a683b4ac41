#include "crout/pattern/fill_prediction.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <utility>

namespace weft::crout {

namespace {

using Indices = std::vector<Index>;

auto &at(auto &values, Index i)
{
  return values[static_cast<std::size_t>(i)];
}

/// Children before their parent, each subtree in one piece.
Indices postorder(const Indices &parent)
{
  const auto rows = static_cast<Index>(parent.size());
  Indices child(parent.size(), -1), next(parent.size(), -1), order, path;
  for (Index j = rows - 1; j >= 0; j--) {
    if (at(parent, j) == -1) continue;
    at(next, j)              = at(child, at(parent, j));
    at(child, at(parent, j)) = j;
  }
  order.reserve(parent.size());
  for (Index root = 0; root < rows; root++) {
    if (at(parent, root) != -1) continue;
    path.assign(1, root);
    while (!path.empty()) {
      const Index j = path.back(), deeper = at(child, j);
      if (deeper != -1) {
        at(child, j) = at(next, deeper);
        path.push_back(deeper);
      } else {
        order.push_back(j);
        path.pop_back();
      }
    }
  }
  return order;
}

/// The leaves of row subtrees, met in postorder: each adds a path to the tree, but for what the one before it has.
class RowSubtrees {
public:
  RowSubtrees(const Indices &first) : first_(first), most_(first.size(), -1), leaf_(first.size(), -1), ancestor_(first.size())
  {
    for (std::size_t i = 0; i < ancestor_.size(); i++) ancestor_[i] = static_cast<Index>(i);
  }
  /// Whether column j is a leaf of the subtree of row i; then also where its path meets those before, or -1 if it is the first.
  std::pair<bool, Index> leaf(Index i, Index j)
  {
    if (at(first_, j) <= at(most_, i)) return {false, -1};
    at(most_, i)      = at(first_, j);
    const Index other = std::exchange(at(leaf_, i), j);
    if (other == -1) return {true, -1};
    Index meeting = other;
    while (meeting != at(ancestor_, meeting)) meeting = at(ancestor_, meeting);
    for (Index k = other; k != meeting;) k = std::exchange(at(ancestor_, k), meeting);
    return {true, meeting};
  }
  void join(Index j, Index parent) { at(ancestor_, j) = parent; }

private:
  const Indices &first_; ///< descendants, as places in the postorder
  Indices most_, leaf_, ancestor_;
};

/// A number in the first line of a file; infinity where there is none.
double number_in(const char *path)
{
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

} // namespace

FillPrediction predict_fill(const HostPattern &lower)
{
  const Index rows     = lower.rows();
  const auto size      = static_cast<std::size_t>(rows);
  const Indices parent = elimination_tree(lower), order = postorder(parent);
  Indices starts(size + 1, 0), row_of(lower.columns.size()); // by columns
  for (const Index j : lower.columns) at(starts, j + 1)++;
  for (Index j = 0; j < rows; j++) at(starts, j + 1) += at(starts, j);
  Indices next(starts.begin(), starts.end() - 1);
  for (Index i = 0; i < rows; i++) {
    for (Index k = at(lower.starts, i); k < at(lower.starts, i + 1); k++) at(row_of, at(next, at(lower.columns, k))++) = i;
  }
  Indices first(size, -1), counts(size, 0); // of column j: what it adds to those of its children
  for (Index k = 0; k < rows; k++) {
    Index j       = at(order, k);
    at(counts, j) = at(first, j) == -1 ? 1 : 0;
    for (; j != -1 && at(first, j) == -1; j = at(parent, j)) at(first, j) = k;
  }
  RowSubtrees subtrees(first);
  for (const Index j : order) {
    if (at(parent, j) != -1) at(counts, at(parent, j))--;
    for (Index k = at(starts, j); k < at(starts, j + 1); k++) {
      const auto [is_leaf, meeting] = subtrees.leaf(at(row_of, k), j);
      if (is_leaf) at(counts, j)++;
      if (meeting != -1) at(counts, meeting)--;
    }
    if (at(parent, j) != -1) subtrees.join(j, at(parent, j));
  }
  FillPrediction prediction;
  prediction.rows = rows;
  for (Index j = 0; j < rows; j++) {
    if (at(parent, j) != -1) at(counts, at(parent, j)) += at(counts, j);
    const Index below = at(counts, j) - 1;
    prediction.entries += below;
    prediction.operations += static_cast<double>(below) * static_cast<double>(below);
  }
  return prediction;
}

std::string FillPrediction::text(Index matrix_entries) const
{
  char text[160];
  std::snprintf(text, sizeof text, "all fill: %.3g entries, %.3g times the matrix', %.2g multiplications", static_cast<double>(size()),
                static_cast<double>(size()) / static_cast<double>(std::max<Index>(matrix_entries, 1)), operations);
  return text;
}

double host_memory_left()
{
  double left = std::numeric_limits<double>::infinity();
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    double kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) left = kibibytes * 1024;
  }
  const double most = number_in("/sys/fs/cgroup/memory.max"), now = number_in("/sys/fs/cgroup/memory.current");
  return most < std::numeric_limits<double>::infinity() && now <= most ? std::min(left, most - now) : left;
}

} // namespace weft::crout
