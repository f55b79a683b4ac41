/* PCBCR: direct solver for separable operators (Poisson, Helmholtz) on a DMDA, and preconditioner for operators near to one. */
#pragma once
#include <weft.h>

#define PCBCR "bcr"

/* Precision of the solve: as the vectors, or single inside. */
typedef enum { PC_BCR_DOUBLE, PC_BCR_SINGLE } PCBCRPrecision;

WEFT_EXTERN PetscErrorCode PCBCRSetMethod(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCBCRGetMethod(PC, const char *[]);
WEFT_EXTERN PetscErrorCode PCBCRSetInverse(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCBCRGetInverse(PC, const char *[]);
WEFT_EXTERN PetscErrorCode PCBCRSetRadix(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCBCRGetRadix(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCBCRSetLevels(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCBCRGetLevels(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCBCRSetPrecision(PC, PCBCRPrecision);
WEFT_EXTERN PetscErrorCode PCBCRGetPrecision(PC, PCBCRPrecision *);
WEFT_EXTERN PetscErrorCode PCBCRSetRequireSeparable(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCBCRGetRequireSeparable(PC, PetscBool *);
WEFT_EXTERN PetscErrorCode PCBCRSetSeparableTolerance(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCBCRGetSeparableTolerance(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCBCRSetCheck(PC, PetscReal, PetscReal);
WEFT_EXTERN PetscErrorCode PCBCRGetCheck(PC, PetscReal *, PetscReal *);
