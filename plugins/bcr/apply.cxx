// PCBCR's applications: brings vectors to the solvers and back.
#include <petsc/private/kspimpl.h>

#include "bcr/bcr_impl.h"

namespace weft {

PetscErrorCode LogSolve(const AnyDirectSolver &solver, int nrhs)
{
  PetscFunctionBegin;
  PetscCall(LogFlops(solver.execution().memory(), nrhs * solver.facts().flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Fields of the whole grid in its natural order.
PetscErrorCode SolveIn(PC pc, Memory memory, const KernelScalar *b, KernelScalar *x, Transpose transpose, int nrhs = 1, Index ld = 0)
{
  PetscFunctionBegin;
  PetscCall(EnsureSolver(pc, memory));
  BoxSolver &solver = *Bcr(pc)->solver[static_cast<int>(memory)];
  PetscCallCXX(solver.solve(b, x, transpose, nrhs, ld));
  PetscCall(LogSolve(solver, nrhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveHere(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(WithVecArrays(rhs, Access::read, solution, Access::write,
                          [&](Memory memory, const KernelScalar *b, KernelScalar *x) { return SolveIn(pc, memory, b, x, transpose); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SolveOnce(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  if (bcr->plan) {
    PetscCall(SpreadSolve(pc, rhs, solution, transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(bcr->whole.Solve(rhs, solution, [&](Vec b, Vec x) { return SolveHere(pc, b, x, transpose); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the check of a set-up leaves out, as few ask for it.
static PetscErrorCode EnsureTransposed(PC pc)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  PetscCall(bcr->check.EnsureTransposed(pc->pmat, bcr->singular, [pc](Vec b, Vec x, Transpose as) { return SolveOnce(pc, b, x, as); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Transpose transpose>
PetscErrorCode PCApply_BCR(PC pc, Vec rhs, Vec solution)
{
  PetscFunctionBegin;
  if (transpose == Transpose::yes && !pc->failedreason) PetscCall(EnsureTransposed(pc));
  const bool fails = pc->failedreason || (transpose == Transpose::yes && Bcr(pc)->check.transposed_fails());
  if (fails) { // as PETSc's own solvers after a failed factorization: a Krylov method then looks at the reason
    PetscCall(VecFlag(solution, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Bcr(pc)->check.Solve(rhs, solution, transpose, [pc](Vec b, Vec x, Transpose as) { return SolveOnce(pc, b, x, as); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode PCApply_BCR<Transpose::no>(PC, Vec, Vec);
template PetscErrorCode PCApply_BCR<Transpose::yes>(PC, Vec, Vec);

PetscErrorCode PCPreSolve_BCR(PC pc, KSP ksp, Vec, Vec)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  // A KSP that has solved before leaves new values of its matrix to the first application, which is too late to refuse.
  PetscCall(PCSetUp(pc));
  if (pc->failedreason && !bcr->refused) PetscFunctionReturn(PETSC_SUCCESS);
  // KSPSetUp() has seen the failure of a solve before this one, by another method.
  if (bcr->refused && ksp->reason == KSP_DIVERGED_PC_FAILED) ksp->reason = KSP_CONVERGED_ITERATING;
  if (ksp->transpose_solve) PetscCall(EnsureTransposed(pc));
  bcr->refused = (!bcr->separable() && TakenForASolution(ksp)) || (ksp->transpose_solve && bcr->check.transposed_fails());
  PetscCall(ReportFailure(pc, bcr->refused ? PC_FACTOR_OTHER : PC_NOERROR, bcr->refused ? RefusedSentence(*bcr) : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// In one call of the solver where columns lie alike, which has them share what they can; in many where they do not, ranks share them, or solves
// are refined.
PetscErrorCode PCMatApply_BCR(PC pc, Mat rhs, Mat solution)
{
  PetscMPIInt ranks;
  bool solves, done;

  PetscFunctionBegin;
  PetscCall(Solves(pc, &solves, &ranks));
  const auto takes = [&](Memory memory) { return ranks == 1 && !pc->failedreason && !Bcr(pc)->check.refined() && has_backend(memory); };
  PetscCall(WithDenseArrays(
      rhs, solution, takes,
      [pc](Memory memory, const KernelScalar *b, KernelScalar *x, int nrhs, Index ld) {
        return SolveIn(pc, memory, b, x, Transpose::no, nrhs, ld);
      },
      &done));
  if (!done) PetscCall(ForEachColumn(rhs, solution, [pc](Vec from, Vec to) { return PCApply_BCR<Transpose::no>(pc, from, to); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
