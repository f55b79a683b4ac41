/// In which order PCLINE relaxes its lines: colours, passes, and what -pc_line_ordering auto takes.
#pragma once
#include "line/line_impl.h"

namespace weft {

/// Whether a user has not asked for an ordering by colours.
inline bool AllAtOnce(const PC_Line &line)
{
  return line.ordering == PC_LINE_JACOBI || line.ordering == PC_LINE_ORDERING_AUTO;
}

/// Colours that the sets of a grid's lines are prepared for.
int ColoursOfSets(const PC_Line &line, const LineShape &shape);

/// Sets line->applied and line->relaxed, sweeps over the sets of line->shape.
void FindSweeps(PC_Line *line, const std::vector<std::unique_ptr<LineSet>> &sets);

/// What PCView() says of the ordering: its name and, where it is auto's choice, why.
std::string OrderingFound(const PC_Line &line);

/// Asks the options whether the KSP of the PC's prefix is KSPRICHARDSON. A guess, which PCPreSolve() corrects: with it the first set-up
/// prepares what Richardson's sweeps want.
PetscErrorCode GuessRichardson(PC pc);

} // namespace weft
