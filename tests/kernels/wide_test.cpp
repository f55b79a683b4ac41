// What is special to `wide`: lengths around the ends of its chunks, warps, blocks and tiles, and its own parameters.
#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

TEST(Wide, LengthsAroundItsTiles)
{
  std::mt19937 random(21);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index full : {256, 288, 512, 576, 1024, 1152, 2048, 2304, 4096, 4320, 4608, 6912, 9216, 11520, 73728, 294912}) {
      for (Index length : {full - 3, full - 2, full - 1, full, full + 1, full + 2, full + 3}) {
        const Lines<Scalar> lines(contiguous(length, full < 20000 ? 5 : 2), random);
        check(lines, "wide", memory);
        check(lines, "wide", memory, {{0.5, true}, Colour::odd});
        check(lines, "wide", memory, {}, Call::once);
        check(lines, "wide", memory, {}, Call::in_place);
      }
    }
  });
}

TEST(Wide, LinesSideBySideAroundItsTiles)
{
  std::mt19937 random(24);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {129, 255, 256, 257, 288, 289, 513, 1024, 2049, 4095, 4096, 4097, 4608, 4609, 9000, 40000}) {
      std::vector<LineLayout> layouts = {strided(length, 37), strided(length, 48, 3)};
      if (length < 5000) {
        layouts.push_back(strided(length, 1, 1));
        layouts.push_back(strided(length, 16));
        LineLayout planes       = strided(length, 18); // of a box, whose planes end in a bundle that is not full
        planes.across[1]        = 3;
        planes.across_stride[1] = planes.stride * length + 5;
        layouts.push_back(planes);
      } else { // two passes over planes
        LineLayout planes       = strided(length, 9);
        planes.across[1]        = 2;
        planes.across_stride[1] = planes.stride * length + 5;
        layouts.push_back(planes);
      }
      for (const LineLayout &layout : layouts) {
        const Lines<Scalar> lines(layout, random);
        check(lines, "wide", memory);
        check(lines, "wide", memory, {{0.5, true}, Colour::odd});
        check(lines, "wide", memory, {{2}, Colour::even}, Call::once);
        check(lines, "wide", memory, {}, Call::in_place);
        if (length < 1000) check(lines, "wide", memory, {{1}, Colour::all, Transpose::yes});
      }
    }
  });
}

// Several bundles of lines one after the other, so that what a turn leaves is finished in the next one.
TEST(Wide, ManyLinesSideBySideThatManyBlocksShare)
{
  std::mt19937 random(26);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    if (memory == Memory::host) return;
    for (Index length : {4609, 9000, 16500}) {
      for (Index count : {150, 161}) { // rows at multiples of 16 bytes, and not
        const Lines<Scalar> lines(strided(length, count), random);
        check(lines, "wide", memory);
        check(lines, "wide", memory, {{2}, Colour::even}, Call::once);
      }
    }
  });
}

// The native form eliminates their coefficients once and then takes several lines.
TEST(Wide, LinesWithTheSameCoefficients)
{
  std::mt19937 random(25);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {129, 256, 288, 289, 1153, 4097, 4320, 4321, 40000}) {
      const Index count = memory == Memory::host ? 3 : length < 300 ? 2500 : length < 1000 ? 700 : length < 5000 ? 301 : 17;
      for (const LineLayout &layout :
           {contiguous(length, count), contiguous(length, 5, 1), strided(length, count, 1), strided(length, 48)}) {
        LineProblem problem(layout);
        problem.coefficients = Coefficients::shared;
        const Lines<Scalar> shared(problem, random);
        check(shared, "wide", memory);
        check(shared, "wide", memory, {{0.5, true}, Colour::odd});
        check(shared, "wide", memory, {{2}, Colour::even}, Call::once);
        check(shared, "wide", memory, {}, Call::in_place);
        check(shared, "wide", memory, {{1}, Colour::all, Transpose::yes});
        problem.coefficients = Coefficients::constant;
        problem.closure      = 2;
        check(Lines<Scalar>(problem, random), "wide", memory);
      }
    }
    for (Index row : {0, 100, 3000, 4999}) {
      for (const LineLayout &layout : {contiguous(5000, 3), strided(5000, 20)}) {
        LineProblem problem(layout);
        problem.coefficients = Coefficients::shared;
        Lines<Scalar> lines(problem, random);
        const auto i      = static_cast<std::size_t>(row);
        lines.diagonal[i] = lines.lower[i] = lines.upper[i] = 0;
        Solving<Scalar> s(lines, "wide", memory);
        const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
        s.solver.solve_once(rhs.data(), x.data());
        const auto found = s.solver.bad_pivot();
        ASSERT_TRUE(found) << row;
        EXPECT_EQ(found->line, 0) << row;
        EXPECT_EQ(found->row, row);
      }
    }
  });
}

