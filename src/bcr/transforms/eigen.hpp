/// Eigenvalues and eigenvectors of lines, at set-up on the host: in closed form for constant coefficients, else by LAPACK.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bcr/detect/direction_matrix.hpp"
#include "bcr/transforms/trigonometric.hpp"

namespace weft::poisson {

/// V and V^-1 of a line in the memory of an execution (DenseBasisOn of parallel_eigen.hpp), for whoever solves with that line.
struct DenseBasis {
  LineMatrix line;
  std::vector<double> values;
  double off_orthogonal = 0,
         residual = 0; ///< of the symmetric line: largest of |Z^T Z - I|, and of |S Z - Z diag(values)| relative to rows and eigenvalues

  virtual ~DenseBasis()             = default;
  virtual std::size_t bytes() const = 0;
};

/// The eigenvectors of a line that is the same read from either end are even or odd: those of one kind come first, and V^-1 takes them to
/// sums x_j + x_{n-1-j}, or to differences, only. (A. Cantoni, P. Butler, Linear Algebra Appl. 13 (1976) 275.)
struct Parity {
  Index first     = 0; ///< how many there are of the first kind, an even number; 0: they are mixed
  bool even_first = true;

  explicit operator bool() const { return first > 0; }
};

/// Where a solve takes eigenvectors from: a device, which finds them unless they are known there already, or the host (null).
struct BasisSource {
  const Execution *device = nullptr;
  mutable KnownBases known; ///< with those that were found
  /// Transforms are products of matrices: short chirps too (see mode_basis), and where eigenvectors are known in closed form, even ones come
  /// apart from odd ones.
  bool for_products = false;
};

/// T = V diag(values) V^-1; matrices row after row.
struct EigenBasis {
  std::vector<double> values;
  std::vector<double> vectors, inverse;    ///< V and V^-1
  std::optional<FastModes> fast;           ///< or these, and no matrices
  std::shared_ptr<const DenseBasis> there; ///< or these, where the solve is
  Parity parity = {};

  /// What takes the place of V^-1, and of V.
  std::optional<TransformShape> to_modes() const { return fast ? std::optional(fast->to_modes) : std::nullopt; }
  std::optional<TransformShape> from_modes() const { return fast ? std::optional(fast->from_modes) : std::nullopt; }
};

/// Why a line has no real eigenbasis that this module can find, or nothing.
std::optional<std::string> eigen_basis_refused(const LineMatrix &line);
EigenBasis eigen_basis(const LineMatrix &line);

/// sign D^-1 T D + shift I = B B^T, D the line's symmetrizer and B lower bidiagonal, of an open line. Where diagonals dominate rows or columns
/// shift is 0, and each entry of B has all its digits.
struct BidiagonalFactor {
  double sign = 1, shift = 0;
  std::vector<double> diagonal, off;
};
BidiagonalFactor bidiagonal_factor(const LineMatrix &line);
/// The off-diagonals of D^-1 T D; the last one couples the ends of a ring.
std::vector<double> symmetric_couplings(const LineMatrix &line);

/// The eigenpairs of an open line, found where `execution` is, in O(n^2) operations; null where that finds none to rounding: in clusters of
/// eigenvalues.
std::shared_ptr<const DenseBasis> parallel_basis(const Execution &execution, const LineMatrix &line);

/// The same for transforms: `fast` and no matrices where the line has fast_modes, else eigen_basis.
std::optional<std::string> mode_basis_refused(const LineMatrix &line);
/// With for_products a constant line of up to longest_for_chirp rows whose fast transform is a chirp has sines and cosines as matrices.
EigenBasis mode_basis(const LineMatrix &line, const BasisSource &source = {});
/// From here on a chirp takes less time on a device than a product of matrices: counted, at 55 Tflop/s and 34 ps a number of a chirp.
inline constexpr Index longest_for_chirp = 900;

/// 2 cos(phi_q) and phi_q / pi = numerator / denominator for the line (1, 0, 1) with those ends, in the order of eigen_basis(that line).
struct Angle {
  Index numerator, denominator;
};
std::vector<Angle> constant_angles(const ConstantLine &line);

/// The eigenvalues, and some rows of V and columns of V^-1.
struct EigenRows {
  std::vector<double> values;
  std::vector<std::vector<double>> vectors; ///< V_{rows[r], i} in vectors[r][i]
  std::vector<std::vector<double>> inverse; ///< (V^-1)_{i, rows[r]} in inverse[r][i]
};

/// Of an open line, in O(n^2) operations for each row where it is long: the singular vectors of a bidiagonal factor of T + c I, of which
/// LAPACK forms any rows.
/// Source: J. Demmel, W. Kahan, SIAM J. Sci. Stat. Comput. 11 (1990) 873 (LAPACK's dbdsqr).
EigenRows eigen_rows(const LineMatrix &line, const std::vector<Index> &rows);

} // namespace weft::poisson
