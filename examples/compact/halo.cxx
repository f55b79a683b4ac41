#include "halo.hpp"

#include <vector>

namespace compact {

PetscErrorCode BoxesOf(DM da, Boxes *boxes)
{
  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &boxes->dim, &boxes->global[0], &boxes->global[1], &boxes->global[2], &boxes->ranks[0], &boxes->ranks[1],
                        &boxes->ranks[2], NULL, NULL, &boxes->boundary[0], &boxes->boundary[1], &boxes->boundary[2], NULL));
  PetscCall(DMDAGetCorners(da, &boxes->first[0], &boxes->first[1], &boxes->first[2], &boxes->nodes[0], &boxes->nodes[1], &boxes->nodes[2]));
  PetscCall(DMDAGetOwnershipRanges(da, &boxes->sizes[0], &boxes->sizes[1], &boxes->sizes[2]));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Create(DM da, int direction, PetscInt depth, bool needs_before, bool needs_after, Vec like)
{
  Boxes boxes;
  std::vector<PetscInt> indices;
  PetscMPIInt ranks, here;
  PetscInt start, local;
  VecType type;
  IS from;
  const int d = direction;

  PetscFunctionBeginUser;
  depth_ = depth;
  PetscCall(BoxesOf(da, &boxes));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)da), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)da), &here));
  std::vector<PetscInt> starts((std::size_t)ranks);
  PetscCall(VecGetOwnershipRange(like, &start, NULL));
  PetscCallMPI(MPI_Allgather(&start, 1, MPIU_INT, starts.data(), 1, MPIU_INT, PetscObjectComm((PetscObject)da)));
  const PetscInt steps[3] = {1, boxes.ranks[0], boxes.ranks[0] * boxes.ranks[1]}; // DMDA numbers ranks like nodes, along x first
  PetscInt at             = 0;                                                    // of this box among those along the direction
  for (PetscInt sum = 0; sum < boxes.first[d]; at++) sum += boxes.sizes[d][at];
  for (int side = -1; side <= 1; side += 2) {
    if (!(side < 0 ? needs_before : needs_after)) continue;
    const PetscInt other   = (at + side + boxes.ranks[d]) % boxes.ranks[d];
    const PetscMPIInt rank = here + (PetscMPIInt)((other - at) * steps[d]);
    PetscInt n[3]          = {boxes.nodes[0], boxes.nodes[1], boxes.nodes[2]}, x[3];
    n[d]                   = boxes.sizes[d][other];
    for (PetscInt plane = 0; plane < depth; plane++) {
      PetscInt size[3] = {n[0], n[1], n[2]};
      size[d]          = 1;
      for (x[2] = 0; x[2] < size[2]; x[2]++) {
        for (x[1] = 0; x[1] < size[1]; x[1]++) {
          for (x[0] = 0; x[0] < size[0]; x[0]++) {
            PetscInt node[3] = {x[0], x[1], x[2]};
            node[d]          = side < 0 ? n[d] - depth + plane : plane;
            indices.push_back(starts[(std::size_t)rank] + (node[2] * n[1] + node[1]) * n[0] + node[0]);
          }
        }
      }
    }
  }
  local = (PetscInt)indices.size();
  PetscCall(VecGetType(like, &type));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)like), &rows_));
  PetscCall(VecSetSizes(rows_, local, PETSC_DETERMINE));
  PetscCall(VecSetType(rows_, type));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)like), local, indices.data(), PETSC_COPY_VALUES, &from));
  if (boxes.ranks[d] > 1) PetscCall(VecScatterCreate(like, from, rows_, NULL, &exchange_));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Destroy()
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&rows_));
  PetscCall(VecScatterDestroy(&exchange_));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Begin(Vec f)
{
  PetscFunctionBeginUser;
  if (exchange_) PetscCall(VecScatterBegin(exchange_, f, rows_, INSERT_VALUES, SCATTER_FORWARD));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::End(Vec f)
{
  PetscFunctionBeginUser;
  if (exchange_) PetscCall(VecScatterEnd(exchange_, f, rows_, INSERT_VALUES, SCATTER_FORWARD));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
