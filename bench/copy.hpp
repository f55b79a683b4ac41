/// What memory gives: the strongest copies there are, by which every time is measured, and a sum of four arrays, which moves the words of a
/// general one-shot solve.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/backend.hpp"
#include "problem.hpp"

namespace weft::bench {

/// What a thread moves at once: 16 bytes, the widest access that devices have.
struct alignas(16) Wide {
  double first, second;
};
inline constexpr int bytes_of_wide = sizeof(Wide);

/// Several Wide values a thread, all loaded before the first is stored. Neighbouring threads of a warp access neighbouring values.
template <class Space, int at_once>
struct WideKernels {
  using Values                 = OwnedArray<Wide, Space>;
  static constexpr Index warp  = 32;
  static constexpr Index block = warp * at_once; ///< values of a warp

  KOKKOS_INLINE_FUNCTION static Index first(Index thread) { return thread / warp * block + thread % warp; }

  static void copy(const Space &space, const Values &from, const Values &to)
  {
    Kokkos::parallel_for(
        "weft bench copy", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(from.extent(0)) / at_once),
        KOKKOS_LAMBDA(const Index thread) {
          const Index i = first(thread);
          Wide values[at_once];
          for (int k = 0; k < at_once; k++) values[k] = from(i + k * warp);
          for (int k = 0; k < at_once; k++) to(i + k * warp) = values[k];
        });
  }

  static void sum(const Space &space, const Values &a, const Values &b, const Values &c, const Values &d, const Values &to)
  {
    Kokkos::parallel_for(
        "weft bench sum", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(a.extent(0)) / at_once),
        KOKKOS_LAMBDA(const Index thread) {
          const Index i = first(thread);
          Wide values[4][at_once];
          for (int k = 0; k < at_once; k++) {
            values[0][k] = a(i + k * warp);
            values[1][k] = b(i + k * warp);
            values[2][k] = c(i + k * warp);
            values[3][k] = d(i + k * warp);
          }
          for (int k = 0; k < at_once; k++) {
            to(i + k * warp) = {(values[0][k].first + values[1][k].first) + (values[2][k].first + values[3][k].first),
                                (values[0][k].second + values[1][k].second) + (values[2][k].second + values[3][k].second)};
          }
        });
  }
};

/// The copy that the system offers.
template <class Space>
void copy_by_system(const Space &space, const OwnedArray<Wide, Space> &from, const OwnedArray<Wide, Space> &to)
{
  const Index threads = space.concurrency(), size = static_cast<Index>(from.extent(0));
  Kokkos::parallel_for("weft bench memcpy", Kokkos::RangePolicy<Space>(space, 0, threads), [=](const Index thread) {
    const Index begin = size * thread / threads, end = size * (thread + 1) / threads;
    std::memcpy(&to(begin), &from(begin), static_cast<std::size_t>(end - begin) * sizeof(Wide));
  });
}
#if defined(WEFT_HAVE_VENDOR)
inline void copy_by_system(const vendor::Space &space, const OwnedArray<Wide, vendor::Space> &from,
                           const OwnedArray<Wide, vendor::Space> &to)
{
  vendor::check(vendor::copy_on_device(to.data(), from.data(), from.extent(0) * sizeof(Wide), vendor::stream_of(space)), "a copy");
}
#endif

enum class Move { memcpy, one_at_once, four_at_once, eight_at_once, sum };

inline const char *name_of(Move move)
{
  switch (move) {
  case Move::memcpy:
    return "memcpy";
  case Move::one_at_once:
    return "kernel-1";
  case Move::four_at_once:
    return "kernel-4";
  case Move::eight_at_once:
    return "kernel-8";
  default:
    return "read-4-write-1";
  }
}
inline constexpr Move all_moves[] = {Move::memcpy, Move::one_at_once, Move::four_at_once, Move::eight_at_once, Move::sum};

/// Moves arrays that are, together, larger than the cache: eight times, or twice where measurements are to be quick.
template <class Space>
class MoveWork final : public Work {
public:
  /// Values of an array: a multiple of what a warp moves at once.
  static Index size(Move move, bool quick)
  {
    const Index least = std::is_same_v<Space, HostBackend> ? 0 : Index(1) << 30; // devices are slow to reach their full speed
    return std::max((quick ? 2 : 8) * cache_bytes<Space>() / words(move), least) / bytes_of_wide / 1024 * 1024;
  }
  /// Arrays that a move touches.
  static int words(Move move) { return move == Move::sum ? 5 : 2; }

  MoveWork(Move move, bool quick) : move_(move), from_(words(move) - 1), to_(make_array<Space, Wide>(size(move, quick)))
  {
    for (auto &array : from_) {
      array = make_array<Space, Wide>(size(move, quick));
      fill(space_, array, 1);
    }
    fill(space_, to_, 0);
  }
  int copies() const override { return 1; }
  void run(int) override
  {
    switch (move_) {
    case Move::memcpy:
      return copy_by_system(space_, from_[0], to_);
    case Move::one_at_once:
      return WideKernels<Space, 1>::copy(space_, from_[0], to_);
    case Move::four_at_once:
      return WideKernels<Space, 4>::copy(space_, from_[0], to_);
    case Move::eight_at_once:
      return WideKernels<Space, 8>::copy(space_, from_[0], to_);
    case Move::sum:
      return WideKernels<Space, 2>::sum(space_, from_[0], from_[1], from_[2], from_[3], to_);
    }
  }
  double error() override { return differences(space_, to_, move_ == Move::sum ? 4 : 1); }

  using Values = OwnedArray<Wide, Space>;
  static void fill(const Space &space, const Values &values, double factor)
  {
    Kokkos::parallel_for(
        "weft bench fill", Kokkos::RangePolicy<Space>(space, 0, values.extent(0)), KOKKOS_LAMBDA(const Index i) {
          const auto counter = 2 * static_cast<std::uint64_t>(i);
          values(i)          = {factor * random_value(counter), factor * random_value(counter + 1)};
        });
  }
  /// How many values are not `factor` times what fill gives.
  static double differences(const Space &space, const Values &values, double factor)
  {
    double count = 0;
    Kokkos::parallel_reduce(
        "weft bench compare", Kokkos::RangePolicy<Space>(space, 0, values.extent(0)),
        KOKKOS_LAMBDA(const Index i, double &sum) {
          const auto counter = 2 * static_cast<std::uint64_t>(i);
          const bool same    = values(i).first == factor * random_value(counter) && values(i).second == factor * random_value(counter + 1);
          sum += same ? 0 : 1;
        },
        count);
    return count;
  }

private:
  Move move_;
  Space space_;
  std::vector<Values> from_;
  Values to_;
};

} // namespace weft::bench
