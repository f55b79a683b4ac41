#include "petsc/kokkos_start.h"

#include <cstdlib>

#include "base/execution.hpp"
#include "petsc/petsc_compat.h"

namespace weft {

PetscErrorCode KokkosStart()
{
  PetscFunctionBegin;
  PetscCheck(
      !kokkos_ended(), PETSC_COMM_SELF, PETSC_ERR_ORDER,
      "Kokkos has ended in this process and cannot start again: a PETSc with Kokkos must not be finalized before the last use of Weft");
#if defined(PETSC_HAVE_KOKKOS)
  PetscCall(PetscKokkosInitializeCheck());
#else
  if (!kokkos_started()) PetscCallCXX(kokkos_start(std::getenv("OMP_NUM_THREADS") ? 0 : 1));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
