// Crout factors and their triangular solves on general sparse matrices, beside cuSPARSE's and Kokkos Kernels' ILU(0): first set-up, new
// values, one apply, and the iterations of BiCGStab that the factors make. Prints a row for each matrix and method; scripts/bench_crout.py
// makes tables of them.
// Options: --backend=host|device --matrices=NAME,NAME (GENERATOR-N with poisson7, random7, anisotropic, convection, poisson27; or Matrix
// Market files) --methods=REGEX --quick --portable[=NAME] (common_options.hpp) --profile (seconds of each kernel of the library too)
// --limit=SECONDS (of each measurement: BiCGStab ends there, what takes longer runs once, and where new values do, factors alone and warm
// ones are left out) --json=FILE
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include "base/backend.hpp"
#include "common_options.hpp"
#include "crout/factorization.hpp"
#include "crout/triangular_solver.hpp"
#include "crout_problem.hpp"
#if defined(WEFT_HAVE_KOKKOS_KERNELS)
#include "crout_kokkos_kernels.hpp"
#endif
#if defined(KOKKOS_ENABLE_CUDA)
#include "crout_rivals.hpp"
#endif
#if defined(WEFT_HAVE_READER)
#include "../examples/weft_mm/reader.hpp"
#endif
#include "profile.hpp"
#include "stopwatch.hpp"
#include "write_file.hpp"

namespace {

using namespace weft;
using namespace weft::bench;

constexpr double nan_     = std::numeric_limits<double>::quiet_NaN();
constexpr double rtol     = 1e-8;
constexpr int most_cycles = 1000;

/// Seconds that a measurement may take.
double limit = 60;

/// The least of a few runs.
template <class Space>
double best_seconds(const Space &space, bool quick, const std::function<void()> &before, const std::function<void()> &body)
{
  const auto more = [quick](int runs, double best, double all) {
    return runs < (quick ? 4 : 8) && (runs < (limit < 1 ? 1 : 2) || (best < 0.5 && all < limit));
  };
  return least_seconds(space, more, before, body);
}

/// Of many calls one after the other.
template <class Space>
double best_of_many(const Space &space, bool quick, const std::function<void()> &body)
{
  Stopwatch<Space> watch(space);
  body();
  watch.start();
  body();
  const double once = watch.stop();
  const int calls = std::clamp(static_cast<int>(std::min(quick ? 0.002 : 0.01, limit) / once), 1, 200), runs = once > 0.5 ? 1
                                                                                                               : quick    ? 3
                                                                                                                          : 5;
  double best = once;
  for (int run = 0; run < runs; run++) {
    watch.start();
    for (int k = 0; k < calls; k++) body();
    best = std::min(best, watch.stop() / calls);
  }
  return best;
}

template <class Space>
struct Krylov {
  using Vector = DeviceArray<double, Space>;
  const Space space;
  const CroutProblem<Space> &problem;

  Vector make() const { return Vector("weft bench vector", static_cast<std::size_t>(problem.rows)); }
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> all() const { return {space, 0, problem.rows}; }

  void multiply(const Vector &x, const Vector &y) const
  {
    const auto starts = problem.starts, columns = problem.columns;
    const auto values = problem.values;
    Kokkos::parallel_for(
        "weft bench multiply", all(), KOKKOS_LAMBDA(const Index i) {
          double sum = 0;
          for (std::int32_t k = starts(i); k < starts(i + 1); k++) sum += values(k) * x(columns(k));
          y(i) = sum;
        });
  }
  double dot(const Vector &x, const Vector &y) const
  {
    double sum = 0;
    Kokkos::parallel_reduce(
        "weft bench dot", all(), KOKKOS_LAMBDA(const Index i, double &s) { s += x(i) * y(i); }, sum);
    return sum;
  }
  /// to = a x + b y + c z
  void combine(const Vector &to, double a, const Vector &x, double b, const Vector &y, double c, const Vector &z) const
  {
    Kokkos::parallel_for(
        "weft bench combine", all(), KOKKOS_LAMBDA(const Index i) { to(i) = a * x(i) + b * y(i) + c * z(i); });
  }

