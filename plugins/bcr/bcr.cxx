// PCBCR: reads a matrix on a DMDA as a separable operator, hands it to the direct solvers, brings vectors to them and back.
#include <petsc/private/kspimpl.h>
#include <petscdmda.h>

#include "bcr/bcr_impl.h"
#include "bcr/owners.h"
#include "petsc/agreed.h"
#include "petsc/finite_solution.h"
#include "petsc/kokkos_start.h"
#include "types.h"

namespace weft {

namespace {

// The solver by itself: what applications refine where the check asks for that.
PetscErrorCode SolveOnce(PC pc, Vec rhs, Vec solution, Transpose transpose);

// ---------------------------------------------------------------------------------------------------------------------- set-up

PetscErrorCode CheckGrid(PC pc)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  PetscCall(GridFromPC(pc, &bcr->grid));
  PetscCheck(
      bcr->grid.dimension > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
      "PCBCR needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM) of the matrix's size, "
      "or make the matrix with DMCreateMatrix");
  PetscCheck(bcr->grid.components == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCBCR solves for one unknown a node and this DMDA has %d: take it for each field alone (-pc_type fieldsplit "
             "-fieldsplit_pc_type bcr with a DMDA for each block)",
             (int)bcr->grid.components);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sums or largest values over all ranks.
PetscErrorCode CombineOverRanks(MPI_Comm comm, double *values, std::size_t count, Combine how)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast((PetscInt)count, &size));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, size, MPI_DOUBLE, how == Combine::sum ? MPI_SUM : MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the matrix is, the same on all ranks.
PetscErrorCode Separate(PC pc, Memory *memory, Separation *separation)
{
  PC_BCR *bcr   = Bcr(pc);
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  GridMatrix<PetscInt> matrix;
  LocalMatrix local;
  PetscMPIInt ranks;
  std::unique_ptr<Execution> execution;
  AllRanks all_ranks;

  PetscFunctionBegin;
  PetscCall(MatGetLocal(pc->pmat, &local));
  matrix.inside  = local.inside;
  matrix.outside = local.outside;
  *memory        = local.memory;
  for (int d = 0; d < 3; d++) {
    matrix.grid[d]  = bcr->grid.global[d];
    matrix.first[d] = bcr->grid.first[d];
    matrix.nodes[d] = bcr->grid.nodes[d];
  }
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks > 1) {
    GridOwners owners;
    Index at[3];

    PetscCall(owners.Find(bcr->grid, pc->pmat));
    for (PetscInt k = 0; k < local.outside_size; k++) {
      owners.node(local.outside_columns[k], at);
      PetscCallCXX(matrix.outside_nodes.push_back(at[0] + matrix.grid[0] * (at[1] + matrix.grid[1] * at[2])));
    }
    all_ranks = [comm](double *values, std::size_t size, Combine how) {
      RanksAgreeOrThrow(comm);
      if (CombineOverRanks(comm, values, size, how)) throw std::runtime_error("the ranks could not exchange what they know of the matrix");
    };
  }
  PetscCall(MakeExecution(*memory, &execution));
  PetscCallCXX(*separation = separate(*execution, matrix, all_ranks));
  PetscCallCXX(destroy_or_leave(execution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What set-up cannot work with. `refused`: why no method solves this operator, a property of its values; one that the user named is to.
PetscErrorCode CheckSeparation(PC pc, const Separation &found, std::string *refused)
{
  PC_BCR *bcr   = Bcr(pc);
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  std::optional<std::string> why;

  PetscFunctionBegin;
  PetscCheck(
      found.foreign == 0, comm, PETSC_ERR_SUP,
      "PCBCR needs a stencil of the node and its neighbours along x, y and z (3, 5 or 7 points), and %g entries of this matrix couple to "
      "other nodes: give KSPSetOperators() such a matrix as its second one, or take another PC",
      found.foreign);
  PetscCheck(!bcr->require_separable || found.deviation <= bcr->tolerance, comm, PETSC_ERR_ARG_INCOMP,
             "the matrix is not separable: it differs by %g, relative to a row, from the nearest operator that is, and "
             "-pc_bcr_require_separable allows %g (-pc_bcr_separable_tolerance): leave -pc_bcr_require_separable to use that operator as a "
             "preconditioner",
             found.deviation, (double)bcr->tolerance);
  PetscCallCXX(why = poisson_method_refuses(bcr->options.method, found.separable, bcr->options));
  PetscCheck(!why || bcr->options.method == "auto", comm, PETSC_ERR_SUP, "-pc_bcr_type %s: %s", bcr->options.method.c_str(), why->c_str());
  PetscCallCXX(*refused = why ? "PCBCR solves no such operator: " + *why : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A set-up that found no way to solve fails the PC on all ranks.
PetscErrorCode ReportFailure(PC pc, PCFailedReason reason, const std::string &what)
{
  PetscFunctionBegin;
  pc->failedreason = pc->failedreasonrank = reason;
  if (reason) PetscCall(PetscInfo(pc, "%s\n", what.c_str()));
  PetscCheck(!reason || !pc->erroriffailure, PetscObjectComm((PetscObject)pc),
             reason == PC_FACTOR_OTHER ? PETSC_ERR_NOT_CONVERGED : PETSC_ERR_MAT_LU_ZRPVT, "%s", what.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rank that solves for all.
PetscErrorCode Solves(PC pc, bool *here, PetscMPIInt *ranks)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), ranks));
  *here = rank == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeSolver(PC pc, Memory memory)
{
  PC_BCR *bcr               = Bcr(pc);
  const int here            = static_cast<int>(memory);
  const Precision precision = bcr->inside() == PC_BCR_SINGLE ? Precision::single_inside : Precision::both_double;
  PetscMPIInt rank;

  PetscFunctionBegin;
  bcr->forget_solver(here);
  PetscCall(MakeExecution(memory, &bcr->execution[here]));
  if (bcr->plan) {
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
    Separation slab;
    PetscCallCXX(slab = slab_of(bcr->separation, *bcr->plan, rank));
    PetscCallCXX(slab.row_scale = bcr->factors);
    PetscCallCXX(bcr->spread_solver[here] = std::make_unique<SpreadSolver>(*bcr->execution[here], slab, *bcr->plan, rank, precision));
  } else {
    std::optional<Separation> whole;
    if (bcr->gather && bcr->separation.scaled) {
      PetscCallCXX(whole = bcr->separation);
      PetscCallCXX(whole->row_scale = bcr->factors);
    }
    PetscCallCXX(bcr->solver[here] =
                     std::make_unique<BoxSolver>(*bcr->execution[here], whole ? *whole : bcr->separation, bcr->options, precision));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A singular operator is solved in the space without constants, which the user must know of.
PetscErrorCode LacksNullSpace(PC pc, bool *lacks)
{
  MatNullSpace space = NULL;

  PetscFunctionBegin;
  if (Bcr(pc)->singular) {
    PetscCall(MatGetNullSpace(pc->pmat, &space));
    if (!space) PetscCall(MatGetNullSpace(pc->mat, &space));
  }
  *lacks = Bcr(pc)->singular && !space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What stands in the way of a solve, or nothing.
PetscErrorCode WhyNot(PC pc, bool bad_pivot, std::string *why)
{
  bool lacks = false;

  PetscFunctionBegin;
  PetscCall(LacksNullSpace(pc, &lacks));
  why->clear();
  if (bad_pivot) PetscCallCXX(*why = "zero or non-finite pivot of a line of the separable operator: it is singular, or too near to it");
  if (lacks)
    PetscCallCXX(*why = "the operator is singular (constants are in its null space): attach them to the matrix, "
                        "MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &space), MatSetNullSpace(A, space), or fix a value by a boundary "
                        "condition");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether each rank has a part of the solve, and which. The ways between the ranks stay while the plan does.
PetscErrorCode Plan(PC pc, PetscMPIInt ranks, bool may_spread)
{
  PC_BCR *bcr = Bcr(pc);
  std::optional<SpreadPlan> plan;

  PetscFunctionBegin;
  if (may_spread) PetscCallCXX(plan = spread_plan(bcr->separation, bcr->options, ranks));
  if (plan != bcr->plan || bcr->block_precision != bcr->inside()) {
    for (int which : {0, 1}) bcr->forget_solver(which);
    PetscCall(SpreadReset(pc));
  }
  PetscCallCXX(bcr->plan = plan);
  bcr->block_precision = bcr->inside();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One solve shows what the solver of a separable matrix is worth. That of a nearest operator solves another equation.
PetscErrorCode Check(PC pc, bool same_solver)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  if (!bcr->separable()) {
    PetscCall(bcr->check.Forget());
    PetscCall(PetscInfo(pc,
                        "the matrix is not separable: it differs by %g, relative to a row, from the nearest operator that is, which is "
                        "solved: a preconditioner\n",
                        bcr->separation.deviation));
  } else if (!(same_solver && bcr->check.measured)) {
    PetscCall(bcr->check.Measure(pc->pmat, bcr->singular, bcr->inside() == PC_BCR_SINGLE,
                                 [pc](Vec b, Vec x, Transpose transpose) { return SolveOnce(pc, b, x, transpose); }));
  }
  const bool fails = bcr->check.fails();
  PetscCall(ReportFailure(pc, fails ? PC_FACTOR_OTHER : PC_NOERROR, fails ? bcr->check.Sentence("-pc_bcr_check") : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The solvers of this operator, on all ranks or on the first one, unless they are there; and whether they find it singular (state[0]) or
// meet pivots that they cannot work with (state[1]), the same on all ranks.
PetscErrorCode MakeSolvers(PC pc, Memory memory, bool same, bool may_spread, PetscMPIInt state[])
{
  PC_BCR *bcr    = Bcr(pc);
  const int here = static_cast<int>(memory);
  PetscMPIInt ranks;
  bool solves;

  PetscFunctionBegin;
  PetscCall(Solves(pc, &solves, &ranks));
  PetscCall(Plan(pc, ranks, may_spread));
  solves = solves || bcr->plan;
  if (bcr->plan) {
    PetscCall(SpreadMakeWays(pc));
  } else {
    PetscCall(GatherMakeWay(pc));
  }
  if (solves && !(same && bcr->has_solver(here))) {
    bcr->forget_solver(1 - here); // it follows when vectors ask for it
    PetscCall(MakeSolver(pc, memory));
  }
  if (bcr->plan) PetscCall(SpreadWarmUp(pc));
  state[0] = state[1] = 0;
  if (solves) {
    PetscCallCXX(state[0] = bcr->plan ? bcr->spread_solver[here]->singular() : bcr->solver[here]->singular());
    PetscCallCXX(state[1] = bcr->plan ? bcr->spread_solver[here]->small_pivot() : bcr->solver[here]->bad_pivot());
  }
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Bcast(state, 2, MPI_INT, 0, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_BCR(PC pc)
{
  PC_BCR *bcr   = Bcr(pc);
  Memory memory = Memory::host;
  Separation found;
  std::string why;

  PetscFunctionBegin;
  bcr->refused = false;
  PetscCall(MatCheckAij(pc->pmat, "PCBCR"));
  PetscCall(KokkosStart());
  PetscCall(CheckGrid(pc));
  PetscCall(Separate(pc, &memory, &found));
  if (found.unusable > 0) {
    for (int which : {0, 1}) bcr->forget_solver(which);
    PetscCall(bcr->check.Forget());
    bcr->separation = std::move(found);
    PetscCall(
        ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT,
                      "an entry of the matrix is not finite, the diagonal of an eliminated boundary row is zero, or the matrix is not "
                      "separable and its entries differ by more than 1e30"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckSeparation(pc, found, &why));
  if (!why.empty()) {
    for (int which : {0, 1}) bcr->forget_solver(which);
    PetscCall(bcr->check.Forget());
    bcr->separation = std::move(found);
    PetscCall(ReportFailure(pc, PC_FACTOR_OTHER, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscMPIInt state[2], same = pc->setupcalled && same_operator(found, bcr->separation);
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  bcr->separation = std::move(found);
  PetscCall(MakeSolvers(pc, memory, same, true, state));
  // One rank knows ways around small pivots: other directions, modes of the lines.
  if (bcr->plan && state[1]) PetscCall(MakeSolvers(pc, memory, same, false, state));
  bcr->singular = state[0] != 0;
  PetscCall(WhyNot(pc, state[1] != 0, &why));
  if (!why.empty()) {
    PetscCall(bcr->check.Forget());
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Check(pc, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ----------------------------------------------------------------------------------------------------------------------- apply

} // namespace

// Made when vectors first come in that memory, or on another stream.
PetscErrorCode EnsureSolver(PC pc, Memory memory)
{
  PC_BCR *bcr      = Bcr(pc);
  const int here   = static_cast<int>(memory);
  bool same_stream = true;

  PetscFunctionBegin;
  if (bcr->has_solver(here) && memory == Memory::device) {
    void *stream;
    PetscCall(CurrentStream(&stream));
    same_stream = stream == bcr->execution[here]->stream();
  }
  if (!bcr->has_solver(here) || !same_stream) PetscCall(MakeSolver(pc, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode LogSolve(const BoxSolver &solver, int many)
{
  PetscFunctionBegin;
  const Memory memory = solver.execution().memory();
  if (memory == Memory::device) PetscCall(PetscLogGpuFlops(many * solver.flops()));
  if (memory == Memory::host) PetscCall(PetscLogFlops(many * solver.flops()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Vectors of the whole grid in its natural order.
PetscErrorCode SolveHere(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(
      WithVecArrays(rhs, Access::read, solution, Access::write, [&](Memory memory, const PetscScalar *b, PetscScalar *x) -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCall(EnsureSolver(pc, memory));
        const BoxSolver &solver = *Bcr(pc)->solver[static_cast<int>(memory)];
        PetscCallCXX(solver.solve(b, x, transpose));
        PetscCall(LogSolve(solver, 1));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveOnce(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PC_BCR *bcr = Bcr(pc);
  PetscMPIInt ranks;
  bool solves;

  PetscFunctionBegin;
  PetscCall(Solves(pc, &solves, &ranks));
  if (ranks == 1) {
    PetscCall(SolveHere(pc, rhs, solution, transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (bcr->plan) {
    PetscCall(SpreadSolve(pc, rhs, solution, transpose));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecScatterBegin(bcr->gather, rhs, bcr->whole_rhs, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(bcr->gather, rhs, bcr->whole_rhs, INSERT_VALUES, SCATTER_FORWARD));
  if (solves) PetscCall(SolveHere(pc, bcr->whole_rhs, bcr->whole_solution, transpose));
  PetscCall(VecScatterBegin(bcr->gather, bcr->whole_solution, solution, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(bcr->gather, bcr->whole_solution, solution, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PetscFunctionBegin;
  if (pc->failedreason) { // as PETSc's own solvers after a failed factorization: a Krylov method then looks at the reason
    PetscCall(VecFlag(solution, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Bcr(pc)->check.Solve(pc->pmat, rhs, solution, transpose, [pc](Vec b, Vec x, Transpose as) { return SolveOnce(pc, b, x, as); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPreSolve_BCR(PC pc, KSP ksp, Vec, Vec)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  if (pc->failedreason && !bcr->refused) PetscFunctionReturn(PETSC_SUCCESS);
  // KSPSetUp() has seen the failure of a solve before this one, by another method.
  if (bcr->refused && ksp->reason == KSP_DIVERGED_PC_FAILED) ksp->reason = KSP_CONVERGED_ITERATING;
  bcr->refused = !bcr->separable() && TakenForASolution(ksp);
  PetscCall(ReportFailure(pc, bcr->refused ? PC_FACTOR_OTHER : PC_NOERROR, bcr->refused ? RefusedSentence(*bcr) : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_BCR(PC, KSP ksp, Vec, Vec solution)
{
  PetscFunctionBegin;
  PetscCall(RefuseNonFiniteSolution(ksp, solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_BCR(PC pc, Vec rhs, Vec solution)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, rhs, solution, Transpose::no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_BCR(PC pc, Vec rhs, Vec solution)
{
  PetscFunctionBegin;
  PetscCall(Solve(pc, rhs, solution, Transpose::yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// KSPMatSolve() of a KSPPREONLY comes here at once, and tells a PC nothing of itself: what the user has typed does. An error, as a failure
// would be one of another name: PETSc 3.18 has no infinities for dense matrices.
PetscErrorCode RefuseManyAtOnce(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  bool taken;

  PetscFunctionBegin;
  if (pc->failedreason || bcr->separable()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OptionsTakeForASolution(pc, &taken));
  PetscCheck(!taken, PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "%s", RefusedSentence(*bcr).c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One after the other: in one call of the solver where columns lie alike, in many where they do not, ranks share them, or solves are refined.
PetscErrorCode PCMatApply_BCR(PC pc, Mat rhs, Mat solution)
{
  const PetscScalar *b;
  PetscScalar *x;
  PetscMemType b_type, x_type;
  PetscInt columns, b_apart, x_apart;
  PetscMPIInt ranks;
  bool solves;

  PetscFunctionBegin;
  PetscCall(RefuseManyAtOnce(pc));
  PetscCall(Solves(pc, &solves, &ranks));
  PetscCall(MatGetSize(rhs, NULL, &columns));
  PetscCall(MatDenseGetLDA(rhs, &b_apart));
  PetscCall(MatDenseGetLDA(solution, &x_apart));
  if (ranks == 1 && b_apart == x_apart && !pc->failedreason && !Bcr(pc)->check.refined) {
    PetscCall(MatDenseGetArrayReadAndMemType(rhs, &b, &b_type));
    PetscCall(MatDenseGetArrayWriteAndMemType(solution, &x, &x_type));
    const Memory memory = PetscMemTypeDevice(x_type) ? Memory::device : Memory::host;
    const bool together = PetscMemTypeDevice(b_type) == PetscMemTypeDevice(x_type) && has_backend(memory);
    if (together) {
      PetscCall(PetscLogGpuTimeBegin());
      PetscCall(EnsureSolver(pc, memory));
      const BoxSolver &solver = *Bcr(pc)->solver[static_cast<int>(memory)];
      PetscCallCXX(solver.solve(b, x, Transpose::no, (int)columns, b_apart));
      PetscCall(LogSolve(solver, (int)columns));
      PetscCall(PetscLogGpuTimeEnd());
    }
    PetscCall(MatDenseRestoreArrayWriteAndMemType(solution, &x));
    PetscCall(MatDenseRestoreArrayReadAndMemType(rhs, &b));
    if (together) PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < columns; k++) {
    Vec from, to;

    PetscCall(MatDenseGetColumnVecRead(rhs, k, &from));
    PetscCall(MatDenseGetColumnVecWrite(solution, k, &to));
    PetscCall(Solve(pc, from, to, Transpose::no));
    PetscCall(MatDenseRestoreColumnVecWrite(solution, k, &to));
    PetscCall(MatDenseRestoreColumnVecRead(rhs, k, &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------- creation, the end

PetscErrorCode PCReset_BCR(PC pc)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) bcr->forget_solver(which);
  bcr->separation = {};
  PetscCall(bcr->check.Forget());
  PetscCall(SpreadReset(pc));
  PetscCall(VecScatterDestroy(&bcr->gather));
  PetscCall(VecDestroy(&bcr->whole_rhs));
  PetscCall(VecDestroy(&bcr->whole_solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_BCR(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_BCR(pc));
  PetscCall(weft::PCBCRComposeSetters(pc, false));
  delete Bcr(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*MC
  PCBCR - direct solver for separable operators on a `DMDA` (Poisson, Helmholtz), on the host or on a GPU; for other operators the direct
  solver of the nearest separable one, as a preconditioner

  Options Database Keys:
+ -pc_bcr_type (buneman1|buneman2|partial|separable|plain|facr|auto) - method; auto is the fastest stable one
. -pc_bcr_inverse (fractions|leja)       - how the Buneman methods apply the inverses of matrix polynomials
. -pc_bcr_radix <0>                      - radix of separable; 0 is the method's choice
. -pc_bcr_levels <-1>                    - levels of cyclic reduction in facr; -1 is the method's choice
. -pc_bcr_precision (double|single)      - precision of the solve
. -pc_bcr_require_separable <false>      - an error where the matrix is not separable
. -pc_bcr_separable_tolerance <1e-10>    - largest deviation, relative to a row, of a matrix that counts as separable
. -pc_bcr_check_warn <1e-10>             - relative residual of a random solve above which it is told and refined
- -pc_bcr_check_fail <1e-4>              - relative residual of a random solve above which set-up fails

  Level: beginner

  Notes:
  The operator is read from the assembled `MATAIJ` matrix: one unknown a node, couplings to the neighbours along x, y and z (3, 5 or 7
  points), with the `DMDA` of the `PC` or, if it has none, of the matrix. Its coefficients may vary along each direction (stretched grids),
  periodic ends and any boundary rows are found in the matrix. Boundary rows that hold a diagonal only, or a coupling into the grid, are
  handled separately.

  Where the matrix is separable one application solves it: `-ksp_type preonly` or one iteration. Otherwise the nearest separable operator is
  solved, and the number of iterations depends on the coefficients but not on the mesh width. `-ksp_view` says how far the matrix is from
  it. `-ksp_type preonly` fails for such a matrix, unless it is the solver within another preconditioner.

  Each set-up for a separable matrix measures the residual of one solve, `PCBCRSetCheck()`. A property of the values that makes a solve
  impossible, or useless, fails it (`PCGetFailedReason()`); with `-ksp_error_if_not_converged` it is an error that says why.

  A singular operator (Neumann or periodic conditions on all sides) needs its null space attached by `MatSetNullSpace()`.

  On several ranks methods facr (without levels) and auto spread the solve over all of them, where there are transforms for the operator: in
  slabs of the grid for the transforms, in columns of modes for the lines. Otherwise the field is gathered and solved on the first
  rank. `-ksp_view` says which.

.seealso: `PCCreate()`, `PCSetType()`, `PCMG`, `PCLINE`, `PCBCRSetMethod()`, `PCBCRSetInverse()`, `PCBCRSetRadix()`, `PCBCRSetLevels()`,
          `PCBCRSetPrecision()`, `PCBCRSetRequireSeparable()`, `PCBCRSetSeparableTolerance()`, `PCBCRSetCheck()`
M*/
PetscErrorCode PCCreate_BCR(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_BCR);
  pc->ops->setup          = weft::Together<weft::PCSetUp_BCR>;
  pc->ops->apply          = weft::Guarded<weft::PCApply_BCR>;
  pc->ops->presolve       = weft::Guarded<weft::PCPreSolve_BCR>;
  pc->ops->postsolve      = weft::Guarded<weft::PCPostSolve_BCR>;
  pc->ops->applytranspose = weft::Guarded<weft::PCApplyTranspose_BCR>;
  pc->ops->matapply       = weft::Guarded<weft::PCMatApply_BCR>;
  pc->ops->setfromoptions = weft::Guarded<weft::PCSetFromOptions_BCR>;
  pc->ops->view           = weft::Guarded<weft::PCView_BCR>;
  pc->ops->reset          = weft::PCReset_BCR;
  pc->ops->destroy        = weft::PCDestroy_BCR;
  PetscCall(weft::PCBCRComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
