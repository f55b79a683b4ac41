/// The creators that register.cxx lists.
#pragma once
#include <petscksp.h>

PetscErrorCode PCCreate_ADI(PC);
PetscErrorCode PCCreate_BCR(PC);
PetscErrorCode PCCreate_Line(PC);
PetscErrorCode KSPCreate_ADI(KSP);
PetscErrorCode PCCreate_Crout(PC);
PetscErrorCode MatGetFactor_Crout(Mat, MatFactorType, Mat *);
