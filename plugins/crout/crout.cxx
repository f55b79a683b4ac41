// PCCROUT: factors each rank's diagonal block, and says what was chosen for it.
#include <climits>

#include "crout/crout_impl.h"
#include "petsc/agreed.h"
#include "petsc/direct_check.h"
#include "petsc/finite_couplings.h"
#include "petsc/kokkos_start.h"
#include "petsc/petsc_arrays.hpp"
#include "petsc/refuse_solution.h"
#include "petsc/report_failure.h"
#include "types.h"

namespace weft {

namespace {

// ---------------------------------------------------------------------------------------------------------------------- set-up

PetscErrorCode CheckMatrix(Mat A)
{
  PetscBool known;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &known, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ,
                                          MATSEQDENSE, MATMPIDENSE, ""));
  PetscCheck(
      known, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "PCCROUT works on AIJ, BAIJ, SBAIJ and dense matrices and this one is of type %s: use -mat_type aij (-dm_mat_type aij), or give "
      "KSPSetOperators() an AIJ matrix as its second one",
      ((PetscObject)A)->type_name);
  PetscCall(MatCheckSquare(A, "PCCROUT"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A failure, on all ranks with the same arguments.
PetscErrorCode Report(PC pc, int reason, const char sentence[])
{
  PetscFunctionBegin;
  Data(pc)->failure = sentence;
  pc->failedreason = pc->failedreasonrank = static_cast<PCFailedReason>(reason); // the two lists are one
  PetscCall(PetscInfo(pc, "%s\n", sentence));
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), ErrorOfFailure(pc->failedreason), "%s", sentence);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A failure on any rank fails the PC on all of them; the first of these ranks says why.
PetscErrorCode Report(PC pc, const CroutFailure &failure)
{
  PC_Crout *crout = Data(pc);
  MPI_Comm comm   = PetscObjectComm((PetscObject)pc);
  PetscMPIInt rank, ranks, first;
  PetscInt start;
  char sentence[PETSC_MAX_PATH_LEN] = "";

  PetscFunctionBegin;
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscMPIInt failed = failure.error == MAT_FACTOR_NOERROR ? INT_MAX : rank;
  PetscCallMPI(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm));
  crout->failure.clear();
  pc->failedreason = pc->failedreasonrank = PC_NOERROR;
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);

