static char help[] =
    "Steady temperature in a channel with hot bodies, which are the dark parts of a picture: Laplace(u) = 0 by finite volumes, u = 1 in the\n\
bodies, u = 0 at both walls, no flux through the ends of the channel. The mesh is stretched: fine at the walls. It knows nothing of Weft.\n\
  -picture FILE       a PGM file, plain (P2) or raw (P5), at most 255 grey levels; its upper and lower edges are the walls\n\
  -length <4>         of the channel, which is 1 high\n\
  -stretch <20>       largest over smallest spacing of the mesh across the channel\n\
  -da_grid_x <257>, -da_grid_y <129>\n\
  -vts FILE           the solution and its mesh for ParaView and VTK\n\
Prints the iterations, the heat that the bodies give off and the heat that the walls take up. Solver and types are options (-ksp_type, -pc_type,\n\
-dm_vec_type, -dm_mat_type).\n";

#include <ctype.h>
#include <petscdmda.h>
#include <petscksp.h>

typedef struct {
  PetscInt width, height;
  unsigned char *grey; /* rows from top to bottom */
} Picture;

typedef struct {
  Picture picture;
  PetscReal length, stretch;
  PetscInt n[2];
} Channel;

/* The next number of a PGM file's head or of a plain body: blanks and comments before it are passed over. -1 where there is none. */
static int NextNumber(FILE *file)
{
  int c, number = -1;

  do {
    c = fgetc(file);
    while (c == '#') {
      while (c != '\n' && c != EOF) c = fgetc(file);
    }
  } while (isspace(c));
  for (; isdigit(c) && number < 100000; c = fgetc(file)) number = (number < 0 ? 0 : 10 * number) + c - '0';
  return number; /* the one character after it is gone: a raw body begins with the next */
}

static PetscErrorCode ReadPicture(const char name[], Picture *picture)
{
  FILE *file = fopen(name, "rb");
  char kind[2];
  int size[2], most;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "-picture %s: there is no such file, or it may not be read", name);
  PetscCheck(fread(kind, 1, 2, file) == 2 && kind[0] == 'P' && (kind[1] == '2' || kind[1] == '5'), PETSC_COMM_WORLD,
             PETSC_ERR_FILE_UNEXPECTED, "-picture %s: not a PGM file, which begins with P2 or P5: convert it (pngtopnm, magick)", name);
  size[0] = NextNumber(file);
  size[1] = NextNumber(file);
  most    = NextNumber(file);
  PetscCheck(size[0] > 0 && size[1] > 0 && size[0] <= 32768 && size[1] <= 32768 && most > 0 && most <= 255, PETSC_COMM_WORLD,
             PETSC_ERR_FILE_UNEXPECTED, "-picture %s: %d x %d pixels of %d grey levels: at most 32768 a side and 255 levels are read", name,
             size[0], size[1], most);
  picture->width  = size[0];
  picture->height = size[1];
  PetscCall(PetscMalloc1((size_t)size[0] * (size_t)size[1], &picture->grey));
  for (PetscInt pixel = 0; pixel < picture->width * picture->height; pixel++) {
    const int grey = kind[1] == '5' ? fgetc(file) : NextNumber(file);
    PetscCheck(grey >= 0 && grey <= most, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
               "-picture %s: pixel %d of %d x %d is missing or too large", name, (int)pixel, size[0], size[1]);
    picture->grey[pixel] = (unsigned char)(255 * grey / most);
  }
  fclose(file);
  PetscFunctionReturn(0);
}

/* Places of nodes along the channel, evenly, and across it: spacings grow geometrically from either wall to the middle. */
static PetscReal Place(const Channel *channel, PetscInt axis, PetscInt i)
{
  const PetscReal t = (PetscReal)i / (PetscReal)(channel->n[axis] - 1), near = t < 0.5 ? t : 1 - t;
  PetscReal from_wall;

  if (axis == 0) return channel->length * t;
  if (channel->stretch == 1) return t;
  from_wall = (PetscPowReal(channel->stretch, 2 * near) - 1) / (channel->stretch - 1) / 2;
  return t < 0.5 ? from_wall : 1 - from_wall;
}

