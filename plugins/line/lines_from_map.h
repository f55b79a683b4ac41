/// From a user's line map to lines: an object composed on the matrix, or a file.
#pragma once
#include <petscmat.h>

#include "line/maps/chains.hpp"

namespace weft {

/// The name under which a user composes an IS or a PetscSection on the matrix.
inline constexpr char line_map_name[] = "weft_lines";

/// The lines that a user gave for the rows of A that this rank owns, by their local numbers, and which of these are pieces of lines that go on on
/// other ranks; `found` is false, on all ranks, where there are none. Rows that are in no line are left out: LineMap makes lines of one row of
/// them. `from_file`, unless it is null: they are those of the file. Collective.
///
/// The first of these is taken:
///   an IS composed on A as "weft_lines"            global row numbers in the order of the lines, a negative number ends a line. A line that has
///                                                  rows of several ranks is given whole by one of all ranks. A rank may have no IS.
///   a PetscSection composed on A as "weft_lines"   a point of the chart for each line, its offset the line's first local row, its degrees of
///                                                  freedom the number of rows, which follow each other. It is set up if it is not yet.
///   the file, unless `file` is NULL or ""          text, a line of the file for each line: global row numbers from 0, separated by spaces or
///                                                  commas; # starts a comment. The first rank reads it, and each rank takes the rows that it
///                                                  owns.
///
/// Errors, raised on all ranks and naming the row: rows that the matrix does not have, rows given twice, rows of another rank in a PetscSection
/// (PETSC_ERR_ARG_OUTOFRANGE, PETSC_ERR_ARG_WRONG). Objects of another class, files that cannot be read or hold something else.
PetscErrorCode LinesFromMap(Mat A, const char *file, HostLines *lines, JoinedPieces *joined, bool *found, bool *from_file = NULL);

} // namespace weft
