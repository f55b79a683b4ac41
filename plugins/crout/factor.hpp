/// What the solver type "crout" and PCCROUT share: the factors of one sequential matrix.
#pragma once
#include <petscmat.h>

#include <functional>
#include <memory>
#include <string>

#include "crout/crout.h"
#include "crout/factorization.hpp"
#include "line/line_problem.hpp" // Transpose
#include "petsc/direct_check.h"
#include "petsc/guarded.h"
#include "petsc/petsc_compat.h"

namespace weft {

/// Multiplications that complete factors may take unless more are allowed.
inline constexpr double crout_most_operations = 1e11;

/// What is asked of a factorization and its triangular solves.
struct CroutSettings {
  CroutSettings() { options.most_operations = crout_most_operations; }

  CroutOptions options;
  PCCroutPrecision precision = PC_CROUT_DOUBLE;
  std::string solve          = "auto";             ///< a name of triangular_method_names()
  int solve_steps            = 0;                  ///< 0: as many as a test on the factors asks for
  PetscReal check_warn = 1e-10, check_fail = 1e-4; ///< DirectCheck's, of complete factors
};

/// Why there are no factors: PETSc's flag, and a sentence that names the row and the remedy.
struct CroutFailure {
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscInt row         = -1;
  std::string sentence;
};

/// The factors of a sequential matrix, in the memory where the matrix is.
class CroutFactor {
public:
  explicit CroutFactor(const CroutSettings &settings);
  CroutFactor(const CroutFactor &)            = delete;
  CroutFactor &operator=(const CroutFactor &) = delete;
  virtual ~CroutFactor();

  /// Finds the pattern of the factors of A, its rows and columns taken in these orders (null: as they come).
  virtual PetscErrorCode Symbolic(Mat A, IS rows, IS columns, CroutFailure *failure) = 0;
  /// Finds their values, and what they are worth: complete factors are refined where they lost digits, and useless ones fail. A may have changed
  /// its pattern since, or be another matrix: then its pattern is found first.
  PetscErrorCode Factorize(Mat A, CroutFailure *failure);
  /// x = A^-1 b or A^-T b, as far as factors and triangular solves are exact, on the rows that this rank has of both vectors.
  PetscErrorCode Solve(Vec b, Vec x, Transpose transpose);
  /// The same for the columns of dense matrices.
  PetscErrorCode SolveMany(Mat B, Mat X, Transpose transpose);

  /// What the last numeric factorization of a sparse matrix did; null for others.
  virtual const CroutReport *Report() const { return nullptr; }
  virtual bool IsDense() const { return false; }
  /// Whether the triangles are solved so; true where there are none, of a rank without rows.
  virtual bool TriangularMethodIs(const std::string &) const { return true; }
  /// How the last factors were made, in words.
  virtual std::string Made() const = 0;
  /// Lines about what was done and where. Not collective beyond ASCII printing.
  virtual PetscErrorCode View(PetscViewer viewer) const = 0;
  virtual PetscErrorCode GetInfo(MatInfo *info) const   = 0;
  /// Signs of the pivots: of a factorization of a symmetric matrix with all its fill, the inertia of the matrix.
  virtual PetscErrorCode GetInertia(PetscInt *negative, PetscInt *zero, PetscInt *positive) const = 0;

protected:
  virtual PetscErrorCode Numeric(Mat A, CroutFailure *failure) = 0;
  /// Whether solves are to be those of a direct solver.
  virtual bool Direct() const = 0;
  /// Whether factors are complete although approximate ones were asked for: sweeps gave way to elimination. They are refined, or useless, as a direct
  /// solver's.
  virtual bool TurnedOutComplete() const { return false; }
  /// Zero pivots that were replaced, and the failure that says so if solves do not bear it. Nothing where none were.
  virtual bool Replaced(CroutFailure *) const { return false; }
  /// Incomplete factors whose random solve leaves more than this many times the right-hand side are no preconditioner: they put components into a
  /// residual that hide what is left of the solution's (HB/west0067 "converges" with a true residual of 3.6).
  virtual PetscReal MostAmplified() const { return DirectCheck::most_amplified; }
  /// Whether there are incomplete factors of which nothing needs to be looked for, because the matrix and its pivots say what they are worth.
  virtual bool KnownGood() const { return false; }
  /// Factors on the way up that have all fill are refined where that cures them, as a direct solver's, and may have so large a backward error.
  virtual PetscReal MostBackward() const { return PETSC_MAX_REAL; }
  /// How many times larger than the matrix the product of incomplete factors is, and how many times it may be: so much of a residual they hide
  /// from a Krylov method, and so many digits an application loses.
  virtual PetscErrorCode ProductSize(PetscReal *size, PetscReal *most) const
  {
    *size = *most = 1;
    return PETSC_SUCCESS;
  }
  /// Makes other factors of the same matrix, where these are useless and others may not be. False: there are no others.
  virtual PetscErrorCode Climb(Mat, CroutFailure *, bool *climbed)
  {
    *climbed = false;
    return PETSC_SUCCESS;
  }
  /// A line about the check.
  PetscErrorCode ViewCheck(PetscViewer viewer) const;
  /// Kernels in this memory from now on, on PETSc's current stream.
  PetscErrorCode Place(Mat A, Memory memory);
  const char *Where() const { return execution_->memory() == Memory::device ? "device" : "host"; }
  /// x = A^-1 rhs or A^-T rhs in the memory of the execution, for `nrhs` vectors, `ld` elements from one to the next. Does not
  /// wait.
  virtual PetscErrorCode Launch(const KernelScalar *rhs, KernelScalar *x, Transpose transpose, PetscInt nrhs, PetscInt ld) const = 0;

