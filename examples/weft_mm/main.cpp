// weft_mm solves a Matrix Market file with any solver PETSc knows, and compares several on it. Nothing in here needs Weft: its solver types
// come in like any other plugin's, by -dll_append.
//
//   $ weft_mm matrices/HB__gr_30_30.mtx.gz -ksp_type cg -pc_type icc
//   $ weft_mm matrices/HB__sherman1.mtx.gz -dll_append libweft.so -compare "-pc_type jacobi; -pc_type ilu; -pc_type line"
//   $ mpiexec -n 4 weft_mm big.mtx.gz -compare "-pc_type bjacobi -sub_pc_type ilu; -pc_type gamg -mg_levels_pc_type jacobi"
//
// The usage text below says what it takes and what comes back.

#include "arguments.hpp"
#include "option_set.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "solve.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace weft_mm;

namespace {

const std::string usage = std::string(R"(Usage: weft_mm FILE.mtx[.gz] [PETSc options]
       weft_mm FILE.mtx[.gz] -compare "SET; SET; ..." [PETSc options]
       weft_mm FILE.mtx[.gz] -sweep-study [N,N,...] [PETSc options]
Solves A x = b for a square )") +
                          (complex_scalars ? "complex, real" : "real") +
                          R"(, integer or pattern matrix in Matrix Market form. The places of a pattern become ones.

  -f FILE        the matrix, where it is not the first word that is no option
  -rhs WHAT      b: ones (default); random (fixed seed); solution (A times the fixed random vector); or a Matrix Market file with one column
  -compare SETS  sets of PETSc options, separated by ';'; each is laid over the other options for its own run only
  -sweep-study N,N,...  solves with -pc_type crout after so many sweeps each, and with its exact factors (needs -dll_append libweft.so);
                 scripts/sweep_study.py draws what -json keeps of it
  -grid NX,NY,NZ  the grid that the rows lie on, nodes along x first and fastest (1 to 3 numbers): for the types that need one (bcr, adi, boxmg)
                 and lines along its directions; ranks share it in slabs of its last direction
  -grid-components N  rows of each node, one after the other, where there are several
  -repeat N      set-up and solve again from nothing, up to N times and for 5 s; the least times go into the JSON beside those of the first time
  -describe      no solve: what the matrix is like (symmetry, definiteness, its diagonal, bandwidth; with -grid, its stencil there)
  -json FILE     where the results go as JSON; under -compare weft_mm.json if not given, otherwise no JSON is written

The table: iterations; residual, ||b - A x|| / ||b|| in the 2-norm, computed anew; set-up s, KSPSetUp with the preconditioner's; solve s, the first
KSPSolve; again s, the same solve once more, under -compare where the first converged within 5 s; memory, growth of resident memory over set-up and
first solve, summed over the ranks (the first set also pays for what PETSc allocates only once); why it stopped, in PETSc's words. Times are
wall-clock seconds of the slowest rank.

Exit code: 0 every solve converged; 1 wrong input or usage; 2 a solve failed or did not converge.

)";

enum ExitCode { all_converged = 0, wrong_input = 1, some_failed = 2 };

PetscErrorCode Complain(const std::string &sentence)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "weft_mm: %s\n", sentence.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<std::string> study_sets(const std::vector<int> &sweeps)
{
  std::vector<std::string> sets;
  for (const int count : sweeps) sets.push_back("-pc_type crout -pc_crout_method sweeps -pc_crout_sweeps " + std::to_string(count));
  sets.push_back("-pc_type crout -pc_crout_method exact");
  return sets;
}

