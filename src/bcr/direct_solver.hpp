/// DirectSolver: solves separable operators on boxes (Poisson, Helmholtz) without iterating, on the host or on a device, by any method of
/// select.hpp. The way into the kernels for callers that include no Kokkos header.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bcr/direct_facts.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// One direction of a separable operator: a tridiagonal T and positive weights W (a diagonal), n values each. Row i of T: lower_i u_{i-1} +
/// diagonal_i u_i + upper_i u_{i+1}. lower_0 and upper_{n-1} couple the ends where `periodic`; else they are not read.
struct Direction {
  Index n       = 1;
  bool periodic = false;
  std::vector<double> lower, diagonal, upper;
  std::vector<double> weight; ///< empty: all 1

  friend bool operator==(const Direction &, const Direction &) = default;
};

/// A = sum_k T_k (x) prod_{m != k} W_m + shift * prod_m W_m on a box of n_0 * n_1 * n_2 points, direction 0 fastest in memory.
struct SeparableOperator {
  int dimension = 2; ///< 1 .. 3: directions that count
  Direction directions[3];
  double shift = 0;

  friend bool operator==(const SeparableOperator &, const SeparableOperator &) = default;
};

struct DirectOptions {
  std::string method  = "auto";
  std::string inverse = "fractions"; ///< of the Buneman methods: "fractions", or "leja" for a product of factors in Leja order
  int radix           = 0;           ///< of separable: 2 .. 5, 0 is 4
  int levels          = -1;          ///< of facr: levels of cyclic reduction before the transform, -1 is the method's choice
  int side_by_side    = 0;  ///< right-hand sides that share launches, where a method has it: 0 is 1 on a host, up to 16 on a device
  int pads            = -1; ///< solve in arrays of padded lengths, where all transforms are matrix products: 0 no, 1 yes, -1 where it pays
};

namespace poisson {
struct DenseBasis; // transforms/eigen.hpp
}
/// Eigenvectors of directions, in the memory of the execution that found them.
using KnownBases = std::vector<std::shared_ptr<const poisson::DenseBasis>>;

/// Names of the methods, in the order of select.hpp.
std::vector<const char *> poisson_method_names();

/// Why a method (or "auto") of that name cannot solve such a problem with such options, or that there is none of that name; or nothing.
std::optional<std::string> poisson_method_refuses(const std::string &method, const SeparableOperator &problem,
                                                  const DirectOptions &options = {});

template <class Scalar>
class DirectSolver : public AnyDirectSolver {
public:
  /// Makes poles, weights, tables and work space, always in double or better. Throws std::invalid_argument where poisson_method_refuses,
  /// or a device cannot hold a row (32768 points), std::runtime_error where LAPACK fails. `execution` must live as long as the
  /// solver. `known`: bases() of another one in the same memory. Waits.
  static Owner<DirectSolver> make(const Execution &execution, const SeparableOperator &problem, const DirectOptions &options = {},
                                  const KnownBases &known = {});

  /// Those that it solves with, for the next solver in the same memory, which takes those of directions that are the same to the last bit.
  virtual KnownBases bases() const = 0;

  /// solution = A^-1 rhs for `nrhs` pairs of arrays of n_0 n_1 n_2 elements, `ld` elements from one to the next, in the memory of the
  /// execution. rhs may be solution and is kept otherwise. Does not wait, and allocates nothing but in the first call for several
  /// right-hand sides: the work space of those that go side by side, 64 MB at most. Each solution has the bits that it has alone.
  ///
  /// Of a singular operator: solves A u = rhs - perturbation * prod_m W_m, which has solutions, and gives the one with sum_i v_i u_i = 0.
  /// v is prod_m W_m for a symmetric A. In general v^T prod_m W_m^-1 A = 0: at a Neumann end that doubles a coupling, v is half of that.
  virtual void solve(const Scalar *rhs, Scalar *solution, int nrhs = 1, Index ld = 0) const = 0;

  /// Takes another problem of the same points for which all but the tables of modes can stay: constant coefficients, fast transforms along all
  /// directions but one, and modes that decay along it. All is a closed formula then, and lines are diagonally dominant. False, and nothing is
  /// changed, for other problems. Waits.
  virtual bool renew(const SeparableOperator &problem, const DirectOptions &options) = 0;
  /// How many of so many right-hand sides one call solves side by side.
  virtual Index side_by_side(int nrhs) const = 0;

  /// FISHPACK's PERTRB of the last right-hand side of the last solve; 0 for a regular operator. Waits.
  virtual double perturbation() const = 0;

protected:
  using AnyDirectSolver::AnyDirectSolver;
};

} // namespace weft
