static char help[] = "Holds a MatSolverType (-solver, -factor) against PETSc's own and against the matrix, which -matrix_type says how to store.\n\
  -probe solve    : x of all solves against PETSc's factors, and residuals\n\
  -probe inertia  : MatGetInertia() of an indefinite matrix against PETSc's\n\
  -probe refactor : new values of the same pattern, against a fresh factorization\n\
  -probe pattern  : a KSP whose matrix gets new nonzeros between its solves\n\
  -probe early    : what MatSolve() says of factors that have a pattern and no values\n\
  -probe swap     : factors of one matrix are asked to take another, of the same size and nonzero state\n\
  -probe options  : a KSP that is told -pc_crout_pattern full between its solves; PCMatApply() against PCApply()\n\
  -probe bad      : a KSP whose matrix is -bad, and what it says\n\n";

#include <petscksp.h>

typedef struct {
  Mat A;
  Vec b, x, y;
  PetscRandom random;
  PetscInt n;
  PetscBool symmetric, indefinite;
  char solver[32];
  MatFactorType factor;
} Probe;

/* Random entries in `width` places beside the diagonal, the same places for the same seed. */
static PetscErrorCode Fill(Probe *p, Mat A, PetscInt seed)
{
  PetscInt i, k, n = p->n;

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  for (i = 0; i < n; i++) {
    PetscReal diagonal = p->indefinite && i % 3 == 1 ? -7.0 : 7.0;
    PetscCall(MatSetValue(A, i, i, diagonal + 0.01 * i / n, ADD_VALUES));
    for (k = 1; k <= 3; k++) {
      PetscInt j = (i + k * k * seed + k) % n;
      PetscReal value;
      PetscCall(PetscRandomGetValueReal(p->random, &value));
      if (j == i) continue;
      PetscCall(MatSetValue(A, i, j, value, ADD_VALUES));
      if (p->symmetric) PetscCall(MatSetValue(A, j, i, value, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode NewMatrix(Probe *p, PetscInt seed, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, p->n, p->n, p->n, p->n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 13, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(p, *A, seed));
  if (p->symmetric) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* As the PCs that factor do. */
static PetscErrorCode Factor(Probe *p, Mat A, const char solver[], Mat *F)
{
  MatFactorInfo info;
  MatOrderingType ordering = MATORDERINGNATURAL;
  char name[32];
  IS rows, columns;
  PetscBool set;
  PetscInt levels = 0;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-levels", &levels, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ordering", name, sizeof(name), &set));
  if (set) ordering = name;
  info.levels = levels;
  info.fill   = 5;
  PetscCall(MatGetFactor(A, solver, p->factor, F));
  PetscCall(MatGetOrdering(A, ordering, &rows, &columns));
  switch (p->factor) {
  case MAT_FACTOR_LU:
    PetscCall(MatLUFactorSymbolic(*F, A, rows, columns, &info));
    PetscCall(MatLUFactorNumeric(*F, A, &info));
    break;
  case MAT_FACTOR_ILU:
    PetscCall(MatILUFactorSymbolic(*F, A, rows, columns, &info));
    PetscCall(MatLUFactorNumeric(*F, A, &info));
    break;
  case MAT_FACTOR_CHOLESKY:
    PetscCall(MatCholeskyFactorSymbolic(*F, A, rows, &info));
    PetscCall(MatCholeskyFactorNumeric(*F, A, &info));
    break;
  default:
    PetscCall(MatICCFactorSymbolic(*F, A, rows, &info));
    PetscCall(MatCholeskyFactorNumeric(*F, A, &info));
  }
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Difference(const char name[], Vec a, Vec b)
{
  PetscReal size, difference;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecAXPY(a, -1.0, b));
  PetscCall(VecNorm(a, NORM_2, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s difference %.3e\n", name, (double)(difference / size)));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeSolve(Probe *p)
{
  Mat A = p->A, F, G, B, X;
  Vec column, r;
  MatInfo info;
  PetscInt k;
  PetscScalar forward, backward;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->b, &r));
  PetscCall(Factor(p, A, p->solver, &F));
  PetscCall(MatSolve(F, p->b, p->x));
  PetscCall(MatMult(A, p->x, r));
  PetscCall(Difference("residual", r, p->b));
  PetscCall(MatSolveTranspose(F, p->b, p->y));
  PetscCall(MatMultTranspose(A, p->y, r));
  PetscCall(Difference("transposed residual", r, p->b));

  /* <F^-1 b, c> = <b, F^-T c> */
  PetscCall(VecSetRandom(r, p->random));
  PetscCall(VecDot(p->x, r, &forward));
  PetscCall(MatSolveTranspose(F, r, p->y));
  PetscCall(VecDot(p->b, p->y, &backward));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "adjoint difference %.3e\n", (double)PetscAbsScalar((forward - backward) / forward)));

  PetscCall(Factor(p, A, MATSOLVERPETSC, &G));
  PetscCall(MatSolve(G, p->b, r));
  PetscCall(VecCopy(p->x, p->y));
  PetscCall(Difference("PETSc's", p->y, r));
  PetscCall(MatDestroy(&G));

  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p->n, 5, NULL, &B));
  PetscCall(MatSetRandom(B, p->random));
  PetscCall(MatDenseGetColumnVecWrite(B, 3, &column));
  PetscCall(VecCopy(p->b, column));
  PetscCall(MatDenseRestoreColumnVecWrite(B, 3, &column));
  for (k = 0; k < 3; k++) { /* columns without gaps; columns with gaps; transposed */
    PetscCall(MatCreate(PETSC_COMM_SELF, &X));
    PetscCall(MatSetSizes(X, p->n, 5, p->n, 5));
    PetscCall(MatSetType(X, MATSEQDENSE));
    PetscCall(MatDenseSetLDA(X, k == 1 ? p->n + 3 : p->n));
    PetscCall(MatSeqDenseSetPreallocation(X, NULL));
    if (k == 2) {
      PetscCall(MatSolveTranspose(F, p->b, r));
      PetscCall(MatMatSolveTranspose(F, B, X));
    } else {
      PetscCall(VecCopy(p->x, r));
      PetscCall(MatMatSolve(F, B, X));
    }
    PetscCall(MatDenseGetColumnVecRead(X, 3, &column));
    PetscCall(VecCopy(column, p->y));
    PetscCall(MatDenseRestoreColumnVecRead(X, 3, &column));
    PetscCall(Difference(k == 0 ? "MatMatSolve" : k == 1 ? "MatMatSolve with gaps" : "MatMatSolveTranspose", p->y, r));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(MatDestroy(&B));

  PetscCall(MatSolveAdd(F, p->b, p->b, p->y));
  PetscCall(VecAXPY(p->y, -1.0, p->b));
  PetscCall(Difference("MatSolveAdd", p->y, p->x));

  for (k = 0; k < 2; k++) { /* the same bits again */
    PetscCall(MatSolve(F, p->b, p->y));
  }
  PetscCall(VecAXPY(p->y, -1.0, p->x));
  PetscCall(VecNorm(p->y, NORM_INFINITY, &forward));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "repeat difference %.3e\n", (double)forward));
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "nz_used %g fill given %g needed %g\n", info.nz_used, info.fill_ratio_given, info.fill_ratio_needed));
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_SELF, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(F, PETSC_VIEWER_STDOUT_SELF));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_SELF));
  PetscCall(MatDestroy(&F));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeInertia(Probe *p)
{
  Mat F;
  const char *const solvers[] = {p->solver, MATSOLVERPETSC};
  PetscInt negative, zero, positive, k;

  PetscFunctionBeginUser;
  for (k = 0; k < 2; k++) {
    PetscCall(Factor(p, p->A, solvers[k], &F));
    PetscCall(MatGetInertia(F, &negative, &zero, &positive));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s inertia %d %d %d\n", solvers[k], (int)negative, (int)zero, (int)positive));
    PetscCall(MatDestroy(&F));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeRefactor(Probe *p)
{
  Mat F, G;
  MatFactorInfo info;
  PetscInt k;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(Factor(p, p->A, p->solver, &F));
  for (k = 0; k < 3; k++) {
    PetscCall(MatSolve(F, p->b, p->x));
    PetscCall(Fill(p, p->A, 1));
    PetscCall(MatLUFactorNumeric(F, p->A, &info));
    PetscCall(MatSolve(F, p->b, p->y));
    PetscCall(Difference("old values", p->x, p->y));
  }
  PetscCall(Factor(p, p->A, p->solver, &G));
  PetscCall(MatSolve(G, p->b, p->x));
  PetscCall(Difference("refactor", p->x, p->y));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeSwap(Probe *p)
{
  Mat F, G, B;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(NewMatrix(p, 2, &B));
  PetscCall(Factor(p, p->A, p->solver, &F));
  PetscCall(MatLUFactorNumeric(F, B, &info));
  PetscCall(MatSolve(F, p->b, p->x));
  PetscCall(Factor(p, B, p->solver, &G));
  PetscCall(MatSolve(G, p->b, p->y));
  PetscCall(Difference("swap", p->x, p->y));
  PetscCall(MatDestroy(&F));
  PetscCall(Factor(p, p->A, p->solver, &F));
  PetscCall(MatHeaderReplace(p->A, &B));
  PetscCall(MatLUFactorNumeric(F, p->A, &info));
  PetscCall(MatSolve(F, p->b, p->x));
  PetscCall(Difference("replaced", p->x, p->y));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&G));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Report(KSP ksp)
{
  PC pc;
  KSPConvergedReason reason;
  PCFailedReason failed;
  PetscInt iterations;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s %s after %d iterations\n", KSPConvergedReasons[reason], PCFailedReasons[failed], (int)iterations));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbePattern(Probe *p)
{
  KSP ksp;
  PetscInt i;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, p->A, p->A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(Report(ksp));
  for (i = 0; i + 9 < p->n; i += 2) PetscCall(MatSetValue(p->A, i, i + 9, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(Report(ksp));
  PetscCall(MatMult(p->A, p->x, p->y));
  PetscCall(Difference("pattern", p->y, p->b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ApplyToMany(Probe *p, KSP ksp)
{
  PC pc;
  Mat B, X;
  Vec column;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p->n, 6, NULL, &B));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatSetRandom(B, p->random));
  PetscCall(PCMatApply(pc, B, X));
  PetscCall(MatDenseGetColumnVecRead(B, 4, &column));
  PetscCall(PCApply(pc, column, p->x));
  PetscCall(MatDenseRestoreColumnVecRead(B, 4, &column));
  PetscCall(MatDenseGetColumnVecRead(X, 4, &column));
  PetscCall(VecCopy(column, p->y));
  PetscCall(MatDenseRestoreColumnVecRead(X, 4, &column));
  PetscCall(Difference("PCMatApply", p->y, p->x));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeOptions(Probe *p)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, p->A, p->A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(Report(ksp));
  PetscCall(ApplyToMany(p, ksp));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_crout_pattern", "full"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(Report(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeBad(Probe *p)
{
  const char *const kinds[] = {"none", "singular", "zero_diagonal", "missing_diagonal", "empty_row", "empty_column", "nan", "inf", "rectangular", "neumann"};
  PetscInt kind = 0, n = p->n, columns = p->n, i, j, middle = p->n / 2;
  KSP ksp;
  Mat A;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-bad", kinds, 10, &kind, NULL));
  if (kind == 8) columns++;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, columns, 5, NULL, &A));
  for (i = 0; i < n; i++) { /* tridiagonal, and a column in the middle */
    PetscReal diagonal = 4.0;
    if (i == middle && (kind == 2 || kind == 1)) diagonal = 0.0;
    if (kind == 9) diagonal = (i > 0) + (i < n - 1); /* the last pivot is zero */
    if (i == middle && kind == 6) diagonal = NAN;
    if (i == middle && kind == 7) diagonal = INFINITY;
    for (j = i - 1; j <= i + 1; j++) {
      if (j < 0 || j >= n) continue;
      if (i == middle && kind == 4) continue;
      if (j == middle && kind == 5) continue;
      if (j == i && i == middle && kind == 3) continue;
      PetscCall(MatSetValue(A, i, j, j == i ? diagonal : kind == 1 && i == middle ? 0.0 : -1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Report(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeEarly(Probe *p)
{
  MatFactorInfo info;
  IS rows, columns;
  Mat F;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 5;
  PetscCall(MatGetFactor(p->A, p->solver, MAT_FACTOR_LU, &F));
  PetscCall(MatGetOrdering(p->A, MATORDERINGNATURAL, &rows, &columns));
  PetscCall(MatLUFactorSymbolic(F, p->A, rows, columns, &info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatSolve(F, p->b, p->x));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Probe p;
  const char *const probes[]                = {"solve", "inertia", "refactor", "pattern", "swap", "options", "bad", "early"};
  PetscErrorCode (*const run[])(Probe *) = {ProbeSolve, ProbeInertia, ProbeRefactor, ProbePattern, ProbeSwap, ProbeOptions, ProbeBad, ProbeEarly};
  const char *const factors[]               = {"lu", "cholesky", "ilu", "icc"};
  PetscInt which = 0, factor = 2;
  char type[32];
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  p.n = 50;
  p.symmetric = p.indefinite = PETSC_FALSE;
  PetscCall(PetscStrncpy(p.solver, "crout", sizeof(p.solver)));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-probe", probes, 8, &which, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-factor", factors, 4, &factor, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solver", p.solver, sizeof(p.solver), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-indefinite", &p.indefinite, NULL));
  p.symmetric = factor % 2 ? PETSC_TRUE : PETSC_FALSE;
  p.factor    = (MatFactorType)(factor + 1);
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &p.random));
  PetscCall(PetscRandomSetInterval(p.random, -1.0, 1.0));
  PetscCall(NewMatrix(&p, 1, &p.A));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix_type", type, sizeof(type), &set));
  if (set) PetscCall(MatConvert(p.A, type, MAT_INPLACE_MATRIX, &p.A));
  PetscCall(MatCreateVecs(p.A, &p.x, &p.b));
  PetscCall(VecDuplicate(p.x, &p.y));
  PetscCall(VecSetRandom(p.b, p.random));
  PetscCall(run[which](&p));
  PetscCall(PetscRandomDestroy(&p.random));
  PetscCall(VecDestroy(&p.b));
  PetscCall(VecDestroy(&p.x));
  PetscCall(VecDestroy(&p.y));
  PetscCall(MatDestroy(&p.A));
  PetscCall(PetscFinalize());
  return 0;
}
