// PCLINE's choice of lines: from where, in which directions, of which unknowns.
#include <algorithm>
#include <string_view>

#include "line/blocks/block_line_solver.hpp"
#include "line/line_impl.h"
#include "line/lines_from_map.h"

namespace weft {

namespace {

// The directions in which some part of the grid is stiff, or that which couples most; the same for every number of ranks.
PetscErrorCode StiffDirections(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, std::vector<int> *directions)
{
  PC_Line *line    = Data(pc);
  const Grid &grid = line->grid;
  CouplingStrengths strengths;
  BoxFaces<KernelScalar> faces;
  double here[7], total[7];
  int strongest = 0;

  PetscFunctionBegin;
#if defined(WEFT_DISTRIBUTED)
  std::shared_ptr<CouplingsAcross> outside[3];
  for (int k = 0; k < grid.dimension; k++) {
    if (grid.ranks[k] == 1) continue;
    const LinePiece piece{lines_of_box(k, grid.nodes, grid.components, grid.first), 0};
    PetscCall(MakeCouplingsAcross(rows, grid, matrix, k, piece, 1, execution, &outside[k]));
    PetscCallCXX(ReadAcross(*outside[k], grid, matrix, k, piece));
    faces.before[k] = outside[k]->before();
    faces.after[k]  = outside[k]->after();
  }
#endif
  for (int k = 0; k < grid.dimension; k++) faces.wraps[k] = grid.periodic[k] && grid.ranks[k] == 1;
  PetscCallCXX(strengths = coupling_strengths(execution, grid.nodes, grid.components, matrix.inside, faces));
  std::copy(strengths.sum.begin(), strengths.sum.end(), here);
  std::copy(strengths.rows.begin(), strengths.rows.end(), here + 3);
  here[6] = static_cast<double>(matrix.rows);
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
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

// The coefficients of the lines of a piece, if they are constant; those that go on on other ranks couple to these all alike.
PetscErrorCode ConstantOfPiece(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, int direction,
                               const LinePiece &piece, std::optional<ConstantLines<KernelScalar>> *found)
{
  PC_Line *line = Data(pc);
  LineProblem problem(piece.layout);
  CsrMatrix<KernelScalar, PetscInt> part = matrix.inside;

  PetscFunctionBegin;
  problem.periodic = Closes(*line, direction) && !Crosses(*line, direction);
  part.first       = piece.offset;
  PetscCallCXX(*found = constant_lines(execution, problem, part));
#if defined(WEFT_DISTRIBUTED)
  if (*found && Crosses(*line, direction)) {
    std::shared_ptr<CouplingsAcross> outside;
    std::optional<std::array<KernelScalar, 2>> couplings;
    PetscCall(MakeCouplingsAcross(rows, line->grid, matrix, direction, piece, 1, execution, &outside));
    PetscCallCXX(ReadAcross(*outside, line->grid, matrix, direction, piece));
    PetscCallCXX(couplings = outside->shared());
    if (!couplings) found->reset();
    if (*found) (*found)->lower.front() = (*couplings)[0], (*found)->upper.back() = (*couplings)[1];
  }
#else
  (void)rows;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Lines whose coefficients do not change, on all ranks or on none: all of them alike, or those at the edges of the grid by themselves.
PetscErrorCode FindConstant(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, Index components, int direction,
                            LineShape::Constant *shape, std::vector<ConstantLines<KernelScalar>> *constants, bool *all)
{
  const Grid &grid = Data(pc)->grid;

  PetscFunctionBegin;
  *shape         = {};
  shape->closure = std::min(most_closure, grid.nodes[direction] / 2);
  *all           = false;
  for (bool edges : {false, true}) {
    const std::vector<LinePiece> pieces = LinePieces(direction, grid.nodes, components, grid.first, {false, edges, grid.global});
    bool here                           = true;
    constants->assign(9, {});
    for (const LinePiece &piece : pieces) {
      std::optional<ConstantLines<KernelScalar>> found;
      if (!here) break;
      if (piece.layout.rows() == 0) // nothing to solve
        found = ConstantLines<KernelScalar>{0, {0}, {1}, {0}};
      else
        PetscCall(ConstantOfPiece(pc, rows, execution, matrix, direction, piece, &found));
      here = found.has_value();
      if (here) (*constants)[piece.kind] = *found;
    }
    PetscCall(AllRanks(pc, here, all));
    shape->own_at_edges = edges;
    if (*all) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Constant coefficients, where the kernel needs them or is the faster for them.
PetscErrorCode FindConstants(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, LineShape *shape)
{
  PC_Line *line       = Data(pc);
  const bool asked    = line->kernel == "toeplitz";
  const bool one_pass = AllAtOnce(*line) && shape->colours == 1 && shape->directions.size() == 1 && line->sweeps == 1;
  bool worth          = asked;

  PetscFunctionBegin;
  if (!asked && line->kernel == "auto" && one_pass && !shape->together) {
    const int direction = shape->directions.front();
    LineProblem problem(lines_of_box(direction, line->grid.nodes, shape->components, line->grid.first));
    problem.coefficients = Coefficients::constant;
    problem.closure      = std::min(most_closure, problem.layout.length / 2);
    const bool fast =
        std::string_view("toeplitz") == fastest_tridiagonal_method(problem, matrix.memory == Memory::device, line->kernel_parameters);
    PetscCall(AllRanks(pc, problem.layout.rows() == 0 || fast, &worth));
  }
  if (!worth) PetscFunctionReturn(PETSC_SUCCESS);
  for (int direction : shape->directions) {
    LineShape::Constant constant;
    bool all;
    line->constants.emplace_back();
    PetscCall(FindConstant(pc, rows, execution, matrix, shape->components, direction, &constant, &line->constants.back(), &all));
    // Of a first set-up the option is wrong, of new values the values are.
    line->not_constant = !all && asked;
    PetscCheck(
        !line->not_constant || pc->setupcalled, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
        "-pc_line_kernel toeplitz needs lines that are all alike, or all alike but for those at the edges of the grid, and whose "
        "coefficients do not change along them on a rank but for %d rows at either end, and some line of this matrix has others: take "
        "another kernel, or auto",
        (int)most_closure);
    if (line->not_constant) PetscFunctionReturn(PETSC_SUCCESS);
    shape->constant.push_back(constant);
    if (all) continue;
    line->constants.clear();
    shape->constant.clear();
    break;
  }
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
    bool couple = false;
    PetscCallCXX(couple = components_couple(execution, lines_of_box(direction, line->grid.nodes, b, line->grid.first), matrix.inside));
    apart = apart && !couple;
  }
  PetscCall(AllRanks(pc, apart, &apart));
  shape->together = !apart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether lines along one direction are all that the matrix couples.
PetscErrorCode FindDirect(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, const MatrixLook &look,
                          const LineShape &shape)
{
  PC_Line *line     = Data(pc);
  const Grid &grid  = line->grid;
  PetscInt64 beyond = 0;
  bool inside;

  PetscFunctionBegin;
  if (shape.directions.size() != 1 || line->line_matrix) PetscFunctionReturn(PETSC_SUCCESS);
  const int along        = shape.directions.front();
  const LineLayout lines = lines_of_box(along, grid.nodes, grid.components, grid.first);
  const bool across      = Crosses(*line, along);
  if (grid.ranks[along] > 1 && !across) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(beyond = couplings_beyond(execution, lines, shape.together, Closes(*line, along) && !across, matrix.inside));
  PetscCall(AllRanks(pc, beyond == 0, &inside));
  if (!inside || look.elsewhere == 0 || !across || (grid.periodic[along] && !Closes(*line, along))) {
    line->direct = inside && look.elsewhere == 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(WEFT_DISTRIBUTED)
  std::shared_ptr<CouplingsAcross> couplings;
  PetscInt64 here, carried;
  LinePiece whole;
  whole.layout = lines;
  PetscCall(MakeCouplingsAcross(rows, grid, matrix, along, whole, shape.together ? grid.components : 1, execution, &couplings));
  PetscCallCXX(ReadAcross(*couplings, grid, matrix, along, whole));
  PetscCallCXX(here = couplings->nonzeros());
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&here, &carried, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  line->direct = carried == look.elsewhere;
#else
  (void)rows;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Lines of the graph are lines of blocks where that is asked for, and the matrix has a block size.
PetscErrorCode FindBlocksOfGraph(PC pc, LineShape *shape)
{
  PC_Line *line = Data(pc);
  PetscInt block;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(pc->pmat, &block));
  shape->components = block;
  if (line->components != PC_LINE_TOGETHER || block <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(block <= BlockLines::largest_block, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_line_components together: a node has %d unknowns and lines of blocks take at most %d; use apart", (int)block,
             BlockLines::largest_block);
  PetscCheck(AllAtOnce(*line), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_line_ordering %s: lines of blocks that follow the matrix's couplings are relaxed at once; use jacobi, or "
             "-pc_line_components apart",
             line_orderings[line->ordering]);
  shape->together = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where lines come from, if it is left open: a map, a grid, the graph of the matrix.
PetscErrorCode FindSource(PC pc, const MatrixLook &look, LineShape *shape)
{
  PC_Line *line       = Data(pc);
  const bool has_grid = line->grid.dimension > 0;
  PetscInt unknowns;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(pc->pmat, &unknowns)); // of a node
  unknowns = PetscMax(unknowns, (PetscInt)line->grid.components);
  // One tridiagonal system: its rows are a line, whatever grid they are said to be of, unless the grid's lines hold all of it too.
  const bool one_line = look.beside == 0 && !line->line_matrix && line->direction == PC_LINE_AUTO && line->plane_cycles == 0 &&
                        (line->components == PC_LINE_COMPONENTS_AUTO || unknowns == 1);
  const bool rows = one_line && (line->grid.dimension < 2 || look.between > 0 || look.corners > 0);
  bool has_map    = false;
  JoinedPieces joined;

  line->users_lines = {};
  line->from_file   = false;
  if (line->source == PC_LINE_MAP || line->source == PC_LINE_SOURCE_AUTO)
    PetscCall(LinesFromMap(pc->pmat, line->file.c_str(), &line->users_lines, &joined, &has_map, &line->from_file));
  if (has_map)
    PetscCallCXX(line->joined = std::make_shared<const JoinedPieces>(std::move(joined))); // those of the graph stay with its lines
  PetscCheck(
      has_map || line->source != PC_LINE_MAP, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
      "-pc_line_source map needs a map: name a file by -pc_line_file, or compose an IS or a PetscSection called \"%s\" with the matrix",
      line_map_name);
  PetscCheck(
      has_grid || line->source != PC_LINE_GRID, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
      "-pc_line_source grid needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM), or make "
      "the matrix with DMCreateMatrix");
  shape->source = line->source != PC_LINE_SOURCE_AUTO ? line->source
                  : has_map                           ? PC_LINE_MAP
                  : rows                              ? PC_LINE_ROWS
                  : has_grid                          ? PC_LINE_GRID
                                                      : PC_LINE_GRAPH;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode FindLines(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, const MatrixLook &look, LineShape *shape)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(FindSource(pc, look, shape));
  shape->memory      = matrix.memory;
  line->not_constant = false;
  line->direct       = false;
  line->constants.clear();
  if (shape->source != PC_LINE_GRID) {
    const bool asked = shape->source == PC_LINE_MAP || line->source != PC_LINE_SOURCE_AUTO; // the user's lines are others, grid or no grid
    PetscCheck(
        !asked || (line->direction == PC_LINE_AUTO && line->plane_cycles == 0), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
        "-pc_line_direction and -pc_line_plane_cycles are for the lines of a grid, and lines from %s are asked for: leave the one or the "
        "other",
        shape->source == PC_LINE_MAP    ? "a map"
        : shape->source == PC_LINE_ROWS ? "-pc_line_source rows"
                                        : "-pc_line_source graph");
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
    PetscCall(FindDirect(pc, rows, execution, matrix, look, *shape));
    shape->colours = ColoursOfSets(*line, *shape);
  }
  if (shape->source == PC_LINE_GRAPH) PetscCall(FindBlocksOfGraph(pc, shape));
  if (shape->source == PC_LINE_ROWS) {
    PetscCheck(AllAtOnce(*line) || line->source != PC_LINE_ROWS, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "-pc_line_ordering %s: the rows in their order are one line; use jacobi", line_orderings[line->ordering]);
    shape->ring = look.corners > 0;
    PetscCall(GridOfRows(rows, shape->ring, &line->grid));
    line->direct      = look.beside == 0 && (line->grid.ranks[0] == 1 || Crosses(*line, 0));
    shape->directions = {0};
    std::copy_n(line->grid.nodes, 3, shape->nodes.begin());
    std::copy_n(line->grid.first, 3, shape->first.begin());
  }
  PetscCheck(line->kernel != "toeplitz" || InBoxes(*shape), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_line_kernel toeplitz needs lines whose coefficients do not change along them, of a grid, or of the rows in their order "
             "(-pc_line_source rows)");
  if (line->line_matrix) {
    for (int direction : shape->directions) {
      line->constants.emplace_back(1);
      PetscCall(ConstantFromLineMatrix(pc, line->line_matrix, line->grid, direction, &line->constants.back().front()));
      shape->constant.push_back({line->constants.back().front().closure, false});
    }
  } else if (InBoxes(*shape)) {
    PetscCall(FindConstants(pc, rows, execution, matrix, shape));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
