/// Fields that are products of a function of each coordinate, on the nodes of a box: an array is filled with one, or compared with it. Needs no
/// Kokkos header.
#pragma once
#include <array>
#include <vector>

#include "base/execution.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// The factors at the nodes of a box along x, y and z, x fastest in memory. On the host.
using ProductFactors = std::array<std::vector<double>, 3>;

/// u = the product at each node. u is in the memory of the execution; waits.
template <class Scalar>
void fill_product(const Execution &execution, const ProductFactors &factors, Scalar *u);

struct Distance {
  double most = 0, squares = 0; ///< the largest difference, and the sum of the squares; infinite where some value is no number
  double inside = 0;            ///< the largest one at nodes [begin, end) along the direction
};
/// How far u is from the product, with nodes [begin, end) along `direction` looked at by themselves as well. Waits.
template <class Scalar>
Distance distance_to_product(const Execution &execution, const ProductFactors &factors, int direction, Index begin, Index end,
                             const Scalar *u);

} // namespace weft
