// The grid that a matrix's rows lie on, which a Matrix Market file cannot say and the user may know.
#pragma once

#include "reader.hpp"

#include <petscdmda.h>

#include <cstdint>
#include <string>

namespace weft_mm {

struct MatrixGrid {
  int dimension           = 0; // 0: none is known
  std::int64_t nodes[3]   = {1, 1, 1};
  std::int64_t components = 1; // rows of a node, one after the other

  // "30 x 30", and how many unknowns a node has where there are several.
  std::string name() const;
};

// "10,10,10" (x fastest in the rows' order) and the number of components, as the user typed them. complaint: one sentence on what is wrong,
// untouched where nothing is.
MatrixGrid read_grid(const std::string &nodes, const std::string &components, std::string &complaint);

// Why so many rows on so many ranks cannot lie on this grid, and what to do; empty where they can.
std::string misfit(const MatrixGrid &grid, std::int64_t rows, int ranks);

// Where the entries lie on the grid, whose size is the matrix's.
struct Stencil {
  std::int64_t far       = 0; // entries that couple nodes further apart than neighbours, diagonal ones included
  std::int64_t diagonals = 0; // entries that couple neighbours along several directions at once
};
Stencil stencil_on(const MatrixGrid &grid, const SparseMatrix &matrix);

// A DMDA of this grid. Ranks share it in slabs of its slowest direction, so that its rows in PETSc's order are those of the file on any number
// of ranks. Collective; the caller destroys it.
PetscErrorCode CreateGrid(const MatrixGrid &grid, DM *dm);

// The rows of this rank. The grid: a DMDA of CreateGrid.
PetscErrorCode RowsOfRank(DM dm, PetscInt *rows);

} // namespace weft_mm
