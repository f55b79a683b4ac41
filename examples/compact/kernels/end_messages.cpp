#include "kernels/end_messages.hpp"

#include "base/kernel_scalar.hpp"
#include "base/messages.hpp"

namespace weft {

template <class Scalar>
EndMessages<Scalar>::EndMessages(const Execution &execution, Index words, bool device_messages)
{
  on_backend(execution, [&](const auto &space) {
    const auto memory = std::make_shared<Messages<std::decay_t<decltype(space)>, Scalar>>();
    memory->allocate(static_cast<Index>(messages_.size()) * words, device_messages);
    for (std::size_t k = 0; k < messages_.size(); k++) messages_[k] = memory->data() + static_cast<Index>(k) * words;
    memory_ = memory;
  });
}

template class EndMessages<KernelScalar>;
template class EndMessages<OtherScalar>;

} // namespace weft
