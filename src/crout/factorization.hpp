/// CroutFactorization: incomplete and complete LU and LDL^T factors of a sparse matrix, on the host or on a device, by fixed-point Crout sweeps
/// or exactly. The way into these kernels for callers that include no Kokkos header.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/owner.hpp"
#include "crout/factors.hpp"
#include "line/any_csr.hpp"

namespace weft {

/// Where the factors may have entries.
enum class FillPattern {
  levels,    ///< ILU(k): the matrix' own entries and fill up to level k
  threshold, ///< the entries that matter by size, at most a quota a row: chosen by the values that analyse() sees
  full,      ///< all fill, complete LU or LDL^T
};

enum class FactorScaling {
  none,
  unit_diagonal, ///< rows and columns by 1 / sqrt |a_ii|
  ruiz,          ///< rows and columns by 1 / sqrt of their largest entry, three times
};

/// How the factors of a pattern are found.
enum class FactorMethod {
  automatic, ///< exact on a host and for full fill; on a device sweeps, or exact where sweeps take longer
  sweeps,
  exact, ///< elimination, rows whose dependencies are met side by side
};

/// When sweeps end. None runs longer than options.sweeps where that is given.
enum class SweepStop {
  automatic, ///< 5 to 8 sweeps to a hundredth of the first residual; where they do not do, up to 32 to a thousandth
  sweeps,    ///< options.sweeps sweeps
  change,    ///< |z_new - z| <= tolerance * |z| over all entries z of the factors
  residual,  ///< |B - L U| <= tolerance * |B| over the pattern, Frobenius norms
};

/// What is done about a pivot too small to divide by, or of the wrong sign; amounts are relative to the scaled diagonal.
enum class PivotShift {
  none,              ///< nothing: the factorization fails and says where
  nonzero,           ///< factor B + amount * I, ten times the amount at each further try
  positive_definite, ///< the same until all pivots are positive
  in_blocks,         ///< set the pivot to the amount where it is too small, and go on
};

/// Of CroutOptions::levels: a level is kept in 16 bits.
inline constexpr int most_levels_of_fill = 60000;

struct CroutOptions {
  FillPattern pattern   = FillPattern::levels;
  int levels            = 0;    ///< k of ILU(k)
  double drop_tolerance = 1e-3; ///< threshold: entries below drop_tolerance * (mean size of the row's entries in B) are left out
  Index row_quota  = 0; ///< threshold: most entries of a row in each triangle; 0: twice the mean number in a triangle of the matrix, and 2
  double most_fill = 0; ///< refuse a pattern of more than this times the matrix' entries; 0: only what memory refuses

  double most_operations = 0;                    ///< full: refuse factors of more multiplications than this; 0: of any number
  std::function<void(const std::string &)> tell; ///< full: called with what is predicted of the factors, before they are made

  bool symmetric        = false; ///< L D L^T; of the matrix, only entries on and above the diagonal count
  bool hermitian        = false; ///< symmetric, and the lower half is the conjugate of the upper one: L D L^H with real D
  FactorScaling scaling = FactorScaling::unit_diagonal;
  bool match_rows       = true; ///< permute rows where a diagonal entry is missing, zero or tiny (not where symmetric)
  /// Tiny: below this, where rows and columns are scaled so that what can stand on the diagonal is 1. 1: permute to the largest product.
  double tiny_diagonal = 1e-8;

  FactorMethod method = FactorMethod::automatic;
  SweepStop stop      = SweepStop::automatic;
  int sweeps          = 0;     ///< 0: 5 where the number decides, 1000 where it is only a limit
  double omega        = 0;     ///< under-relaxation of sweeps; 0: 1, and 0.5 where that grows
  double tolerance    = 1e-2;  ///< of the stop by change or residual
  int sections        = 0;     ///< blocks of rows that converge in order; 0: one, and more where that is needed
  bool asynchronous   = false; ///< sweeps in place: fewer of them, but no two runs are the same
  bool ladder         = true;  ///< go on to omega 0.5, sections, shifts 0.1 and 0.3 and exact elimination where sweeps grow

