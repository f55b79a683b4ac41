// The dense Crout method beside a vendor's getrf: seconds of a factorization with the matrix on the device, with its transfers from and to the
// host as the thesis of L. Cejka (CTU Prague 2022) times it, and max |A - L U| beside that of sequential Crout. Prints a row for each matrix.
// Options: --backend=host|device --quick --matrices=NAME,NAME (random-N: entries in [-1000, 1000), as in the thesis; or Matrix Market files)
// --json=FILE
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/backend.hpp"
#include "common_options.hpp"
#include "crout/dense_crout.hpp"
#include "dense_rivals.hpp"
#if defined(WEFT_HAVE_READER)
#include "../examples/weft_mm/reader.hpp"
#endif
#include "stopwatch.hpp"
#include "write_file.hpp"

namespace {

using namespace weft;
using namespace weft::bench;

/// Column-major, on the host.
struct Dense {
  std::string name;
  Index rows = 0;
  std::vector<double> values;
};

Dense random_matrix(Index n)
{
  Dense a{"random-" + std::to_string(n), n, std::vector<double>(static_cast<std::size_t>(n * n))};
  std::uint64_t state = 1;
  for (double &value : a.values) { // D. Knuth's linear congruential generator, its upper bits
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = 2000 * (static_cast<double>(state >> 11) / static_cast<double>(std::uint64_t(1) << 53)) - 1000;
  }
  return a;
}

Dense matrix_of(const std::string &name)
{
  if (name.starts_with("random-")) return random_matrix(std::stol(name.substr(7)));
#if defined(WEFT_HAVE_READER)
  const weft_mm::SparseMatrix matrix = weft_mm::read_square_matrix(name);
  const auto rows                    = static_cast<std::size_t>(matrix.rows());
  const std::string title            = name.substr(name.rfind('/') + 1);
  Dense a{title.substr(0, title.find(".mtx")), static_cast<Index>(rows), std::vector<double>(rows * rows, 0.0)};
  for (std::size_t column = 0; column < rows; column++) {
    for (auto e = matrix.column_start[column]; e < matrix.column_start[column + 1]; e++)
      a.values[static_cast<std::size_t>(matrix.row_of[static_cast<std::size_t>(e)]) + column * rows] +=
          matrix.value_of[static_cast<std::size_t>(e)];
  }
  return a;
#else
  throw std::invalid_argument("'" + name + "' is no generator, and this program was built without SuiteSparse, which reads files");
#endif
}

/// Sequential Crout's method: every sum_k l_ik u_kj goes upwards in k, entry by entry. Step k takes row and column k out of them, then adds their
/// products to the others. Leaves L and the strict upper part of U in z.
template <class Space>
struct SequentialCrout {
  Kokkos::View<double *, typename Space::memory_space> a, z;
  Index n;

  void operator()(const Space &space) const
  {
    Kokkos::deep_copy(space, z, 0.0);
    for (Index k = 0; k < n; k++) step(space, k);
  }
  void step(const Space &space, Index k) const
  {
    const auto from = a, to = z;
    const Index size = n, rest = n - k - 1;
    Kokkos::parallel_for(
        "weft bench column", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, k, n),
        KOKKOS_LAMBDA(const Index i) { to(i + k * size) = from(i + k * size) - to(i + k * size); });
    Kokkos::parallel_for(
        "weft bench row", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, k + 1, n),
        KOKKOS_LAMBDA(const Index j) { to(k + j * size) = (from(k + j * size) - to(k + j * size)) / to(k + k * size); });
    if (rest > 0)
      Kokkos::parallel_for(
          "weft bench products", Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, Kokkos::IndexType<Index>>(space, {k + 1, k + 1}, {n, n}),
          KOKKOS_LAMBDA(const Index i, const Index j) { to(i + j * size) += to(i + k * size) * to(k + j * size); });
  }
};

/// max |A - L U|, factors in one array. Sums in twice the precision (O. Moller, BIT 5, 1965; products by fused multiply and add): in double the
/// rounding of this very sum would hide what is asked for, and favour the method that sums in the same order.
template <class Space>
double residual(const Space &space, const Kokkos::View<double *, typename Space::memory_space> &a, const double *factors, Index n)
{
  double most = 0;
  Kokkos::parallel_reduce(
      "weft bench residual", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, n * n),
      KOKKOS_LAMBDA(const Index e, double &largest) {
        const Index i = e % n, j = e / n, last = i < j ? i : j;
        double high = i < j ? a(e) : a(e) - factors[e], low = i < j ? 0 : (a(e) - high) - factors[e];
        for (Index k = 0; k < last + (i < j ? 1 : 0); k++) {
          const double l = -factors[i + k * n], u = factors[k + j * n], product = l * u, sum = high + product, part = sum - high;
          low += Kokkos::fma(l, u, -product) + ((high - (sum - part)) + (product - part));
          high = sum;
        }
        const double size = Kokkos::abs(high + low);
        if (!(size <= largest)) largest = size;
      },
      Kokkos::Max<double>(most));
  return most;
}

