// PCCROUT's setters and getter.
#include "crout/crout_impl.h"
#include "crout/triangular_solver.hpp"

namespace weft {

namespace {

// PCCROUT's data, or null for a PC of another type, which setters leave alone.
PetscErrorCode DataOf(PC pc, PC_Crout **crout)
{
  PetscFunctionBegin;
  *crout = NULL;
  PetscTryMethod(pc, "PCCroutGetData_C", (PC, PC_Crout **), (pc, crout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A choice that set-up depends on.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, Value value)
{
  PetscFunctionBegin;
  if (*chosen != value) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

using weft::Choose;
using weft::DataOf;
using weft::PC_Crout;

/*@
  PCCroutSetPattern - sets where the factors of a `PCCROUT` have entries

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- pattern - `PC_CROUT_LEVELS`, `PC_CROUT_THRESHOLD` or `PC_CROUT_FULL`

  Options Database Key:
. -pc_crout_pattern (levels|threshold|full) - the pattern

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetLevels()`, `PCCroutSetDropTolerance()`
@*/
PetscErrorCode PCCroutSetPattern(PC pc, PCCroutPattern pattern)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, pattern, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(pattern >= PC_CROUT_LEVELS && pattern <= PC_CROUT_FULL, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCCroutSetPattern(): %d is no PCCroutPattern", (int)pattern);
  PetscCall(Choose(pc, &crout->settings.options.pattern, static_cast<weft::FillPattern>((int)pattern)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetLevels - sets the levels of fill of a `PCCROUT`, the k of ILU(k)

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- levels - at least 0

  Options Database Key:
. -pc_crout_levels <0> - the levels

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutSetLevels(PC pc, PetscInt levels)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(levels >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_levels %" PetscInt_FMT ": levels of fill cannot be negative", levels);
  PetscCall(Choose(pc, &crout->settings.options.levels, (int)levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetDropTolerance - sets which entries a `PCCROUT` with the pattern `PC_CROUT_THRESHOLD` keeps

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
. tolerance - entries smaller than this times the mean size of their row are left out
- quota     - most entries of a row in each triangle; 0 for twice the mean number of the matrix, and 2

  Options Database Keys:
+ -pc_crout_droptol <1e-3> - the tolerance
- -pc_crout_row_quota <0>  - the quota

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutSetDropTolerance(PC pc, PetscReal tolerance, PetscInt quota)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, tolerance, 2);
  PetscValidLogicalCollectiveInt(pc, quota, 3);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(tolerance >= 0 && !PetscIsInfOrNanReal(tolerance), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_droptol %g: a tolerance is a number from 0 up", (double)tolerance);
  PetscCheck(quota >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_row_quota %" PetscInt_FMT ": a quota cannot be negative; 0 leaves the choice", quota);
  PetscCall(Choose(pc, &crout->settings.options.drop_tolerance, (double)tolerance));
  PetscCall(Choose(pc, &crout->settings.options.row_quota, (weft::Index)quota));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetMostOperations - sets how many multiplications the complete factors of a `PCCROUT` may take

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- operations - the number, of each rank's block; 0 for any number

  Options Database Key:
. -pc_crout_most_operations <1e11> - the number

  Level: intermediate

  Note:
  Fill is predicted before it is made, and told by -info and -ksp_view. Factors that would take longer, or do not fit into memory, fail with
  what was predicted.

.seealso: `PCCROUT`, `PCCroutSetPattern()`, `PCCroutSetOrdering()`
@*/
PetscErrorCode PCCroutSetMostOperations(PC pc, PetscReal operations)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, operations, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(operations >= 0 && !PetscIsNanReal(operations), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_most_operations %g: a number of multiplications cannot be negative; 0 allows any", (double)operations);
  PetscCall(Choose(pc, &crout->settings.options.most_operations, (double)operations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetMethod - sets how a `PCCROUT` finds its factors

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- method - `PC_CROUT_METHOD_SWEEPS` for fixed-point sweeps, `PC_CROUT_METHOD_EXACT` for elimination, `PC_CROUT_METHOD_AUTO` for
           elimination on a host, for full fill and where sweeps on a device would take longer, else sweeps

  Options Database Key:
. -pc_crout_method (sweeps|exact|auto) - the method

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutSetMethod(PC pc, PCCroutMethod method)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, method, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(method >= PC_CROUT_METHOD_SWEEPS && method <= PC_CROUT_METHOD_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCCroutSetMethod(): %d is no PCCroutMethod", (int)method);
  PetscCall(Choose(pc, &crout->method, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetSweeps - sets the number of sweeps by which a `PCCROUT` finds its factors

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - the number, or with a tolerance the most; 0 for as many as are needed

  Options Database Key:
. -pc_crout_sweeps <0> - the number

  Level: intermediate

  Note:
  With the method `PC_CROUT_METHOD_AUTO` a number of sweeps asks for sweeps.

.seealso: `PCCROUT`, `PCCroutSetMethod()`, `PCCroutSetTolerance()`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutSetSweeps(PC pc, PetscInt sweeps)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(sweeps >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_sweeps %" PetscInt_FMT ": a number of sweeps cannot be negative; 0 leaves the choice", sweeps);
  PetscCall(Choose(pc, &crout->settings.options.sweeps, (int)sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetTolerance - makes a `PCCROUT` sweep until the residual of its factors is small

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- tolerance - of ||A - L U|| / ||A||, Frobenius norms over the pattern of the factors; 0 to stop by the number of sweeps

  Options Database Key:
. -pc_crout_rtol <tolerance> - the tolerance

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutSetTolerance(PC pc, PetscReal tolerance)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, tolerance, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(tolerance >= 0 && !PetscIsInfOrNanReal(tolerance), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_rtol %g: a tolerance is a number from 0 up", (double)tolerance);
  PetscCall(Choose(pc, &crout->tolerance, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetOmega - sets the under-relaxation of the sweeps of a `PCCROUT`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- omega - above 0 and at most 1; 0 for 1, and 0.5 where the sweeps grow

  Options Database Key:
. -pc_crout_omega <0> - the factor

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetSweeps()`, `PCCroutSetSections()`
@*/
PetscErrorCode PCCroutSetOmega(PC pc, PetscReal omega)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(omega >= 0 && omega <= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_omega %g: the under-relaxation is above 0 and at most 1; 0 leaves the choice", (double)omega);
  PetscCall(Choose(pc, &crout->settings.options.omega, (double)omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetSections - sets into how many blocks of rows, each swept until it has converged, a `PCCROUT` cuts its matrix

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- sections - at least 1; 0 for one, and more where sweeps over all rows grow

  Options Database Key:
. -pc_crout_sections <0> - the number

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetSweeps()`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutSetSections(PC pc, PetscInt sections)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sections, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(sections >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_sections %" PetscInt_FMT ": a number of sections cannot be negative; 0 leaves the choice", sections);
  PetscCall(Choose(pc, &crout->settings.options.sections, (int)sections));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetAsynchronous - makes a `PCCROUT` sweep in place, every entry with the newest values of the others

  Logically Collective

  Input Parameters:
+ pc           - the preconditioner
- asynchronous - `PETSC_TRUE` for fewer sweeps; but then no two runs give the same bits

  Options Database Key:
. -pc_crout_async (true|false) - in place or not

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutSetAsynchronous(PC pc, PetscBool asynchronous)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, asynchronous, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Choose(pc, &crout->settings.options.asynchronous, asynchronous == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetShift - adds to the diagonal of the matrix before a `PCCROUT` factors it

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- shift - at least 0; the part of the diagonal that is added to it

  Options Database Key:
. -pc_crout_shift <0> - the part

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutSetShift(PC pc, PetscReal shift)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, shift, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(shift >= 0 && !PetscIsInfOrNanReal(shift), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_shift %g: a shift is a number from 0 up", (double)shift);
  PetscCall(Choose(pc, &crout->settings.options.base_shift, (double)shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetCheck - sets when a `PCCROUT` with complete factors says that its solves lose digits, and when it fails for that

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. warn - a relative residual of one solve with a random right-hand side; above it, it is told and one step of refinement is tried
- fail - what the residual of complete factors must not be above

  Options Database Keys:
+ -pc_crout_check_warn <1e-10> - the first bound
- -pc_crout_check_fail <1e-4>  - the second

  Level: advanced

  Note:
  The factors of `PCLU` and `PCCHOLESKY` with the solver type crout take the two options too, with the prefix of their PC.

.seealso: `PCCROUT`, `MATSOLVERCROUT`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutSetCheck(PC pc, PetscReal warn, PetscReal fail)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, warn, 2);
  PetscValidLogicalCollectiveReal(pc, fail, 3);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(warn >= 0 && fail >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_check_warn %g, -pc_crout_check_fail %g: bounds of a residual are not negative", (double)warn, (double)fail);
  PetscCall(Choose(pc, &crout->settings.check_warn, warn));
  PetscCall(Choose(pc, &crout->settings.check_fail, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetScaling - sets how a `PCCROUT` scales rows and columns before it factors

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- scaling - `PC_CROUT_SCALING_NONE`, `PC_CROUT_SCALING_DIAGONAL` so that the diagonal becomes one, or `PC_CROUT_SCALING_RUIZ` so that the
            largest entry of each row and column becomes about one

  Options Database Key:
. -pc_crout_scaling (none|diagonal|ruiz) - the scaling

  Level: advanced

.seealso: `PCCROUT`
@*/
PetscErrorCode PCCroutSetScaling(PC pc, PCCroutScaling scaling)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, scaling, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(scaling >= PC_CROUT_SCALING_NONE && scaling <= PC_CROUT_SCALING_RUIZ, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "PCCroutSetScaling(): %d is no PCCroutScaling", (int)scaling);
  PetscCall(Choose(pc, &crout->settings.options.scaling, static_cast<weft::FactorScaling>((int)scaling)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetOrdering - sets the order of rows and columns in which a `PCCROUT` factors

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- ordering - a `MatOrderingType`, or "auto" for a fill-reducing one with the pattern `PC_CROUT_FULL` and the natural one otherwise

  Options Database Key:
. -pc_crout_ordering (auto|natural|rcm|amd|...) - the ordering

  Level: intermediate

.seealso: `PCCROUT`, `MatGetOrdering()`, `MatOrderingType`
@*/
PetscErrorCode PCCroutSetOrdering(PC pc, const char ordering[])
{
  PC_Crout *crout;
  PetscFunctionList known;
  void (*found)(void) = NULL;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(ordering, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCCroutSetOrdering(): no name is given");
  PetscCall(MatGetOrderingList(&known));
  PetscCall(PetscFunctionListFind(known, ordering, &found));
  PetscCheck(found || std::string(ordering) == "auto", PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-pc_crout_ordering %s: this PETSc has no ordering of that name; -help lists them with -pc_type ilu", ordering);
  PetscCall(Choose(pc, &crout->ordering, std::string(ordering)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetSymmetric - tells a `PCCROUT` that its matrix is symmetric, so that it factors L D L^T, or that it is not

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- symmetric - `PETSC_TRUE` to read the upper triangle only

  Options Database Key:
. -pc_crout_symmetric (true|false) - symmetric or not

  Level: intermediate

  Note:
  Without it the matrix is symmetric if `MatIsSymmetricKnown()` says so.

.seealso: `PCCROUT`, `MatSetOption()`
@*/
PetscErrorCode PCCroutSetSymmetric(PC pc, PetscBool symmetric)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, symmetric, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Choose(pc, &crout->symmetric, PetscBoolToBool3(symmetric)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetTriangularSolve - sets how a `PCCROUT` solves with its triangles

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
. name  - "jacobi" or "isai", which are approximate; "levels" or "syncfree", which are exact; or "auto", which tests the former
- steps - of jacobi; 0 for as many as the test asks for

  Options Database Keys:
+ -pc_crout_trisolve (jacobi|isai|levels|syncfree|auto) - the method
- -pc_crout_trisolve_steps <0>                          - the steps

  Level: intermediate

.seealso: `PCCROUT`
@*/
PetscErrorCode PCCroutSetTriangularSolve(PC pc, const char name[], PetscInt steps)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, steps, 3);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(name, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCCroutSetTriangularSolve(): no name is given");
  PetscCheck(steps >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_trisolve_steps %" PetscInt_FMT ": a number of steps cannot be negative; 0 leaves the choice", steps);
  std::optional<std::string> why;
  weft::TriangularOptions options;
  if (steps > 0) options.steps = (int)steps;
  PetscCallCXX(why = weft::triangular_method_refuses(name, options));
  PetscCheck(!why, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-pc_crout_trisolve %s: %s", name, why->c_str());
  PetscCall(Choose(pc, &crout->settings.solve, std::string(name)));
  PetscCall(Choose(pc, &crout->settings.solve_steps, (int)steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetPrecision - sets the precision of the factors of a `PCCROUT`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- precision - `PC_CROUT_DOUBLE`, or `PC_CROUT_SINGLE` for half the memory; sums and vectors are in double precision in any case

  Options Database Key:
. -pc_crout_precision (double|single) - the precision

  Level: intermediate

.seealso: `PCCROUT`
@*/
PetscErrorCode PCCroutSetPrecision(PC pc, PCCroutPrecision precision)
{
  PC_Crout *crout;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscCall(DataOf(pc, &crout));
  if (!crout) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(precision == PC_CROUT_DOUBLE || precision == PC_CROUT_SINGLE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCCroutSetPrecision(): %d is no PCCroutPrecision", (int)precision);
  PetscCall(Choose(pc, &crout->settings.precision, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCCroutGetHistory - gets the residuals of the factors of a `PCCROUT`, sweep by sweep

  Not Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameters:
+ count     - number of residuals; 0 where the factors were found without sweeps
- residuals - ||A - L U|| / ||A|| of this rank's block before each sweep; valid until the next set-up

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetSweeps()`, `PCCroutSetTolerance()`
@*/
PetscErrorCode PCCroutGetHistory(PC pc, PetscInt *count, const PetscReal *residuals[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  *count     = 0;
  *residuals = NULL;
  PetscTryMethod(pc, "PCCroutGetHistory_C", (PC, PetscInt *, const PetscReal *[]), (pc, count, residuals));
  PetscFunctionReturn(PETSC_SUCCESS);
}
