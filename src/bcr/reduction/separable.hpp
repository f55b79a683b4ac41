/// Cyclic reduction with partial solutions (PSCR), for any number of rows and coefficients that vary along them:
///
///   lower_j U_{j-1} + (diagonal_j + B) U_j + upper_j U_{j+1} = F_j,   lower_{j+1} upper_j > 0.
///
/// Separators of level k are the multiples of r^k; a strip is what lies between two of them. Its block matrix is diagonalized by the
/// eigenvectors of its tridiagonal T_s = V diag(w) V^-1, and a partial solution (few sources, few wanted rows) needs few of their rows:
///   x_d = sum_i V_{d,i} (B + w_i I)^-1 sum_t (V^-1)_{i,t} f_t.
/// Forward, level k = 1 ..: sources are the rows of the strip that are eliminated at this level, wanted its first and last row; then
///   f_s -= upper_s x_first (strip after s),   f_s -= lower_s x_last (strip before s).
/// Backward: sources also -lower U_left at the strip's first row and -upper U_right at its last; wanted are the eliminated rows. A ring
/// holds its last row back as a separator to the end: U_last = sum_i W_{last,i}^2 (B + w_i I)^-1 f_last with the ring's eigenvectors W.
///
/// N log2 N line solves with radix 4, as many as with radix 2, in half the levels. Set-up: O(N^2) operations where coefficients vary.
/// Source: T. Rossi, J. Toivanen, SIAM J. Sci. Comput. 20 (1999) 1778; class of problems: P. Swarztrauber, SIAM J. Numer. Anal.
/// 11 (1974) 1136 (FISHPACK's BLKTRI).
#pragma once
#include <algorithm>
#include <utility>

#include "bcr/reduction/schedule.hpp"
#include "bcr/transforms/eigen.hpp"

namespace weft::poisson {

struct Separable {
  static constexpr const char *name = "separable";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &options)
  {
    if (options.radix != 0 && (options.radix < 2 || options.radix > most_radix))
      return "separable works with a radix of 2 to " + std::to_string(most_radix);
    if (!symmetrizer(problem.block))
      return "separable needs couplings lower_{i+1} and upper_i of the same sign along its block direction, and of like size";
    if (problem.block.periodic) return eigen_basis_refused(problem.block);
    return std::nullopt;
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &options)
  {
    const Strips strips(problem.block, options.radix == 0 ? 4 : options.radix);
    Schedule schedule{problem.line.shifted(problem.shift, 1), 1, {}};
    for (int k = 1; k < (problem.block.periodic ? strips.levels + 1 : strips.levels); k++) {
      // Neighbouring strips add to the same separator: not in the same step.
      for (int turn = 0; turn < 3; turn++) {
        LineStep step = strips.forward(k, turn);
        if (!step.groups.empty()) schedule.steps.push_back(std::move(step));
      }
    }
    if (problem.block.periodic) schedule.steps.push_back(ring(problem.block));
    for (int k = strips.levels; k >= 1; k--) {
      LineStep step = strips.backward(k);
      if (!step.groups.empty()) schedule.steps.push_back(std::move(step));
    }
    return schedule;
  }

private:
  static constexpr int most_radix = 5; ///< a group of shifted_lines.hpp has four outputs

  /// Rows counted from 1 to n, separators at 0 and `end`.
  struct Strips {
    const LineMatrix &block;
    Index radix, end;
    int levels = 1; ///< a strip of the last one spans all rows

    Strips(const LineMatrix &rows, int r) : block(rows), radix(r), end(rows.periodic ? rows.n : rows.n + 1)
    {
      for (Index width = radix; width < end; width *= radix) levels++;
    }
    Index width(int k) const
    {
      Index w = 1;
      for (; k > 0; k--) w *= radix;
      return w;
    }
    /// Row of the grid; -1 for a separator without unknowns.
    Index row(Index j) const
    {
      if (block.periodic && j == 0) return block.n - 1;
      return j >= 1 && j <= block.n ? j - 1 : -1;
    }
    double lower(Index j) const { return block.lower[static_cast<std::size_t>(j - 1)]; }
    double upper(Index j) const { return block.upper[static_cast<std::size_t>(j - 1)]; }

    /// Rows of a strip that its level eliminates.
    std::vector<Index> eliminated(Index left, Index right, int k) const
    {
      std::vector<Index> rows;
      const Index w = width(k - 1);
      for (Index j = (left / w + 1) * w; j < right; j += w) rows.push_back(j);
      return rows;
    }
    LineMatrix strip(Index left, Index right) const
    {
      LineMatrix line;
      line.n          = right - left - 1;
      const auto part = [&](const std::vector<double> &v) { return std::vector<double>(v.begin() + left, v.begin() + right - 1); };
      line.lower      = part(block.lower);
      line.diagonal   = part(block.diagonal);
      line.upper      = part(block.upper);
      line.lower[0] = line.upper[line.size() - 1] = 0;
      return line;
    }

    /// Calls body(number, left, right, eliminated rows) for each strip of a level that eliminates rows.
    template <class Body>
    void for_each(int k, const Body &body) const
    {
      const Index w = width(k);
      Index number  = 0;
      for (Index left = 0; left < end; left += w, number++) {
        const Index right             = std::min(left + w, end);
        const std::vector<Index> rows = eliminated(left, right, k);
        if (!rows.empty()) body(number, left, right, rows);
      }
    }

