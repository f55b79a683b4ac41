// Times direct solves that are spread over ranks, without a matrix, so that sizes can be had which no matrix of 32-bit indices has. One rank: the
// solver of one. Each rank has a device of its own, or some share one. Prints a table.
//   mpirun -n 2 spread_bench --sizes=8191,1023x1023x1023 [--backend=host|device] [--stretch=S] [--repeat=20] [--staged]
// --staged: MPI cannot read a device's memory.
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <functional>

#include "base/rank_messages.hpp"
#include "bcr/spread/send.hpp"
#include "common_options.hpp"
#include "poisson_work.hpp"

namespace {

using namespace weft;
using namespace weft::bench;

struct Request {
  Memory memory  = build_has_device ? Memory::device : Memory::host;
  double stretch = 1;
  int repeat     = 20;
  bool staged    = false;
  std::vector<BoxWork> works;
};

/// Seconds of each of some solves that all ranks begin together, until the last of them has ended, sorted.
std::vector<double> seconds(const Execution &execution, int repeat, const std::function<void()> &solve)
{
  std::vector<double> all;
  for (int r = -3; r < repeat; r++) { // three to warm up
    execution.wait();
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    solve();
    execution.wait();
    double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (r >= 0) all.push_back(time);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// An operator of all nodes of a grid.
Separation separation_of(const SeparableOperator &a, const Index (&n)[3])
{
  Separation all;
  all.separable = a;
  for (int k = 0; k < 3; k++) all.grid[k] = all.nodes[k] = n[k];
  return all;
}

template <class Space>
void measure(const Execution &execution, const Space &space, const RankMessages &messages, const Request &request, const BoxWork &work)
{
  const int rank = messages.rank(), ranks = messages.size();
  SeparableOperator a = operator_of(work);
  const auto start    = std::chrono::steady_clock::now();
  Index begin = 0, count = work.unknowns();
  Owner<DirectSolver<double>> alone;
  Owner<SpreadSolver> together;
  const auto go_on = [&](const SpreadSolver::Exchange *exchange) { send_to_the_end(*together, messages, exchange); };
  if (ranks == 1) {
    alone = DirectSolver<double>::make(execution, a);
  } else {
    const Separation whole = separation_of(a, work.n);
    const auto plan        = spread_plan(whole, {}, ranks);
    if (!plan) { // the solver of one rank is faster
      if (rank == 0) std::printf("| %s | %s | %d | not spread | | | | | |\n", work.name().c_str(), work.conditions().c_str(), ranks);
      return;
    }
    const Separation slab = slab_of(whole, *plan, rank);
    together              = SpreadSolver::make(execution, slab, *plan, rank, Precision::both_double, messages.device_messages());
    go_on(together->meet());
    a     = slab.separable;
    begin = plan->layers(rank).begin * plan->grid[0] * plan->grid[1];
    count = plan->layers(rank).size() * plan->grid[0] * plan->grid[1];
  }
  execution.wait();
  const double before = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  OwnedArray<double, Space> f("weft bench f", static_cast<std::size_t>(count)), u("weft bench u", static_cast<std::size_t>(count));
  apply(space, a, begin, count, f);
  const auto times = seconds(execution, request.repeat,
                             [&] { alone ? alone->solve(f.data(), u.data()) : go_on(together->begin(f.data(), u.data(), Transpose::no)); });
  double error     = error_of(space, u, begin, count);
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double bytes = static_cast<double>(alone ? alone->work_bytes() : together->work_bytes());
  if (rank > 0) return;
  std::printf("| %s | %s | %d | %s | %.4g | %.4g | %.1e | %.3g | %.2f |\n", work.name().c_str(), work.conditions().c_str(), ranks,
              alone ? "one rank" : messages.way().c_str(), 1e3 * times.front(), 1e3 * times[times.size() / 2], error, before, 1e-9 * bytes);
  std::fflush(stdout);
}

Request request_of(int argc, char **argv)
{
  Request request;
  bool quick = false;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    if (takes_common(word, request.memory, quick)) continue;
    if (word.starts_with("--sizes="))
      for (const std::string &size : words(word.substr(8), ',')) request.works.push_back(work_of(size));
    else if (word.starts_with("--stretch="))
      request.stretch = std::stod(word.substr(10));
    else if (word.starts_with("--repeat="))
      request.repeat = std::max(1, std::stoi(word.substr(9)));
    else if (word == "--staged")
      request.staged = true;
    else
      throw std::invalid_argument("no such option: " + word);
  }
  if (request.works.empty()) request.works = {work_of(quick ? "255" : "4095")};
  for (BoxWork &work : request.works) work.stretch = request.stretch;
  return request;
}

void run(int argc, char **argv)
{
  const Request request = request_of(argc, argv);
  const Execution first(request.memory);
  const auto own             = Execution::beside(first); // on a stream, in whose order messages can go
  const Execution &execution = *own;
  const RankMessages messages(MPI_COMM_WORLD, !request.staged, request.memory == Memory::device);
  if (messages.rank() == 0)
    std::printf("%s\n\n| grid | ends | ranks | messages | least, ms | median, ms | error | set-up, s | work space of a rank, GB |\n"
                "|---|---|--:|---|--:|--:|--:|--:|--:|\n",
                execution.name().c_str());
  on_backend(execution, [&](const auto &space) {
    for (const BoxWork &work : request.works) measure(execution, space, messages, request, work);
  });
}

} // namespace

int main(int argc, char **argv)
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
