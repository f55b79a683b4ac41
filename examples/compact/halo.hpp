/// Messages between neighbours along one direction of a DMDA, wherever their kernels run.
#pragma once
#include <petscdmda.h>

#include <memory>

#include "base/kernel_scalar.hpp"
#include "base/milestone.hpp"
#include "kernels/compact_sweep.hpp"
#include "kernels/end_messages.hpp"

namespace weft {
class PeerMail;
class RankMessages;
} // namespace weft

namespace compact {

/// The box of this rank and of its neighbours, as DMDA numbers them.
struct Boxes {
  PetscInt dim, global[3], first[3], nodes[3], ranks[3];
  const PetscInt *sizes[3] = {};
  DMBoundaryType boundary[3];
};
PetscErrorCode BoxesOf(DM da, Boxes *boxes);

/// What this rank and its neighbours along a direction tell each other.
class Halo {
public:
  Halo();
  ~Halo();
  /// `words` rows with a value for each of `lines`. ranks: of the DMDA; null where PETSc has no MPI. teller: where kernels tell, unless
  /// they write into the memory of neighbours, which those of the execution do. Collective.
  PetscErrorCode Create(DM da, int direction, PetscInt words, PetscInt lines, bool needs_before, bool needs_after,
                        std::shared_ptr<const weft::Execution> execution, std::shared_ptr<const weft::Execution> teller,
                        std::shared_ptr<const weft::RankMessages> ranks);
  PetscErrorCode Destroy();
  /// Sends what tell(to_before, to_after) makes in kernels of the execution, and receives by End; between the two the box may be worked on. By NCCL
  /// messages go behind these kernels, and the execution's next ones behind the messages, so that no host waits. By MPI a device gets the work between the
  /// two before the host waits for what is to be sent: messages begin at End, while it computes. They go from the device where MPI knows it, else through
  /// pinned memory of the host (-use_gpu_aware_mpi 0). Where devices reach each other's memory, these kernels write into that of the neighbours, and the
  /// execution's next ones wait. in_kernel: the next one does the rest by itself, End too, by Mail(), if there is mail.
  template <class Tell>
  PetscErrorCode Begin(const Tell &tell, bool in_kernel = false)
  {
    PetscFunctionBeginUser;
    if (!messages_ && !mail_) PetscFunctionReturn((PetscErrorCode)0);
    PetscCall(BeginTurn());
    PetscCallCXX(tell(ends_.to_before, ends_.to_after));
    PetscCall(EndTelling(in_kernel));
    PetscFunctionReturn((PetscErrorCode)0);
  }
  PetscErrorCode End();
  /// Whether kernels write into the memory of neighbours.
  bool HasMail() const { return mail_ != nullptr; }
  weft::SweepMail<weft::KernelScalar> Mail() const;

  /// What came, from Begin to the next one.
  const weft::KernelScalar *FromBefore() const { return ends_.from_before; }
  const weft::KernelScalar *FromAfter() const { return ends_.from_after; }
  PetscInt Words() const { return words_; }

private:
  struct UnderWay;
  struct Ends {
    weft::KernelScalar *to_before = nullptr, *to_after = nullptr, *from_before = nullptr, *from_after = nullptr;
  };

  PetscErrorCode BeginTurn();
  PetscErrorCode EndTelling(bool in_kernel);
  PetscErrorCode Send();

  PetscInt words_    = 0;
  std::size_t bytes_ = 0; ///< of a message
  PetscMPIInt here_ = 0, before_ = MPI_PROC_NULL, after_ = MPI_PROC_NULL;
  bool in_order_ = false; ///< of the execution's kernels
  std::shared_ptr<const weft::Execution> execution_;
  std::shared_ptr<const weft::RankMessages> ranks_;
  std::unique_ptr<UnderWay> under_way_;   ///< messages that a host has begun
  std::unique_ptr<weft::Milestone> told_; ///< what is sent is there, and kernels have read what came the last time
  std::unique_ptr<weft::PeerMail> mail_;  ///< null where neighbours' memory is out of reach, or there is no neighbour
  std::unique_ptr<weft::EndMessages<weft::KernelScalar>> messages_; ///< null where there is mail, or no neighbour
  Ends ends_;                                                       ///< of the messages: null where there is no neighbour
};

} // namespace compact
