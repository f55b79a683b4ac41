// Whole solves of Matrix Market files by PETSc, with several sets of options in one process: each set twice, so that the second time is not
// that of loading kernels and growing pools. Links PETSc and not Weft; scripts/bench_crout_solves.py makes tables of what it writes.
//
//   crout_solves -files a.mtx.gz,b.mtx.gz -sets "-mat_type aij -pc_type ilu; -mat_type aijcusparse -pc_type crout" -json FILE
//                -dll_append libweft.so -ksp_type gmres ...
#include <nlohmann/json.hpp>
#include <sstream>

#include "../examples/weft_mm/option_set.hpp"
#include "../examples/weft_mm/problem.hpp"
#include "../examples/weft_mm/solve.hpp"
#include "write_file.hpp"

using namespace weft_mm;

namespace {

PetscErrorCode Option(const char *name, std::string &value)
{
  std::vector<char> text(1 << 16);

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, name, text.data(), text.size(), nullptr));
  value = text.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

nlohmann::json json_of(const Problem &problem, const std::string &title, const SolveResult &result)
{
  const bool there = result.ran;
  return {{"matrix", title},
          {"rows", problem.matrix.rows()},
          {"entries", problem.nonzeros},
          {"set", result.options},
          {"solved", result.solved},
          {"iterations", result.iterations},
          {"residual", there && std::isfinite(result.residual) ? nlohmann::json(result.residual) : nlohmann::json()},
          {"set_up", there ? nlohmann::json(result.setup_seconds) : nlohmann::json()},
          {"solve", there ? nlohmann::json(result.solve_seconds) : nlohmann::json()},
          {"reason", result.detail.empty() ? result.reason : result.reason + ": " + result.detail}};
}

PetscErrorCode Run()
{
  std::string files, sets, json;
  nlohmann::json rows = nlohmann::json::array();

  PetscFunctionBeginUser;
  PetscCall(Option("-files", files));
  PetscCall(Option("-sets", sets));
  PetscCall(Option("-json", json));
  std::istringstream names(files);
  for (std::string name; std::getline(names, name, ',');) {
    Problem problem;
    bool usable             = false;
    const std::string title = name.substr(name.rfind('/') + 1);
    PetscCall(LoadProblem(name, "solution", MatrixGrid(), problem, usable));
    if (!usable) continue;
    for (const std::string &set : split_option_sets(sets)) {
      SolveResult result;
      for (int run = 0; run < 2; run++) PetscCall(SolveWithOptions(problem, set, false, result));
      rows.push_back(json_of(problem, title.substr(0, title.find(".mtx")), result));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", rows.back().dump().c_str()));
    }
    if (!json.empty()) weft::bench::write_file(json, rows.dump(1) + "\n"); // so that what is measured stays if a later one ends badly
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, "crout_solves: whole solves of Matrix Market files with several sets of options\n"));
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
