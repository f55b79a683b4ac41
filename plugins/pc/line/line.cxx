// PCLINE: finds the lines of a matrix, hands them to the tridiagonal kernels, orders the sweeps.
#include "pc/line/line.h"

#include <petsc/private/pcimpl.h>

#include <vector>

#include "device_view.hpp"
#include "kokkos_start.h"
#include "lines_from_dm.h"
#include "petsc_compat.h"
#include "types.h"

using weft::Access, weft::Colour, weft::Execution, weft::LineLayout, weft::LineSolver, weft::Memory, weft::SolveOptions, weft::Transpose;

namespace {

const char *const directions[] = {"x", "y", "z", "auto", "PCLineDirection", "PC_LINE_", NULL};
const char *const orderings[]  = {"jacobi", "zebra", "PCLineOrdering", "PC_LINE_", NULL};

struct PC_Line {
  // What the user asks for.
  PCLineDirection direction = PC_LINE_AUTO;
  PCLineOrdering ordering   = PC_LINE_JACOBI;
  std::string kernel        = "auto";
  PetscInt sweeps           = 1;
  PetscReal omega           = 1.0;

  // What set-up finds and makes.
  weft::Grid grid;
  PCLineDirection found = PC_LINE_X;
  LineLayout layout;
  // A backend for each memory that vectors have come in, host and device. Usually one; both where levels are bound to the CPU.
  std::unique_ptr<Execution> execution[2];
  std::unique_ptr<LineSolver<PetscScalar>> solver[2];
  Vec residual = NULL;

