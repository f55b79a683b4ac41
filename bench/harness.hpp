/// What every benchmark shares: its name, the work it times, and the loop that times it.
///
/// A name is BACKEND/PRECISION/LINESxROWS/LAYOUT/WORK/METHOD; scripts/bench.py takes it apart again.
#pragma once
#include <benchmark/benchmark.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "stopwatch.hpp"

namespace weft::bench {

struct Size {
  Index lines, rows; ///< rows of a line
};

/// What identifies a benchmark, and what its counters need.
struct Case {
  std::string backend, precision;
  Size size;
  std::string layout, work, method;
  int bytes_of_row = 0; ///< bytes that must be moved for each row at least
  double tolerance = 0; ///< the largest error that is rounding
  std::string name() const;
  Index rows() const { return size.lines * size.rows; }
};

/// Something to time, on `copies` independent sets of arrays. They take turns, and together they are larger than the last-level cache:
/// what is timed comes from memory.
class Work {
public:
  virtual ~Work() = default;

  virtual int copies() const = 0;
  /// Brings the inputs of all copies back, where run overwrites them. Not timed.
  virtual void restore() {}
  /// What is timed. Need not wait for what it launches.
  virtual void run(int copy) = 0;
  /// How wrong the last result is. Waits for it.
  virtual double error(int copy) = 0;
};

using MakeWork = std::function<std::unique_ptr<Work>()>;

/// The work of a case, made and checked when it is first asked for: Google Benchmark calls a benchmark again for every guess at the number
/// of iterations and for every repetition. Throws std::runtime_error where a result is wrong. Only one lives at a time.
Work &prepared_work(const Case &what, const MakeWork &make);
/// To be called before Kokkos ends.
void release_work();

/// Sets the counters after runs that took `seconds` each. They are made from the median, which other programs on the machine disturb less
/// than Google Benchmark's mean. Copies leave their bandwidth for the cases after them.
void set_counters(benchmark::State &state, const Case &what, std::vector<double> seconds);

/// How many copies of `bytes` each it takes to leave nothing in the cache from one turn to the next.
template <class Space>
int copies_beyond_cache(Index bytes)
{
  return static_cast<int>(4 * cache_bytes<Space>() / bytes + 1);
}

template <class Space>
void add(const Case &what, const MakeWork &make)
{
  const auto body = [=](benchmark::State &state) {
    try {
      Work &work = prepared_work(what, make);
      Stopwatch<Space> watch{Space()};
      std::vector<double> seconds;
      int copy = 0;
      for (auto _ : state) {
        if (copy == 0) work.restore();
        watch.start();
        work.run(copy);
        seconds.push_back(watch.stop());
        state.SetIterationTime(seconds.back());
        copy = (copy + 1) % work.copies();
      }
      set_counters(state, what, std::move(seconds));
    } catch (const std::exception &failure) { // a library may refuse a size, or memory run out: the others are timed all the same
      state.SkipWithError(failure.what());
    }
  };
  benchmark::RegisterBenchmark(what.name().c_str(), body)->UseManualTime()->Unit(benchmark::kMillisecond);
}

} // namespace weft::bench
