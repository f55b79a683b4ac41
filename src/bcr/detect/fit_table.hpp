/// FitTable: the numbers of a fit (separate.hpp, (1), (2)) on the host, and what the lines through a node say of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "bcr/detect/separate_rows.hpp"

namespace weft::separation {

/// The rows of the lines through a node, as stars without wraps.
struct Lines {
  Index through[3];
  std::vector<Star> along[3];

  const Star &at(int d, Index i) const { return along[d][static_cast<std::size_t>(i)]; }
  const Star &middle() const { return at(0, through[0]); }
};

struct FitTable {
  Index grid[3] = {1, 1, 1}, start[3] = {0, 0, 0};
  double shift = 0;
  std::vector<double> values;

  explicit FitTable(const Index (&nodes)[3])
  {
    Index size = 0;
    for (int d = 0; d < 3; d++) {
      grid[d]  = nodes[d];
      start[d] = size;
      size += kinds * grid[d];
    }
    values.resize(static_cast<std::size_t>(size));
    clear();
  }

  double &operator()(int d, int kind, Index i) { return values[static_cast<std::size_t>(start[d] + kind * grid[d] + i)]; }
  double operator()(int d, int kind, Index i) const { return values[static_cast<std::size_t>(start[d] + kind * grid[d] + i)]; }

  /// Couples nothing, all weights 1.
  void clear()
  {
    std::fill(values.begin(), values.end(), 0.0);
    for (int d = 0; d < 3; d++) std::fill_n(&(*this)(d, weight, 0), grid[d], 1.0);
    shift = 0;
  }

  /// Weights that are 1 but for rounding are 1.
  void clean_weights(const Box &inner)
  {
    for (int d = 0; d < 3; d++) {
      bool uniform = true;
      for (Index i = inner.lo[d]; i < inner.hi[d]; i++) uniform = uniform && std::abs((*this)(d, weight, i) - 1) < 1e-13;
      if (uniform) std::fill_n(&(*this)(d, weight, 0), grid[d], 1.0);
    }
  }

  /// What the couplings and the row sum of T_d are together, over weight, at an index.
  double row_strength(int d, Index i) const
  {
    const FitTable &t = *this;
    return 2 * (std::abs(t(d, below, i)) + std::abs(t(d, above, i))) / t(d, weight, i) + std::abs(t(d, excess, i));
  }

  /// The couplings and weights of the operator that has those of these lines, to the last bit where coefficients are constant. False where the
  /// lines do not say them, as couplings are missing or change their sign.
  bool take_couplings(const Lines &lines, const Box &inner)
  {
    FitTable &t = *this;
    clear();
    for (int m = 0; m < 3; m++) {
      if (inner.size(m) == 1) continue;
      if (!take_weights(m, lines, inner)) return false;
    }
    for (int d = 0; d < 3; d++) {
      if (inner.size(d) == 1) continue;
      const int a = across(d, 0), b = across(d, 1);
      const double others = t(a, weight, lines.through[a]) * t(b, weight, lines.through[b]);
      for (Index i = inner.lo[d]; i < inner.hi[d]; i++) {
        t(d, below, i) = lines.at(d, i).side[d][0] / others;
        t(d, above, i) = lines.at(d, i).side[d][1] / others;
      }
    }
    clean_weights(inner);
    return true;
  }

  /// The row sums of these lines, the shift that of the node where they meet. Needs couplings and weights.
  void take_excess(const Lines &lines, const Box &inner)
  {
    FitTable &t        = *this;
    const auto weights = [&](int d, Index i) {
      const int a = across(d, 0), b = across(d, 1);
      return t(a, weight, lines.through[a]) * t(b, weight, lines.through[b]) * t(d, weight, i);
    };
    shift = lines.middle().sum() / weights(0, lines.through[0]);
    for (int d = 0; d < 3; d++) {
      for (Index i = inner.lo[d]; i < inner.hi[d]; i++) {
        const double w  = weights(d, i);
        t(d, excess, i) = i == lines.through[d] ? 0 : (lines.at(d, i).sum() - shift * w) / w;
      }
    }
  }

private:
  /// By what the strongest coupling across direction m changes along it, times a power of 2 so that none is far from 1 without need.
  bool take_weights(int m, const Lines &lines, const Box &inner)
  {
    int strongest   = -1;
    const Star &mid = lines.middle();
    double most     = 0;
    for (int c = 0; c < 6; c++) {
      const double size = c / 2 == m ? 0 : std::abs(mid.side[c / 2][c % 2]);
      if (size > most) strongest = c, most = size;
    }
    bool others = false;
    for (int d = 0; d < 3; d++) others = others || (d != m && inner.size(d) > 1);
    if (!others) return true;
    if (strongest < 0) return false;
    const double reference = mid.side[strongest / 2][strongest % 2];
    double logarithms      = 0;
    for (Index i = inner.lo[m]; i < inner.hi[m]; i++) {
      const double ratio = lines.at(m, i).side[strongest / 2][strongest % 2] / reference;
      if (!(ratio > 1e-100 && ratio < 1e100)) return false;
      (*this)(m, weight, i) = ratio;
      logarithms += std::log2(ratio);
    }
    const double unit = std::exp2(-std::round(logarithms / static_cast<double>(inner.size(m))));
    for (Index i = inner.lo[m]; i < inner.hi[m]; i++) (*this)(m, weight, i) *= unit;
    return true;
  }
};

} // namespace weft::separation
