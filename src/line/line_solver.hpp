/// LineSolver: factors and solves tridiagonal lines, on the host or on a device, by any method of select.hpp. The way into the kernels for
/// callers that include no Kokkos header.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "line/line_layout.hpp"
#include "line/line_problem.hpp"

namespace weft {

/// A CSR matrix that somebody else owns; all pointers in the memory of the Execution it is used with. Columns need no order.
template <class Scalar, class Int>
struct CsrMatrix {
  const Int *row_starts = nullptr; ///< rows + 1
  const Int *columns    = nullptr;
  const Scalar *values  = nullptr;
  Index first           = 0; ///< the row and the column that belong to element 0 of the lines, where these are a part of the matrix

  /// Where the entries of element i's row begin and end, and the element of entry k's column.
  WEFT_INLINE Int begin(Index i) const { return row_starts[first + i]; }
  WEFT_INLINE Int end(Index i) const { return row_starts[first + i + 1]; }
  WEFT_INLINE Index column(Int k) const { return static_cast<Index>(columns[k]) - first; }
};

/// How a matrix couples along x, y and z.
struct CouplingStrengths {
  std::array<double, 3> sum{};  ///< of |A(i, i +- neighbour)| / |A(i, i)| over the rows
  std::array<double, 3> rows{}; ///< rows that couple along it more than three times as strongly as along any other
};

/// What lies beyond the faces of a box, in each direction.
template <class Scalar>
struct BoxFaces {
  bool wraps[3]           = {};                 ///< the opposite face
  const Scalar *before[3] = {}, *after[3] = {}; ///< rows outside: a coupling for each line along it, in the order of lines_of_box; or null
};

/// See csr.hpp. Waits for the result.
template <class Scalar, class Int>
CouplingStrengths coupling_strengths(const Execution &execution, const Index (&n)[3], Index components,
                                     const CsrMatrix<Scalar, Int> &matrix, const BoxFaces<Scalar> &faces = {});

/// Rows at either end of a line that may differ from the rows between them, where constant coefficients are looked for in a matrix.
inline constexpr Index most_closure = 4;

/// Coefficients that all lines share and that are constant along them but for `closure` rows at either end: 2 * closure + 1 each.
template <class Scalar>
struct ConstantLines {
  Index closure = 0;
  std::vector<Scalar> lower, diagonal, upper;
};

/// See csr.hpp. Waits for the result.
template <class Scalar, class Int>
std::optional<ConstantLines<Scalar>> constant_lines(const Execution &execution, const LineProblem &problem,
                                                    const CsrMatrix<Scalar, Int> &matrix);

/// Names of the methods, in the order of select.hpp.
std::vector<const char *> tridiagonal_method_names();

/// Why a method of that name cannot solve such lines with such parameters (or that there is none of that name), or nothing.
std::optional<std::string> tridiagonal_method_refuses(const std::string &method, const LineProblem &problem,
                                                      const MethodParameters &parameters = {});

template <class Scalar>
class LineModel;

template <class Scalar>
class LineSolver {
public:
  /// Makes plan and work space; nothing is allocated after this, but by the first transposed solve. `method` is a name of the list, or
  /// "auto". Throws std::invalid_argument where tridiagonal_method_refuses. `execution` must live as long as the solver.
  LineSolver(const Execution &execution, const LineProblem &problem, const std::string &method, const MethodParameters &parameters = {});
  ~LineSolver();
  LineSolver(const LineSolver &)            = delete;
  LineSolver &operator=(const LineSolver &) = delete;

  /// Takes the tridiagonal part of a matrix, whose row i is element i of the layout. General coefficients only.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);
  /// Takes the coefficients of another solver of the same problem, in whichever memory they are.
  void read(const LineSolver &other);
  /// Takes copies of coefficients on the host, whatever the memory of the execution: problem().coefficient_size() each.
  void read(const ConstantLines<Scalar> &lines);
  /// Works on the caller's coefficients, problem().coefficient_size() elements each in the memory of the execution. They are not copied: they
  /// must stay until others are given or the solver ends.
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper);

  /// Factors what was given. Does not wait.
  void factor();
  /// The first row with an unusable pivot of the last factorization (or one-shot solve), if there is one. Waits for it.
  std::optional<LineRow> bad_pivot() const;

  /// solution = scale * T^-1 rhs on the lines of options.colour. Arrays of layout.span() elements; rhs may be solution. Does not wait.
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const;
  /// solution += scale * T^-1 rhs; rhs is work space and undefined afterwards.
  void solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options = {}) const;
  /// factor() and solve() in one go, cheaper than both where the method has a form of its own. Later solves need a factor() again.
  void solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {});

  const LineProblem &problem() const { return problem_; }
  const LineLayout &layout() const { return problem_.layout; }
  /// Name of the method in use (never "auto").
  const char *method() const { return method_.c_str(); }
  /// Operations of one solve on all lines.
  double flops() const;
  const Execution &execution() const { return execution_; }

private:
  LineModel<Scalar> &transposed() const;

  const Execution &execution_;
  LineProblem problem_;
  MethodParameters parameters_;
  std::string method_;
  std::unique_ptr<LineModel<Scalar>> model_;
  mutable std::unique_ptr<LineModel<Scalar>> transposed_; ///< made and factored by the first transposed solve after factor()
  mutable bool transposed_is_factored_ = false;
};

} // namespace weft
