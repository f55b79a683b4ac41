/// What BoxSolver, DirectSolver and SpreadSolver have in common: where they run, and what they say of themselves.
#pragma once
#include <cstddef>
#include <string>

#include "base/owner.hpp"

namespace weft {

enum class Precision { both_double, single_inside };

/// What is known of a direct solver once it is made.
struct DirectFacts {
  std::string method;      ///< the one in use (never "auto")
  std::string description; ///< one line for people: method, directions, line solves
  bool singular  = false;  ///< the constant vector is in the null space of A
  bool bad_pivot = false;  ///< elimination of some line meets an unusable pivot: A is singular, or too near to it
  double flops   = 0;      ///< operations of a solve of one right-hand side
};

class AnyDirectSolver {
public:
  virtual ~AnyDirectSolver()                          = default;
  AnyDirectSolver(const AnyDirectSolver &)            = delete;
  AnyDirectSolver &operator=(const AnyDirectSolver &) = delete;

  const Execution &execution() const { return execution_; }
  const DirectFacts &facts() const { return facts_; }
  /// Memory that the solver holds, in that of the execution.
  virtual std::size_t work_bytes() const = 0;

protected:
  explicit AnyDirectSolver(const Execution &execution) : execution_(execution) {}

  DirectFacts facts_;

private:
  const Execution &execution_;
};

} // namespace weft
