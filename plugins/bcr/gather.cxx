// PCBCR on several ranks where the first one solves for all: factors of rows.
#include "bcr/bcr_impl.h"

namespace weft {

PetscErrorCode GatherMakeWay(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  Vec factors;
  PetscScalar *mine;
  const PetscScalar *all;
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(bcr->whole.Make(bcr->grid, pc->pmat));
  // The factors of the rows of all nodes within the eliminated faces, on the first rank.
  PetscCallCXX(bcr->factors.clear());
  if (!bcr->whole.gathers() || !bcr->separation.scaled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(MatCreateVecs(pc->pmat, NULL, &factors));
  PetscCall(VecGetArrayWrite(factors, &mine));
  PetscCall(FactorsOfNodes(*bcr, mine));
  PetscCall(VecRestoreArrayWrite(factors, &mine));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(bcr->whole.Bring(factors));
  PetscCall(VecDestroy(&factors));
  PetscCall(VecGetLocalSize(bcr->whole.values(), &count));
  PetscCall(VecGetArrayRead(bcr->whole.values(), &all));
  if (count > 0) PetscCallCXX(bcr->factors = InnerValues(bcr->separation.grid, bcr->separation.first, bcr->separation.nodes, all));
  PetscCall(VecRestoreArrayRead(bcr->whole.values(), &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
      for (Index x = 0; x < nodes[0]; x++) inner.push_back(PetscRealPart(row[x]));
    }
  }
  return inner;
}

} // namespace weft
