#include "line/single_line_solver.hpp"

#include "base/backend.hpp"
#include "line/csr.hpp"

namespace weft {

/// Right-hand side and solution in single precision, and the coefficients where they come from a matrix.
class SingleLineSolver::Work {
public:
  virtual ~Work()                                                                          = default;
  virtual std::array<const float *, 3> read(const CsrMatrix<double, std::int32_t> &matrix) = 0;
  virtual std::array<const float *, 3> read(const CsrMatrix<double, std::int64_t> &matrix) = 0;
  virtual void solve(const LineSolver<float> &lines, const double *rhs, double *solution, const SolveOptions<double> &options) const = 0;

  template <class Space>
  class In;
};

template <class Space>
class SingleLineSolver::Work::In final : public SingleLineSolver::Work {
public:
  In(const Space &space, const LineProblem &problem)
      : space_(space), problem_(problem), rhs_("weft single rhs", static_cast<std::size_t>(problem.layout.span())),
        solution_("weft single solution", static_cast<std::size_t>(problem.layout.span()))
  {
  }

  std::array<const float *, 3> read(const CsrMatrix<double, std::int32_t> &matrix) override { return read_csr(matrix); }
  std::array<const float *, 3> read(const CsrMatrix<double, std::int64_t> &matrix) override { return read_csr(matrix); }

  void solve(const LineSolver<float> &lines, const double *rhs, double *solution, const SolveOptions<double> &options) const override
  {
    for (int k = 0; k < options.nrhs; k++) {
      round(rhs + k * options.ld, options.colour);
      lines.solve(rhs_.data(), solution_.data(), {{}, options.colour, options.transpose});
      put_solution(solution + k * options.ld, options);
    }
  }

  /// rhs_ = rhs on the lines of a colour.
  void round(const double *rhs, Colour colour) const
  {
    const auto to = rhs_;
    for_each_row(
        "weft round to single", colour, KOKKOS_LAMBDA(const Index i) { to(i) = static_cast<float>(rhs[i]); });
  }
  /// The update of solution by solution_.
  void put_solution(double *solution, const SolveOptions<double> &options) const
  {
    const auto from   = solution_;
    const auto update = options.update;
    for_each_row(
        "weft solution in double", options.colour,
        KOKKOS_LAMBDA(const Index i) { put(solution[i], update, static_cast<double>(from(i))); });
  }
  /// body(element) for the rows of the lines of a colour.
  template <class Body>
  void for_each_row(const char *label, Colour colour, const Body &body) const
  {
    const LineLayout layout = problem_.layout;
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(layout, number);
          if (layout.has_colour(at.line, colour)) body(layout.start(at.line) + at.row * layout.stride);
        });
  }

private:
  template <class Int>
  std::array<const float *, 3> read_csr(const CsrMatrix<double, Int> &matrix)
  {
    for (auto &array : coefficients_) {
      if (array.extent(0) == 0) array = OwnedArray<float, Space>("weft coefficients", static_cast<std::size_t>(problem_.layout.span()));
    }
    tridiagonal_of_csr(space_, problem_, matrix, coefficients_[0], coefficients_[1], coefficients_[2]);
    return {coefficients_[0].data(), coefficients_[1].data(), coefficients_[2].data()};
  }

  Space space_;
  LineProblem problem_;
  OwnedArray<float, Space> rhs_, solution_, coefficients_[3];
};

SingleLineSolver::SingleLineSolver(const Execution &execution, const LineProblem &problem, const std::string &method,
                                   const MethodParameters &parameters)
    : lines_(LineSolver<float>::make(execution, problem, method, parameters))
{
  on_backend(execution, [&](const auto &space) { work_ = std::make_unique<Work::In<std::decay_t<decltype(space)>>>(space, problem); });
}

SingleLineSolver::~SingleLineSolver()
{
  destroy_or_leave(work_);
}

template <class Int>
void SingleLineSolver::read(const CsrMatrix<double, Int> &matrix)
{
  const auto coefficients = work_->read(matrix);
  lines_->use(coefficients[0], coefficients[1], coefficients[2]);
}

void SingleLineSolver::read(const AnyLines<double> &other)
{
  lines_->read(*static_cast<const SingleLineSolver &>(other).lines_);
}

void SingleLineSolver::read(const ConstantLines<double> &lines)
{
  const auto rounded = [](const std::vector<double> &values) { return std::vector<float>(values.begin(), values.end()); };
  lines_->read(ConstantLines<float>{lines.closure, rounded(lines.lower), rounded(lines.diagonal), rounded(lines.upper)});
}

void SingleLineSolver::solve(double *rhs, double *solution, const SolveOptions<double> &options) const
{
  work_->solve(*lines_, rhs, solution, options);
}

template void SingleLineSolver::read(const CsrMatrix<double, std::int32_t> &);
template void SingleLineSolver::read(const CsrMatrix<double, std::int64_t> &);

} // namespace weft
