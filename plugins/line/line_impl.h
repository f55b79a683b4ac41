/// What the files of PCLINE share.
#pragma once
#include <petsc/private/pcimpl.h>

#include <vector>

#include "line/line.h"
#include "line/line_roots.hpp"
#include "line/line_set.hpp"
#include "line/maps/chains.hpp"
#include "line/matrix_look.hpp"
#include "line/relax/outside_rows.hpp"
#include "petsc/agreed.h"
#include "petsc/direct_check.h"
#include "petsc/lines_from_dm.h"
#include "petsc/petsc_compat.h"
#include "petsc/set_up_operator.h"
#if defined(WEFT_DISTRIBUTED)
#include "line/ranks/outside_couplings.hpp"
#endif

namespace weft {

/// What lines are made from; other lines are needed where it changes.
struct LineShape {
  PCLineSource source = PC_LINE_SOURCE_AUTO;
  std::vector<int> directions; ///< of a grid, in the order of a forward sweep
  std::array<Index, 3> nodes{}, first{};
  Index components = 1;     ///< unknowns of a node, of a grid or of the matrix's blocks
  bool together    = false; ///< these in lines of blocks
  bool ring        = false; ///< of the rows in their order
  bool pivots      = false; ///< the kernel's choice fell on pivoting
  /// Of lines with constant coefficients, for each direction; else empty.
  struct Constant {
    Index closure     = 0;
    bool own_at_edges = false; ///< lines at the grid's edges have coefficients of their own

    friend bool operator==(const Constant &, const Constant &) = default;
  };
  std::vector<Constant> constant;
  int colours   = 1; ///< of a grid's lines, for which what relaxes them is prepared; by all of them it can be asked too
  Memory memory = Memory::host;

  friend bool operator==(const LineShape &, const LineShape &) = default;
};

/// One step of a sweep: the lines of a colour of a set.
struct LinePass {
  int set;
  Colour colour;

  friend bool operator==(const LinePass &, const LinePass &) = default;
};

/// One sweep, in the order that was found for it.
struct LineSweep {
  PCLineSweep order = PC_LINE_FORWARD;
  std::vector<LinePass> passes;
};

struct PC_Line {
  // What the user asks for.
  PCLineDirection direction   = PC_LINE_AUTO;
  PCLineOrdering ordering     = PC_LINE_ORDERING_AUTO;
  PCLineSweep sweep           = PC_LINE_SWEEP_AUTO;
  PCLineSource source         = PC_LINE_SOURCE_AUTO;
  PCLineRanks ranks           = PC_LINE_EXACT;
  PCLineComponents components = PC_LINE_COMPONENTS_AUTO;
  PCLinePrecision precision   = PC_LINE_DOUBLE;
  std::string file;
  PetscInt plane_cycles = 0;
  std::string kernel    = "auto";
  MethodParameters kernel_parameters;
  PetscInt sweeps        = 1;
  PetscReal omega        = 1.0;
  bool estimate_omega    = false;
  bool diagonal_products = false;
  PetscReal find_again   = 0.95;

  // What set-up finds and makes.
  PetscMPIInt processes = 1;
  Grid grid;
  LineShape shape;
  bool failed = false;                                             ///< the last set-up did: better values may have better lines
  std::vector<std::vector<ConstantLines<KernelScalar>>> constants; ///< of each direction's kinds of lines, where they are constant
  HostLines users_lines;                                           ///< rows of this rank, where the user gives the lines
  bool from_file = false;                                          ///< they are those of a file
  std::shared_ptr<const JoinedPieces> joined; ///< of the map's lines, the user's or the graph's, those that go on on other ranks
  Mat line_matrix       = NULL;               ///< of one line, where the user gives that; borrowed while the PC is set up
  PetscReal found_omega = 1.0;
  LineSweep applied, relaxed;      ///< by Krylov methods and in Richardson's iteration, which are different ones where the ordering is auto
  bool for_richardson = false;     ///< the KSP is KSPRICHARDSON, as far as this PC has seen: what sets are prepared for
  bool in_richardson  = false;     ///< it is solving
  bool direct         = false;     ///< the lines are all that the matrix couples, as far as is known, so that an application solves with it
  DirectCheck check;               ///< of lines that are the whole matrix
  Mat rows                 = NULL; ///< the matrix as AIJ, where the PC's is of another type or has empty rows
  PetscObjectState pattern = 0;    ///< of the matrix by rows that the sets were made for
  // Of lines of the graph: which set-up has found them, of how many, and the share of what lines can carry that they carried then.
  PetscInt set_ups = 0, found_in = 0;
  PetscReal carried = 1;
  PetscInt64 left   = 0;     ///< of lines of a map: entries of a rank's own rows and columns that they lack, of all ranks
  bool not_constant = false; ///< new values have lines that -pc_line_kernel toeplitz does not take
  bool weak_rows    = false; ///< some diagonal is smaller than its row's other entries together
  // Of applications that are no direct solves of a matrix with such rows: how much they make of a random right-hand side, and by how much two of
  // the same one differ.
  PetscReal amplified = 0, rounded = 0;
  PetscInt empty_rows = 0;     ///< of all ranks, that take 1 on the diagonal of `rows`
  std::vector<MPI_Comm> comms; ///< of the ranks that share lines; those of a set stay as long as the set
  // A backend and its lines for each memory that vectors have come in, host and device. Usually one; both where levels are bound to the
  // CPU.
  std::unique_ptr<Execution> execution[2];
  std::unique_ptr<StencilMatrix<KernelScalar>> stencil; ///< the matrix in diagonals, in shape.memory, where sets work on it
  Owner<OutsideRows<KernelScalar>> outside;             ///< with a stencil on several ranks: what couples to the ghosts
  Vec ghosts              = NULL;                       ///< unknowns of other ranks that this one's rows couple to
  VecScatter bring_ghosts = NULL;
  std::vector<std::unique_ptr<LineSet>> sets[2];
  Owner<LineRoots<KernelScalar>> roots; ///< in shape.memory, once somebody preconditioned from both sides
  Vec residual    = NULL;
  bool asks_norms = true; ///< whether the KSP that is solving looks at norms
  SetUpOperator set_up_of;
  Mat with_products = NULL; ///< the matrix that multiplies by our diagonals, while it does

