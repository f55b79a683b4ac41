#include "petsc/message_way.h"

#include "petsc/petsc_compat.h"
#if defined(WEFT_DISTRIBUTED)
#include "base/stream_messages.hpp"
#endif

namespace weft {

PetscErrorCode ReadMessageWay()
{
  PetscFunctionBegin;
#if defined(WEFT_DISTRIBUTED)
  static const char *const ways[] = {"auto", "mpi", "nccl"};
  PetscInt way                    = 0;
  PetscBool set;

  PetscCall(PetscOptionsGetEList(NULL, NULL, "-weft_messages", ways, 3, &way, &set));
  StreamMessages::wanted() = static_cast<MessageWay>(way);
  PetscCheck(StreamMessages::wanted() != MessageWay::nccl || StreamMessages::built(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-weft_messages nccl: this libweft was built without NCCL: install it and configure again, or take -weft_messages mpi");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
