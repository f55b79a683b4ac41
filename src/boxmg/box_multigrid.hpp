/// BoxMultigrid: multigrid for one matrix on a grid, after Dendy's black box: interpolation from the operator, Galerkin products of stencils,
/// lines as the smoother. J. E. Dendy, Black box multigrid, J. Comput. Phys. 48 (1982) 366-386; for matrices that are not symmetric, Black box
/// multigrid for nonsymmetric problems, Appl. Math. Comput. 13 (1983) 261-283. The way into the kernels for callers without Kokkos.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "boxmg/grid.hpp"
#include "boxmg/ranks/parts.hpp"
#include "boxmg/ranks/rows_of_part.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// automatic: see boxmg::cycle_for().
enum class BoxmgCycle { automatic, v, w, f };
/// What relaxes a level. automatic: lines along the direction that is strong everywhere, if there is one, else lines along all in turn, or planes in
/// space, where lines cannot do. planes: in space; lines as chosen on grids of fewer directions.
enum class BoxmgSmoother { automatic, lines, alternating, planes, points };
enum class BoxmgInterpolation { from_operator, linear };
/// What solves on the coarsest grid: its inverse, or a sweep of the smoother.
enum class BoxmgCoarsest { direct, lines };

struct BoxmgOptions {
  static constexpr Index most_inverted = 1000; ///< nodes of the largest grid that is inverted: 8 MB
  /// Nodes of a grid that is not coarsened, of as many unknowns, where nothing else is asked for: a device has the inverse of more of them sooner than it
  /// goes through the levels below.
  static constexpr Index usual_coarsest(Memory memory, Index unknowns) { return memory == Memory::device ? 500 / unknowns : 100; }

  int unknowns                     = 1; ///< of a node; two and more: for one rank, in double precision, without planes
  int levels                       = 0; ///< at most so many; 0: as many as there can be
  BoxmgCycle cycle                 = BoxmgCycle::automatic;
  BoxmgSmoother smoother           = BoxmgSmoother::automatic;
  boxmg::Directions coarsen        = 0; ///< the directions that may be coarsened; 0: chosen level by level
  BoxmgInterpolation interpolation = BoxmgInterpolation::from_operator;
  int sweeps                       = 1; ///< before and after each correction
  BoxmgCoarsest coarsest           = BoxmgCoarsest::direct;
  Index coarsest_nodes             = 100;   ///< a grid of so many nodes is not coarsened; must be at most most_inverted for an inverse
  bool single_precision            = false; ///< inside the cycle
  Index turned_from                = 0; ///< of so many nodes on, lines along y or z run along x; 0: 20000 on a device, and not on a host
};

/// Ranks that share the finest levels. Each has a box of nodes.
struct BoxmgRanks {
  const boxmg::GridRanks *all = nullptr; ///< must live as long as the multigrid
  boxmg::Parts parts;                    ///< of the finest level
  Index least = 0;                       ///< nodes a rank of the smallest level that they share; the first one has those of fewer by itself

  bool share(const boxmg::Parts &level) const { return level.can_be_shared() && level.whole.nodes() >= least * level.ranks(); }
};

/// A level, finest first.
struct BoxmgLevel {
  boxmg::Grid grid;
  boxmg::Directions coarsened = 0; ///< from this level to the next; none on the coarsest
  std::vector<int> lines;          ///< directions that lines are relaxed along, in the order of a sweep; none: planes, or points
  std::vector<int> planes;         ///< directions across the planes that are relaxed, in the order of a sweep
  bool direct  = false;
  int points   = 0;     ///< of the stencil
  double bytes = 0;     ///< of this rank
  int ranks    = 1;     ///< that share it
  bool moved   = false; ///< they do so in boxes of whole lines, and not in those that the vectors have
};

/// Why a matrix cannot be preconditioned so.
struct BoxmgFault {
  enum class Kind {
    not_finite,      ///< an entry
    zero_diagonal,   ///< of the matrix
    indefinite,      ///< a diagonal of the other sign, on this level or made by a coarser one
    line_pivot,      ///< a line that has no factors
    coarsest_pivots, ///< a coarsest grid that is not singular, and has no inverse by pivots of its diagonal
  };
  Kind kind;
  int level;
  Index node;      ///< of the level's grid, whoever has it
  int unknown = 0; ///< of the node, where it has several and this is about one
};

