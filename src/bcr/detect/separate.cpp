#include "bcr/detect/separate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/backend.hpp"
#include "bcr/detect/fitter.hpp"

namespace weft {

using namespace separation;

namespace {

/// The steps of separate().
template <class Space, class Int>
class Separator : Fitter<Space, Int> {
public:
  Separator(const Space &space, const GridMatrix<Int> &matrix, const AllRanks &all_ranks) : Fitter<Space, Int>(space, matrix, all_ranks) {}

  Separation run(const Separation *last)
  {
    Separation found;
    std::copy_n(grid_, 3, found.grid);
    std::array<double, counts> all;
    std::optional<Far> from;
    const First first = look(found, last, all, from);
    if (first == First::separable) {
      make_operator(found);
      return found;
    }
    const bool has_unit = all[foreign] + all[not_finite] == 0 && choose_unit(all);
    if (has_unit) all = count_rows();
    found.unit     = 1 / read_.read.per_unit;
    found.foreign  = all[foreign];
    found.unusable = all[not_finite];
    if (found.foreign + found.unusable > 0) return found;
    if (first == First::unknown) {
      take_counts(all);
      found.unusable = collect_faces(found);
      take_inner(found);
      if (found.unusable > 0 || found.size() == 0) return found;
    }
    read_.one_direction = std::max({inner_.size(0), inner_.size(1), inner_.size(2)}) == found.size();
    if (!(first == First::far ? try_row_scale(found) : try_fit(found) || try_row_scale(found))) {
      take_nearest(found, from);
      drop_one_sided(found);
    }
    if (found.deviation > separable && has_unit && all[vanishing] > 0) { // no operator is near to numbers so far apart
      found.unusable = all[vanishing];
      return found;
    }
    const bool penalty = read_.read.penalties && walk(inner_, AnyPenalty<Space, Int>{read_}).most[0] > 0;
    found.known        = penalty && read_.scaled < 0 && !read_.one_direction;
    if (read_.scaled >= 0 || penalty) collect_factors(found);
    make_operator(found);
    return found;
  }

private:
  /// What the first walk has shown: all that there is; that the faces are as expected, and the rest not separable as it is; nothing.
  enum class First { separable, far, unknown };
  /// A start of the fit and the sums of logarithms from there, where every coupling of the matrix has one of its sign.
  struct Far {
    FitTable table;
    std::array<std::vector<std::array<double, 12>>, 3> sums;
  };

  std::array<double, counts> count_rows() const { return walk(whole(), CountRows<Space, Int>{read_.read}).sums; }

  /// Looks at the matrix as one of known faces: those of the last one, or those that the lines through the middle show. `all`: its counts.
  First look(Separation &found, const Separation *last, std::array<double, counts> &all, std::optional<Far> &from)
  {
    if (!expect_faces(last) || collect_faces(found) > 0) {
      all = count_rows();
      return First::unknown;
    }
    take_inner(found);
    read_.one_direction = std::max({inner_.size(0), inner_.size(1), inner_.size(2)}) == found.size();
    const bool lined    = found.size() > 0 && !read_.one_direction && take_lines();
    if (lined && sample() > far) {
      const auto seen = walk(whole(), VerifyFar<Space, Int>{read_, fit_});
      std::copy_n(seen.sums.begin(), counts, all.begin());
      if (!as_expected(all, seen.most.data())) return First::unknown;
      if (seen.sums[counts] == 0) from = Far{table_, {seen.slabs[0], seen.slabs[1], seen.slabs[2]}};
      return First::far;
    }
    if (!lined) {
      all = count_rows();
      return First::unknown;
    }
    const auto seen = walk(whole(), Verify<Space, Int>{read_, fit_});
    all             = seen.sums;
    std::array<double, 4> largest;
    std::copy_n(seen.most.begin() + 6, 4, largest.begin());
    if (!as_expected(all, seen.most.data())) return First::unknown;
    if (close(largest)) {
      found.deviation = largest[0];
      return First::separable;
    }
    return largest[0] > far ? First::far : First::unknown;
  }

