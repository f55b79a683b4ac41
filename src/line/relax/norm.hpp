/// Norm: a number that kernels leave where they run, read only when somebody asks for it.
#pragma once
#include "base/owner.hpp"

namespace weft {

enum class NormType { two, largest };

/// The 2-norm or the largest magnitude of all that kernels measured since it was last cleared: both half-sweeps of a zebra sweep, say.
/// The same on every run of one backend with one number of threads.
class Norm {
public:
  /// `execution` must live as long. Allocates.
  Norm(const Execution &execution, NormType type);

  /// Starts again from 0. Does not wait.
  void clear();
  /// Waits for the kernels before it and brings the number to the host.
  double value() const;

  NormType type() const { return type_; }
  /// The sum of squares, or the largest magnitude, in the memory of the execution. Behind it there is room for the part that is to join it.
  double *total() const { return total_; }

private:
  const Execution &execution_;
  NormType type_;
  OwnerOfAny storage_; ///< the Kokkos object
  double *total_ = nullptr;
};

} // namespace weft
