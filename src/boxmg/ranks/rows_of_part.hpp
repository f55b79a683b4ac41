/// The rows of a matrix that a rank has, by the boxes of a grid. Free of Kokkos and of MPI.
#pragma once
#include "line/line_solver.hpp"

namespace weft::boxmg {

/// Row i is node i of the owned box, x fastest. Both parts in the memory of the execution.
template <class Scalar, class Int>
struct RowsOfPart {
  CsrMatrix<Scalar, Int> inside;           ///< columns of owned nodes, by their number among them
  CsrMatrix<Scalar, Int> outside;          ///< columns of others, by their place in outside_nodes
  const std::vector<Index> &outside_nodes; ///< numbers in the whole grid, on the host
};

} // namespace weft::boxmg
