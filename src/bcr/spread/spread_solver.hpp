/// SpreadSolver: what a process does in a solve that is spread over several (spread_plan.hpp). The caller brings values from one array to
/// the next: right-hand sides to the slabs, blocks of modes from slabs to columns and back, solutions from the slabs.
#pragma once
#include <memory>
#include <string>

#include "bcr/box_solver.hpp"
#include "bcr/spread/spread_plan.hpp"

namespace weft {

class SpreadSolver {
public:
  /// `slab`: that of the process, as slab_of has it, with its factors. Makes tables and arrays; nothing is allocated after this, but by the
  /// first transposed solve of an operator that is not symmetric. Throws std::invalid_argument, in all processes, where lines are too long
  /// for a device. `execution` must live as long as the solver. Waits.
  SpreadSolver(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process, Precision precision);
  ~SpreadSolver();
  SpreadSolver(const SpreadSolver &)            = delete;
  SpreadSolver &operator=(const SpreadSolver &) = delete;

  /// The nodes of this process's slab, eliminated faces too, in the plan's order of directions: right-hand side before, solution
  /// afterwards.
  double *slab() const;
  /// Row by row the blocks of modes of this slab, and of this process's columns: block_bytes() each.
  void *slab_modes(Transpose transpose = Transpose::no) const;
  void *column_modes() const;
  std::size_t block_bytes() const;

  /// The three steps of a solve: slab() to slab_modes(), column_modes() in place, slab_modes() to slab(). None waits.
  void to_modes(Transpose transpose = Transpose::no) const;
  void solve_lines(Transpose transpose = Transpose::no) const;
  void from_modes(Transpose transpose = Transpose::no) const;

  const Execution &execution() const;
  /// Of the whole operator, as BoxSolver says.
  bool singular() const;
  /// True where a line meets pivots that cost digits, which BoxSolver knows ways around.
  bool small_pivot() const;
  std::string description() const;
  /// Memory of this process, and its part of the operations of a solve.
  std::size_t work_bytes() const;
  double flops() const;

  struct Model; ///< one for each precision

private:
  std::unique_ptr<Model> model_;
};

} // namespace weft
