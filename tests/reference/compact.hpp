/// The serial twin of CompactStencil: one whole line, row by row.
#pragma once
#include <vector>

#include "base/real_of.hpp"
#include "kernels/compact_stencil.hpp"

namespace weft::reference {

template <class Scalar>
std::vector<Scalar> apply_rows(const CompactRows &rows, bool ring, const std::vector<Scalar> &f)
{
  const auto n     = static_cast<Index>(f.size());
  const auto value = [&](Index row) { return f[static_cast<std::size_t>((row + n) % n)]; };
  std::vector<Scalar> result;
  for (Index row = 0; row < n; row++) {
    const auto from_start = static_cast<std::size_t>(row), from_end = static_cast<std::size_t>(n - 1 - row);
    Scalar sum = 0;
    if (!ring && from_start < rows.head.size()) {
      for (std::size_t j = 0; j < rows.head[from_start].size(); j++) sum += static_cast<RealOf<Scalar>>(rows.head[from_start][j]) * f[j];
    } else if (!ring && from_end < rows.tail.size()) {
      for (std::size_t j = 0; j < rows.tail[from_end].size(); j++)
        sum += static_cast<RealOf<Scalar>>(rows.tail[from_end][j]) * f[f.size() - 1 - j];
    } else {
      for (Index j = -rows.width(); j <= rows.width(); j++)
        sum += static_cast<RealOf<Scalar>>(rows.inner[static_cast<std::size_t>(rows.width() + j)]) * value(row + j);
    }
    result.push_back(sum);
  }
  return result;
}

} // namespace weft::reference
