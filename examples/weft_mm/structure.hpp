// What a matrix is like, as far as the choice of a solver depends on it. Knows nothing about PETSc.
#pragma once

#include "reader.hpp"

#include <cstdint>
#include <string>

namespace weft_mm {

struct Structure {
  bool symmetric              = false; // the values, to rounding, whatever the file's header says
  bool hermitian              = false; // the same; of real values it is symmetric
  bool symmetric_pattern      = false;
  std::string definite        = "no"; // "positive", "negative", "no", or "unknown" where a factorization would take too long
  std::int64_t zero_diagonals = 0;    // entries of the diagonal that are zero or missing
  std::int64_t dominant_rows  = 0;    // rows whose diagonal entry is at least as large as the others together
  std::int64_t bandwidth      = 0;    // largest |row - column|
  double factor_entries       = 0;    // of a Cholesky factor after CHOLMOD's ordering; 0 where none was looked for
};

Structure structure_of(const SparseMatrix &matrix);

} // namespace weft_mm
