/// A complex matrix as a real one and a complex shift: A = turn (R + i s D), where rows of faces may have another turn. R is what separate() reads. The way in for callers without Kokkos.
///
/// `turn`, a number of size 1, makes the couplings real: the square of a coupling c = turn r, over its size, has the phase of turn^2 whatever the
/// sign of r is, and turn is the root of the sum of these over the matrix. The rows of eliminated faces, where a 1 may stand on the diagonal, have
/// turns of their own. What is left of imaginary parts is on the diagonal, s times the
/// weights of the separable operator that R is, where A is separable: a Laplacian with a complex shift (the shifted Laplacian of Helmholtz,
/// 1 + i dt H of Schroedinger's equation). Elsewhere s is their least-squares fit, and what differs counts as a deviation.
#pragma once
#include <complex>
#include <vector>

#include "base/owner.hpp"
#include "bcr/detect/separate.hpp"

namespace weft {

/// The local rows of a complex matrix as separate() reads them.
template <class Scalar, class Int>
class RealRows {
public:
  /// `rows`: how many; `outside` as in GridMatrix. Waits. Collective over the processes that `all_ranks` combines.
  RealRows(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &inside, const CsrMatrix<Scalar, Int> &outside,
           const AllRanks &all_ranks);

  const CsrMatrix<KernelReal, Int> &inside() const { return inside_; }
  const CsrMatrix<KernelReal, Int> &outside() const { return outside_; }

  /// Adds to what separate() found of them the turn, the imaginary shift, and the deviation that these leave. first, nodes: the box of nodes
  /// that this process holds. Collective, as above.
  void add_shift(const Index (&first)[3], const Index (&nodes)[3], const AllRanks &all_ranks, Separation &found) const;

private:
  struct Row {
    std::complex<double> turn = 1;
    double own = 0, beside = 0, size = 0; ///< the diagonal's imaginary part, the sizes of those of the couplings, sum of moduli
  };

  /// Of one direction, where couplings say nothing of weights: those of which the imaginary parts are a shift's.
  void add_weights(const Index (&first)[3], const Index (&nodes)[3], const AllRanks &all_ranks, Separation &found) const;
  void add_turns_of_faces(const Index (&first)[3], const Index (&nodes)[3], const AllRanks &all_ranks, Separation &found) const;

  CsrMatrix<KernelReal, Int> inside_, outside_;
  OwnerOfAny inside_values_, outside_values_; ///< the memory
  std::complex<double> turn_ = 1;
  std::vector<Row> rows_;
};

/// Those of a real one are what they are.
template <class Int>
class RealRows<KernelReal, Int> {
public:
  RealRows(const Execution &, Index, const CsrMatrix<KernelReal, Int> &inside, const CsrMatrix<KernelReal, Int> &outside, const AllRanks &)
      : inside_(inside), outside_(outside)
  {
  }

  const CsrMatrix<KernelReal, Int> &inside() const { return inside_; }
  const CsrMatrix<KernelReal, Int> &outside() const { return outside_; }
  void add_shift(const Index (&)[3], const Index (&)[3], const AllRanks &, Separation &) const {}

private:
  CsrMatrix<KernelReal, Int> inside_, outside_;
};

} // namespace weft
