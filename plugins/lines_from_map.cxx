#include "lines_from_map.h"

#include <petscis.h>
#include <petscsection.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "petsc_compat.h"
#include "read_file.h"

namespace weft {

namespace {

/// Global row numbers, a negative one after each line: the form that all maps come to.
using Sequence = std::vector<PetscInt64>;

constexpr PetscInt64 end_of_line = -1;
constexpr PetscInt64 no_row      = std::numeric_limits<PetscInt64>::max();

/// The first row (the smallest number) for each thing that can be wrong with a map.
enum Wrong { outside, foreign, twice, kinds_of_wrong };

struct Taken {
  HostLines lines;
  PetscInt64 wrong[kinds_of_wrong] = {no_row, no_row, no_row};
};

/// The rows start .. end-1 of a sequence for a matrix of `rows` rows. Others end a line; unless a file may name them, they are wrong too.
Taken TakeOwnRows(const Sequence &sequence, PetscInt64 start, PetscInt64 end, PetscInt64 rows, bool others_are_wrong)
{
  Taken taken;
  std::vector<bool> seen(static_cast<std::size_t>(end - start), false);
  const auto is_wrong = [&](Wrong kind, PetscInt64 row) { taken.wrong[kind] = std::min(taken.wrong[kind], row); };
  const auto end_line = [&] {
    const Index here = static_cast<Index>(taken.lines.rows.size());
    if (taken.lines.starts.back() != here) taken.lines.starts.push_back(here);
  };
  for (const PetscInt64 row : sequence) {
    if (row < start || row >= end) {
      end_line();
      if (row >= rows)
        is_wrong(outside, row);
      else if (row >= 0 && others_are_wrong)
        is_wrong(foreign, row);
      continue;
    }
    auto before = seen[static_cast<std::size_t>(row - start)];
    if (before) is_wrong(twice, row);
    before = true;
    taken.lines.rows.push_back(row - start);
  }
  end_line();
  return taken;
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
  PetscCallMPI(MPI_Bcast(&size, 1, MPIU_INT64, 0, comm));
  PetscCheck(size >= 0, comm, PETSC_ERR_FILE_OPEN, "the line map '%s' cannot be read: give -pc_line_file the name of a text file", name);
  PetscCallCXX(text->resize(static_cast<std::size_t>(size)));
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
             "line %" PetscInt_FMT
             " of the line map '%s' holds something else than row numbers: write the rows of each line, from 0, separated by "
             "spaces, and comments after #",
             bad_line, name);
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

/// The map composed on A, and whether any rank has one.
PetscErrorCode SequenceFromObject(Mat A, PetscInt first_row, Sequence *sequence, bool *found)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscObject object;
  PetscClassId id = 0;
  enum { has_object, has_other };
  PetscMPIInt here[2] = {0, 0}, any[2];

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, line_map_name, &object));
  if (object) PetscCall(PetscObjectGetClassId(object, &id));
  here[has_object] = object != NULL;
  here[has_other]  = object && id != IS_CLASSID && id != PETSC_SECTION_CLASSID;
  PetscCallMPI(MPI_Allreduce(here, any, 2, MPI_INT, MPI_MAX, comm));
  PetscCheck(!any[has_other], comm, PETSC_ERR_ARG_WRONG, "what is composed on the matrix as '%s' must be an IS or a PetscSection",
             line_map_name);
  *found = any[has_object];
  if (object && id == IS_CLASSID) PetscCall(SequenceFromIS((IS)object, sequence));
  if (object && id == PETSC_SECTION_CLASSID) PetscCall(SequenceFromSection((PetscSection)object, first_row, sequence));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromMap(Mat A, const char *file, HostLines *lines, bool *found)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt start, end, rows;
  Sequence sequence;
  Taken taken;
  PetscInt64 wrong[kinds_of_wrong];

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(SequenceFromObject(A, start, &sequence, found));
  const bool from_file = !*found && file && *file;
  if (from_file) {
    PetscCall(SequenceFromFile(comm, file, &sequence));
    *found = true;
  }
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(taken = TakeOwnRows(sequence, start, end, rows, !from_file));
  PetscCallMPI(MPI_Allreduce(taken.wrong, wrong, kinds_of_wrong, MPIU_INT64, MPI_MIN, comm));
  PetscCheck(wrong[outside] == no_row, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "row %" PetscInt64_FMT " of the line map is not in the matrix, whose rows are 0 to %" PetscInt_FMT, wrong[outside], rows - 1);
  PetscCheck(wrong[foreign] == no_row, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "row %" PetscInt64_FMT " of the line map is on another rank than the one that gave it: each rank gives the rows that it owns",
             wrong[foreign]);
  PetscCheck(wrong[twice] == no_row, comm, PETSC_ERR_ARG_WRONG,
             "row %" PetscInt64_FMT " is in the line map twice: a row can be in one line only", wrong[twice]);
  PetscCallCXX(*lines = std::move(taken.lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
