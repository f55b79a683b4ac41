#include "bcr/pencil/separate_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/backend.hpp"
#include "bcr/detect/walk.hpp"
#include "bcr/pencil/box_stencil.hpp"
#include "bcr/pencil/pencil_plan.hpp"

namespace weft {

using namespace pencils;

namespace {

constexpr double epsilon        = std::numeric_limits<double>::epsilon();
constexpr double of_tensor_form = 1e-10, of_tensor_form_but_for_digits = 1e-4; ///< deviations

/// body(at, values) as a body of a walk (walk.hpp): n sums over slabs, or sums and largest values over the box.
template <class Body, int n>
struct OfSlabs {
  Body body;
  static constexpr int slabs = n, sums = 0, maxima = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *slab, double *, double *) const { body(at, slab); }
};
template <class Body, int of_sums, int of_maxima>
struct OfBox {
  Body body;
  static constexpr int slabs = 0, sums = of_sums, maxima = of_maxima;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *sum, double *most) const
  {
    body(at, sums > 0 ? sum : most);
  }
};

template <class Space, class Int>
class BoxSeparator {
public:
  BoxSeparator(const Space &space, const GridMatrix<Int> &matrix, const AllRanks &all_ranks)
      : space_(space), all_ranks_(all_ranks), read_{StarReader<Space, Int>(space, matrix)}
  {
    std::copy_n(matrix.grid, 3, grid_);
  }

  /// False where the matrix is not of tensor form, or its pencils have no real eigenvectors.
  bool run(Separation &found)
  {
    const Box whole{{0, 0, 0}, {grid_[0], grid_[1], grid_[2]}};
    auto all       = total<looks>(whole, Combine::max, LookAtRows<Space, Int>{read_});
    found.unusable = all[not_finite];
    if (found.unusable > 0) return true;
    if (all[foreign] > 0) return false;
    if (all[largest] < 1e-20 || all[largest] > 1e20)
      read_.rows.per_unit = std::ldexp(1.0, std::clamp(-std::ilogb(all[largest]), -1021, 1021));
    found.unit    = 1 / read_.rows.per_unit;
    found.foreign = 0;
    for (int d = 0; d < 3; d++) {
      periodic_[d] = all[wraps + d] > 0;
      for (int side : {0, 1}) eliminated_[d][side] = grid_[d] > 2 && !periodic_[d] && all[coupled_faces + 2 * d + side] == 0;
      inner_.lo[d]   = eliminated_[d][0];
      inner_.hi[d]   = grid_[d] - eliminated_[d][1];
      found.first[d] = inner_.lo[d];
      found.nodes[d] = inner_.size(d);
    }
    if (found.size() == 0) return false;
    found.unusable = collect_faces(found);
    if (found.unusable > 0) return true;
    // A second place, as rows that are others may lie on the first one's lines; more where digits are missing: M and T may be more unlike
    // there.
    for (int place : {2, 1, 3, 0, 4}) {
      for (int d = 0; d < 3; d++) reference_[d] = inner_.lo[d] + std::min(place * inner_.size(d) / 4, inner_.size(d) - 1);
      PencilOperator op;
      if (!fit(op)) return false;
      const auto most = measure(op);
      if (accept(op, most, found)) return true;
      if (place != 2 && !(most[0] <= of_tensor_form_but_for_digits)) return false;
    }
    return false;
  }

  /// Whether the row in the middle of the grid couples to a neighbour along two directions or more.
  bool has_boxes() const
  {
    Box node;
    for (int d = 0; d < 3; d++) node.lo[d] = grid_[d] / 2, node.hi[d] = node.lo[d] + 1;
    const auto row = total<27>(node, Combine::sum, TakeRow<Space, Int>{read_});
    bool any       = false;
    for (int n = 0; n < 27; n++)
      any = any || (row[static_cast<std::size_t>(n)] != 0 &&
                    step_of(n, 0) * step_of(n, 0) + step_of(n, 1) * step_of(n, 1) + step_of(n, 2) * step_of(n, 2) > 1);
    return any;
  }

