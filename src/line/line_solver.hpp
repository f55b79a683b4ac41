/// LineSolver: factors and solves tridiagonal lines, on the host or on a device, by any method of select.hpp. The way into the kernels for
/// callers that include no Kokkos header.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "line/factored_lines.hpp"
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

template <class Scalar>
class LineSolver final : public FactoredLines<Scalar> {
public:
  /// Makes plan and work space; nothing is allocated after this, but by the first transposed solve. `method` is a name of the list, or
  /// "auto". Throws std::invalid_argument where tridiagonal_method_refuses. `execution` must live as long as the solver.
  LineSolver(const Execution &execution, const LineProblem &problem, const std::string &method, const MethodParameters &parameters = {});

  using FactoredLines<Scalar>::read;
  /// Takes the tridiagonal part of a matrix, whose row i is element i of the layout. General coefficients only.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);
  /// Takes copies of coefficients on the host, whatever the memory of the execution: problem().coefficient_size() each.
  void read(const ConstantLines<Scalar> &lines);
  const LineProblem &problem() const { return problem_; }
  const LineLayout &layout() const { return problem_.layout; }
  Index length() const override { return problem_.layout.length; }
  double flops() const override;

private:
  using Base = FactoredLines<Scalar>;
  using Base::method_;
  using Base::model_;
  using Base::parameters_;

  std::unique_ptr<LineModel<Scalar>> make(Transpose transpose) const override;

  LineProblem problem_;
};

} // namespace weft
