static char help[] = "-div(K grad u) + v . grad u = f in the unit square or cube, by finite volumes around the nodes of a DMDA.\n\
  -dim <2>            2 or 3; the grid is -da_grid_x, -da_grid_y, -da_grid_z, or a coarse one and -da_refine\n\
  -eps <1>            K = diag(1, 1/eps), in 3-D diag(1, 1/eps, eps)\n\
  -k kx,ky[,kz]       K itself\n\
  -contrast <1>       K varies by this factor:\n\
  -material (squares|smooth|checkerboard|random|turning) in four squares (eight cubes); smoothly; in every second of 8 squares a side (-squares);\n\
                      at each node at random; or along x in one half of the domain and along y in the other, not along z\n\
  -stretch <1>        largest over smallest spacing of a mesh that grows geometrically from the wall y = 0 (z = 0 in 3-D)\n\
  -angle <0>          K is turned by these degrees about z: nine-point stencils\n\
  -velocity vx,vy[,vz] convection, upwind\n\
  -flow (constant|recirculating) everywhere, or around the middle of each plane of x and y, vx at most in each direction\n\
  -ends (dirichlet|neumann|periodic) u = 0 on the boundary, no flux through it, or none\n\
  -mask (none|circle|holes) u = 0 outside of a circle (ball), or in nine (27) small ones\n\
  -rhs (random|one)   f\n\
  -assembly (stencil|coo) row by row, or all entries at once (MatSetValuesCOO), which leaves those of a matrix on a device there\n\
  -repeat <3>         timed solves after the first one\n\
  -setups <1>         timed set-ups for new values; with more than one, as many from the start again, when all is warm\n\
  -change (scale|ratio|stretch|contrast) what these change: all twice; K along the last direction, -stretch or -contrast by a quarter\n\
Prints a readable line and one of JSON. Solver, preconditioner, vectors and matrices are options (-ksp_type, -pc_type, -dm_vec_type, -dm_mat_type).\n";

#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>
#include <time.h>

#include "problem.h"

/* Entries of a matrix, in local numbers, before they go to it all at once: a matrix on a device then has its values there. */
typedef struct {
  PetscInt *i, *j;
  PetscScalar *values;
  PetscCount count;
} Entries;

/* Of a node, ghosts counted. */
static PetscInt LocalNumber(const PetscInt ghost[3], const PetscInt ghosts[3], const MatStencil *node)
{
  return node->i - ghost[0] + ghosts[0] * (node->j - ghost[1] + ghosts[1] * (node->k - ghost[2]));
}

