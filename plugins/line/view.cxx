// What PCView() says of a PCLINE.
#include "line/line_impl.h"

namespace weft {

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
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines%s: %" PetscInt64_FMT " of at most %" PetscInt64_FMT " rows%s%s%s\n", name, total,
                                   longest, set.kind().c_str(), line.processes > 1 ? CutLines(line, k).c_str() : "", coupled));
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
  const LineSweep &sweep = line->for_richardson ? line->relaxed : line->applied;
  std::string ordering;
  PetscCallCXX(ordering = pc->setupcalled ? OrderingFound(*line) : line_orderings[line->ordering]);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ordering %s, sweeps %" PetscInt_FMT " %s, omega %g%s\n", ordering.c_str(), line->sweeps,
                                   line_sweeps[pc->setupcalled ? sweep.order : line->sweep],
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
  if (line->sweeps == 1) PetscCall(line->check.View(viewer));
  if (line->amplified > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  check: an application leaves %.2g of a random right-hand side, to %.1g\n",
                                     (double)line->amplified, (double)line->rounded));
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
  PetscCall(PCLineTellOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
