static char help[] =
    "-div(K grad u) + v . grad u = f with u = 0 on the boundary of the unit square or cube, by finite volumes around the nodes of a DMDA.\n\
  -dim <2>            2 or 3; the grid is -da_grid_x, -da_grid_y, -da_grid_z, or a coarse one and -da_refine\n\
  -eps <1>            K = diag(1, 1/eps), in 3-D diag(1, 1/eps, eps)\n\
  -k kx,ky[,kz]       K itself\n\
  -contrast <1>       K is multiplied by this in four squares (eight cubes)\n\
  -stretch <1>        largest over smallest spacing of a mesh that grows geometrically from the wall y = 0 (z = 0 in 3-D)\n\
  -angle <0>          K is turned by these degrees about z: nine-point stencils\n\
  -velocity vx,vy[,vz] convection, upwind\n\
  -rhs (random|one)   f\n\
  -assembly (stencil|coo) row by row, or all entries at once (MatSetValuesCOO), which leaves those of a matrix on a device there\n\
  -repeat <3>         timed solves after the first one\n\
  -setups <1>         timed set-ups for new values; with more than one, as many from the start again, when all is warm\n\
Prints a readable line and one of JSON. Solver, preconditioner, vectors and matrices are options (-ksp_type, -pc_type, -dm_vec_type, -dm_mat_type).\n";

#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>
#include <time.h>

typedef struct {
  PetscInt dim;
  PetscReal k[3], contrast, stretch, angle, velocity[3];
  PetscReal tensor_x, tensor_y, tensor_xy; /* K in the x-y plane after its turn */
  PetscBool random, coo;
  PetscReal scale;         /* of the whole matrix, so that its values can change */
  PetscLogDouble assembly; /* seconds spent in ComputeMatrix since this was zeroed */
  clock_t assembly_cpu;    /* and of processor time */
  Vec rhs;                 /* f, kept: KSPSolve() asks for the right-hand side each time */
} Problem;

/* A line of the grid: nodes from wall to wall. */
static PetscReal Coordinate(const Problem *problem, PetscInt axis, PetscInt i, PetscInt n)
{
  const PetscReal t = (PetscReal)i / (PetscReal)(n - 1);

  if (axis != problem->dim - 1 || problem->stretch == 1) return t;
  return (PetscPowReal(problem->stretch, t) - 1) / (problem->stretch - 1);
}

/* The factor of K in a cell: contrast in squares that are away from each other and from the walls. */
static PetscReal Material(const Problem *problem, const PetscReal lower[], const PetscReal size[])
{
  for (PetscInt a = 0; a < problem->dim; a++) {
    const PetscReal centre = 2 * (lower[a] + size[a] / 2);
    const PetscReal place  = centre - PetscFloorReal(centre);
    if (place < 0.25 || place > 0.75) return 1;
  }
  return problem->contrast;
}

/* The row of a node: entry[k + 1][j + 1][i + 1] couples it to its neighbour at (i, j, k). Each of the 2^dim cells around it holds a part of its
   volume, bounded by the halves (quarters) of the cell's middle faces. */
