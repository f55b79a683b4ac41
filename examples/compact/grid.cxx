#include "grid.hpp"

#include <cmath>
#include <numbers>

#include "kernels/product_field.hpp"
#include "petsc/petsc_arrays.hpp"

namespace compact {

namespace {

/// What the field is at this rank's nodes, direction by direction.
weft::ProductFactors Factors(const Axes &axes, const Field &field)
{
  weft::ProductFactors factors;
  for (int k = 0; k < 3; k++) {
    for (PetscInt i = 0; i < axes.nodes[k]; i++)
      factors[(std::size_t)k].push_back(k < axes.dim ? field[(std::size_t)k]((double)(axes.first[k] + i) * (double)axes.h[k]) : 1);
  }
  return factors;
}

/// The array where its values are, if there are kernels for it, and an execution there.
PetscErrorCode OpenForKernels(weft::VecArray *array, std::unique_ptr<weft::Execution> *execution)
{
  PetscFunctionBeginUser;
  PetscCall(array->Open());
  if (!weft::has_backend(array->memory())) {
    PetscCall(array->Close());
    PetscCall(array->OpenOnHost());
  }
  PetscCall(weft::MakeExecution(array->memory(), execution));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// Coordinates that are not even where stretch or gap is not 0.
PetscErrorCode Stretch(DM da, PetscReal stretch, PetscReal gap)
{
  Vec coordinates;
  PetscScalar *x;
  PetscInt size;

  PetscFunctionBeginUser;
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 1));
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(VecGetLocalSize(coordinates, &size));
  PetscCall(VecGetArray(coordinates, &x));
  for (PetscInt i = 0; i < size; i++) {
    const PetscReal even = PetscRealPart(x[i]);
    x[i] += stretch * std::sin(2 * std::numbers::pi * even) / (2 * std::numbers::pi) + (even > 0.5 ? gap : 0);
  }
  PetscCall(VecRestoreArray(coordinates, &x));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// Boxes along the directions for which there are options.
PetscErrorCode TakeBoxes(DM da)
{
  PetscMPIInt ranks;
  PetscInt counts[3];
  std::vector<PetscInt> nodes[3];
  bool any = false;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)da), &ranks));
  PetscCall(DMDAGetInfo(da, NULL, NULL, NULL, NULL, &counts[0], &counts[1], &counts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  for (int k = 0; k < 3; k++) {
    const char option[] = {'-', 'c', 'o', 'm', 'p', 'a', 'c', 't', '_', 'b', 'o', 'x', 'e', 's', '_', "xyz"[k], 0};
    PetscInt count      = ranks;
    PetscBool given;
    nodes[k].resize((std::size_t)ranks);
    PetscCall(PetscOptionsGetIntArray(NULL, NULL, option, nodes[k].data(), &count, &given));
    nodes[k].resize(given ? (std::size_t)count : 0);
    if (given) counts[k] = count;
    any = any || given;
  }
  if (!any) PetscFunctionReturn((PetscErrorCode)0);
  const auto sizes = [&](int k) { return nodes[k].empty() ? NULL : nodes[k].data(); };
  PetscCall(DMDASetNumProcs(da, counts[0], counts[1], counts[2]));
  PetscCall(DMDASetOwnershipRanges(da, sizes(0), sizes(1), sizes(2)));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace

PetscErrorCode MakeGrid(PetscBool periodic, DM *da)
{
  PetscInt dim      = 3;
  PetscReal stretch = 0, gap = 0;
  PetscBool stretched, parted;
  const DMBoundaryType ends = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCheck(dim >= 1 && dim <= 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dim %d: grids have 1, 2 or 3 dimensions", (int)dim);
  if (dim == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, ends, 33, 1, 1, NULL, da));
  else if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, 33, 33, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, ends, ends, ends, DMDA_STENCIL_STAR, 33, 33, 33, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1,
                           1, NULL, NULL, NULL, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(TakeBoxes(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-compact_stretch", &stretch, &stretched));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-compact_gap", &gap, &parted));
  if (stretched || parted) PetscCall(Stretch(*da, stretch, gap));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode AxesOf(DM da, Axes *axes)
{
  DMBoundaryType boundary[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &axes->dim, &axes->n[0], &axes->n[1], &axes->n[2], NULL, NULL, NULL, NULL, NULL, &boundary[0], &boundary[1],
                        &boundary[2], NULL));
  PetscCall(DMDAGetCorners(da, &axes->first[0], &axes->first[1], &axes->first[2], &axes->nodes[0], &axes->nodes[1], &axes->nodes[2]));
  for (int k = 0; k < axes->dim; k++) {
    axes->ring[k] = boundary[k] == DM_BOUNDARY_PERIODIC;
    axes->h[k]    = 1 / (PetscReal)(axes->ring[k] ? axes->n[k] : PetscMax(axes->n[k] - 1, 1));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Fill(DM da, const Field &field, Vec u)
{
  Axes axes;
  std::unique_ptr<weft::Execution> execution;
  weft::VecArray array(u, weft::Access::write);

  PetscFunctionBeginUser;
  PetscCall(AxesOf(da, &axes));
  PetscCall(OpenForKernels(&array, &execution));
  PetscCallCXX(weft::fill_product(*execution, Factors(axes, field), array.data()));
  PetscCall(array.Close());
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode ErrorsOf(DM da, int direction, Vec u, const Field &field, Errors *errors)
{
  Axes axes;
  std::unique_ptr<weft::Execution> execution;
  weft::VecArray array(u, weft::Access::read);
  weft::Distance here;

  PetscFunctionBeginUser;
  PetscCall(AxesOf(da, &axes));
  // The middle half of the whole lines: 4 row is from n to 3 n.
  const PetscInt n = axes.n[direction], first = axes.first[direction], begin = (n + 3) / 4 - first, end = 3 * n / 4 + 1 - first;
  PetscCall(OpenForKernels(&array, &execution));
  PetscCallCXX(here = weft::distance_to_product(*execution, Factors(axes, field), direction, begin, end, array.data()));
  PetscCall(array.Close());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &here.most, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)da)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &here.inside, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)da)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &here.squares, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)da)));
  *errors = {here.most, PetscSqrtReal(here.squares / ((PetscReal)axes.n[0] * axes.n[1] * axes.n[2])), here.inside};
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