  /// BiCGStab preconditioned from the right (H. van der Vorst, 1992), for A x = A 1. Returns its steps (halves count), or -1.
  double solve(const std::function<void(const double *, double *)> &apply) const
  {
    const Vector x = make(), r = make(), start = make(), p = make(), v = make(), t = make(), y = make(), z = make();
    Kokkos::deep_copy(space, x, 1.0);
    multiply(x, r);
    Kokkos::deep_copy(space, x, 0.0);
    Kokkos::deep_copy(space, start, r);
    double rho = 1, alpha = 1, omega = 1;
    const double goal = rtol * std::sqrt(dot(r, r));
    const auto begin  = std::chrono::steady_clock::now();
    for (int step = 1; step <= most_cycles; step++) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > limit) return -1;
      const double next = dot(start, r), beta = next / rho * alpha / omega;
      rho = next;
      combine(p, 1, r, beta, p, -beta * omega, v);
      apply(p.data(), y.data());
      multiply(y, v);
      alpha = rho / dot(start, v);
      combine(r, 1, r, -alpha, v, 0, v);
      const double half = std::sqrt(dot(r, r));
      if (half <= goal) return step - 0.5;
      if (!std::isfinite(half)) return -1;
      apply(r.data(), z.data());
      multiply(z, t);
      omega = dot(t, r) / dot(t, t);
      combine(x, 1, x, alpha, y, omega, z);
      combine(r, 1, r, -omega, t, 0, t);
      const double whole = std::sqrt(dot(r, r));
      if (whole <= goal) return step;
      if (!std::isfinite(whole) || omega == 0) return -1;
    }
    return -1;
  }
};

/// What was measured, in seconds.
struct Measured {
  std::string matrix, method, precision = "fp64", note;
  Index rows = 0, entries = 0;
  double set_up = nan_, refactor = nan_, warm = nan_, factor = nan_, apply = nan_, forward = nan_, backward = nan_, steps = nan_,
         solve = nan_;
};

/// Text as a cell of a table and of JSON takes it: Kokkos' errors have lines and quotes.
std::string in_a_cell(std::string text)
{
  for (char &c : text) c = c == '"' || c == '\\' ? '\'' : c == '|' ? '/' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return text;
}

class Table {
public:
  explicit Table(const std::string &backend)
  {
    std::printf("%s\n\n| matrix | rows | entries | method | precision | set-up ms | new values ms | warm ms | factors alone ms | apply ms "
                "| lower ms "
                "| upper ms | "
                "BiCGStab | its ms | |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
                backend.c_str());
    json_ << "{\"backend\": \"" << backend << "\", \"rows\": [";
  }
  void add(const Measured &row)
  {
    std::printf("| %s | %td | %td | %s | %s | %.4g | %.4g | %.4g | %.4g | %.4g | %.4g | %.4g | %.1f | %.4g | %s |\n", row.matrix.c_str(),
                static_cast<std::ptrdiff_t>(row.rows), static_cast<std::ptrdiff_t>(row.entries), row.method.c_str(), row.precision.c_str(),
                1e3 * row.set_up, 1e3 * row.refactor, 1e3 * row.warm, 1e3 * row.factor, 1e3 * row.apply, 1e3 * row.forward,
                1e3 * row.backward, row.steps, 1e3 * row.solve, row.note.c_str());
    std::fflush(stdout);
    json_ << (count_++ > 0 ? ",\n" : "\n") << "{\"matrix\": \"" << row.matrix << "\", \"rows\": " << row.rows
          << ", \"entries\": " << row.entries << ", \"method\": \"" << row.method << "\", \"precision\": \"" << row.precision
          << "\", \"note\": \"" << row.note << "\"";
    const std::pair<const char *, double> numbers[] = {{"set_up", row.set_up},     {"refactor", row.refactor}, {"warm", row.warm},
                                                       {"factor", row.factor},     {"apply", row.apply},       {"forward", row.forward},
                                                       {"backward", row.backward}, {"steps", row.steps},       {"solve", row.solve}};
    for (const auto &[name, value] : numbers) {
      json_ << ", \"" << name << "\": ";
      if (std::isfinite(value))
        json_ << value;
      else
        json_ << "null";
    }
    json_ << "}";
  }
  void write(const std::string &file) const { write_file(file, json_.str() + "\n]}\n"); }

private:
  int count_ = 0;
  std::ostringstream json_;
};

