#include "boxmg/interpolation.hpp"

#include <limits>
#include <utility>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "boxmg/touching.hpp"

namespace weft::boxmg {

/// What is known of a neighbour by its number among 27, where nodes lie between coarse ones along the directions s. Along directions in which it is a
/// step away it lies on a coarse node, the next one or the one before; along the others of s it lies between the same two.
template <Directions s>
struct Between {
  KOKKOS_INLINE_FUNCTION static constexpr int step(int number, int direction)
  {
    return (direction == 0 ? number : direction == 1 ? number / 3 : number / 9) % 3 - 1;
  }
  /// Its place in the stencil summed over the directions that are not in s.
  KOKKOS_INLINE_FUNCTION static constexpr int collapsed(int number)
  {
    return 13 + (has(s, 0) ? step(number, 0) : 0) + (has(s, 1) ? 3 * step(number, 1) : 0) + (has(s, 2) ? 9 * step(number, 2) : 0);
  }
  /// Steps along s only, and is not the node itself.
  KOKKOS_INLINE_FUNCTION static constexpr bool beside(int number) { return number != 13 && collapsed(number) == number; }
  /// The directions in which it is the next coarse node, and those in which it lies between coarse ones itself.
  KOKKOS_INLINE_FUNCTION static constexpr Directions next(int number) { return those(number, 1); }
  KOKKOS_INLINE_FUNCTION static constexpr Directions free(int number) { return s & those(number, 0); }
  KOKKOS_INLINE_FUNCTION static constexpr int directions() { return has(s, 0) + has(s, 1) + has(s, 2); }
  KOKKOS_INLINE_FUNCTION static constexpr int steps(int number)
  {
    return (step(number, 0) != 0) + (step(number, 1) != 0) + (step(number, 2) != 0);
  }

private:
  KOKKOS_INLINE_FUNCTION static constexpr Directions those(int number, int wanted)
  {
    Directions set = 0;
    for (int d = 0; d < 3; d++) set |= step(number, d) == wanted ? 1u << d : 0u;
    return set;
  }
};

/// Weights of the nodes that lie between coarse ones along the directions s. What depends on a neighbour's number is known when this is compiled,
/// so that coefficients and weights stay in registers, and nothing branches before the last of them is on its way. Here weight k of a node belongs
/// to the directions in the set k. star: the operator couples along one direction at a time. whole: the part is.
template <class Scalar, Directions s, bool star, bool whole>
struct Weights {
  Operator<Scalar> a;
  Part part;
  Transfer<Scalar> p;
  bool from_operator, convected;
  const unsigned char *followers; ///< of each node the directions along which weights are linear all the same; null: none
  Scalar *weights;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    for (Index j = 0; j < run.count; j++) {
      const Index at[3] = {run.x + j * run.step, run.y, run.z};
      make(a.grid.node(at), at);
    }
  }

private:
  using Geometry = Between<s>;
  using Numbers  = std::make_integer_sequence<int, 27>;

