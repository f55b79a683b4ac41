// Times direct Poisson solves on a backend of this build, beside a copy of the grid and, on CUDA, a pair of cuFFT's real transforms of the
// same size (D2Z and Z2D, without a solve between them). Prints a table. Options: --backend=host|device --quick (small grids only)
// --portable[=NAME] (common_options.hpp) --methods=NAME,NAME (default: auto,partial) --sizes=N,NxM,NxMxK (default: all)
// --stretch=S (Dirichlet ends on meshes that grow by S along each direction; default: 1) --single (in single precision; errors are then of rounding
// f too). "again": a second set-up with eigenvectors kept. With
// --columns=16 it times one call for so many right-hand sides beside so many calls, for coefficients that are constant, vary along the last
// direction, or along all. With --suite=poisson it runs the paper's tables instead, as tridiagonal_bench does: scripts/bench.py makes tables of them.
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "base/backend.hpp"
#include "bcr/direct_solver.hpp"
#include "common_options.hpp"
#include "copy.hpp"
#include "poisson_suite.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include <cufft.h>
#endif

namespace {

using namespace weft;
using namespace weft::bench;

enum class Ends { dirichlet, neumann, periodic };
const char *name_of(Ends ends)
{
  return ends == Ends::dirichlet ? "Dirichlet" : ends == Ends::neumann ? "Neumann" : "periodic";
}

struct PoissonWork {
  Index n[3];
  Ends ends;
  double shift;
  double stretch = 1;

  int dimension() const { return n[2] > 1 ? 3 : 2; }
  Index unknowns() const { return n[0] * n[1] * n[2]; }
  std::string name() const
  {
    std::string text = std::to_string(n[0]) + " x " + std::to_string(n[1]);
    if (n[2] > 1) text += " x " + std::to_string(n[2]);
    return text;
  }
  std::string conditions() const
  {
    char text[32] = "";
    if (stretch != 1) std::snprintf(text, sizeof text, ", stretched %g", stretch);
    return std::string(name_of(ends)) + (shift != 0 ? ", shift" : "") + text;
  }
};

/// The five- or seven-point Laplacian on nodes, and a shift. `stretch`: of finite volumes on a mesh whose spacing grows by that factor from one end
/// to the other, geometrically, along each direction.
SeparableOperator operator_of(const PoissonWork &work)
{
  SeparableOperator a;
  a.dimension = work.dimension();
  a.shift     = work.shift;
  for (int k = 0; k < a.dimension; k++) {
    Direction &d    = a.directions[k];
    const auto size = static_cast<std::size_t>(work.n[k]);
    d.n             = work.n[k];
    d.periodic      = work.ends == Ends::periodic;
    d.lower = d.upper = std::vector<double>(size, 1);
    d.diagonal        = std::vector<double>(size, -2);
    if (work.ends == Ends::neumann) d.upper.front() = d.lower.back() = 2;
    if (work.stretch == 1) continue;
    const auto spacing = [&](std::size_t i) { return std::pow(work.stretch, static_cast<double>(i) / static_cast<double>(size) - 1); };
    for (std::size_t i = 0; i < size; i++) {
      d.lower[i]    = 1 / spacing(i);
      d.upper[i]    = 1 / spacing(i + 1);
      d.diagonal[i] = -d.lower[i] - d.upper[i];
      d.weight.push_back((spacing(i) + spacing(i + 1)) / 2);
    }
  }
  return a;
}

/// Rows of the operator's directions, one after the other: couplings down, diagonal, couplings up, weights.
template <class Space>
OwnedArray<double, Space> rows_of(const Space &, const SeparableOperator &a)
{
  std::vector<double> all;
  for (int k = 0; k < a.dimension; k++) {
    Direction d = a.directions[k];
    if (!d.periodic) d.lower.front() = d.upper.back() = 0;
    if (d.weight.empty()) d.weight = std::vector<double>(d.lower.size(), 1);
    for (const auto *values : {&d.lower, &d.diagonal, &d.upper, &d.weight}) all.insert(all.end(), values->begin(), values->end());
  }
  OwnedArray<double, Space> rows("weft bench rows", all.size());
  const auto host = Kokkos::create_mirror_view(rows);
  std::copy(all.begin(), all.end(), host.data());
  Kokkos::deep_copy(rows, host);
  return rows;
}

/// f = A u for u_i = random_value(i).
template <class Space, class Scalar>
void apply(const Space &space, const PoissonWork &work, const OwnedArray<Scalar, Space> &f)
{
  const Index nx = work.n[0], ny = work.n[1], nz = work.n[2];
  const int dimension = work.dimension();
  const double shift  = work.shift;
  const auto rows     = rows_of(space, operator_of(work));
  Kokkos::parallel_for(
      "weft bench apply", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, work.unknowns()), KOKKOS_LAMBDA(const Index i) {
        const Index n[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny}, at[3] = {i % nx, i / nx % ny, i / nx / ny};
        const auto u = [](Index k) { return random_value(static_cast<std::uint64_t>(k)); };
        double sum = 0, weight = 1;
        Index first = 0;
        for (int d = 0; d < dimension; d++) { // sum is (T_x W_y W_z + W_x T_y W_z + ...) u of the directions so far
          const Index last = n[d] - 1, before = at[d] > 0 ? i - stride[d] : i + last * stride[d],
                      after       = at[d] < last ? i + stride[d] : i - last * stride[d];
          const double *const row = rows.data() + first + at[d];
          const double here       = row[0] * u(before) + row[n[d]] * u(i) + row[2 * n[d]] * u(after);
          sum                     = sum * row[3 * n[d]] + here * weight;
          weight *= row[3 * n[d]];
          first += 4 * n[d];
        }
        f(i) = static_cast<Scalar>(sum + shift * weight * u(i));
      });
  space.fence("weft bench apply");
}

