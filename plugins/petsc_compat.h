/// Every difference between the PETSc releases that Weft builds with, 3.18 to 3.26.
#pragma once
#include <petscsys.h>
#include <petscversion.h>

#if PETSC_VERSION_LT(3, 18, 0) || !PETSC_VERSION_LT(3, 27, 0)
#error "Weft builds with PETSc 3.18 to 3.26"
#endif

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "Weft builds with a real, double precision PETSc (configure with --with-scalar-type=real --with-precision=double)"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

namespace weft {

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems *;
#else
using OptionItems = PetscOptionItems;
#endif

} // namespace weft