static void Row(const Problem *problem, const PetscInt n[3], const PetscInt node[3], PetscReal entry[3][3][3])
{
  const PetscInt dim = problem->dim, corners = 1 << dim;

  for (PetscInt k = 0; k < 3; k++)
    for (PetscInt j = 0; j < 3; j++)
      for (PetscInt i = 0; i < 3; i++) entry[k][j][i] = 0;
  for (PetscInt corner = 0; corner < corners; corner++) {
    PetscInt side[3] = {0, 0, 0}; /* where the cell lies, seen from the node */
    PetscReal lower[3], size[3], part = 1, material;
    PetscBool inside = PETSC_TRUE;

    for (PetscInt a = 0; a < dim; a++) {
      PetscInt other, first;
      side[a] = corner & (1 << a) ? 1 : -1;
      other   = node[a] + side[a];
      if (other < 0 || other >= n[a]) {
        inside = PETSC_FALSE;
        break;
      }
      first    = PetscMin(other, node[a]);
      lower[a] = Coordinate(problem, a, first, n[a]);
      size[a]  = Coordinate(problem, a, first + 1, n[a]) - lower[a];
      part *= size[a] / 2;
    }
    if (!inside) continue;
    material = Material(problem, lower, size) * problem->scale;
    for (PetscInt a = 0; a < dim; a++) {
      const PetscReal face     = part / (size[a] / 2);
      const PetscReal k        = material * (a == 0 ? problem->tensor_x : a == 1 ? problem->tensor_y : problem->k[2]);
      const PetscReal inflow   = PetscMax(-side[a] * problem->velocity[a], 0) * problem->scale;
      const PetscReal coupling = face * (k / size[a] + inflow);
      PetscInt to[3]           = {0, 0, 0};

      to[a] = side[a];
      entry[1][1][1] += coupling;
      entry[to[2] + 1][to[1] + 1][to[0] + 1] -= coupling;
    }
    if (problem->tensor_xy != 0) {
      /* The flux along x by the cell's mean slope along y and the other way round; i and j go over the cell's nodes in this plane. */
      const PetscReal weight = material * problem->tensor_xy / 4 * (dim == 3 ? size[2] / 2 : 1);
      for (PetscInt j = 0; j < 2; j++) {
        for (PetscInt i = 0; i < 2; i++) {
          /* side of a node within the cell: the row's is -side, its opposite +side */
          const PetscInt x = i ? side[0] : -side[0], y = j ? side[1] : -side[1];
          entry[1][j * side[1] + 1][i * side[0] + 1] += weight * (-side[0] * y - side[1] * x);
        }
      }
    }
  }
}

