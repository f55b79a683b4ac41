/// The residual of the even lines after a sweep over lines of two colours from zero, restricted as it is made: for a device, where it would be written
/// and read again by launches of their own.
///
///   coarse = R r,   r = -A_eo x_o on even lines (T_e x_e = b_e), 0 on odd ones
///
/// Words moved per fine node, five points: 1 for the couplings, 1 for x, 1 for the weights, and a quarter of that for the coarse node.
#pragma once
#include "boxmg/residual.hpp"
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// What a sweep leaves where it ends with lines of two colours: no residual on the odd ones. So a restriction needs that of the even lines only,
/// and a correction need not be added to the odd ones, with which the sweep after it begins.
struct TwoColours {
  int along, across; ///< the directions of the lines, and across them
  Neighbours beside; ///< those on other lines
  bool alone;        ///< a sweep relaxes nothing else: after one from zero even lines have b - T x = 0 but for the odd lines beside them
};

template <class Space, class Scalar, int together>
struct RestrictResidual {
  Subtract<Space, Scalar, together> residual; ///< of a node
  Transfer<Scalar> r;
  int along, across;
  Scalar *coarse;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    for (Index j = 0; j < run.count; j++) make({run.x + j, run.y, run.z});
  }

private:
  KOKKOS_INLINE_FUNCTION void make(const Index (&place)[3]) const
  {
    Index at[3] = {place[0], place[1], place[2]};
    int slot;
    at[across] = r.from(across, place[across], 0, &slot);
    Scalar sum = 0;
    for (int by = -1; by <= 1; by++) {
      at[along] = r.from(along, place[along], by, &slot);
      if (at[along] < 0) continue;
      const Index node = r.fine.node(at);
      sum += r.weight(slot, node) * residual.at_node(node, at);
    }
    coarse[r.coarse.node(place)] = sum;
  }
};

template <class Space, class Scalar>
void restrict_residual(const Space &space, const Operator<Scalar> &a, const TwoColours &colours, const Transfer<Scalar> &r, const Scalar *x,
                       Scalar *coarse)
{
  const auto launch = [&](auto together) {
    constexpr int some = decltype(together)::value;
    over_runs("weft boxmg restricted residual", space, Region::all(r.coarse),
              RestrictResidual<Space, Scalar, some>{
                  {a, colours.beside, nullptr, x, nullptr, Transpose::no}, r, colours.along, colours.across, coarse});
  };
  if (std::popcount(colours.beside) <= 2)
    launch(std::integral_constant<int, 2>());
  else
    launch(std::integral_constant<int, 6>());
}

} // namespace weft::boxmg
