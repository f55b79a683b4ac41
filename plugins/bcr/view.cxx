// What PCView() says of a PCBCR.
#include <algorithm>
#include <cstdio>

#include "bcr/bcr_impl.h"

namespace weft {

namespace {

// "63 x 63"
std::string Sizes(const Index (&nodes)[3], int dimension)
{
  std::string text;
  for (int d = 0; d < dimension; d++) text += (d > 0 ? " x " : "") + std::to_string(nodes[d]);
  return text;
}

// Each direction's kind: " periodic", " weighted".
std::string Kinds(const Separation &found)
{
  const SeparableOperator &op = found.separable;
  std::string text;
  for (int d = 0; found.pencil && d < 3; d++) {
    if (found.pencil->directions[d].periodic()) text += ", periodic along direction " + std::to_string(d + 1);
  }
  if (found.pencil) text += ", products of two tridiagonal matrices along each direction";
  for (int d = 0; d < op.dimension; d++) {
    if (op.directions[d].periodic) text += ", periodic along direction " + std::to_string(d + 1);
    if (!op.directions[d].weight.empty()) text += ", weights along direction " + std::to_string(d + 1);
  }
  return text;
}

PetscErrorCode ViewPlan(const PC_BCR &bcr, PetscViewer viewer)
{
  const SpreadPlan &plan = *bcr.plan;
  Index rows             = 0;
  std::string way;

  PetscFunctionBegin;
  for (int rank = 0; rank < plan.processes; rank++) rows = std::max(rows, plan.layers(rank).size());
#if defined(WEFT_DISTRIBUTED)
  if (bcr.messages_on_device) PetscCallCXX(way = "; messages " + bcr.messages->way());
#endif
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  ranks: spread over %d, of which one has at most %" PetscInt64_FMT " of %" PetscInt64_FMT
                                   " nodes along %c, where lines are joined%s%s\n",
                                   plan.processes, (PetscInt64)rows, (PetscInt64)plan.grid[2], "xyz"[plan.order[2]],
                                   plan.in_place ? "" : "; values are brought there", way.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Solvers of one rank, or of all: then the memory of the largest part is shown, which all ranks have to ask for.
PetscErrorCode ViewSolver(PC pc, const AnyDirectSolver &solver, bool of_all, PetscViewer viewer)
{
  const DirectFacts &facts = solver.facts();
  std::string backend;
  double megabytes = 1e-6 * static_cast<double>(solver.work_bytes());

  PetscFunctionBegin;
  if (of_all) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &megabytes, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscCallCXX(backend = solver.execution().name());
  PetscCall(PetscViewerASCIIPrintf(viewer, "  solver: %s%s on the %s (%s), %.3g MB%s\n", facts.method.c_str(),
                                   Bcr(pc)->options.method == "auto" ? " (auto)" : "",
                                   solver.execution().memory() == Memory::device ? "device" : "host", backend.c_str(), megabytes,
                                   of_all ? " on the rank with most" : ""));
  if (!facts.description.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "    %s\n", facts.description.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::string RefusedSentence(const PC_BCR &bcr)
{
  if (bcr.separable()) return bcr.check.TransposedSentence("-pc_bcr_check");
  char deviation[32];
  std::snprintf(deviation, sizeof deviation, "%.3g", bcr.separation.deviation);
  return "one application is no solution: the matrix is not separable, it differs by " + std::string(deviation) +
         ", relative to a row, from the nearest operator that is, which is solved: iterate, with -ksp_type cg (gmres where the matrix is "
         "not "
         "symmetric)";
}

PetscErrorCode PCView_BCR(PC pc, PetscViewer viewer)
{
  PC_BCR *bcr = Bcr(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  method %s, inverse %s, %s precision%s\n", bcr->options.method.c_str(),
                                   bcr->options.inverse.c_str(), bcr->inside() == PC_BCR_DOUBLE ? "double" : "single",
                                   bcr->inside() == bcr->precision ? "" : ": the matrix is out of the range of single"));
  if (!pc->setupcalled || bcr->separation.unusable > 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, pc->setupcalled ? "  operator: no numbers to solve with\n" : "  operator not yet read\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Separation &found = bcr->separation;
  std::string sizes, inner, kinds;
  PetscCallCXX(sizes = Sizes(found.grid, bcr->grid.dimension));
  PetscCallCXX(inner = Sizes(found.nodes, bcr->grid.dimension));
  PetscCallCXX(kinds = Kinds(found));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  operator: %s, largest relative deviation %.3g; %ssymmetric%s%s%s\n",
                                   bcr->separable() ? "separable" : "the nearest separable one", found.deviation,
                                   found.symmetric ? "" : "not ",
                                   found.known    ? ", values known where a diagonal outweighs its row"
                                   : found.scaled ? " but for a factor of each row"
                                                  : "",
                                   bcr->singular ? ", singular (constants)" : "", kinds.c_str()));
  if (found.turn != 1.0 || found.imaginary_shift != 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  complex: %g%+g i times a real operator with %+g i, times the weights, on its diagonal, within the boundary\n",
        found.turn.real(), found.turn.imag(), found.imaginary_shift * found.unit * bcr->factor));
  if (sizes == inner)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  grid: %s nodes\n", sizes.c_str()));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  grid: %s nodes, %s within boundary rows that are solved separately\n", sizes.c_str(),
                                     inner.c_str()));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks > 1 && !bcr->plan) PetscCall(PetscViewerASCIIPrintf(viewer, "  ranks: gathered on rank 0 of %d, which solves\n", ranks));
  if (bcr->plan) PetscCall(ViewPlan(*bcr, viewer));
  for (int which : {0, 1}) {
    if (bcr->made(which)) PetscCall(ViewSolver(pc, *bcr->made(which), bcr->plan.has_value(), viewer));
  }
  PetscCall(bcr->check.View(viewer));
  PetscCall(PCBCRTellOptions(pc, viewer));
  if (bcr->refused) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", RefusedSentence(*bcr).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
