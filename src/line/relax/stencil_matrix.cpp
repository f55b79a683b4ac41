#include "line/relax/stencil_matrix.hpp"

#include "line/relax/residual.hpp"
#include "line/relax/storage.hpp"

namespace weft {

template <class Scalar>
StencilMatrix<Scalar>::StencilMatrix(const Execution &execution, Index rows) : execution_(execution), rows_(rows)
{
  if (rows < 0) throw std::invalid_argument("a matrix has no negative number of rows");
  storage_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<Storage> {
    return std::make_unique<StencilStorage<std::decay_t<decltype(space)>, Scalar>>();
  });
}

template <class Scalar>
StencilMatrix<Scalar>::~StencilMatrix()
{
  destroy_or_leave(storage_);
}

template <class Scalar>
template <class Int>
void StencilMatrix<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix)
{
  on_backend(execution_, [&](const auto &space) {
    static_cast<StencilStorage<std::decay_t<decltype(space)>, Scalar> &>(*storage_).read(space, rows_, matrix);
  });
}

template <class Scalar>
void StencilMatrix<Scalar>::use(const Scalar *values, Index pitch, const std::vector<Index> &offsets)
{
  on_backend(execution_, [&](const auto &space) {
    static_cast<StencilStorage<std::decay_t<decltype(space)>, Scalar> &>(*storage_).use(space, rows_, values, pitch, offsets);
  });
}

template <class Scalar>
bool StencilMatrix<Scalar>::in_diagonals() const
{
  return storage_->diagonals() != nullptr;
}

template <class Scalar>
const std::vector<Index> &StencilMatrix<Scalar>::offsets() const
{
  return storage_->offsets;
}

template <class Scalar>
void StencilMatrix<Scalar>::residual(const Scalar *b, const Scalar *x, Scalar *r, Norm *norm, Transpose transpose) const
{
  on_backend(execution_, [&](const auto &space) { residual_of(space, *storage_, SomeRows::all(rows_), b, x, r, norm, transpose); });
}

template <class Scalar>
void StencilMatrix<Scalar>::multiply(const Scalar *x, Scalar *y) const
{
  on_backend(execution_, [&](const auto &space) { product_of(space, *storage_, rows_, x, y); });
}

template class StencilMatrix<KernelScalar>;
template class StencilMatrix<OtherScalar>;
template void StencilMatrix<KernelScalar>::read(const CsrMatrix<KernelScalar, std::int32_t> &);
template void StencilMatrix<KernelScalar>::read(const CsrMatrix<KernelScalar, std::int64_t> &);
template void StencilMatrix<OtherScalar>::read(const CsrMatrix<OtherScalar, std::int32_t> &);
template void StencilMatrix<OtherScalar>::read(const CsrMatrix<OtherScalar, std::int64_t> &);

} // namespace weft
