/// What the benchmark programs share: their options, their copies, and what the tables should say about where they were made.
#pragma once
#include <iostream>
#include <regex>
#include <stdexcept>
#include <string>

#include "base/backend.hpp"
#include "common_options.hpp"
#include "copy.hpp"

namespace weft::bench {

/// --suite=NAME --backend=host|device --quick --portable[=NAME] --filter=REGEX (which keeps the copies)
struct Options {
  std::string suite;
  Memory memory = build_has_device ? Memory::device : Memory::host;
  bool quick    = false;
  std::regex filter{".*"};

  Effort effort() const
  {
    const double seconds = memory == Memory::host ? 0.1 : 0.02;
    return quick ? Effort{seconds / 10, 1} : Effort{seconds};
  }
  bool keeps(const Case &what) const { return std::regex_search(what.name(), filter); }
};

/// Takes its own options out of argv.
inline Options options_of(int &argc, char **argv, const std::string &suite)
{
  Options options;
  options.suite = suite;
  int kept      = 1;
  for (int k = 1; k < argc; k++) {
    const std::string word = argv[k];
    const auto value       = [&](const std::string &option) { return word.substr(option.size()); };
    if (takes_common(word, options.memory, options.quick)) continue;
    if (word.rfind("--suite=", 0) == 0)
      options.suite = value("--suite=");
    else if (word.rfind("--filter=", 0) == 0)
      options.filter = std::regex(value("--filter="));
    else
      argv[kept++] = argv[k];
  }
  argc = kept;
  return options;
}

/// Before all others, and after them where measurements need not be quick: a host's memory is not equally fast all the time, and the fastest
/// copy counts.
template <class Space>
void add_copies(const Options &options)
{
  for (const Move move : all_moves) {
    Case what;
    what.backend      = Space::name();
    what.precision    = "fp64";
    what.layout       = "flat";
    what.coefficients = "none";
    what.work         = "copy";
    what.method       = name_of(move);
    what.bytes_of_row = MoveWork<Space>::words(move) * bytes_of_wide;
    what.size         = {1, MoveWork<Space>::size(move, options.quick)};
    add<Space>(what, options.effort(), [=, quick = options.quick] { return std::make_unique<MoveWork<Space>>(move, quick); });
  }
}

/// Runs what `add_suite(space)` registers between copies, as Google Benchmark is told to; `describe` adds the versions of libraries.
template <class AddSuite, class Describe>
int run_benchmarks(const Options &options, int argc, char **argv, const AddSuite &add_suite, const Describe &describe)
{
  try {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    if (!has_backend(options.memory)) throw std::invalid_argument("this build has no device backend");
    Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    benchmark::AddCustomContext("suite", options.suite);
    if (options.memory == Memory::host) {
      const int threads = HostBackend().concurrency();
      benchmark::AddCustomContext(HostBackend::name(), std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
    }
#if defined(WEFT_HAVE_VENDOR)
    if (options.memory == Memory::device) benchmark::AddCustomContext(vendor::Space::name(), vendor::properties(vendor::Space()).name);
#endif
    describe();
    const auto add_all = [&](const auto &space) {
      using Space = std::decay_t<decltype(space)>;
      add_copies<Space>(options);
      add_suite(space);
      if (!options.quick) add_copies<Space>(options);
    };
    if (options.memory == Memory::host)
      add_all(HostBackend());
    else if constexpr (build_has_device)
      add_all(DeviceBackend());
    const std::size_t count = benchmark::RunSpecifiedBenchmarks();
    release_work();
    return count > 0 ? 0 : 1;
  } catch (const std::exception &failure) {
    std::cerr << argv[0] << ": " << failure.what() << '\n';
    return 2;
  }
}

} // namespace weft::bench
