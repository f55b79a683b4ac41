/// AdiSolverOn: AdiSolver's arrays and kernels on one backend, its types hidden. Included by adi_solver.cpp only.
#pragma once
#include "adi/bounds.hpp"
#include "adi/native_half_sweeps.hpp"
#include "adi/sweep.hpp"
#include "adi/turn.hpp"
#include "base/backend.hpp"
#include "line/host_copies.hpp"

namespace weft {

template <class Scalar>
struct AdiSolver<Scalar>::Copy {
  std::array<std::vector<Scalar>, 3> lower, share, upper;
  std::vector<Scalar> diagonal, rest_values;
  std::vector<std::uint8_t> fixed;
  std::vector<Index> rest_starts, rest_columns;
  Scalar turn = 1;
  std::array<bool, 3> has{};
  bool some_fixed = false;
};

template <class Space, class Scalar>
class AdiSolverOn final : public AdiSolver<Scalar> {
public:
  using Base   = AdiSolver<Scalar>;
  using Copy   = typename Base::Copy;
  using Number = typename Base::Number;
  using Shift  = typename Base::Shift;
  using Sweep  = typename Base::Sweep;
  using Real   = RealOf<Scalar>;
  using Memory = typename Space::memory_space;
  using Values = OwnedArray<Scalar, Space>;

  AdiSolverOn(const Execution &execution, const Space &space, const AdiBox &box, const AdiOptions &options,
              const MakeLines<Scalar> &make_lines, const AdiRanks &ranks)
      : Base(execution, box, options), space_(space), ranks_(ranks), grid_(box), make_lines_(make_lines),
        rest_starts_("weft adi rest starts", size() + 1), diagonal_(values()), work_(values()),
        residual_(options.symmetric ? values() : work_), fixed_("weft adi fixed", size()), change_("weft adi change")
  {
    for (int k = 0; k < 3; k++) {
      if (grid_.has[k]) lower_[k] = values(), share_[k] = values(), upper_[k] = values();
    }
    find_directions();
  }

  AdiSplit read(const AnyCsr<Scalar> &matrix, const AdiHalo<Scalar> &halo) override
  {
    return std::visit([&](const auto &csr) { return read_csr(csr, halo); }, matrix);
  }
  void read(const Copy &from) override
  {
    for (int k = 0; k < 3; k++) {
      grid_.has[k] = from.has[static_cast<std::size_t>(k)];
      if (!grid_.has[k]) continue;
      copy_from_host(space_, lower_[k], from.lower[k]);
      copy_from_host(space_, share_[k], from.share[k]);
      copy_from_host(space_, upper_[k], from.upper[k]);
    }
    copy_from_host(space_, diagonal_, from.diagonal);
    copy_from_host(space_, fixed_, from.fixed);
    copy_from_host(space_, rest_starts_, from.rest_starts);
    rest_columns_ = from_host(space_, "weft adi rest columns", from.rest_columns);
    rest_values_  = from_host(space_, "weft adi rest values", from.rest_values);
    turn_         = from.turn;
    some_fixed_   = from.some_fixed;
    find_directions();
  }
  Copy copy() const override
  {
    Copy to;
    for (std::size_t k = 0; k < 3; k++) {
      to.has[k] = grid_.has[k];
      if (!to.has[k]) continue;
      to.lower[k] = to_host(space_, lower_[k]);
      to.share[k] = to_host(space_, share_[k]);
      to.upper[k] = to_host(space_, upper_[k]);
    }
    to.diagonal     = to_host(space_, diagonal_);
    to.fixed        = to_host(space_, fixed_);
    to.rest_starts  = to_host(space_, rest_starts_);
    to.rest_columns = to_host(space_, rest_columns_);
    to.rest_values  = to_host(space_, rest_values_);
    to.turn         = turn_;
    to.some_fixed   = some_fixed_;
    return to;
  }

