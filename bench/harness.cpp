#include "harness.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace weft::bench {

namespace {

struct Current {
  std::string name;
  std::unique_ptr<Work> work;
};

Current &current()
{
  static Current current;
  return current;
}

/// Runs every copy once, which warms it up too: nothing wrong is timed.
void check(Work &work, const Case &what)
{
  work.restore();
  for (int copy = 0; copy < work.copies(); copy++) {
    work.run(copy);
    const double error = work.error(copy);
    if (error <= what.tolerance) continue;
    std::ostringstream message;
    message << "wrong, so not timed: the error is " << error << ", rounding explains " << what.tolerance;
    throw std::runtime_error(message.str());
  }
}

} // namespace

std::string Case::name() const
{
  return backend + '/' + precision + '/' + std::to_string(size.lines) + 'x' + std::to_string(size.rows) + '/' + layout + '/' + work + '/' +
         method;
}

Work &prepared_work(const Case &what, const MakeWork &make)
{
  if (current().name != what.name()) {
    release_work(); // first: both may not fit
    auto work = make();
    check(*work, what);
    current() = {what.name(), std::move(work)};
  }
  return *current().work;
}

void release_work()
{
  current() = {};
}

void set_counters(benchmark::State &state, const Case &what, std::vector<double> seconds)
{
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  const double rows = static_cast<double>(what.rows()), bandwidth = rows * what.bytes_of_row / *middle;

  static std::map<std::string, double> copy_bandwidth; // of backend, precision and size
  const std::string copy = Case{what.backend, what.precision, what.size, "", "", ""}.name();
  if (what.work == "copy") copy_bandwidth[copy] = bandwidth;

  state.counters["median_ms"]   = 1e3 * *middle;
  state.counters["rows/s"]      = rows / *middle;
  state.counters["bytes/s"]     = bandwidth;
  state.counters["bytes_a_row"] = what.bytes_of_row;
  if (const auto found = copy_bandwidth.find(copy); found != copy_bandwidth.end()) state.counters["of_copy"] = bandwidth / found->second;
}

} // namespace weft::bench
