/// Sparse matrices for the tests of src/crout, and its results back on the host.
#pragma once
#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "backends.hpp"
#include "crout/factorization.hpp"
#include "reference/crout.hpp"

namespace weft::test {

using reference::SparseRows;

/// A CSR matrix in the memory of an execution.
template <class Int>
class DeviceCsr {
public:
  /// shuffle: columns of a row in random order.
  DeviceCsr(const Execution &execution, const SparseRows &rows, std::mt19937 *shuffle = nullptr)
  {
    std::vector<Int> starts{0}, columns;
    std::vector<double> values;
    for (const auto &row : rows) {
      std::vector<std::pair<std::size_t, double>> entries(row.begin(), row.end());
      if (shuffle) std::shuffle(entries.begin(), entries.end(), *shuffle);
      for (const auto &[j, value] : entries) {
        columns.push_back(static_cast<Int>(j));
        values.push_back(value);
      }
      starts.push_back(static_cast<Int>(columns.size()));
    }
    take(execution, starts, columns, values);
  }
  /// Anything, right or wrong.
  DeviceCsr(const Execution &execution, const std::vector<Int> &starts, const std::vector<Int> &columns, const std::vector<double> &values)
  {
    take(execution, starts, columns, values);
  }
  CsrMatrix<double, Int> matrix() const { return {starts_.data(), columns_.data(), values_.data()}; }

private:
  template <class T>
  using Bytes = Kokkos::View<T *, Kokkos::HostSpace>;

  void take(const Execution &execution, const std::vector<Int> &starts, const std::vector<Int> &columns, const std::vector<double> &values)
  {
    on_device_ = execution.memory() == Memory::device;
    copy(starts, starts_);
    copy(columns, columns_);
    copy(values, values_);
  }
  template <class T>
  struct Held {
    Kokkos::View<T *, Kokkos::HostSpace> host;
    Kokkos::View<T *, Kokkos::DefaultExecutionSpace::memory_space> device;
    const T *pointer = nullptr;
    const T *data() const { return pointer; }
  };
  template <class T>
  void copy(const std::vector<T> &from, Held<T> &to)
  {
    to.host = to_backend<Kokkos::DefaultHostExecutionSpace>(from);
    if (on_device_) {
      to.device = to_backend<Kokkos::DefaultExecutionSpace>(from);
      Kokkos::fence();
    }
    to.pointer = on_device_ ? to.device.data() : to.host.data();
  }

  bool on_device_ = false;
  Held<Int> starts_, columns_;
  Held<double> values_;
};

/// `size` elements from wherever the execution has them.
template <class T>
std::vector<T> fetch(const Execution &execution, const T *from, Index size)
{
  execution.wait();
  std::vector<T> values(static_cast<std::size_t>(size));
  if (size == 0) return values;
  using Host = Kokkos::View<T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (execution.memory() == Memory::device)
    Kokkos::deep_copy(
        Host(values.data(), values.size()),
        Kokkos::View<const T *, Kokkos::DefaultExecutionSpace::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from, values.size()));
  else
    std::copy(from, from + size, values.begin());
  return values;
}

/// L and U of a factorization as the serial twin has them.
template <class Scalar>
SparseRows factors_of(const CroutFactorization<Scalar> &factorization)
{
  const SparseTriangles<Scalar> t = factorization.triangles();
  const Execution &execution      = factorization.execution();
  const auto rows                 = static_cast<std::size_t>(t.rows);
  SparseRows z(rows);
  if (rows == 0) return z;
  const auto add = [&](const std::int64_t *starts, const std::int32_t *columns, const Scalar *values, Index entries, bool lower) {
    const auto s = fetch(execution, starts, t.rows + 1);
    const auto c = fetch(execution, columns, entries);
    const auto v = fetch(execution, values, entries);
    EXPECT_EQ(s[rows], entries);
    for (std::size_t i = 0; i < rows; i++) {
      for (auto e = static_cast<std::size_t>(s[i]); e < static_cast<std::size_t>(s[i + 1]); e++) {
        const auto j = static_cast<std::size_t>(c[e]);
        EXPECT_EQ(j < i, lower);
        EXPECT_TRUE(e == static_cast<std::size_t>(s[i]) || c[e - 1] < c[e]) << "columns of row " << i << " do not ascend";
        z[i][j] = static_cast<double>(v[e]);
      }
    }
  };
  add(t.lower_starts, t.lower_columns, t.lower_values, t.lower_entries, true);
  add(t.upper_starts, t.upper_columns, t.upper_values, t.upper_entries, false);
  const auto diagonal = fetch(execution, t.diagonal, t.rows);
  for (std::size_t i = 0; i < rows; i++) z[i][i] = static_cast<double>(diagonal[i]);
  return z;
}

