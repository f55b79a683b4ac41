/// From a PC's matrix and DM to the grid on which lines are laid.
#pragma once
#include <petscpc.h>

#include <cstdint>
#include <vector>

#include "line/line_layout.hpp"

namespace weft {

/// A grid and the part of it that this rank owns: a box of nodes, in a grid of ranks' boxes.
struct Grid {
  int dimension    = 0; ///< 0: the rows have no grid, only their own order
  Index nodes[3]   = {1, 1, 1};
  Index first[3]   = {0, 0, 0}; ///< global index of the first node
  Index components = 1;         ///< unknowns of a node
  Index global[3]  = {1, 1, 1}; ///< nodes of the whole grid
  bool periodic[3] = {false, false, false};
  int ranks[3]     = {1, 1, 1}; ///< boxes along each direction
  int at[3]        = {0, 0, 0}; ///< place of this rank's box among them
  DM dm            = NULL;      ///< borrowed: valid while the PC is set up; NULL where the rows in their order are the grid
};

/// Looks for a DMDA that describes the rows of pc's preconditioning matrix: the PC's DM, else the matrix's. A DM of another kind or size is
/// no grid, and no error: dimension is 0 then.
PetscErrorCode GridFromPC(PC pc, Grid *grid);

/// The rows of A in their order as a grid of one dimension, whose boxes are the rows of the ranks that have any. ring: the last row couples to the
/// first one.
PetscErrorCode GridOfRows(Mat A, bool ring, Grid *grid);

/// The ranks whose boxes follow each other along a direction, in order. Collective; the caller frees the communicator.
PetscErrorCode GridLineComm(MPI_Comm comm, const Grid &grid, int direction, MPI_Comm *line);

/// Rows of A, in PETSc's numbering, that the lines of `layout` (those along `direction` of this rank's box, or every second of them, the first
/// one starting at element `offset` of the box) couple to on the rank before (side -1) or after (side 1); -1 where the grid ends there.
PetscErrorCode GridRowsAcross(Mat A, const Grid &grid, int direction, int side, const LineLayout &layout, Index offset,
                              std::vector<PetscInt> *rows);

} // namespace weft