PetscErrorCode SolveAll(const Problem &problem, const std::vector<std::string> &sets, bool comparing, PetscInt repeat,
                        std::vector<SolveResult> &results)
{
  PetscFunctionBeginUser;
  for (std::size_t number = 0; number < sets.size(); ++number) {
    const std::string progress = std::string("[") + std::to_string(number + 1) + "/" + std::to_string(sets.size()) + "] " + sets[number];
    if (comparing) PetscCall(Complain(progress + " ..."));
    SolveResult result;
    PetscCall(SolveWithOptions(problem, sets[number], comparing, result));
    PetscCall(RepeatSolve(problem, repeat, result));
    if (comparing) PetscCall(Complain(progress + ": " + stop_reason(result)));
    results.push_back(result);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Opens the file before the work and not after it: a comparison may run for hours. The other ranks hear whether that went well.
PetscErrorCode OpenJson(const std::string &path, std::ofstream &file, bool &opened)
{
  PetscMPIInt rank = 0;
  int code         = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    file.open(path);
    code = file ? 0 : errno;
  }
  PetscCallMPI(MPI_Bcast(&code, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  opened = code == 0;
  if (!opened) PetscCall(Complain("cannot write " + path + ": " + std::strerror(code)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report(const Problem &problem, const std::vector<SolveResult> &results, const Arguments &arguments, std::ofstream &json,
                      ExitCode &exit_code)
{
  const std::string &json_path = arguments.json;
  const auto failed            = std::count_if(results.begin(), results.end(), [](const SolveResult &result) { return !result.solved; });
  PetscMPIInt rank             = 0;
  bool written                 = true;

  PetscFunctionBeginUser;
  exit_code = failed ? some_failed : all_converged;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    const std::string table =
        arguments.study_sweeps.empty() ? table_of(problem, results) : study_table_of(problem, arguments.study_sweeps, results);
    written = std::fputs(table.c_str(), stdout) >= 0 && std::fflush(stdout) == 0; // the sentences on stderr come after it
    if (!written) std::fprintf(stderr, "weft_mm: the table could not be written to its end\n");
    if (!json_path.empty()) {
      const bool kept = static_cast<bool>(json << json_of(problem, results) << std::flush);
      if (kept)
        std::printf("The results as JSON: %s\n", json_path.c_str());
      else
        std::fprintf(stderr, "weft_mm: %s could not be written to its end\n", json_path.c_str());
      written = written && kept;
    }
  }
  PetscCallMPI(MPI_Bcast(&written, 1, MPI_CXX_BOOL, 0, PETSC_COMM_WORLD));
  if (!written) exit_code = wrong_input;
  if (failed && results.size() > 1)
    PetscCall(Complain(std::to_string(failed) + " of " + std::to_string(results.size()) + " option sets gave no solution"));
  if (failed && results.size() == 1) {
    const std::string &advice = results[0].advice;
    PetscCall(Complain("no solution: " + stop_reason(results[0]) + (advice.empty() ? "" : "; " + advice)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Only rank 0 holds the matrix.
PetscErrorCode Describe(const Problem &problem, std::ofstream &json, ExitCode &exit_code)
{
  PetscMPIInt rank = 0;
  bool written     = true;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    const Structure structure = structure_of(problem.matrix);
    std::fputs(description_of(problem, structure).c_str(), stdout);
    if (json.is_open()) written = static_cast<bool>(json << json_of(problem, structure) << std::flush);
    if (!written) std::fprintf(stderr, "weft_mm: the JSON could not be written to its end\n");
  }
  PetscCallMPI(MPI_Bcast(&written, 1, MPI_CXX_BOOL, 0, PETSC_COMM_WORLD));
  exit_code = written ? all_converged : wrong_input;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Optimized builds of PETSc keep silent about options that nothing has used. Only PETSc's end knows which those are: some are read there.
PetscErrorCode AskForUnusedOptions()
{
  PetscInt count  = 0;
  PetscBool asked = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-options_left", &asked));
  PetscCall(PetscOptionsAllUsed(nullptr, &count));
  if (count > 0 && !asked) PetscCall(PetscOptionsSetValue(nullptr, "-options_left", "true"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Run(const CommandLine &line, ExitCode &exit_code)
{
  Arguments arguments;
  Problem problem;
  std::ofstream json;
  std::string complaint;
  PetscBool help = PETSC_FALSE;
  bool usable    = false;

  PetscFunctionBeginUser;
  exit_code = wrong_input;
  PetscCall(PetscOptionsHasHelp(nullptr, &help));
  PetscCall(ReadArguments(line, arguments, complaint));
  if (arguments.matrix.empty() && help) { // PetscInitialize() has printed the usage
    exit_code = all_converged;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (line.count == 1 && !line.comparing) {
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR, "%s", usage.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!complaint.empty()) {
    PetscCall(Complain(complaint));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LoadProblem(arguments.matrix, arguments.right_hand_side, arguments.grid, problem, usable));
  if (usable && !arguments.json.empty()) PetscCall(OpenJson(arguments.json, json, usable));
  if (!usable) PetscFunctionReturn(PETSC_SUCCESS);
  if (arguments.describe) {
    PetscCall(Describe(problem, json, exit_code));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<std::string> sets = line.comparing ? line.option_sets : std::vector<std::string>{""};
  const bool studying           = !arguments.study_sweeps.empty();
  if (studying) sets = study_sets(arguments.study_sweeps);
  std::vector<SolveResult> results;
  PetscCall(SolveAll(problem, sets, line.comparing || studying, arguments.repeat, results));
  PetscCall(Report(problem, results, arguments, json, exit_code));
  PetscCall(AskForUnusedOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  CommandLine line(argc, argv);
  ExitCode exit_code = wrong_input;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&line.count, &line.words, nullptr, usage.c_str()));
  PetscCall(Run(line, exit_code));
  PetscCall(PetscFinalize());
  return exit_code;
}
