/// Messages: memory that words between ranks travel from and to. Included by kernel files only.
#pragma once
#include "base/backend.hpp"
#include "base/vendor.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// The stream of a device's backend, in whose order messages can go (stream_messages.hpp); null on a host.
template <class Space>
void *stream_of_messages([[maybe_unused]] const Space &space)
{
#if defined(WEFT_HAVE_VENDOR)
  if constexpr (!is_host_space<Space>) return vendor::stream_of(space);
#endif
  return nullptr;
}

/// Before messages: what is sent is there, or will be in the order of the stream. `ranks` send it; they know whether they do that in its order.
template <class Space, class Ranks>
void wait_to_send(const Space &space, const Ranks &ranks, const char *what)
{
  if (!ranks.in_order_of(stream_of_messages(space))) space.fence(what);
}

/// Words that travel: in the memory of the backend where MPI can read that, else in host memory that its kernels can write.
template <class Space, class Scalar>
class Messages {
public:
  void allocate(Index size, bool device_messages)
  {
    const auto label = Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft messages");
    const auto n     = static_cast<std::size_t>(size);
    if (device_messages)
      device_ = OwnedArray<Scalar, Space>(label, n);
    else
      host_ = Kokkos::View<Scalar *, Kokkos::SharedHostPinnedSpace>(label, n);
  }
  Scalar *data() const { return device_.data() ? device_.data() : host_.data(); }

private:
  OwnedArray<Scalar, Space> device_;
  Kokkos::View<Scalar *, Kokkos::SharedHostPinnedSpace> host_;
};

} // namespace weft
