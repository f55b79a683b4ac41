// PCADI: splits a matrix into directions and chooses the shifts.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "adi/adi_impl.h"
#include "petsc/agreed.h"
#include "petsc/direct_check.h"
#include "petsc/finite_couplings.h"
#include "petsc/kokkos_start.h"
#include "petsc/report_failure.h"
#if defined(WEFT_DISTRIBUTED)
#include "line/ranks/distributed_line_solver.hpp"
#endif

namespace weft {

namespace {

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
MakeLines<KernelScalar> LinesOf(const PC_ADI &adi, const Execution &execution)
{
  const AdiGridOnRanks &grid = adi.grid;
  const std::string method   = adi.line_solver;
  return [&execution, &grid, method](int direction, const LineProblem &problem) -> std::unique_ptr<AnyLines<KernelScalar>> {
#if defined(WEFT_DISTRIBUTED)
    if (grid.box.crosses[direction])
      return std::make_unique<DistributedLineSolver<KernelScalar>>(execution, grid.line[direction], problem, method, MethodParameters{});
#endif
    return LineSolver<KernelScalar>::make(execution, problem, method, MethodParameters{});
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

PetscErrorCode ReportPivot(PC pc, const AdiSolver<KernelScalar> &solver, bool *failed)
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
  PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The user's bounds, for the directions that there are.
PetscErrorCode GivenBounds(PC pc, const AdiSolver<KernelScalar> &solver)
{
  PC_ADI *adi                         = Adi(pc);
  const std::vector<PetscReal> &given = adi->given_bounds;
  const std::size_t directions        = solver.directions().size();

  PetscFunctionBegin;
  PetscCheck(given.size() == 2 || given.size() == 2 * directions, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "-pc_adi_bounds: give two numbers, or two for each of the %d directions of this grid", (int)directions);
  adi->bounds.clear();
  // Of a complex matrix the user knows the line, and what lies off it is found.
  AdiBounds found(directions);
  if (complex_built) PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { found = solver.circles(); }));
  for (std::size_t d = 0; d < directions; d++) {
    const std::size_t at = given.size() == 2 ? 0 : 2 * d;
    adi->bounds.push_back({given[at], given[at + 1], complex_built ? found[d].skew : 0, false, found[d].offset, found[d].box});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindBounds(PC pc, AdiSolver<KernelScalar> &solver)
{
  PC_ADI *adi = Adi(pc);

  PetscFunctionBegin;
  if (!adi->given_bounds.empty()) {
    PetscCall(GivenBounds(pc, solver));
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
      PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, why));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  const double low = sum_of_lows(adi->bounds);
  PetscCheck(low > 0 || adi->given_bounds.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "-pc_adi_bounds: the lower bounds add up to %g, and no cycle of shifts is best unless they add up to more than 0", low);
  if (!adi_apart_from_zero(adi->bounds)) {
    char what[256];
    if (complex_built)
      PetscCall(
          PetscSNPrintf(what, sizeof(what),
                        "PCADI: the spectra of this matrix's parts lie on all sides of zero, so no cycle of shifts is best for it: give "
                        "-pc_adi_shifts"));
    else
      PetscCall(
          PetscSNPrintf(what, sizeof(what),
                        "PCADI: the spectra of this matrix's parts reach below zero (their lower bounds add up to %g), so no cycle of "
                        "shifts is best for it: give -pc_adi_shifts",
                        low));
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a cycle leaves of the error is known where nothing else is in the matrix than parts that commute.
PetscErrorCode FindPromise(PC pc, const AdiSolver<KernelScalar> &solver)
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
    PetscCall(PetscSNPrintf(what, sizeof(what),
                            complex_built ? "no shifts were found that reduce all errors of such spectra"
                                          : "no real shifts reduce all errors of spectra so far from the real axis"));
  adi->no_promise = what;
  if (!adi->no_promise.empty())
    PetscCall(PetscInfo(pc, "nothing is promised of a cycle: %s. GMRES around PCADI is safe (-ksp_type gmres -pc_type adi)\n", what));
  else if (!adi->symmetric && AdiCyclesFor(*adi, 1e-8) > 200)
    PetscCall(PetscInfo(pc, "a cycle leaves %g of the error, some %g cycles for eight digits: other preconditioners do better\n",
                        adi->reduction, AdiCyclesFor(*adi, 1e-8)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChooseShifts(PC pc, AdiSolver<KernelScalar> *solver)
{
  using Number       = AdiSolver<KernelScalar>::Number;
  PC_ADI *adi        = Adi(pc);
  const AdiType type = static_cast<AdiType>(adi->type);
  std::vector<AdiShiftOf<Number>> shifts;

  PetscFunctionBegin;
  adi->bounds.clear();
  adi->reduction = adi->condition = adi->log_condition = 0;
  adi->no_promise.clear();
  if (solver->directions().size() == 1) {
    shifts.push_back({0, 0, 0}); // the line solve is the whole solve
  } else if (!adi->given_shifts.empty()) {
    for (PetscScalar given : adi->given_shifts) {
      const Number p = complex_built ? given / solver->turn() : given; // the solver turns shifts with the parts
      shifts.push_back({p, p, p});
    }
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
      AdiSumOf<Number> sum;
      PetscCallCXX(sum = adi_sum<Number>(adi->bounds, (int)adi->cycle));
      adi->condition = sum.condition;
      PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { solver->set_shifts(sum.shifts, sum.scale); }));
      PetscCall(FindPromise(pc, *solver));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const auto length = [adi, type] { return adi->cycle > 0 ? (int)adi->cycle : adi_cycle_length<Number>(adi->bounds, type); };
    PetscCallCXX(shifts = adi_shifts<Number>(type, adi->bounds, length()));
    PetscCallCXX(adi->reduction = adi_reduction(type, adi->bounds, shifts));
    PetscCall(FindPromise(pc, *solver));
  }
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { solver->set_shifts(shifts); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where penalties are, and what they weigh, for those who form norms.
PetscErrorCode MarkPenalties(PC pc)
{
  PC_ADI *adi             = Adi(pc);
  AdiPenalties &penalties = adi->penalties;

  PetscFunctionBegin;
  if (adi->split.known == 0 || adi->split.fixed == adi->split.rows) { // where all rows are such none stands out
    PetscCall(penalties.Destroy());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(pc, "%" PetscInt64_FMT " rows are penalties: they are taken for known values\n", (PetscInt64)adi->split.known));
  if (!penalties.others) PetscCall(MatCreateVecs(pc->pmat, &penalties.others, &penalties.weights));
  std::vector<std::uint8_t> fixed;
  PetscScalar *others, *weights;
  double sums[2] = {0, 0}; // |diagonals| of rows that are not solved by themselves, and their number
  PetscCallCXX(fixed = adi->any()->fixed());
  PetscCall(MatGetDiagonal(pc->pmat, penalties.weights));
  PetscCall(VecGetArray(penalties.weights, &weights));
  PetscCall(VecGetArrayWrite(penalties.others, &others));
  for (std::size_t i = 0; i < fixed.size(); i++) {
    sums[0] += fixed[i] ? 0 : PetscAbsScalar(weights[i]);
    sums[1] += fixed[i] ? 0 : 1;
  }
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  penalties.diagonal = sums[0] / sums[1];
  for (std::size_t i = 0; i < fixed.size(); i++) {
    const bool penalty = fixed[i] == 2;
    others[i]          = penalty ? 0 : 1;
    weights[i]         = penalty ? PetscMin(1, penalties.diagonal / PetscAbsScalar(weights[i])) : 0;
  }
  PetscCall(VecRestoreArrayWrite(penalties.others, &others));
  PetscCall(VecRestoreArray(penalties.weights, &weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where nothing is promised of cycles they can make anything of a right-hand side, and Krylov methods take it for small: one shows it.
PetscErrorCode CheckCycle(PC pc)
{
  PC_ADI *adi = Adi(pc);
  PetscReal amplified, backward;

  PetscFunctionBegin;
  if (adi->no_promise.empty() && adi->given_shifts.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const auto apply = [pc](Vec b, Vec y, Transpose) { return PCApply_ADI<Transpose::no>(pc, b, y); };
  PetscCall(DirectCheck::MeasureAmplification(pc->pmat, adi->outside, apply, DirectCheck::most_amplified, &amplified, &backward));
  if (amplified <= DirectCheck::most_amplified) PetscFunctionReturn(PETSC_SUCCESS); // NaN is not
  char what[256];
  PetscCall(PetscSNPrintf(what, sizeof(what),
                          "PCADI: an application leaves %.2g times a random right-hand side: take other shifts, fewer of them in a cycle "
                          "(-pc_adi_shifts, -pc_adi_cycle), fewer -pc_adi_iterations, or another preconditioner",
                          (double)amplified));
  PetscCall(ReportFailure(pc, PC_FACTOR_OTHER, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetUp_ADI(PC pc)
{
  PC_ADI *adi = Adi(pc);
  LocalMatrix local;
  AdiHalo<KernelScalar> halo;
  PetscMPIInt ranks;
  PetscInt not_finite;
  bool failed;

  PetscFunctionBegin;
  PetscCall(MatCheckAij(pc->pmat, "PCADI"));
  PetscCall(KokkosStart());
  PetscCall(MatGetLocal(pc->pmat, &local, &adi->outside));
  PetscCall(adi->set_up_of.read(pc));
  const CsrMatrix<KernelScalar, PetscInt> &matrix = local.inside;
  const Memory memory                             = local.memory;
  const int here                                  = static_cast<int>(memory);
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
      adi->solver[here] = AdiSolver<KernelScalar>::make(*adi->execution[here], adi->grid.box, OptionsOf(*adi),
                                                        LinesOf(*adi, *adi->execution[here]), RanksOf(pc));
    }));
  }
  AdiSolver<KernelScalar> *solver = adi->solver[here].get();
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(AdiGetHalo(pc->pmat, adi->grid, &halo));
  PetscCall(RowOfCouplingNotFinite(pc->pmat, &not_finite));
  if (not_finite >= 0) halo.rest = std::numeric_limits<double>::quiet_NaN(); // the ranks hear of it when they add up what they have
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] { adi->split = solver->read(matrix, halo); }));
  pc->failedreason = pc->failedreasonrank = PC_NOERROR;
  if (!adi->split.finite) {
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, "PCADI's matrix has a NaN or an infinity in it"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (adi->split.empty > 0) {
    PetscCall(ReportFailure(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, "zero pivot: PCADI's matrix has a row of zeros"));
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
  PetscCall(MarkPenalties(pc));
  PetscCall(PCADITellOptions(pc, NULL));
  if (!failed) PetscCall(CheckCycle(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Made from the one that set-up made when vectors first come in the other memory, or on another stream.
PetscErrorCode SolverIn(PC pc, Memory memory, AdiSolver<KernelScalar> **solver)
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
    const AdiSolver<KernelScalar> &from = same_stream ? *adi->solver[1 - here] : *adi->solver[here];
    std::unique_ptr<Execution> execution;
    Owner<AdiSolver<KernelScalar>> made;
    PetscCall(MakeExecution(memory, &execution));
    PetscCallCXX(made = AdiSolver<KernelScalar>::make(*execution, from.box(), from.options(), LinesOf(*adi, *execution), RanksOf(pc)));
    PetscCallCXX(made->read(from));
    adi->solver[here]    = std::move(made);
    adi->execution[here] = std::move(execution);
  }
  *solver = adi->solver[here].get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
