/// GatheredLineSolver: one line whose rows are on several ranks, solved whole by the first rank that has rows. For lines that must be pivoted:
/// the pieces of a regular line may be singular where it is not dominant, and DistributedLineSolver needs their inverses.
/// A solve moves 2 words a row between ranks and is as fast as one rank; other ranks wait.
#pragma once
#include <mpi.h>

#include "base/owner.hpp"
#include "line/line_solver.hpp"
#include "line/ranks/ranks.hpp"

namespace weft {

template <class Scalar>
class GatheredLineSolver : public AnyLines<Scalar> {
public:
  /// `rows` of this rank follow each other in memory; they may be none. ring: the whole line is one. `method` solves it.
  /// `device_messages`: MPI can read the memory of the execution. `ranks` and `execution` must live as long as the solver.
  /// Collective. Throws std::invalid_argument, on all ranks, where the method refuses the line.
  static Owner<GatheredLineSolver> make(const Execution &execution, MPI_Comm ranks, Index rows, bool ring, const std::string &method,
                                        const MethodParameters &parameters = {}, bool device_messages = false);

  /// Takes the tridiagonal part of a matrix, whose row i is this rank's row i, and the couplings to the rows before and after these (not read
  /// where there are none), in the memory of the execution. Collective.
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &matrix, const Scalar *before, const Scalar *after) = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &matrix, const Scalar *before, const Scalar *after) = 0;
  /// Takes the coefficients of another solver of the same line, in whichever memory they are.
  void read(const AnyLines<Scalar> &other) override;

  void factor() override;
  /// The first row, of the whole line, with an unusable pivot; the same answer on all ranks. Collective.
  std::optional<LineRow> bad_pivot() const override;
  /// For this rank's rows of rhs, which are left as they are, and solution. Collective, with the same options on all ranks (but `ld`). Nothing
  /// is allocated, but by the first transposed solve.
  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const override = 0;

  /// Rows of the whole line.
  Index length() const override { return ranks_.length(); }
  const char *method() const override { return method_.c_str(); }
  /// Operations of a solve, by this rank.
  double flops() const override { return whole_ ? whole_->flops() : 0; }

protected:
  GatheredLineSolver(const Execution &execution, MPI_Comm ranks, Index rows, bool ring, const std::string &method,
                     const MethodParameters &parameters);

  std::string method_;
  Ranks ranks_;
  Items items_;
  std::unique_ptr<LineSolver<Scalar>> whole_; ///< on the rank that solves
};

} // namespace weft
