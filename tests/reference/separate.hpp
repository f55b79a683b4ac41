/// The serial twin of the fit of separate.hpp in two dimensions: main effects of a table of logarithms.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace weft::reference {

/// The products p_i q_j that are nearest to a table of positive numbers, rows of `columns` numbers, in the least-squares sense of logarithms:
/// log p_i + log q_j = mean of row i + mean of column j - mean of all.
inline std::vector<double> nearest_products(const std::vector<double> &table, std::size_t columns)
{
  const std::size_t rows = table.size() / columns;
  std::vector<double> row(rows, 0), column(columns, 0), nearest(table.size());
  double all = 0;
  for (std::size_t k = 0; k < table.size(); k++) {
    const double value = std::log(table[k]);
    row[k / columns] += value / static_cast<double>(columns);
    column[k % columns] += value / static_cast<double>(rows);
    all += value / static_cast<double>(table.size());
  }
  for (std::size_t k = 0; k < table.size(); k++) nearest[k] = std::exp(row[k / columns] + column[k % columns] - all);
  return nearest;
}

} // namespace weft::reference
