#include "grid.hpp"

#include "petsc_versions.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace weft_mm {

namespace {

const char usage_of_grid[] = "takes 1 to 3 numbers of nodes, those along x first: -grid 10,10,10";

// The whole text as a number from 1 to the largest PetscInt.
bool read_count(std::string_view text, std::int64_t &count)
{
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count >= 1 && count <= PETSC_MAX_INT;
}

// As a double: three large numbers overflow any integer.
double nodes_of(const MatrixGrid &grid)
{
  return static_cast<double>(grid.nodes[0]) * static_cast<double>(grid.nodes[1]) * static_cast<double>(grid.nodes[2]);
}

} // namespace

std::string MatrixGrid::name() const
{
  std::string text = std::to_string(nodes[0]);
  for (int d = 1; d < dimension; ++d) text += " x " + std::to_string(nodes[d]);
  return components == 1 ? text : text + " with " + std::to_string(components) + " components a node";
}

MatrixGrid read_grid(const std::string &nodes, const std::string &components, std::string &complaint)
{
  MatrixGrid grid;
  for (std::size_t start = 0; start <= nodes.size() && !nodes.empty();) {
    const std::size_t end = std::min(nodes.find(',', start), nodes.size());
    if (grid.dimension == 3 || !read_count(std::string_view(nodes).substr(start, end - start), grid.nodes[grid.dimension])) {
      complaint = "-grid " + nodes + ": it " + usage_of_grid;
      return {};
    }
    ++grid.dimension;
    start = end + 1;
  }
  if (components.empty()) return grid;
  if (grid.dimension == 0)
    complaint = "-grid-components says how many rows each node of -grid has: give the nodes too, -grid 16,23,3 -grid-components 3";
  else if (!read_count(components, grid.components))
    complaint = "-grid-components " + components + ": it takes the number of rows of a node, from 1 on";
  return grid;
}

std::string misfit(const MatrixGrid &grid, std::int64_t rows, int ranks)
{
  if (grid.dimension == 0) return "";
  const double nodes = nodes_of(grid), held = nodes * static_cast<double>(grid.components);
  if (held != static_cast<double>(rows)) {
    const bool divides = nodes < static_cast<double>(rows) && rows % static_cast<std::int64_t>(nodes) == 0;
    return "the grid " + grid.name() + " has another number of rows than the matrix, which has " + std::to_string(rows) + ": " +
           (divides
                ? "-grid-components " + std::to_string(rows / static_cast<std::int64_t>(nodes)) + " if each node has so many; else give "
                : "give ") +
           "-grid the nodes along x, y, z whose product is the number of rows, or leave it out";
  }
  const std::int64_t slabs = grid.nodes[grid.dimension - 1];
  if (slabs < ranks)
    return "the grid " + grid.name() + " is shared in slabs along " + "xyz"[grid.dimension - 1] + ", of which there are " +
           std::to_string(slabs) + " for " + std::to_string(ranks) + " ranks: take at most as many ranks, or leave -grid out";
  return "";
}

Stencil stencil_on(const MatrixGrid &grid, const SparseMatrix &matrix)
{
  Stencil found;
  const auto place = [&grid](std::int64_t row, int d) {
    std::int64_t node = row / grid.components;
    for (int k = 0; k < d; ++k) node /= grid.nodes[k];
    return node % grid.nodes[d];
  };
  for (std::int64_t column = 0; column < matrix.columns(); ++column) {
    for (auto entry = matrix.column_start[column]; entry < matrix.column_start[column + 1]; ++entry) {
      std::int64_t furthest = 0, directions = 0;
      for (int d = 0; d < grid.dimension; ++d) {
        const std::int64_t distance = std::abs(place(matrix.row_of[entry], d) - place(column, d));
        furthest                    = std::max(furthest, distance);
        directions += distance > 0;
      }
      found.far += furthest > 1;
      found.diagonals += furthest == 1 && directions > 1;
    }
  }
  return found;
}

PetscErrorCode CreateGrid(const MatrixGrid &grid, DM *dm)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  const PetscInt n[] = {static_cast<PetscInt>(grid.nodes[0]), static_cast<PetscInt>(grid.nodes[1]), static_cast<PetscInt>(grid.nodes[2])};
  const PetscInt components = static_cast<PetscInt>(grid.components);
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (grid.dimension == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, none, n[0], components, 1, nullptr, dm));
  else if (grid.dimension == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, none, none, DMDA_STENCIL_BOX, n[0], n[1], 1, ranks, components, 1, nullptr, nullptr, dm));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, none, none, none, DMDA_STENCIL_BOX, n[0], n[1], n[2], 1, 1, ranks, components, 1, nullptr,
                           nullptr, nullptr, dm));
  PetscCall(DMSetUp(*dm)); // without its options: -da_refine and the like would give it another size
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowsOfRank(DM dm, PetscInt *rows)
{
  PetscInt nodes[3], components;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(dm, nullptr, nullptr, nullptr, &nodes[0], &nodes[1], &nodes[2]));
  PetscCall(DMDAGetDof(dm, &components));
  *rows = components * nodes[0] * nodes[1] * nodes[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft_mm
