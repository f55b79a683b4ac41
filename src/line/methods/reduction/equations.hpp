/// Equations: rows with their right-hand sides in arrays of a plan, for methods that write reduced rows to memory.
#pragma once
#include "line/tridiagonal.hpp"

namespace weft {

template <class Space, class Scalar>
struct Equations {
  OwnedArray<Scalar, Space> lower, diagonal, upper, rhs;

  Equations() = default;
  Equations(const std::string &label, Index size)
      : lower(table<Scalar, Space>(label + " lower", size)), diagonal(table<Scalar, Space>(label + " diagonal", size)),
        upper(table<Scalar, Space>(label + " upper", size)), rhs(table<Scalar, Space>(label + " rhs", size))
  {
  }
  KOKKOS_INLINE_FUNCTION Equation<Scalar> get(Index i) const { return {lower(i), diagonal(i), upper(i), rhs(i)}; }
  KOKKOS_INLINE_FUNCTION void set(Index i, const Equation<Scalar> &e) const
  {
    lower(i)    = e.lower;
    diagonal(i) = e.diagonal;
    upper(i)    = e.upper;
    rhs(i)      = e.rhs;
  }
};

} // namespace weft