template <class Scalar>
class BoxMultigrid {
public:
  /// For matrices on `grid`, whose row i is node i, or, with several unknowns a node, whose row node * options.unknowns + c is the equation of
  /// unknown c. `execution` must live as long as this. Throws std::invalid_argument for options that
  /// contradict each other or the grid. ranks: those that share it, if share(parts); all functions but fault(), levels() and the like are
  /// collective then, and arrays are of the nodes that a rank owns.
  BoxMultigrid(const Execution &execution, const boxmg::Grid &grid, const BoxmgOptions &options, const BoxmgRanks *ranks = nullptr);
  ~BoxMultigrid();
  BoxMultigrid(const BoxMultigrid &)            = delete;
  BoxMultigrid &operator=(const BoxMultigrid &) = delete;

  /// Takes a matrix, in the memory of the execution: makes all levels. `symmetric`: known of the matrix; else it is looked at. Allocates
  /// where the stencil, or what was chosen from the values, is new. Throws std::invalid_argument where a row couples to a node that is no
  /// neighbour. Afterwards fault() says whether apply() may be called. Waits.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix, std::optional<bool> symmetric = std::nullopt);
  /// The same of rows that ranks share.
  template <class Int>
  void read(const boxmg::RowsOfPart<Scalar, Int> &rows, std::optional<bool> symmetric = std::nullopt);
  std::optional<BoxmgFault> fault() const;
  /// The finest level is solved directly, or relaxed by planes, which ranks do not share: the first one must be given all of it, and apply() may not be called.
  bool is_for_one_rank() const;

  /// x = B b, one cycle from zero; or x = B^T b. Arrays of grid.nodes() elements in the memory of the execution, x not b, which is kept.
  /// Does not wait. Allocates nothing, but for lines' factors in the first transposed one of a matrix that is not symmetric.
  void apply(Scalar *b, Scalar *x, Transpose transpose = Transpose::no) const;
  /// The same; heard(level, norm) is told the norm of the residual of each level before its coarse-grid correction and after its last sweep,
  /// in the order in which a cycle makes them. Waits for each.
  void apply_and_tell(Scalar *b, Scalar *x, const std::function<void(int level, bool before, double norm)> &heard) const;

  /// At most so many steps of the stationary iteration for A x = b, in place: each is a cycle that is not symmetric, and leaves less than apply() does.
  /// zero: as if x were 0 before. enough(norm), unless it is null, is told the Euclidean norm of b, if x is 0 before, and then of b - A x after the
  /// first sweep of a step, or in single precision, or of several unknowns, before each step but one from 0; if it says true, x stays as it then is.
  /// Returns the number of steps that have changed x. Waits for each norm, while coarser levels are at work. b is kept. Of ranks that share the grid, in
  /// single precision: one step from zero, without a norm.
  int iterate(Scalar *b, Scalar *x, bool zero, int steps, const std::function<bool(double norm)> &enough) const;

  std::vector<BoxmgLevel> levels() const;
  bool symmetric() const;   ///< of the matrix, as given or found
  BoxmgCycle cycle() const; ///< as asked for, or chosen
  bool dominant() const;    ///< each diagonal of the matrix is at least the sum of the magnitudes beside it
  double flops() const;     ///< of a cycle
  /// Rows without a pivot of a finest level that is solved directly: its inverse is nothing there. Waits.
  Index rows_left_out() const;
  /// Entries of the operator of a level, and of the interpolation to it from the next, as CSR on the host. Not of levels that ranks share.
  struct Csr {
    Index rows = 0, columns = 0;
    std::vector<Index> row_starts, column;
    std::vector<Scalar> values;
  };
  Csr operator_of(int level) const;
  Csr interpolation_of(int level) const;
  Csr restriction_of(int level) const;

  struct Hierarchy; ///< defined in hierarchy.hpp

private:
  const Execution &execution_;
  std::unique_ptr<Hierarchy> hierarchy_;
};

} // namespace weft
