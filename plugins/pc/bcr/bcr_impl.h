/// What the files of PCBCR share.
#pragma once
#include <petsc/private/pcimpl.h>

#include "device_view.hpp"
#include "lines_from_dm.h"
#include "pc/bcr/bcr.h"
#include "petsc_compat.h"
#include "poisson/box_solver.hpp"

namespace weft {

struct PC_BCR {
  // What the user asks for.
  DirectOptions options;
  PCBCRPrecision precision    = PC_BCR_DOUBLE;
  PetscBool require_separable = PETSC_FALSE;
  PetscReal tolerance         = 1e-10;

  // What set-up finds and makes.
  Grid grid;
  Separation separation;
  bool singular = false;
  // On the rank that solves, the first: a backend for each memory that vectors have come in, host and device.
  std::unique_ptr<Execution> execution[2];
  std::unique_ptr<BoxSolver> solver[2];
  // Several ranks: from the DMDA's order of unknowns to the whole grid on the first rank.
  VecScatter gather  = NULL;
  Vec whole_rhs      = NULL;
  Vec whole_solution = NULL;

  bool separable() const { return separation.deviation <= tolerance; }
  void forget_solver(int which)
  {
    solver[which].reset();
    execution[which].reset();
  }
};

inline PC_BCR *Bcr(PC pc)
{
  return static_cast<PC_BCR *>(pc->data);
}

PetscErrorCode PCSetFromOptions_BCR(PC pc, OptionItems items);
PetscErrorCode PCView_BCR(PC pc, PetscViewer viewer);
/// Composes the setters with a PC, or removes them.
PetscErrorCode PCBCRComposeSetters(PC pc, bool compose);

} // namespace weft
