// PCLINE: finds the lines of a matrix, hands them to the tridiagonal kernels, orders the sweeps.
#include <limits>
#include <span>

#include "kokkos_start.h"
#include "pc/line/line_impl.h"
#include "types.h"

namespace weft {

namespace {

// ---------------------------------------------------------------------------------------------------------------------- set-up

PetscErrorCode CheckMatrix(Mat A)
{
  PetscBool aij, assembled;
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(
      aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "PCLINE works on AIJ matrices and this one is of type %s: use -mat_type aij (-dm_mat_type aij), or give KSPSetOperators() an AIJ "
      "matrix as its second one",
      ((PetscObject)A)->type_name);
  PetscCall(MatAssembled(A, &assembled));
  PetscCheck(assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "PCLINE needs an assembled matrix: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatGetLocalSize(A, &rows, &columns));
  // An error must be raised on all ranks or on none.
  PetscMPIInt square = rows == columns, all_square;
  PetscCallMPI(MPI_Allreduce(&square, &all_square, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  PetscCheck(all_square, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "PCLINE needs a square matrix with as many columns as rows on each rank, and some rank has not");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The direction that couples most, the same on all ranks.
PetscErrorCode StiffDirection(PC pc, const Execution &execution, const CsrMatrix<PetscScalar, PetscInt> &matrix, PCLineDirection *direction)
{
  PC_Line *line = Data(pc);
  CouplingStrengths strengths{}, total{};

  PetscFunctionBegin;
  PetscCallCXX(strengths = coupling_strengths(execution, line->grid.nodes, line->grid.components, matrix));
  PetscCallMPI(MPI_Allreduce(strengths.data(), total.data(), 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  *direction = PC_LINE_X;
  // Equal couplings, up to rounding, are a tie that the first direction wins.
  for (int k = 1; k < line->grid.dimension; k++) {
    if (total[k] > total[*direction] * (1 + 1e-6)) *direction = static_cast<PCLineDirection>(k);
  }
  PetscCall(PetscInfo(pc, "couplings along x, y, z: %g %g %g\n", total[0], total[1], total[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLines(PC pc, const Execution &execution, const CsrMatrix<PetscScalar, PetscInt> &matrix, LineLayout *layout)
{
  PC_Line *line = Data(pc);
  Mat A         = pc->pmat;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(GridFromPC(pc, &line->grid));
  if (line->grid.dimension == 0) {
    PetscCheck(line->direction == PC_LINE_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_direction %s needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM), "
               "make the matrix with DMCreateMatrix, or leave the direction at auto",
               line_directions[line->direction]);
    PetscCheck(line->ordering == PC_LINE_JACOBI, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_ordering zebra needs a grid and none is known for this matrix: its rows form one line; use jacobi");
    PetscCall(MatGetLocalSize(A, &rows, NULL));
    line->found = PC_LINE_X;
    *layout     = one_line(rows);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  line->found = line->direction;
  if (line->direction == PC_LINE_AUTO) PetscCall(StiffDirection(pc, execution, matrix, &line->found));
  PetscCheck(line->found < line->grid.dimension, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_direction %s: this grid has %d dimension%s", line_directions[line->found], line->grid.dimension,
             line->grid.dimension == 1 ? "" : "s");
  *layout = lines_of_box(line->found, line->grid.nodes, line->grid.components, line->grid.first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A pivot that cannot be divided by, on any rank, fails the PC on all of them. The first row that has one is named in PETSc's numbering.
PetscErrorCode ReportPivot(PC pc, const LineLayout &layout, const std::optional<LineRow> &bad)
{
  PetscInt start;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &start, NULL));
  constexpr PetscInt64 none = std::numeric_limits<PetscInt64>::max();
  PetscInt64 row            = none, first;
  if (bad) row = start + layout.start(bad->line) + bad->row * layout.stride;
  PetscCallMPI(MPI_Allreduce(&row, &first, 1, MPIU_INT64, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  const bool failed = first != none;
  pc->failedreason = pc->failedreasonrank = failed ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR;
  if (failed) PetscCall(PetscInfo(pc, "zero or non-finite pivot of a line in row %" PetscInt64_FMT "\n", first));
  PetscCheck(!failed || !pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_LU_ZRPVT,
             "zero or non-finite pivot of a tridiagonal line in row %" PetscInt64_FMT, first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An execution in `memory` on PETSc's current stream.
PetscErrorCode MakeExecution(Memory memory, std::unique_ptr<Execution> *execution)
{
  void *stream = NULL;

  PetscFunctionBegin;
  if (memory == Memory::device) PetscCall(CurrentStream(&stream));
  PetscCallCXX(*execution = std::make_unique<Execution>(memory, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The kernel for lines with constant coefficients: on all ranks or on none.
PetscErrorCode FindConstant(PC pc, const Execution &execution, const CsrMatrix<PetscScalar, PetscInt> &matrix, LineProblem *problem,
                            std::optional<ConstantLines<PetscScalar>> *constant)
{
  PetscFunctionBegin;
  PetscCallCXX(*constant = constant_lines(execution, problem->layout, matrix));
  PetscMPIInt found = *constant || problem->layout.rows() == 0, all;
  PetscCallMPI(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscCheck(
      all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "-pc_line_kernel toeplitz needs lines whose coefficients do not change along them, but for %d rows at either end, and some line of "
      "this matrix has others: take another kernel, or auto",
      (int)most_closure);
  problem->coefficients = Coefficients::constant;
  if (*constant) problem->closure = (*constant)->closure;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A kernel may refuse lines, or the parameters that it was given.
PetscErrorCode CheckKernel(PC pc, const LineProblem &problem)
{
  PC_Line *line = Data(pc);
  std::optional<std::string> why;

  PetscFunctionBegin;
  if (line->kernel != "auto") PetscCallCXX(why = tridiagonal_method_refuses(line->kernel, problem, line->kernel_parameters));
  PetscMPIInt works = !why, all;
  PetscCallMPI(MPI_Allreduce(&works, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscCheck(all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_line_kernel %s: %s", line->kernel.c_str(),
             why ? why->c_str() : "refuses the lines of another rank");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeedResidual(PC pc)
{
  PetscFunctionBegin;
  if (!Data(pc)->residual) PetscCall(MatCreateVecs(pc->pmat, NULL, &Data(pc)->residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_Line(PC pc)
{
  PC_Line *line = Data(pc);
  CsrMatrix<PetscScalar, PetscInt> matrix;
  Memory memory = Memory::host;
  LineLayout layout;
  std::optional<LineRow> bad;

  PetscFunctionBegin;
  PetscCall(CheckMatrix(pc->pmat));
  PetscCall(KokkosStart());
  PetscCall(MatGetLocalCsr(pc->pmat, &matrix, &memory));
  const int here = static_cast<int>(memory);
  if (!line->execution[here]) PetscCall(MakeExecution(memory, &line->execution[here]));

  PetscCall(FindLines(pc, *line->execution[here], matrix, &layout));
  line->forget_solver(1 - here); // it follows when vectors ask for it
  LineProblem problem(layout);
  std::optional<ConstantLines<PetscScalar>> constant;
  if (line->kernel == "toeplitz") PetscCall(FindConstant(pc, *line->execution[here], matrix, &problem, &constant));
  if (!line->solver[here] || problem != line->solver[here]->problem() || !pc->setupcalled) {
    line->layout = layout;
    line->solver[here].reset();
    PetscCall(CheckKernel(pc, problem));
    PetscCallCXX(line->solver[here] =
                     std::make_unique<LineSolver<PetscScalar>>(*line->execution[here], problem, line->kernel, line->kernel_parameters));
  }
  if (constant)
    PetscCallCXX(line->solver[here]->read(*constant));
  else
    PetscCallCXX(line->solver[here]->read(matrix));
  PetscCallCXX(line->solver[here]->factor());
  PetscCallCXX(bad = line->solver[here]->bad_pivot());
  PetscCall(ReportPivot(pc, layout, bad));
  if (line->sweeps > 1 || line->ordering == PC_LINE_ZEBRA) PetscCall(NeedResidual(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ----------------------------------------------------------------------------------------------------------------------- apply

// The solver whose kernels work in `memory`, on PETSc's current stream. Made from the one that set-up made when vectors first come in the
// other memory, or on another stream.
PetscErrorCode SolverIn(PC pc, Memory memory, const LineSolver<PetscScalar> **solver)
{
  PC_Line *line    = Data(pc);
  const int here   = static_cast<int>(memory);
  bool same_stream = true;

  PetscFunctionBegin;
  if (line->solver[here] && memory == Memory::device) {
    void *stream;
    PetscCall(CurrentStream(&stream));
    same_stream = stream == line->execution[here]->stream();
  }
  if (!line->solver[here] || !same_stream) {
    const LineSolver<PetscScalar> &from = same_stream ? *line->solver[1 - here] : *line->solver[here];
    std::unique_ptr<Execution> execution;
    std::unique_ptr<LineSolver<PetscScalar>> made;
    PetscCall(MakeExecution(memory, &execution));
    // The same method, whose pivots set-up has looked at.
    PetscCallCXX(made = std::make_unique<LineSolver<PetscScalar>>(*execution, from.problem(), from.method(), line->kernel_parameters));
    PetscCallCXX(made->read(from));
    PetscCallCXX(made->factor());
    line->solver[here]    = std::move(made);
    line->execution[here] = std::move(execution);
  }
  *solver = line->solver[here].get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc itself counts the residuals.
PetscErrorCode LogSolve(const LineSolver<PetscScalar> &solver, Colour colour)
{
  PetscFunctionBegin;
  const PetscLogDouble flops = (colour == Colour::all ? 1.0 : 0.5) * solver.flops();
  const Memory memory        = solver.execution().memory();
  if (memory == Memory::device) PetscCall(PetscLogGpuFlops(flops));
  if (memory == Memory::host) PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = omega T^-1 b on the lines of one colour.
PetscErrorCode SolveLines(PC pc, Vec b, Vec y, Colour colour, Transpose transpose)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(WithVecArrays(b, Access::read, y, colour == Colour::all ? Access::write : Access::read_write,
                          [&](Memory memory, const PetscScalar *rhs, PetscScalar *solution) -> PetscErrorCode {
                            const LineSolver<PetscScalar> *solver;

                            PetscFunctionBegin;
                            PetscCall(SolverIn(pc, memory, &solver));
                            PetscCallCXX(solver->solve(rhs, solution, {{line->omega}, colour, transpose}));
                            PetscCall(LogSolve(*solver, colour));
                            PetscFunctionReturn(PETSC_SUCCESS);
                          }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y += omega T^-1 (b - A y) on the lines of one colour.
PetscErrorCode RelaxLines(PC pc, Vec b, Vec y, Colour colour, Transpose transpose)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(NeedResidual(pc)); // made in set-up, unless the sweeps were raised since
  Vec r = line->residual;
  if (transpose == Transpose::no) {
    PetscCall(MatResidual(pc->pmat, b, y, r));
  } else {
    PetscCall(MatMultTranspose(pc->pmat, y, r));
    PetscCall(VecAYPX(r, -1.0, b));
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(WithVecArrays(r, Access::read_write, y, Access::read_write,
                          [&](Memory memory, PetscScalar *work, PetscScalar *solution) -> PetscErrorCode {
                            const LineSolver<PetscScalar> *solver;

                            PetscFunctionBegin;
                            PetscCall(SolverIn(pc, memory, &solver));
                            PetscCallCXX(solver->solve_add(work, solution, {{line->omega}, colour, transpose}));
                            PetscCall(LogSolve(*solver, colour));
                            PetscFunctionReturn(PETSC_SUCCESS);
                          }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// `sweeps` sweeps from a zero guess. The transposed operator visits the colours the other way round.
PetscErrorCode Sweep(PC pc, Vec b, Vec y, Transpose transpose)
{
  static constexpr Colour all[] = {Colour::all}, forward[] = {Colour::even, Colour::odd}, backward[] = {Colour::odd, Colour::even};
  PC_Line *line                   = Data(pc);
  std::span<const Colour> colours = all;

  PetscFunctionBegin;
  if (line->ordering == PC_LINE_ZEBRA) {
    colours = transpose == Transpose::no ? forward : backward;
    PetscCall(VecZeroEntries(y));
  }
  for (PetscInt sweep = 0; sweep < line->sweeps; sweep++) {
    for (Colour colour : colours) {
      const bool from_zero = sweep == 0 && colour == colours.front();
      if (from_zero)
        PetscCall(SolveLines(pc, b, y, colour, transpose));
      else
        PetscCall(RelaxLines(pc, b, y, colour, transpose));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_Line(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Sweep(pc, b, y, Transpose::no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_Line(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Sweep(pc, b, y, Transpose::yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------- creation, the end

PetscErrorCode PCReset_Line(PC pc)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) line->forget_solver(which);
  PetscCall(VecDestroy(&line->residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_Line(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Line(pc));
  PetscCall(weft::PCLineComposeSetters(pc, false));
  delete Data(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*MC
  PCLINE - line relaxation: solves the tridiagonal part of the matrix along grid lines exactly, on the host or on a GPU

  Options Database Keys:
+ -pc_line_direction (x|y|z|auto)    - direction of the lines on a `DMDA`; auto takes the one in which the matrix couples most, level by level
. -pc_line_ordering (jacobi|zebra)   - all lines at once, or every second line first and the others with the new values
. -pc_line_kernel (thomas|thomas-late|cr|pcr|cr-pcr|pcr-thomas|cr-pcr-thomas|spike|tpr|toeplitz|wide|pivoted|auto) - tridiagonal method
. -pc_line_kernel_(switch|steps|partitions|slice|tolerance) - how it works, see `PCLineSetKernelParameters()`
. -pc_line_sweeps <1>                - sweeps in one application
- -pc_line_omega <1.0>               - damping factor

  Level: beginner

  Notes:
  The smoother for multigrid where one direction couples much more strongly than the others (stretched grids, anisotropic coefficients):
  `-pc_type mg -mg_levels_pc_type line`.

  The grid is the `DMDA` of the `PC` or, if it has none, of the matrix. Where there is none, or it does not fit the matrix, the rows in
  their own order are taken for one line, so any `MATAIJ` matrix will do.

  The kernels run where the vectors are: on the host for standard vectors, on the device for `VECCUDA` and `VECKOKKOS`.

  A line ends where a rank's part of the grid ends; couplings across, also those of periodic boundaries, stay on the right-hand side. With
  several unknowns a node each has lines of its own.

  With jacobi ordering the preconditioner of a symmetric matrix is symmetric; with zebra it is not: use `KSPGMRES`, `KSPFGMRES` or `KSPBCGS`
  rather than `KSPCG`.

  A zero or non-finite pivot ends in `KSP_DIVERGED_PC_FAILED` with `PC_FACTOR_NUMERIC_ZEROPIVOT`.

.seealso: `PCCreate()`, `PCSetType()`, `PCMG`, `PCSOR`, `PCJACOBI`, `PCLineSetDirection()`, `PCLineSetOrdering()`, `PCLineSetKernel()`,
          `PCLineSetSweeps()`, `PCLineSetOmega()`
M*/
PetscErrorCode PCCreate_Line(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_Line);
  pc->ops->setup          = weft::PCSetUp_Line;
  pc->ops->apply          = weft::PCApply_Line;
  pc->ops->applytranspose = weft::PCApplyTranspose_Line;
  pc->ops->setfromoptions = weft::PCSetFromOptions_Line;
  pc->ops->view           = weft::PCView_Line;
  pc->ops->reset          = weft::PCReset_Line;
  pc->ops->destroy        = weft::PCDestroy_Line;
  PetscCall(weft::PCLineComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
