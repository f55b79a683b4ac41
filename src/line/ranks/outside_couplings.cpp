#include "line/ranks/outside_couplings.hpp"

#include <Kokkos_Core.hpp>
#include <cmath>
#include <limits>

#include "base/backend.hpp"
#include "line/host_copies.hpp"

namespace weft {

namespace {

template <class Space, class Scalar>
class CouplingsIn final : public OutsideCouplings<Scalar> {
public:
  using Values  = Kokkos::View<Scalar *, typename Space::memory_space>;
  using Columns = Kokkos::View<std::int64_t *, typename Space::memory_space>;

  CouplingsIn(const Space &space, const LineLayout &layout, const std::vector<std::int64_t> &before, const std::vector<std::int64_t> &after,
              Index block)
      : space_(space), layout_(layout),
        block_(block), columns_{from_host(space, "weft columns outside", before), from_host(space, "weft columns outside", after)},
        values_{Values("weft before", before.size() * static_cast<std::size_t>(block)),
                Values("weft after", after.size() * static_cast<std::size_t>(block))}
  {
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &outside) override { read_csr(outside); }
  void read(const CsrMatrix<Scalar, std::int64_t> &outside) override { read_csr(outside); }

  const Scalar *before() const override { return values_[0].data(); }
  const Scalar *after() const override { return values_[1].data(); }
  std::optional<std::array<Scalar, 2>> shared() const override
  {
    std::array<Scalar, 2> all{};
    if (layout_.count() == 0) return std::nullopt;
    for (std::size_t side = 0; side < 2; side++) {
      const auto host     = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values_[side]);
      all[side]           = host(0);
      const auto rounding = 8 * std::numeric_limits<RealOf<Scalar>>::epsilon() * modulus(all[side]);
      for (std::size_t line = 0; line < host.extent(0); line++) {
        if (!finite(host(line))) return std::array<Scalar, 2>{NAN, NAN};
        if (!(modulus(host(line) - all[side]) <= rounding)) return std::nullopt;
      }
    }
    return all;
  }

  Index nonzeros() const override
  {
    Index all = 0;
    for (const Values &values : values_) {
      Index some = 0;
      Kokkos::parallel_reduce(
          "weft couplings outside that are not 0",
          Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, static_cast<Index>(values.extent(0))),
          KOKKOS_LAMBDA(const Index k, Index &count) { count += modulus(values(k)) > 0; }, some);
      all += some;
    }
    return all;
  }

  void clear(Scalar *values, Colour colour) const override
  {
    const LineLayout layout = layout_;
    const Columns before = columns_[0], after = columns_[1];
    Kokkos::parallel_for(
        "weft clear ends outside", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, layout.count()),
        KOKKOS_LAMBDA(const Index line) {
          if (!layout.has_colour(line, colour)) return;
          if (before(line) >= 0) values[before(line)] = 0;
          if (after(line) >= 0) values[after(line)] = 0;
        });
  }

  /// The entries of row `row` of each line in the columns of its block.
  template <class Int>
  void take(const CsrMatrix<Scalar, Int> &outside, const Columns &columns, Index row, const Values &values) const
  {
    const LineLayout layout = layout_;
    const Index block       = block_;
    if (layout.rows() == 0) return; // a rank without rows
    Kokkos::parallel_for(
        "weft couplings outside", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, layout.count()),
        KOKKOS_LAMBDA(const Index line) {
          const Index i = layout.start(line) + row * layout.stride, first = line - line % block;
          for (Index q = 0; q < block; q++) values(line * block + q) = 0;
          for (Int k = outside.begin(i); k < outside.end(i); k++) {
            for (Index q = 0; q < block; q++) {
              if (outside.column(k) == columns(first + q)) values(line * block + q) = outside.values[k];
            }
          }
        });
  }

private:
  template <class Int>
  void read_csr(const CsrMatrix<Scalar, Int> &outside) const
  {
    take(outside, columns_[0], 0, values_[0]);
    take(outside, columns_[1], layout_.length - 1, values_[1]);
  }

  Space space_;
  LineLayout layout_;
  Index block_;
  Columns columns_[2];
  Values values_[2];
};

} // namespace

template <class Scalar>
Owner<OutsideCouplings<Scalar>> OutsideCouplings<Scalar>::make(const Execution &execution, const LineLayout &layout,
                                                               const std::vector<std::int64_t> &before,
                                                               const std::vector<std::int64_t> &after, Index block)
{
  return on_backend(execution, [&](const auto &space) -> Owner<OutsideCouplings> {
    return make_owner<CouplingsIn<std::decay_t<decltype(space)>, Scalar>>(space, layout, before, after, block);
  });
}

template class OutsideCouplings<KernelScalar>;

} // namespace weft
