/// MethodLines: the FactoredLines of a method on one backend, of scalars or of blocks (blocks/block_lines_impl.hpp). Included by METHOD.cpp
/// only.
#pragma once
#include "base/backend.hpp"
#include "line/corners.hpp"
#include "line/csr.hpp"
#include "line/method_list.hpp"
#include "line/ring_probe.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// What works for a method on a backend: the method itself, or its Form where it has several.
template <class Method, class Space>
struct Working {
  using Form = Method;
};
template <class Method, class Space>
requires requires
{
  typename Method::template Form<Space>;
}
struct Working<Method, Space> {
  using Form = typename Method::template Form<Space>;
};

template <class Form, class Space, class Scalar>
auto plan_for(const Tridiagonal<Scalar, Space> &matrix, const MethodParameters &parameters)
{
  return Form::template plan<Space, Scalar>(matrix.problem, parameters);
}

/// Matrix: Tridiagonal, or BlockTridiagonal with blocks of one size.
template <class Method, class Space, class Scalar, class Matrix>
class MethodLines final : public FactoredLines<decltype(Matrix::problem), Scalar> {
public:
  using Problem = decltype(Matrix::problem);
  using Form    = typename Working<Method, Space>::Form;
  using Values  = Array<Scalar, Space>;

  MethodLines(const Execution &execution, const Space &space, const Problem &problem, const MethodParameters &parameters)
      : FactoredLines<Problem, Scalar>(execution, problem), parameters_(parameters), given_(make_side(space, false))
  {
    if constexpr (of_scalars) {
      if (has_corners(problem)) given_->probe = std::make_unique<RingProbe<Space, Scalar>>(problem);
    }
  }
  ~MethodLines() override
  {
    destroy_or_leave(given_);
    destroy_or_leave(transposed_);
  }

  using FactoredLines<Problem, Scalar>::read;
  void read(const CsrMatrix<Scalar, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix) override { read_csr(matrix); }
  void read(const HostCoefficients<Scalar> &from) override
  {
    own();
    const auto to_here = [&](const std::vector<Scalar> &values, const OwnedArray<Scalar, Space> &array) {
      Kokkos::deep_copy(given_->space, array, Array<const Scalar, Kokkos::HostSpace>(values.data(), values.size()));
    };
    to_here(from.lower, given_->owned[0]);
    to_here(from.diagonal, given_->owned[1]);
    to_here(from.upper, given_->owned[2]);
    given_->space.fence("weft: read the coefficients");
  }
  HostCoefficients<Scalar> host_coefficients() const override
  {
    const auto to_host = [&](const auto &array) {
      std::vector<Scalar> values(array.extent(0));
      Kokkos::deep_copy(given_->space, Array<Scalar, Kokkos::HostSpace>(values.data(), values.size()), array);
      return values;
    };
    const Matrix &matrix = given_->matrix;
    HostCoefficients<Scalar> host{to_host(matrix.lower), to_host(matrix.diagonal), to_host(matrix.upper)};
    given_->space.fence("weft: write the coefficients");
    return host;
  }
  typename FactoredLines<decltype(Matrix::problem), Scalar>::Given coefficients() const override
  {
    const Matrix &matrix = given_->matrix;
    return {matrix.lower.data(), matrix.diagonal.data(), matrix.upper.data()};
  }
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper) override
  {
    const auto size         = static_cast<std::size_t>(this->problem().coefficient_size());
    given_->matrix.lower    = Array<const Scalar, Space>(lower, size);
    given_->matrix.diagonal = Array<const Scalar, Space>(diagonal, size);
    given_->matrix.upper    = Array<const Scalar, Space>(upper, size);
  }

  void factor() override
  {
    eliminate();
    if constexpr (of_scalars) {
      const Side &side = *given_;
      if (side.probe) side.probe->run(side.space, side.matrix, side.plan.flag, [&](const Values &x) { solve(x.data(), x.data(), {}); });
    }
  }
  std::optional<LineRow> bad_pivot() const override { return given_->plan.flag.read(given_->space); }
  const Index *pivot_flag() const override { return given_->plan.flag.data(); }

  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const override
  {
    const Side &side = options.transpose == Transpose::no ? *given_ : transposed();
    for (int k = 0; k < options.nrhs; k++) {
      const Values b = values(rhs + k * options.ld), x = values(solution + k * options.ld);
      if (side.corners)
        solve_ring(side, b, x, options);
      else
        Form::solve(side.space, side.plan, side.matrix, b, x, options);
    }
  }
  void solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) override
  {
    this->check_once(options);
    const Side &side = *given_;
    if constexpr (requires(Values b) { Form::solve_once(side.space, side.plan, side.matrix, b, b, options); }) {
      if (!side.corners && options.nrhs == 1) {
        transposed_is_factored_ = false;
        Form::solve_once(side.space, side.plan, side.matrix, values(rhs), values(solution), options);
        return;
      }
    }
    eliminate(); // rings are measured by factor() only
    solve(rhs, solution, options);
  }

  const char *method() const override { return Method::name; }
  Index block() const override { return of_scalars ? 1 : this->layout().components; }
  double flops() const override { return Method::flops(this->layout()); }

