#include "bcr/transforms/parallel_eigen.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bcr/shifted/shifted_lines.hpp"
#include "bcr/transforms/products.hpp"

namespace weft::poisson {

namespace {

/// L Delta L^T: Delta, l, and l Delta and l^2 Delta, n numbers each.
struct Representation {
  const double *pivot, *factor, *coupling, *square;
};

/// Both of them, one after the other: n numbers of each kind, of the first and then of the second.
struct Representations {
  const double *pivot, *factor, *coupling, *square;
  Index n;
  KOKKOS_INLINE_FUNCTION Representation operator[](int which) const
  {
    return {pivot + which * n, factor + which * n, coupling + which * n, square + which * n};
  }
};

constexpr double tiny = 1e-140; ///< in the place of a pivot that is less, of matrices of size 1

KOKKOS_INLINE_FUNCTION double away_from_zero(double pivot)
{
  return Kokkos::abs(pivot) < tiny ? -tiny : pivot;
}

/// How the eigenvalues are divided: the lower `low` of them by the first factorization, the others by the second one, from its 0 on.
struct Halves {
  Index n, low;
  KOKKOS_INLINE_FUNCTION int which(Index q) const { return q < low ? 0 : 1; }
  KOKKOS_INLINE_FUNCTION Index order(Index q) const { return q < low ? q : n - 1 - q; }
};

constexpr std::uint64_t lowest_place = std::bit_cast<std::uint64_t>(1e-130), highest_place = std::bit_cast<std::uint64_t>(8.0);

/// The places between which eigenvalues lie, as bits of doubles; `points` of them are counted at once.
struct Places {
  Halves halves;
  int points;
  std::uint64_t *lower, *upper;

  KOKKOS_INLINE_FUNCTION double point(Index q, int k) const
  {
    const std::uint64_t between = upper[q] - lower[q], parts = static_cast<std::uint64_t>(points + 1),
                        part = static_cast<std::uint64_t>(k + 1);
    return Kokkos::bit_cast<double>(lower[q] + between / parts * part + between % parts * part / parts);
  }
};

/// Eigenvalues below points of Places, for `lanes` of them at a time.
template <int lanes>
struct CountBelow {
  Places places;
  Representations all;
  int *counts;

  KOKKOS_INLINE_FUNCTION void operator()(const Index bundle) const
  {
    const Index end = places.halves.n * places.points;
    double lambda[lanes], s[lanes], negative[lanes];
    bool same = true;
    for (int l = 0; l < lanes; l++) {
      const Index e = at(bundle * lanes + l, end);
      lambda[l]     = places.point(e / places.points, static_cast<int>(e % places.points));
      same          = same && places.halves.which(e / places.points) == places.halves.which(at(bundle * lanes, end) / places.points);
    }
    const int first = places.halves.which(at(bundle * lanes, end) / places.points);
    count(all[first], lambda, s, negative);
    for (int l = 0; l < lanes; l++) {
      if (bundle * lanes + l < end) counts[bundle * lanes + l] = static_cast<int>(negative[l]);
    }
    if (same) return;
    count(all[1 - first], lambda, s, negative);
    for (int l = 0; l < lanes; l++) {
      const Index e = bundle * lanes + l;
      if (e < end && places.halves.which(e / places.points) != first) counts[e] = static_cast<int>(negative[l]);
    }
  }

private:
  KOKKOS_INLINE_FUNCTION static Index at(Index e, Index end) { return e < end ? e : end - 1; }
  KOKKOS_INLINE_FUNCTION void count(const Representation &of, const double (&lambda)[lanes], double (&s)[lanes],
                                    double (&negative)[lanes]) const
  {
    for (int l = 0; l < lanes; l++) {
      s[l]        = -lambda[l];
      negative[l] = 0;
    }
    for (Index i = 0; i < places.halves.n; i++) {
      for (int l = 0; l < lanes; l++) {
        const double pivot = away_from_zero(of.pivot[i] + s[l]);
        negative[l] += pivot < 0 ? 1.0 : 0.0;
        s[l] = of.square[i] * (s[l] / pivot) - lambda[l];
      }
    }
  }
};

struct NarrowPlaces {
  Places places;
  const int *counts;

