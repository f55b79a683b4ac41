/* PCLINE: line relaxation. */
#pragma once
#include <weft.h>

#define PCLINE "line"

/* Directions of the lines on a grid, one after the other. PC_LINE_AUTO takes the directions in which some part of the matrix is stiff. */
typedef enum { PC_LINE_X, PC_LINE_Y, PC_LINE_Z, PC_LINE_XY, PC_LINE_XZ, PC_LINE_YZ, PC_LINE_XYZ, PC_LINE_AUTO } PCLineDirection;

/* PC_LINE_JACOBI: all lines at once. PC_LINE_ZEBRA: every second line first, then the others with the new values. PC_LINE_MULTICOLOR: as many
   groups as it takes for the lines of each not to couple in a box stencil. PC_LINE_ORDERING_AUTO: all lines at once, but zebra in symmetric sweeps
   for the lines of a grid under KSPRICHARDSON, where all at once are no smoother. */
typedef enum { PC_LINE_JACOBI, PC_LINE_ZEBRA, PC_LINE_MULTICOLOR, PC_LINE_ORDERING_AUTO } PCLineOrdering;

/* The order of directions and colours in a sweep. PC_LINE_SWEEP_AUTO is forward, but symmetric where PC_LINE_AUTO took several directions or
   PC_LINE_ORDERING_AUTO took zebra. */
typedef enum { PC_LINE_FORWARD, PC_LINE_BACKWARD, PC_LINE_SYMMETRIC, PC_LINE_SWEEP_AUTO } PCLineSweep;

/* Where lines come from: a map of the user's, a grid, the strongest couplings of the matrix, the rows in their order; PC_LINE_SOURCE_AUTO takes
   the first of map, grid and graph that there is. */
typedef enum { PC_LINE_MAP, PC_LINE_GRID, PC_LINE_GRAPH, PC_LINE_ROWS, PC_LINE_SOURCE_AUTO } PCLineSource;

/* What becomes of a line that crosses ranks. */
typedef enum { PC_LINE_EXACT, PC_LINE_CUT } PCLineRanks;

/* Unknowns of a node: in lines of blocks, in lines of their own, or as the matrix couples them. */
typedef enum { PC_LINE_TOGETHER, PC_LINE_APART, PC_LINE_COMPONENTS_AUTO } PCLineComponents;

/* Precision of coefficients, factors and line solves. */
typedef enum { PC_LINE_DOUBLE, PC_LINE_SINGLE } PCLinePrecision;

WEFT_EXTERN PetscErrorCode PCLineSetDirection(PC, PCLineDirection);
WEFT_EXTERN PetscErrorCode PCLineGetDirection(PC, PCLineDirection *);
WEFT_EXTERN PetscErrorCode PCLineSetOrdering(PC, PCLineOrdering);
WEFT_EXTERN PetscErrorCode PCLineGetOrdering(PC, PCLineOrdering *);
WEFT_EXTERN PetscErrorCode PCLineSetSweep(PC, PCLineSweep);
WEFT_EXTERN PetscErrorCode PCLineGetSweep(PC, PCLineSweep *);
WEFT_EXTERN PetscErrorCode PCLineSetSource(PC, PCLineSource);
WEFT_EXTERN PetscErrorCode PCLineGetSource(PC, PCLineSource *);
WEFT_EXTERN PetscErrorCode PCLineSetFile(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCLineGetFile(PC, const char *[]);
WEFT_EXTERN PetscErrorCode PCLineSetRanks(PC, PCLineRanks);
WEFT_EXTERN PetscErrorCode PCLineGetRanks(PC, PCLineRanks *);
WEFT_EXTERN PetscErrorCode PCLineSetComponents(PC, PCLineComponents);
WEFT_EXTERN PetscErrorCode PCLineGetComponents(PC, PCLineComponents *);
WEFT_EXTERN PetscErrorCode PCLineSetPrecision(PC, PCLinePrecision);
WEFT_EXTERN PetscErrorCode PCLineGetPrecision(PC, PCLinePrecision *);
WEFT_EXTERN PetscErrorCode PCLineSetPlaneCycles(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCLineGetPlaneCycles(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCLineSetKernel(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCLineGetKernel(PC, const char *[]);
WEFT_EXTERN PetscErrorCode PCLineSetKernelParameters(PC, PetscInt, PetscInt, PetscInt, PetscInt, PetscReal);
WEFT_EXTERN PetscErrorCode PCLineGetKernelParameters(PC, PetscInt *, PetscInt *, PetscInt *, PetscInt *, PetscReal *);
WEFT_EXTERN PetscErrorCode PCLineSetSweeps(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCLineGetSweeps(PC, PetscInt *);
WEFT_EXTERN PetscErrorCode PCLineSetOmega(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCLineGetOmega(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCLineSetEstimateOmega(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCLineGetEstimateOmega(PC, PetscBool *);
WEFT_EXTERN PetscErrorCode PCLineSetFindAgain(PC, PetscReal);
WEFT_EXTERN PetscErrorCode PCLineGetFindAgain(PC, PetscReal *);
WEFT_EXTERN PetscErrorCode PCLineSetDiagonalProducts(PC, PetscBool);
WEFT_EXTERN PetscErrorCode PCLineGetDiagonalProducts(PC, PetscBool *);
WEFT_EXTERN PetscErrorCode PCLineSetCheck(PC, PetscReal, PetscReal);
WEFT_EXTERN PetscErrorCode PCLineGetCheck(PC, PetscReal *, PetscReal *);
