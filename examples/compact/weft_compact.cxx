// The C interface of compact differences: what is refused, and a page for each function above it.
#include "weft_compact.h"

#include <petscdmda.h>

#include <algorithm>

#include "derivative.hpp"
#include "petsc/agreed.h"
#include "petsc/petsc_arrays.hpp"

struct _p_WeftCompact {
  compact::Derivative derivative;
  DM da             = NULL;
  PetscInt along    = 0;
  PetscReal spacing = 1;
  bool beside       = false;
  PetscLayout rows  = NULL; ///< those of the DMDA's vectors
  Vec u = NULL, du = NULL;  ///< where kernels run, for vectors that live elsewhere
};

namespace compact {

namespace {

PetscErrorCode CheckGrid(DM da, PetscInt direction)
{
  PetscBool is_da;
  PetscInt unknowns;
  Boxes boxes;
  MPI_Comm comm = PetscObjectComm((PetscObject)da);

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &is_da));
  PetscCheck(is_da, comm, PETSC_ERR_ARG_WRONG,
             "compact differences are taken on a grid, and this DM is of type %s: give a DMDA (DMDACreate1d(), DMDACreate2d() or "
             "DMDACreate3d())",
             ((PetscObject)da)->type_name ? ((PetscObject)da)->type_name : "none");
  PetscCall(BoxesOf(da, &boxes));
  PetscCheck(boxes.nodes[0] > 0, comm, PETSC_ERR_ARG_WRONGSTATE, "the DMDA is not set up: call DMSetUp() first");
  PetscCall(DMDAGetDof(da, &unknowns));
  PetscCheck(unknowns == 1, comm, PETSC_ERR_ARG_WRONG,
             "compact differences are taken of one unknown a node, and the DMDA has %" PetscInt_FMT
             ": take a DMDA of one (DMDACreateCompatibleDMDA()) and a component at a time (VecStrideGather())",
             unknowns);
  PetscCheck(direction >= 0 && direction < boxes.dim, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "direction %" PetscInt_FMT ": a DMDA of dimension %" PetscInt_FMT " has the directions 0 to %" PetscInt_FMT " (0 is x)",
             direction, boxes.dim, boxes.dim - 1);
  const DMBoundaryType ends = boxes.boundary[direction];
  PetscCheck(ends == DM_BOUNDARY_NONE || ends == DM_BOUNDARY_GHOSTED || ends == DM_BOUNDARY_PERIODIC, comm, PETSC_ERR_SUP,
             "the DMDA's boundary along %c is %s: lines end (DM_BOUNDARY_NONE or DM_BOUNDARY_GHOSTED) or are rings (DM_BOUNDARY_PERIODIC)",
             "xyz"[direction], DMBoundaryTypes[ends]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SchemeOf(MPI_Comm comm, WeftCompactScheme number, Scheme *scheme)
{
  static constexpr struct {
    int derivative, order;
  } schemes[] = {{1, 4}, {1, 6}, {2, 4}, {2, 6}};

  PetscFunctionBegin;
  PetscCheck((int)number >= 0 && (int)number < (int)std::size(schemes), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "invalid WeftCompactScheme %d: take WEFT_COMPACT_FIRST_4, _FIRST_6, _SECOND_4 or _SECOND_6", (int)number);
  PetscCallCXX(*scheme = make_scheme(schemes[number].derivative, schemes[number].order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Make(DM da, PetscInt direction, const Scheme &scheme, PetscReal spacing, WeftCompact beside, WeftCompact *compact)
{
  std::unique_ptr<_p_WeftCompact> made;
  const char *prefix;
  Boxes boxes;
  Ways ways;
  Events events;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)da, &prefix));
  PetscCall(WaysFromOptions(prefix, &ways));
  PetscCall(RegisterEvents(&events));
  PetscCallCXX(made = std::make_unique<_p_WeftCompact>());
  PetscCall(made->derivative.Create(da, (int)direction, scheme, spacing, ways, prefix, events, beside ? &beside->derivative : nullptr));
  PetscCall(PetscObjectReference((PetscObject)da));
  made->da      = da;
  made->along   = direction;
  made->spacing = spacing;
  made->beside  = beside != NULL;
  PetscCall(BoxesOf(da, &boxes));
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)da), boxes.nodes[0] * boxes.nodes[1] * boxes.nodes[2], PETSC_DETERMINE,
                                       1, &made->rows));
  *compact = made.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An error on all ranks unless each of them has as many rows of v as of the DMDA's vectors. They all know this of all.
PetscErrorCode CheckFits(WeftCompact compact, Vec v, const char who[], const char name[])
{
  PetscLayout layout;
  const PetscInt *have, *need;
  PetscMPIInt ranks, grid_ranks;

  PetscFunctionBegin;
  PetscCall(VecGetLayout(v, &layout));
  PetscCall(PetscLayoutGetRanges(layout, &have));
  PetscCall(PetscLayoutGetRanges(compact->rows, &need));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &ranks));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)compact->da), &grid_ranks));
  PetscCheck(ranks == grid_ranks && std::equal(need, need + ranks + 1, have), PetscObjectComm((PetscObject)compact->da),
             PETSC_ERR_ARG_INCOMP,
             "%s(): %s is not distributed as the DMDA's vectors are: create it by DMCreateGlobalVector() of that DMDA, or VecDuplicate()",
             who, name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *used = v where kernels run in its memory, else *own, a vector of the DMDA's (v is bound to the CPU, or is the host's where those are not).
