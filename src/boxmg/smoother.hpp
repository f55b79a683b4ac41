/// What relaxes a level: lines along one direction or several, colour by colour, or points. Colours are those of one step away: lines or points
/// of a colour do not couple, so that a colour is solved for at once, in place.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "boxmg/residual.hpp"
#include "line/line_solver.hpp"

namespace weft::boxmg {

/// Lines of one colour along a direction.
template <class Scalar>
struct LineColour {
  int direction;
  std::vector<Region> regions; ///< their nodes
  LineSolver<Scalar> *solver;
  Index offset; ///< of the solver's lines in the level's arrays
  Colour colour;
};

template <class Scalar>
class Smoother {
public:
  /// Lines along the directions, in the order of a sweep; none: points.
  Smoother(const Execution &execution, const Grid &grid, const Stencil &stencil, const std::vector<int> &directions)
      : execution_(execution), grid_(grid), stencil_(stencil)
  {
    for (const int d : directions) add_lines(d);
    if (directions.empty()) add_points();
  }

  /// New values of the operator, which stay where they are as long as sweeps follow. Does not wait.
  void factor(const Operator<Scalar> &a)
  {
    for (auto &lines : lines_) {
      const auto coefficients = [&](int by) {
        Offset o;
        o.d[lines.direction] = by;
        const int slot       = stencil_.slot[o.number()];
        return a.values + (slot < 0 ? stencil_.centre() : slot) * a.pitch + lines.offset;
      };
      lines.solver->use(coefficients(-1), coefficients(0), coefficients(1));
      lines.solver->factor();
    }
  }
  /// The first node with an unusable pivot. Waits.
  std::optional<Index> bad_node() const
  {
    for (const auto &lines : lines_) {
      if (const auto bad = lines.solver->bad_pivot()) {
        const LineLayout &layout = lines.solver->layout();
        return lines.offset + layout.start(bad->line) + bad->row * layout.stride;
      }
    }
    return std::nullopt;
  }

  /// One sweep over all colours, in their order or the opposite one. zero: x is 0 everywhere before it. r: work space.
  template <class Space>
  void sweep(const Space &space, const Operator<Scalar> &a, const Scalar *b, Scalar *x, Scalar *r, bool backward, bool zero,
             Transpose transpose) const
  {
    for (std::size_t k = 0; k < colours_.size(); k++) {
      const LineColour<Scalar> &colour = colours_[backward ? colours_.size() - 1 - k : k];
      const bool first                 = zero && k == 0;
      if (!first) {
        const Neighbours others = off_the_line(stencil_, colour.direction);
        for (const Region &region : colour.regions) subtract(space, a, region, others, b, x, r, transpose);
      }
      const Scalar *const rhs = first ? b : r;
      if (colour.solver)
        colour.solver->solve(rhs + colour.offset, x + colour.offset, {{}, colour.colour, transpose});
      else
        for (const Region &region : colour.regions) divide(space, a, region, rhs, x);
    }
  }

  std::vector<int> directions() const
  {
    std::vector<int> all;
    for (const auto &lines : lines_) {
      if (all.empty() || all.back() != lines.direction) all.push_back(lines.direction);
    }
    return all;
  }
  /// Of the lines' factors, as far as methods keep some: those of Thomas are two words a row.
  double bytes() const
  {
    double sum = 0;
    for (const auto &lines : lines_)
      sum += execution_.memory() == Memory::host ? 2.0 * sizeof(Scalar) * static_cast<double>(lines.solver->layout().rows()) : 0;
    return sum;
  }
  double flops() const
  {
    double sum = 2.0 * stencil_.count * static_cast<double>(grid_.nodes());
    for (const auto &lines : lines_) sum += lines.solver->flops();
    return sum;
  }

private:
  struct Lines {
    int direction;
    Index offset;
    std::unique_ptr<LineSolver<Scalar>> solver;
  };

  void add_solver(int direction, const LineLayout &layout, Index offset)
  {
    LineProblem problem(layout);
    problem.periodic = grid_.periodic[direction];
    lines_.push_back({direction, offset, std::make_unique<LineSolver<Scalar>>(execution_, problem, "auto")});
  }
  Region region(const int (&across)[2], int parity, int other_parity) const
  {
    return Region::all(grid_).every_second(across[0], parity).every_second(across[1], other_parity);
  }
  /// Two colours in the plane. In space four, by the parity along each direction across, with solvers of their own: lines may couple to those a step
  /// away along both, and where they do not four colours still take 8 iterations where a chessboard's two take 10, since the last colour of
  /// a sweep is the first one after the correction, and gains nothing there.
  void add_lines(int direction)
  {
    const int across[2]    = {direction == 0 ? 1 : 0, direction == 2 ? 1 : 2};
    const Index first[3]   = {0, 0, 0};
    const LineLayout whole = lines_of_box(direction, grid_.n, 1, first);
    if (grid_.n[across[0]] == 1 || grid_.n[across[1]] == 1) {
      add_solver(direction, whole, 0);
      LineSolver<Scalar> *const solver = lines_.back().solver.get();
      for (const int c : {0, 1}) {
        std::vector<Region> regions{region(across, c, 0), region(across, 1 - c, 1)};
        std::erase_if(regions, [](const Region &r) { return r.nodes() == 0; });
        if (!regions.empty()) colours_.push_back({direction, regions, solver, 0, static_cast<Colour>(c)});
      }
      return;
    }
    for (const int q : {0, 1}) {
      for (const int p : {0, 1}) {
        const Region lines = region(across, p, q);
        if (lines.nodes() == 0) continue;
        LineLayout layout = whole;
        layout.across[0]  = lines.count[across[0]];
        layout.across[1]  = lines.count[across[1]];
        for (Index &stride : layout.across_stride) stride *= 2;
        const Index offset = p * whole.across_stride[0] + q * whole.across_stride[1];
        add_solver(direction, layout, offset);
        colours_.push_back({direction, {lines}, lines_.back().solver.get(), offset, Colour::all});
      }
    }
  }
  /// By parity along each direction.
  void add_points()
  {
    for (int c = 0; c < 8; c++) {
      Region points = Region::all(grid_);
      for (int d = 0; d < 3; d++) points.every_second(d, c >> d & 1);
      if (points.nodes() > 0) colours_.push_back({-1, {points}, nullptr, 0, Colour::all});
    }
  }
  template <class Space>
  static void divide(const Space &space, const Operator<Scalar> &a, const Region &region, const Scalar *rhs, Scalar *x)
  {
    const Grid grid = a.grid;
    over_runs(
        "weft boxmg points", space, region, KOKKOS_LAMBDA(const Run &run) {
          const Index row = grid.n[0] * (run.y + grid.n[1] * run.z);
          for (Index j = 0; j < run.count; j++) {
            const Index i = row + run.x + j * run.step;
            x[i]          = rhs[i] / a.diagonal(i);
          }
        });
  }

  const Execution &execution_;
  Grid grid_;
  Stencil stencil_;
  std::vector<Lines> lines_;
  std::vector<LineColour<Scalar>> colours_;
};

} // namespace weft::boxmg
