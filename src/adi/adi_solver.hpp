/// AdiSolver: alternating directions for a matrix on a box of a grid. It splits the matrix into tridiagonal parts along x, y and z, bounds
/// their spectra, factors the shifted lines and runs cycles of sweeps. The way in for callers that include no Kokkos header.
/// docs/kernels/adi.md has the formulas.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adi/shifts.hpp"
#include "base/owner.hpp"
#include "base/real_of.hpp"
#include "line/any_csr.hpp"

namespace weft {

/// The part of a grid that this rank has: n[0] * n[1] * n[2] nodes, `components` unknowns each, components fastest, then x, y, z.
struct AdiBox {
  Index n[3]       = {1, 1, 1};
  Index components = 1;
  Index first[3]   = {0, 0, 0};             ///< the box's first node in the whole grid
  Index global[3]  = {1, 1, 1};             ///< nodes of the whole grid
  bool ring[3]     = {false, false, false}; ///< lines along this direction are closed
  bool crosses[3]  = {false, false, false}; ///< lines along this direction have pieces on several ranks

  Index rows() const { return components * n[0] * n[1] * n[2]; }
  /// Whether lines along a direction are more than single nodes. A grid of one node has lines along x.
  bool has(int direction) const { return global[direction] > 1 || (direction == 0 && global[0] * global[1] * global[2] == 1); }
  /// Two nodes in a ring are coupled once, not twice.
  bool closed(int direction) const { return ring[direction] && global[direction] > 2; }
  LineProblem lines(int direction) const
  {
    LineProblem problem(lines_of_box(direction, n, components, first));
    problem.periodic = closed(direction);
    return problem;
  }
  friend bool operator==(const AdiBox &, const AdiBox &) = default;
};

struct AdiOptions {
  AdiType type            = AdiType::peaceman_rachford;
  bool symmetric          = false;  ///< adi_sum in place of `type`: M is symmetric and definite if the parts are
  bool keep_factors       = true;   ///< false: factors are made anew in each sweep, which takes no memory for them
  bool measure_change     = false;  ///< the size of each cycle's last correction is left in device memory
  std::string line_solver = "auto"; ///< a name of tridiagonal_method_names(), or "auto"
  MethodParameters parameters;
};

/// What shifts of a matrix with such entries are.
template <class Scalar>
using AdiNumber = std::conditional_t<is_complex<Scalar>, std::complex<double>, double>;

/// Whether a row is a penalty, so that its unknown hardly depends on others: a sweep that has its couplings on the right-hand side leaves 1e-4 of
/// its error. `off`: sum of |couplings|.
template <class Scalar>
WEFT_INLINE bool is_penalty(const Scalar &diagonal, double off)
{
  return modulus(diagonal) >= 1e4 * off;
}

/// Couplings of the box to nodes of other ranks, on the host: for each direction and side (0 before, 1 after) a value for each line. `out`:
/// A(mine, theirs), `in`: A(theirs, mine). Empty where there are none.
template <class Scalar>
struct AdiHalo {
  std::array<std::array<std::vector<Scalar>, 2>, 3> out, in;
  double rest = 0; ///< sum of |A(mine, theirs)| of those that lie on no line; NaN where an entry is not finite
};

/// What `read` found.
struct AdiSplit {
  bool finite = true; ///< no NaN or infinity in the matrix; all that follows means nothing otherwise
  double on   = 0;    ///< sum of |couplings| on lines
  double rest = 0;    ///< sum of |couplings| that lie on none: these stay on the right-hand side
  Index fixed = 0;    ///< rows without couplings, and penalties: solved by themselves in every sweep
  Index known = 0;    ///< penalties; their couplings stay on the right-hand side
  Index empty = 0;    ///< rows of zeros, also on the diagonal: such a matrix cannot be solved
  Index rows  = 0;
  double excess =
      0; ///< the least excess of a diagonal, turned to the right half-plane, over its row's couplings on lines; shared out equally
};

enum class AdiBoundsMethod { gershgorin, lanczos };

/// Sums and minima over the ranks that share the grid. Collective.
struct AdiRanks {
  std::function<void(double *values, int count)> sum   = [](double *, int) {};
  std::function<void(double *values, int count)> least = [](double *, int) {};
};

/// A correction of a cycle: x += scale_last S_last^-1 .. scale_first S_first^-1 r, all scales but the last times the turn.
template <class Number>
struct AdiSweepOf {
  std::vector<int> directions; ///< in the order of the solves
  int shift = 0;               ///< which of the shifts
  std::vector<Number> scales;  ///< of the solves, so that no product of solves is beyond the numbers that there are
  bool residual = true;        ///< r = b - A x is formed before it; else r is that of the sweep before
  bool sum      = false;       ///< a term of adi_sum
};
using AdiSweep = AdiSweepOf<double>;

/// A pivot that a line could not be eliminated with.
struct AdiBadPivot {
  int direction = 0, shift = 0;
  LineRow at;
};

/// Makes the shifted lines of a direction (0, 1, 2), whole or shared by ranks. Throws std::invalid_argument where the method refuses them.
template <class Scalar>
using MakeLines = std::function<std::unique_ptr<AnyLines<Scalar>>(int direction, const LineProblem &problem)>;

template <class Scalar>
class AdiSolver {
public:
  using Number = AdiNumber<Scalar>;
  using Shift  = AdiShiftOf<Number>;
  using Sweep  = AdiSweepOf<Number>;

