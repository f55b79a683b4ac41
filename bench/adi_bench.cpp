// Whole solves by alternating directions on the problem of F. Pereira da Silva's thesis: -Laplace(u) = -5 e^(x+2y), u = e^(x+2y), on a square
// or a circle of cells with ghost and outer cells around. Prints a row for each measurement; scripts/bench_adi_solves.py makes tables of them.
// Options: --backend=host|device --quick (small grids) --portable[=NAME] (common_options.hpp) --parts=NAME,NAME (counts,growth,sizes,solvers,
// steady,ablations; default: all) --largest=N (cells across, of sizes and growth) --width=N (cells a side, of the other parts; default 2048)
// --json=FILE
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>

#include "adi/adi_solver.hpp"
#include "base/backend.hpp"
#include "common_options.hpp"
#include "copy.hpp"
#include "write_file.hpp"

namespace {

using namespace weft;
using namespace weft::bench;

constexpr double tolerance = 1e-8; ///< an iteration that changes no cell by as much is the last one
/// What an iteration must move for a cell: in either half-sweep its right-hand side, b, and the right-hand side of the next one.
constexpr int words_of_iteration = 2 * 3;
/// Iterations of a call where they are timed. Each call starts from x, with a pass of its own.
constexpr int iterations_at_once = 10;

/// `inner` cells across a square or circle, ghost cells around them, and a layer of outer cells.
struct Cells {
  Index inner = 1;
  bool circle = false;

  KOKKOS_INLINE_FUNCTION Index width() const { return inner + 4; }
  KOKKOS_INLINE_FUNCTION Index count() const { return width() * width(); }
  KOKKOS_INLINE_FUNCTION double h() const { return 1.0 / static_cast<double>(inner); }
  KOKKOS_INLINE_FUNCTION double at(Index i) const { return (static_cast<double>(i) - 1.5) * h(); }
  KOKKOS_INLINE_FUNCTION bool is_inner(Index i, Index j) const
  {
    const double x = at(i), y = at(j);
    if (circle) return Kokkos::hypot(x - 0.5, y - 0.5) < 0.5;
    return x > 0 && x < 1 && y > 0 && y < 1;
  }
  KOKKOS_INLINE_FUNCTION bool is_inner(Index cell) const { return is_inner(cell % width(), cell / width()); }
  KOKKOS_INLINE_FUNCTION bool is_ghost(Index cell) const
  {
    const Index i = cell % width(), j = cell / width();
    return !is_inner(i, j) && (is_inner(i - 1, j) || is_inner(i + 1, j) || is_inner(i, j - 1) || is_inner(i, j + 1));
  }
  KOKKOS_INLINE_FUNCTION double solution(Index cell) const
  {
    return is_inner(cell) || is_ghost(cell) ? Kokkos::exp(at(cell % width()) + 2 * at(cell / width())) : 0;
  }
  AdiBox box() const
  {
    AdiBox box;
    box.n[0] = box.n[1] = box.global[0] = box.global[1] = width();
    return box;
  }
};

/// The matrix times h^2: five points in the inner cells, the identity in the others.
template <class Space, class Scalar>
struct Matrix {
  OwnedArray<std::int32_t, Space> starts, columns;
  OwnedArray<Scalar, Space> values;

  CsrMatrix<Scalar, std::int32_t> csr() const { return {starts.data(), columns.data(), values.data()}; }
};

template <class Space, class Scalar>
Matrix<Space, Scalar> make_matrix(const Space &space, const Cells &cells)
{
  const Index count = cells.count(), width = cells.width();
  const OwnedArray<std::int32_t, Space> starts("weft bench starts", static_cast<std::size_t>(count) + 1);
  Index entries = 0;
  Kokkos::parallel_scan(
      "weft bench rows", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count),
      KOKKOS_LAMBDA(const Index cell, Index &sum, const bool final) {
        sum += cells.is_inner(cell) ? 5 : 1;
        if (final) starts(cell + 1) = static_cast<std::int32_t>(sum);
      },
      entries);
  space.fence("weft bench rows");
  const OwnedArray<std::int32_t, Space> columns("weft bench columns", static_cast<std::size_t>(entries));
  const OwnedArray<Scalar, Space> values("weft bench values", static_cast<std::size_t>(entries));
  Kokkos::parallel_for(
      "weft bench matrix", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count), KOKKOS_LAMBDA(const Index cell) {
        const std::int32_t first = starts(cell);
        const Index near[5]      = {-width, -1, 0, 1, width};
        const bool inner         = cells.is_inner(cell);
        for (int k = 0; k < (inner ? 5 : 1); k++) {
          columns(first + k) = static_cast<std::int32_t>(inner ? cell + near[k] : cell);
          values(first + k)  = static_cast<Scalar>(inner ? (k == 2 ? 4 : -1) : 1);
        }
      });
  space.fence("weft bench matrix");
  return {starts, columns, values};
}