  if (rank == first) {
    PetscCall(MatGetOwnershipRange(pc->pmat, &start, NULL));
    if (ranks == 1)
      PetscCall(PetscSNPrintf(sentence, sizeof(sentence), "%s", failure.sentence.c_str()));
    else
      PetscCall(PetscSNPrintf(sentence, sizeof(sentence),
                              "in the block of rank %d, which begins with row %" PetscInt_FMT " of the matrix: %s", (int)rank, start,
                              failure.sentence.c_str()));
  }
  PetscCallMPI(MPI_Bcast(sentence, sizeof(sentence), MPI_CHAR, first, comm));
  int reason = failure.error;
  PetscCallMPI(MPI_Bcast(&reason, 1, MPI_INT, first, comm));
  PetscCall(Report(pc, reason, sentence));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Factors that have all their fill want an order that makes it small; incomplete ones are best as they come, as often as not.
PetscErrorCode ChooseOrdering(PC pc)
{
  PC_Crout *crout        = Data(pc);
  MatOrderingType chosen = MATORDERINGNATURAL;

  PetscFunctionBegin;
  if (crout->settings.options.pattern == FillPattern::full) PetscCall(CroutFillReducingOrdering(&chosen));
  crout->ordered_by = crout->ordering == "auto" ? chosen : crout->ordering;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether L D L^T is to be made, and whether L D L^H: as the user says, or as the matrix says now.
PetscErrorCode WantsSymmetric(PC pc, bool *wants, bool *hermitian)
{
  const PC_Crout *crout = Data(pc);
  PetscBool known, symmetric, dense;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  *hermitian = IsKnownHermitian(pc->pmat);
  *wants     = crout->symmetric == PETSC_BOOL3_UNKNOWN ? (known && symmetric) || *hermitian : crout->symmetric == PETSC_BOOL3_TRUE;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (dense) *wants = false; // with rows exchanged the factors of a dense matrix are L U
  *hermitian = *hermitian && *wants;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Everything that was asked for, and what follows from it.
PetscErrorCode ChooseSettings(PC pc, CroutSettings *settings)
{
  const PC_Crout *crout = Data(pc);

  PetscFunctionBegin;
  *settings               = crout->settings;
  CroutOptions &options   = settings->options;
  const bool about_sweeps = options.sweeps > 0 || crout->tolerance > 0 || options.omega > 0 || options.sections > 0 || options.asynchronous;
  if (crout->method == PC_CROUT_METHOD_SWEEPS || (crout->method == PC_CROUT_METHOD_AUTO && about_sweeps))
    options.method = FactorMethod::sweeps;
  else if (crout->method == PC_CROUT_METHOD_EXACT)
    options.method = FactorMethod::exact;
  if (options.pattern == FillPattern::full && settings->solve == "auto") settings->solve = "levels"; // else it would be no direct solver
  if (crout->tolerance > 0) {
    options.stop      = SweepStop::residual;
    options.tolerance = crout->tolerance;
  } else if (options.sweeps > 0) {
    options.stop = SweepStop::sweeps;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Symbolic(PC pc, Mat block, bool symmetric, bool hermitian, CroutFailure *failure)
{
  PC_Crout *crout = Data(pc);
  CroutSettings settings;
  PetscBool dense, no_entry;
  IS rows = NULL, columns = NULL;

  PetscFunctionBegin;
  PetscCall(ChooseSettings(pc, &settings));
  settings.options.symmetric = crout->factored_symmetric = symmetric;
  settings.options.hermitian = crout->factored_hermitian = hermitian;
  crout->factor.reset();
  PetscCall(CroutFactorCreate(block, settings, &crout->factor));
  PetscCall(ChooseOrdering(pc));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)block, MATSEQDENSE, &dense));
  PetscCall(CroutHasNoEntry(block, &no_entry));
  if (!dense && !no_entry && crout->ordered_by != MATORDERINGNATURAL)
    PetscCall(MatGetOrdering(block, crout->ordered_by.c_str(), &rows, &columns));
  PetscCall(crout->factor->Symbolic(block, rows, settings.options.symmetric ? rows : columns, failure));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As KSP monitors print: of the first rank's block.
PetscErrorCode PrintSweeps(PC pc)
{
  const PC_Crout *crout = Data(pc);
  PetscInt count;
  const PetscReal *residuals;
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(PCCroutGetHistory_Crout(pc, &count, &residuals));
  for (PetscInt sweep = 0; sweep < count; sweep++)
    PetscCall(PetscPrintf(comm, "  %3d sweeps, residual of the factors %12.6e\n", (int)sweep, (double)residuals[sweep]));
  if (count == 0 && crout->factor) PetscCall(PetscPrintf(comm, "  no residuals of sweeps: %s\n", crout->factor->Made().c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A block a rank is made without the entries beside it, and the Krylov method would end in what they make of its vectors, or in convergence.
PetscErrorCode CheckCouplings(PC pc, CroutFailure *failure)
{
  PetscInt row;

  PetscFunctionBegin;
  PetscCall(RowOfCouplingNotFinite(pc->pmat, &row));
  if (row < 0) PetscFunctionReturn(PETSC_SUCCESS);
  failure->error = MAT_FACTOR_NUMERIC_ZEROPIVOT;
  failure->sentence =
      "row " + std::to_string(row) + " of the matrix has a value that is not finite beside this block: look at what the program puts there";
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Blocks lack what couples them, and each serves its own rows well: where what a row needs is in another block, factors amplify so much that norms of
// preconditioned residuals say nothing of what is left.
PetscErrorCode CheckBlocks(PC pc)
{
  constexpr PetscReal most = DirectCheck::most_amplified_by_parts;
  const auto apply         = [pc](Vec b, Vec x, Transpose) -> PetscErrorCode { return Data(pc)->factor->Solve(b, x, Transpose::no); };
  PetscMPIInt ranks;
  PetscReal amplified, backward;

  PetscFunctionBegin;
  Data(pc)->left = 0;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  if (ranks == 1 || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS); // the same on all ranks
  PetscCall(DirectCheck::MeasureAmplification(pc->pmat, Data(pc)->outside, apply, most, &amplified, &backward));
  Data(pc)->left = amplified;
  if (amplified <= most) PetscFunctionReturn(PETSC_SUCCESS); // NaN is not
  const std::string sentence =
      "the blocks of the ranks leave " + ShownNumber(amplified) +
      " times a random right-hand side: diagonals are small beside couplings to other ranks: take -pc_type lu, or fewer ranks";
  PetscCall(Report(pc, MAT_FACTOR_OTHER, sentence.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_Crout(PC pc)
{
  PC_Crout *crout = Data(pc);
  CroutFailure failure;
  Mat block;
  bool symmetric = false, hermitian = false;

  PetscFunctionBegin;
  PetscCall(CheckMatrix(pc->pmat));
  PetscCall(KokkosStart());
  PetscCall(MatGetDiagonalBlock(pc->pmat, &block));
  PetscCall(WantsSymmetric(pc, &symmetric, &hermitian));
  if (!pc->setupcalled || pc->flag != SAME_NONZERO_PATTERN || !crout->factor || pc->failedreason ||
      symmetric != crout->factored_symmetric || hermitian != crout->factored_hermitian)
    PetscCall(Symbolic(pc, block, symmetric, hermitian, &failure));
  if (failure.error == MAT_FACTOR_NOERROR) PetscCall(crout->factor->Factorize(block, &failure));
  if (failure.error != MAT_FACTOR_NOERROR && symmetric && crout->symmetric == PETSC_BOOL3_UNKNOWN &&
      crout->settings.options.pattern == FillPattern::full) {
    PetscCall(PetscInfo(pc, "L D L^%s: %s; L U is made, whose rows can be permuted\n", hermitian ? "H" : "T", failure.sentence.c_str()));
    failure = {};
    PetscCall(Symbolic(pc, block, false, false, &failure));
    if (failure.error == MAT_FACTOR_NOERROR) PetscCall(crout->factor->Factorize(block, &failure));
  }
  if (failure.error == MAT_FACTOR_NOERROR) PetscCall(CheckCouplings(pc, &failure));
  PetscCall(Report(pc, failure));
  PetscCall(CheckBlocks(pc));
  if (crout->monitor) PetscCall(PrintSweeps(pc));
  PetscCall(PCCroutTellOptions(pc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ----------------------------------------------------------------------------------------------------------------------- apply

template <Transpose transpose>
PetscErrorCode PCApply_Crout(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  if (pc->failedreason) // as MatSolve() does: nobody shall take this for a result
    PetscCall(VecFlag(x, 1));
  else
    PetscCall(Data(pc)->factor->Solve(b, x, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatApply_Crout(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  if (pc->failedreason)
    PetscCall(MatDenseSetFailed(X));
  else
    PetscCall(Data(pc)->factor->SolveMany(B, X, Transpose::no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Factors with all their fill are a direct solver of the matrix on one rank, and of blocks on several.
PetscErrorCode PCPostSolve_Crout(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_Crout *crout      = Data(pc);
  const PetscReal most = DirectCheck::BoundOf(crout->settings.check_fail, crout->settings.precision == PC_CROUT_SINGLE); // as of one block
  PetscBool dense;

  PetscFunctionBegin;
  PetscCall(RefuseNonFiniteSolution(pc, ksp, b, x));
  if (crout->left <= most || !IsPreonly(ksp) || !HasLastWord(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->pmat, MATMPIDENSE, &dense));
  if (!dense && crout->settings.options.pattern != FillPattern::full) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseSolution(ksp, "the blocks of the ranks are no direct solver of the whole matrix, as they couple (" +
                                    ShownNumber(crout->left) + " of a random right-hand side is left): take -ksp_type gmres, or one rank"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------- creation, the end

PetscErrorCode PCReset_Crout(PC pc)
{
  PetscFunctionBegin;
  Data(pc)->factor.reset();
  Data(pc)->outside = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_Crout(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCCroutComposeSetters(pc, false));
  delete Data(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCCroutGetHistory_Crout(PC pc, PetscInt *count, const PetscReal *residuals[])
{
  const CroutReport *report = Data(pc)->factor ? Data(pc)->factor->Report() : nullptr;

  PetscFunctionBegin;
  *count     = report ? (PetscInt)report->residuals.size() : 0;
  *residuals = report ? report->residuals.data() : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*MC
  PCCROUT - incomplete and complete LU and LDL^T factors of each rank's block by fixed-point Crout sweeps, on the host or on a GPU

  Options Database Keys:
+ -pc_crout_pattern (levels|threshold|full)               - where the factors have entries: those of ILU(k), the large ones, or all fill
. -pc_crout_levels <0>                                    - levels of fill, the k of ILU(k)
. -pc_crout_droptol <1e-3>                                - size below which entries are left out, relative to the mean of their row
. -pc_crout_row_quota <0>                                 - largest number of entries of a row in each triangle
. -pc_crout_most_operations <1e11>                        - largest number of multiplications for complete factors; 0 for any number
. -pc_crout_method (sweeps|exact|auto)                    - how the factors are found
. -pc_crout_sweeps <0>                                    - number of sweeps; 0 for as many as are needed
. -pc_crout_rtol <r>                                      - sweep until the residual of the factors is this small
. -pc_crout_omega <0>                                     - under-relaxation of the sweeps; 0 for 1, and for 0.5 if they grow
. -pc_crout_sections <0>                                  - blocks of rows that converge in order; 0 for one, and for more if needed
. -pc_crout_async (true|false)                            - sweep in place: fewer sweeps, but no two runs are the same
. -pc_crout_shift <0>                                     - add this fraction of the diagonal to it before factoring
. -pc_crout_check_warn <1e-10>                            - relative residual of a random solve above which complete factors are refined
. -pc_crout_check_fail <1e-4>                             - relative residual of a random solve above which complete factors fail
. -pc_crout_scaling (none|diagonal|ruiz)                  - scaling of rows and columns before factoring
. -pc_crout_ordering (auto|natural|rcm|amd|...)           - order of rows and columns
. -pc_crout_symmetric (true|false)                        - factor L D L^T; by default if the matrix says that it is symmetric
. -pc_crout_trisolve (jacobi|isai|levels|syncfree|auto)   - how the triangles are solved
. -pc_crout_trisolve_steps <0>                            - steps of jacobi; 0 for as many as a test on the factors asks for
. -pc_crout_precision (double|single)                     - precision of the factors; vectors stay as they are
- -pc_crout_monitor                                       - print the residuals of the sweeps

  Level: beginner

  Notes:
  On several ranks each rank factors its diagonal block, like `PCBJACOBI` with one block a rank. For more blocks, or blocks that overlap, use
  `PCBJACOBI` or `PCASM` with -sub_pc_type crout.

  Settings that you do not specify are chosen automatically and reported by -ksp_view: a permutation of rows if a diagonal entry is missing,
  zero or tiny; scaling; the number of sweeps; damping, sections and shifts if sweeps grow; and the triangular solves.

  Each set-up solves with a random right-hand side and measures the residual. If complete factors lose digits, they take a step of iterative
  refinement if that helps, or fail (`PCCroutSetCheck()`). If incomplete factors are useless, or have grown much larger than the matrix, the
  following are tried in this order: the triangles are solved exactly, rows are permuted to the largest product of the diagonal, all fill is
  taken if it is quickly made, the diagonal is shifted, and all fill is taken. If none of these helps, the set-up fails.

  The kernels run where the matrix is: on the host, or on the device for `MATAIJCUSPARSE`, `MATAIJHIPSPARSE` and `MATAIJKOKKOS`. By default the
  same input gives the same factors, bit by bit.

  If a factorization fails on any rank, the solve ends in `KSP_DIVERGED_PC_FAILED`. -info :pc says which row failed and what to do, and
  -ksp_error_if_not_converged makes it an error that says so.

.seealso: `MATSOLVERCROUT`, `PCILU`, `PCICC`, `PCLU`, `PCBJACOBI`, `PCASM`, `PCCroutSetPattern()`, `PCCroutSetLevels()`,
          `PCCroutSetDropTolerance()`, `PCCroutSetMostOperations()`, `PCCroutSetMethod()`, `PCCroutSetSweeps()`, `PCCroutSetTolerance()`, `PCCroutSetOmega()`,
          `PCCroutSetSections()`, `PCCroutSetAsynchronous()`, `PCCroutSetShift()`, `PCCroutSetCheck()`, `PCCroutSetScaling()`, `PCCroutSetOrdering()`,
          `PCCroutSetSymmetric()`, `PCCroutSetTriangularSolve()`, `PCCroutSetPrecision()`
M*/
PetscErrorCode PCCreate_Crout(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_Crout);
  pc->ops->setup          = weft::Together<weft::PCSetUp_Crout>;
  pc->ops->apply          = weft::Guarded<weft::PCApply_Crout<weft::Transpose::no>>;
  pc->ops->applytranspose = weft::Guarded<weft::PCApply_Crout<weft::Transpose::yes>>;
  pc->ops->postsolve      = weft::Guarded<weft::PCPostSolve_Crout>;
  pc->ops->matapply       = weft::Guarded<weft::PCMatApply_Crout>;
  pc->ops->setfromoptions = weft::Guarded<weft::PCSetFromOptions_Crout>;
  pc->ops->view           = weft::Guarded<weft::PCView_Crout>;
  pc->ops->reset          = weft::PCReset_Crout;
  pc->ops->destroy        = weft::PCDestroy_Crout;
  PetscCall(weft::PCCroutComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
