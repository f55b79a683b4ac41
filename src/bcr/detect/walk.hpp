/// A walk over the nodes of a box: for each direction sums over each of its slabs, and sums and largest values over the box.
#pragma once
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "base/backend.hpp"
#include "bcr/detect/star.hpp"
#include "line/host_copies.hpp"

namespace weft {

/// What a walk finds. An index of a direction of the box has its slab.
template <int Slabs, int Sums, int Maxima>
struct Walked {
  std::vector<std::array<double, Slabs>> slabs[3];
  std::array<double, Sums> sums{};
  std::array<double, Maxima> most{};
};

/// A body has `slabs`, `sums` and `maxima`, the numbers of its values, and body(at, slab, sum, most), which adds to those of the node's slabs and
/// of the box, and takes the largest; all begin as 0. Slabs of directions that nobody asks for stay 0.
template <class Body>
using WalkedBy = Walked<Body::slabs, Body::sums, Body::maxima>;

namespace walk {

/// Room for n values, at least one.
constexpr int room(int n)
{
  return n > 0 ? n : 1;
}

template <class Body>
inline constexpr int totals = Body::sums + Body::maxima;

template <class Body>
KOKKOS_INLINE_FUNCTION double join(int n, double a, double b)
{
  return n < Body::sums ? a + b : Kokkos::max(a, b);
}

/// Threads of a host walk through memory. Each has values of its own: `slab` of all slabs of all directions one after the other, and `total`.
template <class Body>
struct HostPiece {
  Body body;
  Box box;

  void operator()(Index begin, Index end, double *slab, double *total) const
  {
    constexpr int n = room(Body::slabs);
    const Index nx = box.size(0), ny = box.size(1);
    double *const along_y = slab + n * nx, *const along_z = along_y + n * ny;
    Index at[3]                   = {box.lo[0] + begin % nx, box.lo[1] + begin / nx % ny, box.lo[2] + begin / nx / ny};
    double sums[room(Body::sums)] = {}, most[room(Body::maxima)] = {};
    for (Index k = begin; k < end;) {
      const Index stop = k + std::min(end - k, box.hi[0] - at[0]);
      double line[n]   = {};
      for (; k < stop; k++, at[0]++) {
        double here[n] = {};
        body(at, here, sums, most);
        if constexpr (Body::slabs > 0) {
          double *const of_x = slab + n * (at[0] - box.lo[0]);
          for (int v = 0; v < n; v++) of_x[v] += here[v], line[v] += here[v];
        }
      }
      if constexpr (Body::slabs > 0) {
        for (int v = 0; v < n; v++) along_y[n * (at[1] - box.lo[1]) + v] += line[v], along_z[n * (at[2] - box.lo[2]) + v] += line[v];
      }
      at[0] = box.lo[0];
      if (++at[1] == box.hi[1]) at[1] = box.lo[1], at[2]++;
    }
    std::copy_n(sums, Body::sums, total);
    std::copy_n(most, Body::maxima, total + Body::sums);
  }
};

/// Threads of a device share a slab of direction d and walk side by side; value v of thread t is partial(v, t).
template <class Space, class Body>
struct DevicePiece {
  using Partial = Kokkos::View<double **, Kokkos::LayoutRight, typename Space::memory_space>;
  Body body;
  Box box;
  int d;
  Index pieces; ///< of a slab
  bool slabs;   ///< or the totals
  Partial partial;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index slab = number / pieces, piece = number - slab * pieces;
    const int a = across(d, 0), b = across(d, 1);
    const Index width = box.size(a), area = width * box.size(b);
    double here[room(Body::slabs)] = {}, sums[room(Body::sums)] = {}, most[room(Body::maxima)] = {};
    Index at[3];
    at[d] = box.lo[d] + slab;
    for (Index k = piece; k < area; k += pieces) {
      at[a] = box.lo[a] + k % width;
      at[b] = box.lo[b] + k / width;
      body(at, here, sums, most);
    }
    if (slabs) {
      for (int v = 0; v < Body::slabs; v++) partial(v, number) = here[v];
    } else {
      for (int v = 0; v < Body::sums; v++) partial(v, number) = sums[v];
      for (int v = 0; v < Body::maxima; v++) partial(Body::sums + v, number) = most[v];
    }
  }
};

/// result(v) joins the values of all threads, or result(slab * values + v) those of a slab's; a team each.
template <class Space, class Body>
struct JoinPieces {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  typename DevicePiece<Space, Body>::Partial partial;
  Index pieces;
  int values;
  bool slabs;
  double *result;

  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Index league = team.league_rank(), slab = league / values;
    const int v = static_cast<int>(league - slab * values);
    double all  = 0;
    if (slabs || v < Body::sums)
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, pieces), [&](const Index p, double &sum) { sum += partial(v, slab * pieces + p); }, all);
    else
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, pieces),
          [&](const Index p, double &most) { most = Kokkos::max(most, partial(v, slab * pieces + p)); }, Kokkos::Max<double>(all));
    Kokkos::single(Kokkos::PerTeam(team), [&] { result[league] = all; });
  }
};

} // namespace walk

