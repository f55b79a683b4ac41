/// What the files of PCADI and KSPADI share.
#pragma once
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#include "adi/adi.h"
#include "adi/adi_solver.hpp"
#include "petsc/agreed.h"
#include "petsc/lines_from_dm.h"
#include "petsc/petsc_arrays.hpp"
#include "petsc/petsc_compat.h"
#include "petsc/set_up_operator.h"

namespace weft {

/// A box of a DMDA, and who has the pieces of the lines that cross it.
struct AdiGridOnRanks {
  AdiBox box;
  Grid grid;
  PetscInt width   = 1;                                             ///< nodes over which the matrix may reach
  MPI_Comm line[3] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL}; ///< the ranks of this rank's lines, in the order of the rows
};

/// Rows that are penalties, where others are not; empty where there are none.
struct AdiPenalties {
  Vec others         = NULL; ///< 0 in penalties, 1 in other rows
  Vec weights        = NULL; ///< 0 in other rows, in penalties the size of other rows' diagonals over that of their own, at most 1
  PetscReal diagonal = 0;    ///< the mean size of other rows' diagonals

  PetscErrorCode Destroy()
  {
    PetscFunctionBegin;
    PetscCall(VecDestroy(&others));
    PetscCall(VecDestroy(&weights));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

struct PC_ADI {
  // What the user asks for.
  PCADIType type                  = PC_ADI_PEACEMAN_RACHFORD;
  PCADIBoundsMethod bounds_method = PC_ADI_LANCZOS;
  std::vector<PetscScalar> given_shifts;
  std::vector<PetscReal> given_bounds;
  PetscInt cycle          = 0; ///< 0: chosen from the bounds
  PetscInt iterations     = 1;
  std::string line_solver = "auto";
  bool symmetric = false, keep_factors = true;

  // What set-up finds and makes.
  AdiGridOnRanks grid;
  AdiSplit split;
  AdiBounds bounds; ///< empty where none were needed
  double reduction = 0, condition = 0;
  double log_condition = 0; ///< of the norm that the reduction is in
  std::string no_promise;   ///< why the reduction is none, or empty
  // A backend for each memory that vectors have come in, host and device.
  std::unique_ptr<Execution> execution[2];
  Owner<AdiSolver<KernelScalar>> solver[2];
  Vec residual    = NULL;
  bool asks_norms = true; ///< whether the KSP that is solving looks at norms
  SetUpOperator set_up_of;
  KeptOutside outside;
  AdiPenalties penalties;

  /// The solver of either memory, or NULL: what the matrix is they know alike.
  AdiSolver<KernelScalar> *any() const { return solver[solver[0] ? 0 : 1].get(); }
  void forget_solver(int which)
  {
    solver[which].reset();
    execution[which].reset();
  }
};

inline PC_ADI *Adi(PC pc)
{
  return static_cast<PC_ADI *>(pc->data);
}

struct KSP_ADI {
  PetscInt check_every = 1;
};

inline KSP_ADI *Adi(KSP ksp)
{
  return static_cast<KSP_ADI *>(ksp->data);
}

/// Shifts in a cycle: more than anybody gives by hand.
inline constexpr PetscInt adi_most_shifts = 256;

/// The tridiagonal methods that take lines with coefficients of their own, and auto.
std::vector<const char *> AdiLineSolvers();

/// The names of the options' values, in PETSc's form.
extern const char *const adi_types[];
extern const char *const adi_bounds_methods[];

PetscErrorCode PCSetUp_ADI(PC pc);
template <Transpose transpose>
PetscErrorCode PCApply_ADI(PC pc, Vec b, Vec y);
PetscErrorCode PCPreSolve_ADI(PC pc, KSP ksp, Vec rhs, Vec solution);
PetscErrorCode PCApplyRichardson_ADI(PC pc, Vec b, Vec y, Vec r, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                     PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason);
PetscErrorCode PCSetFromOptions_ADI(PC pc, OptionItems items);
PetscErrorCode PCView_ADI(PC pc, PetscViewer viewer);
/// Says what the user's options are, to the viewer; which of them do nothing, to the viewer or, where that is NULL, to -info.
PetscErrorCode PCADITellOptions(PC pc, PetscViewer viewer);
/// Composes the setters and getters with a PC, or removes them.
PetscErrorCode PCADIComposeSetters(PC pc, bool compose);

/// KSPADI's own options, without those of its PC.
PetscErrorCode KSPADIReadOptions(KSP ksp, OptionItems items);
PetscErrorCode KSPADITellOptions(KSP ksp, PetscViewer viewer);

/// NULL where there are none, or where the operator is another matrix than the one that was read. Once the PC is set up.
PetscErrorCode PCADIGetPenalties(PC pc, const AdiPenalties **penalties);

/// Cycles after which no more than this part of an error is left, where they keep their promise.
PetscReal AdiCyclesFor(const PC_ADI &adi, PetscReal part);

/// The solver whose kernels work in `memory`, on PETSc's current stream. Once the PC is set up.
PetscErrorCode SolverIn(PC pc, Memory memory, AdiSolver<KernelScalar> **solver);
/// The box of this rank and the communicators of its lines, from the DMDA of a PC. An error where there is none. Collective.
PetscErrorCode AdiGridFromPC(PC pc, AdiGridOnRanks *grid);
PetscErrorCode AdiGridDestroy(AdiGridOnRanks *grid);
/// The couplings of this rank's lines to the pieces on other ranks. Collective.
PetscErrorCode AdiGetHalo(Mat A, const AdiGridOnRanks &grid, AdiHalo<KernelScalar> *halo);

} // namespace weft
