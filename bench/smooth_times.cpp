// Times of line relaxation beside a copy: a zebra sweep, its set-up, products and residuals from diagonals, and the linear forest of a matrix.
//   smooth_times [repeats] [--portable[=NAME]] [--omega=NUMBER] [--grids=NXxNYxNZ/AXIS,...]
// --portable[=NAME]: as common_options.hpp has it. --omega: of sweeps from a given guess. --grids: these, with lines along x, y or z, and no forest.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common_options.hpp"
#include "diffusion_matrix.hpp"
#include "line/maps/line_map.hpp"
#include "line/relax/line_relaxation.hpp"

namespace {

using weft::Index;
using weft::bench::Array;
using weft::bench::Matrix;
using weft::bench::memory_of;
using weft::bench::Space;

int repeats  = 20;
double omega = 1;

double time_of(
    const Space &space, const std::function<void()> &work, const std::function<void()> &before = [] {})
{
  return weft::bench::time_of(space, repeats, work, before);
}

void sweep(const weft::LineRelaxation<double> &lines, double *b, double *x, weft::Guess first, weft::Guess second)
{
  const double scale = first == weft::Guess::given ? omega : 1;
  lines.relax(b, x, {scale, weft::Colour::even, first});
  lines.relax(b, x, {scale, weft::Colour::odd, second});
}

void smoothing(const Space &space, const weft::Execution &execution, const Index n[3], int direction)
{
  const double k[3]    = {1, 1e3, 1e-3};
  const Index first[3] = {0, 0, 0};
  const Matrix A(n, k);
  const Array<double> b("b", A.rows), x("x", A.rows), r("r", A.rows);
  Kokkos::deep_copy(b, 1.0);
  const weft::LineProblem problem(weft::lines_of_box(direction, n, 1, first));

  weft::StencilMatrix<double> matrix(execution, A.rows);
  matrix.read(A.csr());
  weft::LineRelaxation<double> lines(matrix, problem);
  lines.factor();
  const double given   = time_of(space, [&] { sweep(lines, b.data(), x.data(), weft::Guess::given, weft::Guess::given); });
  const double zero    = time_of(space, [&] { sweep(lines, b.data(), x.data(), weft::Guess::zero, weft::Guess::zero_lines); });
  const double update  = time_of(space, [&] {
    matrix.read(A.csr());
    lines.factor();
  });
  const double reading = time_of(space, [&] { matrix.read(A.csr()); });
  lines.factor();
  std::unique_ptr<weft::StencilMatrix<double>> own;
  std::unique_ptr<weft::LineRelaxation<double>> relaxation;
  const auto make = [&] {
    own = std::make_unique<weft::StencilMatrix<double>>(execution, A.rows);
    own->read(A.csr());
    relaxation = std::make_unique<weft::LineRelaxation<double>>(*own, problem);
    relaxation->factor();
  };
  const double anew     = time_of(space, make, [&] {
    relaxation.reset();
    own.reset();
  });
  const double copy     = time_of(space, [&] { Kokkos::deep_copy(space, r, b); });
  const double product  = time_of(space, [&] { matrix.multiply(x.data(), r.data()); });
  const double residual = time_of(space, [&] { matrix.residual(b.data(), x.data(), r.data()); });
  // A copy moves two words a row. A sweep must read the diagonals and b, and x, and write x.
  const double word = copy / 2, diagonals = static_cast<double>(matrix.offsets().size());
  std::printf("%4d x %4d x %3d, lines along %c: copy %6.1f us | sweep %6.1f us, of what it must move %4.2f x copy | from zero %6.1f us | "
              "set-up %7.1f us = %5.1f sweeps | update %6.1f us = %4.1f sweeps, %6.1f us to read | product %6.1f us, %4.2f x copy | "
              "residual %6.1f us, %4.2f x\n",
              (int)n[0], (int)n[1], (int)n[2], "xyz"[direction], copy, given, given / (word * (diagonals + 3)), zero, anew, anew / given,
              update, update / given, reading, product, product / (word * (diagonals + 2)), residual, residual / (word * (diagonals + 3)));
}

void forest(const Space &space, const weft::Execution &execution, const Index n[3])
{
  const double k[3] = {1, 1e3, 1e-3};
  const Matrix A(n, k);
  weft::ForestOptions options;
  options.least_relative = 0.1;
  Index lines            = 0;
  const double time      = time_of(space, [&] { lines = weft::LineMap(execution, A.rows, A.csr(), options).lines(); });
  std::printf("forest of %lld rows: %.2f ms, %lld lines\n", (long long)A.rows, 1e-3 * time, (long long)lines);
}

struct Grid {
  Index n[3];
  int direction; ///< of lines
};

std::vector<Grid> all_grids()
{
  std::vector<Grid> grids;
  for (const Index n : {257, 513, 1025, 2049, 4097}) {
    for (int direction : {0, 1}) grids.push_back({{n, n, 1}, direction});
  }
  for (int direction : {0, 1, 2}) grids.push_back({{129, 129, 129}, direction});
  return grids;
}

std::vector<Grid> grids_of(const std::string &text)
{
  std::vector<Grid> grids;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    long nx = 1, ny = 1, nz = 1;
    char axis = 'x';
    if (std::sscanf(word.c_str(), "%ldx%ldx%ld/%c", &nx, &ny, &nz, &axis) != 4 || axis < 'x' || axis > 'z') {
      std::fprintf(stderr, "smooth_times: %s is not NXxNYxNZ/AXIS\n", word.c_str());
      std::exit(2);
    }
    grids.push_back({{nx, ny, nz}, axis - 'x'});
  }
  return grids;
}

} // namespace

int main(int argc, char **argv)
{
  std::vector<Grid> given;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    if (weft::bench::takes_portable(word)) continue;
    if (word.starts_with("--omega="))
      omega = std::stod(word.substr(8));
    else if (word.starts_with("--grids="))
      given = grids_of(word.substr(8));
    else if (std::atoi(argv[k]) > 0)
      repeats = std::atoi(argv[k]);
    else if (!word.starts_with("--kokkos")) {
      std::fprintf(stderr, "smooth_times: unknown option %s\n", argv[k]);
      return 2;
    }
  }
  Kokkos::initialize(argc, argv);
  {
    const Space space;
    const weft::Execution execution(memory_of());
    for (const Grid &grid : given.empty() ? all_grids() : given) smoothing(space, execution, grid.n, grid.direction);
    const Index nodes[3] = {3163, 3163, 1};
    if (given.empty()) forest(space, execution, nodes);
  }
  Kokkos::finalize();
  return 0;
}
