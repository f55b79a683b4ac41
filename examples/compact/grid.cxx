#include "grid.hpp"

#include "compact/product_field.hpp"
#include "device_view.hpp"

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

} // namespace

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
