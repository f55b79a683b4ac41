/// LineRoots: Hermitian positive definite tridiagonal lines as products of a factor and its adjoint, each applied alone. For methods that
/// precondition from both sides. Needs no Kokkos header.
#pragma once
#include "base/owner.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// T = (L D^(1/2)) (L D^(1/2))^H, L unit lower bidiagonal, D diagonal.
template <class Scalar>
class LineRoots {
public:
  /// `execution` must live as long as the roots.
  static Owner<LineRoots> make(const Execution &execution, const LineLayout &layout);
  virtual ~LineRoots()                    = default;
  LineRoots(const LineRoots &)            = delete;
  LineRoots &operator=(const LineRoots &) = delete;

  /// Takes the lower half of the tridiagonal part of a matrix, whose row i is element i of the layout, and factors it.
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &matrix) = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &matrix) = 0;
  /// The first row of the last factorization whose pivot is not positive or not real, if there is one. Waits for it.
  virtual std::optional<LineRow> bad_pivot() const = 0;

  /// solution = scale * D^(-1/2) L^-1 rhs. The arrays may be the same. Does not wait.
  virtual void solve_left(RealOf<Scalar> scale, const Scalar *rhs, Scalar *solution) const = 0;
  /// solution = scale * L^-H D^(-1/2) rhs.
  virtual void solve_right(RealOf<Scalar> scale, const Scalar *rhs, Scalar *solution) const = 0;

protected:
  LineRoots() = default;
};

} // namespace weft
