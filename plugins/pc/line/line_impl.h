/// What the files of PCLINE share.
#pragma once
#include <petsc/private/pcimpl.h>

#include "device_view.hpp"
#include "lines_from_dm.h"
#include "pc/line/line.h"
#include "petsc_compat.h"

namespace weft {

struct PC_Line {
  // What the user asks for.
  PCLineDirection direction = PC_LINE_AUTO;
  PCLineOrdering ordering   = PC_LINE_JACOBI;
  std::string kernel        = "auto";
  MethodParameters kernel_parameters;
  PetscInt sweeps           = 1;
  PetscReal omega           = 1.0;

  // What set-up finds and makes.
  Grid grid;
  PCLineDirection found = PC_LINE_X;
  LineLayout layout;
  // A backend for each memory that vectors have come in, host and device. Usually one; both where levels are bound to the CPU.
  std::unique_ptr<Execution> execution[2];
  std::unique_ptr<LineSolver<PetscScalar>> solver[2];
  Vec residual = NULL;

  void forget_solver(int which)
  {
    solver[which].reset();
    execution[which].reset();
  }
};

inline PC_Line *Data(PC pc)
{
  return static_cast<PC_Line *>(pc->data);
}

/// The names of the options' values, in PETSc's form.
extern const char *const line_directions[];
extern const char *const line_orderings[];

PetscErrorCode PCSetFromOptions_Line(PC pc, OptionItems items);
PetscErrorCode PCView_Line(PC pc, PetscViewer viewer);
/// Composes the setters with a PC, or removes them.
PetscErrorCode PCLineComposeSetters(PC pc, bool compose);

} // namespace weft
