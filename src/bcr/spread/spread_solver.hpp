/// SpreadSolver: what a process does in a solve that is spread over several (spread_plan.hpp). The caller sends what it is told to.
#pragma once
#include <vector>

#include "base/message.hpp"
#include "bcr/direct_facts.hpp"
#include "bcr/spread/spread_plan.hpp"

namespace weft {

/// Facts: singular and method are of the whole operator, flops this process's part. A bad pivot is here one that costs digits, of a piece of this
/// process or of those that it joins, which BoxSolver knows ways around; it is known after meet().
class SpreadSolver : public AnyDirectSolver {
public:
  /// `slab`: that of the process, as slab_of has it, with its factors. device_messages: what travels may lie in the memory of a device. Makes tables
  /// and arrays; nothing is allocated after the first solve, and the first transposed one of an operator that is not symmetric. Throws
  /// std::invalid_argument where lines are too long for a device. `execution` must live as long as the solver. Waits.
  static Owner<SpreadSolver> make(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process,
                                  Precision precision, bool device_messages);

  /// Numbers of the nodes of this process's slab, eliminated faces too, in the plan's order of directions, for callers whose arrays are others.
  virtual KernelReal *slab() = 0;

  /// What has to travel before a solve goes on: from each process to some, itself perhaps among them, of elements of so many bytes.
  struct Exchange {
    std::vector<Message> sent, received;
    const void *from  = nullptr;
    void *to          = nullptr;
    std::size_t bytes = 0;
  };
  /// A solve from its start to the first exchange, and on to the next one; null at its end. The same on all processes. Right-hand side and solution are
  /// arrays over the slab, and may be the same one. Waits in the first solve only.
  virtual const Exchange *begin(const KernelReal *rhs, KernelReal *solution, Transpose transpose) = 0;
  virtual const Exchange *go_on()                                                                 = 0;
  /// The same of what is exchanged once, before any solve, after which it is known whether a pivot is bad. begin() does it where nobody has.
  virtual const Exchange *meet() = 0;

  /// Solves for `factor` times what it was made for from now on.
  virtual void set_factor(double factor) = 0;

protected:
  using AnyDirectSolver::AnyDirectSolver;
};

} // namespace weft
