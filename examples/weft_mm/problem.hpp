// The matrix and the right-hand side: read on rank 0, handed to all ranks through PETSc's coordinate assembly.
#pragma once

#include "grid.hpp"
#include "petsc_versions.hpp"
#include "reader.hpp"

#include <string>
#include <vector>

namespace weft_mm {

struct Problem {
  // On every rank:
  std::string path;
  std::string right_hand_side; // as -rhs named it
  MatrixGrid grid;
  MarketHeader header;
  PetscInt64 nonzeros = 0; // after expansion of symmetric storage
  PetscMPIInt ranks   = 1;

  // On rank 0 alone:
  SparseMatrix matrix;
  Stencil stencil; // where its entries lie on the grid
  std::vector<Scalar> right_hand_side_values;
};

// Reads the files. Where they cannot be used, rank 0 prints one sentence on stderr and usable is false on every rank.
PetscErrorCode LoadProblem(const std::string &path, const std::string &right_hand_side, const MatrixGrid &grid, Problem &problem,
                           bool &usable);

// A new matrix and vectors, of the types that the options database names at this moment. The matrix has its grid, where one is known: a DMDA,
// which MatGetDM() gives.
PetscErrorCode CreateSystem(const Problem &problem, Mat *matrix, Vec *solution, Vec *right_hand_side);

} // namespace weft_mm
