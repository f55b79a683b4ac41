/// What the files of PCBCR share.
#pragma once
#include <petsc/private/pcimpl.h>
#include <petscsf.h>

#include <optional>
#include <vector>

#include "bcr/bcr.h"
#include "bcr/box_solver.hpp"
#include "bcr/detect/new_values.hpp"
#include "bcr/spread/spread_solver.hpp"
#include "petsc/agreed.h"
#include "petsc/direct_check.h"
#include "petsc/finite_solution.h"
#include "petsc/lines_from_dm.h"
#include "petsc/petsc_arrays.hpp"
#if defined(WEFT_DISTRIBUTED)
#include "bcr/spread/send.hpp"
#endif
#include "petsc/petsc_compat.h"
#include "petsc/report_failure.h"
#include "petsc/whole_grid.h"

namespace weft {

#if !defined(WEFT_DISTRIBUTED)
class RankMessages {}; // a PETSc without MPI has one rank
#endif

struct PC_BCR {
  // What the user asks for.
  DirectOptions options;
  PCBCRPrecision precision    = PC_BCR_DOUBLE;
  PetscBool require_separable = PETSC_FALSE;
  PetscReal tolerance         = OfPrecision(1e-10, 1e-5);

  // What set-up finds and makes.
  Grid grid;
  Separation separation;
  double factor = 1; ///< the matrix is this times the separation, which the solvers are made for
  bool singular = false;
  DirectCheck check;
  bool refused = false; ///< the last KSP asked for what is not to be had: see RefusedSentence()
  // A backend for each memory that vectors have come in, host and device; with a solver on the rank that solves for all, the first, or one
  // on each rank where the solve is spread.
  std::unique_ptr<Execution> execution[2];
  Owner<BoxSolver> solver[2];
  Owner<SpreadSolver> spread_solver[2];
  std::vector<double> factors; ///< several ranks: of the rows that a rank's solvers solve for, within the eliminated faces
  WholeGrid whole;             ///< several ranks, gathered
  // Several ranks, spread:
  std::optional<SpreadPlan> plan;
  PetscSF to_slabs = NULL; ///< from the DMDA's order of unknowns, where that is not the slabs' own
  std::unique_ptr<RankMessages> messages;
  bool messages_on_device = false;
  bool pieces_fail        = false; ///< one rank solves, as pieces of this operator are near singular

  /// The precision of the solve. A matrix out of the range of single precision is solved in double.
  PCBCRPrecision inside() const { return separation.unit == 1 ? precision : PC_BCR_DOUBLE; }
  bool separable() const { return separation.deviation <= tolerance; }
  /// The solver for a memory, of either kind, or NULL.
  const AnyDirectSolver *made(int which) const
  {
    if (solver[which]) return solver[which].get();
    return spread_solver[which].get();
  }
  /// Gives the solvers for a memory the factor.
  void pass_factor(int which)
  {
    if (solver[which]) solver[which]->set_factor(factor);
    if (spread_solver[which]) spread_solver[which]->set_factor(factor);
  }
  void forget_solver(int which)
  {
    solver[which].reset();
    spread_solver[which].reset();
    execution[which].reset();
  }
};

inline PC_BCR *Bcr(PC pc)
{
  return static_cast<PC_BCR *>(pc->data);
}

/// The methods, and "auto".
std::vector<const char *> BcrMethodNames();
PetscErrorCode PCSetUp_BCR(PC pc);
template <Transpose transpose>
PetscErrorCode PCApply_BCR(PC pc, Vec rhs, Vec solution);
PetscErrorCode PCMatApply_BCR(PC pc, Mat rhs, Mat solution);
PetscErrorCode PCPreSolve_BCR(PC pc, KSP ksp, Vec rhs, Vec solution);
PetscErrorCode PCSetFromOptions_BCR(PC pc, OptionItems items);
/// Why a KSP does not get a solution: KSPPREONLY, as the operator is a nearest one; a transposed solve, as that loses too many digits.
std::string RefusedSentence(const PC_BCR &bcr);
PetscErrorCode PCView_BCR(PC pc, PetscViewer viewer);
/// Says what the user's options are, to the viewer; which of them do nothing, to the viewer or, where that is NULL, to -info.
PetscErrorCode PCBCRTellOptions(PC pc, PetscViewer viewer);
/// Composes the setters with a PC, or removes them.
PetscErrorCode PCBCRComposeSetters(PC pc, bool compose);

/// Whether this rank solves for all, where they do not share a solve, and how many they are.
PetscErrorCode Solves(PC pc, bool *here, PetscMPIInt *ranks);
/// Makes the solver that works in `memory`, on PETSc's current stream, unless it is there.
PetscErrorCode EnsureSolver(PC pc, Memory memory);
/// The solver by itself: what applications refine where the check asks for that. Collective.
PetscErrorCode SolveOnce(PC pc, Vec rhs, Vec solution, Transpose transpose);
PetscErrorCode LogSolve(const AnyDirectSolver &solver, int nrhs);

/// Factors of the rows of this rank's nodes, 1 on eliminated faces.
PetscErrorCode FactorsOfNodes(const PC_BCR &bcr, PetscScalar factors[]);
/// Values of the inner nodes of a box, whose values are given x fastest.
std::vector<double> InnerValues(const Index (&box)[3], const Index (&first)[3], const Index (&nodes)[3], const PetscScalar values[]);

/// Makes the way of vectors to the first of several ranks and back, unless it is there, and brings the factors of rows there. Collective.
PetscErrorCode GatherMakeWay(PC pc);

/// Makes the ways between the ranks of a new plan, and brings the factors of rows to the slabs. Collective.
PetscErrorCode SpreadMakeWays(PC pc);
/// This rank's solver in `memory`. Collective.
PetscErrorCode SpreadMakeSolver(PC pc, Memory memory, Precision precision);
/// What travels first tells whether the ranks' pieces fit together. Where values are brought to slabs it solves once, since PETSc makes buffers for that
/// when they are first needed, which shall not be in a solve. Collective.
PetscErrorCode SpreadWarmUp(PC pc, Memory memory);
/// A solve, which every rank has a part of. Collective.
PetscErrorCode SpreadSolve(PC pc, Vec rhs, Vec solution, Transpose transpose);
PetscErrorCode SpreadReset(PC pc);

} // namespace weft