/// What is asked of the library: factors in some way, triangles solved in some way.
struct CroutMethod {
  std::string name;
  FactorMethod factors = FactorMethod::automatic;
  std::string solve    = "auto";
  bool single          = false;
};

template <class Scalar>
struct Factors {
  const Execution &execution;
  CroutOptions options;
  std::string solve;
  Owner<CroutFactorization<Scalar>> factorization;
  Owner<TriangularSolver<Scalar>> solver;

  template <class Space>
  void set_up(const CroutProblem<Space> &p)
  {
    factorization = CroutFactorization<Scalar>::make(execution, options);
    solver        = TriangularSolver<Scalar>::make(execution, solve);
    factorization->analyse(p.rows, p.rows, p.csr());
    solver->analyse(factorization->triangles(), factorization->transform());
    refactor(p.csr(), false);
  }
  void refactor(const CsrMatrix<double, std::int32_t> &matrix, bool warm)
  {
    factor(matrix, warm);
    if (factorization->report().failure == FactorFailure::none) solver->update(factorization->triangles());
  }
  void forget()
  {
    solver.reset();
    factorization.reset();
  }
  void factor(const CsrMatrix<double, std::int32_t> &matrix, bool warm) { factorization->factor(matrix, warm); }
};

template <class Space>
class Suite {
public:
  Suite(const Execution &execution, const Space &space, Table &table, const std::string &methods, bool quick, bool profile)
      : execution_(execution), space_(space), table_(table), wanted_(methods), quick_(quick), profile_(profile)
  {
  }

  /// problem() makes the matrix called `name`; one that cannot be used is a row of its own.
  void run(const std::string &name, const std::function<CroutProblem<Space>()> &problem) const
  {
    try {
      run(problem());
    } catch (const std::exception &error) {
      Measured row;
      row.matrix = name.substr(name.rfind('/') + 1);
      row.method = "none";
      row.note   = in_a_cell(error.what());
      table_.add(row);
    }
  }

  void run(const CroutProblem<Space> &problem) const
  {
    const auto wanted = [&](const std::string &name) { return std::regex_search(name, wanted_); };
    for (const CroutMethod &method :
         {CroutMethod{"auto"}, CroutMethod{"auto fp32", FactorMethod::automatic, "auto", true},
          CroutMethod{"jacobi", FactorMethod::automatic, "jacobi"}, CroutMethod{"isai", FactorMethod::automatic, "isai"},
          CroutMethod{"levels", FactorMethod::exact, "levels"}, CroutMethod{"syncfree", FactorMethod::exact, "syncfree"}}) {
      if (!wanted(method.name)) continue;
      Measured row{problem.name, method.name, method.single ? "fp32" : "fp64", {}, problem.rows, problem.entries};
      guarded(row, [&] {
        if (method.single)
          crout<float>(problem, method, row);
        else
          crout<double>(problem, method, row);
      });
    }
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
      if (wanted("cusparse")) rival<CusparseIlu>(problem, "cusparse");
    }
#endif
#if defined(WEFT_HAVE_KOKKOS_KERNELS)
    if constexpr (std::is_same_v<Space, DeviceBackend>) {
      if (wanted("kokkos-kernels")) rival<KokkosKernelsIlu<Space>>(problem, "kokkos-kernels");
    }
#endif
  }

