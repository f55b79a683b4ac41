// The check of direct solvers: a probe of a solve, and refinement.
#include "petsc/direct_check.h"

#include <cmath>
#include <cstdio>

#include "line/relax/probe.hpp"
#include "petsc/agreed.h"
#include "petsc/petsc_arrays.hpp"
#include "petsc/residual.h"

namespace weft {

std::string ShownNumber(PetscReal number)
{
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", (double)number);
  return text;
}

namespace {

/// The rows of a matrix for the kernels of line/relax/probe.hpp, between Open and Close.
class MatRows {
public:
  MatRows(Mat A, KeptOutside &outside) : A_(A), outside_(outside) {}

  /// known(): false for a type of matrix that has no kernels.
  PetscErrorCode Open()
  {
    PetscBool aij, dense;
    PetscInt first;

    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A_, &aij, MATSEQAIJ, MATMPIAIJ, ""));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A_, MATSEQDENSE, &dense));
    if (aij) {
      PetscCall(MatGetLocal(A_, &local_, &outside_));
      memory_       = local_.memory;
      rows_.rows    = local_.rows;
      rows_.first   = local_.first_row;
      rows_.inside  = local_.inside;
      rows_.outside = local_.outside;
    } else if (dense) {
      PetscMemType type;
      PetscInt rows, ld;

      PetscCall(MatGetOwnershipRange(A_, &first, &rows));
      PetscCall(MatDenseGetLDA(A_, &ld));
      PetscCall(MatDenseGetArrayReadAndMemType(A_, &dense_, &type));
      memory_     = PetscMemTypeDevice(type) ? Memory::device : Memory::host;
      rows_.dense = ToKernel(dense_);
      rows_.rows  = rows;
      rows_.ld    = ld;
    }
    known_ = (aij || dense) && has_backend(memory_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Close()
  {
    PetscFunctionBegin;
    if (dense_) PetscCall(MatDenseRestoreArrayReadAndMemType(A_, &dense_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool known() const { return known_; }
  Memory memory() const { return memory_; }
  const ProbeRows<PetscInt> &rows() const { return rows_; }
  bool alone() const { return !rows_.outside.row_starts; }

private:
  Mat A_;
  KeptOutside &outside_;
  LocalMatrix local_;
  ProbeRows<PetscInt> rows_;
  const PetscScalar *dense_ = NULL;
  Memory memory_            = Memory::host;
  bool known_               = false;
};

// Opens the array of a vector in the memory of the matrix, for a kernel.
PetscErrorCode OpenBeside(const MatRows &matrix, VecArray &array)
{
  PetscFunctionBegin;
  if (matrix.memory() == Memory::host)
    PetscCall(array.OpenOnHost());
  else
    PetscCall(array.Open());
  PetscCheck(array.memory() == matrix.memory(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "a matrix on a device makes vectors that are on the host: libweft cannot look at its own solve");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// unit * values that look random, the same in every run; `which` of such vectors.
PetscErrorCode SetProbe(PetscReal unit, PetscInt which, Vec x)
{
  PetscInt first, end;
  std::unique_ptr<Execution> execution;
  VecArray array(x, Access::write);

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  PetscCall(array.Open());
  if (!has_backend(array.memory())) {
    PetscCall(array.Close());
    PetscCall(array.OpenOnHost());
  }
  PetscCall(MakeExecution(array.memory(), &execution));
  PetscCallCXX(set_probe(*execution, first + 65537 * which, end - first, unit, array.data()));
  PetscCallCXX(execution->wait());
  PetscCall(array.Close());
  PetscCallCXX(destroy_or_leave(execution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The mean size of a matrix's rows, a power of 2: right-hand sides of that size have solutions that are in the range of numbers.
PetscErrorCode SizeOfRows(Mat A, KeptOutside &outside, PetscReal *size)
{
  MatRows matrix(A, outside);
  ProbeSizes sizes;

  PetscFunctionBegin;
  PetscCall(matrix.Open());
  if (matrix.known()) {
    std::unique_ptr<Execution> execution;

    PetscCall(MakeExecution(matrix.memory(), &execution));
    PetscCallCXX(sizes = probe_sizes(*execution, matrix.rows()));
    PetscCallCXX(destroy_or_leave(execution));
    double values[2] = {sizes.logarithms, sizes.rows};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
    *size = values[1] > 0 ? std::exp2(std::round(values[0] / values[1])) : 1;
  } else {
    PetscCall(MatNorm(A, NORM_INFINITY, size));
    if (!(*size > 0) || PetscIsInfOrNanReal(*size)) *size = 1;
  }
  PetscCall(matrix.Close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Matrices without kernels: all rows count the same. unit: the size of b, by which norms are in the range of numbers.
PetscErrorCode ErrorByNorms(Mat A, PetscReal unit, Vec b, Vec x, Vec work, DirectCheck::Error *error)
{
  PetscReal of_matrix, of_rhs, of_solution, of_residual;

  PetscFunctionBegin;
  PetscCall(MatNorm(A, NORM_INFINITY, &of_matrix));
  PetscCall(VecCopy(b, work));
  PetscCall(VecScale(work, 1 / unit));
  PetscCall(VecNorm(work, NORM_2, &of_rhs));
  PetscCall(VecNorm(x, NORM_2, &of_solution));
  PetscCall(Residual(A, b, x, work, Transpose::no));
  PetscCall(VecScale(work, 1 / unit));
  PetscCall(VecNorm(work, NORM_2, &of_residual));
  error->residual = of_residual == 0 ? 0 : of_residual / of_rhs;
  error->backward = of_residual == 0 ? 0 : of_residual / (of_matrix / unit * of_solution + of_rhs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How far x is from the solution. work is used where the matrix is shared by ranks.
PetscErrorCode MeasureError(Mat A, KeptOutside &outside, PetscReal unit, Vec b, Vec x, Vec work, DirectCheck::Error *error)
{
  MatRows matrix(A, outside);
  ProbeSums sums;
  PetscInt rows;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &ranks));
  PetscCall(matrix.Open());
  if (matrix.known()) {
    std::unique_ptr<Execution> execution;
    VecArray rhs(b, Access::read), solution(x, Access::read), product(work, Access::read);
    if (!matrix.alone()) {
      PetscCall(MatMult(A, x, work));
      PetscCall(OpenBeside(matrix, product));
    }
    PetscCall(OpenBeside(matrix, rhs));
    PetscCall(OpenBeside(matrix, solution));
    PetscCall(MakeExecution(matrix.memory(), &execution));
    PetscCallCXX(sums = probe_sums(*execution, matrix.rows(), unit, product.data(), rhs.data(), solution.data()));
    PetscCallCXX(destroy_or_leave(execution));
    PetscCall(solution.Close());
    PetscCall(rhs.Close());
    if (!matrix.alone()) PetscCall(product.Close());
    double values[3] = {sums.residual, sums.rhs, sums.backward};
    if (ranks > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
    error->residual = values[0] == 0 ? 0 : std::sqrt(values[0] / values[1]);
    error->backward = values[2] == 0 ? 0 : std::sqrt(values[2] / static_cast<double>(rows));
  } else {
    PetscCall(ErrorByNorms(A, unit, b, x, work, error));
  }
  PetscCall(matrix.Close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x += M^-1 (b - A x).
PetscErrorCode Refine(Mat A, Vec b, Vec x, Transpose transpose, const DirectApply &apply, Vec residual, Vec correction)
{
  PetscFunctionBegin;
  PetscCall(Residual(A, b, x, residual, transpose));
  PetscCall(apply(residual, correction, transpose));
  PetscCall(VecAXPY(x, 1, correction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As many steps of refinement as a solver may need to be a direct one: of the slowest rate that is taken for help, five leave 1e-5.
constexpr int most_steps = 5;

// Refines a solution, `*steps` times at least, and on while it is not sound and a step makes its residual ten times smaller. Where the first one
// leaves no answer that is acceptable, others are not tried: a solver that is wrong by so much is right by luck. `step` takes one and measures;
// error: before, and after the steps that count.
PetscErrorCode RefineWhileItHelps(const std::function<PetscErrorCode(DirectCheck::Error *)> &step,
                                  const std::function<bool(const DirectCheck::Error &)> &sound,
                                  const std::function<bool(const DirectCheck::Error &)> &acceptable, int *steps, DirectCheck::Error *error)
{
  PetscFunctionBegin;
  for (int taken = 0; taken < *steps || (taken < most_steps && !sound(*error)); taken++) {
    DirectCheck::Error then;

    PetscCall(step(&then));
    if (taken >= *steps && !(then.residual <= error->residual / 10)) break;
    *steps = PetscMax(*steps, taken + 1);
    *error = then;
    if (!acceptable(then)) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Steps(int steps)
{
  return steps == 1 ? "a step of refinement" : std::to_string(steps) + " steps of refinement";
}

std::string Words(const DirectCheck::Error &error)
{
  return "a relative residual of " + ShownNumber(error.residual) + " (" + ShownNumber(error.backward) + " in backward error)";
}

std::string Repeated(const DirectCheck::Error &error)
{
  return "a random right-hand side and a third of it have solutions that leave a difference of " + ShownNumber(error.residual);
}

} // namespace

DirectCheck::~DirectCheck()
{
  PetscCallAbort(PETSC_COMM_SELF, Forget());
}

// Both bounds from here on: nothing would come of the check. (Later releases of PETSc take no infinite option.)
constexpr PetscReal unbounded = OfPrecision(1e300, 1e30);

// One right-hand side of few rows may be solved by luck: so many are, and the worst counts.
constexpr PetscInt few_rows = 64, several = 5;

// Backward errors that refinement does not make smaller.
constexpr PetscReal rounding = 16 * PETSC_MACHINE_EPSILON;

// What a solver in single precision may leave at least, and the backward error of one whose elimination is not stable: growth of 1e4.
constexpr PetscReal most_in_single = 0.5, unstable_in_single = 1e-3;

// NaN is neither.
bool DirectCheck::sound(const Error &error) const
{
  return error.residual <= warn || error.backward <= rounding;
}

PetscReal DirectCheck::BoundOf(PetscReal fail, bool single)
{
  return single ? PetscMax(fail, most_in_single) : fail;
}

PetscReal DirectCheck::bound() const
{
  return BoundOf(fail, single_);
}

bool DirectCheck::acceptable(const Error &error) const
{
  if (single_ && error.backward > unstable_in_single) return false;
  return error.residual <= bound() || error.backward <= warn;
}

bool DirectCheck::fails() const
{
  return measured && !acceptable(left);
}

PetscErrorCode DirectCheck::Forget()
{
  PetscFunctionBegin;
  measured = repeated = transposed_measured = false;
  steps = transposed_steps = 0;
  plain = left = {};
  for (Vec &work : work_) PetscCall(VecDestroy(&work));
  PetscCall(MatDestroy(&operator_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectCheck::Keep(Mat A)
{
  PetscFunctionBegin;
  PetscCall(measured_.read(A));
  if (!operator_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&operator_));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &operator_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectCheck::Measure(Mat A, bool singular, bool single, const DirectApply &apply)
{
  // One right-hand side may be solved by luck: where there are few rows, or where a solver that is wrong altogether is right after a step of
  // refinement, as the rounding of that one falls. There, all of several are to be solved.
  constexpr PetscReal doubtful = 1e-2;
  const ApplicationInSetUp applies;
  PetscReal unit;
  PetscInt rows;
  Vec b, x;

  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCall(Forget());
  if (PetscMin(warn, fail) >= unbounded) PetscFunctionReturn(PETSC_SUCCESS);
  single_ = single || single_built;
  PetscCall(measured_.read(A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &work_[0]));
  PetscCall(SizeOfRows(A, outside, &unit));
  PetscCall(VecGetSize(b, &rows));
  measured = true;
  for (PetscInt which = 0, probes = 1; which < probes; which++) {
    Error once, then;

    if (singular) { // in its range
      PetscCall(SetProbe(1, which, x));
      PetscCall(MatMult(A, x, b));
    } else {
      PetscCall(SetProbe(unit, which, b));
    }
    PetscCall(apply(b, x, Transpose::no));
    PetscCall(MeasureError(A, outside, unit, b, x, work_[0], &once));
    then = once;
    if (!single && (refined() || !sound(once))) {
      const auto step = [&](Error *error) {
        PetscFunctionBegin;
        PetscCall(Refine(operator_, b, x, Transpose::no, apply, work_[0], work_[1]));
        PetscCall(MeasureError(A, outside, unit, b, x, work_[0], error));
        PetscFunctionReturn(PETSC_SUCCESS);
      };
      if (!work_[1]) PetscCall(VecDuplicate(x, &work_[1]));
      if (!operator_) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &operator_));
      PetscCall(RefineWhileItHelps(
          step, [this](const Error &error) { return sound(error); }, [this](const Error &error) { return acceptable(error); }, &steps,
          &then));
    }
    if (which == 0 || !(once.residual <= plain.residual)) plain = once;
    if (which == 0 || !acceptable(then) || (acceptable(left) && then.residual > left.residual)) left = then;
    if (rows < few_rows || (refined() && !(plain.backward <= doubtful))) probes = several;
  }
  if (!single && !sound(plain))
    PetscCall(PetscInfo(A, "a random right-hand side is solved with %s, %s\n", Words(plain).c_str(),
                        refined() ? ("and with " + Words(left) + " after " + Steps(steps) + ", which each application takes").c_str()
                                  : "and refinement does not help"));
  if (!refined()) {
    for (Vec &work : work_) PetscCall(VecDestroy(&work));
    PetscCall(MatDestroy(&operator_));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// |b - A^T x| / |b|, and over |A| |x| + |b| where that is above `sound`; unit: the size of b.
static PetscErrorCode TransposedError(Mat A, PetscReal unit, Vec b, Vec x, Vec work, PetscReal sound, DirectCheck::Error *error)
{
  PetscReal of_rhs, of_residual, of_matrix, of_solution;

  PetscFunctionBegin;
  PetscCall(VecCopy(b, work));
  PetscCall(VecScale(work, 1 / unit)); // squares of it are in the range of numbers
  PetscCall(VecNorm(work, NORM_2, &of_rhs));
  PetscCall(Residual(A, b, x, work, Transpose::yes));
  PetscCall(VecScale(work, 1 / unit));
  PetscCall(VecNorm(work, NORM_2, &of_residual));
  error->residual = of_residual == 0 ? 0 : of_residual / of_rhs;
  error->backward = 0;
  if (error->residual <= sound) PetscFunctionReturn(PETSC_SUCCESS); // NaN is not
  PetscCall(MatNorm(A, NORM_1, &of_matrix));
  PetscCall(VecNorm(x, NORM_2, &of_solution));
  error->backward = of_residual / (of_matrix / unit * of_solution + of_rhs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectCheck::EnsureTransposed(Mat A, bool singular, const DirectApply &apply)
{
  const ApplicationInSetUp applies;
  const auto sound_transposed = [this](const Error &error) {
    return error.residual <= TransposedBound(warn, plain) || error.backward <= rounding;
  };
  bool same = false;
  PetscReal unit;
  PetscInt rows;
  Vec b, x, residual, correction;

  PetscFunctionBegin;
  PetscCall(measured_.is_matrix(A, &same));
  if (!measured || repeated || transposed_measured || !same) PetscFunctionReturn(PETSC_SUCCESS);
  transposed_measured = true;
  transposed_steps    = steps;
  transposed_left     = {};
  PetscCall(MatCreateVecs(A, &b, &x));
  PetscCall(VecDuplicate(b, &residual));
  PetscCall(VecDuplicate(x, &correction));
  PetscCall(SizeOfRows(A, outside, &unit));
  PetscCall(VecGetSize(b, &rows));
  for (PetscInt which = 0; which < (rows < few_rows ? several : 1); which++) {
    Error once;

    if (singular) { // in its range
      PetscCall(SetProbe(1, which, x));
      PetscCall(MatMultTranspose(A, x, b));
    } else {
      PetscCall(SetProbe(unit, which, b));
    }
    PetscCall(apply(b, x, Transpose::yes));
    PetscCall(TransposedError(A, unit, b, x, residual, TransposedBound(warn, plain), &once));
    if (!single_ && (transposed_steps > 0 || !sound_transposed(once))) {
      const Error plainly = once;
      const auto step     = [&](Error *error) {
        PetscFunctionBegin;
        PetscCall(Refine(operator_, b, x, Transpose::yes, apply, residual, correction));
        PetscCall(TransposedError(A, unit, b, x, residual, TransposedBound(warn, plain), error));
        PetscFunctionReturn(PETSC_SUCCESS);
      };
      if (!operator_) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &operator_));
      PetscCall(RefineWhileItHelps(
          step, sound_transposed, [this](const Error &error) { return acceptable_transposed(error); }, &transposed_steps, &once));
      PetscCall(PetscInfo(
          A, "a random right-hand side is solved, transposed, with %s, %s\n", Words(plainly).c_str(),
          transposed_steps
              ? ("and with " + Words(once) + " after " + Steps(transposed_steps) + ", which each transposed application takes").c_str()
              : "and refinement does not help"));
    }
    if (which == 0 || !(once.residual <= transposed_left.residual)) transposed_left = once;
  }
  if (transposed_steps > 0 && !refined()) { // of a square matrix: of the same shapes
    work_[0]   = residual;
    work_[1]   = correction;
    residual   = NULL;
    correction = NULL;
  }
  if (!refined() && transposed_steps == 0) PetscCall(MatDestroy(&operator_));
  for (Vec *vec : {&b, &x, &residual, &correction}) PetscCall(VecDestroy(vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool DirectCheck::acceptable_transposed(const Error &error) const
{
  return error.residual <= TransposedBound(bound(), left) || (error.backward > 0 && error.backward <= warn);
}

bool DirectCheck::transposed_fails() const
{
  return transposed_measured && !acceptable_transposed(transposed_left);
}

std::string DirectCheck::TransposedSentence(const char options[]) const
{
  return "this direct solver solves a random transposed right-hand side with a relative residual of " +
         ShownNumber(transposed_left.residual) + ", and " + options + "_fail allows " + ShownNumber(TransposedBound(bound(), left));
}

// third = x - 3 x(b / 3) of x = x(b), which is rounding; b becomes a third of itself.
static PetscErrorCode CompareWithThird(const DirectApply &apply, Vec b, Vec x, Vec third)
{
  PetscFunctionBegin;
  PetscCall(VecScale(b, PetscScalar(1) / 3));
  PetscCall(apply(b, third, Transpose::no));
  PetscCall(VecAYPX(third, -3, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectCheck::MeasureRepeated(Mat A, bool single, const DirectApply &apply)
{
  const ApplicationInSetUp applies;
  PetscReal unit, left_of_rhs, of_rhs;
  Vec b, x, third, work;

  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCall(Forget());
  if (PetscMin(warn, fail) >= unbounded) PetscFunctionReturn(PETSC_SUCCESS);
  single_ = single || single_built;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &third));
  PetscCall(VecDuplicate(b, &work));
  PetscCall(SizeOfRows(A, outside, &unit));
  PetscCall(SetProbe(1, 0, b));
  PetscCall(VecNorm(b, NORM_2, &of_rhs));
  PetscCall(SetProbe(unit, 0, b));
  PetscCall(apply(b, x, Transpose::no));
  PetscCall(CompareWithThird(apply, b, x, third));
  PetscCall(MatMult(A, third, work));
  PetscCall(VecScale(work, 1 / unit)); // squares of it are in the range of numbers
  PetscCall(VecNorm(work, NORM_2, &left_of_rhs));
  measured = repeated = true;
  plain.residual = plain.backward = left_of_rhs == 0 ? 0 : left_of_rhs / of_rhs;
  left                            = plain;
  if (!single && !sound(plain)) PetscCall(PetscInfo(A, "%s\n", Repeated(plain).c_str()));
  for (Vec *vec : {&b, &x, &third, &work}) PetscCall(VecDestroy(vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The error of a known solution beside it, where that is smaller than `amplified`. scale: the solution's values are a probe's over it; NULL: the probe's.
static PetscErrorCode MeasureKnown(Mat A, const DirectApply &apply, PetscInt which, Vec scale, Vec b, Vec x, Vec work, PetscReal *amplified)
{
  PetscReal of_error, of_solution;

  PetscFunctionBegin;
  PetscCall(SetProbe(1, which, x));
  PetscCall(VecNorm(x, NORM_2, &of_solution));
  if (scale) PetscCall(VecPointwiseDivide(x, x, scale));
  PetscCall(MatMult(A, x, b));
  PetscCall(apply(b, work, Transpose::no));
  PetscCall(VecAXPY(work, -1, x));
  if (scale) PetscCall(VecPointwiseMult(work, work, scale));
  PetscCall(VecNorm(work, NORM_2, &of_error));
  const PetscReal seen = of_error / of_solution;
  if (PetscIsInfOrNanReal(*amplified) || seen < *amplified) *amplified = seen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the right-hand side `which` says of MeasureAmplification(). third: NULL where rounding is not asked for.
static PetscErrorCode MeasureOne(Mat A, KeptOutside &outside, const DirectApply &apply, PetscReal unit, PetscInt which, PetscReal bound,
                                 Vec b, Vec x, Vec work, Vec third, PetscReal *amplified, PetscReal *backward, PetscReal *rounded)
{
  DirectCheck::Error error;
  PetscReal least, of_solution, of_difference;
  Vec scale;

  PetscFunctionBegin;
  PetscCall(SetProbe(unit, which, b));
  PetscCall(apply(b, x, Transpose::no));
  PetscCall(MeasureError(A, outside, unit, b, x, work, &error));
  *amplified = error.residual;
  *backward  = error.backward;
  if (third) {
    PetscCall(CompareWithThird(apply, b, x, third));
    PetscCall(VecNorm(x, NORM_2, &of_solution));
    PetscCall(VecNorm(third, NORM_2, &of_difference));
    *rounded = of_difference == 0 ? 0 : of_difference / of_solution;
  }
  if (error.backward <= OfPrecision(1e-8, 1e-5)) *amplified = 0; // it solves: the matrix is to blame
  if (*amplified <= bound) PetscFunctionReturn(PETSC_SUCCESS);   // else rows in odd units look like that: those of a known solution do not
  PetscCall(MeasureKnown(A, apply, which, NULL, b, x, work, amplified));
  if (*amplified <= bound) PetscFunctionReturn(PETSC_SUCCESS); // else unknowns in odd units: of the sizes that diagonals say
  PetscCall(VecDuplicate(x, &scale));
  PetscCall(MatGetDiagonal(A, scale));
  PetscCall(VecSqrtAbs(scale));
  PetscCall(VecMin(scale, NULL, &least));
  if (least > 0) PetscCall(MeasureKnown(A, apply, which, scale, b, x, work, amplified));
  PetscCall(VecDestroy(&scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectCheck::MeasureAmplification(Mat A, KeptOutside &outside, const DirectApply &apply, PetscReal bound,
                                                 PetscReal *amplified, PetscReal *backward, PetscReal *rounded)
{
  const ApplicationInSetUp applies;
  PetscReal unit;
  PetscInt rows;
  Vec b, x, work, third = NULL;

  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)A)));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &work));
  if (rounded) PetscCall(VecDuplicate(x, &third));
  PetscCall(SizeOfRows(A, outside, &unit));
  PetscCall(VecGetSize(b, &rows));
  *amplified = *backward = 0;
  if (rounded) *rounded = 0;
  for (PetscInt which = 0; which < (rows < few_rows ? several : 1); which++) {
    PetscReal once = 0, error = 0, difference = 0;

    PetscCall(MeasureOne(A, outside, apply, unit, which, bound, b, x, work, third, &once, &error, &difference));
    if (!(error <= *backward)) *backward = error;
    if (rounded && !(difference <= *rounded)) *rounded = difference; // NaN is not
    if (which == 0 || !(once <= *amplified)) *amplified = once;
    if (!(once <= bound)) break;
  }
  for (Vec *vec : {&b, &x, &work, &third}) PetscCall(VecDestroy(vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string DirectCheck::Sentence(const char options[]) const
{
  if (repeated) return "this preconditioner loses digits: " + Repeated(left) + ", and " + options + "_fail allows " + ShownNumber(bound());
  const std::string solves = "this direct solver solves a random right-hand side with " + Words(left);
  if (single_ && left.backward > unstable_in_single)
    return solves + ": an elimination that grows needs double precision, and a backward error above " + ShownNumber(unstable_in_single) +
           " is refused";
  return solves + ", and " + options + "_fail allows " + ShownNumber(bound());
}

PetscErrorCode DirectCheck::View(PetscViewer viewer) const
{
  PetscFunctionBegin;
  if (!measured) PetscFunctionReturn(PETSC_SUCCESS);
  if (repeated) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  check: %s\n", Repeated(plain).c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  check: a random right-hand side is solved with %s%s%s\n", Words(plain).c_str(),
                                   refined() ? ("; each application takes " + Steps(steps) + ", leaving ").c_str() : "",
                                   refined() ? ShownNumber(left.residual).c_str() : ""));
  if (transposed_measured)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  check: a random transposed right-hand side is solved with a relative residual of %s%s\n",
                                     ShownNumber(transposed_left.residual).c_str(),
                                     transposed_steps ? (", after " + Steps(transposed_steps)).c_str() : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectCheck::Solve(Vec b, Vec x, Transpose transpose, const DirectApply &apply) const
{
  PetscFunctionBegin;
  PetscCall(apply(b, x, transpose));
  for (int taken = 0; taken < (transpose == Transpose::no ? steps : PetscMax(steps, transposed_steps)); taken++)
    PetscCall(Refine(operator_, b, x, transpose, apply, work_[0], work_[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
