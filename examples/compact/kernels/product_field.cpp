#include "kernels/product_field.hpp"

#include <limits>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"

namespace weft {

namespace {

/// The factors where the kernels run.
template <class Space>
struct FactorsOn {
  using Values = Kokkos::View<double *, typename Space::memory_space>;
  Values along[3];
  Index n[3];

  FactorsOn(const Space &space, const ProductFactors &factors)
  {
    for (std::size_t k = 0; k < 3; k++) {
      n[k]     = static_cast<Index>(factors[k].size());
      along[k] = Values(Kokkos::view_alloc(space, "weft factors of a field"), factors[k].size());
      Kokkos::deep_copy(
          space, along[k],
          Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(factors[k].data(), factors[k].size()));
    }
  }
  Index nodes() const { return n[0] * n[1] * n[2]; }
  /// Of node `number` along a direction.
  KOKKOS_INLINE_FUNCTION Index place(Index number, int direction) const
  {
    return direction == 0 ? number % n[0] : direction == 1 ? number / n[0] % n[1] : number / n[0] / n[1];
  }
  KOKKOS_INLINE_FUNCTION double product(Index number) const
  {
    return along[0](place(number, 0)) * along[1](place(number, 1)) * along[2](place(number, 2));
  }
};

/// What distances of two sets of nodes are together.
struct Joined : Distance {
  KOKKOS_INLINE_FUNCTION Joined &operator+=(const Joined &other)
  {
    most   = Kokkos::max(most, other.most);
    inside = Kokkos::max(inside, other.inside);
    squares += other.squares;
    return *this;
  }
};

} // namespace

} // namespace weft

template <>
struct Kokkos::reduction_identity<weft::Joined> {
  KOKKOS_FORCEINLINE_FUNCTION static weft::Joined sum() { return {}; }
};

namespace weft {

namespace {

template <class Space, class Scalar>
void fill_on(const Space &space, const FactorsOn<Space> &factors, Scalar *u)
{
  Kokkos::parallel_for(
      "weft fill with a product", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, factors.nodes()),
      KOKKOS_LAMBDA(const Index number) { u[number] = static_cast<Scalar>(factors.product(number)); });
  space.fence("weft: a field is filled");
}

template <class Space, class Scalar>
Distance distance_on(const Space &space, const FactorsOn<Space> &factors, int direction, Index begin, Index end, const Scalar *u)
{
  Joined all;
  Kokkos::parallel_reduce(
      "weft distance to a product", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, factors.nodes()),
      KOKKOS_LAMBDA(const Index number, Joined &sum) {
        const double error = modulus(widened(u[number]) - factors.product(number));
        const Index place  = factors.place(number, direction);
        Joined here;
        here.most    = error <= std::numeric_limits<double>::max() ? error : std::numeric_limits<double>::infinity(); // NaN would get lost
        here.squares = here.most * here.most;
        if (place >= begin && place < end) here.inside = here.most;
        sum += here;
      },
      Kokkos::Sum<Joined>(all));
  return all;
}

} // namespace

template <class Scalar>
void fill_product(const Execution &execution, const ProductFactors &factors, Scalar *u)
{
  on_backend(execution, [&](const auto &space) { fill_on(space, FactorsOn<std::decay_t<decltype(space)>>(space, factors), u); });
}

template <class Scalar>
Distance distance_to_product(const Execution &execution, const ProductFactors &factors, int direction, Index begin, Index end,
                             const Scalar *u)
{
  return on_backend(execution, [&](const auto &space) {
    return distance_on(space, FactorsOn<std::decay_t<decltype(space)>>(space, factors), direction, begin, end, u);
  });
}

template void fill_product(const Execution &, const ProductFactors &, KernelScalar *);
template void fill_product(const Execution &, const ProductFactors &, OtherScalar *);
template Distance distance_to_product(const Execution &, const ProductFactors &, int, Index, Index, const KernelScalar *);
template Distance distance_to_product(const Execution &, const ProductFactors &, int, Index, Index, const OtherScalar *);

} // namespace weft
