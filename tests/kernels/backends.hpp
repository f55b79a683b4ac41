/// The backends of this build, for tests that run on each of them.
#pragma once
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"
#include "base/vendor.hpp"

namespace weft {

/// For messages of tests.
template <class Real>
std::ostream &operator<<(std::ostream &out, const Complex<Real> &z)
{
  return out << z.real() << "+" << z.imag() << "i";
}

} // namespace weft

namespace weft::test {

/// WEFT_TEST_SAMPLE=n: of the comparisons that tests make by the hundred every n-th is made, and what can run in several memories runs in the
/// device's alone. For tools under which everything takes hours (scripts/sanitize.py); 0 if it is not set.
inline int sample()
{
  static const int every = [] {
    const char *value = std::getenv("WEFT_TEST_SAMPLE");
    return value ? std::max(1, std::atoi(value)) : 0;
  }();
  return every;
}
/// False for a comparison that is left out; asked once for each.
inline bool sampled()
{
  static int asked = 0;
  return sample() == 0 || asked++ % sample() == 0;
}

/// The memories of this build.
inline std::vector<Memory> memories()
{
  if (!has_backend(Memory::device)) return {Memory::host};
  return sample() > 0 ? std::vector{Memory::device} : std::vector{Memory::host, Memory::device};
}

/// Serial beside the default one of a host, and the device.
#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
using FirstBackend = Kokkos::Serial;
#else
using FirstBackend = Kokkos::DefaultHostExecutionSpace;
#endif
using Backends = testing::Types<FirstBackend
#if defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
                                ,
                                Kokkos::OpenMP
#endif
#if defined(WEFT_HAVE_VENDOR)
                                ,
                                vendor::Space
#endif
                                >;

struct BackendName {
  template <class Space>
  static std::string GetName(int)
  {
    return Space::name();
  }
};

template <class Space, class T>
Kokkos::View<T *, typename Space::memory_space> to_backend(const std::vector<T> &values)
{
  Kokkos::View<T *, typename Space::memory_space> view("test", values.size());
  Kokkos::deep_copy(view,
                    Kokkos::View<const T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(), values.size()));
  return view;
}

template <class View>
auto to_host(const View &view)
{
  std::vector<typename View::non_const_value_type> values(view.extent(0));
  Kokkos::deep_copy(Kokkos::View<typename View::non_const_value_type *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        values.data(), values.size()),
                    view);
  return values;
}

template <class Scalar>
std::vector<Scalar> random_values(std::size_t size, std::mt19937 &random, double low = -1, double high = 1)
{
  using Real = RealOf<Scalar>;
  std::uniform_real_distribution<double> value(low, high);
  std::vector<Scalar> values(size);
  for (Scalar &v : values) {
    v = static_cast<Real>(value(random));
    if constexpr (is_complex<Scalar>) v += Scalar(0, static_cast<Real>(value(random)));
  }
  return values;
}

} // namespace weft::test
