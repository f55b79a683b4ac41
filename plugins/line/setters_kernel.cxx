// By what PCLINE solves its lines: setters and getters, each with its page and the function that programs call.
#include "line/line_impl.h"
#include "petsc/setters.h"

namespace weft {

static PetscErrorCode PCLineSetKernel_Line(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  PetscCall(SetName<&PC_Line::kernel>(pc, "PCLineSetKernel", "line kernel", kernel, LineKernels()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@C
  PCLineSetKernel - sets the method by which a `PCLINE` solves tridiagonal lines

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- kernel - the method's name, or "auto" to choose it by the length and number of the lines and by where the vectors are

  Options Database Key:
. -pc_line_kernel <auto> - the method: thomas, wide, toeplitz, pivoted, spike, or a method for comparison; `-help` lists all

  Level: advanced

  Note:
  auto chooses toeplitz for lines with constant coefficients if that is the fastest method, and pivoted if a line has a zero pivot without
  pivoting, or if lines that are all that the matrix couples lose digits.

.seealso: `PCLINE`, `PCLineGetKernel()`, `PCLineSetKernelParameters()`
@*/
PetscErrorCode PCLineSetKernel(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetKernel_C", kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCLineGetKernel - gets the method by which a `PCLINE` solves tridiagonal lines

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. kernel - the method's name, or "auto"

  Level: advanced

.seealso: `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineGetKernel(PC pc, const char *kernel[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetKernel_C", kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetKernelParameters_Line(PC pc, PetscInt switch_rows, PetscInt steps, PetscInt partitions, PetscInt slice,
                                                     PetscReal tolerance)
{
  MethodParameters parameters;

  PetscFunctionBegin;
  PetscCheck(switch_rows >= 0 && steps >= 0 && partitions >= 0 && slice >= 0 && tolerance >= 0 && !PetscIsInfOrNanReal(tolerance),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_kernel_(switch|steps|partitions|slice|tolerance): none may be negative, and 0 leaves the kernel the choice");
  parameters.switch_rows = switch_rows;
  parameters.steps       = (int)steps;
  parameters.partitions  = (int)partitions;
  parameters.slice       = (int)slice;
  parameters.tolerance   = tolerance;
  PetscCall(Choose(pc, &Data(pc)->kernel_parameters, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLineGetKernelParameters_Line(PC pc, PetscInt *switch_rows, PetscInt *steps, PetscInt *partitions, PetscInt *slice,
                                                     PetscReal *tolerance)
{
  const MethodParameters &parameters = Data(pc)->kernel_parameters;

  PetscFunctionBegin;
  if (switch_rows) *switch_rows = static_cast<PetscInt>(parameters.switch_rows);
  if (steps) *steps = parameters.steps;
  if (partitions) *partitions = parameters.partitions;
  if (slice) *slice = parameters.slice;
  if (tolerance) *tolerance = parameters.tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetKernelParameters - tells the method by which a `PCLINE` solves its lines how to work; 0 leaves it the choice

  Logically Collective

  Input Parameters:
+ pc          - the preconditioner
. switch_rows - rows left of a line at which a hybrid method switches to the next (cr-pcr)
. steps       - reduction steps before a hybrid method switches (pcr-thomas, cr-pcr-thomas)
. partitions  - parts of a line (spike), or threads that share one (wide on a device, toeplitz, lines of blocks)
. slice       - rows of a slice (tpr, pivoted, cr-pcr-thomas, lines of blocks), or of a thread (wide on a device, toeplitz)
- tolerance   - size below which a coupling may be dropped (spike, toeplitz, lines of a grid across ranks)

  Options Database Keys:
+ -pc_line_kernel_switch <0>     - rows at the switch
. -pc_line_kernel_steps <0>      - reduction steps
. -pc_line_kernel_partitions <0> - parts or threads
. -pc_line_kernel_slice <0>      - rows of a slice or of a thread
- -pc_line_kernel_tolerance <0>  - size of a coupling

  Level: advanced

  Note:
  A method ignores the parameters that it does not read. It refuses values that it cannot work with when the `PC` is set up.

.seealso: `PCLINE`, `PCLineGetKernelParameters()`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineSetKernelParameters(PC pc, PetscInt switch_rows, PetscInt steps, PetscInt partitions, PetscInt slice,
                                         PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetKernelParameters_C", switch_rows, steps, partitions, slice, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetKernelParameters - gets how the method by which a `PCLINE` solves its lines was told to work

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ switch_rows - rows left of a line at which a hybrid method switches to the next
. steps       - reduction steps before a hybrid method switches
. partitions  - parts of a line, or threads that share one
. slice       - rows of a slice, or of a thread
- tolerance   - size below which a coupling may be dropped

  Level: advanced

  Note:
  Pass `NULL` for parameters that you do not need.

.seealso: `PCLINE`, `PCLineSetKernelParameters()`
@*/
PetscErrorCode PCLineGetKernelParameters(PC pc, PetscInt *switch_rows, PetscInt *steps, PetscInt *partitions, PetscInt *slice,
                                         PetscReal *tolerance)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetKernelParameters_C", (PC, PetscInt *, PetscInt *, PetscInt *, PetscInt *, PetscReal *),
                 (pc, switch_rows, steps, partitions, slice, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetPrecision - sets the precision in which a `PCLINE` keeps and solves its lines

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- precision - `PC_LINE_DOUBLE` or `PC_LINE_SINGLE`

  Options Database Key:
. -pc_line_precision (double|single) - the precision

  Level: intermediate

  Note:
  Vectors stay in double precision. Lines of blocks, and lines of a grid that cross ranks, are always in double precision; see `PCLineSetRanks()`
  for other lines that cross ranks.

.seealso: `PCLINE`, `PCLineGetPrecision()`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineSetPrecision(PC pc, PCLinePrecision precision)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetPrecision - gets the precision in which a `PCLINE` keeps and solves its lines

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. precision - `PC_LINE_DOUBLE` or `PC_LINE_SINGLE`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetPrecision()`
@*/
PetscErrorCode PCLineGetPrecision(PC pc, PCLinePrecision *precision)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetCheck_Line(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCall(SetCheck(pc, "pc_line", &Data(pc)->check.warn, warn, &Data(pc)->check.fail, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetCheck - sets when a `PCLINE` whose lines are the whole matrix says that its solves lose digits, and when it fails for that

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. warn - relative residual of a random solve above which `-info` reports it and a step of iterative refinement is tried
- fail - relative residual above which the set-up fails with `PC_FACTOR_OTHER`

  Options Database Keys:
+ -pc_line_check_warn <1e-10> - the first bound
- -pc_line_check_fail <1e-4>  - the second bound

  Level: advanced

  Notes:
  Each set-up for a matrix that is tridiagonal in its own order, or such a ring, solves once with a right-hand side that looks random, and
  `PCView()` shows the residual. If this is above `warn`, and larger than rounding explains for such a matrix, one step of iterative refinement
  is tried; if that makes the residual ten times smaller, all applications take it. The bounds have no effect with several sweeps.

.seealso: `PCLINE`, `PCLineGetCheck()`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineSetCheck(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetCheck_C", warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetCheck - gets when a `PCLINE` says that its solves lose digits, and when it fails for that

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ warn - relative residual of a random solve above which it is reported
- fail - relative residual above which the set-up fails

  Level: advanced

.seealso: `PCLINE`, `PCLineSetCheck()`
@*/
PetscErrorCode PCLineGetCheck(PC pc, PetscReal *warn, PetscReal *fail)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetCheck_C", warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

PetscErrorCode PCLineComposeKernelSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCLineSetKernel_C", PCLineSetKernel_Line),
      composed("PCLineGetKernel_C", GetMember<const char *, &PC_Line::kernel>),
      composed("PCLineSetKernelParameters_C", PCLineSetKernelParameters_Line),
      composed("PCLineGetKernelParameters_C", PCLineGetKernelParameters_Line),
      composed("PCLineSetPrecision_C", SetChoice<"PCLine", "Precision", PC_LINE_SINGLE, &PC_Line::precision>),
      composed("PCLineGetPrecision_C", GetMember<PCLinePrecision, &PC_Line::precision>),
      composed("PCLineSetCheck_C", PCLineSetCheck_Line),
      composed("PCLineGetCheck_C",
               [](PC pc, PetscReal *warn, PetscReal *fail) { return GetBoth(warn, Data(pc)->check.warn, fail, Data(pc)->check.fail); }),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
