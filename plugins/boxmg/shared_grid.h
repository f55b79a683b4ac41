/// Arrays of what each rank owns, where ranks share PCBOXMG's levels.
#pragma once
#include "boxmg/boxmg_impl.h"

namespace weft {

/// to = from, on the host.
inline PetscErrorCode CopyOnHost(Vec from, Vec to)
{
  const PetscScalar *values;
  PetscScalar *there;
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(from, &size));
  PetscCall(VecGetArrayRead(from, &values));
  PetscCall(VecGetArrayWrite(to, &there));
  PetscCall(PetscArraycpy(there, values, size));
  PetscCall(VecRestoreArrayWrite(to, &there));
  PetscCall(VecRestoreArrayRead(from, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// cycle(memory, b, x) in the memory of the matrix, where all ranks together have made the multigrid; vectors that are elsewhere are copied. access: to
/// the solution.
template <class Cycle>
PetscErrorCode OnSharedGrid(PC pc, Vec rhs, Vec solution, Access access, const Cycle &cycle)
{
  PC_Boxmg *bm        = Boxmg(pc);
  const Memory memory = bm->multigrid[0] ? Memory::host : Memory::device;
  VecArray b(rhs, Access::read), x(solution, access);

  PetscFunctionBegin;
  PetscCall(memory == Memory::host ? b.OpenOnHost() : b.Open());
  PetscCall(memory == Memory::host ? x.OpenOnHost() : x.Open());
  const bool there = b.memory() == memory && x.memory() == memory;
  if (there) PetscCall(cycle(memory, b.data(), x.data()));
  PetscCall(x.Close());
  PetscCall(b.Close());
  if (there) PetscFunctionReturn(PETSC_SUCCESS);
  if (!bm->staged[0]) PetscCall(MatCreateVecs(pc->pmat, &bm->staged[0], &bm->staged[1]));
  PetscCall(CopyOnHost(rhs, bm->staged[0]));
  if (access != Access::write) PetscCall(CopyOnHost(solution, bm->staged[1]));
  PetscCall(OnSharedGrid(pc, bm->staged[0], bm->staged[1], access, cycle));
  PetscCall(CopyOnHost(bm->staged[1], solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