template <class Space, class Scalar>
void fill(const Space &space, const Cells &cells, const OwnedArray<Scalar, Space> &b)
{
  const double h = cells.h();
  Kokkos::parallel_for(
      "weft bench rhs", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, cells.count()),
      KOKKOS_LAMBDA(const Index cell) { b(cell) = static_cast<Scalar>((cells.is_inner(cell) ? -5 * h * h : 1) * cells.solution(cell)); });
}

/// Known values, and 0 in the inner cells.
template <class Space, class Scalar>
void start(const Space &space, const Cells &cells, const OwnedArray<Scalar, Space> &b, const OwnedArray<Scalar, Space> &x)
{
  Kokkos::parallel_for(
      "weft bench guess", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, cells.count()),
      KOKKOS_LAMBDA(const Index cell) { x(cell) = cells.is_inner(cell) ? Scalar(0) : b(cell); });
}

/// NaN where any is NaN.
template <class Space, class Scalar>
double largest_difference(const Space &space, const OwnedArray<Scalar, Space> &x, const OwnedArray<Scalar, Space> &y)
{
  double most = 0;
  Kokkos::parallel_reduce(
      "weft bench change", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(x.extent(0))),
      KOKKOS_LAMBDA(const Index i, double &largest) {
        const double d = Kokkos::abs(static_cast<double>(x(i)) - static_cast<double>(y(i)));
        if (!(d <= largest)) largest = d == d ? d : Kokkos::Experimental::infinity_v<double>;
      },
      Kokkos::Max<double>(most));
  return most;
}

template <class Space, class Scalar>
double error_of(const Space &space, const Cells &cells, const OwnedArray<Scalar, Space> &x)
{
  double most = 0;
  Kokkos::parallel_reduce(
      "weft bench error", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, cells.count()),
      KOKKOS_LAMBDA(const Index cell, double &largest) {
        const double d = Kokkos::abs(static_cast<double>(x(cell)) - cells.solution(cell));
        if (!(d <= largest)) largest = d == d ? d : Kokkos::Experimental::infinity_v<double>;
      },
      Kokkos::Max<double>(most));
  return most;
}

/// Seconds of a call, as the thesis times: of at most ten runs the mean of the three fastest, once these lie within 5 %. A run is as many calls
/// as take a while; of long ones there are three.
struct Timing {
  double seconds = 0, spread = 0;
};
struct Patience {
  double run = 0.02; ///< seconds of a run, at least
  int runs   = 10;
};
constexpr Patience quickly{0.001, 3};
template <class Space>
Timing k_best(const Space &space, const Patience &patience, const std::function<void()> &body)
{
  Stopwatch<Space> watch(space);
  body();
  watch.start();
  body();
  const double once = watch.stop();
  const int calls = std::clamp(static_cast<int>(patience.run / once), 1, 200), most = once > 2 ? 3 : patience.runs;
  std::vector<double> times;
  Timing best;
  while (static_cast<int>(times.size()) < most) {
    watch.start();
    for (int k = 0; k < calls; k++) body();
    times.push_back(watch.stop() / calls);
    std::sort(times.begin(), times.end());
    if (times.size() < 3) continue;
    best = {(times[0] + times[1] + times[2]) / 3, times[2] / times[0] - 1};
    if (best.spread <= 0.05) break;
  }
  return best;
}

/// What is measured; settings that are not said are AdiOptions' own.
struct Case {
  std::string part, settings;
  Cells cells;
  AdiOptions options   = {};
  int shifts           = 1;     ///< 1: the thesis's alpha = 2 sin(pi h); more: the best ones for the bounds; 0: as many as the solver takes
  bool best_single     = false; ///< one shift from the bounds too
  AdiBoundsMethod from = AdiBoundsMethod::lanczos;
};

