// Times direct solves that are spread over ranks, without a matrix, so that sizes can be had which no matrix of 32-bit indices has. One rank: the
// solver of one. Each rank has a device of its own, or some share one. Prints a table.
//   mpirun -n 2 spread_bench --sizes=8191,1023x1023x1023 [--backend=host|device] [--stretch=S] [--repeat=20] [--staged]
// --staged: MPI cannot read a device's memory.
#include "bcr/spread/send.hpp"
#include "of_ranks.hpp"
#include "poisson_work.hpp"

namespace {

using namespace weft;
using namespace weft::bench;

/// An operator of all nodes of a grid.
Separation separation_of(const SeparableOperator &a, const Index (&n)[3])
{
  Separation all;
  all.separable = a;
  for (int k = 0; k < 3; k++) all.grid[k] = all.nodes[k] = n[k];
  return all;
}

template <class Space>
void measure(const OfRanks &of, const Space &space, const BoxWork &work)
{
  const int rank = of.rank(), ranks = of.size();
  const RankMessages &messages = of.messages();
  SeparableOperator a          = operator_of(work);
  const auto start             = std::chrono::steady_clock::now();
  Index begin = 0, count = work.unknowns();
  Owner<DirectSolver<double>> alone;
  Owner<SpreadSolver> together;
  const auto go_on = [&](const SpreadSolver::Exchange *exchange) { send_to_the_end(*together, messages, exchange); };
  if (ranks == 1) {
    alone = DirectSolver<double>::make(of.execution(), a);
  } else {
    const Separation whole = separation_of(a, work.n);
    const auto plan        = spread_plan(whole, {}, ranks);
    if (!plan) { // the solver of one rank is faster
      if (rank == 0) std::printf("| %s | %s | %d | not spread | | | | | |\n", work.name().c_str(), work.conditions().c_str(), ranks);
      return;
    }
    const Separation slab = slab_of(whole, *plan, rank);
    together              = SpreadSolver::make(of.execution(), slab, *plan, rank, Precision::both_double, messages.device_messages());
    go_on(together->meet());
    a     = slab.separable;
    begin = plan->layers(rank).begin * plan->grid[0] * plan->grid[1];
    count = plan->layers(rank).size() * plan->grid[0] * plan->grid[1];
  }
  of.execution().wait();
  const double before = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  OwnedArray<double, Space> f("weft bench f", static_cast<std::size_t>(count)), u("weft bench u", static_cast<std::size_t>(count));
  apply(space, a, begin, count, f);
  const auto times =
      of.seconds([&] { alone ? alone->solve(f.data(), u.data()) : go_on(together->begin(f.data(), u.data(), Transpose::no)); });
  const double error = of.largest(error_of(space, u, begin, count));
  const double bytes = static_cast<double>(alone ? alone->work_bytes() : together->work_bytes());
  if (rank > 0) return;
  std::printf("| %s | %s | %d | %s | %.4g | %.4g | %.1e | %.3g | %.2f |\n", work.name().c_str(), work.conditions().c_str(), ranks,
              of.way().c_str(), 1e3 * times.front(), 1e3 * times[times.size() / 2], error, before, 1e-9 * bytes);
  std::fflush(stdout);
}

void run(int argc, char **argv)
{
  double stretch             = 1;
  const RanksRequest request = ranks_request_of(argc, argv, "4095", "255", [&](const std::string &word) {
    if (!word.starts_with("--stretch=")) return false;
    stretch = std::stod(word.substr(10));
    return true;
  });
  const OfRanks of(request);
  of.print_head("| grid | ends | ranks | messages | least, ms | median, ms | error | set-up, s | work space of a rank, GB |\n"
                "|---|---|--:|---|--:|--:|--:|--:|--:|");
  on_backend(of.execution(), [&](const auto &space) {
    for (const std::string &size : request.sizes) {
      BoxWork work = work_of(size);
      work.stretch = stretch;
      measure(of, space, work);
    }
  });
}

} // namespace

int main(int argc, char **argv)
{
  return main_of_ranks(argc, argv, run);
}
