// The factors of sparse matrices: CroutFactorization finds them, TriangularSolver solves with them.
#include <algorithm>
#include <limits>

#include "crout/factor.hpp"
#include "crout/triangular_solver.hpp"
#include "petsc/matrix_by_rows.h"
#include "petsc/petsc_arrays.hpp"

namespace weft {

namespace {

// Values that are not finite are bad pivots too: PETSc's PCs factor again after that reason alone, once the values are others.
MatFactorError PetscError(FactorFailure failure)
{
  return failure == FactorFailure::none ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT;
}

// Empty for an order that changes nothing. PETSc orders the blocks of BAIJ and SBAIJ matrices: their rows stay side by side.
PetscErrorCode ReadOrder(IS order, PetscInt rows, std::vector<Index> *indices)
{
  PetscBool identity = PETSC_TRUE;
  PetscInt size;
  const PetscInt *values;

  PetscFunctionBegin;
  indices->clear();
  if (order) PetscCall(ISIdentity(order, &identity));
  if (identity) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(order, &size));
  PetscCall(ISGetIndices(order, &values));
  const PetscInt block = size > 0 && rows % size == 0 ? rows / size : 1;
  for (PetscInt k = 0; k < size * block; k++) indices->push_back(values[k / block] * (Index)block + k % block);
  PetscCall(ISRestoreIndices(order, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By FactorScaling.
constexpr const char *scaling_texts[] = {"none", "by the diagonal", "by the largest entries of rows and columns"};

template <class Scalar>
class SparseFactor final : public CroutFactor {
public:
  explicit SparseFactor(const CroutSettings &settings) : CroutFactor(settings), settings_(settings) {}
  ~SparseFactor() override { PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&converted_)); }

  PetscErrorCode Symbolic(Mat A, IS rows, IS columns, CroutFailure *failure) override
  {
    PetscInt size;

    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(A, &size, NULL));
    PetscCall(ReadOrder(rows, size, &ordering_.rows));
    PetscCall(ReadOrder(columns, size, &ordering_.columns));
    PetscCall(Analyse(A, failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const CroutReport *Report() const override { return analysed_ ? &factorization_->report() : nullptr; }

  bool TriangularMethodIs(const std::string &name) const override { return !analysed_ || solver_->method_in_use() == name; }

  std::string Made() const override { return analysed_ ? factorization_->report().text() : "nothing factored"; }

  PetscErrorCode View(PetscViewer viewer) const override
  {
    PetscFunctionBegin;
    if (!analysed_) {
      PetscCall(PetscViewerASCIIPrintf(viewer, "nothing factored\n"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const CroutReport &report   = factorization_->report();
    const CroutOptions &options = settings_.options;
    std::string made, solves, backend;
    PetscCallCXX(made = report.failure == FactorFailure::none ? report.text() : explain(report));
    PetscCallCXX(solves = solver_->description());
    PetscCallCXX(backend = execution_->name());
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s of %" PetscInt_FMT " rows, %s: %lld entries, %g times the matrix'\n",
                                     !options.symmetric  ? "L U"
                                     : options.hermitian ? "L D L^H"
                                                         : "L D L^T",
                                     rows_, PatternText().c_str(), (long long)report.entries,
                                     (double)report.entries / std::max<double>(1, (double)entries_)));
    if (!prediction_.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "predicted: %s\n", prediction_.c_str()));
    PetscCall(PetscViewerASCIIPrintf(viewer, "scaling: %s\n", scaling_texts[static_cast<int>(options.scaling)]));
    PetscCall(PetscViewerASCIIPrintf(viewer, "factors: %s\n", made.c_str()));
    PetscCall(PetscViewerASCIIPrintf(viewer, "triangles: %s\n", solves.c_str()));
    PetscCall(ViewCheck(viewer));
    if (rung_ != Rung::first)
      PetscCall(PetscViewerASCIIPrintf(viewer, "the factors before these were useless: %s\n", rung_texts[static_cast<int>(rung_)]));
    PetscCall(PetscViewerASCIIPrintf(viewer, "in %s precision on the %s (%s)\n", std::is_same_v<Scalar, SingleScalar> ? "single" : "double",
                                     Where(), backend.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode GetInfo(MatInfo *info) const override
  {
    PetscFunctionBegin;
    if (!analysed_) PetscFunctionReturn(PETSC_SUCCESS);
    const auto entries      = (PetscLogDouble)factorization_->report().entries;
    info->nz_used           = entries;
    info->nz_allocated      = entries;
    info->memory            = entries * (sizeof(Scalar) + sizeof(std::int32_t));
    info->fill_ratio_needed = entries / std::max<PetscLogDouble>(1, (PetscLogDouble)entries_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode GetInertia(PetscInt *negative, PetscInt *zero, PetscInt *positive) const override
  {
    PetscFunctionBegin;
    const PetscInt below = rows_ ? (PetscInt)factorization_->report().negative : 0;
    const PetscInt above = rows_ ? (PetscInt)factorization_->report().positive : 0;
    if (negative) *negative = below;
    if (zero) *zero = rows_ - below - above;
    if (positive) *positive = above;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Numeric(Mat A, CroutFailure *failure) override
  {
    bool same = false, holds = true;

    PetscFunctionBegin;
    PetscCall(IsAnalysed(A, &same));
    if (!same || rung_ != Rung::first) {
      if (!same) PetscCall(PetscInfo(A, "the pattern is not that of the factors: found anew\n"));
      rung_ = Rung::first;
      PetscCall(Analyse(A, failure));
      if (failure->error != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (rows_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
    const bool old_values = seen_values_;
    if (old_values) PetscCall(AnalysisHolds(A, &holds));
    if (holds) {
      PetscCall(Factor(A, failure));
      const bool decided_by_these = !old_values || factorization_->report().failure == FactorFailure::not_finite_input;
      if (failure->error == MAT_FACTOR_NOERROR || decided_by_these) PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscInfo(A, "what values before these decided is decided anew\n"));
    PetscCall(Anew(A, failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool Direct() const override
  {
    const CroutOptions &options = settings_.options;
    const bool approximates     = options.method == FactorMethod::sweeps || settings_.solve == "jacobi" || settings_.solve == "isai";
    return options.pattern == FillPattern::full && !approximates && options.shift == PivotShift::none && options.base_shift == 0;
  }

  bool TurnedOutComplete() const override
  {
    const CroutReport &report = factorization_->report();
    return !AllFillTaken() && report.complete && report.exact && report.shift == 0 && settings_.options.base_shift == 0 &&
           !TriangularMethodIs("jacobi") && !TriangularMethodIs("isai");
  }

  bool Replaced(CroutFailure *failure) const override
  {
    const CroutReport &report = factorization_->report();
    if (report.boosted == 0) return false;
    failure->error    = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    failure->row      = (PetscInt)report.row;
    failure->sentence = "zero pivot in row " + std::to_string(report.row) +
                        ": the matrix may be singular; try another ordering (with another number in its place " + failure->sentence + ")";
    return true;
  }

  // Where all fill was no way out, a larger shift is the weaker preconditioner more often than not (USAir97).
  PetscReal MostAmplified() const override { return (rung_ == Rung::shifted ? 10 : 1) * CroutFactor::MostAmplified(); }

  // Elimination keeps rows dominated, whatever falls outside the pattern: each step leaves |a_ii| - sum |a_ij| what it was or more. So U is no larger
  // than twice the matrix, |L| |U| than the entries of a row times it (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, theorem
  // 9.9), and what M^-1 makes of the dropped entries no larger than what it is made of (J. A. Meijerink, H. A. van der Vorst, Math. Comp. 31, 1977;
  // T. A. Manteuffel, Math. Comp. 34, 1980): |M^-1 (M - A)| <= 1 in the maximum norm. Singular matrices are among these: the pivots say that M is none.
  bool KnownGood() const override
  {
    const CroutReport &report = factorization_->report();
    const bool plain          = rung_ == Rung::first && report.exact && !report.complete && report.boosted + report.weak == 0;
    const bool shifted        = report.shift != 0 || settings_.options.base_shift != 0;
    const bool approximates   = TriangularMethodIs("jacobi") || TriangularMethodIs("isai");
    return factored_ && dominated_ && plain && !shifted && !approximates && !single_built && !std::is_same_v<Scalar, SingleScalar>;
  }

  // Half of the digits are enough for a preconditioner, and in single precision more than half. All fill leaves no products but those of the
  // matrix: MostBackward() says what it is worth.
  PetscErrorCode ProductSize(PetscReal *size, PetscReal *most) const override
  {
    PetscFunctionBegin;
    *most = AllFillTaken() ? PETSC_MAX_REAL : std::is_same_v<Scalar, SingleScalar> ? 1e5 : 1e8;
    PetscCallCXX(*size = factorization_->product_size());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscReal MostBackward() const override
  {
    const PetscReal good = std::is_same_v<Scalar, SingleScalar> ? 1e-4 : 1e-8;
    return rung_ == Rung::full ? 0.1 : rung_ == Rung::quick_full ? good : PETSC_MAX_REAL;
  }

  // What is tried where incomplete factors are no preconditioner, in this order. Shifts make weak preconditioners of what is hard: all fill
  // comes before them where it is quickly made. Approximate solves with triangles come to an end at once.
  enum class Rung { first, exact_triangles, permuted, quick_full, shifted, shifted_more, full };
  static constexpr const char *rung_texts[] = {"",
                                               "the triangles are solved exactly",
                                               "rows were permuted to the largest product of the diagonal",
                                               "all fill was taken",
                                               "the diagonal was shifted",
                                               "the diagonal was shifted",
                                               "all fill was taken"};
  bool AllFillTaken() const { return rung_ == Rung::quick_full || rung_ == Rung::full; }
  static constexpr double quick_operations = 2e9; ///< some seconds of a core

  // How the triangles are solved: exactly from the rung on that says so, where steps were asked for; else a device may still choose.
  std::string SolveOf(Rung rung) const
  {
    const bool approximates = settings_.solve == "jacobi" || settings_.solve == "isai";
    return rung == Rung::exact_triangles || (rung > Rung::exact_triangles && approximates) ? "syncfree" : settings_.solve;
  }

  CroutOptions OptionsOf(Rung rung) const
  {
    CroutOptions options = settings_.options;
    options.ladder       = options.method == FactorMethod::sweeps || options.pattern != FillPattern::full; // shifts are for preconditioners
    options.replace_pivots = Direct();
    if (rung <= Rung::exact_triangles) return options;
    options.tiny_diagonal = 1;
    if (rung == Rung::shifted || rung == Rung::shifted_more) options.base_shift += rung == Rung::shifted ? 0.1 : 1;
    if (rung == Rung::quick_full && (options.most_operations == 0 || options.most_operations > quick_operations))
      options.most_operations = quick_operations;
    if (rung == Rung::quick_full || rung == Rung::full) {
      options.pattern        = FillPattern::full;
      options.most_fill      = options.most_fill > 0 ? options.most_fill : std::max(20.0, 2e6 / (double)std::max<PetscInt64>(1, entries_));
      options.replace_pivots = rung == Rung::full; // what replaced pivots amplify hides in the residual (impcol_d)
      options.ladder         = false;
      options.method         = FactorMethod::exact;
      options.stop           = SweepStop::automatic;
      options.sweeps = options.sections = 0;
      options.omega                     = 0;
      options.asynchronous              = false;
    }
    return options;
  }

  PetscErrorCode Climb(Mat A, CroutFailure *failure, bool *climbed) override
  {
    PetscFunctionBegin;
    const bool approximates = analysed_ && (TriangularMethodIs("jacobi") || TriangularMethodIs("isai"));
    *climbed                = false;
    while (!*climbed && rung_ != Rung::full) {
      rung_               = static_cast<Rung>(static_cast<int>(rung_) + 1);
      const bool permutes = settings_.options.match_rows && !settings_.options.symmetric;
      if (rung_ == Rung::permuted && !permutes) continue;
      if (rung_ == Rung::exact_triangles && !approximates) continue;
      PetscCall(Anew(A, failure));
      *climbed = failure->error == MAT_FACTOR_NOERROR;
    }
    *failure = {};
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Anew(Mat A, CroutFailure *failure)
  {
    PetscFunctionBegin;
    *failure = {};
    PetscCall(Analyse(A, failure));
    if (failure->error == MAT_FACTOR_NOERROR) PetscCall(Factor(A, failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode AnalysisHolds(Mat A, bool *holds)
  {
    CsrMatrix<KernelScalar, PetscInt> matrix;
    Memory memory;

    PetscFunctionBegin;
    PetscCall(ReadMatrix(A, &matrix, &memory));
    PetscCallCXX(*holds = factorization_->analysis_holds(matrix));
    PetscCall(PetscObjectStateGet((PetscObject)A, &looked_at_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Factor(Mat A, CroutFailure *failure)
  {
    CsrMatrix<KernelScalar, PetscInt> matrix;
    PetscObjectState values;
    Memory memory;

    PetscFunctionBegin;
    PetscCall(ReadMatrix(A, &matrix, &memory));
    PetscCall(PetscObjectStateGet((PetscObject)A, &values));
    dominated_      = values == looked_at_ && factorization_->rows_dominated();
    const bool warm = factored_;
    factored_       = false;
    seen_values_    = true;
    PetscCall(CroutAttempt(
        [&] {
          factorization_->factor(matrix, warm);
          if (factorization_->report().failure == FactorFailure::none) solver_->update(factorization_->triangles());
        },
        failure));
    if (failure->error != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
    const CroutReport &report = factorization_->report();
    failure->error            = PetscError(report.failure);
    failure->row              = (PetscInt)report.row;
    failure->sentence         = explain(report);
    if (report.failure == FactorFailure::not_finite_input) failure->sentence += ": look at what the program puts there";
    if (report.failure == FactorFailure::zero_pivot && settings_.options.symmetric)
      failure->sentence += "; without symmetry (-pc_type ilu or lu, -pc_crout_symmetric 0) rows can be permuted";
    factored_ = report.failure == FactorFailure::none;
    PetscCall(PetscInfo(A, "%s; triangles: %s\n", report.text().c_str(), factored_ ? solver_->description().c_str() : "none"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // The matrix as CSR where its values are. BAIJ and SBAIJ have none and are converted; what SBAIJ keeps is symmetric.
  PetscErrorCode ReadMatrix(Mat A, CsrMatrix<KernelScalar, PetscInt> *matrix, Memory *memory)
  {
    PetscBool blocks;

    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &blocks, MATSEQBAIJ, MATSEQSBAIJ, ""));
    if (blocks) {
      PetscCall(CopyByRows(A, &converted_));
      A = converted_;
    }
    PetscCall(MatGetLocalCsr(A, matrix, memory));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode IsAnalysed(Mat A, bool *same) const
  {
    PetscObjectId id;
    PetscObjectState pattern;
    MatInfo info;

    PetscFunctionBegin;
    PetscCall(PetscObjectGetId((PetscObject)A, &id));
    PetscCall(MatGetNonzeroState(A, &pattern));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info)); // in case that nobody has told PETSc
    *same = id == matrix_ && pattern == pattern_ && info.nz_used == stored_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Analyse(Mat A, CroutFailure *failure)
  {
    CsrMatrix<KernelScalar, PetscInt> matrix;
    Memory memory = Memory::host;
    PetscInt columns;
    MatInfo info;

    PetscFunctionBegin;
    PetscCall(PetscObjectGetId((PetscObject)A, &matrix_));
    PetscCall(MatGetNonzeroState(A, &pattern_));
    PetscCall(MatGetLocalSize(A, &rows_, &columns));
    PetscCall(MatDestroy(&converted_));
    analysed_ = factored_ = seen_values_ = false;
    prediction_.clear();
    solver_.reset();
    factorization_.reset();
    if (rows_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ReadMatrix(A, &matrix, &memory));
    PetscCall(PetscObjectStateGet((PetscObject)A, &looked_at_));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    stored_ = info.nz_used;
    PetscCall(MatGetInfo(converted_ ? converted_ : A, MAT_LOCAL, &info));
    entries_ = (PetscInt64)info.nz_used;
    PetscCall(Place(A, memory));
    CroutOptions factors = OptionsOf(rung_);
    factors.tell         = [this, A](const std::string &prediction) {
      prediction_ = prediction;
      PetscCallVoid(PetscInfo(A, "%s\n", prediction.c_str()));
    };
    PetscCallCXX(factorization_ = CroutFactorization<Scalar>::make(*execution_, factors));
    TriangularOptions triangles;
    if (settings_.solve_steps > 0) triangles.steps = triangles.fewest_steps = settings_.solve_steps;
    PetscCallCXX(solver_ = TriangularSolver<Scalar>::make(*execution_, SolveOf(rung_), triangles));
    PetscCall(CroutAttempt(
        [&] {
          factorization_->analyse(rows_, columns, matrix, ordering_);
          solver_->analyse(factorization_->triangles(), factorization_->transform());
        },
        failure));
    analysed_ = failure->error == MAT_FACTOR_NOERROR;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Launch(const KernelScalar *rhs, KernelScalar *x, Transpose transpose, PetscInt nrhs, PetscInt ld) const override
  {
    PetscFunctionBegin;
    const bool transposed        = transpose == Transpose::yes && (!settings_.options.symmetric || settings_.options.hermitian);
    const TriangularFacts &facts = solver_->facts();
    PetscCallCXX(solver_->solve(transposed ? TriangularPart::transposed : TriangularPart::both, rhs, x, (int)nrhs, ld));
    const int steps = facts.in_use == TriangularMethod::jacobi ? facts.steps : 1;
    PetscCall(LogFlops(execution_->memory(), 2.0 * (double)nrhs * (double)factorization_->report().entries * steps));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::string PatternText() const
  {
    const FillPattern pattern = factorization_->options().pattern;
    return pattern == FillPattern::levels      ? "fill of level " + std::to_string(settings_.options.levels)
           : pattern == FillPattern::threshold ? "entries by size"
                                               : "all fill";
  }

  CroutSettings settings_;
  FactorOrdering ordering_;
  PetscObjectId matrix_     = -1;
  PetscObjectState pattern_ = -1, looked_at_ = -1; ///< looked_at_: values that the analysis has seen
  PetscLogDouble stored_ = 0;                      ///< entries that the matrix stores
  PetscInt64 entries_    = 0;                      ///< and with those below the diagonal of a symmetric one
  std::string prediction_;                         ///< of complete factors
  Rung rung_        = Rung::first;
  bool analysed_    = false;
  bool seen_values_ = false; ///< what the analysed pattern has decided from values is theirs
  bool dominated_   = false; ///< the factored values are those that were looked at, and their rows are dominated by the diagonal
  bool factored_    = false; ///< and nothing failed: sweeps can start from there
  Mat converted_    = NULL;
  Owner<CroutFactorization<Scalar>> factorization_;
  Owner<TriangularSolver<Scalar>> solver_;
};

} // namespace

PetscErrorCode CroutFactorCreateSparse(const CroutSettings &settings, std::unique_ptr<CroutFactor> *factor)
{
  PetscFunctionBegin;
  if (settings.precision == PC_CROUT_SINGLE)
    PetscCallCXX(*factor = std::make_unique<SparseFactor<SingleScalar>>(settings));
  else
    PetscCallCXX(*factor = std::make_unique<SparseFactor<KernelScalar>>(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
