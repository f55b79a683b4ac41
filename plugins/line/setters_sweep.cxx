// How PCLINE sweeps over its lines: setters and getters, each with its page and the function that programs call.
#include "line/line_impl.h"
#include "petsc/setters.h"

/*@
  PCLineSetOrdering - sets the order in which a `PCLINE` relaxes its lines

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- ordering - `PC_LINE_JACOBI` for all lines at once, `PC_LINE_ZEBRA` for every second line first, `PC_LINE_MULTICOLOR` for more colours, or
             `PC_LINE_ORDERING_AUTO` for zebra under `KSPRICHARDSON` and jacobi elsewhere

  Options Database Key:
. -pc_line_ordering (jacobi|zebra|multicolor|auto) - the ordering

  Level: intermediate

  Notes:
  auto is the default. Under `KSPRICHARDSON`, for example on the levels of `PCMG`, it relaxes the lines of a grid by zebra, because all lines at
  once are no smoother. The sweeps are symmetric, unless `PCLineSetSweep()` asks for others, so that multigrid stays symmetric for `KSPCG`.
  Everywhere else auto relaxes all lines at once: under other KSPs, which want one symmetric application, without a grid, for a single line, with
  planes, and if sweeps are damped (`PCLineSetOmega()`, `PCLineSetEstimateOmega()`). The PC knows its KSP only while that solves.
  Zebra's fastest form is prepared in the first set-up if the options contain `-ksp_type richardson`, and otherwise in the first set-up after a
  solve.

  Lines of one zebra colour do not couple in star stencils. multicolor uses four colours for lines in three dimensions, so that lines of one
  colour do not couple in box stencils either. With both, lines of a map or a graph have as many colours as they need.

.seealso: `PCLINE`, `PCLineGetOrdering()`, `PCLineSetSweep()`
@*/
PetscErrorCode PCLineSetOrdering(PC pc, PCLineOrdering ordering)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetOrdering_C", ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetOrdering - gets the order in which a `PCLINE` relaxes its lines

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. ordering - `PC_LINE_JACOBI`, `PC_LINE_ZEBRA`, `PC_LINE_MULTICOLOR` or `PC_LINE_ORDERING_AUTO`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetOrdering()`
@*/
PetscErrorCode PCLineGetOrdering(PC pc, PCLineOrdering *ordering)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetOrdering_C", ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetSweep - sets the order of directions and colours in a sweep of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- sweep - `PC_LINE_FORWARD`, `PC_LINE_BACKWARD`, `PC_LINE_SYMMETRIC` or `PC_LINE_SWEEP_AUTO`

  Options Database Key:
. -pc_line_sweep (forward|backward|symmetric|auto) - the order

  Level: intermediate

  Note:
  A symmetric sweep goes forward and back, through its turning point once, and keeps the preconditioner of a symmetric matrix symmetric. auto is
  forward; it is symmetric if `PC_LINE_AUTO` found several directions, or `PC_LINE_ORDERING_AUTO` chose zebra.

.seealso: `PCLINE`, `PCLineGetSweep()`, `PCLineSetOrdering()`, `PCLineSetSweeps()`
@*/
PetscErrorCode PCLineSetSweep(PC pc, PCLineSweep sweep)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetSweep_C", sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetSweep - gets the order of directions and colours in a sweep of a `PCLINE`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. sweep - `PC_LINE_FORWARD`, `PC_LINE_BACKWARD`, `PC_LINE_SYMMETRIC` or `PC_LINE_SWEEP_AUTO`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetSweep()`
@*/
PetscErrorCode PCLineGetSweep(PC pc, PCLineSweep *sweep)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetSweep_C", sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetPlaneCycles_Line(PC pc, PetscInt cycles)
{
  PetscFunctionBegin;
  PetscCheck(cycles >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_plane_cycles %" PetscInt_FMT ": 0 for no planes, or the number of cycles in each", cycles);
  PetscCall(Choose(pc, &Data(pc)->plane_cycles, cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetPlaneCycles - makes a `PCLINE` relax planes, approximately, by cycles of lines inside them

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- cycles - the number of cycles in each plane; 0 for no planes

  Options Database Key:
. -pc_line_plane_cycles <0> - the number of cycles

  Level: intermediate

  Note:
  The planes are those of the two directions of `PCLineSetDirection()`. Every second plane is relaxed first, then the others.

.seealso: `PCLINE`, `PCLineGetPlaneCycles()`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetPlaneCycles(PC pc, PetscInt cycles)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetPlaneCycles_C", cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetPlaneCycles - gets the number of cycles of lines inside the planes of a `PCLINE`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. cycles - the number of cycles; 0 for no planes

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetPlaneCycles()`
@*/
PetscErrorCode PCLineGetPlaneCycles(PC pc, PetscInt *cycles)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetPlaneCycles_C", cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetSweeps_Line(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCheck(sweeps >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_sweeps %" PetscInt_FMT ": at least one sweep is needed", sweeps);
  if ((sweeps == 1) != (Data(pc)->sweeps == 1)) pc->setupcalled = PETSC_FALSE; // what one sweep solves by itself is checked
  Data(pc)->sweeps = sweeps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetSweeps - sets the number of sweeps in one application of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - the number of sweeps, at least 1

  Options Database Key:
. -pc_line_sweeps <1> - the number of sweeps

  Level: intermediate

.seealso: `PCLINE`, `PCLineGetSweeps()`, `PCLineSetOmega()`
@*/
PetscErrorCode PCLineSetSweeps(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetSweeps_C", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetSweeps - gets the number of sweeps in one application of a `PCLINE`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. sweeps - the number of sweeps

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetSweeps()`
@*/
PetscErrorCode PCLineGetSweeps(PC pc, PetscInt *sweeps)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetSweeps_C", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetOmega_Line(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCheck(omega > 0 && PetscIsNormalReal(omega), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_omega %g: the damping factor must be positive and finite", (double)omega);
  if ((omega == 1) != (Data(pc)->omega == 1)) pc->setupcalled = PETSC_FALSE; // zebra is for sweeps without damping
  Data(pc)->omega = omega;
  if (!Data(pc)->estimate_omega) Data(pc)->found_omega = omega; // read by each application
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetOmega - sets the damping factor of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- omega - the factor, positive and finite, by which each correction is multiplied

  Options Database Key:
. -pc_line_omega <1.0> - the factor

  Level: intermediate

.seealso: `PCLINE`, `PCLineGetOmega()`, `PCLineSetSweeps()`
@*/
PetscErrorCode PCLineSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetOmega_C", omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetOmega - gets the damping factor of a `PCLINE`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. omega - the factor that was set; `PCLineSetEstimateOmega()` finds another

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetOmega()`
@*/
PetscErrorCode PCLineGetOmega(PC pc, PetscReal *omega)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetOmega_C", omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetEstimateOmega - makes a `PCLINE` estimate its damping factor when it is set up

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- estimate - `PETSC_TRUE` to estimate it

  Options Database Key:
. -pc_line_estimate_omega <false> - the choice

  Level: intermediate

  Note:
  Ten steps of the power method give the largest eigenvalue m of the preconditioned matrix; the factor is 2 / (1 + m).

.seealso: `PCLINE`, `PCLineGetEstimateOmega()`, `PCLineSetOmega()`
@*/
PetscErrorCode PCLineSetEstimateOmega(PC pc, PetscBool estimate)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetEstimateOmega_C", estimate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetEstimateOmega - gets whether a `PCLINE` estimates its damping factor

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. estimate - whether it estimates the factor when it is set up

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetEstimateOmega()`
@*/
PetscErrorCode PCLineGetEstimateOmega(PC pc, PetscBool *estimate)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetEstimateOmega_C", estimate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetDiagonalProducts - makes the matrix of a `PCLINE` multiply by the diagonals that the sweeps work on

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- products - `PETSC_TRUE` to compute products and residuals from the diagonals

  Options Database Key:
. -pc_line_diagonal_products <false> - the choice

  Level: intermediate

  Notes:
  `MatMult()` and `MatResidual()` with the matrix, whoever calls them, then move 8 bytes an entry instead of 12, and a residual takes one pass.
  Results differ by rounding. Nothing changes if the matrix is not on a grid of one rank, is not a `MATSEQAIJ` (or one of its CUDA, HIP and
  Kokkos forms), or has lines of blocks or in single precision. The matrix's own operations are used for vectors in another memory space, and
  once its values have changed, until the next set-up. The matrix gets them back when the preconditioner is reset or destroyed.

.seealso: `PCLINE`, `PCLineGetDiagonalProducts()`, `MatMult()`, `MatResidual()`
@*/
PetscErrorCode PCLineSetDiagonalProducts(PC pc, PetscBool products)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetDiagonalProducts_C", products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetDiagonalProducts - gets whether the matrix of a `PCLINE` multiplies by the diagonals that the sweeps work on

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. products - whether this was asked for

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetDiagonalProducts()`
@*/
PetscErrorCode PCLineGetDiagonalProducts(PC pc, PetscBool *products)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetDiagonalProducts_C", products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

PetscErrorCode PCLineComposeSweepSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCLineSetOrdering_C", SetChoice<"PCLine", "Ordering", PC_LINE_ORDERING_AUTO, &PC_Line::ordering>),
      composed("PCLineGetOrdering_C", GetMember<PCLineOrdering, &PC_Line::ordering>),
      composed("PCLineSetSweep_C", SetChoice<"PCLine", "Sweep", PC_LINE_SWEEP_AUTO, &PC_Line::sweep>),
      composed("PCLineGetSweep_C", GetMember<PCLineSweep, &PC_Line::sweep>),
      composed("PCLineSetPlaneCycles_C", PCLineSetPlaneCycles_Line),
      composed("PCLineGetPlaneCycles_C", GetMember<PetscInt, &PC_Line::plane_cycles>),
      composed("PCLineSetSweeps_C", PCLineSetSweeps_Line),
      composed("PCLineGetSweeps_C", GetMember<PetscInt, &PC_Line::sweeps>),
      composed("PCLineSetOmega_C", PCLineSetOmega_Line),
      composed("PCLineGetOmega_C", GetMember<PetscReal, &PC_Line::omega>),
      composed("PCLineSetEstimateOmega_C", SetMember<PetscBool, &PC_Line::estimate_omega>),
      composed("PCLineGetEstimateOmega_C", GetMember<PetscBool, &PC_Line::estimate_omega>),
      composed("PCLineSetDiagonalProducts_C", SetMember<PetscBool, &PC_Line::diagonal_products>),
      composed("PCLineGetDiagonalProducts_C", GetMember<PetscBool, &PC_Line::diagonal_products>),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
