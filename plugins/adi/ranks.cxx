// PCADI's grid on several ranks: boxes, the communicators of lines, couplings between pieces.
#include <petscdmda.h>

#include "adi/adi_impl.h"
#include "petsc/grid_owners.h"

namespace weft {

PetscErrorCode AdiGridDestroy(AdiGridOnRanks *grid)
{
  PetscFunctionBegin;
  for (MPI_Comm &comm : grid->line) {
    if (comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_free(&comm));
  }
  *grid = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdiGridFromPC(PC pc, AdiGridOnRanks *on_ranks)
{
  Grid grid;
  PetscInt width;
  AdiBox box;
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(GridFromPC(pc, &grid));
  PetscCheck(grid.dimension > 0, comm, PETSC_ERR_ARG_WRONGSTATE,
             "PCADI needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM), or make the matrix "
             "with DMCreateMatrix");
  PetscCall(DMDAGetStencilWidth(grid.dm, &width));
  box.components = grid.components;
  for (int k = 0; k < 3; k++) {
    box.n[k]       = grid.nodes[k];
    box.first[k]   = grid.first[k];
    box.global[k]  = grid.global[k];
    box.ring[k]    = grid.periodic[k];
    box.crosses[k] = grid.ranks[k] > 1;
  }
  // The communicators are kept for as long as they fit: the decision is the same on all ranks.
  PetscMPIInt same = box == on_ranks->box, all_same;
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, comm));
  if (!all_same) PetscCall(AdiGridDestroy(on_ranks));
  on_ranks->box   = box;
  on_ranks->grid  = grid;
  on_ranks->width = width;
  for (int k = 0; k < 3 && !all_same; k++) {
    if (box.crosses[k]) PetscCall(GridLineComm(comm, grid, k, &on_ranks->line[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where a line of a direction stands in the two others: the number that LineLayout gives it.
static Index line_number(const AdiBox &box, int k, Index component, const Index (&at)[3])
{
  const int across[2] = {k == 0 ? 1 : 0, k == 2 ? 1 : 2};
  return component + box.components * (at[across[0]] + box.n[across[0]] * at[across[1]]);
}

// The row, in the whole matrix, of the node next to a node at an end of the box, along direction k; -1 beyond the grid.
static PetscInt row_across(const AdiBox &box, const GridOwners &owners, int k, int side, Index component, const Index (&at)[3])
{
  Index node[3] = {box.first[0] + at[0], box.first[1] + at[1], box.first[2] + at[2]};
  node[k] += side == 0 ? -1 : 1;
  if (node[k] < 0 || node[k] >= box.global[k]) {
    if (!box.closed(k)) return -1;
    node[k] = side == 0 ? box.global[k] - 1 : 0;
  }
  return owners.row(node, component);
}

PetscErrorCode AdiGetHalo(Mat A, const AdiGridOnRanks &grid, AdiHalo<KernelScalar> *halo)
{
  const AdiBox &box = grid.box;
  GridOwners owners;
  PetscInt start, end;

  PetscFunctionBegin;
  *halo = {};
  if (!box.crosses[0] && !box.crosses[1] && !box.crosses[2]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(owners.Find(grid.grid, A));
  for (int k = 0; k < 3; k++) {
    if (!box.crosses[k]) continue;
    const auto lines = static_cast<std::size_t>(box.lines(k).layout.count());
    for (int side : {0, 1}) halo->out[k][side].assign(lines, 0), halo->in[k][side].assign(lines, 0);
  }

  const Index rows = box.rows();
  for (Index i = 0; i < rows; i++) {
    const Index component = i % box.components, node = i / box.components;
    const Index at[3] = {node % box.n[0], node / box.n[0] % box.n[1], node / box.n[0] / box.n[1]};
    PetscInt wanted[3][2];
    bool at_an_end = false;
    for (int k = 0; k < 3; k++) {
      for (int side : {0, 1}) {
        const bool here = box.crosses[k] && at[k] == (side == 0 ? 0 : box.n[k] - 1);
        wanted[k][side] = here ? row_across(box, owners, k, side, component, at) : -1;
        at_an_end       = at_an_end || (box.crosses[k] && (at[k] < grid.width || at[k] >= box.n[k] - grid.width));
      }
    }
    if (!at_an_end) continue;
    PetscInt count;
    const PetscInt *columns;
    const PetscScalar *values;
    PetscCall(MatGetRow(A, start + static_cast<PetscInt>(i), &count, &columns, &values));
    PetscReal diagonal = 0, off = 0;
    for (PetscInt e = 0; e < count; e++) {
      if (columns[e] == start + static_cast<PetscInt>(i))
        diagonal = PetscAbsScalar(values[e]);
      else
        off += PetscAbsScalar(values[e]);
    }
    const bool penalty = off > 0 && is_penalty(diagonal, off); // takes part in no line
    for (PetscInt e = 0; e < count && !penalty; e++) {
      if ((columns[e] >= start && columns[e] < end) || values[e] == 0.0) continue;
      bool on_a_line = false;
      for (int k = 0; k < 3 && !on_a_line; k++) {
        for (int side : {0, 1}) {
          if (wanted[k][side] != columns[e] || on_a_line) continue;
          halo->out[k][side][static_cast<std::size_t>(line_number(box, k, component, at))] = values[e];
          on_a_line                                                                        = true;
        }
      }
      if (!on_a_line) halo->rest += PetscAbsScalar(values[e]);
    }
    PetscCall(MatRestoreRow(A, start + static_cast<PetscInt>(i), &count, &columns, &values));
  }

  // What a piece couples to its neighbour is what the neighbour is coupled by.
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  for (int k = 0; k < 3; k++) {
    if (!box.crosses[k]) continue;
    const int me = grid.grid.at[k], ranks = grid.grid.ranks[k];
    const int before = me > 0          ? me - 1
                       : box.closed(k) ? ranks - 1
                                       : MPI_PROC_NULL,
              after  = me + 1 < ranks  ? me + 1
                       : box.closed(k) ? 0
                                       : MPI_PROC_NULL;
    const int lines  = static_cast<int>(halo->out[k][0].size());
    PetscCallMPI(MPI_Sendrecv(halo->out[k][0].data(), lines, MPIU_SCALAR, before, 0, halo->in[k][1].data(), lines, MPIU_SCALAR, after, 0,
                              grid.line[k], MPI_STATUS_IGNORE));
    PetscCallMPI(MPI_Sendrecv(halo->out[k][1].data(), lines, MPIU_SCALAR, after, 1, halo->in[k][0].data(), lines, MPIU_SCALAR, before, 1,
                              grid.line[k], MPI_STATUS_IGNORE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
