/// MappedSolver: the tridiagonal part of a matrix along the lines of a LineMap, or the block-tridiagonal part along the lines of a LineMap of its
/// nodes, factored and solved by any method. The sibling of LineSolver for lines that lie anywhere. Needs no Kokkos header.
#pragma once
#include "base/csr_copy.hpp"
#include "base/owner.hpp"
#include "line/line_solver.hpp"
#include "line/maps/line_map.hpp"

namespace weft {

/// Why a method of that name cannot solve the lines of a map, or nothing.
std::optional<std::string> mapped_method_refuses(const std::string &method, const LineMap &map, const MethodParameters &parameters = {});

/// How the nodes of a matrix couple, `block` rows each: the Frobenius norms of its blocks, a CSR matrix of `nodes` rows in the memory of the
/// execution. Columns outside the nodes are left out. Waits; made on the host.
template <class Scalar, class Int>
std::unique_ptr<CsrCopy<Scalar, Int>> node_couplings(const Execution &execution, Index nodes, Index block,
                                                     const CsrMatrix<Scalar, Int> &matrix);

/// Value: of the matrix and of the vectors that it is solved for.
template <class Value>
class MappedSolver {
public:
  /// Lines in Scalar. Makes plans and work space; nothing is allocated after this, but by the first transposed solve. All lines of a colour are one
  /// long tridiagonal line for `method` (a name of select.hpp, or "auto"), with zero couplings from a line to the next. Throws
  /// std::invalid_argument where mapped_method_refuses. `map` must live as long as the solver; kernels run where its own ran.
  template <class Scalar = Value>
  static Owner<MappedSolver> lines(const LineMap &map, const std::string &method, const MethodParameters &parameters = {});
  /// Lines of blocks through nodes of `block` rows: all of them are one long block-tridiagonal line for `method`, a name of block_select.hpp or
  /// "auto". Throws std::invalid_argument where block_tridiagonal_method_refuses.
  static Owner<MappedSolver> blocks(const LineMap &nodes, Index block, const std::string &method, const MethodParameters &parameters = {});
  virtual ~MappedSolver()                       = default;
  MappedSolver(const MappedSolver &)            = delete;
  MappedSolver &operator=(const MappedSolver &) = delete;

  /// Takes the entries of the matrix that lie on the lines; entries that are not stored are 0. The matrix may be another than the one that
  /// the map was found in.
  virtual void read(const CsrMatrix<Value, std::int32_t> &matrix) = 0;
  virtual void read(const CsrMatrix<Value, std::int64_t> &matrix) = 0;
  /// Takes the coefficients of another solver of the same lines, made in the same way, in whichever memory they are. Waits.
  virtual void read(const MappedSolver &other) = 0;

  /// Factors what was given. Does not wait.
  virtual void factor() = 0;
  /// The row of the matrix with the first unusable pivot (in the order of elimination) of the last factorization, or the first row of the node
  /// whose pivot block cannot be inverted, if there is one. Waits.
  virtual std::optional<Index> bad_pivot() const = 0;

  /// solution = scale * T^-1 rhs on the lines of options.colour, or, with options.update.add, solution += that. Arrays of the matrix' rows; rhs
  /// may be solution, else it is kept. Does not wait.
  virtual void solve(const Value *rhs, Value *solution, const SolveOptions<Value> &options = {}) const = 0;

  /// Name of the method of the first colour (never "auto"; "none" for an empty map).
  virtual const char *method() const = 0;
  /// Operations of one solve on all lines, or on those of one colour.
  virtual double flops(Colour colour = Colour::all) const = 0;

protected:
  MappedSolver() = default;
};

} // namespace weft