  bool symmetric() const
  {
    const auto sums = total<2>({{0, 0, 0}, {grid_[0], grid_[1], grid_[2]}}, Combine::sum, Asymmetry<Space, Int>{read_});
    return std::abs(sums[0]) <= 1e-13 * sums[1];
  }

private:
  /// True, and in `found`, where the matrix is that operator: but for a few rows, or for rows at the ends of two directions.
  bool accept(PencilOperator &op, const std::array<double, 3> &most, Separation &found) const
  {
    op.singular          = most[2] <= 64 * epsilon;
    double deviation     = std::max(most[0], most[1]);
    bool symmetric_there = op == transposed(op);
    if (!(deviation <= of_tensor_form)) {
      if (most[2] <= 1e-10) return false; // what is left of it would have no inverse, or one without digits
      if (collect_changed(op)) {
        const auto others = measure(op, of_tensor_form);
        deviation         = std::max(others[0], others[1]);
        for (const ChangedRow &row : op.changed) {
          for (int n = 0; n < 27; n++)
            symmetric_there = symmetric_there && row.scale == 1 && (n == BoxStencil::centre || row.more[static_cast<std::size_t>(n)] == 0);
        }
      } else if (!(most[0] <= of_tensor_form)) {
        return false;
      }
    }
    if (poisson::pencil_refused(op) || (!symmetric_there && poisson::pencil_refused(transposed(op)))) return false;
    found.deviation = deviation;
    found.symmetric = symmetric_there;
    found.pencil    = std::move(op);
    return true;
  }

  /// Sums on all ranks, for each index of direction d of the whole grid.
  template <std::size_t N, class Body>
  std::vector<std::array<double, N>> slabs(const Box &box, int d, const Body &body) const
  {
    std::vector<std::array<double, N>> all(static_cast<std::size_t>(grid_[d]), std::array<double, N>{});
    const Box mine  = box & read_.rows.part;
    using Sums      = OfSlabs<Body, static_cast<int>(N)>;
    const auto here = Walk<Space, Sums>::over(space_, mine, Sums{body}, {{d == 0, d == 1, d == 2}}).slabs[d];
    std::copy(here.begin(), here.end(), all.begin() + (here.empty() ? 0 : mine.lo[d]));
    if (all_ranks_) all_ranks_(all.data()->data(), all.size() * N, Combine::sum);
    return all;
  }

  template <std::size_t N, class Body>
  std::array<double, N> total(const Box &box, Combine how, const Body &body) const
  {
    const Box mine = box & read_.rows.part;
    std::array<double, N> all;
    if (how == Combine::sum) {
      using Sums = OfBox<Body, static_cast<int>(N), 0>;
      all        = Walk<Space, Sums>::over(space_, mine, Sums{body}).sums;
    } else {
      using Maxima = OfBox<Body, 0, static_cast<int>(N)>;
      all          = Walk<Space, Maxima>::over(space_, mine, Maxima{body}).most;
    }
    if (all_ranks_) all_ranks_(all.data(), N, how);
    return all;
  }

