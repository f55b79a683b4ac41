/// What relaxes a level: lines along one direction or several, colour by colour, or points. Lines or points of a colour do not couple, so that a
/// colour is solved for at once, in place: on a device, where lines of two colours will do, by LineRelaxation in one pass.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "boxmg/ranks/part.hpp"
#include "boxmg/restrict_residual.hpp"
#include "boxmg/small_levels.hpp"
#include "line/relax/line_relaxation.hpp"

namespace weft::boxmg {

/// The places along a direction that do not couple: even and odd ones, and the last one by itself where a ring of odd length closes; all of a stack.
inline std::vector<Region> classes(const Grid &grid, int direction, const std::vector<Region> &regions)
{
  if (grid.apart[direction]) return regions;
  const Index n   = grid.n[direction];
  const bool ring = grid.periodic[direction] && n > 1 && n % 2 != 0;
  std::vector<Region> all;
  for (const int parity : {0, 1}) {
    for (Region r : regions) {
      r.first[direction] = parity;
      r.step[direction]  = 2;
      r.count[direction] = (n - ring - parity + 1) / 2;
      if (r.nodes() > 0) all.push_back(r);
    }
  }
  if (!ring) return all;
  for (Region r : regions) {
    r.first[direction] = n - 1;
    r.count[direction] = 1;
    all.push_back(r);
  }
  return all;
}

/// to = from on some nodes.
template <class Space, class Scalar>
void copy(const Space &space, const Grid &grid, const Region &region, const Scalar *from, Scalar *to)
{
  over_runs(
      "weft boxmg copy", space, region, KOKKOS_LAMBDA(const Run &run) {
        const Index first = grid.n[0] * (run.y + grid.n[1] * run.z) + run.x;
        for (Index j = 0; j < run.count; j++) to[first + j * run.step] = from[first + j * run.step];
      });
}

/// x = rhs / diagonal on some nodes.
template <class Space, class Scalar>
void divide(const Space &space, const Operator<Scalar> &a, const Region &region, const Scalar *rhs, Scalar *x)
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

/// Or a line.
inline bool plane(const Grid &grid)
{
  return grid.n[0] == 1 || grid.n[1] == 1 || grid.n[2] == 1;
}

/// Whether a distance in memory tells the neighbour, and they ascend with the neighbours' numbers.
inline bool told_by_distance(const Grid &grid)
{
  for (int d = 0; d < 3; d++) {
    if (grid.periodic[d] || grid.n[d] == 2) return false;
  }
  return true;
}

template <class Scalar>
class Smoother {
public:
  /// Lines along the directions, in the order of a sweep, but those along which nothing couples; none: points. part: of a grid that ranks
  /// share; null: all of it is here.
  Smoother(const Execution &execution, const Grid &grid, const Stencil &stencil, const std::vector<int> &directions, const PartOfGrid *part)
      : execution_(execution), grid_(grid), stencil_(stencil), part_(part)
  {
    if (execution.memory() == Memory::device && told_by_distance(grid))
      matrix_ = std::make_unique<StencilMatrix<Scalar>>(execution, grid.nodes());
    const bool cross = part && std::any_of(directions.begin(), directions.end(), [&](int d) { return part->crosses(d); });
    for (const int d : directions) {
      Offset next;
      next.d[d] = 1;
      if (stencil.slot[next.number()] < 0) continue;
      if (matrix_ && !cross && !grid.stack() && (plane(grid) || is_star(stencil))) // colours begin anew in each piece of a stack
        add_two_colours(d);
      else
        add_lines(d);
    }
    if (colours_.empty() && lines_.empty()) add_points();
  }

