/// Milestone: waiting for some of the kernels of an execution. Needs no Kokkos header.
#pragma once
#include "base/execution.hpp"

namespace weft {

/// A place among the kernels of an execution: what was launched before it can be waited for while what was launched after it runs.
class Milestone {
public:
  /// `execution` must live as long as this.
  explicit Milestone(const Execution &execution);
  ~Milestone();
  Milestone(const Milestone &)            = delete;
  Milestone &operator=(const Milestone &) = delete;

  /// Puts it behind all kernels launched so far.
  void set();
  /// Waits for what was launched before set().
  void wait() const;
  /// Lets kernels that are launched on `later` from now on wait for it, and the host go on.
  void hold(const Execution &later) const;

private:
  const Execution &execution_;
  void *event_ = nullptr; ///< a cudaEvent_t or hipEvent_t; null where kernels are done when they return, or all are waited for
};

} // namespace weft