  /// `execution` must live as long as the solver. Without `make_lines` this rank has all lines whole.
  static Owner<AdiSolver> make(const Execution &execution, const AdiBox &box, const AdiOptions &options, MakeLines<Scalar> make_lines = {},
                               const AdiRanks &ranks = {});
  virtual ~AdiSolver()                    = default;
  AdiSolver(const AdiSolver &)            = delete;
  AdiSolver &operator=(const AdiSolver &) = delete;

  /// Splits a matrix whose row i is element i of the box; columns outside the box must not be in it. Collective. Waits.
  virtual AdiSplit read(const AnyCsr<Scalar> &matrix, const AdiHalo<Scalar> &halo = {}) = 0;
  /// Takes parts and shifts of another solver of the same box, in whichever memory they are, and factors.
  void read(const AdiSolver &other);

  /// The directions with couplings along them, all of the box before a matrix is read.
  const std::vector<int> &directions() const { return directions_; }
  /// The number of modulus 1 by which the matrix is divided before its parts are bounded and shifted: 1, -1 for a matrix with a negative
  /// diagonal; of complex matrices the direction of the lines along which the spectra lie. Bounds and shifts are those of parts so turned.
  virtual Number turn() const = 0;
  /// Bounds of the spectra of the parts, in the order of directions(). The upper ends are Gershgorin's for the parts made symmetric.
  /// lanczos: the lower ends by 16 steps of the Lanczos method on the inverses. gershgorin: its lower ends, or those of a uniform line
  /// between fixed ends where they are not positive.
  /// What all parts together say is the same however a constant is shared between them. Where their sum is singular, its next eigenvalue
  /// is the lower end of all parts. Where they share their shifts, or their spectra are not real, they are moved so
  /// that their lower ends are one. Of complex matrices, whose spectra may lie along other lines than their couplings say, the turn is chosen
  /// that takes the fewest sweeps. Collective. Waits. Throws std::domain_error where a part cannot be inverted.
  AdiBounds bounds(AdiBoundsMethod method);
  /// Gershgorin's, of the parts as they are. Collective. Waits.
  AdiBounds circles() const { return parts(AdiBoundsMethod::gershgorin, 0); }
  /// Of the norm in which the last bounds() are bounds: the logarithm of its condition beside the 2-norm, 0 for symmetric matrices.
  double log_condition() const { return log_condition_; }
  /// How far the coefficients of the parts are from depending on the place along their own direction only, relative to the largest ones: 0
  /// for parts that commute; 1 where rows that are solved by themselves leave no box. Collective. Waits.
  virtual double variation() const = 0;
  /// For each row whether it is solved by itself: 1, or 2 where it is a penalty. Waits.
  virtual std::vector<std::uint8_t> fixed() const = 0;
  /// The shifts of a cycle. A single direction needs none, whatever is given. Makes factors' room. scale: AdiSum's, for a symmetric one.
  void set_shifts(const std::vector<Shift> &shifts, double scale = 1);
  const std::vector<Shift> &shifts() const { return shifts_; }

