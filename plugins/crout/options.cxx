// PCCROUT's options, each told once.
#include "crout/crout_impl.h"
#include "crout/triangular_solver.hpp"
#include "petsc/option_table.h"
#include "petsc/setters.h"

namespace weft {

const char *const crout_patterns[] = {"levels", "threshold", "full", "PCCroutPattern", "PC_CROUT_", NULL};
const char *const crout_methods[]  = {"sweeps", "exact", "auto", "PCCroutMethod", "PC_CROUT_METHOD_", NULL};

namespace {

const char *const crout_scalings[]   = {"none", "diagonal", "ruiz", "PCCroutScaling", "PC_CROUT_SCALING_", NULL};
const char *const crout_precisions[] = {"double", "single", "PCCroutPrecision", "PC_CROUT_", NULL};

bool Sparse(const PC_Crout &crout)
{
  return !crout.factor->IsDense();
}

template <FillPattern pattern>
bool PatternIs(const PC_Crout &crout)
{
  return Sparse(crout) && crout.settings.options.pattern == pattern;
}

// True where sweeps were made, if only to be given up; and of a rank without rows, which does not know.
bool Swept(const PC_Crout &crout)
{
  const CroutReport *report = crout.factor->Report();
  return Sparse(crout) && (!report || !report->exact || report->all_sweeps > 0);
}

bool SweptOrDense(const PC_Crout &crout)
{
  return !Sparse(crout) || Swept(crout);
}

// Factors that are checked by a solve.
bool Complete(const PC_Crout &crout)
{
  return !Sparse(crout) || PatternIs<FillPattern::full>(crout);
}

constexpr char is_sparse[]   = "it is for sparse matrices";
constexpr char is_complete[] = "it is for complete factors";
constexpr char has_sweeps[]  = "it is for -pc_crout_method sweeps and dense matrices";
constexpr char sweeps_rows[] = "it is for the sweeps over a sparse matrix";
constexpr char has_entries[] = "it is for sparse matrices and -pc_crout_pattern threshold";

using Row = Option<PC_Crout>;

const Row options[] = {
    // What the factors are to be.
    {"pc_crout_pattern", "where the factors have entries", "PCCroutSetPattern",
     Row::Choice{crout_patterns, [](const PC_Crout &crout) { return (int)crout.settings.options.pattern; },
                 [](PC pc, int pattern) { return PCCroutSetPattern(pc, (PCCroutPattern)pattern); }},
     "the factors of a dense matrix have all entries", Sparse},
    {"pc_crout_levels", "levels of fill", "PCCroutSetLevels",
     Row::Whole{[](const PC_Crout &crout) -> PetscInt { return crout.settings.options.levels; }, PCCroutSetLevels},
     "it is for sparse matrices and -pc_crout_pattern levels", PatternIs<FillPattern::levels>},
    {"pc_crout_droptol", "entries smaller than this, relative to the mean of their row, are left out", "PCCroutSetDropTolerance",
     Row::Real{
         [](const PC_Crout &crout) -> PetscReal { return crout.settings.options.drop_tolerance; },
         [](PC pc, PetscReal tolerance) { return PCCroutSetDropTolerance(pc, tolerance, (PetscInt)Data(pc)->settings.options.row_quota); }},
     has_entries, PatternIs<FillPattern::threshold>},
    {"pc_crout_row_quota", "most entries of a row in each triangle", "PCCroutSetDropTolerance",
     Row::Whole{[](const PC_Crout &crout) { return (PetscInt)crout.settings.options.row_quota; },
                [](PC pc, PetscInt quota) { return PCCroutSetDropTolerance(pc, Data(pc)->settings.options.drop_tolerance, quota); }},
     has_entries, PatternIs<FillPattern::threshold>},
    {"pc_crout_most_operations", "most multiplications that complete factors may take", "PCCroutSetMostOperations",
     Row::Real{[](const PC_Crout &crout) -> PetscReal { return crout.settings.options.most_operations; }, PCCroutSetMostOperations},
     "it is for sparse matrices and -pc_crout_pattern full", PatternIs<FillPattern::full>},
    {"pc_crout_shift", "share of the diagonal that is added to the diagonal", "PCCroutSetShift",
     Row::Real{[](const PC_Crout &crout) -> PetscReal { return crout.settings.options.base_shift; }, PCCroutSetShift}, is_sparse, Sparse},
    {"pc_crout_check_warn", "relative residual of a random solve above which it is reported and solves are refined", "PCCroutSetCheck",
     Row::Real{[](const PC_Crout &crout) { return crout.settings.check_warn; },
               [](PC pc, PetscReal warn) { return PCCroutSetCheck(pc, warn, Data(pc)->settings.check_fail); }},
     is_complete, Complete},
    {"pc_crout_check_fail", "relative residual of a random solve above which complete factors fail", "PCCroutSetCheck",
     Row::Real{[](const PC_Crout &crout) { return crout.settings.check_fail; },
               [](PC pc, PetscReal fail) { return PCCroutSetCheck(pc, Data(pc)->settings.check_warn, fail); }},
     is_complete, Complete},
    {"pc_crout_scaling", "scaling of rows and columns", "PCCroutSetScaling",
     Row::Choice{crout_scalings, [](const PC_Crout &crout) { return (int)crout.settings.options.scaling; },
                 [](PC pc, int scaling) { return PCCroutSetScaling(pc, (PCCroutScaling)scaling); }},
     is_sparse, Sparse},
    {"pc_crout_ordering", "order of rows and columns: auto or a MatOrderingType", "PCCroutSetOrdering",
     Row::Text{[](const PC_Crout &crout) { return crout.ordering; }, PCCroutSetOrdering},
     "the rows of a dense matrix are exchanged, its columns are not", Sparse},
    {"pc_crout_symmetric", "factor L D L^T; by default where the matrix says that it is symmetric", "PCCroutSetSymmetric",
     Row::Flag{[](const PC_Crout &crout) { return crout.symmetric == PETSC_BOOL3_TRUE; }, PCCroutSetSymmetric},
     "the rows of a dense matrix are exchanged, so that its factors are L U", Sparse,
     [](const PC_Crout &crout) { return crout.symmetric != PETSC_BOOL3_UNKNOWN; }},
    {"pc_crout_precision", "precision of the factors", "PCCroutSetPrecision",
     Row::Choice{crout_precisions, [](const PC_Crout &crout) -> int { return crout.settings.precision; },
                 [](PC pc, int precision) { return PCCroutSetPrecision(pc, (PCCroutPrecision)precision); }}},
    // How they are found.
    {"pc_crout_method", "method that computes the factors", "PCCroutSetMethod",
     Row::ChoiceOf<&PC_Crout::method, PCCroutSetMethod>(crout_methods), "the sections of a dense matrix are swept until nothing changes",
     Sparse},
    {"pc_crout_sweeps", "number of sweeps; 0 for as many as are needed", "PCCroutSetSweeps",
     Row::Whole{[](const PC_Crout &crout) -> PetscInt { return crout.settings.options.sweeps; }, PCCroutSetSweeps}, has_sweeps,
     SweptOrDense},
    {"pc_crout_rtol", "residual of the factors at which sweeps end", "PCCroutSetTolerance",
     Row::Real{[](const PC_Crout &crout) { return crout.tolerance; }, PCCroutSetTolerance}, has_sweeps, SweptOrDense},
    {"pc_crout_omega", "under-relaxation of the sweeps; 0 for 1, and 0.5 where they grow", "PCCroutSetOmega",
     Row::Real{[](const PC_Crout &crout) -> PetscReal { return crout.settings.options.omega; }, PCCroutSetOmega}, sweeps_rows, Swept},
    {"pc_crout_sections", "blocks of rows that converge in order; 0 for as many as are needed", "PCCroutSetSections",
     Row::Whole{[](const PC_Crout &crout) -> PetscInt { return crout.settings.options.sections; }, PCCroutSetSections}, has_sweeps,
     SweptOrDense},
    {"pc_crout_async", "sweep in place; no two runs are the same", "PCCroutSetAsynchronous",
     Row::Flag{[](const PC_Crout &crout) { return crout.settings.options.asynchronous; }, PCCroutSetAsynchronous}, sweeps_rows, Swept},
    {"pc_crout_monitor", "print the residuals of the sweeps", "PCCROUT",
     Row::Flag{[](const PC_Crout &crout) -> bool { return crout.monitor; },
               [](PC pc, PetscBool monitor) { return Get(&Data(pc)->monitor, monitor); }}},
    // How they are solved with.
    {"pc_crout_trisolve", "method that solves the triangles", "PCCroutSetTriangularSolve",
     Row::Name{triangular_method_names, [](const PC_Crout &crout) { return crout.settings.solve; },
               [](PC pc, const char *name) { return PCCroutSetTriangularSolve(pc, name, Data(pc)->settings.solve_steps); }},
     is_sparse, Sparse},
    {"pc_crout_trisolve_steps", "number of Jacobi steps; 0 for as many as a test solve needs", "PCCroutSetTriangularSolve",
     Row::Whole{[](const PC_Crout &crout) -> PetscInt { return crout.settings.solve_steps; },
                [](PC pc, PetscInt steps) { return PCCroutSetTriangularSolve(pc, Data(pc)->settings.solve.c_str(), steps); }},
     "it is for -pc_crout_trisolve jacobi, and auto on a device",
     [](const PC_Crout &crout) { return Sparse(crout) && crout.factor->TriangularMethodIs("jacobi"); }},
};

} // namespace

PetscErrorCode PCSetFromOptions_Crout(PC pc, OptionItems items)
{
  PetscFunctionBegin;
  PetscCall(OptionsFromTable(pc, *Data(pc), "Crout factorization options", options, items));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCroutTellOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (Data(pc)->factor) PetscCall(TellOptions(pc, *Data(pc), options, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
