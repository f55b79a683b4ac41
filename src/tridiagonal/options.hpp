/// What a line solve is asked to do. Free of Kokkos, for callers that see no kernel.
#pragma once
#include "lines.hpp"

namespace weft {

enum class Transpose { no, yes };

/// What becomes of the line solutions z = T^-1 rhs:  add false: solution = scale * z, rhs is kept (it may be the same array as solution).
/// add true: solution += scale * z, and rhs is work space afterwards.
template <class Scalar>
struct Update {
  Scalar scale = 1;
  bool add     = false;
};

/// What a solve is asked to do.
template <class Scalar>
struct SolveOptions {
  Update<Scalar> update = {};
  Colour colour         = Colour::all; ///< other lines are not touched
  Transpose transpose   = Transpose::no;
};

} // namespace weft
