/// The residual of even lines where odd ones have none, restricted as it is made: for a device, where it would be written and read again by launches
/// of their own.
///
///   coarse = R r,   r = b - A x on even lines, 0 on odd ones; after a sweep from zero -A_eo x_o, as T_e x_e = b_e
///
/// Words moved per fine node, five points: 3 for the coefficients, 1.5 for x and b, 1 for the weights, and a quarter of that for the coarse node; after a
/// sweep from zero 1, 1 and 1.
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
    Scalar sum = 0;
    for (int by = -1; by <= 1; by++) {
      at[along] = r.from(along, place[along], by, &slot);
      if (at[along] < 0) continue;
      const Index node   = r.fine.node(at);
      const Scalar value = residual.at_node(node, at);
      sum += r.weight(slot, node) * value;
      if (by >= 0) squares += static_cast<double>(value) * static_cast<double>(value);
    }
    coarse[r.coarse.node(place)] = sum;
  }
};

/// b: null after a sweep from zero. squares: in the memory of the space, the sum of those of the residual; null: not made. Does not wait.
template <class Space, class Scalar>
void restrict_residual(const Space &space, const Operator<Scalar> &a, const TwoColours &colours, const Transfer<Scalar> &r, const Scalar *b,
                       const Scalar *x, Scalar *coarse, double *squares)
{
  const Neighbours taken = b ? all_neighbours(a.stencil) : colours.beside;
  const auto launch      = [&](auto together) {
    constexpr int some    = decltype(together)::value;
    const char *const say = "weft boxmg restricted residual";
    const RestrictResidual<Space, Scalar, some> body{{a, taken, b, x, nullptr, Transpose::no}, r, colours.along, colours.across, coarse};
    if (squares)
      sum_over_runs(say, space, Region::all(r.coarse), body, Result<double, Space>(squares));
    else
      over_runs(say, space, Region::all(r.coarse), body);
  };
  const int count = std::popcount(taken);
  if (count <= 2)
    launch(std::integral_constant<int, 2>());
  else if (count <= 5)
    launch(std::integral_constant<int, 5>());
  else
    launch(std::integral_constant<int, 6>());
}

} // namespace weft::boxmg
