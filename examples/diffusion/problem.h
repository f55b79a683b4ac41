/* The problem of diffusion.c: its options, where the nodes lie, what K, the velocity and the domain are, and the row of a node. */
#pragma once
#include <petscdmda.h>
#include <petscksp.h>

enum { CHANGE_SCALE, CHANGE_RATIO, CHANGE_STRETCH, CHANGE_CONTRAST };
enum { MATERIAL_SQUARES, MATERIAL_SMOOTH, MATERIAL_CHECKERBOARD, MATERIAL_RANDOM, MATERIAL_TURNING };
enum { FLOW_CONSTANT, FLOW_RECIRCULATING };
enum { ENDS_DIRICHLET, ENDS_NEUMANN, ENDS_PERIODIC };
enum { MASK_NONE, MASK_CIRCLE, MASK_HOLES };

typedef struct {
  PetscInt dim, squares;
  PetscReal k[3], contrast, stretch, angle, velocity[3];
  PetscReal tensor_x, tensor_y, tensor_xy; /* K in the x-y plane after its turn */
  PetscInt material, flow, ends, mask;     /* of the enumerations */
  PetscBool random, coo;
  PetscReal scale;         /* of the whole matrix, so that its values can change */
  PetscInt change;         /* how they do, of the enumeration */
  PetscLogDouble assembly; /* seconds spent in ComputeMatrix since this was zeroed */
  clock_t assembly_cpu;    /* and of processor time */
  Vec rhs;                 /* f, kept: KSPSolve() asks for the right-hand side each time */
} Problem;

static void TurnTensor(Problem *problem)
{
  const PetscReal radians = problem->angle * PETSC_PI / 180;

  problem->tensor_x  = problem->k[0] * PetscSqr(PetscCosReal(radians)) + problem->k[1] * PetscSqr(PetscSinReal(radians));
  problem->tensor_y  = problem->k[0] * PetscSqr(PetscSinReal(radians)) + problem->k[1] * PetscSqr(PetscCosReal(radians));
  problem->tensor_xy = problem->angle == 0 ? 0 : (problem->k[0] - problem->k[1]) * PetscCosReal(radians) * PetscSinReal(radians);
}

/* Other values of the same matrix, each time: all of it; the last direction's K; its spacing; the contrast. */
static void ChangeValues(Problem *problem)
{
  if (problem->change == CHANGE_SCALE) problem->scale *= 2;
  if (problem->change == CHANGE_RATIO) problem->k[problem->dim - 1] *= 1.25;
  if (problem->change == CHANGE_STRETCH) problem->stretch *= 1.25;
  if (problem->change == CHANGE_CONTRAST) problem->contrast *= 1.25;
  TurnTensor(problem);
}

