#include "bcr/transforms/eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

extern "C" {
void dpttrf_(const int *n, double *diagonal, double *off, int *info);
void dbdsqr_(const char *uplo, const int *n, const int *ncvt, const int *nru, const int *ncc, double *diagonal, double *off, double *vt,
             const int *ldvt, double *u, const int *ldu, double *c, const int *ldc, double *work, int *info, std::size_t);
void dstevd_(const char *job, const int *n, double *diagonal, double *off, double *z, const int *ldz, double *work, const int *lwork,
             int *iwork, const int *liwork, int *info, std::size_t);
void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work, const int *lwork,
             int *iwork, const int *liwork, int *info, std::size_t, std::size_t);
}

namespace weft::poisson {

namespace {

constexpr Index most_rows = 32768; ///< of a matrix of eigenvectors: 8 GB

constexpr Index least_rows_there = 32; ///< of a basis that a device finds: fewer are found sooner here

constexpr Index most_rows_at_once = 256; ///< all eigenvectors of as many rows are found where some would do

void check(int info, const char *routine)
{
  if (info != 0) throw std::runtime_error(std::string("LAPACK's ") + routine + " failed with info " + std::to_string(info));
}

/// sin(pi n / d) and cos(pi n / d) for all n.
class Circle {
public:
  explicit Circle(Index d) : period_(2 * d)
  {
    for (Index n = 0; n < period_; n++) {
      const long double angle = std::numbers::pi_v<long double> * static_cast<long double>(n) / static_cast<long double>(d);
      sine_.push_back(n % d == 0 ? 0 : static_cast<double>(std::sin(angle)));
      cosine_.push_back(4 * n % period_ == 0 && 2 * n % period_ != 0 ? 0 : static_cast<double>(std::cos(angle)));
    }
  }
  double sine(Index n) const { return sine_[static_cast<std::size_t>(n % period_)]; }
  double cosine(Index n) const { return cosine_[static_cast<std::size_t>(n % period_)]; }

private:
  Index period_;
  std::vector<double> sine_, cosine_;
};

/// Sines and cosines. An eigenvector's length is a sum of squares at equal angles, hence known: intervals / 2, or intervals where
/// all are 1.
EigenRows constant_rows(const ConstantLine &line, const std::vector<Index> &rows)
{
  const std::vector<Angle> angles = constant_angles(line);
  const Circle circle(angles.front().denominator);
  std::vector<Index> point_of(angles.size(), -1);
  for (Index point = 0; point <= line.intervals; point++) {
    const Index row = line.row(point);
    if (row >= 0 && point_of[static_cast<std::size_t>(row)] < 0) point_of[static_cast<std::size_t>(row)] = point;
  }
  EigenRows result;
  for (const Angle &phi : angles) result.values.push_back(line.diagonal + 2 * line.off * circle.cosine(phi.numerator));
  for (Index row : rows) {
    const Index point = point_of[static_cast<std::size_t>(row)];
    const bool mirror = (point == 0 || point == line.intervals) && !line.ring();
    std::vector<double> vectors, inverse;
    for (std::size_t q = 0; q < angles.size(); q++) {
      const Angle &phi = angles[q];
      // Sines where the first point's unknown is 0, and for one of a ring's pairs of equal eigenvalues.
      const bool sine  = line.ring() ? q > 0 && phi.numerator == angles[q - 1].numerator : !line.has_first();
      const bool units = phi.numerator % phi.denominator == 0; // 1 or -1 at all points
      const double v   = sine ? circle.sine(phi.numerator * point) : circle.cosine(phi.numerator * point);
      vectors.push_back(v);
      inverse.push_back((mirror ? 0.5 : 1.0) * v * (units ? 1 : 2) / static_cast<double>(line.intervals));
    }
    result.vectors.push_back(std::move(vectors));
    result.inverse.push_back(std::move(inverse));
  }
  return result;
}

std::vector<Index> all_rows(Index n)
{
  std::vector<Index> rows;
  for (Index i = 0; i < n; i++) rows.push_back(i);
  return rows;
}

EigenBasis constant_basis(const ConstantLine &line, Index n)
{
  const EigenRows rows = constant_rows(line, all_rows(n));
  const auto size      = static_cast<std::size_t>(n);
  EigenBasis basis{rows.values, std::vector<double>(size * size), std::vector<double>(size * size), {}, {}};
  for (std::size_t j = 0; j < size; j++) {
    for (std::size_t q = 0; q < size; q++) {
      basis.vectors[j * size + q] = rows.vectors[j][q];
      basis.inverse[q * size + j] = rows.inverse[j][q];
    }
  }
  return basis;
}

/// Puts even eigenvectors before odd ones, or behind them, so that as many come first as is an even number, which products ask for.
EigenBasis sorted_by_parity(const EigenBasis &basis)
{
  const std::size_t n = basis.values.size(), even = (n + 1) / 2;
  if (even % 2 == 1 && (n - even) % 2 == 1) return basis;
  EigenBasis sorted = basis;
  sorted.parity     = {static_cast<Index>(even % 2 == 0 ? even : n - even), even % 2 == 0};
  std::size_t to    = 0;
  for (bool wanted : {sorted.parity.even_first, !sorted.parity.even_first}) {
    for (std::size_t q = 0; q < n; q++) {
      const bool is_even = basis.vectors[q] * basis.vectors[(n - 1) * n + q] > 0;
      if (is_even != wanted) continue;
      sorted.values[to] = basis.values[q];
      for (std::size_t j = 0; j < n; j++) {
        sorted.vectors[j * n + to] = basis.vectors[j * n + q];
        sorted.inverse[to * n + j] = basis.inverse[q * n + j];
      }
      to++;
    }
  }
  return sorted;
}

/// The factor of a line whose diagonal dominates: what dominates it is eliminated, so that nothing cancels and each entry of B has all its
/// digits. LAPACK's dbdsqr finds each singular value of such a B, and its vectors, to their own digits.
/// Sources: J. Demmel, W. Kahan, SIAM J. Sci. Stat. Comput. 11 (1990) 873; A. Alfa, J. Xue, Q. Ye, Math. Comp. 71 (2002) 217.
std::optional<BidiagonalFactor> dominant_factor(const LineMatrix &line, const std::vector<double> &couplings)
{
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  double before             = 0; // what dominates the pivot above, relative to it
  BidiagonalFactor factor;
  factor.sign = line.diagonal[0] < 0 ? -1 : 1;
  for (std::size_t i = 0; i < line.size(); i++) {
    const double lower = std::abs(line.lower[i]), upper = std::abs(line.upper[i]);
    double excess = factor.sign * line.diagonal[i] - lower - upper;
    if (std::abs(excess) <= rounding * line.row_size(i)) excess = 0;
    if (!(excess >= 0)) return std::nullopt;
    excess += lower * before;
    const double pivot = excess + upper, root = std::sqrt(pivot);
    before = pivot > 0 ? excess / pivot : 0;
    factor.diagonal.push_back(root);
    factor.off.push_back(pivot > 0 ? factor.sign * couplings[i] / root : 0);
  }
  return factor;
}

/// If the rows or the columns of a line are dominated by the diagonal.
std::optional<BidiagonalFactor> dominant_factor(const LineMatrix &line)
{
  const std::vector<double> couplings = symmetric_couplings(line);
  if (auto factor = dominant_factor(line, couplings)) return factor;
  LineMatrix columns = line;
  for (std::size_t i = 0; i + 1 < line.size(); i++) {
    columns.upper[i]     = line.lower[i + 1];
    columns.lower[i + 1] = line.upper[i];
  }
  return dominant_factor(columns, couplings);
}

/// Of a line whose rows differ so much in size that eigenvalues right to rounding of the largest would lose the smallest.
std::optional<BidiagonalFactor> graded_factor(const LineMatrix &line)
{
  constexpr double much = 100;
  if (line.periodic || line.norm() <= much * line.row_size(line.weakest_row())) return std::nullopt;
  return dominant_factor(line);
}

/// T + c I with c a little above Gershgorin's bound is L D L^T = (L D^1/2) (L D^1/2)^T.
BidiagonalFactor shifted_factor(const LineMatrix &line)
{
  BidiagonalFactor factor{1, 0, line.diagonal, symmetric_couplings(line)};
  const std::size_t size = line.size();
  const int n            = static_cast<int>(line.n);
  const double norm      = line.norm();
  double lowest          = 0;
  int info               = 0;
  for (std::size_t i = 0; i < size; i++) {
    const double radius = (i > 0 ? std::abs(factor.off[i - 1]) : 0) + (i + 1 < size ? std::abs(factor.off[i]) : 0);
    lowest              = i == 0 ? line.diagonal[i] - radius : std::min(lowest, line.diagonal[i] - radius);
  }
  factor.shift = -lowest + norm / 64 + (norm == 0 ? 1 : 0);
  for (double &v : factor.diagonal) v += factor.shift;
  dpttrf_(&n, factor.diagonal.data(), factor.off.data(), &info);
  check(info, "dpttrf");
  for (std::size_t i = 0; i < size; i++) {
    factor.diagonal[i] = std::sqrt(factor.diagonal[i]);
    factor.off[i] *= factor.diagonal[i];
  }
  return factor;
}

/// Rows of the left singular vectors of B, `rows` of them in `u`, singular values in factor.diagonal.
void singular_rows(BidiagonalFactor &factor, const std::vector<Index> &rows, std::vector<double> &u)
{
  const std::size_t size = factor.diagonal.size(), count = rows.size();
  const int n = static_cast<int>(size), wanted = static_cast<int>(count), none = 0, one = 1;
  std::vector<double> work(4 * size);
  int info = 0;
  u.assign(count * size, 0);
  for (std::size_t r = 0; r < count; r++) u[static_cast<std::size_t>(rows[r]) * count + r] = 1;
  dbdsqr_("L", &n, &none, &wanted, &none, factor.diagonal.data(), factor.off.data(), nullptr, &one, u.data(), &wanted, nullptr, &one,
          work.data(), &info, 1);
  check(info, "dbdsqr");
}

} // namespace

std::vector<double> symmetric_couplings(const LineMatrix &line)
{
  std::vector<double> off(line.size(), 0);
  for (std::size_t i = 0; i < line.size(); i++) {
    const std::size_t next = i + 1 < line.size() ? i + 1 : 0;
    const double product   = line.upper[i] * line.lower[next];
    off[i]                 = std::copysign(std::sqrt(std::max(product, 0.0)), line.upper[i]);
  }
  return off;
}

BidiagonalFactor bidiagonal_factor(const LineMatrix &line)
{
  const auto factor = dominant_factor(line);
  return factor ? *factor : shifted_factor(line);
}

std::vector<Angle> constant_angles(const ConstantLine &line)
{
  std::vector<Angle> angles;
  const Index n = line.intervals;
  switch (line.ends) {
  case Ends::dirichlet_dirichlet:
    for (Index q = 1; q < n; q++) angles.push_back({q, n});
    break;
  case Ends::neumann_neumann:
    for (Index q = 0; q <= n; q++) angles.push_back({q, n});
    break;
  case Ends::periodic:
    for (Index q = 0; 2 * q <= n; q++) {
      angles.push_back({2 * q, n});
      if (q > 0 && 2 * q < n) angles.push_back({2 * q, n});
    }
    break;
  default:
    for (Index q = 1; q <= n; q++) angles.push_back({2 * q - 1, 2 * n});
  }
  return angles;
}

std::optional<std::string> eigen_basis_refused(const LineMatrix &line)
{
  if (line.n > most_rows)
    return "a matrix of eigenvectors of " + std::to_string(line.n) + " rows would not fit (the limit is " + std::to_string(most_rows) + ")";
  if (!symmetrizer(line))
    return "eigenvectors are needed along a direction whose couplings lower_{i+1} and upper_i differ in sign, or too much: it has no real "
           "eigenvectors that LAPACK's symmetric solvers find";
  return std::nullopt;
}

EigenBasis eigen_basis(const LineMatrix &line)
{
  if (const auto constant = constant_line(line)) return constant_basis(*constant, line.n);
  const std::vector<double> d   = *symmetrizer(line);
  const std::vector<double> off = symmetric_couplings(line);
  const std::size_t size        = line.size();
  // The eigenvectors of the symmetric line are the columns of z.
  const auto basis_of = [&](const std::vector<double> &values, const std::vector<double> &z) {
    EigenBasis basis{values, std::vector<double>(size * size), std::vector<double>(size * size), {}, {}};
    for (std::size_t q = 0; q < size; q++) {
      for (std::size_t j = 0; j < size; j++) {
        basis.vectors[j * size + q] = d[j] * z[q * size + j];
        basis.inverse[q * size + j] = z[q * size + j] / d[j];
      }
    }
    return basis;
  };
  if (auto factor = graded_factor(line)) {
    std::vector<double> u;
    singular_rows(*factor, all_rows(line.n), u);
    for (double &value : factor->diagonal) value *= factor->sign * value;
    return basis_of(factor->diagonal, u);
  }
  const int n = static_cast<int>(line.n), query = -1;
  std::vector<double> values = line.diagonal, z(size * size, 0), work(1);
  std::vector<int> iwork(1);
  int info = 0;
  if (line.periodic) {
    for (std::size_t i = 0; i < size; i++) {
      const std::size_t next = i + 1 < size ? i + 1 : 0;
      z[i * size + i]        = line.diagonal[i];
      z[i * size + next] = z[next * size + i] = off[i];
    }
  }
  const auto run = [&](const int *lwork, const int *liwork) {
    std::vector<double> couplings = off;
    if (line.periodic)
      dsyevd_("V", "U", &n, z.data(), &n, values.data(), work.data(), lwork, iwork.data(), liwork, &info, 1, 1);
    else
      dstevd_("V", &n, values.data(), couplings.data(), z.data(), &n, work.data(), lwork, iwork.data(), liwork, &info, 1);
    check(info, line.periodic ? "dsyevd" : "dstevd");
  };
  run(&query, &query);
  const int lwork = static_cast<int>(work[0]), liwork = iwork[0];
  work.resize(static_cast<std::size_t>(lwork));
  iwork.resize(static_cast<std::size_t>(liwork));
  run(&lwork, &liwork);
  return basis_of(values, z);
}

std::optional<std::string> mode_basis_refused(const LineMatrix &line)
{
  return fast_modes(line) ? std::nullopt : eigen_basis_refused(line);
}

EigenBasis mode_basis(const LineMatrix &line, const BasisSource &source)
{
  if (auto fast = fast_modes(line)) {
    const Index length = fast->to_modes.length;
    const bool chirp   = fourier_plan(length)->board != length;
    if (!(chirp && source.for_products && line.n <= longest_for_chirp && constant_line(line)))
      return {fast->values, {}, {}, std::move(fast), {}};
  }
  if (source.device && line.n >= least_rows_there && !constant_line(line)) {
    for (const auto &known : source.known) {
      if (known->line == line) return {known->values, {}, {}, {}, known};
    }
    if (auto found = parallel_basis(*source.device, line)) {
      source.known.push_back(found);
      return {found->values, {}, {}, {}, std::move(found)};
    }
  }
  if (const auto constant = constant_line(line); constant && source.for_products && constant->has_mirror())
    return sorted_by_parity(eigen_basis(line));
  return eigen_basis(line);
}

EigenRows eigen_rows(const LineMatrix &line, const std::vector<Index> &rows)
{
  if (const auto constant = constant_line(line)) return constant_rows(*constant, rows);
  if (line.n <= most_rows_at_once) { // divide and conquer loses least
    const EigenBasis basis = eigen_basis(line);
    const std::size_t n    = line.size();
    EigenRows result{basis.values, {}, {}};
    for (Index row : rows) {
      const auto j = static_cast<std::size_t>(row);
      result.vectors.emplace_back(basis.vectors.begin() + row * line.n, basis.vectors.begin() + (row + 1) * line.n);
      result.inverse.emplace_back();
      for (std::size_t q = 0; q < n; q++) result.inverse.back().push_back(basis.inverse[q * n + j]);
    }
    return result;
  }
  const std::vector<double> d = *symmetrizer(line);
  const std::size_t size      = line.size();
  const auto graded           = graded_factor(line);
  BidiagonalFactor factor     = graded ? *graded : shifted_factor(line);
  std::vector<double> u;
  singular_rows(factor, rows, u); // T's eigenvectors
  EigenRows result;
  for (double v : factor.diagonal) result.values.push_back(factor.sign * v * v - factor.shift);
  for (std::size_t r = 0; r < rows.size(); r++) {
    const double scale = d[static_cast<std::size_t>(rows[r])];
    std::vector<double> vectors(size), inverse(size);
    for (std::size_t i = 0; i < size; i++) {
      vectors[i] = scale * u[i * rows.size() + r];
      inverse[i] = u[i * rows.size() + r] / scale;
    }
    result.vectors.push_back(std::move(vectors));
    result.inverse.push_back(std::move(inverse));
  }
  return result;
}

} // namespace weft::poisson
