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

/// The same for lines along x, on a grid that ends and is coarsened along x: a team makes the residuals of a piece of a line, and of the node before it, into
/// its scratch, neighbouring threads those of neighbouring nodes, and adds them up from there.
template <class Space, class Scalar, class Residual>
struct RestrictPieces {
  static constexpr int threads = 128, at_once = 2, room = threads * at_once; ///< nodes of a thread; of a piece, at most
  /// Teams of a multiprocessor, which limits registers. Scratch of complex numbers leaves room for four on small devices. Where warps have 64 threads, warps of
  /// a quarter of a multiprocessor are counted instead.
  static constexpr unsigned resident = is_complex<Scalar> || (warp_threads<Space>) > 32 ? 4 : 8;
  using Policy                       = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<threads, resident>>;

  Residual residual; ///< of a node
  Transfer<Scalar> r;
  int across;
  Scalar *coarse;
  Sum squares;
  Index pieces, all; ///< of a line; of the grid
  int width, teams;  ///< coarse nodes of a piece

  RestrictPieces(const Residual &of_node, const Transfer<Scalar> &to, int across_lines, Scalar *b, const Sum &sum)
      : residual(of_node), r(to), across(across_lines), coarse(b), squares(sum)
  {
    constexpr Index most = (room - 1) / 2;
    pieces               = (r.coarse.n[0] + most - 1) / most;
    width                = static_cast<int>((r.coarse.n[0] + pieces - 1) / pieces);
    all                  = pieces * r.coarse.n[1] * r.coarse.n[2];
    teams                = static_cast<int>(squares ? std::min<Index>(all, Sum::most_teams) : all);
  }
  static bool takes(const Transfer<Scalar> &r, const TwoColours &colours)
  {
    return colours.along == 0 && r.bit[0] != 0 && !r.fine.periodic[0];
  }
  void launch(const char *say, const Space &space) const
  {
    if (all == 0) return;
    Policy policy(space, teams, threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(2 * room * sizeof(Scalar))));
    Kokkos::parallel_for(say, light(policy), *this);
  }
  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type &team) const
  {
    // What each node gives the coarse one at its place or before it, and the next one.
    Scalar *const before = static_cast<Scalar *>(team.team_shmem().get_shmem(2 * room * sizeof(Scalar))), *const next = before + room;
    double mine = 0;
    for (Index piece = team.league_rank(); piece < all; piece += teams) {
      const Index row = quotient(piece, pieces, true), plane = quotient(row, r.coarse.n[1], true), first = (piece - row * pieces) * width;
      const int count      = static_cast<int>(Kokkos::min<Index>(width, r.coarse.n[0] - first));
      const Index place[3] = {first, row - plane * r.coarse.n[1], plane};
      make(team.team_rank(), count, place, before, next, mine);
      team.team_barrier();
      Scalar *const to = coarse + r.coarse.node(place);
      for (int k = team.team_rank(); k < count; k += threads) to[k] = next[2 * k] + before[2 * k + 1] + before[2 * k + 2];
      if (piece + teams < all) team.team_barrier();
    }
    if (squares) add_up(team, teams, mine, squares);
  }

private:
  /// Of the node before those of the piece, and of these. All loads are on their way together.
  KOKKOS_INLINE_FUNCTION void make(int thread, int count, const Index (&place)[3], Scalar *before, Scalar *next, double &mine) const
  {
    int none;
    const Index y = across == 1 ? r.from(1, place[1], 0, &none) : place[1], z = across == 2 ? r.from(2, place[2], 0, &none) : place[2];
    Scalar value[at_once], weight[at_once], weight_of_next[at_once];
    bool there[at_once];
    for (int m = 0; m < at_once; m++) {
      const int k       = thread + m * threads;
      const Index i     = 2 * place[0] - 1 + k;
      there[m]          = k <= 2 * count && i >= 0 && i < r.fine.n[0];
      const Index at[3] = {there[m] ? i : 2 * place[0], y, z}, node = r.fine.node(at);
      value[m]          = residual.at_node(node, at);
      weight[m]         = r.weight(0, node);
      weight_of_next[m] = at[0] % 2 != 0 ? r.weight(r.bit[0], node) : Scalar(0);
    }
    for (int m = 0; m < at_once; m++) {
      const int k = thread + m * threads;
      before[k]   = there[m] ? weight[m] * value[m] : Scalar(0);
      next[k]     = there[m] ? weight_of_next[m] * value[m] : Scalar(0);
      if (there[m] && k > 0) mine += square_of(widened(value[m]));
    }
  }
};

/// neighbours, of_b: what is left of A and of b. mirrors: couplings do, to the last bit. squares: where the sum of those of the residual goes, if it is
/// wanted. Does not wait.
template <class Space, class Scalar>
void restrict_residual(const Space &space, const Operator<Scalar> &a, const TwoColours &colours, const Transfer<Scalar> &r,
                       Neighbours neighbours, bool mirrors, RealOf<Scalar> of_b, const Scalar *b, const Scalar *x, Scalar *coarse,
                       const Sum &squares)
{
  const auto launch = [&](const auto &residual) {
    using Residual        = std::decay_t<decltype(residual)>;
    const char *const say = "weft boxmg restricted residual";
    if constexpr (!is_host_space<Space>) {
      using Pieces = RestrictPieces<Space, Scalar, Residual>;
      if (Pieces::takes(r, colours)) return Pieces(residual, r, colours.across, coarse, squares).launch(say, space);
    }
    const RestrictResidual<Scalar, Residual> body{residual, r, colours.along, colours.across, coarse};
    if (squares)
      sum_over_runs(say, space, Region::all(r.coarse), body, squares);
    else
      over_runs(say, space, Region::all(r.coarse), body);
  };
  by_neighbours<Space>(a, neighbours, of_b != 0 ? b : nullptr, x, launch, mirrors, of_b);
}

} // namespace weft::boxmg