static PetscErrorCode ReadProblem(Problem *problem)
{
  PetscReal eps = 1;
  PetscInt count;
  PetscBool set, moves = PETSC_FALSE;
  const char *const sources[] = {"random", "one"}, *const assemblies[] = {"stencil", "coo"};
  const char *const materials[] = {"squares", "smooth", "checkerboard", "random", "turning"}, *const flows[] = {"constant",
                                                                                                                "recirculating"};
  const char *const ends[] = {"dirichlet", "neumann", "periodic"}, *const masks[] = {"none", "circle", "holes"};
  const char *const changes[] = {"scale", "ratio", "stretch", "contrast"};
  PetscInt source = 0, assembly = 0;

  PetscFunctionBeginUser;
  problem->dim      = 2;
  problem->squares  = 8;
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
  PetscCall(PetscOptionsReal("-contrast", "largest over smallest factor of K", NULL, problem->contrast, &problem->contrast, NULL));
  PetscCall(PetscOptionsEList("-material", "how K varies", NULL, materials, 5, materials[0], &problem->material, NULL));
  PetscCall(
      PetscOptionsRangeInt("-squares", "squares a side of the checkerboard", NULL, problem->squares, &problem->squares, NULL, 1, 1000));
  PetscCall(PetscOptionsReal("-stretch", "largest over smallest spacing", NULL, problem->stretch, &problem->stretch, NULL));
  PetscCall(PetscOptionsReal("-angle", "turn of K about z, in degrees", NULL, problem->angle, &problem->angle, NULL));
  count = 3;
  PetscCall(PetscOptionsRealArray("-velocity", "velocity of the convection", NULL, problem->velocity, &count, NULL));
  PetscCall(PetscOptionsEList("-flow", "where the velocity is", NULL, flows, 2, flows[0], &problem->flow, NULL));
  PetscCall(PetscOptionsEList("-ends", "conditions on the boundary", NULL, ends, 3, ends[0], &problem->ends, NULL));
  PetscCall(PetscOptionsEList("-mask", "nodes that are cut out", NULL, masks, 3, masks[0], &problem->mask, NULL));
  PetscCall(PetscOptionsEList("-rhs", "right-hand side", NULL, sources, 2, sources[0], &source, NULL));
  PetscCall(PetscOptionsEList("-assembly", "how a matrix is given its entries", NULL, assemblies, 2, assemblies[0], &assembly, NULL));
  PetscCall(PetscOptionsEList("-change", "what new values change", NULL, changes, 4, changes[0], &problem->change, NULL));
  PetscOptionsEnd();
  for (PetscInt a = 0; a < problem->dim; a++) {
    PetscCheck(problem->k[a] > 0 && !PetscIsInfOrNanReal(problem->k[a]), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "K must be positive: see -eps and -k");
    if (problem->velocity[a] != 0) moves = PETSC_TRUE;
  }
  PetscCheck(problem->stretch > 0 && problem->contrast > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-stretch and -contrast must be positive");
  PetscCheck(
      !moves || problem->ends == ENDS_DIRICHLET, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
      "-velocity needs -ends dirichlet: without known values the matrix is singular, and what solves its transpose is not known here");
  PetscCheck(problem->angle == 0 || problem->material != MATERIAL_RANDOM, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-material random has a factor between two nodes and none of a cell, which -angle needs");
  problem->random = source == 0 ? PETSC_TRUE : PETSC_FALSE;
  problem->coo    = assembly == 1 ? PETSC_TRUE : PETSC_FALSE;
  TurnTensor(problem);
  PetscFunctionReturn(0);
}

/* Whether constants solve it with f = 0: no node's u is known. */
static PetscBool Singular(const Problem *problem)
{
  return problem->ends != ENDS_DIRICHLET && problem->mask == MASK_NONE ? PETSC_TRUE : PETSC_FALSE;
}

/* A line of the grid: n nodes from wall to wall, or all around. */
static PetscReal Coordinate(const Problem *problem, PetscInt axis, PetscInt i, PetscInt n)
{
  const PetscReal t = (PetscReal)i / (PetscReal)(problem->ends == ENDS_PERIODIC ? n : n - 1);

  if (axis != problem->dim - 1 || problem->stretch == 1) return t;
  return (PetscPowReal(problem->stretch, t) - 1) / (problem->stretch - 1);
}

/* The cell of a line on one side of a node: from its node of this number to the next. -1 where there is none. */
static PetscInt Cell(const Problem *problem, PetscInt i, PetscInt side, PetscInt n)
{
  const PetscInt first = side > 0 ? i : i - 1;

  if (problem->ends == ENDS_PERIODIC) return (first + n) % n;
  return first < 0 || first >= n - 1 ? -1 : first;
}

static PetscReal CellSize(const Problem *problem, PetscInt axis, PetscInt cell, PetscInt n)
{
  return Coordinate(problem, axis, cell + 1, n) - Coordinate(problem, axis, cell, n);
}

/* Of a node's volume. */
static PetscReal Width(const Problem *problem, PetscInt axis, PetscInt i, PetscInt n)
{
  PetscReal width = 0;

  for (PetscInt side = -1; side <= 1; side += 2) {
    const PetscInt cell = Cell(problem, i, side, n);
    if (cell >= 0) width += CellSize(problem, axis, cell, n) / 2;
  }
  return width;
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

/* K varies at random from node to node: its factor between two of them, the harmonic mean. */
static PetscReal BetweenNodes(const Problem *problem, const PetscInt n[3], const PetscInt node[3], PetscInt axis, PetscInt side)
{
  PetscInt to[3] = {node[0], node[1], node[2]};
  PetscReal here, there;

  to[axis] = (node[axis] + side + n[axis]) % n[axis];
  here     = PetscPowReal(problem->contrast, Noise(node[0] + 1000003, node[1], node[2]) / 2);
  there    = PetscPowReal(problem->contrast, Noise(to[0] + 1000003, to[1], to[2]) / 2);
  return 2 / (1 / here + 1 / there);
}

/* The factor of K's entry of an axis in a cell. */
static PetscReal Factor(const Problem *problem, PetscInt axis, const PetscReal lower[3], const PetscReal size[3])
{
  PetscReal middle[3] = {0, 0, 0}, wave = 1;
  PetscInt parity = 0;

  for (PetscInt a = 0; a < problem->dim; a++) middle[a] = lower[a] + size[a] / 2;
  switch (problem->material) {
  case MATERIAL_SMOOTH:
    for (PetscInt a = 0; a < problem->dim; a++)
      wave *= a == 0 ? PetscSinReal(2 * PETSC_PI * middle[a]) : PetscCosReal(2 * PETSC_PI * middle[a]);
    return PetscPowReal(problem->contrast, wave / 2);
  case MATERIAL_CHECKERBOARD:
    for (PetscInt a = 0; a < problem->dim; a++) parity += (PetscInt)PetscFloorReal(middle[a] * (PetscReal)problem->squares);
    return parity % 2 ? problem->contrast : 1;
  case MATERIAL_TURNING:
    if (axis == 2) return 1;
    return (axis == 0) == (middle[1] > 0.5) ? problem->contrast : 1;
  default: /* squares that are away from each other and from the walls */
    for (PetscInt a = 0; a < problem->dim; a++) {
      const PetscReal place = 2 * middle[a] - PetscFloorReal(2 * middle[a]);
      if (place < 0.25 || place > 0.75) return 1;
    }
    return problem->contrast;
  }
}

/* At a node. The recirculating flow is free of sources, and does not leave the square. */
static PetscReal Velocity(const Problem *problem, PetscInt axis, const PetscInt n[3], const PetscInt node[3])
{
  PetscReal across, along;

  if (problem->flow == FLOW_CONSTANT) return problem->velocity[axis];
  if (axis == 2) return 0;
  along  = 2 * Coordinate(problem, axis, node[axis], n[axis]) - 1;
  across = 2 * Coordinate(problem, 1 - axis, node[1 - axis], n[1 - axis]) - 1;
  return (axis == 0 ? 2 : -2) * problem->velocity[0] * across * (1 - PetscSqr(along));
}

/* Whether u = 0 is known at a node: on the boundary, or outside of the mask. */
static PetscBool Known(const Problem *problem, const PetscInt n[3], PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt node[3] = {i, j, k};
  PetscReal from_middle = 0, from_hole = 0;

  for (PetscInt a = 0; a < problem->dim; a++) {
    const PetscReal x = Coordinate(problem, a, (node[a] + n[a]) % n[a], n[a]), place = 3 * x - PetscFloorReal(3 * x);

    if (problem->ends == ENDS_DIRICHLET && (node[a] <= 0 || node[a] >= n[a] - 1)) return PETSC_TRUE;
    from_middle += PetscSqr(x - 0.5);
    from_hole += PetscSqr((place - 0.5) / 3);
  }
  if (problem->mask == MASK_CIRCLE) return from_middle > PetscSqr(0.45) ? PETSC_TRUE : PETSC_FALSE;
  return problem->mask == MASK_HOLES && from_hole < PetscSqr(0.08) ? PETSC_TRUE : PETSC_FALSE;
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
    PetscReal lower[3], size[3], part = 1;
    PetscBool inside = PETSC_TRUE;

    for (PetscInt a = 0; a < dim; a++) {
      PetscInt cell;
      side[a] = corner & (1 << a) ? 1 : -1;
      cell    = Cell(problem, node[a], side[a], n[a]);
      if (cell < 0) {
        inside = PETSC_FALSE;
        break;
      }
      lower[a] = Coordinate(problem, a, cell, n[a]);
      size[a]  = CellSize(problem, a, cell, n[a]);
      part *= size[a] / 2;
    }
    if (!inside) continue;
    for (PetscInt a = 0; a < dim; a++) {
      const PetscReal face = part / (size[a] / 2);
      const PetscReal factor =
          problem->material == MATERIAL_RANDOM ? BetweenNodes(problem, n, node, a, side[a]) : Factor(problem, a, lower, size);
      const PetscReal material = factor * problem->scale;
      const PetscReal k        = material * (a == 0 ? problem->tensor_x : a == 1 ? problem->tensor_y : problem->k[2]);
      const PetscReal inflow   = PetscMax(-side[a] * Velocity(problem, a, n, node), 0) * problem->scale;
      const PetscReal coupling = face * (k / size[a] + inflow);
      PetscInt to[3]           = {0, 0, 0};

      to[a] = side[a];
      entry[1][1][1] += coupling;
      entry[to[2] + 1][to[1] + 1][to[0] + 1] -= coupling;
    }
    if (problem->tensor_xy != 0) {
      /* The flux along x by the cell's mean slope along y and the other way round; i and j go over the cell's nodes in this plane. */
      const PetscReal weight = Factor(problem, 0, lower, size) * problem->scale * problem->tensor_xy / 4 * (dim == 3 ? size[2] / 2 : 1);
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
