/// Fitter: the separable operator that rows of a matrix on a grid are, or that is nearest to them; with the rows as they are read, without faces and
/// factors.
#pragma once
#include <utility>

#include "bcr/detect/fit_table.hpp"

namespace weft::separation {

constexpr double separable = 1e-10; ///< deviation of a matrix that needs no factors
/// Deviation of an operator from the lines through one node that is as good as one from all rows; and one that no separable matrix has.
constexpr double rounded = 64 * epsilon, far = 1e-8;

template <class Space, class Int>
class Fitter {
protected:
  Fitter(const Space &space, const GridMatrix<Int> &matrix, const AllRanks &all_ranks)
      : space_(space), all_ranks_(all_ranks), read_{StarReader<Space, Int>(space, matrix), {}, -1, false, 1, {}}, table_(matrix.grid)
  {
    for (int d = 0; d < 3; d++) {
      grid_[d] = read_.faces.grid[d] = fit_.grid[d] = matrix.grid[d];
      fit_.start[d]                                 = table_.start[d];
    }
    fit_.table = table<double, Space>("weft separable fit", table_.values.size());
  }

  void upload()
  {
    fit_.shift = table_.shift;
    copy_from_host(space_, fit_.table, table_.values);
  }

  /// A walk over what all ranks have of a box; slabs by the indices of the whole grid.
  template <class Body>
  WalkedBy<Body> walk(const Box &box, const Body &body) const
  {
    const Box mine = box & read_.read.part;
    // A rank may have one node of a longer direction.
    const WalkedBy<Body> here = Walk<Space, Body>::over(space_, mine, body, {{box.size(0) > 1, box.size(1) > 1, box.size(2) > 1}});
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

  void fit()
  {
    fit_couplings();
    fit_excess();
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

  const Space &space_;
  const AllRanks &all_ranks_;
  Index grid_[3];
  bool periodic_[3] = {};
  InnerRows<Space, Int> read_;
  Box inner_;
  Fit<Space> fit_;
  FitTable table_;
  std::array<Index, 3> weakest_{}; ///< node of the lines of take_lines()
  bool coupled_ = false;           ///< there are couplings within the box
};

} // namespace weft::separation
