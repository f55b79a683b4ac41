// PCBOXMG: black box multigrid for one matrix on a DMDA; creation, the end, and its page.
#include "boxmg/boxmg_impl.h"
#include "petsc/direct_check.h"
#include "petsc/refuse_solution.h"
#include "types.h"

namespace weft {

PetscLogEvent boxmg_setup_event, boxmg_cycle_event;

namespace {

PetscErrorCode PCDestroy_Boxmg(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Boxmg(pc));
  PetscCall(PCBoxmgComposeSetters(pc, false));
  delete Boxmg(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What stays of a right-hand side in rows without a pivot no norm of a preconditioned residual shows.
PetscErrorCode PCPostSolve_Boxmg(PC pc, KSP ksp, Vec b, Vec x)
{
  const PetscInt left_out = Boxmg(pc)->left_out;
  PetscReal left, given;
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCall(RefuseNonFiniteSolution(pc, ksp, b, x));
  if (left_out == 0 || !HasLastWord(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(pc->mat, &rows, &columns));
  if (rows != columns) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LeftOfRightHandSide(ksp, pc->mat, b, x, &left, &given));
  const PetscReal most = PetscMax(100 * ksp->rtol, OfPrecision(1e-6, 1e-3));
  if (given == 0 || left <= PetscMax(100 * ksp->abstol, most * given)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseSolution(ksp, "the matrix is singular, or nearly so: elimination leaves no pivot for " + std::to_string(left_out) +
                                    " of its rows, and " + ShownNumber(left / given) +
                                    " of the right-hand side is left: attach its null space (MatSetNullSpace) and take it out of the "
                                    "right-hand side, or take -pc_type lu where it has none"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*MC
  PCBOXMG - multigrid that makes everything from one matrix on a `DMDA`: lines as its smoother, interpolation from the operator, coarse
  operators; on the host or on a GPU

  Options Database Keys:
+ -pc_boxmg_levels <0>                                      - largest number of levels; 0 for as many as there can be
. -pc_boxmg_cycle (auto|v|w|f)                              - the order in which levels are visited
. -pc_boxmg_smoother (auto|lines|alternating|planes|points) - the smoother of each level
. -pc_boxmg_coarsen (auto|x|y|xy|z|xz|yz|all)               - directions that may be coarsened
. -pc_boxmg_interpolation (operator|linear)                 - weights of the interpolation
. -pc_boxmg_sweeps <1>                                      - sweeps before and after each correction
. -pc_boxmg_coarse (direct|lines)                           - the solver of the coarsest grid
. -pc_boxmg_coarsest <0>                                    - a grid of at most so many nodes is not coarsened; 0: 100, on a device 500 unknowns
. -pc_boxmg_share <-1>                                      - nodes a rank that a level needs to be shared; -1: 2000, on devices 100000
. -pc_boxmg_precision (double|single)                       - precision inside the cycle
- -pc_boxmg_monitor <false>                                 - print the residual of each level, twice a cycle

  Level: beginner

  Notes:
  The operator is read from the assembled `MATAIJ` matrix, with 1 to 8 unknowns a node and couplings to a node's neighbours (3 points in 1-D,
  5 or 9 in 2-D, 7 or 27 in 3-D). The grid is the `DMDA` of the `PC` or, if it has none, of the matrix. It may have any number of nodes along
  each direction and any boundary conditions, coefficients may jump, and any row may be one of the identity. Nothing else is needed.

  The cycle of a symmetric matrix is symmetric and fit for `KSPCG`, unless it is an F cycle. For other matrices use `KSPGMRES` or `KSPFGMRES`.
  Set-up checks whether the matrix is symmetric, unless `MatSetOption()` has declared it (`MAT_SYMMETRIC`).

  Singular operators (Neumann or periodic conditions on all sides) need their null space attached with `MatSetNullSpace()`.

  Several unknowns a node are relaxed together, in lines of blocks. The first rank then cycles for all, in double precision and without planes.

  Under `KSPRICHARDSON` the PC iterates cycles itself and stops by the norm of the true residual. This takes fewer passes over vectors than
  `KSPCG`, which pays if a cycle reduces the error well, and with `-pc_boxmg_precision single` on a GPU.

  Several ranks share the levels that have enough nodes for each of them (`PCBoxmgSetShare()`); the first rank has the other levels by itself.
  The iterations are those of one rank, whatever the process grid. If a periodic direction that ranks cut has an odd number of nodes, or fewer
  than 8, the first rank cycles for all.

  New values with the same pattern keep what was allocated. If the operator cannot be preconditioned in this way, the set-up fails
  (`PCGetFailedReason()`); with `-ksp_error_if_not_converged` this is an error that says why.

  `PCGetInterpolations()` and `PCGetCoarseOperators()` give copies of the matrices of the levels, on one rank only.

  -log_view shows the set-up as PCBoxmgSetUp and the cycles as PCBoxmgCycle.

.seealso: `PCCreate()`, `PCSetType()`, `PCMG`, `PCLINE`, `PCBCR`, `PCBoxmgSetLevels()`, `PCBoxmgSetCycle()`, `PCBoxmgSetSmoother()`,
          `PCBoxmgSetCoarsen()`, `PCBoxmgSetInterpolation()`, `PCBoxmgSetSweeps()`, `PCBoxmgSetCoarse()`, `PCBoxmgSetCoarsest()`, `PCBoxmgSetShare()`,
          `PCBoxmgSetPrecision()`, `PCBoxmgSetMonitor()`
M*/
PetscErrorCode PCCreate_Boxmg(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_Boxmg);
  pc->ops->setup           = weft::Together<weft::PCSetUp_Boxmg>;
  pc->ops->apply           = weft::Guarded<weft::PCApply_Boxmg>;
  pc->ops->applytranspose  = weft::Guarded<weft::PCApplyTranspose_Boxmg>;
  pc->ops->applyrichardson = weft::Guarded<weft::PCApplyRichardson_Boxmg>;
  pc->ops->matapply        = weft::Guarded<weft::PCMatApply_Boxmg>;
  pc->ops->presolve        = weft::Guarded<weft::PCPreSolve_Boxmg>;
  pc->ops->postsolve       = weft::Guarded<weft::PCPostSolve_Boxmg>;
  pc->ops->setfromoptions  = weft::Guarded<weft::PCSetFromOptions_Boxmg>;
  pc->ops->view            = weft::Guarded<weft::PCView_Boxmg>;
  pc->ops->reset           = weft::PCReset_Boxmg;
  pc->ops->destroy         = weft::PCDestroy_Boxmg;
  PetscCall(weft::PCBoxmgComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBoxmgRegisterEvents()
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("PCBoxmgSetUp", PC_CLASSID, &weft::boxmg_setup_event));
  PetscCall(PetscLogEventRegister("PCBoxmgCycle", PC_CLASSID, &weft::boxmg_cycle_event));
  PetscFunctionReturn(PETSC_SUCCESS);
}
