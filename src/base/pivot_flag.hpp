/// The flag through which a kernel says on the device "unusable pivot in line l, row r", and the host's reading of it.
#pragma once
#include <Kokkos_Core.hpp>
#include <limits>
#include <optional>

#include "base/real_of.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// True for a pivot that elimination can divide by. `scale` is the sum of the magnitudes in the row before elimination: a pivot
/// 100 * epsilon times smaller is rounding error only (PETSc's own measure for a zero pivot). NaN and infinity are unusable too, and so is what
/// is too small for its inverse to be a number.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool usable_pivot(Scalar pivot, RealOf<Scalar> scale)
{
  using Real          = RealOf<Scalar>;
  const Real smallest = 100 * std::numeric_limits<Real>::epsilon() * scale;
  const Real size     = modulus(pivot);
  const int above = size > smallest, inverts = size >= std::numeric_limits<Real>::min(),
            finite = size <= std::numeric_limits<Real>::max();
  return (above & inverts & finite) != 0; // false where the scale is not finite; no branch, so it vectorizes
}

/// Keeps the first unusable pivot that any thread reports: in the first line that has one, the earliest elimination step, the first row
/// (the rows that follow from it hold NaN).
template <class Memory>
class PivotFlag {
public:
  PivotFlag() = default;
  explicit PivotFlag(const LineLayout &layout) : length_(layout.length), first_("weft pivot flag") {}

  template <class Space>
  void clear(const Space &space) const
  {
    Kokkos::deep_copy(space, first_, none);
  }
  /// The same by one thread of a kernel before those that report.
  KOKKOS_INLINE_FUNCTION void clear() const { first_() = none; }
  KOKKOS_INLINE_FUNCTION void report(Index line, Index row, int step = 0) const
  {
    Kokkos::atomic_min(&first_(), (line * steps + step) * length_ + row);
  }

  /// Waits for the kernels before it and tells what they found. For set-up only: it brings one number to the host.
  template <class Space>
  std::optional<LineRow> read(const Space &space) const
  {
    Index first = none;
    Kokkos::deep_copy(space, Kokkos::View<Index, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&first), first_);
    space.fence("weft: read the pivot flag");
    if (first == none) return std::nullopt;
    return LineRow{first / length_ / steps, first % length_};
  }
  const Index *data() const { return first_.data(); }

private:
  static constexpr Index none  = no_bad_pivot;
  static constexpr Index steps = 256; ///< more than any elimination takes
  Index length_                = 1;
  Kokkos::View<Index, Memory> first_;
};

} // namespace weft
