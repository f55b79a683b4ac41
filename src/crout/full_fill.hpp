/// The pattern of complete factors. The symbolic step runs on the host, once for a pattern; its result goes back to the space.
#pragma once
#include "crout/entries.hpp"
#include "crout/symbolic.hpp"

namespace weft::crout {

/// The pattern of the Cholesky factor of |B| + |B^T| and its mirror image, which holds all fill of B without row exchanges. Waits. Throws
/// std::length_error where the factors would have more than `most` entries.
template <class Space>
FactorEntries<Space> full_fill(const Space &space, const FactorEntries<Space> &entries, Index most)
{
  const auto rows    = static_cast<std::size_t>(entries.rows);
  const auto columns = to_vector<std::int32_t>(space, entries.columns), row_of = to_vector<std::int32_t>(space, entries.row_of);
  HostPattern lower;
  lower.starts.assign(rows + 1, 0);
  for (std::size_t e = 0; e < columns.size(); e++) lower.starts[static_cast<std::size_t>(std::max(columns[e], row_of[e])) + 1]++;
  for (std::size_t i = 0; i < rows; i++) lower.starts[i + 1] += lower.starts[i];
  lower.columns.resize(columns.size());
  std::vector<Index> next(lower.starts.begin(), lower.starts.end() - 1);
  for (std::size_t e = 0; e < columns.size(); e++)
    lower.columns[static_cast<std::size_t>(next[static_cast<std::size_t>(std::max(columns[e], row_of[e]))]++)] =
        std::min(columns[e], row_of[e]);

  const HostPattern factor = complete_fill(lower, (most - entries.rows) / 2);
  const std::size_t size   = factor.columns.size();
  std::vector<Index> upper_starts(rows + 1, 0);
  for (const std::int32_t column : factor.columns) upper_starts[static_cast<std::size_t>(column) + 1]++;
  for (std::size_t i = 0; i < rows; i++) upper_starts[i + 1] += upper_starts[i];
  std::vector<std::int32_t> both(2 * size);
  std::copy(factor.columns.begin(), factor.columns.end(), both.begin());
  next.assign(upper_starts.begin(), upper_starts.end() - 1);
  for (std::size_t i = 0; i < rows; i++) { // rows ascend, so do the columns of the mirror image
    for (auto e = static_cast<std::size_t>(factor.starts[i]); e < static_cast<std::size_t>(factor.starts[i + 1]); e++)
      both[size + static_cast<std::size_t>(next[static_cast<std::size_t>(factor.columns[e])]++)] = static_cast<std::int32_t>(i);
  }
  const auto count = static_cast<Index>(size);
  return extended(space, entries, to_space(space, "weft lower starts", factor.starts), to_space(space, "weft upper starts", upper_starts),
                  count, count, to_space(space, "weft factor columns", both));
}

} // namespace weft::crout
