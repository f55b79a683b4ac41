// Times the tridiagonal methods on a backend of this build, beside copies and the library that one would call instead. scripts/bench.py runs
// this and makes tables. Options of its own, before Google Benchmark's: --suite=NAME --backend=host|device --quick
// --portable[=NAME] (common_options.hpp) --filter=REGEX (which keeps the copies).
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/kernel_scalar.hpp"
#include "blocks.hpp"
#include "lapack.hpp"
#include "methods.hpp"
#include "program.hpp"
#include "request.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include "cusparse.hpp"
#endif

namespace {

using namespace weft;
using namespace weft::bench;

/// The largest residual that is rounding.
double rounding_of(Values values, double epsilon)
{
  if (values == Values::uniform) return std::sqrt(epsilon);
  if (not_dominant(values)) return 0.1;      // what methods without pivoting make of these is part of the table
  if (values == Values::poisson) return 0.1; // how many digits long lines lose is what these are for
  return 1000 * epsilon;
}

/// Whether a library stands beside the methods of this backend: LAPACK on a host, for real numbers, and cuSPARSE on CUDA.
template <class Space, class Scalar>
inline constexpr bool has_rivals = std::is_same_v<Space, HostBackend> && !is_complex<Scalar>;
#if defined(KOKKOS_ENABLE_CUDA)
template <class Scalar>
inline constexpr bool has_rivals<Kokkos::Cuda, Scalar> = true;
#endif

template <class Space>
class Suite {
public:
  explicit Suite(const Options &options) : options_(options), effort_(options.effort()) {}

  void add(const Request &request)
  {
    for (const std::string &precision : request.precisions) {
      if (precision == "fp64")
        add<DoubleScalar>(request);
      else
        add<SingleScalar>(request);
    }
  }

private:
  template <class Scalar>
  void add(const Request &request)
  {
    if (is_complex<Scalar> && request.block > 1) return; // blocks are measured with real numbers
    Case what;
    what.backend          = Space::name();
    what.precision        = (is_complex<Scalar> ? "complex-fp" : "fp") + std::to_string(8 * sizeof(RealOf<Scalar>));
    what.size             = request.size;
    what.layout           = request.contiguous ? "contiguous" : "strided";
    what.coefficients     = request.coefficients_text();
    what.bytes_of_row     = words_of_row(request.coefficients, request.block) * static_cast<int>(sizeof(Scalar));
    const double rounding = rounding_of(request.values, std::numeric_limits<RealOf<Scalar>>::epsilon());
    for (const Operation operation : request.operations) {
      what.work      = text_of(operation);
      what.tolerance = rounding;
      for (const MethodSpec &method : request.methods) {
        if (request.block == 1)
          add_method<Scalar>(what, request, operation, method);
        else if constexpr (!is_complex<Scalar>)
          add_block_method<Scalar>(what, request, operation, method);
      }
      if constexpr (has_rivals<Space, Scalar>) {
        for (const std::string &rival : request.rivals(operation)) {
          what.method    = rival;
          what.tolerance = std::numeric_limits<double>::max(); // how wrong it is, is part of the comparison
          add_checked(what, [=]() -> std::unique_ptr<Work> { return make_rival(problems<Scalar>(what, request), rival); });
        }
      }
    }
  }

  /// A method that refuses such lines has no row; one that is not in this build has a row that says so.
  template <class Scalar>
  void add_method(Case what, const Request &request, Operation operation, const MethodSpec &method)
  {
    what.method = method.text();
    if (!options_.keeps(what)) return;
    if (method.name != "auto") {
      const auto names = tridiagonal_method_names();
      if (std::find(names.begin(), names.end(), method.name) == names.end()) return add_missing(what, "not in this build");
      if (tridiagonal_method_refuses(method.name, request.lines(), method.parameters)) return;
    }
    add_checked(what, [=]() -> std::unique_ptr<Work> {
      const auto &input = problems<Scalar>(what, request);
      if (operation == Operation::one_shot) return std::make_unique<OneShotWork<Space, Scalar>>(input, method);
      return std::make_unique<FactoredWork<Space, Scalar>>(input, method);
    });
  }

  template <class Scalar>
  void add_block_method(Case what, const Request &request, Operation operation, const MethodSpec &method)
  {
    what.method = method.text();
    add_checked(what, [=]() -> std::unique_ptr<Work> {
      const BlockLines lines(request.lines().layout);
      const auto &input =
          common_input<BlockProblems<Space, Scalar>>(what, [&] { return make_block_problems<Space, Scalar>(Space(), lines); });
      return std::make_unique<BlockWork<Space, Scalar>>(input, method, operation);
    });
  }

  void add_checked(const Case &what, const MakeWork &make)
  {
    if (options_.keeps(what)) bench::add<Space>(what, effort_, make);
  }

  template <class Scalar>
  static const Problems<Space, Scalar> &problems(const Case &what, const Request &request)
  {
    return common_input<Problems<Space, Scalar>>(what,
                                                 [&] { return make_problems<Space, Scalar>(Space(), request.lines(), request.values); });
  }

  Options options_;
  Effort effort_;
};

void describe(const Options &options)
{
  if (options.memory == Memory::host) benchmark::AddCustomContext("LAPACK", lapack_version());
#if defined(KOKKOS_ENABLE_CUDA)
  if (options.memory == Memory::device) benchmark::AddCustomContext("cuSPARSE", CusparseHandle().version());
#endif
}

} // namespace

int main(int argc, char **argv)
{
  const Options options = options_of(argc, argv, "main");
  const auto add_suite  = [&](const auto &space) {
    Suite<std::decay_t<decltype(space)>> suite(options);
    for (const Request &request : bench::suite(options.suite, options.memory)) suite.add(request);
  };
  return run_benchmarks(options, argc, argv, add_suite, [&] { describe(options); });
}
