#include "grid.hpp"

#include <cmath>

namespace compact {

namespace {

/// What the field is at this rank's nodes, direction by direction.
std::array<std::vector<double>, 3> Values(const Axes &axes, const Field &field)
{
  std::array<std::vector<double>, 3> values;
  for (int k = 0; k < 3; k++) {
    for (PetscInt i = 0; i < axes.nodes[k]; i++)
      values[(std::size_t)k].push_back(k < axes.dim ? field[(std::size_t)k]((double)(axes.first[k] + i) * (double)axes.h[k]) : 1);
  }
  return values;
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
  PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(AxesOf(da, &axes));
  const auto values = Values(axes, field);
  PetscCall(VecGetArrayWrite(u, &array));
  PetscScalar *to = array;
  for (double z : values[2]) {
    for (double y : values[1]) {
      for (double x : values[0]) *to++ = x * y * z;
    }
  }
  PetscCall(VecRestoreArrayWrite(u, &array));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode ErrorsOf(DM da, int direction, Vec u, const Field &field, Errors *errors)
{
  Axes axes;
  const PetscScalar *array;
  PetscReal largest[2] = {0, 0}, sum = 0;

  PetscFunctionBeginUser;
  PetscCall(AxesOf(da, &axes));
  const auto values = Values(axes, field);
  PetscCall(VecGetArrayRead(u, &array));
  const PetscScalar *from = array;
  PetscInt at[3];
  for (at[2] = 0; at[2] < axes.nodes[2]; at[2]++) {
    for (at[1] = 0; at[1] < axes.nodes[1]; at[1]++) {
      for (at[0] = 0; at[0] < axes.nodes[0]; at[0]++) {
        const double expected = values[0][(std::size_t)at[0]] * values[1][(std::size_t)at[1]] * values[2][(std::size_t)at[2]];
        const PetscReal error = std::abs(*from++ - expected);
        const PetscInt row    = axes.first[direction] + at[direction];
        if (!(error <= largest[0])) largest[0] = error; // NaN stays
        if (4 * row >= axes.n[direction] && 4 * row <= 3 * axes.n[direction] && !(error <= largest[1])) largest[1] = error;
        sum += error * error;
      }
    }
  }
  PetscCall(VecRestoreArrayRead(u, &array));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)da)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)da)));
  *errors = {largest[0], PetscSqrtReal(sum / ((PetscReal)axes.n[0] * axes.n[1] * axes.n[2])), largest[1]};
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