static PetscBool OnBoundary(PetscInt dim, const PetscInt n[3], PetscInt i, PetscInt j, PetscInt k)
{
  return i == 0 || j == 0 || i == n[0] - 1 || j == n[1] - 1 || (dim == 3 && (k == 0 || k == n[2] - 1)) ? PETSC_TRUE : PETSC_FALSE;
}

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
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(DMDAGetGhostCorners(da, &ghost[0], &ghost[1], &ghost[2], &ghosts[0], &ghosts[1], &ghosts[2]));
  most = problem->coo ? (problem->dim == 3 ? 27 : 9) * count[0] * count[1] * count[2] : 0;
  PetscCall(PetscMalloc3(most, &entries.i, most, &entries.j, most, &entries.values));
  for (node[2] = start[2]; node[2] < start[2] + count[2]; node[2]++) {
    for (node[1] = start[1]; node[1] < start[1] + count[1]; node[1]++) {
      for (node[0] = start[0]; node[0] < start[0] + count[0]; node[0]++) {
        const PetscBool boundary = OnBoundary(problem->dim, n, node[0], node[1], node[2]);
        MatStencil row           = {node[2], node[1], node[0], 0}, column[27];
        PetscScalar value[27];
        PetscInt columns = 0;

        Row(problem, n, node, entry);
        for (PetscInt k = -1; k <= 1; k++) {
          for (PetscInt j = -1; j <= 1; j++) {
            for (PetscInt i = -1; i <= 1; i++) {
              const PetscBool self = i == 0 && j == 0 && k == 0 ? PETSC_TRUE : PETSC_FALSE;

              /* Nodes on the boundary are rows of their diagonal alone, and u = 0 there drops out of the other rows. */
              if (!self && (boundary || entry[k + 1][j + 1][i + 1] == 0)) continue;
              if (!self && OnBoundary(problem->dim, n, node[0] + i, node[1] + j, node[2] + k)) continue;
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
  PetscCall(PetscTime(&after));
  problem->assembly += after - before;
  problem->assembly_cpu += clock() - cpu_before;
  PetscFunctionReturn(0);
}

/* A number between -1 and 1 that depends on the node alone, not on ranks or rows (the finaliser of splitmix64). */
static PetscReal Noise(PetscInt i, PetscInt j, PetscInt k)
{
  unsigned long long z = (((unsigned long long)k << 42) ^ ((unsigned long long)j << 21) ^ (unsigned long long)i) + 0x9e3779b97f4a7c15ULL;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return (PetscReal)(z >> 11) / 4503599627370496.0 - 1;
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

        for (PetscInt a = 0; a < problem->dim; a++)
          volume *= (Coordinate(problem, a, node[a] + 1, n[a]) - Coordinate(problem, a, node[a] - 1, n[a])) / 2;
        value[at] = OnBoundary(problem->dim, n, i, j, k) ? 0 : volume * (problem->random ? Noise(i, j, k) : 1);
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &value));
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

static PetscErrorCode ReadProblem(Problem *problem)
{
  PetscReal eps = 1, radians;
  PetscInt count;
  PetscBool set;
  const char *const sources[] = {"random", "one"}, *const assemblies[] = {"stencil", "coo"};
  PetscInt source = 0, assembly = 0;

  PetscFunctionBeginUser;
  problem->dim      = 2;
  problem->contrast = problem->stretch = problem->scale = 1;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Diffusion and convection", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "dimension", NULL, problem->dim, &problem->dim, NULL, 2, 3));
  PetscCall(PetscOptionsReal("-eps", "K = diag(1, 1/eps[, eps])", NULL, eps, &eps, NULL));
  problem->k[0] = 1;
  problem->k[1] = 1 / eps;
  problem->k[2] = eps;
  count         = 3;
  PetscCall(PetscOptionsRealArray("-k", "diagonal of K", NULL, problem->k, &count, &set));
  PetscCheck(!set || count >= problem->dim, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-k needs a number for each of %d directions",
             (int)problem->dim);
  PetscCall(PetscOptionsReal("-contrast", "jump of K", NULL, problem->contrast, &problem->contrast, NULL));
  PetscCall(PetscOptionsReal("-stretch", "largest over smallest spacing", NULL, problem->stretch, &problem->stretch, NULL));
  PetscCall(PetscOptionsReal("-angle", "turn of K about z, in degrees", NULL, problem->angle, &problem->angle, NULL));
  count = 3;
  PetscCall(PetscOptionsRealArray("-velocity", "velocity of the convection", NULL, problem->velocity, &count, NULL));
  PetscCall(PetscOptionsEList("-rhs", "right-hand side", NULL, sources, 2, sources[0], &source, NULL));
  PetscCall(PetscOptionsEList("-assembly", "how a matrix is given its entries", NULL, assemblies, 2, assemblies[0], &assembly, NULL));
  PetscOptionsEnd();
  for (PetscInt a = 0; a < problem->dim; a++)
    PetscCheck(problem->k[a] > 0 && !PetscIsInfOrNanReal(problem->k[a]), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "K must be positive: see -eps and -k");
  PetscCheck(problem->stretch > 0 && problem->contrast > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-stretch and -contrast must be positive");
  problem->random    = source == 0 ? PETSC_TRUE : PETSC_FALSE;
  problem->coo       = assembly == 1 ? PETSC_TRUE : PETSC_FALSE;
  radians            = problem->angle * PETSC_PI / 180;
  problem->tensor_x  = problem->k[0] * PetscSqr(PetscCosReal(radians)) + problem->k[1] * PetscSqr(PetscSinReal(radians));
  problem->tensor_y  = problem->k[0] * PetscSqr(PetscSinReal(radians)) + problem->k[1] * PetscSqr(PetscCosReal(radians));
  problem->tensor_xy = problem->angle == 0 ? 0 : (problem->k[0] - problem->k[1]) * PetscCosReal(radians) * PetscSinReal(radians);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Problem *problem, DM *da)
{
  const DMDAStencilType stencil = problem->tensor_xy != 0 ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;

  PetscFunctionBeginUser;
  if (problem->dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, stencil, 65, 65, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                           NULL, da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, stencil, 33, 33, 33, PETSC_DECIDE,
                           PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

/* Seconds of one KSPSolve, the device's work included (the norm of the solution is needed on the host), and processor time of it: on a host that
   is busy with other things that is what can be compared. */
static PetscErrorCode TimeSolve(KSP ksp, PetscReal *seconds, PetscReal *processor)
{
  PetscLogDouble before, after;
  clock_t cpu_before, cpu_after;
  PetscReal norm;
  Vec x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  cpu_before = clock();
  PetscCall(PetscTime(&before));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecNorm(x, NORM_2, &norm));
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
    problem.scale *= 2;
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
