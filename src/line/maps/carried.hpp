/// What the lines of a matrix' graph carry of its couplings, once its values are others. Needs no Kokkos header.
#pragma once
#include "line/maps/line_map.hpp"

namespace weft {

struct CarriedCouplings {
  std::int64_t share = 0; ///< in units of 2^-20, summed over the rows
  std::int64_t rows  = 0; ///< that have couplings which a line can carry
  std::int64_t weak  = 0; ///< rows whose diagonal is rounding beside their greatest entry, but not zero
};

/// For each row: its couplings to the rows before and after it in its line, as a share of the two greatest that count (options.least_weight,
/// here of the row's own entries), at most 1. Rows that have none are left out, and so are couplings to other ranks. Waits.
template <class Scalar, class Int>
CarriedCouplings carried_couplings(const LineMap &map, const CsrMatrix<Scalar, Int> &matrix, const ForestOptions &options);

} // namespace weft
