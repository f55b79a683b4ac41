// What PCView() says of a PCADI.
#include "adi/adi_impl.h"
#include "petsc/number_text.h"

namespace weft {

namespace {

// Complex shifts are shown as they are added to the matrix, without the parts that rounding has left of their product with the turn.
PetscErrorCode PrintShift(PetscViewer viewer, const char before[], const AdiSolver<KernelScalar> &solver, PetscScalar shift)
{
  PetscFunctionBegin;
  if (complex_built) shift *= solver.turn();
  const PetscReal re = PetscRealPart(shift), im = PetscImaginaryPart(shift), rounding = 1e-14 * PetscAbsScalar(shift);
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s%g", before, (double)(PetscAbsReal(re) > rounding ? re : 0)));
  if (PetscAbsReal(im) > rounding) PetscCall(PetscViewerASCIIPrintf(viewer, "%+gi", (double)im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewShifts(PC pc, PetscViewer viewer, const AdiSolver<KernelScalar> &solver)
{
  PC_ADI *adi        = Adi(pc);
  const auto &shifts = solver.shifts();

  PetscFunctionBegin;
  if (solver.directions().size() == 1) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  one direction: its lines are solved without shifts\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!adi->bounds.empty()) {
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  bounds of the parts (%s)%s:", adi->given_bounds.empty() ? adi_bounds_methods[adi->bounds_method] : "given",
        complex_built && solver.turn() != 1.0 ? (" over " + NumberText(solver.turn())).c_str() : ""));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    for (std::size_t d = 0; d < adi->bounds.size(); d++) {
      const SpectralInterval &part = adi->bounds[d];
      PetscCall(PetscViewerASCIIPrintf(viewer, " %c [%g, %g]", "xyz"[solver.directions()[d]], part.low, part.high));
      if (part.offset != 0) PetscCall(PetscViewerASCIIPrintf(viewer, " %+gi", part.offset));
      if (part.skew > 0) PetscCall(PetscViewerASCIIPrintf(viewer, " +- %gi%s", part.skew, part.box ? " (box)" : ""));
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  }
  bool skew = false;
  for (const SpectralInterval &part : adi->bounds) skew = skew || part.skew > 0 || part.offset != 0;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  shifts (%s, %d in a cycle):",
                                   !adi->given_shifts.empty() ? "given"
                                   : adi->symmetric           ? "equal ratios"
                                   : skew                     ? (complex_built ? "of regions" : "of ellipses")
                                                              : "Wachspress and Jordan",
                                   (int)shifts.size()));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  const bool pairs = solver.directions().size() == 2 && adi->type != PC_ADI_DOUGLAS_RACHFORD;
  for (const auto &s : shifts) {
    PetscCall(PrintShift(viewer, " ", solver, s[0]));
    if (pairs && s[0] != s[1]) PetscCall(PrintShift(viewer, "/", solver, s[1]));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (adi->bounds.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!adi->no_promise.empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  nothing is promised of a cycle: %s\n", adi->no_promise.c_str()));
  } else if (adi->symmetric) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  condition with it %.2g\n", adi->condition));
  } else {
    char norm[64] = "";
    if (adi->log_condition > 1)
      PetscCall(PetscSNPrintf(norm, sizeof(norm), ", in a norm whose condition is about 1e%.0f", adi->log_condition / std::log(10.0)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  a cycle leaves %.3g of the error at most%s: %.0f cycles for eight digits\n", adi->reduction,
                                     norm, std::ceil(AdiCyclesFor(*adi, 1e-8))));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCView_ADI(PC pc, PetscViewer viewer)
{
  PC_ADI *adi = Adi(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  scheme %s, cycles %" PetscInt_FMT "%s\n",
                                   adi->symmetric ? "symmetric sum" : adi_types[adi->type], adi->iterations,
                                   adi->keep_factors ? "" : ", factors made in each sweep"));
  if (!pc->setupcalled || !adi->any() || adi->any()->shifts().empty()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  line solver %s, the matrix is not yet split\n", adi->line_solver.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ViewShifts(pc, viewer, *adi->any()));
  const double couplings = adi->split.on + adi->split.rest;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  split: %.3g%% of the couplings lie on no line and stay on the right-hand side\n",
                                   couplings > 0 ? 100 * adi->split.rest / couplings : 0.0));
  if (adi->split.fixed > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  rows solved by themselves: %" PetscInt64_FMT " of %" PetscInt64_FMT "\n",
                                     (PetscInt64)adi->split.fixed, (PetscInt64)adi->split.rows));
  if (adi->split.known > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  of these, penalties that are taken for known values: %" PetscInt64_FMT "\n",
                                     (PetscInt64)adi->split.known));
  for (const auto &solver : adi->solver) {
    if (!solver) continue;
    std::string backend;
    PetscCallCXX(backend = solver->execution().name());
    for (int k : solver->directions()) {
      const AdiBox &box = solver->box();
      PetscCall(PetscViewerASCIIPrintf(viewer, "  lines along %c: %" PetscInt64_FMT " rows%s%s, %s%s on the %s (%s)\n", "xyz"[k],
                                       (PetscInt64)box.global[k], box.closed(k) ? ", closed" : "", box.crosses[k] ? ", across ranks" : "",
                                       solver->method(k), adi->line_solver == "auto" ? " (auto)" : "",
                                       solver->execution().memory() == Memory::device ? "device" : "host", backend.c_str()));
    }
  }
  PetscCall(PCADITellOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
