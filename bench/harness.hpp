/// What every benchmark shares: its name, the work it times, and the loop that times it.
///
/// A name is BACKEND/PRECISION/LINESxROWS/LAYOUT/COEFFICIENTS/WORK/METHOD; scripts/bench.py takes it apart again.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "line/line_layout.hpp"
#include "stopwatch.hpp"

namespace weft::bench {

struct Size {
  Index lines, rows; ///< rows of a line
  friend bool operator==(const Size &, const Size &) = default;
};

/// What identifies a benchmark, and what its counters need.
struct Case {
  std::string backend, precision;
  Size size;
  std::string layout, coefficients, work, method;
  int bytes_of_row = 0; ///< bytes that must be moved for each row at least
  double tolerance = 0; ///< the largest error that is rounding

  std::string name() const { return input() + '/' + work + '/' + method; }
  /// The part of the name that says what is worked on.
  std::string input() const;
  Index rows() const { return size.lines * size.rows; }
};

/// Something to time, on `copies` independent sets of arrays. They take turns, and together they are larger than the last-level cache:
/// what is timed comes from memory.
class Work {
public:
  virtual ~Work() = default;

  virtual int copies() const = 0;
  /// True where run overwrites its inputs: restore brings those of all copies back. Not timed.
  virtual bool in_place() const { return false; }
  virtual void restore() {}
  /// What is timed. Need not wait for what it launches.
  virtual void run(int copy) = 0;
  /// How wrong the last results of all copies are: the largest relative residual. Waits for them.
  virtual double error() = 0;
  /// The relative error of the solution in the 2-norm, where the solution is known; negative where it is not.
  virtual double forward_error() { return -1; }
  /// The median over the lines of their largest relative residuals, where lines are far from equally hard; negative elsewhere.
  virtual double median_error() { return -1; }
  /// The method that does the work.
  virtual std::string label() const { return ""; }
};

using MakeWork = std::function<std::unique_ptr<Work>()>;

/// How much is measured.
struct Effort {
  double seconds = 0.02; ///< of measuring in a repetition, from which on no further sample is taken
  int samples    = 3;    ///< taken at least, unless a run alone takes longer than all of it should
};

struct Prepared {
  std::unique_ptr<Work> work;
  double error = 0, forward_error = -1, median_error = -1; ///< of its check
};

/// The work of a case, made and checked when it is first asked for, as Google Benchmark calls a benchmark for every repetition. Throws
/// std::runtime_error where a result is wrong. Only one lives at a time.
Prepared &prepared_work(const Case &what, const MakeWork &make);
/// An input made by the first who asks for it and kept until another one is asked for.
const void *kept_input(const std::string &name, const std::function<std::shared_ptr<void>()> &make);
/// The input that the works of a case have in common.
template <class Input, class Make>
const Input &common_input(const Case &what, const Make &make)
{
  return *static_cast<const Input *>(kept_input(what.input(), [&]() -> std::shared_ptr<void> { return std::make_shared<Input>(make()); }));
}
/// To be called before Kokkos ends.
void release_work();

/// Sets the counters after samples of `seconds` a run each. They are made from the median, which other programs on the machine disturb less
/// than a mean.
void set_counters(benchmark::State &state, const Case &what, const Prepared &prepared, std::vector<double> seconds);

/// How many copies of `bytes` each it takes to leave nothing in the cache from one turn to the next. Where that would be more than
/// `most_copies`, the inputs are so small that launches cost more than memory does.
inline constexpr int most_copies = 256;
template <class Space>
int copies_beyond_cache(Index bytes)
{
  return static_cast<int>(std::min<Index>(4 * cache_bytes<Space>() / bytes + 1, most_copies));
}

/// Seconds a run takes, several times. Short runs are timed many at once, one launched while the one before runs: what is measured is a
/// stream of solves, without the time that the host takes to notice an end.
template <class Space>
std::vector<double> sample(Work &work, const Effort &effort)
{
  constexpr double seconds_at_once = 1e-3;
  Stopwatch<Space> watch{Space()};
  const int copies   = work.copies();
  int next           = copies;
  const auto time_of = [&](int runs) {
    if (next + runs > copies && work.in_place()) {
      work.restore();
      next = 0;
    }
    watch.start();
    for (int k = 0; k < runs; k++) work.run(next++ % copies);
    return watch.stop() / runs;
  };
  const double first = time_of(1);
  if (first > 5 * effort.seconds) return {first};
  const int most = work.in_place() ? copies : most_copies;
  const int runs = static_cast<int>(std::clamp(seconds_at_once / first, 1.0, static_cast<double>(most)));
  std::vector<double> seconds;
  for (double total = 0; total < effort.seconds || static_cast<int>(seconds.size()) < effort.samples; total += runs * seconds.back())
    seconds.push_back(time_of(runs));
  return seconds;
}

/// Registers a benchmark; `make` throws where the work cannot be done.
template <class Space>
void add(const Case &what, const Effort &effort, const MakeWork &make)
{
  const auto body = [=](benchmark::State &state) {
    try {
      Prepared &prepared = prepared_work(what, make);
      for (auto _ : state) {
        const std::vector<double> seconds = sample<Space>(*prepared.work, effort);
        set_counters(state, what, prepared, seconds);
      }
    } catch (const std::exception &failure) { // a library may refuse a size, or memory run out: the others are timed all the same
      state.SkipWithError(failure.what());
    }
  };
  benchmark::RegisterBenchmark(what.name().c_str(), body)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

/// Registers a row that says why there is no figure.
void add_missing(const Case &what, const std::string &why);

} // namespace weft::bench
