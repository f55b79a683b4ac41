// PCBOXMG on several ranks that share its finest levels: who has which nodes, and a rank's rows by nodes.
#include <utility>

#include "boxmg/boxmg_impl.h"
#include "petsc/grid_owners.h"
#if defined(WEFT_DISTRIBUTED)
#include "boxmg/ranks/mpi_ranks.hpp"
#endif

namespace weft {

namespace {

PetscErrorCode PartsOf(const Grid &grid, boxmg::Parts *parts)
{
  std::array<std::vector<Index>, 3> starts;

  PetscFunctionBegin;
  PetscCall(GridStarts(grid, &starts));
  for (int d = 0; d < 3; d++) {
    parts->whole.n[d]        = grid.global[d];
    parts->whole.periodic[d] = grid.periodic[d];
    parts->starts[d]         = std::move(starts[static_cast<std::size_t>(d)]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ShareLevels(PC pc, bool *new_ranks)
{
  PC_Boxmg *bm = Boxmg(pc);
  BoxmgRanks shared;
  Memory memory = Memory::host;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCall(MatGetMemory(pc->pmat, &memory));
  const bool on_device = memory == Memory::device;
  shared.least         = bm->share >= 0 ? bm->share : on_device ? 100000 : 2000;
  PetscCall(PartsOf(bm->grid, &shared.parts));
  bool share = ranks > 1 && bm->grid.components == 1 && shared.share(shared.parts);
#if !defined(WEFT_DISTRIBUTED)
  share = false;
#endif
  *new_ranks = share != (bm->ranks != nullptr) || (share && (bm->shared.parts != shared.parts || bm->shared.least != shared.least));
  if (!*new_ranks) PetscFunctionReturn(PETSC_SUCCESS);
  for (int which : {0, 1}) bm->forget(which);
  bm->shared = {};
  bm->ranks.reset();
#if defined(WEFT_DISTRIBUTED)
  if (share) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    PetscCall(CallTogether(comm, [&] {
      bm->ranks = std::make_unique<boxmg::MpiRanks>(comm, shared.parts, DeviceMessages(), on_device, [comm] { RanksAgreeOrThrow(comm); });
    }));
    shared.all = bm->ranks.get();
    bm->shared = shared;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodesOfColumns(PC pc, const LocalMatrix &local, std::vector<Index> *nodes)
{
  const Grid &grid = Boxmg(pc)->grid;
  GridOwners owners;

  PetscFunctionBegin;
  PetscCall(owners.Find(grid, pc->pmat));
  PetscCallCXX(nodes->resize(static_cast<std::size_t>(local.outside_size)));
  for (PetscInt k = 0; k < local.outside_size; k++) {
    Index at[3];
    owners.node(local.outside_columns[k], at);
    (*nodes)[static_cast<std::size_t>(k)] = at[0] + grid.global[0] * (at[1] + grid.global[1] * at[2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
