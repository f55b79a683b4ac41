/// MapLines: lines through the rows of any matrix, a user's or those that follow its strongest couplings, as a LineSet.
#pragma once
#include "forest/mapped_line_solver.hpp"
#include "pc/line/line_set.hpp"

namespace weft {

/// Lines in Scalar between vectors of PetscScalar.
template <class Scalar>
class MapLines final : public LineSet {
public:
  /// `colours` of all ranks: this one's may be fewer.
  MapLines(std::unique_ptr<LineMap> map, int colours, const std::string &kernel, const MethodParameters &parameters)
      : map_(std::move(map)), colours_(colours), solver_(*map_, kernel, parameters), parameters_(parameters)
  {
  }

  const Execution &execution() const override { return map_->execution(); }
  int colours() const override { return colours_; }

  void read(const LocalMatrix &matrix) override
  {
    solver_.read(matrix.inside);
    solver_.factor();
  }
  std::optional<Index> bad_row() const override { return map_->not_finite() ? map_->not_finite() : solver_.bad_pivot(); }
  std::unique_ptr<LineSet> twin(const Execution &execution) const override
  {
    auto other = std::make_unique<MapLines>(std::make_unique<LineMap>(execution, *map_), colours_, solver_.method(), parameters_);
    other->solver_.read(solver_);
    other->solver_.factor();
    return other;
  }

  void solve(const PetscScalar *b, PetscScalar *x, const LineSetOptions &options) const override
  {
    for (int k = 0; k < options.many && has(options.colour); k++) solver_.solve(b + k * options.apart, x + k * options.apart, how(options));
  }
  void solve_add(PetscScalar *r, PetscScalar *x, const LineSetOptions &options) const override
  {
    for (int k = 0; k < options.many && has(options.colour); k++)
      solver_.solve_add(r + k * options.apart, x + k * options.apart, how(options));
  }

  double flops(int colour) const override { return has(colour) ? solver_.flops(colour) : 0; }
  const char *method() const override { return solver_.method(); }
  PetscInt64 count() const override { return map_->lines(); }
  PetscInt64 longest() const override { return map_->longest(); }
  std::string kind() const override { return std::is_same_v<Scalar, float> ? " in single precision" : ""; }

private:
  bool has(int colour) const { return colour < map_->colours(); }
  static MappedSolveOptions how(const LineSetOptions &options) { return {options.omega, options.colour, options.transpose}; }

  std::unique_ptr<LineMap> map_;
  int colours_;
  MappedLineSolver<Scalar, PetscScalar> solver_;
  MethodParameters parameters_;
};

} // namespace weft
