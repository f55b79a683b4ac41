// The MatSolverType "crout": PETSc's factorization interface over CroutFactor.
#include <petsc/private/matimpl.h>

#include "crout/factor.hpp"
#include "petsc/guarded.h"
#include "petsc/kokkos_start.h"
#include "petsc/report_failure.h"
#include "petsc/setters.h"
#include "types.h"

namespace weft {

namespace {

struct Mat_Crout {
  std::unique_ptr<CroutFactor> factor;
  MatFactorInfo info; ///< that the factors were asked for with
  IS rows = NULL, columns = NULL;
  PetscReal most_operations = crout_most_operations;
  bool numeric              = false; ///< there are values since the last symbolic factorization
  bool hermitian            = false; ///< Cholesky and ICC: L D L^H
};

Mat_Crout *FactorData(Mat F)
{
  return static_cast<Mat_Crout *>(F->data);
}

bool IsComplete(MatFactorType type)
{
  return type == MAT_FACTOR_LU || type == MAT_FACTOR_CHOLESKY;
}

bool IsSymmetric(MatFactorType type)
{
  return type == MAT_FACTOR_CHOLESKY || type == MAT_FACTOR_ICC;
}

PivotShift ShiftOf(const MatFactorInfo &info)
{
  switch ((int)info.shifttype) {
  case MAT_SHIFT_NONZERO:
    return PivotShift::nonzero;
  case MAT_SHIFT_POSITIVE_DEFINITE:
    return PivotShift::positive_definite;
  case MAT_SHIFT_INBLOCKS:
    return PivotShift::in_blocks;
  default:
    return PivotShift::none;
  }
}

// PETSc's default is so small that the kernels' own is better to begin with; a positive definite shift has no amount in PETSc either.
double ShiftAmountOf(const MatFactorInfo &info)
{
  if ((int)info.shifttype == MAT_SHIFT_POSITIVE_DEFINITE) return 1e-3;
  return info.shiftamount > 100 * PETSC_MACHINE_EPSILON ? info.shiftamount : 0;
}

// PETSc's own options, as the kernels know them.
CroutSettings SettingsOf(Mat F, const MatFactorInfo &info)
{
  CroutSettings settings;
  CroutOptions &options   = settings.options;
  options.symmetric       = IsSymmetric(F->factortype);
  options.hermitian       = FactorData(F)->hermitian;
  options.levels          = (int)info.levels;
  options.shift           = ShiftOf(info);
  options.shift_amount    = ShiftAmountOf(info);
  options.zero_pivot      = info.zeropivot;
  options.most_operations = FactorData(F)->most_operations;
  if (IsComplete(F->factortype)) {
    options.pattern = FillPattern::full;
  } else if (info.usedt != 0) {
    options.pattern        = FillPattern::threshold;
    options.drop_tolerance = info.dt;
    options.row_quota      = (Index)info.dtcount;
  }
  if (IsComplete(F->factortype)) settings.solve = "levels";
  return settings;
}

// The bounds of the check, by the prefix that PETSc gives the factors: that of their PC.
PetscErrorCode CheckFromOptions(Mat F, CroutSettings *settings)
{
  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Crout factors", "Mat");
  PetscCall(PetscOptionsReal("-pc_crout_check_warn",
                             "relative residual of a random solve above which it is reported and solves are refined", "PCCroutSetCheck",
                             settings->check_warn, &settings->check_warn, NULL));
  PetscCall(PetscOptionsReal("-pc_crout_check_fail", "relative residual of a random solve above which complete factors fail",
                             "PCCroutSetCheck", settings->check_fail, &settings->check_fail, NULL));
  PetscOptionsEnd();
  PetscCall(AcceptCheck(PetscObjectComm((PetscObject)F), "pc_crout", settings->check_warn, settings->check_fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The factors that are asked for, before they have a pattern.
PetscErrorCode CreateFactor(Mat F, Mat A, const MatFactorInfo &info)
{
  CroutSettings settings;

  PetscFunctionBegin;
  PetscCheck(info.levels <= most_levels_of_fill, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_factor_levels %" PetscInt_FMT ": levels of fill are from 0 to 60000", (PetscInt)info.levels);
  PetscCallCXX(settings = SettingsOf(F, info));
  if (IsComplete(F->factortype)) PetscCall(CheckFromOptions(F, &settings));
  PetscCall(CroutFactorCreate(A, settings, &FactorData(F)->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool SameOptions(const MatFactorInfo &a, const MatFactorInfo &b)
{
  return a.shifttype == b.shifttype && a.shiftamount == b.shiftamount && a.zeropivot == b.zeropivot;
}

// What a symmetric factorization takes the matrix for has changed: Hermitian or complex symmetric. PETSc forgets with new values which it was, so that
// nothing known changes nothing.
bool TakenForAnother(Mat F, Mat A)
{
  const bool known = A->hermitian != PETSC_BOOL3_UNKNOWN || A->symmetric == PETSC_BOOL3_TRUE;
  return IsSymmetric(F->factortype) && known && FactorData(F)->hermitian != IsKnownHermitian(A);
}

// PETSc's PCs look at a failed factor no more until the pattern of the matrix is another: LU and Cholesky forget a zero pivot, nothing else, and
// ILU and ICC forget nothing. As other values may be good ones, they are told of another pattern, by the counter that says so.
bool NeverForgotten(Mat F, MatFactorError error)
{
  return error != MAT_FACTOR_NOERROR && !(IsComplete(F->factortype) && error == MAT_FACTOR_NUMERIC_ZEROPIVOT);
}

// PETSc's flags, through which KSP hears of it; an error where the user wants one.
PetscErrorCode Report(Mat F, Mat A, const CroutFailure &failure)
{
  PetscFunctionBegin;
  if (NeverForgotten(F, failure.error)) A->nonzerostate++;
  F->factorerrortype           = failure.error;
  F->factorerror_zeropivot_row = failure.row;
  if (failure.error != MAT_FACTOR_NOERROR) {
    PetscCall(PetscInfo(F, "%s\n", failure.sentence.c_str()));
    PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), ErrorOfFailure(static_cast<PCFailedReason>(failure.error)), // one list
               "%s", failure.sentence.c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Numeric(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_Crout *data = FactorData(F);
  CroutFailure failure;

  PetscFunctionBegin;
  F->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT; // until the factors are whole: an error on the way leaves none to solve with
  const bool another = TakenForAnother(F, A);
  if (!SameOptions(*info, data->info) || another) { // PCFactorSetShiftType(), MatSetOption() and the like since then
    data->info = *info;
    if (another) data->hermitian = !data->hermitian;
    PetscCall(CreateFactor(F, A, *info));
    PetscCall(data->factor->Symbolic(A, data->rows, data->columns, &failure));
  }
  if (failure.error == MAT_FACTOR_NOERROR) PetscCall(data->factor->Factorize(A, &failure));
  data->numeric = true;
  PetscCall(Report(F, A, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Keep(IS *kept, IS given)
{
  PetscFunctionBegin;
  if (given) PetscCall(PetscObjectReference((PetscObject)given));
  PetscCall(ISDestroy(kept));
  *kept = given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Its own option. PETSc has given F the PC's prefix by now.
PetscErrorCode SetFromOptions(Mat F)
{
  PetscReal *const most = &FactorData(F)->most_operations;

  PetscFunctionBegin;
  PetscObjectOptionsBegin((PetscObject)F);
  PetscCall(PetscOptionsReal("-mat_crout_most_operations", "multiplications that complete factors may take; 0 for any number",
                             "MATSOLVERCROUT", *most, most, NULL));
  PetscOptionsEnd();
  PetscCheck(*most >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_crout_most_operations %g: a number of multiplications cannot be negative; 0 allows any", (double)*most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic(Mat F, Mat A, IS rows, IS columns, const MatFactorInfo *info)
{
  Mat_Crout *data = FactorData(F);
  CroutFailure failure;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "the solver type crout factors square matrices, and this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns",
             A->rmap->n, A->cmap->n);
  PetscCall(KokkosStart());
  PetscCall(SetFromOptions(F));
  data->info    = *info;
  data->numeric = false;
  PetscCall(Keep(&data->rows, rows));
  PetscCall(Keep(&data->columns, columns));
  PetscCall(CreateFactor(F, A, *info));
  PetscCall(data->factor->Symbolic(A, rows, columns, &failure));
  PetscCall(Report(F, A, failure));
  F->ops->lufactornumeric       = Guarded<Numeric>;
  F->ops->choleskyfactornumeric = Guarded<Numeric>;
  F->assembled                  = PETSC_TRUE; // -ksp_view looks into the factors only then
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SymbolicSymmetric(Mat F, Mat A, IS permutation, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(Symbolic(F, A, permutation, permutation, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckNumeric(Mat F)
{
  PetscFunctionBegin;
  PetscCheck(FactorData(F)->numeric, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONGSTATE,
             "these factors have a pattern and no values: call MatLUFactorNumeric() or MatCholeskyFactorNumeric() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Transpose transpose>
PetscErrorCode Solve(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(CheckNumeric(F));
  PetscCall(FactorData(F)->factor->Solve(b, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Transpose transpose>
PetscErrorCode SolveMany(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  if (F->factorerrortype) { // PETSc looks itself before MatSolve(), but not here
    PetscCall(MatDenseSetFailed(X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckNumeric(F));
  PetscCall(FactorData(F)->factor->SolveMany(B, X, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInertia(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  PetscFunctionBegin;
  PetscCheck(
      !PetscDefined(USE_COMPLEX) || FactorData(F)->hermitian, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
      "MatGetInertia() of complex symmetric factors: their pivots have no sign; those of a Hermitian matrix have one (MAT_HERMITIAN)");
  PetscCheck(!F->factorerrortype, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONGSTATE, "the factorization has failed");
  PetscCall(CheckNumeric(F));
  PetscCall(FactorData(F)->factor->GetInertia(negative, zero, positive));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetInfo(Mat F, MatInfoType, MatInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = 1;
  if (FactorData(F)->factor) PetscCall(FactorData(F)->factor->GetInfo(info));
  info->fill_ratio_given = FactorData(F)->info.fill;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode View(Mat F, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && FactorData(F)->factor) PetscCall(FactorData(F)->factor->View(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetSolverType(Mat, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERCROUT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Destroy(Mat F)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(ISDestroy(&FactorData(F)->rows));
  PetscCall(ISDestroy(&FactorData(F)->columns));
  delete FactorData(F);
  F->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode CroutFillReducingOrdering(MatOrderingType *ordering)
{
  PetscFunctionList known;
  void (*found)(void) = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetOrderingList(&known));
  PetscCall(PetscFunctionListFind(known, MATORDERINGAMD, &found));
  *ordering = found ? MATORDERINGAMD : MATORDERINGND;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*MC
  MATSOLVERCROUT = "crout" - LU, ILU(k), Cholesky and ICC of sequential matrices by fixed-point Crout sweeps, on the host or on a GPU

  It factors `MATSEQAIJ` and its CUDA, HIP and Kokkos forms, `MATSEQBAIJ`, `MATSEQSBAIJ` (Cholesky and ICC) and `MATSEQDENSE` (LU and
  Cholesky). On several ranks, use it through `PCBJACOBI` or `PCASM`.

  Options Database Keys:
+ -pc_type (lu|ilu|cholesky|icc)     - the factorization
. -pc_factor_mat_solver_type crout   - use this solver
. -pc_factor_levels <0>              - levels of fill of ILU and ICC
. -pc_factor_mat_ordering_type <o>   - order of rows and columns; the default for LU and Cholesky is amd if PETSc has it
. -pc_factor_shift_type (none|nonzero|positive_definite|inblocks) - what to do about a pivot that is too small
. -pc_factor_shift_amount <s>        - amount of the shift, relative to the scaled diagonal
. -pc_factor_zeropivot <z>           - size up to which a pivot counts as zero, relative to the sum of the magnitudes in its row
. -pc_factor_nonzeros_along_diagonal - permute the columns so that the diagonal has no zeros
. -mat_crout_most_operations <1e11>  - largest number of multiplications for LU and Cholesky factors; 0 for any number
. -pc_crout_check_warn <1e-10>       - LU, Cholesky: residual of a random solve above which refinement is tried
. -pc_crout_check_fail <1e-4>        - LU, Cholesky: residual of a random solve above which they fail
- -pc_factor_diagonal_fill           - no effect: a diagonal entry that is not stored always counts as zero

  Level: beginner

  Notes:
  With complex scalars, Cholesky and ICC are L D L^T of a symmetric matrix, without a conjugate, and L D L^H of one that is known to be
  Hermitian (`MAT_HERMITIAN`). Of both, only entries on and above the diagonal are read.

  Complete factors are those of the matrix: nothing is shifted unless an option says so. LU of a sparse matrix replaces a zero pivot by another
  number, and the check of the set-up then refines the solves or fails. Incomplete factors that fail or are useless climb the same ladder as
  those of `PCCROUT`. -ksp_view and -info say what was done.

  If a factorization fails, the solve ends in `KSP_DIVERGED_PC_FAILED`. -info :mat says which row failed and what to do.

  -pc_factor_in_place uses PETSc's own factors, because PETSc asks for no solver type then.

.seealso: `PCCROUT`, `PCLU`, `PCILU`, `PCCHOLESKY`, `PCICC`, `PCFactorSetMatSolverType()`, `MatSolverType`
M*/
PetscErrorCode MatGetFactor_Crout(Mat A, MatFactorType type, Mat *factor)
{
  using namespace weft;
  Mat F;
  MatOrderingType complete_order = MATORDERINGNATURAL;
  VecType vectors;
  PetscBool dense, no_entry = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERCROUT, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(MatSetVecType(F, vectors));
  PetscCallCXX(F->data = new Mat_Crout);
  PetscCall(MatFactorInfoInitialize(&FactorData(F)->info));
  FactorData(F)->hermitian = IsSymmetric(type) && IsKnownHermitian(A);

  F->ops->lufactorsymbolic       = Guarded<Symbolic>;
  F->ops->ilufactorsymbolic      = Guarded<Symbolic>;
  F->ops->choleskyfactorsymbolic = Guarded<SymbolicSymmetric>;
  F->ops->iccfactorsymbolic      = Guarded<SymbolicSymmetric>;
  F->ops->solve                  = Guarded<Solve<Transpose::no>>;
  F->ops->solvetranspose         = Guarded<Solve<Transpose::yes>>;
  F->ops->matsolve               = Guarded<SolveMany<Transpose::no>>;
  F->ops->matsolvetranspose      = Guarded<SolveMany<Transpose::yes>>;
  F->ops->getinertia             = type == MAT_FACTOR_CHOLESKY ? GetInertia : NULL;
  F->ops->getinfo                = Guarded<GetInfo>;
  F->ops->view                   = Guarded<View>;
  F->ops->destroy                = Destroy;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", GetSolverType));

  F->factortype   = type;
  F->preallocated = PETSC_TRUE;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQDENSE, &dense));
  F->canuseordering = PetscNot(dense); // PETSc finds no order of a dense matrix
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERCROUT, &F->solvertype));
  if (A->assembled) PetscCall(CroutHasNoEntry(A, &no_entry));
  if (!no_entry) PetscCall(CroutFillReducingOrdering(&complete_order));
  for (MatFactorType complete : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
    PetscCall(PetscStrallocpy(complete_order, (char **)&F->preferredordering[complete]));
  for (MatFactorType incomplete : {MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&F->preferredordering[incomplete]));
  *factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}
