/// How much larger than a matrix its factors are: what solves with them lose, and what they hide.
#pragma once
#include "crout/pattern/entries.hpp"

namespace weft::crout {

namespace detail {

/// Sizes of values in units of their columns: of z in product_size().
template <class Scalar, class Space>
struct SizeInColumn {
  Array<Scalar, Space> values;
  Array<double, Space> largest; ///< in B; a column without any values counts as it is

  KOKKOS_INLINE_FUNCTION double operator()(Index entry, Index column) const
  {
    const double size = Kokkos::abs(static_cast<double>(values(entry)));
    return largest(column) > 0 ? size / largest(column) : size;
  }
};

} // namespace detail

/// The largest over the rows of (|L| |U| z)_i / (|B| z)_i, with z_j one over the largest size in column j of B, so that units of columns are no
/// matter, and a row is judged in its own. A solve with L and U is one with L U + E, |E| of some roundings of |L| |U| (N. J. Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2002, theorem 9.4); and where L U itself is so much larger than B, its inverse makes as little of a
/// part of the residual. `matrix` are the values of B; largest and sums: room for an element a row each. Waits.
template <class Scalar, class Space>
double product_size(const Space &space, const FactorEntries<Space> &entries, const Array<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &values, const Array<double, Space> &largest, const Array<double, Space> &sums)
{
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const Index rows           = entries.rows;
  Kokkos::deep_copy(space, largest, 0.0);
  Kokkos::parallel_for(
      "weft largest of columns", Range<Space>(space, 0, entries.size()), KOKKOS_LAMBDA(const Index e) {
        const Index diagonal = e - (entries.lower + entries.upper);
        Kokkos::atomic_max(&largest(diagonal >= 0 ? diagonal : entries.columns(e)), Kokkos::abs(static_cast<double>(matrix(e))));
      });
  const detail::SizeInColumn<Scalar, Space> factor{values, largest}, given{matrix, largest};
  Kokkos::parallel_for(
      "weft sizes of U", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        double sum = factor(entries.diagonal(i), i);
        for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) sum += factor(e, entries.columns(e));
        sums(i) = sum;
      });
  double most = 0;
  Kokkos::parallel_reduce(
      "weft size of L U", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &found) {
        double product = sums(i), size = given(entries.diagonal(i), i);
        for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) size += given(e, entries.columns(e));
        for (Index e = entries.lower_starts(i); e < entries.lower_starts(i + 1); e++) {
          product += Kokkos::abs(static_cast<double>(values(e))) * sums(entries.columns(e));
          size += given(e, entries.columns(e));
        }
        const double ratio = product < unbounded && size > 0 ? product / size : unbounded; // NaN is not
        found              = ratio > found ? ratio : found;
      },
      Kokkos::Max<double>(most));
  space.fence("weft size of L U");
  return most;
}

} // namespace weft::crout
