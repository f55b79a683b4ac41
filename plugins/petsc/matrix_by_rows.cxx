#include "petsc/matrix_by_rows.h"

#include <vector>

#include "petsc/agreed.h"
#include "petsc/petsc_compat.h"

namespace weft {

namespace {

// Puts the entries of this rank's rows there, and of a symmetric matrix those of its columns.
PetscErrorCode PutEntries(Mat A, bool symmetric, Mat there)
{
  PetscInt first, last, entries;
  const PetscInt *columns;
  const PetscScalar *values;
  std::vector<PetscInt> upper_columns;
  std::vector<PetscScalar> upper;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  if (symmetric) PetscCall(MatGetRowUpperTriangular(A));
  for (PetscInt row = first; row < last; row++) {
    PetscCall(MatGetRow(A, row, &entries, &columns, &values));
    if (!symmetric) {
      PetscCall(MatSetValues(there, 1, &row, entries, columns, values, INSERT_VALUES));
    } else {
      upper_columns.clear();
      upper.clear();
      for (PetscInt k = 0; k < entries; k++) {
        if (columns[k] < row) continue; // the blocks of the diagonal are kept whole
        PetscCallCXX(upper_columns.push_back(columns[k]));
        PetscCallCXX(upper.push_back(values[k]));
      }
      const auto count = static_cast<PetscInt>(upper.size());
      PetscCall(MatSetValues(there, 1, &row, count, upper_columns.data(), upper.data(), INSERT_VALUES));
      if (IsKnownHermitian(A)) {
        for (PetscScalar &value : upper) value = PetscConj(value);
      }
      PetscCall(MatSetValues(there, count, upper_columns.data(), 1, &row, upper.data(), INSERT_VALUES));
    }
    PetscCall(MatRestoreRow(A, row, &entries, &columns, &values));
  }
  if (symmetric) PetscCall(MatRestoreRowUpperTriangular(A));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCall(MatAssemblyBegin(there, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(there, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeLike(Mat A, MatType type, Mat *made)
{
  PetscInt rows, columns, global_rows, global_columns;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &rows, &columns));
  PetscCall(MatGetSize(A, &global_rows, &global_columns));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), made));
  PetscCall(MatSetSizes(*made, rows, columns, global_rows, global_columns));
  PetscCall(MatSetType(*made, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode CopyByRows(Mat A, Mat *copy)
{
  PetscBool symmetric;
  Mat places;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &symmetric, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (*copy) {
    PetscCall(MatZeroEntries(*copy));
  } else {
    PetscCall(MakeLike(A, MATPREALLOCATOR, &places));
    PetscCall(MatSetUp(places));
    PetscCall(PutEntries(A, symmetric, places));
    PetscCall(MakeLike(A, MATAIJ, copy));
    PetscCall(MatPreallocatorPreallocate(places, PETSC_FALSE, *copy));
    PetscCall(MatDestroy(&places));
    PetscCall(MatSetOption(*copy, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }
  PetscCall(PutEntries(A, symmetric, *copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
