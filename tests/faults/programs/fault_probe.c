static char help[] = "A program that makes one mistake, with a KSP from options: the equation of diffusion on a grid of n x n nodes, and\n\
  -fault none\n\
  -fault zero_row        : the last row of the matrix is zero but for its place\n\
  -fault nan_matrix      : its diagonal is not a number\n\
  -fault nan_rhs         : the last entry of the right-hand side is not a number\n\
  -fault grid_size       : the PC's DM has a row of nodes more than the matrix\n\
  -fault grid_kind       : the PC's DM is a shell\n\
  -fault no_grid         : the matrix knows no DM, and the PC has none\n\
  -fault vector_size     : the right-hand side is shorter than the matrix\n\
  -fault layout          : the last rank has more columns than rows\n\
  -fault unassembled     : the matrix was never assembled\n\
  -fault pattern         : a second matrix has entries more, and a third fewer; the solutions are compared with those of fresh KSPs\n\
  -fault late_unassembled: values are set between two solves and not assembled\n\
Prints how each solve ended, and how one ends that has the right matrix again. -rounds <n> repeats the first solve, -heartbeat says\n\
so at each; -headroom <MiB> lets the process take so much memory more than it has before that solve, and no more, -device_headroom <MiB> the\n\
same on a device. -refuse (with libfail_allocation preloaded) refuses each allocation of that solve in turn, each in a process of its\n\
own, and counts how these end.\n";

#define _GNU_SOURCE
#include <dlfcn.h>
#include <petscdmda.h>
#include <petscdmshell.h>
#include <petscksp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum {
  NONE,
  ZERO_ROW,
  NAN_MATRIX,
  NAN_RHS,
  GRID_SIZE,
  GRID_KIND,
  NO_GRID,
  VECTOR_SIZE,
  LAYOUT,
  UNASSEMBLED,
  PATTERN,
  LATE_UNASSEMBLED
} Fault;
static const char *const faults[] = {"none",      "zero_row",         "nan_matrix",  "nan_rhs", "grid_size",
                                     "grid_kind", "no_grid",          "vector_size", "layout",  "unassembled",
                                     "pattern",   "late_unassembled", "Fault",       "",        NULL};

