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
  bool factored_symmetric = false;     ///< as L D L^T
  std::string ordered_by;
  std::string failure; ///< of the first rank that failed; empty where none did
};

inline PC_Crout *Data(PC pc)
{
  return static_cast<PC_Crout *>(pc->data);
}

/// The names of the options' values, in PETSc's form.
extern const char *const crout_patterns[];
extern const char *const crout_methods[];
extern const char *const crout_scalings[];
extern const char *const crout_precisions[];

PetscErrorCode PCSetFromOptions_Crout(PC pc, OptionItems items);
PetscErrorCode PCView_Crout(PC pc, PetscViewer viewer);
/// A line for each option that does nothing with what set-up has made, to the viewer or, where that is NULL, to -info.
PetscErrorCode PCCroutTellIdleOptions(PC pc, PetscViewer viewer);
/// What the setters find PCCROUT's data by; on other types they do nothing.
PetscErrorCode PCCroutGetData_Crout(PC pc, PC_Crout **crout);
PetscErrorCode PCCroutGetHistory_Crout(PC pc, PetscInt *count, const PetscReal *residuals[]);

} // namespace weft
