// What the user typed.
#pragma once

#include "grid.hpp"
#include "petsc_versions.hpp"

#include <string>
#include <vector>

namespace weft_mm {

// The command line without "-compare SETS": SETS begins with a dash, so PETSc would take it for the name of an option.
struct CommandLine {
  CommandLine(int count, char **words);

  int count      = 0;
  char **words   = nullptr; // for PetscInitialize(); they live as long as this object
  bool comparing = false;
  std::vector<std::string> option_sets;

private:
  std::vector<char *> kept_; // with a null pointer at the end, as main's argv has
};

struct Arguments {
  std::string matrix;
  std::string right_hand_side = "ones";
  MatrixGrid grid;               // of -grid and -grid-components
  std::string json;              // empty: none is written
  std::vector<int> study_sweeps; // of -sweep-study; empty: none
  PetscInt repeat = 0;           // times that everything is done again
  bool describe   = false;
};

// After PetscInitialize(). complaint: one sentence on what is wrong, empty where nothing is; the same on all ranks.
PetscErrorCode ReadArguments(const CommandLine &line, Arguments &arguments, std::string &complaint);

} // namespace weft_mm
