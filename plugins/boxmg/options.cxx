// PCBOXMG's options, each told once.
#include "petsc/option_table.h"

#include "boxmg/boxmg_impl.h"

namespace weft {

const char *const boxmg_cycles[]         = {"auto", "v", "w", "f", "PCBoxmgCycle", "PC_BOXMG_", NULL};
const char *const boxmg_smoothers[]      = {"auto", "lines", "alternating", "planes", "points", "PCBoxmgSmoother", "PC_BOXMG_", NULL};
const char *const boxmg_coarsens[]       = {"auto", "x", "y", "xy", "z", "xz", "yz", "all", "PCBoxmgCoarsen", "PC_BOXMG_", NULL};
const char *const boxmg_interpolations[] = {"operator", "linear", "PCBoxmgInterpolation", "PC_BOXMG_", NULL};
const char *const boxmg_coarses[]        = {"direct", "lines", "PCBoxmgCoarse", "PC_BOXMG_COARSE_", NULL};
const char *const boxmg_precisions[]     = {"double", "single", "PCBoxmgPrecision", "PC_BOXMG_", NULL};

namespace {

// Of ranks that do not cycle: none.
std::size_t Levels(const PC_Boxmg &bm)
{
  return bm.any() ? bm.any()->levels().size() : 0;
}

template <std::size_t least>
bool HasLevels(const PC_Boxmg &bm)
{
  return Levels(bm) >= least;
}

// Whether there is more than one rank, to which levels can go.
bool HasRanks(const PC_Boxmg &bm)
{
  return (bm.ranks || bm.whole.gathers()) && bm.grid.components == 1;
}

// Whether some level is relaxed.
bool Relaxes(const PC_Boxmg &bm)
{
  return Levels(bm) > 1 || (Levels(bm) == 1 && !bm.any()->levels()[0].direct);
}

// Whether a grid could be coarsened further.
bool CanBeCoarsened(const PC_Boxmg &bm, const boxmg::Grid &grid)
{
  bool can = false;
  for (int d = 0; d < 3; d++)
    can = can || (grid.n[d] > 2 && (bm.coarsen == PC_BOXMG_COARSEN_AUTO || boxmg::has(static_cast<boxmg::Directions>(bm.coarsen), d)));
  return can;
}

bool EndsAtLevels(const PC_Boxmg &bm)
{
  if (!bm.any() || Levels(bm) < static_cast<std::size_t>(bm.levels)) return false;
  const boxmg::Grid last = bm.any()->levels().back().grid;
  return last.nodes() > bm.ends() && CanBeCoarsened(bm, last);
}

// Whether another number of nodes than the usual one ends the levels, or lets them go on.
bool EndsElsewhere(const PC_Boxmg &bm)
{
  if (!bm.any()) return false;
  const std::vector<BoxmgLevel> levels = bm.any()->levels();
  const boxmg::Grid last               = levels.back().grid;
  const Index otherwise                = bm.usual;
  if (levels.size() > 1 && levels[levels.size() - 2].grid.nodes() <= otherwise) return true;
  return last.nodes() > otherwise && last.nodes() <= bm.ends() && CanBeCoarsened(bm, last);
}

constexpr char has_coarse[] = "it is for two levels or more";

using Row = Option<PC_Boxmg>;

const Row options[] = {
    {"pc_boxmg_levels", "largest number of levels; 0: as many as possible", "PCBoxmgSetLevels",
     Row::Whole{[](const PC_Boxmg &bm) { return bm.levels; }, PCBoxmgSetLevels}, "it is for grids that could have more", EndsAtLevels},
    {"pc_boxmg_cycle", "order in which levels are visited", "PCBoxmgSetCycle",
     Row::ChoiceOf<&PC_Boxmg::cycle, PCBoxmgSetCycle>(boxmg_cycles), "it is for three levels or more", HasLevels<3>},
    {"pc_boxmg_smoother", "smoother of a level", "PCBoxmgSetSmoother",
     Row::ChoiceOf<&PC_Boxmg::smoother, PCBoxmgSetSmoother>(boxmg_smoothers), "it is for levels that are not solved directly", Relaxes},
    {"pc_boxmg_coarsen", "directions that may be coarsened", "PCBoxmgSetCoarsen",
     Row::ChoiceOf<&PC_Boxmg::coarsen, PCBoxmgSetCoarsen>(boxmg_coarsens), has_coarse, HasLevels<2>},
    {"pc_boxmg_interpolation", "weights of the interpolation", "PCBoxmgSetInterpolation",
     Row::ChoiceOf<&PC_Boxmg::interpolation, PCBoxmgSetInterpolation>(boxmg_interpolations), has_coarse, HasLevels<2>},
    {"pc_boxmg_sweeps", "sweeps before and after each correction", "PCBoxmgSetSweeps",
     Row::Whole{[](const PC_Boxmg &bm) { return bm.sweeps; }, PCBoxmgSetSweeps}, "it is for levels that are not solved directly", Relaxes},
    {"pc_boxmg_coarse", "solver of the coarsest grid", "PCBoxmgSetCoarse",
     Row::ChoiceOf<&PC_Boxmg::coarse, PCBoxmgSetCoarse>(boxmg_coarses)},
    {"pc_boxmg_coarsest", "a grid of at most so many nodes is not coarsened; 0: 100, on a device 500 unknowns", "PCBoxmgSetCoarsest",
     Row::Whole{[](const PC_Boxmg &bm) { return bm.coarsest; }, PCBoxmgSetCoarsest},
     "it is for grids that would be coarsened more or less often without it", EndsElsewhere},
    {"pc_boxmg_share",
     "nodes a rank from which on ranks share a level; -1: 2000, and 100000 on devices; the first rank takes smaller levels alone",
     "PCBoxmgSetShare", Row::Whole{[](const PC_Boxmg &bm) { return bm.share; }, PCBoxmgSetShare},
     "it is for several ranks and one unknown a node", HasRanks},
    {"pc_boxmg_precision", "precision inside the cycle", "PCBoxmgSetPrecision",
     Row::ChoiceOf<&PC_Boxmg::precision, PCBoxmgSetPrecision>(boxmg_precisions)},
    {"pc_boxmg_monitor", "print the residual of each level, twice a cycle", "PCBoxmgSetMonitor",
     Row::Flag{[](const PC_Boxmg &bm) -> bool { return bm.monitor; }, PCBoxmgSetMonitor}},
};

// PETSc has an option of this name for other solvers, direct ones.
PetscErrorCode PrecisionOfAllTypes(PC pc)
{
  const char *prefix;
  PetscInt asked;
  PetscBool set, own;
  PetscOptions database = ((PetscObject)pc)->options;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsGetEList(database, prefix, "-pc_precision", boxmg_precisions, 2, &asked, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(database, prefix, "-pc_boxmg_precision", &own));
  PetscCheck(!own || asked == (PetscInt)Boxmg(pc)->precision, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_precision %s and -pc_boxmg_precision %s contradict each other: give one of the two", boxmg_precisions[asked],
             boxmg_precisions[Boxmg(pc)->precision]);
  PetscCall(PCBoxmgSetPrecision(pc, (PCBoxmgPrecision)asked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetFromOptions_Boxmg(PC pc, OptionItems items)
{
  PetscFunctionBegin;
  PetscCall(OptionsFromTable(pc, *Boxmg(pc), "black box multigrid options", options, items));
  PetscCall(PrecisionOfAllTypes(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCBoxmgTellOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(TellOptions(pc, *Boxmg(pc), options, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
