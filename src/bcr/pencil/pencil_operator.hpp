/// PencilOperator: an operator whose rows couple to all neighbours in a box (9 points in the plane, 27 in space), in tensor form.
///
/// Along each direction k there are two tridiagonal matrices, M_k and T_k, a pencil, and A is any combination of their products:
///
///     A = sum_{a, b, c in {0, 1}} core_abc  P_x^a (x) P_y^b (x) P_z^c,     P_k^0 = M_k, P_k^1 = T_k.                              (1)
///
/// These are: T_x (x) W_y + W_x (x) T_y + shift W_x (x) W_y with mass matrices W (bilinear finite elements, Galerkin operators of stars
/// under linear interpolation); and all constant stencils, compact fourth-order ones among them, with M = I and T a second difference. With
/// L_k M_k R_k and L_k T_k R_k diagonal, m_q and t_q, a mode (q, r, s) of A is the number sum core_abc p_q^a p_r^b p_s^c, or, along a
/// direction that is not transformed, the line alpha M + beta T.
/// Source: R. Lynch, J. Rice, D. Thomas, Numer. Math. 6 (1964) 185.
#pragma once
#include <array>
#include <vector>

#include "bcr/detect/direction_matrix.hpp"

namespace weft {

struct Pencil {
  poisson::LineMatrix matrix[2]; ///< M and T, of one size and both periodic or not

  Index n() const { return matrix[0].n; }
  bool periodic() const { return matrix[0].periodic; }
  friend bool operator==(const Pencil &, const Pencil &) = default;
};

/// A row that is another than the products give: what it has more, by the numbers of BoxStencil. A row in other units than theirs, such as
/// one of the identity, is first multiplied by `scale`: the smaller of both would be lost in the difference.
struct ChangedRow {
  Index node; ///< of the operator's own box, x fastest
  double scale;
  std::array<double, 27> more;

  friend bool operator==(const ChangedRow &, const ChangedRow &) = default;
};

struct PencilOperator {
  Pencil directions[3];            ///< one point: M = 1, T = 0
  std::array<double, 8> core{};    ///< core_abc is core[a + 2 b + 4 c]
  std::vector<ChangedRow> changed; ///< a few
  bool singular = false;           ///< the mode nearest to 0 is one of 0: constants of A, or of its transpose

  friend bool operator==(const PencilOperator &, const PencilOperator &) = default;
};

/// Every matrix transposed; not the changed rows.
PencilOperator transposed(PencilOperator op);

} // namespace weft