  /// Returns the number of rows that cannot be divided by.
  double collect_faces(Separation &found)
  {
    double unusable = 0;
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        if (!eliminated_[d][side]) continue;
        const auto area = static_cast<std::size_t>(grid_[across(d, 0)] * grid_[across(d, 1)]);
        CollectDirichlet<Space, Int> collect{read_, inner_, d, side, {}};
        collect.rows = decltype(collect.rows)("weft face rows", area);
        Box layers{{0, 0, 0}, {grid_[0], grid_[1], grid_[2]}};
        layers.lo[d] = side == 0 ? 0 : grid_[d] - 2;
        layers.hi[d] = layers.lo[d] + 2;
        unusable += total<1>(layers, Combine::sum, collect)[0];
        std::vector<double> all = to_host(space_, collect.rows.data(), static_cast<Index>(10 * area));
        if (all_ranks_) all_ranks_(all.data(), all.size(), Combine::sum);
        FaceRows &face = found.faces[d][side];
        for (std::size_t node = 0; node < area; node++) {
          face.diagonal.push_back(all[10 * node]);
          face.inward.insert(face.inward.end(), all.begin() + static_cast<std::ptrdiff_t>(10 * node + 1),
                             all.begin() + static_cast<std::ptrdiff_t>(10 * node + 10));
        }
      }
    }
    return unusable;
  }

  /// Entry n of the row in the middle, with steps along each direction.
  static std::size_t number(int p, int q, int r) { return static_cast<std::size_t>(BoxStencil::centre + p + 3 * q + 9 * r); }

  /// The block of the couplings of a line's rows to the line p steps away across it: entry number `across` + steps along d.
  poisson::LineMatrix block(const std::vector<std::array<double, 27>> &rows, int d, int away) const
  {
    constexpr int scale[3] = {1, 3, 9};
    poisson::LineMatrix line{inner_.size(d), periodic_[d], {}, {}, {}};
    for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
      const auto &row     = rows[static_cast<std::size_t>(i)];
      const auto coupling = [&](int step) { return row[static_cast<std::size_t>(BoxStencil::centre + away + step * scale[d])]; };
      line.lower.push_back(i == inner_.lo[d] && !periodic_[d] ? 0 : coupling(-1));
      line.diagonal.push_back(coupling(0));
      line.upper.push_back(i + 1 == inner_.hi[d] && !periodic_[d] ? 0 : coupling(1));
    }
    return line;
  }

  static double product(const poisson::LineMatrix &a, const poisson::LineMatrix &b)
  {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++) sum += a.lower[i] * b.lower[i] + a.diagonal[i] * b.diagonal[i] + a.upper[i] * b.upper[i];
    return sum;
  }
  static double entry(const poisson::LineMatrix &line, std::size_t i, int step)
  {
    return (step < 0 ? line.lower : step > 0 ? line.upper : line.diagonal)[i];
  }
  static double row_sum(const poisson::LineMatrix &line, std::size_t i) { return line.lower[i] + line.diagonal[i] + line.upper[i]; }

  /// Takes rounding from a symmetric matrix, as products of matrices leave it.
  static void make_symmetric(poisson::LineMatrix &line)
  {
    for (std::size_t i = 0; i < line.size(); i++) {
      const std::size_t next = i + 1 < line.size() ? i + 1 : 0;
      double &up = line.upper[i], &down = line.lower[next];
      if (std::abs(up - down) <= 64 * epsilon * std::max(line.row_size(i), line.row_size(next))) up = down = (up + down) / 2;
    }
  }

  /// Both matrices of a direction, and how the core is read from entries for `step` 0 and 1 steps along it.
  struct Axis {
    int step    = 0;            ///< of the second entry; 0: T is 0
    double g[4] = {1, 0, 0, 1}; ///< M and T in the middle row: of the diagonal, of the coupling
    double rest = 0;            ///< what of M was taken from T
  };

  /// Chooses the block T that is least like M, and the coupling of the middle row that tells them apart best.
  bool choose(const std::vector<std::array<double, 27>> &rows, int d, Pencil &pencil, Axis &axis) const
  {
    constexpr int scale[3] = {1, 3, 9};
    const auto at          = static_cast<std::size_t>(reference_[d] - inner_.lo[d]);
    auto &[m, t]           = pencil.matrix;
    m                      = block(rows, d, 0);
    make_symmetric(m);
    t = m;
    for (auto *diagonal : {&t.lower, &t.diagonal, &t.upper}) std::fill(diagonal->begin(), diagonal->end(), 0.0);
    if (inner_.size(d) == 1) {
      m.diagonal[0] = 1;
      return true;
    }
    const double of_m = product(m, m);
    if (!(of_m > 0) || m.diagonal[at] == 0) return false;
    double best = 1e-10;
    for (int q = -1; q <= 1; q++) {
      for (int r = -1; r <= 1; r++) {
        if (q == 0 && r == 0) continue;
        poisson::LineMatrix other = block(rows, d, q * scale[across(d, 0)] + r * scale[across(d, 1)]);
        const double like = product(other, m) / of_m, of_other = product(other, other);
        if (of_other == 0) continue;
        make_symmetric(other);
        poisson::LineMatrix left = other;
        for (std::size_t i = 0; i < m.size(); i++) {
          left.lower[i] -= like * m.lower[i];
          left.diagonal[i] -= like * m.diagonal[i];
          left.upper[i] -= like * m.upper[i];
        }
        const double unlike = std::sqrt(product(left, left) / of_other);
        if (unlike <= 1.01 * best) continue; // a later one must be worth it, so that rounding does not choose
        for (int step : {1, -1}) {
          const double determinant = m.diagonal[at] * entry(other, at, step) - other.diagonal[at] * entry(m, at, step);
          if (!(std::abs(determinant) > 1e-8 * m.row_size(at) * other.row_size(at))) continue;
          best      = unlike;
          t         = other;
          axis.step = step;
          break;
        }
      }
    }
    if (axis.step == 0) {
      axis.g[0] = m.diagonal[at];
      return true;
    }
    axis.g[0] = m.diagonal[at], axis.g[1] = t.diagonal[at], axis.g[2] = entry(m, at, axis.step), axis.g[3] = entry(t, at, axis.step);
    // A second difference in the middle: eigenvalues of smooth modes have the more digits.
    const double sum = row_sum(m, at);
    if (std::abs(sum) <= 1e-8 * m.row_size(at)) return true;
    axis.rest = row_sum(t, at) / sum;
    for (std::size_t i = 0; i < m.size(); i++) {
      t.lower[i] -= axis.rest * m.lower[i];
      t.diagonal[i] -= axis.rest * m.diagonal[i];
      t.upper[i] -= axis.rest * m.upper[i];
    }
    return true;
  }

  bool fit(PencilOperator &op) const
  {
    Axis axes[3];
    Box node;
    for (int d = 0; d < 3; d++) node.lo[d] = reference_[d], node.hi[d] = reference_[d] + 1;
    const auto row = total<27>(node, Combine::sum, TakeRow<Space, Int>{read_});
    for (int d = 0; d < 3; d++) {
      Box line;
      for (int other = 0; other < 3; other++) {
        line.lo[other] = other == d ? inner_.lo[d] : reference_[other];
        line.hi[other] = other == d ? inner_.hi[d] : reference_[other] + 1;
      }
      const auto rows = slabs<27>(line, d, TakeRow<Space, Int>{read_});
      if (!choose(rows, d, op.directions[d], axes[d])) return false;
    }
    for (int c = 0; c < 8; c++) {
      bool there = true;
      int steps[3];
      for (int d = 0; d < 3; d++) {
        const bool second = (c >> d) & 1;
        there             = there && (!second || axes[d].step != 0);
        steps[d]          = second ? axes[d].step : 0;
      }
      op.core[static_cast<std::size_t>(c)] = there ? row[number(steps[0], steps[1], steps[2])] : 0;
    }
    double sums = 1;
    for (int d = 0; d < 3; d++) {
      const Axis &axis         = axes[d];
      const double determinant = axis.g[0] * axis.g[3] - axis.g[1] * axis.g[2];
      for (std::size_t c = 0; c < 8; c++) {
        if ((c >> d) & 1) continue;
        double &of_m = op.core[c], &of_t = op.core[c + (std::size_t{1} << d)];
        const double centre = of_m, coupling = of_t;
        of_t = axis.step == 0 ? 0 : (axis.g[0] * coupling - axis.g[2] * centre) / determinant;
        of_m = axis.step == 0 ? centre / axis.g[0] : (axis.g[3] * centre - axis.g[1] * coupling) / determinant + axis.rest * of_t;
      }
      sums *= axis.step != 0 && axis.rest == 0 && std::abs(row_sum_of_t(op, d)) > 0
                  ? 0
                  : row_sum(op.directions[d].matrix[0], static_cast<std::size_t>(reference_[d] - inner_.lo[d]));
    }
    // Where no T has a sum in the middle row, that of the row is the first number's alone.
    if (sums != 0) op.core[0] = clean_sum(row) / sums;
    return true;
  }

  double row_sum_of_t(const PencilOperator &op, int d) const
  {
    return row_sum(op.directions[d].matrix[1], static_cast<std::size_t>(reference_[d] - inner_.lo[d]));
  }

  /// The sum of a row's couplings within the inner box, rounding taken for 0.
  double clean_sum(const std::array<double, 27> &row) const
  {
    double sum = 0, size = 0;
    for (int n = 0; n < 27; n++) {
      bool inside = true;
      for (int d = 0; d < 3; d++) {
        const Index to = reference_[d] + step_of(n, d);
        inside         = inside && (periodic_[d] || (to >= inner_.lo[d] && to < inner_.hi[d]));
      }
      if (!inside) continue;
      sum += row[static_cast<std::size_t>(n)];
      size += std::abs(row[static_cast<std::size_t>(n)]);
    }
    return std::abs(sum) <= 16 * epsilon * size ? 0 : sum;
  }

  PencilFit<Space> on_device(const PencilOperator &op) const
  {
    PencilFit<Space> fit{inner_, {}, {}, {}};
    std::vector<double> table;
    for (int d = 0; d < 3; d++) {
      fit.start[d] = static_cast<Index>(table.size());
      for (std::size_t i = 0; i < op.directions[d].matrix[0].size(); i++) {
        for (const auto &m : op.directions[d].matrix) table.insert(table.end(), {m.lower[i], m.diagonal[i], m.upper[i]});
      }
    }
    std::copy_n(op.core.begin(), 8, fit.core);
    fit.table = from_host(space_, "weft pencil fit", table);
    return fit;
  }

  std::array<double, 3> measure(const PencilOperator &op, double most_counted = std::numeric_limits<double>::infinity()) const
  {
    return total<3>(inner_, Combine::max, PencilDeviation<Space, Int>{{read_, on_device(op)}, most_counted});
  }

  /// The rows that deviate, where they are few on all ranks together.
  bool collect_changed(PencilOperator &op) const
  {
    constexpr std::size_t few = 16, columns = 29;
    CollectChanged<Space, Int> collect{{read_, on_device(op)}, of_tensor_form, inner_ & read_.rows.part, {}, {}};
    collect.rows  = decltype(collect.rows)("weft changed rows", few);
    collect.count = decltype(collect.count)("weft changed rows");
    Kokkos::parallel_for(
        "weft changed rows",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, collect.box.size(0) * collect.box.size(1) * collect.box.size(2)),
        collect);
    const auto here = static_cast<std::size_t>(to_host(space_, collect.count.data(), 1)[0]);
    double count    = static_cast<double>(here);
    if (all_ranks_) all_ranks_(&count, 1, Combine::sum);
    const Index size = inner_.size(0) * inner_.size(1) * inner_.size(2);
    if (count > static_cast<double>(std::min<Index>(few, size / 4))) return false; // what fits few rows is no operator
    const std::vector<double> mine = to_host(space_, collect.rows.data(), static_cast<Index>(columns * few));
    // One after the other on all ranks, the last node first.
    double before = std::numeric_limits<double>::infinity();
    for (int left = static_cast<int>(count); left > 0; left--) {
      double node = -1;
      for (std::size_t k = 0; k < here; k++) {
        if (mine[columns * k] < before) node = std::max(node, mine[columns * k]);
      }
      if (all_ranks_) all_ranks_(&node, 1, Combine::max);
      ChangedRow row{0, 0, {}};
      for (std::size_t k = 0; k < here; k++) {
        if (mine[columns * k] != node) continue;
        row.scale = mine[columns * k + 1];
        std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(columns * k + 2), 27, row.more.begin());
      }
      if (all_ranks_) all_ranks_(&row.scale, 1, Combine::sum);
      if (all_ranks_) all_ranks_(row.more.data(), 27, Combine::sum);
      const auto number = static_cast<Index>(node);
      const Index at[3] = {number % grid_[0] - inner_.lo[0], number / grid_[0] % grid_[1] - inner_.lo[1],
                           number / grid_[0] / grid_[1] - inner_.lo[2]};
      row.node          = at[0] + inner_.size(0) * (at[1] + inner_.size(1) * at[2]);
      op.changed.push_back(row);
      before = node;
    }
    return true;
  }

  const Space &space_;
  const AllRanks &all_ranks_;
  Index grid_[3];
  BoxReader<Space, Int> read_;
  Box inner_;
  Index reference_[3] = {0, 0, 0}; ///< the node whose row and lines the fit is read from
  bool periodic_[3] = {}, eliminated_[3][2] = {};
};

