/// What makes the two matrices of a pencil diagonal at once, at set-up on the host: L M R = diag(m), L T R = diag(t).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bcr/pencil/pencil_operator.hpp"
#include "bcr/transforms/trigonometric.hpp"

namespace weft::poisson {

/// Fast transforms where both matrices are combinations of I and one second difference with ends that these take, times 1/2 in the rows of
/// Neumann ends of nodes, as finite elements have them. Else matrices: M symmetric and definite, T symmetric: LAPACK's dsygvd, L = R^T.
/// Else R has the eigenvectors of M^-1 T (dgeev), and L = (M R)^-1.
struct PencilModes {
  std::vector<double> values[2];                      ///< m and t
  std::vector<double> left, right;                    ///< L and R, row after row; empty where fast
  std::optional<TransformShape> to_modes, from_modes; ///< in the place of L and R
};

/// Why a pencil has no such modes, or nothing and the modes in `modes`.
std::optional<std::string> find_pencil_modes(const Pencil &pencil, PencilModes &modes);
/// The same without the modes; cheap where they are fast, or M is seen to be definite.
std::optional<std::string> pencil_modes_refused(const Pencil &pencil);
bool has_fast_modes(const Pencil &pencil);

} // namespace weft::poisson
