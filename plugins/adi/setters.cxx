// PCADI's setters and getters: what each does, its page and the function that programs call, together. Those of shifts stand apart.
#include "petsc/setters.h"
#include "adi/adi_impl.h"

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

.seealso: `PCADI`, `PCADIGetType()`, `PCADISetShifts()`
@*/
PetscErrorCode PCADISetType(PC pc, PCADIType type)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetType_C", type));
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
  PetscCall(weft::CallGetter(pc, "PCADIGetType_C", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCADISetIterations_ADI(PC pc, PetscInt iterations)
{
  PetscFunctionBegin;
  PetscCheck(iterations >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_adi_iterations %" PetscInt_FMT ": at least one cycle is needed", iterations);
  Adi(pc)->iterations = iterations;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCADISetIterations - sets the number of cycles in one application of a `PCADI`

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- iterations - at least 1

  Options Database Key:
. -pc_adi_iterations <1> - the number

  Level: intermediate

.seealso: `PCADI`, `PCADIGetIterations()`, `PCADISetCycle()`
@*/
PetscErrorCode PCADISetIterations(PC pc, PetscInt iterations)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetIterations_C", iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetIterations - gets the number of cycles in one application of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. iterations - the number

  Level: intermediate

.seealso: `PCADI`, `PCADISetIterations()`
@*/
PetscErrorCode PCADIGetIterations(PC pc, PetscInt *iterations)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetIterations_C", iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCADISetLineSolver_ADI(PC pc, const char solver[])
{
  PetscFunctionBegin;
  PetscCall(SetName<&PC_ADI::line_solver>(pc, "PCADISetLineSolver", "line solver", solver, AdiLineSolvers()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@C
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

.seealso: `PCADI`, `PCADIGetLineSolver()`, `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCADISetLineSolver(PC pc, const char solver[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetLineSolver_C", solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCADIGetLineSolver - gets the tridiagonal method of a `PCADI`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. solver - its name, "auto" where it is chosen for each direction

  Level: advanced

  Note:
  `PCView()` shows what was chosen.

.seealso: `PCADI`, `PCADISetLineSolver()`
@*/
PetscErrorCode PCADIGetLineSolver(PC pc, const char *solver[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetLineSolver_C", solver));
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

.seealso: `PCADI`, `PCADIGetSymmetric()`, `PCADISetType()`
@*/
PetscErrorCode PCADISetSymmetric(PC pc, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetSymmetric_C", symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetSymmetric - gets whether a `PCADI` has the symmetric form

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. symmetric - whether it has

  Level: intermediate

.seealso: `PCADI`, `PCADISetSymmetric()`
@*/
PetscErrorCode PCADIGetSymmetric(PC pc, PetscBool *symmetric)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetSymmetric_C", symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADISetKeepFactors - chooses whether a `PCADI` keeps the factors of its lines

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- keep - if `PETSC_FALSE`, refactor in every sweep to save memory

  Options Database Key:
. -pc_adi_keep_factors <true> - whether they are kept

  Level: advanced

  Note:
  Kept factors take up to four words a row for each shift and direction.

.seealso: `PCADI`, `PCADIGetKeepFactors()`, `PCADISetCycle()`
@*/
PetscErrorCode PCADISetKeepFactors(PC pc, PetscBool keep)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCADISetKeepFactors_C", keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCADIGetKeepFactors - gets whether a `PCADI` keeps the factors of its lines

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. keep - whether they are kept

  Level: advanced

.seealso: `PCADI`, `PCADISetKeepFactors()`
@*/
PetscErrorCode PCADIGetKeepFactors(PC pc, PetscBool *keep)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCADIGetKeepFactors_C", keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

PetscErrorCode PCADIComposeSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCADISetType_C", SetChoice<"PCADI", "Type", PC_ADI_DOUGLAS_GUNN, &PC_ADI::type>),
      composed("PCADIGetType_C", GetMember<PCADIType, &PC_ADI::type>),
      composed("PCADISetIterations_C", PCADISetIterations_ADI),
      composed("PCADIGetIterations_C", GetMember<PetscInt, &PC_ADI::iterations>),
      composed("PCADISetLineSolver_C", PCADISetLineSolver_ADI),
      composed("PCADIGetLineSolver_C", GetMember<const char *, &PC_ADI::line_solver>),
      composed("PCADISetSymmetric_C", SetMember<PetscBool, &PC_ADI::symmetric>),
      composed("PCADIGetSymmetric_C", GetMember<PetscBool, &PC_ADI::symmetric>),
      composed("PCADISetKeepFactors_C", SetMember<PetscBool, &PC_ADI::keep_factors>),
      composed("PCADIGetKeepFactors_C", GetMember<PetscBool, &PC_ADI::keep_factors>),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscCall(PCADIComposeShiftSetters(pc, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
