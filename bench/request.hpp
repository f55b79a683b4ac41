/// What a suite asks for: lines, who solves them, and how. Free of Kokkos.
#pragma once
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "harness.hpp"
#include "line/line_problem.hpp"

namespace weft::bench {

/// What the rows of lines hold.
enum class Values : int {
  dominant, ///< random, diagonally dominant
  uniform,  ///< random, each entry uniform in [-1, 1): only methods that pivot are safe
  type_5,   ///< the same, half of the couplings zero: matrix 5 of the tree partitioning paper
  type_12,  ///< the same, couplings to the row before 1e-50 times as large: its matrix 12
  poisson,  ///< -1, 2, -1 with the solution 1
  pade,     ///< 1/4, 1, 1/4 inside, 1, 2 and 2, 1 at the ends: the compact derivative of fourth order
};

/// True where the right-hand side is made for a known solution: 1, or random values.
WEFT_INLINE bool solution_is_known(Values values)
{
  return values == Values::poisson || values == Values::pade;
}

/// True where single lines may be close to singular, so that the median over the lines says more of a method than the worst line.
WEFT_INLINE bool not_dominant(Values values)
{
  return values == Values::uniform || values == Values::type_5 || values == Values::type_12;
}

/// Words that a solve must move for a row, or a node of `block` unknowns, at least: the coefficients, where each row has its own, the
/// right-hand side and the solution.
inline int words_of_row(Coefficients coefficients, int block = 1)
{
  return (coefficients == Coefficients::general ? 3 * block * block : 0) + 2 * block;
}

enum class Operation { one_shot, solve };

/// A method of the library and what it is told.
struct MethodSpec {
  std::string name;
  MethodParameters parameters = {};
  /// As it appears in results: "spike,partitions=16".
  std::string text() const;
};

/// Benchmarks on the same lines.
struct Request {
  Size size;
  bool contiguous           = true; ///< else the rows of a line are as far apart as there are lines
  Coefficients coefficients = Coefficients::general;
  Values values             = Values::dominant;
  int block                 = 1; ///< unknowns of a node: above 1 lines are block-tridiagonal, with general coefficients
  std::vector<std::string> precisions{"fp64"};
  std::vector<Operation> operations{Operation::one_shot};
  std::vector<MethodSpec> methods          = {};
  std::vector<std::string> one_shot_rivals = {}, solve_rivals = {}; ///< as "cusparse:gtsv2" or "lapack:gttrs"

  LineProblem lines() const;
  std::string coefficients_text() const;
  const std::vector<std::string> &rivals(Operation operation) const
  {
    return operation == Operation::one_shot ? one_shot_rivals : solve_rivals;
  }
};

inline const char *text_of(Operation operation)
{
  return operation == Operation::one_shot ? "one-shot" : "solve";
}

/// The requests of a suite.
std::vector<Request> suite(const std::string &name, Memory memory);

} // namespace weft::bench