private:
  static constexpr bool of_scalars = std::is_same_v<Problem, LineProblem>;
  static constexpr bool closes     = of_scalars && !couples_ends<Method>(); ///< rings that the method knows nothing of

  /// The lines, or their transposes.
  struct Side {
    Space space;
    Matrix matrix;
    decltype(plan_for<Form>(std::declval<Matrix>(), std::declval<MethodParameters>())) plan;
    std::unique_ptr<Corners<Space, Scalar>> corners = nullptr; ///< of rings that are closed here
    std::unique_ptr<RingProbe<Space, Scalar>> probe = nullptr; ///< of rings
    OwnedArray<Scalar, Space> owned[3]              = {};      ///< empty where the caller owns the coefficients
  };

  std::unique_ptr<Side> make_side(const Space &space, bool transposed) const
  {
    const Matrix matrix{this->problem(), {}, {}, {}, transposed};
    auto side = std::unique_ptr<Side>(new Side{space, matrix, plan_for<Form>(matrix, parameters_)});
    if constexpr (closes) {
      if (has_corners(this->problem())) side->corners = std::make_unique<Corners<Space, Scalar>>(this->problem(), parameters_);
    }
    return side;
  }
  static void factor(const Side &side)
  {
    Form::factor(side.space, side.plan, side.matrix);
    if constexpr (closes) {
      if (side.corners) side.corners->template factor<Form>(side.space, side.matrix);
    }
  }
  void eliminate()
  {
    transposed_is_factored_ = false;
    factor(*given_);
  }
  const Side &transposed() const
  {
    if (!transposed_) transposed_ = make_side(given_->space, true);
    if (!transposed_is_factored_) {
      transposed_->matrix.lower    = given_->matrix.lower;
      transposed_->matrix.diagonal = given_->matrix.diagonal;
      transposed_->matrix.upper    = given_->matrix.upper;
      factor(*transposed_);
      transposed_is_factored_ = true;
    }
    return *transposed_;
  }
  Values values(Scalar *array) const { return Values(array, static_cast<std::size_t>(this->layout().span())); }
  static void solve_ring(const Side &side, const Values &b, const Values &x, const SolveOptions<Scalar> &options)
  {
    if constexpr (closes) {
      // T'^-1 rhs goes where it may: to the solution, or to the work space that rhs is where the solution is added to.
      SolveOptions<Scalar> plain = options;
      plain.update               = {};
      const Values y             = options.update.add ? b : x;
      Form::solve(side.space, side.plan, side.matrix, b, y, plain);
      side.corners->correct(side.space, side.matrix, y, x, options);
    }
  }
  void own()
  {
    const auto size = static_cast<std::size_t>(this->problem().coefficient_size());
    for (auto &array : given_->owned) {
      if (array.extent(0) != size) array = OwnedArray<Scalar, Space>("weft coefficients", size);
    }
    use(given_->owned[0].data(), given_->owned[1].data(), given_->owned[2].data());
  }
  template <class Int>
  void read_csr(const CsrMatrix<Scalar, Int> &matrix)
  {
    if constexpr (of_scalars) {
      if (this->problem().coefficients != Coefficients::general)
        throw std::invalid_argument("only general coefficients are read from a matrix");
    }
    own();
    tridiagonal_of_csr(given_->space, this->problem(), matrix, given_->owned[0], given_->owned[1], given_->owned[2]);
  }

  MethodParameters parameters_;
  std::unique_ptr<Side> given_;
  mutable std::unique_ptr<Side> transposed_; ///< made and factored by the first transposed solve after factor()
  mutable bool transposed_is_factored_ = false;
};

template <class Method, class Scalar, class Space>
std::unique_ptr<LineSolver<Scalar>> lines_on(const Execution &execution, const Space &space, const LineProblem &problem,
                                             const MethodParameters &parameters)
{
  return std::make_unique<MethodLines<Method, Space, Scalar, Tridiagonal<Scalar, Space>>>(execution, space, problem, parameters);
}

template <class Method, class Problem, class Scalar>
std::unique_ptr<FactoredLines<Problem, Scalar>> LinesBy<Method, Problem, Scalar>::make(const Execution &execution, const Problem &problem,
                                                                                       const MethodParameters &parameters)
{
  return on_backend(execution, [&](const auto &space) { return lines_on<Method, Scalar>(execution, space, problem, parameters); });
}

} // namespace weft
