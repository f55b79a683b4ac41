#include "bcr/detect/separate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/backend.hpp"
#include "bcr/detect/fit_table.hpp"

namespace weft {

using namespace separation;

namespace {

constexpr double separable = 1e-10; ///< deviation of a matrix that needs no factors
/// Deviation of an operator from the lines through one node that is as good as one from all rows; and one that no separable matrix has.
constexpr double rounded = 64 * epsilon, far = 1e-8;

/// The steps of separate().
template <class Space, class Int>
class Separator {
public:
  Separator(const Space &space, const GridMatrix<Int> &matrix, const AllRanks &all_ranks)
      : space_(space), all_ranks_(all_ranks), read_{StarReader<Space, Int>(space, matrix), {}, -1, false, 1, {}}, table_(matrix.grid)
  {
    for (int d = 0; d < 3; d++) {
      grid_[d] = read_.faces.grid[d] = fit_.grid[d] = matrix.grid[d];
      fit_.start[d]                                 = table_.start[d];
    }
    fit_.table = table<double, Space>("weft separable fit", table_.values.size());
  }

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

  void upload()
  {
    fit_.shift = table_.shift;
    copy_from_host(space_, fit_.table, table_.values);
  }

  /// A walk over what all ranks have of a box; slabs by the indices of the whole grid.
  template <class Body>
  WalkedBy<Body> walk(const Box &box, const Body &body) const
  {
    const Box mine            = box & read_.read.part;
    const WalkedBy<Body> here = Walk<Space, Body>::over(space_, mine, body);
    WalkedBy<Body> all        = here;
    std::vector<double> sums(here.sums.begin(), here.sums.end());
    if constexpr (Body::slabs > 0) {
      for (int d = 0; d < 3; d++) {
        all.slabs[d].assign(static_cast<std::size_t>(grid_[d]), {});
        std::copy(here.slabs[d].begin(), here.slabs[d].end(), all.slabs[d].begin() + (here.slabs[d].empty() ? 0 : mine.lo[d]));
        if (!all_ranks_) continue;
        const double *const values = all.slabs[d].data()->data();
        sums.insert(sums.end(), values, values + Body::slabs * grid_[d]);
      }
    }
    if (!all_ranks_) return all;
    if (!sums.empty()) all_ranks_(sums.data(), sums.size(), Combine::sum);
    if constexpr (Body::maxima > 0) all_ranks_(all.most.data(), all.most.size(), Combine::max);
    auto from = sums.begin() + Body::sums;
    std::copy(sums.begin(), from, all.sums.begin());
    if constexpr (Body::slabs > 0) {
      for (int d = 0; d < 3; d++) {
        std::copy_n(from, Body::slabs * grid_[d], all.slabs[d].data()->data());
        from += Body::slabs * grid_[d];
      }
    }
    return all;
  }

  Box whole() const { return {{0, 0, 0}, {grid_[0], grid_[1], grid_[2]}}; }

  std::array<double, counts> count_rows() const { return walk(whole(), CountRows<Space, Int>{read_.read}).sums; }

