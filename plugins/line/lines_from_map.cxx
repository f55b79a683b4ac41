#include "line/lines_from_map.h"

#include <petscis.h>
#include <petscsection.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "petsc/agreed.h"
#include "petsc/petsc_compat.h"

namespace weft {

namespace {

/// Global row numbers, a negative one after each line: the form that all maps come to.
using Sequence = std::vector<PetscInt64>;

constexpr PetscInt64 end_of_line = -1;

/// The first row (the smallest number) for each thing that can be wrong with a map.
enum Wrong { outside, foreign, twice, kinds_of_wrong };

struct Taken {
  HostLines lines;
  PetscInt64 wrong[kinds_of_wrong] = {no_row, no_row, no_row};
};

/// The rows start .. end-1 of two sequences for a matrix of `rows` rows. Others end a line; unless they are in what all ranks share, they are
/// wrong too.
Taken TakeOwnRows(const Sequence &sequence, const Sequence &shared, PetscInt64 start, PetscInt64 end, PetscInt64 rows)
{
  Taken taken;
  std::vector<bool> seen(static_cast<std::size_t>(end - start), false);
  const auto is_wrong = [&](Wrong kind, PetscInt64 row) { taken.wrong[kind] = std::min(taken.wrong[kind], row); };
  const auto end_line = [&] {
    const Index here = static_cast<Index>(taken.lines.rows.size());
    if (taken.lines.starts.back() != here) taken.lines.starts.push_back(here);
  };
  for (const Sequence *from : {&sequence, &shared}) {
    for (const PetscInt64 row : *from) {
      if (row < start || row >= end) {
        end_line();
        if (row >= rows)
          is_wrong(outside, row);
        else if (row >= 0 && from == &sequence)
          is_wrong(foreign, row);
        continue;
      }
      auto before = seen[static_cast<std::size_t>(row - start)];
      if (before) is_wrong(twice, row);
      before = true;
      taken.lines.rows.push_back(row - start);
    }
    end_line();
  }
  return taken;
}

/// The lines of a sequence that have rows of several ranks; `ranges` are the ranks' first rows, one more than ranks.
JoinedPieces Join(const Sequence &sequence, const PetscInt *ranges, int ranks, int rank)
{
  JoinedPieces joined;
  std::vector<PetscInt64> line;
  std::vector<int> at; // the ranks of its rows
  const auto end_line = [&] {
    const bool crosses = std::adjacent_find(at.begin(), at.end(), std::not_equal_to<int>()) != at.end();
    for (std::size_t begin = 0, end; crosses && begin < line.size(); begin = end) {
      for (end = begin + 1; end < line.size() && at[end] == at[begin];) end++;
      joined.ranks.push_back(at[begin]);
      if (at[begin] != rank) continue;
      std::vector<Index> rows;
      for (std::size_t k = begin; k < end; k++) rows.push_back(static_cast<Index>(line[k] - ranges[rank]));
      joined.add_own(rows.begin(), rows.end(), begin == 0 ? -1 : line[begin - 1], end == line.size() ? -1 : line[end]);
    }
    if (crosses) {
      joined.starts.push_back(static_cast<Index>(joined.ranks.size()));
      joined.longest = std::max(joined.longest, static_cast<Index>(line.size()));
    }
    line.clear();
    at.clear();
  };
  for (const PetscInt64 row : sequence) {
    if (row < 0) {
      end_line();
      continue;
    }
    line.push_back(row);
    at.push_back(static_cast<int>(std::upper_bound(ranges + 1, ranges + ranks, row) - ranges) - 1);
  }
  end_line();
  return joined;
}

/// Numbers of a text, line by line; of what is no number, the number of its line in `bad_line`.
Sequence ParseLines(const std::string &text, PetscInt *bad_line)
{
  Sequence sequence;
  std::istringstream stream(text);
  std::string line;
  *bad_line = 0;
  for (PetscInt number = 1; std::getline(stream, line); number++) {
    line.erase(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    for (const char *at = line.c_str();;) {
      at += std::strspn(at, " \t\r");
      if (*at == '\0') break;
      char *after;
      errno                = 0;
      const long long row  = std::strtoll(at, &after, 10);
      const bool is_number = after != at && (*after == '\0' || std::strchr(" \t\r", *after)) && row >= 0 && errno == 0;
      if (!is_number) {
        *bad_line = number;
        return {};
      }
      sequence.push_back(row);
      at = after;
    }
    sequence.push_back(end_of_line);
  }
  return sequence;
}

/// A file as one string; nothing where it cannot be read. Throws std::bad_alloc where it does not fit into memory.
std::optional<std::string> ReadFile(const char *name)
{
  std::error_code unknown;
  std::ifstream file(name, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(name, unknown)) return std::nullopt;
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

/// The contents of a file that the first rank can read, on all ranks.
PetscErrorCode ReadOnFirstRank(MPI_Comm comm, const char *name, std::string *text)
{
  PetscMPIInt rank;
  PetscInt64 size = -1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    std::optional<std::string> contents;
    PetscCallCXX(contents = ReadFile(name));
    if (contents) {
      *text = std::move(*contents);
      size  = static_cast<PetscInt64>(text->size());
    }
  }
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Bcast(&size, 1, MPIU_INT64, 0, comm));
  PetscCheck(size >= 0, comm, PETSC_ERR_FILE_OPEN, "the line map '%s' cannot be read: give -pc_line_file the name of a text file", name);
  PetscCallCXX(text->resize(static_cast<std::size_t>(size)));
  PetscCall(RanksAgree(comm));
  constexpr PetscInt64 piece = 1 << 30;
  for (PetscInt64 done = 0; done < size; done += piece)
    PetscCallMPI(MPI_Bcast(text->data() + done, static_cast<PetscMPIInt>(std::min(piece, size - done)), MPI_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SequenceFromFile(MPI_Comm comm, const char *name, Sequence *sequence)
{
  std::string text;
  PetscInt bad_line = 0;

  PetscFunctionBegin;
  PetscCall(ReadOnFirstRank(comm, name, &text));
  PetscCallCXX(*sequence = ParseLines(text, &bad_line));
  PetscCheck(bad_line == 0, comm, PETSC_ERR_FILE_UNEXPECTED,
             "line map '%s', line %" PetscInt_FMT ": expected row numbers, from 0, separated by spaces, and comments after #", name,
             bad_line);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SequenceFromIS(IS is, Sequence *sequence)
{
  const PetscInt *rows;
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &count));
  PetscCall(ISGetIndices(is, &rows));
  PetscCallCXX(sequence->assign(rows, rows + count));
  PetscCall(ISRestoreIndices(is, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Takes the lines out of a sequence that have rows of other ranks than this one, whose rows are start .. end-1, and gives those of all ranks to
/// all of them.
PetscErrorCode ShareLines(MPI_Comm comm, PetscInt64 start, PetscInt64 end, Sequence *sequence, Sequence *shared)
{
  Sequence kept, mine;
  PetscMPIInt ranks, words = 0;
  std::vector<PetscMPIInt> counts, places;
  PetscInt64 here, all;

  PetscFunctionBegin;
  for (auto line = sequence->begin(); line != sequence->end();) {
    auto after         = std::find_if(line, sequence->end(), [](PetscInt64 row) { return row < 0; });
    const bool crosses = std::any_of(line, after, [&](PetscInt64 row) { return row < start || row >= end; });
    PetscCallCXX((crosses ? mine : kept).insert((crosses ? mine : kept).end(), line, after));
    PetscCallCXX((crosses ? mine : kept).push_back(end_of_line));
    line = after == sequence->end() ? after : after + 1;
  }
  here = static_cast<PetscInt64>(mine.size());
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Allreduce(&here, &all, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCheck(all <= std::numeric_limits<PetscMPIInt>::max(), comm, PETSC_ERR_SUP,
             "the line map has too many rows in lines of several ranks");
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallCXX(counts.resize(static_cast<std::size_t>(ranks)));
  PetscMPIInt count = static_cast<PetscMPIInt>(here);
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  for (const PetscMPIInt n : counts) {
    places.push_back(words);
    words += n;
  }
  PetscCallCXX(shared->resize(static_cast<std::size_t>(all)));
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Allgatherv(mine.data(), count, MPIU_INT64, shared->data(), counts.data(), places.data(), MPIU_INT64, comm));
  PetscCallCXX(*sequence = std::move(kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SequenceFromSection(PetscSection section, PetscInt first_row, Sequence *sequence)
{
  PetscInt first, last, offset, rows;

  PetscFunctionBegin;
  PetscCall(PetscSectionSetUp(section));
  PetscCall(PetscSectionGetChart(section, &first, &last));
  for (PetscInt line = first; line < last; line++) {
    PetscCall(PetscSectionGetOffset(section, line, &offset));
    PetscCall(PetscSectionGetDof(section, line, &rows));
    for (PetscInt k = 0; k < rows; k++) PetscCallCXX(sequence->push_back(first_row + offset + k));
    PetscCallCXX(sequence->push_back(end_of_line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The map composed on A, and whether any rank has one; `shared`: the lines of several ranks, which all of these get.
PetscErrorCode SequenceFromObject(Mat A, PetscInt first_row, PetscInt last_row, Sequence *sequence, Sequence *shared, bool *found)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscObject object;
  PetscClassId id = 0;
  enum { has_object, has_other, has_is };
  PetscMPIInt here[3] = {0, 0, 0}, any[3];

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, line_map_name, &object));
  if (object) PetscCall(PetscObjectGetClassId(object, &id));
  here[has_object] = object != NULL;
  here[has_other]  = object && id != IS_CLASSID && id != PETSC_SECTION_CLASSID;
  here[has_is]     = object && id == IS_CLASSID;
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Allreduce(here, any, 3, MPI_INT, MPI_MAX, comm));
  PetscCheck(!any[has_other], comm, PETSC_ERR_ARG_WRONG, "what is composed on the matrix as '%s' must be an IS or a PetscSection",
             line_map_name);
  *found = any[has_object];
  if (object && id == IS_CLASSID) PetscCall(SequenceFromIS((IS)object, sequence));
  if (any[has_is]) PetscCall(ShareLines(comm, first_row, last_row, sequence, shared));
  if (object && id == PETSC_SECTION_CLASSID) PetscCall(SequenceFromSection((PetscSection)object, first_row, sequence));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromMap(Mat A, const char *file, HostLines *lines, JoinedPieces *joined, bool *found, bool *from_file)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt start, end, rows;
  const PetscInt *ranges;
  PetscMPIInt rank, ranks;
  Sequence sequence, shared;
  Taken taken;
  PetscInt64 wrong[kinds_of_wrong], named;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(SequenceFromObject(A, start, end, &sequence, &shared, found));
  const bool in_file = !*found && file && *file;
  if (from_file) *from_file = in_file;
  if (in_file) {
    PetscCall(SequenceFromFile(comm, file, &shared));
    *found = true;
  }
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(taken = TakeOwnRows(sequence, shared, start, end, rows));
  PetscCall(RanksAgree(comm));
  PetscCallMPI(MPI_Allreduce(taken.wrong, wrong, kinds_of_wrong, MPIU_INT64, MPI_MIN, comm));
  PetscCheck(wrong[outside] == no_row, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "row %" PetscInt64_FMT " of the line map is not in the matrix, whose rows are 0 to %" PetscInt_FMT, wrong[outside], rows - 1);
  PetscCheck(wrong[foreign] == no_row, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "row %" PetscInt64_FMT
             " of the line map is on another rank than the one that gave it: a PetscSection has the rows that its rank owns, "
             "lines of several ranks take an IS",
             wrong[foreign]);
  PetscCheck(wrong[twice] == no_row, comm, PETSC_ERR_ARG_WRONG,
             "row %" PetscInt64_FMT " is in the line map twice: a row can be in one line only", wrong[twice]);
  named = static_cast<PetscInt64>(taken.lines.rows.size());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &named, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCheck(
      named > 0 || rows == 0, comm, PETSC_ERR_ARG_WRONG,
      "the line map names no row, so there would be no lines: write the rows of each line, or leave the map out and the lines are found");
  PetscCallCXX(*lines = std::move(taken.lines));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(MatGetOwnershipRanges(A, &ranges));
  PetscCallCXX(*joined = Join(shared, ranges, ranks, rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
