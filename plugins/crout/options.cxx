// PCCROUT's options and view.
#include "crout/crout_impl.h"
#include "crout/triangular_solver.hpp"

namespace weft {

const char *const crout_patterns[]   = {"levels", "threshold", "full", "PCCroutPattern", "PC_CROUT_", NULL};
const char *const crout_methods[]    = {"sweeps", "exact", "auto", "PCCroutMethod", "PC_CROUT_METHOD_", NULL};
const char *const crout_scalings[]   = {"none", "diagonal", "ruiz", "PCCroutScaling", "PC_CROUT_SCALING_", NULL};
const char *const crout_precisions[] = {"double", "single", "PCCroutPrecision", "PC_CROUT_", NULL};

namespace {

// What the factors are to be.
PetscErrorCode FactorsFromOptions(PC pc, OptionItems PetscOptionsObject)
{
  const PC_Crout &crout      = *Data(pc);
  const CroutOptions &now    = crout.settings.options;
  PCCroutPattern pattern     = static_cast<PCCroutPattern>((int)now.pattern);
  PCCroutScaling scaling     = static_cast<PCCroutScaling>((int)now.scaling);
  PCCroutPrecision precision = crout.settings.precision;
  PetscInt levels = now.levels, quota = (PetscInt)now.row_quota;
  PetscReal drop_tolerance = now.drop_tolerance, shift = now.base_shift, operations = now.most_operations;
  PetscReal warn = crout.settings.check_warn, fail = crout.settings.check_fail;
  PetscBool symmetric = PetscBool3ToBool(crout.symmetric), set, set_too;
  char ordering[64];

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_crout_pattern", "where the factors have entries", "PCCroutSetPattern", crout_patterns, (PetscEnum)pattern,
                             (PetscEnum *)&pattern, &set));
  if (set) PetscCall(PCCroutSetPattern(pc, pattern));
  PetscCall(PetscOptionsInt("-pc_crout_levels", "levels of fill", "PCCroutSetLevels", levels, &levels, &set));
  if (set) PetscCall(PCCroutSetLevels(pc, levels));
  PetscCall(PetscOptionsReal("-pc_crout_droptol", "size below which entries are left out, against their row's mean",
                             "PCCroutSetDropTolerance", drop_tolerance, &drop_tolerance, &set));
  PetscCall(
      PetscOptionsInt("-pc_crout_row_quota", "most entries of a row in each triangle", "PCCroutSetDropTolerance", quota, &quota, &set_too));
  if (set || set_too) PetscCall(PCCroutSetDropTolerance(pc, drop_tolerance, quota));
  PetscCall(PetscOptionsReal("-pc_crout_most_operations", "multiplications that complete factors may take", "PCCroutSetMostOperations",
                             operations, &operations, &set));
  if (set) PetscCall(PCCroutSetMostOperations(pc, operations));
  PetscCall(PetscOptionsReal("-pc_crout_shift", "part of the diagonal that is added to it", "PCCroutSetShift", shift, &shift, &set));
  if (set) PetscCall(PCCroutSetShift(pc, shift));
  PetscCall(PetscOptionsReal("-pc_crout_check_warn", "relative residual of a random solve above which it is told and refined",
                             "PCCroutSetCheck", warn, &warn, &set));
  PetscCall(PetscOptionsReal("-pc_crout_check_fail", "relative residual of a random solve above which complete factors fail",
                             "PCCroutSetCheck", fail, &fail, &set_too));
  if (set || set_too) PetscCall(PCCroutSetCheck(pc, warn, fail));
  PetscCall(PetscOptionsEnum("-pc_crout_scaling", "scaling of rows and columns", "PCCroutSetScaling", crout_scalings, (PetscEnum)scaling,
                             (PetscEnum *)&scaling, &set));
  if (set) PetscCall(PCCroutSetScaling(pc, scaling));
  PetscCall(PetscOptionsString("-pc_crout_ordering", "order of rows and columns: auto or a MatOrderingType", "PCCroutSetOrdering",
                               crout.ordering.c_str(), ordering, sizeof(ordering), &set));
  if (set) PetscCall(PCCroutSetOrdering(pc, ordering));
  PetscCall(PetscOptionsBool("-pc_crout_symmetric", "factor L D L^T; without it where the matrix says that it is symmetric",
                             "PCCroutSetSymmetric", symmetric, &symmetric, &set));
  if (set) PetscCall(PCCroutSetSymmetric(pc, symmetric));
  PetscCall(PetscOptionsEnum("-pc_crout_precision", "precision of the factors", "PCCroutSetPrecision", crout_precisions,
                             (PetscEnum)precision, (PetscEnum *)&precision, &set));
  if (set) PetscCall(PCCroutSetPrecision(pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How they are found.
PetscErrorCode SweepsFromOptions(PC pc, OptionItems PetscOptionsObject)
{
  const PC_Crout &crout   = *Data(pc);
  const CroutOptions &now = crout.settings.options;
  PCCroutMethod method    = crout.method;
  PetscInt sweeps = now.sweeps, sections = now.sections;
  PetscReal omega = now.omega, tolerance = crout.tolerance;
  PetscBool asynchronous = now.asynchronous ? PETSC_TRUE : PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_crout_method", "how the factors are found", "PCCroutSetMethod", crout_methods, (PetscEnum)method,
                             (PetscEnum *)&method, &set));
  if (set) PetscCall(PCCroutSetMethod(pc, method));
  PetscCall(
      PetscOptionsInt("-pc_crout_sweeps", "number of sweeps; 0 for as many as are needed", "PCCroutSetSweeps", sweeps, &sweeps, &set));
  if (set) PetscCall(PCCroutSetSweeps(pc, sweeps));
  PetscCall(PetscOptionsReal("-pc_crout_rtol", "sweep until the residual of the factors is that small", "PCCroutSetTolerance", tolerance,
                             &tolerance, &set));
  if (set) PetscCall(PCCroutSetTolerance(pc, tolerance));
  PetscCall(PetscOptionsReal("-pc_crout_omega", "under-relaxation of the sweeps; 0 for 1, and 0.5 where they grow", "PCCroutSetOmega",
                             omega, &omega, &set));
  if (set) PetscCall(PCCroutSetOmega(pc, omega));
  PetscCall(PetscOptionsInt("-pc_crout_sections", "blocks of rows that converge in order; 0 for as many as are needed",
                            "PCCroutSetSections", sections, &sections, &set));
  if (set) PetscCall(PCCroutSetSections(pc, sections));
  PetscCall(PetscOptionsBool("-pc_crout_async", "sweep in place; no two runs are the same", "PCCroutSetAsynchronous", asynchronous,
                             &asynchronous, &set));
  if (set) PetscCall(PCCroutSetAsynchronous(pc, asynchronous));
  PetscCall(PetscOptionsBool("-pc_crout_monitor", "print the residuals of the sweeps", "PCCROUT", crout.monitor, &Data(pc)->monitor, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TrianglesFromOptions(PC pc, OptionItems PetscOptionsObject)
{
  const CroutSettings &now = Data(pc)->settings;
  std::string solve        = now.solve;
  PetscInt steps           = now.solve_steps, which;
  PetscBool set, set_too;

  PetscFunctionBegin;
  const std::vector<const char *> names = triangular_method_names();
  PetscCall(PetscOptionsEList("-pc_crout_trisolve", "how the triangles are solved", "PCCroutSetTriangularSolve", names.data(),
                              (PetscInt)names.size(), solve.c_str(), &which, &set));
  if (set) solve = names[which];
  PetscCall(PetscOptionsInt("-pc_crout_trisolve_steps", "steps of jacobi; 0 for as many as a test asks for", "PCCroutSetTriangularSolve",
                            steps, &steps, &set_too));
  if (set || set_too) PetscCall(PCCroutSetTriangularSolve(pc, solve.c_str(), steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetFromOptions_Crout(PC pc, OptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Crout factorization options");
  PetscCall(FactorsFromOptions(pc, PetscOptionsObject));
  PetscCall(SweepsFromOptions(pc, PetscOptionsObject));
  PetscCall(TrianglesFromOptions(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_Crout(PC pc, PetscViewer viewer)
{
  const PC_Crout *crout = Data(pc);
  PetscBool ascii;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!pc->setupcalled || !crout->factor) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  pattern %s, method %s, ordering %s; not yet factored\n",
                                     crout_patterns[(int)crout->settings.options.pattern], crout_methods[crout->method],
                                     crout->ordering.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  one block a rank (block Jacobi), %d blocks; that of the first rank:\n", (int)ranks));
  if (!crout->failure.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", crout->failure.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ordering: %s%s\n", crout->ordered_by.c_str(), crout->ordering == "auto" ? " (auto)" : ""));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(crout->factor->View(viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(PCCroutTellIdleOptions(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
