/// Scalar lines in pieces: a rank's part of them, and their solver.
#pragma once
#include "line/ranks/distributed_line_solver.hpp"
#include "line_problem.hpp"
#include "pieces.hpp"

namespace weft::test {

/// This rank's part of whole lines, which every rank knows.
template <class Scalar>
struct Piece {
  using Values = std::vector<Scalar>;
  const Lines<Scalar> &whole;
  LineProblem problem;
  Index first;
  Values lower, diagonal, upper, rhs, start;

  /// `layout`: of the piece, with the lines of the whole. Constant coefficients are kept as such where no row of the closures is in the
  /// piece, else written row by row.
  Piece(const Lines<Scalar> &lines, const LineLayout &layout, Index first_row, int many = 1)
      : whole(lines), problem(lines.problem), first(first_row)
  {
    problem.layout = layout;
    const Index n = lines.layout().length, closure = problem.closure;
    const bool inner = first >= closure && first + layout.length <= n - closure;
    if (problem.coefficients == Coefficients::constant) {
      problem.closure = 0;
      if (!inner) problem.coefficients = Coefficients::shared;
    }
    const auto size = static_cast<std::size_t>(problem.coefficient_size()), span = static_cast<std::size_t>(layout.span());
    lower = diagonal = upper = Values(size, std::numeric_limits<Scalar>::quiet_NaN());
    rhs = start = Values(span * static_cast<std::size_t>(many), Scalar(0.25));
    for (Index line = 0; line < layout.count(); line++) {
      for (Index row = 0; row < layout.length; row++) {
        const auto k    = static_cast<std::size_t>(problem.coefficient(row, layout.start(line) + row * layout.stride));
        const auto from = lines.at(line, first + row);
        lower[k]        = lines.lower[from];
        diagonal[k]     = lines.diagonal[from];
        upper[k]        = lines.upper[from];
        for (int m = 0; m < many; m++) {
          const auto i = element(line, row, m), j = of_whole(line, row, m);
          rhs[i]   = lines.rhs[j];
          start[i] = lines.start[j];
        }
      }
    }
  }
  std::size_t element(Index line, Index row, int many = 0) const
  {
    return static_cast<std::size_t>(many * problem.layout.span() + problem.layout.start(line) + row * problem.layout.stride);
  }
  std::size_t of_whole(Index line, Index row, int many = 0) const
  {
    return static_cast<std::size_t>(many * whole.layout().span()) + whole.element(line, first + row);
  }

  /// What the piece's solution must be, from that of the whole.
  Values part_of(const Values &solution, Values before, int many = 1) const
  {
    for (Index line = 0; line < problem.layout.count(); line++) {
      for (Index row = 0; row < problem.layout.length; row++) {
        for (int m = 0; m < many; m++) before[element(line, row, m)] = solution[of_whole(line, row, m)];
      }
    }
    return before;
  }
};

template <class Scalar>
struct DistributedSolving {
  Execution execution;
  DistributedLineSolver<Scalar> solver;
  Buffer<Scalar> lower, diagonal, upper;

  DistributedSolving(const Piece<Scalar> &piece, const std::string &method, Memory memory, const MethodParameters &parameters = {},
                     bool device_messages = false)
      : execution(memory), solver(execution, MPI_COMM_WORLD, piece.problem, method, parameters, device_messages),
        lower(memory, piece.lower), diagonal(memory, piece.diagonal), upper(memory, piece.upper)
  {
    solver.use(lower.data(), diagonal.data(), upper.data());
    solver.factor();
  }
};

} // namespace weft::test
