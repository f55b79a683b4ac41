// PCBCR: its creation, its end, its page.
#include "bcr/bcr_impl.h"
#include "types.h"

namespace weft {

namespace {

PetscErrorCode PCReset_BCR(PC pc)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) bcr->forget_solver(which);
  bcr->separation = {};
  PetscCall(bcr->check.Forget());
  bcr->check.outside = {};
  PetscCall(SpreadReset(pc));
  PetscCall(bcr->whole.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_BCR(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_BCR(pc));
  PetscCall(weft::PCBCRComposeSetters(pc, false));
  delete Bcr(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*MC
  PCBCR - direct solver for separable operators on a `DMDA` (Poisson, Helmholtz), on the host or on a GPU; for other operators the direct
  solver of the nearest separable one, as a preconditioner

  Options Database Keys:
+ -pc_bcr_type (buneman1|buneman2|partial|separable|plain|facr|auto) - the method; auto chooses the fastest stable one
. -pc_bcr_inverse (fractions|leja)       - how the Buneman methods apply the inverses of matrix polynomials
. -pc_bcr_radix <0>                      - radix of the method separable; 0 for the method's choice
. -pc_bcr_levels <-1>                    - levels of cyclic reduction in the method facr; -1 for the method's choice
. -pc_bcr_precision (double|single)      - precision of the solve
. -pc_bcr_require_separable <false>      - raise an error if the matrix is not separable
. -pc_bcr_separable_tolerance <1e-10>    - largest deviation, relative to a row, of a matrix that counts as separable
. -pc_bcr_check_warn <1e-10>             - relative residual of a random solve above which it is reported and refined
- -pc_bcr_check_fail <1e-4>              - relative residual of a random solve above which set-up fails

  Level: beginner

  Notes:
  The operator is read from the assembled `MATAIJ` matrix, with one unknown a node and couplings to the neighbours along x, y and z (3, 5 or 7
  points) or to all neighbours in a box (9 points in the plane, up to 27 in space). The grid is the `DMDA` of the `PC` or, if it has none, of the
  matrix. The coefficients may vary along each direction (stretched grids). Periodic ends and any boundary rows are found in the matrix.
  Boundary rows that hold only a diagonal or, with 3, 5 or 7 points, a coupling into the grid are handled separately.

  If the matrix is separable, one application solves it: use `-ksp_type preonly`, or one iteration of another type. Otherwise the nearest
  separable operator is solved, and the number of iterations depends on the coefficients but not on the mesh width. `-ksp_view` says how far
  the matrix is from this operator. `-ksp_type preonly` fails for such a matrix, unless it is the solver within another preconditioner.

  Each set-up measures what the solves are worth (`PCBCRSetCheck()`). If a property of the values makes a solve impossible or useless, the
  set-up fails (`PCGetFailedReason()`); with `-ksp_error_if_not_converged` this is an error that says why.

  A singular operator (Neumann or periodic conditions on all sides) needs its null space attached with `MatSetNullSpace()`, except on the
  coarsest grid of `PCMG`.

  On several ranks, the methods facr (without levels) and auto distribute the solve over all of them if the operator has 3, 5 or 7 points and
  transforms solve it: each rank transforms a slab of the grid and solves for its pieces of lines, which are joined by what is at their ends. Slabs
  are what ranks have of a vector where the `DMDA` is cut along one direction alone. Otherwise the field is gathered and solved on the first
  rank. `-ksp_view` says which.

.seealso: `PCCreate()`, `PCSetType()`, `PCMG`, `PCLINE`, `PCBCRSetMethod()`, `PCBCRSetInverse()`, `PCBCRSetRadix()`, `PCBCRSetLevels()`,
          `PCBCRSetPrecision()`, `PCBCRSetRequireSeparable()`, `PCBCRSetSeparableTolerance()`, `PCBCRSetCheck()`
M*/
PetscErrorCode PCCreate_BCR(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_BCR);
  pc->ops->setup          = weft::Together<weft::PCSetUp_BCR>;
  pc->ops->apply          = weft::Guarded<weft::PCApply_BCR<weft::Transpose::no>>;
  pc->ops->presolve       = weft::Guarded<weft::PCPreSolve_BCR>;
  pc->ops->postsolve      = weft::Guarded<weft::RefuseNonFiniteSolution>;
  pc->ops->applytranspose = weft::Guarded<weft::PCApply_BCR<weft::Transpose::yes>>;
  pc->ops->matapply       = weft::Guarded<weft::PCMatApply_BCR>;
  pc->ops->setfromoptions = weft::Guarded<weft::PCSetFromOptions_BCR>;
  pc->ops->view           = weft::Guarded<weft::PCView_BCR>;
  pc->ops->reset          = weft::PCReset_BCR;
  pc->ops->destroy        = weft::PCDestroy_BCR;
  PetscCall(weft::PCBCRComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
