/* PCCROUT and the MatSolverType "crout": incomplete and complete LU and LDL^T by fixed-point Crout sweeps. */
#pragma once
#include <weft.h>

#define PCCROUT "crout"
#define MATSOLVERCROUT "crout"

/* Where the factors have entries. PC_CROUT_LEVELS: as ILU(k). PC_CROUT_THRESHOLD: where they are large. PC_CROUT_FULL: wherever there is
   fill, which makes it a direct solver. */
typedef enum { PC_CROUT_LEVELS, PC_CROUT_THRESHOLD, PC_CROUT_FULL } PCCroutPattern;

/* How the factors are found. PC_CROUT_METHOD_AUTO eliminates on a host, for full fill and where sweeps on a device would take longer, else
   it sweeps. */
typedef enum { PC_CROUT_METHOD_SWEEPS, PC_CROUT_METHOD_EXACT, PC_CROUT_METHOD_AUTO } PCCroutMethod;

/* Of rows and columns, before the factorization: by the diagonal, so that it becomes one; or by their largest entries, three times. */
typedef enum { PC_CROUT_SCALING_NONE, PC_CROUT_SCALING_DIAGONAL, PC_CROUT_SCALING_RUIZ } PCCroutScaling;

typedef enum { PC_CROUT_DOUBLE, PC_CROUT_SINGLE } PCCroutPrecision;

WEFT_EXTERN PetscErrorCode PCCroutSetPattern(PC, PCCroutPattern);
WEFT_EXTERN PetscErrorCode PCCroutGetPattern(PC, PCCroutPattern *);
WEFT_EXTERN PetscErrorCode PCCroutSetLevels(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCCroutGetLevels(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCCroutSetDropTolerance(PC, PetscReal, PetscInt);
WEFT_EXTERN PetscErrorCode PCCroutGetDropTolerance(PC, PetscReal *, PetscInt *);
WEFT_EXTERN PetscErrorCode PCCroutSetMostOperations(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCCroutGetMostOperations(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCCroutSetMethod(PC, PCCroutMethod);
WEFT_EXTERN PetscErrorCode PCCroutGetMethod(PC, PCCroutMethod *);
WEFT_EXTERN PetscErrorCode PCCroutSetSweeps(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCCroutGetSweeps(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCCroutSetTolerance(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCCroutGetTolerance(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCCroutSetOmega(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCCroutGetOmega(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCCroutSetSections(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCCroutGetSections(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCCroutSetAsynchronous(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCCroutGetAsynchronous(PC, PetscBool *);
WEFT_EXTERN PetscErrorCode PCCroutSetShift(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCCroutGetShift(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCCroutSetCheck(PC, PetscReal, PetscReal);
WEFT_EXTERN PetscErrorCode PCCroutGetCheck(PC, PetscReal *, PetscReal *);
WEFT_EXTERN PetscErrorCode PCCroutSetScaling(PC, PCCroutScaling);
WEFT_EXTERN PetscErrorCode PCCroutGetScaling(PC, PCCroutScaling *);
WEFT_EXTERN PetscErrorCode PCCroutSetOrdering(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCCroutGetOrdering(PC, const char *[]);
WEFT_EXTERN PetscErrorCode PCCroutSetSymmetric(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCCroutGetSymmetric(PC, PetscBool *, PetscBool *);
WEFT_EXTERN PetscErrorCode PCCroutSetTriangularSolve(PC, const char[], PetscInt);
WEFT_EXTERN PetscErrorCode PCCroutGetTriangularSolve(PC, const char *[], PetscInt *);
WEFT_EXTERN PetscErrorCode PCCroutSetPrecision(PC, PCCroutPrecision);
WEFT_EXTERN PetscErrorCode PCCroutGetPrecision(PC, PCCroutPrecision *);
WEFT_EXTERN PetscErrorCode PCCroutGetHistory(PC, PetscInt *, const PetscReal *[]);
