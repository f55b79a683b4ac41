#include "distributed/distributed_line_solver.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "distributed/model.hpp"

namespace weft {

namespace {

/// A piece by itself.
LineProblem cut_off(LineProblem piece)
{
  piece.periodic = false;
  return piece;
}

/// True where all ranks have the same value.
bool same(const Ranks &ranks, Index value)
{
  return ranks.smallest(value) == -ranks.smallest(-value);
}

/// Why these pieces make no lines; the same answer on all ranks.
std::optional<std::string> pieces_refused(const Ranks &ranks, const LineProblem &piece, const std::optional<std::string> &here)
{
  const LineLayout &layout = piece.layout;
  if (ranks.smallest(here ? 0 : 1) == 0) return here ? *here : "the piece of another rank is refused";
  bool fit = same(ranks, piece.periodic);
  for (Index value : {layout.components, layout.across[0], layout.across[1], Index(layout.first_colour & 1)})
    fit = same(ranks, value) && fit;
  if (!fit) return "all ranks must have the same number of lines, in the same order and of the same colours, and agree on periodicity";
  // MPI counts words by int.
  if (4 * (layout.count() + 2 * ranks.size()) > std::numeric_limits<int>::max())
    return "so many lines that their messages are too long: solve them in several batches";
  return std::nullopt;
}

} // namespace

template <class Scalar>
DistributedLineSolver<Scalar>::DistributedLineSolver(const Execution &execution, MPI_Comm ranks, const LineProblem &piece,
                                                     const std::string &method, const MethodParameters &parameters, bool device_messages)
    : execution_(execution), piece_(piece), ranks_(ranks, piece.layout.length, piece.periodic)
{
  const LineProblem problem = cut_off(piece);
  std::optional<std::string> why;
  if (piece.layout.length < 0) why = "the layout has a negative length";
  try {
    if (!ranks_.is_empty()) local_ = std::make_unique<LineSolver<Scalar>>(execution, problem, method, parameters);
    if (!ranks_.is_empty() && problem.coefficients != Coefficients::general) {
      LineProblem one = problem;
      one.layout      = one_line(problem.layout.length);
      one_            = std::make_unique<LineSolver<Scalar>>(execution, one, method, parameters);
    }
  } catch (const std::invalid_argument &refusal) {
    why = refusal.what();
  }
  if (const auto refused = pieces_refused(ranks_, piece, why)) throw std::invalid_argument(*refused);
  const bool each = ranks_.smallest(ranks_.is_empty() || one_ ? 1 : 0) == 0;
  model_          = on_backend(execution, [&](const auto &space) -> std::unique_ptr<DistributedModel<Scalar>> {
    return std::make_unique<DistributedModelOn<std::decay_t<decltype(space)>, Scalar>>(space, ranks_, problem, each, parameters.tolerance,
                                                                                       device_messages);
  });
}

template <class Scalar>
DistributedLineSolver<Scalar>::~DistributedLineSolver()
{
  destroy_or_leave(model_);
}

template <class Scalar>
template <class Int>
void DistributedLineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after)
{
  if (!local_) return;
  local_->read(matrix);
  model_->use_couplings(before, after);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::read(const ConstantLines<Scalar> &lines)
{
  if (!local_) return;
  local_->read(lines);
  one_->read(lines);
  typename DistributedModel<Scalar>::Host before("weft before", 1), after("weft after", 1);
  before(0) = ranks_.has_before() ? lines.lower.front() : Scalar(0);
  after(0)  = ranks_.has_after() ? lines.upper.back() : Scalar(0);
  model_->use_couplings(before, after);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::read(const DistributedLineSolver &other)
{
  if (!local_) return;
  local_->read(*other.local_);
  if (one_) one_->read(*other.local_);
  const auto couplings = other.model_->host_couplings();
  model_->use_couplings(couplings[0], couplings[1]);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper)
{
  if (!local_) return;
  local_->use(lower, diagonal, upper);
  if (one_) one_->use(lower, diagonal, upper);
  model_->use(lower, upper);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::factor()
{
  transposed_is_factored_ = false;
  if (local_) local_->factor();
  if (one_) one_->factor();
  model_->factor(Transpose::no, ends());
}

template <class Scalar>
std::optional<LineRow> DistributedLineSolver<Scalar>::bad_pivot() const
{
  const Index n = ranks_.length();
  Index first   = model_->bad_pivot();
  if (const auto here = local_ ? local_->bad_pivot() : std::nullopt)
    first = std::min(first, 2 * here->line * n + ranks_.starts()[static_cast<std::size_t>(ranks_.piece())] + here->row);
  first = ranks_.smallest(first);
  if (first == std::numeric_limits<Index>::max()) return std::nullopt;
  return LineRow{first / n / 2, first % n};
}

template <class Scalar>
void DistributedLineSolver<Scalar>::solve_pieces(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)
{
  if (options.transpose == Transpose::yes && !transposed_is_factored_) {
    model_->factor(Transpose::yes, ends());
    transposed_is_factored_ = true;
  }
  model_->solve(local_.get(), rhs, solution, options);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)
{
  if (options.update.add) throw std::invalid_argument("solve keeps its right-hand side: call solve_add to add to the solution");
  solve_pieces(rhs, solution, options);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options)
{
  options.update.add = true;
  solve_pieces(rhs, solution, options);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::observe(SolveObserver observer)
{
  model_->observe(std::move(observer));
}

template <class Scalar>
bool DistributedLineSolver<Scalar>::neighbours_only(Transpose transpose) const
{
  return model_->neighbours_only(transpose);
}

template class DistributedLineSolver<double>;
template class DistributedLineSolver<float>;
template void DistributedLineSolver<double>::read(const CsrMatrix<double, std::int32_t> &, const double *, const double *);
template void DistributedLineSolver<double>::read(const CsrMatrix<double, std::int64_t> &, const double *, const double *);
template void DistributedLineSolver<float>::read(const CsrMatrix<float, std::int32_t> &, const float *, const float *);
template void DistributedLineSolver<float>::read(const CsrMatrix<float, std::int64_t> &, const float *, const float *);

} // namespace weft
