#include "poisson_problem.hpp"

#include "problem.hpp"
#include "reference/separable.hpp"

namespace weft::bench {

PoissonProblem random_poisson(Size size)
{
  PoissonProblem problem;
  problem.a.directions[0] = direction_of(Boundary::dirichlet, size.rows, 1);
  problem.a.directions[1] = direction_of(Boundary::dirichlet, size.lines, 1);
  problem.solution.resize(static_cast<std::size_t>(size.lines * size.rows));
  for (std::size_t i = 0; i < problem.solution.size(); i++) problem.solution[i] = random_value(i);
  problem.rhs = reference::apply(problem.a, problem.solution);
  return problem;
}

namespace {

/// g at the points of a direction, and its second derivative less what the conditions at the ends move to the right-hand side.
struct Smooth {
  Direction direction;
  std::vector<double> g, second;
};

Smooth smooth_direction(Boundary boundary, Index intervals, double length)
{
  const double h = length / static_cast<double>(intervals), c = 1 / (h * h), two_pi = 2 * std::acos(-1.0);
  const Index n     = points_of(boundary, intervals);
  const bool ring   = boundary == Boundary::periodic;
  const bool cells  = boundary == Boundary::cells_neumann || boundary == Boundary::cells_dirichlet;
  const bool begins = boundary == Boundary::neumann || boundary == Boundary::neumann_dirichlet || ring; // with a point on the end
  const double wave = two_pi / length, first = cells ? 0.5 : begins ? 0 : 1;
  Smooth s{direction_of(boundary, n, h), {}, {}};
  for (Index i = 0; i < n; i++) {
    const double t = (static_cast<double>(i) + first) * h, sine = std::sin(wave * t), cosine = std::cos(wave * t);
    s.g.push_back(std::exp(ring ? sine : t));
    s.second.push_back((ring ? wave * wave * (cosine * cosine - sine) : 1) * s.g.back());
  }
  const auto dirichlet = [&](double &f, double end) { f -= c * end; };
  const auto neumann   = [&](double &f, double outward) { f -= 2 / h * outward; };
  double &low = s.second.front(), &high = s.second.back();
  const double end = std::exp(length); // of g and of its derivative; 1 and 1 at the beginning
  switch (boundary) {
  case Boundary::dirichlet:
    dirichlet(low, 1), dirichlet(high, end);
    break;
  case Boundary::dirichlet_neumann:
    dirichlet(low, 1), neumann(high, end);
    break;
  case Boundary::neumann_dirichlet:
    neumann(low, -1), dirichlet(high, end);
    break;
  case Boundary::neumann:
    neumann(low, -1), neumann(high, end);
    break;
  case Boundary::cells_neumann: // half of what nodes move, which lie half as far from their mirror image
    neumann(low, -0.5), neumann(high, 0.5 * end);
    break;
  case Boundary::cells_dirichlet:
    dirichlet(low, 2), dirichlet(high, 2 * end);
    break;
  case Boundary::periodic:
    break;
  }
  return s;
}

} // namespace

PoissonProblem smooth_poisson(Boundary boundary, Index intervals)
{
  const Smooth x = smooth_direction(boundary, intervals, 1), y = smooth_direction(boundary, intervals, 2);
  PoissonProblem problem;
  problem.a.directions[0] = x.direction;
  problem.a.directions[1] = y.direction;
  problem.a.shift         = -1;
  for (std::size_t j = 0; j < y.g.size(); j++) {
    for (std::size_t i = 0; i < x.g.size(); i++) {
      problem.solution.push_back(x.g[i] * y.g[j]);
      problem.rhs.push_back(x.second[i] * y.g[j] + x.g[i] * y.second[j] - problem.solution.back());
    }
  }
  return problem;
}

} // namespace weft::bench