private:
  void guarded(Measured &row, const std::function<void()> &body) const
  {
    try {
      body();
    } catch (const std::exception &error) {
      row.note = in_a_cell(error.what());
    }
    table_.add(row);
  }

  template <class Scalar>
  void crout(const CroutProblem<Space> &problem, const CroutMethod &method, Measured &row) const
  {
    CroutOptions options;
    options.method = method.factors;
    Factors<Scalar> factors{execution_, options, method.solve, {}, {}};
    factors.set_up(problem);
    const std::string made = factors.factorization->report().text();
    if (profile_) {
      std::printf("  %s %s\n", problem.name.c_str(), method.name.c_str());
      factors.forget();
      Profile::of("set-up", [&] { factors.set_up(problem); });
      Profile::of("new values", [&] { factors.refactor(problem.changed_csr(), false); });
    }
    row.note = made + "; " + factors.solver->description();
    if (factors.factorization->report().failure != FactorFailure::none) return;
    const Krylov<Space> krylov{space_, problem};
    const auto b = krylov.make(), x = krylov.make();
    Kokkos::deep_copy(space_, b, 1.0);
    TriangularSolver<Scalar> &solver = *factors.solver;
    if (profile_) Profile::of("apply", [&] { solver.solve(TriangularPart::both, b.data(), x.data()); });
    iterations(
        krylov, [&](const double *from, double *to) { solver.solve(TriangularPart::both, from, to); }, row);
    row.apply        = best_of_many(space_, quick_, [&] { solver.solve(TriangularPart::both, b.data(), x.data()); });
    row.forward      = best_of_many(space_, quick_, [&] { solver.solve(TriangularPart::forward, b.data(), x.data()); });
    row.backward     = best_of_many(space_, quick_, [&] { solver.solve(TriangularPart::backward, b.data(), x.data()); });
    bool odd         = false;
    const auto other = [&] { return (odd = !odd) ? problem.changed_csr() : problem.csr(); };
    const auto leave = [] {};
    row.refactor     = best_seconds(space_, quick_, leave, [&] { factors.refactor(other(), false); });
    if (row.refactor < limit) {
      row.warm   = best_seconds(space_, quick_, leave, [&] { factors.refactor(other(), true); });
      row.factor = best_seconds(space_, quick_, leave, [&] { factors.factor(other(), false); });
    }
    row.set_up = best_seconds(
        space_, quick_, [&] { factors.forget(); }, [&] { factors.set_up(problem); });
  }

  void iterations(const Krylov<Space> &krylov, const std::function<void(const double *, double *)> &apply, Measured &row) const
  {
    Stopwatch<Space> watch(space_);
    watch.start();
    row.steps = krylov.solve(apply);
    row.solve = watch.stop();
  }

  /// Exact ILU(0) of another library.
  template <class Ilu>
  void rival(const CroutProblem<Space> &problem, const std::string &name) const
  {
    Measured row{problem.name, name, "fp64", {}, problem.rows, problem.entries};
    guarded(row, [&] {
      Ilu ilu(space_);
      ilu.set_up(problem);
      row.note = ilu.checked(problem);
      const Krylov<Space> krylov{space_, problem};
      const auto b = krylov.make(), x = krylov.make();
      Kokkos::deep_copy(space_, b, 1.0);
      iterations(
          krylov, [&](const double *from, double *to) { ilu.apply(from, to); }, row);
      row.apply        = best_of_many(space_, quick_, [&] { ilu.apply(b.data(), x.data()); });
      row.forward      = best_of_many(space_, quick_, [&] { ilu.forward(b.data(), x.data()); });
      row.backward     = best_of_many(space_, quick_, [&] { ilu.backward(b.data(), x.data()); });
      bool odd         = false;
      const auto other = [&] { return (odd = !odd) ? problem.changed : problem.values; };
      const auto leave = [] {};
      row.refactor = row.warm = best_seconds(space_, quick_, leave, [&] { ilu.refactor(other()); });
      row.factor              = best_seconds(space_, quick_, leave, [&] { ilu.factor_only(other()); });
      row.set_up              = best_seconds(
                       space_, quick_, [&] { ilu.forget(); }, [&] { ilu.set_up(problem); });
    });
  }

  const Execution &execution_;
  Space space_;
  Table &table_;
  std::regex wanted_;
  bool quick_, profile_;
};