  /// Factors all shifted lines. Waits where they are few patterns on a device. Collective, as the solves, where lines cross ranks.
  virtual void factor() = 0;
  /// The first unusable pivot. Waits. Without kept factors: of the lines that were factored last.
  virtual std::optional<AdiBadPivot> bad_pivot() const = 0;

  /// `count` cycles, each x += M^-1 (b - A x); zero_guess: from x = 0, whatever x holds. Arrays of rows() elements that do not overlap.
  /// b is kept. `transpose`: of the whole operator M^-1, the sweeps in reverse. Needs a box that crosses no ranks. Does not wait.
  void cycle(Scalar *b, Scalar *x, bool zero_guess, Transpose transpose = Transpose::no, int count = 1);

  /// The parts of a cycle, for callers that form residuals themselves: before each sweep that says so (but the first one from a zero guess,
  /// where r = b) r = b - A x.
  std::vector<Sweep> sweeps(Transpose transpose = Transpose::no) const;
  /// x += correction of the sweep, or x = correction; r is work space, but kept if from_zero and for sums. Does not wait for the solution.
  virtual void correct(const Sweep &sweep, Scalar *r, Scalar *x, bool from_zero, Transpose transpose = Transpose::no) = 0;

  /// Largest |correction| of the last cycle's last sweep, on this rank: where it is in the memory of the execution, and its value (waits).
  virtual const double *change() const = 0;
  virtual double read_change() const   = 0;

  const AdiBox &box() const { return box_; }
  const AdiOptions &options() const { return options_; }
  const Execution &execution() const { return execution_; }
  /// Name of the line method for a direction of directions(), once shifts are set.
  const char *method(int direction) const { return lines(direction).method(); }
  /// Operations of one cycle.
  double flops() const;

protected:
  /// Everything that another backend needs to know of a split matrix.
  struct Copy;

  AdiSolver(const Execution &execution, const AdiBox &box, const AdiOptions &options) : execution_(execution), box_(box), options_(options)
  {
  }
  virtual Copy copy() const           = 0;
  virtual void read(const Copy &from) = 0;
  /// Of a part, see SymmetricPart.
  virtual SpectralInterval bounds_of(int direction, AdiBoundsMethod method, double similarity) const = 0;
  /// From the least eigenvalue of a part's S, that bounds_of() found, to the next one.
  virtual double gap(int direction, double low, double similarity) const = 0;
  /// The mean over the lines along a direction of the logarithm of the condition of D, SymmetricPart's.
  virtual double log_condition_of(int direction) const = 0;
  /// Adds to a turned part's diagonal; what one gets others must give.
  virtual void move(int direction, Number by) = 0;
  /// The turns that a matrix may have, and the choice of one. Real ones have one only.
  virtual std::vector<Number> turns() const = 0;
  virtual void set_turn(Number turn)        = 0;
  /// alone: what stands on the diagonal of fixed rows in place of the matrix's, 0 for none; both for x, y and z.
  virtual void place_shifts(const std::vector<Shift> &shifts, const std::vector<Shift> &alone) = 0;
  /// b - A x in an array of its own, or with the transpose of A.
  virtual Scalar *residual(const Scalar *b, const Scalar *x, Transpose transpose) = 0;
  /// Peaceman and Rachford's cycle `count` times, where sweeps_in_halves() says that it can be: x is what `correct` and `residual` make of it.
  virtual bool sweeps_in_halves() const                                     = 0;
  virtual void half_sweeps(Scalar *b, Scalar *x, bool from_zero, int count) = 0;
  virtual const AnyLines<Scalar> &lines(int direction) const                = 0;

  std::vector<int> directions_;

private:
  AdiBounds parts(AdiBoundsMethod method, double similarity) const;
  /// Of the parts in the norm that takes the fewest sweeps, and how many eight digits take.
  struct Found;
  Found find_bounds(AdiBoundsMethod method) const;

  const Execution &execution_;
  AdiBox box_;
  AdiOptions options_;
  std::vector<Shift> shifts_;
  double sum_scale_ = 1, log_condition_ = 0;
};

} // namespace weft