/* Five points with a little reaction. `more` is a coupling within the stencil of each node to its right neighbour, and 0 leaves it out. */
static PetscErrorCode Fill(DM da, Mat A, PetscScalar more)
{
  DMDALocalInfo grid;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &grid));
  PetscCall(MatZeroEntries(A));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++) {
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      MatStencil row = {0}, column[5] = {{0}};
      PetscScalar value[5];
      PetscInt count = 0;

      row.i = i, row.j = j;
      column[count].i = i, column[count].j = j, value[count++] = 4.5;
      if (j > 0) column[count].i = i, column[count].j = j - 1, value[count++] = -1.0;
      if (j < grid.my - 1) column[count].i = i, column[count].j = j + 1, value[count++] = -1.0;
      if (i > 0 && more != 0.0) column[count].i = i - 1, column[count].j = j, value[count++] = -more;
      if (i < grid.mx - 1 && more != 0.0) column[count].i = i + 1, column[count].j = j, value[count++] = -more;
      PetscCall(MatSetValuesStencil(A, 1, &row, count, column, value, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* A matrix that stores only what Fill() sets. */
static PetscErrorCode NewMatrix(DM da, PetscScalar more, Mat *A)
{
  Vec x;
  PetscInt rows;
  ISLocalToGlobalMapping map;
  PetscInt dim, start[3], size[3];
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(VecDestroy(&x));
  PetscCall(DMGetMatType(da, &type));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)da), A));
  PetscCall(MatSetSizes(*A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(DMGetLocalToGlobalMapping(da, &map));
  PetscCall(MatSetLocalToGlobalMapping(*A, map, map));
  PetscCall(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  PetscCall(DMGetDimension(da, &dim));
  PetscCall(MatSetStencil(*A, dim, size, start, 1));
  PetscCall(MatSetDM(*A, da));
  PetscCall(Fill(da, *A, more));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The last row gets `diagonal` and nothing else. */
static PetscErrorCode SpoilLastRow(Mat A, PetscScalar diagonal)
{
  PetscInt rows, start, end, last;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  last = rows - 1;
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(A, end == rows ? 1 : 0, &last, 0.0, NULL, NULL));
  if (end == rows) PetscCall(MatSetValue(A, last, last, diagonal, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode NewSolver(DM da, Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  if (da) PetscCall(PCSetDM(pc, da)); /* of the preconditioner alone: a KSP would make its matrix from it */
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Solve(const char *name, KSP ksp, Vec b, Vec x)
{
  KSPConvergedReason reason;
  PCFailedReason failure;
  PC pc;
  PetscInt iterations;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0.0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failure));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s %s iterations %d solution %.10e\n", name, KSPConvergedReasons[reason],
                        PCFailedReasons[failure], (int)iterations, (double)norm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The solver of another matrix, given to a KSP that has one, and to a fresh one. */
static PetscErrorCode SolveAnother(const char *name, DM da, KSP ksp, PetscScalar more, Vec b, Vec x)
{
  Mat A;
  Vec y;
  KSP fresh;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(NewMatrix(da, more, &A));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve(name, ksp, b, x));
  PetscCall(NewSolver(da, A, &fresh));
  PetscCall(Solve("fresh", fresh, b, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s difference %.3e\n", name, (double)(difference / norm)));
  PetscCall(KSPDestroy(&fresh));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* A matrix for the last rank's sake: one column more than rows there, or nothing assembled at all. */
static PetscErrorCode NewBadMatrix(DM da, Fault fault, Mat *A)
{
  Vec x;
  PetscInt rows, start, end;
  PetscMPIInt rank, ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(VecDestroy(&x));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, rows, rows + (fault == LAYOUT && rank == ranks - 1), PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL,
                         0, NULL, A));
  PetscCall(MatSetDM(*A, da));
  if (fault == UNASSEMBLED) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (; start < end; start++) PetscCall(MatSetValue(*A, start, start, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The first thing that the solve allocates beyond `headroom` MiB is refused. */
static PetscErrorCode LimitMemory(PetscInt headroom)
{
  struct rlimit limit;
  unsigned long pages;
  FILE *file;

  PetscFunctionBeginUser;
  if (headroom < 0) PetscFunctionReturn((PetscErrorCode)0);
  file = fopen("/proc/self/statm", "r");
  PetscCheck(file && fscanf(file, "%lu", &pages) == 1, PETSC_COMM_SELF, PETSC_ERR_SYS, "no /proc/self/statm");
  fclose(file);
  PetscCheck(!getrlimit(RLIMIT_AS, &limit), PETSC_COMM_SELF, PETSC_ERR_SYS, "no limit is known");
  limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)headroom << 20);
  PetscCheck(!setrlimit(RLIMIT_AS, &limit), PETSC_COMM_SELF, PETSC_ERR_SYS, "no limit can be set");
  PetscFunctionReturn((PetscErrorCode)0);
}

#if defined(PETSC_HAVE_HIP)
#define OF_RUNTIME(name) "hip" name
#else
#define OF_RUNTIME(name) "cuda" name
#endif

/* Takes the memory of the device but for `headroom` MiB. The runtime is the one that PETSc was linked with. */
static PetscErrorCode LimitDeviceMemory(PetscInt headroom)
{
  int (*get_info)(size_t *, size_t *) = (int (*)(size_t *, size_t *))(intptr_t)dlsym(RTLD_DEFAULT, OF_RUNTIME("MemGetInfo"));
  int (*allocate)(void **, size_t)    = (int (*)(void **, size_t))(intptr_t)dlsym(RTLD_DEFAULT, OF_RUNTIME("Malloc"));
  int (*forget_error)(void)           = (int (*)(void))(intptr_t)dlsym(RTLD_DEFAULT, OF_RUNTIME("GetLastError"));
  size_t free, total;
  void *taken;

  PetscFunctionBeginUser;
  if (headroom < 0) PetscFunctionReturn((PetscErrorCode)0);
  PetscCheck(get_info && allocate && forget_error, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "this PETSc has no device");
  for (size_t piece = (size_t)1 << 40; piece >= (size_t)1 << 20; piece /= 2) {
    PetscCheck(!get_info(&free, &total), PETSC_COMM_SELF, PETSC_ERR_GPU, "the device does not tell its memory");
    if (free >= piece + ((size_t)headroom << 20) && allocate(&taken, piece)) (void)forget_error();
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Silent(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode error, PetscErrorType type,
                             const char *message, void *context)
{
  (void)comm, (void)line, (void)function, (void)file, (void)type, (void)message, (void)context;
  return error;
}

/* How a solve ends in a child whose allocation of this number is refused: an exit code of 0 (solved or failed, told by KSP), 1 (a PETSc
   error), 2 (nothing was refused); or a signal. */
static PetscErrorCode EndOfChild(long number, KSP ksp, Vec b, Vec x, int *status)
{
  long (*fail)(long) = (long (*)(long))(intptr_t)dlsym(RTLD_DEFAULT, "weft_fail_allocation");
  pid_t child;

  PetscFunctionBeginUser;
  PetscCheck(fail, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "preload libfail_allocation.so");
  child = fork();
  if (child == 0) {
    PetscErrorCode error;
    alarm(20);
    (void)PetscPushErrorHandler(Silent, NULL);
    (void)fail(number);
    error = KSPSolve(ksp, b, x);
    _exit(fail(0) ? 2 : error ? 1 : 0);
  }
  PetscCheck(child > 0 && waitpid(child, status, 0) == child, PETSC_COMM_SELF, PETSC_ERR_SYS, "no child");
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode RefuseEach(DM da, Mat A, KSP ksp, Vec b, Vec x)
{
  int status, told = 0, errors = 0, signals = 0;
  KSP first;

  PetscFunctionBeginUser;
  PetscCall(NewSolver(da, A, &first)); /* Kokkos makes its own room in a first solve, and ends the program where it gets none */
  PetscCall(KSPSolve(first, b, x));
  PetscCall(KSPDestroy(&first));
  for (long number = 1;; number++) {
    PetscCall(EndOfChild(number, ksp, b, x, &status));
    if (WIFSIGNALED(status)) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "allocation %ld refused: signal %d\n", number, WTERMSIG(status)));
      signals++;
    } else if (WEXITSTATUS(status) == 2)
      break;
    else if (WEXITSTATUS(status) == 1)
      errors++;
    else
      told++;
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "refused: %d, told by PETSc's error %d, by KSP's reason %d, killed %d\n", told + errors + signals,
                        errors, told, signals));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  DM da, other = NULL;
  Mat A;
  Vec b, x;
  KSP ksp;
  PetscInt n = 12, rounds = 1, headroom = -1, device_headroom = -1;
  Fault fault      = NONE;
  PetscBool refuse = PETSC_FALSE, heartbeat = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &rounds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-headroom", &headroom, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-device_headroom", &device_headroom, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-fault", faults, (PetscEnum *)&fault, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                         NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  if (fault == LAYOUT || fault == UNASSEMBLED)
    PetscCall(NewBadMatrix(da, fault, &A));
  else
    PetscCall(NewMatrix(da, 1.0, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(VecDuplicate(b, &x));
  if (fault == GRID_SIZE) {
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n + 1, PETSC_DECIDE, PETSC_DECIDE, 1,
                           1, NULL, NULL, &other));
    PetscCall(DMSetUp(other));
  } else if (fault == GRID_KIND) {
    PetscCall(DMShellCreate(PETSC_COMM_WORLD, &other));
  }
  if (other || fault == NO_GRID) PetscCall(MatSetDM(A, NULL));
  if (fault == ZERO_ROW) PetscCall(SpoilLastRow(A, 0.0));
  if (fault == NAN_MATRIX) PetscCall(SpoilLastRow(A, (PetscScalar)NAN));
  if (fault == NAN_RHS) {
    PetscInt last;
    PetscCall(VecGetSize(b, &last));
    PetscCall(VecSetValue(b, last - 1, (PetscScalar)NAN, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
  }
  if (fault == VECTOR_SIZE) {
    PetscInt rows;
    PetscCall(VecGetLocalSize(b, &rows));
    PetscCall(VecDestroy(&b));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rows - 1, PETSC_DETERMINE, &b));
    PetscCall(VecSet(b, 1.0));
  }
  PetscCall(NewSolver(fault == NO_GRID ? NULL : other ? other : da, A, &ksp));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refuse", &refuse));
  if (refuse) {
    PetscCall(RefuseEach(da, A, ksp, b, x));
    rounds = 0;
  }
  PetscCall(LimitMemory(headroom));
  PetscCall(LimitDeviceMemory(device_headroom));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-heartbeat", &heartbeat));
  for (PetscInt round = 0; round < rounds; round++) {
    PetscCall(Solve("first", ksp, b, x));
    if (heartbeat) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round %d\n", (int)round));
  }
  if (fault == PATTERN) {
    PetscCall(SolveAnother("fewer", da, ksp, 0.0, b, x));
    PetscCall(SolveAnother("more", da, ksp, 1.0, b, x));
  }
  if (fault == LATE_UNASSEMBLED) {
    PetscInt start;
    PetscCall(MatGetOwnershipRange(A, &start, NULL));
    PetscCall(MatSetValue(A, start, start, 5.0, INSERT_VALUES));
    PetscCall(Solve("late", ksp, b, x));
  }
  if (fault == ZERO_ROW || fault == NAN_MATRIX || fault == NAN_RHS) {
    PetscCall(Fill(da, A, 1.0));
    PetscCall(VecSet(b, 1.0));
    PetscCall(KSPSetOperators(ksp, A, A)); /* PETSc 3.18 looks at the matrix again only then */
    PetscCall(Solve("then", ksp, b, x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&other));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
