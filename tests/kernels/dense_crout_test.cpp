// The dense method against sequential Crout, bit by bit where sums have an order, else to rounding.
#include "crout/dense_crout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "base/backend.hpp"
#include "reference/dense_crout.hpp"

namespace {

using namespace weft;
using test::random_values, test::to_backend, test::to_host;

template <class Scalar>
std::vector<Scalar> random_matrix(std::size_t n, std::mt19937 &random, double diagonal = 0)
{
  auto a = random_values<Scalar>(n * n, random, -1000, 1000);
  for (std::size_t i = 0; i < n; i++) a[i + i * n] += static_cast<Scalar>(diagonal);
  return a;
}

struct Host {
  static constexpr Memory memory = Memory::host;
  using Space                    = HostBackend;
};
struct Device {
  static constexpr Memory memory = Memory::device;
  using Space                    = DeviceBackend;
};
template <class Backend, class Number>
struct On {
  using Where  = Backend;
  using Scalar = Number;
};
using Places = testing::Types<On<Host, double>, On<Host, float>
#if defined(WEFT_HAVE_VENDOR)
                              ,
                              On<Device, double>, On<Device, float>
#endif
                              >;

template <class Place>
class DenseCrout : public testing::Test {
protected:
  using Scalar = typename Place::Scalar;
  using Space  = typename Place::Where::Space;

  Execution execution{Place::Where::memory};
  std::vector<Scalar> z;

  DenseCroutReport factor(std::size_t n, const std::vector<Scalar> &a, const DenseCroutOptions &options)
  {
    const auto crout = weft::DenseCrout<Scalar>::make(execution, static_cast<Index>(n), options);
    const auto on    = to_backend<Space>(a);
    crout->factor(on.data(), static_cast<Index>(n));
    z.assign(n * n, 0);
    Kokkos::deep_copy(
        Kokkos::View<Scalar *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(z.data(), z.size()),
        Kokkos::View<const Scalar *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(crout->factors(), n * n));
    return crout->report();
  }
  static DenseCroutOptions ordered(Index section)
  {
    DenseCroutOptions options;
    options.section  = section;
    options.products = Products::ordered;
    return options;
  }
  /// max |a - L U|
  static double residual(std::size_t n, const std::vector<Scalar> &a, const std::vector<Scalar> &z)
  {
    double worst = 0;
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t j = 0; j < n; j++) {
        double sum = a[i + j * n];
        for (std::size_t k = 0; k <= std::min(i, j); k++) sum -= double(z[i + k * n]) * (k == j ? 1.0 : double(z[k + j * n]));
        worst = !(std::abs(sum) <= worst) ? std::abs(sum) : worst;
      }
    }
    return worst;
  }
};
TYPED_TEST_SUITE(DenseCrout, Places);

TYPED_TEST(DenseCrout, IsSequentialCroutInEveryBit)
{
  using Scalar = typename TestFixture::Scalar;
  std::mt19937 random(41);
  for (const std::size_t n : {1, 2, 3, 16, 31, 33, 64, 97}) {
    const auto a        = random_matrix<Scalar>(n, random, n % 2 ? 0 : 2000.0 * static_cast<double>(n));
    const auto expected = reference::crout(n, a);
    for (const Index section : {Index(0), Index(5), Index(64), Index(2 * n)}) {
      for (const auto start : {DenseCroutOptions::Start::scaled, DenseCroutOptions::Start::given}) {
        auto options      = this->ordered(section);
        options.start     = start;
        const auto report = this->factor(n, a, options);
        EXPECT_EQ(this->z, expected) << "n " << n << ", section " << section;
        EXPECT_EQ(report.failure, DenseCroutReport::Failure::none) << report.text();
        const Index size = std::min<Index>(section ? section : 32, static_cast<Index>(n));
        EXPECT_EQ(report.sections, (static_cast<Index>(n) + size - 1) / size);
        EXPECT_LE(report.most_sweeps, 2 * size);
      }
    }
  }
}

TYPED_TEST(DenseCrout, EverySectionSize)
{
  using Scalar = typename TestFixture::Scalar;
  std::mt19937 random(42);
  const std::size_t n = 29;
  const auto a        = random_matrix<Scalar>(n, random);
  const auto expected = reference::crout(n, a);
  for (Index section = 1; section <= static_cast<Index>(n); section++) {
    this->factor(n, a, this->ordered(section));
    EXPECT_EQ(this->z, expected) << section;
  }
}

