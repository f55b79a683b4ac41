// PCLINE's options and view.
#include <vector>

#include "line/line_impl.h"
#include "line/ranks.h"

namespace weft {

const char *const line_directions[] = {"x", "y", "z", "xy", "xz", "yz", "xyz", "auto", "PCLineDirection", "PC_LINE_", NULL};
const char *const line_orderings[]  = {"jacobi", "zebra", "multicolor", "PCLineOrdering", "PC_LINE_", NULL};
const char *const line_sweeps[]     = {"forward", "backward", "symmetric", "auto", "PCLineSweep", "PC_LINE_", NULL};
const char *const line_sources[]    = {"map", "grid", "graph", "rows", "auto", "PCLineSource", "PC_LINE_", NULL};
const char *const line_ranks[]      = {"exact", "cut", "PCLineRanks", "PC_LINE_", NULL};
const char *const line_components[] = {"together", "apart", "auto", "PCLineComponents", "PC_LINE_", NULL};
const char *const line_precisions[] = {"double", "single", "PCLinePrecision", "PC_LINE_", NULL};

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

// A choice among names, given to its setter.
template <class Choice>
PetscErrorCode ChoiceFromOptions(PC pc, OptionItems PetscOptionsObject, const char option[], const char text[], const char setter_name[],
                                 const char *const names[], Choice now, PetscErrorCode (*setter)(PC, Choice))
{
  Choice value = now; // a PetscEnum of C++ holds no more than 0 and 1: it is written through PETSc's pointer, and read as what it is
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum(option, text, setter_name, names, (PetscEnum)now, (PetscEnum *)&value, &set));
  if (set) PetscCall(setter(pc, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetFromOptions_Line(PC pc, OptionItems PetscOptionsObject)
{
  PC_Line *line   = Data(pc);
  PetscInt sweeps = line->sweeps, cycles = line->plane_cycles, kernel;
  PetscReal omega = line->omega, share = line->find_again, warn = line->check.warn, fail = line->check.fail;
  PetscBool set, set_fail, estimate = line->estimate_omega ? PETSC_TRUE : PETSC_FALSE;
  PetscBool products = line->diagonal_products ? PETSC_TRUE : PETSC_FALSE;
  char file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  std::vector<const char *> kernels = tridiagonal_method_names();
  kernels.push_back("auto");
  PetscOptionsHeadBegin(PetscOptionsObject, "line relaxation options");
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_source", "where the lines come from", "PCLineSetSource", line_sources,
                              line->source, PCLineSetSource));
  PetscCall(
      PetscOptionsString("-pc_line_file", "file with the user's lines", "PCLineSetFile", line->file.c_str(), file, sizeof(file), &set));
  if (set) PetscCall(PCLineSetFile(pc, file));
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_direction", "directions of the lines on a grid", "PCLineSetDirection",
                              line_directions, line->direction, PCLineSetDirection));
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_ordering", "all lines at once, or by colours", "PCLineSetOrdering",
                              line_orderings, line->ordering, PCLineSetOrdering));
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_sweep", "order of directions and colours", "PCLineSetSweep", line_sweeps,
                              line->sweep, PCLineSetSweep));
  PetscCall(PetscOptionsInt("-pc_line_plane_cycles", "cycles of lines inside planes", "PCLineSetPlaneCycles", cycles, &cycles, &set));
  if (set) PetscCall(PCLineSetPlaneCycles(pc, cycles));
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_ranks", "lines that cross ranks", "PCLineSetRanks", line_ranks, line->ranks,
                              PCLineSetRanks));
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_components", "unknowns of a node", "PCLineSetComponents", line_components,
                              line->components, PCLineSetComponents));
  PetscCall(ChoiceFromOptions(pc, PetscOptionsObject, "-pc_line_precision", "precision of the line solves", "PCLineSetPrecision",
                              line_precisions, line->precision, PCLineSetPrecision));
  PetscCall(PetscOptionsEList("-pc_line_kernel", "tridiagonal method", "PCLineSetKernel", kernels.data(), (PetscInt)kernels.size(),
                              line->kernel.c_str(), &kernel, &set));
  if (set) PetscCall(PCLineSetKernel(pc, kernels[kernel]));
  PetscCall(KernelParametersFromOptions(pc, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-pc_line_sweeps", "sweeps in one application", "PCLineSetSweeps", sweeps, &sweeps, &set));
  if (set) PetscCall(PCLineSetSweeps(pc, sweeps));
  PetscCall(PetscOptionsReal("-pc_line_omega", "damping factor", "PCLineSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCLineSetOmega(pc, omega));
  PetscCall(PetscOptionsReal("-pc_line_find_again", "share of what lines of the graph carried below which they are looked for again",
                             "PCLineSetFindAgain", share, &share, &set));
  if (set) PetscCall(PCLineSetFindAgain(pc, share));
  PetscCall(PetscOptionsBool("-pc_line_estimate_omega", "damping factor from the largest eigenvalue", "PCLineSetEstimateOmega", estimate,
                             &estimate, &set));
  if (set) PetscCall(PCLineSetEstimateOmega(pc, estimate));
  PetscCall(PetscOptionsBool("-pc_line_diagonal_products", "products and residuals with the matrix from its diagonals",
                             "PCLineSetDiagonalProducts", products, &products, &set));
  if (set) PetscCall(PCLineSetDiagonalProducts(pc, products));
  PetscCall(PetscOptionsReal("-pc_line_check_warn", "relative residual of a random solve above which it is told and refined",
                             "PCLineSetCheck", warn, &warn, &set));
  PetscCall(PetscOptionsReal("-pc_line_check_fail", "relative residual of a random solve above which set-up fails", "PCLineSetCheck", fail,
                             &fail, &set_fail));
  if (set || set_fail) PetscCall(PCLineSetCheck(pc, warn, fail));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What becomes of lines that cross ranks, where they are not solved exactly: there are pieces in their place.
std::string CutLines(const PC_Line &line, size_t set)
{
  switch (line.shape.source) {
  case PC_LINE_ROWS:
  case PC_LINE_GRID: {
    const int direction = line.shape.directions[set];
    return line.grid.ranks[direction] > 1 && !Crosses(line, direction) ? ", cut where ranks meet" : "";
  }
  case PC_LINE_MAP:
    return CrossingLines(line) > 0 && !MayJoinLines(line)
               ? ", " + std::to_string(CrossingLines(line)) + " of the map's cut where ranks meet"
               : "";
  case PC_LINE_GRAPH:
    return MayJoinLines(line) ? "" : ", cut where ranks meet";
  default:
    return ", cut where ranks meet";
  }
}

// Lines are counted where they start; a line that crosses ranks starts on the first of them.
PetscErrorCode ViewLines(PC pc, PetscViewer viewer, const LineSet &set, size_t k, const char name[])
{
  PetscMPIInt ranks;
  PetscInt64 count = set.count(), total, length = set.longest(), longest;
  const PC_Line &line = *Data(pc);
  const char *coupled = "";

  PetscFunctionBegin;
  if (InBoxes(line.shape) && Crosses(line, line.shape.directions[k]) && !SolvedByOne(line)) {
    int near = set.neighbours_only();
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &near, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
    coupled = near ? ", ranks tell their neighbours only" : ", ranks of a line solve for its ends";
  }
  PetscCallMPI(MPI_Allreduce(&count, &total, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&length, &longest, 1, MPIU_INT64, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines%s: %" PetscInt64_FMT " of at most %" PetscInt64_FMT " rows%s%s%s\n", name, total,
                                   longest, set.kind().c_str(), ranks > 1 ? CutLines(line, k).c_str() : "", coupled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCView_Line(PC pc, PetscViewer viewer)
{
  static const char *const sources[] = {"a map of the user's", "a grid", "the strongest couplings of the matrix",
                                        "the rows in their order"};
  static const char *const along[]   = {" along x", " along y", " along z"};
  PC_Line *line                      = Data(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ordering %s, sweeps %" PetscInt_FMT " %s, omega %g%s\n", line_orderings[line->ordering],
                                   line->sweeps, line_sweeps[pc->setupcalled ? line->found_sweep : line->sweep],
                                   (double)(pc->setupcalled ? line->found_omega : line->omega),
                                   line->estimate_omega ? " (estimated)" : ""));
  if (!pc->setupcalled) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction %s, kernel %s, lines not yet looked for\n", line_directions[line->direction],
                                     line->kernel.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool grid = line->shape.source == PC_LINE_GRID;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines from %s%s\n", sources[line->shape.source],
                                   grid && line->direction == PC_LINE_AUTO ? ", in its stiff directions" : ""));
  if (line->shape.source == PC_LINE_GRAPH)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  lines found in set-up %" PetscInt_FMT " of %" PetscInt_FMT
                                     ", carrying %.3g of what lines can, looked for again below %g of that\n",
                                     line->found_in, line->set_ups, (double)line->carried, (double)line->find_again));
  if (grid)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  grid: %d-dimensional with %d component%s a node%s\n", line->grid.dimension,
                                     (int)line->grid.components, line->grid.components == 1 ? "" : "s",
                                     line->grid.components == 1 ? ""
                                     : line->shape.together     ? ", together"
                                                                : ", each on lines of its own"));
  if (line->plane_cycles > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  planes: %" PetscInt_FMT " cycles of lines inside them\n", line->plane_cycles));
  if (line->empty_rows > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  empty rows, with 1 on the diagonal: %" PetscInt_FMT "\n", line->empty_rows));
  if (line->with_products) PetscCall(PetscViewerASCIIPrintf(viewer, "  products and residuals of the matrix: from its diagonals\n"));
  PetscCall(line->check.View(viewer));
  const auto &sets = line->sets[line->sets[0].empty() ? 1 : 0];
  for (size_t k = 0; k < sets.size(); k++) PetscCall(ViewLines(pc, viewer, *sets[k], k, grid ? along[line->shape.directions[k]] : ""));
  for (const auto &found : line->sets) {
    if (found.empty()) continue;
    const Execution &execution = found.front()->execution();
    std::string backend;
    PetscCallCXX(backend = execution.name());
    PetscCall(PetscViewerASCIIPrintf(viewer, "  kernel: %s%s on the %s (%s)\n", found.front()->method(),
                                     line->kernel == "auto" ? " (auto)" : "", execution.memory() == Memory::device ? "device" : "host",
                                     backend.c_str()));
  }
  PetscCall(PCLineTellIdleOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
