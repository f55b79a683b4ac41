/// From a PC's matrix and DM to the grid on which lines are laid.
#pragma once
#include <petscpc.h>

#include "lines.hpp"

namespace weft {

/// The part of a grid that this rank owns.
struct Grid {
  int dimension    = 0; ///< 0: the rows have no grid, only their own order
  Index nodes[3]   = {1, 1, 1};
  Index first[3]   = {0, 0, 0}; ///< global index of the first node
  Index components = 1;         ///< unknowns of a node
};

/// Looks for a DMDA that describes the rows of pc's preconditioning matrix: the PC's DM, else the matrix's. A DM of another kind or size is
/// no grid, and no error: dimension is 0 then.
PetscErrorCode GridFromPC(PC pc, Grid *grid);

} // namespace weft
