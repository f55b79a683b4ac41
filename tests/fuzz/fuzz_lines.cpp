// Any bytes as a user's line map: lines of rows that are there, each once unless told, or the number of a bad line.
#include "lines_from_map.cxx"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  using namespace weft;
  constexpr PetscInt64 rows = 40;
  PetscInt bad_line         = 0;
  const Sequence sequence   = ParseLines(std::string(data, data + size), &bad_line);
  if (bad_line < 0 || (bad_line > 0 && !sequence.empty())) std::abort();
  for (const PetscInt64 start : {0, 13}) {
    const Taken taken      = TakeOwnRows(sequence, start, start + 20, rows, size % 2);
    const HostLines &lines = taken.lines;
    std::vector<int> times(20, 0);
    for (const Index row : lines.rows) {
      if (row < 0 || row >= 20) std::abort();
      times[static_cast<std::size_t>(row)]++;
    }
    for (const int count : times) {
      if (count > 1 && taken.wrong[twice] == no_row) std::abort();
    }
    if (lines.starts.front() != 0 || lines.starts.back() != static_cast<Index>(lines.rows.size())) std::abort();
    for (std::size_t k = 1; k < lines.starts.size(); k++) {
      if (lines.starts[k] <= lines.starts[k - 1]) std::abort();
    }
  }
  return 0;
}
