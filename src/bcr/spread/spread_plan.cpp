#include "bcr/spread/spread_plan.hpp"

#include <algorithm>
#include <cmath>

#include "bcr/detect/star.hpp"
#include "bcr/modes/mode_tables.hpp"
#include "bcr/reduction/facr.hpp"
#include "bcr/transforms/eigen.hpp"

namespace weft {

namespace {

/// A direction of the grid, also one of a single node, which a separation leaves out.
Direction direction_of(const Separation &separation, int d)
{
  if (separation.nodes[d] == 1) return {1, false, {0.0}, {0.0}, {0.0}, {}};
  int k = 0;
  for (int before = 0; before < d; before++) k += separation.nodes[before] > 1;
  return separation.separable.directions[k];
}

// Times of a transform of one point, one without small factors being a chirp, in units of that of a fast one; a row of a matrix product.
constexpr double chirp_time = 5, product_time = 1.0 / 16;
/// Rows of a matrix product for each process up to which it takes less time than `separable` on one, by their operations.
constexpr Index most_rows_of_product = 64;

/// Of transforms along a direction; nothing where there are none that `auto` or `facr` would take.
std::optional<double> transform_time(const Direction &direction, bool automatic, int processes)
{
  const poisson::LineMatrix line = poisson::line_matrix(direction);
  if (line.n == 1) return 0;
  if (const auto fast = poisson::fast_modes(line)) {
    const Index length = fast->to_modes.length;
    return poisson::fourier_plan(length)->board == length ? 1 : chirp_time;
  }
  if (poisson::eigen_basis_refused(line) || (automatic && line.n > most_rows_of_product * processes)) return std::nullopt;
  // Digits that are lost to eigenvectors of convection are worth more than any time.
  const double condition = poisson::eigenvector_condition(line);
  return chirp_time + product_time * static_cast<double>(line.n) + (condition > 1e3 ? 1e6 * std::log10(condition) : 0);
}

/// True where directions of more than one node come in the order of the grid.
bool in_order(const SpreadPlan &plan)
{
  int last = -1;
  for (int k = 0; k < 3; k++) {
    if (plan.grid[k] == 1) continue;
    if (plan.order[k] < last) return false;
    last = plan.order[k];
  }
  return true;
}

/// True where processes have slabs across a direction of the grid.
bool cut_across(const Owners &owners, int direction, int processes)
{
  const auto boxes = [&](int d) { return static_cast<int>(owners[static_cast<std::size_t>(d)].size()) - 1; };
  return boxes(direction) == processes && boxes(across(direction, 0)) == 1 && boxes(across(direction, 1)) == 1;
}

/// The slabs that processes have, where they have such and none is much larger than others; else nearly equal ones.
void cut(SpreadPlan &plan, const Owners &owners)
{
  if (cut_across(owners, plan.order[2], plan.processes)) {
    const std::vector<Index> &starts = owners[static_cast<std::size_t>(plan.order[2])];
    for (const Index start : starts) plan.starts.push_back(std::clamp<Index>(start - plan.first[2], 0, plan.nodes[2]));
    bool fits = true;
    for (int p = 0; p < plan.processes; p++) {
      const Share has{starts[static_cast<std::size_t>(p)], starts[static_cast<std::size_t>(p) + 1]};
      fits = fits && plan.layers(p) == has && plan.rows(p).size() <= plan.nodes[2] / plan.processes * 5 / 4 + 2;
    }
    plan.in_place = fits && in_order(plan);
    if (fits) return;
    plan.starts.clear();
  }
  for (int p = 0; p <= plan.processes; p++) plan.starts.push_back(plan.nodes[2] * p / plan.processes);
}

} // namespace

Share SpreadPlan::layers(int process) const
{
  const Share inner = rows(process);
  if (inner.empty()) return {};
  return {inner.begin == 0 ? 0 : first[2] + inner.begin, inner.end == nodes[2] ? grid[2] : first[2] + inner.end};
}

std::optional<SpreadPlan> spread_plan(const Separation &separation, const DirectOptions &options, int processes, const Owners &owners)
{
  const bool automatic = options.method == "auto";
  if (processes == 1 || separation.size() == 0 || options.levels > 0) return std::nullopt;
  if (!automatic && options.method != poisson::Facr::name) return std::nullopt;
  double least = 0;
  std::optional<SpreadPlan> plan;
  for (int lines = 2; lines >= 0; lines--) {
    if (separation.nodes[lines] == 1 || separation.nodes[lines] == separation.size()) continue;
    // The direction of one node last.
    int a = across(lines, 0), b = across(lines, 1);
    if (separation.nodes[a] == 1) std::swap(a, b);
    const auto time_a = transform_time(direction_of(separation, a), automatic, processes),
               time_b = transform_time(direction_of(separation, b), automatic, processes);
    if (!time_a || !time_b) continue;
    const double time = *time_a + *time_b + (poisson::equal_inside(poisson::line_matrix(direction_of(separation, lines))) ? 0 : 1) -
                        (cut_across(owners, lines, processes) ? 0.5 : 0); // else values have to be brought to slabs
    if (plan && time >= least) continue;
    least = time;
    plan.emplace();
    plan->processes = processes;
    plan->order[0] = a, plan->order[1] = b, plan->order[2] = lines;
  }
  if (!plan) return plan;
  for (int k = 0; k < 3; k++) {
    const int d    = plan->order[k];
    plan->grid[k]  = separation.grid[d];
    plan->first[k] = separation.first[d];
    plan->nodes[k] = separation.nodes[d];
  }
  cut(*plan, owners);
  return plan;
}

Separation slab_of(const Separation &whole, const SpreadPlan &plan, int process)
{
  const Share rows = plan.rows(process), layers = plan.layers(process);
  Separation slab;
  for (int k : {0, 1}) {
    slab.grid[k]  = plan.grid[k];
    slab.first[k] = plan.first[k];
    slab.nodes[k] = plan.nodes[k];
  }
  slab.grid[2]  = layers.size();
  slab.first[2] = rows.begin == 0 && !rows.empty() ? plan.first[2] : 0;
  slab.nodes[2] = rows.size();

  for (int k = 0; k < 3 && !rows.empty(); k++) {
    const int d = plan.order[k], a = across(k, 0), b = across(k, 1);
    for (int side : {0, 1}) {
      const FaceRows &from = whole.faces[d][side];
      const bool here      = k < 2 || (side == 0 ? rows.begin == 0 : rows.end == plan.nodes[2]);
      if (!from.eliminated() || !here) continue;
      FaceRows &to = slab.faces[k][side];
      Index at[3]  = {}; // over the whole grid, in its own order
      for (Index j = 0; j < slab.grid[b]; j++) {
        for (Index i = 0; i < slab.grid[a]; i++) {
          at[plan.order[a]]   = i;
          at[plan.order[b]]   = j + (b == 2 ? layers.begin : 0);
          const auto position = static_cast<std::size_t>(at[across(d, 0)] + whole.grid[across(d, 0)] * at[across(d, 1)]);
          to.diagonal.push_back(from.diagonal[position]);
          to.outward.push_back(from.outward[position]);
          to.inward.push_back(from.inward[position]);
        }
      }
    }
  }

  slab.separable.dimension = 3;
  slab.separable.shift     = whole.separable.shift;
  for (int k = 0; k < 3; k++) slab.separable.directions[k] = direction_of(whole, plan.order[k]);
  slab.symmetric = whole.symmetric;
  slab.unit      = whole.unit;
  slab.known     = whole.known;
  slab.deviation = whole.deviation;
  return slab;
}

} // namespace weft