static PetscErrorCode SetEntries(Mat P, Entries *entries)
{
  PetscObject known;

  PetscFunctionBeginUser;
  /* Their places are told once: they do not depend on the values. */
  PetscCall(PetscObjectQuery((PetscObject)P, "diffusion_places", &known));
  if (!known) {
    PetscContainer done;
    PetscCall(MatSetPreallocationCOOLocal(P, entries->count, entries->i, entries->j));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &done));
    PetscCall(PetscObjectCompose((PetscObject)P, "diffusion_places", (PetscObject)done));
    PetscCall(PetscContainerDestroy(&done));
  }
  PetscCall(MatSetValuesCOO(P, entries->values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeMatrix(KSP ksp, Mat A, Mat P, void *context)
{
  Problem *problem = (Problem *)context;
  DM da;
  PetscInt n[3], start[3], count[3], node[3], ghost[3], ghosts[3], most;
  PetscReal entry[3][3][3];
  PetscLogDouble before, after;
  Entries entries          = {NULL, NULL, NULL, 0};
  const clock_t cpu_before = clock();

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&before));
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt a = 0; a < problem->dim; a++)
    PetscCheck(n[a] >= 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%d nodes along a direction: at least 3 are needed", (int)n[a]);
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(DMDAGetGhostCorners(da, &ghost[0], &ghost[1], &ghost[2], &ghosts[0], &ghosts[1], &ghosts[2]));
  most = problem->coo ? (problem->dim == 3 ? 27 : 9) * count[0] * count[1] * count[2] : 0;
  PetscCall(PetscMalloc3(most, &entries.i, most, &entries.j, most, &entries.values));
  for (node[2] = start[2]; node[2] < start[2] + count[2]; node[2]++) {
    for (node[1] = start[1]; node[1] < start[1] + count[1]; node[1]++) {
      for (node[0] = start[0]; node[0] < start[0] + count[0]; node[0]++) {
        const PetscBool known = Known(problem, n, node[0], node[1], node[2]);
        MatStencil row        = {node[2], node[1], node[0], 0}, column[27];
        PetscScalar value[27];
        PetscInt columns = 0;

        Row(problem, n, node, entry);
        for (PetscInt k = -1; k <= 1; k++) {
          for (PetscInt j = -1; j <= 1; j++) {
            for (PetscInt i = -1; i <= 1; i++) {
              const PetscBool self = i == 0 && j == 0 && k == 0 ? PETSC_TRUE : PETSC_FALSE;

              /* Nodes where u = 0 is known are rows of their diagonal alone, and drop out of the other rows. */
              if (!self && (known || entry[k + 1][j + 1][i + 1] == 0)) continue;
              if (!self && Known(problem, n, node[0] + i, node[1] + j, node[2] + k)) continue;
              column[columns].k = node[2] + k;
              column[columns].j = node[1] + j;
              column[columns].i = node[0] + i;
              column[columns].c = 0;
              value[columns++]  = entry[k + 1][j + 1][i + 1];
            }
          }
        }
        if (problem->coo) {
          for (PetscInt c = 0; c < columns; c++) {
            entries.i[entries.count]        = LocalNumber(ghost, ghosts, &row);
            entries.j[entries.count]        = LocalNumber(ghost, ghosts, &column[c]);
            entries.values[entries.count++] = value[c];
          }
        } else
          PetscCall(MatSetValuesStencil(P, 1, &row, columns, column, value, INSERT_VALUES));
      }
    }
  }
  if (problem->coo) PetscCall(SetEntries(P, &entries));
  PetscCall(PetscFree3(entries.i, entries.j, entries.values));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (A != P) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  if (Singular(problem)) {
    MatNullSpace constants;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscCall(PetscTime(&after));
  problem->assembly += after - before;
  problem->assembly_cpu += clock() - cpu_before;
  PetscFunctionReturn(0);
}

static PetscErrorCode RightHandSide(const Problem *problem, DM da, Vec b)
{
  PetscInt n[3], start[3], count[3], at = 0;
  PetscScalar *value;
  const PetscScalar *there;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArrayWrite(b, &value)); /* x runs first, as in the vectors of a DMDA */
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++, at++) {
        const PetscInt node[3] = {i, j, k};
        PetscReal volume       = 1;

        for (PetscInt a = 0; a < problem->dim; a++) volume *= Width(problem, a, node[a], n[a]);
        value[at] = Known(problem, n, i, j, k) ? 0 : volume * (problem->random ? Noise(i, j, k) : 1);
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &value));
  if (Singular(problem)) {
    MatNullSpace constants;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatNullSpaceRemove(constants, b));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  /* Where vectors live on a device it goes there now, and not in every solve. */
  PetscCall(VecGetArrayReadAndMemType(b, &there, NULL));
  PetscCall(VecRestoreArrayReadAndMemType(b, &there));
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeRHS(KSP ksp, Vec b, void *context)
{
  PetscFunctionBeginUser;
  (void)ksp;
  PetscCall(VecCopy(((Problem *)context)->rhs, b));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Problem *problem, DM *da)
{
  const DMDAStencilType stencil = problem->tensor_xy != 0 ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  const DMBoundaryType ends     = problem->ends == ENDS_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  if (problem->dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, stencil, 65, 65, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, ends, ends, ends, stencil, 33, 33, 33, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                           NULL, NULL, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

/* Seconds of one KSPSolve, the device's work included, and processor time of it: on a host that is busy with other things that is what can be
   compared. */
static PetscErrorCode TimeSolve(KSP ksp, PetscReal *seconds, PetscReal *processor)
{
  PetscLogDouble before, after;
  clock_t cpu_before, cpu_after;
  PetscDeviceContext device;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&device));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  cpu_before = clock();
  PetscCall(PetscTime(&before));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(PetscDeviceContextSynchronize(device));
  PetscCall(PetscTime(&after));
  cpu_after  = clock();
  *seconds   = after - before;
  *processor = (PetscReal)(cpu_after - cpu_before) / CLOCKS_PER_SEC;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, processor, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscReal seconds, processor;
} Duration;

/* The least time of a set-up, without that of the assembly of matrices, and what was the least before. */
static PetscErrorCode TimeSetUp(KSP ksp, Problem *problem, Duration *least)
{
  PetscLogDouble before, after;
  clock_t cpu_before;
  PetscReal taken[2];
  PetscDeviceContext device;

  PetscFunctionBeginUser;
  problem->assembly     = 0;
  problem->assembly_cpu = 0;
  PetscCall(KSPSetComputeOperators(ksp, ComputeMatrix, problem));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  cpu_before = clock();
  PetscCall(PetscTime(&before));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscDeviceContextGetCurrentContext(&device));
  PetscCall(PetscDeviceContextSynchronize(device));
  PetscCall(PetscTime(&after));
  taken[0] = after - before - problem->assembly;
  taken[1] = (PetscReal)(clock() - cpu_before - problem->assembly_cpu) / CLOCKS_PER_SEC;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, taken, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  least->seconds   = PetscMin(least->seconds, taken[0]);
  least->processor = PetscMin(least->processor, taken[1]);
  PetscFunctionReturn(0);
}