  /// The rows of the lines through a node of all ranks. `odd`: some are none of an inner box. first_wraps: those of the lines' first rows.
  template <class Rows>
  Lines gather(const Rows &rows, const Index (&through)[3], bool *odd, bool (*first_wraps)[3] = nullptr) const
  {
    using Gather      = GatherLines<Rows, Space>;
    const Index count = grid_[0] + grid_[1] + grid_[2];
    Gather body{rows, read_.read.part, {through[0], through[1], through[2]}, {grid_[0], grid_[1], grid_[2]}, {}};
    body.stars = decltype(body.stars)(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft lines through a node"),
                                      static_cast<std::size_t>(count), static_cast<std::size_t>(Gather::values));
    Kokkos::parallel_for("weft lines through a node", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, count), body);
    auto values = to_host(space_, body.stars.data(), count * Gather::values);
    if (all_ranks_) all_ranks_(values.data(), values.size(), Combine::sum);
    Lines lines{{through[0], through[1], through[2]}, {}};
    *odd              = false;
    const double *row = values.data();
    for (int d = 0; d < 3; d++) {
      for (Index i = 0; i < grid_[d]; i++, row += Gather::values) {
        Star star;
        star.centre = row[Gather::centre];
        for (int c = 0; c < 6; c++) star.side[c / 2][c % 2] = row[Gather::sides + c];
        *odd = *odd || row[Gather::odd] != 0;
        if (first_wraps && i == 0) (*first_wraps)[d] = row[Gather::wrap + d] != 0;
        lines.along[d].push_back(star);
      }
    }
    return lines;
  }

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
    double unusable = 0;
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        found.faces[d][side] = {};
        if (!read_.faces.eliminated[d][side]) continue;
        auto &rows      = read_.faces.rows[d][side];
        const auto area = static_cast<std::size_t>(grid_[across(d, 0)] * grid_[across(d, 1)]);
        rows            = typename Faces<Space>::Rows("weft face rows", area);
        Box layers      = whole();
        layers.lo[d]    = side == 0 ? 0 : grid_[d] - 2;
        layers.hi[d]    = layers.lo[d] + 2;
        unusable += walk(layers, CollectFace<Space, Int>{read_.read, read_.faces, d, side}).sums[0];
        std::vector<double> all = to_host(space_, rows.data(), static_cast<Index>(3 * area));
        if (all_ranks_) {
          all_ranks_(all.data(), all.size(), Combine::sum);
          const Kokkos::View<const double *[3], Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
              all.data(), area);
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

  /// The fit that the lines through the middle say, its row sums from those through its weakest node (fit_excess()); false: they say none.
  bool take_lines()
  {
    const Index mid[3] = {middle(0), middle(1), middle(2)};
    bool odd;
    Lines lines = gather(read_, mid, &odd);
    if (!table_.take_couplings(lines, inner_)) return false;
    const std::array<Index, 3> weak = weakest();
    if (!std::equal(weak.begin(), weak.end(), mid)) lines = gather(read_, {weak[0], weak[1], weak[2]}, &odd);
    table_.take_excess(lines, inner_);
    coupled_ = true;
    snap_excess(size_from(weak), strength_of(weak));
    weakest_ = weak;
    upload();
    return true;
  }

  /// The deviation of the rows of some lines from the fit: whatever differs from place to place is crossed by some.
  double sample() const
  {
    using Body     = OnLines<Deviation<Space, Int>>;
    const Box mine = inner_ & read_.read.part;
    double most    = 0;
    for (int d = 0; d < 3; d++) {
      if (inner_.size(d) == 1 || mine.size(across(d, 0)) * mine.size(across(d, 1)) == 0) continue;
      const Box nodes{{0, 0, 0}, {mine.size(d), Body::lines, 1}};
      most = std::max(most, Walk<Space, Body>::over(space_, nodes, {{read_, fit_}, mine, d}).most[0]);
    }
    if (all_ranks_) all_ranks_(&most, 1, Combine::max);
    return most;
  }

  /// True where the fit of lines is the matrix to rounding; its row sums then get no sign that none of the matrix's has.
  bool close(std::array<double, 4> &largest)
  {
    if (largest[0] > rounded) return false;
    if (!bound_excess(largest, size_from(weakest_))) return true;
    upload();
    largest[0] = measure()[0];
    return largest[0] <= rounded;
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

  void fit()
  {
    fit_couplings();
    fit_excess();
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

  Index middle(int d) const { return inner_.lo[d] + inner_.size(d) / 2; }

  /// Starts from the lines through the middle of the box, so that a matrix with constant coefficients is met to the last digit, then adds the
  /// main effects of what is left. One round does where every coupling is there; with gaps they are found in turns.
  void fit_couplings()
  {
    bool odd, gaps = false;
    const Lines lines = gather(read_, {middle(0), middle(1), middle(2)}, &odd);
    const auto seen   = walk(inner_, SumCouplings<Space, Int>{read_});
    coupled_          = false;
    table_.clear();
    for (int d = 0; d < 3; d++) {
      if (inner_.size(d) == 1) continue;
      const double area = static_cast<double>(inner_.size(across(d, 0)) * inner_.size(across(d, 1)));
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        for (int side : {0, 1}) {
          const double *s = &seen.slabs[d][static_cast<std::size_t>(i)][static_cast<std::size_t>(4 * d + 2 * side)];
          if (s[1] == 0) continue;
          const double here                       = lines.at(d, i).side[d][side];
          coupled_                                = true;
          gaps                                    = gaps || s[1] < area;
          table_(d, side == 0 ? below : above, i) = here * s[0] > 0 ? here : s[0] / s[1];
        }
      }
    }
    for (int round = 0; round < (gaps ? 10 : 1); round++) {
      auto left = sum_logarithms();
      add_to_couplings(left);
      if (gaps) left = sum_logarithms();
      add_to_weights(left);
    }
    table_.clean_weights(inner_);
    upload();
  }

  using Sums = std::array<std::vector<std::array<double, 12>>, 3>;

  Sums sum_logarithms()
  {
    upload();
    auto found = walk(inner_, SumLogarithms<Space, Int>{read_, fit_});
    return {std::move(found.slabs[0]), std::move(found.slabs[1]), std::move(found.slabs[2])};
  }

  void add_to_couplings(const Sums &sums)
  {
    for (int d = 0; d < 3; d++) {
      if (inner_.size(d) == 1) continue;
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        for (int side : {0, 1}) {
          const double *s = &sums[static_cast<std::size_t>(d)][static_cast<std::size_t>(i)][static_cast<std::size_t>(4 * d + 2 * side)];
          if (s[1] > 0) table_(d, side == 0 ? below : above, i) *= std::exp(s[0] / s[1]);
        }
      }
    }
  }

