/// How much larger than a matrix its factors are: what solves with them lose, and what they hide.
#pragma once
#include <functional>

#include "crout/pattern/entries.hpp"

namespace weft::crout {

namespace detail {

/// Sizes of values in units of their columns.
template <class Scalar, class Space>
struct SizeInColumn {
  Array<Scalar, Space> values;
  Array<double, Space> units; ///< empty: 1; a column without any values counts as it is

  KOKKOS_INLINE_FUNCTION double operator()(Index entry, Index column) const
  {
    const double size = static_cast<double>(modulus(values(entry)));
    return units.data() && units(column) > 0 ? size / units(column) : size;
  }
};

/// The largest (|L| |U| z)_i / (|B| z)_i, z_j one over the unit of column j; rows: (|B| z)_i, where that is known and `given`
/// not needed. Waits.
template <class Scalar, class Space>
double largest_row(const Space &space, const FactorEntries<Space> &entries, const SizeInColumn<Scalar, Space> &given,
                   const SizeInColumn<Scalar, Space> &factor, const Array<double, Space> &rows, const Array<double, Space> &sums)
{
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  Kokkos::parallel_for(
      "weft sizes of U", Range<Space>(space, 0, entries.rows), KOKKOS_LAMBDA(const Index i) {
        double sum = factor(entries.diagonal(i), i);
        for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) sum += factor(e, entries.columns(e));
        sums(i) = sum;
      });
  double most = 0;
  Kokkos::parallel_reduce(
      "weft size of L U", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index i, double &found) {
        const Index lower = entries.lower_starts(i), lower_end = entries.lower_starts(i + 1);
        double product = sums(i), size = 0;
        for (Index e = lower; e < lower_end; e++) product += static_cast<double>(modulus(factor.values(e))) * sums(entries.columns(e));
        if (rows.data()) {
          size = rows(i);
        } else {
          size = given(entries.diagonal(i), i);
          for (Index e = lower; e < lower_end; e++) size += given(e, entries.columns(e));
          for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) size += given(e, entries.columns(e));
        }
        const double ratio = product < unbounded && size > 0 ? product / size : unbounded; // NaN is not
        found              = ratio > found ? ratio : found;
      },
      Kokkos::Max<double>(most));
  space.fence("weft size of L U");
  return most;
}

} // namespace detail

/// A size of factors that nobody minds: it is not looked for a smaller one in other units.
inline constexpr double small_product = 1e4;

/// The largest over the rows of (|L| |U| z)_i / (|B| z)_i. A solve with L and U is one with L U + E, |E| of some roundings of |L| |U| (N. J. Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2002, theorem 9.4); and where L U itself is so much larger than B, its inverse makes as
/// little of a part of the residual. z is 1, and where that finds much, one over the largest size in each column of B: then the units of
/// columns are no matter. `matrix()` gives the values of B, `rows` the sums of the sizes of its rows, or less; units and sums: room for an element
/// a row each. Waits.
template <class Scalar, class Space>
double product_size(const Space &space, const FactorEntries<Space> &entries, const std::function<Array<Scalar, Space>()> &matrix,
                    const Array<Scalar, Space> &values, const Array<double, Space> &rows, const Array<double, Space> &units,
                    const Array<double, Space> &sums)
{
  using Sizes        = detail::SizeInColumn<Scalar, Space>;
  const double plain = detail::largest_row(space, entries, Sizes{}, Sizes{values, {}}, rows, sums);
  if (plain <= small_product) return plain;
  const Array<Scalar, Space> given = matrix();
  Kokkos::deep_copy(space, units, 0.0);
  Kokkos::parallel_for(
      "weft largest of columns", Range<Space>(space, 0, entries.size()), KOKKOS_LAMBDA(const Index e) {
        const Index diagonal = e - (entries.lower + entries.upper);
        Kokkos::atomic_max(&units(diagonal >= 0 ? diagonal : entries.columns(e)), static_cast<double>(modulus(given(e))));
      });
  return detail::largest_row(space, entries, Sizes{given, units}, Sizes{values, units}, {}, sums);
}

} // namespace weft::crout
