/// Which rank has a node of a DMDA, and where: what PETSc's AO says, without a table of the whole grid on each rank.
#pragma once
#include <petscdmda.h>

#include <algorithm>
#include <array>
#include <vector>

#include "petsc/lines_from_dm.h"

namespace weft {

/// Along each direction of a grid, where the boxes begin that its ranks have, and the end of the last one.
inline PetscErrorCode GridStarts(const Grid &grid, std::array<std::vector<Index>, 3> *starts)
{
  const PetscInt *sizes[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetOwnershipRanges(grid.dm, &sizes[0], &sizes[1], &sizes[2]));
  for (std::size_t d = 0; d < 3; d++) {
    PetscCallCXX((*starts)[d].assign(1, 0));
    for (int k = 0; k < grid.ranks[d]; k++)
      PetscCallCXX((*starts)[d].push_back((*starts)[d].back() + (static_cast<int>(d) < grid.dimension ? sizes[d][k] : 1)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

class GridOwners {
public:
  /// A: a matrix on the grid, with a row for each component of a node.
  PetscErrorCode Find(const Grid &grid, Mat A)
  {
    const PetscInt *rows;

    PetscFunctionBegin;
    PetscCall(GridStarts(grid, &starts_));
    PetscCall(MatGetOwnershipRanges(A, &rows));
    components_ = grid.components;
    PetscCallCXX(rows_.assign(rows, rows + grid.ranks[0] * grid.ranks[1] * grid.ranks[2] + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  struct Place {
    PetscInt rank, row; ///< row: of the node among that rank's nodes
  };
  Place place(const Index (&at)[3]) const
  {
    Index box[3], row = 0, rank = 0;
    for (int d = 2; d >= 0; d--) {
      box[d] = after(starts_[d], at[d]);
      row    = row * (starts_[d][box[d] + 1] - starts_[d][box[d]]) + at[d] - starts_[d][box[d]];
      rank   = rank * (static_cast<Index>(starts_[d].size()) - 1) + box[d];
    }
    return {static_cast<PetscInt>(rank), static_cast<PetscInt>(row)};
  }
  /// The row of a node's component in the whole matrix.
  PetscInt row(const Index (&at)[3], Index component = 0) const
  {
    const Place here = place(at);
    return rows_[static_cast<std::size_t>(here.rank)] + static_cast<PetscInt>(component + components_ * here.row);
  }
  /// The node of a row of the whole matrix, with one row a node.
  void node(PetscInt row, Index (&at)[3]) const
  {
    Index rank = after(rows_, row), left = row - rows_[static_cast<std::size_t>(rank)];
    for (int d = 0; d < 3; d++) {
      const Index boxes = static_cast<Index>(starts_[d].size()) - 1, box = rank % boxes;
      const Index size = starts_[d][box + 1] - starts_[d][box];
      at[d]            = starts_[d][box] + left % size;
      rank /= boxes;
      left /= size;
    }
  }

private:
  /// The last interval that begins at or before a number: empty ones before it hold nothing.
  template <class Number>
  static Index after(const std::vector<Number> &starts, Number number)
  {
    return std::upper_bound(starts.begin(), starts.end(), number) - starts.begin() - 1;
  }

  std::array<std::vector<Index>, 3> starts_; ///< first nodes of the boxes along each direction
  std::vector<PetscInt> rows_;               ///< first rows of the ranks
  Index components_ = 1;
};

} // namespace weft
