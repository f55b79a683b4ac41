#include "reader.hpp"

#include "market_stream.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <suitesparse/cholmod.h>

namespace weft_mm {

namespace {

// CHOLMOD's workspace and settings, and what it has read, freed in the right order.
class Cholmod {
public:
  Cholmod()
  {
    cholmod_l_start(&common_);
    common_.print         = 0;    // its messages would go to standard output
    common_.prefer_binary = true; // a pattern becomes ones
  }

  ~Cholmod()
  {
    cholmod_l_free_sparse(&sparse_, &common_);
    cholmod_l_finish(&common_);
  }

  Cholmod(const Cholmod &)            = delete;
  Cholmod &operator=(const Cholmod &) = delete;

  const cholmod_sparse *read(std::FILE *file)
  {
    constexpr int both_triangles = 1;
    int kind                     = 0;
    void *matrix                 = cholmod_l_read_matrix(file, both_triangles, &kind, &common_);
    if (matrix && kind == CHOLMOD_DENSE) {
      cholmod_dense *dense = static_cast<cholmod_dense *>(matrix);
      sparse_              = cholmod_l_dense_to_sparse(dense, true, &common_);
      cholmod_l_free_dense(&dense, &common_);
    } else
      sparse_ = static_cast<cholmod_sparse *>(matrix);
    return sparse_;
  }

