// PCCROUT's setters and getters: what each does, its page and the function that programs call, together. Here those of the factors, their check
// and their triangles; those of the matrix and of the sweeps stand apart.
#include "petsc/setters.h"
#include "crout/crout_impl.h"
#include "crout/triangular_solver.hpp"

using namespace weft;

/*@
  PCCroutSetPattern - sets where the factors of a `PCCROUT` have entries

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- pattern - `PC_CROUT_LEVELS`, `PC_CROUT_THRESHOLD` or `PC_CROUT_FULL`

  Options Database Key:
. -pc_crout_pattern (levels|threshold|full) - the pattern

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetPattern()`, `PCCroutSetLevels()`, `PCCroutSetDropTolerance()`
@*/
PetscErrorCode PCCroutSetPattern(PC pc, PCCroutPattern pattern)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetPattern_C", pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetPattern - gets where the factors of a `PCCROUT` have entries

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. pattern - `PC_CROUT_LEVELS`, `PC_CROUT_THRESHOLD` or `PC_CROUT_FULL`

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutGetPattern(PC pc, PCCroutPattern *pattern)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetPattern_C", pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetLevels - sets the levels of fill of a `PCCROUT`, the k of ILU(k)

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- levels - the levels of fill, from 0 to 60000

  Options Database Key:
