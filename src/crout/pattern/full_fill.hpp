/// The pattern of complete factors. The symbolic step runs on the host, once for a pattern; its result goes back to the space.
#pragma once
#include "base/vendor.hpp"
#include "crout/factorization.hpp"
#include "crout/pattern/entries.hpp"
#include "crout/pattern/fill_prediction.hpp"
#include "crout/pattern/symbolic.hpp"

namespace weft::crout {

/// Bytes that can still be taken where the space has its memory.
template <class Space>
double memory_left()
{
#if defined(WEFT_HAVE_VENDOR)
  if constexpr (!std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>) {
    std::size_t left = 0, all = 0;
    return vendor::memory(left, all) == vendor::success ? static_cast<double>(left) : std::numeric_limits<double>::infinity();
  }
#endif
  return host_memory_left();
}

/// Refuses, with the numbers, what does not fit or takes too long. `value`: bytes of a value of the factors.
template <class Space>
void check_fill(const FillPrediction &prediction, Index matrix_entries, std::size_t value, const CroutOptions &options)
{
  constexpr bool on_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
  const std::string fill = prediction.text(matrix_entries);
  if (options.tell) options.tell(fill);
  // Of each entry of the factors: column, row and source, its value and the matrix'. On the host, where they are found: three columns of half
  // of the entries, and on a device nothing more.
  const double size = static_cast<double>(prediction.size()), each = 12 + 2.0 * static_cast<double>(value);
  const auto fits = [&](double bytes, double left, const char *where) {
    if (bytes <= left) return;
    char text[160];
    std::snprintf(text, sizeof text, ", take at least %.3g GiB, and the %s has %.3g GiB left", bytes / 0x1p30, where, left / 0x1p30);
    throw std::length_error("the factors do not fit into memory: " + fill + text);
  };
  fits(6 * size + (on_host ? each * size : 0), host_memory_left(), "host");
  if (!on_host) fits(each * size, memory_left<Space>(), "device");
  if (options.most_operations > 0 && prediction.operations > options.most_operations) {
    char text[80];
    std::snprintf(text, sizeof text, ", more than the %.3g that are allowed", options.most_operations);
    throw TooManyOperations("the factors would take too long: " + fill + text);
  }
}

/// The pattern of the Cholesky factor of |B| + |B^T| and its mirror image, which holds all fill of B without row exchanges. Waits. Throws
/// std::length_error where the factors would have more than `most` entries, and as check_fill().
template <class Space>
FactorEntries<Space> full_fill(const Space &space, const FactorEntries<Space> &entries, Index most, std::size_t value,
                               const CroutOptions &options)
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

  check_fill<Space>(predict_fill(lower), entries.size(), value, options);
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
