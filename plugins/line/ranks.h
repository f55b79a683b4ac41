/// Lines on several ranks: what all of them must agree on, and how those that cross ranks couple.
#pragma once
#include "line/line_impl.h"
#include "line/matrix_look.hpp"
#if defined(WEFT_DISTRIBUTED)
#include "line/ranks/outside_couplings.hpp"
#endif

namespace weft {

/// `here` on all ranks, or false.
PetscErrorCode AllRanks(PC pc, bool here, bool *all);

/// The first row of all ranks in PETSc's numbering, of those that the ranks bring; no_row where none has any. Collective.
PetscErrorCode FirstRow(PC pc, PetscInt64 *row);

/// What the whole matrix is, the same on all ranks, but for the first row of this one that has an entry which is no number. Collective.
PetscErrorCode LookAtMatrix(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, MatrixLook *look);

/// True where the lines along a direction of the grid go on on other ranks, and are solved exactly.
bool Crosses(const PC_Line &line, int direction);
/// True where they are rings.
bool Closes(const PC_Line &line, int direction);
/// True where lines are kept in single precision: not those of blocks, nor those of a grid that cross ranks.
bool InSingle(const PC_Line &line);
/// The kernel that was asked for, or that the choice fell on because lines must be pivoted.
std::string KernelOf(const PC_Line &line);
/// True where the rows are one line over several ranks that one of them solves: pivots are looked for across ranks.
bool SolvedByOne(const PC_Line &line);
/// Lines of a map, the user's or that of the graph, that go on on other ranks.
Index CrossingLines(const PC_Line &line);
/// Whether such lines are solved exactly: not in single precision, nor of blocks.
bool MayJoinLines(const PC_Line &line);

#if defined(WEFT_DISTRIBUTED)
using CouplingsAcross = OutsideCouplings<PetscScalar>;

/// The couplings of the ends of a piece's lines to the rows that follow, on other ranks or at the other end of a ring; `block` unknowns of
/// a node together. To be read.
PetscErrorCode MakeCouplingsAcross(Mat rows, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece,
                                   Index block, const Execution &execution, std::shared_ptr<CouplingsAcross> *couplings);
/// Takes their values out of the matrix.
void ReadAcross(CouplingsAcross &couplings, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece);
#endif

} // namespace weft
