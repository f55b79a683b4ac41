// PCLINE: its creation, its end, its page.
#include "line/line_impl.h"
#include "petsc/agreed.h"
#include "types.h"

namespace weft {

PetscLogEvent line_setup_event, line_sweep_event, line_step_events[3];

namespace {

PetscErrorCode PCReset_Line(PC pc)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(PCLineLeaveProducts(pc));
  for (int memory : {0, 1}) line->forget(memory);
  PetscCall(PCLineFreeComms(pc));
  PetscCall(PCLineFreeGhosts(pc));
  PetscCall(VecDestroy(&line->residual));
  PetscCall(line->check.Forget());
  PetscCall(MatDestroy(&line->rows));
  line->check.outside = {};
  line->set_ups       = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_Line(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Line(pc));
  PetscCall(PCLineComposeSetters(pc, false));
  delete Data(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*MC
  PCLINE - line relaxation: solves the tridiagonal part of the matrix along grid lines exactly, on the host or on a GPU

  Options Database Keys:
+ -pc_line_source (map|grid|graph|rows|auto) - where the lines come from, see `PCLineSetSource()`
. -pc_line_file <file>               - user-supplied lines, see `PCLineSetFile()`
. -pc_line_direction (x|y|z|xy|xz|yz|xyz|auto) - directions of the lines on a `DMDA`, relaxed one after the other; auto chooses the stiff ones
. -pc_line_ordering (jacobi|zebra|multicolor|auto) - all lines at once, or every second line first and then the others with the new values;
                                       auto is zebra for a smoother under `KSPRICHARDSON`, see `PCLineSetOrdering()`
. -pc_line_sweep (forward|backward|symmetric|auto) - the order of directions and colours in a sweep
. -pc_line_plane_cycles <0>          - cycles of lines inside the planes of two directions; planes of one colour follow those of the other
. -pc_line_ranks (exact|cut)         - whether a line that crosses ranks is solved exactly or cut
. -pc_line_components (together|apart|auto) - whether the unknowns of a node are in lines of blocks or in lines of their own
. -pc_line_precision (double|single) - precision of the line solves
. -pc_line_kernel <auto>            - tridiagonal method: thomas, wide, toeplitz, pivoted, spike, or a method for comparison; `-help` lists all
. -pc_line_kernel_(switch|steps|partitions|slice|tolerance) - parameters of the method, see `PCLineSetKernelParameters()`
. -pc_line_sweeps <1>                - sweeps in one application
. -pc_line_omega <1.0>               - damping factor
. -pc_line_find_again <0.95>         - lines of the graph are looked for again when they carry less than this share of what they carried
. -pc_line_estimate_omega <false>    - estimate the damping factor from the largest eigenvalue when the preconditioner is set up
. -pc_line_diagonal_products <false> - compute products and residuals with the matrix from the diagonals that the sweeps work on
. -pc_line_check_warn <1e-10>        - lines that are the whole matrix: residual of a random solve above which it is reported and refined
- -pc_line_check_fail <1e-4>         - lines that are the whole matrix: residual of a random solve above which set-up fails

  Level: beginner

  Notes:
  This type is the smoother for multigrid if one direction couples much more strongly than the others (stretched grids, anisotropic
  coefficients): use `-pc_type mg -mg_levels_pc_type line`.

  The grid is the `DMDA` of the `PC` or, if it has none, of the matrix. If there is none, or it does not fit the matrix, lines are found in the
  matrix itself: they follow its strongest couplings, with each row in at most one line.

  The kernels run where the vectors are: on the host for standard vectors, on the device for `VECCUDA`, `VECHIP` and `VECKOKKOS`.

  A line that crosses ranks is solved exactly by all of these ranks together, unless it is cut, see `PCLineSetRanks()`. Lines of a periodic
  direction are rings. Up to 8 unknowns a node that the matrix couples are solved together; on a grid, such lines of blocks cross ranks as
  other lines do.

  With jacobi ordering along one direction, and with symmetric sweeps, the preconditioner of a symmetric matrix is symmetric. With other forward
  or backward sweeps it is not: use `KSPGMRES`, `KSPFGMRES` or `KSPBCGS` instead of `KSPCG`.

  `KSPRICHARDSON` without monitors hands all its iterations to the sweeps, and the first sweep needs no residual if the guess is zero. On a grid
  these are zebra sweeps, forward and back, unless you choose an ordering (`PCLineSetOrdering()` has the exceptions).

  -log_view shows the set-up as PCLineSetUp and the sweeps as PCLineSweep.

  A matrix that is tridiagonal in its own order, on any number of ranks, or such a ring, is solved exactly. Each set-up measures how well, see
  `PCLineSetCheck()`.

  A zero or non-finite pivot ends in `KSP_DIVERGED_PC_FAILED` with `PC_FACTOR_NUMERIC_ZEROPIVOT`. With the kernel auto, lines of scalars are first
  set up again with the kernel pivoted.

.seealso: `PCCreate()`, `PCSetType()`, `PCMG`, `PCSOR`, `PCJACOBI`, `PCLineSetSource()`, `PCLineSetDirection()`, `PCLineSetOrdering()`,
          `PCLineSetSweep()`, `PCLineSetPlaneCycles()`, `PCLineSetRanks()`, `PCLineSetComponents()`, `PCLineSetPrecision()`, `PCLineSetKernel()`,
          `PCLineSetSweeps()`, `PCLineSetOmega()`, `PCLineSetEstimateOmega()`, `PCLineSetFindAgain()`,
          `PCLineSetDiagonalProducts()`, `PCLineSetCheck()`
M*/
PetscErrorCode PCCreate_Line(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_Line);
  pc->ops->setup               = weft::Together<weft::PCSetUp_Line>;
  pc->ops->apply               = weft::Guarded<weft::PCApply_Line>;
  pc->ops->applytranspose      = weft::Guarded<weft::PCApplyTranspose_Line>;
  pc->ops->postsolve           = weft::Guarded<weft::PCPostSolve_Line>;
  pc->ops->presolve            = weft::Guarded<weft::PCPreSolve_Line>;
  pc->ops->applyrichardson     = weft::Guarded<weft::PCApplyRichardson_Line>;
  pc->ops->matapply            = weft::Guarded<weft::PCMatApply_Line>;
  pc->ops->applysymmetricleft  = weft::Guarded<weft::PCApplySymmetricLeft_Line>;
  pc->ops->applysymmetricright = weft::Guarded<weft::PCApplySymmetricRight_Line>;
  pc->ops->setfromoptions      = weft::Guarded<weft::PCSetFromOptions_Line>;
  pc->ops->view                = weft::Guarded<weft::PCView_Line>;
  pc->ops->reset               = weft::PCReset_Line;
  pc->ops->destroy             = weft::PCDestroy_Line;
  PetscCall(weft::PCLineComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineRegisterEvents()
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("PCLineSetUp", PC_CLASSID, &weft::line_setup_event));
  PetscCall(PetscLogEventRegister("PCLineSweep", PC_CLASSID, &weft::line_sweep_event));
  PetscCall(PetscLogEventRegister("PCLineProducts", PC_CLASSID, &weft::line_step_events[0]));
  PetscCall(PetscLogEventRegister("PCLineReduced", PC_CLASSID, &weft::line_step_events[1]));
  PetscCall(PetscLogEventRegister("PCLinePiece", PC_CLASSID, &weft::line_step_events[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
