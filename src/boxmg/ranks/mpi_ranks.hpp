/// GridRanks by MPI, and between devices as RankMessages has it.
#pragma once
#include <mpi.h>

#include <functional>

#include "base/rank_messages.hpp"
#include "boxmg/ranks/parts.hpp"

namespace weft::boxmg {

class MpiRanks final : public GridRanks {
public:
  /// The ranks of a communicator, which must live as long as this, on a grid in boxes. agree: see GridRanks. Collective.
  /// on_device: what is sent lies in the memory of devices.
  MpiRanks(MPI_Comm communicator, const Parts &parts, bool device_messages, bool on_device, std::function<void()> agree);
  ~MpiRanks() override;
  MpiRanks(const MpiRanks &)            = delete;
  MpiRanks &operator=(const MpiRanks &) = delete;

  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  bool device_messages() const override { return messages_.device_messages(); }
  std::string way() const override { return (peers_ ? "directly, large ones " : "") + messages_.way(); }
  PeerMemory *peers() const override { return peers_; }
  void agree() const override { agree_(); }
  bool in_order_of(void *stream) const override { return messages_.in_order_of(stream); }
  void exchange(const std::vector<Message> &sent, const KernelScalar *from, const std::vector<Message> &received, KernelScalar *to,
                int words, void *stream) const override;
  void exchange(const std::vector<Message> &sent, const OtherScalar *from, const std::vector<Message> &received, OtherScalar *to, int words,
                void *stream) const override;
  void gather(const void *mine, void *all, std::size_t bytes) const override;
  void from_first(void *bytes, std::size_t count) const override;
  void make_lines(const Execution &execution, const Parts &parts, int direction, const LineProblem &piece,
                  std::unique_ptr<AnyLines<KernelScalar>> &lines) const override;
  void make_lines(const Execution &execution, const Parts &parts, int direction, const LineProblem &piece,
                  std::unique_ptr<AnyLines<OtherScalar>> &lines) const override;

private:
  /// Those that share lines along a direction.
  MPI_Comm lines(const Parts &parts, int direction) const
  {
    return parts.boxes(direction) == size() ? messages_.communicator() : lines_[direction];
  }

  RankMessages messages_;
  PeerMemory *peers_; ///< or null
  MPI_Comm lines_[3]; ///< of the parts that these are for
  std::function<void()> agree_;
};

} // namespace weft::boxmg
