/* PCBOXMG: multigrid for one matrix on a DMDA, with lines as its smoother and interpolation from the operator. */
#pragma once
#include <weft.h>

#define PCBOXMG "boxmg"

/* PC_BOXMG_CYCLE_AUTO: V cycles; F cycles where convection is strong, and turns or the grid is large; W cycles on two levels of a large grid where
   coefficients jump and lines run along several directions. */
typedef enum { PC_BOXMG_CYCLE_AUTO, PC_BOXMG_V, PC_BOXMG_W, PC_BOXMG_F } PCBoxmgCycle;

/* What relaxes a level. PC_BOXMG_SMOOTHER_AUTO: lines along the direction that is strong everywhere, if there is one, else along all in turn, or in
   space planes where lines cannot do. */
typedef enum { PC_BOXMG_SMOOTHER_AUTO, PC_BOXMG_LINES, PC_BOXMG_ALTERNATING, PC_BOXMG_PLANES, PC_BOXMG_POINTS } PCBoxmgSmoother;

/* The directions that may be coarsened, sums of x, y and z; PC_BOXMG_COARSEN_AUTO: chosen level by level. */
typedef enum {
  PC_BOXMG_COARSEN_AUTO = 0,
  PC_BOXMG_X            = 1,
  PC_BOXMG_Y            = 2,
  PC_BOXMG_XY           = 3,
  PC_BOXMG_Z            = 4,
  PC_BOXMG_XZ           = 5,
  PC_BOXMG_YZ           = 6,
  PC_BOXMG_ALL          = 7
} PCBoxmgCoarsen;

typedef enum { PC_BOXMG_OPERATOR, PC_BOXMG_LINEAR } PCBoxmgInterpolation;

/* What solves on the coarsest grid: its inverse, or sweeps of the smoother. */
typedef enum { PC_BOXMG_COARSE_DIRECT, PC_BOXMG_COARSE_LINES } PCBoxmgCoarse;

/* Precision of the cycle: as the vectors, or single inside. */
typedef enum { PC_BOXMG_DOUBLE, PC_BOXMG_SINGLE } PCBoxmgPrecision;

WEFT_EXTERN PetscErrorCode PCBoxmgSetLevels(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCBoxmgGetLevels(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetCycle(PC, PCBoxmgCycle);
WEFT_EXTERN PetscErrorCode PCBoxmgGetCycle(PC, PCBoxmgCycle *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetSmoother(PC, PCBoxmgSmoother);
WEFT_EXTERN PetscErrorCode PCBoxmgGetSmoother(PC, PCBoxmgSmoother *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetCoarsen(PC, PCBoxmgCoarsen);
WEFT_EXTERN PetscErrorCode PCBoxmgGetCoarsen(PC, PCBoxmgCoarsen *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetInterpolation(PC, PCBoxmgInterpolation);
WEFT_EXTERN PetscErrorCode PCBoxmgGetInterpolation(PC, PCBoxmgInterpolation *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetSweeps(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCBoxmgGetSweeps(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetCoarse(PC, PCBoxmgCoarse);
WEFT_EXTERN PetscErrorCode PCBoxmgGetCoarse(PC, PCBoxmgCoarse *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetCoarsest(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCBoxmgGetCoarsest(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetShare(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCBoxmgGetShare(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetPrecision(PC, PCBoxmgPrecision);
WEFT_EXTERN PetscErrorCode PCBoxmgGetPrecision(PC, PCBoxmgPrecision *);
WEFT_EXTERN PetscErrorCode PCBoxmgSetMonitor(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCBoxmgGetMonitor(PC, PetscBool *);