  /// New values of the operator, which stay where they are as long as sweeps follow. Waits where lines are relaxed in one pass.
  void factor(const Operator<Scalar> &a) { factor(a, &LineRelaxation<Scalar>::factor); }
  /// The same of values that are expected to be like those before; if as_expected(), they are. Does not wait.
  void refactor(const Operator<Scalar> &a) { factor(a, &LineRelaxation<Scalar>::refactor); }
  /// Waits.
  bool as_expected()
  {
    return std::all_of(lines_.begin(), lines_.end(), [](const Lines &lines) { return lines.relaxation->as_expected(); });
  }
  /// Whether some line has an unusable pivot, for all lines at once: found becomes 1 or 0. Does not wait. False where lines do not tell so: the caller asks
  /// bad_node(), which waits for each colour.
  template <class Space>
  bool look_for_bad_pivots([[maybe_unused]] const Space &space, [[maybe_unused]] const Result<int, Space> &found) const
  {
    if constexpr (is_host_space<Space>) {
      return false; // where nothing is gained
    } else {
      constexpr int most = 12;
      Kokkos::Array<const Index *, most> flags{};
      int count = 0;
      if (!lines_.empty()) return false;
      for (const auto &lines : colours_) {
        if (!lines.solver) continue;
        if (!lines.solver->pivot_flag() || count == most) return false;
        flags[count++] = lines.solver->pivot_flag();
      }
      Kokkos::parallel_for(
          "weft boxmg pivots", range(space, 1), KOKKOS_LAMBDA(Index) {
            bool bad = false;
            for (int k = 0; k < count; k++) bad = bad || *flags[k] != no_bad_pivot;
            found() = bad;
          });
      return true;
    }
  }
  /// The first node with an unusable pivot that this rank knows of, by its number in the whole grid. Waits. All lines are asked, since ranks that share some
  /// answer together.
  std::optional<Index> bad_node() const
  {
    std::optional<Index> first;
    for (const auto &lines : lines_) {
      const auto bad = lines.relaxation->bad_pivot();
      if (!bad || first) continue;
      const LineLayout &layout = lines.relaxation->solver().layout();
      const Index node         = layout.start(bad->line) + bad->row * layout.stride;
      first                    = part_ ? part_->whole_node(node) : node;
    }
    for (const auto &lines : colours_) {
      const auto bad = lines.solver ? lines.solver->bad_pivot() : std::nullopt;
      if (bad && !first) first = node_of(lines, *bad);
    }
    return first;
  }

  /// One sweep over all colours, in their order or the opposite one. zero: as if x were 0 everywhere before it. b is kept. r: work space.
  /// omega: by which the first of two colours is relaxed, where two_colours_alone(); none: lines in space may be of four.
  template <class Space>
  void sweep(const Space &space, const Operator<Scalar> &a, Scalar *b, Scalar *x, Scalar *r, bool backward, bool zero, Transpose transpose,
             const std::optional<RealOf<Scalar>> &omega) const
  {
    constexpr std::size_t chessboard[4] = {0, 3, 1, 2};
    if (!lines_.empty()) {
      sweep_in_one_pass(space, b, x, backward, zero, transpose, omega.value_or(1));
      return;
    }
    if (zero) Kokkos::deep_copy(space, Array<Scalar, Space>(x, static_cast<std::size_t>(grid_.nodes())), Scalar(0));
    const auto *part = static_cast<const RankPart<Space> *>(part_);
    if (part && zero) part->all_right();
    for (std::size_t k = 0; k < colours_.size(); k++) {
      const std::size_t place = backward ? colours_.size() - 1 - k : k;
      const Nodes &colour     = colours_[omega && colours_.size() == 4 ? chessboard[place] : place];
      if (part && !(zero && k == 0)) part->need(space, x, 1);
      const bool first          = zero && k == 0; // then x of the other lines is 0: b is all, and x the place where it is solved with
      const RealOf<Scalar> here = colour.of_first ? omega.value_or(1) : 1;
      const bool owned_only     = part && part->crosses(colour.direction);
      if (colour.solver && !owned_only && transpose == Transpose::no && SmallLevels<Space, Scalar>::relaxes(grid_, colour.direction)) {
        SmallLevels<Space, Scalar>::relax(space, a, colour.direction, colour.region, first, here, b, x);
        if (part) part->relaxed(first, false);
        continue;
      }
      Scalar *const rhs = first ? x : r;
      const bool add    = !first && here != 1;
      if (first)
        copy(space, grid_, colour.region, b, x);
      else
        subtract(space, a, colour.region, add ? all_neighbours(a.stencil) : colour.others, b, x, r, transpose);
      if (colour.solver)
        colour.solver->solve(rhs + colour.offset, x + colour.offset, {{here, add}, Colour::all, transpose});
      else
        divide(space, a, colour.region, rhs, x);
      if (part) part->relaxed(first, owned_only);
    }
  }

