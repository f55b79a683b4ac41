// Shifts of alternating directions against closed forms, the bound of the theory, and their own neighbours.
#include "adi/shifts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "adi_types.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// Bounds of the two parts of the five-point Laplacian between fixed ends.
AdiBounds laplacian(double n)
{
  const double angle = std::numbers::pi / (2 * (n + 1));
  const SpectralInterval one{4 * std::pow(std::sin(angle), 2), 4 * std::pow(std::cos(angle), 2)};
  return {one, one};
}

/// Zolotarev's number from above: 4 exp(-pi^2 J / log(16 gamma)), gamma the cross ratio of the ends.
double bound(const AdiBounds &bounds, int length)
{
  const double a = bounds[0].low, b = bounds[0].high, c = bounds[1].low, d = bounds[1].high;
  const double cross = (a + d) * (b + c) / ((a + c) * (b + d));
  return 4 * std::exp(-std::pow(std::numbers::pi, 2) * length / std::log(16 * cross));
}

TEST(AdiShifts, OneAndTwoHaveClosedForms)
{
  for (const double b : {1.0001, 3.0, 1e3, 1e7}) {
    const AdiBounds same{{1, b}, {1, b}};
    const auto one = adi_shifts(pr, same, 1);
    EXPECT_NEAR(one[0][0], std::sqrt(b), 1e-9 * b);
    EXPECT_NEAR(one[0][1], std::sqrt(b), 1e-9 * b);
    // Jordan: p + b / p = 2 sqrt(sqrt(b) (1 + b) / 2)
    const double middle = std::sqrt(std::sqrt(b) * (1 + b) / 2), root = std::sqrt(std::max(0.0, middle * middle - b));
    const auto two = adi_shifts(pr, same, 2);
    EXPECT_NEAR(two[0][0], middle + root, 1e-7 * (middle + root)) << b;
    EXPECT_NEAR(two[1][0], b / (middle + root), 1e-7 * b / (middle + root)) << b;
  }
}

TEST(AdiShifts, ReduceAsTheTheorySays)
{
  const AdiBounds cases[] = {laplacian(16),         laplacian(4096),     {{1, 2}, {1, 2}},  {{0, 4}, {0.001, 40}},
                             {{1e-3, 1}, {5, 1e4}}, {{-1, 7}, {1.5, 9}}, {{2, 2}, {1, 50}}, {{3, 3}, {3, 3}}};
  for (const AdiBounds &bounds : cases) {
    for (int length : {1, 2, 3, 4, 7, 12}) {
      const auto shifts = adi_shifts(pr, bounds, length);
      ASSERT_EQ(shifts.size(), static_cast<std::size_t>(length));
      const double reduction = adi_reduction(pr, bounds, shifts);
      EXPECT_LE(reduction, 1.01 * bound(bounds, length) + 1e-12) << length << " shifts, " << bounds[0].low << " " << bounds[0].high;
      EXPECT_EQ(adi_reduction(dg, bounds, shifts), reduction);
      for (std::size_t j = 1; j < shifts.size(); j++) EXPECT_LE(shifts[j][0], shifts[j - 1][0]) << "largest first";
    }
  }
}

TEST(AdiShifts, NoNeighbourIsBetter)
{
  const AdiBounds bounds{{0.01, 1}, {0.3, 40}};
  const auto best       = adi_shifts(pr, bounds, 3);
  const double smallest = adi_reduction(pr, bounds, best);
  for (std::size_t j = 0; j < 3; j++) {
    for (std::size_t k : {0, 1}) {
      for (double factor : {0.9, 1.1}) {
        auto other = best;
        other[j][k] *= factor;
        EXPECT_GT(adi_reduction(pr, bounds, other), smallest) << j << " " << k << " " << factor;
      }
    }
  }
}

TEST(AdiShifts, ThreeDirectionsAndDouglasRachfordShareTheirs)
{
  const AdiBounds three{{0, 4}, {0.1, 8}, {0.2, 6}};
  for (AdiType type : {pr, dr, dg}) {
    for (int length : {1, 4, 8}) {
      const auto shifts = adi_shifts(type, three, length);
      for (const AdiShift &s : shifts) {
        EXPECT_GT(s[0], 0);
        EXPECT_EQ(s[0], s[1]);
        EXPECT_EQ(s[0], s[2]);
      }
      EXPECT_LT(adi_reduction(type, three, shifts), 1);
    }
  }
  const auto shifts = adi_shifts(dr, {{0.1, 1}, {0.2, 3}}, 4);
  for (const AdiShift &s : shifts) EXPECT_EQ(s[0], s[1]);
}

TEST(AdiShifts, DefaultLengthGrowsWithTheLogarithm)
{
  int before = 0;
  for (int n : {4, 16, 64, 256, 1024, 4096}) {
    const int length = adi_cycle_length(laplacian(n));
    EXPECT_GE(length, before);
    EXPECT_LE(length, 2 + std::log2(n) / 2);
    EXPECT_LE(adi_reduction(pr, laplacian(n), adi_shifts(pr, laplacian(n), length)), 0.1);
    before = length;
  }
}

TEST(AdiShifts, SumsAreWellConditionedAtAnySize)
{
  for (int n : {4, 16, 256, 4096}) {
    for (std::size_t directions : {2, 3}) {
      const AdiBounds bounds(directions, laplacian(n)[0]);
      const AdiSum sum = adi_sum(bounds, 0);
      EXPECT_LE(sum.condition, 2.5);
      EXPECT_LE(sum.shifts.size(), 2 + std::log2(n) / 2) << n;
      for (std::size_t j = 1; j < sum.shifts.size(); j++) EXPECT_LT(sum.shifts[j][0], sum.shifts[j - 1][0]);
    }
  }
  // The trapezoidal rule over all t > 0: the exact value of the integral.
  std::vector<AdiShift> many;
  for (double p = 1e6; p > 1e-6; p /= 1.2) many.push_back({p, p, p});
  const auto scales = adi_sum_scales(many, 2);
  double equal = 0, single = 0;
  for (std::size_t j = 0; j < many.size(); j++) {
    const double p = many[j][0];
    equal += scales[j] / std::pow(p + 1, 4);
    single += scales[j] / std::pow(p * (p + 1), 2);
  }
  EXPECT_NEAR(equal, 2.0 / 3, 1e-5);
  EXPECT_NEAR(single, 2, 1e-5);
  EXPECT_EQ(adi_sum_scales({{2, 2, 2}}, 2)[0], 16);
  EXPECT_EQ(adi_sum_scales({{2, 2, 2}, {2, 2, 2}}, 2)[0], 8);
  EXPECT_THROW(adi_sum({{0, 1}, {0, 1}}, 2), std::invalid_argument);
}

TEST(AdiShifts, WrongBoundsAreRefused)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const AdiBounds &wrong : {AdiBounds{{2, 1}, {1, 2}}, AdiBounds{{0, 1}, {0, 1}}, AdiBounds{{-1, 1}, {0.5, 1}},
                                 AdiBounds{{nan, 1}, {1, 1}}, AdiBounds{{1, 2}}, AdiBounds{}})
    EXPECT_THROW(adi_shifts(pr, wrong, 2), std::invalid_argument);
  EXPECT_THROW(adi_shifts(pr, laplacian(4), 0), std::invalid_argument);
}

} // namespace
