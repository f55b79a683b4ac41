/// JoinedLineSolver: the lines of a LineMap where some of them go on on other ranks, through any ranks in any order. The sibling of
/// MappedSolver, which solves the pieces; docs/kernels/distributed.md has the formulas.
#pragma once
#include <mpi.h>

#include "line/maps/chains.hpp"
#include "line/maps/mapped_solver.hpp"

namespace weft {

template <class Scalar>
class JoinedLineSolver {
public:
  /// `map`: this rank's lines; `pieces`: for each of its colours the lines that go on on other ranks, the rows of each of own a line of the
  /// map. `device_messages`: MPI can read the memory of the map's execution. `map` and the communicator must live as long as the solver.
  /// Collective, as is all that says so.
  JoinedLineSolver(const LineMap &map, MPI_Comm ranks, std::shared_ptr<const std::vector<JoinedPieces>> pieces, const std::string &method,
                   const MethodParameters &parameters = {}, bool device_messages = false);
  ~JoinedLineSolver();
  JoinedLineSolver(const JoinedLineSolver &)            = delete;
  JoinedLineSolver &operator=(const JoinedLineSolver &) = delete;

  /// Takes the entries of the matrix that lie on the lines: `inside` has the columns of this rank's rows, `outside` those of other ranks;
  /// columns[k] is the number of column k of `outside` in the whole matrix, rising, on the host.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &inside, const CsrMatrix<Scalar, Int> &outside, const std::vector<std::int64_t> &columns);
  /// Takes the coefficients of another solver of the same lines, in whichever memory they are. Waits.
  void read(const JoinedLineSolver &other);

  /// Collective.
  void factor();
  /// The row of this rank with the first unusable pivot, of a piece or of what joins it to the piece before. Collective.
  std::optional<Index> bad_pivot() const;

  /// solution = scale * T^-1 rhs, or, with options.update.add, solution += that. Values of rhs at the ends of pieces change while the solve runs,
  /// and are put back. Collective. Waits for the messages, not for the solution.
  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {});

  const MappedSolver<Scalar> &local() const { return *local_; }
  class Impl;
  template <class Space>
  class ImplOn;

private:
  template <class Visit>
  void for_joined(Colour colour, const Visit &visit) const;
  void exchange(Scalar *rhs, const SolveOptions<Scalar> &options);

  std::shared_ptr<const std::vector<JoinedPieces>> pieces_;
  Owner<MappedSolver<Scalar>> local_;
  std::vector<std::unique_ptr<Impl>> impls_; ///< of the colours; none where no line of a colour goes on
  bool transposed_is_factored_ = false;
};

} // namespace weft
