/// LineSolver: factors and solves the tridiagonal part of a matrix along lines, on the host or on a device. The way into the kernels for
/// callers that include no Kokkos header; the kernels are in the files that select.hpp lists.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execution.hpp"
#include "lines.hpp"
#include "tridiagonal/options.hpp"

namespace weft {

/// A CSR matrix that somebody else owns; all pointers in the memory of the Execution it is used with. Columns need no order.
template <class Scalar, class Int>
struct CsrMatrix {
  const Int *row_starts = nullptr; ///< rows + 1
  const Int *columns    = nullptr;
  const Scalar *values  = nullptr;
};

/// Sums of scaled couplings along x, y and z.
using CouplingStrengths = std::array<double, 3>;

/// See csr.hpp. Waits for the result.
template <class Scalar, class Int>
CouplingStrengths coupling_strengths(const Execution &execution, const Index (&n)[3], Index components,
                                     const CsrMatrix<Scalar, Int> &matrix);

/// Names of the methods, in the order of select.hpp.
std::vector<const char *> tridiagonal_method_names();

template <class Scalar>
class LineSolver {
public:
  /// Makes plan and work space; nothing is allocated after this. `method` is a name of the list, or "auto".
  /// Throws std::invalid_argument for a name that is not in the list. `execution` must live as long as the solver.
  LineSolver(const Execution &execution, const LineLayout &layout, const std::string &method);
  ~LineSolver();
  LineSolver(const LineSolver &)            = delete;
  LineSolver &operator=(const LineSolver &) = delete;

  /// Takes the tridiagonal part of a matrix, whose row i is element i of the layout.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);
  /// Takes the coefficients of another solver of the same layout, in whichever memory they are.
  void read(const LineSolver &other);
  /// Factors what was read. The first row with an unusable pivot, if there is one. Waits for the result.
  std::optional<LineRow> factor();

  /// solution = scale * T^-1 rhs on the lines of options.colour. Arrays of layout.span() elements; rhs may be solution. Does not wait.
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const;
  /// solution += scale * T^-1 rhs; rhs is work space and undefined afterwards.
  void solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options) const;

  const LineLayout &layout() const;
  /// Name of the method in use (never "auto").
  const char *method() const;
  /// Operations of one solve on all lines.
  double flops() const;
  const Execution &execution() const { return execution_; }

  struct Concept;

private:
  const Execution &execution_;
  std::unique_ptr<Concept> model_;
};

} // namespace weft