  /// Lines along one direction, of two colours, are all that a sweep relaxes. (In space a chessboard's.)
  bool two_colours_alone() const
  {
    const std::vector<int> all = directions();
    return all.size() == 1 && are_of_two_colours(all.front());
  }
  /// Whether lines go on from one rank to another.
  bool crosses() const
  {
    return std::any_of(colours_.begin(), colours_.end(),
                       [&](const Nodes &colour) { return part_ && colour.solver && part_->crosses(colour.direction); });
  }
  /// Lines of two colours, each relaxed in one pass.
  bool in_one_pass() const { return !lines_.empty(); }
  /// In the plane, where the lines that a sweep ends with are of two colours.
  std::optional<TwoColours> two_colours() const
  {
    const std::vector<int> all = directions();
    if (all.empty() || !plane(grid_.piece())) return std::nullopt;
    const int along = all.back();
    for (int across = 0; across < 3; across++) {
      const Index n = grid_.piece().n[across];
      if (across != along && n > 1 && !(grid_.periodic[across] && n % 2 != 0))
        return TwoColours{along, across, off_the_line(stencil_, along), all.size() == 1};
    }
    return std::nullopt;
  }

  /// The operator, where distances tell the neighbours; else null.
  const StencilMatrix<Scalar> *matrix() const { return matrix_.get(); }
  /// r = b - A x, or b - A^T x.
  template <class Space>
  void residual(const Space &space, const Operator<Scalar> &a, const Scalar *b, const Scalar *x, Scalar *r, Transpose transpose) const
  {
    if (matrix_)
      matrix_->residual(b, x, r, nullptr, transpose);
    else
      subtract(space, a, Region::all(a.grid), all_neighbours(a.stencil), b, x, r, transpose);
  }

  /// Of the lines, in the order of a sweep; none: points.
  std::vector<int> directions() const
  {
    std::vector<int> all;
    for (const auto &lines : lines_) all.push_back(lines.direction);
    for (const auto &lines : colours_) {
      if (lines.solver && (all.empty() || all.back() != lines.direction)) all.push_back(lines.direction);
    }
    return all;
  }
  /// Of the lines' factors, as far as methods keep some: those of Thomas are two words a row.
  double bytes() const
  {
    double sum = 0;
    for (const auto &lines : colours_) {
      if (lines.solver && execution_.memory() == Memory::host) sum += 2.0 * sizeof(Scalar) * static_cast<double>(lines.layout.rows());
    }
    return sum;
  }
  double flops() const
  {
    double sum = 2.0 * stencil_.count * static_cast<double>(grid_.nodes());
    for (const auto &lines : lines_) sum += lines.relaxation->solver().flops();
    for (const auto &lines : colours_) sum += lines.solver ? lines.solver->flops() : 0;
    return sum;
  }

private:
  void factor(const Operator<Scalar> &a, void (LineRelaxation<Scalar>::*take)())
  {
    if (matrix_) matrix_->use(a.values, a.pitch, {a.distances, a.distances + stencil_.count});
    for (auto &lines : lines_) (*lines.relaxation.*take)();
    for (auto &lines : colours_) {
      if (!lines.solver) continue;
      const auto coefficients = [&](int by) {
        Offset o;
        o.d[lines.direction] = by;
        return a.values + stencil_.slot[o.number()] * a.pitch + lines.offset;
      };
      lines.solver->use(coefficients(-1), coefficients(0), coefficients(1));
      lines.solver->factor();
    }
  }
  /// All lines along a direction, of two colours.
  struct Lines {
    int direction;
    std::unique_ptr<LineRelaxation<Scalar>> relaxation;
  };
  void add_two_colours(int direction)
  {
    const Index first[3] = {0, 0, 0};
    lines_.push_back(
        {direction, std::make_unique<LineRelaxation<Scalar>>(*matrix_, LineProblem(lines_of_box(direction, grid_.n, 1, first)))});
  }
  template <class Space>
  void sweep_in_one_pass(const Space &space, Scalar *b, Scalar *x, bool backward, bool zero, Transpose transpose,
                         RealOf<Scalar> omega) const
  {
    const auto *part = static_cast<const RankPart<Space> *>(part_);
    if (part && zero) part->all_right();
    Guess guess = zero ? Guess::zero : Guess::given;
    for (std::size_t k = 0; k < lines_.size(); k++) {
      const auto &lines = *lines_[backward ? lines_.size() - 1 - k : k].relaxation;
      for (Colour colour : {Colour::even, Colour::odd}) {
        if (backward) colour = colour == Colour::even ? Colour::odd : Colour::even;
        if (colour == Colour::odd && lines.solver().layout().count() == 1) continue;
        const bool alone = guess == Guess::zero;
        if (part && !alone) part->need(space, x, 1);
        lines.relax(b, x, {colour == Colour::even ? omega : 1, colour, guess, transpose});
        if (part) part->relaxed(alone, false);
        guess = alone ? Guess::zero_lines : Guess::given;
      }
    }
  }