template <class Space, class Scalar>
double error_of(const Space &space, const OwnedArray<Scalar, Space> &x, Index unknowns)
{
  double error = 0;
  Kokkos::parallel_reduce(
      "weft bench error", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, unknowns),
      KOKKOS_LAMBDA(const Index i, double &most) {
        const double e = Kokkos::abs(x(i) - random_value(static_cast<std::uint64_t>(i)));
        if (!(e <= most)) most = e;
      },
      Kokkos::Max<double>(error));
  return error;
}

/// Seconds of a call: the median of five timings of as many calls as take a while.
template <class Space>
double seconds(const Space &space, const std::function<void()> &body)
{
  Stopwatch<Space> watch(space);
  body();
  watch.start();
  body();
  const double once = watch.stop();
  const int repeats = std::clamp(static_cast<int>(0.02 / once), 1, 200);
  std::vector<double> times;
  for (int k = 0; k < (once > 1 ? 1 : 5); k++) {
    watch.start();
    for (int r = 0; r < repeats; r++) body();
    times.push_back(watch.stop() / repeats);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// A forward and a backward real transform by the vendor's library, or nothing.
template <class Space, class Scalar>
std::optional<double> transform_pair(const Space &, const PoissonWork &, OwnedArray<Scalar, Space> &, OwnedArray<Scalar, Space> &)
{
  return std::nullopt;
}
#if defined(KOKKOS_ENABLE_CUDA)
void check_cufft(cufftResult result, const char *what)
{
  if (result != CUFFT_SUCCESS) throw std::runtime_error(std::string(what) + " failed: " + std::to_string(result));
}
cufftResult forward_of(cufftHandle plan, double *f, double *modes)
{
  return cufftExecD2Z(plan, f, reinterpret_cast<cufftDoubleComplex *>(modes));
}
cufftResult forward_of(cufftHandle plan, float *f, float *modes)
{
  return cufftExecR2C(plan, f, reinterpret_cast<cufftComplex *>(modes));
}
cufftResult backward_of(cufftHandle plan, double *modes, double *u)
{
  return cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex *>(modes), u);
}
cufftResult backward_of(cufftHandle plan, float *modes, float *u)
{
  return cufftExecC2R(plan, reinterpret_cast<cufftComplex *>(modes), u);
}

template <class Scalar>
std::optional<double> transform_pair(const Kokkos::Cuda &space, const PoissonWork &work, OwnedArray<Scalar, Kokkos::Cuda> &f,
                                     OwnedArray<Scalar, Kokkos::Cuda> &u)
{
  constexpr bool single = std::is_same_v<Scalar, float>;
  if (work.unknowns() > (Index(1) << 28)) return std::nullopt; // its own work space would not fit beside the rest
  cufftHandle forward = 0, backward = 0;
  int n[3]       = {static_cast<int>(work.n[2]), static_cast<int>(work.n[1]), static_cast<int>(work.n[0])};
  int *const all = work.dimension() == 3 ? n : n + 1;
  check_cufft(cufftPlanMany(&forward, work.dimension(), all, nullptr, 1, 0, nullptr, 1, 0, single ? CUFFT_R2C : CUFFT_D2Z, 1),
              "cufftPlanMany");
  check_cufft(cufftPlanMany(&backward, work.dimension(), all, nullptr, 1, 0, nullptr, 1, 0, single ? CUFFT_C2R : CUFFT_Z2D, 1),
              "cufftPlanMany");
  check_cufft(cufftSetStream(forward, space.cuda_stream()), "cufftSetStream");
  check_cufft(cufftSetStream(backward, space.cuda_stream()), "cufftSetStream");
  const OwnedArray<Scalar, Kokkos::Cuda> modes("weft bench modes",
                                               static_cast<std::size_t>(2 * (work.n[0] / 2 + 1) * work.n[1] * work.n[2]));
  const double time = seconds(space, [&] {
    check_cufft(forward_of(forward, f.data(), modes.data()), "the forward transform of cuFFT");
    check_cufft(backward_of(backward, modes.data(), u.data()), "the backward transform of cuFFT");
  });
  cufftDestroy(forward);
  cufftDestroy(backward);
  return time;
}
#endif

template <class Scalar, class Space>
void measure(const Execution &execution, const Space &space, const PoissonWork &work, const std::vector<std::string> &methods)
{
  const auto size = static_cast<std::size_t>(work.unknowns() + work.unknowns() % 2);
  OwnedArray<Scalar, Space> f("weft bench f", size), u("weft bench u", size);
  const double copy = seconds(space, [&] { Kokkos::deep_copy(space, u, f); });
  apply(space, work, f);
  const auto pair = transform_pair(space, work, f, u);
  apply(space, work, f); // the backward transform may have used it up
  for (const std::string &method : methods) {
    DirectOptions options;
    options.method = method;
    const auto a   = operator_of(work);
    if (poisson_method_refuses(method, a, options)) continue;
    Stopwatch<Kokkos::DefaultHostExecutionSpace> set_up{Kokkos::DefaultHostExecutionSpace()};
    set_up.start();
    const auto solver   = DirectSolver<Scalar>::make(execution, a, options);
    const double before = set_up.stop();
    set_up.start();
    static_cast<void>(DirectSolver<Scalar>::make(execution, a, options, solver->bases()));
    const double again = set_up.stop();
    const double time  = seconds(space, [&] { solver->solve(f.data(), u.data()); });
    const double error = error_of(space, u, work.unknowns());
    std::printf("| %s | %s | %s | %.4g | %.2f | ", work.name().c_str(), work.conditions().c_str(), solver->facts().method.c_str(),
                1e3 * time, time / copy);
    if (pair)
      std::printf("%.4g | %.2f | ", 1e3 * *pair, *pair / time);
    else
      std::printf("| | ");
    std::printf("%.1e | %.3g | %.2f | %.3g |\n", error, before,
                static_cast<double>(solver->work_bytes()) / (sizeof(Scalar) * static_cast<double>(work.unknowns())), again);
    std::fflush(stdout);
  }
}

/// Couplings that grow and shrink by a third along the directions from `from` on, in place of constant ones.
void vary(SeparableOperator &a, int from)
{
  for (int k = from; k < a.dimension; k++) {
    Direction &d     = a.directions[k];
    const auto size  = static_cast<std::size_t>(d.n);
    const auto value = [&](std::size_t i) { return 1 + 0.3 * std::sin(7.0 * static_cast<double>(i) / static_cast<double>(size)); };
    for (std::size_t i = 0; i < size; i++) {
      d.lower[i]    = value(i);
      d.upper[i]    = value(i + 1);
      d.diagonal[i] = -value(i) - value(i + 1);
    }
  }
}

/// A row for each kind of coefficients: one call for `columns` right-hand sides beside as many calls.
template <class Space>
void measure_columns(const Execution &execution, const Space &space, const PoissonWork &work, const std::string &method, int columns)
{
  const Index size = work.unknowns();
  OwnedArray<double, Space> f("weft bench f", static_cast<std::size_t>(columns * size)), u("weft bench u", f.size());
  Kokkos::parallel_for(
      "weft bench columns", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, columns * size),
      KOKKOS_LAMBDA(const Index i) { f(i) = random_value(static_cast<std::uint64_t>(i)); });
  const std::pair<const char *, int> kinds[] = {
      {"constant", 3}, {"varying along the last", work.dimension() - 1}, {"varying along all", 0}};
  for (const auto &[kind, from] : kinds) {
    SeparableOperator a = operator_of(work);
    vary(a, from);
    DirectOptions options;
    options.method = method;
    if (poisson_method_refuses(method, a, options)) continue;
    const auto solver    = DirectSolver<double>::make(execution, a, options);
    const double before  = static_cast<double>(solver->work_bytes());
    const double each    = seconds(space, [&] {
      for (int k = 0; k < columns; k++) solver->solve(f.data() + k * size, u.data() + k * size);
    });
    const double at_once = seconds(space, [&] { solver->solve(f.data(), u.data(), columns, size); });
    std::printf("| %s | %s | %s | %.4g | %.4g | %.2f | %.2f |\n", work.name().c_str(), kind, solver->facts().method.c_str(), 1e3 * each,
                1e3 * at_once, at_once / each,
                (static_cast<double>(solver->work_bytes()) - before) / (sizeof(double) * static_cast<double>(size)));
    std::fflush(stdout);
  }
}

