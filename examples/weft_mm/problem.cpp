#include "problem.hpp"

#include <array>
#include <numeric>

namespace weft_mm {

static_assert(std::is_same_v<PetscScalar, Scalar>, "CMake has told this program other scalars than PETSc's");

namespace {

// Reads on rank 0; the sentence for the user, or nothing where all is well.
std::string read_problem(Problem &problem)
{
  try {
    problem.matrix = read_square_matrix(problem.path);
    problem.header = problem.matrix.header;
    if (problem.matrix.rows() > PETSC_MAX_INT)
      return problem.path + " has too many rows for this PETSc's 32-bit integers; configure PETSc --with-64-bit-indices";
    if (const std::string why = misfit(problem.grid, problem.matrix.rows(), problem.ranks); !why.empty()) return problem.path + ": " + why;
    problem.stencil                = stencil_on(problem.grid, problem.matrix);
    problem.nonzeros               = problem.matrix.nonzeros();
    problem.right_hand_side_values = make_right_hand_side(problem.right_hand_side, problem.matrix);
    return "";
  } catch (const InputError &error) {
    return error.what();
  } catch (const std::bad_alloc &) {
    return problem.path + " needs more memory than there is";
  }
}

PetscErrorCode AssembleMatrix(const Problem &problem, Mat matrix)
{
  const SparseMatrix &entries = problem.matrix;
  std::vector<PetscInt> rows(entries.row_of.begin(), entries.row_of.end()), columns(entries.row_of.size());
  std::vector<PetscScalar> values(entries.value_of.begin(), entries.value_of.end());

  PetscFunctionBeginUser;
  for (std::size_t column = 0; column + 1 < entries.column_start.size(); ++column) {
    std::fill(columns.begin() + entries.column_start[column], columns.begin() + entries.column_start[column + 1],
              static_cast<PetscInt>(column));
  }
  // Every entry is handed over by rank 0, wherever its row lives; the other ranks' lists are empty.
  PetscCall(MatSetPreallocationCOO(matrix, static_cast<PetscCount>(values.size()), rows.data(), columns.data()));
  PetscCall(MatSetValuesCOO(matrix, values.data(), INSERT_VALUES));
  // MAT_SYMMETRIC stays unset even where the file says symmetric: PETSc's default preconditioner would become ICC, which indefinite
  // matrices do not stand.
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LoadProblem(const std::string &path, const std::string &right_hand_side, const MatrixGrid &grid, Problem &problem,
                           bool &usable)
{
  PetscMPIInt rank = 0;
  std::string complaint;
  std::array<PetscInt64, 6> shared{};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &problem.ranks));
  problem.path            = path;
  problem.grid            = grid;
  problem.right_hand_side = right_hand_side;
  if (rank == 0) {
    complaint = read_problem(problem);
    if (!complaint.empty()) PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "weft_mm: %s\n", complaint.c_str()));
    const MarketHeader &header = problem.header;
    shared                     = {complaint.empty(),
                                  header.rows,
                                  header.entries,
                                  problem.nonzeros,
                                  static_cast<PetscInt64>(header.symmetry),
                                  static_cast<PetscInt64>(header.field)};
  }
  PetscCallMPI(MPI_Bcast(shared.data(), static_cast<PetscMPIInt>(shared.size()), MPIU_INT64, 0, PETSC_COMM_WORLD));
  usable              = shared[0] != 0;
  problem.header.rows = problem.header.columns = shared[1];
  problem.header.entries                       = shared[2];
  problem.nonzeros                             = shared[3];
  problem.header.symmetry                      = static_cast<Symmetry>(shared[4]);
  problem.header.field                         = static_cast<Field>(shared[5]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSystem(const Problem &problem, Mat *matrix, Vec *solution, Vec *right_hand_side)
{
  const PetscInt size = static_cast<PetscInt>(problem.header.rows);
  std::vector<PetscScalar> values(problem.right_hand_side_values.begin(), problem.right_hand_side_values.end());
  std::vector<PetscInt> positions(values.size());
  PetscInt rows = PETSC_DECIDE;
  DM dm         = nullptr;

  PetscFunctionBeginUser;
  if (problem.grid.dimension > 0) {
    PetscCall(CreateGrid(problem.grid, &dm));
    PetscCall(RowsOfRank(dm, &rows));
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(MatSetSizes(*matrix, rows, rows, size, size));
  PetscCall(MatSetFromOptions(*matrix));
  PetscCall(MatSetBindingPropagates(*matrix, PETSC_TRUE)); // with -mat_bind_below its vectors stay on the host too
  PetscCall(AssembleMatrix(problem, *matrix));
  if (dm) PetscCall(MatSetDM(*matrix, dm));
  PetscCall(DMDestroy(&dm));
  PetscCall(MatCreateVecs(*matrix, solution, right_hand_side));
  std::iota(positions.begin(), positions.end(), 0);
  PetscCall(VecSetValues(*right_hand_side, static_cast<PetscInt>(values.size()), positions.data(), values.data(), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*right_hand_side));
  PetscCall(VecAssemblyEnd(*right_hand_side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft_mm
