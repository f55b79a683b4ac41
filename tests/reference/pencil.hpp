/// The serial twin of PencilSolver: the operator itself, row after row.
#pragma once
#include <cmath>
#include <vector>

#include "bcr/pencil/pencil_operator.hpp"

namespace weft::reference {

/// A sparse matrix, rows one after the other.
struct Rows {
  std::vector<std::int32_t> starts{0}, columns;
  std::vector<double> values;

  std::vector<double> times(const std::vector<double> &u, bool transposed = false) const
  {
    std::vector<double> f(u.size(), 0);
    for (std::size_t row = 0; row + 1 < starts.size(); row++) {
      for (auto k = static_cast<std::size_t>(starts[row]); k < static_cast<std::size_t>(starts[row + 1]); k++) {
        const auto column = static_cast<std::size_t>(columns[k]);
        f[transposed ? column : row] += values[k] * u[transposed ? row : column];
      }
    }
    return f;
  }
};

/// The products of a PencilOperator, on a grid with `before` and `after` more nodes at the ends of each direction: their rows are identities, to
/// which the others couple by `boundary` times a number of their own.
inline Rows rows_of(const PencilOperator &op, const Index (&before)[3] = {0, 0, 0}, const Index (&after)[3] = {0, 0, 0},
                    double boundary = 0)
{
  Index n[3], grid[3];
  for (int d = 0; d < 3; d++) n[d] = op.directions[d].n(), grid[d] = n[d] + before[d] + after[d];
  Rows rows;
  for (Index node = 0; node < grid[0] * grid[1] * grid[2]; node++) {
    const Index at[3] = {node % grid[0] - before[0], node / grid[0] % grid[1] - before[1], node / grid[0] / grid[1] - before[2]};
    const auto inside = [&](const Index(&i)[3]) {
      return i[0] >= 0 && i[0] < n[0] && i[1] >= 0 && i[1] < n[1] && i[2] >= 0 && i[2] < n[2];
    };
    for (int step = 0; step < 27; step++) {
      const int steps[3] = {step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1};
      Index to[3];
      bool there = true;
      for (int d = 0; d < 3; d++) {
        to[d] = at[d] + steps[d];
        if (op.directions[d].periodic()) to[d] = (to[d] + n[d]) % n[d];
        there = there && to[d] >= -before[d] && to[d] < n[d] + after[d];
      }
      if (!there) continue;
      double value = 0;
      if (!inside(at)) {
        value = step == 13 ? 2 + 0.1 * static_cast<double>(node % 7) : 0;
      } else if (!inside(to)) {
        value = boundary * (1 + 0.1 * static_cast<double>((node + step) % 5));
      } else {
        for (std::size_t c = 0; c < 8; c++) {
          double product = op.core[c];
          for (int d = 0; d < 3; d++) {
            const auto &m = op.directions[d].matrix[(c >> d) & 1];
            product *= (steps[d] < 0 ? m.lower : steps[d] > 0 ? m.upper : m.diagonal)[static_cast<std::size_t>(at[d])];
          }
          value += product;
        }
      }
      if (value == 0) continue;
      rows.columns.push_back(static_cast<std::int32_t>(to[0] + before[0] + grid[0] * (to[1] + before[1] + grid[1] * (to[2] + before[2]))));
      rows.values.push_back(value);
    }
    rows.starts.push_back(static_cast<std::int32_t>(rows.columns.size()));
  }
  return rows;
}

} // namespace weft::reference