  KOKKOS_INLINE_FUNCTION void make(Index node, const Index (&at)[3]) const
  {
    Scalar w[8] = {};
    if (from_operator && !(followers && (s & ~followers[node]) == 0))
      solve(node, at, w, Numbers());
    else
      for (int set = 0; set < 8; set++) w[set] = Scalar(1) / (1 << Geometry::directions());
    for (Directions set = 0; set < 8; set++) { // the others stay 0
      if ((set & ~s) == 0) weights[slot_of(set) * p.pitch + node] = there(set, at) ? w[set] : Scalar(0);
    }
  }
  KOKKOS_INLINE_FUNCTION int slot_of(Directions set) const
  {
    return (has(set, 0) ? p.bit[0] : 0) + (has(set, 1) ? p.bit[1] : 0) + (has(set, 2) ? p.bit[2] : 0);
  }
  /// True if the coarse node of the slot exists; a node on coarse ones along a direction has no next along it.
  KOKKOS_INLINE_FUNCTION bool there(Directions set, const Index (&at)[3]) const
  {
    for (int d = 0; d < 3; d++) {
      if (p.on_grid(d, at[d], slot_of(set)) < 0) return false;
    }
    return true;
  }
  template <int... numbers>
  KOKKOS_INLINE_FUNCTION void solve(Index node, const Index (&at)[3], Scalar (&w)[8], std::integer_sequence<int, numbers...> all) const
  {
    Scalar entry[27] = {}, passed[27][4] = {};
    (read<numbers>(node, at, entry[numbers], passed[numbers]), ...);
    Scalar row[27]      = {}; // the stencil, summed over all directions but those of s: 13 the node itself
    RealOf<Scalar> size = 0;  // of what is summed
    const Scalar turn   = towards(RealOf<Scalar>(1), conjugate(entry[13]));
    (collapse<numbers>(entry[numbers], turn, row, size), ...);
    (even_out<numbers>(row, size), ...);
    const Scalar c = denominator(row, turn, all);
    if (!(modulus(c) > 0)) return;
    (share<numbers>(row[numbers] / c, passed[numbers], w), ...);
  }
  /// The coefficient of a neighbour, and what it has to pass on where it lies between fewer coarse nodes: its weights by the subsets of free(number).
  template <int number>
  KOKKOS_INLINE_FUNCTION void read(Index node, const Index (&at)[3], Scalar &entry, Scalar (&passed)[4]) const
  {
    constexpr bool beside = Geometry::beside(number);
    if constexpr (!star || Geometry::steps(number) <= 1) {
      const int k       = a.stencil.slot[number];
      Index there[3]    = {at[0], at[1], at[2]};
      const bool inside = (whole && !beside) || a.grid.move(there, offset_of(number));
      const Index other = inside ? a.grid.node(there) : node;
      if constexpr (whole) {
        entry = k >= 0 ? a.entry(k, node) : Scalar(0);
      } else {
        entry = k >= 0 && inside ? entry_of(a, part, k, node, other) : Scalar(0);
      }
      if constexpr (beside && Geometry::free(number) == 0) {
        passed[0] = inside ? 1 : 0; // it lies on a coarse node
      } else if constexpr (beside) {
        int subset = 0;
        for (Directions set = 0; set < 8; set++) {
          if ((set & ~Geometry::free(number)) == 0) passed[subset++] = inside ? p.weight(slot_of(set), other) : Scalar(0);
        }
      }
    }
  }
  template <int number>
  KOKKOS_INLINE_FUNCTION void collapse(Scalar entry, Scalar turn, Scalar (&row)[27], RealOf<Scalar> &size) const
  {
    const bool own = Geometry::collapsed(number) == 13 || (convected && real_part(turn * entry) > 0);
    row[13] += own ? entry : Scalar(0); // places that the compiler knows stay in registers
    if constexpr (Geometry::collapsed(number) != 13) row[Geometry::collapsed(number)] += own ? Scalar(0) : entry;
    size += modulus(entry);
  }
  /// Opposite neighbours that differ by rounding are made equal. Sums across strong couplings cancel, and what rounding leaves of them grows by the ratio
  /// of the couplings from level to level, where the weights of the next node are free of it: at the ends of a ring of 1025 nodes with K = (1e3, 1) from
  /// 1e-16 to all of the weight.
  template <int number>
  KOKKOS_INLINE_FUNCTION static void even_out(Scalar (&row)[27], RealOf<Scalar> size)
  {
    if constexpr (number < 13 && Geometry::beside(number)) {
      constexpr auto rounding = 100 * std::numeric_limits<RealOf<Scalar>>::epsilon();
      if (modulus(row[number] - row[26 - number]) <= rounding * size) row[number] = row[26 - number] = (row[number] + row[26 - number]) / 2;
    }
  }
  /// What a neighbour between fewer coarse nodes passes on.
  template <int number>
  KOKKOS_INLINE_FUNCTION static void share(Scalar share, const Scalar (&passed)[4], Scalar (&w)[8])
  {
    if constexpr (Geometry::beside(number)) {
      int subset = 0;
      for (Directions set = 0; set < 8; set++) {
        if ((set & ~Geometry::free(number)) == 0) w[set | Geometry::next(number)] -= share * passed[subset++];
      }
    }
  }
  /// What the neighbours' coefficients are divided by; turn: what makes the diagonal positive, its sign where it is real, as a sum over columns of random sizes may have the other one. Where
  /// the diagonal exceeds their sum by little (a row sum of zero and rounding, or the zeroth-order term of a fine grid) that sum, so that
  /// constants are interpolated as they are, as they are too where the centre is not of that sign; else the diagonal, as beside a boundary whose
  /// rows are eliminated, where one side has no neighbour. "Little" is the share of the weaker side, as in Dendy's 1982 paper.
  template <int... numbers>
  KOKKOS_INLINE_FUNCTION Scalar denominator(const Scalar (&row)[27], Scalar turn, std::integer_sequence<int, numbers...>) const
  {
    using Real        = RealOf<Scalar>;
    const Real centre = real_part(turn * row[13]);
    Scalar sum        = 0;
    Real weaker = centre, sides[3][2] = {};
    (add<numbers>(row[numbers], sum, sides), ...);
    for (int d = 0; d < 3; d++) {
      if (has(s, d)) weaker = Kokkos::min(weaker, Kokkos::min(sides[d][0], sides[d][1]));
    }
    const Real turned = real_part(turn * sum);
    const bool little = turned > 0 && centre < turned + (centre > 0 ? weaker / centre : Real(0)) * turned;
    return little || !(centre > 0) ? sum : row[13];
  }
  template <int number>
  KOKKOS_INLINE_FUNCTION static void add(Scalar coefficient, Scalar &sum, RealOf<Scalar> (&sides)[3][2])
  {
    if constexpr (Geometry::beside(number)) {
      sum -= coefficient;
      for (int d = 0; d < 3; d++) {
        if (Geometry::step(number, d) != 0) sides[d][Geometry::step(number, d) > 0] += modulus(coefficient);
      }
    }
  }
};