/// The matrix that a factorization factored: permuted and scaled.
template <class Scalar>
SparseRows transformed(const CroutFactorization<Scalar> &factorization, const SparseRows &matrix)
{
  const FactorTransform transform = factorization.transform();
  const Execution &execution      = factorization.execution();
  const auto size                 = static_cast<Index>(matrix.size());
  const auto order                = [&](const std::int32_t *from) {
    std::vector<std::int32_t> values(matrix.size());
    for (std::size_t i = 0; i < matrix.size(); i++) values[i] = static_cast<std::int32_t>(i);
    return from ? fetch(execution, from, size) : values;
  };
  const auto scale = [&](const double *from) { return from ? fetch(execution, from, size) : std::vector<double>(matrix.size(), 1.0); };
  const auto rows = order(transform.row_order), columns = order(transform.column_order);
  const auto row_scale = scale(transform.row_scale), column_scale = scale(transform.column_scale);
  std::vector<std::size_t> place(matrix.size());
  for (std::size_t j = 0; j < matrix.size(); j++) place[static_cast<std::size_t>(columns[j])] = j;
  SparseRows result(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); i++)
    for (const auto &[old, value] : matrix[static_cast<std::size_t>(rows[i])])
      result[i][place[old]] = row_scale[i] * value * column_scale[place[old]];
  return result;
}

/// Largest difference of two sets of factors over the largest entry; infinite where their patterns differ.
inline double difference(const SparseRows &a, const SparseRows &b)
{
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    if (a[i].size() != b[i].size()) return INFINITY;
    for (auto left = a[i].begin(), right = b[i].begin(); left != a[i].end(); ++left, ++right) {
      if (left->first != right->first || !std::isfinite(left->second)) return INFINITY;
      most = std::max(most, std::abs(left->second - right->second));
      size = std::max(size, std::abs(right->second));
    }
  }
  return most / std::max(size, 1e-300);
}

/// A random matrix with a dominant diagonal and `row` entries beside it in a row on average. symmetric: pattern and values.
inline SparseRows random_sparse(std::size_t n, double row, std::mt19937 &random, bool symmetric, double dominance = 1.2)
{
  SparseRows a(n);
  std::uniform_int_distribution<std::size_t> column(0, n - 1);
  std::uniform_real_distribution<double> value(-1, 1);
  const auto entries = static_cast<std::size_t>(row * static_cast<double>(n) / (symmetric ? 2 : 1));
  for (std::size_t e = 0; e < entries; e++) {
    const std::size_t i = column(random), j = column(random);
    a[i][j] = value(random);
    if (symmetric) a[j][i] = a[i][j];
  }
  for (std::size_t i = 0; i < n; i++) {
    double sum = 0.1;
    for (const auto &[j, v] : a[i])
      if (j != i) sum += std::abs(v);
    a[i][i] = dominance * sum;
  }
  return a;
}

/// The 5-point matrix of -a u_xx - u_yy + wind u_x on a square, h = 1.
inline SparseRows five_point(std::size_t side, double a = 1, double wind = 0)
{
  SparseRows rows(side * side);
  for (std::size_t y = 0; y < side; y++) {
    for (std::size_t x = 0; x < side; x++) {
      auto &row         = rows[y * side + x];
      row[y * side + x] = 2 * a + 2 + wind;
      if (x > 0) row[y * side + x - 1] = -a - wind;
      if (x + 1 < side) row[y * side + x + 1] = -a;
      if (y > 0) row[(y - 1) * side + x] = -1;
      if (y + 1 < side) row[(y + 1) * side + x] = -1;
    }
  }
  return rows;
}

/// All of it in one go.
template <class Scalar = double>
struct Factored {
  Execution execution;
  std::optional<DeviceCsr<std::int32_t>> csr;
  Owner<CroutFactorization<Scalar>> factorization;

  Factored(Memory memory, const SparseRows &rows, const CroutOptions &options, const FactorOrdering &ordering = {},
           std::mt19937 *shuffle = nullptr)
      : execution(memory)
  {
    csr.emplace(execution, rows, shuffle);
    factorization = CroutFactorization<Scalar>::make(execution, options);
    const auto n  = static_cast<Index>(rows.size());
    factorization->analyse(n, n, csr->matrix(), ordering);
    factorization->factor(csr->matrix());
  }
  const CroutReport &report() const { return factorization->report(); }
  SparseRows factors() const { return factors_of(*factorization); }
  /// The twin's factors of what was factored, on the pattern of ILU(k).
  SparseRows twin(const SparseRows &rows, int k) const
  {
    const SparseRows b = transformed(*factorization, rows);
    return reference::factors(b, reference::fill_levels(b, k));
  }
};

/// A file of the repository's matrices/.
inline SparseRows market_matrix(const std::string &name)
{
  std::FILE *const file = popen(("gzip -dc " WEFT_MATRICES "/" + name + ".mtx.gz").c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t got; file && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, got);
  if (file) pclose(file);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const bool symmetric = line.find("symmetric") != std::string::npos, pattern = line.find("pattern") != std::string::npos;
  while (std::getline(lines, line) && (line.empty() || line[0] == '%')) {
  }
  std::size_t rows = 0, columns = 0, entries = 0;
  std::istringstream(line) >> rows >> columns >> entries;
  SparseRows matrix(rows);
  for (std::size_t e = 0; e < entries; e++) {
    std::size_t i = 0, j = 0;
    double value = 1;
    lines >> i >> j;
    if (!pattern) lines >> value;
    if (!lines) break;
    matrix[i - 1][j - 1] = value;
    if (symmetric) matrix[j - 1][i - 1] = value;
  }
  return matrix;
}

} // namespace weft::test
