#include "halo.hpp"

#include "petsc/agreed.h"
#include "petsc/petsc_arrays.hpp"

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

PetscErrorCode Halo::Create(DM da, int direction, PetscInt words, PetscInt lines, bool needs_before, bool needs_after,
                            std::shared_ptr<const weft::Execution> execution)
{
  Boxes boxes;
  PetscMPIInt here;
  const int d = direction;

  PetscFunctionBeginUser;
  words_     = words;
  execution_ = std::move(execution);
  comm_      = PetscObjectComm((PetscObject)da);
  PetscCall(PetscMPIIntCast(words * lines, &size_));
  PetscCall(BoxesOf(da, &boxes));
  PetscCallMPI(MPI_Comm_rank(comm_, &here));
  PetscCall(weft::RanksAgree(comm_));
  PetscCall(PetscObjectGetNewTag((PetscObject)da, &forwards_));
  PetscCall(PetscObjectGetNewTag((PetscObject)da, &backwards_));
  if (!needs_before && !needs_after) PetscFunctionReturn((PetscErrorCode)0);
  const PetscInt steps[3] = {1, boxes.ranks[0], boxes.ranks[0] * boxes.ranks[1]}; // DMDA numbers ranks like nodes, along x first
  PetscInt at             = 0;                                                    // of this box among those along the direction
  for (PetscInt sum = 0; sum < boxes.first[d]; at++) sum += boxes.sizes[d][at];
  const auto neighbour = [&](int side) { return here + (PetscMPIInt)(((at + side + boxes.ranks[d]) % boxes.ranks[d] - at) * steps[d]); };
  if (needs_before) before_ = neighbour(-1);
  if (needs_after) after_ = neighbour(1);
  PetscCallCXX(told_ = std::make_unique<weft::Milestone>(*execution_));
  PetscCallCXX(messages_ = std::make_unique<weft::EndMessages<weft::KernelScalar>>(*execution_, words * lines, weft::DeviceMessages()));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Destroy()
{
  PetscFunctionBeginUser;
  PetscCallCXX(messages_.reset());
  PetscCallCXX(told_.reset());
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Send()
{
  PetscFunctionBeginUser;
  PetscCallCXX(told_->wait());
  PetscCallMPI(MPI_Irecv(messages_->from_before(), size_, MPIU_SCALAR, before_, forwards_, comm_, &requests_[0]));
  PetscCallMPI(MPI_Irecv(messages_->from_after(), size_, MPIU_SCALAR, after_, backwards_, comm_, &requests_[1]));
  PetscCallMPI(MPI_Isend(messages_->to_before(), size_, MPIU_SCALAR, before_, backwards_, comm_, &requests_[2]));
  PetscCallMPI(MPI_Isend(messages_->to_after(), size_, MPIU_SCALAR, after_, forwards_, comm_, &requests_[3]));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::End()
{
  PetscFunctionBeginUser;
  if (messages_ && execution_->memory() == weft::Memory::device) PetscCall(Send());
  PetscCallMPI(MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
