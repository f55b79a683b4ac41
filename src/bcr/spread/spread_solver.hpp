/// SpreadSolver: what a process does in a solve that is spread over several (spread_plan.hpp). The caller brings values from one array to
/// the next: right-hand sides to the slabs, blocks of modes from slabs to columns and back, solutions from the slabs.
#pragma once
#include "bcr/direct_facts.hpp"
#include "bcr/spread/spread_plan.hpp"

namespace weft {

/// Facts: singular and method are of the whole operator, flops this process's part. A bad pivot is here one that costs digits, which
/// BoxSolver knows ways around.
class SpreadSolver : public AnyDirectSolver {
public:
  /// `slab`: that of the process, as slab_of has it, with its factors. Makes tables and arrays; nothing is allocated after this, but by the
  /// first transposed solve of an operator that is not symmetric. Throws std::invalid_argument, in all processes, where lines are too long
  /// for a device. `execution` must live as long as the solver. Waits.
  static Owner<SpreadSolver> make(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process,
                                  Precision precision);

  /// The nodes of this process's slab, eliminated faces too, in the plan's order of directions: right-hand side before, solution
  /// afterwards.
  virtual double *slab() const = 0;
  /// Row by row the blocks of modes of this slab, and of this process's columns: block_bytes() each.
  virtual void *slab_modes(Transpose transpose) = 0;
  virtual void *column_modes() const            = 0;
  virtual std::size_t block_bytes() const       = 0;

  /// The three steps of a solve: slab() to slab_modes(), column_modes() in place, slab_modes() to slab(). None waits.
  virtual void to_modes(Transpose transpose)    = 0;
  virtual void solve_lines(Transpose transpose) = 0;
  virtual void from_modes(Transpose transpose)  = 0;

  /// Solves for `factor` times what it was made for from now on.
  virtual void set_factor(double factor) = 0;

protected:
  using AnyDirectSolver::AnyDirectSolver;
};

} // namespace weft
