/// Set-up of mode_lines.hpp, on the host and without Kokkos.
#pragma once
#include <optional>
#include <vector>

#include "poisson/line_matrix.hpp"

namespace weft::poisson {

/// Per mode: the smaller root r, F = gain f (0: a mode that is not solved here, whose values stay), and eight factors that give a and b.
template <class Scalar>
struct ModeTables {
  const Scalar *root = nullptr, *gain = nullptr, *ends = nullptr;
};

/// The same before upload.
struct ConstantModes {
  std::vector<double> root, gain, ends;

  /// A mode that is not solved.
  void add_none()
  {
    root.push_back(0);
    gain.push_back(0);
    ends.insert(ends.end(), 8, 0.0);
  }
};

/// True for four rows or more that are equal but for the first and the last one, with two equal couplings (of rings all of them).
bool equal_inside(const LineMatrix &line);

/// Adds the mode line + shift I. False, and nothing is added, where its solution does not decay enough along the line for two
/// recurrences to keep their digits. Needs equal_inside.
bool add_mode(const LineMatrix &line, long double shift, ConstantModes &modes);

} // namespace weft::poisson
