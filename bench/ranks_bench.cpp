// Times tridiagonal lines that cross all ranks, without a matrix and without PETSc: n0 * n1 lines of n2 rows along the last direction of a grid of
// n0 x n1 x n2 nodes, of which each rank has some layers. One rank: the solver of one. Each rank has a device of its own, or some share one. Prints a
// table: `solve` has the factors from before, `one-shot` takes new values, factors and solves.
//   mpirun -n 2 ranks_bench --sizes=128x128x4096,256x256x4096 [--backend=host|device] [--repeat=20] [--staged]
// --staged: MPI cannot read a device's memory.
#include <limits>

#include "line/line_solver.hpp"
#include "line/ranks/distributed_line_solver.hpp"
#include "of_ranks.hpp"
#include "problem.hpp"

namespace {

using namespace weft;
using namespace weft::bench;

/// The layers of a rank. Element 0 of its arrays is element `begin` of the whole grid's.
struct Layers {
  Index across[2], rows; ///< of the whole grid
  Index begin, count;
  LineLayout layout;

  Layers(const std::string &size, int rank, int ranks)
  {
    const auto n = words(size, 'x');
    if (n.size() != 3) throw std::invalid_argument("not a size of three directions: " + size);
    for (int k = 0; k < 2; k++) across[k] = std::stol(n[k]);
    rows              = std::stol(n[2]);
    const Index first = rows * rank / ranks, end = rows * (rank + 1) / ranks;
    begin                 = first * lines();
    count                 = (end - first) * lines();
    const Index nodes[3]  = {across[0], across[1], end - first};
    const Index corner[3] = {0, 0, first};
    layout                = lines_of_box(2, nodes, 1, corner);
  }
  Index lines() const { return across[0] * across[1]; }
  std::string name() const { return std::to_string(across[0]) + " x " + std::to_string(across[1]) + " | " + std::to_string(rows); }
};

/// A row of its own for element `i` of a grid of `size` elements: dominant, yet an end of a line is felt some tens of rows away.
KOKKOS_INLINE_FUNCTION Row<double> row_of_element(Index i, Index lines, Index size)
{
  const auto share = [i](std::uint64_t k) { // in [0, 1); the solution has the small counters
    return 0.5 + 0.5 * random_value((std::uint64_t(1) << 62) + 3 * static_cast<std::uint64_t>(i) + k);
  };
  return {i < lines ? 0 : -share(0), 2 + 0.5 * share(1), i >= size - lines ? 0 : -share(2)};
}

/// Lines with the right-hand side for the solution random_value(i) in element i of the whole grid.
template <class Space>
struct Lines {
  OwnedArray<double, Space> lower, diagonal, upper, rhs, x;

  explicit Lines(Index count)
  {
    for (auto *array : {&lower, &diagonal, &upper, &rhs, &x}) *array = make_array<Space, double>(count);
  }
};

template <class Space>
Lines<Space> make_lines(const Space &space, const Layers &layers)
{
  const Lines<Space> made(layers.count);
  const auto lower = made.lower, diagonal = made.diagonal, upper = made.upper, rhs = made.rhs;
  const Index begin = layers.begin, lines = layers.lines(), size = lines * layers.rows;
  Kokkos::parallel_for(
      "weft bench lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, layers.count), KOKKOS_LAMBDA(const Index k) {
        const Index i         = begin + k;
        const Row<double> row = row_of_element(i, lines, size); // 0 beyond the ends
        const auto x          = [](Index element) { return random_value(static_cast<std::uint64_t>(element)); };
        lower(k)              = row.lower;
        diagonal(k)           = row.diagonal;
        upper(k)              = row.upper;
        rhs(k)                = row.lower * x(i - lines) + row.diagonal * x(i) + row.upper * x(i + lines);
      });
  return made;
}

template <class Space>
void measure(const OfRanks &of, const Space &space, const std::string &size)
{
  const Layers layers(size, of.rank(), of.size());
  const Lines<Space> system = make_lines(space, layers);
  std::unique_ptr<AnyLines<double>> solver;
  if (of.size() == 1)
    solver = LineSolver<double>::make(of.execution(), layers.layout, "auto");
  else
    solver = std::make_unique<DistributedLineSolver<double>>(of.execution(), MPI_COMM_WORLD, layers.layout, "auto", MethodParameters(),
                                                             of.messages().device_messages());
  double error     = 0;
  const auto timed = [&](const std::function<void()> &solve) { // what was solved before cannot pass for a result
    Kokkos::deep_copy(space, system.x, std::numeric_limits<double>::quiet_NaN());
    const auto times = of.seconds(solve);
    error            = std::max(error, of.largest(error_of(space, system.x, layers.begin, layers.count)));
    return times;
  };
  const auto use = [&] { solver->use(system.lower.data(), system.diagonal.data(), system.upper.data()); };
  use();
  solver->factor();
  if (solver->bad_pivot()) throw std::runtime_error("a pivot is unusable");
  const auto solves = timed([&] { solver->solve(system.rhs.data(), system.x.data()); });
  const auto all    = timed([&] {
    use();
    solver->solve_once(system.rhs.data(), system.x.data());
  });
  if (of.rank() > 0) return;
  // Where no number but 0 tells the effect of one end of a piece on its other end, only neighbours talk.
  const std::string way = of.way() + (of.size() > 2 && solver->neighbours_only() ? ", neighbours only" : "");
  std::printf("| %s | %d | %s | %.4g | %.4g | %.4g | %.1e |\n", layers.name().c_str(), of.size(), way.c_str(), 1e3 * solves.front(),
              1e3 * solves[solves.size() / 2], 1e3 * all.front(), error);
  std::fflush(stdout);
}

void run(int argc, char **argv)
{
  const RanksRequest request = ranks_request_of(argc, argv, "128x128x4096,256x256x4096", "32x32x256");
  const OfRanks of(request);
  of.print_head("| lines | rows | ranks | messages | solve, ms | median, ms | one-shot, ms | error |\n"
                "|---|--:|--:|---|--:|--:|--:|--:|");
  on_backend(of.execution(), [&](const auto &space) {
    for (const std::string &size : request.sizes) measure(of, space, size);
  });
}

} // namespace

int main(int argc, char **argv)
{
  return main_of_ranks(argc, argv, run);
}
