#include "bcr/pencil/pencil_modes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

extern "C" {
void dsygvd_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *b, const int *ldb,
             double *w, double *work, const int *lwork, int *iwork, const int *liwork, int *info, std::size_t, std::size_t);
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda, double *wr, double *wi, double *vl,
            const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info, std::size_t, std::size_t);
}

namespace weft {

namespace {

poisson::LineMatrix transposed(const poisson::LineMatrix &line)
{
  poisson::LineMatrix t = line;
  const std::size_t n   = line.size();
  for (std::size_t i = 0; i < n; i++) {
    t.lower[i] = line.upper[i > 0 ? i - 1 : n - 1];
    t.upper[i] = line.lower[i + 1 < n ? i + 1 : 0];
  }
  return t;
}

} // namespace

PencilOperator transposed(PencilOperator op)
{
  for (Pencil &pencil : op.directions) {
    for (auto &matrix : pencil.matrix) matrix = transposed(matrix);
  }
  return op;
}

namespace poisson {

namespace {

constexpr double epsilon  = std::numeric_limits<double>::epsilon();
constexpr Index most_rows = 8192; ///< of the matrices of a pencil without fast transforms: five of them at set-up

/// The second difference with ends of some kind, and 1/2 in the rows that finite elements halve.
struct Difference {
  LineMatrix line;
  bool halved[2] = {false, false};
};

enum class End { dirichlet, dirichlet_of_cells, neumann, neumann_of_cells, neumann_halved };

Difference difference(Index n, bool ring, End first, End last)
{
  const auto size = static_cast<std::size_t>(n);
  Difference d{{n, ring, std::vector<double>(size, 1), std::vector<double>(size, -2), std::vector<double>(size, 1)}, {}};
  if (ring) return d;
  d.line.lower.front() = d.line.upper.back() = 0;
  const auto make                            = [&](End end, double &diagonal, double &coupling, bool &halved) {
    if (end == End::dirichlet_of_cells) diagonal = -3;
    if (end == End::neumann_of_cells) diagonal = -1;
    if (end == End::neumann || end == End::neumann_halved) coupling = 2;
    halved = end == End::neumann_halved;
  };
  make(first, d.line.diagonal.front(), d.line.upper.front(), d.halved[0]);
  make(last, d.line.diagonal.back(), d.line.lower.back(), d.halved[1]);
  return d;
}

/// constant I + factor times a difference.
struct OfDifference {
  double constant = 0, factor = 0;
};

/// That which a matrix is, to rounding.
std::optional<OfDifference> as_difference(const LineMatrix &matrix, const Difference &d)
{
  const std::size_t middle = matrix.size() / 2;
  OfDifference of;
  of.factor   = matrix.upper[middle];
  of.constant = matrix.diagonal[middle] + 2 * of.factor;
  if (std::abs(of.constant) <= 16 * epsilon * matrix.row_size(middle)) of.constant = 0;
  const double close = 32 * epsilon * matrix.row_size(middle);
  for (std::size_t i = 0; i < matrix.size(); i++) {
    const bool half  = (i == 0 && d.halved[0]) || (i + 1 == matrix.size() && d.halved[1]);
    const double row = half ? 0.5 : 1;
    if (std::abs(matrix.lower[i] - row * of.factor * d.line.lower[i]) > close) return std::nullopt;
    if (std::abs(matrix.upper[i] - row * of.factor * d.line.upper[i]) > close) return std::nullopt;
    if (std::abs(matrix.diagonal[i] - row * (of.constant + of.factor * d.line.diagonal[i])) > close) return std::nullopt;
  }
  return of;
}

std::optional<PencilModes> fast_pencil_modes(const Pencil &pencil)
{
  constexpr End ends[] = {End::dirichlet, End::dirichlet_of_cells, End::neumann, End::neumann_of_cells, End::neumann_halved};
  if (pencil.n() < 4) return std::nullopt;
  for (End first : ends) {
    for (End last : ends) {
      if (pencil.periodic() && (first != End::dirichlet || last != End::dirichlet)) continue;
      const Difference d = difference(pencil.n(), pencil.periodic(), first, last);
      const auto m = as_difference(pencil.matrix[0], d), t = as_difference(pencil.matrix[1], d);
      if (!m || !t) continue;
      auto fast = fast_modes(d.line);
      if (!fast) continue;
      PencilModes modes;
      for (double value : fast->values) {
        modes.values[0].push_back(m->constant + m->factor * value);
        modes.values[1].push_back(t->constant + t->factor * value);
      }
      modes.to_modes     = std::move(fast->to_modes);
      modes.from_modes   = std::move(fast->from_modes);
      TransformShape &to = *modes.to_modes;
      (to.reads_backwards ? to.last_weight : to.first_weight) *= d.halved[0] ? 2 : 1;
      (to.reads_backwards ? to.first_weight : to.last_weight) *= d.halved[1] ? 2 : 1;
      return modes;
    }
  }
  return std::nullopt;
}

/// Column after column.
std::vector<double> full(const LineMatrix &line)
{
  const std::size_t n = line.size();
  std::vector<double> a(n * n, 0);
  for (std::size_t i = 0; i < n; i++) {
    a[i + n * i] += line.diagonal[i];
    if (i > 0 || line.periodic) a[i + n * (i > 0 ? i - 1 : n - 1)] += line.lower[i];
    if (i + 1 < n || line.periodic) a[i + n * (i + 1 < n ? i + 1 : 0)] += line.upper[i];
  }
  return a;
}

bool symmetric(const LineMatrix &line)
{
  for (std::size_t i = 0; i < line.size(); i++) {
    const std::size_t next = i + 1 < line.size() ? i + 1 : 0;
    if (next == 0 && !line.periodic) continue;
    if (std::abs(line.upper[i] - line.lower[next]) > 4 * epsilon * line.row_size(i)) return false;
  }
  return true;
}

std::vector<double> turned(const std::vector<double> &a, std::size_t n)
{
  std::vector<double> b(a.size());
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) b[i * n + j] = a[i + n * j];
  }
  return b;
}

/// M definite, both symmetric: R^T M R = +-I, R^T T R = diag(t).
std::optional<PencilModes> definite_modes(const Pencil &pencil)
{
  if (!symmetric(pencil.matrix[0]) || !symmetric(pencil.matrix[1])) return std::nullopt;
  const std::size_t size = pencil.matrix[0].size();
  const int n = static_cast<int>(size), one = 1, query = -1;
  const double sign     = pencil.matrix[0].diagonal[0] < 0 ? -1 : 1;
  std::vector<double> a = full(pencil.matrix[1]), b = full(pencil.matrix[0]), values(size), work(1);
  std::vector<int> iwork(1);
  int info = 0;
  for (double &v : b) v *= sign;
  dsygvd_(&one, "V", "U", &n, a.data(), &n, b.data(), &n, values.data(), work.data(), &query, iwork.data(), &query, &info, 1, 1);
  const int lwork = static_cast<int>(work[0]), liwork = iwork[0];
  work.resize(static_cast<std::size_t>(lwork));
  iwork.resize(static_cast<std::size_t>(liwork));
  dsygvd_(&one, "V", "U", &n, a.data(), &n, b.data(), &n, values.data(), work.data(), &lwork, iwork.data(), &liwork, &info, 1, 1);
  if (info > n) return std::nullopt; // M is not definite
  if (info != 0) throw std::runtime_error("LAPACK's dsygvd failed with " + std::to_string(info));
  PencilModes modes;
  modes.values[0].assign(size, sign);
  modes.values[1] = std::move(values);
  modes.right     = turned(a, size);
  modes.left      = std::move(a); // columns of R are rows of R^T
  return modes;
}

std::optional<std::string> general_modes(const Pencil &pencil, PencilModes &modes)
{
  constexpr double worst = 1e8; // of the eigenvectors' condition: half of the digits
  const std::size_t size = pencil.matrix[0].size();
  const int n = static_cast<int>(size), query = -1;
  std::vector<double> a = full(pencil.matrix[1]), b = full(pencil.matrix[0]), imaginary(size), right(size * size), work(1);
  std::vector<int> pivots(size);
  int info = 0;
  modes    = {};
  modes.values[0].assign(size, 1);
  modes.values[1].resize(size);
  dgesv_(&n, &n, b.data(), &n, pivots.data(), a.data(), &n, &info);
  if (info != 0) return "the matrix of its rows' diagonal couplings is singular";
  const auto run = [&](const int *lwork) {
    dgeev_("N", "V", &n, a.data(), &n, modes.values[1].data(), imaginary.data(), nullptr, &n, right.data(), &n, work.data(), lwork, &info,
           1, 1);
  };
  run(&query);
  const int lwork = static_cast<int>(work[0]);
  work.resize(static_cast<std::size_t>(lwork));
  run(&lwork);
  if (info != 0) throw std::runtime_error("LAPACK's dgeev failed with " + std::to_string(info));
  for (double v : imaginary) {
    if (v != 0) return "its two matrices have no real eigenvectors in common";
  }
  // L = (M R)^-1
  const LineMatrix &m = pencil.matrix[0];
  std::vector<double> product(size * size), left(size * size, 0);
  double norm = 0, of_inverse = 0;
  for (std::size_t q = 0; q < size; q++) {
    const double *const v = &right[q * size];
    for (std::size_t i = 0; i < size; i++) {
      const double below    = i > 0 || m.periodic ? m.lower[i] * v[i > 0 ? i - 1 : size - 1] : 0;
      const double above    = i + 1 < size || m.periodic ? m.upper[i] * v[i + 1 < size ? i + 1 : 0] : 0;
      product[q * size + i] = below + m.diagonal[i] * v[i] + above;
      norm += product[q * size + i] * product[q * size + i];
    }
    left[q * size + q] = 1;
  }
  dgesv_(&n, &n, product.data(), &n, pivots.data(), left.data(), &n, &info);
  for (double v : left) of_inverse += v * v;
  if (info != 0 || !(std::sqrt(norm) * std::sqrt(of_inverse) <= worst * static_cast<double>(size)))
    return "the eigenvectors that its two matrices have in common are nearly parallel";
  modes.right = turned(right, size);
  modes.left  = turned(left, size);
  return std::nullopt;
}

} // namespace

