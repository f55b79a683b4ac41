#include "line/factored_lines.hpp"

#include "base/backend.hpp"
#include "line/model.hpp"

namespace weft {

template <class Scalar>
FactoredLines<Scalar>::FactoredLines(const Execution &execution, std::string method, const MethodParameters &parameters)
    : execution_(execution), method_(std::move(method)), parameters_(parameters)
{
}

template <class Scalar>
FactoredLines<Scalar>::~FactoredLines()
{
  destroy_or_leave(model_);
  destroy_or_leave(transposed_);
}

template <class Scalar>
void FactoredLines<Scalar>::use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper)
{
  model_->use({lower, diagonal, upper});
}

template <class Scalar>
void FactoredLines<Scalar>::read(const AnyLines<Scalar> &other)
{
  model_->read(static_cast<const FactoredLines &>(other).model_->host_coefficients());
}

template <class Scalar>
void FactoredLines<Scalar>::factor()
{
  transposed_is_factored_ = false;
  model_->factor();
}

template <class Scalar>
std::optional<LineRow> FactoredLines<Scalar>::bad_pivot() const
{
  return model_->bad_pivot();
}

template <class Scalar>
LineModel<Scalar> &FactoredLines<Scalar>::model(Transpose transpose) const
{
  if (transpose == Transpose::no) return *model_;
  if (!transposed_) transposed_ = make(Transpose::yes);
  if (!transposed_is_factored_) {
    transposed_->use(model_->pointers());
    transposed_->factor();
    transposed_is_factored_ = true;
  }
  return *transposed_;
}

template <class Scalar>
void FactoredLines<Scalar>::solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  // The methods write to rhs only under update.add.
  if (options.update.add) throw std::invalid_argument("solve keeps its right-hand side: call solve_add to add to the solution");
  model(options.transpose).solve(const_cast<Scalar *>(rhs), solution, options);
}

template <class Scalar>
void FactoredLines<Scalar>::solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options) const
{
  options.update.add = true;
  model(options.transpose).solve(rhs, solution, options);
}

template <class Scalar>
void FactoredLines<Scalar>::solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)
{
  if (options.update.add || options.transpose == Transpose::yes)
    throw std::invalid_argument("solve_once neither adds nor transposes: call factor and solve");
  transposed_is_factored_ = false;
  model_->solve_once(const_cast<Scalar *>(rhs), solution, options);
}

template class FactoredLines<double>;
template class FactoredLines<float>;

} // namespace weft
