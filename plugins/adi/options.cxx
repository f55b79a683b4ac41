// PCADI's options, view and setters.
#include "adi/adi_impl.h"
#include "petsc/idle_options.h"

namespace weft {

const char *const adi_types[]          = {"peaceman_rachford", "douglas_rachford", "douglas_gunn", "PCADIType", "PC_ADI_", NULL};
const char *const adi_bounds_methods[] = {"gershgorin", "lanczos", "PCADIBoundsMethod", "PC_ADI_", NULL};

std::vector<const char *> AdiLineSolvers()
{
  std::vector<const char *> solvers;
  for (const char *method : tridiagonal_method_names()) {
    if (std::string(method) != "toeplitz") solvers.push_back(method); // it shares one line's coefficients between all
  }
  solvers.push_back("auto");
  return solvers;
}

namespace {

// More than anybody gives by hand.
constexpr PetscInt most_values = 256;

PetscErrorCode ArraysFromOptions(PC pc, OptionItems PetscOptionsObject)
{
  std::vector<PetscReal> values(most_values);
  PetscInt count = most_values;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsRealArray("-pc_adi_shifts", "shifts of a cycle", "PCADISetShifts", values.data(), &count, &set));
  if (set) PetscCall(PCADISetShifts(pc, count, values.data()));
  count = most_values;
  PetscCall(PetscOptionsRealArray("-pc_adi_bounds", "bounds of the spectra of the parts", "PCADISetBounds", values.data(), &count, &set));
  if (set) PetscCall(PCADISetBounds(pc, count, values.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetFromOptions_ADI(PC pc, OptionItems PetscOptionsObject)
{
  PC_ADI *adi              = Adi(pc);
  PCADIType type           = adi->type;
  PCADIBoundsMethod method = adi->bounds_method;
  PetscInt number, solver;
  PetscBool flag, set;

  PetscFunctionBegin;
  const std::vector<const char *> solvers = AdiLineSolvers();
  PetscOptionsHeadBegin(PetscOptionsObject, "alternating direction options");
  PetscCall(PetscOptionsEnum("-pc_adi_type", "scheme", "PCADISetType", adi_types, (PetscEnum)type, (PetscEnum *)&type, &set));
  if (set) PetscCall(PCADISetType(pc, type));
  PetscCall(PetscOptionsInt("-pc_adi_cycle", "shifts in a cycle, 0 for as many as reduce the error tenfold", "PCADISetCycle", adi->cycle,
                            &number, &set));
  if (set) PetscCall(PCADISetCycle(pc, number));
  PetscCall(PetscOptionsInt("-pc_adi_iterations", "cycles in one application", "PCADISetIterations", adi->iterations, &number, &set));
  if (set) PetscCall(PCADISetIterations(pc, number));
  PetscCall(ArraysFromOptions(pc, PetscOptionsObject));
  PetscCall(PetscOptionsEnum("-pc_adi_bounds_method", "how bounds are found", "PCADISetBoundsMethod", adi_bounds_methods, (PetscEnum)method,
                             (PetscEnum *)&method, &set));
  if (set) PetscCall(PCADISetBoundsMethod(pc, method));
  PetscCall(PetscOptionsEList("-pc_adi_line_solver", "tridiagonal method", "PCADISetLineSolver", solvers.data(), (PetscInt)solvers.size(),
                              adi->line_solver.c_str(), &solver, &set));
  if (set) PetscCall(PCADISetLineSolver(pc, solvers[solver]));
  PetscCall(PetscOptionsBool("-pc_adi_symmetric", "a symmetric and definite form, for CG", "PCADISetSymmetric",
                             adi->symmetric ? PETSC_TRUE : PETSC_FALSE, &flag, &set));
  if (set) PetscCall(PCADISetSymmetric(pc, flag));
  PetscCall(PetscOptionsBool("-pc_adi_keep_factors", "keep the factors of every shift and direction", "PCADISetKeepFactors",
                             adi->keep_factors ? PETSC_TRUE : PETSC_FALSE, &flag, &set));
  if (set) PetscCall(PCADISetKeepFactors(pc, flag));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode ViewShifts(PC pc, PetscViewer viewer, const AdiSolver<PetscScalar> &solver)
{
  PC_ADI *adi        = Adi(pc);
  const auto &shifts = solver.shifts();

  PetscFunctionBegin;
  if (solver.directions().size() == 1) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  one direction: its lines are solved without shifts\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!adi->bounds.empty()) {
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  bounds of the parts (%s):", adi->given_bounds.empty() ? adi_bounds_methods[adi->bounds_method] : "given"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    for (std::size_t d = 0; d < adi->bounds.size(); d++) {
      const SpectralInterval &part = adi->bounds[d];
      PetscCall(PetscViewerASCIIPrintf(viewer, " %c [%g, %g]", "xyz"[solver.directions()[d]], part.low, part.high));
      if (part.skew > 0) PetscCall(PetscViewerASCIIPrintf(viewer, " +- %gi", part.skew));
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  }
  bool skew = false;
  for (const SpectralInterval &part : adi->bounds) skew = skew || part.skew > 0;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  shifts (%s, %d in a cycle):",
                                   !adi->given_shifts.empty() ? "given"
                                   : adi->symmetric           ? "equal ratios"
                                   : skew                     ? "of ellipses"
                                                              : "Wachspress and Jordan",
                                   (int)shifts.size()));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  const bool pairs = solver.directions().size() == 2 && adi->type != PC_ADI_DOUGLAS_RACHFORD;
  for (const AdiShift &s : shifts) {
    if (pairs && s[0] != s[1])
      PetscCall(PetscViewerASCIIPrintf(viewer, " %g/%g", s[0], s[1]));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, " %g", s[0]));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (adi->bounds.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!adi->no_promise.empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  nothing is promised of a cycle: %s\n", adi->no_promise.c_str()));
  } else if (adi->symmetric) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  condition with it %.2g\n", adi->condition));
  } else {
    char norm[64] = "";
    if (adi->log_condition > 1)
      PetscCall(PetscSNPrintf(norm, sizeof(norm), ", in a norm whose condition is about 1e%.0f", adi->log_condition / std::log(10.0)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  a cycle leaves %.3g of the error at most%s: %.0f cycles for eight digits\n", adi->reduction,
                                     norm, std::ceil(AdiCyclesFor(*adi, 1e-8))));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

namespace {

// One direction is solved at once, without shifts.
bool Shifts(const PC_ADI &adi)
{
  const AdiSolver<PetscScalar> *solver = adi.solver[adi.solver[0] ? 0 : 1].get();
  return solver && solver->directions().size() > 1;
}

const OptionUse<PC_ADI> uses[] = {
    {"pc_adi_type", [](const PC_ADI &adi) { return adi.type != PC_ADI_PEACEMAN_RACHFORD; },
     [](const PC_ADI &adi) { return Shifts(adi) && !adi.symmetric; },
     "-pc_adi_symmetric and grids of one direction have a scheme of their own"},
    {"pc_adi_cycle", [](const PC_ADI &adi) { return adi.cycle != 0; }, Shifts, "the lines of one direction are solved without shifts"},
    {"pc_adi_shifts", [](const PC_ADI &adi) { return !adi.given_shifts.empty(); }, Shifts,
     "the lines of one direction are solved without shifts"},
    {"pc_adi_bounds", [](const PC_ADI &adi) { return !adi.given_bounds.empty(); },
     [](const PC_ADI &adi) { return Shifts(adi) && adi.given_shifts.empty(); }, "it is for shifts that are computed"},
    {"pc_adi_bounds_method", [](const PC_ADI &adi) { return adi.bounds_method != PC_ADI_LANCZOS; },
     [](const PC_ADI &adi) { return Shifts(adi) && adi.given_shifts.empty() && adi.given_bounds.empty(); },
     "it is for shifts that are computed from bounds that are found"},
    {"pc_adi_keep_factors", [](const PC_ADI &adi) { return !adi.keep_factors; }, Shifts,
     "the lines of one direction have one set of factors, which stays"},
};

} // namespace

PetscErrorCode PCADITellIdleOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(TellIdleOptions(pc, *Adi(pc), uses, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_ADI(PC pc, PetscViewer viewer)
{
  PC_ADI *adi = Adi(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  scheme %s, cycles %" PetscInt_FMT "%s\n",
                                   adi->symmetric ? "symmetric sum" : adi_types[adi->type], adi->iterations,
                                   adi->keep_factors ? "" : ", factors made in each sweep"));
  if (!pc->setupcalled || (!adi->solver[0] && !adi->solver[1]) || (adi->solver[0] ? adi->solver[0] : adi->solver[1])->shifts().empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  line solver %s, the matrix is not yet split\n", adi->line_solver.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const AdiSolver<PetscScalar> &any = *(adi->solver[0] ? adi->solver[0] : adi->solver[1]);
  PetscCall(ViewShifts(pc, viewer, any));
  const double couplings = adi->split.on + adi->split.rest;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  split: %.3g%% of the couplings lie on no line and stay on the right-hand side\n",
                                   couplings > 0 ? 100 * adi->split.rest / couplings : 0.0));
  if (adi->split.fixed > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  rows solved by themselves: %" PetscInt64_FMT " of %" PetscInt64_FMT "\n",
                                     (PetscInt64)adi->split.fixed, (PetscInt64)adi->split.rows));
  if (adi->split.known > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  of these, penalties that are taken for known values: %" PetscInt64_FMT "\n",
                                     (PetscInt64)adi->split.known));
  for (const auto &solver : adi->solver) {
    if (!solver) continue;
    std::string backend;
    PetscCallCXX(backend = solver->execution().name());
    for (int k : solver->directions()) {
      const AdiBox &box = solver->box();
      PetscCall(PetscViewerASCIIPrintf(viewer, "  lines along %c: %" PetscInt64_FMT " rows%s%s, %s%s on the %s (%s)\n", "xyz"[k],
                                       (PetscInt64)box.global[k], box.closed(k) ? ", closed" : "", box.crosses[k] ? ", across ranks" : "",
                                       solver->method(k), adi->line_solver == "auto" ? " (auto)" : "",
                                       solver->execution().memory() == Memory::device ? "device" : "host", backend.c_str()));
    }
  }
  PetscCall(PCADITellIdleOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// A choice that set-up depends on.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, const Value &value)
{
  PetscFunctionBegin;
  if (!(*chosen == value)) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetType_ADI(PC pc, PCADIType type)
{
  PetscFunctionBegin;
  PetscCheck(type >= PC_ADI_PEACEMAN_RACHFORD && type <= PC_ADI_DOUGLAS_GUNN, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCADISetType(): %d is no PCADIType", (int)type);
  PetscCall(Choose(pc, &Adi(pc)->type, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetShifts_ADI(PC pc, PetscInt count, const PetscReal shifts[])
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < count; j++)
    PetscCheck(shifts[j] > 0 && !PetscIsInfOrNanReal(shifts[j]), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_adi_shifts: shift %" PetscInt_FMT " is %g, and shifts must be positive and finite", j + 1, (double)shifts[j]);
  PetscCall(Choose(pc, &Adi(pc)->given_shifts, std::vector<PetscReal>(shifts, shifts + count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetCycle_ADI(PC pc, PetscInt length)
{
  PetscFunctionBegin;
  PetscCheck(length >= 0 && length <= most_values, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_adi_cycle %" PetscInt_FMT ": a cycle has 1 to %" PetscInt_FMT " shifts, or 0 for as many as reduce the error tenfold",
             length, most_values);
  PetscCall(Choose(pc, &Adi(pc)->cycle, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetIterations_ADI(PC pc, PetscInt iterations)
{
  PetscFunctionBegin;
  PetscCheck(iterations >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_adi_iterations %" PetscInt_FMT ": at least one cycle is needed", iterations);
  Adi(pc)->iterations = iterations;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetBounds_ADI(PC pc, PetscInt count, const PetscReal bounds[])
{
  PetscFunctionBegin;
  PetscCheck(count == 0 || count == 2 || count == 4 || count == 6, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "-pc_adi_bounds: give two numbers, or two for each direction, not %" PetscInt_FMT, count);
  for (PetscInt d = 0; d < count; d += 2) {
    PetscCheck(!PetscIsInfOrNanReal(bounds[d]) && !PetscIsInfOrNanReal(bounds[d + 1]) && bounds[d] <= bounds[d + 1],
               PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_adi_bounds: %g,%g is no interval: give the lower bound first, both finite", (double)bounds[d], (double)bounds[d + 1]);
  }
  PetscCall(Choose(pc, &Adi(pc)->given_bounds, std::vector<PetscReal>(bounds, bounds + count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetBoundsMethod_ADI(PC pc, PCADIBoundsMethod method)
{
  PetscFunctionBegin;
  PetscCheck(method == PC_ADI_GERSHGORIN || method == PC_ADI_LANCZOS, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCADISetBoundsMethod(): %d is no PCADIBoundsMethod", (int)method);
  PetscCall(Choose(pc, &Adi(pc)->bounds_method, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetLineSolver_ADI(PC pc, const char solver[])
{
  PetscFunctionBegin;
  PetscCheck(solver, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetLineSolver(): no name is given");
  const std::string name = solver;
  bool known             = false;
  std::string list;
  for (const char *method : AdiLineSolvers()) {
    known = known || name == method;
    list += std::string(list.empty() ? "" : ", ") + method;
  }
  PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown line solver '%s': there are %s", solver,
             list.c_str());
  PetscCall(Choose(pc, &Adi(pc)->line_solver, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetSymmetric_ADI(PC pc, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Adi(pc)->symmetric, symmetric == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADISetKeepFactors_ADI(PC pc, PetscBool keep)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Adi(pc)->keep_factors, keep == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCADIComposeSetters(PC pc, bool compose)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetType_C", compose ? PCADISetType_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetShifts_C", compose ? PCADISetShifts_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetCycle_C", compose ? PCADISetCycle_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetIterations_C", compose ? PCADISetIterations_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetBounds_C", compose ? PCADISetBounds_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetBoundsMethod_C", compose ? PCADISetBoundsMethod_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetLineSolver_C", compose ? PCADISetLineSolver_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetSymmetric_C", compose ? PCADISetSymmetric_ADI : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCADISetKeepFactors_C", compose ? PCADISetKeepFactors_ADI : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCADISetType - sets the scheme of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- type - `PC_ADI_PEACEMAN_RACHFORD`, `PC_ADI_DOUGLAS_RACHFORD` or `PC_ADI_DOUGLAS_GUNN`

  Options Database Key:
. -pc_adi_type (peaceman_rachford|douglas_rachford|douglas_gunn) - the scheme

  Level: intermediate

  Note:
  With the parts H_k and shifts p_k, peaceman_rachford solves with H_1 + p_1 and then with H_2 + p_2, and forms a residual before each;
  douglas_gunn forms one residual for both, and is the same iteration in exact arithmetic where the matrix splits wholly; douglas_rachford
  is damped more strongly and converges more slowly. In three dimensions peaceman_rachford stands for Douglas's extension of it, which is
  douglas_gunn: half-sweeps of their own would not converge for all shifts.

.seealso: `PCADI`, `PCADISetShifts()`
@*/
PetscErrorCode PCADISetType(PC pc, PCADIType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  PetscTryMethod(pc, "PCADISetType_C", (PC, PCADIType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetShifts - gives the shifts of a cycle of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
. count  - their number; 0 to have them computed again
- shifts - positive; in the order of the sweeps

  Options Database Key:
. -pc_adi_shifts <p1,p2,...> - the shifts

  Level: intermediate

  Note:
  Each is used along all directions. Shifts are added to the diagonal of the matrix's parts (subtracted where the diagonal is negative),
  so they have the size of its entries.

.seealso: `PCADI`, `PCADISetCycle()`, `PCADISetBounds()`
@*/
PetscErrorCode PCADISetShifts(PC pc, PetscInt count, const PetscReal shifts[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, count, 2);
  PetscCheck(count <= 0 || shifts, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetShifts(): no shifts are given");
  PetscTryMethod(pc, "PCADISetShifts_C", (PC, PetscInt, const PetscReal[]), (pc, count, shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetCycle - sets the number of shifts in a cycle of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- length - 1 or more; 0 for as many as reduce the error tenfold if the parts commute

  Options Database Key:
. -pc_adi_cycle <0> - the number

  Level: intermediate

  Note:
  A longer cycle takes more sweeps and reduces the error by more; by most a sweep where it is long enough. Factors are kept for each shift,
  see `PCADISetKeepFactors()`. In the symmetric form it is the number of terms. Given shifts are repeated, or cut off, to this length.

.seealso: `PCADI`, `PCADISetShifts()`, `PCADISetIterations()`
@*/
PetscErrorCode PCADISetCycle(PC pc, PetscInt length)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, length, 2);
  PetscTryMethod(pc, "PCADISetCycle_C", (PC, PetscInt), (pc, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetIterations - sets the number of cycles in one application of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- iterations - at least 1

  Options Database Key:
. -pc_adi_iterations <1> - the number

  Level: intermediate

.seealso: `PCADI`, `PCADISetCycle()`
@*/
PetscErrorCode PCADISetIterations(PC pc, PetscInt iterations)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, iterations, 2);
  PetscTryMethod(pc, "PCADISetIterations_C", (PC, PetscInt), (pc, iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetBounds - gives bounds of the spectra of the parts of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
. count  - 2, or 2 for each direction of more than one node; 0 to have them found again
- bounds - the lower one and the upper one of each

  Options Database Key:
. -pc_adi_bounds <a,b> - the bounds

  Level: intermediate

  Note:
  The shifts are the best ones for parts with these spectra. The lower bounds must add up to more than zero.

.seealso: `PCADI`, `PCADISetBoundsMethod()`, `PCADISetShifts()`
@*/
PetscErrorCode PCADISetBounds(PC pc, PetscInt count, const PetscReal bounds[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, count, 2);
  PetscCheck(count <= 0 || bounds, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetBounds(): no bounds are given");
  PetscTryMethod(pc, "PCADISetBounds_C", (PC, PetscInt, const PetscReal[]), (pc, count, bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetBoundsMethod - sets how a `PCADI` bounds the spectra of its parts

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- method - `PC_ADI_LANCZOS` or `PC_ADI_GERSHGORIN`

  Options Database Key:
. -pc_adi_bounds_method (gershgorin|lanczos) - the method

  Level: advanced

  Note:
  The upper bounds are Gershgorin's in both. lanczos finds the lower ones by 16 steps of the Lanczos method on the inverses of the parts;
  gershgorin takes its circles, or the values of a uniform line between fixed ends where these reach zero.

.seealso: `PCADI`, `PCADISetBounds()`
@*/
PetscErrorCode PCADISetBoundsMethod(PC pc, PCADIBoundsMethod method)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, method, 2);
  PetscTryMethod(pc, "PCADISetBoundsMethod_C", (PC, PCADIBoundsMethod), (pc, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetLineSolver - sets the tridiagonal method of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- solver - the method's name, or "auto" to choose by length and number of lines and by where the vectors are

  Options Database Key:
. -pc_adi_line_solver <auto> - the method: thomas, wide, pivoted, spike, or one to compare these with; `-help` lists all

  Level: advanced

  Note:
  Hybrid methods change where they do by default; `PCLineSetKernelParameters()` is for `PCLINE` only.

.seealso: `PCADI`, `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCADISetLineSolver(PC pc, const char solver[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCADISetLineSolver_C", (PC, const char[]), (pc, solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetSymmetric - chooses the symmetric form of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- symmetric - whether it is

  Options Database Key:
. -pc_adi_symmetric <false> - whether it is

  Level: intermediate

  Note:
  A sum over the shifts of products there and back, x y z z y x, with weights that make it an approximation of the inverse. For a symmetric
  matrix with definite parts it is symmetric and positive definite, fit for `KSPCG`, also where the parts do not commute; no residual is
  formed in it. It takes the place of the scheme, see `PCADISetType()`.

.seealso: `PCADI`, `PCADISetType()`
@*/
PetscErrorCode PCADISetSymmetric(PC pc, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, symmetric, 2);
  PetscTryMethod(pc, "PCADISetSymmetric_C", (PC, PetscBool), (pc, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetKeepFactors - chooses whether a `PCADI` keeps the factors of its lines

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- keep - `PETSC_FALSE` makes them anew in each sweep

  Options Database Key:
. -pc_adi_keep_factors <true> - whether they are kept

  Level: advanced

  Note:
  Kept factors take up to four words a row for each shift and direction.

.seealso: `PCADI`, `PCADISetCycle()`
@*/
PetscErrorCode PCADISetKeepFactors(PC pc, PetscBool keep)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, keep, 2);
  PetscTryMethod(pc, "PCADISetKeepFactors_C", (PC, PetscBool), (pc, keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}
