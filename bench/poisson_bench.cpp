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
#include <string>

#include "base/backend.hpp"
#include "bcr/direct_solver.hpp"
#include "common_options.hpp"
#include "copy.hpp"
#include "poisson_suite.hpp"
#include "poisson_work.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include <cufft.h>
#endif

namespace {

using namespace weft;
using namespace weft::bench;

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
std::optional<double> transform_pair(const Space &, const BoxWork &, OwnedArray<Scalar, Space> &, OwnedArray<Scalar, Space> &)
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
std::optional<double> transform_pair(const Kokkos::Cuda &space, const BoxWork &work, OwnedArray<Scalar, Kokkos::Cuda> &f,
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
void measure(const Execution &execution, const Space &space, const BoxWork &work, const std::vector<std::string> &methods)
{
  const auto size = static_cast<std::size_t>(work.unknowns() + work.unknowns() % 2);
  OwnedArray<Scalar, Space> f("weft bench f", size), u("weft bench u", size);
  const double copy = seconds(space, [&] { Kokkos::deep_copy(space, u, f); });
  const auto a      = operator_of(work);
  apply(space, a, 0, work.unknowns(), f);
  const auto pair = transform_pair(space, work, f, u);
  apply(space, a, 0, work.unknowns(), f); // the backward transform may have used it up
  for (const std::string &method : methods) {
    DirectOptions options;
    options.method = method;
    if (poisson_method_refuses(method, a, options)) continue;
    Stopwatch<Kokkos::DefaultHostExecutionSpace> set_up{Kokkos::DefaultHostExecutionSpace()};
    set_up.start();
    const auto solver   = DirectSolver<Scalar>::make(execution, a, options);
    const double before = set_up.stop();
    set_up.start();
    static_cast<void>(DirectSolver<Scalar>::make(execution, a, options, solver->bases()));
    const double again = set_up.stop();
    const double time  = seconds(space, [&] { solver->solve(f.data(), u.data()); });
    const double error = error_of(space, u, 0, work.unknowns());
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
void measure_columns(const Execution &execution, const Space &space, const BoxWork &work, const std::string &method, int columns)
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
  std::vector<BoxWork> works;
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
      for (const std::string &size : words(word.substr(8), ',')) works.push_back(work_of(size));
    } else if (word.rfind("--stretch=", 0) == 0) {
      stretch = std::stod(word.substr(10));
    } else if (word == "--single") {
      single = true;
    }
  }
  for (BoxWork &work : works) {
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
      for (const BoxWork &work : works) measure_columns(execution, space, work, methods.front(), columns);
    });
    return 0;
  }
  std::printf(
      "%s, %s\n\n| grid | ends | method | ms | x copy | cuFFT pair ms | times faster | error | set-up s | work space, words a point "
      "| again s |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      execution.name().c_str(), single ? "single" : "double");
  on_backend(execution, [&](const auto &space) {
    for (const BoxWork &work : works)
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
