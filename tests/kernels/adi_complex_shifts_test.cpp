// Complex shifts for regions off the real axis: what they promise, beside random points of the regions.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "adi/shifts.hpp"

using namespace weft;

namespace {

using Complex = std::complex<double>;
using Shifts  = std::vector<ComplexAdiShift>;

constexpr auto pr = AdiType::peaceman_rachford, dr = AdiType::douglas_rachford;

SpectralInterval region(double low, double high, double skew, double offset, bool box = false)
{
  return {low, high, skew, false, offset, box};
}

const SpectralInterval regions[] = {
    region(1e-3, 4, 0, -0.5),         // a time step
    region(-0.05, 4, 0, 0.05),        // a shifted Laplacian
    region(1e-5, 4, 0, 0.01),         // little damping
    region(0.09, 4, 0.33, 0),         // convection
    region(1, 3, 3.6, 0.3),           // strong convection
    region(-3, 3, 0.5, 2),            // in a frame of its own
    region(0.2, 4, 0.5, -0.02, true), // a slanted segment
};

/// A point of the edge, more often near the lower end.
Complex edge_point(const SpectralInterval &part, std::mt19937 &random)
{
  std::uniform_real_distribution<double> uniform(0, 1);
  const double middle = (part.low + part.high) / 2, half = (part.high - part.low) / 2;
  const double along = uniform(random) < 0.5 ? std::pow(10, -5 * uniform(random)) : uniform(random);
  const double x = part.low + along * 2 * half, side = uniform(random) < 0.5 ? -1 : 1;
  if (!part.box) return {x, part.offset + side * part.skew * std::sqrt(std::max(0.0, 1 - std::pow((x - middle) / half, 2)))};
  if (uniform(random) < 0.5) return {x, part.offset + side * part.skew};
  return {side < 0 ? part.low : part.high, part.offset + (2 * uniform(random) - 1) * part.skew};
}

/// |1 - M^-1 A| of a cycle at a point of the parts.
double leaves(AdiType type, const Shifts &shifts, const std::vector<Complex> &at)
{
  double all = 1;
  for (const ComplexAdiShift &s : shifts) {
    const bool two  = at.size() == 2;
    Complex product = 1, sum = 0;
    for (std::size_t k = 0; k < at.size(); k++) product *= s[k] + at[k], sum += at[k];
    const Complex scale = type == dr ? std::pow(s[0], two ? 1 : 2) : two ? s[0] + s[1] : 2.0 * s[0] * s[0];
    all *= std::abs(1.0 - scale * sum / product);
  }
  return all;
}

} // namespace

TEST(AdiComplexShifts, LeaveWhatTheyPromise)
{
  std::mt19937 random(1);
  for (const SpectralInterval &part : regions) {
    for (std::size_t directions : {std::size_t(2), std::size_t(3)}) {
      for (AdiType type : {pr, dr}) { // douglas_gunn leaves what peaceman_rachford does
        const AdiBounds bounds(directions, part);
        double before = 1;
        for (int length : {1, 2, directions == 2 && type != dr ? 7 : 4}) {
          const Shifts shifts   = adi_shifts<Complex>(type, bounds, length);
          const double promised = adi_reduction(type, bounds, shifts);
          double most           = 0;
          for (int n = 0; n < 10000; n++) {
            std::vector<Complex> at;
            for (const SpectralInterval &k : bounds) at.push_back(edge_point(k, random));
            most = std::max(most, leaves(type, shifts, at));
          }
          const testing::Message where = testing::Message()
                                         << part.low << " to " << part.high << " +- " << part.skew << ", type " << static_cast<int>(type)
                                         << ", " << directions << " directions, length " << length;
          EXPECT_EQ(shifts.size(), static_cast<std::size_t>(length)) << where;
          EXPECT_LE(most, 1.1 * promised) << where;
          EXPECT_GE(most, 0.6 * promised) << where;
          EXPECT_LT(promised, before) << where;
          before = promised;
        }
      }
    }
  }
}

