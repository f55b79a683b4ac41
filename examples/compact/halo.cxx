#include "halo.hpp"

#include "base/peer_mail.hpp"
#if defined(WEFT_DISTRIBUTED)
#include "base/rank_messages.hpp"
#endif
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

#if defined(WEFT_DISTRIBUTED)
struct Halo::UnderWay {
  weft::RankMessages::Batch batch;
};
#else // there are no neighbours
struct Halo::UnderWay {};
#endif

Halo::Halo()  = default;
Halo::~Halo() = default;

PetscErrorCode Halo::Create(DM da, int direction, PetscInt words, PetscInt lines, bool needs_before, bool needs_after,
                            [[maybe_unused]] std::shared_ptr<const weft::Execution> execution,
                            std::shared_ptr<const weft::Execution> teller, std::shared_ptr<const weft::RankMessages> ranks)
{
  Boxes boxes;
  PetscInt count;
  PetscMPIInt counted;
  const int d = direction;

  PetscFunctionBeginUser;
  words_     = words;
  execution_ = std::move(teller);
  ranks_     = std::move(ranks);
  bytes_     = sizeof(weft::KernelScalar) * (std::size_t)(words * lines);
  PetscCall(PetscIntCast((PetscInt64)(bytes_ / sizeof(float)), &count)); // as MPI counts a message
  PetscCall(PetscMPIIntCast(count, &counted));
  PetscCall(BoxesOf(da, &boxes));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)da), &here_));
  if (!needs_before && !needs_after) PetscFunctionReturn((PetscErrorCode)0);
  const PetscInt steps[3] = {1, boxes.ranks[0], boxes.ranks[0] * boxes.ranks[1]}; // DMDA numbers ranks like nodes, along x first
  PetscInt at             = 0;                                                    // of this box among those along the direction
  for (PetscInt sum = 0; sum < boxes.first[d]; at++) sum += boxes.sizes[d][at];
  const auto neighbour = [&](int side) { return here_ + (PetscMPIInt)(((at + side + boxes.ranks[d]) % boxes.ranks[d] - at) * steps[d]); };
  if (needs_before) before_ = neighbour(-1);
  if (needs_after) after_ = neighbour(1);
  bool on_device = weft::DeviceMessages();
#if defined(WEFT_DISTRIBUTED)
  PetscCall(weft::CallTogether(PetscObjectComm((PetscObject)da), [&] { mail_ = ranks_->mail(2, bytes_); }));
  if (mail_) {
    execution_ = std::move(execution);
    PetscFunctionReturn((PetscErrorCode)0);
  }
  in_order_ = ranks_->in_order_of(execution_->stream());
  on_device = on_device || ranks_->on_stream();
#endif
  PetscCallCXX(told_ = std::make_unique<weft::Milestone>(*execution_));
  PetscCallCXX(messages_ = std::make_unique<weft::EndMessages<weft::KernelScalar>>(*execution_, words * lines, on_device));
  ends_ = {messages_->to_before(), messages_->to_after(), messages_->from_before(), messages_->from_after()};
  PetscFunctionReturn((PetscErrorCode)0);
}

// The numbers of a rank's inboxes.
static constexpr int of_before = 0, of_after = 1;

/// Where this turn's messages are written to and read from.
PetscErrorCode Halo::BeginTurn()
{
  PetscFunctionBeginUser;
  if (!mail_) PetscFunctionReturn((PetscErrorCode)0);
  const auto inbox = [this](PetscMPIInt rank, int number) {
    return rank == MPI_PROC_NULL ? nullptr : static_cast<weft::KernelScalar *>(mail_->inbox(rank, number));
  };
  mail_->next_turn();
  ends_ = {inbox(before_, of_after), inbox(after_, of_before), inbox(here_, of_before), inbox(here_, of_after)};
  PetscFunctionReturn((PetscErrorCode)0);
}

weft::SweepMail<weft::KernelScalar> Halo::Mail() const
{
  const auto flag = [this](PetscMPIInt neighbour, PetscMPIInt rank, int number) {
    return neighbour == MPI_PROC_NULL ? nullptr : mail_->flag(rank, number);
  };
  return {ends_.from_before,
          ends_.from_after,
          flag(before_, here_, of_before),
          flag(after_, here_, of_after),
          flag(before_, before_, of_after),
          flag(after_, after_, of_before),
          mail_->turn()};
}

/// Behind the kernels that tell.
PetscErrorCode Halo::EndTelling(bool in_kernel)
{
  PetscFunctionBeginUser;
  if (mail_ && in_kernel) PetscFunctionReturn((PetscErrorCode)0);
  if (mail_) {
    if (before_ != MPI_PROC_NULL) PetscCallCXX(mail_->tell(before_, of_after, execution_->stream()));
    if (after_ != MPI_PROC_NULL) PetscCallCXX(mail_->tell(after_, of_before, execution_->stream()));
    PetscFunctionReturn((PetscErrorCode)0);
  }
  PetscCallCXX(told_->set());
  if (execution_->memory() == weft::Memory::host || in_order_) PetscCall(Send());
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Destroy()
{
  PetscFunctionBeginUser;
  PetscCallCXX(mail_.reset());
  PetscCallCXX(messages_.reset());
  PetscCallCXX(told_.reset());
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::Send()
{
  PetscFunctionBeginUser;
#if defined(WEFT_DISTRIBUTED)
  if (!in_order_) PetscCallCXX(told_->wait());
  PetscCallCXX(under_way_.reset(new UnderWay{{*ranks_, in_order_ ? execution_->stream() : nullptr}}));
  const auto &batch = under_way_->batch;
  // A rank can be both neighbours of another: what goes forwards is named first.
  if (before_ != MPI_PROC_NULL) PetscCallCXX(batch.receive(messages_->from_before(), bytes_, before_));
  if (after_ != MPI_PROC_NULL) PetscCallCXX(batch.receive(messages_->from_after(), bytes_, after_));
  if (after_ != MPI_PROC_NULL) PetscCallCXX(batch.send(messages_->to_after(), bytes_, after_));
  if (before_ != MPI_PROC_NULL) PetscCallCXX(batch.send(messages_->to_before(), bytes_, before_));
  if (in_order_) PetscCallCXX(batch.end());
  if (in_order_) under_way_.reset();
#endif
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Halo::End()
{
  PetscFunctionBeginUser;
  if (mail_) { // where there is no neighbour on one side, the other one's message is waited for twice
    const int before = before_ != MPI_PROC_NULL ? of_before : of_after, after = after_ != MPI_PROC_NULL ? of_after : of_before;
    PetscCallCXX(mail_->wait({before, after}, execution_->stream()));
  }
  if (!messages_ || in_order_) PetscFunctionReturn((PetscErrorCode)0);
  if (execution_->memory() == weft::Memory::device) PetscCall(Send());
#if defined(WEFT_DISTRIBUTED)
  PetscCallCXX(under_way_->batch.end());
#endif
  under_way_.reset();
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
