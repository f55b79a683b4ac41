/// From a CSR matrix to the stencil's diagonals, and what is looked at on a level: symmetry, signs, strengths.
#pragma once
#include <limits>
#include <type_traits>

#include "boxmg/choose.hpp"
#include "boxmg/operator.hpp"
#include "boxmg/sums.hpp"
#include "line/line_solver.hpp"

namespace weft::boxmg {

inline constexpr Index no_node = std::numeric_limits<Index>::max();

/// The number of the neighbour that node `to` is of node `from`, or -1. In a ring of two nodes the other one is the next.
KOKKOS_INLINE_FUNCTION int neighbour_number(const Grid &grid, const Index (&from)[3], Index to)
{
  Index at[3];
  grid.position(to, at);
  Offset o;
  for (int d = 0; d < 3; d++) {
    Index by = at[d] - from[d];
    if (grid.periodic[d] && grid.n[d] > 2) {
      if (by == grid.n[d] - 1) by = -1;
      if (by == 1 - grid.n[d]) by = 1;
    }
    if (by < -1 || by > 1) return -1;
    o.d[d] = static_cast<int>(by);
  }
  return o.number();
}

/// What a matrix has.
struct MatrixLook {
  unsigned neighbours = 0;       ///< by number
  Index stranger      = no_node; ///< the first row that couples to a node that is no neighbour of its own
  Index not_finite    = no_node; ///< the first row with such an entry
};

template <class Space, class Value, class Int>
MatrixLook look_at(const Space &space, const Grid &grid, const CsrMatrix<Value, Int> &matrix)
{
  MatrixLook look;
  Kokkos::parallel_reduce(
      "weft boxmg look", range(space, grid.nodes()),
      KOKKOS_LAMBDA(const Index node, unsigned &mask, Index &stranger, Index &not_finite) {
        Index at[3];
        grid.position(node, at);
        for (Int k = matrix.begin(node); k < matrix.end(node); k++) {
          if (!finite(matrix.values[k])) not_finite = Kokkos::min(not_finite, node);
          if (matrix.values[k] == 0) continue;
          const int number = neighbour_number(grid, at, matrix.column(k));
          if (number < 0)
            stranger = Kokkos::min(stranger, node);
          else
            mask |= 1u << number;
        }
      },
      Kokkos::BOr<unsigned>(look.neighbours), Kokkos::Min<Index>(look.stranger), Kokkos::Min<Index>(look.not_finite));
  return look;
}

/// Fills a level's coefficients from a matrix. missing: in the memory of the space, how many entries the stencil lacks or are not finite, of which
/// look_at() says more. Does not wait.
template <class Space, class Value, class Int>
void fill(const Space &space, const Operator<Value> &a, const CsrMatrix<Value, Int> &matrix, Value *values,
          const Result<Index, Space> &missing)
{
  Kokkos::deep_copy(space, missing, Index(0));
  Kokkos::parallel_for(
      "weft boxmg read", range(space, a.grid.nodes()), KOKKOS_LAMBDA(const Index node) {
        Index at[3];
        a.grid.position(node, at);
        bool inside = true; // where a distance tells the neighbour
        for (int d = 0; d < 3; d++) inside = inside && (a.grid.n[d] == 1 || (at[d] > 0 && at[d] + 1 < a.grid.n[d]));
        for (int k = 0; k < a.stencil.count; k++) values[k * a.pitch + node] = 0;
        int next = 0; // columns mostly come in the stencil's order
        for (Int entry = matrix.begin(node); entry < matrix.end(node); entry++) {
          const Value value = matrix.values[entry];
          if (value == 0) continue;
          const Index column = matrix.column(entry);
          int slot           = -1;
          for (int tried = 0; inside && slot < 0 && tried < a.stencil.count; tried++) {
            if (a.distances[next] == column - node) slot = next;
            next = next + 1 == a.stencil.count ? 0 : next + 1;
          }
          if (!inside) {
            const int number = neighbour_number(a.grid, at, column);
            slot             = number < 0 ? -1 : a.stencil.slot[number];
          }
          if (slot < 0 || !finite(value))
            Kokkos::atomic_add(missing.data(), Index(1)); // seldom
          else
            values[slot * a.pitch + node] += value;
        }
      });
}

/// What is chosen from, on a level.
struct LevelLook {
  Index zero_diagonal = no_node; ///< the first one
  Index wrong_sign    = no_node; ///< the first diagonal of the other sign than `sign`
  Strengths strengths;
  bool symmetric = true; ///< but for rounding, and what differs:
  Flow flow;
  bool mirrors = true;                                         ///< symmetric to the last bit
  double least = std::numeric_limits<double>::max(), most = 0; ///< diagonals, by magnitude
  bool dominant = true; ///< each diagonal is at least the sum of the magnitudes beside it, but for rounding