PetscErrorCode StandIn(WeftCompact compact, Vec v, weft::Access access, Vec *own, Vec *used)
{
  weft::VecArray array(v, access);

  PetscFunctionBegin;
  PetscCall(array.Open());
  *used = array.memory() == compact->derivative.WhereKernelsRun() ? v : NULL;
  PetscCall(array.Close());
  if (*used) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*own) PetscCall(DMCreateGlobalVector(compact->da, own));
  *used = *own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Apply(WeftCompact compact, Vec u, Vec du, bool again, const char who[])
{
  Vec from, to;

  PetscFunctionBegin;
  PetscCheck(compact, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "%s(): this WeftCompact is not created yet, or destroyed: WeftCompactCreate() makes one", who);
  PetscValidHeaderSpecific(u, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(du, VEC_CLASSID, 3);
  PetscCall(CheckFits(compact, u, who, "u"));
  PetscCall(CheckFits(compact, du, who, "du"));
  PetscCheck(u != du, PetscObjectComm((PetscObject)u), PETSC_ERR_ARG_IDN, "%s(): u and du are the same Vec: give another one for du", who);
  PetscCall(StandIn(compact, u, weft::Access::read, &compact->u, &from));
  PetscCall(StandIn(compact, du, weft::Access::write, &compact->du, &to));
  if (from != u) PetscCall(VecCopy(u, from));
  PetscCall(compact->derivative.Apply(from, to, again));
  if (to != du) PetscCall(VecCopy(to, du));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace compact

/*@
  WeftCompactCreate - makes the compact difference that is a derivative along one direction of a `DMDA`

  Collective

  Input Parameters:
+ da        - the `DMDA`, set up, with one unknown a node
. direction - 0 for x, 1 for y, 2 for z
. scheme    - which derivative, and its order
- spacing   - the distance of two nodes along the direction

  Output Parameter:
. compact - what `WeftCompactApply()` takes

  Options Database Keys:
+ -compact_one_pass <false>  - one pass over memory, where the couplings of the scheme decay fast enough; for devices
. -compact_assembled <false> - the scheme's matrix assembled, for any `PC`
- -x_pc_type <line>          - options of the solver along x begin with x_, those along y and z with y_ and z_

  Level: intermediate

  Notes:
  Lines of a direction that is `DM_BOUNDARY_PERIODIC` are rings; on others the rows near both ends have schemes of their own, of third and
  fourth order. Any grid of ranks gives the same to rounding. The prefix of the `DMDA` stands before the options.

  With complex scalars the real and the imaginary part of a field each have their derivative: the coefficients of the schemes are real.

  Spacing is even. If the `DMDA` has coordinates, they are compared with it. The program needs no option: the library registers
  `PCLINE` itself, by `PetscDLLibraryRegister_weft()`.

  It is an error on all ranks if `da` is no `DMDA` or has several unknowns a node, if it has no such direction or scheme, if the coordinates are
  spaced otherwise, or if a rank has fewer nodes along the direction than the scheme reaches.

.seealso: `WeftCompactApply()`, `WeftCompactDestroy()`, `WeftCompactCreateBeside()`, `WeftCompactCreateFilter()`, `PCLINE`
@*/
PetscErrorCode WeftCompactCreate(DM da, PetscInt direction, WeftCompactScheme scheme, PetscReal spacing, WeftCompact *compact)
{
  compact::Scheme rows;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(da, DM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(da, direction, 2);
  PetscValidLogicalCollectiveEnum(da, scheme, 3);
  PetscValidLogicalCollectiveReal(da, spacing, 4);
  PetscAssertPointer(compact, 5);
  PetscCall(compact::CheckGrid(da, direction));
  PetscCall(compact::SchemeOf(PetscObjectComm((PetscObject)da), scheme, &rows));
  PetscCheck(spacing > 0 && !PetscIsInfOrNanReal(spacing), PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_OUTOFRANGE,
             "spacing %g: give the distance of two nodes along the direction, which is positive", (double)spacing);
  PetscCall(compact::Make(da, direction, rows, spacing, NULL, compact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  WeftCompactCreateFilter - makes a compact filter along one direction of a `DMDA`

  Collective

  Input Parameters:
+ da        - the `DMDA`, set up, with one unknown a node
. direction - 0 for x, 1 for y, 2 for z
. order     - 4 or 6
- alpha     - between -1/2 and 1/2; the nearer to 1/2, the less is filtered

  Output Parameter:
. compact - what `WeftCompactApply()` takes

  Level: intermediate

  Note:
  It takes the shortest waves out of a field and leaves smooth ones to the given order. It knows no spacing, and heeds no coordinates.
  Options are those of `WeftCompactCreate()`.

.seealso: `WeftCompactCreate()`, `WeftCompactApply()`, `WeftCompactDestroy()`
@*/
PetscErrorCode WeftCompactCreateFilter(DM da, PetscInt direction, PetscInt order, PetscReal alpha, WeftCompact *compact)
{
  compact::Scheme rows;
  std::string refused;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(da, DM_CLASSID, 1);
  PetscValidLogicalCollectiveInt(da, direction, 2);
  PetscValidLogicalCollectiveInt(da, order, 3);
  PetscValidLogicalCollectiveReal(da, alpha, 4);
  PetscAssertPointer(compact, 5);
  PetscCall(compact::CheckGrid(da, direction));
  PetscCheck(order == 4 || order == 6, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_OUTOFRANGE,
             "WeftCompactCreateFilter(): filters of order 4 and 6 are offered, not of order %" PetscInt_FMT, order);
  PetscCheck(alpha > -0.5 && alpha < 0.5, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_OUTOFRANGE,
             "WeftCompactCreateFilter(): alpha is %g, and must lie between -1/2 and 1/2", (double)alpha);
  PetscCallCXX(rows = compact::make_scheme(0, (int)order, (double)alpha));
  PetscCall(compact::Make(da, direction, rows, 1, NULL, compact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  WeftCompactCreateBeside - makes another derivative along the same direction, which can share messages with the first one

  Collective

  Input Parameters:
+ other  - the derivative beside which it is, made by `WeftCompactCreate()`
- scheme - which derivative, and its order

  Output Parameter:
. compact - what `WeftCompactApply()` and `WeftCompactApplyAgain()` take

  Level: advanced

  Note:
  Grid, direction and spacing are those of the other derivative, which may be destroyed before this one.

.seealso: `WeftCompactCreate()`, `WeftCompactApplyAgain()`
@*/
PetscErrorCode WeftCompactCreateBeside(WeftCompact other, WeftCompactScheme scheme, WeftCompact *compact)
{
  compact::Scheme rows;

  PetscFunctionBegin;
  PetscCheck(other, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "WeftCompactCreateBeside(): this WeftCompact is not created yet, or destroyed: WeftCompactCreate() makes one");
  PetscValidLogicalCollectiveEnum(other->da, scheme, 2);
  PetscAssertPointer(compact, 3);
  PetscCall(compact::SchemeOf(PetscObjectComm((PetscObject)other->da), scheme, &rows));
  PetscCall(compact::Make(other->da, other->along, rows, other->spacing, other, compact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  WeftCompactApply - takes the derivative of a field, or filters it

  Collective

  Input Parameters:
+ compact - the derivative
- u       - the field, a vector as `DMCreateGlobalVector()` of the `DMDA` makes them

  Output Parameter:
. du - its derivative; another vector than `u`

  Level: intermediate

  Note:
  Vectors are used where they are, on the host or on a device; one that is elsewhere than the `DMDA`'s vectors is copied there and back.

.seealso: `WeftCompactCreate()`, `WeftCompactApplyAgain()`
@*/
PetscErrorCode WeftCompactApply(WeftCompact compact, Vec u, Vec du)
{
  PetscFunctionBegin;
  PetscCall(compact::Apply(compact, u, du, false, "WeftCompactApply"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  WeftCompactApplyAgain - takes another derivative of the field that `WeftCompactApply()` has just been given, without messages for its stencil

  Collective

  Input Parameters:
+ compact - a derivative made by `WeftCompactCreateBeside()`
- u       - the field, unchanged since the other derivative was taken of it

  Output Parameter:
. du - its derivative; another vector than `u`

  Level: advanced

  Note:
  The rows of the neighbours are those that the other derivative fetched, where they are enough; else they are fetched.

.seealso: `WeftCompactCreateBeside()`, `WeftCompactApply()`
@*/
PetscErrorCode WeftCompactApplyAgain(WeftCompact compact, Vec u, Vec du)
{
  PetscFunctionBegin;
  PetscCheck(!compact || compact->beside, PetscObjectComm((PetscObject)compact->da), PETSC_ERR_ARG_WRONGSTATE,
             "WeftCompactApplyAgain() needs a derivative made by WeftCompactCreateBeside(): take WeftCompactApply() for others");
  PetscCall(compact::Apply(compact, u, du, true, "WeftCompactApplyAgain"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  WeftCompactDestroy - frees a compact difference

  Collective

  Input Parameter:
. compact - the derivative or filter, which is NULL afterwards

  Level: intermediate

.seealso: `WeftCompactCreate()`
@*/
PetscErrorCode WeftCompactDestroy(WeftCompact *compact)
{
  PetscFunctionBegin;
  if (!*compact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*compact)->derivative.Destroy());
  PetscCall(PetscLayoutDestroy(&(*compact)->rows));
  PetscCall(VecDestroy(&(*compact)->u));
  PetscCall(VecDestroy(&(*compact)->du));
  PetscCall(DMDestroy(&(*compact)->da));
  delete *compact;
  *compact = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
