/// Rows of the neighbours along one direction of a DMDA, for vectors of any type.
#pragma once
#include <petscdmda.h>

namespace compact {

/// The box of this rank and of its neighbours, as DMDA numbers them.
struct Boxes {
  PetscInt dim, global[3], first[3], nodes[3], ranks[3];
  const PetscInt *sizes[3] = {};
  DMBoundaryType boundary[3];
};
PetscErrorCode BoxesOf(DM da, Boxes *boxes);

/// The rows next to this rank's box, row by row: `depth` ones of the rank before, then of the one after, where there are such ranks.
class Halo {
public:
  /// `like`: a global vector of the DMDA. Every rank must have `depth` rows.
  PetscErrorCode Create(DM da, int direction, PetscInt depth, bool needs_before, bool needs_after, Vec like);
  PetscErrorCode Destroy();
  /// Sends and receives; between the two the box may be worked on. On a device PETSc packs and sends there, or through pinned memory where MPI knows no
  /// device (-use_gpu_aware_mpi 0).
  PetscErrorCode Begin(Vec f);
  PetscErrorCode End(Vec f);

  Vec Rows() const { return rows_; }
  PetscInt Depth() const { return depth_; }

private:
  PetscInt depth_      = 0;
  Vec rows_            = NULL;
  VecScatter exchange_ = NULL; ///< NULL where no rank has a neighbour along the direction
};

} // namespace compact
