/// Random lines with coefficients of every form, what their solutions must be, and a LineSolver on each backend to solve them.
#pragma once
#include "line/line_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "reference/tridiagonal.hpp"

namespace weft::test {

inline LineLayout strided(Index length, Index count, Index gap = 0)
{
  LineLayout layout;
  layout.length           = length;
  layout.across[0]        = count;
  layout.across_stride[0] = 1;
  layout.stride           = count + gap;
  return layout;
}

inline LineLayout contiguous(Index length, Index count, Index gap = 0)
{
  LineLayout layout;
  layout.length           = length;
  layout.across[0]        = count;
  layout.across_stride[0] = length + gap;
  return layout;
}

/// Random diagonally dominant lines. Coefficients that are not to be read are NaN.
template <class Scalar>
struct Lines {
  using Values = std::vector<Scalar>;
  LineProblem problem;
  Values lower, diagonal, upper, rhs, start;

  Lines(const LineProblem &lines, std::mt19937 &random, int many = 1) : problem(lines)
  {
    const auto size = static_cast<std::size_t>(problem.coefficient_size()), span = static_cast<std::size_t>(layout().span());
    lower    = random_values<Scalar>(size, random);
    upper    = random_values<Scalar>(size, random);
    diagonal = random_values<Scalar>(size, random, 0.1, 1);
    rhs      = random_values<Scalar>(span * static_cast<std::size_t>(many), random);
    start    = random_values<Scalar>(span * static_cast<std::size_t>(many), random);
    // A row's transpose has the neighbours' couplings: a diagonal that dominates both keeps tolerances honest.
    for (std::size_t i = 0; i < size; i++)
      diagonal[i] = RealOf<Scalar>(i % 3 ? 1 : -1) * (diagonal[i] + modulus(lower[i]) + modulus(upper[i]));
    if (problem.periodic || size == 0 || (problem.coefficients == Coefficients::constant && problem.closure == 0)) return;
    for (Index line = 0; line < layout().count(); line++) {
      lower[at(line, 0)]                   = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();
      upper[at(line, layout().length - 1)] = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();
    }
  }
  const LineLayout &layout() const { return problem.layout; }
  /// Of the right-hand side and the solution.
  std::size_t element(Index line, Index row) const { return static_cast<std::size_t>(layout().start(line) + row * layout().stride); }
  /// Of the coefficients.
  std::size_t at(Index line, Index row) const
  {
    return static_cast<std::size_t>(problem.coefficient(row, layout().start(line) + row * layout().stride));
  }

  /// The coefficients of a line, transposed if asked.
  void line_of(Index line, Transpose transpose, Values &l, Values &d, Values &u) const
  {
    const std::size_t n = static_cast<std::size_t>(layout().length);
    l = d = u = Values(n);
    for (std::size_t row = 0; row < n; row++) {
      const std::size_t k = at(line, static_cast<Index>(row));
      l[row]              = lower[k];
      d[row]              = diagonal[k];
      u[row]              = upper[k];
    }
    if (transpose == Transpose::no) return;
    std::rotate(l.begin(), l.begin() + 1, l.end());
    std::rotate(u.begin(), u.end() - 1, u.end());
    std::swap(l, u);
  }
  Values solution_of(Index line, Transpose transpose, const Values &line_rhs) const
  {
    Values l, d, u;
    line_of(line, transpose, l, d, u);
    return problem.periodic ? reference::solve_periodic(l, d, u, line_rhs) : reference::solve_tridiagonal(l, d, u, line_rhs);
  }

  /// What the solution array must hold after a solve from `before`.
  Values expected(const SolveOptions<Scalar> &options, const Values &before) const
  {
    Values result = before;
    for (Index line = 0; line < layout().count(); line++) {
      if (!layout().has_colour(line, options.colour)) continue;
      for (int k = 0; k < options.nrhs; k++) {
        const auto offset = static_cast<std::size_t>(k * options.ld);
        Values b(static_cast<std::size_t>(layout().length));
        for (std::size_t row = 0; row < b.size(); row++) b[row] = rhs[offset + element(line, static_cast<Index>(row))];
        const Values z = solution_of(line, options.transpose, b);
        for (std::size_t row = 0; row < b.size(); row++) {
          Scalar &x = result[offset + element(line, static_cast<Index>(row))];
          x         = options.update.scale * z[row] + (options.update.add ? x : Scalar(0));
        }
      }
    }
    return result;
  }
};

/// An array in one of them.
template <class Scalar>
class Buffer {
public:
  Buffer(Memory memory, const std::vector<Scalar> &values) : memory_(memory)
  {
    if (memory == Memory::host)
      host_ = to_backend<HostSpace>(values);
    else
      device_ = to_backend<DeviceSpace>(values);
  }
  Scalar *data() const { return memory_ == Memory::host ? host_.data() : device_.data(); }
  std::vector<Scalar> values() const { return memory_ == Memory::host ? to_host(host_) : to_host(device_); }

private:
  using HostSpace   = Kokkos::DefaultHostExecutionSpace;
  using DeviceSpace = Kokkos::DefaultExecutionSpace;
  Memory memory_;
  Kokkos::View<Scalar *, HostSpace::memory_space> host_;
  Kokkos::View<Scalar *, DeviceSpace::memory_space> device_;
};

/// A solver with the coefficients of some lines.
template <class Scalar>
struct Solving {
  Execution execution;
  const std::unique_ptr<LineSolver<Scalar>> made;
  LineSolver<Scalar> &solver;
  Buffer<Scalar> lower, diagonal, upper;

