/// PeerMail of CUDA devices.
#pragma once
#include <memory>

#include "base/peer_mail.hpp"
#include "base/peer_memory.hpp"

namespace weft {

/// So many inboxes of so many bytes on each rank. own: this rank. Null where there is no memory left. Collective, as PeerMemory::take(), and with the same
/// numbers on all ranks.
std::unique_ptr<PeerMail> make_device_mail(PeerMemory &memory, int own, int inboxes, std::size_t bytes);

} // namespace weft
