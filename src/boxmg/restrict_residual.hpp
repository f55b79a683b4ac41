/// The residual of even lines where odd ones have none, restricted as it is made: for a device, where it would be written and read again by launches
/// of their own.
///
///   coarse = R r,   r = b - A x on even lines, 0 on odd ones; after a sweep from zero (1 - omega) b_e - A_eo x_o, as T_e x_e = omega b_e
///
/// Words moved per fine node, five points: 3 for the coefficients, 1.5 for x and b, 1 for the weights, and a quarter of that for the coarse node; after a
/// sweep from zero 1, 1 and 1, where omega is 1.
#pragma once
#include "boxmg/residual.hpp"
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// What a sweep leaves where it ends with lines of two colours: no residual on the odd ones. So a restriction needs that of the even lines only,
/// and a correction need not be added to the odd ones, with which the sweep after it begins.
struct TwoColours {
  int along, across; ///< the directions of the lines, and across them
  Neighbours beside; ///< those on other lines
  /// A sweep relaxes nothing else: after one from zero even lines have b - T x = (1 - omega) b but for the odd lines beside them.
  bool alone;
};

template <class Scalar, class Residual>
struct RestrictResidual {
  Residual residual; ///< of a node
  Transfer<Scalar> r;
  int along, across;
  Scalar *coarse;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    double squares = 0;
    (*this)(run, squares);
  }
  /// squares: those of the residual are added, of each node by the coarse one at its place or before it.
  KOKKOS_INLINE_FUNCTION void operator()(const Run &run, double &squares) const
  {
    for (Index j = 0; j < run.count; j++) make({run.x + j, run.y, run.z}, squares);
  }

private:
  KOKKOS_INLINE_FUNCTION void make(const Index (&place)[3], double &squares) const
  {
    Index at[3] = {place[0], place[1], place[2]};
    int slot;
    at[across] = r.from(across, place[across], 0, &slot);
    // Where there is no node the middle one stands in its place, so that the loads of all three are on their way together.
    Scalar value[3], weight[3], sum = 0;
    for (int by = -1; by <= 1; by++) {
      const Index from = r.from(along, place[along], by, &slot);
      at[along]        = from < 0 ? r.from(along, place[along], 0, &slot) : from;
      const Index node = r.fine.node(at);
      value[by + 1]    = residual.at_node(node, at);
      if (from < 0) value[by + 1] = 0;
      weight[by + 1] = r.weight(slot, node);
    }
    for (int k = 0; k < 3; k++) {
      sum += weight[k] * value[k];
      if (k > 0) squares += square_of(widened(value[k]));
    }
    coarse[r.coarse.node(place)] = sum;
  }
};

/// neighbours, of_b: what is left of A and of b. squares: where the sum of those of the residual goes, if it is wanted. Does not wait.
template <class Space, class Scalar>
void restrict_residual(const Space &space, const Operator<Scalar> &a, const TwoColours &colours, const Transfer<Scalar> &r,
                       Neighbours neighbours, RealOf<Scalar> of_b, const Scalar *b, const Scalar *x, Scalar *coarse, const Sum &squares)
{
  const auto launch = [&](const auto &residual) {
    const char *const say = "weft boxmg restricted residual";
    const RestrictResidual<Scalar, std::decay_t<decltype(residual)>> body{residual, r, colours.along, colours.across, coarse};
    if (squares)
      sum_over_runs(say, space, Region::all(r.coarse), body, squares);
    else
      over_runs(say, space, Region::all(r.coarse), body);
  };
  by_neighbours<Space>(a, neighbours, of_b != 0 ? b : nullptr, x, launch, false, of_b);
}

} // namespace weft::boxmg