  void forget(int memory)
  {
    sets[memory].clear();
    if (memory == static_cast<int>(shape.memory)) roots.reset();
    if (stencil && &stencil->execution() == execution[memory].get()) {
      stencil.reset();
      outside.reset();
    }
    execution[memory].reset();
  }
};

/// True where lines lie in boxes: of a grid, or of the rows in their order, which are one of one dimension.
inline bool InBoxes(const LineShape &shape)
{
  return shape.source == PC_LINE_GRID || shape.source == PC_LINE_ROWS;
}

inline PC_Line *Data(PC pc)
{
  return static_cast<PC_Line *>(pc->data);
}

/// Events of -log_view: set-up, the sweeps of an application, and in these the steps of lines that cross ranks, by SolveStep.
extern PetscLogEvent line_setup_event, line_sweep_event, line_step_events[3];

/// The names of the options' values, in PETSc's form.
extern const char *const line_directions[];
extern const char *const line_orderings[];
extern const char *const line_sweeps[];
extern const char *const line_sources[];
extern const char *const line_ranks[];
extern const char *const line_components[];
extern const char *const line_precisions[];

PetscErrorCode PCSetUp_Line(PC pc);
PetscErrorCode PCLineFreeComms(PC pc);
PetscErrorCode PCLineFreeGhosts(PC pc);
/// Makes the PC's matrix multiply by the diagonals of line->stencil, if the user wants it so and there are any; and ends that.
PetscErrorCode PCLineTakeProducts(PC pc);
PetscErrorCode PCLineLeaveProducts(PC pc);
/// The sets whose kernels work in `memory`, on PETSc's current stream. Made from those that set-up made when vectors first come in the
/// other memory, or on another stream.
PetscErrorCode PCLineSetsIn(PC pc, Memory memory, const std::vector<std::unique_ptr<LineSet>> **sets);

/// One sweep from zero without damping or checks, for set-up.
PetscErrorCode PCLineSolve(PC pc, Vec b, Vec y, Transpose transpose);
PetscErrorCode PCApply_Line(PC pc, Vec b, Vec y);
PetscErrorCode PCApplyTranspose_Line(PC pc, Vec b, Vec y);
PetscErrorCode PCMatApply_Line(PC pc, Mat B, Mat Y);
PetscErrorCode PCApplyRichardson_Line(PC pc, Vec b, Vec y, Vec work, PetscReal rtol, PetscReal atol, PetscReal dtol, PetscInt its,
                                      PetscBool zero_guess, PetscInt *done, PCRichardsonConvergedReason *reason);

PetscErrorCode PCPostSolve_Line(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode PCPreSolve_Line(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode PCApplySymmetricLeft_Line(PC pc, Vec b, Vec y);
PetscErrorCode PCApplySymmetricRight_Line(PC pc, Vec b, Vec y);

/// The methods that -pc_line_kernel names, and "auto".
std::vector<const char *> LineKernels();
PetscErrorCode PCSetFromOptions_Line(PC pc, OptionItems items);
PetscErrorCode PCView_Line(PC pc, PetscViewer viewer);
/// Says what the user's options are, to the viewer; which of them do nothing, to the viewer or, where that is NULL, to -info. Collective.
PetscErrorCode PCLineTellOptions(PC pc, PetscViewer viewer);
/// Composes the setters and getters with a PC, or removes them; all, and those of the other two files of setters.
PetscErrorCode PCLineComposeSetters(PC pc, bool compose);
PetscErrorCode PCLineComposeSweepSetters(PC pc, bool compose);
PetscErrorCode PCLineComposeKernelSetters(PC pc, bool compose);

// find_lines.cxx, make_lines.cxx: where lines come from, and the sets that are made of them.

/// Decides which lines there are, the same on all ranks, and checks that the options fit them. `rows` is the matrix that `matrix` is the local
/// part of. line->not_constant: new values cannot be solved for by the kernel that the user wants, and there are no lines. line->direct: of lines of
/// a grid, and of the rows in their order.
PetscErrorCode FindLines(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, const MatrixLook &look, LineShape *shape);

/// Makes the sets of line->shape, without values.
PetscErrorCode MakeLineSets(PC pc, Mat rows, const LocalMatrix &matrix, const Execution &execution,
                            std::vector<std::unique_ptr<LineSet>> *sets);

// line_matrix.cxx: lines on a grid that share one matrix which the user gives by itself; nothing of the size of the grid is assembled.

/// The name under which a user composes the matrix of one whole line with the PC's matrix, which may then be of any type.
inline constexpr char line_matrix_name[] = "weft_line";

/// The matrix composed with A as "weft_line", or NULL; the same on all ranks. Each rank composes one of its own (PETSC_COMM_SELF). Collective.
PetscErrorCode LineMatrixOf(Mat A, Mat *one);

/// An error, on all ranks, where the options do not go with such a matrix.
PetscErrorCode CheckLineMatrix(PC pc, const LineShape &shape);

/// What the sets need to know of a matrix that is not looked at: how many rows there are, and in which memory its vectors are.
PetscErrorCode LocalSizes(Mat A, LocalMatrix *matrix);

/// This rank's rows of the lines along `direction`, taken from the matrix of one line. An error, on all ranks, where it is not AIJ, has another
/// number of rows than the grid has nodes along the direction, is not tridiagonal (a ring's wraps), or changes along the line but for most_closure rows
/// at either end.
PetscErrorCode ConstantFromLineMatrix(PC pc, Mat one, const Grid &grid, int direction, ConstantLines<KernelScalar> *constant);

// ordering.cxx: in which order lines are relaxed: colours, passes, and what -pc_line_ordering auto takes.

/// Whether a user has not asked for an ordering by colours.
inline bool AllAtOnce(const PC_Line &line)
{
  return line.ordering == PC_LINE_JACOBI || line.ordering == PC_LINE_ORDERING_AUTO;
}

/// Colours that the sets of a grid's lines are prepared for.
int ColoursOfSets(const PC_Line &line, const LineShape &shape);

/// Sets line->applied and line->relaxed, sweeps over the sets of line->shape.
void FindSweeps(PC_Line *line, const std::vector<std::unique_ptr<LineSet>> &sets);

/// What PCView() says of the ordering: its name and, where it is auto's choice, why.
std::string OrderingFound(const PC_Line &line);

/// Asks the options whether the KSP of the PC's prefix is KSPRICHARDSON. A guess, which PCPreSolve() corrects: with it the first set-up
/// prepares what Richardson's sweeps want.
PetscErrorCode GuessRichardson(PC pc);

// ranks.cxx: what all ranks must agree on, and how lines that cross them couple.

/// `here` on all ranks, or false.
PetscErrorCode AllRanks(PC pc, bool here, bool *all);

/// The first row of all ranks in PETSc's numbering, of those that the ranks bring; no_row where none has any. Collective.
PetscErrorCode FirstRow(PC pc, PetscInt64 *row);

/// What the whole matrix is, the same on all ranks, but for the first row of this one that has an entry which is no number. Collective.
PetscErrorCode LookAtMatrix(PC pc, Mat rows, const Execution &execution, const LocalMatrix &matrix, MatrixLook *look);

/// True where the lines along a direction of the grid go on on other ranks, and are solved exactly.
bool Crosses(const PC_Line &line, int direction);
/// True where they are rings.
bool Closes(const PC_Line &line, int direction);
/// True where lines are kept in single precision: not those of blocks, nor those of a grid that cross ranks.
bool InSingle(const PC_Line &line);
/// The kernel that was asked for, or that the choice fell on because lines must be pivoted.
std::string KernelOf(const PC_Line &line);
/// True where the rows are one line over several ranks that one of them solves: pivots are looked for across ranks.
bool SolvedByOne(const PC_Line &line);
/// Lines of a map, the user's or that of the graph, that go on on other ranks.
Index CrossingLines(const PC_Line &line);
/// Whether such lines are solved exactly: not in single precision, nor of blocks.
bool MayJoinLines(const PC_Line &line);

#if defined(WEFT_DISTRIBUTED)
using CouplingsAcross = OutsideCouplings<KernelScalar>;

/// The couplings of the ends of a piece's lines to the rows that follow, on other ranks or at the other end of a ring; `block` unknowns of
/// a node together. To be read.
PetscErrorCode MakeCouplingsAcross(Mat rows, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece,
                                   Index block, const Execution &execution, std::shared_ptr<CouplingsAcross> *couplings);
/// Takes their values out of the matrix.
void ReadAcross(CouplingsAcross &couplings, const Grid &grid, const LocalMatrix &matrix, int direction, const LinePiece &piece);
#endif

} // namespace weft
