/// Block-tridiagonal lines: made, checked and solved by BlockLineSolver.
#pragma once
#include <stdexcept>

#include "line/blocks/block_line_solver.hpp"
#include "methods.hpp"

namespace weft::bench {

/// Random lines of blocks that are diagonally dominant by rows. Copy number `copy` begins at element copy * lines.layout.span() of
/// right-hand sides and solutions, and at entry copy * lines.coefficient_size() of the coefficients.
template <class Space, class Scalar>
struct BlockProblems {
  BlockLines lines;
  int copies = 0;
  OwnedArray<Scalar, Space> lower, diagonal, upper, rhs, solution;

  Scalar *of(const OwnedArray<Scalar, Space> &array, int copy) const { return array.data() + copy * lines.layout.span(); }
  const Scalar *blocks_of(const OwnedArray<Scalar, Space> &array, int copy) const { return array.data() + copy * lines.coefficient_size(); }
};

template <class Space, class Scalar>
BlockProblems<Space, Scalar> make_block_problems(const Space &space, const BlockLines &lines)
{
  const Index b = lines.layout.components, nodes = lines.layout.rows() / b;
  BlockProblems<Space, Scalar> problems;
  problems.lines  = lines;
  problems.copies = copies_beyond_cache<Space>(words_of_row(Coefficients::general, static_cast<int>(b)) * Index(sizeof(Scalar)) * nodes);
  for (auto *array : {&problems.rhs, &problems.solution}) *array = make_array<Space, Scalar>(problems.copies * lines.layout.span());
  for (auto *array : {&problems.lower, &problems.diagonal, &problems.upper})
    *array = make_array<Space, Scalar>(problems.copies * lines.coefficient_size());
  const auto lower = problems.lower, diagonal = problems.diagonal, upper = problems.upper, rhs = problems.rhs;
  using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;
  Kokkos::parallel_for(
      "weft bench blocks", Range(space, 0, problems.copies * lines.coefficient_size()), KOKKOS_LAMBDA(const Index k) {
        const auto counter     = 4 * static_cast<std::uint64_t>(k);
        const bool on_diagonal = k / b % b == k % b;
        const double at_least  = on_diagonal ? 3.0 * static_cast<double>(b) : 0; // no less than the other 3 b - 1 entries together
        const double on_or_off = random_value(counter + 1);
        lower(k)               = static_cast<Scalar>(random_value(counter));
        diagonal(k)            = static_cast<Scalar>(on_or_off < 0 ? on_or_off - at_least : on_or_off + at_least);
        upper(k)               = static_cast<Scalar>(random_value(counter + 2));
      });
  Kokkos::parallel_for(
      "weft bench block rhs", Range(space, 0, problems.copies * lines.layout.span()),
      KOKKOS_LAMBDA(const Index i) { rhs(i) = static_cast<Scalar>(random_value(4 * static_cast<std::uint64_t>(i) + 3)); });
  space.fence("weft bench block problems");
  return problems;
}

/// The largest |T x - rhs| of a row of any copy, relative to |T| |x| + |rhs|; infinite where x is not finite.
template <class Space, class Scalar>
double largest_block_residual(const Space &space, const BlockProblems<Space, Scalar> &problems)
{
  double largest         = 0;
  const double infinity  = std::numeric_limits<double>::infinity();
  const BlockLines lines = problems.lines;
  const Index b = lines.layout.components, rows = lines.layout.rows(), span = lines.layout.span(), size = lines.coefficient_size();
  const auto lower = problems.lower, diagonal = problems.diagonal, upper = problems.upper, rhs = problems.rhs, x = problems.solution;
  Kokkos::parallel_reduce(
      "weft bench block residual", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problems.copies * rows),
      KOKKOS_LAMBDA(const Index number, double &worst) {
        const Index copy = number / rows, node = number % rows / b, p = number % b;
        const Index line = node / lines.layout.length, row = node % lines.layout.length, stride = lines.layout.stride;
        const Index element = lines.start(line) + row * stride, i = copy * span + element, k = copy * size + element * b + p * b;
        double sum = -static_cast<double>(rhs(i + p)), scale = Kokkos::abs(sum);
        const auto add = [&](const auto &blocks, Index neighbour) {
          for (Index q = 0; q < b; q++) {
            const double term = static_cast<double>(blocks(k + q)) * static_cast<double>(x(neighbour + q));
            sum += term;
            scale += Kokkos::abs(term);
          }
        };
        if (row > 0) add(lower, i - stride);
        add(diagonal, i);
        if (row + 1 < lines.layout.length) add(upper, i + stride);
        const double error = scale > 0 ? Kokkos::abs(sum) / scale : scale; // 0 = 0 holds, NaN stays
        worst              = Kokkos::max(worst, Kokkos::isfinite(error) ? error : infinity);
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// Factors and solves, or solves with factors made before.
template <class Space, class Scalar>
class BlockWork final : public Work {
public:
  BlockWork(const BlockProblems<Space, Scalar> &problems, const MethodSpec &method, Operation operation)
      : problems_(problems), execution_(memory_of<Space>()), operation_(operation)
  {
    Kokkos::deep_copy(space_, problems_.solution, std::numeric_limits<Scalar>::quiet_NaN());
    for (int k = 0; k < (operation == Operation::solve ? problems.copies : 1); k++) {
      solvers_.push_back(BlockLineSolver<Scalar>::make(execution_, problems.lines, method.name, method.parameters));
      use(*solvers_.back(), k);
      solvers_.back()->factor();
      if (solvers_.back()->bad_pivot()) throw std::runtime_error(method.text() + " finds a pivot unusable");
    }
  }
  int copies() const override { return problems_.copies; }
  void run(int copy) override
  {
    BlockLineSolver<Scalar> &solver = *solvers_[operation_ == Operation::solve ? static_cast<std::size_t>(copy) : 0];
    if (operation_ == Operation::one_shot) {
      use(solver, copy);
      solver.solve_once(problems_.of(problems_.rhs, copy), problems_.of(problems_.solution, copy));
    } else {
      solver.solve(problems_.of(problems_.rhs, copy), problems_.of(problems_.solution, copy));
    }
  }
  double error() override { return largest_block_residual(space_, problems_); }
  std::string label() const override { return solvers_.front()->method(); }

private:
  void use(BlockLineSolver<Scalar> &solver, int copy) const
  {
    const auto &p = problems_;
    solver.use(p.blocks_of(p.lower, copy), p.blocks_of(p.diagonal, copy), p.blocks_of(p.upper, copy));
  }

  Space space_;
  BlockProblems<Space, Scalar> problems_;
  Execution execution_;
  Operation operation_;
  std::vector<std::unique_ptr<BlockLineSolver<Scalar>>> solvers_;
};

} // namespace weft::bench
