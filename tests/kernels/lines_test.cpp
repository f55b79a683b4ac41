// Layouts: every row of every line has an element of its own, and the numbering visits each once.
#include <gtest/gtest.h>

#include <set>

#include "line/line_layout.hpp"

namespace {

using weft::Colour, weft::Index, weft::LineLayout;

TEST(Lines, BoxDirectionsCoverTheBoxOnce)
{
  const Index n[3] = {5, 4, 3}, first[3] = {0, 0, 0};
  for (Index components : {1, 2, 3}) {
    for (int direction : {0, 1, 2}) {
      const LineLayout layout = weft::lines_of_box(direction, n, components, first);
      EXPECT_EQ(layout.length, n[direction]);
      EXPECT_EQ(layout.rows(), 60 * components);
      EXPECT_EQ(layout.span(), 60 * components);
      std::set<Index> elements;
      for (Index number = 0; number < layout.rows(); number++) {
        const weft::LineRow at = weft::line_row(layout, number);
        ASSERT_LT(at.line, layout.count());
        ASSERT_LT(at.row, layout.length);
        elements.insert(layout.start(at.line) + at.row * layout.stride);
      }
      EXPECT_EQ(elements.size(), static_cast<std::size_t>(60 * components));
      EXPECT_EQ(*elements.rbegin(), 60 * components - 1);
    }
  }
}

TEST(Lines, ElementsOfALineFollowTheDirection)
{
  const Index n[3] = {5, 4, 3}, first[3] = {0, 0, 0};
  const LineLayout y = weft::lines_of_box(1, n, 2, first); // element of (c, i, j, k) is c + 2 (i + 5 (j + 4 k))
  // line (c = 1, i = 3, k = 2) is number 1 + 2 (3 + 5 * 2)
  EXPECT_EQ(y.start(27), 1 + 2 * (3 + 5 * (0 + 4 * 2)));
  EXPECT_EQ(y.stride, 2 * 5);
}

TEST(Lines, ColoursDependOnGlobalPlaceOnly)
{
  // The box [2, 5) x [1, 4) x [3, 6) of a larger grid: line (i, j) across direction z has the colour of (i + 2) + (j + 1).
  const Index n[3] = {3, 3, 3}, first[3] = {2, 1, 3};
  const LineLayout z = weft::lines_of_box(2, n, 1, first);
  for (Index line = 0; line < z.count(); line++) {
    EXPECT_EQ(static_cast<int>(z.colour(line)), (line % 3 + 2 + line / 3 + 1) % 2);
    EXPECT_TRUE(z.has_colour(line, Colour::all));
    EXPECT_NE(z.has_colour(line, Colour::even), z.has_colour(line, Colour::odd));
  }
}

TEST(Lines, EmptyLayoutsHaveNoRows)
{
  EXPECT_EQ(weft::one_line(0).rows(), 0);
  EXPECT_EQ(weft::one_line(0).span(), 0);
  const Index none[3] = {0, 4, 3}, first[3] = {0, 0, 0};
  for (int direction : {0, 1, 2}) EXPECT_EQ(weft::lines_of_box(direction, none, 1, first).span(), 0);
}

} // namespace