  SpectralInterval bounds_of(int k, AdiBoundsMethod method, double similarity) const override
  {
    const Spectrum spectrum(*this, k, similarity);
    SpectralInterval found = spectrum.circles;
    if (found.low > found.high) return {scale_, scale_, 0}; // every row is fixed
    if (method == AdiBoundsMethod::lanczos && !spectrum.is_point()) {
      // S + sigma is definite by its circles and its least eigenvalue well below the second one, whether S is singular or not.
      const double sigma = spectrum.small - found.low, above = 1 / spectrum.inverse(sigma, 0) - spectrum.small;
      if (!(std::abs(above) < 0.01 * spectrum.small)) found.low = std::min(found.low + above, found.high);
    }
    return {scale_ * found.low, scale_ * found.high, scale_ * found.skew, false, scale_ * found.offset, found.box};
  }
  double gap(int k, double low, double similarity) const override
  {
    const Spectrum spectrum(*this, k, similarity);
    if (spectrum.is_point()) return std::numeric_limits<double>::infinity(); // one eigenvalue only
    // The largest 1 / m - least / m^2, m the eigenvalues of S + sigma, of which the least one is `least`.
    const double least = spectrum.small, theta = spectrum.inverse(least - low / scale_, least);
    const double next = (1 + std::sqrt(std::max(0.0, 1 - 4 * theta * least))) / (2 * theta);
    return scale_ * (next - least);
  }
  double log_condition_of(int k) const override
  {
    if (box().closed(k)) return 0; // a ring is taken as it is
    double sum = log_condition(space_, box(), k, parts());
    ranks_.sum(&sum, 1);
    double lines = static_cast<double>(box().components);
    for (int d = 0; d < 3; d++) lines *= d == k ? 1 : static_cast<double>(box().global[d]);
    return sum / lines;
  }
  double variation() const override
  {
    const AdiSlabs slabs(box());
    const auto size        = static_cast<std::size_t>(slabs.size);
    constexpr Index values = 6 * parts_of<Scalar>;
    const Kokkos::View<double *, Memory> ranges("weft adi ranges", values * size), counts("weft adi counts", size);
    constexpr double none = std::numeric_limits<double>::max();
    Kokkos::deep_copy(space_, ranges, none);
    slab_ranges(space_, grid_, slabs, parts(), ranges.data(), counts.data());
    const auto least = Kokkos::create_mirror_view(ranges), rows = Kokkos::create_mirror_view(counts);
    Kokkos::deep_copy(space_, least, ranges);
    Kokkos::deep_copy(space_, rows, counts);
    space_.fence("weft: adi ranges");
    ranks_.least(least.data(), static_cast<int>(values * slabs.size));
    ranks_.sum(rows.data(), static_cast<int>(size));
    double largest = 0;
    for (int k = 0; k < 3; k++) {
      if (!grid_.has[k]) continue;
      double spread = 0, size_of = 0, filled = 0;
      for (Index at = slabs.start[k]; at < slabs.start[k] + slabs.components * box().global[k]; at++) {
        if (rows(at) == 0) continue;
        if (filled != 0 && rows(at) != filled) return 1;
        filled = rows(at);
        for (Index n = 0; n < values; n += 2) {
          const double low = least(n * slabs.size + at), high = -least((n + 1) * slabs.size + at);
          spread  = std::max(spread, high - low);
          size_of = std::max({size_of, std::abs(low), std::abs(high)});
        }
      }
      if (size_of > 0) largest = std::max(largest, std::min(1.0, spread / size_of));
    }
    return largest;
  }
  std::vector<std::uint8_t> fixed() const override
  {
    std::vector<std::uint8_t> to(size());
    Kokkos::deep_copy(space_, Kokkos::View<std::uint8_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(to.data(), size()),
                      fixed_);
    space_.fence("weft: read which rows are fixed");
    return to;
  }
  void move(int k, Number by) override { add_to_diagonal(space_, grid_.rows, fixed_.data(), turned(by), share_[k].data()); }
  Number turn() const override { return widened(turn_); }
  std::vector<Number> turns() const override { return turns_; }
  void set_turn(Number turn) override { turn_ = rounded(turn); }

  void place_shifts(const std::vector<Shift> &shifts, const std::vector<Shift> &alone) override
  {
    const std::size_t kept = options().keep_factors ? shifts.size() : 1;
    shifts_                = shifts;
    alone_                 = alone;
    for (int k = 0; k < 3; k++) {
      if (lines_[k].size() == (grid_.has[k] ? kept : 0)) continue; // the lines can stay
      lines_[k].clear();
      shifted_[k].clear();
      if (!grid_.has[k]) continue;
      for (std::size_t j = 0; j < kept; j++) {
        shifted_[k].push_back(values());
        lines_[k].push_back(make_lines_(k, box().lines(k)));
        lines_[k].back()->use(lower_[k].data(), shifted_[k].back().data(), upper_[k].data());
      }
    }
  }

