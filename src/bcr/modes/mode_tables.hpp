/// Set-up and arguments of mode_lines.hpp, without Kokkos.
#pragma once
#include <optional>
#include <vector>

#include "bcr/detect/direction_matrix.hpp"

namespace weft::poisson {

/// Per mode: the smaller root r, F = gain f (0: a mode that is not solved here, whose values stay), and eight factors that give a and b.
template <class Scalar>
struct ModeTables {
  const Scalar *root = nullptr, *gain = nullptr, *ends = nullptr;
};

/// What a solve of lines of modes leaves behind.
enum class ModePass {
  alone,      ///< the solutions
  sums,       ///< their sums into the rows of a border, and the right-hand sides as they were
  with_border ///< the solutions, the rows of the border being known
};

/// Rows that all modes are coupled to: mode q takes `into[q]` times its row from its right-hand side and adds `out[q]` times its solution
/// to that row. With two rows, the first one is that of odd modes.
template <class Scalar>
struct ModeBorder {
  int left_over      = 0; ///< rows
  const Scalar *into = nullptr, *out = nullptr;
  Scalar *rows = nullptr; ///< row r begins at r * pitch, a multiple of 16 bytes; up to there 0 after the last number
  Scalar *sums = nullptr; ///< of tile p of neighbouring modes, for row r: from (p * left_over + r) * pitch on
  Index pitch  = 0;

  WEFT_INLINE Index row_of(Index mode) const { return left_over == 1 ? 0 : (mode + 1) % 2; }
};

/// The same before upload.
struct ConstantModes {
  std::vector<double> root, gain, ends;

  /// A mode of another table.
  void add(const ConstantModes &from, Index mode)
  {
    const auto q = static_cast<std::size_t>(mode);
    root.push_back(from.root[q]);
    gain.push_back(from.gain[q]);
    ends.insert(ends.end(), from.ends.begin() + 8 * mode, from.ends.begin() + 8 * (mode + 1));
  }
  /// A mode that is not solved.
  void add_none()
  {
    root.push_back(0);
    gain.push_back(0);
    ends.insert(ends.end(), 8, 0.0);
  }
};

constexpr long double least_decay = 0.5L; ///< along a line of n rows with the root r, of -n log |r|: below it two recurrences cancel

/// True for four rows or more that are equal but for the first and the last one, with two equal couplings (of rings all of them).
bool equal_inside(const LineMatrix &line);

/// Adds the mode line + shift I. False, and nothing is added, where its solution does not decay enough along the line for two
/// recurrences to keep their digits. Needs equal_inside.
bool add_mode(const LineMatrix &line, long double shift, ConstantModes &modes);

} // namespace weft::poisson
