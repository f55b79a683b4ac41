/// What types with a Richardson iteration of their own tell KSPRICHARDSON.
#pragma once
#include <petscksp.h>

namespace weft {

/// How PCApplyRichardson() ended that has no tolerance to reach. KSPRICHARDSON takes the number for a KSPConvergedReason, and would call a
/// solution of infinities converged.
inline PCRichardsonConvergedReason RichardsonReason(bool failed)
{
  return failed ? static_cast<PCRichardsonConvergedReason>(KSP_DIVERGED_PC_FAILED) : PCRICHARDSON_CONVERGED_ITS;
}

} // namespace weft
