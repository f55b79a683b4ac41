// What sparse and dense factors have in common: where they are, and how vectors come to them.
#include "crout/factor.hpp"

#include <cstdio>
#include <new>
#include <stdexcept>

#include "petsc/petsc_arrays.hpp"

namespace weft {

PetscErrorCode CroutAttempt(const std::function<void()> &work, CroutFailure *failure)
{
  const auto fail = [&](MatFactorError error, const std::string &sentence) {
    failure->error    = error;
    failure->sentence = sentence;
  };
  const std::string instead =
      "take less fill (-pc_type ilu with fewer -pc_factor_levels, -pc_crout_pattern levels or threshold), or another "
      "ordering";

  PetscFunctionBegin;
  try {
    work();
  } catch (const std::invalid_argument &error) {
    fail(MAT_FACTOR_STRUCT_ZEROPIVOT, error.what());
  } catch (const std::length_error &error) {
    fail(MAT_FACTOR_OUTMEMORY, error.what() + (": " + instead));
  } catch (const TooManyOperations &error) {
    fail(MAT_FACTOR_OTHER, error.what() + (": " + instead) + ", or allow more (-pc_crout_most_operations, -mat_crout_most_operations)");
  } catch (const std::bad_alloc &) {
    fail(MAT_FACTOR_OUTMEMORY, "the factors do not fit into memory: " + instead);
  } catch (const std::exception &error) {
    // Kokkos throws no bad_alloc where it cannot allocate a View.
    PetscCheck(std::string(error.what()).find("allocat") != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", error.what());
    fail(MAT_FACTOR_OUTMEMORY, "the factors do not fit into memory: " + instead);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

CroutFactor::CroutFactor(const CroutSettings &settings) : single_(settings.precision == PC_CROUT_SINGLE)
{
  check_.warn = settings.check_warn;
  check_.fail = settings.check_fail;
  if (PetscDefined(USE_COMPLEX) && settings.options.symmetric)
    taken_for_ =
        settings.options.hermitian
            ? "; L D L^H was made, because the matrix is marked as Hermitian (MAT_HERMITIAN)"
            : "; L D L^T was made, as of a complex symmetric matrix: mark a Hermitian one (MAT_HERMITIAN), and use LU for any other";
}

CroutFactor::~CroutFactor()
{
  for (Vec &work : work_) PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&work));
}

PetscErrorCode CroutFactor::Place(Mat A, Memory memory)
{
  PetscFunctionBegin;
  for (Vec &work : work_) PetscCall(VecDestroy(&work));
  if (memory == Memory::device) PetscCall(MatCreateVecs(A, &work_[0], &work_[1]));
  PetscCall(MakeExecution(memory, &execution_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

DirectApply CroutFactor::Apply()
{
  return [this](Vec b, Vec x, Transpose transpose) { return SolveOnce(b, x, transpose); };
}

std::string CroutFactor::Words() const
{
  char words[320];
  std::snprintf(
      words, sizeof words,
      "a random right-hand side is solved with a relative residual of %.2g (%.2g in backward error), to %.1g of the solution, and the "
      "factors are %.2g times larger than the matrix",
      (double)probe_, (double)backward_, (double)rounded_, (double)size_);
  return words;
}

// What factors with all fill leave, and whether refinement cures it.
PetscErrorCode CroutFactor::Measure(Mat A)
{
  PetscFunctionBegin;
  PetscCall(check_.Measure(A, false, single_, Apply()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::Forget()
{
  PetscFunctionBegin;
  PetscCall(check_.Forget());
  probe_ = backward_ = rounded_ = size_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Beyond this a Krylov method sees another preconditioner in each step: a pivot is rounding, which neither residuals nor sizes of factors need show.
constexpr PetscReal most_rounded = 1e-4;

PetscErrorCode CroutFactor::Check(Mat A, CroutFailure *failure)
{
  const DirectApply application = [this](Vec b, Vec x, Transpose transpose) { return check_.Solve(b, x, transpose, Apply()); };
  PetscReal most_size;

  PetscFunctionBegin;
  if (Direct()) {
    PetscCall(Measure(A));
    if (!check_.fails()) PetscFunctionReturn(PETSC_SUCCESS);
    failure->error    = MAT_FACTOR_OTHER;
    failure->sentence = check_.Sentence("-pc_crout_check") + taken_for_;
    Replaced(failure);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (KnownGood()) PetscFunctionReturn(PETSC_SUCCESS);
  for (bool climbed = true; climbed;) {
    PetscCall(Forget());
    if (MostBackward() < PETSC_MAX_REAL || TurnedOutComplete()) PetscCall(Measure(A));
    PetscReal *const rounded = single_ || single_built ? NULL : &rounded_;
    PetscCall(DirectCheck::MeasureAmplification(A, check_.outside, application, MostAmplified(), &probe_, &backward_, rounded));
    PetscCall(ProductSize(&size_, &most_size));
    const bool lost = TurnedOutComplete() && check_.fails();
    if (!lost && probe_ <= MostAmplified() && backward_ <= MostBackward() && rounded_ <= most_rounded && size_ <= most_size)
      PetscFunctionReturn(PETSC_SUCCESS); // NaN is not
    PetscCall(PetscInfo(A, "incomplete factors are useless: %s\n", Words().c_str()));
    PetscCall(Climb(A, failure, &climbed));
    if (failure->error != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  }
  failure->error    = MAT_FACTOR_OTHER;
  failure->sentence = "the incomplete factors are useless: " + Words() +
                      "; take more fill (-pc_crout_levels, -pc_crout_pattern full) or another solver" + taken_for_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::Factorize(Mat A, CroutFailure *failure)
{
  PetscFunctionBegin;
  PetscCall(Forget());
  PetscCall(Numeric(A, failure));
  if (failure->error == MAT_FACTOR_NOERROR && rows_ > 0) PetscCall(Check(A, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::ViewCheck(PetscViewer viewer) const
{
  PetscFunctionBegin;
  PetscCall(check_.View(viewer));
  if (KnownGood())
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "no probe: diagonal entries dominate their rows, and pivots are no smaller than %g of theirs\n", CroutReport::strong));
  if (probe_ > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "probe: %s\n", Words().c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix is this rank's block: so are the vectors that a step of refinement multiplies it by.
PetscErrorCode CroutFactor::SolveRefined(Vec b, Vec x, Transpose transpose)
{
  PetscMPIInt ranks;
  Vec rhs, solution;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)x), &ranks));
  if (ranks == 1) {
    PetscCall(check_.Solve(b, x, transpose, Apply()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecCreateLocalVector(b, &rhs));
  PetscCall(VecCreateLocalVector(x, &solution));
  PetscCall(VecGetLocalVectorRead(b, rhs));
  PetscCall(VecGetLocalVector(x, solution));
  PetscCall(check_.Solve(rhs, solution, transpose, Apply()));
  PetscCall(VecRestoreLocalVector(x, solution));
  PetscCall(VecRestoreLocalVectorRead(b, rhs));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::Solve(Vec b, Vec x, Transpose transpose)
{
  PetscFunctionBegin;
  if (check_.refined())
    PetscCall(SolveRefined(b, x, transpose));
  else
    PetscCall(SolveOnce(b, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::SolveOnce(Vec b, Vec x, Transpose transpose)
{
  PetscFunctionBegin;
  if (rows_ == 0) { // the norms that PETSc has kept of x end here as on all ranks: one that takes its own misses the next reduction
    PetscCall(PetscObjectStateIncrease((PetscObject)x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogGpuTimeBegin());
  if (execution_->memory() == Memory::host)
    PetscCall(SolveOnHost(b, x, transpose));
  else
    PetscCall(SolveOnDevice(b, x, transpose));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::SolveOnHost(Vec b, Vec x, Transpose transpose) const
{
  const PetscScalar *rhs;
  PetscScalar *solution;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &rhs));
  PetscCall(VecGetArrayWrite(x, &solution));
  PetscCall(Launch(ToKernel(rhs), ToKernel(solution), transpose, 1, rows_));
  PetscCall(VecRestoreArrayWrite(x, &solution));
  PetscCall(VecRestoreArrayRead(b, &rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the device, after what PETSc has launched and before what it will launch, also where its stream is another by now.
PetscErrorCode CroutFactor::SolveInOrder(const KernelScalar *rhs, KernelScalar *x, Transpose transpose, PetscInt nrhs, PetscInt ld) const
{
  void *stream;

  PetscFunctionBegin;
  PetscCall(CurrentStream(&stream));
  const bool same_stream = stream == execution_->stream();
  if (!same_stream) PetscCallCXX(Execution(Memory::device, stream).wait());
  PetscCall(Launch(rhs, x, transpose, nrhs, ld));
  if (!same_stream) PetscCallCXX(execution_->wait());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Vectors that are elsewhere (bound to the CPU) come and go through work vectors.
PetscErrorCode CroutFactor::SolveOnDevice(Vec b, Vec x, Transpose transpose) const
{
  VecArray rhs(b, Access::read), solution(x, Access::write);
  const PetscScalar *from;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(rhs.Open());
  PetscCall(solution.Open());
  const bool here = rhs.memory() == Memory::device && solution.memory() == Memory::device;
  if (here) PetscCall(SolveInOrder(rhs.data(), solution.data(), transpose, 1, rows_));
  PetscCall(solution.Close());
  PetscCall(rhs.Close());
  if (here) PetscFunctionReturn(PETSC_SUCCESS);

  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(work_[0], &to));
  PetscCall(PetscArraycpy(to, from, rows_));
  PetscCall(VecRestoreArrayWrite(work_[0], &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(SolveOnDevice(work_[0], work_[1], transpose));
  PetscCall(VecGetArrayRead(work_[1], &from));
  PetscCall(VecGetArrayWrite(x, &to));
  PetscCall(PetscArraycpy(to, from, rows_));
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(work_[1], &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactor::SolveMany(Mat B, Mat X, Transpose transpose)
{
  bool done;

  PetscFunctionBegin;
  if (rows_ == 0) { // as for a vector
    PetscCall(PetscObjectStateIncrease((PetscObject)X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(WithDenseArrays(
      B, X, [&](Memory memory) { return !check_.refined() && memory == execution_->memory(); },
      [&](Memory memory, const KernelScalar *rhs, KernelScalar *solution, int nrhs, Index ld) {
        return memory == Memory::device ? SolveInOrder(rhs, solution, transpose, nrhs, ld) : Launch(rhs, solution, transpose, nrhs, ld);
      },
      &done));
  if (!done) PetscCall(ForEachColumn(B, X, [&](Vec b, Vec x) { return Solve(b, x, transpose); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutFactorCreate(Mat A, const CroutSettings &settings, std::unique_ptr<CroutFactor> *factor)
{
  PetscBool sparse, dense;
  MatType type;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &sparse, MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ, ""));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQDENSE, &dense));
  PetscCheck(sparse || dense, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "crout factors no matrix of type %s", type);
  PetscCheck(sparse || settings.precision == PC_CROUT_DOUBLE, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "-pc_crout_precision single: the factors of dense matrices are in double precision");
  if (sparse)
    PetscCall(CroutFactorCreateSparse(settings, factor));
  else
    PetscCall(CroutFactorCreateDense(settings, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CroutHasNoEntry(Mat A, PetscBool *none)
{
  PetscBool dense;
  MatInfo info;

  PetscFunctionBegin;
  *none = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQDENSE, &dense));
  if (dense) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *none = PetscBool(info.nz_used == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