  /// What the couplings along the other directions say of the weights along m, each less its own mean.
  void add_to_weights(const Sums &sums)
  {
    for (int m = 0; m < 3; m++) {
      if (inner_.size(m) == 1) continue;
      const auto &slabs = sums[static_cast<std::size_t>(m)];
      double mean[6]    = {};
      for (int c = 0; c < 6; c++) {
        double sum = 0, count = 0;
        for (const auto &slab : slabs) sum += slab[static_cast<std::size_t>(2 * c)], count += slab[static_cast<std::size_t>(2 * c + 1)];
        if (count > 0) mean[c] = sum / count;
      }
      for (Index i = inner_.lo[m]; i < inner_.hi[m]; i++) {
        double sum = 0, count = 0;
        for (int c = 0; c < 6; c++) {
          if (c / 2 == m) continue;
          const double *s = &slabs[static_cast<std::size_t>(i)][static_cast<std::size_t>(2 * c)];
          sum += s[0] - s[1] * mean[c];
          count += s[1];
        }
        if (count > 0) table_(m, weight, i) *= std::exp(sum / count);
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
    const std::array<Index, 3> weak = weakest();
    bool odd;
    table_.take_excess(gather(read_, {weak[0], weak[1], weak[2]}, &odd), inner_);
    upload();
    const std::array<double, 4> largest = measure();
    if (largest[0] > separable) {
      mean_excess();
      return;
    }
    snap_excess(size_from(weak), strength_of(weak));
    bound_excess(largest, size_from(weak));
    upload();
  }

  /// The sum of a node's strengths, and what the row of an index adds to or takes from it.
  double strength_of(const std::array<Index, 3> &node) const
  {
    double all = std::abs(table_.shift);
    for (int d = 0; d < 3; d++) all += table_.row_strength(d, node[static_cast<std::size_t>(d)]);
    return all;
  }
  auto size_from(const std::array<Index, 3> &node) const
  {
    return [this, node, all = strength_of(node)](int d, Index i) {
      return all - table_.row_strength(d, node[static_cast<std::size_t>(d)]) + table_.row_strength(d, i);
    };
  }

  /// The middle of a direction unless its couplings are much weaker elsewhere.
  std::array<Index, 3> weakest() const
  {
    const Box inside = core();
    std::array<Index, 3> node;
    for (int d = 0; d < 3; d++) {
      const auto strength = [&](Index i) { return table_.row_strength(d, i); };
      Index least         = inside.lo[d];
      for (Index i = inside.lo[d]; i < inside.hi[d]; i++) {
        if (strength(i) < strength(least)) least = i;
      }
      node[static_cast<std::size_t>(d)] = strength(middle(d)) <= 4 * strength(least) ? middle(d) : least;
    }
    return node;
  }

  /// Adds the main effects of the row sums that are left in the core, for each direction along all of the box.
  void mean_excess()
  {
    const Box box   = core();
    const auto left = walk(inner_, SumExcess<Space, Int>{read_, fit_, box});
    const auto sums = [&](int d, Index i) { return &left.slabs[d][static_cast<std::size_t>(i)][static_cast<std::size_t>(2 * d)]; };
    int longest     = 0;
    for (int d : {1, 2}) {
      if (inner_.size(d) > inner_.size(longest)) longest = d;
    }
    if (inner_.size(longest) > 1) {
      double mean = 0, count = 0;
      for (Index i = box.lo[longest]; i < box.hi[longest]; i++) mean += sums(longest, i)[0], count += sums(longest, i)[1];
      mean /= count;
      for (int d = 0; d < 3; d++) {
        if (inner_.size(d) == 1) continue;
        for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) table_(d, excess, i) += sums(d, i)[0] / sums(d, i)[1] - mean;
      }
      table_.shift += mean;
    }
    const auto size = [&](int, Index) { return left.most[1]; };
    snap_excess(size, left.most[1]);
    bound_excess(left.most, size);
    upload();
  }

  /// Takes rounding for the zero that it stands for. size(d, i), of_shift: what the numbers were read from, of which they have the rounding.
  template <class Size>
  void snap_excess(const Size &size, double of_shift)
  {
    constexpr double rounding = 16 * epsilon;
    if (std::abs(table_.shift) <= rounding * of_shift) table_.shift = 0;
    for (int d = 0; d < 3; d++) {
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        if (std::abs(table_(d, excess, i)) <= rounding * size(d, i)) table_(d, excess, i) = 0;
      }
    }
  }

