// PETSc 3.18 to 3.26: the one name this program uses that the oldest of them lacks.
#pragma once

#include <petscksp.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif
