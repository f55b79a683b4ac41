#include "line/line_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace weft {

namespace {

struct LineMatrixRow {
  PetscScalar lower = 0, diagonal = 0, upper = 0;
};

// Row `row` of the matrix of a whole line, a ring or not; false where it has entries beside its neighbours.
PetscErrorCode RowOf(Mat one, PetscInt row, PetscInt length, bool ring, LineMatrixRow *values, bool *tridiagonal)
{
  PetscInt entries;
  const PetscInt *columns;
  const PetscScalar *stored;

  PetscFunctionBegin;
  const PetscInt before = row > 0 ? row - 1 : ring ? length - 1 : -1, after = row + 1 < length ? row + 1 : ring ? 0 : -1;
  *values      = {};
  *tridiagonal = true;
  PetscCall(MatGetRow(one, row, &entries, &columns, &stored));
  for (PetscInt k = 0; k < entries; k++) {
    if (columns[k] == row)
      values->diagonal += stored[k];
    else if (columns[k] == before)
      values->lower += stored[k];
    else if (columns[k] == after)
      values->upper += stored[k];
    else if (stored[k] != PetscScalar(0))
      *tridiagonal = false;
  }
  PetscCall(MatRestoreRow(one, row, &entries, &columns, &stored));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Alike(const LineMatrixRow &a, const LineMatrixRow &b)
{
  const PetscReal scale = std::abs(a.lower) + std::abs(a.diagonal) + std::abs(a.upper);
  const PetscReal apart = std::abs(a.lower - b.lower) + std::abs(a.diagonal - b.diagonal) + std::abs(a.upper - b.upper);
  return apart <= 8 * std::numeric_limits<PetscReal>::epsilon() * scale;
}

} // namespace

PetscErrorCode LineMatrixOf(Mat A, Mat *one)
{
  PetscMPIInt here[2], least[2]; // the least of x and of -x tell whether all are alike

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, line_matrix_name, (PetscObject *)one));
  here[0] = *one != NULL;
  here[1] = -here[0];
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(here, least, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  PetscCheck(least[0] == -least[1], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "some ranks have composed a matrix of one line as \"%s\" and some have not: every rank composes one, on PETSC_COMM_SELF",
             line_matrix_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckLineMatrix(PC pc, const LineShape &shape)
{
  PC_Line *line       = Data(pc);
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(shape.source == PC_LINE_GRID, comm, PETSC_ERR_ARG_WRONGSTATE,
             "a matrix of one line is composed as \"%s\", and no grid is known: give the PC a DMDA (PCSetDM)", line_matrix_name);
  PetscCheck(line->direction == PC_LINE_X || line->direction == PC_LINE_Y || line->direction == PC_LINE_Z, comm, PETSC_ERR_ARG_WRONGSTATE,
             "a matrix of one line is composed as \"%s\": say along which direction by -pc_line_direction (x|y|z)", line_matrix_name);
  PetscCheck(line->kernel == "auto" || line->kernel == "toeplitz", comm, PETSC_ERR_ARG_INCOMP,
             "a matrix of one line is composed as \"%s\": it is solved by -pc_line_kernel toeplitz (or auto), not by %s", line_matrix_name,
             line->kernel.c_str());
  PetscCheck(line->components != PC_LINE_TOGETHER, comm, PETSC_ERR_ARG_INCOMP,
             "a matrix of one line is composed as \"%s\": the unknowns of a node have lines of their own, -pc_line_components apart",
             line_matrix_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalSizes(Mat A, LocalMatrix *matrix)
{
  VecType type;

  PetscFunctionBegin;
  *matrix = {};
  PetscCall(MatGetLocalSize(A, &matrix->rows, NULL));
  PetscCall(MatGetOwnershipRange(A, &matrix->first_row, NULL));
  PetscCall(MatGetVecType(A, &type));
  const std::string_view name(type ? type : "");
  const bool device = name.find("cuda") != name.npos || name.find("hip") != name.npos || name.find("kokkos") != name.npos;
  matrix->memory    = device && has_backend(Memory::device) ? Memory::device : Memory::host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConstantFromLineMatrix(PC pc, Mat one, const Grid &grid, int direction, ConstantLines<KernelScalar> *constant)
{
  const PetscInt length = (PetscInt)grid.global[direction], most = (PetscInt)most_closure;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt rows = 0, columns = 0;
  PetscBool aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)one, &aij, MATSEQAIJ, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS, ""));
  PetscCheck(aij, comm, PETSC_ERR_ARG_WRONG, "the matrix of one line, composed as \"%s\", is to be of type seqaij and is %s",
             line_matrix_name, ((PetscObject)one)->type_name);
  PetscCall(MatGetSize(one, &rows, &columns));
  PetscCheck(rows == length && columns == length, comm, PETSC_ERR_ARG_SIZ,
             "the matrix of one line, composed as \"%s\", has %d rows and %d columns, and the grid has %d nodes along %c", line_matrix_name,
             (int)rows, (int)columns, (int)length, "xyz"[direction]);
  std::vector<LineMatrixRow> whole((std::size_t)length);
  for (PetscInt row = 0; row < length; row++) {
    bool tridiagonal;
    PetscCall(RowOf(one, row, length, grid.periodic[direction] && length > 2, &whole[(std::size_t)row], &tridiagonal));
    PetscCheck(tridiagonal, comm, PETSC_ERR_ARG_WRONG,
               "row %d of the matrix of one line, composed as \"%s\", has entries beside its neighbours: lines are tridiagonal", (int)row,
               line_matrix_name);
    const bool between = row > most && row < length - most;
    PetscCheck(
        !between || Alike(whole[(std::size_t)most], whole[(std::size_t)row]), comm, PETSC_ERR_ARG_WRONG,
        "row %d of the matrix of one line, composed as \"%s\", differs from those before it: only the first and the last %d rows may",
        (int)row, line_matrix_name, (int)most);
  }
  LineProblem piece(one_line(grid.nodes[direction]));
  piece.coefficients = Coefficients::constant;
  piece.closure = constant->closure = std::min(most_closure, piece.layout.length / 2);
  constant->lower.clear(), constant->diagonal.clear(), constant->upper.clear();
  const Index size = piece.layout.length > 0 ? piece.coefficient_size() : 0;
  for (Index k = 0; k < size; k++) {
    const Index row            = k <= piece.closure ? k : piece.layout.length - (size - k);
    const LineMatrixRow values = whole[(std::size_t)(grid.first[direction] + std::min(row, piece.layout.length - 1))];
    constant->lower.push_back(values.lower);
    constant->diagonal.push_back(values.diagonal);
    constant->upper.push_back(values.upper);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
