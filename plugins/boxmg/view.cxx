// What PCView() says of a PCBOXMG.
#include "boxmg/boxmg_impl.h"

namespace weft {

std::string BoxmgSizes(const boxmg::Grid &grid)
{
  std::string text = std::to_string(grid.n[0]);
  const int last   = grid.n[2] > 1 ? 2 : grid.n[1] > 1 ? 1 : 0;
  for (int d = 1; d <= last; d++) text += " x " + std::to_string(grid.n[d]);
  return text;
}

namespace {

// "planes yz then xz", "lines along y then x", "points", or "solved directly".
std::string Relaxation(const BoxmgLevel &level)
{
  if (level.direct) return "solved directly";
  if (!level.planes.empty()) {
    const char *const across[] = {"yz", "xz", "xy"};
    std::string text           = "planes ";
    for (std::size_t k = 0; k < level.planes.size(); k++) text += (k > 0 ? std::string(" then ") : std::string()) + across[level.planes[k]];
    return text;
  }
  if (level.lines.empty()) return "points";
  std::string text = "lines along ";
  for (std::size_t k = 0; k < level.lines.size(); k++) text += (k > 0 ? std::string(" then ") : std::string()) + "xyz"[level.lines[k]];
  return text;
}

std::string Directions(boxmg::Directions set)
{
  std::string text;
  for (int d = 0; d < 3; d++) {
    if (boxmg::has(set, d)) text += "xyz"[d];
  }
  return text.empty() ? "coarsest" : "coarsened along " + text;
}

// What the first rank knows of the levels, of which it has all or shares them, with the bytes of all ranks. Collective where they share some.
PetscErrorCode AllLevels(const PC_Boxmg &bm, MPI_Comm comm, const Multigrid &multigrid, std::vector<BoxmgLevel> *levels)
{
  PetscFunctionBegin;
  PetscCallCXX(*levels = multigrid.levels());
  if (!bm.ranks) PetscFunctionReturn(PETSC_SUCCESS);
  for (BoxmgLevel &level : *levels) {
    if (level.ranks > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &level.bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A row for each level. The first rank knows of all, and prints.
PetscErrorCode ViewLevels(const std::vector<BoxmgLevel> &levels, PetscViewer viewer)
{
  PetscFunctionBegin;
  for (std::size_t k = 0; k < levels.size(); k++) {
    const BoxmgLevel &level = levels[k];
    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %d: %s, %s, %s, stencil of %d points, %d rank%s%s, %.0f bytes\n", (int)k,
                                     BoxmgSizes(level.grid).c_str(), Directions(level.coarsened).c_str(), Relaxation(level).c_str(),
                                     level.points, level.ranks, level.ranks == 1 ? "" : "s", level.moved ? " in boxes of whole lines" : "",
                                     level.bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where it cycles, and what it keeps there.
PetscErrorCode ViewMultigrids(const PC_Boxmg &bm, MPI_Comm comm, PetscViewer viewer)
{
  std::vector<BoxmgLevel> levels;

  PetscFunctionBegin;
  if (bm.cycle == PC_BOXMG_CYCLE_AUTO)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: %s, chosen from the matrix\n", boxmg_cycles[static_cast<int>(bm.any()->cycle())]));
  const std::string unknowns = bm.grid.components == 1 ? "" : ", " + std::to_string(bm.grid.components) + " unknowns a node";
  PetscCall(PetscViewerASCIIPrintf(viewer, "  operator: %ssymmetric%s\n", bm.any()->symmetric() ? "" : "not ", unknowns.c_str()));
  PetscCall(AllLevels(bm, comm, *bm.any(), &levels));
  PetscCall(ViewLevels(levels, viewer));
  for (int which : {0, 1}) {
    if (!bm.multigrid[which]) continue;
    std::string backend;
    double bytes = 0;
    PetscCallCXX(backend = bm.execution[which]->name());
    PetscCall(AllLevels(bm, comm, *bm.multigrid[which], &levels));
    for (const BoxmgLevel &level : levels) bytes += level.bytes;
    PetscCall(PetscViewerASCIIPrintf(viewer, "  cycles on the %s (%s), %.3g MB\n",
                                     which == static_cast<int>(Memory::device) ? "device" : "host", backend.c_str(), 1e-6 * bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCView_Boxmg(PC pc, PetscViewer viewer)
{
  const PC_Boxmg *bm = Boxmg(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  %s cycle, %" PetscInt_FMT " sweep%s before and after each correction, smoother %s, interpolation %s, "
                                   "%s precision\n",
                                   boxmg_cycles[bm->cycle], bm->sweeps, bm->sweeps == 1 ? "" : "s", boxmg_smoothers[bm->smoother],
                                   boxmg_interpolations[bm->interpolation], boxmg_precisions[bm->precision]));
  if (!bm->failure.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", bm->failure.c_str()));
  if (!bm->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!pc->setupcalled) PetscCall(PetscViewerASCIIPrintf(viewer, "  not yet set up\n"));
  if (!pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (bm->ranks)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  ranks: %d share the levels of %" PetscInt_FMT " nodes a rank or more, and rank 0 has the others; messages go %s\n",
        ranks, (PetscInt)bm->shared.least, bm->ranks->way().c_str()));
  else if (ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  ranks: gathered on rank 0 of %d, which solves\n", ranks));
  if (bm->any()) PetscCall(ViewMultigrids(*bm, PetscObjectComm((PetscObject)pc), viewer));
  if (!bm->tried)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  check: no cycle is tried, as each diagonal is at least the sum of the magnitudes beside it\n"));
  else if (bm->amplified > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  check: a cycle leaves %.2g of a random right-hand side\n", (double)bm->amplified));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  check: a cycle solves a random right-hand side\n"));
  if (bm->rounded > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  check: two cycles of the same right-hand side differ by %.2g\n", (double)bm->rounded));
  PetscCall(PCBoxmgTellOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
