/// LineSet: lines that are relaxed together or colour by colour (those along one direction of a grid, or those of a map), whatever solves
/// them. The glue's half of the engine: from a matrix of PETSc to solvers of src/.
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/owner.hpp"
#include "line/maps/line_map.hpp"
#include "line/relax/line_relaxation.hpp"
#include "petsc/petsc_arrays.hpp"

namespace weft {

/// How lines of the graph are found. Couplings of an eighth of the diagonal or less gain nothing in a line: where all are alike (nine points)
/// it winds about, and does worse than its rows alone.
inline ForestOptions GraphOptions()
{
  ForestOptions options;
  options.least_weight = 0.13;
  return options;
}

using LineSolveOptions = SolveOptions<KernelScalar>;

/// Nothing here is collective but where lines cross ranks; then everything is, and each rank has the same sets in the same order.
class LineSet {
public:
  LineSet(const Execution &execution, int colours) : execution_(execution), colours_(colours) {}
  virtual ~LineSet() = default;

  const Execution &execution() const { return execution_; }
  int colours() const { return colours_; }

  /// Takes new values from the matrix whose pattern the set was made for, and factors.
  virtual void read(const LocalMatrix &matrix) = 0;
  /// The first row of this rank with an unusable pivot.
  virtual std::optional<Index> bad_row() const = 0;
  /// The same lines with the same values for vectors in the other memory.
  virtual std::unique_ptr<LineSet> twin(const Execution &execution) const = 0;

  /// x = omega T^-1 b on the lines of a colour, or, with options.update.add, x += that, where b is work space; else it is kept, though lines
  /// that ranks share change values of it for a while.
  virtual void solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const = 0;

  virtual double flops(Colour colour) const = 0;

  /// True for a set that keeps the matrix, and makes the residual of a step itself.
  virtual bool relaxes() const { return false; }
  /// x += omega T^-1 (b - A x) on the lines of a colour, all from the same old x. b is kept as in solve().
  virtual void relax(KernelScalar *, KernelScalar *, Guess, const LineSolveOptions &) const
  {
    throw std::logic_error("these lines make no residuals: ask relaxes() first");
  }
  /// Sets ghosts to 0, values of rows on other ranks, that belong to the lines of a colour, where relax() finds them itself.
  virtual void clear_own(KernelScalar *, Colour) const {}
  /// Operations of that, the residual's with them.
  virtual double relax_flops(Colour) const { return 0; }

  /// What lines of the matrix' graph carry of the couplings of this rank's rows; nothing of other lines.
  virtual std::optional<CarriedCouplings> carried(const LocalMatrix &) const { return std::nullopt; }

  /// Couplings of this rank's rows, not 0, to rows of other ranks that lines of a map go on to; after read().
  virtual Index carried_across() const { return 0; }

  /// What -ksp_view tells.
  virtual const char *method() const = 0;
  virtual PetscInt64 count() const   = 0; ///< lines that start on this rank
  virtual PetscInt64 longest() const = 0; ///< rows of the longest one, as far as this rank sees it
  virtual std::string kind() const   = 0; ///< " in single precision", ...
  /// Of lines that go on on other ranks: true where this rank need only tell its neighbours, see DistributedSolver.
  virtual bool neighbours_only() const { return false; }

private:
  const Execution &execution_;
  int colours_;
};

/// The lines of a box, or a part of them, and where these start among the rows of the rank.
struct LinePiece {
  LineLayout layout;
  Index offset     = 0;
  Colour colour    = Colour::all; ///< of all its lines, where there are four; else they have those of the layout
  std::size_t kind = 0;           ///< lines of a kind have the same place: inside the grid, at one edge of it, ...
};

/// How a box is cut into pieces.
struct LineCuts {
  bool four_colours  = false;   ///< by the parity of the lines' places in the whole grid in each of the directions across
  bool edges         = false;   ///< lines at the edges of the whole grid by themselves
  const Index *whole = nullptr; ///< nodes of the whole grid, for its edges
};

/// The lines along `direction` of a box, in one piece or in several. Those inside the grid come first, and those that there are none of are
/// left out, but for the first piece.
std::vector<LinePiece> LinePieces(int direction, const Index nodes[3], Index components, const Index first[3], const LineCuts &cuts);

/// The rows of whole lines that are this rank's, where these go on on others.
struct OwnRows {
  Index first = 0, end = std::numeric_limits<Index>::max();
};

/// Lines of a grid, in pieces, each with what solves it.
class GridLines final : public LineSet {
public:
  using Solver = AnyLines<KernelScalar>;
  using Make   = std::function<Owner<Solver>(const Execution &, const LinePiece &)>;
  using Read   = std::function<void(Solver &, std::size_t, const LocalMatrix &)>;
  GridLines(const Execution &execution, std::vector<LinePiece> pieces, int colours, std::string kind, Make make, Read read,
            OwnRows own = {});

  void read(const LocalMatrix &matrix) override;
  std::optional<Index> bad_row() const override;
  std::unique_ptr<LineSet> twin(const Execution &execution) const override;
  void solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const override;
  double flops(Colour colour) const override;
  const char *method() const override { return solvers_.front()->method(); }
  PetscInt64 count() const override;
  PetscInt64 longest() const override { return solvers_.front()->length(); }
  std::string kind() const override { return kind_; }
  bool neighbours_only() const override;

  Solver &solver(std::size_t piece) const { return *solvers_[piece]; }

private:
  bool has(std::size_t piece, Colour colour) const
  {
    return colour == Colour::all || pieces_[piece].colour == Colour::all || pieces_[piece].colour == colour;
  }

  std::vector<LinePiece> pieces_;
  std::string kind_;
  Make make_;
  Read read_;
  OwnRows own_;
  std::vector<Owner<Solver>> solvers_;
};

/// Lines of a grid that is all on this rank, with the matrix in diagonals: the residual of a step costs no pass of its own where lines of a
/// colour do not couple.
class StencilLines final : public LineSet {
public:
  /// `matrix` must outlive this, and be read before this is.
  StencilLines(const StencilMatrix<KernelScalar> &matrix, const LineProblem &problem, int colours, const std::string &kernel,
               const MethodParameters &parameters)
      : LineSet(matrix.execution(), colours), lines_(matrix, problem, kernel, parameters, colours > 1), parameters_(parameters)
  {
  }

  void read(const LocalMatrix &matrix) override;
  std::optional<Index> bad_row() const override;
  std::unique_ptr<LineSet> twin(const Execution &execution) const override;
  void solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const override;
  double flops(Colour colour) const override { return share(colour) * lines_.solver().flops(); }

  bool relaxes() const override { return true; }
  void relax(KernelScalar *b, KernelScalar *x, Guess guess, const LineSolveOptions &options) const override;
  double relax_flops(Colour colour) const override;
  /// True if relax() does it in one pass over the matrix.
  bool one_pass() const { return lines_.fused(colours() == 1 ? Colour::all : Colour::even); }

  const char *method() const override { return lines_.solver().method(); }
  PetscInt64 count() const override { return lines_.solver().layout().count(); }
  PetscInt64 longest() const override { return lines_.solver().layout().length; }
  std::string kind() const override;

private:
  static double share(Colour colour) { return colour == Colour::all ? 1 : 0.5; }

  LineRelaxation<KernelScalar> lines_;
  MethodParameters parameters_;
};

} // namespace weft
