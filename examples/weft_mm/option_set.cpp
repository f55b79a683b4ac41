#include "option_set.hpp"

#include <algorithm>
#include <sstream>

namespace weft_mm {

std::vector<std::string> split_option_sets(const std::string &text)
{
  std::vector<std::string> sets;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, ';');) {
    std::replace_if(
        piece.begin(), piece.end(), [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
    const std::size_t first = piece.find_first_not_of(' ');
    if (first != std::string::npos) sets.push_back(piece.substr(first, piece.find_last_not_of(' ') - first + 1));
  }
  return sets;
}

PetscErrorCode OptionOverlay::Apply(const std::string &set)
{
  PetscOptions parsed;
  PetscInt count = 0;
  char **names   = nullptr;
  char **values  = nullptr;

  PetscFunctionBeginUser;
  // PETSc itself splits the text, into a database of its own, where nothing has been used: its list of unused options is the list of all.
  PetscCall(PetscOptionsCreate(&parsed));
  PetscCall(PetscOptionsInsertString(parsed, set.c_str()));
  PetscCall(PetscOptionsLeftGet(parsed, &count, &names, &values));
  for (PetscInt entry = 0; entry < count; ++entry) {
    Option option;
    option.name              = names[entry];
    const std::string dashed = "-" + option.name;
    PetscCall(Remember(option));
    PetscCall(PetscOptionsClearValue(nullptr, dashed.c_str())); // so that the new one starts as unused
    PetscCall(PetscOptionsSetValue(nullptr, dashed.c_str(), values[entry]));
    options_.push_back(option);
  }
  PetscCall(PetscOptionsLeftRestore(parsed, &count, &names, &values));
  PetscCall(PetscOptionsDestroy(&parsed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Finds the option in the global database under exactly its name. PetscOptionsFindPair() alone will not do: it answers -mg_levels_1_pc_type
// with what -mg_levels_pc_type says, and marks that as used. An option that was used is there; one that was not stands in the list of
// unused ones.
PetscErrorCode OptionOverlay::Remember(Option &option)
{
  PetscBool used = PETSC_FALSE, same = PETSC_FALSE;
  const char *value = nullptr;
  PetscInt count    = 0;
  char **names      = nullptr;
  char **values     = nullptr;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsUsed(nullptr, option.name.c_str(), &used));
  if (used) {
    PetscCall(PetscOptionsFindPair(nullptr, nullptr, ("-" + option.name).c_str(), &value, &used));
    option.was_there = option.was_used = true;
    if (value) option.old_value = value;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  for (PetscInt entry = 0; entry < count && !option.was_there; ++entry) {
    PetscCall(PetscStrcasecmp(names[entry], option.name.c_str(), &same));
    if (!same) continue;
    option.was_there = true;
    if (values[entry]) option.old_value = values[entry];
  }
  PetscCall(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OptionOverlay::Remove()
{
  const char *value = nullptr;
  PetscBool found   = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (const Option &option : options_) {
    const std::string dashed = "-" + option.name;
    PetscCall(PetscOptionsClearValue(nullptr, dashed.c_str()));
    if (!option.was_there) continue;
    PetscCall(PetscOptionsSetValue(nullptr, dashed.c_str(), option.old_value.c_str()));
    // Asking for it marks it as used again; PetscFinalize() would else call it mistyped.
    if (option.was_used) PetscCall(PetscOptionsFindPair(nullptr, nullptr, dashed.c_str(), &value, &found));
  }
  options_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OptionOverlay::Unused(std::vector<std::string> &names) const
{
  PetscBool used = PETSC_FALSE;

  PetscFunctionBeginUser;
  names.clear();
  for (const Option &option : options_) {
    PetscCall(PetscOptionsUsed(nullptr, option.name.c_str(), &used));
    if (!used) names.push_back("-" + option.name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft_mm