template <class Space>
class Bench {
public:
  Bench(const Execution &execution, const Space &space, bool quick) : execution_(execution), space_(space), quick_(quick) {}

  std::string run(const Dense &matrix) const
  {
    const Index n    = matrix.rows;
    const auto bytes = static_cast<std::size_t>(n * n);
    const Array a(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench matrix"), bytes);
    const auto given = Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(matrix.values.data(), bytes);
    Kokkos::deep_copy(space_, a, given);
    double crout = std::numeric_limits<double>::quiet_NaN(), moved = crout, error = crout;
    std::string note;
    {
      const auto method = DenseCrout<double>::make(execution_, n);
      crout             = best([&] { method->factor(a.data(), n); });
      note              = method->report().text();
      std::vector<double> back(bytes);
      moved = best([&] {
        Kokkos::deep_copy(space_, a, given);
        method->factor(a.data(), n);
        Kokkos::deep_copy(space_, Kokkos::View<double *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(back.data(), bytes),
                          Kokkos::View<const double *, typename Space::memory_space, Kokkos::MemoryUnmanaged>(method->factors(), bytes));
      });
      if (method->report().failure == DenseCroutReport::Failure::none) error = residual(space_, a, method->factors(), n);
    }
    double sequential = std::numeric_limits<double>::quiet_NaN();
    {
      const Array z(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench factors"), bytes);
      SequentialCrout<Space>{a, z, n}(space_);
      sequential = residual(space_, a, z.data(), n);
    }
    const Getrf<Space> getrf(space_, n);
    const double pivoted = best([&] { getrf(a, true); }), plain = best([&] { getrf(a, false); });
    char row[640];
    std::snprintf(row, sizeof row,
                  "{\"matrix\": \"%s\", \"rows\": %td, \"crout\": %.6g, \"moved\": %.6g, \"getrf\": %.6g, \"getrf_unpivoted\": %.6g, "
                  "\"error\": %.6g, \"sequential_error\": %.6g, \"note\": \"%s\"}",
                  matrix.name.c_str(), static_cast<std::ptrdiff_t>(n), crout, moved, pivoted, plain, error, sequential, note.c_str());
    return row;
  }

private:
  using Array = Kokkos::View<double *, typename Space::memory_space>;

  double best(const std::function<void()> &body) const
  {
    const auto more = [this](int runs, double, double all) { return runs < (quick_ ? 3 : 10) && (runs < 2 || all < 2); };
    return least_seconds(
        space_, more, [] {}, body);
  }
  const Execution &execution_;
  Space space_;
  bool quick_;
};

} // namespace

int main(int argc, char **argv)
{
  Memory memory = build_has_device ? Memory::device : Memory::host;
  bool quick    = false;
  std::string matrices, json;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    if (takes_common(word, memory, quick)) continue;
    if (word.starts_with("--matrices="))
      matrices = word.substr(11);
    else if (word.starts_with("--json="))
      json = word.substr(7);
    else if (!word.starts_with("--kokkos")) {
      std::fprintf(stderr, "dense_bench: unknown option %s\n", argv[k]);
      return 2;
    }
  }
  if (matrices.empty())
    matrices = memory == Memory::host || quick ? "random-100,random-500" : "random-2842,random-5943,random-7580,random-10793";
  Kokkos::ScopeGuard guard(argc, argv);
  const Execution execution(memory);
  on_backend(execution, [&](const auto &space) {
    const Bench<std::decay_t<decltype(space)>> bench(execution, space, quick);
    std::istringstream names(matrices);
    std::string rows;
    for (std::string name; std::getline(names, name, ',');) {
      const std::string row = bench.run(matrix_of(name));
      std::printf("%s\n", row.c_str());
      std::fflush(stdout);
      rows += (rows.empty() ? "" : ",\n") + row;
      if (!json.empty()) write_file(json, "{\"backend\": \"" + execution.name() + "\", \"rows\": [\n" + rows + "\n]}\n");
    }
  });
}
