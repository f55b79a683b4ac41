static char help[] =
    "Sets up two preconditioners one after the other on a grid of 33 x 33 nodes: prints the processor time of each, of all threads,\n"
    "and how many threads the process had before and after.\n";

#include <dirent.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <time.h>

static int Threads(void)
{
  DIR *tasks = opendir("/proc/self/task");
  int count  = -2; // "." and ".."

  if (!tasks) return -1;
  while (readdir(tasks)) count++;
  closedir(tasks);
  return count;
}

static PetscErrorCode Grid(DM *da, Mat *A)
{
  const PetscInt n = 33;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, 1, 1, 1, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < n; i++) {
      const MatStencil row        = {.i = i, .j = j};
      const MatStencil columns[5] = {row, {.i = i - 1, .j = j}, {.i = i + 1, .j = j}, {.i = i, .j = j - 1}, {.i = i, .j = j + 1}};
      const PetscScalar values[5] = {2002.0, -1.0, -1.0, -1000.0, -1000.0};

      for (int k = 0; k < 5; k++) {
        if (columns[k].i < 0 || columns[k].i >= n || columns[k].j < 0 || columns[k].j >= n) continue;
        PetscCall(MatSetValuesStencil(*A, 1, &row, 1, &columns[k], &values[k], INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM da;
  Mat A;
  Vec x, b;
  int before;
  double milliseconds[2];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Grid(&da, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  before = Threads();
  for (int k = 0; k < 2; k++) {
    KSP ksp;
    clock_t start;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    start = clock();
    PetscCall(KSPSetUp(ksp));
    milliseconds[k] = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "set-up in ms: first %.3f, second %.3f; threads: before %d, after %d\n", milliseconds[0],
                        milliseconds[1], before, Threads()));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