  /// FillPattern::full, not symmetric: set zero pivots to the root of the rounding unit and go on (X. S. Li, J. W. Demmel, "SuperLU_DIST",
  /// ACM TOMS 29, 2003): for who refines solves and looks at what is left. The report says how many, and the first row.
  bool replace_pivots = false;
  PivotShift shift    = PivotShift::none;
  double shift_amount = 0;  ///< 0: 1e-10 (in_blocks: zero_pivot)
  double zero_pivot   = -1; ///< pivots up to zero_pivot * (sum of the row's sizes in B) are unusable; < 0: 100 units of rounding
  double base_shift   = 0;  ///< factor B + base_shift * diag(B) from the start
};

/// Orders of rows and columns, new to old (row i of the factors is row rows[i] of the matrix); on the host; empty: as they come.
struct FactorOrdering {
  std::vector<Index> rows, columns;
};

enum class FactorFailure { none, not_finite_input, zero_pivot, not_finite };

/// Complete factors that would take longer than options.most_operations allows.
class TooManyOperations : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

/// What a factorization did.
struct CroutReport {
  FactorFailure failure = FactorFailure::none;
  Index row             = -1;    ///< of the caller's matrix, where the failure was found
  bool complete         = false; ///< with all fill
  bool exact            = false;
  bool warm             = false;     ///< started from the factors before
  bool matched          = false;     ///< rows were permuted to put large entries on the diagonal
  int sweeps            = 0;         ///< of the attempt that was kept
  int all_sweeps        = 0;         ///< with those of attempts given up (sections: in parts of a whole sweep, rounded up)
  std::vector<KernelReal> residuals; ///< |B - L U| / |B| on the pattern before each sweep of that attempt
  double growth   = 1;               ///< largest of them over the first
  double omega    = 1;
  int sections    = 1;
  double shift    = 0;     ///< added to the diagonal of B, relative to its size
  Index boosted   = 0;     ///< pivots that were replaced
  Index weak      = 0;     ///< exact: pivots smaller than `strong` times the sizes in their rows of B
  Index positive  = 0;     ///< pivots > 0: with symmetric the inertia of the matrix
  Index negative  = 0;     ///< pivots < 0
  Index levels    = 0;     ///< steps of exact elimination; 0 where it was not needed
  Index entries   = 0;     ///< of L (without its unit diagonal) and U
  bool match_list = false; ///< products of every entry known beforehand
  std::string attempts;    ///< what was tried and given up, as words; empty where the first attempt was kept

  static constexpr double strong = 1e-3;

  /// A line of text for a user: "5 sweeps, omega 1, residual 2.1e-03".
  std::string text() const;
};

/// Why it failed and what to do about it, or "".
std::string explain(const CroutReport &report);

/// Throws std::invalid_argument for options that contradict each other.
void check_options(const CroutOptions &options);

/// Factors in Scalar (float or double) of a matrix in double.
template <class Scalar>
class CroutFactorization {
public:
  /// `execution` must live as long. Throws std::invalid_argument for options that contradict each other.
  static Owner<CroutFactorization> make(const Execution &execution, const CroutOptions &options);
  virtual ~CroutFactorization()                             = default;
  CroutFactorization(const CroutFactorization &)            = delete;
  CroutFactorization &operator=(const CroutFactorization &) = delete;

  /// Finds orders and pattern of the factors, once for a pattern of the matrix; columns need no order. Reads values only where a diagonal
  /// entry could be tiny and for FillPattern::threshold. Throws std::invalid_argument, naming the row, for a matrix that is not square, has an
  /// empty row, a column out of range or an entry twice; std::length_error where the fill passes the limits or, of complete factors, the memory
  /// that is free; TooManyOperations. Waits.
  virtual void analyse(Index rows, Index columns, const AnyCsr<KernelScalar> &matrix, const FactorOrdering &ordering = {}) = 0;

  /// Whether analyse() would find the same orders and pattern for these values of the analysed pattern: whether rows are permuted, and how,
  /// depends on them, and so does FillPattern::threshold. Waits.
  virtual bool analysis_holds(const AnyCsr<KernelScalar> &matrix) = 0;

  /// Whether the values that analyse() or analysis_holds() saw last have each row, in the order of the factors, dominated by its diagonal entry:
  /// |a_ii| >= sum |a_ij|. Not known, and false, of a threshold's pattern and of permuted rows; where rows may not be permuted it is known of a
  /// pattern of levels on a host alone.
  virtual bool rows_dominated() const = 0;

  /// Factors new values of the pattern. warm: start sweeps from the factors before, for values that changed little. Never throws for
  /// numbers: see report(). Waits.
  virtual void factor(const AnyCsr<KernelScalar> &matrix, bool warm = false) = 0;

  const CroutReport &report() const { return report_; }
  /// How many times larger than the rows of B those of |L| |U| are, at most: by so much more than by rounding a solve may be wrong, and where factors
  /// are incomplete so much of a residual may be hidden by M^-1. Waits.
  virtual double product_size() = 0;
  /// The factors: valid until the next factor(). After a failure they are those of the identity.
  virtual SparseTriangles<Scalar> triangles() const = 0;
  virtual FactorTransform transform() const         = 0;
  const CroutOptions &options() const { return options_; }
  const Execution &execution() const { return execution_; }

protected:
  CroutFactorization(const Execution &execution, const CroutOptions &options) : options_(options), execution_(execution) {}

  CroutOptions options_;
  CroutReport report_;

private:
  const Execution &execution_;
};

} // namespace weft