template <class Space, class Scalar>
void make_weights(const Space &space, const Operator<Scalar> &a, Part part, const Transfer<Scalar> &p, bool from_operator, bool convected,
                  Scalar *weights, const unsigned char *followers, bool corners)
{
  const auto launch = [&]<Directions s, bool star, bool whole>(std::bool_constant<star>, std::bool_constant<whole>) {
    over_runs("weft boxmg weights", space, between(p, s),
              Weights<Scalar, s, star, whole>{a, part, p, from_operator, convected, followers, weights});
  };
  const std::true_type yes;
  const std::false_type no;
  const bool star = is_star(a.stencil), whole = part == Part::whole;
  const auto of = [&]<Directions s>(std::integral_constant<Directions, s>) {
    if ((s & ~p.coarsened) != 0) return;
    if (star)
      whole ? launch.template operator()<s>(yes, yes) : launch.template operator()<s>(yes, no);
    else
      whole ? launch.template operator()<s>(no, yes) : launch.template operator()<s>(no, no);
  };
  const auto all = [&]<Directions... s>(std::integer_sequence<Directions, s...>)
  {
    (of(std::integral_constant<Directions, s>()), ...);
  };
  all(std::integer_sequence<Directions, 1, 2, 4>());
  if (corners && p.coarsened == 3) weigh_corners(space, a, p, weights);
  all(std::integer_sequence<Directions, 3, 5, 6, 7>());
}

template void make_weights(const HostBackend &, const Operator<KernelScalar> &, Part, const Transfer<KernelScalar> &, bool, bool,
                           KernelScalar *, const unsigned char *, bool);
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
template void make_weights(const DeviceBackend &, const Operator<KernelScalar> &, Part, const Transfer<KernelScalar> &, bool, bool,
                           KernelScalar *, const unsigned char *, bool);
#endif

} // namespace weft::boxmg
