// One set of options of a comparison, laid over the options database for one run and taken off again.
#pragma once

#include "petsc_versions.hpp"

#include <string>
#include <vector>

namespace weft_mm {

// "-pc_type ilu; -pc_type line" -> {"-pc_type ilu", "-pc_type line"}; empty pieces are dropped.
std::vector<std::string> split_option_sets(const std::string &text);

// The set's options go into PETSc's one global database, because that is where nested solvers (-sub_pc_type, -mg_levels_pc_type) and
// plugins look. Taking the set off puts back what the command line had said, so that a set cannot leak into the next.
class OptionOverlay {
public:
  PetscErrorCode Apply(const std::string &set);
  PetscErrorCode Remove();

  // The options of the set that nothing has asked for: most often mistyped ones.
  PetscErrorCode Unused(std::vector<std::string> &names) const;

  bool empty() const { return options_.empty(); }

private:
  struct Option {
    std::string name;       // without its dash
    bool was_there = false; // on the command line, and what it was there:
    bool was_used  = false;
    std::string old_value; // empty where it stood without a value
  };

  static PetscErrorCode Remember(Option &option);

  std::vector<Option> options_;
};

} // namespace weft_mm
