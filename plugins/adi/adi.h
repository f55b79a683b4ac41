/* PCADI: alternating directions. */
#pragma once
#include <weft.h>

#define PCADI "adi"

/* The scheme, see PCADISetType(). */
typedef enum { PC_ADI_PEACEMAN_RACHFORD, PC_ADI_DOUGLAS_RACHFORD, PC_ADI_DOUGLAS_GUNN } PCADIType;

/* How the spectra of the directional parts are bounded where no bounds and no shifts are given. */
typedef enum { PC_ADI_GERSHGORIN, PC_ADI_LANCZOS } PCADIBoundsMethod;

WEFT_EXTERN PetscErrorCode PCADISetType(PC, PCADIType);
WEFT_EXTERN PetscErrorCode PCADIGetType(PC, PCADIType *);
WEFT_EXTERN PetscErrorCode PCADISetShifts(PC, PetscInt, const PetscScalar[]);
WEFT_EXTERN PetscErrorCode PCADIGetShifts(PC, PetscInt *, const PetscScalar *[]);
WEFT_EXTERN PetscErrorCode PCADISetCycle(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCADIGetCycle(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCADISetIterations(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCADIGetIterations(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCADISetBounds(PC, PetscInt, const PetscReal[]);
WEFT_EXTERN PetscErrorCode PCADIGetBounds(PC, PetscInt *, const PetscReal *[]);
WEFT_EXTERN PetscErrorCode PCADISetBoundsMethod(PC, PCADIBoundsMethod);
WEFT_EXTERN PetscErrorCode PCADIGetBoundsMethod(PC, PCADIBoundsMethod *);
WEFT_EXTERN PetscErrorCode PCADISetLineSolver(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCADIGetLineSolver(PC, const char *[]);
WEFT_EXTERN PetscErrorCode PCADISetSymmetric(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCADIGetSymmetric(PC, PetscBool *);
WEFT_EXTERN PetscErrorCode PCADISetKeepFactors(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCADIGetKeepFactors(PC, PetscBool *);
