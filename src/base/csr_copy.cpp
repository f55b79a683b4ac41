#include "base/csr_copy.hpp"

#include <cstdint>

#include "base/backend.hpp"

namespace weft {

namespace {

template <class T, class Space>
const T *copy_to(const Space &space, const T *from, Index size, OwnerOfAny *owner)
{
  const auto count = static_cast<std::size_t>(size);
  const Kokkos::View<T *, typename Space::memory_space> view(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft csr copy"), count);
  Kokkos::deep_copy(space, view, Kokkos::View<const T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from, count));
  *owner = make_owner<std::any>(view);
  return view.data();
}

} // namespace

template <class Scalar, class Int>
CsrCopy<Scalar, Int>::CsrCopy(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &host)
{
  const Index entries = host.row_starts[rows];
  on_backend(execution, [&](const auto &space) {
    matrix_.row_starts = copy_to(space, host.row_starts, rows + 1, &row_starts_);
    matrix_.columns    = copy_to(space, host.columns, entries, &columns_);
    matrix_.values     = copy_to(space, host.values, entries, &values_);
    space.fence("weft: copy a matrix");
  });
}

template class CsrCopy<KernelScalar, std::int32_t>;
template class CsrCopy<KernelScalar, std::int64_t>;

} // namespace weft
