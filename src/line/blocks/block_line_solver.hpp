/// BlockLineSolver: factors and solves block-tridiagonal lines, on the host or on a device, by any method of block_select.hpp. The sibling
/// of LineSolver for nodes whose unknowns are solved for together. Needs no Kokkos header.
#pragma once
#include "line/blocks/block_lines.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// Names of the methods, in the order of block_select.hpp.
std::vector<const char *> block_tridiagonal_method_names();

/// Why a method of that name cannot solve such lines with such parameters (or that there is none of that name), or nothing.
std::optional<std::string> block_tridiagonal_method_refuses(const std::string &method, const BlockLines &lines,
                                                            const MethodParameters &parameters = {});

/// True where a matrix, whose row i is element i of the layout, couples different unknowns of a node, or of neighbours along a line. Waits for
/// the answer.
template <class Scalar, class Int>
bool components_couple(const Execution &execution, const BlockLines &lines, const CsrMatrix<Scalar, Int> &matrix);

template <class Scalar>
class BlockLineSolver {
public:
  /// Makes plan and work space; nothing is allocated after this, but by the first transposed solve. The layout's components are the unknowns
  /// of a node, 1 to 8; `method` is a name of the list, or "auto". Throws std::invalid_argument where block_tridiagonal_method_refuses.
  /// `execution` must live as long as the solver.
  BlockLineSolver(const Execution &execution, const BlockLines &lines, const std::string &method, const MethodParameters &parameters = {});
  ~BlockLineSolver();
  BlockLineSolver(const BlockLineSolver &)            = delete;
  BlockLineSolver &operator=(const BlockLineSolver &) = delete;

  /// Takes the block-tridiagonal part of a matrix, whose row i is element i of the layout.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);
  /// Takes the coefficients of another solver of the same lines, in whichever memory they are.
  void read(const BlockLineSolver &other);
  /// Works on the caller's blocks, lines().coefficient_size() elements each in the memory of the execution, as block_lines.hpp says. They are
  /// not copied: they must stay until factor(), and for transposed solves until the first of these after it.
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper);

  /// Factors what was given. Does not wait.
  void factor();
  /// The first block row of the last factorization whose pivot block cannot be inverted, if there is one: its line of nodes, its row along
  /// it. Waits for it.
  std::optional<LineRow> bad_pivot() const;

  /// solution = scale * T^-1 rhs on the lines of options.colour. Arrays of layout().span() elements; rhs may be solution. Does not wait.
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const;
  /// solution += scale * T^-1 rhs; rhs is work space and undefined afterwards.
  void solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options = {}) const;
  /// factor() and solve() in one go, cheaper than both where the method has a form of its own. Later solves need a factor() again.
  void solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {});

  const BlockLines &lines() const { return lines_; }
  const LineLayout &layout() const { return lines_.layout; }
  /// Name of the method in use (never "auto").
  const char *method() const { return method_.c_str(); }
  /// Operations of one solve on all lines: three blocks a block row, in either method.
  double flops() const { return 6.0 * static_cast<double>(layout().rows() * layout().components); }
  const Execution &execution() const { return execution_; }

private:
  LineModel<Scalar> &transposed() const;

  const Execution &execution_;
  BlockLines lines_;
  MethodParameters parameters_;
  std::string method_;
  std::unique_ptr<LineModel<Scalar>> model_;
  mutable std::unique_ptr<LineModel<Scalar>> transposed_; ///< made and factored by the first transposed solve after factor()
  mutable bool transposed_is_factored_ = false;
};

} // namespace weft
