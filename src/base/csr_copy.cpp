#include "base/csr_copy.hpp"

#include <cstdint>

#include "base/backend.hpp"

namespace weft {

namespace {

/// As arrays of a host.
template <class T>
using OfHost = Kokkos::View<T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T, class Space>
const T *copy_to(const Space &space, const T *from, Index size, OwnerOfAny *owner)
{
  const auto count = static_cast<std::size_t>(size);
  const Kokkos::View<T *, typename Space::memory_space> view(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft csr copy"), count);
  Kokkos::deep_copy(space, view, OfHost<const T>(from, count));
  *owner = make_owner<std::any>(view);
  return view.data();
}

} // namespace

template <class Scalar, class Int>
CsrCopy<Scalar, Int>::CsrCopy(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &host) : entries_(host.row_starts[rows])
{
  on_backend(execution, [&](const auto &space) {
    matrix_.row_starts = copy_to(space, host.row_starts, rows + 1, &row_starts_);
    matrix_.columns    = copy_to(space, host.columns, entries_, &columns_);
    matrix_.values     = copy_to(space, host.values, entries_, &values_);
    space.fence("weft: copy a matrix");
  });
}

template <class Scalar, class Int>
void CsrCopy<Scalar, Int>::take(const Execution &execution, const Scalar *values)
{
  on_backend(execution, [&](const auto &space) {
    using Own        = Kokkos::View<Scalar *, typename std::decay_t<decltype(space)>::memory_space>;
    const auto count = static_cast<std::size_t>(entries_);
    Kokkos::deep_copy(space, std::any_cast<const Own &>(*values_), OfHost<const Scalar>(values, count));
    space.fence("weft: new values of a copy");
  });
}

template class CsrCopy<KernelScalar, std::int32_t>;
template class CsrCopy<KernelScalar, std::int64_t>;

} // namespace weft
