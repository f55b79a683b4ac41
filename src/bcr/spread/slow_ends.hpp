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
#include <limits>

#include "bcr/detect/direction_matrix.hpp"
#include "bcr/spread/fringe.hpp"

namespace weft::poisson {

/// The sums of a mode's right-hand side, for one of both ends each.
template <class Space, class Scalar>
struct SumToEnds {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;

  const Index *list; ///< of the modes
  Index count, rows, modes;
  FringeNumbers<Scalar> fringes[2];
  const double *factors; ///< [end][row]
  const Scalar *values;
  double *sums; ///< [end][mode of the list]

  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const bool last = team.league_rank() >= count;
    const Index k = team.league_rank() - (last ? count : 0), mode = list[k];
    const auto &from = fringes[last];
    double sum       = 0;
    if (from.numbers) {
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, from.depth(mode)),
          [&](const Index i, double &part) {
            const Index row = last ? rows - 1 - i : i;
            part += factors[(last ? rows : 0) + row] * static_cast<double>(from.number(mode, i)) *
                    static_cast<double>(values[mode + row * modes]);
          },
          sum);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() { sums[team.league_rank()] = sum; });
  }
};

/// What the ends of a mode are, where they are known.
struct KnownEnds {
  const int *place   = nullptr; ///< in the list, of each mode; -1: it is not there; null: of none
  const double *sums = nullptr;
  Index count        = 0;
  bool known[2]      = {false, false};

  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar end(int which, Index mode, Scalar otherwise) const
  {
    if (!place || place[mode] < 0 || !known[which]) return otherwise;
    return static_cast<Scalar>(sums[which * count + place[mode]]);
  }
};

template <class Space, class Scalar>
class SlowEnds {
public:
  SlowEnds() = default;
  /// line: a piece; before, after: its couplings to the unknowns beside it, 0 where nothing stands there. fringes: must live as long as this. Waits.
  SlowEnds(const Space &space, const LineMatrix &line, double before, double after, const Fringe<Space, Scalar> (&fringes)[2], Index modes)
      : space_(space), rows_(line.n), modes_(modes)
  {
    std::vector<Index> list;
    std::vector<int> place(static_cast<std::size_t>(modes), -1);
    for (Index m = 0; m < modes; m++) {
      if (!fringes[0].is_whole(m) && !fringes[1].is_whole(m)) continue;
      place[static_cast<std::size_t>(m)] = static_cast<int>(list.size());
      list.push_back(m);
    }
    const std::vector<double> weights = weights_of(line);
    if (list.empty() || weights.empty()) return;
    std::vector<double> factors;
    for (const double w : weights) factors.push_back(before != 0 ? -w / (weights.front() * before) : 0);
    for (const double w : weights) factors.push_back(after != 0 ? -w / (weights.back() * after) : 0);
    list_    = upload<Index, Space>("weft slow modes", list);
    place_   = upload<int, Space>("weft places of slow modes", place);
    factors_ = upload<double, Space>("weft factors of slow modes", factors);
    sums_    = OwnedArray<double, Space>("weft ends of slow modes", 2 * list.size());
    for (int k : {0, 1}) fringes_[k] = fringes[k].numbers();
    known_[0] = before != 0;
    known_[1] = after != 0;
  }

  std::size_t bytes() const { return (list_.size() + factors_.size() + sums_.size()) * sizeof(double) + place_.size() * sizeof(int); }

  /// values: the right-hand sides of all modes.
  void find(const Scalar *values) const
  {
    if (list_.size() == 0) return;
    const auto count = static_cast<Index>(list_.size());
    Kokkos::TeamPolicy<Space> policy(space_, static_cast<int>(2 * count), is_host_space<Space> ? 1 : 256);
    Kokkos::parallel_for(
        "weft poisson slow ends", policy,
        SumToEnds<Space, Scalar>{list_.data(), count, rows_, modes_, {fringes_[0], fringes_[1]}, factors_.data(), values, sums_.data()});
  }
  KnownEnds found() const
  {
    if (list_.size() == 0) return {};
    return {place_.data(), sums_.data(), static_cast<Index>(list_.size()), {known_[0], known_[1]}};
  }

private:
  /// Those that make rows symmetric, up to a factor; nothing where there are none, or they leave the numbers.
  static std::vector<double> weights_of(const LineMatrix &line)
  {
    std::vector<double> weights{1};
    for (std::size_t i = 1; i < line.size(); i++) weights.push_back(weights.back() * line.upper[i - 1] / line.lower[i]);
    const auto usable = [](double w) { return std::isfinite(w) && std::abs(w) > 1e-100 && std::abs(w) < 1e100; };
    return std::all_of(weights.begin(), weights.end(), usable) ? weights : std::vector<double>{};
  }

  Space space_;
  Index rows_ = 0, modes_ = 0;
  FringeNumbers<Scalar> fringes_[2] = {};
  bool known_[2]                    = {false, false};
  OwnedArray<Index, Space> list_;
  OwnedArray<int, Space> place_;
  OwnedArray<double, Space> factors_, sums_;
};

} // namespace weft::poisson
