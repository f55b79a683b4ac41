// What programs call to set a PCLINE, with the man pages; setters.cxx does it.
#include "line/line_impl.h"

/*@
  PCLineSetSource - sets where a `PCLINE` takes its lines from

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- source - `PC_LINE_MAP`, `PC_LINE_GRID`, `PC_LINE_GRAPH`, `PC_LINE_ROWS` or `PC_LINE_SOURCE_AUTO`

  Options Database Key:
. -pc_line_source (map|grid|graph|rows|auto) - the source

  Level: intermediate

  Note:
  A map is a file (`PCLineSetFile()`) or an object composed with the matrix under the name "weft_lines": an `IS` with the numbers of rows in
  the order of the lines, a negative one after each line, or a `PetscSection` whose point l has as many degrees of freedom as line l has rows,
  the rows following each other. A grid is a `DMDA`. A graph is that of the matrix: lines follow its strongest couplings, each row in at most one
  line. Rows: those of the matrix in their order are one line over all ranks, or a ring. auto takes a map if there is one, the rows where they are all that the matrix couples, else a grid, else the graph.

.seealso: `PCLINE`, `PCLineSetFile()`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetSource(PC pc, PCLineSource source)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, source, 2);
  PetscTryMethod(pc, "PCLineSetSource_C", (PC, PCLineSource), (pc, source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetFile - names a file with the lines of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- file - its name: a text file with a line of row numbers for each line; what follows a # is a comment

  Options Database Key:
. -pc_line_file <file> - the file

  Level: intermediate

  Note:
  Every rank takes the rows that it owns. Lines may go from rank to rank in any order: `PCLineSetRanks()` says what becomes of those. Rows in no line are lines of one row.

.seealso: `PCLINE`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineSetFile(PC pc, const char file[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCLineSetFile_C", (PC, const char[]), (pc, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetDirection - sets the directions of the lines of a `PCLINE` on a grid

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- direction - `PC_LINE_X`, `PC_LINE_Y`, `PC_LINE_Z`, several of them (`PC_LINE_XY`, ...) one after the other, or `PC_LINE_AUTO`

  Options Database Key:
. -pc_line_direction (x|y|z|xy|xz|yz|xyz|auto) - the directions

  Level: intermediate

  Note:
  auto takes the directions along which a part of the rows, one in a hundred at least, couples more than three times as strongly as along any other; where there is none, that which couples most.

.seealso: `PCLINE`, `PCLineSetOrdering()`, `PCLineSetPlaneCycles()`
@*/
PetscErrorCode PCLineSetDirection(PC pc, PCLineDirection direction)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, direction, 2);
  PetscTryMethod(pc, "PCLineSetDirection_C", (PC, PCLineDirection), (pc, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetOrdering - sets the order in which a `PCLINE` relaxes its lines

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- ordering - `PC_LINE_JACOBI` for all lines at once, `PC_LINE_ZEBRA` for every second line first, `PC_LINE_MULTICOLOR` for more colours

  Options Database Key:
. -pc_line_ordering (jacobi|zebra|multicolor) - the ordering

  Level: intermediate

  Note:
  Lines of one zebra colour do not couple in star stencils. multicolor takes four colours for lines in three dimensions, so that they do not couple
  in box stencils either. Lines of a map or a graph have as many colours as they need in both.

.seealso: `PCLINE`, `PCLineSetSweep()`
@*/
PetscErrorCode PCLineSetOrdering(PC pc, PCLineOrdering ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, ordering, 2);
  PetscTryMethod(pc, "PCLineSetOrdering_C", (PC, PCLineOrdering), (pc, ordering));
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
  A symmetric sweep goes forward and back, its turning point once, and keeps a symmetric matrix symmetric. auto is forward, but symmetric where several directions were found by `PC_LINE_AUTO`.

.seealso: `PCLINE`, `PCLineSetOrdering()`, `PCLineSetSweeps()`
@*/
PetscErrorCode PCLineSetSweep(PC pc, PCLineSweep sweep)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, sweep, 2);
  PetscTryMethod(pc, "PCLineSetSweep_C", (PC, PCLineSweep), (pc, sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetPlaneCycles - makes a `PCLINE` relax planes, approximately, by cycles of lines inside them

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- cycles - number of cycles in each plane, 0 for no planes

  Options Database Key:
. -pc_line_plane_cycles <0> - the number

  Level: intermediate

  Note:
  The planes are those of the two directions of `PCLineSetDirection()`. Every second plane is relaxed first, then the others.

.seealso: `PCLINE`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetPlaneCycles(PC pc, PetscInt cycles)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, cycles, 2);
  PetscTryMethod(pc, "PCLineSetPlaneCycles_C", (PC, PetscInt), (pc, cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetRanks - sets what a `PCLINE` does with lines that cross ranks

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- ranks - `PC_LINE_EXACT` to solve them together, `PC_LINE_CUT` to end them at the border

  Options Database Key:
. -pc_line_ranks (exact|cut) - the choice

  Level: intermediate

  Note:
  Lines of a user's map and of the matrix's graph are always cut in single precision. `-ksp_view` says how many go on, or are cut.

.seealso: `PCLINE`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineSetRanks(PC pc, PCLineRanks ranks)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, ranks, 2);
  PetscTryMethod(pc, "PCLineSetRanks_C", (PC, PCLineRanks), (pc, ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetComponents - sets whether a `PCLINE` solves for the unknowns of a node together

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- components - `PC_LINE_TOGETHER` for lines of blocks, `PC_LINE_APART` for lines of their own, `PC_LINE_COMPONENTS_AUTO` for together where the matrix couples them

  Options Database Key:
. -pc_line_components (together|apart|auto) - the choice

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetComponents(PC pc, PCLineComponents components)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, components, 2);
  PetscTryMethod(pc, "PCLineSetComponents_C", (PC, PCLineComponents), (pc, components));
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
  Vectors stay in double precision. Lines of blocks and lines across ranks are always in double precision.

.seealso: `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineSetPrecision(PC pc, PCLinePrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCLineSetPrecision_C", (PC, PCLinePrecision), (pc, precision));
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

.seealso: `PCLINE`, `PCLineSetOmega()`
@*/
PetscErrorCode PCLineSetEstimateOmega(PC pc, PetscBool estimate)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, estimate, 2);
  PetscTryMethod(pc, "PCLineSetEstimateOmega_C", (PC, PetscBool), (pc, estimate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetKernel - sets the method by which a `PCLINE` solves tridiagonal lines

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- kernel - the method's name, or "auto" to choose by length and number of lines and by where the vectors are

  Options Database Key:
. -pc_line_kernel <auto> - the method: thomas, wide, toeplitz, pivoted, spike, or one to compare these with; `-help` lists all

  Level: advanced

  Note:
  auto takes toeplitz for lines with constant coefficients where that is the fastest, and pivoted where a line has a zero pivot without, or one tridiagonal system loses digits.

.seealso: `PCLINE`, `PCLineSetKernelParameters()`
@*/
PetscErrorCode PCLineSetKernel(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCLineSetKernel_C", (PC, const char[]), (pc, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetKernelParameters - tells the method by which a `PCLINE` solves its lines how to work; 0 leaves it the choice

  Logically Collective

  Input Parameters:
+ pc          - the preconditioner
. switch_rows - rows left of a line at which a hybrid method changes (cr-pcr)
. steps       - reduction steps before it does (pcr-thomas, cr-pcr-thomas)
. partitions  - parts of a line (spike), or threads that share one (wide, toeplitz)
. slice       - rows of a slice (tpr, pivoted, cr-pcr-thomas), or of a thread (wide, toeplitz)
- tolerance   - size below which a coupling may be dropped (spike, toeplitz)

  Options Database Keys:
+ -pc_line_kernel_switch <0>     - rows
. -pc_line_kernel_steps <0>      - steps
. -pc_line_kernel_partitions <0> - parts or threads
. -pc_line_kernel_slice <0>      - rows
- -pc_line_kernel_tolerance <0>  - size

  Level: advanced

  Note:
  A method ignores what it does not read, and refuses values that it cannot work with when the `PC` is set up.

.seealso: `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineSetKernelParameters(PC pc, PetscInt switch_rows, PetscInt steps, PetscInt partitions, PetscInt slice,
                                         PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, switch_rows, 2);
  PetscValidLogicalCollectiveInt(pc, steps, 3);
  PetscValidLogicalCollectiveInt(pc, partitions, 4);
  PetscValidLogicalCollectiveInt(pc, slice, 5);
  PetscValidLogicalCollectiveReal(pc, tolerance, 6);
  PetscTryMethod(pc, "PCLineSetKernelParameters_C", (PC, PetscInt, PetscInt, PetscInt, PetscInt, PetscReal),
                 (pc, switch_rows, steps, partitions, slice, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetSweeps - sets the number of sweeps in one application of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- sweeps - at least 1; each sweep after the first, and each zebra half-sweep, needs a residual

  Options Database Key:
. -pc_line_sweeps <1> - the number

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetOmega()`
@*/
PetscErrorCode PCLineSetSweeps(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, sweeps, 2);
  PetscTryMethod(pc, "PCLineSetSweeps_C", (PC, PetscInt), (pc, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetOmega - sets the damping factor of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- omega - positive; each correction is multiplied by it

  Options Database Key:
. -pc_line_omega <1.0> - the factor

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetSweeps()`
@*/
PetscErrorCode PCLineSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscTryMethod(pc, "PCLineSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetFindAgain - sets when a `PCLINE` looks again for lines of the matrix's graph, once its values are others

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- share - of what they carried when they were found: lines that carry less are given up; 0 for never, more than 1 for each set-up

  Options Database Key:
. -pc_line_find_again <0.95> - the share

  Level: intermediate

  Note:
  What lines carry is, in the mean over the rows, the row's couplings along its line as a share of its two strongest. `-ksp_view` says which
  set-up has found the lines, and what they carried then.

.seealso: `PCLINE`, `PCLineGetFindAgain()`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineSetFindAgain(PC pc, PetscReal share)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, share, 2);
  PetscTryMethod(pc, "PCLineSetFindAgain_C", (PC, PetscReal), (pc, share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetFindAgain - gets when a `PCLINE` looks again for lines of the matrix's graph

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. share - of what lines carried when they were found: those that carry less are given up

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetFindAgain()`
@*/
PetscErrorCode PCLineGetFindAgain(PC pc, PetscReal *share)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLineGetFindAgain_C", (PC, PetscReal *), (pc, share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetCheck - sets when a `PCLINE` whose lines are the whole matrix says that its solves lose digits, and when it fails for that

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. warn - relative residual of a random solve above which `PCView()` and `-info` tell it, and a step of iterative refinement is tried
- fail - relative residual above which the set-up fails with `PC_FACTOR_OTHER`

  Options Database Keys:
+ -pc_line_check_warn <1e-10> - the first bound
- -pc_line_check_fail <1e-4>  - the second

  Level: advanced

  Notes:
  Each set-up for a matrix that is tridiagonal in its own order, or such a ring, solves once with a right-hand side that looks random. If its
  residual is above `warn`, and more than rounding leaves with such a matrix, one step of iterative refinement is tried; where that makes the
  residual ten times smaller, all applications take it.

.seealso: `PCLINE`, `PCLineSetKernel()`
@*/
PetscErrorCode PCLineSetCheck(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, warn, 2);
  PetscValidLogicalCollectiveReal(pc, fail, 3);
  PetscTryMethod(pc, "PCLineSetCheck_C", (PC, PetscReal, PetscReal), (pc, warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}
