// PCBCR on several ranks where the first one solves for all: the way there, and factors of rows.
#include "bcr/bcr_impl.h"
#include "bcr/owners.h"

namespace weft {

namespace {

// From the unknowns of all ranks to the grid in its natural order on the first, and back.
PetscErrorCode MakeGather(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  Vec vec;
  VecType type;
  GridOwners owners;
  IS nodes;
  PetscInt *rows, count, k = 0;
  PetscMPIInt ranks, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks == 1 || bcr->gather) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(owners.Find(bcr->grid, pc->pmat));
  PetscCall(MatGetSize(pc->pmat, &count, NULL));
  if (rank > 0) count = 0;
  PetscCall(PetscMalloc1(count, &rows));
  for (Index z = 0; k < count; z++) {
    for (Index y = 0; y < bcr->grid.global[1]; y++) {
      for (Index x = 0; x < bcr->grid.global[0]; x++) rows[k++] = owners.row({x, y, z});
    }
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, rows, PETSC_OWN_POINTER, &nodes));
  PetscCall(MatGetVecType(pc->pmat, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &bcr->whole_rhs));
  PetscCall(VecSetSizes(bcr->whole_rhs, count, count));
  PetscCall(VecSetType(bcr->whole_rhs, type));
  PetscCall(VecDuplicate(bcr->whole_rhs, &bcr->whole_solution));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(MatCreateVecs(pc->pmat, NULL, &vec));
  PetscCall(VecScatterCreate(vec, nodes, bcr->whole_rhs, NULL, &bcr->gather));
  PetscCall(VecDestroy(&vec));
  PetscCall(ISDestroy(&nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The factors of the rows of all nodes within the eliminated faces, on the first rank.
PetscErrorCode GatherFactors(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  Vec factors;
  PetscScalar *mine;
  const PetscScalar *all;
  PetscInt count;

  PetscFunctionBegin;
  PetscCallCXX(bcr->factors.clear());
  if (!bcr->gather || !bcr->separation.scaled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(MatCreateVecs(pc->pmat, NULL, &factors));
  PetscCall(VecGetArrayWrite(factors, &mine));
  PetscCall(FactorsOfNodes(*bcr, mine));
  PetscCall(VecRestoreArrayWrite(factors, &mine));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(VecScatterBegin(bcr->gather, factors, bcr->whole_rhs, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(bcr->gather, factors, bcr->whole_rhs, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecDestroy(&factors));
  PetscCall(VecGetLocalSize(bcr->whole_rhs, &count));
  PetscCall(VecGetArrayRead(bcr->whole_rhs, &all));
  if (count > 0) PetscCallCXX(bcr->factors = InnerValues(bcr->separation.grid, bcr->separation.first, bcr->separation.nodes, all));
  PetscCall(VecRestoreArrayRead(bcr->whole_rhs, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode FactorsOfNodes(const PC_BCR &bcr, PetscScalar factors[])
{
  const Separation &found = bcr.separation;
  auto next               = found.row_scale.begin();

  PetscFunctionBegin;
  for (Index k = 0; k < bcr.grid.nodes[0] * bcr.grid.nodes[1] * bcr.grid.nodes[2]; k++) {
    Index left  = k;
    bool within = true;
    for (int d = 0; d < 3; d++) {
      const Index at = bcr.grid.first[d] + left % bcr.grid.nodes[d] - found.first[d];
      within         = within && at >= 0 && at < found.nodes[d];
      left /= bcr.grid.nodes[d];
    }
    factors[k] = within ? *next++ : 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<double> InnerValues(const Index (&box)[3], const Index (&first)[3], const Index (&nodes)[3], const PetscScalar values[])
{
  std::vector<double> inner;
  for (Index z = first[2]; z < first[2] + nodes[2]; z++) {
    for (Index y = first[1]; y < first[1] + nodes[1]; y++) {
      const PetscScalar *const row = values + box[0] * (y + box[1] * z) + first[0];
      inner.insert(inner.end(), row, row + nodes[0]);
    }
  }
  return inner;
}

PetscErrorCode GatherMakeWay(PC pc)
{
  PetscFunctionBegin;
  PetscCall(MakeGather(pc));
  PetscCall(GatherFactors(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
