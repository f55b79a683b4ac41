// PCADI's setters and getters: what each does, its page and the function that programs call, together.
#include "petsc/setters.h"
#include "adi/adi_impl.h"
#include "petsc/number_text.h"

using namespace weft;

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
  With the parts H_k and shifts p_k, peaceman_rachford solves with H_1 + p_1 and then with H_2 + p_2, and forms a residual before each solve.
  douglas_gunn forms one residual for both solves; if the matrix splits completely, it is the same iteration in exact arithmetic.
  douglas_rachford is damped more strongly and converges more slowly. In three dimensions peaceman_rachford stands for Douglas's extension of
  it, which is douglas_gunn, because half-sweeps of its own would not converge for all shifts.

.seealso: `PCADI`, `PCADIGetType()`, `PCADISetShifts()`
@*/
PetscErrorCode PCADISetType(PC pc, PCADIType type)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetType_C", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetType - gets the scheme of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. type - `PC_ADI_PEACEMAN_RACHFORD`, `PC_ADI_DOUGLAS_RACHFORD` or `PC_ADI_DOUGLAS_GUNN`

  Level: intermediate

.seealso: `PCADI`, `PCADISetType()`
@*/
PetscErrorCode PCADIGetType(PC pc, PCADIType *type)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetType_C", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCADISetIterations_ADI(PC pc, PetscInt iterations)
{
  PetscFunctionBegin;
  PetscCheck(iterations >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_adi_iterations %" PetscInt_FMT ": at least one cycle is needed", iterations);
  PetscCall(Choose(pc, &Adi(pc)->iterations, iterations)); // set-up tries an application
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetIterations - sets the number of cycles in one application of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- iterations - the number of cycles, at least 1

  Options Database Key:
. -pc_adi_iterations <1> - the number of cycles

  Level: intermediate

.seealso: `PCADI`, `PCADIGetIterations()`, `PCADISetCycle()`
@*/
PetscErrorCode PCADISetIterations(PC pc, PetscInt iterations)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetIterations_C", iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetIterations - gets the number of cycles in one application of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. iterations - the number of cycles

  Level: intermediate

.seealso: `PCADI`, `PCADISetIterations()`
@*/
PetscErrorCode PCADIGetIterations(PC pc, PetscInt *iterations)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetIterations_C", iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADISetLineSolver - sets the tridiagonal method of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- solver - the method's name, or "auto" to choose it by the length and number of the lines and by where the vectors are

  Options Database Key:
. -pc_adi_line_solver <auto> - the method: thomas, wide, pivoted, spike, or a method for comparison; `-help` lists all

  Level: advanced

  Note:
  Hybrid methods switch where they do by default, because `PCLineSetKernelParameters()` is for `PCLINE` only.

.seealso: `PCADI`, `PCADIGetLineSolver()`, `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCADISetLineSolver(PC pc, const char solver[])
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetLineSolver_C", solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADIGetLineSolver - gets the tridiagonal method of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. solver - the method's name; "auto" if it is chosen for each direction

  Level: advanced

  Note:
  `PCView()` shows what was chosen.

.seealso: `PCADI`, `PCADISetLineSolver()`
@*/
PetscErrorCode PCADIGetLineSolver(PC pc, const char *solver[])
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetLineSolver_C", solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetSymmetric - chooses the symmetric form of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- symmetric - `PETSC_TRUE` for the symmetric form

  Options Database Key:
. -pc_adi_symmetric <false> - the choice

  Level: intermediate

  Note:
  The symmetric form is a sum over the shifts of products there and back, x y z z y x, with weights that make the sum an approximation of the
  inverse. For a symmetric matrix with definite parts it is symmetric and positive definite, and thus fit for `KSPCG`, even if the parts do
  not commute. It forms no residual. It replaces the scheme of `PCADISetType()`.

  With complex scalars the form is Hermitian and positive definite if the parts are, for `KSPCG`. For a complex symmetric matrix it is complex
  symmetric: use `KSPGMRES`, because `-ksp_cg_type symmetric` of PETSc 3.18 ends in `KSP_DIVERGED_INDEFINITE_MAT` on some such matrices.

.seealso: `PCADI`, `PCADIGetSymmetric()`, `PCADISetType()`
@*/
PetscErrorCode PCADISetSymmetric(PC pc, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetSymmetric_C", symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetSymmetric - gets whether a `PCADI` has the symmetric form

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. symmetric - whether it has the symmetric form

  Level: intermediate

.seealso: `PCADI`, `PCADISetSymmetric()`
@*/
PetscErrorCode PCADIGetSymmetric(PC pc, PetscBool *symmetric)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetSymmetric_C", symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetKeepFactors - chooses whether a `PCADI` keeps the factors of its lines

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- keep - if `PETSC_FALSE`, refactor in every sweep to save memory

  Options Database Key:
. -pc_adi_keep_factors <true> - whether the factors are kept

  Level: advanced

  Note:
  Kept factors take up to four words a row for each shift and direction.

.seealso: `PCADI`, `PCADIGetKeepFactors()`, `PCADISetCycle()`
@*/
PetscErrorCode PCADISetKeepFactors(PC pc, PetscBool keep)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetKeepFactors_C", keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetKeepFactors - gets whether a `PCADI` keeps the factors of its lines

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. keep - whether the factors are kept

  Level: advanced

.seealso: `PCADI`, `PCADISetKeepFactors()`
@*/
PetscErrorCode PCADIGetKeepFactors(PC pc, PetscBool *keep)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetKeepFactors_C", keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <auto member, class Number>
static PetscErrorCode GetNumbers(PC pc, PetscInt *count, const Number **numbers)
{
  const std::vector<Number> &given = Adi(pc)->*member;

  PetscFunctionBegin;
  *count   = (PetscInt)given.size();
  *numbers = given.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCADISetShifts_ADI(PC pc, PetscInt count, const PetscScalar shifts[])
{
  const auto fits = [](PetscScalar p) { return PetscDefined(USE_COMPLEX) ? p != 0.0 : PetscRealPart(p) > 0; };

  PetscFunctionBegin;
  PetscCheck(count >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCADISetShifts(): %" PetscInt_FMT " is no number of shifts; 0 has them computed", count);
  for (PetscInt j = 0; j < count; j++) {
    const bool fine = fits(shifts[j]) && !PetscIsInfOrNanScalar(shifts[j]);
    PetscCheck(fine || PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_adi_shifts: shift %" PetscInt_FMT " is %g, and shifts must be positive and finite", j + 1,
               (double)PetscRealPart(shifts[j]));
    PetscCheck(fine, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_adi_shifts: shift %" PetscInt_FMT " is %s, and complex shifts must be finite and not 0", j + 1,
               NumberText(shifts[j]).c_str());
  }
  PetscCall(Choose(pc, &Adi(pc)->given_shifts, std::vector<PetscScalar>(shifts, shifts + count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetShifts - gives the shifts of a cycle of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
. count  - the number of shifts; 0 to compute them again
- shifts - the shifts, finite, in the order of the sweeps; real ones are positive, complex ones other than 0

  Options Database Key:
. -pc_adi_shifts <p1,p2,...> - the shifts

  Level: intermediate

  Note:
  Each shift is used along all directions. Shifts are added to the diagonal of the matrix's parts, so that they are of the size of its
  entries. With real scalars they are subtracted if the diagonal is negative. With complex scalars they are added as they are given, because
  no other rule would be clear: for a matrix e^{i t} R give e^{i t} times the shifts of R.

.seealso: `PCADI`, `PCADIGetShifts()`, `PCADISetCycle()`, `PCADISetBounds()`
@*/
PetscErrorCode PCADISetShifts(PC pc, PetscInt count, const PetscScalar shifts[])
{
  PetscFunctionBegin;
  PetscCheck(count <= 0 || shifts, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetShifts(): no shifts are given");
  PetscCall(CallSetter(pc, "PCADISetShifts_C", count, shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADIGetShifts - gets the shifts that were given to a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ count  - the number of shifts; 0 if they are computed
- shifts - the shifts; valid until others are set

  Level: intermediate

  Note:
  `PCView()` shows computed shifts.

.seealso: `PCADI`, `PCADISetShifts()`
@*/
PetscErrorCode PCADIGetShifts(PC pc, PetscInt *count, const PetscScalar *shifts[])
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetShifts_C", count, shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCADISetCycle_ADI(PC pc, PetscInt length)
{
  PetscFunctionBegin;
  PetscCheck(length >= 0 && length <= adi_most_shifts, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_adi_cycle %" PetscInt_FMT ": a cycle has 1 to %" PetscInt_FMT " shifts, or 0 for as many as reduce the error tenfold",
             length, adi_most_shifts);
  PetscCall(Choose(pc, &Adi(pc)->cycle, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetCycle - sets the number of shifts in a cycle of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- length - 1 to 256; 0 for as many as reduce the error tenfold if the parts commute

  Options Database Key:
. -pc_adi_cycle <0> - the number of shifts

  Level: intermediate

  Note:
  A longer cycle takes more sweeps and reduces the error by more; up to some length it also reduces it by more in each sweep. If no cycle of
  reasonable length reduces the error tenfold, 0 chooses one that is nearly the best per sweep. Factors are kept for each shift, see
  `PCADISetKeepFactors()`. In the symmetric form the length is the number of terms. Given shifts are repeated or cut off to this length.

.seealso: `PCADI`, `PCADIGetCycle()`, `PCADISetShifts()`, `PCADISetIterations()`
@*/
PetscErrorCode PCADISetCycle(PC pc, PetscInt length)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetCycle_C", length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetCycle - gets the number of shifts in a cycle of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. length - 1 to 256; 0 for as many as reduce the error tenfold if the parts commute

  Level: intermediate

.seealso: `PCADI`, `PCADISetCycle()`
@*/
PetscErrorCode PCADIGetCycle(PC pc, PetscInt *length)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetCycle_C", length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/*@
  PCADISetBounds - gives bounds of the spectra of the parts of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
. count  - 2, or 2 for each direction along which the matrix has couplings; 0 to find the bounds again
- bounds - the lower and the upper bound of each interval

  Options Database Key:
. -pc_adi_bounds <a,b> - the bounds

  Level: intermediate

  Note:
  Two numbers are one interval for all parts. The shifts are the best ones for parts with these spectra. The lower bounds of all parts must
  add up to more than zero. With complex scalars the bounds are those of the parts divided by the number of modulus 1 that `PCView()` shows;
  offsets from their line are found, as without bounds.

.seealso: `PCADI`, `PCADIGetBounds()`, `PCADISetBoundsMethod()`, `PCADISetShifts()`
@*/
PetscErrorCode PCADISetBounds(PC pc, PetscInt count, const PetscReal bounds[])
{
  PetscFunctionBegin;
  PetscCheck(count <= 0 || bounds, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCADISetBounds(): no bounds are given");
  PetscCall(CallSetter(pc, "PCADISetBounds_C", count, bounds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADIGetBounds - gets the bounds that were given of the spectra of the parts of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ count  - the number of bounds, two for each interval; 0 if they are found
- bounds - the lower and the upper bound of each interval; valid until others are set

  Level: intermediate

  Note:
  `PCView()` shows the bounds that were found.

.seealso: `PCADI`, `PCADISetBounds()`
@*/
PetscErrorCode PCADIGetBounds(PC pc, PetscInt *count, const PetscReal *bounds[])
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCADIGetBounds_C", count, bounds));
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
  Both methods take the upper bounds from Gershgorin's circles. lanczos finds the lower bounds by 16 steps of the Lanczos method on the
  inverses of the parts. gershgorin takes them from the circles as well or, where the circles reach zero, from a uniform line between fixed
  ends.

.seealso: `PCADI`, `PCADIGetBoundsMethod()`, `PCADISetBounds()`
@*/
PetscErrorCode PCADISetBoundsMethod(PC pc, PCADIBoundsMethod method)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCADISetBoundsMethod_C", method));
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
  PetscCall(CallGetter(pc, "PCADIGetBoundsMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode weft::PCADIComposeSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCADISetType_C", SetChoice<"PCADI", "Type", PC_ADI_DOUGLAS_GUNN, &PC_ADI::type>),
      composed("PCADIGetType_C", GetMember<PCADIType, &PC_ADI::type>),
      composed("PCADISetIterations_C", PCADISetIterations_ADI),
      composed("PCADIGetIterations_C", GetMember<PetscInt, &PC_ADI::iterations>),
      composed("PCADISetLineSolver_C",
               [](PC pc, const char solver[]) {
                 return SetName<&PC_ADI::line_solver>(pc, "PCADISetLineSolver", "line solver", solver, AdiLineSolvers());
               }),
      composed("PCADIGetLineSolver_C", GetMember<const char *, &PC_ADI::line_solver>),
      composed("PCADISetSymmetric_C", SetMember<PetscBool, &PC_ADI::symmetric>),
      composed("PCADIGetSymmetric_C", GetMember<PetscBool, &PC_ADI::symmetric>),
      composed("PCADISetKeepFactors_C", SetMember<PetscBool, &PC_ADI::keep_factors>),
      composed("PCADIGetKeepFactors_C", GetMember<PetscBool, &PC_ADI::keep_factors>),
      composed("PCADISetShifts_C", PCADISetShifts_ADI),
      composed("PCADIGetShifts_C", GetNumbers<&PC_ADI::given_shifts, PetscScalar>),
      composed("PCADISetCycle_C", PCADISetCycle_ADI),
      composed("PCADIGetCycle_C", GetMember<PetscInt, &PC_ADI::cycle>),
      composed("PCADISetBounds_C", PCADISetBounds_ADI),
      composed("PCADIGetBounds_C", GetNumbers<&PC_ADI::given_bounds, PetscReal>),
      composed("PCADISetBoundsMethod_C", SetChoice<"PCADI", "BoundsMethod", PC_ADI_LANCZOS, &PC_ADI::bounds_method>),
      composed("PCADIGetBoundsMethod_C", GetMember<PCADIBoundsMethod, &PC_ADI::bounds_method>),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
