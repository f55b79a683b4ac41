/// LineSolver: factors and solves tridiagonal lines, on the host or on a device, by any method of select.hpp. The way into the kernels for
/// callers that include no Kokkos header. BlockLineSolver (blocks/block_line_solver.hpp) is its sibling.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/execution.hpp"
#include "base/kernel_scalar.hpp"
#include "line/any_lines.hpp"
#include "line/line_layout.hpp"

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

/// The name of the method that `auto` stands for: the fastest one of the measured cases of select.hpp.
const char *fastest_tridiagonal_method(const LineProblem &problem, bool device, const MethodParameters &parameters = {});

/// The coefficients of lines, on the host.
template <class Scalar>
struct HostCoefficients {
  std::vector<Scalar> lower, diagonal, upper;
};

/// Lines that one method factors and solves on one backend. Problem says what they are: LineProblem, or BlockLines.
template <class Problem, class Scalar>
class FactoredLines : public AnyLines<Scalar> {
public:
  /// Makes plan and work space; nothing is allocated after this, but by the first transposed solve. `method` is a name of the list, or "auto".
  /// Throws std::invalid_argument where no such method takes the lines. `execution` must live as long as they.
  static std::unique_ptr<FactoredLines> make(const Execution &execution, const Problem &problem, const std::string &method,
                                             const MethodParameters &parameters = {});

  /// Takes the part of a matrix, whose row i is element i of the layout, that lies on the lines. General coefficients only.
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &matrix) = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &matrix) = 0;
  /// Takes copies of coefficients, whatever the memory of the execution: problem().coefficient_size() each.
  virtual void read(const HostCoefficients<Scalar> &coefficients) = 0;
  virtual HostCoefficients<Scalar> host_coefficients() const      = 0;
  /// Those that it works on, in the memory of the execution.
  struct Given {
    const Scalar *lower, *diagonal, *upper;
  };
  virtual Given coefficients() const = 0;
  void read(const AnyLines<Scalar> &other) final { read(static_cast<const FactoredLines &>(other).host_coefficients()); }
  void read(const ConstantLines<Scalar> &lines) requires std::is_same_v<Problem, LineProblem>
  {
    if (problem_.coefficients != Coefficients::constant || problem_.closure != lines.closure)
      throw std::invalid_argument("the coefficients are not those of the problem");
    read(HostCoefficients<Scalar>{lines.lower, lines.diagonal, lines.upper});
  }

  const Execution &execution() const { return execution_; }
  const Problem &problem() const { return problem_; }
  const LineLayout &layout() const { return problem_.layout; }
  Index length() const final { return problem_.layout.length; }

protected:
  FactoredLines(const Execution &execution, const Problem &problem) : execution_(execution), problem_(problem) {}

private:
  const Execution &execution_;
  Problem problem_;
};

/// Batches of tridiagonal lines.
template <class Scalar>
using LineSolver = FactoredLines<LineProblem, Scalar>;

} // namespace weft