  /// Gives row sums no sign that none of the matrix's has; `largest` as Deviation finds it. True where some were changed.
  template <class Size>
  bool bound_excess(const std::array<double, 4> &largest, const Size &size)
  {
    const bool positive = largest[2] == 0 && bound_excess(1, size);
    return (largest[3] == 0 && bound_excess(-1, size)) || positive;
  }

  /// No sum of a row times `sign` is negative: where that is not so, the row sums with the most rounding are to blame.
  template <class Size>
  bool bound_excess(double sign, const Size &size)
  {
    double least = sign * table_.shift, low[3];
    int vague    = 0;
    double worst = -1;
    for (int d = 0; d < 3; d++) {
      Index at = inner_.lo[d];
      for (Index i = inner_.lo[d]; i < inner_.hi[d]; i++) {
        if (sign * table_(d, excess, i) < sign * table_(d, excess, at)) at = i;
      }
      low[d] = sign * table_(d, excess, at);
      least += low[d];
      if (low[d] < 0 && size(d, at) > worst) vague = d, worst = size(d, at);
    }
    if (least >= 0) return false;
    if (worst < 0) {
      table_.shift -= sign * least;
      return true;
    }
    for (Index i = inner_.lo[vague]; i < inner_.hi[vague]; i++) {
      double &mine = table_(vague, excess, i);
      mine         = sign * std::max(sign * mine, low[vague] - least);
    }
    return true;
  }

  std::array<double, 4> measure() const { return walk(inner_, Deviation<Space, Int>{read_, fit_}).most; }

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

  const Space &space_;
  const AllRanks &all_ranks_;
  Index grid_[3];
  bool periodic_[3] = {};
  InnerRows<Space, Int> read_;
  Box inner_;
  Fit<Space> fit_;
  FitTable table_;
  std::array<Index, 3> weakest_{}; ///< node of the lines of take_lines()
  std::optional<Plain> plain_;
  bool coupled_ = false; ///< there are couplings within the box
};

} // namespace

bool same_operator(const Separation &a, const Separation &b)
{
  const auto same = [](const auto &x, const auto &y) { return std::equal(std::begin(x), std::end(x), std::begin(y)); };
  bool all        = same(a.grid, b.grid) && same(a.first, b.first) && same(a.nodes, b.nodes) && a.separable == b.separable;
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
Separation separate(const Execution &execution, const GridMatrix<Int> &matrix, const AllRanks &all_ranks, const Separation *last)
{
  return on_backend(execution,
                    [&](const auto &space) { return Separator<std::decay_t<decltype(space)>, Int>(space, matrix, all_ranks).run(last); });
}

template Separation separate(const Execution &, const GridMatrix<std::int32_t> &, const AllRanks &, const Separation *);
template Separation separate(const Execution &, const GridMatrix<std::int64_t> &, const AllRanks &, const Separation *);

} // namespace weft
