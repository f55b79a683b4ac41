#include "bcr/detect/separate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/backend.hpp"
#include "bcr/detect/separate_rows.hpp"

namespace weft {

using namespace separation;

namespace {

constexpr double separable = 1e-10; ///< deviation of a matrix that needs no factors

/// The steps of separate().
template <class Space, class Int>
class Separator {
public:
  Separator(const Space &space, const GridMatrix<Int> &matrix, const AllRanks &all_ranks)
      : space_(space), all_ranks_(all_ranks), read_{StarReader<Space, Int>(space, matrix), {}, -1, false, 1, {}}
  {
    Index size = 0;
    for (int d = 0; d < 3; d++) {
      grid_[d] = read_.faces.grid[d] = fit_.grid[d] = matrix.grid[d];
      fit_.start[d]                                 = size;
      size += kinds * grid_[d];
    }
    table_.assign(static_cast<std::size_t>(size), 0.0);
    fit_.table = decltype(fit_.table)("weft separable fit", static_cast<std::size_t>(size));
  }

  Separation run()
  {
    Separation found;
    std::copy_n(grid_, 3, found.grid);
    auto all            = count_rows();
    const bool has_unit = all[foreign] + all[not_finite] == 0 && choose_unit(all);
    if (has_unit) all = count_rows();
    found.unit     = 1 / read_.read.per_unit;
    found.foreign  = all[foreign];
    found.unusable = all[not_finite];
    for (int d = 0; d < 3; d++) periodic_[d] = all[wraps + d] > 0;
    if (found.foreign + found.unusable > 0) return found;
    if (all[penalties] > 0 && all[penalties] < all[coupled]) {
      read_.read.penalties = true;
      read_.diagonal       = all[diagonals] / (all[coupled] - all[penalties]);
    }
    find_faces(all);
    found.unusable = collect_faces(found);
    inner_         = read_.faces.inner();
    for (int d = 0; d < 3; d++) {
      found.first[d] = inner_.lo[d];
      found.nodes[d] = inner_.size(d);
    }
    if (found.unusable > 0 || found.size() == 0) return found;
    read_.one_direction = std::max({inner_.size(0), inner_.size(1), inner_.size(2)}) == found.size();
    fit();
    found.deviation = measure()[0];
    if (found.deviation > separable) try_row_scale(found);
    if (found.deviation > separable) drop_one_sided(found);
    if (found.deviation > separable && has_unit && all[vanishing] > 0) { // no operator is near to numbers so far apart
      found.unusable = all[vanishing];
      return found;
    }
    const bool penalty = read_.read.penalties && total<1>(inner_, Combine::max, AnyPenalty<Space, Int>{read_})[0] > 0;
    found.known        = penalty && read_.scaled < 0 && !read_.one_direction;
    if (read_.scaled >= 0 || penalty) collect_factors(found);
    make_operator(found);
    return found;
  }

private:
  double &value(int d, int kind, Index i) { return table_[static_cast<std::size_t>(fit_.start[d] + kind * grid_[d] + i)]; }

  void upload()
  {
    Kokkos::deep_copy(
        space_, fit_.table,
        Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(table_.data(), table_.size()));
    space_.fence("weft separable fit");
  }

  /// over_slabs on all ranks: a value for each index of direction d of the whole grid.
  template <std::size_t N, class Body>
  std::vector<std::array<double, N>> slabs(const Box &box, int d, Combine how, const Body &body) const
  {
    std::vector<std::array<double, N>> all(static_cast<std::size_t>(grid_[d]), std::array<double, N>{});
    const Box mine  = box & read_.read.part;
    const auto here = over_slabs<N>(space_, mine, d, how, body);
    std::copy(here.begin(), here.end(), all.begin() + (here.empty() ? 0 : mine.lo[d]));
    if (all_ranks_) all_ranks_(all.data()->data(), all.size() * N, how);
    return all;
  }