/// A row of the table; what was not measured is NaN.
struct Measured {
  Case what;
  std::string precision       = "fp64", method, note;
  int cycles                  = 0;
  double seconds_of_iteration = nan, spread = nan, floor = nan, set_up = nan, solve = nan, error = nan, difference = nan;
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
};

class Table {
public:
  Table(const std::string &backend, double rate) : rate_(rate)
  {
    std::printf(
        "%s; the fastest copy moves %.4g GB/s, by which the floor of an iteration is %d words a cell\n\n| part | settings | shape | grid | "
        "precision "
        "| line solver | shifts | cycles | ms an iteration | spread | x floor | set-up s | solve s | error | difference from thomas | |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        backend.c_str(), 1e-9 * rate, words_of_iteration);
    json_ << "{\"backend\": \"" << backend << "\", \"copy\": " << rate << ", \"words\": " << words_of_iteration << ", \"rows\": [";
  }
  void add(const Measured &row)
  {
    const Case &what   = row.what;
    const auto bytes   = static_cast<double>(what.cells.count()) * words_of_iteration * (row.precision == "fp32" ? 4 : 8);
    const double floor = bytes / rate_;
    const Index width  = what.cells.width();
    std::printf("| %s | %s | %s | %td | %s | %s | %d | %d | %.4g | %.0f %% | %.2f | %.3g | %.4g | %.2e | %.1e | %s |\n", what.part.c_str(),
                what.settings.c_str(), what.cells.circle ? "circle" : "square", static_cast<std::ptrdiff_t>(width), row.precision.c_str(),
                row.method.c_str(), what.shifts, row.cycles, 1e3 * row.seconds_of_iteration, 1e2 * row.spread,
                row.seconds_of_iteration / floor, row.set_up, row.solve, row.error, row.difference, row.note.c_str());
    std::fflush(stdout);
    json_ << (rows_++ > 0 ? ",\n" : "\n") << "{\"part\": \"" << what.part << "\", \"settings\": \"" << what.settings << "\", \"shape\": \""
          << (what.cells.circle ? "circle" : "square") << "\", \"inner\": " << what.cells.inner << ", \"width\": " << width
          << ", \"precision\": \"" << row.precision << "\", \"solver\": \"" << what.options.line_solver << "\", \"method\": \""
          << row.method << "\", \"note\": \"" << row.note << "\", \"shifts\": " << what.shifts << ", \"cycles\": " << row.cycles;
    put("iteration", row.seconds_of_iteration);
    put("spread", row.spread);
    put("floor", floor);
    put("set_up", row.set_up);
    put("solve", row.solve);
    put("error", row.error);
    put("difference", row.difference);
    json_ << "}";
  }
  void write(const std::string &file) const { write_file(file, json_.str() + "\n]}\n"); }

private:
  void put(const char *name, double value)
  {
    json_ << ", \"" << name << "\": ";
    if (std::isfinite(value))
      json_ << value;
    else
      json_ << "null";
  }
  double rate_;
  int rows_ = 0;
  std::ostringstream json_;
};

/// The arrays and the solver of a case.
template <class Space, class Scalar>
struct Solve {
  using Values = OwnedArray<Scalar, Space>;

  const Space space;
  Case what;
  Owner<AdiSolver<Scalar>> solver;
  Values b, x, before;
  AdiBounds bounds;
  double set_up = 0;

  Solve(const Execution &execution, const Space &on, const Case &wanted)
      : space(on), what(wanted), solver(AdiSolver<Scalar>::make(execution, what.cells.box(), what.options)), b("weft bench b", size()),
        x("weft bench x", size())
  {
    Stopwatch<Kokkos::DefaultHostExecutionSpace> watch{Kokkos::DefaultHostExecutionSpace()};
    {
      const auto matrix = make_matrix<Space, Scalar>(space, what.cells);
      watch.start();
      solver->read(matrix.csr());
    } // there is no room for it beside the factors of a large grid
    solver->set_shifts(shifts());
    solver->factor();
    const auto bad = solver->bad_pivot();
    set_up         = watch.stop();
    if (bad) throw std::runtime_error("a pivot is unusable");
    fill(space, what.cells, b);
    start(space, what.cells, b, x);
  }
  std::size_t size() const { return static_cast<std::size_t>(what.cells.count()); }