static PetscBool InBody(const Channel *channel, PetscInt i, PetscInt j)
{
  const Picture *picture = &channel->picture;
  const PetscReal across = 1 - Place(channel, 1, j); /* a picture's rows run downwards */
  const PetscInt column  = (PetscInt)(Place(channel, 0, i) / channel->length * (PetscReal)picture->width);
  const PetscInt row     = (PetscInt)(across * (PetscReal)picture->height);

  return picture->grey[PetscMin(column, picture->width - 1) + picture->width * PetscMin(row, picture->height - 1)] < 128 ? PETSC_TRUE
                                                                                                                         : PETSC_FALSE;
}

/* Whether u is known at a node, and what it is. */
static PetscBool Known(const Channel *channel, PetscInt i, PetscInt j, PetscReal *u)
{
  const PetscBool wall = j == 0 || j == channel->n[1] - 1 ? PETSC_TRUE : PETSC_FALSE;

  *u = wall ? 0 : 1;
  return wall || InBody(channel, i, j) ? PETSC_TRUE : PETSC_FALSE;
}

/* What flows from a node to its neighbours before and after it, along x and y, for a difference of 1; nothing through the ends. */
static void Couplings(const Channel *channel, PetscInt i, PetscInt j, PetscReal c[2][2])
{
  const PetscInt node[2] = {i, j};
  PetscReal gap[2][2], width[2]; /* to the neighbours, and of the node's box */

  for (PetscInt a = 0; a < 2; a++) {
    gap[a][0] = node[a] > 0 ? Place(channel, a, node[a]) - Place(channel, a, node[a] - 1) : 0;
    gap[a][1] = node[a] < channel->n[a] - 1 ? Place(channel, a, node[a] + 1) - Place(channel, a, node[a]) : 0;
    width[a]  = (gap[a][0] + gap[a][1]) / 2;
  }
  for (PetscInt a = 0; a < 2; a++)
    for (PetscInt side = 0; side < 2; side++) c[a][side] = gap[a][side] > 0 ? width[1 - a] / gap[a][side] : 0;
}

