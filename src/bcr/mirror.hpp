/// Mirror: transposed solves of singular operators, by the solver of the operator itself.
///
/// T'_k = W_k^-1 T_k has a diagonal D_k with D_k^-1 T'_k D_k symmetric. With M the product of all W_k D_k^2 the transpose of an operator A is
/// A^T = M A M^-1, and so is that of what stands for its inverse where it is singular: solve M^-1 A^+ M. A solver of A^T's own would have to
/// know that its null space is not that of constants.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "bcr/detect/direction_matrix.hpp"
#include "bcr/right_hand_side.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson {

/// The factors of M along a direction, scaled so that none is farther from 1 than need be. Needs a symmetrizer.
inline std::vector<double> mirror_factors(const Direction &direction)
{
  std::vector<double> factors = line_matrix(direction).left_of_constant();
  for (std::size_t i = 0; i < factors.size(); i++) factors[i] = (direction.weight.empty() ? 1 : direction.weight[i]) / factors[i];
  const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
  const double middle      = std::sqrt(*least) * std::sqrt(*most);
  for (double &f : factors) f /= middle;
  return factors;
}

template <class Space, class Scalar>
class Mirror {
public:
  Mirror() = default;
  /// Of arrays of n_0 n_1 n_2 numbers; no factors: 1.
  Mirror(const Index (&n)[3], const std::vector<double> (&factors)[3])
  {
    for (int k = 0; k < 3; k++) {
      n_[k] = n[k];
      std::vector<double> inverse;
      for (double f : factors[k]) inverse.push_back(f == 0 ? 0 : 1 / f);
      into_[k] = upload<Scalar, Space>("weft mirror", factors[k]);
      back_[k] = upload<Scalar, Space>("weft mirror", inverse);
    }
  }
  /// Of the inner box of an operator.
  explicit Mirror(const SeparableOperator &op)
  {
    Index n[3] = {1, 1, 1};
    std::vector<double> factors[3];
    for (int k = 0; k < op.dimension; k++) {
      n[k]       = op.directions[k].n;
      factors[k] = mirror_factors(op.directions[k]);
    }
    *this = Mirror(n, factors);
  }
  void into(const Space &space, Scalar *values) const { multiply(space, into_, values); }
  void back(const Space &space, Scalar *values) const { multiply(space, back_, values); }

private:
  using Values = OwnedArray<Scalar, Space>;

  void multiply(const Space &space, const Values (&by)[3], Scalar *values) const
  {
    Kokkos::parallel_for("weft mirror", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, n_[0] * n_[1] * n_[2]),
                         ScaleRightHandSide<Space, Scalar>{{n_[0], n_[1], n_[2]}, {by[0], by[1], by[2]}, 1, values, values, {}});
  }

  Index n_[3] = {0, 0, 0};
  Values into_[3], back_[3];
};

} // namespace weft::poisson
