// PCADI's cycles.
#include "adi/adi_impl.h"
#include "petsc/agreed.h"
#include "petsc/residual.h"
#include "petsc/richardson_reason.h"

namespace weft {

namespace {

// Cycles on a box that one rank has whole.
PetscErrorCode CyclesHere(PC pc, Vec b, Vec y, PetscInt count, bool zero_guess, Transpose transpose)
{
  VecArrays arrays(b, Access::read, y, zero_guess ? Access::write : Access::read_write);
  AdiSolver<KernelScalar> *solver;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(arrays.Open());
  PetscCall(SolverIn(pc, arrays.memory(), &solver));
  PetscCallCXX(solver->cycle(arrays.rhs(), arrays.solution(), zero_guess, transpose, static_cast<int>(count)));
  PetscCall(LogFlops(arrays.memory(), (PetscLogDouble)count * solver->flops()));
  PetscCall(arrays.Close());
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Cycles whose residuals need other ranks: PETSc forms them.
PetscErrorCode CyclesOnRanks(PC pc, Vec b, Vec y, PetscInt count, bool zero_guess, Transpose transpose)
{
  PC_ADI *adi = Adi(pc);
  std::vector<AdiSolver<KernelScalar>::Sweep> sweeps;

  PetscFunctionBegin;
  Vec r = adi->residual;
  // The sweeps are the same whatever the memory.
  PetscCallCXX(sweeps = adi->any()->sweeps(transpose));
  bool from_zero = zero_guess;
  for (PetscInt n = 0; n < count; n++) {
    for (const auto &sweep : sweeps) {
      if (from_zero)
        PetscCall(VecCopy(b, r));
      else if (sweep.residual)
        PetscCall(Residual(pc->pmat, b, y, r, transpose));
      PetscCall(PetscLogGpuTimeBegin());
      VecArrays arrays(r, Access::read_write, y, from_zero ? Access::write : Access::read_write);
      AdiSolver<KernelScalar> *solver;
      PetscCall(arrays.Open());
      PetscCall(SolverIn(pc, arrays.memory(), &solver));
      PetscCallCXX(solver->correct(sweep, arrays.rhs(), arrays.solution(), from_zero, transpose));
      PetscCall(LogFlops(arrays.memory(), solver->flops() / (PetscLogDouble)sweeps.size()));
      PetscCall(arrays.Close());
      PetscCall(PetscLogGpuTimeEnd());
      from_zero = false;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycles(PC pc, Vec b, Vec y, PetscInt count, bool zero_guess, Transpose transpose)
{
  PetscMPIInt ranks;
  bool same = true;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  // Across ranks residuals are formed with the matrix as it is, to which no factors of other values fit: what is kept follows it.
  if (ranks > 1 && !pc->failedreason) PetscCall(Adi(pc)->set_up_of.is_matrix(pc, &same));
  if (!same) PetscCall(Together<PCSetUp_ADI>(pc));
  if (pc->failedreason) { // as MatSolve() does: KSP tells by it that the PC failed
    PetscCall(VecFlag(y, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ranks == 1)
    PetscCall(CyclesHere(pc, b, y, count, zero_guess, transpose));
  else
    PetscCall(CyclesOnRanks(pc, b, y, count, zero_guess, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

template <Transpose transpose>
PetscErrorCode PCApply_ADI(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Cycles(pc, b, y, Adi(pc)->iterations, true, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode PCApply_ADI<Transpose::no>(PC, Vec, Vec);
template PetscErrorCode PCApply_ADI<Transpose::yes>(PC, Vec, Vec);

PetscErrorCode PCPreSolve_ADI(PC pc, KSP ksp, Vec, Vec)
{
  PetscFunctionBegin;
  PetscCall(AsksNorms(ksp, &Adi(pc)->asks_norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// KSPRICHARDSON's way in: no residual is formed between cycles but their own. Of a preconditioner that is kept they would solve the system before.
PetscErrorCode PCApplyRichardson_ADI(PC pc, Vec b, Vec y, Vec r, PetscReal, PetscReal, PetscReal, PetscInt its, PetscBool guesszero,
                                     PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  bool same = false;

  PetscFunctionBegin;
  PetscCall(Adi(pc)->set_up_of.is_operator(pc, &same));
  if (!same && !pc->failedreason)
    PetscCall(RichardsonSteps(pc, b, y, r, its, guesszero == PETSC_TRUE,
                              [pc](Vec rhs, Vec z) { return PCApply_ADI<Transpose::no>(pc, rhs, z); }));
  else if (its > 0)
    PetscCall(Cycles(pc, b, y, its * Adi(pc)->iterations, guesszero == PETSC_TRUE, Transpose::no));
  else if (guesszero)
    PetscCall(VecZeroEntries(y));
  *outits = its;
  PetscCall(RichardsonReason(pc->failedreason != PC_NOERROR, Adi(pc)->asks_norms, y, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