  KOKKOS_INLINE_FUNCTION void operator()(const Index q) const
  {
    std::uint64_t lower = places.lower[q], upper = places.upper[q];
    for (int k = 0; k < places.points; k++) {
      const auto point = Kokkos::bit_cast<std::uint64_t>(places.point(q, k));
      if (counts[q * places.points + k] > places.halves.order(q)) {
        upper = point;
        break;
      }
      lower = point;
    }
    places.lower[q] = lower;
    places.upper[q] = upper;
  }
};

/// Eigenvector q in elements i * n + q of z. `second`: which of them have the eigenvalue of the one before them in most digits.
struct TwistedVectors {
  Halves halves;
  Representations all;
  const double *values;
  const int *second;
  double *z, *below, *residual;

  KOKKOS_INLINE_FUNCTION void operator()(const Index q) const
  {
    const Index n           = halves.n;
    const Representation of = all[halves.which(q)];
    Index twist             = factorize(of, q, values[q]);
    if (second[q]) { // the first one's row, the row that is left, and the factors of this one again
      twist = elsewhere(of, q, factorize(of, q, values[q - 1]));
      factorize(of, q, values[q]);
    }
    double value = 1, sum = 1;
    for (Index i = twist - 1; i >= 0; i--) {
      value *= -of.coupling[i] / away_from_zero(of.pivot[i] + z[i * n + q]);
      z[i * n + q] = value;
      sum += value * value;
    }
    z[twist * n + q] = value = 1;
    for (Index i = twist; i + 1 < n; i++) {
      value *= below[i * n + q];
      z[(i + 1) * n + q] = value;
      sum += value * value;
    }
    const double scale = 1 / Kokkos::sqrt(sum);
    for (Index i = 0; i < n; i++) z[i * n + q] *= scale;
  }

private:
  static constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  /// s in z, the factors below and the residuals with what rounding leaves of them; returns the row of the least of these.
  KOKKOS_INLINE_FUNCTION Index factorize(const Representation &of, Index q, double lambda) const
  {
    const Index n = halves.n;
    double s      = -lambda;
    for (Index i = 0; i < n; i++) {
      z[i * n + q] = s;
      s            = of.square[i] * (s / away_from_zero(of.pivot[i] + s)) - lambda;
    }
    double p = of.pivot[n - 1] - lambda, least = Kokkos::abs(z[(n - 1) * n + q] + of.pivot[n - 1]);
    Index twist               = n - 1;
    residual[(n - 1) * n + q] = least + rounding * of.pivot[n - 1];
    for (Index i = n - 2; i >= 0; i--) {
      const double t     = of.pivot[i] / away_from_zero(of.square[i] + p);
      const double above = z[i * n + q], gamma = Kokkos::abs(above + p * t);
      below[i * n + q]    = -of.factor[i] * t;
      residual[i * n + q] = gamma + rounding * (Kokkos::abs(above) + Kokkos::abs(p * t));
      p                   = p * t - lambda;
      if (gamma < least) {
        least = gamma;
        twist = i;
      }
    }
    return twist;
  }
  /// The row whose residual is least where the vector of `twist` is not: 1 / gamma_k is near to a multiple of the sum of z_k^2 over both
  /// vectors.
  KOKKOS_INLINE_FUNCTION Index elsewhere(const Representation &of, Index q, Index twist) const
  {
    constexpr double not_there = 1e-12; // of z_k^2, beside 1 at the twist
    const Index n              = halves.n;
    double best = 0, value = 1;
    Index found       = twist;
    const double most = 64 * residual[twist * n + q];
    const auto look   = [&](Index i, double before) { // z changes its sign between rows, but is never 0 in two of them
      const double score = 1 / ((value * value + before * before + not_there) * (residual[i * n + q] + tiny));
      if (!(score > best) || residual[i * n + q] > most) return;
      best  = score;
      found = i;
    };
    for (Index i = twist - 1; i >= 0; i--) {
      const double before = value;
      value *= -of.coupling[i] / away_from_zero(of.pivot[i] + z[i * n + q]);
      look(i, before);
    }
    value = 1;
    for (Index i = twist; i + 1 < n; i++) {
      const double before = value;
      value *= below[i * n + q];
      look(i + 1, before);
    }
    return found;
  }
};

/// |Z^T Z - I|.
struct OffIdentity {
  Index n;
  const double *gram;
  KOKKOS_INLINE_FUNCTION void operator()(const Index e, double &most) const
  {
    const double off = Kokkos::abs(gram[e] - (e % n == e / n ? 1.0 : 0.0));
    if (!(off <= most)) most = off < 1e300 ? off : 1e300; // not a number counts too
  }
};
/// The same, a row's sum: a bound of its norm.
struct OffIdentityRows {
  Index n;
  const double *gram;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &most) const
  {
    double sum = 0;
    for (Index j = 0; j < n; j++) sum += Kokkos::abs(gram[j * n + i] - (i == j ? 1.0 : 0.0));
    if (!(sum <= most)) most = sum < 1e300 ? sum : 1e300;
  }
};

/// |S Z - Z diag(values)|, relative to the rows of S and to the eigenvalue, which may be far larger than a row of a graded line.
struct EigenResidual {
  Index n;
  const double *diagonal, *off, *values, *z;
  KOKKOS_INLINE_FUNCTION void operator()(const Index e, double &most) const
  {
    const Index i = e / n, q = e % n;
    const double above = i > 0 ? off[i - 1] : 0, below = i + 1 < n ? off[i] : 0;
    const double sum    = (above != 0 ? above * z[e - n] : 0) + (diagonal[i] - values[q]) * z[e] + (below != 0 ? below * z[e + n] : 0);
    const double size   = Kokkos::abs(above) + Kokkos::abs(diagonal[i]) + Kokkos::abs(below) + Kokkos::abs(values[q]);
    const double off_by = Kokkos::abs(sum) / (size > 0 ? size : 1);
    if (!(off_by <= most)) most = off_by < 1e300 ? off_by : 1e300;
  }
};

struct ScaleRows {
  Index n, ld; ///< of `to`: from row to row
  const double *factor, *from;
  bool divides;
  double *to;
  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const
  {
    const Index row        = e / n;
    to[row * (ld - n) + e] = divides ? from[e] / factor[row] : from[e] * factor[row];
  }
};

/// What the kernels take, before upload.
struct HostTables {
  std::vector<double> pivot, factor, coupling, square;
  double sign = 1, shift = 0, scale = 1, top = 0; ///< first: (sign S + shift I) scale; second: top I less that
};

HostTables tables_of(const LineMatrix &line)
{
  HostTables made;
  const std::size_t n         = line.size();
  const BidiagonalFactor root = bidiagonal_factor(line);
  made.sign                   = root.sign;
  made.shift                  = root.shift;
  double most                 = 0;
  for (std::size_t i = 0; i < n; i++) most = std::max(most, root.diagonal[i] * root.diagonal[i] + root.off[i] * root.off[i]);
  made.scale = most > 0 ? std::ldexp(1.0, -std::ilogb(most)) : 1;
  std::vector<double> diagonal(n), off(n, 0);
  for (std::size_t i = 0; i < n; i++) {
    const double r = root.diagonal[i], o = i + 1 < n ? root.off[i] : 0, pivot = r * r * made.scale, factor = r > 0 ? o / r : 0;
    made.pivot.push_back(pivot);
    made.factor.push_back(factor);
    diagonal[i] += pivot;
    off[i] = factor * pivot;
    if (i + 1 < n) diagonal[i + 1] += factor * off[i];
  }
  for (std::size_t i = 0; i < n; i++) made.top = std::max(made.top, diagonal[i] + std::abs(off[i]) + (i > 0 ? std::abs(off[i - 1]) : 0));
  made.top *= 1 + 64 * std::numeric_limits<double>::epsilon();
  double before = 0;
  for (std::size_t i = 0; i < n; i++) {
    const double pivot  = std::max(made.top - diagonal[i] - before, made.top * std::numeric_limits<double>::epsilon());
    const double factor = -off[i] / pivot;
    made.pivot.push_back(pivot);
    made.factor.push_back(factor);
    before = -factor * off[i];
  }
  for (std::size_t i = 0; i < 2 * n; i++) {
    made.coupling.push_back(made.factor[i] * made.pivot[i]);
    made.square.push_back(made.factor[i] * made.coupling[i]);
  }
  return made;
}

/// Eigenvalues of sign S + shift I below half of its largest one.
Index lower_half(const HostTables &tables, Index n)
{
  const double lambda = tables.top / 2;
  double s            = -lambda;
  Index below         = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++) {
    const double pivot = away_from_zero(tables.pivot[i] + s);
    if (pivot < 0) below++;
    s = tables.square[i] * (s / pivot) - lambda;
  }
  return below;
}