TYPED_TEST(DenseCrout, SweepsAndTheirStopAreThoseOfTheTwin)
{
  using Scalar = typename TestFixture::Scalar;
  std::mt19937 random(43);
  for (const std::size_t n : {5, 24, 70}) {
    const auto a = random_matrix<Scalar>(n, random, 1000.0 * static_cast<double>(n));
    for (const std::size_t section : {std::size_t(7), n}) {
      for (const double tolerance : {0.0, 10.0}) {
        for (const bool of_residual : {false, true}) {
          for (const bool scaled : {false, true}) {
            std::vector<int> sweeps;
            const auto expected = reference::crout_by_sections(n, a, section, {tolerance, of_residual, scaled}, sweeps);
            auto options        = this->ordered(static_cast<Index>(section));
            options.tolerance   = tolerance;
            options.stop        = of_residual ? DenseCroutOptions::Stop::residual : DenseCroutOptions::Stop::change;
            options.start       = scaled ? DenseCroutOptions::Start::scaled : DenseCroutOptions::Start::given;
            const auto report   = this->factor(n, a, options);
            Index all = 0, most = 0;
            for (const int s : sweeps) all += s, most = std::max<Index>(most, s);
            EXPECT_EQ(report.sweeps, all) << "n " << n << ", section " << section << ", tolerance " << tolerance;
            EXPECT_EQ(report.most_sweeps, most);
            EXPECT_EQ(this->z, expected) << "n " << n << ", section " << section << ", tolerance " << tolerance;
          }
        }
      }
    }
  }
}

TYPED_TEST(DenseCrout, AScaledStartNeedsFewerSweepsOnDominantMatrices)
{
  using Scalar = typename TestFixture::Scalar;
  std::mt19937 random(44);
  const auto a   = random_matrix<Scalar>(96, random, 96000);
  auto options   = this->ordered(96);
  const auto few = this->factor(96, a, options).sweeps;
  options.start  = DenseCroutOptions::Start::given;
  EXPECT_LT(2 * few, this->factor(96, a, options).sweeps);
}

TYPED_TEST(DenseCrout, ProductsByBlasAreAsAccurateAsSequentialCrout)
{
  using Scalar = typename TestFixture::Scalar;
  std::mt19937 random(45);
  for (const std::size_t n : {50, 211}) {
    const auto a      = random_matrix<Scalar>(n, random, 3000);
    const auto twin   = this->residual(n, a, reference::crout(n, a));
    const auto report = this->factor(n, a, {});
    EXPECT_EQ(report.failure, DenseCroutReport::Failure::none) << report.text();
    EXPECT_LE(this->residual(n, a, this->z), 4 * twin) << n;
  }
}

TYPED_TEST(DenseCrout, SolvesWithTheFactorsAndTheirTranspose)
{
  using Scalar = typename TestFixture::Scalar;
  using Space  = typename TestFixture::Space;
  std::mt19937 random(46);
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 131}) {
    const auto a     = random_matrix<Scalar>(n, random, 2000.0 * static_cast<double>(n));
    const auto crout = weft::DenseCrout<Scalar>::make(this->execution, static_cast<Index>(n));
    const auto on    = to_backend<Space>(a);
    ASSERT_EQ(crout->factor(on.data(), static_cast<Index>(n)).failure, DenseCroutReport::Failure::none) << crout->report().text();
    const std::size_t nrhs = 3, ld = n + 2;
    const auto expected = random_values<double>(nrhs * ld, random);
    for (const auto transpose : {Transpose::no, Transpose::yes}) {
      std::vector<double> b(nrhs * ld);
      for (std::size_t c = 0; c < nrhs; c++) {
        for (std::size_t i = 0; i < n; i++) {
          for (std::size_t j = 0; j < n; j++)
            b[i + c * ld] += double(transpose == Transpose::no ? a[i + j * n] : a[j + i * n]) * expected[j + c * ld];
        }
      }
      const auto rhs = to_backend<Space>(b), x = to_backend<Space>(std::vector<double>(nrhs * ld, 5));
      crout->solve(rhs.data(), x.data(), transpose, static_cast<int>(nrhs), static_cast<Index>(ld));
      crout->solve(rhs.data(), rhs.data(), transpose); // in place
      this->execution.wait();
      const auto found = to_host(x), in_place = to_host(rhs);
      for (std::size_t c = 0; c < nrhs; c++) {
        for (std::size_t i = 0; i < ld; i++) {
          if (i < n)
            EXPECT_NEAR(found[i + c * ld], expected[i + c * ld], 100 * std::numeric_limits<Scalar>::epsilon()) << n;
          else
            EXPECT_EQ(found[i + c * ld], 5);
        }
      }
      for (std::size_t i = 0; i < n; i++) EXPECT_NEAR(in_place[i], expected[i], 100 * std::numeric_limits<Scalar>::epsilon());
    }
  }
}

