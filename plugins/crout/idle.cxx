// Which options of PCCROUT act with which matrices, patterns, methods and triangular solves.
#include "crout/crout_impl.h"
#include "petsc/idle_options.h"

namespace weft {

namespace {

bool Sparse(const PC_Crout &crout)
{
  return !crout.factor->IsDense();
}

bool PatternIs(const PC_Crout &crout, FillPattern pattern)
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
  return !Sparse(crout) || PatternIs(crout, FillPattern::full);
}

constexpr char is_sparse[]   = "it is for sparse matrices";
constexpr char has_sweeps[]  = "the factors are found by elimination; it is for -pc_crout_method sweeps";
constexpr char has_entries[] = "it is for sparse matrices and -pc_crout_pattern threshold";

const OptionUse<PC_Crout> uses[] = {
    {"pc_crout_pattern", [](const PC_Crout &crout) { return crout.settings.options.pattern != FillPattern::levels; }, Sparse,
     "the factors of a dense matrix have all entries"},
    {"pc_crout_levels", [](const PC_Crout &crout) { return crout.settings.options.levels != 0; },
     [](const PC_Crout &crout) { return PatternIs(crout, FillPattern::levels); }, "it is for sparse matrices and -pc_crout_pattern levels"},
    {"pc_crout_droptol", [](const PC_Crout &crout) { return crout.settings.options.drop_tolerance != CroutOptions().drop_tolerance; },
     [](const PC_Crout &crout) { return PatternIs(crout, FillPattern::threshold); }, has_entries},
    {"pc_crout_row_quota", [](const PC_Crout &crout) { return crout.settings.options.row_quota != 0; },
     [](const PC_Crout &crout) { return PatternIs(crout, FillPattern::threshold); }, has_entries},
    {"pc_crout_most_operations", [](const PC_Crout &crout) { return crout.settings.options.most_operations != crout_most_operations; },
     [](const PC_Crout &crout) { return PatternIs(crout, FillPattern::full); }, "it is for sparse matrices and -pc_crout_pattern full"},
    {"pc_crout_check_warn", [](const PC_Crout &crout) { return crout.settings.check_warn != CroutSettings().check_warn; }, Complete,
     "it is for complete factors"},
    {"pc_crout_check_fail", [](const PC_Crout &crout) { return crout.settings.check_fail != CroutSettings().check_fail; }, Complete,
     "it is for complete factors"},
    {"pc_crout_method", [](const PC_Crout &crout) { return crout.method != PC_CROUT_METHOD_AUTO; },
     [](const PC_Crout &crout) { return Sparse(crout) || crout.method == PC_CROUT_METHOD_SWEEPS; },
     "the sections of a dense matrix are swept until nothing changes"},
    {"pc_crout_sweeps", [](const PC_Crout &crout) { return crout.settings.options.sweeps != 0; }, SweptOrDense, has_sweeps},
    {"pc_crout_rtol", [](const PC_Crout &crout) { return crout.tolerance != 0; }, SweptOrDense, has_sweeps},
    {"pc_crout_omega", [](const PC_Crout &crout) { return crout.settings.options.omega != 0; }, Swept,
     "it is for the sweeps over a sparse matrix"},
    {"pc_crout_sections", [](const PC_Crout &crout) { return crout.settings.options.sections != 0; }, SweptOrDense, has_sweeps},
    {"pc_crout_async", [](const PC_Crout &crout) { return crout.settings.options.asynchronous; }, Swept,
     "it is for the sweeps over a sparse matrix"},
    {"pc_crout_shift", [](const PC_Crout &crout) { return crout.settings.options.base_shift != 0; }, Sparse, is_sparse},
    {"pc_crout_scaling", [](const PC_Crout &crout) { return crout.settings.options.scaling != CroutOptions().scaling; }, Sparse, is_sparse},
    {"pc_crout_ordering", [](const PC_Crout &crout) { return crout.ordering != "auto"; }, Sparse,
     "the rows of a dense matrix are exchanged, its columns are not"},
    {"pc_crout_symmetric", [](const PC_Crout &crout) { return crout.symmetric == PETSC_BOOL3_TRUE; }, Sparse,
     "the rows of a dense matrix are exchanged, so that its factors are L U"},
    {"pc_crout_trisolve", [](const PC_Crout &crout) { return crout.settings.solve != "auto"; }, Sparse, is_sparse},
    {"pc_crout_trisolve_steps", [](const PC_Crout &crout) { return crout.settings.solve_steps != 0; },
     [](const PC_Crout &crout) { return Sparse(crout) && crout.factor->TriangularMethodIs("jacobi"); },
     "it is for -pc_crout_trisolve jacobi, and auto on a device"},
};

} // namespace

PetscErrorCode PCCroutTellIdleOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (Data(pc)->factor) PetscCall(TellIdleOptions(pc, *Data(pc), uses, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
