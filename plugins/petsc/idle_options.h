/// Options that a user has given and that nothing uses with the method that was chosen: -ksp_view and -info say so, and what would use them.
#pragma once
#include <petscpc.h>

#include <cstddef>

#include "petsc/petsc_compat.h"

namespace weft {

/// One option of a type, and when it acts.
template <class Data>
struct OptionUse {
  const char *option;          ///< without its "-" and the PC's prefix
  bool (*given)(const Data &); ///< it is not as it is by default
  bool (*acts)(const Data &);  ///< what set-up has made uses it
  const char *used_by;         ///< what would: "the kernels spike and toeplitz"
};

/// A line for each of the options that do nothing, to the viewer, or to -info where that is NULL. After a set-up.
template <class Data, std::size_t count>
PetscErrorCode TellIdleOptions(PC pc, const Data &data, const OptionUse<Data> (&table)[count], PetscViewer viewer)
{
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  for (const OptionUse<Data> &use : table) {
    if (!use.given(data) || use.acts(data)) continue;
    if (viewer)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  -%s%s does nothing here: %s\n", prefix ? prefix : "", use.option, use.used_by));
    else
      PetscCall(PetscInfo(pc, "-%s%s does nothing here: %s\n", prefix ? prefix : "", use.option, use.used_by));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
