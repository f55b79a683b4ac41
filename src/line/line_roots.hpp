/// LineRoots: symmetric positive definite tridiagonal lines as products of a factor and its transpose, each applied alone. For methods that
/// precondition from both sides. Needs no Kokkos header.
#pragma once
#include "line/line_solver.hpp"

namespace weft {

/// T = (L D^(1/2)) (L D^(1/2))^T, L unit lower bidiagonal, D diagonal.
template <class Scalar>
class LineRoots {
public:
  /// `execution` must live as long as the roots.
  LineRoots(const Execution &execution, const LineLayout &layout);
  ~LineRoots();
  LineRoots(const LineRoots &)            = delete;
  LineRoots &operator=(const LineRoots &) = delete;

  /// Takes the lower half of the tridiagonal part of a matrix, whose row i is element i of the layout, and factors it.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);
  /// The first row of the last factorization whose pivot is not positive, if there is one. Waits for it.
  std::optional<LineRow> bad_pivot() const;

  /// solution = scale * D^(-1/2) L^-1 rhs. The arrays may be the same. Does not wait.
  void solve_left(Scalar scale, const Scalar *rhs, Scalar *solution) const;
  /// solution = scale * L^-T D^(-1/2) rhs.
  void solve_right(Scalar scale, const Scalar *rhs, Scalar *solution) const;

  class Model;
  template <class Space>
  class ModelOn;

private:
  std::unique_ptr<Model> model_;
};

} // namespace weft
