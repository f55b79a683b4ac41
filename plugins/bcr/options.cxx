// PCBCR's options, each told once.
#include <vector>

#include "bcr/bcr_impl.h"
#include "petsc/option_table.h"

namespace weft {

std::vector<const char *> BcrMethodNames()
{
  std::vector<const char *> names = poisson_method_names();
  names.push_back("auto");
  return names;
}

namespace {

const char *const bcr_precisions[] = {"double", "single", "PCBCRPrecision", "PC_BCR_", NULL};

// Empty on ranks for which the first one solves.
std::string_view MethodOf(const PC_BCR &bcr)
{
  const AnyDirectSolver *solver = bcr.made(bcr.made(0) ? 0 : 1);
  return solver ? std::string_view(solver->facts().method) : std::string_view();
}

using Row = Option<PC_BCR>;

const Row options[] = {
    {"pc_bcr_type", "method", "PCBCRSetMethod",
     Row::Name{BcrMethodNames, [](const PC_BCR &bcr) { return bcr.options.method; }, PCBCRSetMethod}},
    {"pc_bcr_inverse", "inverse of matrix polynomials", "PCBCRSetInverse",
     Row::Name{[] {
                 return std::vector{"fractions", "leja"};
               },
               [](const PC_BCR &bcr) { return bcr.options.inverse; }, PCBCRSetInverse},
     "it is for the methods buneman1 and buneman2", [](const PC_BCR &bcr) { return MethodOf(bcr).substr(0, 7) == "buneman"; }},
    {"pc_bcr_radix", "by how much a level reduces the lines, 2 to 5, or 0 for automatic", "PCBCRSetRadix",
     Row::Whole{[](const PC_BCR &bcr) -> PetscInt { return bcr.options.radix; }, PCBCRSetRadix}, "it is for the method separable",
     [](const PC_BCR &bcr) { return MethodOf(bcr) == "separable"; }},
    {"pc_bcr_levels", "levels of cyclic reduction before the transform, or -1 for automatic", "PCBCRSetLevels",
     Row::Whole{[](const PC_BCR &bcr) -> PetscInt { return bcr.options.levels; }, PCBCRSetLevels}, "it is for the method facr",
     [](const PC_BCR &bcr) { return bcr.options.levels == 0 || MethodOf(bcr) == "facr"; }},
    {"pc_bcr_precision", "precision of the solve", "PCBCRSetPrecision",
     Row::ChoiceOf<&PC_BCR::precision, PCBCRSetPrecision>(bcr_precisions)},
    {"pc_bcr_require_separable", "an error where the matrix is not separable", "PCBCRSetRequireSeparable",
     Row::Flag{[](const PC_BCR &bcr) -> bool { return bcr.require_separable; }, PCBCRSetRequireSeparable}},
    {"pc_bcr_separable_tolerance", "largest relative deviation of a separable matrix", "PCBCRSetSeparableTolerance",
     Row::Real{[](const PC_BCR &bcr) { return bcr.tolerance; }, PCBCRSetSeparableTolerance}},
    {"pc_bcr_check_warn", "relative residual of a random solve above which it is reported and solves are refined", "PCBCRSetCheck",
     Row::Real{[](const PC_BCR &bcr) { return bcr.check.warn; },
               [](PC pc, PetscReal warn) { return PCBCRSetCheck(pc, warn, Bcr(pc)->check.fail); }}},
    {"pc_bcr_check_fail", "relative residual of a random solve above which set-up fails", "PCBCRSetCheck",
     Row::Real{[](const PC_BCR &bcr) { return bcr.check.fail; },
               [](PC pc, PetscReal fail) { return PCBCRSetCheck(pc, Bcr(pc)->check.warn, fail); }}},
};

} // namespace

PetscErrorCode PCSetFromOptions_BCR(PC pc, OptionItems items)
{
  PetscFunctionBegin;
  PetscCall(OptionsFromTable(pc, *Bcr(pc), "block cyclic reduction options", options, items));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBCRTellOptions(PC pc, PetscViewer viewer)
{
  PetscMPIInt solves = !MethodOf(*Bcr(pc)).empty(), one;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&solves, &one, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (one) PetscCall(TellOptions(pc, *Bcr(pc), options, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
