/// Matrices of blocks as the kernels take them: by rows.
#pragma once
#include <petscmat.h>

namespace weft {

/// Copies a matrix of type BAIJ or SBAIJ to one of type AIJ: entry by entry, since MatConvert() may take its source apart (MPIBAIJ, whose parts a
/// colouring points into) and may read it wrongly the second time (SeqSBAIJ with blocks). Of SBAIJ the upper triangle counts, as in MatMult().
/// NULL in *copy makes it; else it has been made of a matrix with the same rows and takes the values of this one, and places that it has not
/// are added (MatGetNonzeroState() tells). Collective.
PetscErrorCode CopyByRows(Mat A, Mat *copy);

} // namespace weft
