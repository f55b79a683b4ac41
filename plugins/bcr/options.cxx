// PCBCR's options, view and setters.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bcr/bcr_impl.h"
#include "petsc/idle_options.h"

namespace weft {

namespace {

const char *const bcr_precisions[] = {"double", "single", "PCBCRPrecision", "PC_BCR_", NULL};
const char *const bcr_inverses[]   = {"fractions", "leja"};

std::vector<const char *> MethodNames()
{
  std::vector<const char *> names = poisson_method_names();
  names.push_back("auto");
  return names;
}

} // namespace

PetscErrorCode PCSetFromOptions_BCR(PC pc, OptionItems PetscOptionsObject)
{
  PC_BCR *bcr    = Bcr(pc);
  PetscInt radix = bcr->options.radix, levels = bcr->options.levels, choice;
  PCBCRPrecision precision = bcr->precision;
  PetscBool require        = bcr->require_separable, set, set_fail;
  PetscReal tolerance = bcr->tolerance, warn = bcr->check.warn, fail = bcr->check.fail;
  std::vector<const char *> methods;

  PetscFunctionBegin;
  PetscCallCXX(methods = MethodNames());
  PetscOptionsHeadBegin(PetscOptionsObject, "block cyclic reduction options");
  PetscCall(PetscOptionsEList("-pc_bcr_type", "method", "PCBCRSetMethod", methods.data(), (PetscInt)methods.size(),
                              bcr->options.method.c_str(), &choice, &set));
  if (set) PetscCall(PCBCRSetMethod(pc, methods[choice]));
  PetscCall(PetscOptionsEList("-pc_bcr_inverse", "inverse of matrix polynomials", "PCBCRSetInverse", bcr_inverses, 2,
                              bcr->options.inverse.c_str(), &choice, &set));
  if (set) PetscCall(PCBCRSetInverse(pc, bcr_inverses[choice]));
  PetscCall(PetscOptionsInt("-pc_bcr_radix", "radix of method separable", "PCBCRSetRadix", radix, &radix, &set));
  if (set) PetscCall(PCBCRSetRadix(pc, radix));
  PetscCall(PetscOptionsInt("-pc_bcr_levels", "levels of cyclic reduction in method facr", "PCBCRSetLevels", levels, &levels, &set));
  if (set) PetscCall(PCBCRSetLevels(pc, levels));
  PetscCall(PetscOptionsEnum("-pc_bcr_precision", "precision of the solve", "PCBCRSetPrecision", bcr_precisions, (PetscEnum)precision,
                             (PetscEnum *)&precision, &set));
  if (set) PetscCall(PCBCRSetPrecision(pc, precision));
  PetscCall(PetscOptionsBool("-pc_bcr_require_separable", "an error where the matrix is not separable", "PCBCRSetRequireSeparable", require,
                             &require, &set));
  if (set) PetscCall(PCBCRSetRequireSeparable(pc, require));
  PetscCall(PetscOptionsReal("-pc_bcr_separable_tolerance", "largest relative deviation of a separable matrix",
                             "PCBCRSetSeparableTolerance", tolerance, &tolerance, &set));
  if (set) PetscCall(PCBCRSetSeparableTolerance(pc, tolerance));
  PetscCall(PetscOptionsReal("-pc_bcr_check_warn", "relative residual of a random solve above which it is told and refined",
                             "PCBCRSetCheck", warn, &warn, &set));
  PetscCall(PetscOptionsReal("-pc_bcr_check_fail", "relative residual of a random solve above which set-up fails", "PCBCRSetCheck", fail,
                             &fail, &set_fail));
  if (set || set_fail) PetscCall(PCBCRSetCheck(pc, warn, fail));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// "63 x 63"
std::string Sizes(const Index (&nodes)[3], int dimension)
{
  std::string text;
  for (int d = 0; d < dimension; d++) text += (d > 0 ? " x " : "") + std::to_string(nodes[d]);
  return text;
}

// Each direction's kind: " periodic", " weighted".
std::string Kinds(const SeparableOperator &op)
{
  std::string text;
  for (int d = 0; d < op.dimension; d++) {
    if (op.directions[d].periodic) text += ", periodic along direction " + std::to_string(d + 1);
    if (!op.directions[d].weight.empty()) text += ", weights along direction " + std::to_string(d + 1);
  }
  return text;
}

PetscErrorCode ViewPlan(const SpreadPlan &plan, PetscViewer viewer)
{
  Index rows = 0, columns = 0;

  PetscFunctionBegin;
  for (int rank = 0; rank < plan.processes; rank++) {
    rows    = std::max(rows, plan.layers(rank).size());
    columns = std::max(columns, plan.columns(rank).size() * plan.block);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  ranks: spread over %d, of which one has at most %" PetscInt64_FMT " of %" PetscInt64_FMT
                                   " nodes along %c, and the lines of %" PetscInt64_FMT " of %" PetscInt64_FMT " modes\n",
                                   plan.processes, (PetscInt64)rows, (PetscInt64)plan.grid[2], "xyz"[plan.order[2]],
                                   (PetscInt64)std::min(columns, plan.modes()), (PetscInt64)plan.modes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Solvers of one rank, or of all: then the memory of the largest part is shown, which all ranks have to ask for.
template <class Solver>
PetscErrorCode ViewSolver(PC pc, const Solver &solver, const char method[], const char largest[], PetscViewer viewer)
{
  std::string backend, description;
  double megabytes = 1e-6 * static_cast<double>(solver.work_bytes());

  PetscFunctionBegin;
  if (largest) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &megabytes, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscCallCXX(backend = solver.execution().name());
  PetscCallCXX(description = solver.description());
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  solver: %s%s on the %s (%s), %.3g MB%s\n", method, Bcr(pc)->options.method == "auto" ? " (auto)" : "",
      solver.execution().memory() == Memory::device ? "device" : "host", backend.c_str(), megabytes, largest ? largest : ""));
  if (!description.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "    %s\n", description.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::string RefusedSentence(const PC_BCR &bcr)
{
  char deviation[32];
  std::snprintf(deviation, sizeof deviation, "%.3g", bcr.separation.deviation);
  return "one application is no solution: the matrix is not separable, it differs by " + std::string(deviation) +
         ", relative to a row, from the nearest operator that is, which is solved: iterate, with -ksp_type cg (gmres where the matrix is "
         "not "
         "symmetric)";
}

namespace {

std::string_view MethodOf(const PC_BCR &bcr)
{
  const BoxSolver *solver = bcr.solver[bcr.solver[0] ? 0 : 1].get();
  return solver ? solver->method() : "facr"; // the spread one
}

const OptionUse<PC_BCR> uses[] = {
    {"pc_bcr_inverse", [](const PC_BCR &bcr) { return bcr.options.inverse != "fractions"; },
     [](const PC_BCR &bcr) { return MethodOf(bcr).substr(0, 7) == "buneman"; }, "it is for the methods buneman1 and buneman2"},
    {"pc_bcr_radix", [](const PC_BCR &bcr) { return bcr.options.radix != 0; },
     [](const PC_BCR &bcr) { return MethodOf(bcr) == "separable"; }, "it is for the method separable"},
    {"pc_bcr_levels", [](const PC_BCR &bcr) { return bcr.options.levels > 0; }, [](const PC_BCR &bcr) { return MethodOf(bcr) == "facr"; },
     "it is for the method facr"},
};

} // namespace

PetscErrorCode PCBCRTellIdleOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (Bcr(pc)->plan || Bcr(pc)->solver[0] || Bcr(pc)->solver[1]) PetscCall(TellIdleOptions(pc, *Bcr(pc), uses, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_BCR(PC pc, PetscViewer viewer)
{
  PC_BCR *bcr = Bcr(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  method %s, inverse %s, %s precision%s\n", bcr->options.method.c_str(),
                                   bcr->options.inverse.c_str(), bcr_precisions[bcr->inside()],
                                   bcr->inside() == bcr->precision ? "" : ": the matrix is out of the range of single"));
  if (!pc->setupcalled || bcr->separation.unusable > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, pc->setupcalled ? "  operator: no numbers to solve with\n" : "  operator not yet read\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Separation &found = bcr->separation;
  std::string sizes, inner, kinds;
  PetscCallCXX(sizes = Sizes(found.grid, bcr->grid.dimension));
  PetscCallCXX(inner = Sizes(found.nodes, bcr->grid.dimension));
  PetscCallCXX(kinds = Kinds(found.separable));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  operator: %s, largest relative deviation %.3g; %ssymmetric%s%s%s\n",
                                   bcr->separable() ? "separable" : "the nearest separable one", found.deviation,
                                   found.symmetric ? "" : "not ",
                                   found.known    ? ", values known where a diagonal outweighs its row"
                                   : found.scaled ? " but for a factor of each row"
                                                  : "",
                                   bcr->singular ? ", singular (constants)" : "", kinds.c_str()));
  if (sizes == inner)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  grid: %s nodes\n", sizes.c_str()));
  else
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  grid: %s nodes, %s within boundary rows that are solved apart\n", sizes.c_str(), inner.c_str()));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks > 1 && !bcr->plan) PetscCall(PetscViewerASCIIPrintf(viewer, "  ranks: gathered on rank 0 of %d, which solves\n", ranks));
  if (bcr->plan) PetscCall(ViewPlan(*bcr->plan, viewer));
  for (int which : {0, 1}) {
    if (bcr->solver[which]) PetscCall(ViewSolver(pc, *bcr->solver[which], bcr->solver[which]->method(), NULL, viewer));
    if (bcr->spread_solver[which]) PetscCall(ViewSolver(pc, *bcr->spread_solver[which], "facr", " on the rank with most", viewer));
  }
  PetscCall(bcr->check.View(viewer));
  PetscCall(PCBCRTellIdleOptions(pc, viewer));
  if (bcr->refused) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", RefusedSentence(*bcr).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// A choice that set-up depends on.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, Value value)
{
  PetscFunctionBegin;
  if (*chosen != value) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetMethod_BCR(PC pc, const char method[])
{
  std::string name, list;
  bool known = false;

  PetscFunctionBegin;
  PetscCheck(method, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCBCRSetMethod(): no name is given");
  PetscCallCXX(name = method);
  for (const char *other : MethodNames()) {
    known = known || name == other;
    list += (list.empty() ? "" : ", ") + std::string(other);
  }
  PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown method '%s': there are %s", method,
             list.c_str());
  PetscCall(Choose(pc, &Bcr(pc)->options.method, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetInverse_BCR(PC pc, const char inverse[])
{
  std::string name;

  PetscFunctionBegin;
  PetscCheck(inverse && (!std::strcmp(inverse, "fractions") || !std::strcmp(inverse, "leja")), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_UNKNOWN_TYPE, "PCBCRSetInverse(): there are fractions and leja, not '%s'", inverse ? inverse : "");
  PetscCallCXX(name = inverse);
  PetscCall(Choose(pc, &Bcr(pc)->options.inverse, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetRadix_BCR(PC pc, PetscInt radix)
{
  PetscFunctionBegin;
  PetscCheck(radix == 0 || (radix >= 2 && radix <= 5), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_bcr_radix %" PetscInt_FMT ": a radix is from 2 to 5, or 0 for the method's choice", radix);
  PetscCall(Choose(pc, &Bcr(pc)->options.radix, (int)radix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetLevels_BCR(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscCheck(levels >= -1 && levels <= 62, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_bcr_levels %" PetscInt_FMT ": levels are 0 or more, or -1 for the method's choice", levels);
  PetscCall(Choose(pc, &Bcr(pc)->options.levels, (int)levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetPrecision_BCR(PC pc, PCBCRPrecision precision)
{
  PetscFunctionBegin;
  PetscCheck(precision == PC_BCR_DOUBLE || precision == PC_BCR_SINGLE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCBCRSetPrecision(): %d is no PCBCRPrecision", (int)precision);
  PetscCall(Choose(pc, &Bcr(pc)->precision, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetRequireSeparable_BCR(PC pc, PetscBool require)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Bcr(pc)->require_separable, require));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetSeparableTolerance_BCR(PC pc, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCheck(tolerance >= 0 && !PetscIsInfOrNanReal(tolerance), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_bcr_separable_tolerance %g: the tolerance must be finite and not negative", (double)tolerance);
  PetscCall(Choose(pc, &Bcr(pc)->tolerance, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRSetCheck_BCR(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCheck(warn >= 0 && fail >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_bcr_check_warn %g, -pc_bcr_check_fail %g: bounds of a residual are not negative", (double)warn, (double)fail);
  PetscCall(Choose(pc, &Bcr(pc)->check.warn, warn));
  PetscCall(Choose(pc, &Bcr(pc)->check.fail, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCBCRComposeSetters(PC pc, bool compose)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetMethod_C", compose ? PCBCRSetMethod_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetInverse_C", compose ? PCBCRSetInverse_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetRadix_C", compose ? PCBCRSetRadix_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetLevels_C", compose ? PCBCRSetLevels_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetPrecision_C", compose ? PCBCRSetPrecision_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetRequireSeparable_C", compose ? PCBCRSetRequireSeparable_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetSeparableTolerance_C", compose ? PCBCRSetSeparableTolerance_BCR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBCRSetCheck_C", compose ? PCBCRSetCheck_BCR : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@C
  PCBCRSetMethod - sets the method by which a `PCBCR` solves

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- method - its name, or "auto" for the fastest stable one

  Options Database Key:
. -pc_bcr_type (buneman1|buneman2|partial|separable|plain|facr|auto) - the method

  Level: intermediate

  Note:
  A method that cannot solve an operator says why when the `PC` is set up.

.seealso: `PCBCR`, `PCBCRSetInverse()`, `PCBCRSetRadix()`, `PCBCRSetLevels()`
@*/
PetscErrorCode PCBCRSetMethod(PC pc, const char method[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCBCRSetMethod_C", (PC, const char[]), (pc, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCBCRSetInverse - sets how the Buneman methods of a `PCBCR` apply the inverses of matrix polynomials

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- inverse - "fractions" for independent solves that are added, "leja" for solves one after the other, poles in Leja's order

  Options Database Key:
. -pc_bcr_inverse (fractions|leja) - the way

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRSetInverse(PC pc, const char inverse[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCBCRSetInverse_C", (PC, const char[]), (pc, inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetRadix - sets by how much a level of method separable of a `PCBCR` reduces the lines

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- radix - 2 to 5, or 0 for the method's choice

  Options Database Key:
. -pc_bcr_radix <0> - the radix

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRSetRadix(PC pc, PetscInt radix)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, radix, 2);
  PetscTryMethod(pc, "PCBCRSetRadix_C", (PC, PetscInt), (pc, radix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetLevels - sets the levels of cyclic reduction before the transform in method facr of a `PCBCR`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- levels - 0 or more, or -1 for the method's choice

  Options Database Key:
. -pc_bcr_levels <-1> - the number

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscTryMethod(pc, "PCBCRSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetPrecision - sets the precision in which a `PCBCR` solves

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- precision - `PC_BCR_DOUBLE`, or `PC_BCR_SINGLE` for less time and memory where a Krylov method corrects the result

  Options Database Key:
. -pc_bcr_precision (double|single) - the precision

  Level: intermediate

.seealso: `PCBCR`
@*/
PetscErrorCode PCBCRSetPrecision(PC pc, PCBCRPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCBCRSetPrecision_C", (PC, PCBCRPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetRequireSeparable - makes it an error if the matrix of a `PCBCR` is not separable

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- require - `PETSC_TRUE` for the error, `PETSC_FALSE` to solve with the nearest separable operator

  Options Database Key:
. -pc_bcr_require_separable <false> - the choice

  Level: intermediate

.seealso: `PCBCR`, `PCBCRSetSeparableTolerance()`
@*/
PetscErrorCode PCBCRSetRequireSeparable(PC pc, PetscBool require)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, require, 2);
  PetscTryMethod(pc, "PCBCRSetRequireSeparable_C", (PC, PetscBool), (pc, require));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetSeparableTolerance - sets how far the matrix of a `PCBCR` may be from a separable one and still be called so

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- tolerance - sum over a row of the differences, relative to the row's sum of magnitudes

  Options Database Key:
. -pc_bcr_separable_tolerance <1e-10> - the tolerance

  Level: advanced

  Note:
  It decides what `PCView()` says and what `PCBCRSetRequireSeparable()` allows, and changes nothing else.

.seealso: `PCBCR`, `PCBCRSetRequireSeparable()`
@*/
PetscErrorCode PCBCRSetSeparableTolerance(PC pc, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, tolerance, 2);
  PetscTryMethod(pc, "PCBCRSetSeparableTolerance_C", (PC, PetscReal), (pc, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetCheck - sets when a `PCBCR` says that its solves lose digits, and when it fails for that

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. warn - relative residual of a random solve above which `PCView()` and `-info` tell it, and a step of iterative refinement is tried
- fail - relative residual above which the set-up fails with `PC_FACTOR_OTHER`

  Options Database Keys:
+ -pc_bcr_check_warn <1e-10> - the first bound
- -pc_bcr_check_fail <1e-4>  - the second

  Level: advanced

  Notes:
  Each set-up of a separable operator solves once with a right-hand side that looks random. If its residual is above `warn`, and more than
  rounding leaves with such a matrix, one step of iterative refinement is tried; where that makes the residual ten times smaller, all
  applications take it.

.seealso: `PCBCR`, `PCBCRSetPrecision()`
@*/
PetscErrorCode PCBCRSetCheck(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, warn, 2);
  PetscValidLogicalCollectiveReal(pc, fail, 3);
  PetscTryMethod(pc, "PCBCRSetCheck_C", (PC, PetscReal, PetscReal), (pc, warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}
