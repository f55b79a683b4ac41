/* Compact finite differences of a field on a DMDA: derivatives of fourth and sixth order along one direction, and filters, wherever its vectors are. */
#pragma once
#include <petscdm.h>
#include <petscvec.h>
#include <weft.h>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "Weft takes real numbers in double precision: compile with a PETSc configured --with-scalar-type=real --with-precision=double"
#endif

/* The scheme of a derivative: which one, and its order in the interior. */
typedef enum { WEFT_COMPACT_FIRST_4, WEFT_COMPACT_FIRST_6, WEFT_COMPACT_SECOND_4, WEFT_COMPACT_SECOND_6 } WeftCompactScheme;

/* A derivative along one direction of a DMDA, or a filter, set up. */
typedef struct _p_WeftCompact *WeftCompact;

WEFT_EXTERN PetscErrorCode WeftCompactCreate(DM, PetscInt, WeftCompactScheme, PetscReal, WeftCompact *);
WEFT_EXTERN PetscErrorCode WeftCompactCreateFilter(DM, PetscInt, PetscInt, PetscReal, WeftCompact *);
WEFT_EXTERN PetscErrorCode WeftCompactCreateBeside(WeftCompact, WeftCompactScheme, WeftCompact *);
WEFT_EXTERN PetscErrorCode WeftCompactApply(WeftCompact, Vec, Vec);
WEFT_EXTERN PetscErrorCode WeftCompactApplyAgain(WeftCompact, Vec, Vec);
WEFT_EXTERN PetscErrorCode WeftCompactDestroy(WeftCompact *);
