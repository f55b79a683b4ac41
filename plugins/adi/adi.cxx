// PCADI: splits a matrix into directions, chooses the shifts, runs the cycles.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "adi/adi_impl.h"
#include "petsc/agreed.h"
#include "petsc/finite_couplings.h"
#include "petsc/finite_solution.h"
#include "petsc/kokkos_start.h"
#include "petsc/residual.h"
#include "petsc/richardson_reason.h"
#include "types.h"
#if defined(WEFT_DISTRIBUTED)
#include "line/ranks/distributed_line_solver.hpp"
#endif

namespace weft {

namespace {

// ---------------------------------------------------------------------------------------------------------------------- set-up

AdiOptions OptionsOf(const PC_ADI &adi)
{
  AdiOptions options;
  options.type         = static_cast<AdiType>(adi.type);
  options.symmetric    = adi.symmetric;
  options.keep_factors = adi.keep_factors;
  options.line_solver  = adi.line_solver;
  return options;
}

// Lines that this rank has whole, or that cross ranks.
MakeLines<PetscScalar> LinesOf(const PC_ADI &adi, const Execution &execution)
{
  const AdiGridOnRanks &grid = adi.grid;
  const std::string method   = adi.line_solver;
  return [&execution, &grid, method](int direction, const LineProblem &problem) -> std::unique_ptr<AnyLines<PetscScalar>> {
#if defined(WEFT_DISTRIBUTED)
    if (grid.box.crosses[direction])
      return std::make_unique<DistributedLineSolver<PetscScalar>>(execution, grid.line[direction], problem, method, MethodParameters{});
#endif
    return LineSolver<PetscScalar>::make(execution, problem, method, MethodParameters{});
  };
}

AdiRanks RanksOf(PC pc)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const auto reduce   = [comm](double *values, int count, MPI_Op op) {
    std::vector<double> mine(values, values + count);
    RanksAgreeOrThrow(comm);
    if (MPI_Allreduce(mine.data(), values, count, MPI_DOUBLE, op, comm) != MPI_SUCCESS) throw std::runtime_error("MPI_Allreduce failed");
  };
  AdiRanks ranks;
  ranks.sum   = [reduce](double *values, int count) { reduce(values, count, MPI_SUM); };
  ranks.least = [reduce](double *values, int count) { reduce(values, count, MPI_MIN); };
  return ranks;
}

// A line solver may refuse lines: on all ranks or on none.
PetscErrorCode CheckLineSolver(PC pc)
{
  PC_ADI *adi = Adi(pc);
  std::optional<std::string> why;

  PetscFunctionBegin;
  for (int k = 0; k < 3 && adi->line_solver != "auto" && !why; k++) {
    if (!adi->grid.box.has(k)) continue;
    LineProblem problem = adi->grid.box.lines(k);
    if (adi->grid.box.crosses[k]) problem.periodic = false;
    PetscCallCXX(why = tridiagonal_method_refuses(adi->line_solver, problem));
  }
  PetscMPIInt works = !why, all;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&works, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscCheck(all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_adi_line_solver %s: %s", adi->line_solver.c_str(),
             why ? why->c_str() : "refuses the lines of another rank");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A failure that ends in KSP_DIVERGED_PC_FAILED, or in an error where the user wants one.
PetscErrorCode Fail(PC pc, const char *what)
{
  PetscFunctionBegin;
  pc->failedreason = pc->failedreasonrank = PC_FACTOR_NUMERIC_ZEROPIVOT;
  PetscCall(PetscInfo(pc, "%s\n", what));
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_LU_ZRPVT, "%s", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportPivot(PC pc, const AdiSolver<PetscScalar> &solver, bool *failed)
{
  std::optional<AdiBadPivot> bad;

  PetscFunctionBegin;
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { bad = solver.bad_pivot(); }));
  PetscMPIInt here = bad ? 1 : 0, any;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  *failed = any > 0;
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  std::string what = "zero or non-finite pivot of a shifted line of PCADI";
  if (bad)
    what += " along " + std::string(1, "xyz"[bad->direction]) + ", in row " + std::to_string(bad->at.row) + " of line " +
            std::to_string(bad->at.line);
  PetscCall(Fail(pc, what.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The user's bounds, for the directions that there are.
PetscErrorCode GivenBounds(PC pc, std::size_t directions)
{
  PC_ADI *adi                         = Adi(pc);
  const std::vector<PetscReal> &given = adi->given_bounds;

  PetscFunctionBegin;
  PetscCheck(given.size() == 2 || given.size() == 2 * directions, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "-pc_adi_bounds: give two numbers, or two for each of the %d directions of this grid", (int)directions);
  adi->bounds.clear();
  for (std::size_t d = 0; d < directions; d++) {
    const std::size_t at = given.size() == 2 ? 0 : 2 * d;
    adi->bounds.push_back({given[at], given[at + 1]});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindBounds(PC pc, AdiSolver<PetscScalar> &solver)
{
  PC_ADI *adi = Adi(pc);

  PetscFunctionBegin;
  if (!adi->given_bounds.empty()) {
    PetscCall(GivenBounds(pc, solver.directions().size()));
  } else {
    std::string why;
    // The same on all ranks: what it throws is decided by sums over them.
    try {
      adi->bounds = solver.bounds(static_cast<AdiBoundsMethod>(adi->bounds_method));
    } catch (const std::domain_error &failure) {
      why = failure.what();
    }
    double largest = 0;
    for (const SpectralInterval &i : adi->bounds) largest = PetscMax(largest, std::abs(i.high) + std::abs(i.low));
    if (why.empty() && !(largest >= std::numeric_limits<double>::min() && std::isfinite(largest)))
      why = "its entries are beyond the numbers that can be divided by";
    if (!why.empty()) {
      why = "PCADI cannot bound the spectra of this matrix's parts: " + why +
            ". Give -pc_adi_bounds, or -pc_adi_shifts, or use -pc_adi_bounds_method gershgorin";
      PetscCall(Fail(pc, why.c_str()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  double low = 0;
  for (const SpectralInterval &i : adi->bounds) low += i.low;
  PetscCheck(low > 0 || adi->given_bounds.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "-pc_adi_bounds: the lower bounds add up to %g, and no cycle of shifts is best unless they add up to more than 0", low);
  if (!(low > 0)) {
    char what[256];
    PetscCall(PetscSNPrintf(what, sizeof(what),
                            "PCADI: the spectra of this matrix's parts reach below zero (their lower bounds add up to %g), so no cycle of "
                            "shifts is best for it: give -pc_adi_shifts",
                            low));
    PetscCall(Fail(pc, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a cycle leaves of the error is known where nothing else is in the matrix than parts that commute.
PetscErrorCode FindPromise(PC pc, const AdiSolver<PetscScalar> &solver)
{
  PC_ADI *adi             = Adi(pc);
  constexpr double enough = 1e-6; // of the largest coefficient: what varies less is felt after many cycles only
  double variation        = 1;

  PetscFunctionBegin;
  adi->no_promise.clear();
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { variation = solver.variation(); }));
  char what[256] = "";
  if (adi->split.rest > 0)
    PetscCall(PetscSNPrintf(what, sizeof(what), "%.3g%% of the couplings lie on no line",
                            100 * adi->split.rest / (adi->split.on + adi->split.rest)));
  else if (variation >= 1 && adi->split.fixed > 0)
    PetscCall(PetscSNPrintf(what, sizeof(what), "rows that are solved by themselves cut its lines"));
  else if (variation > enough)
    PetscCall(PetscSNPrintf(what, sizeof(what), "the parts do not commute, their coefficients vary by %.2g across the lines", variation));
  else if (!adi->symmetric && !(adi->reduction < 1))
    PetscCall(PetscSNPrintf(what, sizeof(what), "no real shifts reduce all errors of spectra so far from the real axis"));
  adi->no_promise = what;
  if (!adi->no_promise.empty())
    PetscCall(PetscInfo(pc, "nothing is promised of a cycle: %s. GMRES around PCADI is safe (-ksp_type gmres -pc_type adi)\n", what));
  else if (!adi->symmetric && AdiCyclesFor(*adi, 1e-8) > 200)
    PetscCall(PetscInfo(pc, "a cycle leaves %g of the error, some %g cycles for eight digits: other preconditioners do better\n",
                        adi->reduction, AdiCyclesFor(*adi, 1e-8)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChooseShifts(PC pc, AdiSolver<PetscScalar> *solver)
{
  PC_ADI *adi        = Adi(pc);
  const AdiType type = static_cast<AdiType>(adi->type);
  std::vector<AdiShift> shifts;

  PetscFunctionBegin;
  adi->bounds.clear();
  adi->reduction = adi->condition = adi->log_condition = 0;
  adi->no_promise.clear();
  if (solver->directions().size() == 1) {
    shifts.push_back({0, 0, 0}); // the line solve is the whole solve
  } else if (!adi->given_shifts.empty()) {
    for (PetscReal p : adi->given_shifts) shifts.push_back({p, p, p});
    // More shifts than the cycle has are not used, fewer come again.
    for (std::size_t j = 0; adi->cycle > 0 && j < static_cast<std::size_t>(adi->cycle); j++) {
      if (j >= shifts.size()) shifts.push_back(shifts[j % adi->given_shifts.size()]);
    }
    if (adi->cycle > 0) shifts.resize(static_cast<std::size_t>(adi->cycle));
  } else {
    PetscCall(FindBounds(pc, *solver));
    if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
    if (adi->given_bounds.empty()) adi->log_condition = solver->log_condition();
    if (adi->symmetric) {
      AdiSum sum;
      PetscCallCXX(sum = adi_sum(adi->bounds, (int)adi->cycle));
      adi->condition = sum.condition;
      PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { solver->set_shifts(sum.shifts, sum.scale); }));
      PetscCall(FindPromise(pc, *solver));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallCXX(shifts = adi_shifts(type, adi->bounds, adi->cycle > 0 ? (int)adi->cycle : adi_cycle_length(adi->bounds, type)));
    PetscCallCXX(adi->reduction = adi_reduction(type, adi->bounds, shifts));
    PetscCall(FindPromise(pc, *solver));
  }
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { solver->set_shifts(shifts); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where penalties are, for those who form norms.
PetscErrorCode MarkUnknowns(PC pc)
{
  PC_ADI *adi = Adi(pc);

  PetscFunctionBegin;
  if (adi->split.known == 0 || adi->split.fixed == adi->split.rows) { // where all rows are such none stands out
    PetscCall(VecDestroy(&adi->unknowns));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(pc, "%" PetscInt64_FMT " rows are penalties: they are taken for known values\n", (PetscInt64)adi->split.known));
  if (!adi->unknowns) PetscCall(MatCreateVecs(pc->pmat, NULL, &adi->unknowns));
  std::vector<std::uint8_t> fixed;
  PetscScalar *values;
  PetscCallCXX(fixed = adi->any()->fixed());
  PetscCall(VecGetArrayWrite(adi->unknowns, &values));
  for (std::size_t i = 0; i < fixed.size(); i++) values[i] = fixed[i] == 2 ? 0 : 1;
  PetscCall(VecRestoreArrayWrite(adi->unknowns, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_ADI(PC pc)
{
  PC_ADI *adi = Adi(pc);
  LocalMatrix local;
  AdiHalo<PetscScalar> halo;
  PetscMPIInt ranks;
  PetscInt not_finite;
  bool failed;

  PetscFunctionBegin;
  PetscCall(MatCheckAij(pc->pmat, "PCADI"));
  PetscCall(KokkosStart());
  PetscCall(MatGetLocal(pc->pmat, &local));
  PetscCall(adi->set_up_of.read(pc));
  const CsrMatrix<PetscScalar, PetscInt> &matrix = local.inside;
  const Memory memory                            = local.memory;
  const int here                                 = static_cast<int>(memory);
  if (!adi->execution[here]) PetscCall(MakeExecution(memory, &adi->execution[here]));
  PetscCall(AdiGridFromPC(pc, &adi->grid));
#if !defined(WEFT_DISTRIBUTED)
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCheck(ranks == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "this libweft was built without MPI");
#endif
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));

  adi->forget_solver(1 - here); // it follows when vectors ask for it
  if (!adi->solver[here] || !(adi->grid.box == adi->solver[here]->box()) || !pc->setupcalled) {
    PetscCall(CheckLineSolver(pc));
    adi->solver[here].reset();
    PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] {
      adi->solver[here] = AdiSolver<PetscScalar>::make(*adi->execution[here], adi->grid.box, OptionsOf(*adi),
                                                       LinesOf(*adi, *adi->execution[here]), RanksOf(pc));
    }));
  }
  AdiSolver<PetscScalar> *solver = adi->solver[here].get();
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(AdiGetHalo(pc->pmat, adi->grid, &halo));
  PetscCall(RowOfCouplingNotFinite(pc->pmat, &not_finite));
  if (not_finite >= 0) halo.rest = std::numeric_limits<double>::quiet_NaN(); // the ranks hear of it when they add up what they have
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { adi->split = solver->read(matrix, halo); }));
  pc->failedreason = pc->failedreasonrank = PC_NOERROR;
  if (!adi->split.finite) {
    PetscCall(Fail(pc, "PCADI's matrix has a NaN or an infinity in it"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (adi->split.empty > 0) {
    PetscCall(Fail(pc, "zero pivot: PCADI's matrix has a row of zeros"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(
      adi->split.on > 0 || adi->split.rest == 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
      "PCADI: this matrix does not split into directions: it couples no node to a neighbour along x, y or z of its grid. Is the DMDA "
      "the grid of this matrix?");
  PetscCall(ChooseShifts(pc, solver));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { solver->factor(); }));
  PetscCall(ReportPivot(pc, *solver, &failed));
  if (ranks > 1 && !adi->residual) PetscCall(MatCreateVecs(pc->pmat, NULL, &adi->residual));
  PetscCall(MarkUnknowns(pc));
  PetscCall(PCADITellOptions(pc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ----------------------------------------------------------------------------------------------------------------------- apply

// The solver whose kernels work in `memory`, on PETSc's current stream. Made from the one that set-up made when vectors first come in the
// other memory, or on another stream.
PetscErrorCode SolverIn(PC pc, Memory memory, AdiSolver<PetscScalar> **solver)
{
  PC_ADI *adi      = Adi(pc);
  const int here   = static_cast<int>(memory);
  bool same_stream = true;

  PetscFunctionBegin;
  if (adi->solver[here] && memory == Memory::device) {
    void *stream;
    PetscCall(CurrentStream(&stream));
    same_stream = stream == adi->execution[here]->stream();
  }
  if (!adi->solver[here] || !same_stream) {
    const AdiSolver<PetscScalar> &from = same_stream ? *adi->solver[1 - here] : *adi->solver[here];
    std::unique_ptr<Execution> execution;
    Owner<AdiSolver<PetscScalar>> made;
    PetscCall(MakeExecution(memory, &execution));
    PetscCallCXX(made = AdiSolver<PetscScalar>::make(*execution, from.box(), from.options(), LinesOf(*adi, *execution), RanksOf(pc)));
    PetscCallCXX(made->read(from));
    adi->solver[here]    = std::move(made);
    adi->execution[here] = std::move(execution);
  }
  *solver = adi->solver[here].get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Cycles on a box that one rank has whole.
PetscErrorCode CyclesHere(PC pc, Vec b, Vec y, PetscInt count, bool zero_guess, Transpose transpose)
{
  VecArrays arrays(b, Access::read, y, zero_guess ? Access::write : Access::read_write);
  AdiSolver<PetscScalar> *solver;

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(arrays.Open());
  PetscCall(SolverIn(pc, arrays.memory(), &solver));
  PetscCallCXX(solver->cycle(arrays.rhs(), arrays.solution(), zero_guess, transpose, static_cast<int>(count)));
  PetscCall(LogFlops(arrays.memory(), (PetscLogDouble)count * solver->flops()));
  PetscCall(arrays.Close());
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Cycles whose residuals need other ranks: PETSc forms them.
PetscErrorCode CyclesOnRanks(PC pc, Vec b, Vec y, PetscInt count, bool zero_guess, Transpose transpose)
{
  PC_ADI *adi = Adi(pc);
  std::vector<AdiSweep> sweeps;

  PetscFunctionBegin;
  Vec r = adi->residual;
  // The sweeps are the same whatever the memory.
  PetscCallCXX(sweeps = adi->any()->sweeps(transpose));
  bool from_zero = zero_guess;
  for (PetscInt n = 0; n < count; n++) {
    for (const AdiSweep &sweep : sweeps) {
      if (from_zero)
        PetscCall(VecCopy(b, r));
      else if (sweep.residual)
        PetscCall(Residual(pc->pmat, b, y, r, transpose));
      PetscCall(PetscLogGpuTimeBegin());
      VecArrays arrays(r, Access::read_write, y, from_zero ? Access::write : Access::read_write);
      AdiSolver<PetscScalar> *solver;
      PetscCall(arrays.Open());
      PetscCall(SolverIn(pc, arrays.memory(), &solver));
      PetscCallCXX(solver->correct(sweep, arrays.rhs(), arrays.solution(), from_zero, transpose));
      PetscCall(LogFlops(arrays.memory(), solver->flops() / (PetscLogDouble)sweeps.size()));
      PetscCall(arrays.Close());
      PetscCall(PetscLogGpuTimeEnd());
      from_zero = false;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Cycles(PC pc, Vec b, Vec y, PetscInt count, bool zero_guess, Transpose transpose)
{
  PetscMPIInt ranks;

  PetscFunctionBegin;
  if (pc->failedreason) { // as MatSolve() does: KSP tells by it that the PC failed
    PetscCall(VecFlag(y, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks == 1)
    PetscCall(CyclesHere(pc, b, y, count, zero_guess, transpose));
  else
    PetscCall(CyclesOnRanks(pc, b, y, count, zero_guess, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Transpose transpose>
PetscErrorCode PCApply_ADI(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Cycles(pc, b, y, Adi(pc)->iterations, true, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPreSolve_ADI(PC pc, KSP ksp, Vec, Vec)
{
  PetscFunctionBegin;
  PetscCall(AsksNorms(ksp, &Adi(pc)->asks_norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// KSPRICHARDSON's way in: no residual is formed between cycles but their own. Of a preconditioner that is kept they would solve the system before.
PetscErrorCode PCApplyRichardson_ADI(PC pc, Vec b, Vec y, Vec r, PetscReal, PetscReal, PetscReal, PetscInt its, PetscBool guesszero,
                                     PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  bool same = false;

  PetscFunctionBegin;
  PetscCall(Adi(pc)->set_up_of.is_operator(pc, &same));
  if (!same && !pc->failedreason)
    PetscCall(RichardsonSteps(pc, b, y, r, its, guesszero == PETSC_TRUE,
                              [pc](Vec rhs, Vec z) { return PCApply_ADI<Transpose::no>(pc, rhs, z); }));
  else if (its > 0)
    PetscCall(Cycles(pc, b, y, its * Adi(pc)->iterations, guesszero == PETSC_TRUE, Transpose::no));
  else if (guesszero)
    PetscCall(VecZeroEntries(y));
  *outits = its;
  PetscCall(RichardsonReason(pc->failedreason != PC_NOERROR, Adi(pc)->asks_norms, y, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------- creation, the end

PetscErrorCode PCReset_ADI(PC pc)
{
  PC_ADI *adi = Adi(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) adi->forget_solver(which);
  PetscCall(VecDestroy(&adi->residual));
  PetscCall(VecDestroy(&adi->unknowns));
  PetscCall(AdiGridDestroy(&adi->grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_ADI(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_ADI(pc));
  PetscCall(PCADIComposeSetters(pc, false));
  delete Adi(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCADIGetUnknowns(PC pc, Vec *unknowns)
{
  PetscFunctionBegin;
  *unknowns = Adi(pc)->unknowns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal AdiCyclesFor(const PC_ADI &adi, PetscReal part)
{
  return adi.reduction > 0 ? (adi.log_condition - std::log(part)) / -std::log(adi.reduction) : 1;
}

} // namespace weft

/*MC
  PCADI - alternating directions: cycles of tridiagonal solves along x, y and z with shifts chosen from the spectra, on the host or on a GPU

  Options Database Keys:
+ -pc_adi_type (peaceman_rachford|douglas_rachford|douglas_gunn) - the scheme, see `PCADISetType()`
. -pc_adi_shifts <p1,p2,...>                   - the shifts of a cycle, all positive
. -pc_adi_cycle <n>                            - shifts in a cycle; 0 (the default) takes as many as reduce the error tenfold
. -pc_adi_iterations <1>                       - cycles in one application
. -pc_adi_bounds <a,b>                         - bounds of the spectra of the parts, or two for each direction
. -pc_adi_bounds_method (gershgorin|lanczos)   - how they are found otherwise
. -pc_adi_line_solver (thomas|...|auto)        - the tridiagonal method, see `PCLINE`
. -pc_adi_symmetric <false>                    - a symmetric and definite form, for `KSPCG`
- -pc_adi_keep_factors <true>                  - if false, refactor in every sweep to save memory

  Level: beginner

  Notes:
  For matrices on a `DMDA` whose couplings lie along the grid's directions: diffusion and convection-diffusion, steady or in time, with one
  unknown a node or several. The matrix is split into a tridiagonal part for each direction; couplings that lie on no line stay on the
  right-hand side, and `-ksp_view` says how many. For parts that commute, a cycle of n shifts reduces the error by a known factor:
  `-ksp_view` shows it, and how many cycles eight digits take. The number of sweeps grows with the logarithm of the grid's size. Where no
  bound holds, `-ksp_view` says that nothing is promised, and why.

  Lines that cross ranks are solved exactly, on any grid of processes.

  Rows without couplings (known values, nodes outside a masked domain) and penalties, rows whose diagonal is 1e4 times the sum of their
  couplings or more, are solved by themselves in each sweep. A direction along which nothing is coupled is ignored.

  For `KSPCG` use `-pc_adi_symmetric`, which is symmetric positive definite whenever the matrix's parts are; the schemes are so only where
  the parts commute.

  A zero or non-finite pivot, a NaN in the matrix, or parts whose spectra reach below zero, end in `KSP_DIVERGED_PC_FAILED` with
  `PC_FACTOR_NUMERIC_ZEROPIVOT`.

.seealso: `PCCreate()`, `PCSetType()`, `KSPADI`, `PCLINE`, `PCMG`, `PCADISetType()`, `PCADISetShifts()`, `PCADISetCycle()`,
          `PCADISetIterations()`, `PCADISetBounds()`, `PCADISetBoundsMethod()`, `PCADISetLineSolver()`, `PCADISetSymmetric()`,
          `PCADISetKeepFactors()`
M*/
PetscErrorCode PCCreate_ADI(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_ADI);
  pc->ops->setup           = weft::Together<weft::PCSetUp_ADI>;
  pc->ops->apply           = weft::Guarded<weft::PCApply_ADI<weft::Transpose::no>>;
  pc->ops->applytranspose  = weft::Guarded<weft::PCApply_ADI<weft::Transpose::yes>>;
  pc->ops->postsolve       = weft::Guarded<weft::RefuseNonFiniteSolution>;
  pc->ops->applyrichardson = weft::Guarded<weft::PCApplyRichardson_ADI>;
  pc->ops->presolve        = weft::Guarded<weft::PCPreSolve_ADI>;
  pc->ops->setfromoptions  = weft::Guarded<weft::PCSetFromOptions_ADI>;
  pc->ops->view            = weft::Guarded<weft::PCView_ADI>;
  pc->ops->reset           = weft::PCReset_ADI;
  pc->ops->destroy         = weft::PCDestroy_ADI;
  PetscCall(weft::PCADIComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
