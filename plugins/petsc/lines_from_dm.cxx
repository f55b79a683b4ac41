#include "petsc/lines_from_dm.h"

#include <petscdmda.h>

#include "petsc/agreed.h"
#include "petsc/petsc_compat.h"

namespace weft {

static PetscErrorCode GridFromDM(DM dm, Mat A, Grid *grid)
{
  PetscBool is_da;
  PetscInt dimension, components, first[3], nodes[3], rows, global_rows, global[3], ranks[3];
  DMBoundaryType boundary[3];
  PetscMPIInt rank;

  PetscFunctionBegin;
  *grid = {};
  if (!dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  if (!is_da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &dimension, &global[0], &global[1], &global[2], &ranks[0], &ranks[1], &ranks[2], &components, NULL,
                        &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCall(DMDAGetCorners(dm, &first[0], &first[1], &first[2], &nodes[0], &nodes[1], &nodes[2]));
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(MatGetSize(A, &global_rows, NULL));
  // All ranks must come to the same answer, but only one rank's part may have another size.
  PetscMPIInt fits = rows == components * nodes[0] * nodes[1] * nodes[2] && global_rows == components * global[0] * global[1] * global[2],
              all_fit;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(&fits, &all_fit, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (!all_fit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  grid->dimension  = static_cast<int>(dimension);
  grid->components = components;
  grid->dm         = dm;
  // DMDA counts the ranks' boxes with x fastest.
  const int at[3] = {rank % (int)ranks[0], rank / (int)ranks[0] % (int)ranks[1], rank / (int)(ranks[0] * ranks[1])};
  for (int k = 0; k < 3; k++) {
    grid->nodes[k]    = nodes[k];
    grid->first[k]    = first[k];
    grid->global[k]   = global[k];
    grid->periodic[k] = k < dimension && boundary[k] == DM_BOUNDARY_PERIODIC;
    grid->ranks[k]    = static_cast<int>(ranks[k]);
    grid->at[k]       = at[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridFromPC(PC pc, Grid *grid)
{
  Mat A;
  DM dm;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(PCGetDM(pc, &dm));
  PetscCall(GridFromDM(dm, A, grid));
  if (grid->dimension == 0) {
    PetscCall(MatGetDM(A, &dm));
    PetscCall(GridFromDM(dm, A, grid));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridOfRows(Mat A, bool ring, Grid *grid)
{
  const PetscInt *starts;
  PetscMPIInt size, rank;
  PetscInt all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(MatGetOwnershipRanges(A, &starts));
  PetscCall(MatGetSize(A, &all, NULL));
  *grid             = {};
  grid->dimension   = 1;
  grid->nodes[0]    = starts[rank + 1] - starts[rank];
  grid->first[0]    = starts[rank];
  grid->global[0]   = all;
  grid->periodic[0] = ring;
  grid->ranks[0]    = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    if (starts[r + 1] == starts[r]) continue;
    if (r < rank) grid->at[0]++;
    grid->ranks[0]++;
  }
  grid->ranks[0] = PetscMax(grid->ranks[0], 1); // no rows at all
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int RankOf(const Grid &grid, const int (&at)[3])
{
  return at[0] + grid.ranks[0] * (at[1] + grid.ranks[1] * at[2]);
}

PetscErrorCode GridLineComm(MPI_Comm comm, const Grid &grid, int direction, MPI_Comm *line)
{
  int first[3] = {grid.at[0], grid.at[1], grid.at[2]};

  PetscFunctionBegin;
  first[direction] = 0;
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Comm_split(comm, RankOf(grid, first), grid.at[direction], line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridRowsAcross(Mat A, const Grid &grid, int direction, int side, const LineLayout &layout, Index offset,
                              std::vector<PetscInt> *rows)
{
  const PetscInt *sizes[3], *starts;
  int at[3] = {grid.at[0], grid.at[1], grid.at[2]};

  PetscFunctionBegin;
  rows->assign(static_cast<size_t>(layout.count()), -1);
  if (!grid.dm) { // the rows in their order
    const Index all = grid.global[0], next = side < 0 ? grid.first[0] - 1 : grid.first[0] + grid.nodes[0];
    if (grid.nodes[0] > 0 && (grid.periodic[0] || (next >= 0 && next < all))) rows->front() = static_cast<PetscInt>((next + all) % all);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  at[direction] += side;
  if (at[direction] < 0 || at[direction] == grid.ranks[direction]) {
    if (!grid.periodic[direction]) PetscFunctionReturn(PETSC_SUCCESS);
    at[direction] = side < 0 ? grid.ranks[direction] - 1 : 0;
  }
  PetscCall(DMDAGetOwnershipRanges(grid.dm, &sizes[0], &sizes[1], &sizes[2]));
  PetscCall(MatGetOwnershipRanges(A, &starts));
  // The same nodes across the lines, another number of them along.
  Index nodes[3]   = {grid.nodes[0], grid.nodes[1], grid.nodes[2]};
  nodes[direction] = sizes[direction][at[direction]];
  const Index b = grid.components, node = side < 0 ? nodes[direction] - 1 : 0;
  for (Index line = 0; line < layout.count(); line++) {
    const Index i = offset + layout.start(line), k = i / b;
    Index place[3]                     = {k % grid.nodes[0], k / grid.nodes[0] % grid.nodes[1], k / (grid.nodes[0] * grid.nodes[1])};
    place[direction]                   = node;
    const Index there                  = (place[0] + nodes[0] * (place[1] + nodes[1] * place[2])) * b + i % b;
    (*rows)[static_cast<size_t>(line)] = starts[RankOf(grid, at)] + static_cast<PetscInt>(there);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