  template <std::size_t N, class Body>
  std::array<double, N> total(const Box &box, Combine how, const Body &body) const
  {
    std::array<double, N> sum{};
    for (const auto &slab : slabs<N>(box, 2, how, body)) {
      for (std::size_t n = 0; n < N; n++) sum[n] = how == Combine::sum ? sum[n] + slab[n] : std::max(sum[n], slab[n]);
    }
    return sum;
  }

  Box whole() const { return {{0, 0, 0}, {grid_[0], grid_[1], grid_[2]}}; }

  std::array<double, counts> count_rows() const { return total<counts>(whole(), Combine::sum, CountRows<Space, Int>{read_.read}); }

  /// Numbers between these need no unit: neither their products nor their inverses leave the range of a float.
  static constexpr double least_size = 1e-20, most_size = 1e20;

  /// Divides all entries by a power of 2 where they are so small or large that sums and products of them would leave the range of numbers.
  bool choose_unit(const std::array<double, counts> &all)
  {
    const double rows = static_cast<double>(grid_[0]) * static_cast<double>(grid_[1]) * static_cast<double>(grid_[2]);
    if (all[size_of_row] == 0 || (all[size_of_row] >= least_size * rows && all[size_of_row] <= most_size * rows)) return false;
    const auto largest  = total<2>(whole(), Combine::max, LargestEntries<Space, Int>{read_.read});
    read_.read.per_unit = std::ldexp(1.0, std::clamp(-std::ilogb(largest[0] > 0 ? largest[0] : largest[1]), -1021, 1021));
    return true;
  }

  /// A face is eliminated where its rows couple to nothing along it although others do, and where that is exact; where there are
  /// couplings along one direction only, ends that are not coupled to their neighbours both ways, without which the rest is separable and has
  /// a symmetric counterpart.
  void find_faces(const std::array<double, counts> &all)
  {
    auto &eliminated = read_.faces.eliminated;
    for (int d = 0; d < 3; d++) {
      bool others = false;
      for (int other = 0; other < 3; other++) others = others || (other != d && all[couplings + other] > 0);
      std::array<double, 6> ends{};
      if (!others) ends = total<6>(whole(), Combine::max, LineEnds<Space, Int>{read_.read, d});
      for (int side : {0, 1}) {
        const double along  = all[along_faces + 2 * d + side] + (read_.read.penalties ? 0 : all[along_penalties + 2 * d + side]);
        const double *end   = &ends[static_cast<std::size_t>(3 * side)];
        const bool one_way  = !others && end[0] == 0 && end[1] + end[2] < 2;
        eliminated[d][side] = (others || one_way) && grid_[d] > 2 && !periodic_[d] && along == 0;
      }
    }
    for (bool again = true; again;) {
      again           = false;
      const auto drop = total<6>(whole(), Combine::max, CheckFaces<Space, Int>{read_.read, read_.faces});
      for (int f = 0; f < 6; f++) {
        if (drop[f] > 0) eliminated[f / 2][f % 2] = false, again = true;
      }
    }
  }

  /// Returns the number of rows that cannot be divided by.
  double collect_faces(Separation &found)
  {
    double unusable = 0;
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        if (!read_.faces.eliminated[d][side]) continue;
        auto &rows      = read_.faces.rows[d][side];
        const auto area = static_cast<std::size_t>(grid_[across(d, 0)] * grid_[across(d, 1)]);
        rows            = typename Faces<Space>::Rows("weft face rows", area);
        Box layers      = whole();
        layers.lo[d]    = side == 0 ? 0 : grid_[d] - 2;
        layers.hi[d]    = layers.lo[d] + 2;
        unusable += total<1>(layers, Combine::sum, CollectFace<Space, Int>{read_.read, read_.faces, d, side})[0];
        std::vector<double> all(3 * area);
        const Kokkos::View<double *[3], Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(all.data(),
                                                                                                                              area);
        Kokkos::deep_copy(space_, host, rows);
        space_.fence("weft face rows");
        if (all_ranks_) {
          all_ranks_(all.data(), all.size(), Combine::sum);
          Kokkos::deep_copy(space_, rows, host);
          space_.fence("weft face rows");
        }
        for (std::size_t k = 0; k < area; k++) {
          found.faces[d][side].diagonal.push_back(all[3 * k]);
          found.faces[d][side].outward.push_back(all[3 * k + 1]);
          found.faces[d][side].inward.push_back(all[3 * k + 2]);
        }
      }
    }
    return unusable;
  }

