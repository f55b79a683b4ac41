/// What the programs share that time work which all ranks do together: their options, where it runs, and its seconds.
#pragma once
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/backend.hpp"
#include "base/rank_messages.hpp"
#include "common_options.hpp"

namespace weft::bench {

/// --sizes=SIZE,... --repeat=20 --staged (MPI cannot read a device's memory), and what all programs take.
struct RanksRequest {
  Memory memory = build_has_device ? Memory::device : Memory::host;
  int repeat    = 20;
  bool staged   = false;
  std::vector<std::string> sizes;
};

/// `usual`, `quick`: sizes where none are given. `takes`: takes an option of the program's own; false if the word is another.
inline RanksRequest ranks_request_of(
    int argc, char **argv, const std::string &usual, const std::string &quick,
    const std::function<bool(const std::string &)> &takes = [](const std::string &) { return false; })
{
  RanksRequest request;
  bool is_quick = false;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    if (takes_common(word, request.memory, is_quick) || takes(word)) continue;
    if (word.starts_with("--sizes="))
      request.sizes = words(word.substr(8), ',');
    else if (word.starts_with("--repeat="))
      request.repeat = std::max(1, std::stoi(word.substr(9)));
    else if (word == "--staged")
      request.staged = true;
    else
      throw std::invalid_argument("no such option: " + word);
  }
  if (request.sizes.empty()) request.sizes = {is_quick ? quick : usual};
  return request;
}

/// Where the work runs, and what carries its messages.
class OfRanks {
public:
  explicit OfRanks(const RanksRequest &request)
      : first_(request.memory), own_(Execution::beside(first_)),
        messages_(MPI_COMM_WORLD, !request.staged, request.memory == Memory::device), repeat_(request.repeat)
  {
  }
  /// On a stream, in whose order messages can go.
  const Execution &execution() const { return *own_; }
  const RankMessages &messages() const { return messages_; }
  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }
  /// What carries the messages, for people.
  std::string way() const { return size() == 1 ? "one rank" : messages_.way(); }

  /// Prints where this is, and the head of a table.
  void print_head(const char *head) const
  {
    if (rank() == 0) std::printf("%s\n\n%s\n", execution().name().c_str(), head);
  }
  /// The largest of the ranks' values.
  double largest(double value) const
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
  }
  /// Seconds of each of some solves that all ranks begin together, until the last of them has ended, sorted.
  std::vector<double> seconds(const std::function<void()> &solve) const
  {
    std::vector<double> all;
    for (int r = -3; r < repeat_; r++) { // three to warm up
      execution().wait();
      MPI_Barrier(MPI_COMM_WORLD);
      const auto start = std::chrono::steady_clock::now();
      solve();
      execution().wait();
      const double time = largest(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (r >= 0) all.push_back(time);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

private:
  const Execution first_;
  const std::unique_ptr<Execution> own_;
  const RankMessages messages_;
  const int repeat_;
};

/// The main function of such a program: what fails on a rank ends all of them.
inline int main_of_ranks(int argc, char **argv, void (*run)(int, char **))
{
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard guard(Kokkos::InitializationSettings().set_disable_warnings(true));
    try {
      run(argc, argv);
    } catch (const std::exception &failure) {
      std::fprintf(stderr, "%s: %s\n", argv[0], failure.what());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  MPI_Finalize();
  return 0;
}

} // namespace weft::bench