/* The matrix and the right-hand side: rows of known nodes are their diagonal alone, and what others have from them goes to the right. */
static PetscErrorCode Assemble(const Channel *channel, DM da, Mat A, Vec b)
{
  PetscInt x, y, nx, ny;
  PetscScalar **rhs;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayWrite(da, b, &rhs));
  for (PetscInt j = y; j < y + ny; j++) {
    for (PetscInt i = x; i < x + nx; i++) {
      MatStencil row = {0, j, i, 0}, column[5];
      PetscScalar value[5];
      PetscReal c[2][2], u;
      PetscInt columns = 1;

      column[0] = row;
      value[0]  = 1;
      if (Known(channel, i, j, &u)) {
        rhs[j][i] = u;
      } else {
        Couplings(channel, i, j, c);
        rhs[j][i] = value[0] = 0;
        for (PetscInt a = 0; a < 2; a++) {
          for (PetscInt side = 0; side < 2; side++) {
            const PetscInt step = side ? 1 : -1, to[2] = {i + (a == 0 ? step : 0), j + (a == 1 ? step : 0)};

            if (c[a][side] == 0) continue;
            value[0] += c[a][side];
            if (Known(channel, to[0], to[1], &u)) {
              rhs[j][i] += c[a][side] * u;
            } else {
              column[columns].i = to[0];
              column[columns].j = to[1];
              column[columns].k = column[columns].c = 0;
              value[columns++]                      = -c[a][side];
            }
          }
        }
      }
      PetscCall(MatSetValuesStencil(A, 1, &row, columns, column, value, INSERT_VALUES));
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(da, b, &rhs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Heat that goes from the bodies to the fluid, and from the fluid to the walls: where u solves the equations both are the same. */
static PetscErrorCode Heat(const Channel *channel, DM da, Vec u, PetscReal heat[2])
{
  PetscInt x, y, nx, ny;
  const PetscScalar **value;
  Vec local;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(da, &local));
  PetscCall(DMGlobalToLocal(da, u, INSERT_VALUES, local));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayRead(da, local, &value));
  heat[0] = heat[1] = 0;
  for (PetscInt j = y; j < y + ny; j++) {
    for (PetscInt i = x; i < x + nx; i++) {
      PetscReal c[2][2], known;

      if (Known(channel, i, j, &known)) continue;
      Couplings(channel, i, j, c);
      for (PetscInt a = 0; a < 2; a++) {
        for (PetscInt side = 0; side < 2; side++) {
          const PetscInt step = side ? 1 : -1, to[2] = {i + (a == 0 ? step : 0), j + (a == 1 ? step : 0)};

          if (c[a][side] == 0 || !Known(channel, to[0], to[1], &known)) continue;
          heat[known == 1 ? 0 : 1] += c[a][side] * PetscAbsReal(PetscRealPart(value[to[1]][to[0]] - value[j][i]));
        }
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(da, local, &value));
  PetscCall(DMRestoreLocalVector(da, &local));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, heat, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetCoordinates(const Channel *channel, DM da)
{
  DM of_coordinates;
  Vec coordinates;
  DMDACoor2d **place;
  PetscInt x, y, nx, ny;

  PetscFunctionBeginUser;
  PetscCall(DMDASetUniformCoordinates(da, 0, channel->length, 0, 1, 0, 0));
  PetscCall(DMGetCoordinateDM(da, &of_coordinates));
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArray(of_coordinates, coordinates, &place));
  for (PetscInt j = y; j < y + ny; j++)
    for (PetscInt i = x; i < x + nx; i++) place[j][i].y = Place(channel, 1, j);
  PetscCall(DMDAVecRestoreArray(of_coordinates, coordinates, &place));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Channel channel                  = {{0, 0, NULL}, 4, 20, {0, 0}};
  char picture[PETSC_MAX_PATH_LEN] = "", vts[PETSC_MAX_PATH_LEN];
  PetscBool set;
  PetscReal heat[2];
  PetscInt iterations;
  DM da;
  KSP ksp;
  KSPConvergedReason reason;
  Mat A;
  Vec u, b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-length", &channel.length, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-stretch", &channel.stretch, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-picture", picture, sizeof(picture), &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-picture FILE: a PGM file is needed, whose dark parts are bodies");
  PetscCheck(channel.length > 0 && channel.stretch > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-length and -stretch must be positive");
  PetscCall(ReadPicture(picture, &channel.picture));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 257, 129, PETSC_DECIDE, PETSC_DECIDE, 1,
                         1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetInfo(da, NULL, &channel.n[0], &channel.n[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCheck(channel.n[0] > 1 && channel.n[1] > 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-da_grid_x and -da_grid_y must be at least 2");
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(PetscObjectSetName((PetscObject)u, "temperature"));
  PetscCall(VecDuplicate(u, &b));
  PetscCall(Assemble(&channel, da, A, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(Heat(&channel, da, u, heat));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %d iterations, heat from the bodies %.10g, to the walls %.10g\n",
                        KSPConvergedReasons[reason], (int)iterations, (double)heat[0], (double)heat[1]));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vts", vts, sizeof(vts), &set));
  if (set) {
    PetscViewer viewer;
    PetscCall(SetCoordinates(&channel, da));
    PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, vts, FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(u, viewer));
    PetscCall(PetscViewerDestroy(&viewer)); /* writes it */
  }
  PetscCall(PetscFree(channel.picture.grey));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