TYPED_TEST(DenseCrout, SingularAndNonFiniteMatricesAreReported)
{
  using Scalar  = typename TestFixture::Scalar;
  using Failure = DenseCroutReport::Failure;
  std::mt19937 random(48);
  const std::size_t n = 70;
  const auto good     = random_matrix<Scalar>(n, random, 1e5);
  for (const Index section : {Index(16), Index(70)}) {
    const auto expect = [&](const std::vector<Scalar> &a, Failure failure, Index row) {
      const auto report = this->factor(n, a, this->ordered(section));
      EXPECT_EQ(report.failure, failure) << report.text();
      EXPECT_EQ(report.row, row) << report.text();
      EXPECT_NE(report.text().find("row " + std::to_string(row)), std::string::npos);
    };
    for (const std::size_t r : {std::size_t(0), std::size_t(33), n - 1}) {
      auto a = good; // the row and column are 0
      for (std::size_t k = 0; k < n; k++) a[r + k * n] = a[k + r * n] = 0;
      expect(a, Failure::zero_pivot, static_cast<Index>(r));
      a                  = good;
      a[r + (r / 2) * n] = std::numeric_limits<Scalar>::quiet_NaN();
      expect(a, Failure::not_finite_input, static_cast<Index>(r));
      a[r + (r / 2) * n] = -std::numeric_limits<Scalar>::infinity();
      expect(a, Failure::not_finite_input, static_cast<Index>(r));
    }
    auto a = good; // row 41 is row 40: singular but for rounding
    for (std::size_t k = 0; k < n; k++) a[41 + k * n] = a[40 + k * n];
    expect(a, Failure::zero_pivot, 41);
    a.assign(n * n, 0); // a zero in the corner of a regular matrix
    for (std::size_t i = 0; i < n; i++) a[i + i * n] = 1;
    a[0] = 0, a[1] = 1, a[n] = 1;
    expect(a, Failure::zero_pivot, 0);
    a.assign(n * n, 0); // overflow: 1 - huge * 1000
    for (std::size_t i = 0; i < n; i++) a[i + i * n] = 1;
    a[50 + 20 * n] = a[20 + 50 * n] = std::numeric_limits<Scalar>::max();
    a[20 + 20 * n]                  = std::numeric_limits<Scalar>::max() / 1000;
    expect(a, Failure::not_finite, 50);
    // Nothing is left of a failure.
    EXPECT_EQ(this->factor(n, good, this->ordered(section)).failure, Failure::none);
  }
}

TYPED_TEST(DenseCrout, TooFewSweepsAreReported)
{
  using Scalar = typename TestFixture::Scalar;
  std::mt19937 random(49);
  const auto a = random_matrix<Scalar>(60, random);
  for (const Index section : {Index(20), Index(60)}) {
    auto options        = this->ordered(section);
    options.most_sweeps = 3;
    const auto report   = this->factor(60, a, options);
    EXPECT_EQ(report.failure, DenseCroutReport::Failure::not_converged) << report.text();
    EXPECT_EQ(report.row, 0);
    EXPECT_EQ(report.most_sweeps, 3);
  }
}

