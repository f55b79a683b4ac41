/// Lines on a grid that share one matrix which the user gives by itself: nothing of the size of the grid is assembled.
#pragma once
#include "line/line_impl.h"

namespace weft {

/// The name under which a user composes the matrix of one whole line with the PC's matrix, which may then be of any type.
inline constexpr char line_matrix_name[] = "weft_line";

/// The matrix composed with A as "weft_line", or NULL; the same on all ranks. Each rank composes one of its own (PETSC_COMM_SELF). Collective.
PetscErrorCode LineMatrixOf(Mat A, Mat *one);

/// An error, on all ranks, where the options do not go with such a matrix.
PetscErrorCode CheckLineMatrix(PC pc, const LineShape &shape);

/// What the sets need to know of a matrix that is not looked at: how many rows there are, and in which memory its vectors are.
PetscErrorCode LocalSizes(Mat A, LocalMatrix *matrix);

/// This rank's rows of the lines along `direction`, taken from the matrix of one line. An error, on all ranks, where it is not AIJ, has another
/// number of rows than the grid has nodes along the direction, is not tridiagonal (a ring's wraps), or changes along the line but for most_closure rows
/// at either end.
PetscErrorCode ConstantFromLineMatrix(PC pc, Mat one, const Grid &grid, int direction, ConstantLines<PetscScalar> *constant);

} // namespace weft