std::vector<std::string> words(const std::string &text, char between)
{
  std::vector<std::string> all;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, between);) all.push_back(word);
  return all;
}

int run_suite(int argc, char **argv)
{
  const Options options = options_of(argc, argv, "poisson");
  if (options.suite != "poisson") {
    std::fprintf(stderr, "%s: no suite is called '%s'\n", argv[0], options.suite.c_str());
    return 2;
  }
  const auto add_suite = [&](const auto &space) { PoissonSuite<std::decay_t<decltype(space)>>(options).add_all(); };
  return run_benchmarks(options, argc, argv, add_suite, [] {});
}

int print_table(int argc, char **argv)
{
  Memory memory = build_has_device ? Memory::device : Memory::host;
  bool quick = false, single = false;
  double stretch                   = 1;
  int columns                      = 0;
  std::vector<std::string> methods = {"auto", "partial"};
  std::vector<PoissonWork> works;
  for (Index n : {127, 255, 511, 1023, 2047, 4095, 4096, 4097, 8191, 8192}) works.push_back({{n, n, 1}, Ends::dirichlet, 0});
  works.push_back({{4097, 4097, 1}, Ends::neumann, -0.01});
  works.push_back({{4096, 4096, 1}, Ends::periodic, -0.01});
  works.push_back({{511, 511, 511}, Ends::dirichlet, 0});
  works.push_back({{513, 513, 513}, Ends::dirichlet, 0});
  works.push_back({{513, 513, 513}, Ends::neumann, -0.01});
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    if (takes_common(word, memory, quick)) continue;
    if (word.rfind("--methods=", 0) == 0)
      methods = words(word.substr(10), ',');
    else if (word.rfind("--columns=", 0) == 0)
      columns = std::stoi(word.substr(10));
    else if (word.rfind("--sizes=", 0) == 0) {
      works.clear();
      for (const std::string &size : words(word.substr(8), ',')) {
        const auto n = words(size, 'x');
        PoissonWork work{{std::stol(n[0]), std::stol(n[n.size() > 1 ? 1 : 0]), n.size() > 2 ? std::stol(n[2]) : 1}, Ends::dirichlet, 0};
        works.push_back(work);
      }
    } else if (word.rfind("--stretch=", 0) == 0) {
      stretch = std::stod(word.substr(10));
    } else if (word == "--single") {
      single = true;
    }
  }
  for (PoissonWork &work : works) {
    if (work.ends == Ends::dirichlet) work.stretch = stretch;
  }
  if (quick && works.size() > 4) works.resize(4);
  Kokkos::ScopeGuard guard(argc, argv);
  const Execution execution(memory);
  if (columns > 0) {
    std::printf(
        "%s, double, %d right-hand sides\n\n| grid | coefficients | method | one after the other, ms | one call, ms | times as long | more "
        "work space, words a point |\n|---|---|---|---|---|---|---|\n",
        execution.name().c_str(), columns);
    on_backend(execution, [&](const auto &space) {
      for (const PoissonWork &work : works) measure_columns(execution, space, work, methods.front(), columns);
    });
    return 0;
  }
  std::printf(
      "%s, %s\n\n| grid | ends | method | ms | x copy | cuFFT pair ms | times faster | error | set-up s | work space, words a point "
      "| again s |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      execution.name().c_str(), single ? "single" : "double");
  on_backend(execution, [&](const auto &space) {
    for (const PoissonWork &work : works)
      single ? measure<float>(execution, space, work, methods) : measure<double>(execution, space, work, methods);
  });
  return 0;
}

} // namespace

int main(int argc, char **argv)
{
  for (int k = 1; k < argc; k++)
    if (std::string(argv[k]).rfind("--suite=", 0) == 0) return run_suite(argc, argv);
  return print_table(argc, argv);
}
