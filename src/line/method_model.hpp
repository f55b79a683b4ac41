/// MethodModel: the LineModel of a method. Included by METHOD.cpp only.
#pragma once
#include "base/backend.hpp"
#include "line/corners.hpp"
#include "line/csr.hpp"
#include "line/model.hpp"
#include "line/ring_probe.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

template <class Method, class Space, class Scalar>
class MethodModel final : public LineModel<Scalar> {
public:
  using Base             = LineModel<Scalar>;
  using HostCoefficients = typename Base::HostCoefficients;
  using Pointers         = typename Base::Pointers;
  using Values           = Array<Scalar, Space>;

  MethodModel(const Space &space, const LineProblem &problem, const MethodParameters &parameters, Transpose transpose)
      : space_(space), plan_(Method::template plan<Space, Scalar>(problem, parameters)), corners_(make_corners(problem, parameters))
  {
    if (has_corners(problem)) probe_ = std::make_unique<RingProbe<Space, Scalar>>(problem);
    matrix_.problem    = problem;
    matrix_.transposed = transpose == Transpose::yes;
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix) override { read_csr(matrix); }
  void read(const HostCoefficients &from) override
  {
    own();
    Kokkos::deep_copy(space_, owned_[0], from.lower);
    Kokkos::deep_copy(space_, owned_[1], from.diagonal);
    Kokkos::deep_copy(space_, owned_[2], from.upper);
    space_.fence("weft: read the coefficients");
  }
  HostCoefficients host_coefficients() const override
  {
    const auto to_host = [&](const auto &array) {
      typename Base::Host host("weft coefficients", array.extent(0));
      Kokkos::deep_copy(space_, host, array);
      return host;
    };
    const HostCoefficients host{to_host(matrix_.lower), to_host(matrix_.diagonal), to_host(matrix_.upper)};
    space_.fence("weft: write the coefficients");
    return host;
  }

  void use(const Pointers &p) override
  {
    const auto size  = static_cast<std::size_t>(matrix_.problem.coefficient_size());
    matrix_.lower    = Array<const Scalar, Space>(p.lower, size);
    matrix_.diagonal = Array<const Scalar, Space>(p.diagonal, size);
    matrix_.upper    = Array<const Scalar, Space>(p.upper, size);
  }
  Pointers pointers() const override { return {matrix_.lower.data(), matrix_.diagonal.data(), matrix_.upper.data()}; }

  void factor() override
  {
    eliminate();
    if (probe_) probe_->run(space_, matrix_, plan_.flag, [&](const Values &x) { solve(x.data(), x.data(), {}); });
  }
  std::optional<LineRow> bad_pivot() const override { return plan_.flag.read(space_); }

  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    const auto span = static_cast<std::size_t>(matrix_.problem.layout.span());
    for (int k = 0; k < options.nrhs; k++) {
      const Values b(rhs + k * options.ld, span), x(solution + k * options.ld, span);
      if (couples_ends<Method>() || !corners_) {
        Method::solve(space_, plan_, matrix_, b, x, options);
        continue;
      }
      // T'^-1 rhs goes where it may: to the solution, or to the work space that rhs is where the solution is added to.
      SolveOptions<Scalar> plain = options;
      plain.update               = {};
      const Values y             = options.update.add ? b : x;
      Method::solve(space_, plan_, matrix_, b, y, plain);
      corners_->correct(space_, matrix_, y, x, options);
    }
  }
  void solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override
  {
    if constexpr (requires(Values b) { Method::solve_once(space_, plan_, matrix_, b, b, options); }) {
      if ((couples_ends<Method>() || !corners_) && options.nrhs == 1) {
        const auto span = static_cast<std::size_t>(matrix_.problem.layout.span());
        Method::solve_once(space_, plan_, matrix_, Values(rhs, span), Values(solution, span), options);
        return;
      }
    }
    eliminate(); // rings are measured by factor() only
    solve(rhs, solution, options);
  }

private:
  void eliminate()
  {
    Method::factor(space_, plan_, matrix_);
    if constexpr (!couples_ends<Method>()) {
      if (corners_) corners_->template factor<Method>(space_, matrix_);
    }
  }
  static std::unique_ptr<Corners<Space, Scalar>> make_corners(const LineProblem &problem, const MethodParameters &parameters)
  {
    if (couples_ends<Method>() || !has_corners(problem)) return nullptr;
    return std::make_unique<Corners<Space, Scalar>>(problem, parameters);
  }
  void own()
  {
    const Index size = matrix_.problem.coefficient_size();
    for (auto &array : owned_) {
      if (static_cast<Index>(array.extent(0)) != size)
        array = OwnedArray<Scalar, Space>("weft coefficients", static_cast<std::size_t>(size));
    }
    use({owned_[0].data(), owned_[1].data(), owned_[2].data()});
  }
  template <class Int>
  void read_csr(const CsrMatrix<Scalar, Int> &matrix)
  {
    own();
    tridiagonal_of_csr(space_, matrix_.problem, matrix, owned_[0], owned_[1], owned_[2]);
  }

  Space space_;
  typename Method::template Plan<Space, Scalar> plan_;
  std::unique_ptr<Corners<Space, Scalar>> corners_;
  std::unique_ptr<RingProbe<Space, Scalar>> probe_; ///< of rings
  OwnedArray<Scalar, Space> owned_[3];              ///< empty where the caller owns the coefficients
  Tridiagonal<Scalar, Space> matrix_;
};

template <class Method, class Scalar>
std::unique_ptr<LineModel<Scalar>> Models<Method, Scalar>::make(const Execution &execution, const LineProblem &problem,
                                                                const MethodParameters &parameters, Transpose transpose)
{
  return on_backend(execution, [&](const auto &space) -> std::unique_ptr<LineModel<Scalar>> {
    return std::make_unique<MethodModel<Method, std::decay_t<decltype(space)>, Scalar>>(space, problem, parameters, transpose);
  });
}

} // namespace weft
