/// What the files of PCCROUT share.
#pragma once
#include <petsc/private/pcimpl.h>

#include "crout/factor.hpp"

namespace weft {

struct PC_Crout {
  // What the user asks for; the rest of it is in `settings`.
  CroutSettings settings;
  PCCroutMethod method = PC_CROUT_METHOD_AUTO;
  PetscReal tolerance  = 0;                   ///< of the residual of the factors; 0: sweeps are counted
  PetscBool3 symmetric = PETSC_BOOL3_UNKNOWN; ///< unknown: as the matrix says
  std::string ordering = "auto";
  PetscBool monitor    = PETSC_FALSE;

  // What set-up finds and makes.
  std::unique_ptr<CroutFactor> factor; ///< of this rank's block
  bool factored_symmetric = false;     ///< as L D L^T, or L D L^H
  bool factored_hermitian = false;     ///< as L D L^H
  PetscReal left          = 0;         ///< of a random right-hand side by the blocks of several ranks; 0: they solve with the whole matrix
  KeptOutside outside;                 ///< of the whole matrix, where several ranks have a block each
  std::string ordered_by;
  std::string failure; ///< of the first rank that failed; empty where none did
};

inline PC_Crout *Data(PC pc)
{
  return static_cast<PC_Crout *>(pc->data);
}

/// The names of some options' values, in PETSc's form.
extern const char *const crout_patterns[];
extern const char *const crout_methods[];

PetscErrorCode PCSetFromOptions_Crout(PC pc, OptionItems items);
PetscErrorCode PCView_Crout(PC pc, PetscViewer viewer);
/// Says what the user's options are, to the viewer; which of them do nothing, to the viewer or, where that is NULL, to -info.
PetscErrorCode PCCroutTellOptions(PC pc, PetscViewer viewer);
/// Composes the setters and getters with a PC, or removes them: all, those of the matrix, and those of sweeps.
PetscErrorCode PCCroutComposeSetters(PC pc, bool compose);
PetscErrorCode PCCroutComposeMatrixSetters(PC pc, bool compose);
PetscErrorCode PCCroutComposeSweepSetters(PC pc, bool compose);
PetscErrorCode PCCroutGetHistory_Crout(PC pc, PetscInt *count, const PetscReal *residuals[]);

} // namespace weft