template <class Space>
class ParallelEigen {
public:
  ParallelEigen(const Space &space, const LineMatrix &line)
      : space_(space), line_(line), n_(line.n), tables_(tables_of(line)), halves_{n_, lower_half(tables_, n_)},
        pivot_(upload<double, Space>("weft eigen pivots", tables_.pivot)),
        factor_(upload<double, Space>("weft eigen factors", tables_.factor)),
        coupling_(upload<double, Space>("weft eigen couplings", tables_.coupling)),
        square_(upload<double, Space>("weft eigen squares", tables_.square))
  {
  }

  std::shared_ptr<DenseBasis> operator()()
  {
    find_values();
    find_vectors();
    if (!make_orthogonal() || !is_eigenbasis()) return nullptr;
    auto basis                  = std::make_shared<DenseBasisOn<Space>>();
    basis->line                 = line_;
    basis->values               = values_;
    basis->off_orthogonal       = off_identity_;
    basis->residual             = residual_;
    const std::vector<double> d = *symmetrizer(line_);
    const auto factors          = upload<double, Space>("weft eigen symmetrizer", d);
    const bool orthogonal       = std::all_of(d.begin(), d.end(), [](double v) { return v == 1; });
    gram_ = other_ = Values(); // room for what comes
    basis->ld      = padded_length(n_);
    basis->vectors = scaled(factors, basis->ld, false);
    basis->inverse = orthogonal ? basis->vectors : scaled(factors, basis->ld, true);
    space_.fence("weft: eigenvectors");
    return basis;
  }

private:
  using Values                = OwnedArray<double, Space>;
  static constexpr int lanes  = is_host_space<Space> ? 8 : 1;
  static constexpr int points = is_host_space<Space> ? 1 : 8;

