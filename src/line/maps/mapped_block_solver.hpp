/// Lines of blocks through the nodes of any matrix whose rows come in blocks: the graph of its nodes, and the block-tridiagonal part along the
/// lines of a LineMap of nodes. The sibling of MappedLineSolver. Needs no Kokkos header.
#pragma once
#include "base/csr_copy.hpp"
#include "line/blocks/block_line_solver.hpp"
#include "line/maps/line_map.hpp"

namespace weft {

/// How the nodes of a matrix couple, `block` rows each: the Frobenius norms of its blocks, a CSR matrix of `nodes` rows in the memory of the
/// execution. Columns outside the nodes are left out. Waits; made on the host.
template <class Scalar, class Int>
std::unique_ptr<CsrCopy<Scalar, Int>> node_couplings(const Execution &execution, Index nodes, Index block,
                                                     const CsrMatrix<Scalar, Int> &matrix);

template <class Scalar>
class MappedBlockSolver {
public:
  /// All lines are one long block-tridiagonal line for `method`, a name of block_select.hpp or "auto", with zero couplings from a line to the
  /// next. `nodes` must live as long as the solver; kernels run where its own ran. Throws std::invalid_argument where
  /// block_tridiagonal_method_refuses.
  MappedBlockSolver(const LineMap &nodes, Index block, const std::string &method, const MethodParameters &parameters = {});
  ~MappedBlockSolver();
  MappedBlockSolver(const MappedBlockSolver &)            = delete;
  MappedBlockSolver &operator=(const MappedBlockSolver &) = delete;

  /// Takes the blocks of the matrix that lie on the lines; entries that are not stored are 0.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);
  /// Takes the blocks of another solver of the same lines, in whichever memory they are. Waits.
  void read(const MappedBlockSolver &other);
  /// Factors what was given. Does not wait.
  void factor();
  /// The first row of the node whose pivot block cannot be inverted, if there is one. Waits.
  std::optional<Index> bad_pivot() const;

  /// solution = scale * T^-1 rhs, or, with options.update.add, solution += that. Arrays of nodes * block elements; rhs may be solution, else it
  /// is kept. Does not wait.
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const;

  const char *method() const;
  double flops() const;

  class Impl;

private:
  const LineMap &nodes_;
  Index block_;
  std::unique_ptr<Impl> impl_;
  std::unique_ptr<BlockLineSolver<Scalar>> solver_;
};

} // namespace weft
