/// AnyLines: a batch of lines that is given coefficients, factored, looked at, solved and described, whatever solves it: scalars or blocks
/// (LineSolver, BlockLineSolver), in single precision inside (SingleLineSolver), whole or shared by ranks (DistributedLines,
/// GatheredLineSolver). Free of Kokkos.
#pragma once
#include <optional>
#include <stdexcept>

#include "line/line_problem.hpp"

namespace weft {

template <class Scalar>
class AnyLines {
public:
  AnyLines()                            = default;
  AnyLines(const AnyLines &)            = delete;
  AnyLines &operator=(const AnyLines &) = delete;
  virtual ~AnyLines()                   = default;

  /// Works on the caller's coefficients, in the memory where the lines are solved. They are not copied: they must stay until others are given.
  /// Throws std::logic_error where coefficients are only read from a matrix.
  virtual void use(const Scalar *, const Scalar *, const Scalar *)
  {
    throw std::logic_error("these lines take their coefficients from a matrix");
  }
  /// Takes the coefficients of other lines of the same class and shape, in whichever memory they are. Waits.
  virtual void read(const AnyLines &other) = 0;

  /// Factors what was given. Does not wait. Collective, as all that follows, where ranks share the lines.
  virtual void factor() = 0;
  /// The first row, of the whole line, with an unusable pivot of the last factorization (or one-shot solve), if there is one. Waits for it.
  virtual std::optional<LineRow> bad_pivot() const = 0;
  /// Where bad_pivot() is told from, in the memory of the lines: no_bad_pivot once factor() is through, unless there is one. Null where that takes more than a
  /// number.
  virtual const Index *pivot_flag() const { return nullptr; }

  /// solution = scale * T^-1 rhs on the lines of options.colour, or, with options.update.add, solution += that, where rhs is work space and
  /// undefined afterwards; else rhs may be solution, or keeps its values. Lines that ranks share change some of these while they work, and put
  /// them back. Does not wait.
  virtual void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const = 0;
  /// factor() and solve() in one go, for options that neither add nor transpose; cheaper than both where the method has a form of its own.
  /// Later solves need a factor() again.
  virtual void solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {})
  {
    factor();
    solve(rhs, solution, options);
  }

  /// Name of the method in use, never "auto"; "none" on a rank without rows.
  virtual const char *method() const = 0;
  /// Rows of a whole line.
  virtual Index length() const = 0;
  /// Unknowns of a node that are solved for together.
  virtual Index block() const { return 1; }
  /// Operations of one solve on all lines, by this rank.
  virtual double flops() const = 0;
  /// Of lines that go on on other ranks: true where this rank need only tell its neighbours.
  virtual bool neighbours_only(Transpose = Transpose::no) const { return true; }

protected:
  /// What a form of solve_once() of its own does not do.
  static void check_once(const SolveOptions<Scalar> &options)
  {
    if (options.update.add || options.transpose == Transpose::yes)
      throw std::invalid_argument("solve_once neither adds nor transposes: call factor and solve");
  }
};

} // namespace weft