  void factor() override
  {
    for (int k = 0; k < 3; k++) {
      for (std::size_t j = 0; j < lines_[k].size(); j++) {
        shift(k, j, j);
        lines_[k][j]->factor();
      }
    }
    native_.forget();
    if (!sweeps_in_halves() || !options().keep_factors || options().line_solver != "auto") return;
    for (int k = 0; k < 3; k++) {
      if (!grid_.has[k] || box().closed(k)) continue;
      std::vector<Scalar> shifts;
      for (const Shift &shift : shifts_) shifts.push_back(turned(shift[static_cast<std::size_t>(k)]));
      native_.factor(space_, k, box().lines(k).layout, parts(), shifts, work_.data());
    }
  }
  std::optional<AdiBadPivot> bad_pivot() const override
  {
    std::optional<AdiBadPivot> first;
    for (int k = 0; k < 3; k++) {
      for (std::size_t j = 0; j < lines_[k].size(); j++) {
        const auto at = lines_[k][j]->bad_pivot(); // collective where lines cross ranks: asked of all
        if (at && !first) first = AdiBadPivot{k, static_cast<int>(j), *at};
      }
    }
    return first;
  }

  Scalar *residual(const Scalar *b, const Scalar *x, Transpose transpose) override
  {
    const AdiRest<Scalar> rest{rest_starts_.data(), rest_columns_.data(), rest_values_.data(), rest_values_.extent(0) == 0};
    const bool transposed = transpose == Transpose::yes;
    Scalar *r             = residual_.data();
    const int directions  = grid_.has[0] + grid_.has[1] + grid_.has[2];
    if (directions == 1) adi_residual(space_, AdiStencil<Scalar, 1>(grid_, parts(), transposed), rest, b, x, r);
    if (directions == 2) adi_residual(space_, AdiStencil<Scalar, 2>(grid_, parts(), transposed), rest, b, x, r);
    if (directions == 3) adi_residual(space_, AdiStencil<Scalar, 3>(grid_, parts(), transposed), rest, b, x, r);
    return r;
  }

  void correct(const Sweep &sweep, Scalar *r, Scalar *x, bool from_zero, Transpose transpose) override
  {
    const auto j                 = static_cast<std::size_t>(sweep.shift);
    const std::size_t last       = sweep.directions.size() - 1;
    const Scalar *first          = r;
    Scalar phase                 = 1;
    SolveOptions<Scalar> options = {};
    options.transpose            = transpose;
    if (sweep.sum && some_fixed_) {
      copy_unknowns(space_, grid_.rows, fixed_.data(), r, work_.data());
      r = work_.data();
    }
    for (std::size_t n = 0; n < last; n++) {
      options.update.scale = scale_of_solve(turned(sweep.scales[n]), phase);
      solve(sweep.directions[n], j, r, work_.data(), options);
      r = work_.data();
    }
    const int k          = sweep.directions[last];
    options.update.scale = scale_of_solve(rounded(sweep.scales[last]), phase);
    if (Base::options().measure_change || phase != Scalar(1)) {
      const Scalar scale   = options.update.scale * phase;
      options.update.scale = 1;
      solve(k, j, r, work_.data(), options);
      add_and_measure(space_, grid_.rows, work_.data(), scale, !from_zero, x, change_);
    } else if (from_zero) {
      solve(k, j, r, x, options);
    } else {
      options.update.add = true; // r is work space where there is an x to add to
      lines_[k][refactor(k, j)]->solve(r, x, options);
    }
    if (sweep.sum && sweep.residual) solve_fixed(space_, grid_.rows, fixed_.data(), diagonal_.data(), first, !from_zero, x);
  }