    /// Strips with the same coefficients share their poles and weights.
    struct Known {
      LineMatrix line;
      std::vector<Index> rows;
      std::vector<double> ends; ///< couplings to the separators
      Index first_pole;
    };
    template <class MakePoles>
    static Index poles_of(std::vector<Known> &known, const LineMatrix &line, const std::vector<Index> &rows,
                          const std::vector<double> &ends, const MakePoles &make)
    {
      for (const Known &k : known) {
        if (k.rows == rows && k.ends == ends && k.line == line) return k.first_pole;
      }
      const Index first = make();
      if (known.size() > 4) known.erase(known.begin()); // coefficients that vary have no strips to share with
      known.push_back({line, rows, ends, first});
      return first;
    }

    /// turn 0 and 1: every other strip; 2: a ring's last strip where it has the turn of the first one, whose separator it shares.
    LineStep forward(int k, int turn) const
    {
      LineStep step;
      step.sources          = static_cast<int>(radix) - 1;
      step.outputs          = 2;
      const Index count     = (end + width(k) - 1) / width(k);
      const bool last_apart = block.periodic && count > 1 && count % 2 == 1;
      std::vector<Known> known;
      for_each(k, [&](Index number, Index left, Index right, const std::vector<Index> &rows) {
        if ((last_apart && number == count - 1 ? 2 : number % 2) != turn) return;
        const LineMatrix line = strip(left, right);
        const Index to_left = row(left), to_right = row(right);
        const double from_left = to_left < 0 ? 0 : upper(left == 0 ? block.n : left), from_right = to_right < 0 ? 0 : lower(right);
        const bool same = to_left == to_right; // a ring of one strip
        std::vector<Index> local;
        for (Index j : rows) local.push_back(j - left - 1);
        std::vector<Index> needed = local;
        needed.push_back(0);
        needed.push_back(line.n - 1);
        const Index first_pole = poles_of(known, line, needed, {from_left, from_right, same ? 1.0 : 0.0}, [&] {
          const EigenRows eigen = eigen_rows(line, needed);
          Index first           = static_cast<Index>(step.pole.size());
          for (std::size_t i = 0; i < eigen.values.size(); i++) {
            std::vector<double> in(static_cast<std::size_t>(step.sources), 0);
            for (std::size_t t = 0; t < rows.size(); t++) in[t] = eigen.inverse[t][i];
            const double out_left = -from_left * eigen.vectors[rows.size()][i], out_right = -from_right * eigen.vectors[rows.size() + 1][i];
            step.add_pole(-eigen.values[i], in,
                          same ? std::vector<double>{out_left + out_right, 0} : std::vector<double>{out_left, out_right});
          }
          return first;
        });
        LineStep::Group group{first_pole, static_cast<int>(line.n), {}, {}};
        for (Index j : rows) group.sources.push_back({{row(j), 1}});
        const auto output = [](Index r) { return LineStep::Output{r, r < 0 ? Combination{} : Combination{{r, 1}}}; };
        group.outputs     = {output(to_left)};
        if (!same) group.outputs.push_back(output(to_right));
        step.groups.push_back(std::move(group));
      });
      return step;
    }

    LineStep backward(int k) const
    {
      LineStep step;
      step.sources = static_cast<int>(radix) + 1;
      step.outputs = static_cast<int>(radix) - 1;
      std::vector<Known> known;
      for_each(k, [&](Index, Index left, Index right, const std::vector<Index> &rows) {
        const LineMatrix line = strip(left, right);
        const double to_left = row(left) < 0 ? 0 : lower(left + 1), to_right = row(right) < 0 ? 0 : upper(right - 1);
        std::vector<Index> needed;
        for (Index j : rows) needed.push_back(j - left - 1);
        needed.push_back(0);
        needed.push_back(line.n - 1);
        const Index first_pole = poles_of(known, line, needed, {to_left, to_right}, [&] {
          const EigenRows eigen   = eigen_rows(line, needed);
          const Index first       = static_cast<Index>(step.pole.size());
          const std::size_t count = rows.size();
          for (std::size_t i = 0; i < eigen.values.size(); i++) {
            std::vector<double> in(static_cast<std::size_t>(step.sources), 0), out(static_cast<std::size_t>(step.outputs), 0);
            for (std::size_t t = 0; t < count; t++) {
              in[t + 2] = eigen.inverse[t][i];
              out[t]    = eigen.vectors[t][i];
            }
            in[0] = -to_left * eigen.inverse[count][i];
            in[1] = -to_right * eigen.inverse[count + 1][i];
            step.add_pole(-eigen.values[i], in, out);
          }
          return first;
        });
        LineStep::Group group{first_pole, static_cast<int>(line.n), {{}, {}}, {}};
        add(group.sources[0], row(left), 1);
        add(group.sources[1], row(right), 1);
        for (Index j : rows) {
          group.sources.push_back({{row(j), 1}});
          group.outputs.push_back({row(j), {}});
        }
        step.groups.push_back(std::move(group));
      });
      return step;
    }
  };

  /// The last row of a ring, all others eliminated.
  static LineStep ring(const LineMatrix &block)
  {
    const EigenBasis basis = eigen_basis(block);
    const std::size_t n = block.size(), last = n - 1;
    LineStep step;
    for (std::size_t i = 0; i < n; i++) {
      const double weight = basis.vectors[last * n + i] * basis.inverse[i * n + last];
      // Equal eigenvalues in closed form come in pairs, of which the sines vanish at a ring's first point only: both count.
      step.add_pole(-basis.values[i], {weight}, {1});
    }
    step.groups.push_back({0, static_cast<int>(n), {{{block.n - 1, 1}}}, {{block.n - 1, {}}}});
    return step;
  }
};

} // namespace weft::poisson