  void cycle(int count = 1) { solver->cycle(b.data(), x.data(), false, Transpose::no, count); }
  std::string methods() const
  {
    const std::string along_x = solver->method(0), along_y = solver->method(1);
    return along_x == along_y ? along_x : along_x + ", " + along_y;
  }
  Timing time_of_iteration(const Patience &patience)
  {
    const int cycles    = (iterations_at_once - 1) / what.shifts + 1;
    const Timing timing = k_best(space, patience, [&] { cycle(cycles); });
    return {timing.seconds / what.shifts / cycles, timing.spread};
  }
  /// Cycles until one changes no cell by the tolerance; 0 if `limit` of them do not get there.
  int solve(int limit)
  {
    if (before.extent(0) == 0) before = Values("weft bench before", size());
    start(space, what.cells, b, x);
    for (int n = 1; n <= limit; n++) {
      Kokkos::deep_copy(space, before, x);
      cycle();
      if (largest_difference(space, x, before) < tolerance) return n;
    }
    return 0;
  }
  /// What solve is likely to take, if the parts commute.
  int expected_cycles() const
  {
    if (bounds.empty()) return static_cast<int>(4 * what.cells.inner);
    return static_cast<int>(std::log(tolerance) / std::log(std::min(0.9999, adi_reduction(what.options.type, bounds, solver->shifts())))) +
           1;
  }

private:
  std::vector<AdiShift> shifts()
  {
    if (what.shifts == 1 && !what.best_single) {
      const double alpha = 2 * std::sin(std::numbers::pi * what.cells.h());
      return {{alpha, alpha, 0}};
    }
    bounds = solver->bounds(what.from);
    if (what.options.symmetric) {
      const AdiSum sum = adi_sum(bounds, what.shifts);
      what.shifts      = static_cast<int>(sum.shifts.size());
      return sum.shifts;
    }
    if (what.shifts == 0) what.shifts = adi_cycle_length(bounds);
    return adi_shifts(what.options.type, bounds, what.shifts);
  }
};

/// The parts of the suite, one function each.
template <class Space>
class Suite {
public:
  Suite(const Execution &execution, const Space &space, Table &table, bool quick, Index largest, Index width)
      : execution_(execution), space_(space), table_(table), patience_(quick ? quickly : Patience{}), quick_(quick), largest_(largest),
        width_(width > 0 ? width
               : quick   ? 128
                         : 2048)
  {
  }

