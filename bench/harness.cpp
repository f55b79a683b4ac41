#include "harness.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace weft::bench {

namespace {

struct Current {
  std::string name;
  Prepared prepared;
};

Current &current()
{
  static Current current;
  return current;
}

struct CurrentInput {
  std::string name;
  std::shared_ptr<void> input;
};

CurrentInput &current_input()
{
  static CurrentInput current;
  return current;
}

/// Runs every copy once, which warms it up too: nothing wrong is timed.
void check(Prepared &prepared, const Case &what)
{
  Work &work = *prepared.work;
  work.restore();
  for (int copy = 0; copy < work.copies(); copy++) work.run(copy);
  prepared.error         = work.error();
  prepared.forward_error = work.forward_error();
  prepared.median_error  = work.median_error();
  if (prepared.error <= what.tolerance) return;
  std::ostringstream message;
  message << "wrong, so not timed: the error is " << prepared.error << ", rounding explains " << what.tolerance;
  throw std::runtime_error(message.str());
}

} // namespace

std::string Case::input() const
{
  return backend + '/' + precision + '/' + std::to_string(size.lines) + 'x' + std::to_string(size.rows) + '/' + layout + '/' + coefficients;
}

Prepared &prepared_work(const Case &what, const MakeWork &make)
{
  if (current().name != what.name()) {
    current() = {}; // first: both may not fit
    Prepared prepared{make()};
    check(prepared, what);
    current() = {what.name(), std::move(prepared)};
  }
  return current().prepared;
}

const void *kept_input(const std::string &name, const std::function<std::shared_ptr<void>()> &make)
{
  CurrentInput &now = current_input();
  if (now.name != name) {
    now = {};
    now = {name, make()};
  }
  return now.input.get();
}

void release_work()
{
  current()       = {};
  current_input() = {};
}

void set_counters(benchmark::State &state, const Case &what, const Prepared &prepared, std::vector<double> seconds)
{
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  const double rows = static_cast<double>(what.rows());
  state.SetIterationTime(*middle);
  state.SetLabel(prepared.work->label());
  state.counters["median_ms"]   = 1e3 * *middle;
  state.counters["rows/s"]      = rows / *middle;
  state.counters["bytes/s"]     = rows * what.bytes_of_row / *middle;
  state.counters["bytes_a_row"] = what.bytes_of_row;
  state.counters["error"]       = prepared.error;
  if (prepared.forward_error >= 0) state.counters["forward_error"] = prepared.forward_error;
  if (prepared.median_error >= 0) state.counters["median_error"] = prepared.median_error;
}

void add_missing(const Case &what, const std::string &why)
{
  benchmark::RegisterBenchmark(what.name().c_str(), [=](benchmark::State &state) { state.SkipWithError(why.c_str()); })->Iterations(1);
}

} // namespace weft::bench
