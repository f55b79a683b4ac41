/// The ends of pieces in modes that hardly decay along them, by themselves, from the right-hand side.
///
/// Solved by recurrences a piece has an error of rounding of the size of its middle. At its ends, where it is as many times smaller as it has rows, that is many
/// digits, and what joins pieces divides by as small a number once more. By what an unknown beside the piece makes of it (Fringe: p, q) the ends are sums
///
///   y_first = - sum_i (w_i / w_first) p_i f_i / l_first,      y_last = - sum_i (w_i / w_last) q_i f_i / u_last
///
/// of numbers as small as they are, with l_first and u_last the couplings to those unknowns, and weights w that make the rows symmetric.
#pragma once
#include <algorithm>
#include <cmath>

#include "bcr/detect/direction_matrix.hpp"
#include "bcr/spread/fringe.hpp"

namespace weft::poisson {

/// The sum of a mode's right-hand side to an end.
template <class Space, class Scalar>
struct SumToEnd {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;

  const Index *list; ///< of the modes
  Index rows, modes;
  FringeNumbers<Scalar> fringe;
  const double *factors; ///< of the rows
  const Scalar *values;
  double *sums; ///< of the modes in the list

  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Index k = team.league_rank(), mode = list[k];
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, rows),
        [&](const Index i, double &part) {
          const Index row = fringe.at.from_last ? rows - 1 - i : i;
          part += factors[row] * static_cast<double>(fringe.number(mode, i)) * static_cast<double>(values[mode + row * modes]);
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { sums[k] = sum; });
  }
};

/// What an end of a mode is, where that is known.
struct KnownEnds {
  const int *place   = nullptr; ///< of each mode in `sums`; -1: it is not there; null: of none
  const double *sums = nullptr;

  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar end(Index mode, Scalar otherwise) const
  {
    return place && place[mode] >= 0 ? static_cast<Scalar>(sums[place[mode]]) : otherwise;
  }
};

/// Of one end: the first one (side 0), or the last one (side 1).
template <class Space, class Scalar>
class SlowEnds {
public:
  SlowEnds() = default;
  /// line: a piece; coupling: of that end to the unknown beside it. fringe: of that unknown, must live as long as this.
  SlowEnds(const Space &space, const LineMatrix &line, int side, double coupling, const Fringe<Space, Scalar> &fringe, Index modes)
      : space_(space), rows_(line.n), modes_(modes), fringe_(fringe.numbers())
  {
    std::vector<Index> list;
    std::vector<int> place(static_cast<std::size_t>(modes), -1);
    for (Index m = 0; m < modes; m++) {
      if (!fringe.is_whole(m)) continue;
      place[static_cast<std::size_t>(m)] = static_cast<int>(list.size());
      list.push_back(m);
    }
    std::vector<double> factors = weights_of(line);
    if (list.empty() || factors.empty()) return;
    const double end = side == 0 ? factors.front() : factors.back();
    for (double &w : factors) w *= -1 / (end * coupling);
    list_    = upload<Index, Space>("weft slow modes", list);
    place_   = upload<int, Space>("weft places of slow modes", place);
    factors_ = upload<double, Space>("weft factors of slow modes", factors);
    sums_    = OwnedArray<double, Space>("weft ends of slow modes", list.size());
  }

  std::size_t bytes() const { return (list_.size() + factors_.size() + sums_.size()) * sizeof(double) + place_.size() * sizeof(int); }

  /// values: the right-hand sides of all modes.
  void find(const Scalar *values) const
  {
    if (list_.size() == 0) return;
    const Kokkos::TeamPolicy<Space> policy(space_, static_cast<int>(list_.size()), is_host_space<Space> ? 1 : 256);
    Kokkos::parallel_for("weft poisson slow ends", policy,
                         SumToEnd<Space, Scalar>{list_.data(), rows_, modes_, fringe_, factors_.data(), values, sums_.data()});
  }
  KnownEnds found() const { return list_.size() > 0 ? KnownEnds{place_.data(), sums_.data()} : KnownEnds{}; }

private:
  /// Those that make rows symmetric, up to a factor; nothing where they differ much, as with convection, whose ends are not small.
  static std::vector<double> weights_of(const LineMatrix &line)
  {
    constexpr double most = 1e3;
    std::vector<double> weights{1};
    for (std::size_t i = 1; i < line.size(); i++) {
      weights.push_back(weights.back() * line.upper[i - 1] / line.lower[i]);
      if (!(weights.back() > 1 / most && weights.back() < most)) return {};
    }
    return weights;
  }

  Space space_;
  Index rows_ = 0, modes_ = 0;
  FringeNumbers<Scalar> fringe_ = {};
  OwnedArray<Index, Space> list_;
  OwnedArray<int, Space> place_;
  OwnedArray<double, Space> factors_, sums_;
};

} // namespace weft::poisson
