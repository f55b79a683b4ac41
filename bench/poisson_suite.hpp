/// The suite of poisson_bench: the tables of the paper on Buneman's method on GPUs, how errors grow with the grid, and the order of the
/// discretization. A benchmark is called BACKEND/PRECISION/NxQ/ENDS/SOLUTION/WORK/METHOD: N rows of Q points.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "poisson_problem.hpp"
#include "program.hpp"

namespace weft::bench {

/// A problem in the memory of a backend, its right-hand side several times.
template <class Space, class Scalar>
struct PoissonInput {
  SeparableOperator a;
  Index points, pitch; ///< from one right-hand side to the next
  int copies;
  OwnedArray<Scalar, Space> rhs;
  OwnedArray<double, Space> exact;

  explicit PoissonInput(const PoissonProblem &problem)
      : a(problem.a), points(static_cast<Index>(problem.rhs.size())), pitch(points + points % 2),
        copies(copies_beyond_cache<Space>(2 * points * static_cast<Index>(sizeof(Scalar)))), rhs(make_array<Space, Scalar>(copies * pitch)),
        exact(make_array<Space, double>(points))
  {
    const std::vector<Scalar> rounded(problem.rhs.begin(), problem.rhs.end());
    const Kokkos::View<const Scalar *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host_rhs(rounded.data(), rounded.size());
    const Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host_exact(problem.solution.data(),
                                                                                              problem.solution.size());
    for (int copy = 0; copy < copies; copy++) Kokkos::deep_copy(part(rhs, copy), host_rhs);
    Kokkos::deep_copy(exact, host_exact);
  }
  template <class Array>
  auto part(const Array &array, int copy) const
  {
    return Kokkos::subview(array, std::make_pair(copy * pitch, copy * pitch + points));
  }
};

/// The largest difference; infinite where one is not a number.
template <class Space, class Scalar>
double largest_difference(const Space &space, const Array<const Scalar, Space> &u, const Array<const double, Space> &exact)
{
  double most = 0;
  Kokkos::parallel_reduce(
      "weft bench error", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(exact.extent(0))),
      KOKKOS_LAMBDA(const Index i, double &error) {
        const double e = Kokkos::abs(static_cast<double>(u(i)) - exact(i));
        if (!(e <= error)) error = e <= 1.7e308 ? e : Kokkos::Experimental::infinity_v<double>;
      },
      Kokkos::Max<double>(most));
  return most;
}

/// Solves with tables made before. With transfers, right-hand side and solution are those of the host.
template <class Space, class Scalar>
class PoissonWork final : public Work {
public:
  PoissonWork(const PoissonInput<Space, Scalar> &input, const DirectOptions &options, bool transfers)
      : input_(input), execution_(std::is_same_v<Space, HostBackend> ? Memory::host : Memory::device),
        solver_(DirectSolver<Scalar>::make(execution_, input.a, options)), solution_(make_array<Space, Scalar>(input.copies * input.pitch))
  {
    if (solver_->facts().bad_pivot) throw std::runtime_error(options.method + " finds a pivot unusable");
    if (!transfers) return;
    from_ = HostArray("weft bench host", static_cast<std::size_t>(input.points));
    to_   = HostArray("weft bench host", static_cast<std::size_t>(input.points));
    Kokkos::deep_copy(from_, input.part(input.rhs, 0));
  }
  int copies() const override { return input_.copies; }
  void run(int copy) override
  {
    const auto rhs = input_.part(input_.rhs, copy), solution = input_.part(solution_, copy);
    if (from_.size() > 0) Kokkos::deep_copy(space_, rhs, from_);
    solver_->solve(rhs.data(), solution.data());
    if (to_.size() > 0) Kokkos::deep_copy(space_, to_, solution);
  }
  double error() override
  {
    double most = 0;
    for (int copy = 0; copy < input_.copies; copy++)
      most = std::max(most, largest_difference<Space, Scalar>(space_, input_.part(solution_, copy), input_.exact));
    return most;
  }
  std::string label() const override { return solver_->facts().method; }

private:
  using HostArray = Kokkos::View<Scalar *, Kokkos::HostSpace>;
  const PoissonInput<Space, Scalar> &input_;
  Space space_;
  Execution execution_;
  Owner<DirectSolver<Scalar>> solver_;
  OwnedArray<Scalar, Space> solution_;
  HostArray from_, to_;
};

template <class Space>
class PoissonSuite {
public:
  explicit PoissonSuite(const Options &options) : options_(options) {}

  void add_all()
  {
    // The paper's rows of fixed N, then its squares (from 127 on); smaller ones show where errors begin to grow.
    for (const Index n : {3, 7, 15, 31, 63, 127})
      for (Index q = n < 127 ? 127 : 255; q <= 4095; q = 2 * q + 1) add_random({n, q}, {"auto", "partial", "buneman1"});
    for (Index n = 3; n <= 4095; n = 2 * n + 1) {
      std::vector<std::string> methods{"auto", "partial", "buneman1", "buneman2", "separable"};
      if (n <= 1023) methods.push_back("plain"); // nothing but NaN beyond
      add_random({n, n}, methods);
    }
    for (const Boundary boundary : all_boundaries)
      for (Index intervals = 16; intervals <= 512; intervals *= 2) add_smooth(boundary, intervals);
  }

private:
  void add_random(Size size, const std::vector<std::string> &methods)
  {
    const auto make      = [=] { return random_poisson(size); };
    const auto tolerance = [](const std::string &method, double rounding) { return method == "plain" ? infinite : rounding; };
    for (const std::string &method : methods) add<double>(size, "dirichlet", "random", make, method, tolerance(method, 1e-11));
    for (const std::string &method : methods) add<float>(size, "dirichlet", "random", make, method, tolerance(method, 0.02));
  }
  void add_smooth(Boundary boundary, Index intervals)
  {
    const Index n = points_of(boundary, intervals);
    add<double>(
        {n, n}, name_of(boundary), "smooth", [=] { return smooth_poisson(boundary, intervals); }, "auto", 1);
  }

  template <class Scalar>
  void add(Size size, const char *ends, const char *solution, const std::function<PoissonProblem()> &make, const std::string &method,
           double tolerance)
  {
    Case what;
    what.backend      = Space::name();
    what.precision    = "fp" + std::to_string(8 * sizeof(Scalar));
    what.size         = size;
    what.layout       = ends;
    what.coefficients = solution;
    what.method       = method;
    what.bytes_of_row = 2 * static_cast<int>(sizeof(Scalar));
    what.tolerance    = tolerance;
    const bool device = !std::is_same_v<Space, HostBackend> && what.coefficients == "random" && method == "auto";
    for (const bool transfers : {false, true}) {
      what.work = transfers ? "with-transfers" : "solve";
      if ((transfers && !device) || !options_.keeps(what)) continue;
      DirectOptions options;
      options.method = method;
      bench::add<Space>(what, options_.effort(), [=]() -> std::unique_ptr<Work> {
        const auto &input = common_input<PoissonInput<Space, Scalar>>(what, [&] { return PoissonInput<Space, Scalar>(make()); });
        return std::make_unique<PoissonWork<Space, Scalar>>(input, options, transfers);
      });
    }
  }

  static constexpr double infinite = std::numeric_limits<double>::infinity();
  Options options_;
};

} // namespace weft::bench
