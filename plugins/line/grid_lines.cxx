// GridLines: a solver for each piece of the lines of a grid.
#include <algorithm>

#include "line/line_set.hpp"

namespace weft {

GridLines::GridLines(const Execution &execution, std::vector<LinePiece> pieces, int colours, std::string kind, Make make, Read read,
                     OwnRows own)
    : LineSet(execution, colours), pieces_(std::move(pieces)), kind_(std::move(kind)), make_(std::move(make)), read_(std::move(read)),
      own_(own)
{
  for (const LinePiece &piece : pieces_) solvers_.push_back(make_(execution, piece));
}

void GridLines::read(const LocalMatrix &matrix)
{
  for (std::size_t p = 0; p < pieces_.size(); p++) {
    read_(*solvers_[p], p, matrix);
    solvers_[p]->factor();
  }
}

std::optional<Index> GridLines::bad_row() const
{
  std::optional<Index> first;
  for (std::size_t p = 0; p < pieces_.size(); p++) {
    const auto bad = solvers_[p]->bad_pivot();
    if (!bad || bad->row < own_.first || bad->row >= own_.end) continue; // another rank names it
    const LinePiece &piece = pieces_[p];
    const Index start      = piece.offset + piece.layout.start(bad->line * solvers_[p]->block());
    const Index here       = start + (bad->row - own_.first) * piece.layout.stride;
    first                  = std::min(first.value_or(here), here);
  }
  return first;
}

std::unique_ptr<LineSet> GridLines::twin(const Execution &execution) const
{
  auto other = std::make_unique<GridLines>(execution, pieces_, colours(), kind_, make_, read_, own_);
  for (std::size_t p = 0; p < pieces_.size(); p++) {
    other->solvers_[p]->read(*solvers_[p]);
    other->solvers_[p]->factor();
  }
  return other;
}

void GridLines::solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const
{
  LineSolveOptions all = options;
  all.colour           = Colour::all;
  for (std::size_t p = 0; p < pieces_.size(); p++) {
    if (!has(p, options.colour)) continue;
    const Index offset = pieces_[p].offset;
    solvers_[p]->solve(b + offset, x + offset, pieces_[p].colour == Colour::all ? options : all);
  }
}

double GridLines::flops(Colour colour) const
{
  double flops = 0;
  for (std::size_t p = 0; p < pieces_.size(); p++) {
    if (has(p, colour)) flops += solvers_[p]->flops() * (colour != Colour::all && pieces_[p].colour == Colour::all ? 0.5 : 1);
  }
  return flops;
}

PetscInt64 GridLines::count() const
{
  PetscInt64 count = 0;
  if (own_.first > 0 || own_.end == 0) return 0; // another rank has the first row of the lines
  for (std::size_t p = 0; p < pieces_.size(); p++) count += pieces_[p].layout.count() / solvers_[p]->block();
  return count;
}

bool GridLines::neighbours_only() const
{
  return std::all_of(solvers_.begin(), solvers_.end(), [](const auto &solver) { return solver->neighbours_only(); });
}

} // namespace weft
