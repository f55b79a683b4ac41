/// Schedule: what a method does, as a list of steps on the rows of the grid. A method writes it at set-up on the host; shifted_lines.hpp
/// and transform.hpp carry it out on a backend. A row is a whole line of unknowns along the direction of the line solves.
///
/// Rows 0 .. n-1 are those of the solution array, which holds the right-hand side (times `factor`) at first; n .. 2n-1 those of the work
/// array.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bcr/detect/direction_matrix.hpp"
#include "bcr/transforms/eigen.hpp"
#include "bcr/transforms/trigonometric.hpp"

namespace weft::poisson {

/// factor * row
struct Term {
  Index row;
  double factor;
};
using Combination = std::vector<Term>;

/// Adds a term unless the row's unknowns are 0.
inline void add(Combination &sum, Index row, double factor)
{
  if (row >= 0) sum.push_back({row, factor});
}

enum class Lines {
  fractions, ///< output_d = kept_d + sum_p out_{p,d} (B - pole_p I)^-1 sum_s in_{p,s} source_s
  solves,    ///< output_d = kept_d + out_d prod_p (B - pole_p I)^-1 sum_s in_s source_s, one after the other; weights of the first pole
  products,  ///< the same with (B - pole_p I) for its inverse
};

/// One launch: groups that do not read what others write, but for the elements that they write themselves.
struct LineStep {
  struct Output {
    Index row;
    Combination kept;
  };
  struct Group {
    Index first_pole = 0;
    int poles        = 0;
    std::vector<Combination> sources; ///< as many as `sources`
    std::vector<Output> outputs;      ///< as many as `outputs`, or fewer
  };
  Lines kind  = Lines::fractions;
  int sources = 1, outputs = 1;
  std::vector<Group> groups;
  std::vector<double> pole, in, out; ///< in: pole, source. out: pole, output. Groups may share them

  Index add_pole(double value, const std::vector<double> &source_weights, const std::vector<double> &output_weights)
  {
    pole.push_back(value);
    in.insert(in.end(), source_weights.begin(), source_weights.end());
    out.insert(out.end(), output_weights.begin(), output_weights.end());
    return static_cast<Index>(pole.size()) - 1;
  }
};

/// Rows to_first + q to_step = sum_j matrix(q, j) rows from_first + j from_step.
struct TransformStep {
  Index n = 0;
  std::vector<double> matrix;         ///< n * n, row after row; empty where the transform is fast
  std::optional<TransformShape> fast; ///< what takes the place of the matrix
  Index from_first = 0, from_step = 1, to_first = 0, to_step = 1;
  std::shared_ptr<const DenseBasis> there = {}; ///< what takes the place of the matrix: V^-1 of it where `to_modes`, else V
  bool to_modes                           = false;
  Parity parity                           = {};
};

/// Columns left over by shorter ones with a fast transform (bordering.hpp). Rows 0 and 1 of `step` are the last column alone, or the sum
/// and the difference of the first and the last one.
struct Bordering {
  int left_over = 1; ///< the last column, or the first and the last
  FastModes inner;   ///< of the others
  /// Per inner mode: what enters it from its row of `step` and what it adds to that row. Modes take turns where there are two rows.
  std::vector<double> into, out;
  LineStep step;
};

struct Schedule {
  LineMatrix line;   ///< B
  double factor = 1; ///< of the right-hand side, and of shifts that a third direction adds to B
  std::vector<std::variant<LineStep, TransformStep>> steps;
  bool tensor                        = false; ///< transform to modes, a line solve for each, transform back
  std::optional<Bordering> bordering = {};    ///< of a tensor product whose transforms are chirps
};

/// The problem as a method sees it: lines along one direction, rows of the grid along another, T_line (x) I + I (x) T_block + shift I.
struct RowProblem {
  LineMatrix line, block;
  double shift              = 0;
  const BasisSource *source = nullptr; ///< of eigenvectors; null: the host
};

} // namespace weft::poisson
