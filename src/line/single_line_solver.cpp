#include "line/single_line_solver.hpp"

#include "base/backend.hpp"
#include "line/csr.hpp"

namespace weft {

namespace {

/// Right-hand side and solution in single precision, and the coefficients where they come from a matrix.
template <class Space>
class SingleLinesIn final : public SingleLineSolver {
public:
  using SingleLineSolver::read;

  SingleLinesIn(const Space &space, std::unique_ptr<LineSolver<SingleScalar>> lines)
      : SingleLineSolver(std::move(lines)), space_(space), problem_(lines_->problem()),
        rhs_("weft single rhs", static_cast<std::size_t>(problem_.layout.span())), solution_("weft single solution", rhs_.extent(0))
  {
  }

  void read(const CsrMatrix<KernelScalar, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<KernelScalar, std::int64_t> &matrix) override { read_csr(matrix); }

  void solve(KernelScalar *rhs, KernelScalar *solution, const SolveOptions<KernelScalar> &options) const override
  {
    for (int k = 0; k < options.nrhs; k++) {
      round(rhs + k * options.ld, options.colour);
      lines_->solve(rhs_.data(), solution_.data(), {{}, options.colour, options.transpose});
      put_solution(solution + k * options.ld, options);
    }
  }

  // Launches; public for nvcc.

  /// rhs_ = rhs on the lines of a colour.
  void round(const KernelScalar *rhs, Colour colour) const
  {
    const auto to = rhs_;
    for_each_row(
        "weft round to single", colour, KOKKOS_LAMBDA(const Index i) { to(i) = static_cast<SingleScalar>(rhs[i]); });
  }
  /// The update of solution by solution_.
  void put_solution(KernelScalar *solution, const SolveOptions<KernelScalar> &options) const
  {
    const auto from   = solution_;
    const auto update = options.update;
    for_each_row(
        "weft solution in double", options.colour,
        KOKKOS_LAMBDA(const Index i) { put(solution[i], update, static_cast<KernelScalar>(from(i))); });
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
  void read_csr(const CsrMatrix<KernelScalar, Int> &matrix)
  {
    for (auto &array : coefficients_) {
      if (array.extent(0) == 0) array = OwnedArray<SingleScalar, Space>("weft coefficients", rhs_.extent(0));
    }
    tridiagonal_of_csr(space_, problem_, matrix, coefficients_[0], coefficients_[1], coefficients_[2]);
    lines_->use(coefficients_[0].data(), coefficients_[1].data(), coefficients_[2].data());
  }

  Space space_;
  LineProblem problem_;
  OwnedArray<SingleScalar, Space> rhs_, solution_, coefficients_[3];
};

} // namespace

Owner<SingleLineSolver> SingleLineSolver::make(const Execution &execution, const LineProblem &problem, const std::string &method,
                                               const MethodParameters &parameters)
{
  return on_backend(execution, [&](const auto &space) -> Owner<SingleLineSolver> {
    return make_owner<SingleLinesIn<std::decay_t<decltype(space)>>>(space,
                                                                    LineSolver<SingleScalar>::make(execution, problem, method, parameters));
  });
}

void SingleLineSolver::read(const ConstantLines<KernelScalar> &lines)
{
  const auto rounded = [](const std::vector<KernelScalar> &values) { return std::vector<SingleScalar>(values.begin(), values.end()); };
  lines_->read(ConstantLines<SingleScalar>{lines.closure, rounded(lines.lower), rounded(lines.diagonal), rounded(lines.upper)});
}

} // namespace weft