  void fit()
  {
    std::fill(table_.begin(), table_.end(), 0.0);
    for (int d = 0; d < 3; d++) std::fill_n(&value(d, weight, 0), grid_[d], 1.0);
    fit_.shift = 0;
    fit_couplings();
    fit_excess();
  }

  /// Keeps factors of the rows if the matrix is separable with them.
  void try_row_scale(Separation &found)
  {
    const std::vector<double> table = table_;
    const double shift              = fit_.shift;
    if (!coupled_) {
      if (try_factors(found, InnerRows<Space, Int>::by_diagonal)) return;
    } else {
      for (int along = 0; along < 3; along++) {
        if (inner_.size(along) == 1) continue;
        take_line(along);
        if (try_factors(found, along)) return;
      }
    }
    table_     = table;
    fit_.shift = shift;
    upload();
  }

  /// True, and done, where the matrix is separable with factors of its rows.
  bool try_factors(Separation &found, int scaled)
  {
    read_.scaled = scaled;
    fit();
    const double deviation = measure()[0];
    if (deviation <= separable) {
      found.deviation = deviation;
      return true;
    }
    read_.scaled = -1;
    return false;
  }

  /// The couplings of the line through the middle.
  void take_line(int along)
  {
    const auto sums =
        slabs<6>(inner_, along, Combine::sum, SumCouplings<Space, Int>{read_, along, {middle(across(along, 0)), middle(across(along, 1))}});
    read_.line      = decltype(read_.line)("weft middle line", static_cast<std::size_t>(grid_[along]));
    const auto host = Kokkos::create_mirror_view(read_.line);
    for (Index i = 0; i < grid_[along]; i++) {
      for (int side : {0, 1}) host(i, side) = sums[static_cast<std::size_t>(i)][3 * side + 2];
    }
    make_symmetric(host, along);
    Kokkos::deep_copy(space_, read_.line, host);
    space_.fence("weft middle line");
  }

