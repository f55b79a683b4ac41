#include "pc/line/find_lines.h"

#include <algorithm>

#include "block_tridiagonal/block_line_solver.hpp"
#include "lines_from_map.h"
#include "pc/line/line_matrix.h"
#include "pc/line/map_lines.hpp"
#include "tridiagonal/single_line_solver.hpp"
#if defined(WEFT_DISTRIBUTED)
#include "distributed/distributed_line_solver.hpp"
#include "distributed/outside_couplings.hpp"
#endif

namespace weft {

std::vector<LinePiece> LinePieces(int direction, const Index nodes[3], Index components, const Index first[3], bool four)
{
  const LineLayout whole = lines_of_box(direction, nodes, components, first);
  if (!four) return {{whole, 0}};
  const int across[2] = {direction == 0 ? 1 : 0, direction == 2 ? 1 : 2};
  std::vector<LinePiece> pieces;
  for (int colour = 0; colour < 4; colour++) {
    LinePiece piece{whole, 0};
    for (int k = 0; k < 2; k++) {
      const Index skip       = ((colour >> k & 1) + first[across[k]]) & 1; // parities count in the whole grid
      piece.layout.across[k] = (whole.across[k] + 1 - skip) / 2;
      piece.layout.across_stride[k] *= 2;
      piece.offset += skip * whole.across_stride[k];
    }
    pieces.push_back(piece);
  }
  return pieces;
}

namespace {

// On all ranks or on none.
PetscErrorCode AllRanks(PC pc, bool here, bool *all)
{
  PetscMPIInt mine = here, every;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &every, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  *all = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(WEFT_DISTRIBUTED)
// For each line the column, of the part of the matrix that holds other ranks' columns, of the row before or after it.
PetscErrorCode OutsideColumns(Mat rows, const Grid &grid, const LocalMatrix &matrix, int direction, int side, const LinePiece &piece,
                              std::vector<std::int64_t> *columns)
{
  std::vector<PetscInt> across;

  PetscFunctionBegin;
  PetscCall(GridRowsAcross(rows, grid, direction, side, piece.layout, piece.offset, &across));
  const PetscInt *begin = matrix.outside_columns, *end = begin + matrix.outside_size;
  columns->clear();
  for (PetscInt row : across) {
    const PetscInt *found = std::lower_bound(begin, end, row);
    columns->push_back(row >= 0 && found != end && *found == row ? found - begin : -1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The couplings of the ends of a piece's lines to rows of other ranks, to be read.
PetscErrorCode CouplingsOutside(Mat rows, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece,
                                const Execution &execution, std::shared_ptr<OutsideCouplings<PetscScalar>> *couplings)
{
  std::vector<std::int64_t> before, after;

  PetscFunctionBegin;
  PetscCall(OutsideColumns(rows, grid, matrix, direction, -1, piece, &before));
  PetscCall(OutsideColumns(rows, grid, matrix, direction, 1, piece, &after));
  PetscCallCXX(*couplings = std::make_shared<OutsideCouplings<PetscScalar>>(execution, piece.layout, before, after));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// The directions in which some part of the grid is stiff, or that which couples most; the same for every number of ranks.
PetscErrorCode StiffDirections(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, std::vector<int> *directions)
{
  PC_Line *line    = Data(pc);
  const Grid &grid = line->grid;
  CouplingStrengths strengths;
  BoxFaces<PetscScalar> faces;
  double here[7], total[7];
  int strongest = 0;

  PetscFunctionBegin;
#if defined(WEFT_DISTRIBUTED)
  std::shared_ptr<OutsideCouplings<PetscScalar>> outside[3];
  for (int k = 0; k < grid.dimension; k++) {
    if (grid.ranks[k] == 1) continue;
    const LinePiece piece{lines_of_box(k, grid.nodes, grid.components, grid.first), 0};
    PetscCall(CouplingsOutside(rows, grid, matrix, k, piece, execution, &outside[k]));
    PetscCallCXX(outside[k]->read(matrix.outside));
    faces.before[k] = outside[k]->before();
    faces.after[k]  = outside[k]->after();
  }
#endif
  for (int k = 0; k < grid.dimension; k++) faces.wraps[k] = grid.periodic[k] && grid.ranks[k] == 1;
  PetscCallCXX(strengths = coupling_strengths(execution, grid.nodes, grid.components, matrix.inside, faces));
  std::copy(strengths.sum.begin(), strengths.sum.end(), here);
  std::copy(strengths.rows.begin(), strengths.rows.end(), here + 3);
  here[6] = static_cast<double>(matrix.rows);
  PetscCallMPI(MPI_Allreduce(here, total, 7, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscInfo(pc, "couplings along x, y, z: %g %g %g; rows that are stiff along them: %g %g %g of %g\n", total[0], total[1],
                      total[2], total[3], total[4], total[5], total[6]));
  directions->clear();
  for (int k = 0; k < line->grid.dimension; k++) {
    if (total[3 + k] > 0.01 * total[6]) directions->push_back(k);
    // Equal couplings, up to rounding, are a tie that the first direction wins.
    if (total[k] > total[strongest] * (1 + 1e-6)) strongest = k;
  }
  if (directions->empty()) directions->push_back(strongest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindDirections(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, std::vector<int> *directions)
{
  PC_Line *line                                     = Data(pc);
  static const std::vector<int> named[PC_LINE_AUTO] = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};

  PetscFunctionBegin;
  if (line->direction == PC_LINE_AUTO) {
    PetscCall(StiffDirections(pc, rows, execution, matrix, directions));
  } else {
    *directions = named[line->direction];
    PetscCheck(directions->back() < line->grid.dimension, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_line_direction %s: this grid has %d dimension%s", line_directions[line->direction], line->grid.dimension,
               line->grid.dimension == 1 ? "" : "s");
  }
  PetscCheck(line->plane_cycles == 0 || directions->size() == 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_line_plane_cycles needs the two directions of the planes: -pc_line_direction xy, xz or yz");
  PetscCheck(line->plane_cycles == 0 || line->grid.dimension == 3, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_line_plane_cycles needs a grid of 3 dimensions, and this one has %d", line->grid.dimension);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Blocks keep to their rank.
bool Crosses(const PC_Line &line, const LineShape &shape, int direction)
{
  return line.ranks == PC_LINE_EXACT && line.grid.ranks[direction] > 1 && !shape.together;
}

// The tridiagonal equations of a piece. A ring of two rows couples them twice, and the matrix has stored the sum already.
LineProblem ProblemOf(const PC_Line &line, std::size_t k, const LineLayout &layout)
{
  LineProblem problem(layout);
  const int direction = line.shape.directions[k];
  problem.periodic    = line.shape.source == PC_LINE_GRID && line.grid.periodic[direction] && line.grid.global[direction] > 2 &&
                     (line.grid.ranks[direction] == 1 || Crosses(line, line.shape, direction));
  if (!line.shape.closures.empty()) {
    problem.coefficients = Coefficients::constant;
    problem.closure      = line.shape.closures[k];
  }
  return problem;
}

// Lines whose coefficients do not change, for the kernel that needs them: on all ranks or on none. Those that go on on other ranks couple to
// these all alike.
PetscErrorCode FindConstant(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, const LineShape &shape, int direction,
                            ConstantLines<PetscScalar> *constant)
{
  PC_Line *line           = Data(pc);
  const bool grid         = shape.source == PC_LINE_GRID;
  const LineLayout layout = grid ? lines_of_box(direction, line->grid.nodes, shape.components, line->grid.first) : one_line(matrix.rows);
  LineProblem problem(layout);
  std::optional<ConstantLines<PetscScalar>> found;
  bool all;

  PetscFunctionBegin;
  problem.periodic = grid && line->grid.periodic[direction] && line->grid.global[direction] > 2 && line->grid.ranks[direction] == 1;
  PetscCallCXX(found = constant_lines(execution, problem, matrix.inside));
#if defined(WEFT_DISTRIBUTED)
  if (grid && Crosses(*line, shape, direction)) {
    std::shared_ptr<OutsideCouplings<PetscScalar>> outside;
    std::optional<std::array<PetscScalar, 2>> couplings;
    PetscCall(CouplingsOutside(rows, line->grid, matrix, direction, {layout, 0}, execution, &outside));
    PetscCallCXX(outside->read(matrix.outside));
    PetscCallCXX(couplings = outside->shared());
    if (!couplings) found.reset();
    if (found) found->lower.front() = (*couplings)[0], found->upper.back() = (*couplings)[1];
  }
#else
  (void)rows;
#endif
  PetscCall(AllRanks(pc, found || layout.rows() == 0, &all));
  PetscCheck(
      all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "-pc_line_kernel toeplitz needs lines whose coefficients do not change along them, but for %d rows at either end, and some line of "
      "this matrix has others: take another kernel, or auto",
      (int)most_closure);
  *constant = found.value_or(ConstantLines<PetscScalar>{});
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A kernel may refuse lines, or the parameters that it was given.
PetscErrorCode CheckKernel(PC pc, const LineProblem &problem, bool blocks)
{
  PC_Line *line = Data(pc);
  std::optional<std::string> why;
  bool all;

  PetscFunctionBegin;
  if (blocks) {
    if (line->kernel != "auto")
      PetscCallCXX(why = block_tridiagonal_method_refuses("block-" + line->kernel, problem.layout, line->kernel_parameters));
  } else if (line->kernel != "auto") {
    PetscCallCXX(why = tridiagonal_method_refuses(line->kernel, problem, line->kernel_parameters));
  }
  PetscCall(AllRanks(pc, !why, &all));
  PetscCheck(all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_line_kernel %s%s: %s", line->kernel.c_str(),
             blocks ? " for lines of blocks" : "", why ? why->c_str() : "refuses the lines of another rank");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int Colours(const PC_Line &line)
{
  if (line.shape.source != PC_LINE_GRID || (line.ordering == PC_LINE_JACOBI && line.plane_cycles == 0)) return 1;
  return line.plane_cycles > 0 || (line.ordering == PC_LINE_MULTICOLOR && line.grid.dimension == 3) ? 4 : 2;
}

CsrMatrix<PetscScalar, PetscInt> From(const CsrMatrix<PetscScalar, PetscInt> &matrix, Index offset)
{
  CsrMatrix<PetscScalar, PetscInt> part = matrix;
  part.first                            = offset;
  return part;
}

// Lines that end on this rank: of scalars, in either precision.
template <class Solver>
std::unique_ptr<LineSet> LocalLines(const PC_Line &line, std::size_t k, const Execution &execution, const std::vector<LinePiece> &pieces,
                                    std::string kind)
{
  const auto make = [&line, k](const Execution &where, const LinePiece &piece) {
    return std::make_unique<Solver>(where, ProblemOf(line, k, piece.layout), line.kernel, line.kernel_parameters);
  };
  const auto read = [&line, k, pieces](Solver &solver, std::size_t p, const LocalMatrix &matrix) {
    if (line.constants.empty())
      solver.read(From(matrix.inside, pieces[p].offset));
    else
      solver.read(line.constants[k]);
  };
  const auto own = [](Index row) { return std::optional(row); };
  return std::make_unique<GridLines<Solver>>(execution, pieces, Colours(line), std::move(kind), make, read, own);
}

std::unique_ptr<LineSet> BlockLinesOf(const PC_Line &line, const Execution &execution, const std::vector<LinePiece> &pieces)
{
  using Solver    = BlockLineSolver<PetscScalar>;
  const auto make = [&line](const Execution &where, const LinePiece &piece) {
    return std::make_unique<Solver>(where, piece.layout, line.kernel == "auto" ? "auto" : "block-" + line.kernel, line.kernel_parameters);
  };
  const auto read = [pieces](Solver &solver, std::size_t p, const LocalMatrix &matrix) {
    solver.read(From(matrix.inside, pieces[p].offset));
  };
  const auto own = [](Index row) { return std::optional(row); };
  return std::make_unique<GridLines<Solver>>(execution, pieces, Colours(line), " of blocks", make, read, own);
}

#if defined(WEFT_DISTRIBUTED)
// Lines that go on on other ranks.
PetscErrorCode SharedLines(PC pc, Mat rows, const LocalMatrix &matrix, std::size_t k, const Execution &execution,
                           const std::vector<LinePiece> &pieces, std::unique_ptr<LineSet> *set)
{
  using Solver        = DistributedLineSolver<PetscScalar>;
  PC_Line *line       = Data(pc);
  const int direction = line->shape.directions[k];
  std::vector<std::shared_ptr<OutsideCouplings<PetscScalar>>> couplings;
  MPI_Comm comm;

  PetscFunctionBegin;
  PetscCall(GridLineComm(PetscObjectComm((PetscObject)pc), line->grid, direction, &comm));
  line->comms.push_back(comm);
  if (line->constants.empty()) { // else they hold the couplings too
    for (const LinePiece &piece : pieces) {
      couplings.emplace_back();
      PetscCall(CouplingsOutside(rows, line->grid, matrix, direction, piece, execution, &couplings.back()));
    }
  }
  const bool device_messages = DeviceMessages();
  const auto make            = [pc, line, k, comm, device_messages](const Execution &where, const LinePiece &piece) {
    auto solver =
        std::make_unique<Solver>(where, comm, ProblemOf(*line, k, piece.layout), line->kernel, line->kernel_parameters, device_messages);
    solver->observe([pc](SolveStep step, bool begins) {
      const PetscLogEvent event = line_step_events[static_cast<int>(step)];
      if (begins)
        PetscCallAbort(PETSC_COMM_SELF, PetscLogEventBegin(event, pc, 0, 0, 0));
      else
        PetscCallAbort(PETSC_COMM_SELF, PetscLogEventEnd(event, pc, 0, 0, 0));
    });
    return solver;
  };
  const auto read = [line, k, pieces, couplings](Solver &solver, std::size_t p, const LocalMatrix &from) {
    if (!line->constants.empty()) {
      solver.read(line->constants[k]);
      return;
    }
    CsrMatrix<PetscScalar, PetscInt> outside = from.outside;
    outside.row_starts += pieces[p].offset; // its columns are those of other ranks, whatever the piece
    couplings[p]->read(outside);
    solver.read(From(from.inside, pieces[p].offset), couplings[p]->before(), couplings[p]->after());
  };
  const Index first = line->grid.first[direction], nodes = line->grid.nodes[direction];
  const auto own = [first, nodes](Index row) { return row >= first && row < first + nodes ? std::optional(row - first) : std::nullopt; };
  PetscCallCXX(*set = std::make_unique<GridLines<Solver>>(execution, pieces, Colours(*line), " across ranks", make, read, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode GridSet(PC pc, Mat rows, const LocalMatrix &matrix, std::size_t k, const Execution &execution, std::unique_ptr<LineSet> *set)
{
  PC_Line *line       = Data(pc);
  const int direction = line->shape.directions[k];
  const std::vector<LinePiece> pieces =
      LinePieces(direction, line->grid.nodes, line->grid.components, line->grid.first, Colours(*line) == 4);

  PetscFunctionBegin;
  for (const LinePiece &piece : pieces) PetscCall(CheckKernel(pc, ProblemOf(*line, k, piece.layout), line->shape.together));
  if (line->shape.together) PetscCallCXX(*set = BlockLinesOf(*line, execution, pieces));
#if defined(WEFT_DISTRIBUTED)
  else if (Crosses(*line, line->shape, direction))
    PetscCall(SharedLines(pc, rows, matrix, k, execution, pieces, set));
#endif
  else if (line->precision == PC_LINE_SINGLE)
    PetscCallCXX(*set = LocalLines<SingleLineSolver>(*line, k, execution, pieces, " in single precision"));
  else if (line->stencil && pieces.size() == 1)
    PetscCallCXX(*set = std::make_unique<StencilLines>(*line->stencil, ProblemOf(*line, k, pieces.front().layout), Colours(*line),
                                                       line->kernel, line->kernel_parameters));
  else
    PetscCallCXX(*set = LocalLines<LineSolver<PetscScalar>>(*line, k, execution, pieces, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What brings the unknowns of other ranks that rows of this one couple to.
PetscErrorCode MakeGhosts(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution)
{
  PC_Line *line = Data(pc);
  Mat outside;
  Vec all;
  IS columns;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(rows, NULL, &outside, NULL));
  PetscCall(MatCreateVecs(outside, &line->ghosts, NULL));
  PetscCall(MatCreateVecs(rows, &all, NULL));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), matrix.outside_size, matrix.outside_columns, PETSC_USE_POINTER, &columns));
  PetscCall(VecScatterCreate(all, columns, line->ghosts, NULL, &line->bring_ghosts));
  PetscCall(ISDestroy(&columns));
  PetscCall(VecDestroy(&all));
  PetscCallCXX(line->outside = std::make_unique<OutsideRows<PetscScalar>>(execution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix in diagonals, where lines can make use of it: a grid whose lines end on this rank, more than one pass, or sweeps from a guess.
PetscErrorCode MakeStencil(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution)
{
  PC_Line *line = Data(pc);
  PetscBool parallel;
  bool crosses = false, all;

  PetscFunctionBegin;
  for (const int direction : line->shape.directions) crosses = crosses || Crosses(*line, line->shape, direction);
  if (crosses || line->shape.together || !line->shape.closures.empty() || line->precision == PC_LINE_SINGLE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(line->stencil = std::make_unique<StencilMatrix<PetscScalar>>(execution, matrix.rows));
  PetscCallCXX(line->stencil->read(matrix.inside));
  PetscCall(AllRanks(pc, line->stencil->in_diagonals(), &all));
  if (!all) line->stencil.reset();
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)rows, MATMPIAIJ, &parallel));
  if (line->stencil && parallel) PetscCall(MakeGhosts(pc, rows, matrix, execution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the unknowns of a node are solved for together: if that is asked for, or if the matrix couples them.
PetscErrorCode FindTogether(PC pc, const Execution &execution, const LocalMatrix &matrix, LineShape *shape)
{
  PC_Line *line = Data(pc);
  const Index b = line->grid.components;
  bool apart    = true;

  PetscFunctionBegin;
  PetscCheck(line->components != PC_LINE_TOGETHER || b <= BlockLines::largest_block, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_line_components together: a node has %d unknowns and lines of blocks take at most %d; use apart", (int)b,
             BlockLines::largest_block);
  shape->together = line->components == PC_LINE_TOGETHER && b > 1;
  if (line->components != PC_LINE_COMPONENTS_AUTO || b == 1 || b > BlockLines::largest_block || line->kernel == "toeplitz" ||
      line->line_matrix)
    PetscFunctionReturn(PETSC_SUCCESS);
  for (int direction : shape->directions) {
    bool couple;
    PetscCallCXX(couple = components_couple(execution, lines_of_box(direction, line->grid.nodes, b, line->grid.first), matrix.inside));
    apart = apart && !couple;
  }
  PetscCall(AllRanks(pc, apart, &apart));
  shape->together = !apart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The lines of a map: the user's, or those of the matrix's graph.
PetscErrorCode MapSet(PC pc, const LocalMatrix &matrix, const Execution &execution, std::unique_ptr<LineSet> *set)
{
  PC_Line *line = Data(pc);
  std::unique_ptr<LineMap> map;
  std::optional<std::string> why;
  bool works;
  ForestOptions options;

  PetscFunctionBegin;
  // Couplings of an eighth of the diagonal or less gain nothing in a line: where all are alike (nine points) it winds about, and does worse than its
  // rows alone.
  options.least_weight = 0.13;
  if (line->shape.source == PC_LINE_MAP)
    PetscCallCXX(map = std::make_unique<LineMap>(execution, matrix.rows, line->users_lines));
  else
    PetscCallCXX(map = std::make_unique<LineMap>(execution, matrix.rows, matrix.inside, options));
  if (line->ordering != PC_LINE_JACOBI) PetscCallCXX(map->colour(matrix.inside));
  PetscMPIInt colours = PetscMax(map->colours(), 1), most;
  PetscCallMPI(MPI_Allreduce(&colours, &most, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (line->kernel != "auto") PetscCallCXX(why = mapped_method_refuses(line->kernel, *map, line->kernel_parameters));
  PetscCall(AllRanks(pc, !why, &works));
  PetscCheck(works, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_line_kernel %s: %s", line->kernel.c_str(),
             why ? why->c_str() : "refuses the lines of another rank");
  if (line->precision == PC_LINE_SINGLE)
    PetscCallCXX(*set = std::make_unique<MapLines<float>>(std::move(map), most, line->kernel, line->kernel_parameters));
  else
    PetscCallCXX(*set = std::make_unique<MapLines<PetscScalar>>(std::move(map), most, line->kernel, line->kernel_parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where lines come from, if it is left open: a map, a grid, the graph of the matrix.
PetscErrorCode FindSource(PC pc, LineShape *shape)
{
  PC_Line *line       = Data(pc);
  const bool has_grid = line->grid.dimension > 0;
  bool has_map        = false;

  PetscFunctionBegin;
  line->users_lines = {};
  if (line->source == PC_LINE_MAP || line->source == PC_LINE_SOURCE_AUTO)
    PetscCall(LinesFromMap(pc->pmat, line->file.c_str(), &line->users_lines, &has_map));
  PetscCheck(
      has_map || line->source != PC_LINE_MAP, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
      "-pc_line_source map needs a map: name a file by -pc_line_file, or compose an IS or a PetscSection called \"%s\" with the matrix",
      line_map_name);
  PetscCheck(
      has_grid || line->source != PC_LINE_GRID, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
      "-pc_line_source grid needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM), or make "
      "the matrix with DMCreateMatrix");
  shape->source = line->source != PC_LINE_SOURCE_AUTO ? line->source : has_map ? PC_LINE_MAP : has_grid ? PC_LINE_GRID : PC_LINE_GRAPH;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode FindLines(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, LineShape *shape)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(GridFromPC(pc, &line->grid));
  PetscCall(FindSource(pc, shape));
  shape->memory = matrix.memory;
  line->constants.clear();
  if (shape->source != PC_LINE_GRID) {
    PetscCheck(line->direction == PC_LINE_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_direction %s needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM), "
               "make the matrix with DMCreateMatrix, or leave the direction at auto",
               line_directions[line->direction]);
    PetscCheck(line->plane_cycles == 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_plane_cycles needs a grid of 3 dimensions and none is known for this matrix");
  }
  if (line->line_matrix) PetscCall(CheckLineMatrix(pc, *shape));
  if (shape->source == PC_LINE_GRID) {
    PetscCall(FindDirections(pc, rows, execution, matrix, &shape->directions));
    std::copy_n(line->grid.nodes, 3, shape->nodes.begin());
    std::copy_n(line->grid.first, 3, shape->first.begin());
    shape->components = line->grid.components;
    PetscCall(FindTogether(pc, execution, matrix, shape));
  }
  if (shape->source == PC_LINE_ROWS) {
    PetscCheck(line->ordering == PC_LINE_JACOBI, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_ordering %s: the rows of each rank form one line; use jacobi", line_orderings[line->ordering]);
    shape->directions = {0};
    shape->nodes      = {matrix.rows, 1, 1};
  }
  PetscCheck(line->kernel != "toeplitz" || shape->source == PC_LINE_GRID || shape->source == PC_LINE_ROWS, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP,
             "-pc_line_kernel toeplitz needs lines whose coefficients do not change along them, of a grid, or of the rows in their order "
             "(-pc_line_source rows)");
  if (line->line_matrix || (line->kernel == "toeplitz" && (shape->source == PC_LINE_GRID || shape->source == PC_LINE_ROWS))) {
    for (int direction : shape->directions) {
      line->constants.emplace_back();
      if (line->line_matrix)
        PetscCall(ConstantFromLineMatrix(pc, line->line_matrix, line->grid, direction, &line->constants.back()));
      else
        PetscCall(FindConstant(pc, rows, execution, matrix, *shape, direction, &line->constants.back()));
      shape->closures.push_back(line->constants.back().closure);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeLineSets(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution,
                            std::vector<std::unique_ptr<LineSet>> *sets)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  if (line->shape.source == PC_LINE_ROWS) {
    const LineLayout layout = one_line(matrix.rows);
    PetscCall(CheckKernel(pc, ProblemOf(*line, 0, layout), false));
    if (line->precision == PC_LINE_SINGLE)
      PetscCallCXX(sets->push_back(LocalLines<SingleLineSolver>(*line, 0, execution, {{layout, 0}}, " in single precision")));
    else
      PetscCallCXX(sets->push_back(LocalLines<LineSolver<PetscScalar>>(*line, 0, execution, {{layout, 0}}, "")));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (line->shape.source != PC_LINE_GRID) {
    sets->emplace_back();
    PetscCall(MapSet(pc, matrix, execution, &sets->back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MakeStencil(pc, rows, matrix, execution));
  for (std::size_t k = 0; k < line->shape.directions.size(); k++) {
    sets->emplace_back();
    PetscCall(GridSet(pc, rows, matrix, k, execution, &sets->back()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
