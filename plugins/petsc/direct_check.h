/// What a direct solver is worth: measured in each set-up by one solve of a right-hand side that looks random, where the matrix is.
///
/// Two numbers (src/line/relax/probe.hpp): the relative residual of that solve, and its backward error, by which the residual of an
/// ill-conditioned matrix is told from that of an unstable solver. A solve is sound if its residual is at most `warn`, or its backward error
/// is 16 epsilon: then no other solver leaves less. A solve that is not sound is told; if a step of iterative refinement makes its residual
/// ten times smaller, all applications take that step, and others where it is acceptable but not sound yet, up to five; if what is left is above `fail`,
/// and its backward error above `warn`, the solver has failed.
/// A solver for the nearest operator of another kind has no such residual; there two solves are compared with each other, by the same bounds.
/// The price is one application and one product; five of each where there are fewer than 64 rows, or where refinement cures what was wrong
/// altogether (a backward error above 1e-2), which may be luck. A solver that works in single precision is made for a Krylov method to correct it: nothing is
/// refined, and it has failed where it leaves more than half of a right-hand side, or where its backward error is above 1e-3, which no stable
/// elimination leaves. Two bounds of 1e300 or more leave the check out.
#pragma once
#include <petscmat.h>

#include <functional>
#include <string>

#include "line/line_problem.hpp" // Transpose
#include "petsc/petsc_arrays.hpp"
#include "petsc/petsc_compat.h"
#include "petsc/set_up_operator.h"

namespace weft {

/// x = M^-1 b or M^-T b, the solver by itself.
using DirectApply = std::function<PetscErrorCode(Vec b, Vec x, Transpose transpose)>;

/// Two digits of a number, for sentences.
std::string ShownNumber(PetscReal number);

struct DirectCheck {
  // What the user asks for.
  PetscReal warn = OfPrecision(1e-10, 1e-3);
  PetscReal fail = 1e-4;

  KeptOutside outside; ///< of the matrix that is measured, which set-ups may read too

  // What the last Measure() found.
  struct Error {
    PetscReal residual = 0;
    PetscReal backward = 0;
  };
  bool measured = false;
  int steps     = 0;     ///< of refinement, which applications take
  bool repeated = false; ///< two solves were compared with each other, see MeasureRepeated()
  Error plain, left;     ///< without and with what applications do beyond a solve: the same unless refined

  // What the first transposed application found, see EnsureTransposed().
  bool transposed_measured = false;
  int transposed_steps     = 0; ///< of refinement, which transposed applications take
  Error transposed_left;        ///< the backward error in norms, and only where the residual says too little: else 0

  DirectCheck()                               = default;
  DirectCheck(const DirectCheck &)            = delete;
  DirectCheck &operator=(const DirectCheck &) = delete;
  ~DirectCheck();

  /// Measures the solver of A, makes the work vectors that refinement needs, and tells -info what is worth telling. `singular`: right-hand
  /// sides must be in the range of A. `single`: the solver works in single precision. Refinement takes a copy of A, since the solver may outlive
  /// A's values: a preconditioner that is kept, factors. Collective.
  PetscErrorCode Measure(Mat A, bool singular, bool single, const DirectApply &apply);
  /// The same of a solver for another operator than A, a preconditioner: the share of a right-hand side that stays where a third of it is solved
  /// by itself and taken away three times, |A (x(b) - 3 x(b / 3))| / |b|. Rounding is all that there should be, and is another for each; what an
  /// ill-conditioned operator makes of it A takes back. Nothing is refined: what is lost is lost. Two applications and one product. Collective.
  PetscErrorCode MeasureRepeated(Mat A, bool single, const DirectApply &apply);
  /// What was measured holds for the values that A has now. Collective.
  PetscErrorCode Keep(Mat A);
  /// Measures transposed solves as the first of them is asked for, unless that is done, Measure() was left out, or A is no more what it was then: a
  /// solver that is kept is not one of another matrix. It allocates that once. They have
  /// modes, factors and corrections of their own, but the condition of the same matrix: sound is what leaves at most a hundred times what solves
  /// do. Refined and failed as in Measure(). One application and one product. Collective.
  PetscErrorCode EnsureTransposed(Mat A, bool singular, const DirectApply &apply);
  /// True where answers of transposed solves must not be used.
  bool transposed_fails() const;
  /// A sentence for that.
  std::string TransposedSentence(const char options[]) const;
  /// Beyond this the norms of preconditioned residuals say nothing of what is left: a Krylov method from the left would end with any answer.
  static constexpr PetscReal most_amplified = 1e3;
  /// The same of preconditioners that know a part of the matrix alone: lines, blocks. (Lines of arc130, in odd units, leave 3e4, and it converges.)
  static constexpr PetscReal most_amplified_by_parts = 1e5;
  /// How much a preconditioner M makes of a random vector: |b - A M^-1 b| / |b|, and where that is above `bound`, which an M that serves well can
  /// have where rows are in odd units, the smaller of it and |x - M^-1 A x| / |x|; 0 where the backward error is that of a solver. And the
  /// backward error. `rounded`, unless it is NULL: what rounding makes of it, |x(b) - 3 x(b / 3)| / |x(b)|, for one more application. The worst of five where there are fewer
  /// than 64 rows. outside: of A, kept from one set-up to the next. Collective.
  static PetscErrorCode MeasureAmplification(Mat A, KeptOutside &outside, const DirectApply &apply, PetscReal bound, PetscReal *amplified,
                                             PetscReal *backward, PetscReal *rounded = NULL);
  /// Beyond this a preconditioner in single precision is another one in each application.
  static constexpr PetscReal most_rounded = 1e-3;
  /// What a direct solver may leave of a right-hand side: `fail`, and more where it works in single precision.
  static PetscReal BoundOf(PetscReal fail, bool single);
  /// Forgets what was measured.
  PetscErrorCode Forget();
  /// True where answers must not be used.
  bool fails() const;
  /// Whether applications are more than a solve.
  bool refined() const { return steps > 0; }
  /// True where a solve of A was measured and nothing was to be told of it.
  bool is_sound() const { return measured && !repeated && !refined() && sound(plain); }
  /// A sentence for that, with the bound's option. `options` is their common beginning, -pc_bcr_check say.
  std::string Sentence(const char options[]) const;
  /// A line of -ksp_view.
  PetscErrorCode View(PetscViewer viewer) const;

  /// An application: a solve, and the steps of refinement where they are taken, with the matrix as it was measured. Allocates nothing.
  PetscErrorCode Solve(Vec b, Vec x, Transpose transpose, const DirectApply &apply) const;

private:
  bool single_  = false;
  Vec work_[2]  = {NULL, NULL};
  Mat operator_ = NULL;    ///< a copy of what was measured, where solves are refined
  SetUpOperator measured_; ///< what was measured

  PetscReal bound() const; ///< of residuals, beyond which the solver has failed
  /// `least`, or what a transposed solve of this matrix may leave because solves leave so much.
  PetscReal TransposedBound(PetscReal least, const Error &of_solves) const { return PetscMax(least, 100 * of_solves.residual); }
  bool sound(const Error &error) const;
  bool acceptable(const Error &error) const;
  bool acceptable_transposed(const Error &error) const;
};

} // namespace weft
