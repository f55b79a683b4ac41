/// Fields that are products of functions of one coordinate, on the nodes of a DMDA, and how far a vector is from one.
#pragma once
#include <petscdmda.h>

#include <array>
#include <functional>
#include <vector>

namespace compact {

/// Nodes x_i = origin + i * spacing: on [0, 1], both ends included, or without the last node where a direction is periodic.
struct Axes {
  PetscInt dim = 0, n[3] = {1, 1, 1};
  bool ring[3]      = {};
  PetscReal h[3]    = {1, 1, 1};
  PetscInt first[3] = {}, nodes[3] = {1, 1, 1}; ///< of this rank
};
PetscErrorCode AxesOf(DM da, Axes *axes);

/// A DMDA of -dim dimensions by PETSc's options -da_grid_x, _y, _z and -da_processors_x, _y, _z; -compact_boxes_x, _y, _z: nodes of the boxes along
/// a direction, which are as even as they can be otherwise; -compact_stretch, -compact_gap: coordinates x + stretch sin(2 pi x) / (2 pi), and the gap more above 1/2.
PetscErrorCode MakeGrid(PetscBool periodic, DM *da);

using Along = std::function<double(double)>;
using Field = std::array<Along, 3>;

/// u = product of field[k](x_k) over the directions that there are.
PetscErrorCode Fill(DM da, const Field &field, Vec u);

struct Errors {
  PetscReal most = 0, mean_square = 0, middle = 0; ///< middle: the largest one in the middle half along the direction
};
PetscErrorCode ErrorsOf(DM da, int direction, Vec u, const Field &field, Errors *errors);

} // namespace compact
