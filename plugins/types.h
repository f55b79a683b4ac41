/// The creators that register.cxx lists, and what else it registers.
#pragma once
#include <petscksp.h>

PetscErrorCode PCCreate_ADI(PC);
PetscErrorCode PCCreate_BCR(PC);
PetscErrorCode PCCreate_Boxmg(PC);
PetscErrorCode PCBoxmgRegisterEvents();
PetscErrorCode PCCreate_Line(PC);
PetscErrorCode PCLineRegisterEvents();
PetscErrorCode KSPCreate_ADI(KSP);
PetscErrorCode PCCreate_Crout(PC);
PetscErrorCode MatGetFactor_Crout(Mat, MatFactorType, Mat *);
