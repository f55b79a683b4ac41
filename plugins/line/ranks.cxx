// What PCLINE's ranks tell each other in set-up, and how their lines couple.
#include "line/line_impl.h"

#include <algorithm>

namespace weft {

PetscErrorCode AllRanks(PC pc, bool here, bool *all)
{
  PetscMPIInt mine = here, every;

  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&mine, &every, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  *all = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FirstRow(PC pc, PetscInt64 *row)
{
  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, row, 1, MPIU_INT64, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LookAtMatrix(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, MatrixLook *look)
{
  const Grid &grid = Data(pc)->grid;
  PlaceOfRows place;
  PetscInt all;
  PetscInt64 here[5], sum[5];

  PetscFunctionBegin;
  PetscCall(MatGetSize(rows, &all, NULL));
  place.rows           = matrix.rows;
  place.first          = matrix.first_row;
  place.all            = all;
  const auto column_of = [&](PetscInt row) -> Index {
    const PetscInt *begin = matrix.outside_columns, *end = begin + matrix.outside_size, *found = std::lower_bound(begin, end, row);
    return found != end && *found == row ? found - begin : -1;
  };
  place.before       = column_of(matrix.first_row - 1);
  place.after        = column_of(matrix.first_row + matrix.rows);
  place.last_of_all  = column_of(all - 1);
  place.first_of_all = column_of(0);
  const Index nodes  = grid.dimension > 0 && grid.components == 1 ? grid.nodes[0] : 1;
  PetscCallCXX(*look = look_at(execution, place, PetscMax(nodes, 1), matrix.inside, matrix.outside));
  here[0] = look->beside, here[1] = look->corners, here[2] = look->between, here[3] = look->elsewhere, here[4] = look->weak;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(here, sum, 5, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  look->beside = sum[0], look->corners = sum[1], look->between = sum[2], look->elsewhere = sum[3], look->weak = sum[4];
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Crosses(const PC_Line &line, int direction)
{
  return line.ranks == PC_LINE_EXACT && line.grid.ranks[direction] > 1;
}

// A ring of two rows couples them twice, and the matrix has stored the sum already.
bool Closes(const PC_Line &line, int direction)
{
  const Grid &grid = line.grid;
  return grid.periodic[direction] && grid.global[direction] > 2 && (grid.ranks[direction] == 1 || Crosses(line, direction));
}

bool InSingle(const PC_Line &line)
{
  const std::vector<int> &directions = line.shape.directions;
  if (line.precision == PC_LINE_DOUBLE || line.shape.together) return false;
  return !InBoxes(line.shape) || std::any_of(directions.begin(), directions.end(), [&](int k) { return !Crosses(line, k); });
}

std::string KernelOf(const PC_Line &line)
{
  return line.kernel == "auto" && line.shape.pivots ? "pivoted" : line.kernel;
}

bool SolvedByOne(const PC_Line &line)
{
  return line.shape.source == PC_LINE_ROWS && Crosses(line, 0) && KernelOf(line) == "pivoted";
}

Index CrossingLines(const PC_Line &line)
{
  return line.joined ? line.joined->count() : 0;
}

bool MayJoinLines(const PC_Line &line)
{
  return line.ranks == PC_LINE_EXACT && line.precision == PC_LINE_DOUBLE && !line.shape.together;
}

#if defined(WEFT_DISTRIBUTED)
namespace {

// For each line the column of the row before or after it, of the part of the matrix that holds the columns of other ranks, or of this
// rank's own where rings close on it.
PetscErrorCode ColumnsAcross(Mat rows, const Grid &grid, const LocalMatrix &matrix, int direction, int side, const LinePiece &piece,
                             std::vector<std::int64_t> *columns)
{
  std::vector<PetscInt> across;

  PetscFunctionBegin;
  PetscCall(GridRowsAcross(rows, grid, direction, side, piece.layout, piece.offset, &across));
  const PetscInt *begin = matrix.outside_columns, *end = begin + matrix.outside_size;
  columns->clear();
  for (PetscInt row : across) {
    const PetscInt *found = std::lower_bound(begin, end, row);
    if (grid.ranks[direction] == 1)
      columns->push_back(row - matrix.first_row - piece.offset);
    else
      columns->push_back(row >= 0 && found != end && *found == row ? found - begin : -1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MakeCouplingsAcross(Mat rows, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece,
                                   Index block, const Execution &execution, std::shared_ptr<CouplingsAcross> *couplings)
{
  std::vector<std::int64_t> before, after;

  PetscFunctionBegin;
  PetscCall(ColumnsAcross(rows, grid, matrix, direction, -1, piece, &before));
  PetscCall(ColumnsAcross(rows, grid, matrix, direction, 1, piece, &after));
  PetscCallCXX(*couplings = CouplingsAcross::make(execution, piece.layout, before, after, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ReadAcross(CouplingsAcross &couplings, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece)
{
  if (piece.layout.rows() == 0) return; // a rank without rows
  CsrMatrix<KernelScalar, PetscInt> part = grid.ranks[direction] == 1 ? matrix.inside : matrix.outside;
  if (grid.ranks[direction] == 1)
    part.first = piece.offset;
  else
    part.row_starts += piece.offset; // its columns are those of other ranks, whatever the piece
  couplings.read(part);
}
#endif

} // namespace weft