  /// The thesis's iteration with one shift, for which seed counts are known, and how it ends.
  void counts() const
  {
    for (const bool circle : {false, true}) {
      for (const Index n : {16, 32, 64}) solve({"counts", "one shift", {n, circle}});
    }
  }
  /// Cycles against the size of the grid.
  void growth() const
  {
    for (Index n = 16; n <= (quick_ ? 64 : largest_ > 0 ? largest_ : host ? 1024 : 4096); n *= 2) {
      for (const int shifts : {1, 2, 4, 8, 16, 0}) {
        Case what{"growth", shifts == 0 ? "by default" : "given length", {n, false}};
        what.shifts      = shifts;
        what.best_single = true;
        solve(what);
      }
      Case circle{"growth", "by default", {n, true}};
      circle.shifts = 0;
      solve(circle);
    }
  }
  /// An iteration by size: the thesis's table 33.
  void sizes() const
  {
    const Index least = quick_ ? 64 : 512, most = quick_ ? 128 : largest_ > 0 ? largest_ + 4 : 8192;
    for (Index width = least; width <= most; width *= 2) compare({"sizes", "one shift", {width - 4, false}}, {"auto"});
  }
  /// An iteration by line solver: the thesis's tables 28 and 29.
  void solvers() const
  {
    std::vector<std::string> names{"auto"};
    for (const char *name : tridiagonal_method_names()) names.push_back(name);
    for (const bool circle : {true, false}) compare({"solvers", "one shift", {across(), circle}}, names);
  }
  /// From the matrix to the solution.
  void steady() const
  {
    for (const bool circle : {false, true}) {
      Case what{"steady", "by default", {across(), circle}};
      what.shifts = 0;
      solve(what);
    }
  }
  void ablations() const
  {
    const auto with = [&](const std::string &settings, int shifts, const std::function<void(Case &)> &change) {
      Case what{"ablations", settings, {across(), false}};
      what.shifts = shifts;
      change(what);
      return what;
    };
    const auto nothing = [](Case &) {};
    solve(with("as it is", 0, nothing));
    solve(with("factors made anew", 0, [](Case &c) { c.options.keep_factors = false; }));
    solve(with("lower bounds by Gershgorin", 0, [](Case &c) { c.from = AdiBoundsMethod::gershgorin; }));
    solve(with("Douglas-Gunn", 0, [](Case &c) { c.options.type = AdiType::douglas_gunn; }));
    solve(with("Douglas-Rachford", 0, [](Case &c) { c.options.type = AdiType::douglas_rachford; }));
    for (const int shifts : {1, 2, 4, 8, 16}) solve(with("cycle of given length", shifts, [](Case &c) { c.best_single = true; }));
    iteration<double>(with("symmetric sum", 0, [](Case &c) { c.options.symmetric = true; }));
    iteration<double>(with("one shift, a call for each iteration", 1, nothing));
    if (!host) iteration<double>(with("the same, line solves and updates apart", 1, [](Case &c) { c.options.line_solver = "wide"; }));
    iteration<double>(with("one shift, factors made anew", 1, [](Case &c) { c.options.keep_factors = false; }));
    iteration<double>(with("one shift, change measured", 1, [](Case &c) { c.options.measure_change = true; }));
    iteration<double>(with("one shift, change measured and read", 1, [](Case &c) { c.options.measure_change = true; }), true);
    iteration<float>(with("one shift, a call for each iteration", 1, nothing));
    for (const int direction : {0, 1})
      lines(with(direction == 0 ? "line solves along x alone" : "line solves along y alone", 1, nothing), direction);
  }

private:
  static constexpr bool host = std::is_same_v<Space, HostBackend>;
  Index across() const { return width_ - 4; }

  /// Runs `body` for a row, which says why if it cannot.
  void row(const Case &what, const std::function<void(Measured &)> &body) const
  {
    Measured row;
    row.what = what;
    try {
      body(row);
    } catch (const std::exception &why) {
      row.note = why.what();
      std::replace(row.note.begin(), row.note.end(), '"', '\'');
    }
    table_.add(row);
  }

  void solve(const Case &wanted) const
  {
    row(wanted, [&](Measured &row) {
      Solve<Space, double> solve(execution_, space_, wanted);
      row.what   = solve.what;
      row.method = solve.methods();
      row.set_up = solve.set_up;
      // Small grids are solved to be counted, others also to be timed.
      const bool timed = wanted.part == "steady" || wanted.part == "ablations";
      if (timed) std::tie(row.seconds_of_iteration, row.spread) = pair_of(solve.time_of_iteration(patience_));
      const double work = static_cast<double>(solve.what.cells.count()) * solve.expected_cycles() * solve.what.shifts;
      if (work > (host ? 5e8 : 1e11)) {
        row.note = "too long to be solved here";
        return;
      }
      Stopwatch<Space> watch(space_);
      row.solve = Measured::nan;
      for (int run = 0; run == 0 || (run == 1 && timed && row.solve < 2); run++) {
        watch.start();
        row.cycles = solve.solve(20 * solve.expected_cycles());
        row.solve  = std::fmin(row.solve, watch.stop());
      }
      if (row.cycles == 0) row.note = "does not converge";
      row.error = error_of(space_, solve.what.cells, solve.x);
    });
  }

  /// Iterations with several line solvers, and how far the first cycle of each is from that by `thomas`.
  void compare(const Case &wanted, const std::vector<std::string> &names) const
  {
    OwnedArray<double, Space> expected;
    {
      Case thomas                = wanted;
      thomas.options.line_solver = "thomas";
      Solve<Space, double> solve(execution_, space_, thomas);
      solve.cycle();
      expected = solve.x;
    }
    for (const std::string &name : names) {
      Case what                = wanted;
      what.options.line_solver = name;
      row(what, [&](Measured &row) {
        Solve<Space, double> solve(execution_, space_, what);
        row.method = solve.methods();
        row.set_up = solve.set_up;
        solve.cycle();
        row.difference = largest_difference(space_, solve.x, expected);
        if (!(row.difference < 1e-9)) throw std::runtime_error("another solution than thomas: not timed");
        std::tie(row.seconds_of_iteration, row.spread) = pair_of(solve.time_of_iteration(patience_));
      });
    }
  }