TEST(AdiComplexShifts, AreTheRealOnesOnTheRealAxis)
{
  const AdiBounds bounds{{0.01, 4}, {0.002, 3}};
  for (AdiType type : {pr, dr}) {
    const auto real   = adi_shifts(type, bounds, 5);
    const auto shifts = adi_shifts<Complex>(type, bounds, 5);
    for (std::size_t j = 0; j < 5; j++) {
      for (std::size_t k = 0; k < 2; k++) EXPECT_EQ(shifts[j][k], Complex(real[j][k]));
    }
    EXPECT_EQ(adi_cycle_length<Complex>(bounds, type), adi_cycle_length(bounds, type));
    EXPECT_NEAR(adi_reduction(type, bounds, shifts), adi_reduction(type, bounds, real), 0.02 * adi_reduction(type, bounds, real));
  }
}

TEST(AdiComplexShifts, GainByAnOffset)
{
  double before = 1;
  for (double offset : {0.0, 0.01, 0.1, 1.0}) {
    const AdiBounds bounds{region(1e-3, 4, 0, offset), region(2e-3, 3, 0, -0.2 * offset)};
    const double now = adi_reduction(pr, bounds, adi_shifts<Complex>(pr, bounds, 4));
    EXPECT_LT(now, before * (offset > 0 ? 0.99 : 1)) << offset;
    before = now;
  }
}

TEST(AdiComplexShifts, OfPartsThatAreMovedAreMovedWithThem)
{
  const Complex by(0.3, -0.2);
  const AdiBounds level(2, region(0.1, 4, 0.2, 0.1));
  AdiBounds moved = level;
  for (std::size_t k : {std::size_t(0), std::size_t(1)}) {
    const Complex mine = k == 0 ? by : -by;
    moved[k].low += mine.real(), moved[k].high += mine.real(), moved[k].offset += mine.imag();
  }
  const Shifts shifts = adi_shifts<Complex>(pr, level, 3), others = adi_shifts<Complex>(pr, moved, 3);
  EXPECT_NEAR(adi_reduction(pr, level, shifts), adi_reduction(pr, moved, others), 0.02 * adi_reduction(pr, level, shifts));
}

TEST(AdiComplexShifts, RefuseRegionsAroundZero)
{
  for (const SpectralInterval &part : {region(-0.1, 4, 0, 0), region(-0.1, 4, 1, 0.1), region(-1, 1, 0.9, 0.5, true)}) {
    EXPECT_FALSE(adi_apart_from_zero({part, part}));
    EXPECT_THROW(adi_shifts<Complex>(pr, {part, part}, 2), std::invalid_argument);
  }
  for (const SpectralInterval &part : regions) EXPECT_TRUE(adi_apart_from_zero({part, part}));
  // One part's line may pass between another's offset and zero.
  EXPECT_TRUE(adi_apart_from_zero({region(-3, 3, 0, 1), region(-1, 1, 0, -0.5)}));
  EXPECT_FALSE(adi_apart_from_zero({region(-3, 3, 0, 1), region(-1, 1, 0, -1)}));
}

TEST(AdiComplexShifts, OfTheSymmetricFormHaveItsCondition)
{
  std::mt19937 random(2);
  for (double offset : {0.0, 0.05, 1.0}) {
    const AdiBounds bounds(2, region(0.01, 4, 0, offset));
    const auto sum   = adi_sum<Complex>(bounds, 4);
    const auto steps = adi_sum_steps(sum.shifts);
    double least = 1e300, largest = 0;
    for (int n = 0; n < 20000; n++) {
      const Complex x = edge_point(bounds[0], random), y = edge_point(bounds[1], random);
      Complex value = 0;
      for (std::size_t j = 0; j < sum.shifts.size(); j++) {
        const Complex p = sum.shifts[j][0], product = (p + x) * (p + y);
        value += 2 * steps[j] * std::pow(p, 3) * (x + y) / (product * product);
      }
      least   = std::min(least, std::abs(value) * sum.scale);
      largest = std::max(largest, std::abs(value) * sum.scale);
    }
    EXPECT_NEAR(largest / least, sum.condition, 0.1 * sum.condition) << offset;
    EXPECT_LT(sum.condition, 10) << offset;
    EXPECT_NEAR(least + largest, 2, 0.1) << offset;
  }
}