  /// Faces that are eliminated, and rings. False where only all rows say that.
  bool expect_faces(const Separation *last)
  {
    auto &eliminated = read_.faces.eliminated;
    if (last && std::equal(grid_, grid_ + 3, last->grid) && last->size() > 0) {
      for (int d = 0; d < 3; d++) {
        periodic_[d] = last->periodic[d];
        for (int side : {0, 1}) eliminated[d][side] = last->faces[d][side].eliminated();
      }
      return true;
    }
    const Index middle[3] = {grid_[0] / 2, grid_[1] / 2, grid_[2] / 2};
    bool odd;
    const Lines lines  = gather(read_.read, middle, &odd, &periodic_);
    const auto coupled = [](const Star &star, int d) { return star.side[d][0] != 0 || star.side[d][1] != 0; };
    const auto others  = [&](const Star &star, int d) { return coupled(star, across(d, 0)) || coupled(star, across(d, 1)); };
    for (int d = 0; d < 3; d++) {
      if (!others(lines.middle(), d)) return false;
      for (int side : {0, 1}) eliminated[d][side] = grid_[d] > 2 && !periodic_[d] && !others(lines.at(d, side == 0 ? 0 : grid_[d] - 1), d);
    }
    return !odd;
  }

  /// True where the faces, the rings and the unit are those that all rows say.
  bool as_expected(const std::array<double, counts> &all, const double *drop) const
  {
    if (all[foreign] + all[not_finite] > 0 || (all[penalties] > 0 && all[penalties] < all[coupled]) || needs_unit(all)) return false;
    for (int d = 0; d < 3; d++) {
      if (!others_coupled(all, d) || periodic_[d] != (all[wraps + d] > 0)) return false;
      for (int side : {0, 1}) {
        if (drop[2 * d + side] > 0 || read_.faces.eliminated[d][side] != apart(all, d, side)) return false;
      }
    }
    return true;
  }

  /// What all rows say: rings, penalties, faces.
  void take_counts(const std::array<double, counts> &all)
  {
    for (int d = 0; d < 3; d++) periodic_[d] = all[wraps + d] > 0;
    if (all[penalties] > 0 && all[penalties] < all[coupled]) {
      read_.read.penalties = true;
      read_.diagonal       = all[diagonals] / (all[coupled] - all[penalties]);
    }
    find_faces(all);
  }

  void take_inner(Separation &found)
  {
    inner_ = read_.faces.inner();
    for (int d = 0; d < 3; d++) {
      found.first[d]    = inner_.lo[d];
      found.nodes[d]    = inner_.size(d);
      read_.calm.lo[d]  = read_.faces.eliminated[d][0] ? 2 : 0;
      read_.calm.hi[d]  = grid_[d] - (read_.faces.eliminated[d][1] ? 2 : 0);
      found.periodic[d] = periodic_[d];
    }
  }

  /// Numbers between these need no unit: neither their products nor their inverses leave the range of a float.
  static constexpr double least_size = 1e-20, most_size = 1e20;

  bool needs_unit(const std::array<double, counts> &all) const
  {
    const double rows = static_cast<double>(grid_[0]) * static_cast<double>(grid_[1]) * static_cast<double>(grid_[2]);
    return !(all[size_of_row] == 0 || (all[size_of_row] >= least_size * rows && all[size_of_row] <= most_size * rows));
  }

  /// Divides all entries by a power of 2 where they are so small or large that sums and products of them would leave the range of numbers.
  bool choose_unit(const std::array<double, counts> &all)
  {
    if (!needs_unit(all)) return false;
    const auto largest  = walk(whole(), LargestEntries<Space, Int>{read_.read}).most;
    read_.read.per_unit = std::ldexp(1.0, std::clamp(-std::ilogb(largest[0] > 0 ? largest[0] : largest[1]), -1021, 1021));
    return true;
  }

  static bool others_coupled(const std::array<double, counts> &all, int d)
  {
    return all[couplings + across(d, 0)] + all[couplings + across(d, 1)] > 0;
  }
  /// True where a face's rows couple to nothing along it although others do.
  bool apart(const std::array<double, counts> &all, int d, int side) const
  {
    const double along = all[along_faces + 2 * d + side] + (read_.read.penalties ? 0 : all[along_penalties + 2 * d + side]);
    return grid_[d] > 2 && !periodic_[d] && along == 0;
  }

  /// A face is eliminated where its rows couple to nothing along it although others do, and where that is exact; where there are
  /// couplings along one direction only, ends that are not coupled to their neighbours both ways, without which the rest is separable and has
  /// a symmetric counterpart.
  void find_faces(const std::array<double, counts> &all)
  {
    auto &eliminated = read_.faces.eliminated;
    for (int d = 0; d < 3; d++) {
      const bool others = others_coupled(all, d);
      std::array<double, 6> ends{};
      if (!others) ends = walk(whole(), LineEnds<Space, Int>{read_.read, d}).most;
      for (int side : {0, 1}) {
        const double *end   = &ends[static_cast<std::size_t>(3 * side)];
        const bool one_way  = !others && end[0] == 0 && end[1] + end[2] < 2;
        eliminated[d][side] = (others || one_way) && apart(all, d, side);
      }
    }
    for (bool again = true; again;) {
      again           = false;
      const auto drop = walk(whole(), CheckFaces<Space, Int>{read_.read, read_.faces}).most;
      for (int f = 0; f < 6; f++) {
        if (drop[static_cast<std::size_t>(f)] > 0) eliminated[f / 2][f % 2] = false, again = true;
      }
    }
  }

