#include "boxmg/coarse_row.hpp"

#include <type_traits>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"

namespace weft::boxmg {

namespace {

template <Directions halved, Directions coupled, bool star, bool half, class Space, class Scalar>
void launch(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p, const Stencil &stencil,
            Scalar *values, Index pitch)
{
  // Threads of a device share a row of 27 coefficients: on an H200 at 65^3 99 us for 137.
  constexpr bool shared      = !is_host_space<Space> && !star && half && coupled == 7;
  constexpr Directions split = !shared ? 0 : halved == 7 ? 6 : 4;
  using Kernel               = CoarseRow<Scalar, halved, coupled, star, half, split>;
  using Policy               = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, Kokkos::LaunchBounds<128, 2>>; // up to 255 registers
  Kokkos::parallel_for("weft boxmg galerkin", light(Policy(space, 0, Kernel::Geometry::shares * p.coarse.nodes())),
                       Kernel(Roles(p.coarsened), a, r, p, stencil, values, pitch));
}

} // namespace

template <class Space, class Scalar>
bool galerkin_by_rows(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p,
                      const Stencil &stencil, Scalar *values, Index pitch, bool mirrors)
{
  Directions directions = 0;
  int box = 1, cross = 1;
  for (int d = 0; d < 3; d++) {
    if (a.grid.n[d] == 1 || a.grid.apart[d]) continue;
    directions |= 1u << d;
    box *= 3;
    cross += 2;
  }
  const bool star = is_star(a.stencil);
  if (!a.ends || a.stencil.count != (star ? cross : box) || stencil.count != box) return false;
  const Roles roles(p.coarsened);
  const auto serves = [&]<Directions halved, Directions coupled>(std::integral_constant<Directions, halved>,
                                                                 std::integral_constant<Directions, coupled>) {
    if (halved != roles.of(p.coarsened) || coupled != roles.of(directions)) return false;
    constexpr bool half = !is_host_space<Space>; // on hosts coarse operators of one rank are those of several to the last bit
    if (star)
      mirrors ? launch<halved, coupled, true, half>(space, a, r, p, stencil, values, pitch)
              : launch<halved, coupled, true, false>(space, a, r, p, stencil, values, pitch);
    else
      mirrors ? launch<halved, coupled, false, half>(space, a, r, p, stencil, values, pitch)
              : launch<halved, coupled, false, false>(space, a, r, p, stencil, values, pitch);
    return true;
  };
  constexpr std::integral_constant<Directions, 3> two;
  constexpr std::integral_constant<Directions, 6> others;
  constexpr std::integral_constant<Directions, 7> all;
  return serves(two, two) || serves(all, all) || serves(two, all) || serves(others, all);
}

template bool galerkin_by_rows(const HostBackend &, const Operator<KernelScalar> &, const Transfer<KernelScalar> &,
                               const Transfer<KernelScalar> &, const Stencil &, KernelScalar *, Index, bool);
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
template bool galerkin_by_rows(const DeviceBackend &, const Operator<KernelScalar> &, const Transfer<KernelScalar> &,
                               const Transfer<KernelScalar> &, const Stencil &, KernelScalar *, Index, bool);
#endif

} // namespace weft::boxmg
