// One solve with one set of options, timed, measured, and survived: a PETSc error in it becomes part of the result.
#pragma once

#include "problem.hpp"

#include <string>
#include <vector>

namespace weft_mm {

struct SolveResult {
  std::string options;          // the set; empty for the command line's own options
  bool solved          = false; // PETSc calls it converged, and the residual is a finite number
  bool ran             = false; // no PETSc error: the numbers below are there
  PetscInt iterations  = 0;
  double residual      = 0;  // ||b - A x|| / ||b|| in the 2-norm, computed anew from A, x and b
  double setup_seconds = 0;  // KSPSetUp and KSPSetUpOnBlocks; like all times the slowest rank's
  double solve_seconds = 0;  // the first KSPSolve
  double again_seconds = -1; // the same solve once more; negative where it was not done
  int repeats          = 0;  // times that set-up and first solve were done again from nothing
  double least_setup   = 0;  // the least seconds of them all
  double least_solve   = 0;
  double memory_bytes  = 0;                // growth of resident memory over set-up and first solve, summed over the ranks
  std::string reason;                      // KSPConvergedReason; where nothing ran, "ERROR"
  std::string detail;                      // the preconditioner's failed reason, or PETSc's error message
  std::string advice;                      // what to try next, where something is known
  std::vector<std::string> unused_options; // of the set
  std::vector<double> history;             // ||A - L U|| / ||A|| before each sweep, where the preconditioner keeps such a history
};

// solve_again: time a second solve too, where the first took less than five seconds.
PetscErrorCode SolveWithOptions(const Problem &problem, const std::string &options, bool solve_again, SolveResult &result);

// The same again from nothing, up to so many times and for five seconds, where the first time ended with a solution: what a program pays that
// is not just starting.
PetscErrorCode RepeatSolve(const Problem &problem, PetscInt times, SolveResult &result);

} // namespace weft_mm
