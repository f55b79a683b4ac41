// PCLINE's set-up: which lines, from where, solved by what.
#include <algorithm>

#include "base/probe_value.hpp"
#include "line/line_impl.h"
#include "petsc/kokkos_start.h"
#include "petsc/matrix_by_rows.h"
#include "petsc/report_failure.h"

namespace weft {

namespace {

PetscErrorCode CheckMatrix(Mat A)
{
  PetscBool aij;

  PetscFunctionBegin;
  PetscCall(
      PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "PCLINE works on AIJ, BAIJ and SBAIJ matrices and this one is of type %s: use -mat_type aij (-dm_mat_type aij), or give "
             "KSPSetOperators() an AIJ matrix as its second one",
             ((PetscObject)A)->type_name);
  PetscCall(MatCheckSquare(A, "PCLINE"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix by rows: itself, or a copy of a matrix of blocks.
PetscErrorCode MatrixByRows(PC pc, Mat *rows)
{
  PC_Line *line = Data(pc);
  PetscBool aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (aij) PetscCall(MatDestroy(&line->rows));
  if (!aij) {
    if (pc->flag == DIFFERENT_NONZERO_PATTERN) PetscCall(MatDestroy(&line->rows));
    PetscCall(CopyByRows(pc->pmat, &line->rows));
  }
  *rows = aij ? pc->pmat : line->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first row with a pivot that cannot be divided by.
PetscErrorCode FirstBadPivot(PC pc, const std::vector<std::unique_ptr<LineSet>> &sets, PetscInt first_row, PetscInt64 *row)
{
  PetscFunctionBegin;
  *row = no_row;
  for (const auto &set : sets) {
    std::optional<Index> bad;
    PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { bad = set->bad_row(); }));
    if (bad) *row = std::min<PetscInt64>(*row, first_row + *bad);
  }
  PetscCall(FirstRow(pc, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the lines are worth as a direct solver, where they are all of the matrix.
PetscErrorCode Measure(PC pc, Mat rows)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(line->check.Forget());
  if (!line->direct) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(line->check.Measure(rows, false, InSingle(*line),
                                [pc](Vec b, Vec x, Transpose transpose) { return PCLineSolve(pc, b, x, transpose); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows of this rank in which nothing is stored but zeros, in PETSc's numbering.
PetscErrorCode EmptyRows(Mat rows, std::vector<PetscInt> *empty)
{
  PetscInt first, last, entries;
  const PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(rows, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    PetscCall(MatGetRow(rows, row, &entries, NULL, &values));
    if (std::all_of(values, values + entries, [](PetscScalar value) { return value == PetscScalar(0); }))
      PetscCallCXX(empty->push_back(row));
    PetscCall(MatRestoreRow(rows, row, &entries, NULL, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Galerkin's coarse matrices have empty rows where fewer vectors of a near-null space are independent than there are. As with PCJACOBI they
// take 1 on the diagonal: in a copy, which lines are then made from. Looked for where a pivot is bad.
PetscErrorCode FillEmptyRows(PC pc, Mat *rows)
{
  PC_Line *line = Data(pc);
  std::vector<PetscInt> empty;
  PetscInt here;

  PetscFunctionBegin;
  PetscCall(EmptyRows(*rows, &empty));
  here = static_cast<PetscInt>(empty.size());
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&here, &line->empty_rows, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  if (line->empty_rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "%" PetscInt_FMT " rows are empty and take 1 on the diagonal\n", line->empty_rows));
  if (!line->rows) PetscCall(MatDuplicate(*rows, MAT_COPY_VALUES, &line->rows));
  *rows = line->rows;
  PetscCall(MatSetOption(*rows, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(*rows, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt row : empty) PetscCall(MatSetValue(*rows, row, row, 1, INSERT_VALUES));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(MatAssemblyBegin(*rows, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*rows, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A vector without a pattern, the same for a row of a grid, or of the matrix, on any number of ranks.
PetscErrorCode AnyVector(PC pc, Vec x)
{
  const PC_Line *line = Data(pc);
  const Grid &grid    = line->grid;
  PetscInt first, last;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt row = 0; row < last - first; row++) {
    std::uint64_t number = static_cast<std::uint64_t>(first + row);
    if (grid.dimension > 0) {
      Index node = row / grid.components, at[3];
      for (int k = 0; k < 3; k++) {
        at[k] = grid.first[k] + node % grid.nodes[k];
        node /= grid.nodes[k];
      }
      const Index place = at[0] + grid.global[0] * (at[1] + grid.global[1] * at[2]);
      number            = static_cast<std::uint64_t>(place * grid.components + row % grid.components);
    }
    values[row] = static_cast<PetscReal>(splitmix64(number + splitmix64_step) >> 11) * 0x1p-52 - 1;
  }
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By how much M^-1 A lengthens a vector without a pattern, in the last of some applications one after the other; 1 where there is none.
PetscErrorCode Amplification(PC pc, int steps, PetscReal *amplified)
{
  PetscReal norm;
  Vec x, y;
  const ApplicationInSetUp applies;

  PetscFunctionBegin;
  *amplified = 1;
  PetscCall(MatCreateVecs(pc->pmat, &x, &y));
  PetscCall(AnyVector(pc, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  for (int step = 0; step < steps && norm > 0; step++) {
    PetscCall(VecScale(x, 1 / norm));
    PetscCall(MatMult(pc->pmat, x, y));
    PetscCall(PCApply_Line(pc, y, x));
    PetscCall(VecNorm(x, NORM_2, &norm));
    *amplified = norm;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The largest eigenvalue of T^-1 A by some steps of the power method gives the damping that makes all eigenvalues from 1 on equally small.
PetscErrorCode EstimateOmega(PC pc)
{
  PC_Line *line = Data(pc);
  PetscReal largest;

  PetscFunctionBegin;
  const PetscInt sweeps = line->sweeps;
  line->sweeps          = 1;
  line->found_omega     = 1;
  PetscCall(Amplification(pc, 10, &largest));
  line->sweeps = sweeps;
  if (largest > 0 && !PetscIsInfOrNanReal(largest)) line->found_omega = 2 / (1 + PetscMax(largest, 1));
  PetscCall(
      PetscInfo(pc, "largest eigenvalue of the line-relaxed matrix about %g, omega %g\n", (double)largest, (double)line->found_omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCLineFreeComms(PC pc)
{
  PetscFunctionBegin;
  for (MPI_Comm &comm : Data(pc)->comms) PetscCallMPI(MPI_Comm_free(&comm));
  Data(pc)->comms.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineFreeGhosts(PC pc)
{
  PetscFunctionBegin;
  Data(pc)->outside.reset();
  PetscCall(VecDestroy(&Data(pc)->ghosts));
  PetscCall(VecScatterDestroy(&Data(pc)->bring_ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What lines of a map carry, of all ranks; line->left of it is kept.
PetscErrorCode Carried(PC pc, const LineSet &set, const LocalMatrix &matrix, CarriedCouplings *of_all)
{
  std::optional<CarriedCouplings> carried;
  PetscInt64 here[3] = {0, 0, 0}, all[3];

  PetscFunctionBegin;
  PetscCallCXX(carried = set.carried(matrix));
  if (carried) here[0] = carried->share, here[1] = carried->rows, here[2] = carried->left;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(here, all, 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  *of_all        = {all[0], all[1], all[2]};
  Data(pc)->left = of_all->left;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether lines of a map, which have read the matrix, are all that it couples.
PetscErrorCode IsAllCarried(PC pc, const LineSet &set, const LocalMatrix &matrix, const MatrixLook &look, bool *is_all)
{
  PC_Line *line = Data(pc);
  CarriedCouplings carried;
  PetscInt64 here, across = 0;

  PetscFunctionBegin;
  *is_all = false;
  if (line->shape.source == PC_LINE_MAP) PetscCall(Carried(pc, set, matrix, &carried)); // of the graph it is known
  if (line->left > 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (look.elsewhere > 0) {
    PetscCallCXX(here = set.carried_across());
    PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
    PetscCallMPI(MPI_Allreduce(&here, &across, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  }
  *is_all = across == look.elsewhere;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The share of the couplings that lines can carry which those of the graph carry, of all ranks; 1 where there are none to carry.
PetscErrorCode CarriedShare(PC pc, const LineSet &set, const LocalMatrix &matrix, PetscReal *share)
{
  CarriedCouplings all;

  PetscFunctionBegin;
  PetscCall(Carried(pc, set, matrix, &all));
  *share = all.rows > 0 ? static_cast<PetscReal>(all.share) / static_cast<PetscReal>(all.rows) / (1 << 20) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether lines of the graph still carry what they were found for, or nearly.
PetscErrorCode StillCarry(PC pc, const LocalMatrix &matrix, bool *still)
{
  PC_Line *line = Data(pc);
  PetscReal share;

  PetscFunctionBegin;
  PetscCall(CarriedShare(pc, *line->sets[static_cast<int>(matrix.memory)].front(), matrix, &share));
  *still = line->find_again <= 1 && share >= line->find_again * line->carried; // above 1: never, whatever the share was
  if (!*still)
    PetscCall(PetscInfo(pc, "lines carry %g of the couplings that lines can, and %g when they were found: others are looked for\n",
                        (double)share, (double)line->carried));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Finds the lines of the matrix by rows, makes their sets if others are needed, and factors them. `bad`: the first pivot that cannot be
// divided by, `not_finite`: the first row with an entry that is no number. `pivots`: by the kernel that looks for pivots.
PetscErrorCode MakeLines(PC pc, Mat rows, bool pivots, PetscInt64 *bad, PetscInt64 *not_finite)
{
  PC_Line *line = Data(pc);
  LocalMatrix matrix;
  LineShape shape;
  MatrixLook look;
  PetscObjectState pattern = 0;
  bool same;

  PetscFunctionBegin;
  if (rows) {
    PetscCall(MatGetLocal(rows, &matrix, &line->check.outside));
    PetscCall(MatGetNonzeroState(rows, &pattern));
  } else {
    PetscCall(LocalSizes(pc->pmat, &matrix));
  }
  const int here = static_cast<int>(matrix.memory);
  if (!line->execution[here]) PetscCall(MakeExecution(matrix.memory, &line->execution[here]));

  PetscCall(GridFromPC(pc, &line->grid));
  *not_finite = no_row;
  if (rows) {
    PetscCall(LookAtMatrix(pc, rows, *line->execution[here], matrix, &look));
    if (look.not_finite) *not_finite = matrix.first_row + *look.not_finite;
    PetscCall(FirstRow(pc, not_finite));
    line->weak_rows = look.weak > 0;
  }
  const HostLines lines_before                            = std::move(line->users_lines);
  const std::shared_ptr<const JoinedPieces> joined_before = line->joined;
  *bad                                                    = no_row;
  PetscCall(FindLines(pc, rows, *line->execution[here], matrix, look, &shape));
  if (line->not_constant) {
    PetscCall(line->check.Forget());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  shape.pivots = pivots;
  if (pivots) {
    line->constants.clear();
    shape.constant.clear();
  }
  line->forget(1 - here); // they follow when vectors ask for them
  same = !line->sets[here].empty() && !line->failed && shape == line->shape && pc->setupcalled && pc->flag != DIFFERENT_NONZERO_PATTERN &&
         pattern == line->pattern && line->users_lines == lines_before &&
         (line->joined == joined_before || (line->joined && joined_before && *line->joined == *joined_before));
  PetscCall(AllRanks(pc, same, &same));
  line->pattern = pattern;
  if (same && shape.source == PC_LINE_GRAPH) PetscCall(StillCarry(pc, matrix, &same));
  if (!same) {
    line->sets[here].clear();
    line->stencil.reset();
    PetscCall(PCLineFreeComms(pc));
    PetscCall(PCLineFreeGhosts(pc));
    line->shape = shape;
    PetscCall(MakeLineSets(pc, rows, matrix, *line->execution[here], &line->sets[here]));
    line->found_in = line->set_ups;
    if (shape.source == PC_LINE_GRAPH) PetscCall(CarriedShare(pc, *line->sets[here].front(), matrix, &line->carried));
  }
  FindSweeps(line, line->sets[here]);
  line->roots.reset();
  if (line->stencil && same) PetscCallCXX(line->stencil->read(matrix.inside)); // else it has just been read
  if (line->outside) PetscCallCXX(line->outside->read(matrix.rows, matrix.outside));
  for (const auto &set : line->sets[here]) PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { set->read(matrix); }));
  if (shape.source == PC_LINE_GRAPH || shape.source == PC_LINE_MAP)
    PetscCall(IsAllCarried(pc, *line->sets[here].front(), matrix, look, &line->direct));
  PetscCall(FirstBadPivot(pc, line->sets[here], matrix.first_row, bad));
  PetscCall(line->check.Forget());
  if (*bad == no_row && *not_finite == no_row) PetscCall(Measure(pc, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What sweeps need beyond one solve.
PetscErrorCode MakeResidual(PC pc)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  if (line->sweeps > 1 || line->applied.passes.size() > 1 || (line->for_richardson && line->relaxed.passes.size() > 1)) {
    if (!line->residual) PetscCall(MatCreateVecs(pc->pmat, NULL, &line->residual));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Beyond the first a pivoted elimination is tried. Beyond the others, where Krylov methods would see another preconditioner in each step, or their
// norms of preconditioned residuals would call any answer converged, lines fail.
constexpr PetscReal half_of_the_digits = 1e-8, most_rounded = 1e-7, most_amplified = DirectCheck::most_amplified_by_parts;

// Lines whose rows are not dominated by their diagonals can amplify so much that norms of preconditioned residuals say nothing, where they lack
// what a row needs, and lose digits, where an elimination that looks for no pivots grows. A vector without a pattern tells. Rows that are dominated do
// neither, and a direct solver's answers are measured.
PetscErrorCode LookAtApplications(PC pc, Mat rows)
{
  PC_Line *line    = Data(pc);
  const auto apply = [pc](Vec b, Vec x, Transpose) -> PetscErrorCode { return PCApply_Line(pc, b, x); };
  PetscReal backward;

  PetscFunctionBegin;
  line->amplified = line->rounded = 0;
  if (!rows || !line->weak_rows || line->direct || pc->failedreason != PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MakeResidual(pc));
  line->found_omega        = line->omega;
  PetscReal *const rounded = InSingle(*line) || single_built ? NULL : &line->rounded;
  PetscCall(DirectCheck::MeasureAmplification(pc->pmat, line->check.outside, apply, most_amplified, &line->amplified, &backward, rounded));
  PetscCall(PetscInfo(pc, "an application leaves %g of a random right-hand side, and two of the same one differ by %g\n",
                      (double)line->amplified, (double)line->rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Backward errors of a direct solve beyond this have lost three digits that pivoting keeps.
constexpr PetscReal lost = 1000 * PETSC_MACHINE_EPSILON;

// Whether lines that were chosen for speed are to be solved with pivoting instead.
bool MustPivot(const PC_Line &line, PetscInt64 bad)
{
  if (line.kernel != "auto" || line.line_matrix || line.shape.together || line.shape.pivots) return false;
  if (line.rounded > half_of_the_digits) return true;
  return bad != no_row || (line.check.measured && !InSingle(line) && !(line.check.plain.backward <= lost));
}

} // namespace

PetscErrorCode PCSetUp_Line(PC pc)
{
  PC_Line *line = Data(pc);
  Mat rows      = NULL;
  PetscInt64 bad, not_finite;

  PetscFunctionBegin;
  const bool in_richardson = line->in_richardson;
  PetscCall(PetscLogEventBegin(line_setup_event, pc, 0, 0, 0));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &line->processes));
  PetscCall(PCLineLeaveProducts(pc));
  PetscCall(LineMatrixOf(pc->pmat, &line->line_matrix));
  if (!line->line_matrix) PetscCall(CheckMatrix(pc->pmat));
  PetscCall(KokkosStart());
  if (!line->line_matrix) {
    PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
    PetscCall(MatrixByRows(pc, &rows));
  }
  line->failed     = line->failed || line->empty_rows > 0; // the next values may have none
  line->empty_rows = 0;
  line->set_ups++;
  line->in_richardson = false;         // nothing in here is, though the set-up may be that of an application
  PetscCall(line->set_up_of.read(pc)); // applications in here are of this matrix
  pc->failedreason = pc->failedreasonrank = PC_NOERROR;
  PetscCall(MakeLines(pc, rows, false, &bad, &not_finite));
  if (bad != no_row && not_finite == no_row && rows) PetscCall(FillEmptyRows(pc, &rows));
  if (line->empty_rows > 0) {
    line->failed = true;
    PetscCall(MakeLines(pc, rows, false, &bad, &not_finite));
  }
  line->amplified = line->rounded = 0;
  if (bad == no_row && not_finite == no_row && !line->not_constant) PetscCall(LookAtApplications(pc, rows));
  if (not_finite == no_row && MustPivot(*line, bad)) {
    PetscCall(PetscInfo(pc, "%s without looking for pivots: taking the kernel pivoted\n",
                        bad == no_row ? "the lines lose digits" : "the lines have a zero pivot"));
    PetscCall(MakeLines(pc, rows, true, &bad, &not_finite));
    if (bad == no_row && not_finite == no_row) PetscCall(LookAtApplications(pc, rows));
  }
  if (not_finite != no_row)
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT,
                            "zero or non-finite pivot of a line in row " + std::to_string(not_finite) +
                                ", which has an entry that is not finite"));
  else if (bad != no_row)
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, "zero or non-finite pivot of a line in row " + std::to_string(bad)));
  else if (line->not_constant)
    PetscCall(ReportFailure(
        pc, PC_FACTOR_OTHER,
        "some line of these values has coefficients that change along it, and -pc_line_kernel toeplitz takes none such: take another "
        "kernel, or auto"));
  else if (line->sweeps == 1 && line->check.fails()) // further sweeps refine
    PetscCall(ReportFailure(pc, PC_FACTOR_OTHER,
                            line->check.Sentence("-pc_line_check") +
                                (line->shape.together ? ": lines of blocks look for pivots within a node alone; take -pc_type lu or crout"
                                 : KernelOf(*line) == "pivoted"
                                     ? ""
                                     : ": the kernel " + KernelOf(*line) + " looks for no pivots; use pivoted, or auto")));
  else if (!(line->amplified <= most_amplified)) // NaN is not
    PetscCall(
        ReportFailure(pc, PC_FACTOR_OTHER,
                      "an application of the lines leaves " + ShownNumber(line->amplified) +
                          " times a random right-hand side: diagonals are small beside couplings that no line carries, or lines are nearly "
                          "singular: permute the rows, or take -pc_type lu or crout"));
  else if (!(line->rounded <= most_rounded))
    PetscCall(ReportFailure(pc, PC_FACTOR_OTHER,
                            "two applications of the lines to the same right-hand side differ by " + ShownNumber(line->rounded) +
                                ": elimination without exchanges of rows grows, or lines are nearly singular: take -pc_type lu or crout"));
  line->found_omega = line->omega;
  line->failed      = pc->failedreason != PC_NOERROR;
  PetscCall(MakeResidual(pc));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  if (line->estimate_omega && pc->failedreason == PC_NOERROR) PetscCall(EstimateOmega(pc));
  if (pc->failedreason == PC_NOERROR) PetscCall(PCLineTakeProducts(pc));
  line->in_richardson = in_richardson;
  PetscCall(PCLineTellOptions(pc, NULL));
  PetscCall(PetscLogEventEnd(line_setup_event, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetsIn(PC pc, Memory memory, const std::vector<std::unique_ptr<LineSet>> **sets)
{
  PC_Line *line    = Data(pc);
  const int here   = static_cast<int>(memory);
  bool same_stream = true;

  PetscFunctionBegin;
  if (!line->sets[here].empty() && memory == Memory::device) {
    void *stream;
    PetscCall(CurrentStream(&stream));
    same_stream = stream == line->execution[here]->stream();
  }
  if (line->sets[here].empty() || !same_stream) {
    const int from = same_stream ? 1 - here : here;
    std::unique_ptr<Execution> execution;
    std::vector<std::unique_ptr<LineSet>> made;
    PetscCall(MakeExecution(memory, &execution));
    for (const auto &set : line->sets[from]) PetscCallCXX(made.push_back(set->twin(*execution)));
    line->forget(here);
    line->sets[here]      = std::move(made);
    line->execution[here] = std::move(execution);
  }
  *sets = &line->sets[here];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