  /// A coupling whose way back is missing, as beside rows without couplings, has no symmetric counterpart. The nearest operator does without
  /// it and keeps its diagonal: it is then solved as if what lies on the other side were known.
  void drop_one_sided(Separation &found)
  {
    bool any        = false;
    const auto drop = [&](int d, int kind, Index i) {
      value(d, excess, i) -= value(d, kind, i) / value(d, weight, i);
      value(d, kind, i) = 0;
      any               = true;
    };
    for (int d = 0; d < 3; d++) {
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        const bool last  = i + 1 == inner_.hi[d];
        const Index next = last ? inner_.lo[d] : i + 1;
        if (last && !periodic_[d]) continue;
        const bool up = value(d, above, i) != 0, down = value(d, below, next) != 0;
        if (up && !down) drop(d, above, i);
        if (down && !up) drop(d, below, next);
      }
    }
    if (!any) return;
    upload();
    found.deviation = measure()[0];
  }

  /// Divides the rows of a line by factors that make it symmetric, so that these are taken for factors of the matrix's rows, unless they grow
  /// as those of convection do.
  template <class Line>
  void make_symmetric(const Line &line, int along) const
  {
    std::vector<double> factors(1, 1.0);
    for (Index i = inner_.lo[along]; i + 1 < inner_.hi[along]; i++) {
      const bool coupled = line(i + 1, 0) * line(i, 1) > 0;
      factors.push_back(coupled ? factors.back() * line(i + 1, 0) / line(i, 1) : factors.back());
    }
    const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
    if (!(*most <= 1e8 * *least)) return;
    for (Index i = inner_.lo[along]; i < inner_.hi[along]; i++) {
      for (int side : {0, 1}) line(i, side) /= factors[static_cast<std::size_t>(i - inner_.lo[along])];
    }
  }

  void collect_factors(Separation &found) const
  {
    const Box mine    = inner_ & read_.read.part;
    const Index count = mine.size(0) * mine.size(1) * mine.size(2);
    const Kokkos::View<double *, typename Space::memory_space> factors("weft row factors", static_cast<std::size_t>(count));
    Kokkos::parallel_for("weft row factors", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, count),
                         RowFactors<Space, Int>{read_, mine, found.known, factors});
    found.row_scale = to_host(space_, factors.data(), count);
    found.scaled    = true;
  }

  Index middle(int d) const { return inner_.lo[d] + inner_.size(d) / 2; }

  /// Starts from the lines through the middle of the box, so that a matrix with constant coefficients is met to the last digit, then adds the
  /// main effects of what is left. One round does where every coupling is there; with gaps they are found in turns.
  void fit_couplings()
  {
    bool gaps = false;
    coupled_  = false;
    for (int d = 0; d < 3; d++) {
      const auto sums = slabs<6>(inner_, d, Combine::sum, SumCouplings<Space, Int>{read_, d, {middle(across(d, 0)), middle(across(d, 1))}});
      const double area = static_cast<double>(inner_.size(across(d, 0)) * inner_.size(across(d, 1)));
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        for (int side : {0, 1}) {
          const double *s = &sums[static_cast<std::size_t>(i)][3 * side];
          if (s[1] == 0) continue;
          coupled_                               = true;
          gaps                                   = gaps || s[1] < area;
          value(d, side == 0 ? below : above, i) = s[2] * s[0] > 0 ? s[2] : s[0] / s[1];
        }
      }
    }
    for (int round = 0; round < (gaps ? 10 : 1); round++) {
      Sums sums = sum_logarithms();
      add_to_couplings(sums);
      if (gaps) sums = sum_logarithms();
      add_to_weights(sums);
    }
    for (int d = 0; d < 3; d++) {
      bool uniform = true;
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) uniform = uniform && std::abs(value(d, weight, i) - 1) < 1e-13;
      if (uniform) std::fill_n(&value(d, weight, 0), grid_[d], 1.0);
    }
    upload();
  }

  using Sums = std::array<std::vector<std::array<double, 12>>, 3>;

  Sums sum_logarithms()
  {
    Sums sums;
    upload();
    for (int d = 0; d < 3; d++) sums[d] = slabs<12>(inner_, d, Combine::sum, SumLogarithms<Space, Int>{read_, fit_});
    return sums;
  }

  void add_to_couplings(const Sums &sums)
  {
    for (int d = 0; d < 3; d++) {
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        for (int side : {0, 1}) {
          const double *s = &sums[d][static_cast<std::size_t>(i)][4 * d + 2 * side];
          if (s[1] > 0) value(d, side == 0 ? below : above, i) *= std::exp(s[0] / s[1]);
        }
      }
    }
  }

  /// What the couplings along the other directions say of the weights along m, each less its own mean.
  void add_to_weights(const Sums &sums)
  {
    for (int m = 0; m < 3; m++) {
      double mean[6] = {};
      for (int c = 0; c < 6; c++) {
        double sum = 0, count = 0;
        for (const auto &slab : sums[m]) sum += slab[2 * c], count += slab[2 * c + 1];
        if (count > 0) mean[c] = sum / count;
      }
      for (Index i = inner_.lo[m]; i < inner_.hi[m]; i++) {
        double sum = 0, count = 0;
        for (int c = 0; c < 6; c++) {
          if (c / 2 == m) continue;
          const double *s = &sums[m][static_cast<std::size_t>(i)][2 * c];
          sum += s[0] - s[1] * mean[c];
          count += s[1];
        }
        if (count > 0) value(m, weight, i) *= std::exp(sum / count);
      }
    }
  }

  /// The box without the ends of its directions, where boundary conditions sit.
  Box core() const
  {
    Box box = inner_;
    for (int d = 0; d < 3; d++) {
      if (!periodic_[d] && inner_.size(d) > 2) box.lo[d]++, box.hi[d]--;
    }
    return box;
  }

  /// Row sums are as exact as their largest entry: on a mesh whose cells differ by 1e8 those of the small cells say nothing of what the large
  /// ones couple to outside. A separable operator's are read from the lines through its weakest node, where that is much weaker than the
  /// middle; with these everything is known. Only the nearest one of another matrix takes the mean over all rows.
  void fit_excess()
  {
    Index reference[3];
    for (int d = 0; d < 3; d++) reference[d] = weakest(d);
    const auto strength = [&](int d) { return row_strength(d, reference[d]); };
    Box point;
    for (int d = 0; d < 3; d++) point.lo[d] = reference[d], point.hi[d] = reference[d] + 1;
    fit_.shift = total<2>(point, Combine::sum, SumExcess<Space, Int>{read_, fit_})[0];
    upload();
    add_excess(point);
    std::array<double, 4> largest = measure();
    if (largest[0] <= separable) {
      const double at_reference = strength(0) + strength(1) + strength(2) + std::abs(fit_.shift);
      clean_excess(
          largest, [&](int d, Index i) { return at_reference - strength(d) + row_strength(d, i); }, at_reference);
      return;
    }
    add_excess(core());
    largest = measure();
    clean_excess(
        largest, [&](int, Index) { return largest[1]; }, largest[1]);
  }

  /// What the couplings and the row sum of T_d are together, over weight, at an index.
  double row_strength(int d, Index i)
  {
    return 2 * (std::abs(value(d, below, i)) + std::abs(value(d, above, i))) / value(d, weight, i) + std::abs(value(d, excess, i));
  }

  /// The middle of a direction unless its couplings are much weaker elsewhere.
  Index weakest(int d)
  {
    const Box inside = core();
    Index least      = inside.lo[d];
    for (Index i = inside.lo[d]; i < inside.hi[d]; i++) {
      if (row_strength(d, i) < row_strength(d, least)) least = i;
    }
    return row_strength(d, middle(d)) <= 4 * row_strength(d, least) ? middle(d) : least;
  }

  /// Adds the main effects of the row sums that are left in a box, for each direction along all of the grid.
  void add_excess(const Box &box)
  {
    std::vector<std::array<double, 2>> sums[3];
    for (int d = 0; d < 3; d++) {
      Box along   = box;
      along.lo[d] = inner_.lo[d];
      along.hi[d] = inner_.hi[d];
      sums[d]     = slabs<2>(along, d, Combine::sum, SumExcess<Space, Int>{read_, fit_});
    }
    double mean = 0, count = 0;
    for (Index i = box.lo[0]; i < box.hi[0]; i++) {
      mean += sums[0][static_cast<std::size_t>(i)][0];
      count += sums[0][static_cast<std::size_t>(i)][1];
    }
    mean /= count;
    for (int d = 0; d < 3; d++) {
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        const double *s = sums[d][static_cast<std::size_t>(i)].data();
        value(d, excess, i) += s[0] / s[1] - mean;
      }
    }
    fit_.shift += mean;
    upload();
  }

  /// Takes rounding for the zero that it stands for, and gives row sums no sign that none of the matrix's has. size(d, i), of_shift: what the
  /// numbers were read from, of which they have the rounding.
  template <class Size>
  void clean_excess(const std::array<double, 4> &largest, const Size &size, double of_shift)
  {
    constexpr double rounding = 16 * epsilon;
    if (std::abs(fit_.shift) <= rounding * of_shift) fit_.shift = 0;
    for (int d = 0; d < 3; d++) {
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        if (std::abs(value(d, excess, i)) <= rounding * size(d, i)) value(d, excess, i) = 0;
      }
    }
    if (largest[2] == 0) bound_excess(1, size);
    if (largest[3] == 0) bound_excess(-1, size);
    upload();
  }

  /// No sum of a row times `sign` is negative: where that is not so, the row sums with the most rounding are to blame.
  template <class Size>
  void bound_excess(double sign, const Size &size)
  {
    double least = sign * fit_.shift, low[3];
    int vague    = 0;
    double worst = -1;
    for (int d = 0; d < 3; d++) {
      Index at = inner_.lo[d];
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        if (sign * value(d, excess, i) < sign * value(d, excess, at)) at = i;
      }
      low[d] = sign * value(d, excess, at);
      least += low[d];
      if (low[d] < 0 && size(d, at) > worst) vague = d, worst = size(d, at);
    }
    if (least >= 0) return;
    if (worst < 0) {
      fit_.shift -= sign * least;
      return;
    }
    for (Index i = inner_.lo[vague]; i < inner_.hi[vague]; i++) {
      double &mine = value(vague, excess, i);
      mine         = sign * std::max(sign * mine, low[vague] - least);
    }
  }

  std::array<double, 4> measure() const { return total<4>(inner_, Combine::max, Deviation<Space, Int>{read_, fit_}); }

  void make_operator(Separation &found)
  {
    SeparableOperator &op = found.separable;
    op.dimension          = 0;
    op.shift              = fit_.shift;
    for (int d = 0; d < 3; d++) {
      if (inner_.size(d) == 1) { // a factor 1, whose T is a number
        op.shift += value(d, excess, inner_.lo[d]);
        continue;
      }
      Direction &direction = op.directions[op.dimension++];
      direction.n          = inner_.size(d);
      direction.periodic   = periodic_[d];
      bool uniform         = true;
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        const double lower = value(d, below, i), w = value(d, weight, i);
        double &upper     = value(d, above, i);
        const Index next  = i + 1 < inner_.hi[d] ? i + 1 : inner_.lo[d];
        const double back = value(d, below, next);
        if (std::abs(upper - back) <= 1e-13 * std::abs(upper))
          upper = back;
        else
          found.symmetric = false;
        direction.lower.push_back(lower);
        direction.upper.push_back(upper);
        direction.diagonal.push_back(value(d, excess, i) * w - (lower + upper));
        direction.weight.push_back(w);
        uniform = uniform && w == 1;
      }
      if (uniform) direction.weight.clear();
    }
    if (op.dimension > 0) return;
    op.dimension     = 1; // one unknown
    op.directions[0] = Direction{1, false, {0.0}, {0.0}, {0.0}, {}};
  }

  const Space &space_;
  const AllRanks &all_ranks_;
  Index grid_[3];
  bool periodic_[3] = {};
  InnerRows<Space, Int> read_;
  Box inner_;
  Fit<Space> fit_;
  std::vector<double> table_;
  bool coupled_ = false; ///< there are couplings within the box
};

} // namespace

