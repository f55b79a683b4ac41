// Times every tridiagonal method of select.hpp on every backend of this build, in both precisions, beside a copy kernel and the library
// that one would call instead. scripts/bench.py runs this and makes tables of ratios.
#include "backend.hpp"
#include "lapack.hpp"
#include "methods.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include "cusparse.hpp"
#endif

namespace {

using namespace weft;
using namespace weft::bench;

/// Lines x rows. One long line has one layout only.
const std::vector<Size> host_sizes{{256, 256}, {1024, 1024}, {4096, 256}, {1, 1 << 20}};
const std::vector<Size> device_sizes{{65536, 256}, {16384, 1024}, {4096, 4096}, {1024, 16384}, {64, 262144}, {1, 1 << 24}};

/// x lines of a grid follow each other in memory; the rows of y lines are as far apart as there are lines.
LineLayout lines_of(const Size &size, bool contiguous)
{
  const Index origin[3] = {0, 0, 0}, x_lines[3] = {size.rows, size.lines, 1}, y_lines[3] = {size.lines, size.rows, 1};
  return contiguous ? lines_of_box(0, x_lines, 1, origin) : lines_of_box(1, y_lines, 1, origin);
}

/// The methods, and what a library has for the same: `what` lacks the name of the method only.
template <class Space, class Scalar>
void add_solvers(Case what, const LineLayout &layout, Operation operation)
{
  for_each_tridiagonal_method([&](auto method) {
    using Method = decltype(method);
    what.method  = Method::name;
    add<Space>(what, [=] { return std::make_unique<MethodWork<Method, Space, Scalar>>(layout, operation); });
  });
  if constexpr (std::is_same_v<Space, HostBackend>) {
    what.method = operation == Operation::one_shot ? "lapack:gtsv" : "lapack:gttrs";
    add<Space>(what, [=]() -> std::unique_ptr<Work> {
      if (operation == Operation::one_shot) return std::make_unique<LapackOneShot<Scalar>>(layout);
      return std::make_unique<LapackSolve<Scalar>>(layout);
    });
  }
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    if (operation != Operation::one_shot) return;
    what.method = std::string("cusparse:") + cusparse_function(layout);
    add<Space>(what, [=] { return std::make_unique<CusparseWork<Scalar>>(layout); });
  }
#endif
}

template <class Space, class Scalar>
void add_precision(const std::vector<Size> &sizes)
{
  for (const Size &size : sizes) {
    Case what;
    what.backend   = Space::name();
    what.precision = "fp" + std::to_string(8 * sizeof(Scalar));
    what.size      = size;

    what.layout       = "flat";
    what.work         = "copy";
    what.method       = "kokkos";
    what.bytes_of_row = CopyWork<Space, Scalar>::words * sizeof(Scalar);
    add<Space>(what, [=] { return std::make_unique<CopyWork<Space, Scalar>>(what.rows()); });

    what.bytes_of_row = Problem<Space, Scalar>::words * sizeof(Scalar);
    what.tolerance    = 1000 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    for (const bool contiguous : {true, false}) {
      if (!contiguous && size.lines == 1) continue;
      what.layout = contiguous ? "contiguous" : "strided";
      for (const Operation operation : {Operation::one_shot, Operation::solve}) {
        what.work = operation == Operation::one_shot ? "one-shot" : "solve";
        add_solvers<Space, Scalar>(what, lines_of(size, contiguous), operation);
      }
    }
  }
}

template <class Space>
void add_backend(const std::vector<Size> &sizes)
{
  add_precision<Space, double>(sizes);
  add_precision<Space, float>(sizes);
}

/// What the tables should say about where they were made.
void describe()
{
  const int threads = HostBackend().concurrency();
  benchmark::AddCustomContext(HostBackend::name(), std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  benchmark::AddCustomContext("LAPACK", lapack_version());
#if defined(KOKKOS_ENABLE_CUDA)
  benchmark::AddCustomContext(Kokkos::Cuda::name(), Kokkos::Cuda().cuda_device_prop().name);
  benchmark::AddCustomContext("cuSPARSE", CusparseHandle().version());
#endif
}

} // namespace

int main(int argc, char **argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  describe();
  add_backend<HostBackend>(host_sizes);
  if constexpr (build_has_device) add_backend<DeviceBackend>(device_sizes);
  const std::size_t count = benchmark::RunSpecifiedBenchmarks();
  release_work();
  return count > 0 ? 0 : 1;
}
