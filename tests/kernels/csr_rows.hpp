/// A CSR matrix that a test makes row by row, and the same in a memory.
#pragma once
#include <cstdint>
#include <vector>

#include "backends.hpp"
#include "line/csr.hpp"
#include "line_problem.hpp"

namespace weft::test {

struct Rows {
  std::vector<std::int32_t> starts{0}, columns;
  std::vector<double> values;

  void add(Index column, double value)
  {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  void end() { starts.push_back(static_cast<std::int32_t>(columns.size())); }
};

struct Stored {
  Buffer<std::int32_t> starts, columns;
  Buffer<double> values;

  Stored(Memory memory, const Rows &a) : starts(memory, a.starts), columns(memory, a.columns), values(memory, a.values) {}
  CsrMatrix<double, std::int32_t> csr() const { return {starts.data(), columns.data(), values.data()}; }
};

} // namespace weft::test
