// PCBOXMG's own iteration under KSPRICHARDSON: cycles that begin with x, until the norm of the residual is small enough.
#include <functional>

#include "petsc/residual.h"
#include "petsc/richardson_reason.h"

#include "boxmg/shared_grid.h"

namespace weft {

namespace {

// Whether the finest level has the operator of the solve, with the values that the matrix has now.
PetscErrorCode HasOperator(PC pc, bool *has)
{
  PC_Boxmg *bm = Boxmg(pc);

  PetscFunctionBegin;
  PetscCall(bm->set_up_of.is_operator(pc, has));
  if (bm->whole.gathers()) *has = false;
  if (*has && bm->any() && bm->any()->levels().front().direct) *has = false; // a step in place is another solve, which refines nothing
  if (bm->ranks && bm->precision == PC_BOXMG_SINGLE) *has = false;           // they have no residual in the matrix's precision
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As KSPConvergedDefault() has it, of a true residual.
KSPConvergedReason ReasonOf(PetscReal norm, PetscReal of_rhs, PetscReal rtol, PetscReal abstol, PetscReal dtol)
{
  if (PetscIsInfOrNanReal(norm)) return KSP_DIVERGED_NANORINF;
  if (norm <= abstol) return KSP_CONVERGED_ATOL;
  if (norm <= rtol * of_rhs) return KSP_CONVERGED_RTOL;
  if (norm >= dtol * of_rhs) return KSP_DIVERGED_DTOL;
  return KSP_CONVERGED_ITERATING;
}

// Steps in place, at most `its`.
PetscErrorCode Iterate(PC pc, Vec b, Vec x, bool zero, PetscInt its, const std::function<bool(double)> &enough, PetscInt *steps)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(boxmg_cycle_event, pc, b, x, 0));
  PetscCall(PetscLogGpuTimeBegin());
  const auto some = [&](Memory memory, KernelScalar *rhs, KernelScalar *solution) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(EnsureMultigrid(pc, memory));
    const Multigrid &multigrid = *Boxmg(pc)->multigrid[static_cast<int>(memory)];
    PetscCallCXX(*steps = multigrid.iterate(rhs, solution, zero, static_cast<int>(its), enough));
    PetscCall(LogFlops(memory, *steps * multigrid.flops()));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (Boxmg(pc)->ranks)
    PetscCall(OnSharedGrid(pc, b, x, Access::read_write, some));
  else
    PetscCall(WithVecArrays(b, Access::read, x, Access::read_write, some));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(boxmg_cycle_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  bool zero = guesszero, in_place = false;
  KSPConvergedReason why = KSP_CONVERGED_ITERATING;

  PetscFunctionBegin;
  *outits = 0;
  if (guesszero) PetscCall(VecZeroEntries(x));
  if (pc->failedreason) {
    TellRichardson(RichardsonReason(true), reason);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HasOperator(pc, &in_place));
  // A residual of which a part is known to be 0 would not show what is not finite.
  const auto look_at_rhs = [&](PetscReal norm_of_rhs) {
    of_rhs = norm_of_rhs;
    if (PetscIsInfOrNanReal(of_rhs)) why = KSP_DIVERGED_NANORINF;
    return why != KSP_CONVERGED_ITERATING;
  };
  bool told_of_rhs = !(in_place && zero && its > 0); // else steps tell it, while they are at work
  if (bm->asks_norms && told_of_rhs) {
    PetscCall(VecNorm(b, NORM_2, &norm));
    look_at_rhs(norm);
  }
  const auto look = [&](PetscReal here) {
    if (!told_of_rhs) {
      told_of_rhs = true;
      return look_at_rhs(here);
    }
    if (of_rhs == 0) of_rhs = here; // as KSPConvergedDefault() has it for b = 0 and a guess that is not
    return (why = ReasonOf(here, of_rhs, rtol, abstol, dtol)) != KSP_CONVERGED_ITERATING;
  };
  if (in_place && why == KSP_CONVERGED_ITERATING && its > 0)
    PetscCall(Iterate(pc, b, x, zero, its, bm->asks_norms ? look : std::function<bool(double)>(), outits));
  if (zero && PetscIsInfOrNanReal(of_rhs)) { // a step may have been at work
    PetscCall(VecZeroEntries(x));
    *outits = 0;
  }
  while (!in_place && why == KSP_CONVERGED_ITERATING && *outits < its) {
    if (zero) { // what is added to 0
      PetscCall(PCBoxmgStep(pc, b, x));
      (*outits)++;
    } else {
      if (!bm->correction) PetscCall(VecDuplicate(x, &bm->correction));
      PetscCall(Residual(pc->mat, b, x, r, Transpose::no));
      if (bm->asks_norms) PetscCall(VecNorm(r, NORM_2, &norm));
      if (bm->asks_norms && look(norm)) break;
      PetscCall(PCBoxmgStep(pc, r, bm->correction));
      PetscCall(VecAXPY(x, 1, bm->correction));
      (*outits)++;
    }
    zero = false;
  }
  if (why == KSP_CONVERGED_ITERATING && bm->asks_norms) {
    PetscCall(Residual(pc->mat, b, x, r, Transpose::no));
    PetscCall(VecNorm(r, NORM_2, &norm));
    if (!look(norm)) why = KSP_DIVERGED_ITS;
  } else if (why == KSP_CONVERGED_ITERATING) {
    why = RichardsonReason(false);
  }
  TellRichardson(why, reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
