/// MappedLineSolver: the tridiagonal part of a matrix along the lines of a LineMap, factored and solved by any method of select.hpp. The
/// sibling of LineSolver for lines that lie anywhere. Needs no Kokkos header.
#pragma once
#include "line/line_solver.hpp"
#include "line/maps/line_map.hpp"

namespace weft {

/// Why a method of that name cannot solve the lines of a map, or nothing.
std::optional<std::string> mapped_method_refuses(const std::string &method, const LineMap &map, const MethodParameters &parameters = {});

/// Lines in Scalar; the matrix and the vectors that it is solved for in Value.
template <class Scalar, class Value = Scalar>
class MappedLineSolver {
public:
  /// Makes plans and work space; nothing is allocated after this, but by the first transposed solve. All lines of a colour are one long
  /// tridiagonal line for `method` (a name of select.hpp, or "auto"), with zero couplings from a line to the next. Throws
  /// std::invalid_argument where mapped_method_refuses. `map` must live as long as the solver; kernels run where its own ran.
  MappedLineSolver(const LineMap &map, const std::string &method, const MethodParameters &parameters = {});
  ~MappedLineSolver();
  MappedLineSolver(const MappedLineSolver &)            = delete;
  MappedLineSolver &operator=(const MappedLineSolver &) = delete;

  /// Takes the entries of the matrix that lie on the lines; entries that are not stored are 0. The matrix may be another than the one that
  /// the map was found in.
  template <class Int>
  void read(const CsrMatrix<Value, Int> &matrix);
  /// Takes the coefficients of another solver of the same lines, in whichever memory they are. Waits.
  void read(const MappedLineSolver &other);

  /// Factors what was given. Does not wait.
  void factor();
  /// The row of the matrix with the first unusable pivot (in the order of elimination) of the last factorization, if there is one. Waits.
  std::optional<Index> bad_pivot() const;

  /// solution = scale * T^-1 rhs on the lines of options.colour, or, with options.update.add, solution += that. Arrays of map.rows() elements;
  /// rhs may be solution, else it is kept. Does not wait.
  void solve(const Value *rhs, Value *solution, const SolveOptions<Value> &options = {}) const;

  const LineMap &map() const { return map_; }
  /// Name of the method of the first colour (never "auto"; that of an empty map).
  const char *method() const;
  /// Operations of one solve on all lines, or on those of one colour.
  double flops(Colour colour = Colour::all) const;

  class Impl;

private:
  const LineMap &map_;
  std::unique_ptr<Impl> impl_;
  std::vector<std::unique_ptr<LineSolver<Scalar>>> solvers_; ///< one for each colour
};

} // namespace weft
