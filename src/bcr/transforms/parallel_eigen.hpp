/// Eigenpairs of an open line in O(n^2) operations, all of them side by side, and matrices of eigenvectors where a solve takes them from.
///
/// The symmetric line S = D^-1 T D is known by two factorizations L Delta L^T, of sign S + c I, positive definite, and of a I - (sign S + c I): each
/// fixes the eigenvalues near its 0 to their own digits, so that those are far apart relative to their size. With an eigenvalue lambda of one of
/// them, from the first row down and from the last one up,
///   s_1 = -lambda,         s_{i+1} = Delta_i l_i^2 s_i / (Delta_i + s_i) - lambda;
///   p_n = Delta_n - lambda,  p_i = Delta_i p_{i+1} / (Delta_i l_i^2 + p_{i+1}) - lambda.
/// 1. Eigenvalues: as many are below lambda as there are negative Delta_i + s_i. Their places are divided as whole numbers, which the bits of
///    positive doubles are, until neighbours are left: eigenvalues near 0 get all their digits.
/// 2. Eigenvectors: gamma_k = s_k + Delta_k p_{k+1} / (Delta_k l_k^2 + p_{k+1}) is the residual of the vector with z_k = 1 and
///    z_i = -l_i Delta_i / (Delta_i + s_i) z_{i+1} above, z_{i+1} = -l_i Delta_i / (Delta_i l_i^2 + p_{i+1}) z_i below. The least |gamma_k| has it.
///    Of two eigenvalues that agree in too many digits the second one takes the row of the least |gamma_k| where the first one's vector is not:
///    vectors that live in two places, as on a mesh that is refined at both ends.
/// 3. Z <- Z (3 I - Z^T Z) / 2 until Z^T Z = I, which mixes vectors by what their angles are off: of close eigenvalues only.
/// 4. What came of it is measured; where it is no eigenbasis to rounding there is none, and LAPACK has to find it.
/// Sources: J. Demmel, W. Kahan, SIAM J. Sci. Stat. Comput. 11 (1990) 873 (counts); I. Dhillon, B. Parlett, Linear Algebra Appl. 387 (2004) 1
/// (twisted factorizations); N. Higham, Functions of Matrices (2008), section 8.3 (Newton-Schulz iteration).
#pragma once
#include <memory>
#include <optional>

#include "base/backend.hpp"
#include "bcr/transforms/eigen.hpp"
#include "line/tridiagonal.hpp"

namespace weft::poisson {

/// V and V^-1 of DenseBasis: (V)_{j,q} and (V^-1)_{q,j} in element j * ld + q, ld rows of it. One array where they are the same.
template <class Space>
struct DenseBasisOn final : DenseBasis {
  OwnedArray<double, Space> vectors, inverse;
  Index ld = 0;

  std::size_t bytes() const override { return sizeof(double) * (vectors.size() + (inverse.data() == vectors.data() ? 0 : inverse.size())); }
};

/// Numbers in another precision, or the same array.
template <class Scalar, class Space>
OwnedArray<Scalar, Space> converted(const Space &space, const OwnedArray<double, Space> &from)
{
  if constexpr (std::is_same_v<Scalar, double>) {
    return from;
  } else {
    OwnedArray<Scalar, Space> to(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft poisson transform"), from.size());
    Kokkos::deep_copy(space, to, from);
    return to;
  }
}

} // namespace weft::poisson
