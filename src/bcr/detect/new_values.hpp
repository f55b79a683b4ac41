/// What new values of a matrix have in common with those that solvers were made for.
#pragma once
#include "bcr/detect/separate.hpp"

namespace weft {

/// What of the last values serves the new ones. They are equal where they differ by no more than `rounding` of the row that they are of.
struct Kept {
  double factor = 0;     ///< the operator is this times the last one, faces apart; 0: it is another
  bool faces    = false; ///< so are the rows of the faces
  bool rows     = false; ///< and the factors of the rows that this process holds are the last ones
};

/// True for the same unknowns, faces and kinds of rows; nothing is said of their numbers.
bool same_shape(const Separation &a, const Separation &b);

/// As far as this process knows: the others may have other factors of their rows.
Kept compare(const Separation &now, const Separation &last);

/// Directions of `now` that are equal to those of `last` become these to the last bit, so that what was made of them is found again.
void keep_directions(Separation &now, const Separation &last);

/// The rows of the faces, all times `factor`.
void scale_faces(Separation &separation, double factor);

} // namespace weft
