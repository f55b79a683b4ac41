// PCCROUT's setters and getters of how factors are found.
#include "crout/crout_impl.h"
#include "petsc/setters.h"

using namespace weft;

/*@
  PCCroutSetMethod - sets how a `PCCROUT` finds its factors

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- method - `PC_CROUT_METHOD_SWEEPS` for fixed-point sweeps, `PC_CROUT_METHOD_EXACT` for elimination, or `PC_CROUT_METHOD_AUTO` for
           elimination on a host, for full fill and if sweeps on a device would take longer, and for sweeps otherwise

  Options Database Key:
. -pc_crout_method (sweeps|exact|auto) - the method

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetMethod()`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutSetMethod(PC pc, PCCroutMethod method)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetMethod - gets how a `PCCROUT` finds its factors

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. method - `PC_CROUT_METHOD_SWEEPS`, `PC_CROUT_METHOD_EXACT` or `PC_CROUT_METHOD_AUTO`

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetMethod()`
@*/
PetscErrorCode PCCroutGetMethod(PC pc, PCCroutMethod *method)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetSweeps - sets the number of sweeps by which a `PCCROUT` finds its factors

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - the number of sweeps, or with a tolerance the largest number; 0 for as many as are needed

  Options Database Key:
. -pc_crout_sweeps <0> - the number of sweeps

  Level: intermediate

  Note:
  With the method `PC_CROUT_METHOD_AUTO`, a number of sweeps above 0 makes the method that of sweeps.

.seealso: `PCCROUT`, `PCCroutGetSweeps()`, `PCCroutSetMethod()`, `PCCroutSetTolerance()`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutSetSweeps(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetSweeps_C", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetSweeps - gets the number of sweeps by which a `PCCROUT` finds its factors

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. sweeps - the number of sweeps; 0 for as many as are needed

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutGetSweeps(PC pc, PetscInt *sweeps)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetSweeps_C", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetTolerance - makes a `PCCROUT` sweep until the residual of its factors is small

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- tolerance - bound of ||A - L U|| / ||A||, in Frobenius norms over the pattern of the factors; 0 for no such bound

  Options Database Key:
. -pc_crout_rtol <tolerance> - the tolerance

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetTolerance()`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutSetTolerance(PC pc, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetTolerance_C", tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetTolerance - gets the residual of its factors until which a `PCCROUT` sweeps

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. tolerance - the residual; 0 if there is no such bound

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetTolerance()`
@*/
PetscErrorCode PCCroutGetTolerance(PC pc, PetscReal *tolerance)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetTolerance_C", tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetOmega - sets the under-relaxation of the sweeps of a `PCCROUT`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- omega - the factor, above 0 and at most 1; 0 for 1, and for 0.5 if the sweeps grow

  Options Database Key:
. -pc_crout_omega <0> - the factor

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetOmega()`, `PCCroutSetSweeps()`, `PCCroutSetSections()`
@*/
PetscErrorCode PCCroutSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetOmega_C", omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetOmega - gets the under-relaxation of the sweeps of a `PCCROUT`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. omega - the factor; 0 for 1, and for 0.5 if the sweeps grow

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutGetOmega(PC pc, PetscReal *omega)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetOmega_C", omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetSections - sets into how many blocks of rows, each swept until it has converged, a `PCCROUT` cuts its matrix

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- sections - the number of blocks, at least 1; 0 for one, and for more if sweeps over all rows grow

  Options Database Key:
. -pc_crout_sections <0> - the number of blocks

  Level: advanced

.seealso: `PCCROUT`, `PCCroutGetSections()`, `PCCroutSetSweeps()`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutSetSections(PC pc, PetscInt sections)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetSections_C", sections));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetSections - gets into how many blocks of rows a `PCCROUT` cuts its matrix

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. sections - the number of blocks; 0 for one, and for more if sweeps over all rows grow

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetSections()`
@*/
PetscErrorCode PCCroutGetSections(PC pc, PetscInt *sections)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetSections_C", sections));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetAsynchronous - makes a `PCCROUT` sweep in place, every entry with the newest values of the others

  Logically Collective

  Input Parameters:
+ pc           - the preconditioner
- asynchronous - `PETSC_TRUE` to need fewer sweeps; no two runs then give the same bits

  Options Database Key:
. -pc_crout_async (true|false) - in place or not

  Level: advanced

.seealso: `PCCROUT`, `PCCroutGetAsynchronous()`, `PCCroutSetSweeps()`
@*/
PetscErrorCode PCCroutSetAsynchronous(PC pc, PetscBool asynchronous)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetAsynchronous_C", asynchronous));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetAsynchronous - gets whether a `PCCROUT` sweeps in place

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. asynchronous - whether it sweeps in place

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetAsynchronous()`
@*/
PetscErrorCode PCCroutGetAsynchronous(PC pc, PetscBool *asynchronous)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetAsynchronous_C", asynchronous));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCCroutGetHistory - gets the residuals of the factors of a `PCCROUT`, sweep by sweep

  Not Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameters:
+ count     - the number of residuals; 0 if the factors were found without sweeps, or the matrix is dense
- residuals - ||A - L U|| / ||A|| of this rank's block before each sweep, or in several sections before the first sweep and the last one;
              valid until the next set-up

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

static constexpr auto is_omega = [](PetscReal omega) { return omega >= 0 && omega <= 1; };

PetscErrorCode weft::PCCroutComposeSweepSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCCroutSetMethod_C", SetChoice<"PCCrout", "Method", PC_CROUT_METHOD_AUTO, &PC_Crout::method>),
      composed("PCCroutGetMethod_C", GetMember<PCCroutMethod, &PC_Crout::method>),
      composed("PCCroutSetSweeps_C", SetBounded<PetscInt, "pc_crout_sweeps", "the number of sweeps must be non-negative, 0 for automatic",
                                                not_negative, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::sweeps>),
      composed("PCCroutGetSweeps_C", GetMember<PetscInt, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::sweeps>),
      composed("PCCroutSetTolerance_C",
               SetBounded<PetscReal, "pc_crout_rtol", "the tolerance must be non-negative", finite_not_negative, &PC_Crout::tolerance>),
      composed("PCCroutGetTolerance_C", GetMember<PetscReal, &PC_Crout::tolerance>),
      composed("PCCroutSetOmega_C", SetBounded<PetscReal, "pc_crout_omega", "the relaxation factor must be in (0, 1], or 0 for automatic",
                                               is_omega, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::omega>),
      composed("PCCroutGetOmega_C", GetMember<PetscReal, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::omega>),
      composed("PCCroutSetSections_C",
               SetBounded<PetscInt, "pc_crout_sections", "the number of sections must be non-negative, 0 for automatic", not_negative,
                          &PC_Crout::settings, &CroutSettings::options, &CroutOptions::sections>),
      composed("PCCroutGetSections_C", GetMember<PetscInt, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::sections>),
      composed("PCCroutSetAsynchronous_C", SetMember<PetscBool, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::asynchronous>),
      composed("PCCroutGetAsynchronous_C", GetMember<PetscBool, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::asynchronous>),
      composed("PCCroutGetHistory_C", PCCroutGetHistory_Crout),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