  PetscInt rows_ = 0;
  std::string taken_for_; ///< what symmetric factors take a complex matrix for, for the sentence of a failure
  std::unique_ptr<Execution> execution_;

private:
  PetscErrorCode SolveRefined(Vec b, Vec x, Transpose transpose);
  PetscErrorCode SolveOnce(Vec b, Vec x, Transpose transpose);
  PetscErrorCode Measure(Mat A);
  PetscErrorCode Forget();
  PetscErrorCode Check(Mat A, CroutFailure *failure);
  std::string Words() const;
  DirectApply Apply();
  PetscErrorCode SolveOnHost(Vec b, Vec x, Transpose transpose) const;
  PetscErrorCode SolveOnDevice(Vec b, Vec x, Transpose transpose) const;
  PetscErrorCode SolveInOrder(const KernelScalar *rhs, KernelScalar *x, Transpose transpose, PetscInt nrhs, PetscInt ld) const;

  DirectCheck check_;
  bool single_;                       ///< factors in single precision
  PetscReal backward_ = 0;            ///< and its backward error
  PetscReal rounded_  = 0;            ///< and by how much two applications to it differ
  PetscReal probe_    = 0;            ///< of incomplete factors: the residual of a random solve
  PetscReal size_     = 0;            ///< of incomplete factors: how many times larger than the matrix
  Vec work_[2]        = {NULL, NULL}; ///< on the device, for vectors that are elsewhere
};

/// Runs kernels that throw where a matrix cannot be factored: that is a failure of the factorization, not of the program.
PetscErrorCode CroutAttempt(const std::function<void()> &work, CroutFailure *failure);

/// The factors that A's type asks for: AIJ and SBAIJ are sparse, dense matrices have a method of their own.
PetscErrorCode CroutFactorCreate(Mat A, const CroutSettings &settings, std::unique_ptr<CroutFactor> *factor);

PetscErrorCode CroutFactorCreateSparse(const CroutSettings &settings, std::unique_ptr<CroutFactor> *factor);
PetscErrorCode CroutFactorCreateDense(const CroutSettings &settings, std::unique_ptr<CroutFactor> *factor);

/// The ordering for factors with all their fill: SuiteSparse's, where PETSc has it.
PetscErrorCode CroutFillReducingOrdering(MatOrderingType *ordering);

/// Whether A is sparse and has no entry at all: AMD calls that an invalid matrix.
PetscErrorCode CroutHasNoEntry(Mat A, PetscBool *none);

} // namespace weft
