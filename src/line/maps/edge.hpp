/// Edges of a matrix graph and the order of their strength, which all rows agree on.
#pragma once
#include <Kokkos_Core.hpp>
#include <cstdint>

#include "base/real_of.hpp"

namespace weft {

/// Number of a row that this process owns. Half the bytes of an Index, and enough for 2^30 rows (`most_forest_rows`).
using RowNumber = std::int32_t;

/// A weight as a number that compares like it: the float's bits, rounded to 11 bits after the leading one. Couplings that differ by rounding
/// errors only are equal then, and the shape of the graph decides between them. 0 is no coupling.
using Weight = std::uint32_t;

inline constexpr Weight no_weight = 0;

/// What the graph keeps of an entry: a complex one's modulus, so that sizes compare and each product of couplings counts as one that takes from
/// a pivot.
template <class Scalar>
KOKKOS_INLINE_FUNCTION double value_in_graph(const Scalar &entry)
{
  if constexpr (is_complex<Scalar>)
    return static_cast<double>(modulus(entry));
  else
    return static_cast<double>(entry);
}

KOKKOS_INLINE_FUNCTION Weight weight_of(double size)
{
  constexpr double least = 1e-30, most = 1e30; // well inside float's range
  if (!(size >= least)) return no_weight;      // NaN too
  const auto bits = Kokkos::bit_cast<std::uint32_t>(static_cast<float>(size < most ? size : most));
  return (bits + (1u << 11)) >> 12;
}
KOKKOS_INLINE_FUNCTION double size_of(Weight weight)
{
  return static_cast<double>(Kokkos::bit_cast<float>(weight << 12));
}

/// An edge between two rows, low < high.
struct Edge {
  Weight weight = no_weight;
  RowNumber low = -1, high = -1;

  Edge() = default;
  KOKKOS_INLINE_FUNCTION Edge(Weight w, RowNumber i, RowNumber j) : weight(w), low(i < j ? i : j), high(i < j ? j : i) {}
  KOKKOS_INLINE_FUNCTION bool joins(RowNumber i, RowNumber j) const { return low == (i < j ? i : j) && high == (i < j ? j : i); }
};

/// Spreads the bits of a number (the finalizer of SplitMix64, Steele, Lea and Flood, OOPSLA 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t scramble(std::uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
KOKKOS_INLINE_FUNCTION std::uint64_t pair_number(RowNumber i, RowNumber j)
{
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)) << 32) | static_cast<std::uint32_t>(j);
}

/// A total order: the greater weight; then the rows that are closer, so that equal weights on a grid give grid lines that lie close in memory;
/// then a scrambled number, so that long runs of equal edges are not decided one after another.
KOKKOS_INLINE_FUNCTION bool stronger(const Edge &x, const Edge &y)
{
  if (x.weight != y.weight) return x.weight > y.weight;
  const RowNumber dx = x.high - x.low, dy = y.high - y.low;
  if (dx != dy) return dx < dy;
  const std::uint64_t hx = scramble(pair_number(x.low, x.high)), hy = scramble(pair_number(y.low, y.high));
  if (hx != hy) return hx < hy;
  return x.low < y.low;
}

} // namespace weft
