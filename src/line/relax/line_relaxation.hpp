/// LineRelaxation: x += omega T^-1 (b - A x), T the tridiagonal part of A along lines, in one pass where lines allow it.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "line/relax/stencil_matrix.hpp"

namespace weft {

/// What is known of x before it is relaxed.
enum class Guess {
  given,
  zero_lines, ///< 0 on the lines that are relaxed, whatever stands there; given on the others
  zero,       ///< 0 everywhere, whatever stands there: x of other lines is neither read nor written
};

template <class Scalar>
struct RelaxOptions {
  RealOf<Scalar> omega = 1;
  Colour colour        = Colour::all; ///< other lines are not written
  Guess guess          = Guess::given;
  Transpose transpose  = Transpose::no;
  /// Take what is measured on the lines of the colour: the residual before, and omega T^-1 of it, by how much x changed.
  Norm *residual = nullptr, *change = nullptr;
};

template <class Scalar>
class LineRelaxation {
public:
  /// Tables and work space on one backend: RelaxationPlan.
  struct Plan {
    virtual ~Plan()                                                                                                 = default;
    virtual void factor(const StencilMatrix<Scalar> &matrix, LineSolver<Scalar> &solver)                            = 0;
    virtual void refactor(const StencilMatrix<Scalar> &matrix, LineSolver<Scalar> &solver)                          = 0;
    virtual bool as_expected()                                                                                      = 0;
    virtual bool fused(Colour colour) const                                                                         = 0;
    virtual std::optional<LineRow> bad_pivot(const LineSolver<Scalar> &solver) const                                = 0;
    virtual void relax(const LineSolver<Scalar> &solver, Scalar *b, Scalar *x, const RelaxOptions<Scalar> &options) = 0;
  };

  /// For lines in the rows of a matrix, which must outlive this: element i of the layout is row i. `method`, `parameters` and errors as in
  /// LineSolver. Call factor() before the first relax(). Throws std::invalid_argument where the lines have more rows than the matrix.
  /// by_colour: colours will be relaxed one by one; false spares what is prepared for that.
  LineRelaxation(const StencilMatrix<Scalar> &matrix, const LineProblem &problem, const std::string &method = "auto",
                 const MethodParameters &parameters = {}, bool by_colour = true);
  ~LineRelaxation();
  LineRelaxation(const LineRelaxation &)            = delete;
  LineRelaxation &operator=(const LineRelaxation &) = delete;

  /// Takes T from the matrix and factors it; to be called whenever the matrix was read. General coefficients that are not periodic are the
  /// matrix's own diagonals, which are not copied; others must have been given to solver(). Waits.
  void factor() { plan_->factor(matrix_, *solver_); }
  /// The same of new values that are expected to let lines couple as those before: does not wait where their pivots cannot fail. Nothing may be
  /// relaxed before as_expected() has said that they are; where they are not, factor() is to be called.
  void refactor() { plan_->refactor(matrix_, *solver_); }
  /// Waits.
  bool as_expected() { return plan_->as_expected(); }
  /// The first row with an unusable pivot, in factor() or a relax() since. Waits.
  std::optional<LineRow> bad_pivot() const { return plan_->bad_pivot(*solver_); }

  /// x = x + omega T^-1 (b - A x) on the lines of the colour, all from the same old x. Does not wait. Allocates nothing, but for the first
  /// one that is transposed, or of all lines where colours were foreseen. Throws std::invalid_argument for the transpose of a matrix that is
  /// not in diagonals: make the residual by other means and let solver() add to x. b is kept.
  void relax(Scalar *b, Scalar *x, const RelaxOptions<Scalar> &options = {}) const { plan_->relax(*solver_, b, x, options); }

  /// True if relax() does it in one pass over the matrix: see docs/kernels/smooth.md.
  bool fused(Colour colour) const { return plan_->fused(colour); }
  /// The lines' solver, to be given coefficients that are not the matrix's own.
  LineSolver<Scalar> &solver() { return *solver_; }
  const LineSolver<Scalar> &solver() const { return *solver_; }
  const StencilMatrix<Scalar> &matrix() const { return matrix_; }

private:
  const StencilMatrix<Scalar> &matrix_;
  std::unique_ptr<LineSolver<Scalar>> solver_;
  std::unique_ptr<Plan> plan_;
};

} // namespace weft