/// The directions of whose slabs a walk has the sums.
struct Asked {
  bool direction[3] = {true, true, true};
};

/// Walks over a box, always in the same order. Waits once.
template <class Space, class Body>
class Walk {
public:
  static WalkedBy<Body> over(const Space &space, const Box &box, const Body &body, const Asked &asked = {})
  {
    WalkedBy<Body> found;
    if constexpr (Body::slabs > 0) {
      for (int d = 0; d < 3; d++) found.slabs[d].assign(static_cast<std::size_t>(box.size(d)), {});
    }
    if (box.size(0) * box.size(1) * box.size(2) == 0) return found;
    if constexpr (is_host_space<Space>)
      on_host(space, box, body, found);
    else
      on_device(space, box, body, asked, found);
    if constexpr (Body::slabs > 0) {
      for (int d = 0; d < 3; d++) {
        if (!asked.direction[d]) std::fill(found.slabs[d].begin(), found.slabs[d].end(), std::array<double, Body::slabs>{});
      }
    }
    return found;
  }

private:
  static constexpr int slabs = Body::slabs, totals = walk::totals<Body>;

  static void on_host(const Space &space, const Box &box, const Body &body, WalkedBy<Body> &found)
  {
    const Index lines = box.size(0) + box.size(1) + box.size(2), all = box.size(0) * box.size(1) * box.size(2);
    const Index threads = space.concurrency(), own = walk::room(slabs) * lines + totals, room = (own + 15) / 8 * 8;
    std::vector<double> values(static_cast<std::size_t>(threads * room), 0.0);
    double *const first = values.data();
    const walk::HostPiece<Body> piece{body, box};
    Kokkos::parallel_for("weft walk over rows", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, threads),
                         [=](const Index t) {
                           double *const mine = first + t * room;
                           piece(t * all / threads, (t + 1) * all / threads, mine, mine + walk::room(slabs) * lines);
                         });
    space.fence("weft walk over rows");
    for (Index t = 0; t < threads; t++) join(first + t * room, box, found);
  }

  static void on_device(const Space &space, const Box &box, const Body &body, const Asked &asked, WalkedBy<Body> &found)
  {
    const Index lines  = box.size(0) + box.size(1) + box.size(2);
    const auto results = table<double, Space>("weft walk over rows", walk::room(slabs) * lines + totals);
    Index start        = 0;
    std::vector<Partial> partial; // freed after the wait
    for (int d = 0; d < 3; d++) {
      if (slabs > 0 && asked.direction[d]) partial.push_back(launch(space, box, body, d, true, results.data() + start));
      start += walk::room(slabs) * box.size(d);
    }
    if (totals > 0) partial.push_back(launch(space, box, body, 2, false, results.data() + start));
    const auto values = to_host(space, results);
    join(values.data(), box, found);
  }

  using Partial = typename walk::DevicePiece<Space, Body>::Partial;

  static Partial launch(const Space &space, const Box &box, const Body &body, int d, bool of_slabs, double *result)
  {
    const Index area = box.size(across(d, 0)) * box.size(across(d, 1)), slabs_along = box.size(d);
    const Index pieces = std::clamp<Index>(65536 / slabs_along, 1, std::max<Index>(1, area / 32)), threads = pieces * slabs_along;
    const int values = of_slabs ? slabs : totals;
    const Partial partial(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft walk over rows"), static_cast<std::size_t>(values),
                          static_cast<std::size_t>(threads));
    Kokkos::parallel_for("weft walk over rows", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, threads),
                         walk::DevicePiece<Space, Body>{body, box, d, pieces, of_slabs, partial});
    const int teams = static_cast<int>(of_slabs ? slabs_along * values : values);
    Kokkos::parallel_for("weft join of walks", Kokkos::TeamPolicy<Space>(space, teams, of_slabs ? warp_threads<Space> : 256),
                         walk::JoinPieces<Space, Body>{partial, of_slabs ? pieces : threads, values, of_slabs, result});
    return partial;
  }

  static void join(const double *values, const Box &box, WalkedBy<Body> &found)
  {
    for (int d = 0; d < 3; d++) {
      for (Index i = 0; i < box.size(d); i++) {
        if constexpr (slabs > 0) {
          for (int v = 0; v < slabs; v++) found.slabs[d][static_cast<std::size_t>(i)][static_cast<std::size_t>(v)] += values[v];
        }
        values += walk::room(slabs);
      }
    }
    for (int v = 0; v < Body::sums; v++) found.sums[static_cast<std::size_t>(v)] += values[v];
    for (int v = 0; v < Body::maxima; v++)
      found.most[static_cast<std::size_t>(v)] = std::max(found.most[static_cast<std::size_t>(v)], values[Body::sums + v]);
  }
};

} // namespace weft
