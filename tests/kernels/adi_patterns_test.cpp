// Patterns of lines against a serial count of different chunks, and their factors against rows that they were made of.
#include <array>
#include <map>

#include "adi/line_patterns.hpp"
#include "base/backend.hpp"
#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// Rows of a few kinds, in runs.
template <class Scalar>
struct Rows {
  std::vector<Scalar> lower, share, upper;
  std::vector<std::uint8_t> fixed;

  Rows(Index count, int kinds, std::mt19937 &random)
  {
    int kind = 0;
    for (Index i = 0; i < count; i++) {
      if (random() % 20 == 0) kind = static_cast<int>(random() % static_cast<unsigned>(kinds));
      const auto value = static_cast<Scalar>(1 + kind);
      fixed.push_back(kind == 1);
      lower.push_back(kind == 1 ? Scalar(0) : -value);
      upper.push_back(kind == 1 ? Scalar(0) : -value / 2);
      share.push_back(kind == 1 ? Scalar(3) : 2 * value);
    }
  }
};

template <class Scalar>
struct Expected {
  static constexpr int R = pattern_rows<Scalar>;
  const LineLayout &layout;
  const Rows<Scalar> &rows;

  /// lower, share, upper and whether the row is fixed (1) or not there (2).
  std::array<Scalar, 4> row(Index line, Index r) const
  {
    if (r >= layout.length) return {0, 1, 0, 2};
    const auto i = static_cast<std::size_t>(layout.start(line) + r * layout.stride);
    return {r > 0 ? rows.lower[i] : Scalar(0), rows.share[i], r + 1 < layout.length ? rows.upper[i] : Scalar(0),
            static_cast<Scalar>(rows.fixed[i])};
  }
  std::vector<std::array<Scalar, 4>> chunk(Index line, Index number) const
  {
    std::vector<std::array<Scalar, 4>> all;
    for (int j = 0; j < R; j++) all.push_back(row(line, number * R + j));
    return all;
  }
};

template <class View>
auto on_host(const View &view)
{
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

template <class Scalar>
void check_patterns(const LineLayout &layout, int kinds, Memory memory, std::mt19937 &random)
{
  SCOPED_TRACE(testing::Message() << layout.count() << " lines of " << layout.length << ", stride " << layout.stride << ", kinds "
                                  << kinds);
  constexpr int R = pattern_rows<Scalar>;
  const Rows<Scalar> rows(layout.span(), kinds, random);
  const Expected<Scalar> expected{layout, rows};
  const Buffer<Scalar> lower(memory, rows.lower), share(memory, rows.share), upper(memory, rows.upper);
  const Buffer<std::uint8_t> fixed(memory, rows.fixed);
  const Execution execution(memory);
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    LinePatterns<Space, Scalar> patterns;
    ASSERT_TRUE(patterns.find(space, layout, lower.data(), share.data(), upper.data(), fixed.data()));
    const Scalar shift = Scalar(0.75);
    const Kokkos::View<int, typename Space::memory_space> unusable("unusable");
    const auto factors = patterns.factors(space, shift, unusable);
    execution.wait();
    EXPECT_EQ(on_host(unusable)(), 0);
    const LineLayout &chunks = patterns.chunks();
    ASSERT_EQ(chunks.length, (layout.length + R - 1) / R);
    const auto count      = static_cast<std::size_t>(patterns.count());
    const auto of_chunks  = on_host(Array<const std::int32_t, Space>(patterns.patterns(), static_cast<std::size_t>(chunks.rows())));
    const auto fixed_rows = on_host(Array<const std::uint32_t, Space>(patterns.fixed(), count));
    const auto table      = on_host(factors.rows);
    const auto heads      = on_host(factors.heads);

    std::map<std::vector<std::array<Scalar, 4>>, std::int32_t> seen;
    for (Index line = 0; line < layout.count(); line++) {
      for (Index c = 0; c < chunks.length; c++) {
        const auto chunk           = expected.chunk(line, c);
        const auto pattern         = of_chunks(chunks.start(line) + c * chunks.stride);
        const auto [first, is_new] = seen.emplace(chunk, pattern);
        ASSERT_EQ(first->second, pattern) << "line " << line << ", chunk " << c;
        if (!is_new) continue;
        // From any unknowns to right-hand sides and back.
        const auto x        = random_values<Scalar>(R + 2, random); // one before, one after
        const auto *const f = &table(pattern * R);
        Scalar value[R], h = 0;
        for (int j = 0; j < R; j++) {
          const auto [l, s, u, kind] = chunk[static_cast<std::size_t>(j)];
          const Scalar d = kind == 0 ? s + shift : s, *at = &x[static_cast<std::size_t>(j) + 1];
          // After the chunk's last row hangs on the next one.
          const Scalar g = l * at[-1] + d * at[0] + (j + 1 < R ? u * at[1] : Scalar(0));
          value[j]       = f[j].inverse * g - (j > 0 ? f[j].lower * value[j - 1] : Scalar(0));
          EXPECT_EQ(fixed_rows(pattern) >> j & 1, kind == 1 ? 1u : 0u);
        }
        const Scalar tolerance = 500 * std::numeric_limits<Scalar>::epsilon();
        EXPECT_NEAR(value[R - 1] - f[R - 1].before * x[0], x[R], tolerance);
        Scalar found = x[R];
        for (int j = R - 2; j >= 0; j--) {
          found = value[j] - f[j].before * x[0] - f[j].after * found;
          h     = value[j] - f[j].after * h;
          EXPECT_NEAR(found, x[static_cast<std::size_t>(j) + 1], tolerance) << "row " << j;
        }
        EXPECT_NEAR(h - heads(pattern).before * x[0] - heads(pattern).after * x[R], x[1], tolerance);
      }
    }
    EXPECT_EQ(seen.size(), count);
  });
}

TEST(AdiPatterns, AreFoundAndFactored)
{
  std::mt19937 random(3);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (const auto &[nx, ny] : {std::pair<Index, Index>{1, 1}, {5, 3}, {16, 2}, {33, 40}, {130, 17}, {64, 64}}) {
      const Index n[3] = {nx, ny, 1}, first[3] = {0, 0, 0};
      for (const int direction : {0, 1}) {
        for (const int kinds : {1, 2, 3}) check_patterns<Scalar>(lines_of_box(direction, n, 1, first), kinds, memory, random);
      }
    }
  });
}

TEST(AdiPatterns, TooManyAreRefused)
{
  std::mt19937 random(4);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar            = decltype(scalar);
    const LineLayout line   = one_line((most_patterns + 10) * pattern_rows<Scalar>);
    const auto rows         = static_cast<std::size_t>(line.length);
    const auto coefficients = random_values<Scalar>(rows, random);
    const Buffer<Scalar> values(memory, coefficients);
    const Buffer<std::uint8_t> fixed(memory, std::vector<std::uint8_t>(rows));
    const Execution execution(memory);
    on_backend(execution, [&](const auto &space) {
      LinePatterns<std::decay_t<decltype(space)>, Scalar> patterns;
      EXPECT_FALSE(patterns.find(space, line, values.data(), values.data(), values.data(), fixed.data()));
    });
  });
}

} // namespace