. -pc_crout_levels <0> - the levels of fill

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetLevels()`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetLevels_C", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetLevels - gets the levels of fill of a `PCCROUT`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. levels - the levels of fill, the k of ILU(k)

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetLevels()`
@*/
PetscErrorCode PCCroutGetLevels(PC pc, PetscInt *levels)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetLevels_C", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCroutSetDropTolerance_Crout(PC pc, PetscReal tolerance, PetscInt quota)
{
  PetscFunctionBegin;
  PetscCheck(tolerance >= 0 && !PetscIsInfOrNanReal(tolerance), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_droptol %g: the tolerance must be non-negative", (double)tolerance);
  PetscCheck(quota >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_row_quota %" PetscInt_FMT ": the quota must be non-negative, 0 for automatic", quota);
  PetscCall(Choose(pc, &Data(pc)->settings.options.drop_tolerance, (double)tolerance));
  PetscCall(Choose(pc, &Data(pc)->settings.options.row_quota, (Index)quota));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetDropTolerance - sets which entries a `PCCROUT` with the pattern `PC_CROUT_THRESHOLD` keeps

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
. tolerance - entries smaller than this times the mean size of the entries of their row are left out
- quota     - largest number of entries of a row in each triangle; 0 for twice the mean number of the matrix, plus 2

  Options Database Keys:
+ -pc_crout_droptol <1e-3> - the tolerance
- -pc_crout_row_quota <0>  - the quota

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetDropTolerance()`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutSetDropTolerance(PC pc, PetscReal tolerance, PetscInt quota)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetDropTolerance_C", tolerance, quota));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetDropTolerance - gets which entries a `PCCROUT` with the pattern `PC_CROUT_THRESHOLD` keeps

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ tolerance - entries smaller than this times the mean size of the entries of their row are left out
- quota     - largest number of entries of a row in each triangle; 0 for twice the mean number of the matrix, plus 2

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetDropTolerance()`
@*/
PetscErrorCode PCCroutGetDropTolerance(PC pc, PetscReal *tolerance, PetscInt *quota)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetDropTolerance_C", tolerance, quota));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetMostOperations - sets how many multiplications the complete factors of a `PCCROUT` may take

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- operations - the largest number for the block of each rank; 0 for any number

  Options Database Key:
. -pc_crout_most_operations <1e11> - the largest number

  Level: intermediate

  Note:
  Fill is predicted before it is made, and -info and -ksp_view report the prediction. Factors that would take more multiplications, or do not
  fit into memory, fail with the predicted numbers.

.seealso: `PCCROUT`, `PCCroutGetMostOperations()`, `PCCroutSetPattern()`, `PCCroutSetOrdering()`
@*/
PetscErrorCode PCCroutSetMostOperations(PC pc, PetscReal operations)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetMostOperations_C", operations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetMostOperations - gets how many multiplications the complete factors of a `PCCROUT` may take

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. operations - the largest number; 0 for any number

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetMostOperations()`
@*/
PetscErrorCode PCCroutGetMostOperations(PC pc, PetscReal *operations)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetMostOperations_C", operations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetPrecision - sets the precision of the factors of a `PCCROUT`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- precision - `PC_CROUT_DOUBLE`, or `PC_CROUT_SINGLE` for half the memory; sums and vectors stay in double precision

  Options Database Key:
. -pc_crout_precision (double|single) - the precision

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetPrecision()`
@*/
PetscErrorCode PCCroutSetPrecision(PC pc, PCCroutPrecision precision)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetPrecision - gets the precision of the factors of a `PCCROUT`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. precision - `PC_CROUT_DOUBLE` or `PC_CROUT_SINGLE`

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetPrecision()`
@*/
PetscErrorCode PCCroutGetPrecision(PC pc, PCCroutPrecision *precision)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetCheck - sets when a `PCCROUT` with complete factors says that its solves lose digits, and when it fails for that

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. warn - relative residual of a random solve above which `-info` reports it and a step of iterative refinement is tried
- fail - relative residual above which the set-up fails with `PC_FACTOR_OTHER`

  Options Database Keys:
+ -pc_crout_check_warn <1e-10> - the first bound
- -pc_crout_check_fail <1e-4>  - the second bound

  Level: advanced

  Note:
  The factors of `PCLU` and `PCCHOLESKY` with the solver type crout read the same two options, with the prefix of their PC.

.seealso: `PCCROUT`, `PCCroutGetCheck()`, `MATSOLVERCROUT`, `PCCroutSetPattern()`
@*/
PetscErrorCode PCCroutSetCheck(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetCheck_C", warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetCheck - gets when a `PCCROUT` with complete factors says that its solves lose digits, and when it fails for that

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ warn - relative residual of a random solve above which it is reported
- fail - relative residual above which the set-up fails

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetCheck()`
@*/
PetscErrorCode PCCroutGetCheck(PC pc, PetscReal *warn, PetscReal *fail)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetCheck_C", warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCroutSetTriangularSolve_Crout(PC pc, const char name[], PetscInt steps)
{
  PetscFunctionBegin;
  PetscCheck(name, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCCroutSetTriangularSolve(): no name is given");
  PetscCheck(steps >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_crout_trisolve_steps %" PetscInt_FMT ": the number of steps must be non-negative, 0 for automatic", steps);
  std::optional<std::string> why;
  TriangularOptions options;
  if (steps > 0) options.steps = (int)steps;
  PetscCallCXX(why = triangular_method_refuses(name, options));
  PetscCheck(!why, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-pc_crout_trisolve %s: %s", name, why->c_str());
  PetscCall(Choose(pc, &Data(pc)->settings.solve, std::string(name)));
  PetscCall(Choose(pc, &Data(pc)->settings.solve_steps, (int)steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCCroutSetTriangularSolve - sets how a `PCCROUT` solves with its triangles

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
. name  - "jacobi" or "isai", which are approximate; "levels" or "syncfree", which are exact; or "auto", which is exact on
          a host and tests jacobi on a device
- steps - the number of jacobi steps; 0 for as many as a test asks for

  Options Database Keys:
+ -pc_crout_trisolve (jacobi|isai|levels|syncfree|auto) - the method
- -pc_crout_trisolve_steps <0>                          - the number of jacobi steps

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetTriangularSolve()`
@*/
PetscErrorCode PCCroutSetTriangularSolve(PC pc, const char name[], PetscInt steps)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetTriangularSolve_C", name, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCCroutGetTriangularSolve - gets how a `PCCROUT` solves with its triangles

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ name  - the method, or "auto"
- steps - the number of jacobi steps; 0 for as many as a test asks for

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetTriangularSolve()`
@*/
PetscErrorCode PCCroutGetTriangularSolve(PC pc, const char *name[], PetscInt *steps)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetTriangularSolve_C", name, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static constexpr auto some_levels = [](PetscInt levels) { return levels >= 0 && levels <= most_levels_of_fill; };

PetscErrorCode weft::PCCroutComposeSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCCroutGetData_C", [](PC pc, PC_Crout **crout) { return Get(crout, Data(pc)); }),
      composed("PCCroutSetPattern_C",
               SetChoice<"PCCrout", "Pattern", PC_CROUT_FULL, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::pattern>),
      composed("PCCroutGetPattern_C", GetMember<PCCroutPattern, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::pattern>),
      composed("PCCroutSetLevels_C", SetBounded<PetscInt, "pc_crout_levels", "levels of fill are from 0 to 60000", some_levels,
                                                &PC_Crout::settings, &CroutSettings::options, &CroutOptions::levels>),
      composed("PCCroutGetLevels_C", GetMember<PetscInt, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::levels>),
      composed("PCCroutSetDropTolerance_C", PCCroutSetDropTolerance_Crout),
      composed("PCCroutGetDropTolerance_C",
               [](PC pc, PetscReal *tolerance, PetscInt *quota) {
                 return GetBoth(tolerance, Data(pc)->settings.options.drop_tolerance, quota, Data(pc)->settings.options.row_quota);
               }),
      composed("PCCroutSetMostOperations_C",
               SetBounded<PetscReal, "pc_crout_most_operations", "a number of multiplications cannot be negative; 0 allows any",
                          not_negative, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::most_operations>),
      composed("PCCroutGetMostOperations_C",
               GetMember<PetscReal, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::most_operations>),
      composed("PCCroutSetPrecision_C", SetChoice<"PCCrout", "Precision", PC_CROUT_SINGLE, &PC_Crout::settings, &CroutSettings::precision>),
      composed("PCCroutGetPrecision_C", GetMember<PCCroutPrecision, &PC_Crout::settings, &CroutSettings::precision>),
      composed("PCCroutSetCheck_C",
               [](PC pc, PetscReal warn, PetscReal fail) {
                 CroutSettings &settings = Data(pc)->settings;
                 return SetCheck(pc, "pc_crout", &settings.check_warn, warn, &settings.check_fail, fail);
               }),
      composed("PCCroutGetCheck_C",
               [](PC pc, PetscReal *warn, PetscReal *fail) {
                 return GetBoth(warn, Data(pc)->settings.check_warn, fail, Data(pc)->settings.check_fail);
               }),
      composed("PCCroutSetTriangularSolve_C", PCCroutSetTriangularSolve_Crout),
      composed("PCCroutGetTriangularSolve_C",
               [](PC pc, const char **name, PetscInt *steps) {
                 return GetBoth(name, Data(pc)->settings.solve, steps, Data(pc)->settings.solve_steps);
               }),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscCall(PCCroutComposeMatrixSetters(pc, compose));
  PetscCall(PCCroutComposeSweepSetters(pc, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
