// Any bytes as a Matrix Market file, plain or gzip: a matrix that is one, or an InputError.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "../../examples/weft_mm/reader.hpp"

namespace {

using namespace weft_mm;

void require(bool fine)
{
  if (!fine) std::abort();
}

void check(const SparseMatrix &matrix)
{
  require(matrix.column_start.size() == static_cast<std::size_t>(matrix.columns()) + 1 && matrix.column_start.front() == 0);
  for (std::int64_t column = 0; column < matrix.columns(); ++column)
    require(matrix.column_start[column] <= matrix.column_start[column + 1]);
  require(matrix.row_of.size() == matrix.value_of.size() && matrix.column_start.back() == matrix.nonzeros());
  for (const std::int64_t row : matrix.row_of) require(row >= 0 && row < matrix.rows());
}

// Sizes that are promised and not there cost memory, which is not what is looked for here.
bool is_small(const std::uint8_t *data, std::size_t size)
{
  MarketChecker checker("fuzz");
  try {
    checker.feed({reinterpret_cast<const char *>(data), size});
  } catch (const InputError &) {
  }
  const MarketHeader &header = checker.header();
  return header.rows <= 10000 && header.columns <= 10000 && header.entries <= 100000;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  static const int file         = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (!is_small(data, size)) return 0;
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  try {
    if (size % 2) { // any matrix, as right-hand sides are read
      check(read_market_file(path));
    } else {
      const SparseMatrix matrix = read_square_matrix(path);
      check(matrix);
      require(make_right_hand_side("solution", matrix).size() == static_cast<std::size_t>(matrix.rows()));
    }
  } catch (const InputError &error) {
    require(error.what()[0] != '\0');
  }
  return 0;
}
