/// What the members of DistributedSolver do. Included by the .cpp files of the solvers only.
#pragma once
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "line/ranks/distributed_solver_impl.hpp"

namespace weft {

template <class Scalar, class Local>
DistributedSolver<Scalar, Local>::DistributedSolver(const Execution &execution, MPI_Comm ranks, const LineLayout &piece, bool ring)
    : execution_(execution), ranks_(ranks, piece.length, ring)
{
}

template <class Scalar, class Local>
DistributedSolver<Scalar, Local>::~DistributedSolver()
{
  destroy_or_leave(impl_);
}

template <class Scalar, class Local>
void DistributedSolver<Scalar, Local>::check(const LineLayout &piece, Index unknowns, const std::optional<std::string> &refused_here) const
{
  if (ranks_.smallest(refused_here ? 0 : 1) == 0)
    throw std::invalid_argument(refused_here.value_or("the piece of another rank is refused"));
  bool fit = true;
  for (Index value : {Index(ranks_.ring()), piece.components, piece.across[0], piece.across[1], Index(piece.first_colour & 1)})
    fit = ranks_.smallest(value) == -ranks_.smallest(-value) && fit;
  if (!fit)
    throw std::invalid_argument("all ranks must have the same number of lines, in the same order and of the same colours, and agree on "
                                "periodicity");
  // MPI counts words by int.
  if (4 * unknowns * (piece.count() + 2 * unknowns * ranks_.size()) > std::numeric_limits<int>::max())
    throw std::invalid_argument("so many lines that their messages are too long: solve them in several batches");
}

template <class Scalar, class Local>
template <class Int>
void DistributedSolver<Scalar, Local>::read(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after)
{
  if (!local_) return;
  local_->read(matrix);
  impl_->use_couplings(before, after);
}

template <class Scalar, class Local>
void DistributedSolver<Scalar, Local>::read(const AnyLines<Scalar> &lines)
{
  if (!local_) return;
  const auto &other = static_cast<const DistributedSolver &>(lines);
  local_->read(*other.local_);
  if (one_) one_->read(*other.local_);
  const auto couplings = other.impl_->host_couplings();
  impl_->use_couplings(couplings[0], couplings[1]);
}

template <class Scalar, class Local>
void DistributedSolver<Scalar, Local>::use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper)
{
  if (!local_) return;
  local_->use(lower, diagonal, upper);
  if (one_) one_->use(lower, diagonal, upper);
  impl_->use(lower, upper);
}

template <class Scalar, class Local>
void DistributedSolver<Scalar, Local>::factor()
{
  transposed_is_factored_ = false;
  if (local_) local_->factor();
  if (one_) one_->factor();
  impl_->factor(Transpose::no, ends());
}

template <class Scalar, class Local>
std::optional<LineRow> DistributedSolver<Scalar, Local>::bad_pivot() const
{
  const Index n = ranks_.length();
  Index first   = impl_->bad_pivot();
  if (const auto here = local_ ? local_->bad_pivot() : std::nullopt)
    first = std::min(first, 2 * here->line * n + ranks_.starts()[static_cast<std::size_t>(ranks_.piece())] + here->row);
  first = ranks_.smallest(first);
  if (first == std::numeric_limits<Index>::max()) return std::nullopt;
  return LineRow{first / n / 2, first % n};
}

template <class Scalar, class Local>
void DistributedSolver<Scalar, Local>::solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  if (options.transpose == Transpose::yes && !transposed_is_factored_) {
    impl_->factor(Transpose::yes, ends());
    transposed_is_factored_ = true;
  }
  impl_->solve(local_.get(), rhs, solution, options);
}

template <class Scalar, class Local>
void DistributedSolver<Scalar, Local>::observe(SolveObserver observer)
{
  impl_->observe(std::move(observer));
}

template <class Scalar, class Local>
bool DistributedSolver<Scalar, Local>::neighbours_only(Transpose transpose) const
{
  return impl_->neighbours_only(transpose);
}

} // namespace weft
