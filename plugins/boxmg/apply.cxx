// PCBOXMG's applications: cycles where vectors are, on the rank that cycles for all, or on all where they share levels.
#include "boxmg/shared_grid.h"

namespace weft {

namespace {

// ------------------------------------------------------------------------------------------------------------------------- monitor

struct Heard {
  int level;
  bool before;
  double norm;
};

// As KSP monitors print.
PetscErrorCode Print(const std::vector<BoxmgLevel> &levels, const std::vector<Heard> &all)
{
  PetscFunctionBegin;
  for (const Heard &heard : all) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "    %*slevel %d, %s: residual norm %14.12e %s\n", 2 * heard.level, "", heard.level,
                          BoxmgSizes(levels[static_cast<std::size_t>(heard.level)].grid).c_str(), heard.norm,
                          heard.before ? "before the correction" : "after the last sweep"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleAndTell(const Multigrid &multigrid, bool first, KernelScalar *b, KernelScalar *x)
{
  std::vector<Heard> all;
  std::vector<BoxmgLevel> levels;

  PetscFunctionBegin;
  PetscCallCXX(multigrid.apply_and_tell(b, x, [&](int level, bool before, double norm) { all.push_back({level, before, norm}); }));
  PetscCallCXX(levels = multigrid.levels());
  if (first) PetscCall(Print(levels, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -------------------------------------------------------------------------------------------------------------------------- cycles

// A cycle for each of nrhs right-hand sides, one after the other, ld elements from one to the next.
PetscErrorCode Cycles(PC pc, Memory memory, KernelScalar *b, KernelScalar *x, Transpose transpose, PetscInt nrhs = 1, Index ld = 0)
{
  PetscFunctionBegin;
  PetscCall(EnsureMultigrid(pc, memory));
  const Multigrid &multigrid = *Boxmg(pc)->multigrid[static_cast<int>(memory)];
  for (PetscInt k = 0; k < nrhs; k++, b += ld, x += ld) {
    if (Boxmg(pc)->monitor && transpose == Transpose::no)
      PetscCall(CycleAndTell(multigrid, !Boxmg(pc)->ranks || Boxmg(pc)->ranks->rank() == 0, b, x));
    else
      PetscCallCXX(multigrid.apply(b, x, transpose));
  }
  PetscCall(LogFlops(memory, nrhs * multigrid.flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// cycle(memory, b, x) with arrays of the whole grid in its natural order, or of what each rank owns.
template <class Cycle>
PetscErrorCode OnGrid(PC pc, Vec rhs, Vec solution, const Cycle &cycle)
{
  PetscFunctionBegin;
  if (pc->failedreason) { // as PETSc's own solvers after a failed factorization: a Krylov method then looks at the reason
    PetscCall(VecFlag(solution, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(boxmg_cycle_event, pc, rhs, solution, 0));
  PetscCall(Boxmg(pc)->whole.Solve(rhs, solution, [&](Vec b, Vec x) {
    PetscFunctionBegin;
    PetscCall(PetscLogGpuTimeBegin());
    if (Boxmg(pc)->ranks)
      PetscCall(OnSharedGrid(pc, b, x, Access::write, cycle));
    else
      PetscCall(WithVecArrays(b, Access::read, x, Access::write, cycle));
    PetscCall(PetscLogGpuTimeEnd());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(PetscLogEventEnd(boxmg_cycle_event, pc, rhs, solution, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycle(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PetscFunctionBegin;
  PetscCall(
      OnGrid(pc, rhs, solution, [&](Memory memory, KernelScalar *b, KernelScalar *x) { return Cycles(pc, memory, b, x, transpose); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCApply_Boxmg(PC pc, Vec rhs, Vec solution)
{
  PetscFunctionBegin;
  PetscCall(Cycle(pc, rhs, solution, Transpose::no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBoxmgStep(PC pc, Vec rhs, Vec solution)
{
  PetscFunctionBegin;
  PetscCall(OnGrid(pc, rhs, solution, [pc](Memory memory, KernelScalar *b, KernelScalar *x) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(EnsureMultigrid(pc, memory));
    const Multigrid &multigrid = *Boxmg(pc)->multigrid[static_cast<int>(memory)];
    PetscCallCXX(multigrid.iterate(b, x, true, 1, {}));
    PetscCall(LogFlops(memory, multigrid.flops()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_Boxmg(PC pc, Vec rhs, Vec solution)
{
  PetscFunctionBegin;
  PetscCall(Cycle(pc, rhs, solution, Transpose::yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatApply_Boxmg(PC pc, Mat rhs, Mat solution)
{
  bool done;

  PetscFunctionBegin;
  if (pc->failedreason) {
    PetscCall(MatDenseSetFailed(solution));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(boxmg_cycle_event, pc, rhs, solution, 0));
  PetscCall(WithDenseArrays(
      rhs, solution, [pc](Memory memory) { return !Boxmg(pc)->whole.gathers() && !Boxmg(pc)->ranks && has_backend(memory); },
      [pc](Memory memory, KernelScalar *b, KernelScalar *x, int nrhs, Index ld) {
        return Cycles(pc, memory, b, x, Transpose::no, nrhs, ld);
      },
      &done));
  PetscCall(PetscLogEventEnd(boxmg_cycle_event, pc, rhs, solution, 0));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ForEachColumn(rhs, solution, [pc](Vec from, Vec to) { return Cycle(pc, from, to, Transpose::no); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
