/// What the members of DistributedLines do. Included by the .cpp files of the solvers only: they compile side by side.
#pragma once
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "line/ranks/distributed_solver_impl.hpp"

namespace weft {

/// A piece by itself.
inline LineProblem cut_off(LineProblem piece)
{
  piece.periodic = false;
  return piece;
}
inline BlockLines cut_off(const BlockLines &piece)
{
  return piece;
}

/// Why a piece has no shape, which a rank without rows asks as well.
inline std::optional<std::string> shape_refused(const LineProblem &piece)
{
  if (piece.layout.length < 0) return "the layout has a negative length";
  return std::nullopt;
}
inline std::optional<std::string> shape_refused(const BlockLines &piece)
{
  return block_tridiagonal_method_refuses(block_tridiagonal_method_names().front(), piece);
}

/// Goes down from the largest block to that of the lines.
template <class Problem, class Scalar, int b, class Space>
Owner<typename DistributedLines<Problem, Scalar>::Impl>
make_distributed_impl(const Space &space, const Ranks &ranks, const LineProblem &piece, bool each, double tolerance, bool device_messages)
{
  if constexpr (b > 1) {
    if (piece.layout.components != b)
      return make_distributed_impl<Problem, Scalar, b - 1>(space, ranks, piece, each, tolerance, device_messages);
  }
  return make_owner<DistributedImplOn<Space, Problem, Scalar, b>>(space, ranks, piece, each, tolerance, device_messages);
}

template <class Problem, class Scalar>
DistributedLines<Problem, Scalar>::DistributedLines(const Execution &execution, MPI_Comm ranks, const Problem &piece, bool ring,
                                                    const std::string &method, const MethodParameters &parameters, bool device_messages)
    : block_(scalars ? 1 : piece.layout.components), ranks_(ranks, piece.layout.length, ring, execution.memory() == Memory::device)
{
  const Problem problem          = cut_off(piece);
  std::optional<std::string> why = shape_refused(piece);
  try {
    if (!why && !ranks_.is_empty()) {
      local_ = Local::make(execution, problem, method, parameters);
      if constexpr (scalars) {
        Problem one = problem;
        one.layout  = one_line(problem.layout.length);
        if (problem.coefficients != Coefficients::general) one_ = Local::make(execution, one, method, parameters);
      }
    }
  } catch (const std::invalid_argument &refusal) {
    why = refusal.what();
  }
  check(piece.layout, block_, why);
  const bool each = !scalars || ranks_.smallest(ranks_.is_empty() || one_ ? 1 : 0) == 0;
  impl_           = on_backend(execution, [&](const auto &space) {
    LineProblem lines{piece.layout};
    if constexpr (scalars) lines = problem;
    return make_distributed_impl < Problem, Scalar,
           scalars ? 1 : BlockLines::largest_block > (space, ranks_, lines, each, parameters.tolerance, device_messages);
  });
}

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::check(const LineLayout &piece, Index unknowns, const std::optional<std::string> &refused_here) const
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

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::read(const AnyLines<Scalar> &lines)
{
  if (!local_) return;
  const auto &other = static_cast<const DistributedLines &>(lines);
  local_->read(*other.local_);
  if (one_) one_->read(*other.local_);
  const auto [before, after] = other.impl_->host_couplings();
  impl_->use_couplings(before, after);
}

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper)
{
  if (!local_) return;
  local_->use(lower, diagonal, upper);
  if (one_) one_->use(lower, diagonal, upper);
  impl_->use(lower, upper);
}

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::factor()
{
  transposed_is_factored_ = false;
  factor_piece();
  impl_->factor(Transpose::no, ends(), [] {});
}

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::factor_piece()
{
  if (local_) local_->factor();
  if (one_) one_->factor();
}

template <class Problem, class Scalar>
std::optional<LineRow> DistributedLines<Problem, Scalar>::bad_pivot() const
{
  const Index n = ranks_.length();
  Index first   = impl_->bad_pivot();
  if (const auto here = local_ ? local_->bad_pivot() : std::nullopt)
    first = std::min(first, 2 * here->line * n + ranks_.starts()[static_cast<std::size_t>(ranks_.piece())] + here->row);
  first = ranks_.smallest(first);
  if (first == std::numeric_limits<Index>::max()) return std::nullopt;
  return LineRow{first / n / 2, first % n};
}

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  if (options.transpose == Transpose::yes && !transposed_is_factored_) {
    impl_->factor(Transpose::yes, ends(), [] {});
    transposed_is_factored_ = true;
  }
  impl_->solve(local_.get(), rhs, solution, options);
}

template <class Problem, class Scalar>
void DistributedLines<Problem, Scalar>::solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)
{
  this->check_once(options);
  if (options.nrhs != 1) return AnyLines<Scalar>::solve_once(rhs, solution, options);
  transposed_is_factored_ = false;
  impl_->factor(Transpose::no, ends(), [this] { factor_piece(); });
  impl_->solve_once(local_.get(), rhs, solution, options);
}

} // namespace weft