/// Couplings there and back as their geometric mean; sums of rows stay. (Those of a star come from a row of the matrix each, so that the
/// star of a symmetric matrix is symmetric only in the mean.)
void make_symmetric(SeparableOperator &op)
{
  for (int d = 0; d < op.dimension; d++) {
    Direction &line = op.directions[d];
    for (std::size_t i = 0; i < line.lower.size(); i++) {
      const std::size_t next = i + 1 < line.lower.size() ? i + 1 : 0;
      double &up = line.upper[i], &down = line.lower[next];
      if ((next == 0 && !line.periodic) || !(up * down > 0)) continue;
      const double mean = std::copysign(std::sqrt(std::abs(up)) * std::sqrt(std::abs(down)), up);
      line.diagonal[i] += up - mean;
      line.diagonal[next] += down - mean;
      up = down = mean;
    }
  }
}

} // namespace

template <class Int>
Separation separate_stencils(const Execution &execution, const GridMatrix<Int> &matrix, const AllRanks &all_ranks, const Separation *last)
{
  Separation found, boxes;
  if (last && last->pencil) last = nullptr;
  const bool begins_with_stars = on_backend(execution, [&](const auto &space) {
    return !BoxSeparator<std::decay_t<decltype(space)>, Int>(space, matrix, all_ranks).has_boxes();
  });
  if (begins_with_stars) {
    found = separate(execution, matrix, all_ranks, last);
    if (found.foreign == 0 || found.unusable > 0) return found;
  }
  std::copy_n(matrix.grid, 3, boxes.grid);
  bool symmetric         = false;
  const bool found_boxes = on_backend(execution, [&](const auto &space) {
    BoxSeparator<std::decay_t<decltype(space)>, Int> separator(space, matrix, all_ranks);
    if (separator.run(boxes)) return true;
    symmetric = separator.symmetric();
    return false;
  });
  if (found_boxes) return boxes;
  GridMatrix<Int> as_stars = matrix;
  as_stars.as_stars        = true;
  found                    = separate(execution, as_stars, all_ranks, last);
  if (!symmetric || found.symmetric || found.foreign + found.unusable > 0) return found;
  make_symmetric(found.separable);
  found.symmetric = true;
  return found;
}

template Separation separate_stencils(const Execution &, const GridMatrix<std::int32_t> &, const AllRanks &, const Separation *);
template Separation separate_stencils(const Execution &, const GridMatrix<std::int64_t> &, const AllRanks &, const Separation *);

} // namespace weft