  Representations representations() const { return {pivot_.data(), factor_.data(), coupling_.data(), square_.data(), n_}; }
  Values matrix(const std::string &label) const
  {
    return Values(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, label), static_cast<std::size_t>(n_ * n_));
  }
  /// The eigenvectors with rows times their factors, or divided by them, with rows and columns of zeros up to `ld` of each.
  Values scaled(const Values &factors, Index ld, bool divides) const
  {
    Values to(Kokkos::view_alloc(space_, "weft eigenvectors"), static_cast<std::size_t>(ld * ld));
    run("weft eigenvectors", n_ * n_, ScaleRows{n_, ld, factors.data(), z_.data(), divides, to.data()});
    return to;
  }
  template <class Body>
  void run(const char *label, Index count, const Body &body) const
  {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, count), body);
  }
  template <class Body>
  double largest(const char *label, Index count, const Body &body) const
  {
    double most = 0;
    Kokkos::parallel_reduce(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, count), body, Kokkos::Max<double>(most));
    return most;
  }

  /// 1.
  void find_values()
  {
    const std::vector<std::uint64_t> lowest(static_cast<std::size_t>(n_), lowest_place),
        highest(static_cast<std::size_t>(n_), highest_place);
    const auto lower = upload<std::uint64_t, Space>("weft eigenvalues above", lowest),
               upper = upload<std::uint64_t, Space>("weft eigenvalues below", highest);
    const OwnedArray<int, Space> counts("weft eigenvalues counted", static_cast<std::size_t>(n_ * points));
    const Places places{halves_, points, lower.data(), upper.data()};
    const Index bundles = (n_ * points + lanes - 1) / lanes;
    for (std::uint64_t apart = highest_place - lowest_place; apart > 1; apart = apart / (points + 1) + 1 - (apart % (points + 1) == 0)) {
      run("weft eigenvalues counted", bundles, CountBelow<lanes>{places, representations(), counts.data()});
      run("weft eigenvalues narrowed", n_, NarrowPlaces{places, counts.data()});
    }
    const auto found = Kokkos::create_mirror_view(lower);
    Kokkos::deep_copy(space_, found, lower);
    space_.fence("weft: eigenvalues");
    for (Index q = 0; q < n_; q++) {
      const double place = found(q) == lowest_place ? 0 : std::bit_cast<double>(static_cast<std::uint64_t>(found(q)));
      near_.push_back(place);
      const double value = halves_.which(q) == 0 ? place : tables_.top - place;
      values_.push_back(tables_.sign * (value / tables_.scale - tables_.shift));
    }
  }

  /// 2.
  void find_vectors()
  {
    // Eigenvalues that have fewer digits of their own than these leave vectors at angles which step 3 does not set right.
    constexpr double close = 2e-13;
    std::vector<int> second(static_cast<std::size_t>(n_), 0);
    for (std::size_t q = 1; q < near_.size(); q++) {
      if (halves_.which(static_cast<Index>(q)) != halves_.which(static_cast<Index>(q) - 1) || second[q - 1]) continue;
      second[q] = std::abs(near_[q] - near_[q - 1]) <= close * std::max(near_[q], near_[q - 1]);
    }
    const auto near = upload<double, Space>("weft eigenvalues", near_);
    const auto take = upload<int, Space>("weft eigenvalues in pairs", second);
    z_              = matrix("weft eigenvectors");
    gram_           = matrix("weft eigenvectors below");
    other_          = matrix("weft eigenvectors residuals");
    run("weft eigenvectors", n_,
        TwistedVectors{halves_, representations(), near.data(), take.data(), z_.data(), gram_.data(), other_.data()});
    space_.fence("weft: eigenvectors");
  }

  /// 3. False where vectors are too far from orthogonal.
  bool make_orthogonal()
  {
    const Products<Space> products(space_);
    for (int step = 0; step < most_steps; step++) {
      products(space_, Product<double>{n_, n_, n_, {z_.data(), n_}, {z_.data(), n_, true}, gram_.data(), n_});
      off_identity_ = largest("weft eigenvectors angles", n_ * n_, OffIdentity{n_, gram_.data()});
      if (off_identity_ <= good_enough) return true;
      if (step == 0 && off_identity_ > 1e-3 && !(largest("weft eigenvectors angles", n_, OffIdentityRows{n_, gram_.data()}) < 0.9))
        return false;
      // In the order of columns z_ is the transpose of Z.
      Kokkos::deep_copy(space_, other_, z_);
      products(space_, Product<double>{n_, n_, n_, {gram_.data(), n_}, {z_.data(), n_}, other_.data(), n_, 0, 1, -0.5, 1.5});
      std::swap(z_, other_);
      // What a step leaves is 3/4 of the square.
      if (static_cast<double>(n_) * off_identity_ * off_identity_ <= good_enough) return true;
    }
    return false;
  }

  /// 4.
  bool is_eigenbasis()
  {
    std::vector<double> off = symmetric_couplings(line_);
    const auto diagonal     = upload<double, Space>("weft eigen diagonal", line_.diagonal),
               couplings = upload<double, Space>("weft eigen off", off), values = upload<double, Space>("weft eigenvalues", values_);
    residual_ =
        largest("weft eigenvectors residuals", n_ * n_, EigenResidual{n_, diagonal.data(), couplings.data(), values.data(), z_.data()});
    gram_ = other_ = Values();
    return residual_ <= 1e-13;
  }
  static constexpr double good_enough = 1e-14; ///< of Z^T Z - I
  static constexpr int most_steps     = 8;

  Space space_;
  const LineMatrix &line_;
  Index n_;
  HostTables tables_;
  Halves halves_;
  Values pivot_, factor_, coupling_, square_, z_, gram_, other_;
  std::vector<double> near_, values_; ///< eigenvalues from the 0 of their factorization, and those of the line
  double off_identity_ = 0, residual_ = 0;
};

} // namespace

std::shared_ptr<const DenseBasis> parallel_basis(const Execution &execution, const LineMatrix &line)
{
  if (line.periodic || eigen_basis_refused(line)) return nullptr;
  return on_backend(execution, [&](const auto &space) -> std::shared_ptr<const DenseBasis> {
    return ParallelEigen<std::decay_t<decltype(space)>>(space, line)();
  });
}

} // namespace weft::poisson
