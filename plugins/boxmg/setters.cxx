// PCBOXMG's setters and getters: what it does, its page and the function that programs call, together.
#include "petsc/setters.h"

#include <limits>

#include "boxmg/boxmg_impl.h"

namespace weft {

namespace {

// A number within bounds.
template <PartOfName option, PetscInt least, PetscInt most, auto member>
PetscErrorCode SetNumber(PC pc, PetscInt value)
{
  PetscFunctionBegin;
  PetscCheck(value >= least && value <= most, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_boxmg_%s %" PetscInt_FMT ": the number must be from %" PetscInt_FMT " to %" PetscInt_FMT, option.text, value, least,
             most);
  PetscCall((SetMember<PetscInt, member>(pc, value)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*@
  PCBoxmgSetLevels - sets how many levels a `PCBOXMG` has at most

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- levels - the largest number of levels, or 0 for as many as there can be

  Options Database Key:
. -pc_boxmg_levels <0> - the largest number

  Level: intermediate

  Note:
  Grids are coarsened until one has no more nodes than `PCBoxmgSetCoarsest()` says, or can be coarsened no further.

.seealso: `PCBOXMG`, `PCBoxmgGetLevels()`, `PCBoxmgSetCoarsest()`
@*/
PetscErrorCode PCBoxmgSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetLevels_C", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetLevels - gets how many levels a `PCBOXMG` has at most

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. levels - the largest number of levels, or 0 for as many as there can be

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetLevels()`
@*/
PetscErrorCode PCBoxmgGetLevels(PC pc, PetscInt *levels)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetLevels_C", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetCycle - sets the order in which a `PCBOXMG` visits its levels

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- cycle - `PC_BOXMG_CYCLE_AUTO`, `PC_BOXMG_V`, `PC_BOXMG_W` or `PC_BOXMG_F`

  Options Database Key:
. -pc_boxmg_cycle (auto|v|w|f) - the cycle

  Level: intermediate

  Note:
  A W cycle visits each coarser grid twice. An F cycle visits it first in an F cycle and then in a V cycle. Both pay if V cycles need many
  iterations, as with recirculating convection. auto chooses V cycles with two exceptions: F cycles if convection is strong, and turns or the
  grid is large; and W cycles that correct only two levels twice, if coefficients jump on a large grid and lines run along several directions.

.seealso: `PCBOXMG`, `PCBoxmgGetCycle()`, `PCBoxmgSetSweeps()`
@*/
PetscErrorCode PCBoxmgSetCycle(PC pc, PCBoxmgCycle cycle)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetCycle_C", cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetCycle - gets the order in which a `PCBOXMG` visits its levels

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. cycle - `PC_BOXMG_CYCLE_AUTO`, `PC_BOXMG_V`, `PC_BOXMG_W` or `PC_BOXMG_F`

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetCycle()`
@*/
PetscErrorCode PCBoxmgGetCycle(PC pc, PCBoxmgCycle *cycle)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetCycle_C", cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetSmoother - sets what relaxes the levels of a `PCBOXMG`

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- smoother - `PC_BOXMG_SMOOTHER_AUTO`, `PC_BOXMG_LINES`, `PC_BOXMG_ALTERNATING`, `PC_BOXMG_PLANES` or `PC_BOXMG_POINTS`

  Options Database Key:
. -pc_boxmg_smoother (auto|lines|alternating|planes|points) - the smoother

  Level: intermediate

  Note:
  auto chooses level by level: lines along the direction that is strong everywhere, if there is one, and otherwise lines along all directions
  in turn; in space it chooses planes if there are two strong directions and which two they are varies, because lines cannot follow these.
  lines relaxes lines along the strongest direction alone, and alternating lines along all directions in turn. planes makes a cycle in all
  planes of a colour and needs a grid of three directions. points is Gauss-Seidel by colours.

.seealso: `PCBOXMG`, `PCBoxmgGetSmoother()`, `PCBoxmgSetSweeps()`
@*/
PetscErrorCode PCBoxmgSetSmoother(PC pc, PCBoxmgSmoother smoother)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetSmoother_C", smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetSmoother - gets what relaxes the levels of a `PCBOXMG`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. smoother - `PC_BOXMG_SMOOTHER_AUTO`, `PC_BOXMG_LINES`, `PC_BOXMG_ALTERNATING`, `PC_BOXMG_PLANES` or `PC_BOXMG_POINTS`

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetSmoother()`
@*/
PetscErrorCode PCBoxmgGetSmoother(PC pc, PCBoxmgSmoother *smoother)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetSmoother_C", smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetCoarsen - sets the directions that a `PCBOXMG` may coarsen

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- coarsen - `PC_BOXMG_COARSEN_AUTO`, `PC_BOXMG_ALL`, or `PC_BOXMG_X`, `PC_BOXMG_Y`, `PC_BOXMG_Z`, `PC_BOXMG_XY`, `PC_BOXMG_XZ`, `PC_BOXMG_YZ`

  Options Database Key:
. -pc_boxmg_coarsen (auto|x|y|xy|z|xz|yz|all) - the directions

  Level: intermediate

  Note:
  auto coarsens, level by level, the directions that are strong enough.

.seealso: `PCBOXMG`, `PCBoxmgGetCoarsen()`, `PCBoxmgSetLevels()`
@*/
PetscErrorCode PCBoxmgSetCoarsen(PC pc, PCBoxmgCoarsen coarsen)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetCoarsen_C", coarsen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetCoarsen - gets the directions that a `PCBOXMG` may coarsen

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. coarsen - `PC_BOXMG_COARSEN_AUTO`, `PC_BOXMG_ALL`, or `PC_BOXMG_X`, `PC_BOXMG_Y`, `PC_BOXMG_Z`, `PC_BOXMG_XY`, `PC_BOXMG_XZ`, `PC_BOXMG_YZ`

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetCoarsen()`
@*/
PetscErrorCode PCBoxmgGetCoarsen(PC pc, PCBoxmgCoarsen *coarsen)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetCoarsen_C", coarsen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetInterpolation - sets the weights by which a `PCBOXMG` interpolates

  Logically Collective

  Input Parameters:
+ pc            - the preconditioner
- interpolation - `PC_BOXMG_OPERATOR` or `PC_BOXMG_LINEAR`

  Options Database Key:
. -pc_boxmg_interpolation (operator|linear) - the weights

  Level: advanced

  Note:
  Weights from the operator follow jumps of its coefficients; linear ones do not.

.seealso: `PCBOXMG`, `PCBoxmgGetInterpolation()`, `PCBoxmgSetCoarsen()`
@*/
PetscErrorCode PCBoxmgSetInterpolation(PC pc, PCBoxmgInterpolation interpolation)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetInterpolation_C", interpolation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetInterpolation - gets the weights by which a `PCBOXMG` interpolates

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. interpolation - `PC_BOXMG_OPERATOR` or `PC_BOXMG_LINEAR`

  Level: advanced

.seealso: `PCBOXMG`, `PCBoxmgSetInterpolation()`
@*/
PetscErrorCode PCBoxmgGetInterpolation(PC pc, PCBoxmgInterpolation *interpolation)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetInterpolation_C", interpolation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetSweeps - sets how often a `PCBOXMG` relaxes a level before and after each correction

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - the number of sweeps, 1 or more

  Options Database Key:
. -pc_boxmg_sweeps <1> - the number of sweeps

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgGetSweeps()`, `PCBoxmgSetSmoother()`
@*/
PetscErrorCode PCBoxmgSetSweeps(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetSweeps_C", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetSweeps - gets how often a `PCBOXMG` relaxes a level before and after each correction

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. sweeps - the number of sweeps

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetSweeps()`
@*/
PetscErrorCode PCBoxmgGetSweeps(PC pc, PetscInt *sweeps)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetSweeps_C", sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetCoarse - sets what solves on the coarsest grid of a `PCBOXMG`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- coarse - `PC_BOXMG_COARSE_DIRECT` for its inverse, or `PC_BOXMG_COARSE_LINES` for sweeps of the smoother

  Options Database Key:
. -pc_boxmg_coarse (direct|lines) - the solver

  Level: advanced

  Note:
  A coarsest grid of at most 1000 unknowns is inverted; one that stays larger is relaxed.

.seealso: `PCBOXMG`, `PCBoxmgGetCoarse()`, `PCBoxmgSetCoarsest()`
@*/
PetscErrorCode PCBoxmgSetCoarse(PC pc, PCBoxmgCoarse coarse)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetCoarse_C", coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetCoarse - gets what solves on the coarsest grid of a `PCBOXMG`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. coarse - `PC_BOXMG_COARSE_DIRECT` for its inverse, or `PC_BOXMG_COARSE_LINES` for sweeps of the smoother

  Level: advanced

.seealso: `PCBOXMG`, `PCBoxmgSetCoarse()`
@*/
PetscErrorCode PCBoxmgGetCoarse(PC pc, PCBoxmgCoarse *coarse)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetCoarse_C", coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetCoarsest - sets the size from which on a `PCBOXMG` does not coarsen a grid

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- nodes - the largest number of nodes of a grid that is not coarsened; 0 for 100, or on a device for as many as have 500 unknowns

  Options Database Key:
. -pc_boxmg_coarsest <0> - the number of nodes

  Level: advanced

.seealso: `PCBOXMG`, `PCBoxmgGetCoarsest()`, `PCBoxmgSetCoarse()`
@*/
PetscErrorCode PCBoxmgSetCoarsest(PC pc, PetscInt nodes)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetCoarsest_C", nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetCoarsest - gets the size from which on a `PCBOXMG` does not coarsen a grid

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. nodes - the largest number of nodes of a grid that is not coarsened; 0 for 100, or on a device for as many as have 500 unknowns

  Level: advanced

.seealso: `PCBOXMG`, `PCBoxmgSetCoarsest()`
@*/
PetscErrorCode PCBoxmgGetCoarsest(PC pc, PetscInt *nodes)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetCoarsest_C", nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetShare - sets how many nodes a rank a level of a `PCBOXMG` must have for the ranks to share it

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- nodes - 0 or more, or `PETSC_DECIDE` for 2000 on hosts and 100000 on devices, where a message takes as long as more of the work

  Options Database Key:
. -pc_boxmg_share <-1> - the number of nodes

  Level: advanced

  Note:
  The first rank has levels with fewer nodes by itself, because messages take longer than all of the work on them. In any case it has the
  levels that are solved directly or relaxed by planes, and all levels of grids with several unknowns a node.

.seealso: `PCBOXMG`, `PCBoxmgGetShare()`
@*/
PetscErrorCode PCBoxmgSetShare(PC pc, PetscInt nodes)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetShare_C", nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetShare - gets how many nodes a rank a level of a `PCBOXMG` must have for the ranks to share it

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. nodes - 0 or more, or `PETSC_DECIDE`

  Level: advanced

.seealso: `PCBOXMG`, `PCBoxmgSetShare()`
@*/
PetscErrorCode PCBoxmgGetShare(PC pc, PetscInt *nodes)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetShare_C", nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetPrecision - sets the precision inside the cycles of a `PCBOXMG`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- precision - `PC_BOXMG_DOUBLE`, or `PC_BOXMG_SINGLE` for less time and memory

  Options Database Key:
. -pc_boxmg_precision (double|single) - the precision

  Level: intermediate

  Note:
  Vectors stay in double precision. PETSc's own option -pc_precision means the same.

.seealso: `PCBOXMG`, `PCBoxmgGetPrecision()`, `PCBoxmgSetCycle()`
@*/
PetscErrorCode PCBoxmgSetPrecision(PC pc, PCBoxmgPrecision precision)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetPrecision - gets the precision inside the cycles of a `PCBOXMG`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. precision - `PC_BOXMG_DOUBLE`, or `PC_BOXMG_SINGLE` for less time and memory

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetPrecision()`
@*/
PetscErrorCode PCBoxmgGetPrecision(PC pc, PCBoxmgPrecision *precision)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgSetMonitor - makes a `PCBOXMG` print the residual of each level, twice a cycle

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- monitor - `PETSC_TRUE` to print

  Options Database Key:
. -pc_boxmg_monitor <false> - the choice

  Level: intermediate

  Note:
  For each norm the host waits for the device. Transposed cycles print nothing.

.seealso: `PCBOXMG`, `PCBoxmgGetMonitor()`
@*/
PetscErrorCode PCBoxmgSetMonitor(PC pc, PetscBool monitor)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCBoxmgSetMonitor_C", monitor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxmgGetMonitor - gets whether a `PCBOXMG` prints the residual of each level

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. monitor - whether it prints

  Level: intermediate

.seealso: `PCBOXMG`, `PCBoxmgSetMonitor()`
@*/
PetscErrorCode PCBoxmgGetMonitor(PC pc, PetscBool *monitor)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCBoxmgGetMonitor_C", monitor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

PetscErrorCode PCBoxmgComposeSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCBoxmgSetLevels_C", (SetNumber<"levels", 0, 62, &PC_Boxmg::levels>)),
      composed("PCBoxmgGetLevels_C", GetMember<PetscInt, &PC_Boxmg::levels>),
      composed("PCBoxmgSetCycle_C", (SetChoice<"PCBoxmg", "Cycle", PC_BOXMG_F, &PC_Boxmg::cycle>)),
      composed("PCBoxmgGetCycle_C", GetMember<PCBoxmgCycle, &PC_Boxmg::cycle>),
      composed("PCBoxmgSetSmoother_C", (SetChoice<"PCBoxmg", "Smoother", PC_BOXMG_POINTS, &PC_Boxmg::smoother>)),
      composed("PCBoxmgGetSmoother_C", GetMember<PCBoxmgSmoother, &PC_Boxmg::smoother>),
      composed("PCBoxmgSetCoarsen_C", (SetChoice<"PCBoxmg", "Coarsen", PC_BOXMG_ALL, &PC_Boxmg::coarsen>)),
      composed("PCBoxmgGetCoarsen_C", GetMember<PCBoxmgCoarsen, &PC_Boxmg::coarsen>),
      composed("PCBoxmgSetInterpolation_C", (SetChoice<"PCBoxmg", "Interpolation", PC_BOXMG_LINEAR, &PC_Boxmg::interpolation>)),
      composed("PCBoxmgGetInterpolation_C", GetMember<PCBoxmgInterpolation, &PC_Boxmg::interpolation>),
      composed("PCBoxmgSetSweeps_C", (SetNumber<"sweeps", 1, 1000, &PC_Boxmg::sweeps>)),
      composed("PCBoxmgGetSweeps_C", GetMember<PetscInt, &PC_Boxmg::sweeps>),
      composed("PCBoxmgSetCoarse_C", (SetChoice<"PCBoxmg", "Coarse", PC_BOXMG_COARSE_LINES, &PC_Boxmg::coarse>)),
      composed("PCBoxmgGetCoarse_C", GetMember<PCBoxmgCoarse, &PC_Boxmg::coarse>),
      composed("PCBoxmgSetCoarsest_C", (SetNumber<"coarsest", 0, std::numeric_limits<PetscInt>::max(), &PC_Boxmg::coarsest>)),
      composed("PCBoxmgGetCoarsest_C", GetMember<PetscInt, &PC_Boxmg::coarsest>),
      composed("PCBoxmgSetShare_C", (SetNumber<"share", PETSC_DECIDE, std::numeric_limits<PetscInt>::max(), &PC_Boxmg::share>)),
      composed("PCBoxmgGetShare_C", GetMember<PetscInt, &PC_Boxmg::share>),
      composed("PCBoxmgSetPrecision_C", (SetChoice<"PCBoxmg", "Precision", PC_BOXMG_SINGLE, &PC_Boxmg::precision>)),
      composed("PCBoxmgGetPrecision_C", GetMember<PCBoxmgPrecision, &PC_Boxmg::precision>),
      composed(
          "PCBoxmgSetMonitor_C", +[](PC pc, PetscBool monitor) -> PetscErrorCode { return Get(&Boxmg(pc)->monitor, monitor); }),
      composed("PCBoxmgGetMonitor_C", GetMember<PetscBool, &PC_Boxmg::monitor>),
      composed("PCGetInterpolations_C", PCGetInterpolations_Boxmg),
      composed("PCGetCoarseOperators_C", PCGetCoarseOperators_Boxmg),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
