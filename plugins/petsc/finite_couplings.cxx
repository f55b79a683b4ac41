#include "petsc/finite_couplings.h"

#include "line/matrix_look.hpp"
#include "petsc/petsc_arrays.hpp"

namespace weft {

namespace {

PetscErrorCode OfAij(Mat outside, PetscInt *row)
{
  CsrMatrix<KernelScalar, PetscInt> couplings;
  std::unique_ptr<Execution> execution;
  MatrixLook look;
  PlaceOfRows place;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(outside, &rows, NULL));
  PetscCall(MatGetHostCsr(outside, &couplings));
  PetscCall(MakeExecution(Memory::host, &execution));
  place.rows = rows;
  PetscCallCXX(look = look_at<KernelScalar>(*execution, place, 1, couplings, {}));
  if (look.not_finite) *row = static_cast<PetscInt>(*look.not_finite);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Blocks and dense matrices, on the host; what a symmetric matrix keeps once stands in the rows of one rank.
PetscErrorCode OfOthers(Mat A, PetscInt first, PetscInt last, PetscInt *row)
{
  PetscInt entries;
  const PetscInt *columns;
  const PetscScalar *values;
  PetscBool symmetric;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPISBAIJ, &symmetric));
  if (symmetric) PetscCall(MatGetRowUpperTriangular(A));
  for (PetscInt i = first; i < last && *row < 0; i++) {
    PetscCall(MatGetRow(A, i, &entries, &columns, &values));
    for (PetscInt k = 0; k < entries; k++) {
      if ((columns[k] < first || columns[k] >= last) && PetscIsInfOrNanScalar(values[k])) *row = i - first;
    }
    PetscCall(MatRestoreRow(A, i, &entries, &columns, &values));
  }
  if (symmetric) PetscCall(MatRestoreRowUpperTriangular(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode RowOfCouplingNotFinite(Mat A, PetscInt *row)
{
  PetscMPIInt ranks;
  PetscInt first, last;
  PetscBool aij;
  Mat outside;

  PetscFunctionBegin;
  *row = -1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &aij));
  if (aij) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &outside, NULL));
    PetscCall(OfAij(outside, row));
  } else {
    PetscCall(OfOthers(A, first, last, row));
  }
  if (*row >= 0) *row += first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
