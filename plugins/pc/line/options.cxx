// PCLINE's options, view and setters.
#include <vector>

#include "pc/line/line_impl.h"

namespace weft {

const char *const line_directions[] = {"x", "y", "z", "auto", "PCLineDirection", "PC_LINE_", NULL};
const char *const line_orderings[]  = {"jacobi", "zebra", "PCLineOrdering", "PC_LINE_", NULL};

namespace {

// What the kernel can be told about how to work; 0 leaves it the choice.
PetscErrorCode KernelParametersFromOptions(PC pc, OptionItems PetscOptionsObject)
{
  const MethodParameters &now = Data(pc)->kernel_parameters;
  PetscInt switch_rows = (PetscInt)now.switch_rows, steps = now.steps, partitions = now.partitions, slice = now.slice;
  PetscReal tolerance = now.tolerance;
  PetscBool set[5];
  const char *setter = "PCLineSetKernelParameters";

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-pc_line_kernel_switch", "rows left of a line at which a hybrid kernel changes its method", setter,
                            switch_rows, &switch_rows, &set[0]));
  PetscCall(PetscOptionsInt("-pc_line_kernel_steps", "reduction steps of a hybrid kernel before that", setter, steps, &steps, &set[1]));
  PetscCall(PetscOptionsInt("-pc_line_kernel_partitions", "parts that a line is cut into, or threads that share it", setter, partitions,
                            &partitions, &set[2]));
  PetscCall(PetscOptionsInt("-pc_line_kernel_slice", "rows of a slice, or of a thread", setter, slice, &slice, &set[3]));
  PetscCall(
      PetscOptionsReal("-pc_line_kernel_tolerance", "size below which couplings may be dropped", setter, tolerance, &tolerance, &set[4]));
  if (set[0] || set[1] || set[2] || set[3] || set[4])
    PetscCall(PCLineSetKernelParameters(pc, switch_rows, steps, partitions, slice, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetFromOptions_Line(PC pc, OptionItems PetscOptionsObject)
{
  PC_Line *line             = Data(pc);
  PCLineDirection direction = line->direction;
  PCLineOrdering ordering   = line->ordering;
  PetscInt sweeps           = line->sweeps, kernel;
  PetscReal omega           = line->omega;
  PetscBool set;

  PetscFunctionBegin;
  std::vector<const char *> kernels = tridiagonal_method_names();
  kernels.push_back("auto");
  PetscOptionsHeadBegin(PetscOptionsObject, "line relaxation options");
  PetscCall(PetscOptionsEnum("-pc_line_direction", "direction of the lines on a grid", "PCLineSetDirection", line_directions,
                             (PetscEnum)direction, (PetscEnum *)&direction, &set));
  if (set) PetscCall(PCLineSetDirection(pc, direction));
  PetscCall(PetscOptionsEnum("-pc_line_ordering", "all lines at once, or every second one", "PCLineSetOrdering", line_orderings,
                             (PetscEnum)ordering, (PetscEnum *)&ordering, &set));
  if (set) PetscCall(PCLineSetOrdering(pc, ordering));
  PetscCall(PetscOptionsEList("-pc_line_kernel", "tridiagonal method", "PCLineSetKernel", kernels.data(), (PetscInt)kernels.size(),
                              line->kernel.c_str(), &kernel, &set));
  if (set) PetscCall(PCLineSetKernel(pc, kernels[kernel]));
  PetscCall(KernelParametersFromOptions(pc, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-pc_line_sweeps", "sweeps in one application", "PCLineSetSweeps", sweeps, &sweeps, &set));
  if (set) PetscCall(PCLineSetSweeps(pc, sweeps));
  PetscCall(PetscOptionsReal("-pc_line_omega", "damping factor", "PCLineSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCLineSetOmega(pc, omega));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_Line(PC pc, PetscViewer viewer)
{
  PC_Line *line = Data(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ordering %s, sweeps %" PetscInt_FMT ", omega %g\n", line_orderings[line->ordering],
                                   line->sweeps, (double)line->omega));
  if (!pc->setupcalled) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction %s, kernel %s, lines not yet looked for\n", line_directions[line->direction],
                                     line->kernel.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Lines end where a rank's part of the grid ends, so the counts add up over ranks and the lengths differ by rank.
  PetscInt64 count = line->layout.count(), total, length = line->layout.length, longest;
  PetscCallMPI(MPI_Allreduce(&count, &total, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&length, &longest, 1, MPIU_INT64, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines: %" PetscInt64_FMT " of at most %" PetscInt64_FMT " rows%s\n", total, longest,
                                   ranks > 1 ? ", cut where ranks meet" : ""));
  if (line->grid.dimension == 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: the order of the rows (no DMDA describes this matrix)\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: %s%s of a %d-dimensional grid with %d component%s a node\n",
                                     line_directions[line->found], line->direction == PC_LINE_AUTO ? " (strongest coupling)" : "",
                                     line->grid.dimension, (int)line->grid.components,
                                     line->grid.components == 1 ? "" : "s, each on lines of its own"));
  for (const auto &solver : line->solver) {
    if (!solver) continue;
    std::string backend;
    PetscCallCXX(backend = solver->execution().name());
    PetscCall(PetscViewerASCIIPrintf(viewer, "  kernel: %s%s on the %s (%s)\n", solver->method(), line->kernel == "auto" ? " (auto)" : "",
                                     solver->execution().memory() == Memory::device ? "device" : "host", backend.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// A choice that set-up depends on.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, Value value)
{
  PetscFunctionBegin;
  if (*chosen != value) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetDirection_Line(PC pc, PCLineDirection direction)
{
  PetscFunctionBegin;
  PetscCheck(direction >= PC_LINE_X && direction <= PC_LINE_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCLineSetDirection(): %d is no PCLineDirection", (int)direction);
  PetscCall(Choose(pc, &Data(pc)->direction, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetOrdering_Line(PC pc, PCLineOrdering ordering)
{
  PetscFunctionBegin;
  PetscCheck(ordering == PC_LINE_JACOBI || ordering == PC_LINE_ZEBRA, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "PCLineSetOrdering(): %d is no PCLineOrdering", (int)ordering);
  PetscCall(Choose(pc, &Data(pc)->ordering, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetKernel_Line(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  PetscCheck(kernel, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCLineSetKernel(): no name is given");
  const std::string name = kernel;
  bool known             = name == "auto";
  std::string list;
  for (const char *method : tridiagonal_method_names()) {
    known = known || name == method;
    list += std::string(method) + ", ";
  }
  PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown line kernel '%s': there are %sand auto", kernel,
             list.c_str());
  PetscCall(Choose(pc, &Data(pc)->kernel, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetKernelParameters_Line(PC pc, PetscInt switch_rows, PetscInt steps, PetscInt partitions, PetscInt slice,
                                              PetscReal tolerance)
{
  MethodParameters parameters;

  PetscFunctionBegin;
  PetscCheck(switch_rows >= 0 && steps >= 0 && partitions >= 0 && slice >= 0 && tolerance >= 0 && !PetscIsInfOrNanReal(tolerance),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "parameters of a line kernel must not be negative: 0 leaves the kernel the choice");
  parameters.switch_rows = switch_rows;
  parameters.steps       = (int)steps;
  parameters.partitions  = (int)partitions;
  parameters.slice       = (int)slice;
  parameters.tolerance   = tolerance;
  PetscCall(Choose(pc, &Data(pc)->kernel_parameters, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetSweeps_Line(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCheck(sweeps >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_sweeps %" PetscInt_FMT ": at least one sweep is needed", sweeps);
  Data(pc)->sweeps = sweeps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetOmega_Line(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCheck(omega > 0 && PetscIsNormalReal(omega), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_omega %g: the damping factor must be positive and finite", (double)omega);
  Data(pc)->omega = omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCLineComposeSetters(PC pc, bool compose)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetDirection_C", compose ? PCLineSetDirection_Line : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetOrdering_C", compose ? PCLineSetOrdering_Line : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetKernel_C", compose ? PCLineSetKernel_Line : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetKernelParameters_C", compose ? PCLineSetKernelParameters_Line : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetSweeps_C", compose ? PCLineSetSweeps_Line : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLineSetOmega_C", compose ? PCLineSetOmega_Line : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetDirection - sets the direction of the lines of a `PCLINE` on a grid

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- direction - `PC_LINE_X`, `PC_LINE_Y`, `PC_LINE_Z`, or `PC_LINE_AUTO` for the one in which the matrix couples most

  Options Database Key:
. -pc_line_direction (x|y|z|auto) - the direction

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetOrdering()`
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
- ordering - `PC_LINE_JACOBI` for all lines at once, `PC_LINE_ZEBRA` for every second line first

  Options Database Key:
. -pc_line_ordering (jacobi|zebra) - the ordering

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetDirection()`
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
  PCLineSetKernel - sets the method by which a `PCLINE` solves tridiagonal lines

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- kernel - the method's name, or "auto" to choose by length and number of lines and by where the vectors are

  Options Database Key:
. -pc_line_kernel (thomas|thomas-late|cr|pcr|cr-pcr|pcr-thomas|cr-pcr-thomas|spike|tpr|toeplitz|wide|pivoted|auto) - the method

  Level: advanced

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
