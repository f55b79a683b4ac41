/* KSPADI: the stationary iteration with alternating directions. */
#pragma once
#include <petscksp.h>
#include <weft.h>

#define KSPADI "adi"

WEFT_EXTERN PetscErrorCode KSPADISetCheckEvery(KSP, PetscInt);
WEFT_EXTERN PetscErrorCode KSPADIGetCheckEvery(KSP, PetscInt *);