  /// Only the first half-sweep looks at neighbouring lines. After (H + s) u = g the next one's right-hand side is
  ///   b - (H - s') u = b - g + (s + s') u
  bool sweeps_in_halves() const override
  {
    int directions = 0;
    for (int k = 0; k < 3; k++) {
      if (grid_.has[k] && box().crosses[k]) return false;
      directions += grid_.has[k];
    }
    return directions == 2 && !options().symmetric && options().type == AdiType::peaceman_rachford && rest_values_.extent(0) == 0;
  }
  void half_sweeps(Scalar *b, Scalar *x, bool from_zero, int count) override
  {
    const bool measure = options().measure_change;
    const int first = grid_.has[0] ? 0 : 1, second = grid_.has[2] ? 2 : 1;
    const std::size_t cycle = shifts_.size(), last = 2 * cycle * static_cast<std::size_t>(count) - 1;
    const auto direction = [&](std::size_t n) { return n % 2 == 0 ? first : second; };
    const auto shift_of  = [&](std::size_t n) { return turned(shifts_[n / 2 % cycle][static_cast<std::size_t>(direction(n))]); };
    Scalar *const g      = work_.data();
    if (!from_zero) start_half_sweep(space_, AdiStencil<Scalar, 1>(grid_, parts(), false, second), fixed_.data(), shift_of(0), b, x, g);
    for (std::size_t n = 0; n <= last; n++) {
      Scalar *const now   = n == 0 && from_zero ? b : g;
      const int k         = direction(n);
      const std::size_t j = n / 2 % cycle;
      const bool compared = measure && n + 1 == last; // x must be there to be compared with
      const bool native   = native_.ready(k);
      if (n == last) {
        if (measure) Kokkos::deep_copy(space_, change_, 0.0);
        if (native) {
          native_.solve(space_, k, j, now, x, measure ? change_.data() : nullptr);
        } else if (measure) {
          solve(k, j, now, g, {});
          replace_and_measure(space_, grid_.rows, g, x, change_);
        } else {
          solve(k, j, now, x, {});
        }
      } else if (native && !compared) {
        native_.reflect(space_, k, j, now, b, shift_of(n) + shift_of(n + 1), g);
      } else {
        if (native)
          native_.solve(space_, k, j, now, x, nullptr);
        else
          solve(k, j, now, x, {});
        reflect(space_, grid_.rows, fixed_.data(), b, now, shift_of(n) + shift_of(n + 1), x, g);
      }
    }
  }

  const double *change() const override { return change_.data(); }
  double read_change() const override
  {
    double value = 0;
    Kokkos::deep_copy(space_, Kokkos::View<double, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&value), change_);
    space_.fence("weft: read the change");
    return value;
  }
  const AnyLines<Scalar> &lines(int k) const override { return *lines_[k].front(); }

private:
  using Base::box;
  using Base::options;

  /// Those with couplings: others are none.
  void find_directions()
  {
    this->directions_.clear();
    for (int k = 0; k < 3; k++) {
      if (grid_.has[k]) this->directions_.push_back(k);
    }
  }
  static Scalar rounded(Number number) { return static_cast<Scalar>(InDouble<Scalar>(number)); }
  /// A number of turned parts as one of the matrix.
  Scalar turned(Number number) const { return static_cast<Scalar>(InDouble<Scalar>(number) * widened(turn_)); }
  std::size_t size() const { return static_cast<std::size_t>(grid_.rows); }
  Values values() const { return Values("weft adi", static_cast<std::size_t>(grid_.rows)); }
  AdiParts<Scalar> parts() const
  {
    AdiParts<Scalar> all{};
    for (int k = 0; k < 3; k++) {
      all.lower[k] = lower_[k].data();
      all.share[k] = share_[k].data();
      all.upper[k] = upper_[k].data();
    }
    all.diagonal = diagonal_.data();
    all.fixed    = fixed_.data();
    return all;
  }
  /// A part as SymmetricPart, in units of scale_.
  struct Spectrum {
    const AdiSolverOn &whole;
    int direction;
    Values lower, diagonal, upper, skew_lower, skew_upper, height;
    SpectralInterval circles;
    double small; ///< well below the distance of eigenvalues

    Spectrum(const AdiSolverOn &from, int k, double similarity)
        : whole(from), direction(k), lower(from.values()), diagonal(from.values()), upper(from.values()), skew_lower(from.values()),
          skew_upper(from.values()), height(is_complex<Scalar> ? from.values() : Values())
    {
      const AdiBox &box = from.box();
      const SymmetricPart<Scalar> part{lower.data(), diagonal.data(), upper.data(), skew_lower.data(), skew_upper.data(), height.data()};
      make_symmetric(from.space_, from.neighbours(k), from.turn_, from.scale_, box.closed(k) ? 0 : similarity, part);
      circles        = gershgorin(from.space_, from.grid_.rows, from.fixed_.data(), part, from.ranks_);
      const double n = static_cast<double>(box.global[k]);
      small          = (circles.high - circles.low) / (1e3 * n * n);
    }
    /// Whether the eigenvalues are one, to rounding.
    bool is_point() const
    {
      return !(circles.high - circles.low > std::max(1e-15, 1e-10 * std::max(std::abs(circles.low), std::abs(circles.high))));
    }
    /// The largest eigenvalue of lanczos_of_inverse for S + sigma.
    double inverse(double sigma, double least) const
    {
      const Values shifted = whole.values();
      Kokkos::deep_copy(whole.space_, shifted, diagonal);
      add_to_diagonal(whole.space_, whole.grid_.rows, whole.fixed_.data(), static_cast<Scalar>(sigma), shifted.data());
      const auto lines = whole.make_lines_(direction, whole.box().lines(direction));
      lines->use(lower.data(), shifted.data(), upper.data());
      lines->factor();
      const double found = lanczos_of_inverse(whole.space_, whole.box(), whole.fixed_.data(), *lines, least, whole.ranks_);
      double bad         = lines->bad_pivot() || !(found > 0 && std::isfinite(found)) ? 1 : 0;
      whole.ranks_.sum(&bad, 1);
      if (bad > 0) throw std::domain_error("a part of the matrix is not regular");
      return found;
    }
  };

