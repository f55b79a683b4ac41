// Times of multigrid on a box: new values, a cycle, and a step of its own iteration.
//   boxmg_times [repeats] [--portable[=NAME]] [--grids=NXxNYxNZ,...]
// --portable[=NAME]: as common_options.hpp has it. K = (1, 1, 1) and (1, 1e3, 1).
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "boxmg/box_multigrid.hpp"
#include "common_options.hpp"
#include "diffusion_matrix.hpp"

namespace {

using weft::Index;
using namespace weft::bench;

struct Nodes {
  Index n[3];
};

std::vector<Nodes> grids_of(const std::string &words)
{
  std::vector<Nodes> grids;
  std::istringstream all(words);
  for (std::string word; std::getline(all, word, ',');) {
    long x = 0, y = 0, z = 0;
    if (std::sscanf(word.c_str(), "%ldx%ldx%ld", &x, &y, &z) != 3 || x < 1 || y < 1 || z < 1) {
      std::fprintf(stderr, "boxmg_times: %s is no grid such as 257x257x1\n", word.c_str());
      std::exit(2);
    }
    grids.push_back({{x, y, z}});
  }
  return grids;
}

void times(const Space &space, const weft::Execution &execution, const Index (&n)[3], const double (&k)[3], int repeats)
{
  const Matrix A(n, k);
  const Array<double> b("b", A.rows), x("x", A.rows);
  Kokkos::deep_copy(b, 1.0);
  weft::boxmg::Grid grid;
  for (int d = 0; d < 3; d++) grid.n[d] = n[d];
  weft::BoxMultigrid<double> multigrid(execution, grid, {});
  multigrid.read(A.csr(), true);
  const double values = time_of(space, repeats, [&] { multigrid.read(A.csr(), true); });
  const double cycle  = time_of(space, repeats, [&] { multigrid.apply(b.data(), x.data()); });
  const double step   = time_of(space, repeats, [&] { multigrid.iterate(b.data(), x.data(), false, 1, {}); });
  std::printf("%5ld x %4ld x %4ld, K = (%g, %g, %g): new values %8.1f us | cycle %8.1f us | step %8.1f us\n", static_cast<long>(n[0]),
              static_cast<long>(n[1]), static_cast<long>(n[2]), k[0], k[1], k[2], values, cycle, step);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv)
{
  int repeats              = 20;
  std::vector<Nodes> grids = grids_of("65x65x1,257x257x1,1025x1025x1,2049x2049x1,33x33x33,129x129x129");
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    if (takes_portable(word)) continue;
    if (word.starts_with("--grids="))
      grids = grids_of(word.substr(8));
    else if (std::atoi(argv[i]) > 0)
      repeats = std::atoi(argv[i]);
    else if (!word.starts_with("--kokkos")) {
      std::fprintf(stderr, "boxmg_times: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  Kokkos::initialize(argc, argv);
  {
    const Space space;
    const weft::Execution execution(memory_of());
    for (const Nodes &grid : grids) {
      for (const double strong : {1.0, 1e3}) {
        const double k[3] = {1, strong, 1};
        times(space, execution, grid.n, k, repeats);
      }
    }
  }
  Kokkos::finalize();
  return 0;
}
