/// Where PCLINE's lines come from, and the sets that are made of them.
#pragma once
#include "line/line_impl.h"
#include "line/matrix_look.hpp"

namespace weft {

/// Decides which lines there are, the same on all ranks, and checks that the options fit them. `rows` is the matrix that `matrix` is the local
/// part of. line->not_constant: new values cannot be solved for by the kernel that the user wants, and there are no lines.
PetscErrorCode FindLines(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, const MatrixLook &look, LineShape *shape);

/// Makes the sets of line->shape, without values.
PetscErrorCode MakeLineSets(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution,
                            std::vector<std::unique_ptr<LineSet>> *sets);

} // namespace weft