TYPED_TEST(DenseCrout, ExchangedRowsSolveWhatHasNoLeadingMinors)
{
  using Scalar = typename TestFixture::Scalar;
  using Space  = typename TestFixture::Space;
  std::mt19937 random(51);
  for (const std::size_t n : {1, 2, 31, 33, 150, 300}) {
    auto a = random_matrix<Scalar>(n, random);
    if (n > 1) { // nothing but zeros in the leading half
      for (std::size_t j = 0; j < n / 2; j++) {
        for (std::size_t i = 0; i < n / 2; i++) a[i + j * n] = 0;
      }
    }
    std::vector<double> one(n, 1), b(n, 0), turned(n, 0);
    for (std::size_t j = 0; j < n; j++) {
      for (std::size_t i = 0; i < n; i++) b[i] += double(a[i + j * n]), turned[j] += double(a[i + j * n]);
    }
    for (const Index section : {Index(0), Index(5), Index(60), Index(n)}) {
      DenseCroutOptions options;
      options.section   = section;
      options.pivot     = true;
      const auto crout  = weft::DenseCrout<Scalar>::make(this->execution, static_cast<Index>(n), options);
      const auto on     = to_backend<Space>(a);
      const auto report = crout->factor(on.data(), static_cast<Index>(n));
      ASSERT_EQ(report.failure, DenseCroutReport::Failure::none) << n << " " << section << " " << report.text();
      std::vector<Index> rows(n);
      Kokkos::deep_copy(
          Kokkos::View<Index *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(rows.data(), n),
          Kokkos::View<const Index *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(crout->rows_of_a(), n));
      auto sorted = rows;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 0; i < n; i++) ASSERT_EQ(sorted[i], static_cast<Index>(i));
      const double allowed = 1e4 * double(n) * std::numeric_limits<Scalar>::epsilon();
      for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
        const auto rhs = to_backend<Space>(transpose == Transpose::no ? b : turned), x = to_backend<Space>(std::vector<double>(n));
        crout->solve(rhs.data(), x.data(), transpose);
        this->execution.wait();
        const auto found = to_host(x);
        double residual = 0, size = 0; // against what the sizes of the solution and of the matrix leave to rounding
        for (std::size_t i = 0; i < n; i++) {
          double sum = transpose == Transpose::no ? b[i] : turned[i];
          for (std::size_t j = 0; j < n; j++) sum -= double(transpose == Transpose::no ? a[i + j * n] : a[j + i * n]) * found[j];
          residual = std::max(residual, std::abs(sum));
          size     = std::max(size, 1000 * std::abs(found[i]));
        }
        EXPECT_LE(residual, allowed * size) << n << " " << section;
      }
    }
  }
}

TYPED_TEST(DenseCrout, ExchangesAreThoseOfPartialPivoting)
{
  using Scalar = typename TestFixture::Scalar;
  using Space  = typename TestFixture::Space;
  std::mt19937 random(52);
  const std::size_t n = 90; // all rows compete in one team
  const auto a        = random_matrix<Scalar>(n, random);
  auto work           = a;
  std::vector<Index> expected(n);
  for (std::size_t i = 0; i < n; i++) expected[i] = static_cast<Index>(i);
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; i++) {
      if (std::abs(work[i + k * n]) > std::abs(work[pivot + k * n])) pivot = i;
    }
    std::swap(expected[k], expected[pivot]);
    for (std::size_t j = 0; j < n; j++) std::swap(work[k + j * n], work[pivot + j * n]);
    for (std::size_t i = k + 1; i < n; i++) {
      work[i + k * n] /= work[k + k * n];
      for (std::size_t j = k + 1; j < n; j++) work[i + j * n] -= work[i + k * n] * work[k + j * n];
    }
  }
  for (const Index section : {Index(1), Index(8), Index(32), Index(90)}) {
    DenseCroutOptions options;
    options.section  = section;
    options.pivot    = true;
    const auto crout = weft::DenseCrout<Scalar>::make(this->execution, static_cast<Index>(n), options);
    const auto on    = to_backend<Space>(a);
    crout->factor(on.data(), static_cast<Index>(n));
    std::vector<Index> rows(n);
    Kokkos::deep_copy(
        Kokkos::View<Index *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(rows.data(), n),
        Kokkos::View<const Index *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(crout->rows_of_a(), n));
    EXPECT_EQ(rows, expected) << section;
  }
}

TEST(DenseCroutOptionsTest, RefusesWhatMakesNoSense)
{
  const Execution host(Memory::host);
  EXPECT_THROW(weft::DenseCrout<double>::make(host, -1), std::invalid_argument);
  DenseCroutOptions options;
  options.section = -1;
  EXPECT_THROW(weft::DenseCrout<double>::make(host, 3, options), std::invalid_argument);
  options.section   = 0;
  options.tolerance = std::nan("");
  EXPECT_THROW(weft::DenseCrout<double>::make(host, 3, options), std::invalid_argument);
  const auto crout = weft::DenseCrout<double>::make(host, 3);
  EXPECT_THROW(crout->factor(nullptr, 2), std::invalid_argument);
}

} // namespace