  template <class Scalar>
  void iteration(const Case &wanted, bool read_change = false) const
  {
    row(wanted, [&](Measured &row) {
      Solve<Space, Scalar> solve(execution_, space_, wanted);
      row.what                 = solve.what;
      row.precision            = sizeof(Scalar) == 8 ? "fp64" : "fp32";
      row.method               = solve.methods();
      row.set_up               = solve.set_up;
      const Timing timing      = k_best(space_, patience_, [&] {
        solve.cycle();
        if (read_change) solve.solver->read_change();
      });
      row.seconds_of_iteration = timing.seconds / solve.what.shifts;
      row.spread               = timing.spread;
    });
  }

  /// Solves of the shifted lines of one direction without a residual or an update.
  void lines(const Case &wanted, int direction) const
  {
    row(wanted, [&](Measured &row) {
      Solve<Space, double> solve(execution_, space_, wanted);
      row.method           = solve.solver->method(direction);
      const AdiSweep sweep = solve.solver->sweeps()[static_cast<std::size_t>(direction)];
      std::tie(row.seconds_of_iteration, row.spread) =
          pair_of(k_best(space_, patience_, [&] { solve.solver->correct(sweep, solve.b.data(), solve.x.data(), true); }));
      row.note = "5 words a cell";
    });
  }
  static std::pair<double, double> pair_of(const Timing &timing) { return {timing.seconds, timing.spread}; }

  const Execution &execution_;
  const Space space_;
  Table &table_;
  const Patience patience_;
  bool quick_;
  Index largest_, width_;
};

/// Bytes a second of the fastest copy there is.
template <class Space>
double copy_rate(const Space &space, bool quick)
{
  double rate = 0;
  for (const Move move : {Move::memcpy, Move::one_at_once, Move::four_at_once, Move::eight_at_once}) {
    MoveWork<Space> work(move, quick);
    const double bytes = 2.0 * static_cast<double>(MoveWork<Space>::size(move, quick)) * bytes_of_wide;
    rate               = std::max(rate, bytes / k_best(space, quick ? quickly : Patience{}, [&] { work.run(0); }).seconds);
  }
  return rate;
}

} // namespace

int main(int argc, char **argv)
{
  Memory memory = build_has_device ? Memory::device : Memory::host;
  bool quick    = false;
  Index largest = 0, width = 0;
  std::string parts, json;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    const auto value       = [&](const std::string &option) { return word.substr(option.size()); };
    if (takes_common(word, memory, quick)) continue;
    if (word.starts_with("--parts="))
      parts = "," + value("--parts=") + ",";
    else if (word.starts_with("--largest="))
      largest = std::stol(value("--largest="));
    else if (word.starts_with("--width="))
      width = std::stol(value("--width="));
    else if (word.starts_with("--json="))
      json = value("--json=");
    else if (!word.starts_with("--kokkos")) {
      std::fprintf(stderr, "adi_bench: unknown option %s\n", argv[k]);
      return 2;
    }
  }
  Kokkos::ScopeGuard guard(argc, argv);
  const Execution execution(memory);
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Table table(execution.name(), copy_rate(space, quick));
    const Suite<Space> suite(execution, space, table, quick, largest, width);
    const std::pair<const char *, void (Suite<Space>::*)() const> all[] = {
        {"counts", &Suite<Space>::counts}, {"growth", &Suite<Space>::growth},       {"sizes", &Suite<Space>::sizes},
        {"steady", &Suite<Space>::steady}, {"ablations", &Suite<Space>::ablations}, {"solvers", &Suite<Space>::solvers},
    };
    for (const auto &[name, part] : all) {
      if (!parts.empty() && parts.find("," + std::string(name) + ",") == std::string::npos) continue;
      (suite.*part)();
      if (!json.empty()) table.write(json); // so that what is measured stays if a later part ends badly
    }
  });
}