bool same_operator(const Separation &a, const Separation &b)
{
  const auto same = [](const auto &x, const auto &y) { return std::equal(std::begin(x), std::end(x), std::begin(y)); };
  bool all        = same(a.grid, b.grid) && same(a.first, b.first) && same(a.nodes, b.nodes) && a.separable == b.separable &&
             a.pencil == b.pencil;
  for (int d = 0; all && d < 3; d++) all = same(a.faces[d], b.faces[d]);
  return all && a.scaled == b.scaled && a.known == b.known && a.unit == b.unit && a.row_scale == b.row_scale;
}

SeparableOperator transposed(SeparableOperator op)
{
  for (int d = 0; d < op.dimension; d++) {
    Direction &direction = op.directions[d];
    const auto n         = static_cast<std::size_t>(direction.n);
    const auto lower = direction.lower, upper = direction.upper;
    for (std::size_t i = 0; i < n; i++) {
      direction.lower[i] = upper[i > 0 ? i - 1 : n - 1];
      direction.upper[i] = lower[i + 1 < n ? i + 1 : 0];
    }
  }
  return op;
}

template <class Int>
Separation separate(const Execution &execution, const GridMatrix<Int> &matrix, const AllRanks &all_ranks)
{
  return on_backend(execution,
                    [&](const auto &space) { return Separator<std::decay_t<decltype(space)>, Int>(space, matrix, all_ranks).run(); });
}

template Separation separate(const Execution &, const GridMatrix<std::int32_t> &, const AllRanks &);
template Separation separate(const Execution &, const GridMatrix<std::int64_t> &, const AllRanks &);

} // namespace weft
