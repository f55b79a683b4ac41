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
  static Owner<JoinedLineSolver> make(const LineMap &map, MPI_Comm ranks, std::shared_ptr<const std::vector<JoinedPieces>> pieces,
                                      const std::string &method, const MethodParameters &parameters = {}, bool device_messages = false);
  virtual ~JoinedLineSolver()                           = default;
  JoinedLineSolver(const JoinedLineSolver &)            = delete;
  JoinedLineSolver &operator=(const JoinedLineSolver &) = delete;

  /// Takes the entries of the matrix that lie on the lines: `inside` has the columns of this rank's rows, `outside` those of other ranks;
  /// columns[k] is the number of column k of `outside` in the whole matrix, rising, on the host.
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &inside, const CsrMatrix<Scalar, std::int32_t> &outside,
                    const std::vector<std::int64_t> &columns) = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &inside, const CsrMatrix<Scalar, std::int64_t> &outside,
                    const std::vector<std::int64_t> &columns) = 0;
  /// Takes the coefficients of another solver of the same lines, in whichever memory they are. Waits.
  virtual void read(const JoinedLineSolver &other) = 0;
  /// Of the pieces of a colour, one of which goes on, to the rows before and after them.
  virtual std::vector<Scalar> host_couplings(std::size_t colour) const = 0;

  /// Collective.
  virtual void factor() = 0;
  /// The row of this rank with the first unusable pivot, of a piece or of what joins it to the piece before. Collective.
  virtual std::optional<Index> bad_pivot() const = 0;

  /// solution = scale * T^-1 rhs, or, with options.update.add, solution += that. Values of rhs at the ends of pieces change while the solve runs,
  /// and are put back. Collective. Waits for the messages, not for the solution.
  virtual void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) = 0;

  const MappedSolver<Scalar> &local() const { return *local_; }

protected:
  JoinedLineSolver(const LineMap &map, const std::string &method, const MethodParameters &parameters)
      : local_(MappedSolver<Scalar>::lines(map, method, parameters))
  {
  }

  Owner<MappedSolver<Scalar>> local_;
};

} // namespace weft
