/// Orders of rows and columns: those of a caller on the space, and rows exchanged so that the diagonal has no zero and nothing tiny.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "crout/factorization.hpp"
#include "crout/pattern/entries.hpp"
#include "crout/pattern/symbolic.hpp"

namespace weft::crout {

/// The orders on the space, checked. Empty vectors stand for the identity.
template <class Space>
Orders<Space> orders_on(const Space &space, Index rows, const FactorOrdering &ordering)
{
  Orders<Space> orders;
  const auto take = [&](const std::vector<Index> &order, const char *what, Array<std::int32_t, Space> &to,
                        Array<std::int32_t, Space> &places) {
    if (order.empty()) return;
    const std::string wrong = std::string("the order of the ") + what + " is no permutation";
    if (static_cast<Index>(order.size()) != rows) throw std::invalid_argument(wrong);
    std::vector<std::int32_t> forward(order.size()), back(order.size(), -1);
    for (std::size_t i = 0; i < order.size(); i++) {
      if (order[i] < 0 || order[i] >= rows || back[static_cast<std::size_t>(order[i])] != -1) throw std::invalid_argument(wrong);
      forward[i]                               = static_cast<std::int32_t>(order[i]);
      back[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    }
    to     = to_space(space, "weft order", forward);
    places = to_space(space, "weft places", back);
  };
  take(ordering.rows, "rows", orders.rows, orders.row_places);
  take(ordering.columns, "columns", orders.columns, orders.column_places);
  return orders;
}

/// The ordering with rows exchanged so that the diagonal has the largest product; nothing where no entry of it is tiny as it is
/// (CroutOptions::tiny_diagonal). `regular`: whether there are non-zeros for the whole diagonal; if not, the matrix is singular.
template <class Space>
std::optional<FactorOrdering> matched(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values, Index stored,
                                      const FactorOrdering &ordering, double tiny, bool &regular)
{
  const auto columns = to_vector<std::int32_t>(space, entries.columns);
  const auto lower = to_vector<Index>(space, entries.lower_starts), upper = to_vector<Index>(space, entries.upper_starts);
  const auto source = to_vector<Position>(space, entries.source);
  std::vector<KernelScalar> host_values(static_cast<std::size_t>(stored));
  using Unmanaged = Kokkos::View<const KernelScalar *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(space, HostPointer<KernelScalar>(host_values.data(), host_values.size()), Unmanaged(values, host_values.size()));
  space.fence("weft crout: values to the host");

  HostPattern pattern;
  std::vector<double> sizes;
  const auto add = [&](Index entry, std::int32_t column) {
    const Position from = source[static_cast<std::size_t>(entry)];
    if (from == nowhere) return;
    pattern.columns.push_back(column);
    const double size = modulus(host_values[from]);
    sizes.push_back(std::isfinite(size) ? size : 0);
  };
  for (Index i = 0; i < entries.rows; i++) {
    const auto at = static_cast<std::size_t>(i);
    for (Index e = lower[at]; e < lower[at + 1]; e++) add(e, columns[static_cast<std::size_t>(e)]);
    add(entries.lower + entries.upper + i, static_cast<std::int32_t>(i));
    for (Index e = entries.lower + upper[at]; e < entries.lower + upper[at + 1]; e++) add(e, columns[static_cast<std::size_t>(e)]);
    pattern.starts.push_back(static_cast<Index>(pattern.columns.size()));
  }
  Matching matching = largest_product(pattern, sizes);
  if (matching.smallest_diagonal >= std::min(tiny, 1 - 1e-9)) return std::nullopt;
  std::vector<Index> row_of_column = std::move(matching.row_of_column);

  regular = std::find(row_of_column.begin(), row_of_column.end(), -1) == row_of_column.end();
  // A singular matrix leaves columns without a row: they get the rows that are left, and a zero on the diagonal.
  std::vector<bool> used(row_of_column.size(), false);
  for (const Index row : row_of_column)
    if (row >= 0) used[static_cast<std::size_t>(row)] = true;
  Index left = 0;
  for (Index &row : row_of_column) {
    if (row >= 0) continue;
    while (used[static_cast<std::size_t>(left)]) left++;
    row = left++;
  }
  FactorOrdering result = ordering;
  if (!ordering.rows.empty())
    for (Index &row : row_of_column) row = ordering.rows[static_cast<std::size_t>(row)];
  result.rows = std::move(row_of_column);
  return result;
}

} // namespace weft::crout