  /// Returns the number of rows that cannot be divided by.
  double collect_faces(Separation &found)
  {
    const auto area = [&](int d) { return static_cast<std::size_t>(grid_[across(d, 0)] * grid_[across(d, 1)]); };
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        found.faces[d][side] = {};
        if (!read_.faces.eliminated[d][side]) continue;
        auto &rows = read_.faces.rows[d][side];
        rows       = typename Faces<Space>::Rows(Kokkos::view_alloc(space_, "weft face rows"), area(d));
        Kokkos::parallel_for("weft face rows", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, static_cast<Index>(area(d))),
                             CollectFace<Space, Int>{read_.read, rows, d, side});
      }
    }
    double unusable = 0;
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        if (read_.faces.eliminated[d][side]) unusable += take_face(found.faces[d][side], read_.faces.rows[d][side]);
      }
    }
    return unusable;
  }

  /// The rows of a face on all ranks, here and on the host. Returns the number of zeros on their diagonals.
  double take_face(FaceRows &face, const typename Faces<Space>::Rows &rows) const
  {
    const std::size_t area  = rows.extent(0);
    std::vector<double> all = to_host(space_, rows.data(), static_cast<Index>(3 * area));
    if (all_ranks_) {
      all_ranks_(all.data(), all.size(), Combine::sum);
      const Kokkos::View<const double *[3], Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
          all.data(), area);
      Kokkos::deep_copy(space_, rows, host);
      space_.fence("weft face rows");
    }
    double zeros = 0;
    for (std::size_t k = 0; k < area; k++) {
      face.diagonal.push_back(all[3 * k]);
      face.outward.push_back(all[3 * k + 1]);
      face.inward.push_back(all[3 * k + 2]);
      zeros += all[3 * k] == 0;
    }
    return zeros;
  }

  /// True, with the fit and its deviation, where the rows as they are read now are separable.
  bool try_fit(Separation &found)
  {
    if (!read_.one_direction && take_lines()) {
      const double seen = sample();
      if (seen > far) return false;
      if (seen <= rounded) {
        auto largest = measure();
        if (close(largest)) {
          found.deviation = largest[0];
          return true;
        }
        if (largest[0] > far) return false;
      }
    }
    fit();
    found.deviation = measure()[0];
    if (read_.scaled < 0) plain_ = Plain{table_, found.deviation};
    return found.deviation <= separable;
  }

  /// Keeps factors of the rows if the matrix is separable with them.
  bool try_row_scale(Separation &found)
  {
    bool odd;
    const Lines lines = gather(read_, {middle(0), middle(1), middle(2)}, &odd);
    if (!coupled_) {
      if (try_factors(found, InnerRows<Space, Int>::by_diagonal)) return true;
    } else {
      for (int along = 0; along < 3; along++) {
        if (inner_.size(along) == 1) continue;
        take_line(lines, along);
        if (try_factors(found, along)) return true;
      }
    }
    return false;
  }

  /// True, and done, where the matrix is separable with factors of its rows.
  bool try_factors(Separation &found, int scaled)
  {
    read_.scaled = scaled;
    if (try_fit(found)) return true;
    read_.scaled = -1;
    return false;
  }

  /// The couplings of the line through the middle.
  void take_line(const Lines &lines, int along)
  {
    read_.line      = decltype(read_.line)("weft middle line", static_cast<std::size_t>(grid_[along]));
    const auto host = Kokkos::create_mirror_view(read_.line);
    for (Index i = 0; i < grid_[along]; i++) {
      for (int side : {0, 1}) host(i, side) = inner_.lo[along] <= i && i < inner_.hi[along] ? lines.at(along, i).side[along][side] : 0;
    }
    make_symmetric(host, along);
    Kokkos::deep_copy(space_, read_.line, host);
    space_.fence("weft middle line");
  }

  /// The nearest operator. `from`: where the first walk has begun it. Two more then find it.
  void take_nearest(Separation &found, const std::optional<Far> &from)
  {
    if (plain_) {
      table_          = plain_->table;
      found.deviation = plain_->deviation;
      upload();
      return;
    }
    if (from) {
      table_ = from->table;
      add_to_couplings(from->sums);
      add_to_weights(from->sums);
      table_.clean_weights(inner_);
      upload();
      mean_excess();
    } else {
      fit();
    }
    found.deviation = measure()[0];
  }

  /// A coupling whose way back is missing, as beside rows without couplings, has no symmetric counterpart. The nearest operator does without
  /// it and keeps its diagonal: it is then solved as if what lies on the other side were known.
  void drop_one_sided(Separation &found)
  {
    bool any        = false;
    const auto drop = [&](int d, int kind, Index i) {
      table_(d, excess, i) -= table_(d, kind, i) / table_(d, weight, i);
      table_(d, kind, i) = 0;
      any                = true;
    };
    for (int d = 0; d < 3; d++) {
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        const bool last  = i + 1 == inner_.hi[d];
        const Index next = last ? inner_.lo[d] : i + 1;
        if (last && !periodic_[d]) continue;
        const bool up = table_(d, above, i) != 0, down = table_(d, below, next) != 0;
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

  void make_operator(Separation &found)
  {
    SeparableOperator &op = found.separable;
    op.dimension          = 0;
    op.shift              = table_.shift;
    for (int d = 0; d < 3; d++) {
      if (inner_.size(d) == 1) { // a factor 1, whose T is a number
        op.shift += table_(d, excess, inner_.lo[d]);
        continue;
      }
      Direction &direction = op.directions[op.dimension++];
      direction.n          = inner_.size(d);
      direction.periodic   = periodic_[d];
      bool uniform         = true;
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        const double lower = table_(d, below, i), w = table_(d, weight, i);
        double &upper     = table_(d, above, i);
        const Index next  = i + 1 < inner_.hi[d] ? i + 1 : inner_.lo[d];
        const double back = table_(d, below, next);
        if (std::abs(upper - back) <= 1e-13 * std::abs(upper))
          upper = back;
        else
          found.symmetric = false;
        direction.lower.push_back(lower);
        direction.upper.push_back(upper);
        direction.diagonal.push_back(table_(d, excess, i) * w - (lower + upper));
        direction.weight.push_back(w);
        uniform = uniform && w == 1;
      }
      if (uniform) direction.weight.clear();
    }
    if (op.dimension > 0) return;
    op.dimension     = 1; // one unknown
    op.directions[0] = Direction{1, false, {0.0}, {0.0}, {0.0}, {}};
  }

  /// The fit of the rows as they are, from all of them.
  struct Plain {
    FitTable table;
    double deviation;
  };

  using Fit = Fitter<Space, Int>;
  using Fit::add_to_couplings;
  using Fit::add_to_weights;
  using Fit::all_ranks_;
  using Fit::close;
  using Fit::coupled_;
  using Fit::fit;
  using Fit::fit_;
  using Fit::gather;
  using Fit::grid_;
  using Fit::inner_;
  using Fit::mean_excess;
  using Fit::measure;
  using Fit::middle;
  using Fit::periodic_;
  using Fit::read_;
  using Fit::sample;
  using Fit::space_;
  using Fit::table_;
  using Fit::take_lines;
  using Fit::upload;
  using Fit::walk;
  using Fit::whole;

  std::optional<Plain> plain_;
};

} // namespace

bool same_operator(const Separation &a, const Separation &b)
{
  const auto same = [](const auto &x, const auto &y) { return std::equal(std::begin(x), std::end(x), std::begin(y)); };
  bool all = same(a.grid, b.grid) && same(a.first, b.first) && same(a.nodes, b.nodes) && a.separable == b.separable && a.pencil == b.pencil;
  for (int d = 0; all && d < 3; d++) all = same(a.faces[d], b.faces[d]);
  return all && a.scaled == b.scaled && a.known == b.known && a.unit == b.unit && a.turn == b.turn &&
         a.imaginary_shift == b.imaginary_shift && a.row_scale == b.row_scale;
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
Separation separate(const Execution &execution, const GridMatrix<Int> &matrix, const AllRanks &all_ranks, const Separation *last)
{
  return on_backend(execution,
                    [&](const auto &space) { return Separator<std::decay_t<decltype(space)>, Int>(space, matrix, all_ranks).run(last); });
}

template Separation separate(const Execution &, const GridMatrix<std::int32_t> &, const AllRanks &, const Separation *);
template Separation separate(const Execution &, const GridMatrix<std::int64_t> &, const AllRanks &, const Separation *);

} // namespace weft
