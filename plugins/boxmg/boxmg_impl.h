/// What the files of PCBOXMG share.
#pragma once
#include <petsc/private/pcimpl.h>

#include <memory>
#include <string>
#include <vector>

#include "boxmg/box_multigrid.hpp"
#include "boxmg/boxmg.h"
#include "petsc/agreed.h"
#include "petsc/lines_from_dm.h"
#include "petsc/petsc_arrays.hpp"
#include "petsc/petsc_compat.h"
#include "petsc/set_up_operator.h"
#include "petsc/whole_grid.h"

namespace weft {

extern PetscLogEvent boxmg_setup_event, boxmg_cycle_event;

using Multigrid = BoxMultigrid<KernelScalar>;

struct PC_Boxmg {
  // What the user asks for.
  PetscInt levels                    = 0;
  PCBoxmgCycle cycle                 = PC_BOXMG_CYCLE_AUTO;
  PCBoxmgSmoother smoother           = PC_BOXMG_SMOOTHER_AUTO;
  PCBoxmgCoarsen coarsen             = PC_BOXMG_COARSEN_AUTO;
  PCBoxmgInterpolation interpolation = PC_BOXMG_OPERATOR;
  PetscInt sweeps                    = 1;
  PCBoxmgCoarse coarse               = PC_BOXMG_COARSE_DIRECT;
  PetscInt coarsest                  = 0;
  PCBoxmgPrecision precision         = PC_BOXMG_DOUBLE;
  PetscInt share                     = PETSC_DECIDE; ///< 2000, or 100000 on devices
  PetscBool monitor                  = PETSC_FALSE;

  // What set-up finds and makes.
  Grid grid;
  WholeGrid whole;
  Mat *whole_matrix = NULL;    ///< several ranks: the rows of all, on the first one
  std::string failure;         ///< why there is no preconditioner; the same on all ranks
  bool tried          = false; ///< whether the last set-up tries a cycle; the same on all ranks
  PetscReal amplified = 0;     ///< how much a cycle makes of a random right-hand side, see DirectCheck::MeasureAmplification()
  PetscInt left_out   = 0;     ///< rows without a pivot, where nothing is solved; the same on all ranks
  SetUpOperator set_up_of;
  bool read_by_all  = false; ///< the last reading of ranks that share levels came to its end
  bool asks_norms   = true;  ///< whether the KSP that is solving looks at norms
  Vec correction    = NULL;  ///< work space of KSPRICHARDSON
  PetscReal rounded = 0;     ///< by how much two cycles of the same right-hand side differ, see DirectCheck::MeasureAmplification()
  // Ranks that share the finest levels; none where the first one cycles for all, or is alone.
  BoxmgRanks shared;
  KeptOutside outside;
  std::unique_ptr<boxmg::GridRanks> ranks;
  Vec staged[2] = {NULL, NULL}; ///< vectors of theirs where the multigrid is, for others that are elsewhere
  // On the ranks that cycle: a backend for each memory that vectors have come in, host and device.
  std::unique_ptr<Execution> execution[2];
  std::unique_ptr<Multigrid> multigrid[2];

  PetscInt usual = 0; ///< nodes of a grid that they do not coarsen where the user says nothing

  /// The same as it is.
  PetscInt ends() const { return coarsest > 0 ? coarsest : usual; }
  /// One of the two that there are, or null: they have the same levels.
  const Multigrid *any() const { return multigrid[multigrid[0] ? 0 : 1].get(); }
  void forget(int which)
  {
    multigrid[which].reset();
    execution[which].reset();
  }
};

inline PC_Boxmg *Boxmg(PC pc)
{
  return static_cast<PC_Boxmg *>(pc->data);
}

extern const char *const boxmg_cycles[],
    *const boxmg_smoothers[], *const boxmg_coarsens[], *const boxmg_interpolations[], *const boxmg_coarses[], *const boxmg_precisions[];

PetscErrorCode PCSetFromOptions_Boxmg(PC pc, OptionItems items);
/// Says what the user's options are, to the viewer; which of them do nothing, to the viewer or, where that is NULL, to -info. Collective.
PetscErrorCode PCBoxmgTellOptions(PC pc, PetscViewer viewer);
/// Composes the setters with a PC, or removes them.
PetscErrorCode PCBoxmgComposeSetters(PC pc, bool compose);
PetscErrorCode PCView_Boxmg(PC pc, PetscViewer viewer);

PetscErrorCode PCSetUp_Boxmg(PC pc);
PetscErrorCode PCReset_Boxmg(PC pc);
/// Finds out whether ranks share the finest levels. new_ranks: otherwise than before; then there is no multigrid. Collective.
PetscErrorCode ShareLevels(PC pc, bool *new_ranks);
/// The nodes that the matrix' columns on other ranks belong to, by their numbers in the whole grid.
PetscErrorCode NodesOfColumns(PC pc, const LocalMatrix &local, std::vector<Index> *nodes);
/// Makes the multigrid that works in `memory`, on PETSc's current stream, unless it is there: set-up has made one in the matrix's memory.
/// One that ranks share is there in that memory alone.
PetscErrorCode EnsureMultigrid(PC pc, Memory memory);

PetscErrorCode PCApply_Boxmg(PC pc, Vec rhs, Vec solution);
PetscErrorCode PCApplyTranspose_Boxmg(PC pc, Vec rhs, Vec solution);
/// What a step of the stationary iteration makes of a residual; it is added to the solution.
PetscErrorCode PCBoxmgStep(PC pc, Vec rhs, Vec solution);
PetscErrorCode PCMatApply_Boxmg(PC pc, Mat rhs, Mat solution);
PetscErrorCode PCPreSolve_Boxmg(PC pc, KSP ksp, Vec rhs, Vec solution);
/// r: work space. By true residuals, where the KSP looks at norms.
PetscErrorCode PCApplyRichardson_Boxmg(PC pc, Vec b, Vec x, Vec r, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                       PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason);

/// As PCMG's: of `count` levels, the matrices from the coarsest one on, without the finest. The caller destroys them and frees the array.
PetscErrorCode PCGetInterpolations_Boxmg(PC pc, PetscInt *count, Mat *interpolations[]);
PetscErrorCode PCGetCoarseOperators_Boxmg(PC pc, PetscInt *count, Mat *operators[]);

/// "65 x 33"
std::string BoxmgSizes(const boxmg::Grid &grid);

} // namespace weft
