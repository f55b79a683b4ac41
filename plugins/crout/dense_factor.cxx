// The factors of dense matrices: the dense method, section after section along the diagonal.
#include "crout/dense_crout.hpp"
#include "crout/factor.hpp"
#include "petsc/petsc_arrays.hpp"

namespace weft {

namespace {

class DenseFactor final : public CroutFactor {
public:
  explicit DenseFactor(const CroutSettings &settings) : CroutFactor(settings), settings_(settings.options) {}

  // All entries are there; orders of rows and columns are for sparse matrices.
  PetscErrorCode Symbolic(Mat A, IS rows, IS columns, CroutFailure *) override
  {
    PetscBool identity = PETSC_TRUE, too = PETSC_TRUE;

    PetscFunctionBegin;
    if (rows) PetscCall(ISIdentity(rows, &identity));
    if (columns) PetscCall(ISIdentity(columns, &too));
    PetscCall(MatGetLocalSize(A, &rows_, NULL));
    crout_.reset();
    if (!identity || !too) PetscCall(PetscInfo(A, "the order of a dense matrix is kept\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode View(PetscViewer viewer) const override
  {
    std::string method, made;

    PetscFunctionBegin;
    if (!crout_) {
      PetscCall(PetscViewerASCIIPrintf(viewer, "nothing factored\n"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallCXX(method = crout_->description() + " on the " + Where() + " (" + execution_->name() + ")");
    PetscCallCXX(made = crout_->report().text());
    PetscCall(PetscViewerASCIIPrintf(viewer, "L U of %" PetscInt_FMT " rows, %s\n", rows_, method.c_str()));
    PetscCall(PetscViewerASCIIPrintf(viewer, "factors: %s\n", made.c_str()));
    if (settings_.shift != PivotShift::none)
      PetscCall(PetscViewerASCIIPrintf(viewer, "-pc_factor_shift_type does nothing here: it is for sparse matrices\n"));
    if (settings_.zero_pivot >= 0 && settings_.zero_pivot != 100 * PETSC_MACHINE_EPSILON)
      PetscCall(PetscViewerASCIIPrintf(viewer, "-pc_factor_zeropivot does nothing here: it is for sparse matrices\n"));
    PetscCall(ViewCheck(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode GetInfo(MatInfo *info) const override
  {
    PetscFunctionBegin;
    info->nz_used = info->nz_allocated = (PetscLogDouble)rows_ * (PetscLogDouble)rows_;
    info->memory                       = info->nz_used * sizeof(PetscScalar);
    info->fill_ratio_needed            = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // The diagonal of L holds the pivots.
  PetscErrorCode GetInertia(PetscInt *negative, PetscInt *zero, PetscInt *positive) const override
  {
    PetscInt below = 0;

    PetscFunctionBegin;
    PetscCheck(!crout_ || execution_->memory() == Memory::host, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "MatGetInertia() of dense factors on a device: use -mat_type dense");
    for (PetscInt row = 0; crout_ && row < rows_; row++) below += real_part(crout_->factors()[row * (rows_ + (Index)1)]) < 0;
    if (negative) *negative = below;
    if (zero) *zero = 0; // factors with a zero pivot are refused
    if (positive) *positive = rows_ - below;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Numeric(Mat A, CroutFailure *failure) override
  {
    const PetscScalar *values;
    PetscMemType type;
    PetscInt lda;

    PetscFunctionBegin;
    if (rows_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatDenseGetLDA(A, &lda));
    PetscCall(MatDenseGetArrayReadAndMemType(A, &values, &type));
    const Memory memory = PetscMemTypeDevice(type) ? Memory::device : Memory::host;
    if (has_backend(memory)) PetscCall(FactorAt(A, memory, values, lda, failure));
    PetscCall(MatDenseRestoreArrayReadAndMemType(A, &values));
    if (has_backend(memory)) PetscFunctionReturn(PETSC_SUCCESS);

    // Only this libweft has no device: PETSc copies.
    PetscCall(MatDenseGetArrayRead(A, &values));
    PetscCall(FactorAt(A, Memory::host, values, lda, failure));
    PetscCall(MatDenseRestoreArrayRead(A, &values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool IsDense() const override { return true; }

  std::string Made() const override { return crout_ ? crout_->report().text() : "nothing factored"; }

  // Fewer sweeps than the factors need make a preconditioner.
  bool Direct() const override { return settings_.sweeps == 0 && settings_.stop != SweepStop::residual; }

  PetscErrorCode FactorAt(Mat A, Memory memory, const PetscScalar *values, PetscInt lda, CroutFailure *failure)
  {
    PetscFunctionBegin;
    if (!crout_ || execution_->memory() != memory) {
      crout_.reset();
      PetscCall(Place(A, memory));
      PetscCall(CroutAttempt([&] { crout_ = DenseCrout<KernelScalar>::make(*execution_, rows_, Options()); }, failure));
    }
    if (failure->error == MAT_FACTOR_NOERROR) PetscCall(CroutAttempt([&] { crout_->factor(ToKernel(values), lda); }, failure));
    if (failure->error != MAT_FACTOR_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
    const DenseCroutReport &report = crout_->report();
    using Failure                  = DenseCroutReport::Failure;
    if (report.failure == Failure::none) PetscFunctionReturn(PETSC_SUCCESS);
    failure->error    = MAT_FACTOR_NUMERIC_ZEROPIVOT; // also of values that are not finite: see the sparse factors
    failure->row      = (PetscInt)report.row;
    failure->sentence = report.text();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Launch(const KernelScalar *rhs, KernelScalar *x, Transpose transpose, PetscInt nrhs, PetscInt ld) const override
  {
    PetscFunctionBegin;
    PetscCallCXX(crout_->solve(rhs, x, transpose, (int)nrhs, ld));
    PetscCall(LogFlops(execution_->memory(), 2.0 * (double)nrhs * (double)rows_ * (double)rows_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // What has a meaning for dense matrices too.
  DenseCroutOptions Options() const
  {
    DenseCroutOptions options;
    if (settings_.sections > 0) options.section = (rows_ + settings_.sections - 1) / settings_.sections;
    if (settings_.stop == SweepStop::residual) {
      options.stop      = DenseCroutOptions::Stop::residual;
      options.tolerance = settings_.tolerance;
      options.relative  = true;
    }
    options.most_sweeps = settings_.sweeps;
    options.pivot       = !settings_.symmetric;
    return options;
  }

  CroutOptions settings_;
  Owner<DenseCrout<KernelScalar>> crout_;
};

} // namespace

PetscErrorCode CroutFactorCreateDense(const CroutSettings &settings, std::unique_ptr<CroutFactor> *factor)
{
  PetscFunctionBegin;
  PetscCallCXX(*factor = std::make_unique<DenseFactor>(settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
