// PCBCR's set-up: reads a matrix on a DMDA as a separable operator, makes the direct solvers for it, and checks what they are worth.
#include <petscdmda.h>

#include <limits>
#include <string_view>

#include "bcr/bcr_impl.h"
#include "bcr/complex/real_rows.hpp"
#include "bcr/pencil/separate_boxes.hpp"
#include "petsc/grid_owners.h"
#include "petsc/kokkos_start.h"
#include "petsc/number_text.h"

namespace weft {

PetscErrorCode Solves(PC pc, bool *here, PetscMPIInt *ranks)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), ranks));
  *here = rank == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

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
  std::optional<RealRows<KernelScalar, PetscInt>> rows;
  AllRanks all_ranks;

  PetscFunctionBegin;
  PetscCall(MatGetLocal(pc->pmat, &local, &bcr->check.outside));
  *memory = local.memory;
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
  PetscCallCXX(rows.emplace(*execution, matrix.nodes[0] * matrix.nodes[1] * matrix.nodes[2], local.inside, local.outside, all_ranks));
  matrix.inside  = rows->inside();
  matrix.outside = rows->outside();
  PetscCallCXX(*separation = separate_stencils(*execution, matrix, all_ranks, pc->setupcalled ? &bcr->separation : NULL));
  PetscCallCXX(rows->add_shift(matrix.first, matrix.nodes, all_ranks, *separation));
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
  PetscCheck(found.foreign == 0, comm, PETSC_ERR_SUP,
             "PCBCR needs a stencil of the node and its neighbours (3 points in a line, 9 in the plane, 27 in space), and %.0f entries of "
             "this matrix couple to other nodes: give KSPSetOperators() such a matrix as its second one, or take another PC",
             found.foreign);
  PetscCheck(!bcr->require_separable || found.deviation <= bcr->tolerance, comm, PETSC_ERR_ARG_INCOMP,
             "the matrix is not separable: it differs by %g, relative to a row, from the nearest operator that is, and "
             "-pc_bcr_require_separable allows %g (-pc_bcr_separable_tolerance): leave -pc_bcr_require_separable to use that operator as a "
             "preconditioner",
             found.deviation, (double)bcr->tolerance);
  const bool single = bcr->precision == PC_BCR_SINGLE;
  std::string asked; // for what none has
  PetscCallCXX(why = BoxSolver::refuses(found, bcr->options, single ? Precision::single_inside : Precision::both_double));
  if (bcr->options.method != "auto")
    PetscCallCXX(asked = "-pc_bcr_type " + bcr->options.method);
  else if (complex_built && single)
    PetscCallCXX(asked = "-pc_bcr_precision single");
  PetscCheck(!why || asked.empty(), comm, PETSC_ERR_SUP, "%s: %s", asked.c_str(), why->c_str());
  PetscCallCXX(*refused = why ? "PCBCR solves no such operator: " + *why : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeSolver(PC pc, Memory memory)
{
  PC_BCR *bcr               = Bcr(pc);
  const int here            = static_cast<int>(memory);
  const Precision precision = bcr->inside() == PC_BCR_SINGLE ? Precision::single_inside : Precision::both_double;
  KnownBases known; // of directions that may be the same again

  PetscFunctionBegin;
  if (bcr->solver[here]) PetscCallCXX(known = bcr->solver[here]->bases());
  bcr->forget_solver(here);
  PetscCall(MakeExecution(memory, &bcr->execution[here]));
  if (bcr->plan) {
    PetscCall(SpreadMakeSolver(pc, memory, precision));
  } else {
    std::optional<Separation> whole;
    if (bcr->whole.gathers() && bcr->separation.scaled) {
      PetscCallCXX(whole = bcr->separation);
      PetscCallCXX(whole->row_scale = bcr->factors);
    }
    PetscCallCXX(bcr->solver[here] =
                     BoxSolver::make(*bcr->execution[here], whole ? *whole : bcr->separation, bcr->options, precision, known));
  }
  bcr->pass_factor(here);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What stands in the way of a solve, or nothing. A singular operator is solved in the space without constants, which the user must know of.
PetscErrorCode WhyNot(PC pc, bool bad_pivot, std::string *why)
{
  const bool singular = Bcr(pc)->singular;
  MatNullSpace space  = NULL;
  const char *prefix;

  PetscFunctionBegin;
  why->clear();
  // PETSc's multigrid attaches nothing to the coarse operators that it makes, and what is left without constants is the smoother's. Elsewhere, also
  // within another preconditioner, a part of the residual would be seen by nobody.
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  if (prefix && std::string_view(prefix).ends_with("mg_coarse_") && !bad_pivot) PetscFunctionReturn(PETSC_SUCCESS);
  if (singular) PetscCall(MatGetNullSpace(pc->pmat, &space));
  if (singular && !space) PetscCall(MatGetNullSpace(pc->mat, &space));
  if (bad_pivot) PetscCallCXX(*why = "zero or non-finite pivot of a line of the separable operator: it is singular, or too near to it");
  if (singular && !space)
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
  Owners owners;

  PetscFunctionBegin;
  PetscCall(GridStarts(bcr->grid, &owners));
  if (may_spread && !bcr->separation.pencil && !complex_built)
    PetscCallCXX(plan = spread_plan(bcr->separation, bcr->options, ranks, owners));
  if (plan != bcr->plan) {
    for (int which : {0, 1}) bcr->forget_solver(which);
    PetscCall(SpreadReset(pc));
  }
  PetscCallCXX(bcr->plan = plan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A nearest operator beyond this deviation hides five digits of a residual.
constexpr double most_hidden = 1e5;

// One solve shows what the solver of a separable matrix is worth. That of a nearest operator solves another equation: two show whether it does
// so with the digits that a Krylov method needs.
PetscErrorCode Check(PC pc, bool same_solver)
{
  PC_BCR *bcr            = Bcr(pc);
  const bool single      = bcr->inside() == PC_BCR_SINGLE;
  const DirectApply once = [pc](Vec b, Vec x, Transpose transpose) { return SolveOnce(pc, b, x, transpose); };
  std::string why;

  PetscFunctionBegin;
  if (!bcr->separable())
    PetscCall(PetscInfo(pc,
                        "the matrix is not separable: it differs by %g, relative to a row, from the nearest operator that is, which is "
                        "solved: a preconditioner\n",
                        bcr->separation.deviation));
  if (!(same_solver && bcr->check.measured && bcr->check.repeated != bcr->separable())) {
    if (bcr->separable())
      PetscCall(bcr->check.Measure(pc->pmat, bcr->singular, single, once));
    else
      PetscCall(bcr->check.MeasureRepeated(pc->pmat, single, once));
  } else {
    PetscCall(bcr->check.Keep(pc->pmat));
  }
  const bool hides = !bcr->separable() && bcr->check.measured && bcr->separation.deviation > most_hidden;
  const bool fails = hides || bcr->check.fails();
  if (hides)
    PetscCallCXX(why =
                     "the nearest separable operator is " + NumberText(bcr->separation.deviation) +
                     " times as large in some row as the matrix, and the norms of preconditioned residuals say nothing of such a row: take "
                     "-pc_type boxmg or crout, or precondition with a matrix whose rows differ less (KSPSetOperators())");
  else if (fails)
    PetscCallCXX(why =
                     bcr->check.Sentence("-pc_bcr_check") +
                     (bcr->check.repeated ? "; strong convection makes eigenvectors nearly parallel: take upwind differences in the matrix "
                                            "that is preconditioned with, or another preconditioner"
                                          : ""));
  PetscCall(ReportFailure(pc, fails ? PC_FACTOR_OTHER : PC_NOERROR, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An operator that nothing here solves.
PetscErrorCode HasNoSolver(PC pc, Separation &&found, PCFailedReason reason, const std::string &why)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) bcr->forget_solver(which);
  PetscCall(bcr->check.Forget());
  bcr->separation = std::move(found);
  bcr->factor     = 1;
  PetscCall(ReportFailure(pc, reason, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What stays of a set-up for new values.
struct Stays {
  bool inside = false; ///< the solvers, but for the rows of faces
  bool all    = false;
  bool shape  = false; ///< the unknowns, faces and kinds of rows
  bool faces  = false; ///< with the shape: the rows of faces to the last bit
};

// Takes what was found of new values. The same on all ranks.
PetscErrorCode TakeSeparation(PC pc, Separation &&found, Stays *stays)
{
  PC_BCR *bcr = Bcr(pc);
  Kept kept;

  PetscFunctionBegin;
  if (pc->setupcalled) PetscCallCXX(kept = compare(found, bcr->separation));
  PetscMPIInt all[2] = {kept.factor != 0 && kept.rows, kept.faces};
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  stays->all    = all[0] && all[1];
  stays->inside = all[0] && (all[1] || (!bcr->plan && !found.scaled));
  if (!stays->inside) {
    stays->shape = pc->setupcalled && same_shape(found, bcr->separation) && !found.scaled && found.unit == 1;
    stays->faces = stays->shape;
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) stays->faces = stays->faces && found.faces[d][side] == bcr->separation.faces[d][side];
    }
    if (stays->shape) PetscCallCXX(keep_directions(found, bcr->separation));
    bcr->separation = std::move(found);
    bcr->factor     = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bcr->factor               = kept.factor;
  bcr->separation.deviation = found.deviation;
  if (!stays->all) {
    PetscCallCXX(scale_faces(found, 1 / kept.factor));
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) bcr->separation.faces[d][side] = std::move(found.faces[d][side]);
    }
  }
  for (int which : {0, 1}) {
    if (!stays->all && bcr->solver[which]) PetscCallCXX(bcr->solver[which]->set_faces(bcr->separation));
    bcr->pass_factor(which);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// New tables of the same kind in the solver that is there, on one rank; false: it has to be made.
PetscErrorCode RenewSolver(PC pc, Memory memory, const Stays &stays, bool *renewed)
{
  PC_BCR *bcr        = Bcr(pc);
  const auto &solver = bcr->solver[static_cast<int>(memory)];

  PetscFunctionBegin;
  *renewed = false;
  if (!solver || bcr->plan || bcr->whole.gathers() || !stays.shape) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(*renewed = solver->renew(bcr->separation));
  if (!*renewed) PetscFunctionReturn(PETSC_SUCCESS);
  if (!stays.faces) PetscCallCXX(solver->set_faces(bcr->separation));
  bcr->pass_factor(static_cast<int>(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The solvers of this operator, on all ranks or on the first one, unless they are there; and whether they find it singular (state[0]) or
// meet pivots that they cannot work with (state[1]), the same on all ranks. *renewed: with new tables of the same kind.
PetscErrorCode MakeSolvers(PC pc, Memory memory, const Stays &stays, bool may_spread, PetscMPIInt state[], bool *renewed)
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
  *renewed        = false;
  const bool made = solves && !(stays.inside && bcr->made(here));
  if (made) {
    bcr->forget_solver(1 - here); // it follows when vectors ask for it
    PetscCall(RenewSolver(pc, memory, stays, renewed));
    if (!*renewed) PetscCall(MakeSolver(pc, memory));
  }
  if (made && bcr->plan) PetscCall(SpreadWarmUp(pc, memory));
  state[0] = state[1] = 0;
  if (solves) {
    state[0] = bcr->made(here)->facts().singular;
    state[1] = bcr->made(here)->facts().bad_pivot;
  }
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, state, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Made when vectors first come in that memory, or on another stream.
PetscErrorCode EnsureSolver(PC pc, Memory memory)
{
  PC_BCR *bcr      = Bcr(pc);
  const int here   = static_cast<int>(memory);
  bool same_stream = true;

  PetscFunctionBegin;
  if (bcr->made(here) && memory == Memory::device) {
    void *stream;
    PetscCall(CurrentStream(&stream));
    same_stream = stream == bcr->execution[here]->stream();
  }
  if (!bcr->made(here) || !same_stream) PetscCall(MakeSolver(pc, memory));
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
    PetscCall(HasNoSolver(pc, std::move(found), PC_FACTOR_NUMERIC_ZEROPIVOT,
                          "an entry of the matrix is not finite, the diagonal of an eliminated boundary row is zero, or the matrix is not "
                          "separable and its entries differ by more than 1e30"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckSeparation(pc, found, &why));
  if (!why.empty()) {
    PetscCall(HasNoSolver(pc, std::move(found), PC_FACTOR_OTHER, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscMPIInt state[2];
  Stays stays;
  bool renewed;
  PetscCall(TakeSeparation(pc, std::move(found), &stays));
  bcr->pieces_fail = bcr->pieces_fail && stays.all;
  PetscCall(MakeSolvers(pc, memory, stays, !bcr->pieces_fail, state, &renewed));
  // One rank knows ways around small pivots: other directions, modes of the lines.
  if (bcr->plan && state[1]) {
    bcr->pieces_fail = true;
    PetscCall(MakeSolvers(pc, memory, stays, false, state, &renewed));
  }
  if (pc->setupcalled)
    PetscCall(PetscInfo(pc, "new values: %s\n",
                        stays.all      ? "the last operator, or that times a factor: all stays"
                        : stays.inside ? "the last operator but for boundary rows, which are new"
                        : renewed      ? "other constants: new tables of modes"
                        : stays.shape  ? "other coefficients: new solvers"
                                       : "another kind of operator: new solvers"));
  bcr->singular = state[0] != 0;
  PetscCall(WhyNot(pc, state[1] != 0, &why));
  if (!why.empty()) {
    PetscCall(bcr->check.Forget());
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Closed formulas of definite operators with constant coefficients, of which one was found sound, need no check each. But what was measured
  // says nothing of a matrix that differs from the operator by more than rounding: an ill-conditioned one has other solutions then.
  constexpr double rounding = 64 * std::numeric_limits<PetscReal>::epsilon();
  const bool exact          = !bcr->separable() || bcr->separation.deviation <= rounding;
  PetscCall(Check(pc, (stays.all || (renewed && bcr->check.is_sound())) && exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
