// What PCView() says of a PCCROUT.
#include "crout/crout_impl.h"

namespace weft {

PetscErrorCode PCView_Crout(PC pc, PetscViewer viewer)
{
  const PC_Crout *crout = Data(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!pc->setupcalled || !crout->factor) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  pattern %s, method %s, ordering %s; not yet factored\n",
                                     crout_patterns[(int)crout->settings.options.pattern], crout_methods[crout->method],
                                     crout->ordering.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  one block a rank (block Jacobi), %d blocks; that of the first rank:\n", (int)ranks));
  if (!crout->failure.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", crout->failure.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ordering: %s%s\n", crout->ordered_by.c_str(), crout->ordering == "auto" ? " (auto)" : ""));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(crout->factor->View(viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(PCCroutTellOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
