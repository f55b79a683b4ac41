// PCLINE from both sides: the lines of a symmetric positive definite matrix as products of a factor and its transpose.
#include <cmath>

#include "line/line_impl.h"

namespace weft {

namespace {

// Made when first asked for: few methods want them.
PetscErrorCode NeedRoots(PC pc)
{
  PC_Line *line = Data(pc);
  LocalMatrix matrix;
  std::optional<LineRow> bad;
  LineLayout layout;

  PetscFunctionBegin;
  const LineShape &shape = line->shape;
  PetscCheck(InBoxes(shape) && shape.directions.size() == 1 && line->applied.passes.size() == 1 && line->sweeps == 1 && !shape.together &&
                 !Crosses(*line, shape.directions.front()),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCLINE preconditions from both sides by one sweep over all lines of a direction that end on their rank: -pc_line_ordering "
             "jacobi -pc_line_sweeps 1, -pc_line_direction x, y or z, -pc_line_ranks cut, -pc_line_components apart");
  if (line->roots) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocal(line->rows ? line->rows : pc->pmat, &matrix, &line->check.outside));
  layout = lines_of_box(shape.directions.front(), line->grid.nodes, shape.components, line->grid.first);
  PetscCheck(!line->grid.periodic[shape.directions.front()], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCLINE does not precondition from both sides by lines that are rings");
  PetscCallCXX(line->roots = LineRoots<KernelScalar>::make(*line->execution[static_cast<int>(matrix.memory)], layout));
  PetscCallCXX(line->roots->read(matrix.inside));
  PetscCallCXX(bad = line->roots->bad_pivot());
  PetscInt64 row = bad ? matrix.first_row + layout.start(bad->line) + bad->row * layout.stride : no_row;
  PetscCall(FirstRow(pc, &row));
  if (row == no_row) PetscFunctionReturn(PETSC_SUCCESS);
  line->roots.reset();
  line->failed     = true;
  pc->failedreason = pc->failedreasonrank = PC_FACTOR_NUMERIC_ZEROPIVOT;
  PetscCall(PetscInfo(pc, "preconditioned from both sides: the pivot of row %" PetscInt64_FMT " is not positive\n", row));
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_CH_ZRPVT,
             "PCLINE preconditions from both sides where lines are positive definite, and the pivot of row %" PetscInt64_FMT
             " is not positive",
             row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Half = void (LineRoots<KernelScalar>::*)(PetscReal, const KernelScalar *, KernelScalar *) const;

PetscErrorCode ApplyHalf(PC pc, Vec b, Vec y, Half half)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  if (pc->failedreason == PC_NOERROR) PetscCall(NeedRoots(pc));
  PetscCall(VecFlag(y, pc->failedreason != PC_NOERROR));
  if (pc->failedreason != PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal scale = std::sqrt(line->found_omega);
  PetscCall(WithVecArrays(b, Access::read, y, Access::write,
                          [&](Memory memory, const KernelScalar *rhs, KernelScalar *solution) -> PetscErrorCode {
                            PetscFunctionBegin;
                            PetscCheck(memory == line->shape.memory, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
                                       "PCLINE preconditions from both sides where matrix and vectors are in the same memory");
                            PetscCallCXX((line->roots.get()->*half)(scale, rhs, solution));
                            PetscFunctionReturn(PETSC_SUCCESS);
                          }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCApplySymmetricLeft_Line(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(ApplyHalf(pc, b, y, &LineRoots<KernelScalar>::solve_left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplySymmetricRight_Line(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(ApplyHalf(pc, b, y, &LineRoots<KernelScalar>::solve_right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
