/* Weft's public interface beyond PETSc's own. Programs need none of it: -dll_append libweft.so and options do everything. */
#pragma once
#include <petscpc.h>

#if defined(__cplusplus)
#define WEFT_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define WEFT_EXTERN extern __attribute__((visibility("default")))
#endif

/* Called by PETSc for -dll_append; a program linked to libweft calls it itself after PetscInitialize(). */
WEFT_EXTERN PetscErrorCode PetscDLLibraryRegister_weft(void);
