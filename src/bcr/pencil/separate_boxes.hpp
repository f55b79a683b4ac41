/// From a matrix whose rows couple to all neighbours in a box (9 points in the plane, 15 to 27 in space) to the operator that it is, in
/// tensor form (pencil_operator.hpp), or that is nearest to it.
///
/// The lines through the middle of the grid have both matrices of each direction's pencil: M_x is the block of couplings along x of the rows
/// of such a line to themselves, T_x that to a neighbouring line, less the multiple of M_x that leaves the middle row no sum. With both, the
/// row in the middle gives core (a cross, or skeleton, decomposition: e.g. E. Tyrtyshnikov, Computing 64 (2000) 367, exact for a matrix of
/// tensor form). That is held against every row.
///
/// Of a matrix that is none the star (3, 5 or 7 points) is taken that has the same row sums and the same second differences along x, y and
/// z, u_{i+1,j+1} being u_{i+1,j} + u_{i,j+1} - u_{i,j}; and of that the nearest separable operator (separate.hpp).
#pragma once
#include "bcr/detect/separate.hpp"

namespace weft {

/// separate(), and for other matrices the above: `pencil` of the result is set where the matrix is of tensor form, but for a few rows, which
/// the pencil's operator has too, or for rows at the ends of two directions (edges of the grid), of which `deviation` speaks. Boundary rows
/// are taken apart only where they couple to nothing. last: as that of separate(). Collective over the processes that `all_ranks` combines.
template <class Int>
Separation separate_stencils(const Execution &execution, const GridMatrix<Int> &matrix, const AllRanks &all_ranks,
                             const Separation *last = nullptr);

} // namespace weft
