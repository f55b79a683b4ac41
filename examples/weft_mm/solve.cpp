#include "solve.hpp"

#include "error_capture.hpp"
#include "option_set.hpp"

#include <algorithm>
#include <cmath>
#include <malloc.h>

namespace weft_mm {

namespace {

constexpr double cheap_seconds = 5; // a solve shorter than this is timed twice

// All that belongs to one solve. Nothing of it is shared with the next set: what an error leaves half done goes away with it.
struct System {
  Mat matrix          = nullptr;
  Vec solution        = nullptr;
  Vec right_hand_side = nullptr;
  KSP solver          = nullptr;

  PetscErrorCode Destroy()
  {
    PetscFunctionBeginUser;
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&right_hand_side));
    PetscCall(VecDestroy(&solution));
    PetscCall(MatDestroy(&matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode SumOfResidentMemory(double &bytes)
{
  PetscLogDouble mine = 0;

  PetscFunctionBeginUser;
  malloc_trim(0); // gives back what earlier sets have freed; else their memory is reused here and nothing seems to grow
  PetscCall(PetscMemoryGetCurrentUsage(&mine));
  bytes = mine;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Runs one step on all ranks; seconds: the slowest rank's. Afterwards ok is the same on all of them.
template <class Step>
PetscErrorCode Timed(ErrorCapture &errors, double &seconds, bool &ok, Step step)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  const double start = MPI_Wtime();
  PetscCall(errors.Run(step, ok));
  double elapsed = MPI_Wtime() - start;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &elapsed, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  seconds += elapsed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSolver(const Problem &problem, System &system)
{
  PetscFunctionBeginUser;
  PetscCall(CreateSystem(problem, &system.matrix, &system.solution, &system.right_hand_side));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &system.solver));
  PetscCall(KSPSetOperators(system.solver, system.matrix, system.matrix));
  PetscCall(KSPSetFromOptions(system.solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TypeOf(const System &system, std::string *type)
{
  PC preconditioner;
  PCType name = nullptr;

  PetscFunctionBeginUser;
  if (!system.solver) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(system.solver, &preconditioner));
  PetscCall(PCGetType(preconditioner, &name));
  if (name) *type = name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Asked for by name, since a plugin's preconditioner brings no header into this program. The first rank's block speaks for all.
PetscErrorCode ReadHistory(PC preconditioner, std::vector<double> &history)
{
  PetscErrorCode (*get)(PC, PetscInt *, const PetscReal *[]) = nullptr;
  PetscInt count                                             = 0;
  const PetscReal *residuals                                 = nullptr;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(preconditioner), "PCCroutGetHistory_C", &get));
  if (get) PetscCall(get(preconditioner, &count, &residuals));
  history.assign(residuals, residuals + count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadOutcome(const System &system, SolveResult &result)
{
  KSPConvergedReason reason;
  PCFailedReason failed_reason;
  PC preconditioner;
  Vec residual;
  PetscReal residual_norm, right_hand_side_norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetIterationNumber(system.solver, &result.iterations));
  PetscCall(KSPGetConvergedReason(system.solver, &reason));
  PetscCall(KSPGetPC(system.solver, &preconditioner));
  PetscCall(PCGetFailedReason(preconditioner, &failed_reason));
  PetscCall(ReadHistory(preconditioner, result.history));
  PetscCall(VecDuplicate(system.right_hand_side, &residual));
  PetscCall(MatMult(system.matrix, system.solution, residual));
  PetscCall(VecAYPX(residual, -1, system.right_hand_side));
  PetscCall(VecNorm(residual, NORM_2, &residual_norm));
  PetscCall(VecNorm(system.right_hand_side, NORM_2, &right_hand_side_norm));
  PetscCall(VecDestroy(&residual));

  int worst = failed_reason; // a block's trouble may be known to its rank alone
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  result.ran      = true;
  result.residual = residual_norm / right_hand_side_norm;
  result.reason   = KSPConvergedReasons[reason];
  result.solved   = reason > 0 && std::isfinite(result.residual);
  if (reason == KSP_DIVERGED_PC_FAILED) result.detail = PCFailedReasons[worst];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the user has given an option, and this value.
bool given(const char option[], const char value[])
{
  char text[64]   = "";
  PetscBool found = PETSC_FALSE;
  if (PetscOptionsGetString(NULL, NULL, option, text, sizeof(text), &found)) return false;
  return found && std::string(text) == value;
}

// Where a type's set-up refuses an operator for one of several reasons, of which the failure's name tells nothing.
const char *const says_why =
    "the preconditioner refused the matrix, or what was left of it as no solution; -info :pc says why, and what to do";

// What to do about a zero pivot of this type of preconditioner: an option that it has, and that was not tried.
std::string advice_for_pivot(const std::string &type)
{
  const std::string direct =
      "another -pc_type, or a direct solver that pivots, where PETSc has one (-pc_type lu -pc_factor_mat_solver_type mumps)";
  if (type == "line") {
    PetscBool named = PETSC_FALSE; // the kernel that auto takes after a zero pivot exchanges rows
    if (PetscOptionsHasName(NULL, NULL, "-pc_line_kernel", &named)) named = PETSC_FALSE;
    const bool pivoted = !named || given("-pc_line_kernel", "auto") || given("-pc_line_kernel", "pivoted");
    return "a line's pivot is zero; try " + std::string(pivoted ? "" : "-pc_line_kernel pivoted, which exchanges rows, ") + direct;
  }
  if (type == "crout")
    return "a pivot is zero or missing; try " + std::string(given("-pc_crout_pattern", "full") ? "" : "-pc_crout_pattern full, ") +
           "-pc_crout_shift 0.1, " + direct;
  if (type == "lu" || type == "ilu" || type == "cholesky" || type == "icc")
    return "a pivot is zero or missing; try -pc_factor_shift_type nonzero, " + direct;
  if (type == "bjacobi" || type == "asm")
    return "a pivot of a block is zero or missing; try -sub_pc_factor_shift_type nonzero where the blocks are factored, " + direct;
  if (type == "adi" || type == "bcr" || type == "boxmg") return says_why;
  return "a pivot is zero or missing; try " + direct;
}

// What to try next; one clause each, only where something sensible is known. type: of the preconditioner, empty where it is not known.
std::string advice_for(const SolveResult &result, const std::string &type)
{
  const auto says = [&](const char *text) {
    return result.reason.find(text) != std::string::npos || result.detail.find(text) != std::string::npos;
  };
  if (result.solved && result.residual > 1e-3)
    return "converged in the norm the solver watches, but not in the true residual; try -ksp_norm_type unpreconditioned -ksp_pc_side right";
  if (result.solved) return "";
  if (says("ZEROPIVOT") || says("issing diagonal") || says("SUBPC_ERROR")) return advice_for_pivot(type);
  if (says("Could not locate a solver type")) {
    return "this PETSc cannot factor this type of matrix; on several ranks try -pc_type bjacobi -sub_pc_type ilu, or another "
           "-pc_factor_mat_solver_type";
  }
  if (says("FACTOR_OTHER") || says("FACTOR_NOERROR")) return says_why;
  if (says("OUTMEMORY")) return "the factors do not fit into memory; try an iterative -pc_type";
  if (says("DIVERGED_ITS")) return "try a stronger -pc_type, another -ksp_type or a larger -ksp_max_it";
  if (says("DIVERGED_INDEFINITE")) return "the matrix or the preconditioner is not positive definite; try -ksp_type gmres or minres";
  if (says("DIVERGED_NONSYMMETRIC")) return "the matrix or the preconditioner is not symmetric; try -ksp_type gmres or bcgs";
  if (says("NANORINF") || says("BREAKDOWN") || says("DIVERGED_DTOL")) return "try another -ksp_type (gmres is the most robust) or -pc_type";
  if (says("Unable to find requested") || says("nknown type") || says("Unknown Mat type"))
    return "check the name's spelling; a type of a plugin needs its library: -dll_append LIBRARY.so";
  return "";
}

PetscErrorCode RunSteps(const Problem &problem, bool solve_again, System &system, ErrorCapture &errors, SolveResult &result)
{
  bool ok              = false;
  double untimed       = 0;
  double memory_before = 0, memory_after = 0, again = 0;

  PetscFunctionBeginUser;
  PetscCall(Timed(errors, untimed, ok, [&] { return CreateSolver(problem, system); }));
  if (!ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SumOfResidentMemory(memory_before));
  PetscCall(Timed(errors, result.setup_seconds, ok, [&] { return KSPSetUp(system.solver); }));
  // A step of its own: here one rank's block can fail alone, and the others have to hear of it before they start to solve.
  if (ok) PetscCall(Timed(errors, result.setup_seconds, ok, [&] { return KSPSetUpOnBlocks(system.solver); }));
  if (ok)
    PetscCall(Timed(errors, result.solve_seconds, ok, [&] { return KSPSolve(system.solver, system.right_hand_side, system.solution); }));
  if (!ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SumOfResidentMemory(memory_after));
  result.memory_bytes = std::max(0.0, memory_after - memory_before);
  PetscCall(Timed(errors, untimed, ok, [&] { return ReadOutcome(system, result); }));
  if (!ok || !result.solved || !solve_again || result.solve_seconds > cheap_seconds) PetscFunctionReturn(PETSC_SUCCESS);
  // The first solve also pays for what is done once (buffers, a GPU's start); the numbers of the result stay those of the first.
  PetscCall(Timed(errors, again, ok, [&] {
    PetscFunctionBeginUser;
    PetscCall(VecZeroEntries(system.solution));
    PetscCall(KSPSolve(system.solver, system.right_hand_side, system.solution));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (ok) result.again_seconds = again;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SolveWithOptions(const Problem &problem, const std::string &options, bool solve_again, SolveResult &result)
{
  OptionOverlay overlay;
  ErrorCapture errors;
  System system;
  std::string type;
  bool ok = false, destroyed = false;

  PetscFunctionBeginUser;
  result         = SolveResult{};
  result.options = options;
  PetscCall(errors.Run([&] { return overlay.Apply(options); }, ok));
  if (ok) PetscCall(RunSteps(problem, solve_again, system, errors, result));
  if (!errors.message().empty()) {
    result.ran = result.solved = false;
    result.reason              = "ERROR";
    result.detail              = errors.message();
  } else
    PetscCall(overlay.Unused(result.unused_options)); // after an error the options were never reached, which says nothing
  PetscCall(TypeOf(system, &type));
  result.advice = advice_for(result, type);
  // What an error left half done may fail to be destroyed as well; then it stays, and the next set has its own objects anyway.
  PetscCall(errors.Run([&] { return system.Destroy(); }, destroyed));
  PetscCall(overlay.Remove());
  result.least_setup = result.setup_seconds;
  result.least_solve = result.solve_seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RepeatSolve(const Problem &problem, PetscInt times, SolveResult &result)
{
  double spent = result.setup_seconds + result.solve_seconds;

  PetscFunctionBeginUser;
  for (PetscInt time = 0; time < times && result.solved && spent < cheap_seconds; ++time) {
    SolveResult next;
    PetscCall(SolveWithOptions(problem, result.options, false, next));
    if (!next.solved) PetscFunctionReturn(PETSC_SUCCESS);
    result.least_setup = std::min(result.least_setup, next.setup_seconds);
    result.least_solve = std::min(result.least_solve, next.solve_seconds);
    spent += next.setup_seconds + next.solve_seconds;
    ++result.repeats;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft_mm
