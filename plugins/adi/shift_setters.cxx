// PCADI's setters and getters of shifts and of what they are computed from.
#include "adi/adi_impl.h"
#include "petsc/setters.h"

namespace weft {

namespace {

template <std::vector<PetscReal> PC_ADI::*member>
PetscErrorCode GetNumbers(PC pc, PetscInt *count, const PetscReal **numbers)
{
  const std::vector<PetscReal> &given = Adi(pc)->*member;

  PetscFunctionBegin;
  *count   = (PetscInt)given.size();
  *numbers = given.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

static PetscErrorCode PCADISetShifts_ADI(PC pc, PetscInt count, const PetscReal shifts[])
{
  PetscFunctionBegin;
  PetscCheck(count >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCADISetShifts(): %" PetscInt_FMT " is no number of shifts; 0 has them computed", count);
  for (PetscInt j = 0; j < count; j++)
    PetscCheck(shifts[j] > 0 && !PetscIsInfOrNanReal(shifts[j]), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_adi_shifts: shift %" PetscInt_FMT " is %g, and shifts must be positive and finite", j + 1, (double)shifts[j]);
  PetscCall(Choose(pc, &Adi(pc)->given_shifts, std::vector<PetscReal>(shifts, shifts + count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

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

.seealso: `PCADI`, `PCADIGetShifts()`, `PCADISetCycle()`, `PCADISetBounds()`
@*/
PetscErrorCode PCADISetShifts(PC pc, PetscInt count, const PetscReal shifts[])
{
  PetscFunctionBegin;
  PetscCheck(count <= 0 || shifts, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetShifts(): no shifts are given");
  PetscCall(weft::CallSetter(pc, "PCADISetShifts_C", count, shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADIGetShifts - gets the shifts that were given to a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ count  - their number; 0 where they are computed
- shifts - the shifts; valid until other ones are set

  Level: intermediate

  Note:
  `PCView()` shows computed ones.

.seealso: `PCADI`, `PCADISetShifts()`
@*/
PetscErrorCode PCADIGetShifts(PC pc, PetscInt *count, const PetscReal *shifts[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetShifts_C", count, shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCADISetCycle_ADI(PC pc, PetscInt length)
{
  PetscFunctionBegin;
  PetscCheck(length >= 0 && length <= adi_most_shifts, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_adi_cycle %" PetscInt_FMT ": a cycle has 1 to %" PetscInt_FMT " shifts, or 0 for as many as reduce the error tenfold",
             length, adi_most_shifts);
  PetscCall(Choose(pc, &Adi(pc)->cycle, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

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

.seealso: `PCADI`, `PCADIGetCycle()`, `PCADISetShifts()`, `PCADISetIterations()`
@*/
PetscErrorCode PCADISetCycle(PC pc, PetscInt length)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetCycle_C", length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetCycle - gets the number of shifts in a cycle of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. length - 1 or more; 0 for as many as reduce the error tenfold if the parts commute

  Level: intermediate

.seealso: `PCADI`, `PCADISetCycle()`
@*/
PetscErrorCode PCADIGetCycle(PC pc, PetscInt *length)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetCycle_C", length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCADISetBounds_ADI(PC pc, PetscInt count, const PetscReal bounds[])
{
  PetscFunctionBegin;
  PetscCheck(count == 0 || count == 2 || count == 4 || count == 6, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "-pc_adi_bounds: give two numbers, or two for each direction, not %" PetscInt_FMT, count);
  for (PetscInt d = 0; d < count; d += 2) {
    PetscCheck(!PetscIsInfOrNanReal(bounds[d]) && !PetscIsInfOrNanReal(bounds[d + 1]) && bounds[d] <= bounds[d + 1],
               PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "-pc_adi_bounds %g,%g: expected lower <= upper, both finite",
               (double)bounds[d], (double)bounds[d + 1]);
  }
  PetscCall(Choose(pc, &Adi(pc)->given_bounds, std::vector<PetscReal>(bounds, bounds + count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

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

.seealso: `PCADI`, `PCADIGetBounds()`, `PCADISetBoundsMethod()`, `PCADISetShifts()`
@*/
PetscErrorCode PCADISetBounds(PC pc, PetscInt count, const PetscReal bounds[])
{
  PetscFunctionBegin;
  PetscCheck(count <= 0 || bounds, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetBounds(): no bounds are given");
  PetscCall(weft::CallSetter(pc, "PCADISetBounds_C", count, bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADIGetBounds - gets the bounds that were given of the spectra of the parts of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ count  - their number, two for each interval; 0 where they are found
- bounds - the lower one and the upper one of each; valid until other ones are set

  Level: intermediate

  Note:
  `PCView()` shows those that were found.

.seealso: `PCADI`, `PCADISetBounds()`
@*/
PetscErrorCode PCADIGetBounds(PC pc, PetscInt *count, const PetscReal *bounds[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetBounds_C", count, bounds));
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

.seealso: `PCADI`, `PCADIGetBoundsMethod()`, `PCADISetBounds()`
@*/
PetscErrorCode PCADISetBoundsMethod(PC pc, PCADIBoundsMethod method)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetBoundsMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetBoundsMethod - gets how a `PCADI` bounds the spectra of its parts

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. method - `PC_ADI_LANCZOS` or `PC_ADI_GERSHGORIN`

  Level: advanced

.seealso: `PCADI`, `PCADISetBoundsMethod()`
@*/
PetscErrorCode PCADIGetBoundsMethod(PC pc, PCADIBoundsMethod *method)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetBoundsMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

PetscErrorCode PCADIComposeShiftSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCADISetShifts_C", PCADISetShifts_ADI),
      composed("PCADIGetShifts_C", GetNumbers<&PC_ADI::given_shifts>),
      composed("PCADISetCycle_C", PCADISetCycle_ADI),
      composed("PCADIGetCycle_C", GetMember<PetscInt, &PC_ADI::cycle>),
      composed("PCADISetBounds_C", PCADISetBounds_ADI),
      composed("PCADIGetBounds_C", GetNumbers<&PC_ADI::given_bounds>),
      composed("PCADISetBoundsMethod_C", SetChoice<"PCADI", "BoundsMethod", PC_ADI_LANCZOS, &PC_ADI::bounds_method>),
      composed("PCADIGetBoundsMethod_C", GetMember<PCADIBoundsMethod, &PC_ADI::bounds_method>),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
