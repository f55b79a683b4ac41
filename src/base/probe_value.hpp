/// Numbers that look random and are the same in every run, on every backend and on any number of ranks.
#pragma once
#include "line/line_layout.hpp"

namespace weft {

inline constexpr std::uint64_t splitmix64_step = 0x9e3779b97f4a7c15u;

/// The mixing of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
WEFT_INLINE std::uint64_t splitmix64(std::uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Entry i of a vector to probe with, in [-1, 1).
WEFT_INLINE double probe_value(Index i)
{
  return static_cast<double>(splitmix64((static_cast<std::uint64_t>(i) + 1) * splitmix64_step) >> 11) * 0x1p-52 - 1;
}

} // namespace weft
