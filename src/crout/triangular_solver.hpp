/// TriangularSolver: solves with the two triangles of a sparse factorization, on the host or on a device, exactly or approximately. The way
/// into these kernels for callers that include no Kokkos header.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/kernel_scalar.hpp"
#include "base/owner.hpp"
#include "crout/factors.hpp"
#include "line/line_problem.hpp" // Transpose

namespace weft {

struct TriangularOptions {
  int steps        = 5;   ///< Jacobi steps of each triangle, >= 1
  int fewest_steps = 1;   ///< auto: so few where `certain` is certain for every right-hand side, else steps
  int most_steps   = 20;  ///< auto: steps are doubled up to this number while the probe is above the tolerance; steps if that is more
  double tolerance = 0.1; ///< auto: largest |r - T z| / |r| of the probe vector r that Jacobi steps are taken with
  /// The same where all steps are one launch (2048 rows): more of them cost little, and a Krylov method on a small stiff matrix notices (bcsstk03).
  double small_tolerance = 3e-3;
  double certain         = 0.1;  ///< auto: largest |r - T z| / |r| in the largest norm that fewer steps are taken with
  bool probe_again       = true; ///< auto: probe at each update; else at the first one after analyse() only, for values that change little
};

enum class TriangularMethod { jacobi, isai, levels, syncfree, automatic, sequential };

/// x = A^-1 rhs, A^-T rhs, or a half of the first: y = L^-1 (permuted and scaled rhs), then x = (permuted and scaled) U^-1 y.
enum class TriangularPart { both, transposed, forward, backward };

/// jacobi, isai, levels, syncfree, auto.
std::vector<const char *> triangular_method_names();

/// Why these cannot be used, or nothing.
std::optional<std::string> triangular_method_refuses(const std::string &method, const TriangularOptions &options = {});

/// What is known of a solver once it has a pattern, or values.
struct TriangularFacts {
  TriangularMethod in_use = TriangularMethod::automatic; ///< never `automatic`; sequential stands for levels or syncfree on a host
  int steps               = 0;                           ///< Jacobi steps of each triangle
  /// The worse of both triangles' |r - T z| / |r| with the probe vector, if auto has measured one; or a bound of it for any vector, in the
  /// largest norm, where that was enough.
  std::optional<double> probe;
  double tolerance = 0;     ///< of the probe
  bool bounded     = false; ///< probe is a bound
  Index levels     = 0;     ///< of both triangles, 0 where they were not needed
};

/// Factors in Scalar (float or double); right-hand sides, solutions and all sums in double. With B ~ L U of SparseTriangles and the orders
/// and scalings of FactorTransform, A is that of factors.hpp. Right-hand sides and solutions are arrays of `rows` elements in the memory of
/// the execution and must not overlap. Solves launch on the execution's stream and do not wait; they allocate nothing, but for the first
/// transposed one and the first with several right-hand sides.
template <class Scalar>
class TriangularSolver {
public:
  /// Throws std::invalid_argument where triangular_method_refuses. `execution` must live as long as the solver.
  static Owner<TriangularSolver> make(const Execution &execution, const std::string &method, const TriangularOptions &options = {});
  virtual ~TriangularSolver()                           = default;
  TriangularSolver(const TriangularSolver &)            = delete;
  TriangularSolver &operator=(const TriangularSolver &) = delete;

  /// Takes a pattern: levels, work space. Reads no values. Throws std::invalid_argument for a pattern whose columns are not below (above)
  /// the diagonal in ascending order, naming the row. Waits. Nothing is copied: the arrays must stay until the next analyse() or update().
  virtual void analyse(const SparseTriangles<Scalar> &triangles, const FactorTransform &transform = {}) = 0;
  /// Takes new values of the analysed pattern (the arrays may lie elsewhere). Does not wait, but with auto on a device for the probe.
  virtual void update(const SparseTriangles<Scalar> &triangles) = 0;

  /// `nrhs` right-hand sides and solutions, `ld` elements from one to the next. Four share each reading of the factors.
  virtual void solve(TriangularPart part, const KernelScalar *rhs, KernelScalar *x, int nrhs = 1, Index ld = 0) = 0;

  const TriangularFacts &facts() const { return facts_; }
  const char *method_in_use() const;
  /// A line of text for a user: "jacobi, 5 steps a triangle, probe 0.021 (tolerance 0.1)".
  std::string description() const;

protected:
  explicit TriangularSolver(TriangularMethod asked) : asked_(asked) {}

  TriangularMethod asked_;
  TriangularFacts facts_;
};

} // namespace weft
