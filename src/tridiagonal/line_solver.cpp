#include "tridiagonal/line_solver.hpp"

#include <cstring>
#include <stdexcept>

#include "backend.hpp"
#include "tridiagonal/csr.hpp"
#include "tridiagonal/select.hpp"

namespace weft {

/// One method on one backend, its types hidden.
template <class Scalar>
struct LineSolver<Scalar>::Concept {
  using Host = Kokkos::View<Scalar *, Kokkos::HostSpace>;
  struct Coefficients {
    Host lower, diagonal, upper;
  };

  virtual ~Concept()                                                                           = default;
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &matrix)                             = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &matrix)                             = 0;
  virtual void read(const Coefficients &coefficients)                                          = 0;
  virtual Coefficients coefficients() const                                                    = 0;
  virtual std::optional<LineRow> factor()                                                      = 0;
  virtual void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const = 0;
  virtual const LineLayout &layout() const                                                     = 0;
  virtual const char *method() const                                                           = 0;
  virtual double flops() const                                                                 = 0;
};

namespace {

template <class Method, class Space, class Scalar>
class Model final : public LineSolver<Scalar>::Concept {
public:
  using Coefficients = typename LineSolver<Scalar>::Concept::Coefficients;

  Model(const Space &space, const LineLayout &layout)
      : space_(space), plan_(Method::template plan<Space, Scalar>(layout)), lower_("weft lower", layout.span()),
        diagonal_("weft diagonal", layout.span()), upper_("weft upper", layout.span())
  {
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix) override
  {
    tridiagonal_of_csr(space_, plan_.layout, matrix, lower_, diagonal_, upper_);
  }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix) override
  {
    tridiagonal_of_csr(space_, plan_.layout, matrix, lower_, diagonal_, upper_);
  }

  void read(const Coefficients &from) override
  {
    Kokkos::deep_copy(space_, lower_, from.lower);
    Kokkos::deep_copy(space_, diagonal_, from.diagonal);
    Kokkos::deep_copy(space_, upper_, from.upper);
    space_.fence("weft: read the coefficients");
  }

  Coefficients coefficients() const override
  {
    const auto to_host = [&](const auto &array) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array); };
    space_.fence("weft: write the coefficients");
    return {to_host(lower_), to_host(diagonal_), to_host(upper_)};
  }

  std::optional<LineRow> factor() override
  {
    Method::factor(space_, plan_, Tridiagonal<Scalar, Space>{lower_, diagonal_, upper_});
    return plan_.flag.read(space_);
  }

  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    const Index span = plan_.layout.span();
    Method::solve(space_, plan_, Array<Scalar, Space>(rhs, span), Array<Scalar, Space>(solution, span), options);
  }

  const LineLayout &layout() const override { return plan_.layout; }
  const char *method() const override { return Method::name; }
  double flops() const override { return Method::flops(plan_.layout); }

private:
  Space space_;
  typename Method::template Plan<Space, Scalar> plan_;
  OwnedArray<Scalar, Space> lower_, diagonal_, upper_;
};

} // namespace

std::vector<const char *> tridiagonal_method_names()
{
  std::vector<const char *> names;
  for_each_tridiagonal_method([&](auto method) { names.push_back(method.name); });
  return names;
}

template <class Scalar, class Int>
CouplingStrengths coupling_strengths(const Execution &execution, const Index (&n)[3], Index components,
                                     const CsrMatrix<Scalar, Int> &matrix)
{
  return on_backend(execution, [&](const auto &space) { return coupling_strengths(space, n, components, matrix); });
}

template <class Scalar>
LineSolver<Scalar>::LineSolver(const Execution &execution, const LineLayout &layout, const std::string &method) : execution_(execution)
{
  const std::string name = method == "auto" ? choose_tridiagonal_method(layout, execution.memory() == Memory::device) : method;
  for_each_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (name != Method::name) return;
    on_backend(execution,
               [&](const auto &space) { model_ = std::make_unique<Model<Method, std::decay_t<decltype(space)>, Scalar>>(space, layout); });
  });
  if (!model_) throw std::invalid_argument("no tridiagonal method is called '" + method + "'");
}

template <class Scalar>
LineSolver<Scalar>::~LineSolver()
{
  destroy_or_leave(model_);
}

template <class Scalar>
template <class Int>
void LineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix)
{
  model_->read(matrix);
}

template <class Scalar>
void LineSolver<Scalar>::read(const LineSolver &other)
{
  model_->read(other.model_->coefficients());
}

template <class Scalar>
std::optional<LineRow> LineSolver<Scalar>::factor()
{
  return model_->factor();
}

template <class Scalar>
void LineSolver<Scalar>::solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  // The methods write to rhs only under update.add.
  if (options.update.add) throw std::invalid_argument("solve keeps its right-hand side: call solve_add to add to the solution");
  model_->solve(const_cast<Scalar *>(rhs), solution, options);
}

template <class Scalar>
void LineSolver<Scalar>::solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options) const
{
  options.update.add = true;
  model_->solve(rhs, solution, options);
}

template <class Scalar>
const LineLayout &LineSolver<Scalar>::layout() const
{
  return model_->layout();
}

template <class Scalar>
const char *LineSolver<Scalar>::method() const
{
  return model_->method();
}

template <class Scalar>
double LineSolver<Scalar>::flops() const
{
  return model_->flops();
}

template class LineSolver<double>;
template void LineSolver<double>::read(const CsrMatrix<double, std::int32_t> &);
template void LineSolver<double>::read(const CsrMatrix<double, std::int64_t> &);
template CouplingStrengths coupling_strengths(const Execution &, const Index (&)[3], Index, const CsrMatrix<double, std::int32_t> &);
template CouplingStrengths coupling_strengths(const Execution &, const Index (&)[3], Index, const CsrMatrix<double, std::int64_t> &);

} // namespace weft
