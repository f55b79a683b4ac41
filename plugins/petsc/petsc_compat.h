/// Every difference between the PETSc releases that Weft builds with, 3.18 to 3.26.
#pragma once

#include <petsc/private/matimpl.h>
#include <petsc/private/petscimpl.h>
#include <petscmat.h>
#include <petscversion.h>

#if PETSC_VERSION_LT(3, 18, 0) || !PETSC_VERSION_LT(3, 27, 0)
#error "Weft builds with PETSc 3.18 to 3.26"
#endif

#if !defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_REAL_SINGLE)
#error "Weft builds with a PETSc in double or single precision (configure with --with-precision=double or single)"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS ((PetscErrorCode)0)
#endif
#if PETSC_VERSION_LT(3, 20, 0)
#define PetscAssertPointer PetscValidPointer
#endif

namespace weft {

/// A bound in units of rounding: that of a PETSc in double precision, that of one in single precision.
constexpr PetscReal OfPrecision(double in_double, double in_single)
{
  return static_cast<PetscReal>(sizeof(PetscReal) == sizeof(double) ? in_double : in_single);
}

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems *;
#else
using OptionItems = PetscOptionItems;
#endif

/// True of a complex matrix that is known to be Hermitian, as each positive definite one is: MAT_SPD marks it as symmetric alone. Later releases of PETSc
/// call each SBAIJ matrix symmetric.
inline bool IsKnownHermitian(Mat A)
{
  return PetscDefined(USE_COMPLEX) && (A->hermitian == PETSC_BOOL3_TRUE || A->spd == PETSC_BOOL3_TRUE);
}

/// True where messages may start and end in device memory.
inline bool DeviceMessages()
{
#if defined(PETSC_HAVE_DEVICE)
  return use_gpu_aware_mpi;
#else
  return false;
#endif
}

#if PETSC_VERSION_LT(3, 19, 0)
// Before 3.19 dense matrices are on the host.
inline PetscErrorCode MatDenseGetArrayReadAndMemType(Mat A, const PetscScalar **values, PetscMemType *type)
{
  PetscFunctionBegin;
  *type = PETSC_MEMTYPE_HOST;
  PetscCall(MatDenseGetArrayRead(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode MatDenseRestoreArrayReadAndMemType(Mat A, const PetscScalar **values)
{
  PetscFunctionBegin;
  PetscCall(MatDenseRestoreArrayRead(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode MatDenseGetArrayWriteAndMemType(Mat A, PetscScalar **values, PetscMemType *type)
{
  PetscFunctionBegin;
  *type = PETSC_MEMTYPE_HOST;
  PetscCall(MatDenseGetArrayWrite(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode MatDenseRestoreArrayWriteAndMemType(Mat A, PetscScalar **values)
{
  PetscFunctionBegin;
  PetscCall(MatDenseRestoreArrayWrite(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

#if PETSC_VERSION_LT(3, 22, 0)
// Infinities are what KSP knows a failed PC by.
inline PetscErrorCode VecFlag(Vec x, PetscInt flag)
{
  PetscFunctionBegin;
  if (flag) PetscCall(VecSetInf(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/// Whether KSPSolveTranspose() is what was called. Later releases keep it among others.
template <class Solver>
bool SolvesTransposed(Solver ksp)
{
  if constexpr (requires { ksp->transpose.solve_requested; })
    return ksp->transpose.solve_requested;
  else
    return ksp->transpose_solve;
}

/// What a SNES has its KSP call before each solve; null in the solvers of others. Later releases keep it apart from what users may set.
template <class Solver>
bool CallsBeforeSolve(Solver ksp)
{
  if constexpr (requires { ksp->presolve_ew; })
    return ksp->presolve || ksp->presolve_ew;
  else
    return ksp->presolve;
}

inline PetscErrorCode MatDenseSetFailed(Mat X)
{
  PetscInt columns;
  Vec x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &columns));
  for (PetscInt column = 0; column < columns; column++) {
    PetscCall(MatDenseGetColumnVecWrite(X, column, &x));
    PetscCall(VecFlag(x, 1));
    PetscCall(MatDenseRestoreColumnVecWrite(X, column, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