  KOKKOS_INLINE_FUNCTION void join(const LevelLook &other)
  {
    zero_diagonal = Kokkos::min(zero_diagonal, other.zero_diagonal);
    wrong_sign    = Kokkos::min(wrong_sign, other.wrong_sign);
    for (int d = 0; d < 3; d++) strengths.along[d] += other.strengths.along[d];
    for (int s = 0; s < 2; s++) strengths.not_strong[s] |= other.strengths.not_strong[s];
    strengths.unlike |= other.strengths.unlike;
    for (int set = 0; set < 8; set++) strengths.across[set] += other.strengths.across[set];
    for (int d = 0; d < 3; d++) strengths.outdone[d] += other.strengths.outdone[d];
    strengths.steps |= other.strengths.steps;
    strengths.jumps |= other.strengths.jumps;
    strengths.corners |= other.strengths.corners;
    symmetric = symmetric && other.symmetric;
    flow.join(other.flow);
    mirrors  = mirrors && other.mirrors;
    least    = Kokkos::min(least, other.least);
    most     = Kokkos::max(most, other.most);
    dominant = dominant && other.dominant;
  }
};

/// Diagonals do not differ much, on the finest level.
inline bool is_mild(const LevelLook &finest)
{
  return finest.most <= 1e5 * finest.least;
}

/// Symmetric to so many units of rounding.
template <class Scalar>
inline constexpr RealOf<Scalar> symmetry_tolerance = 100 * std::numeric_limits<RealOf<Scalar>>::epsilon();

/// How many neighbours a stencil has. points: as many, known when this is compiled, so that loops over them are unrolled; 0: any number.
template <int points>
KOKKOS_INLINE_FUNCTION constexpr int count_of(const Stencil &stencil)
{
  return points > 0 ? points : stencil.count;
}

/// Compares a node's couplings with those back: false where one differs by more than rounding; and adds how much they do. mirrors becomes false where one
/// differs at all. The loads of some are on their way together.
template <int points, class Scalar>
KOKKOS_INLINE_FUNCTION bool symmetric_row(const Operator<Scalar> &a, Index node, const Index (&at)[3], Flow &flow, bool &mirrors)
{
  constexpr int together = points == 7 ? 7 : 5;
  const int count        = count_of<points>(a.stencil);
  bool symmetric = true, couples = false;
  const auto diagonal = modulus(a.entry(count / 2, node));
  for (int first = 0; first < count; first += together) {
    Scalar c[together], back[together];
    RealOf<Scalar> beside[together];
    for (int m = 0; m < together; m++) {
      const int k           = first + m;
      const Index neighbour = k < count && k != count / 2 ? a.neighbour(k, node, at) : -1;
      c[m]                  = neighbour < 0 ? Scalar(0) : a.entry(k, node);
      back[m]               = neighbour < 0 ? Scalar(0) : a.entry(count - 1 - k, neighbour);
      beside[m]             = neighbour < 0 ? RealOf<Scalar>(0) : modulus(a.entry(count / 2, neighbour));
    }
    for (int m = 0; m < together; m++) {
      couples = couples || c[m] != Scalar(0);
      mirrors = mirrors && c[m] == back[m];
      if (modulus(c[m] - back[m]) <= symmetry_tolerance<Scalar> * Kokkos::max(Kokkos::min(diagonal, beside[m]), modulus(c[m]))) continue;
      symmetric         = false;
      const double part = diagonal > 0 ? static_cast<double>(real_part(c[m] - back[m])) / (2 * static_cast<double>(diagonal)) : 0;
      flow.share += modulus(part);
      const Offset &o = a.stencil.offset[first + m < count ? first + m : 0];
      for (int d = 0; d < 3; d++) flow.through[d] += o.d[d] * part;
    }
  }
  flow.nodes += couples;
  return symmetric;
}

/// Directions along which the couplings of a node to both sides differ, as in Strengths.
struct Differ {
  Directions steps = 0, jumps = 0;
};

/// Sums of the couplings of a node along each direction, whatever the steps along the others.
template <int points, class Scalar>
KOKKOS_INLINE_FUNCTION Differ strengths_of(const Operator<Scalar> &a, Index node, double (&along)[3])
{
  const int count           = count_of<points>(a.stencil);
  InDouble<Scalar> below[3] = {}, above[3] = {};
  for (int k = 0; k < count; k++) {
    const InDouble<Scalar> c = widened(a.entry(k, node));
    for (int d = 0; d < 3; d++) {
      const int o = a.stencil.offset[k].d[d];
      below[d] += o < 0 ? c : InDouble<Scalar>(0);
      above[d] += o > 0 ? c : InDouble<Scalar>(0);
    }
  }
  Differ differ;
  for (int d = 0; d < 3; d++) {
    const double one = modulus(below[d]), two = modulus(above[d]), less = Kokkos::min(one, two), more = Kokkos::max(one, two);
    along[d] = one + two;
    if (less > 0 && more > 8 * less) differ.steps |= 1u << d;
    if (less > 0 && more > 100 * less) differ.jumps |= 1u << d;
  }
  return differ;
}

/// A pass over the nodes of a level. A direction is strong at a node where it couples so many times as strongly as the others do (dominance()), or
/// where the others are next to nothing beside the diagonal. points: see count_of().
template <class Scalar, int points = 0>
struct LookAtLevel {
  using value_type = LevelLook;