  void forget_solver(int which)
  {
    solver[which].reset();
    execution[which].reset();
  }
};

PC_Line *Data(PC pc)
{
  return static_cast<PC_Line *>(pc->data);
}

// ---------------------------------------------------------------------------------------------------------------------- set-up

PetscErrorCode CheckMatrix(Mat A)
{
  PetscBool aij;
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "PCLINE works on AIJ matrices and this one is of type %s: use -mat_type aij (-dm_mat_type aij), or -pc_use_amat 0 with an AIJ "
             "matrix for the preconditioner",
             ((PetscObject)A)->type_name);
  PetscCall(MatGetLocalSize(A, &rows, &columns));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "PCLINE needs a square matrix, the same rows and columns on each rank: this rank has %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns",
             rows, columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The direction that couples most, the same on all ranks.
PetscErrorCode StiffDirection(PC pc, const Execution &execution, const weft::CsrMatrix<PetscScalar, PetscInt> &matrix,
                              PCLineDirection *direction)
{
  PC_Line *line = Data(pc);
  weft::CouplingStrengths strengths{}, total{};

  PetscFunctionBegin;
  PetscCallCXX(strengths = weft::coupling_strengths(execution, line->grid.nodes, line->grid.components, matrix));
  PetscCallMPI(MPI_Allreduce(strengths.data(), total.data(), 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  *direction = PC_LINE_X;
  // Equal couplings, up to rounding, are a tie that the first direction wins.
  for (int k = 1; k < line->grid.dimension; k++) {
    if (total[k] > total[*direction] * (1 + 1e-6)) *direction = static_cast<PCLineDirection>(k);
  }
  PetscCall(PetscInfo(pc, "couplings along x, y, z: %g %g %g\n", total[0], total[1], total[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLines(PC pc, const Execution &execution, const weft::CsrMatrix<PetscScalar, PetscInt> &matrix, LineLayout *layout)
{
  PC_Line *line = Data(pc);
  Mat A         = pc->pmat;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(weft::GridFromPC(pc, &line->grid));
  if (line->grid.dimension == 0) {
    PetscCheck(line->direction == PC_LINE_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_direction %s needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM), "
               "make the matrix with DMCreateMatrix, or leave the direction at auto",
               directions[line->direction]);
    PetscCheck(line->ordering == PC_LINE_JACOBI, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_ordering zebra needs a grid and none is known for this matrix: its rows form one line; use jacobi");
    PetscCall(MatGetLocalSize(A, &rows, NULL));
    line->found = PC_LINE_X;
    *layout     = weft::one_line(rows);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  line->found = line->direction;
  if (line->direction == PC_LINE_AUTO) PetscCall(StiffDirection(pc, execution, matrix, &line->found));
  PetscCheck(line->found < line->grid.dimension, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_direction %s: this grid has %d dimension%s", directions[line->found], line->grid.dimension,
             line->grid.dimension == 1 ? "" : "s");
  *layout = weft::lines_of_box(line->found, line->grid.nodes, line->grid.components, line->grid.first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A pivot that cannot be divided by, on any rank, fails the PC on all of them.
PetscErrorCode ReportPivot(PC pc, const std::optional<weft::LineRow> &bad)
{
  PetscFunctionBegin;
  PetscMPIInt here = bad ? 1 : 0, anywhere;
  PetscCallMPI(MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  pc->failedreason = pc->failedreasonrank = anywhere ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR;
  if (bad)
    PetscCall(PetscInfo(pc, "zero or non-finite pivot in row %lld of line %lld of this rank\n", (long long)bad->row, (long long)bad->line));
  PetscCheck(!anywhere || !pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_LU_ZRPVT,
             "a tridiagonal line has a zero or non-finite pivot; -info tells where");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An execution in `memory` on PETSc's current stream.
PetscErrorCode MakeExecution(Memory memory, std::unique_ptr<Execution> *execution)
{
  void *stream = NULL;

  PetscFunctionBegin;
  if (memory == Memory::device) PetscCall(weft::CurrentStream(&stream));
  PetscCallCXX(*execution = std::make_unique<Execution>(memory, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_Line(PC pc)
{
  PC_Line *line = Data(pc);
  weft::CsrMatrix<PetscScalar, PetscInt> matrix;
  Memory memory = Memory::host;
  LineLayout layout;
  std::optional<weft::LineRow> bad;

  PetscFunctionBegin;
  PetscCall(CheckMatrix(pc->pmat));
  PetscCall(weft::KokkosStart());
  PetscCall(weft::MatGetLocalCsr(pc->pmat, &matrix, &memory));
  const int here = static_cast<int>(memory);
  if (!line->execution[here]) PetscCall(MakeExecution(memory, &line->execution[here]));

  PetscCall(FindLines(pc, *line->execution[here], matrix, &layout));
  line->forget_solver(1 - here); // it follows when vectors ask for it
  if (!line->solver[here] || layout != line->layout || !pc->setupcalled) {
    line->layout = layout;
    line->solver[here].reset();
    PetscCallCXX(line->solver[here] = std::make_unique<LineSolver<PetscScalar>>(*line->execution[here], layout, line->kernel));
  }
  PetscCallCXX(line->solver[here]->read(matrix));
  PetscCallCXX(bad = line->solver[here]->factor());
  PetscCall(ReportPivot(pc, bad));

  if (!line->residual && (line->sweeps > 1 || line->ordering == PC_LINE_ZEBRA)) PetscCall(MatCreateVecs(pc->pmat, NULL, &line->residual));
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
    PetscCall(weft::CurrentStream(&stream));
    same_stream = stream == line->execution[here]->stream();
  }
  if (!line->solver[here] || !same_stream) {
    const LineSolver<PetscScalar> &from = same_stream ? *line->solver[1 - here] : *line->solver[here];
    std::unique_ptr<Execution> execution;
    std::unique_ptr<LineSolver<PetscScalar>> made;
    PetscCall(MakeExecution(memory, &execution));
    PetscCallCXX(made = std::make_unique<LineSolver<PetscScalar>>(*execution, line->layout, line->kernel));
    PetscCallCXX(made->read(from));
    PetscCallCXX(made->factor()); // the pivots were good in the other memory
    line->solver[here]    = std::move(made);
    line->execution[here] = std::move(execution);
  }
  *solver = line->solver[here].get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = omega T^-1 b on the lines of one colour.
PetscErrorCode SolveLines(PC pc, Vec b, Vec y, Colour colour, Transpose transpose)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(weft::WithVecArrays(b, Access::read, y, colour == Colour::all ? Access::write : Access::read_write,
                                [&](Memory memory, const PetscScalar *rhs, PetscScalar *solution) -> PetscErrorCode {
                                  const LineSolver<PetscScalar> *solver;

                                  PetscFunctionBegin;
                                  PetscCall(SolverIn(pc, memory, &solver));
                                  PetscCallCXX(solver->solve(rhs, solution, {{line->omega}, colour, transpose}));
                                  PetscFunctionReturn(PETSC_SUCCESS);
                                }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y += omega T^-1 (b - A y) on the lines of one colour.
PetscErrorCode RelaxLines(PC pc, Vec b, Vec y, Colour colour, Transpose transpose)
{
  PC_Line *line = Data(pc);
  Vec r         = line->residual;

  PetscFunctionBegin;
  if (transpose == Transpose::no) {
    PetscCall(MatResidual(pc->pmat, b, y, r));
  } else {
    PetscCall(MatMultTranspose(pc->pmat, y, r));
    PetscCall(VecAYPX(r, -1.0, b));
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(weft::WithVecArrays(r, Access::read_write, y, Access::read_write,
                                [&](Memory memory, PetscScalar *work, PetscScalar *solution) -> PetscErrorCode {
                                  const LineSolver<PetscScalar> *solver;

                                  PetscFunctionBegin;
                                  PetscCall(SolverIn(pc, memory, &solver));
                                  PetscCallCXX(solver->solve_add(work, solution, {{line->omega}, colour, transpose}));
                                  PetscFunctionReturn(PETSC_SUCCESS);
                                }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// `sweeps` sweeps from a zero guess. The transposed operator visits the colours the other way round.
PetscErrorCode Sweep(PC pc, Vec b, Vec y, Transpose transpose)
{
  PC_Line *line = Data(pc);
  std::vector<Colour> colours{Colour::all};

  PetscFunctionBegin;
  if (line->ordering == PC_LINE_ZEBRA) {
    colours = {Colour::even, Colour::odd};
    if (transpose == Transpose::yes) colours = {Colour::odd, Colour::even};
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
  PetscCall(PetscLogFlops(5.0 * line->sweeps * line->layout.rows())); // PETSc counts the residuals
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

// --------------------------------------------------------------------------------------------------------------- options, view

PetscErrorCode PCSetFromOptions_Line(PC pc, weft::OptionItems PetscOptionsObject)
{
  PC_Line *line             = Data(pc);
  PCLineDirection direction = line->direction;
  PCLineOrdering ordering   = line->ordering;
  PetscInt sweeps           = line->sweeps, kernel;
  PetscReal omega           = line->omega;
  PetscBool set;

  PetscFunctionBegin;
  std::vector<const char *> kernels = weft::tridiagonal_method_names();
  kernels.push_back("auto");
  PetscOptionsHeadBegin(PetscOptionsObject, "line relaxation options");
  PetscCall(PetscOptionsEnum("-pc_line_direction", "direction of the lines on a grid", "PCLineSetDirection", directions,
                             (PetscEnum)direction, (PetscEnum *)&direction, &set));
  if (set) PetscCall(PCLineSetDirection(pc, direction));
  PetscCall(PetscOptionsEnum("-pc_line_ordering", "all lines at once, or every second one", "PCLineSetOrdering", orderings,
                             (PetscEnum)ordering, (PetscEnum *)&ordering, &set));
  if (set) PetscCall(PCLineSetOrdering(pc, ordering));
  PetscCall(PetscOptionsEList("-pc_line_kernel", "tridiagonal method", "PCLineSetKernel", kernels.data(), (PetscInt)kernels.size(),
                              line->kernel.c_str(), &kernel, &set));
  if (set) PetscCall(PCLineSetKernel(pc, kernels[kernel]));
  PetscCall(PetscOptionsInt("-pc_line_sweeps", "sweeps in one application", "PCLineSetSweeps", sweeps, &sweeps, &set));
  if (set) PetscCall(PCLineSetSweeps(pc, sweeps));
  PetscCall(PetscOptionsReal("-pc_line_omega", "damping factor", "PCLineSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCLineSetOmega(pc, omega));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_Line(PC pc, PetscViewer viewer)
{
  PC_Line *line = Data(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ordering %s, sweeps %" PetscInt_FMT ", omega %g\n", orderings[line->ordering], line->sweeps,
                                   (double)line->omega));
  if (!pc->setupcalled) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction %s, kernel %s, lines not yet looked for\n", directions[line->direction],
                                     line->kernel.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Lines end where a rank's part of the grid ends, so the counts add up over ranks and the lengths differ by rank.
  PetscInt64 count = line->layout.count(), total, length = line->layout.length, longest;
  PetscCallMPI(MPI_Allreduce(&count, &total, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&length, &longest, 1, MPIU_INT64, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines: %" PetscInt64_FMT " of at most %" PetscInt64_FMT " rows%s\n", total, longest,
                                   ranks > 1 ? ", cut where ranks meet" : ""));
  if (line->grid.dimension == 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: the order of the rows (no DMDA describes this matrix)\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: %s%s of a %d-dimensional grid with %d component%s a node\n",
                                     directions[line->found], line->direction == PC_LINE_AUTO ? " (strongest coupling)" : "",
                                     line->grid.dimension, (int)line->grid.components,
                                     line->grid.components == 1 ? "" : "s, each on lines of its own"));
  for (const auto &solver : line->solver) {
    if (!solver) continue;
    std::string backend;
    PetscCallCXX(backend = solver->execution().name());
    PetscCall(PetscViewerASCIIPrintf(viewer, "  kernel: %s%s on the %s (%s)\n", solver->method(), line->kernel == "auto" ? " (auto)" : "",
                                     solver->execution().memory() == Memory::device ? "device" : "host", backend.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// --------------------------------------------------------------------------------------------------- setters, creation, the end

// A choice that set-up depends on.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, Value value)
{
  PetscFunctionBegin;
  if (*chosen != value) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetDirection_Line(PC pc, PCLineDirection direction)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Data(pc)->direction, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetOrdering_Line(PC pc, PCLineOrdering ordering)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Data(pc)->ordering, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetKernel_Line(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  const std::string name = kernel;
  bool known             = name == "auto";
  std::string list;
  for (const char *method : weft::tridiagonal_method_names()) {
    known = known || name == method;
    list += std::string(method) + ", ";
  }
  PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown line kernel '%s': there are %sand auto", kernel,
             list.c_str());
  PetscCall(Choose(pc, &Data(pc)->kernel, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetSweeps_Line(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCheck(sweeps >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_sweeps %" PetscInt_FMT ": at least one sweep is needed", sweeps);
  PetscCall(Choose(pc, &Data(pc)->sweeps, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetOmega_Line(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCheck(omega > 0 && PetscIsNormalReal(omega), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_omega %g: the damping factor must be positive and finite", (double)omega);
  Data(pc)->omega = omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  for (const char *method : {"PCLineSetDirection_C", "PCLineSetOrdering_C", "PCLineSetKernel_C", "PCLineSetSweeps_C", "PCLineSetOmega_C"}) {
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, method, NULL));
  }
  delete Data(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

/*MC
  PCLINE - line relaxation: solves the tridiagonal part of the matrix along grid lines exactly, on the host or on a GPU

  Options Database Keys:
+ -pc_line_direction (x|y|z|auto)    - direction of the lines on a `DMDA`; auto takes the one in which the matrix couples most, on each
level . -pc_line_ordering (jacobi|zebra)   - all lines at once, or every second line first and the others with the new values .
-pc_line_kernel (thomas|pcr|auto)  - tridiagonal method . -pc_line_sweeps <1>                - sweeps in one application
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
  PetscCallCXX(pc->data = new PC_Line);
  pc->ops->setup          = PCSetUp_Line;
  pc->ops->apply          = PCApply_Line;
  pc->ops->applytranspose = PCApplyTranspose_Line;
  pc->ops->setfromoptions = PCSetFromOptions_Line;
  pc->ops->view           = PCView_Line;
  pc->ops->reset          = PCReset_Line;
  pc->ops->destroy        = PCDestroy_Line;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetDirection_C", PCLineSetDirection_Line));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetOrdering_C", PCLineSetOrdering_Line));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetKernel_C", PCLineSetKernel_Line));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetSweeps_C", PCLineSetSweeps_Line));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetOmega_C", PCLineSetOmega_Line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetDirection - sets the direction of the lines of a `PCLINE` on a grid

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- direction - `PC_LINE_X`, `PC_LINE_Y`, `PC_LINE_Z`, or `PC_LINE_AUTO` for the one in which the matrix couples most

  Options Database Key:
. -pc_line_direction (x|y|z|auto) - the direction

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetOrdering()`
@*/
PetscErrorCode PCLineSetDirection(PC pc, PCLineDirection direction)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, direction, 2);
  PetscTryMethod(pc, "PCLineSetDirection_C", (PC, PCLineDirection), (pc, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetOrdering - sets the order in which a `PCLINE` relaxes its lines

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- ordering - `PC_LINE_JACOBI` for all lines at once, `PC_LINE_ZEBRA` for every second line first

  Options Database Key:
. -pc_line_ordering (jacobi|zebra) - the ordering

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetOrdering(PC pc, PCLineOrdering ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, ordering, 2);
  PetscTryMethod(pc, "PCLineSetOrdering_C", (PC, PCLineOrdering), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetKernel - sets the method by which a `PCLINE` solves tridiagonal lines

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- kernel - the method's name, or "auto" to choose by length and number of lines and by where the vectors are

  Options Database Key:
. -pc_line_kernel (thomas|pcr|auto) - the method

  Level: advanced

.seealso: `PCLINE`
@*/
PetscErrorCode PCLineSetKernel(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCLineSetKernel_C", (PC, const char[]), (pc, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetSweeps - sets the number of sweeps in one application of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - at least 1; each sweep after the first, and each zebra half-sweep, needs a residual

  Options Database Key:
. -pc_line_sweeps <1> - the number

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetOmega()`
@*/
PetscErrorCode PCLineSetSweeps(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscTryMethod(pc, "PCLineSetSweeps_C", (PC, PetscInt), (pc, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetOmega - sets the damping factor of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- omega - positive; each correction is multiplied by it

  Options Database Key:
. -pc_line_omega <1.0> - the factor

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetSweeps()`
@*/
PetscErrorCode PCLineSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscTryMethod(pc, "PCLineSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}
