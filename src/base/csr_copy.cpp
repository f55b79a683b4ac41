#include "base/csr_copy.hpp"

#include <any>
#include <cstdint>

#include "base/backend.hpp"

namespace weft {

template <class Scalar, class Int>
struct CsrCopy<Scalar, Int>::Arrays {
  std::any views[3];
};

namespace {

template <class T, class Space>
const T *copy_to(const Space &space, const T *from, Index size, std::any *owner)
{
  const auto count = static_cast<std::size_t>(size);
  const Kokkos::View<T *, typename Space::memory_space> view(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft csr copy"), count);
  Kokkos::deep_copy(space, view, Kokkos::View<const T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from, count));
  *owner = view;
  return view.data();
}

} // namespace

template <class Scalar, class Int>
CsrCopy<Scalar, Int>::CsrCopy(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &host)
    : arrays_(std::make_unique<Arrays>())
{
  const Index entries = host.row_starts[rows];
  on_backend(execution, [&](const auto &space) {
    matrix_.row_starts = copy_to(space, host.row_starts, rows + 1, &arrays_->views[0]);
    matrix_.columns    = copy_to(space, host.columns, entries, &arrays_->views[1]);
    matrix_.values     = copy_to(space, host.values, entries, &arrays_->views[2]);
    space.fence("weft: copy a matrix");
  });
}

template <class Scalar, class Int>
CsrCopy<Scalar, Int>::~CsrCopy()
{
  destroy_or_leave(arrays_);
}

template class CsrCopy<double, std::int32_t>;
template class CsrCopy<double, std::int64_t>;

} // namespace weft
