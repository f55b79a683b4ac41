// PCLINE's sets: what solves the lines that were found.
#include <algorithm>

#include "line/blocks/block_line_solver.hpp"
#include "line/line_impl.h"
#include "line/map_lines.hpp"
#include "line/single_line_solver.hpp"
#if defined(WEFT_DISTRIBUTED)
#include "line/maps/chains.hpp"
#include "line/ranks/distributed_line_solver.hpp"
#include "line/ranks/gathered_line_solver.hpp"
#include "line/ranks/rows_of_ranks.hpp"
#include "line/stencil_lines_across.hpp"
#endif

namespace weft {

namespace {

// Every `step`-th place of a direction across, from `begin` to before `end`.
struct Places {
  Index begin, end, step;
  int parity; ///< in the whole grid
  bool inner;
  std::size_t kind;
};

std::vector<Places> PlacesAcross(Index nodes, Index first, Index whole, bool parities, bool edges)
{
  std::vector<Places> ranges;
  const Index inner = edges && first == 0 ? 1 : 0, outer = edges && first + nodes == whole ? nodes - 1 : nodes;
  ranges.push_back({inner, std::max(inner, outer), 1, 0, true, 0});
  if (inner > 0) ranges.push_back({0, std::min(inner, nodes), 1, 0, false, 1});
  if (outer < nodes && outer >= inner) ranges.push_back({outer, nodes, 1, 0, false, 2});
  if (!parities) return ranges;
  std::vector<Places> halves;
  for (const Places &range : ranges) {
    for (int parity = 0; parity < 2; parity++) {
      const Index skip = (first + range.begin + parity) & 1; // parities count in the whole grid
      halves.push_back({std::min(range.begin + skip, range.end), range.end, 2, parity, range.inner, range.kind});
    }
  }
  return halves;
}

} // namespace

std::vector<LinePiece> LinePieces(int direction, const Index nodes[3], Index components, const Index first[3], const LineCuts &cuts)
{
  const LineLayout whole = lines_of_box(direction, nodes, components, first);
  const int across[2]    = {direction == 0 ? 1 : 0, direction == 2 ? 1 : 2};
  std::vector<Places> places[2];
  for (int k = 0; k < 2; k++) {
    const Index n = nodes[across[k]], all = cuts.edges ? cuts.whole[across[k]] : n;
    places[k] = PlacesAcross(n, first[across[k]], all, cuts.four_colours, cuts.edges && all > 1);
  }
  std::vector<LinePiece> pieces;
  for (const Places &second : places[1]) {
    for (const Places &in_row : places[0]) {
      LinePiece piece{whole, 0};
      int k = 0;
      for (const Places *p : {&in_row, &second}) {
        piece.layout.across[k] = (p->end - p->begin + p->step - 1) / p->step;
        piece.layout.across_stride[k] *= p->step;
        piece.layout.first_colour ^= static_cast<int>(p->begin & 1);
        piece.offset += p->begin * whole.across_stride[k];
        k++;
      }
      if (cuts.four_colours) piece.colour = static_cast<Colour>(in_row.parity + 2 * second.parity);
      piece.kind = in_row.kind + 3 * second.kind;
      if (pieces.empty() || piece.layout.count() > 0) pieces.push_back(piece);
    }
  }
  if (pieces.size() > 1 && pieces.front().layout.count() == 0) pieces.erase(pieces.begin());
  return pieces;
}

namespace {

// True where a set's lines are one piece, whose layout has their colours: what works on the matrix in diagonals knows no others. One piece can
// also be all that a thin grid, or a rank's part of one, has of four colours.
bool InOnePiece(const std::vector<LinePiece> &pieces)
{
  return pieces.size() == 1 && pieces.front().colour == Colour::all;
}

// The tridiagonal equations of a piece.
LineProblem ProblemOf(const PC_Line &line, std::size_t k, const LineLayout &layout)
{
  LineProblem problem(layout);
  problem.periodic = Closes(line, line.shape.directions[k]);
  if (!line.shape.constant.empty()) {
    problem.coefficients = Coefficients::constant;
    problem.closure      = layout.length > 0 ? line.shape.constant[k].closure : 0;
  }
  return problem;
}

// A kernel may refuse lines, or the parameters that it was given; `why`, of some rank's. Collective.
PetscErrorCode AcceptKernel(PC pc, const std::optional<std::string> &why, const char of_what[])
{
  PC_Line *line = Data(pc);
  bool all;

  PetscFunctionBegin;
  PetscCall(AllRanks(pc, !why, &all));
  PetscCheck(all, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_line_kernel %s%s: %s", line->kernel.c_str(), of_what,
             why ? why->c_str() : "refuses the lines of another rank");
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string BlockKernel(const PC_Line &line)
{
  return line.kernel == "auto" ? "auto" : "block-" + line.kernel;
}

// Why the kernel that the user named does not solve lines of blocks, in the names that users have.
std::optional<std::string> BlockKernelRefuses(const PC_Line &line, const BlockLines &lines)
{
  const auto names = block_tridiagonal_method_names();
  if (std::find(names.begin(), names.end(), BlockKernel(line)) != names.end())
    return block_tridiagonal_method_refuses(BlockKernel(line), lines, line.kernel_parameters);
  std::string there_are;
  for (const std::string name : names) there_are += (there_are.empty() ? "" : ", ") + name.substr(std::string("block-").size());
  return "they have " + there_are + " and auto; take one of these, or -pc_line_components apart";
}

// Of the pieces of a grid's lines.
PetscErrorCode CheckKernel(PC pc, std::size_t k, const std::vector<LinePiece> &pieces, bool blocks)
{
  PC_Line *line = Data(pc);
  std::optional<std::string> why;

  PetscFunctionBegin;
  for (const LinePiece &piece : pieces) {
    if (line->kernel == "auto" || why) break;
    if (blocks)
      PetscCallCXX(why = BlockKernelRefuses(*line, piece.layout));
    else
      PetscCallCXX(why = tridiagonal_method_refuses(line->kernel, ProblemOf(*line, k, piece.layout), line->kernel_parameters));
  }
  PetscCall(AcceptKernel(pc, why, blocks ? " for lines of blocks" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

CsrMatrix<KernelScalar, PetscInt> From(const CsrMatrix<KernelScalar, PetscInt> &matrix, Index offset)
{
  CsrMatrix<KernelScalar, PetscInt> part = matrix;
  part.first                             = offset;
  return part;
}

// Lines that end on this rank: of scalars, in either precision, or of blocks.
template <class Solver>
std::unique_ptr<LineSet> LocalLines(const PC_Line &line, std::size_t k, const Execution &execution, const std::vector<LinePiece> &pieces,
                                    std::string kind)
{
  constexpr bool of_blocks = std::is_same_v<Solver, BlockLineSolver<KernelScalar>>;
  const auto make          = [&line, k](const Execution &where, const LinePiece &piece) {
    if constexpr (of_blocks)
      return Solver::make(where, piece.layout, BlockKernel(line), line.kernel_parameters);
    else
      return Solver::make(where, ProblemOf(line, k, piece.layout), KernelOf(line), line.kernel_parameters);
  };
  const auto read = [&line, k, pieces](AnyLines<KernelScalar> &lines, std::size_t p, const LocalMatrix &matrix) {
    auto &solver = static_cast<Solver &>(lines);
    if constexpr (!of_blocks) {
      if (!line.constants.empty()) return solver.read(line.constants[k][pieces[p].kind]);
    }
    solver.read(From(matrix.inside, pieces[p].offset));
  };
  return std::make_unique<GridLines>(execution, pieces, line.shape.colours, std::move(kind), make, read);
}

#if defined(WEFT_DISTRIBUTED)
// Lines that go on on other ranks, and rings of blocks: Solver is one of the distributed ones.
template <class Solver>
PetscErrorCode SharedLines(PC pc, Mat rows, const LocalMatrix &matrix, std::size_t k, const Execution &execution,
                           const std::vector<LinePiece> &pieces, std::unique_ptr<LineSet> *set)
{
  PC_Line *line       = Data(pc);
  const int direction = line->shape.directions[k];
  std::vector<std::shared_ptr<CouplingsAcross>> couplings;
  MPI_Comm comm;

  PetscFunctionBegin;
  PetscCall(GridLineComm(PetscObjectComm((PetscObject)pc), line->grid, direction, &comm));
  line->comms.push_back(comm);
  if (line->constants.empty()) { // else they hold the couplings too
    const Index block = line->shape.together ? line->shape.components : 1;
    for (const LinePiece &piece : pieces) {
      couplings.emplace_back();
      PetscCall(MakeCouplingsAcross(rows, line->grid, matrix, direction, piece, block, execution, &couplings.back()));
    }
  }
  const auto make = [pc, line, k, comm](const Execution &where, const LinePiece &piece) {
    std::unique_ptr<Solver> solver;
    if constexpr (std::is_same_v<Solver, DistributedBlockLineSolver<KernelScalar>>)
      solver = std::make_unique<Solver>(where, comm, piece.layout, Closes(*line, line->shape.directions[k]), BlockKernel(*line),
                                        line->kernel_parameters, DeviceMessages());
    else
      solver = std::make_unique<Solver>(where, comm, ProblemOf(*line, k, piece.layout), KernelOf(*line), line->kernel_parameters,
                                        DeviceMessages());
    solver->observe([pc](SolveStep step, bool begins) {
      const PetscLogEvent event = line_step_events[static_cast<int>(step)];
      if (begins)
        PetscCallAbort(PETSC_COMM_SELF, PetscLogEventBegin(event, pc, 0, 0, 0));
      else
        PetscCallAbort(PETSC_COMM_SELF, PetscLogEventEnd(event, pc, 0, 0, 0));
    });
    return solver;
  };
  const auto read = [line, k, direction, pieces, couplings](AnyLines<KernelScalar> &shared, std::size_t p, const LocalMatrix &from) {
    auto &solver = static_cast<Solver &>(shared);
    if constexpr (requires { solver.read(line->constants[k].front()); }) {
      if (!line->constants.empty()) return solver.read(line->constants[k][pieces[p].kind]);
    }
    ReadAcross(*couplings[p], line->grid, from, direction, pieces[p]);
    solver.read(From(from.inside, pieces[p].offset), couplings[p]->before(), couplings[p]->after());
  };
  const OwnRows own{line->grid.first[direction], line->grid.first[direction] + line->grid.nodes[direction]};
  const std::string kind = std::string(line->shape.together ? " of blocks" : "") + (Crosses(*line, direction) ? " across ranks" : "");
  std::unique_ptr<GridLines> lines;
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc),
                         [&] { lines = std::make_unique<GridLines>(execution, pieces, line->shape.colours, kind, make, read, own); }));
  if constexpr (std::is_same_v<Solver, DistributedLineSolver<KernelScalar>>) {
    if (line->stencil && InOnePiece(pieces) && line->constants.empty()) {
      LineProblem piece = ProblemOf(*line, k, pieces.front().layout);
      piece.periodic    = false;
      PetscCallCXX(*set = std::make_unique<StencilLinesAcross>(std::move(lines), *line->stencil, piece, couplings.front(), KernelOf(*line),
                                                               line->kernel_parameters));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  *set = std::move(lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One line that must be pivoted, brought to one rank.
PetscErrorCode GatheredLine(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution, const LinePiece &piece,
                            std::unique_ptr<LineSet> *set)
{
  using Solver        = GatheredLineSolver<KernelScalar>;
  PC_Line *line       = Data(pc);
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  std::shared_ptr<CouplingsAcross> couplings;

  PetscFunctionBegin;
  PetscCall(MakeCouplingsAcross(rows, line->grid, matrix, 0, piece, 1, execution, &couplings));
  const auto make = [line, comm, ring = Closes(*line, 0)](const Execution &where, const LinePiece &here) {
    return Solver::make(where, comm, here.layout.length, ring, KernelOf(*line), line->kernel_parameters, DeviceMessages());
  };
  const auto read = [line, piece, couplings](AnyLines<KernelScalar> &whole, std::size_t, const LocalMatrix &from) {
    ReadAcross(*couplings, line->grid, from, 0, piece);
    static_cast<Solver &>(whole).read(from.inside, couplings->before(), couplings->after());
  };
  const OwnRows own{line->grid.first[0], line->grid.first[0] + line->grid.nodes[0]};
  PetscCall(CallTogether(comm, [&] {
    *set =
        std::make_unique<GridLines>(execution, std::vector<LinePiece>{piece}, 1, " across ranks, solved by one of them", make, read, own);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode GridSet(PC pc, Mat rows, const LocalMatrix &matrix, std::size_t k, const Execution &execution, std::unique_ptr<LineSet> *set)
{
  PC_Line *line       = Data(pc);
  const int direction = line->shape.directions[k];
  const LineCuts cuts{line->shape.colours == 4, !line->shape.constant.empty() && line->shape.constant[k].own_at_edges, line->grid.global};
  const std::vector<LinePiece> pieces = LinePieces(direction, line->grid.nodes, line->grid.components, line->grid.first, cuts);

  PetscFunctionBegin;
  PetscCall(CheckKernel(pc, k, pieces, line->shape.together));
#if defined(WEFT_DISTRIBUTED)
  if (line->shape.together && (Crosses(*line, direction) || Closes(*line, direction)))
    PetscCall(SharedLines<DistributedBlockLineSolver<KernelScalar>>(pc, rows, matrix, k, execution, pieces, set));
  else if (SolvedByOne(*line))
    PetscCall(GatheredLine(pc, rows, matrix, execution, pieces.front(), set));
  else if (!line->shape.together && Crosses(*line, direction))
    PetscCall(SharedLines<DistributedLineSolver<KernelScalar>>(pc, rows, matrix, k, execution, pieces, set));
  else
#endif
      if (line->shape.together)
    PetscCallCXX(*set = LocalLines<BlockLineSolver<KernelScalar>>(*line, k, execution, pieces, " of blocks"));
  else if (line->precision == PC_LINE_SINGLE)
    PetscCallCXX(*set = LocalLines<SingleLineSolver>(*line, k, execution, pieces, " in single precision"));
  else if (line->stencil && InOnePiece(pieces))
    PetscCallCXX(*set = std::make_unique<StencilLines>(*line->stencil, ProblemOf(*line, k, pieces.front().layout), line->shape.colours,
                                                       KernelOf(*line), line->kernel_parameters));
  else
    PetscCallCXX(*set = LocalLines<LineSolver<KernelScalar>>(*line, k, execution, pieces, ""));
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
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(MatMPIAIJGetSeqAIJ(rows, NULL, &outside, NULL));
  PetscCall(MatCreateVecs(outside, &line->ghosts, NULL));
  PetscCall(MatCreateVecs(rows, &all, NULL));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)pc), matrix.outside_size, matrix.outside_columns, PETSC_USE_POINTER, &columns));
  PetscCall(VecScatterCreate(all, columns, line->ghosts, NULL, &line->bring_ghosts));
  PetscCall(ISDestroy(&columns));
  PetscCall(VecDestroy(&all));
  PetscCallCXX(line->outside = OutsideRows<KernelScalar>::make(execution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix in diagonals, for more than one pass and for sweeps from a guess, where lines can make use of it: of scalars in double
// precision.
PetscErrorCode MakeStencil(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution)
{
  PC_Line *line = Data(pc);
  PetscBool parallel;
  bool all;

  PetscFunctionBegin;
  if (line->empty_rows > 0) PetscFunctionReturn(PETSC_SUCCESS); // residuals are those of the matrix as it is
  if (line->shape.together || !line->shape.constant.empty() || InSingle(*line)) PetscFunctionReturn(PETSC_SUCCESS);
  if (line->shape.source == PC_LINE_ROWS && line->processes > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(line->stencil = std::make_unique<StencilMatrix<KernelScalar>>(execution, matrix.rows));
  PetscCallCXX(line->stencil->read(matrix.inside));
  PetscCall(AllRanks(pc, line->stencil->in_diagonals(), &all));
  if (!all) line->stencil.reset();
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)rows, MATMPIAIJ, &parallel));
  if (line->stencil && parallel) PetscCall(MakeGhosts(pc, rows, matrix, execution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(WEFT_DISTRIBUTED)
// What the ranks tell each other of their rows, where lines may go on on other ranks: to find those of the graph, to colour those of any
// map.
PetscErrorCode MakeRowsOfRanks(PC pc, const LocalMatrix &matrix, const Execution &execution, std::unique_ptr<RowsOfRanks> *others)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  const bool need = line->shape.source == PC_LINE_GRAPH || !AllAtOnce(*line);
  if (line->processes == 1 || !MayJoinLines(*line) || !need) PetscFunctionReturn(PETSC_SUCCESS);
  const std::vector<std::int64_t> columns(matrix.outside_columns, matrix.outside_columns + matrix.outside_size);
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] {
    *others = std::make_unique<RowsOfRanks>(execution, PetscObjectComm((PetscObject)pc), matrix.rows, matrix.outside, columns);
  }));
  PetscCheck((*others)->all <= most_forest_rows, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "lines that are found or coloured across ranks take at most %" PetscInt64_FMT " rows, and this matrix has %" PetscInt64_FMT
             ": use -pc_line_ranks cut",
             (PetscInt64)most_forest_rows, (PetscInt64)(*others)->all);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// Lines of blocks of the matrix's graph. They end where ranks meet.
PetscErrorCode BlockMapSet(PC pc, const LocalMatrix &matrix, const Execution &execution, std::unique_ptr<LineSet> *set)
{
  PC_Line *line     = Data(pc);
  const Index block = line->shape.components, nodes = matrix.rows / block;
  const Index box[3] = {nodes, 1, 1}, first[3] = {0, 0, 0};
  std::optional<std::string> why;

  PetscFunctionBegin;
  if (line->kernel != "auto") PetscCallCXX(why = BlockKernelRefuses(*line, lines_of_box(0, box, block, first)));
  PetscCall(AcceptKernel(pc, why, " for lines of blocks"));
  PetscCallCXX([&] {
    const auto graph = node_couplings(execution, nodes, block, matrix.inside);
    auto map         = std::make_unique<LineMap>(execution, nodes, graph->matrix(), GraphOptions());
    *set             = std::make_unique<MapLines>(std::move(map), block, 1, " of blocks", BlockKernel(*line),
                                      [block, parameters = line->kernel_parameters](const LineMap &of_nodes, const std::string &kernel) {
                                        return MappedSolver<KernelScalar>::blocks(of_nodes, block, kernel, parameters);
                                      });
  }());
  line->joined.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The lines of a map: the user's, or those of the matrix's graph.
PetscErrorCode MapSet(PC pc, const LocalMatrix &matrix, const Execution &execution, std::unique_ptr<LineSet> *set)
{
  PC_Line *line = Data(pc);
  std::unique_ptr<LineMap> map;
  const GhostRows *ghosts = nullptr;
  std::vector<int> colour_of_joined;
  std::optional<std::string> why;

  PetscFunctionBegin;
#if defined(WEFT_DISTRIBUTED)
  std::unique_ptr<RowsOfRanks> others;
  PetscCall(MakeRowsOfRanks(pc, matrix, execution, &others));
  ghosts = others.get();
#endif
  if (line->shape.source == PC_LINE_MAP)
    PetscCallCXX(map = std::make_unique<LineMap>(execution, matrix.rows, line->users_lines));
  else
    PetscCall(CallTogether(PetscObjectComm((PetscObject)pc),
                           [&] { map = std::make_unique<LineMap>(execution, matrix.rows, matrix.inside, GraphOptions(), ghosts); }));
#if defined(WEFT_DISTRIBUTED)
  if (line->shape.source == PC_LINE_GRAPH)
    PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] {
      line->joined = std::make_shared<const JoinedPieces>(ghosts ? join_lines(*ghosts, *map) : JoinedPieces());
    }));
#endif
  if (!AllAtOnce(*line))
    PetscCall(
        CallTogether(PetscObjectComm((PetscObject)pc), [&] { colour_of_joined = map->colour(matrix.inside, ghosts, line->joined.get()); }));
  PetscMPIInt colours = PetscMax(map->colours(), 1), most;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Allreduce(&colours, &most, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (line->kernel != "auto") PetscCallCXX(why = mapped_method_refuses(line->kernel, *map, line->kernel_parameters));
  PetscCall(AcceptKernel(pc, why, ""));
#if defined(WEFT_DISTRIBUTED)
  if (MayJoinLines(*line) && CrossingLines(*line) > 0) {
    PetscMPIInt rank;
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
    if (colour_of_joined.empty()) colour_of_joined.assign(static_cast<std::size_t>(CrossingLines(*line)), 0);
    auto parts = std::make_shared<const std::vector<JoinedPieces>>(split_by_colour(*line->joined, colour_of_joined, most, rank));
    PetscCall(CallTogether(PetscObjectComm((PetscObject)pc), [&] {
      *set = std::make_unique<JoinedMapLines>(std::move(map), PetscObjectComm((PetscObject)pc), line->joined, std::move(parts),
                                              KernelOf(*line), line->kernel_parameters);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  const bool single = line->precision == PC_LINE_SINGLE;
  const auto make   = [single, parameters = line->kernel_parameters](const LineMap &rows, const std::string &kernel) {
    using Solver = MappedSolver<KernelScalar>;
    return single ? Solver::lines<SingleScalar>(rows, kernel, parameters) : Solver::lines(rows, kernel, parameters);
  };
  PetscCallCXX(*set = std::make_unique<MapLines>(std::move(map), 1, most, single ? " in single precision" : "", KernelOf(*line), make));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MakeLineSets(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution,
                            std::vector<std::unique_ptr<LineSet>> *sets)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  if (!InBoxes(line->shape)) {
    sets->emplace_back();
    if (line->shape.together)
      PetscCall(BlockMapSet(pc, matrix, execution, &sets->back()));
    else
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