bool has_fast_modes(const Pencil &pencil)
{
  return fast_pencil_modes(pencil).has_value();
}

std::optional<std::string> pencil_modes_refused(const Pencil &pencil)
{
  if (has_fast_modes(pencil)) return std::nullopt;
  const LineMatrix &m = pencil.matrix[0];
  if (pencil.n() <= most_rows && !m.periodic && symmetric(m) && symmetric(pencil.matrix[1])) {
    bool definite = true;
    double before = 0; // upper^2 / pivot of the row above
    for (std::size_t i = 0; i < m.size(); i++) {
      const double pivot = m.diagonal[i] - before;
      definite           = definite && pivot * m.diagonal[0] > 0 && std::abs(pivot) > 64 * epsilon * m.row_size(i);
      before             = m.upper[i] * m.upper[i] / pivot;
    }
    if (definite) return std::nullopt;
  }
  PencilModes modes;
  return find_pencil_modes(pencil, modes);
}

std::optional<std::string> find_pencil_modes(const Pencil &pencil, PencilModes &modes)
{
  if (auto fast = fast_pencil_modes(pencil)) {
    modes = std::move(*fast);
    return std::nullopt;
  }
  if (pencil.n() > most_rows)
    return "matrices of eigenvectors of " + std::to_string(pencil.n()) + " rows would not fit (the limit is " + std::to_string(most_rows) +
           ")";
  if (auto definite = definite_modes(pencil)) {
    modes = std::move(*definite);
    return std::nullopt;
  }
  return general_modes(pencil, modes);
}

} // namespace poisson

} // namespace weft
