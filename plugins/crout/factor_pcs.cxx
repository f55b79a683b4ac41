// MatSolve() knows no KSP to tell that its right-hand side was no number: the PC does, in PCPostSolve().
#include "crout/factor_pcs.h"

#include <petsc/private/pcimpl.h>

#include "crout/crout.h"
#include "petsc/finite_solution.h"
#include "petsc/guarded.h"
#include "petsc/put_before.h"

namespace weft {

namespace {

using Creator = PetscErrorCode (*)(PC);

constexpr PCType types[] = {PCLU, PCILU, PCCHOLESKY, PCICC};
Creator petscs[4]        = {}; // PETSc's own

PetscErrorCode PCPostSolve_Factor(PC pc, KSP ksp, Vec rhs, Vec solution)
{
  MatSolverType solver;
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(PCFactorGetMatSolverType(pc, &solver));
  PetscCall(PetscStrcmp(solver, MATSOLVERCROUT, &ours));
  if (ours) PetscCall(RefuseNonFiniteSolution(pc, ksp, rhs, solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int type>
PetscErrorCode PCCreate_Watched(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*petscs[type])(pc));
  if (!pc->ops->postsolve) pc->ops->postsolve = Guarded<PCPostSolve_Factor>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Creator watched[] = {PCCreate_Watched<0>, PCCreate_Watched<1>, PCCreate_Watched<2>, PCCreate_Watched<3>};

} // namespace

PetscErrorCode WatchFactorPCs()
{
  PetscFunctionBegin;
  PetscCall(PutBefore(PCList, types, watched, petscs, PCRegister));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