  Solving(const Lines<Scalar> &lines, const std::string &method, Memory memory, const MethodParameters &parameters = {})
      : execution(memory), made(LineSolver<Scalar>::make(execution, lines.problem, method, parameters)), solver(*made),
        lower(memory, lines.lower), diagonal(memory, lines.diagonal), upper(memory, lines.upper)
  {
    solver.use(lower.data(), diagonal.data(), upper.data());
  }
};

/// Makes rows `row` and row + 1 of a line a singular block of their own: each is usable alone, and what elimination leaves of the other is
/// rounding error or nothing.
template <class Scalar>
void make_singular(Lines<Scalar> &lines, Index line, Index row, std::mt19937 &random)
{
  const std::size_t first = lines.at(line, row), second = lines.at(line, row + 1);
  const auto values  = random_values<Scalar>(3, random, 0.5, 2);
  lines.lower[first] = lines.upper[second] = 0;
  lines.diagonal[first]                    = values[0];
  lines.upper[first]                       = values[1];
  lines.lower[second]                      = values[2];
  lines.diagonal[second]                   = values[1] * values[2] / values[0];
}

/// How a solve is called.
enum class Call { solve, in_place, once };

/// Solves by the method and compares with the serial twin, element by element.
template <class Scalar>
void check(const Lines<Scalar> &lines, const std::string &method, Memory memory, const SolveOptions<Scalar> &options = {},
           Call call = Call::solve, const MethodParameters &parameters = {})
{
  const LineLayout &layout = lines.layout();
  SCOPED_TRACE(testing::Message() << method << (memory == Memory::host ? " on the host, " : " on the device, ") << sizeof(Scalar)
                                  << " bytes, length " << layout.length << ", count " << layout.count() << ", stride " << layout.stride
                                  << ", coefficients " << static_cast<int>(lines.problem.coefficients) << ", closure "
                                  << lines.problem.closure << ", periodic " << lines.problem.periodic << ", add " << options.update.add
                                  << ", colour " << static_cast<int>(options.colour) << ", transposed "
                                  << (options.transpose == Transpose::yes) << ", many " << options.nrhs << ", call "
                                  << static_cast<int>(call) << ", steps " << parameters.steps << ", switch " << parameters.switch_rows
                                  << ", partitions " << parameters.partitions << ", slice " << parameters.slice);
  if (tridiagonal_method_refuses(method, lines.problem, parameters) || !sampled()) return;
  Solving<Scalar> s(lines, method, memory, parameters);
  const Buffer<Scalar> rhs(memory, lines.rhs), separate(memory, lines.start);
  const Buffer<Scalar> &solution   = call == Call::in_place ? rhs : separate;
  const std::vector<Scalar> before = call == Call::in_place ? lines.rhs : lines.start;
  if (call != Call::once) s.solver.factor();
  if (call == Call::once)
    s.solver.solve_once(rhs.data(), solution.data(), options);
  else
    s.solver.solve(rhs.data(), solution.data(), options);
  ASSERT_FALSE(s.solver.bad_pivot());

  const std::vector<Scalar> got = solution.values(), expected = lines.expected(options, before);
  const RealOf<Scalar> tolerance = 400 * std::numeric_limits<RealOf<Scalar>>::epsilon();
  for (std::size_t i = 0; i < got.size(); i++) {
    ASSERT_LE(modulus(got[i] - expected[i]), tolerance * (1 + modulus(expected[i])))
        << "element " << i << ": " << got[i] << ", not " << expected[i];
  }
  if (!options.update.add && call != Call::in_place) {
    EXPECT_EQ(rhs.values(), lines.rhs) << "the right-hand side must be kept";
  }
}

/// Calls body(method's name, scalar, memory) for every method, precision and backend.
template <class Body>
void for_each_method(Body &&body)
{
  for (const char *method : tridiagonal_method_names()) {
    for (Memory memory : memories()) {
      body(method, SingleScalar(), memory);
      body(method, KernelScalar(), memory);
    }
  }
}

/// Calls body(scalar, memory) for both precisions on every backend.
template <class Body>
void for_each_scalar(Body &&body)
{
  for (Memory memory : memories()) {
    body(SingleScalar(), memory);
    body(KernelScalar(), memory);
  }
}

/// A row of zeros at every place of a line of 60 rows: the method must report that line and that row.
template <class Scalar>
void check_the_row_of_a_bad_pivot(const char *method, Memory memory, const MethodParameters &parameters, std::mt19937 &random)
{
  for (Index row = 0; row < 60; row++) {
    Lines<Scalar> lines(contiguous(60, 3), random);
    const std::size_t i = lines.at(1, row);
    lines.diagonal[i] = lines.lower[i] = lines.upper[i] = 0;
    Solving<Scalar> s(lines, method, memory, parameters);
    s.solver.factor();
    const auto found = s.solver.bad_pivot();
    ASSERT_TRUE(found) << method << " partitions " << parameters.partitions << " slice " << parameters.slice << " row " << row;
    EXPECT_EQ(found->line, 1) << method << " partitions " << parameters.partitions << " slice " << parameters.slice << " row " << row;
    EXPECT_EQ(found->row, row) << method << " partitions " << parameters.partitions << " slice " << parameters.slice;
  }
}

/// The forms of coefficients, each periodic and not.
inline std::vector<LineProblem> forms_of(const LineLayout &layout)
{
  std::vector<LineProblem> forms;
  for (bool periodic : {false, true}) {
    LineProblem problem(layout);
    problem.periodic = periodic;
    forms.push_back(problem);
    problem.coefficients = Coefficients::shared;
    forms.push_back(problem);
    problem.coefficients = Coefficients::constant;
    for (Index closure : {0, 1, 2}) {
      problem.closure = closure;
      if (2 * closure <= layout.length) forms.push_back(problem);
    }
  }
  return forms;
}

} // namespace weft::test