  void shift(int k, std::size_t slot, std::size_t j) const
  {
    const auto d = static_cast<std::size_t>(k);
    shift_diagonal(space_, grid_.rows, fixed_.data(), share_[k].data(), turned(shifts_[j][d]), turned(alone_[j][d]),
                   shifted_[k][slot].data());
  }
  /// The slot of the lines with shift j, factored.
  std::size_t refactor(int k, std::size_t j)
  {
    if (options().keep_factors) return j;
    shift(k, 0, j);
    lines_[k][0]->factor();
    return 0;
  }
  void solve(int k, std::size_t j, Scalar *r, Scalar *z, const SolveOptions<Scalar> &options)
  {
    if (!Base::options().keep_factors && options.transpose == Transpose::no) {
      shift(k, 0, j);
      return lines_[k][0]->solve_once(r, z, options);
    }
    lines_[k][refactor(k, j)]->solve(r, z, options);
  }

  /// Solves scale by real numbers: of complex ones the phase is left, for the end of a sweep.
  static Real scale_of_solve(const Scalar &scale, Scalar &phase)
  {
    if constexpr (is_complex<Scalar>) {
      const Real size = modulus(scale);
      phase *= scale / size;
      return size;
    } else {
      return scale;
    }
  }

  template <class Int>
  AdiSplit read_csr(const CsrMatrix<Scalar, Int> &matrix, const AdiHalo<Scalar> &halo)
  {
    for (int k = 0; k < 3; k++) grid_.has[k] = box().has(k);
    split_couplings(space_, grid_, matrix, parts(), rest_starts_.data());
    count_rest(space_, rest_starts_);
    const Index left = value_at<Space>(space_, rest_starts_, grid_.rows);
    if (static_cast<Index>(rest_values_.extent(0)) != left) {
      rest_columns_ = Kokkos::View<Index *, Memory>("weft adi rest columns", static_cast<std::size_t>(left));
      rest_values_  = Values("weft adi rest values", static_cast<std::size_t>(left));
    }
    if (left > 0) split_rest(space_, grid_, matrix, fixed_.data(), rest_starts_.data(), rest_columns_.data(), rest_values_.data());
    for (int k = 0; k < 3; k++) {
      if (!grid_.has[k]) continue;
      const LineLayout layout = box().lines(k).layout;
      const Values before = to_memory(halo.out[k][0]), after = to_memory(halo.out[k][1]);
      put_ends(space_, layout, before.data(), after.data(), fixed_.data(), lower_[k].data(), upper_[k].data());
      for (int side : {0, 1}) ends_[k][side] = to_memory(halo.in[k][side]);
      space_.fence("weft: adi ends, whose copies end here");
    }

    AdiSums sums = sum_couplings(space_, grid_, parts(), rest_starts_.data(), rest_values_.data());
    sums.value[AdiSums::rest] += halo.rest;
    ranks_.sum(sums.value, AdiSums::size);
    find_turns(sums.value[AdiSums::sign] < 0);
    std::array<Real, 3> mean{};
    for (std::size_t k = 0; k < 3; k++) {
      const double count = sums.value[AdiSums::count + k];
      mean[k]            = static_cast<Real>(count > 0 ? sums.value[AdiSums::strength + k] / count : 0);
    }
    // Along a direction without couplings there is nothing to solve.
    if (mean[0] != 0 || mean[1] != 0 || mean[2] != 0) {
      for (int k = 0; k < 3; k++) grid_.has[k] = grid_.has[k] && mean[static_cast<std::size_t>(k)] != 0;
    }
    double ends[parts_of<Scalar> + 1];
    for (int n = 0; n < parts_of<Scalar>; n++) ends[n] = least_excess(space_, grid_, parts(), turn_, n);
    double &largest = ends[parts_of<Scalar>];
    largest         = -largest_entry(space_, grid_, parts());
    ranks_.least(ends, parts_of<Scalar> + 1);
    for (int n = 0; n < parts_of<Scalar>; n++) {
      if (!(std::abs(ends[n]) < std::numeric_limits<double>::max())) ends[n] = 0; // no row but fixed ones
    }
    scale_             = power_of_two(-largest);
    const Scalar least = from_parts<Scalar>(ends);
    share_diagonal(space_, grid_, AdiSlabs(box()), parts(), turn_, least, mean, slabs(least).data());

    some_fixed_ = sums.value[AdiSums::fixed] > 0;
    AdiSplit split;
    split.finite = sums.value[AdiSums::bad] == 0 && std::isfinite(sums.value[AdiSums::rest]);
    split.on     = sums.value[AdiSums::on];
    split.rest   = sums.value[AdiSums::rest];
    split.fixed  = static_cast<Index>(sums.value[AdiSums::fixed]);
    split.known  = static_cast<Index>(sums.value[AdiSums::penalties]);
    split.empty  = static_cast<Index>(sums.value[AdiSums::empty]);
    split.rows   = static_cast<Index>(sums.value[AdiSums::rows]);
    split.excess = ends[0];
    find_directions();
    return split;
  }
  AdiNeighbours<Scalar> neighbours(int k) const { return {box(), k, parts(), ends_[k][0].data(), ends_[k][1].data()}; }
  /// Of that size; 1 where it is none.
  static double power_of_two(double size) { return size > 0 && std::isfinite(size) ? std::exp2(std::floor(std::log2(size))) : 1; }
  /// The turns that the matrix may have, the first of them taken.
  void find_turns(bool negative)
  {
    if constexpr (is_complex<Scalar>) {
      std::vector<AdiNeighbours<Scalar>> lines;
      for (int k = 0; k < 3; k++) {
        if (grid_.has[k]) lines.push_back(neighbours(k));
      }
      double largest = -largest_entry(space_, grid_, parts());
      ranks_.least(&largest, 1);
      turns_ = turns_of(space_, grid_.rows, parts(), lines, power_of_two(-largest), ranks_);
    } else {
      turns_ = {negative ? -1.0 : 1.0};
    }
    turn_ = rounded(turns_[0]);
  }
  /// The least excess of all slabs, over all ranks.
  Kokkos::View<double *, Memory> slabs(Scalar least) const
  {
    const AdiSlabs slabs(box());
    const Kokkos::View<double *, Memory> slab("weft adi slabs", static_cast<std::size_t>(parts_of<Scalar> * slabs.size));
    Kokkos::deep_copy(space_, slab, std::numeric_limits<double>::max());
    slab_excess(space_, grid_, slabs, parts(), turn_, least, slab.data());
    const auto host = Kokkos::create_mirror_view(slab);
    Kokkos::deep_copy(space_, host, slab);
    space_.fence("weft: adi slabs");
    ranks_.least(host.data(), static_cast<int>(slab.extent(0)));
    Kokkos::deep_copy(space_, slab, host);
    space_.fence("weft: adi slabs, whose copies end here");
    return slab;
  }
  Values to_memory(const std::vector<Scalar> &from) const { return from.empty() ? Values() : from_host(space_, "weft adi ends", from); }

  Space space_;
  AdiRanks ranks_;
  AdiGrid grid_;
  MakeLines<Scalar> make_lines_;
  bool some_fixed_ = false;
  double scale_    = 1; ///< a power of two of the size of the largest entry
  Scalar turn_     = 1; ///< Base::turn()
  std::vector<Number> turns_;
  Values lower_[3], share_[3], upper_[3];
  Kokkos::View<Index *, Memory> rest_starts_, rest_columns_;
  Values rest_values_, diagonal_, work_;
  Values residual_; ///< the work space, but where a residual must outlive a sweep
  Kokkos::View<std::uint8_t *, Memory> fixed_;
  Kokkos::View<double, Memory> change_;
  Values ends_[3][2]; ///< couplings of the neighbouring pieces to this one
  std::vector<Shift> shifts_, alone_;
  std::vector<Values> shifted_[3]; ///< diagonals, for each shift
  std::vector<std::unique_ptr<AnyLines<Scalar>>> lines_[3];
  NativeHalfSweeps<Space, Scalar> native_;
};

} // namespace weft