/// GENERATOR-N, or a file.
template <class Space>
CroutProblem<Space> problem_of(const Space &space, const std::string &name)
{
  std::smatch parts;
  if (std::regex_match(name, parts, std::regex("(poisson7|random7|anisotropic|convection|poisson27)-([0-9]+)")))
    return box_problem(space, parts[1].str(), std::stol(parts[2].str()));
#if defined(WEFT_HAVE_READER)
  const weft_mm::SparseMatrix matrix = weft_mm::read_square_matrix(name);
  const auto rows                    = static_cast<std::size_t>(matrix.rows());
  std::vector<std::int32_t> starts(rows + 1, 0), columns(matrix.row_of.size());
  std::vector<double> values(columns.size());
  for (const auto row : matrix.row_of) starts[static_cast<std::size_t>(row) + 1]++;
  for (std::size_t i = 0; i < rows; i++) starts[i + 1] += starts[i];
  std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
  for (std::size_t column = 0; column < rows; column++) {
    for (auto e = matrix.column_start[column]; e < matrix.column_start[column + 1]; e++) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(matrix.row_of[static_cast<std::size_t>(e)])]++);
      columns[at]   = static_cast<std::int32_t>(column);
      values[at]    = matrix.value_of[static_cast<std::size_t>(e)];
    }
  }
  std::string title = name.substr(name.rfind('/') + 1);
  return host_problem(space, title.substr(0, title.find(".mtx")), starts, columns, values);
#else
  throw std::invalid_argument("'" + name + "' is no generator, and this program was built without SuiteSparse, which reads files");
#endif
}

} // namespace

int main(int argc, char **argv)
{
  Memory memory = build_has_device ? Memory::device : Memory::host;
  bool quick = false, profile = false;
  std::string matrices, methods, json;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    const auto value       = [&](const std::string &option) { return word.substr(option.size()); };
    if (takes_common(word, memory, quick)) continue;
    if (word == "--profile")
      profile = true;
    else if (word.starts_with("--matrices="))
      matrices = value("--matrices=");
    else if (word.starts_with("--methods="))
      methods = value("--methods=");
    else if (word.starts_with("--limit="))
      limit = std::stod(value("--limit="));
    else if (word.starts_with("--json="))
      json = value("--json=");
    else if (!word.starts_with("--kokkos")) {
      std::fprintf(stderr, "crout_bench: unknown option %s\n", argv[k]);
      return 2;
    }
  }
  if (matrices.empty())
    matrices =
        quick || memory == Memory::host
            ? "poisson7-16,poisson7-32,poisson27-16,anisotropic-32,convection-32,random7-32"
            : "poisson7-16,poisson7-64,poisson7-128,poisson7-192,poisson27-64,poisson27-128,anisotropic-128,convection-128,random7-128";
  Kokkos::ScopeGuard guard(argc, argv);
  if (profile) Profile::start();
  const Execution execution(memory);
  on_backend(execution, [&](const auto &space) {
    Table table(execution.name());
    const Suite<std::decay_t<decltype(space)>> suite(execution, space, table, methods, quick, profile);
    std::istringstream names(matrices);
    for (std::string name; std::getline(names, name, ',');) {
      suite.run(name, [&] { return problem_of(space, name); });
      if (!json.empty()) table.write(json); // so that what is measured stays if a later one ends badly
    }
  });
}