  Operator<Scalar> a;
  double sign;          ///< of the diagonals, as on the finest level
  bool known_symmetric; ///< need not be looked at: convection is not either
  bool finest;          ///< the only one of which it is asked whether its diagonals dominate, and how large they are
  double strong_from[2] = {dominance(a.grid, false), dominance(a.grid, true)};

  KOKKOS_INLINE_FUNCTION void init(LevelLook &look) const { look = {}; }
  KOKKOS_INLINE_FUNCTION void join(LevelLook &look, const LevelLook &other) const { look.join(other); }
  KOKKOS_INLINE_FUNCTION void operator()(Index node, LevelLook &look) const
  {
    const InDouble<Scalar> d = widened(a.entry(count_of<points>(a.stencil) / 2, node));
    const double size        = modulus(d);
    if (finest) {
      const double others = beside(node);
      look.dominant       = look.dominant && others <= (1 + 1e-10) * size;
      look.least          = Kokkos::min(look.least, size);
      look.most           = Kokkos::max(look.most, size);
      if (known_symmetric) look.flow.nodes += others > 0;
    }
    if (known_symmetric) {
      look.mirrors = false; // who knows
    } else {
      Index at[3] = {};
      if (!a.ends) a.grid.position(node, at); // else distances tell the neighbours
      look.symmetric = symmetric_row<points>(a, node, at, look.flow, look.mirrors) && look.symmetric;
    }
    if (!(is_complex<Scalar> || real_part(d) * sign >= 0)) look.wrong_sign = Kokkos::min(look.wrong_sign, node);
    if (size == 0) {
      look.zero_diagonal = Kokkos::min(look.zero_diagonal, node);
      return;
    }
    double along[3];
    const Differ differ = strengths_of<points>(a, node, along);
    look.strengths.steps |= differ.steps;
    look.strengths.jumps |= differ.jumps;
    look.strengths.corners |= (differ.jumps & (differ.jumps - 1)) != 0;
    for (int m = 0; m < 3; m++) {
      look.strengths.along[m] += along[m] / size; // whose inverse need not be a number
      const double one = along[(m + 1) % 3], two = along[(m + 2) % 3], other = Kokkos::max(one, two);
      if (!(other > 0.1 * size)) continue;
      for (const bool symmetric : {false, true}) {
        if (along[m] < strong_from[symmetric] * other) look.strengths.not_strong[symmetric] |= 1u << m;
      }
      if (Kokkos::min(one, two) < alike * other) look.strengths.unlike |= 1u << m;
      if (Kokkos::min(one, two) > outdone_by * along[m]) look.strengths.outdone[m]++;
    }
    const Directions set = across(along, size);
    for (Directions one = 0; one < 8; one++) look.strengths.across[one] += one == set; // a device's registers have no index
  }

private:
  /// The directions across which planes will do at a node: which are not stronger than the weakest of the others, or next to nothing beside what
  /// those that are stronger leave of the diagonal.
  KOKKOS_INLINE_FUNCTION static Directions across(const double (&along)[3], double size)
  {
    Directions set = 0;
    for (int m = 0; m < 3; m++) {
      const double one = along[(m + 1) % 3], two = along[(m + 2) % 3];
      const double left = size - (one > along[m] ? one : 0) - (two > along[m] ? two : 0);
      if (along[m] <= weakest_within * Kokkos::min(one, two) || along[m] <= 0.1 * left) set |= 1u << m;
    }
    return set;
  }
  KOKKOS_INLINE_FUNCTION double beside(Index node) const
  {
    const int count = count_of<points>(a.stencil);
    double sum      = 0;
    for (int k = 0; k < count; k++) {
      if (k != count / 2) sum += static_cast<double>(modulus(a.entry(k, node)));
    }
    return sum;
  }
};

/// Calls body(kernel) with the kernel of a level. On a device it knows the number of neighbours, where that is a frequent one.
template <class Space, class Scalar, class Body>
void with_points(const LookAtLevel<Scalar> &level, const Body &body)
{
  const auto known = [&]<int points>(std::integral_constant<int, points>) {
    body(LookAtLevel<Scalar, points>{level.a, level.sign, level.known_symmetric, level.finest});
  };
  if constexpr (!is_host_space<Space>) {
    if (level.a.stencil.count == 5) return known(std::integral_constant<int, 5>());
    if (level.a.stencil.count == 7) return known(std::integral_constant<int, 7>());
    if (level.a.stencil.count == 9) return known(std::integral_constant<int, 9>());
    if (level.a.stencil.count == 27) return known(std::integral_constant<int, 27>());
  }
  body(level);
}

/// look: in the memory of the space. room: see join_over(). Does not wait.
template <class Space, class Scalar>
void look_at(const Space &space, const LookAtLevel<Scalar> &level, OwnedArray<LevelLook, Space> &room, const Result<LevelLook, Space> &look)
{
  with_points<Space>(level, [&](const auto &kernel) { join_over("weft boxmg level", space, level.a.grid.nodes(), kernel, room, look); });
}

/// The sign of most of the diagonal; complex numbers have none, and 1 stands for it.
template <class Space, class Scalar>
double sign_of(const Space &space, const Operator<Scalar> &a)
{
  Index below = 0;
  Kokkos::parallel_reduce(
      "weft boxmg sign", range(space, a.grid.nodes()),
      KOKKOS_LAMBDA(const Index node, Index &count) { count += !is_complex<Scalar> && real_part(a.diagonal(node)) < 0; }, below);
  return 2 * below > a.grid.nodes() ? -1 : 1;
}

} // namespace weft::boxmg