// The native form adds up what tells of small pivots, half of what makes one unusable raises a doubt, and then looks at each of them.
TEST(Wide, TellsSmallPivotsFromUnusableOnes)
{
  std::mt19937 random(26);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar            = decltype(scalar);
    const auto pivot_of_row = [&](const LineLayout &layout, bool shared, Index row, Scalar pivot) {
      LineProblem problem(layout);
      if (shared) problem.coefficients = Coefficients::shared;
      Lines<Scalar> lines(problem, random);
      const auto i = lines.at(1, row), b = lines.at(1, row - 1);
      lines.lower[b] = lines.upper[i] = 0;
      lines.diagonal[b] = lines.lower[i] = lines.diagonal[i] = 1;
      lines.upper[b]                                         = 1 - pivot; // the scale of the row is 2
      Solving<Scalar> s(lines, "wide", memory);
      const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
      s.solver.solve_once(rhs.data(), x.data());
      return s.solver.bad_pivot();
    };
    const auto epsilon = std::numeric_limits<RealOf<Scalar>>::epsilon();
    for (Index row : {1, 7, 8, 9, 10, 18, 255, 256, 287, 288, 289, 1024, 2303, 2304, 4319, 4320, 4321, 4999}) {
      std::vector layouts = {contiguous(row < 200 ? 200 : row < 4320 ? 4320 : 5000, 3), strided(row < 200 ? 200 : 5000, 20)};
      if (row < 2048) layouts.push_back(contiguous(2048, 3));
      for (const LineLayout &layout : layouts) {
        for (bool shared : {false, true}) {
          if (!sampled()) continue;
          const auto bad = pivot_of_row(layout, shared, row, 30 * epsilon);
          ASSERT_TRUE(bad) << row;
          EXPECT_EQ(bad->line, shared ? 0 : 1) << row;
          EXPECT_FALSE(pivot_of_row(layout, shared, row, 250 * epsilon)) << row;
        }
      }
    }
  });
}

TEST(Wide, LinesOfMoreTilesThanBlocksCanShare)
{
  std::mt19937 random(22);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {400000, 1000003}) {
      LineProblem problem(contiguous(length, 2, 5));
      for (bool periodic : {false, true}) {
        problem.periodic = periodic;
        const Lines<Scalar> lines(problem, random);
        check(lines, "wide", memory);
        check(lines, "wide", memory, {{2}, Colour::even}, Call::once);
        check(lines, "wide", memory, {{1}, Colour::all, Transpose::yes});
      }
    }
  });
}

TEST(Wide, EveryNumberOfRowsAndThreads)
{
  std::mt19937 random(23);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (int slice : {4, 8, 16}) {
      for (int partitions : {1, 2, 32, 96, 128}) {
        MethodParameters parameters;
        parameters.slice      = slice;
        parameters.partitions = partitions;
        for (const LineLayout &layout : {contiguous(1000, 3), strided(1000, 5), contiguous(37, 11)}) {
          for (const LineProblem &problem : forms_of(layout))
            check(Lines<Scalar>(problem, random), "wide", memory, {}, Call::solve, parameters);
        }
      }
    }
  });
  MethodParameters wrong;
  wrong.slice = 5;
  EXPECT_TRUE(tridiagonal_method_refuses("wide", LineProblem(one_line(10)), wrong));
  wrong            = {};
  wrong.partitions = -1;
  EXPECT_TRUE(tridiagonal_method_refuses("wide", LineProblem(one_line(10)), wrong));
}

} // namespace
