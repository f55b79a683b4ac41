/// EndMessages: room for what a rank and its two neighbours along a direction tell each other. Needs no Kokkos header.
#pragma once
#include <array>
#include <memory>

#include "base/execution.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// Four messages of as many words: in the memory of the execution where MPI can read that, else in pinned host memory, which kernels write and read
/// directly. Must end before Kokkos does.
template <class Scalar>
class EndMessages {
public:
  EndMessages(const Execution &execution, Index words, bool device_messages);

  Scalar *to_before() const { return messages_[0]; }
  Scalar *to_after() const { return messages_[1]; }
  Scalar *from_before() const { return messages_[2]; }
  Scalar *from_after() const { return messages_[3]; }

private:
  std::shared_ptr<void> memory_;
  std::array<Scalar *, 4> messages_{};
};

} // namespace weft