  bool out_of_memory() const { return common_.status == CHOLMOD_OUT_OF_MEMORY || common_.status == CHOLMOD_TOO_LARGE; }

private:
  cholmod_common common_{};
  cholmod_sparse *sparse_ = nullptr;
};

// As scalars of this program: those of a real file may be read into complex ones.
std::vector<Scalar> values_of(const cholmod_sparse &read, std::int64_t count)
{
  const auto copy = [count](auto *values) { return std::vector<Scalar>(values, values + count); };
  if (read.xtype == CHOLMOD_COMPLEX) return copy(static_cast<const Scalar *>(read.x)); // which complex_scalars alone let through
  return copy(static_cast<const double *>(read.x));
}

std::string sizes_of(const MarketHeader &header)
{
  return std::to_string(header.rows) + " x " + std::to_string(header.columns);
}

void require_square(const MarketHeader &header, const std::string &path)
{
  if (header.rows == 0 || header.columns == 0 || header.entries == 0)
    throw InputError(path + " is empty: " + sizes_of(header) + " without entries");
  if (header.rows != header.columns)
    throw InputError(path + " is rectangular (" + sizes_of(header) + "); only square matrices can be solved here");
  // An entry stands for two where one triangle is stored.
  const std::int64_t most = header.symmetry == Symmetry::general ? header.entries : 2 * header.entries;
  if (most < header.rows)
    throw InputError(path + " is singular: it has " + std::to_string(header.entries) + " entries for " + std::to_string(header.rows) +
                     " rows, so a row has no non-zero entry; no solver can help, remove such rows and their columns");
}

void require_no_zero_line(const SparseMatrix &matrix, const std::string &path)
{
  std::vector<bool> row_has_value(static_cast<std::size_t>(matrix.rows()));
  const auto singular = [&](const char *line, std::int64_t index) {
    throw InputError(path + " is singular: " + line + " " + std::to_string(index + 1) +
                     " has no non-zero entry; no solver can help, remove that row and column");
  };
  for (std::int64_t column = 0; column < matrix.columns(); ++column) {
    bool column_has_value = false;
    for (auto entry = matrix.column_start[column]; entry < matrix.column_start[column + 1]; ++entry) {
      if (matrix.value_of[entry] == 0.0) continue; // written down in the file, and still zero
      column_has_value                    = true;
      row_has_value[matrix.row_of[entry]] = true;
    }
    if (!column_has_value) singular("column", column);
  }
  const auto zero_row = std::find(row_has_value.begin(), row_has_value.end(), false);
  if (zero_row != row_has_value.end()) singular("row", zero_row - row_has_value.begin());
}

std::vector<Scalar> random_vector(std::int64_t size)
{
  std::mt19937_64 generator(20110000); // any fixed seed: the same vector in every run, on any number of ranks
  // Written out: the library's distributions differ between systems.
  // A complex number is its two parts, the real one first.
  const auto draw = [&generator] { return static_cast<double>(generator() >> 11) * 0x1p-52 - 1; };
  std::vector<Scalar> result(static_cast<std::size_t>(size));
  std::generate_n(reinterpret_cast<double *>(result.data()), result.size() * (sizeof(Scalar) / sizeof(double)), draw);
  return result;
}

std::vector<Scalar> times(const SparseMatrix &matrix, const std::vector<Scalar> &vector)
{
  std::vector<Scalar> result(static_cast<std::size_t>(matrix.rows()));
  for (std::int64_t column = 0; column < matrix.columns(); ++column) {
    for (auto entry = matrix.column_start[column]; entry < matrix.column_start[column + 1]; ++entry)
      result[matrix.row_of[entry]] += matrix.value_of[entry] * vector[column];
  }
  return result;
}

std::vector<Scalar> read_column(const std::string &path, std::int64_t size)
{
  SparseMatrix column;
  const auto look = [&](const MarketHeader &header) {
    if (header.rows != size || header.columns != 1)
      throw InputError(path + " is " + sizes_of(header) + "; this matrix needs " + std::to_string(size) + " x 1");
  };
  try {
    column = read_market_file(path, look);
  } catch (const InputError &error) {
    throw InputError(std::string("right-hand side: ") + error.what() + " (-rhs takes ones, random, solution or a file)");
  }
  std::vector<Scalar> result(static_cast<std::size_t>(size));
  for (std::size_t entry = 0; entry < column.value_of.size(); ++entry) result[column.row_of[entry]] = column.value_of[entry];
  return result;
}

} // namespace

SparseMatrix read_market_file(const std::string &path, const LookAtSizes &look)
{
  MarketStream stream(path, look);
  Cholmod cholmod;
  const cholmod_sparse *read = cholmod.read(stream.file());
  if (cholmod.out_of_memory())
    throw InputError(path + " needs more memory than there is: " + std::to_string(stream.header().entries) + " entries");
  stream.finish();
  if (!read) throw InputError(path + " could not be read by CHOLMOD");

  SparseMatrix matrix;
  matrix.header     = stream.header();
  const auto *start = static_cast<const std::int64_t *>(read->p);
  const auto *row   = static_cast<const std::int64_t *>(read->i);
  matrix.column_start.assign(start, start + read->ncol + 1);
  matrix.row_of.assign(row, row + matrix.column_start.back());
  matrix.value_of = values_of(*read, matrix.column_start.back());
  if (!std::all_of(matrix.value_of.begin(), matrix.value_of.end(), is_finite))
    throw InputError(path + " holds several entries at one place whose sum is not a finite number");
  return matrix;
}

SparseMatrix read_square_matrix(const std::string &path)
{
  SparseMatrix matrix = read_market_file(path, [&](const MarketHeader &header) { require_square(header, path); });
  require_no_zero_line(matrix, path);
  return matrix;
}

std::vector<Scalar> make_right_hand_side(const std::string &what, const SparseMatrix &matrix)
{
  std::vector<Scalar> result;
  if (what == "ones")
    result.assign(static_cast<std::size_t>(matrix.rows()), 1);
  else if (what == "random")
    result = random_vector(matrix.rows());
  else if (what == "solution")
    result = times(matrix, random_vector(matrix.columns()));
  else
    result = read_column(what, matrix.rows());
  if (std::all_of(result.begin(), result.end(), [](Scalar value) { return value == 0.0; }))
    throw InputError("the right-hand side is zero, so the solution is: nothing to solve");
  return result;
}

} // namespace weft_mm
