// The results for people (a table and notes) and for programs (JSON).
#pragma once

#include "solve.hpp"
#include "structure.hpp"

#include <string>
#include <vector>

namespace weft_mm {

std::string table_of(const Problem &problem, const std::vector<SolveResult> &results);
// Of a sweep study: a row for each number of sweeps, and one for exact elimination at the end.
std::string study_table_of(const Problem &problem, const std::vector<int> &sweeps, const std::vector<SolveResult> &results);
std::string json_of(const Problem &problem, const std::vector<SolveResult> &results);

// What -describe says, for people and for programs.
std::string description_of(const Problem &problem, const Structure &structure);
std::string json_of(const Problem &problem, const Structure &structure);

// "CONVERGED_RTOL", "DIVERGED_PC_FAILED (FACTOR_NUMERIC_ZEROPIVOT)", "ERROR: Unable to find requested PC type foo"
std::string stop_reason(const SolveResult &result);

// How messages call a set of options.
std::string name_of_set(const SolveResult &result);

} // namespace weft_mm
