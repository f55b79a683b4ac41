/// GridRanks by MPI.
#pragma once
#include <mpi.h>

#include <functional>

#include "boxmg/ranks/parts.hpp"

namespace weft::boxmg {

class MpiRanks final : public GridRanks {
public:
  /// The ranks of a communicator, which must live as long as this, on a grid in boxes. agree: see GridRanks. Collective.
  MpiRanks(MPI_Comm communicator, const Parts &parts, bool device_messages, std::function<void()> agree);
  ~MpiRanks() override;
  MpiRanks(const MpiRanks &)            = delete;
  MpiRanks &operator=(const MpiRanks &) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool device_messages() const override { return device_messages_; }
  void agree() const override { agree_(); }
  void exchange(const std::vector<Message> &sent, const double *from, const std::vector<Message> &received, double *to,
                int words) const override;
  void exchange(const std::vector<Message> &sent, const float *from, const std::vector<Message> &received, float *to,
                int words) const override;
  void gather(const void *mine, void *all, std::size_t bytes) const override;
  void from_first(void *bytes, std::size_t count) const override;
  void make_lines(const Execution &execution, int direction, const LineProblem &piece,
                  std::unique_ptr<AnyLines<double>> &lines) const override;
  void make_lines(const Execution &execution, int direction, const LineProblem &piece,
                  std::unique_ptr<AnyLines<float>> &lines) const override;

private:
  MPI_Comm communicator_; ///< for our messages alone
  MPI_Comm lines_[3];     ///< those that share lines along a direction
  int rank_ = 0, size_ = 1;
  bool device_messages_;
  std::function<void()> agree_;
  mutable std::vector<MPI_Request> requests_; ///< of messages under way
};

} // namespace weft::boxmg
