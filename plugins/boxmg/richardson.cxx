// PCBOXMG's own iteration under KSPRICHARDSON: x += M^-1 (b - A x), until the norm of that residual is small enough.
#include "petsc/residual.h"
#include "petsc/richardson_reason.h"

#include "boxmg/boxmg_impl.h"

namespace weft {

namespace {

// Whether the finest level has the operator of the solve, with the values that the matrix has now.
PetscErrorCode HasOperator(PC pc, bool *has)
{
  PC_Boxmg *bm = Boxmg(pc);
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  *has = pc->mat == pc->pmat && state == bm->state && !bm->whole.gathers();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r = b - A x from the finest level's coefficients, which are fewer words than a row of the matrix; its norm, or NULL.
PetscErrorCode ResidualHere(PC pc, Vec b, Vec x, Vec r, PetscReal *norm)
{
  VecArray from(x, Access::read);

  PetscFunctionBegin;
  PetscCall(WithVecArrays(b, Access::read, r, Access::write, [&](Memory memory, PetscScalar *rhs, PetscScalar *residual) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(EnsureMultigrid(pc, memory));
    if (memory == Memory::device)
      PetscCall(from.Open());
    else
      PetscCall(from.OpenOnHost());
    PetscCheck(from.memory() == memory, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
               "the solution is on the host and the right-hand side on a device: give both the same type");
    PetscCallCXX(Boxmg(pc)->multigrid[static_cast<int>(memory)]->residual(rhs, from.data(), residual, norm));
    PetscCall(from.Close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ResidualAndNorm(PC pc, Vec b, Vec x, Vec r, PetscReal *norm)
{
  bool here = false;

  PetscFunctionBegin;
  PetscCall(HasOperator(pc, &here));
  if (here) {
    PetscCall(ResidualHere(pc, b, x, r, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Residual(pc->mat, b, x, r, Transpose::no));
  if (norm) PetscCall(VecNorm(r, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As KSPConvergedDefault() has it, of a true residual; 0: go on.
PCRichardsonConvergedReason ReasonOf(PetscReal norm, PetscReal of_rhs, PetscReal rtol, PetscReal abstol, PetscReal dtol)
{
  if (PetscIsInfOrNanReal(norm)) return static_cast<PCRichardsonConvergedReason>(KSP_DIVERGED_NANORINF);
  if (norm <= abstol) return static_cast<PCRichardsonConvergedReason>(KSP_CONVERGED_ATOL);
  if (norm <= rtol * of_rhs) return PCRICHARDSON_CONVERGED_RTOL;
  if (norm >= dtol * of_rhs) return static_cast<PCRichardsonConvergedReason>(KSP_DIVERGED_DTOL);
  return static_cast<PCRichardsonConvergedReason>(0);
}

} // namespace

PetscErrorCode PCPreSolve_Boxmg(PC pc, KSP ksp, Vec, Vec)
{
  PetscFunctionBegin;
  PetscCall(AsksNorms(ksp, &Boxmg(pc)->asks_norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyRichardson_Boxmg(PC pc, Vec b, Vec x, Vec r, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                       PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PC_Boxmg *bm     = Boxmg(pc);
  PetscReal of_rhs = 0, norm = 0;
  bool zero = guesszero;

  PetscFunctionBegin;
  *outits = 0;
  if (guesszero) PetscCall(VecZeroEntries(x));
  if (pc->failedreason) {
    *reason = RichardsonReason(true);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!bm->correction) PetscCall(VecDuplicate(x, &bm->correction));
  if (bm->asks_norms) PetscCall(VecNorm(b, NORM_2, &of_rhs));
  for (;; (*outits)++) {
    if (zero)
      norm = of_rhs;
    else if (bm->asks_norms || *outits < its)
      PetscCall(ResidualAndNorm(pc, b, x, r, bm->asks_norms ? &norm : NULL));
    *reason = bm->asks_norms ? ReasonOf(norm, of_rhs, rtol, abstol, dtol) : static_cast<PCRichardsonConvergedReason>(0);
    if (*reason != 0) break;
    if (*outits == its) {
      *reason = bm->asks_norms ? static_cast<PCRichardsonConvergedReason>(KSP_DIVERGED_ITS) : RichardsonReason(false);
      break;
    }
    if (zero) { // what is added to 0
      PetscCall(PCApply_Boxmg(pc, b, x));
      zero = false;
      continue;
    }
    PetscCall(PCApply_Boxmg(pc, r, bm->correction));
    PetscCall(VecAXPY(x, 1, bm->correction));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
