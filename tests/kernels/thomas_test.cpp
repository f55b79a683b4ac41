// What is special to `thomas`, whose host form goes through packs of lines from both ends, and to `thomas-late`, which scales its rows.
#include <cmath>

#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// A box of nodes with `components` unknowns and lines along `direction`, the box starting at an odd node.
LineLayout box(int direction, Index length, Index a, Index b, Index components)
{
  Index n[3] = {a, a, b}, first[3] = {1, 0, 0};
  if (direction == 1) n[1] = length, n[2] = b;
  if (direction == 0) n[0] = length, n[1] = a;
  if (direction == 2) n[1] = b, n[2] = length;
  return lines_of_box(direction, n, components, first);
}

TEST(Thomas, PacksOfEverySizeAndColour)
{
  std::mt19937 random(21);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {1, 2, 3, 8, 15, 16, 17, 18, 33, 34, 35}) {
      for (const LineLayout &layout :
           {contiguous(length, 1), contiguous(length, 3), contiguous(length, 33, 2), contiguous(length, 70), strided(length, 1),
            strided(length, 17), strided(length, 64, 3), strided(length, 131), box(0, length, 3, 5, 1), box(1, length, 7, 3, 2),
            box(2, length, 1, 9, 3), box(2, length, 1, 1, 40)}) {
        const Lines<Scalar> lines(layout, random);
        for (Colour colour : {Colour::all, Colour::even, Colour::odd}) {
          for (const Update<Scalar> &update : {Update<Scalar>{1, false}, {static_cast<RealOf<Scalar>>(0.3), false}, {-1, true}})
            check(lines, "thomas", memory, {update, colour});
          check(lines, "thomas", memory, {{2}, colour}, Call::once);
        }
      }
    }
  });
}

TEST(Thomas, ReportsTheRowAtFaultWhereverItIs)
{
  std::mt19937 random(22);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {1, 2, 3, 20, 37}) {
      for (Index row = 0; row < length; row++) {
        Lines<Scalar> lines(strided(length, 21), random);
        for (Index line : {13, 17}) { // its neighbours couple to it, so that what it leaves is seen in all rows eliminated later
          const std::size_t i = lines.at(line, row);
          lines.diagonal[i]   = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();
          lines.lower[i] = lines.upper[i] = 0;
        }
        Solving<Scalar> s(lines, "thomas", memory);
        for (bool once : {false, true}) {
          const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
          if (once)
            s.solver.solve_once(rhs.data(), x.data());
          else
            s.solver.factor();
          const auto found = s.solver.bad_pivot();
          ASSERT_TRUE(found) << "length " << length << " row " << row << " once " << once;
          EXPECT_EQ(found->line, 13) << "length " << length << " row " << row << " once " << once;
          EXPECT_EQ(found->row, row) << "length " << length << " row " << row << " once " << once;
        }
      }
    }
  });
}

TEST(ThomasLate, NeitherOverflowsNorUnderflows)
{
  std::mt19937 random(23);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (const LineLayout &layout : {contiguous(4000, 2), strided(4000, 3)}) {
      Lines<Scalar> lines(layout, random);
      for (Index line = 0; line < layout.count(); line++) { // each row by a power of two of its own: the solution stays what it is
        for (Index row = 0; row < layout.length; row++) {
          const auto power = std::ldexp(RealOf<Scalar>(1), static_cast<int>(row * 37 % 101 - 50));
          for (auto *values : {&lines.lower, &lines.diagonal, &lines.upper, &lines.rhs}) (*values)[lines.at(line, row)] *= power;
        }
      }
      check(lines, "thomas-late", memory);
      check(lines, "thomas-late", memory, {{-1, true}, Colour::even});
      check(lines, "thomas-late", memory, {}, Call::once);
    }
  });
}

} // namespace
