/// PeerMail of CUDA devices.
#pragma once
#include <memory>

#include "base/peer_mail.hpp"
#include "base/peer_memory.hpp"

namespace weft {

/// So many inboxes of so many bytes on each rank, for messages in so many parts. own: this rank. Null where there is no memory left. Collective, as PeerMemory::take(), and with the same
/// numbers on all ranks.
std::unique_ptr<PeerMail> make_device_mail(PeerMemory &memory, int own, int inboxes, int parts, std::size_t bytes);

} // namespace weft
