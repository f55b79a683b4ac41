/// Makes sure that Kokkos runs before a kernel is launched.
#pragma once
#include <petscsys.h>

namespace weft {

/// Starts Kokkos through PETSc if PETSc has it, else a private one with one host thread per rank unless OMP_NUM_THREADS is set.
PetscErrorCode KokkosStart();

} // namespace weft
