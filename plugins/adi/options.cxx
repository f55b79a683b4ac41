// The options of PCADI and of KSPADI, each told once.
#include "adi/adi_impl.h"
#include "adi/ksp_adi.h"
#include "petsc/option_table.h"

namespace weft {

const char *const adi_types[]          = {"peaceman_rachford", "douglas_rachford", "douglas_gunn", "PCADIType", "PC_ADI_", NULL};
const char *const adi_bounds_methods[] = {"gershgorin", "lanczos", "PCADIBoundsMethod", "PC_ADI_", NULL};

std::vector<const char *> AdiLineSolvers()
{
  std::vector<const char *> solvers;
  for (const char *method : tridiagonal_method_names()) {
    if (std::string(method) != "toeplitz") solvers.push_back(method); // it shares one line's coefficients between all
  }
  solvers.push_back("auto");
  return solvers;
}

namespace {

// One direction is solved at once, without shifts.
bool Shifts(const PC_ADI &adi)
{
  return adi.any() && adi.any()->directions().size() > 1;
}

constexpr char has_shifts[] = "the lines of one direction are solved without shifts";

using Row = Option<PC_ADI>;

const Row options[] = {
    {"pc_adi_type", "scheme", "PCADISetType", Row::ChoiceOf<&PC_ADI::type, PCADISetType>(adi_types),
     "-pc_adi_symmetric and grids of one direction have a scheme of their own",
     [](const PC_ADI &adi) { return Shifts(adi) && !adi.symmetric; }},
    {"pc_adi_cycle", "shifts in a cycle, 0 for as many as reduce the error tenfold", "PCADISetCycle",
     Row::Whole{[](const PC_ADI &adi) { return adi.cycle; }, PCADISetCycle}, has_shifts, Shifts},
    {"pc_adi_iterations", "cycles in one application", "PCADISetIterations",
     Row::Whole{[](const PC_ADI &adi) { return adi.iterations; }, PCADISetIterations}},
    {"pc_adi_shifts", "shifts of a cycle", "PCADISetShifts",
     Row::Scalars{adi_most_shifts, [](const PC_ADI &adi) { return adi.given_shifts; }, PCADISetShifts}, has_shifts, Shifts},
    {"pc_adi_bounds", "bounds of the spectra of the parts", "PCADISetBounds",
     Row::Numbers{adi_most_shifts, [](const PC_ADI &adi) { return adi.given_bounds; }, PCADISetBounds},
     "it is for shifts that are computed", [](const PC_ADI &adi) { return Shifts(adi) && adi.given_shifts.empty(); }},
    {"pc_adi_bounds_method", "method that finds the bounds", "PCADISetBoundsMethod",
     Row::ChoiceOf<&PC_ADI::bounds_method, PCADISetBoundsMethod>(adi_bounds_methods),
     "it is for shifts that are computed from bounds that are found",
     [](const PC_ADI &adi) { return Shifts(adi) && adi.given_shifts.empty() && adi.given_bounds.empty(); }},
    {"pc_adi_line_solver", "tridiagonal method", "PCADISetLineSolver",
     Row::Name{AdiLineSolvers, [](const PC_ADI &adi) { return adi.line_solver; }, PCADISetLineSolver}},
    {"pc_adi_symmetric", "a symmetric and definite form, for CG", "PCADISetSymmetric",
     Row::Flag{[](const PC_ADI &adi) { return adi.symmetric; }, PCADISetSymmetric}, has_shifts, Shifts},
    {"pc_adi_keep_factors", "keep the factors of every shift and direction", "PCADISetKeepFactors",
     Row::Flag{[](const PC_ADI &adi) { return adi.keep_factors; }, PCADISetKeepFactors}},
};

using KspRow = Option<KSP_ADI, KSP>;

const KspRow ksp_options[] = {
    {"ksp_adi_check_every", "iterations between two looks at the norm", "KSPADISetCheckEvery",
     KspRow::Whole{[](const KSP_ADI &adi) { return adi.check_every; }, KSPADISetCheckEvery}},
};

} // namespace

PetscErrorCode PCSetFromOptions_ADI(PC pc, OptionItems items)
{
  PetscFunctionBegin;
  PetscCall(OptionsFromTable(pc, *Adi(pc), "alternating direction options", options, items));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCADITellOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(TellOptions(pc, *Adi(pc), options, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPADIReadOptions(KSP ksp, OptionItems items)
{
  PetscFunctionBegin;
  PetscCall(OptionsFromTable(ksp, *Adi(ksp), "KSP ADI options", ksp_options, items));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPADITellOptions(KSP ksp, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(TellOptions(ksp, *Adi(ksp), ksp_options, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