/* A preconditioner that has never been set up, for the same matrix. */
static PetscErrorCode BeginAgain(KSP ksp)
{
  PC pc;
  Mat A, P;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, &P));
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(PetscObjectReference((PetscObject)P));
  PetscCall(PCReset(pc));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(0);
}

/* ||b - A x|| / ||b||, computed from the solution. */
static PetscErrorCode TrueResidual(KSP ksp, PetscReal *residual)
{
  Mat A;
  Vec b, x, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem problem = {0};
  DM da;
  KSP ksp;
  PC pc;
  Mat A;
  Vec x;
  KSPType method;
  PCType preconditioner;
  MatType matrix;
  VecType vector;
  KSPConvergedReason reason;
  PetscMPIInt ranks;
  PetscInt repeat = 3, setups = 1, n[3], iterations;
  const Duration never = {PETSC_MAX_REAL, PETSC_MAX_REAL};
  Duration first = never, again = never, update = never;
  PetscReal warm_up, residual, *seconds, processor, least = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadProblem(&problem));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-setups", &setups, NULL));
  PetscCheck(repeat >= 1 && setups >= 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-repeat and -setups must be at least 1");
  PetscCall(PetscMalloc1(repeat, &seconds));
  PetscCall(CreateGrid(&problem, &da));
  PetscCall(DMCreateGlobalVector(da, &problem.rhs));
  PetscCall(RightHandSide(&problem, da, problem.rhs));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeRHS(ksp, ComputeRHS, &problem));
  PetscCall(KSPSetFromOptions(ksp));

  PetscCall(TimeSetUp(ksp, &problem, &first));
  PetscCall(TimeSolve(ksp, &warm_up, &processor));
  for (PetscInt s = 0; s < setups; s++) {
    ChangeValues(&problem);
    PetscCall(TimeSetUp(ksp, &problem, &update));
  }
  for (PetscInt s = 0; s < setups && setups > 1; s++) {
    PetscCall(BeginAgain(ksp));
    PetscCall(TimeSetUp(ksp, &problem, &again));
  }
  if (setups == 1) again = first;
  for (PetscInt r = 0; r < repeat; r++) {
    PetscCall(TimeSolve(ksp, &seconds[r], &processor));
    if (r == 0 || processor < least) least = processor;
  }
  PetscCall(PetscSortReal(repeat, seconds));
  PetscCall(TrueResidual(ksp, &residual));

  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetType(ksp, &method));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &preconditioner));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetType(A, &matrix));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecGetType(x, &vector));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "%s + %s, %d x %d x %d: %s after %d iterations, true residual %.2e, solve %.4g s, set-up %.4g s, of new values %.4g s\n",
                  method, preconditioner, (int)n[0], (int)n[1], (int)n[2], KSPConvergedReasons[reason], (int)iterations, (double)residual,
                  (double)seconds[0], (double)first.seconds, (double)update.seconds));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "{\"petsc\": \"%d.%d.%d\", \"ranks\": %d, \"grid\": [%d, %d, %d], \"k\": [%.5e, %.5e, %.5e], \"contrast\": %.5e, \"stretch\": %.5e, "
      "\"angle\": %.5e, \"velocity\": [%.5e, %.5e, %.5e], \"ksp\": \"%s\", \"pc\": \"%s\", \"mat\": \"%s\", \"vec\": \"%s\", "
      "\"reason\": \"%s\", \"converged\": %s, \"iterations\": %d, \"residual\": %.4e, \"setup\": %.5e, \"setup_again\": %.5e, "
      "\"setup_again_cpu\": %.5e, \"warm_up\": %.5e, \"update\": %.5e, \"update_cpu\": %.5e, \"solve\": %.5e, \"solve_median\": %.5e, "
      "\"solve_cpu\": %.5e, \"repeat\": %d}\n",
      PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, ranks, (int)n[0], (int)n[1], (int)n[2], (double)problem.k[0],
      (double)problem.k[1], (double)problem.k[2], (double)problem.contrast, (double)problem.stretch, (double)problem.angle,
      (double)problem.velocity[0], (double)problem.velocity[1], (double)problem.velocity[2], method, preconditioner, matrix, vector,
      KSPConvergedReasons[reason], reason > 0 ? "true" : "false", (int)iterations, PetscIsInfOrNanReal(residual) ? -1. : (double)residual,
      (double)first.seconds, (double)again.seconds, (double)again.processor, (double)warm_up, (double)update.seconds,
      (double)update.processor, (double)seconds[0], (double)seconds[repeat / 2], (double)least, (int)repeat));
  PetscCall(PetscFree(seconds));
  PetscCall(VecDestroy(&problem.rhs));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
