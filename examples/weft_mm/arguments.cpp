#include "arguments.hpp"

#include "option_set.hpp"

#include <string_view>

namespace weft_mm {

namespace {

// Reads "-name VALUE" from the options database, wherever it was said (command line, PETSC_OPTIONS, a file of options).
PetscErrorCode ReadValue(const char *name, std::string &value, std::string &complaint)
{
  const char *text = nullptr;
  PetscBool found  = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsFindPair(nullptr, nullptr, name, &text, &found));
  if (found && (!text || !*text))
    complaint = std::string(name) + " needs a value; weft_mm -help says which";
  else if (found)
    value = text;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// "-sweep-study" or "-sweep-study 1,2,4".
PetscErrorCode ReadStudy(std::vector<int> &sweeps, std::string &complaint)
{
  std::vector<PetscInt> counts(100);
  PetscInt size   = static_cast<PetscInt>(counts.size());
  PetscBool found = PETSC_FALSE, listed = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-sweep-study", &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-sweep-study", counts.data(), &size, &listed));
  if (size > 0 && listed)
    sweeps.assign(counts.begin(), counts.begin() + size);
  else
    sweeps = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20};
  for (const int count : sweeps) {
    if (count < 1) complaint = "-sweep-study takes numbers of sweeps, at least 1 each: -sweep-study 1,2,4,8";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc gives every option the next word as its value unless that is an option too; what is left over is the matrix.
PetscErrorCode FindFreeWord(const CommandLine &line, std::string &word)
{
  PetscBool is_option = PETSC_FALSE, after_option = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int index = 1; index < line.count && word.empty(); ++index) {
    PetscCall(PetscOptionsValidKey(line.words[index], &is_option));
    if (!is_option && !after_option) word = line.words[index];
    after_option = is_option;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

CommandLine::CommandLine(int given_count, char **given_words)
{
  for (int index = 0; index < given_count; ++index) {
    if (std::string_view(given_words[index]) != "-compare")
      kept_.push_back(given_words[index]);
    else {
      comparing = true;
      if (index + 1 < given_count) option_sets = split_option_sets(given_words[++index]);
    }
  }
  count = static_cast<int>(kept_.size());
  kept_.push_back(nullptr);
  words = kept_.data();
}

PetscErrorCode ReadArguments(const CommandLine &line, Arguments &arguments, std::string &complaint)
{
  PetscBool describe = PETSC_FALSE;
  std::string nodes, components;

  PetscFunctionBeginUser;
  if (line.comparing) arguments.json = "weft_mm.json";
  PetscCall(FindFreeWord(line, arguments.matrix));
  PetscCall(ReadValue("-f", arguments.matrix, complaint));
  PetscCall(ReadValue("-rhs", arguments.right_hand_side, complaint));
  PetscCall(ReadValue("-json", arguments.json, complaint));
  PetscCall(ReadValue("-grid", nodes, complaint));
  PetscCall(ReadValue("-grid-components", components, complaint));
  arguments.grid = read_grid(nodes, components, complaint);
  PetscCall(ReadStudy(arguments.study_sweeps, complaint));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &arguments.repeat, nullptr));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-describe", &describe, nullptr));
  arguments.describe = describe == PETSC_TRUE;
  if (!complaint.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (arguments.matrix.empty())
    complaint = "no matrix: give the file as the first word, or after -f (after another option it counts as that option's value)";
  if (line.comparing && line.option_sets.empty()) complaint = "-compare needs sets of options: -compare \"-pc_type jacobi; -pc_type ilu\"";
  if (line.comparing && !arguments.study_sweeps.empty()) complaint = "-compare and -sweep-study do not go together";
  for (const std::string &set : line.option_sets) {
    if (set[0] != '-')
      complaint = "-compare: the set '" + set + "' does not begin with an option; sets look like \"-pc_type jacobi; -pc_type ilu\"";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft_mm
