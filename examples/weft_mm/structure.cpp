#include "structure.hpp"

#include <algorithm>
#include <cmath>
#include <suitesparse/cholmod.h>

namespace weft_mm {

namespace {

constexpr double most_operations = 5e9; // of a factorization that only looks at signs: some seconds

// Entries come out sorted within columns, whatever they were before.
SparseMatrix transposed(const SparseMatrix &matrix)
{
  SparseMatrix result;
  result.header = matrix.header;
  result.column_start.assign(static_cast<std::size_t>(matrix.rows()) + 1, 0);
  for (const std::int64_t row : matrix.row_of) ++result.column_start[static_cast<std::size_t>(row) + 1];
  for (std::size_t row = 0; row + 1 < result.column_start.size(); ++row) result.column_start[row + 1] += result.column_start[row];
  std::vector<std::int64_t> next(result.column_start.begin(), result.column_start.end() - 1);
  result.row_of.resize(matrix.row_of.size());
  result.value_of.resize(matrix.value_of.size());
  for (std::int64_t column = 0; column < matrix.columns(); ++column) {
    for (auto entry = matrix.column_start[column]; entry < matrix.column_start[column + 1]; ++entry) {
      const auto place       = next[matrix.row_of[entry]]++;
      result.row_of[place]   = column;
      result.value_of[place] = matrix.value_of[entry];
    }
  }
  return result;
}

// Whether a matrix is this twin of its transpose, to rounding. Both have the same pattern.
template <class Twin>
bool is_alike(const SparseMatrix &matrix, const SparseMatrix &transpose, Twin twin)
{
  return std::equal(matrix.value_of.begin(), matrix.value_of.end(), transpose.value_of.begin(),
                    [twin](Scalar a, Scalar b) { return std::abs(a - twin(b)) <= 1e-12 * (std::abs(a) + std::abs(b)); });
}

// Sign: 1 or -1, that of the diagonal. matrix: Hermitian; the factorization looks at sign * matrix.
std::string definiteness(SparseMatrix matrix, double sign, double &factor_entries)
{
  for (Scalar &value : matrix.value_of) value *= sign;
  cholmod_common common;
  cholmod_l_start(&common);
  common.print                      = 0;
  common.final_ll                   = 1; // L L^H: L D L^H would also do for indefinite matrices
  common.quick_return_if_not_posdef = 1;
  cholmod_sparse view{};
  view.nrow = view.ncol = static_cast<std::size_t>(matrix.rows());
  view.nzmax            = matrix.value_of.size();
  view.p                = matrix.column_start.data();
  view.i                = matrix.row_of.data();
  view.x                = matrix.value_of.data();
  view.stype            = 1; // the upper triangle is looked at
  view.itype            = CHOLMOD_LONG;
  view.xtype            = complex_scalars ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
  view.dtype            = CHOLMOD_DOUBLE;
  view.sorted = view.packed = 1;
  std::string result        = "unknown";
  cholmod_factor *factor    = cholmod_l_analyze(&view, &common);
  if (factor) factor_entries = common.lnz;
  if (factor && common.fl <= most_operations) {
    cholmod_l_factorize(&view, factor, &common);
    if (common.status == CHOLMOD_OK) result = sign > 0 ? "positive" : "negative";
    if (common.status == CHOLMOD_NOT_POSDEF) result = "no";
  }
  cholmod_l_free_factor(&factor, &common);
  cholmod_l_finish(&common);
  return result;
}

} // namespace

Structure structure_of(const SparseMatrix &matrix)
{
  Structure structure;
  const auto n = static_cast<std::size_t>(matrix.rows());
  std::vector<Scalar> diagonal(n);
  std::vector<double> others(n); // sums of magnitudes off the diagonal, row by row
  for (std::int64_t column = 0; column < matrix.columns(); ++column) {
    for (auto entry = matrix.column_start[column]; entry < matrix.column_start[column + 1]; ++entry) {
      const std::int64_t row = matrix.row_of[entry];
      if (row == column)
        diagonal[row] = matrix.value_of[entry];
      else
        others[row] += std::abs(matrix.value_of[entry]);
      structure.bandwidth = std::max(structure.bandwidth, std::abs(row - column));
    }
  }
  for (std::size_t row = 0; row < n; ++row) {
    structure.zero_diagonals += diagonal[row] == 0.0;
    structure.dominant_rows += diagonal[row] != 0.0 && std::abs(diagonal[row]) >= others[row];
  }

  const SparseMatrix transpose = transposed(matrix), sorted = transposed(transpose);
  structure.symmetric_pattern = sorted.column_start == transpose.column_start && sorted.row_of == transpose.row_of;
  structure.symmetric         = structure.symmetric_pattern && is_alike(sorted, transpose, [](Scalar value) { return value; });
  structure.hermitian         = structure.symmetric_pattern && is_alike(sorted, transpose, [](Scalar value) { return conjugate(value); });
  const bool positive         = std::all_of(diagonal.begin(), diagonal.end(), [](Scalar value) { return std::real(value) > 0; });
  const bool negative         = std::all_of(diagonal.begin(), diagonal.end(), [](Scalar value) { return std::real(value) < 0; });
  if (structure.hermitian && (positive || negative)) // else it cannot be definite
    structure.definite = definiteness(sorted, positive ? 1 : -1, structure.factor_entries);
  return structure;
}

} // namespace weft_mm