  /// Lines of one colour, or points.
  struct Nodes {
    int direction;     ///< -1: points
    Neighbours others; ///< that the nodes are not solved with
    Region region;
    Index offset                             = 0;     ///< of the solver's lines in the level's arrays
    bool of_first                            = false; ///< of the first colour, where there are two
    std::unique_ptr<AnyLines<Scalar>> solver = nullptr;
    LineLayout layout                        = {};
  };

  /// Whether lines are of two colours: in the plane, and those of a star in space as a chessboard has them, but where rings of odd length are across.
  bool are_of_two_colours(int direction) const
  {
    if (grid_.stack() || !(plane(grid_) || is_star(stencil_))) return false;
    for (int d = 0; d < 3; d++) {
      if (d != direction && grid_.periodic[d] && grid_.n[d] % 2 != 0) return false;
    }
    return true;
  }
  /// Two colours in the plane. In space four, by the parity along each direction across: lines may couple to those a step away along both. A chessboard's
  /// two are two of them each.
  void add_lines(int direction)
  {
    const int across[2]     = {direction == 0 ? 1 : 0, direction == 2 ? 1 : 2};
    const Index first[3]    = {0, 0, 0};
    const LineLayout whole  = lines_of_box(direction, grid_.n, 1, first);
    const bool two          = are_of_two_colours(direction);
    const auto is_first     = [&](const Region &lines) { return (lines.first[across[0]] + lines.first[across[1]]) % 2 == 0; };
    std::vector<Region> all = classes(grid_, across[1], classes(grid_, across[0], {Region::all(grid_)}));
    for (Region lines : all) {
      const bool of_first = two && is_first(lines);
      LineProblem problem(whole);
      const bool crosses = part_ && part_->crosses(direction);
      if (crosses) lines = part_->owned_of(lines);
      problem.periodic = grid_.periodic[direction];
      for (int k = 0; k < 2; k++) {
        problem.layout.across[k] = lines.count[across[k]];
        problem.layout.across_stride[k] *= lines.step[across[k]];
      }
      Nodes nodes{direction, off_the_line(stencil_, direction), lines, grid_.node(lines.first), of_first};
      if (crosses && lines.nodes() > 0) {
        problem.layout.length = lines.count[direction];
        problem.periodic      = part_->parts.whole.periodic[direction];
        part_->ranks.make_lines(execution_, part_->parts, direction, problem, nodes.solver);
      } else if (!crosses) {
        nodes.solver = LineSolver<Scalar>::make(execution_, problem, "auto");
      }
      nodes.layout = problem.layout;
      colours_.push_back(std::move(nodes));
    }
  }
  /// The node of a row, in the whole grid.
  Index node_of(const Nodes &lines, const LineRow &row) const
  {
    const Index start = lines.offset + lines.layout.start(row.line);
    if (!part_) return start + row.row * lines.layout.stride;
    if (!part_->crosses(lines.direction)) return part_->whole_node(start + row.row * lines.layout.stride);
    Index at[3];
    part_->parts.whole.position(part_->whole_node(start), at);
    at[lines.direction] = row.row;
    return part_->parts.whole.node(at);
  }
  void add_points()
  {
    for (const Region &points : classes(grid_, 2, classes(grid_, 1, classes(grid_, 0, {Region::all(grid_)}))))
      colours_.push_back({-1, off_the_line(stencil_, -1), points});
  }

  const Execution &execution_;
  Grid grid_;
  Stencil stencil_;
  const PartOfGrid *part_;
  std::vector<Nodes> colours_;
  std::unique_ptr<StencilMatrix<Scalar>> matrix_; ///< the operator, where distances tell the neighbours
  std::vector<Lines> lines_;                      ///< instead of colours_
};

} // namespace weft::boxmg
