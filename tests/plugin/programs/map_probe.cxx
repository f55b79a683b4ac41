// Prints the lines that the glue reads from a user's map, each rank's by local row numbers.
//   -is_R <rows>, -section_R <rows of each line> : what rank R composes on the matrix (is_R any number of rows, may be none)
//   -other : an object of another class is composed     -pc_line_file <name>     -n <rows of each rank>
#include <petscksp.h>
#include <petscsection.h>

#include <string>

#include "line/lines_from_map.h"
#include "petsc/petsc_compat.h"

static PetscErrorCode Compose(Mat A, PetscMPIInt rank)
{
  PetscInt numbers[100], count = 100;
  PetscBool is, section, other;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, ("-is_" + std::to_string(rank)).c_str(), numbers, &count, &is));
  if (is) {
    IS lines;
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, numbers, PETSC_COPY_VALUES, &lines));
    PetscCall(PetscObjectCompose((PetscObject)A, "weft_lines", (PetscObject)lines));
    PetscCall(ISDestroy(&lines));
  }
  count = 100;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, ("-section_" + std::to_string(rank)).c_str(), numbers, &count, &section));
  if (section) {
    PetscSection lines;
    PetscCall(PetscSectionCreate(PETSC_COMM_SELF, &lines));
    PetscCall(PetscSectionSetChart(lines, 5, 5 + count));
    for (PetscInt k = 0; k < count; k++) PetscCall(PetscSectionSetDof(lines, 5 + k, numbers[k]));
    PetscCall(PetscObjectCompose((PetscObject)A, "weft_lines", (PetscObject)lines));
    PetscCall(PetscSectionDestroy(&lines));
  }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-other", &other));
  if (other && rank == 0) {
    Vec vec;
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &vec));
    PetscCall(PetscObjectCompose((PetscObject)A, "weft_lines", (PetscObject)vec));
    PetscCall(VecDestroy(&vec));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat A;
  PetscInt n = 6;
  PetscMPIInt rank;
  char file[PETSC_MAX_PATH_LEN] = "";
  weft::HostLines lines;
  weft::JoinedPieces joined;
  bool found;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_line_file", file, sizeof(file), NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &A));
  PetscCall(Compose(A, rank));
  PetscCall(weft::LinesFromMap(A, file, &lines, &joined, &found));
  std::string text = found ? "lines" : "none";
  for (std::size_t line = 0; found && line + 1 < lines.starts.size(); line++) {
    if (line > 0) text += " ;";
    for (weft::Index k = lines.starts[line]; k < lines.starts[line + 1]; k++) {
      text += ' ';
      text += std::to_string(lines.rows[static_cast<std::size_t>(k)]);
    }
  }
  if (joined.count() > 0) text += " | joined";
  for (std::size_t piece = 0; piece < joined.before.size(); piece++) {
    text += ' ';
    text += std::to_string(joined.before[piece]) + "<" +
            std::to_string(joined.own.rows[static_cast<std::size_t>(joined.own.starts[piece])]) + ">" + std::to_string(joined.after[piece]);
  }
  PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "[%d] %s\n", rank, text.c_str()));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
