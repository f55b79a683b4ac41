// What PCLINE's ranks tell each other in set-up, and how their lines couple.
#include "pc/line/ranks.h"

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
  PetscCallCXX(*couplings = std::make_shared<CouplingsAcross>(execution, piece.layout, before, after, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ReadAcross(CouplingsAcross &couplings, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece)
{
  CsrMatrix<PetscScalar, PetscInt> part = grid.ranks[direction] == 1 ? matrix.inside : matrix.outside;
  if (grid.ranks[direction] == 1)
    part.first = piece.offset;
  else
    part.row_starts += piece.offset; // its columns are those of other ranks, whatever the piece
  couplings.read(part);
}
#endif

} // namespace weft
