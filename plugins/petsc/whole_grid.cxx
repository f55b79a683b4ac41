#include "petsc/whole_grid.h"

#include "petsc/agreed.h"
#include "petsc/grid_owners.h"

namespace weft {

namespace {

// The rows of all nodes in the grid's natural order, those of a node together, on the first rank; none on others.
PetscErrorCode RowsInOrder(const Grid &grid, Mat A, bool here, IS *rows)
{
  GridOwners owners;
  PetscInt *of_nodes, count, k = 0;

  PetscFunctionBegin;
  PetscCall(owners.Find(grid, A));
  PetscCall(MatGetSize(A, &count, NULL));
  if (!here) count = 0;
  PetscCall(PetscMalloc1(count, &of_nodes));
  for (Index z = 0; k < count; z++) {
    for (Index y = 0; y < grid.global[1]; y++) {
      for (Index x = 0; x < grid.global[0]; x++) {
        for (Index c = 0; c < grid.components; c++) of_nodes[k++] = owners.row({x, y, z}, c);
      }
    }
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, of_nodes, PETSC_OWN_POINTER, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode WholeGrid::Make(const Grid &grid, Mat A)
{
  Vec vec;
  VecType type;
  PetscInt count;
  PetscMPIInt ranks, rank;
  Order order{0, {grid.global[0], grid.global[1], grid.global[2]}, grid.components};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  here_ = rank == 0;
  if (grid.dm) PetscCall(PetscObjectGetId((PetscObject)grid.dm, &order.dm));
  if (ranks == 1 || (way_ && order_ == order)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Destroy()); // that of another grid, or what a set-up that failed has left
  order_ = order;
  PetscCall(RowsInOrder(grid, A, here_, &rows_));
  PetscCall(ISGetLocalSize(rows_, &count));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &rhs_));
  PetscCall(VecSetSizes(rhs_, count, count));
  PetscCall(VecSetType(rhs_, type));
  PetscCall(VecDuplicate(rhs_, &solution_));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCall(MatCreateVecs(A, NULL, &vec));
  PetscCall(VecScatterCreate(vec, rows_, rhs_, NULL, &way_));
  PetscCall(VecDestroy(&vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WholeGrid::Destroy()
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&way_));
  PetscCall(ISDestroy(&rows_));
  PetscCall(VecDestroy(&rhs_));
  PetscCall(VecDestroy(&solution_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WholeGrid::Bring(Vec values)
{
  PetscFunctionBegin;
  PetscCall(VecScatterBegin(way_, values, rhs_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(way_, values, rhs_, INSERT_VALUES, SCATTER_FORWARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WholeGrid::BringMatrix(Mat A, Mat **whole) const
{
  const bool again = *whole != NULL;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCall(MatCreateSubMatrices(A, 1, &rows_, &rows_, again ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, whole));
  if (again && here_) { // new values are put on the host, without a word to a matrix that is on a device too
    PetscCall(MatSeqAIJGetArray((*whole)[0], &values));
    PetscCall(MatSeqAIJRestoreArray((*whole)[0], &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
