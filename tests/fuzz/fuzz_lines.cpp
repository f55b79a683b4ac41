// Any bytes as a user's line map: lines of rows that are there, each once unless told, or the number of a bad line.
#include "line/lines_from_map.cxx"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  using namespace weft;
  constexpr PetscInt64 rows = 40;
  PetscInt bad_line         = 0;
  const Sequence sequence   = ParseLines(std::string(data, data + size), &bad_line), none;
  if (bad_line < 0 || (bad_line > 0 && !sequence.empty())) std::abort();
  for (const PetscInt64 start : {0, 13}) {
    const bool are_shared  = size % 2;
    const Taken taken      = TakeOwnRows(are_shared ? none : sequence, are_shared ? sequence : none, start, start + 20, rows);
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
    if (taken.wrong[outside] != no_row) continue;
    const PetscInt ranges[]   = {0, 13, 33, rows};
    const JoinedPieces joined = Join(sequence, ranges, 3, start == 0 ? 0 : 1);
    if (joined.own.starts.back() != static_cast<Index>(joined.own.rows.size())) std::abort();
    if (joined.before.size() + 1 != joined.own.starts.size() || joined.after.size() != joined.before.size()) std::abort();
  }
  return 0;
}
