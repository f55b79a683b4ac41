/* PCLINE: line relaxation. */
#pragma once
#include <weft.h>

#define PCLINE "line"

/* Direction of the lines on a grid. PC_LINE_AUTO takes the direction in which the matrix couples most. */
typedef enum { PC_LINE_X, PC_LINE_Y, PC_LINE_Z, PC_LINE_AUTO } PCLineDirection;

/* PC_LINE_JACOBI: all lines at once. PC_LINE_ZEBRA: every second line first, then the others with the new values. */
typedef enum { PC_LINE_JACOBI, PC_LINE_ZEBRA } PCLineOrdering;

WEFT_EXTERN PetscErrorCode PCLineSetDirection(PC, PCLineDirection);
WEFT_EXTERN PetscErrorCode PCLineSetOrdering(PC, PCLineOrdering);
WEFT_EXTERN PetscErrorCode PCLineSetKernel(PC, const char[]);
WEFT_EXTERN PetscErrorCode PCLineSetKernelParameters(PC, PetscInt, PetscInt, PetscInt, PetscInt, PetscReal);
WEFT_EXTERN PetscErrorCode PCLineSetSweeps(PC, PetscInt);
WEFT_EXTERN PetscErrorCode PCLineSetOmega(PC, PetscReal);
