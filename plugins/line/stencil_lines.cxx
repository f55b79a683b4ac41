#include "line/line_set.hpp"

namespace weft {

void StencilLines::read(const LocalMatrix &matrix)
{
  // Rings are not diagonals of the matrix.
  if (lines_.solver().problem().periodic) lines_.solver().read(matrix.inside);
  lines_.factor();
}

std::optional<Index> StencilLines::bad_row() const
{
  const auto bad           = lines_.bad_pivot();
  const LineLayout &layout = lines_.solver().layout();
  return bad ? std::optional(layout.start(bad->line) + bad->row * layout.stride) : std::nullopt;
}

std::unique_ptr<LineSet> StencilLines::twin(const Execution &execution) const
{
  using Solver       = LineSolver<KernelScalar>;
  const Solver &from = lines_.solver();
  const auto make    = [problem = from.problem(), kernel = std::string(from.method()), parameters = parameters_](
                        const Execution &where, const LinePiece &) { return Solver::make(where, problem, kernel, parameters); };
  const auto read = [&from](AnyLines<KernelScalar> &lines, std::size_t, const LocalMatrix &) { lines.read(from); };
  auto other      = std::make_unique<GridLines>(execution, std::vector<LinePiece>{{from.layout(), 0}}, colours(), "", make, read);
  other->read({});
  return other;
}

void StencilLines::solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const
{
  lines_.solver().solve(b, x, options);
}

void StencilLines::relax(KernelScalar *b, KernelScalar *x, Guess guess, const LineSolveOptions &options) const
{
  lines_.relax(b, x, {options.update.scale, options.colour, guess, options.transpose});
}

double StencilLines::relax_flops(Colour colour) const
{
  const StencilMatrix<KernelScalar> &matrix = lines_.matrix();
  return share(colour) *
         (lines_.solver().flops() + 2.0 * static_cast<double>(matrix.offsets().size()) * static_cast<double>(matrix.rows()));
}

std::string StencilLines::kind() const
{
  return one_pass() ? " with their residuals in one pass" : "";
}

} // namespace weft
