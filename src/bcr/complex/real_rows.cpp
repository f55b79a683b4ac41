#include "bcr/complex/real_rows.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <any>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"
#include "base/sums.hpp"
#include "bcr/detect/star.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

namespace {

/// The sums of v^2 / |v| over couplings and over diagonals.
struct Phases {
  using is_sum              = void;
  Complex<double> couplings = 0, diagonals = 0;

  KOKKOS_INLINE_FUNCTION Phases &operator+=(const Phases &other)
  {
    couplings += other.couplings;
    diagonals += other.diagonals;
    return *this;
  }
};

KOKKOS_INLINE_FUNCTION Complex<double> doubled(const Complex<double> &v)
{
  const double size = modulus(v);
  return size > 0 ? v * (v / size) : Complex<double>(0);
}

/// Splits the rows of a part of the matrix, `inside` where the diagonal is in it, or adds up their phases.
template <class Int>
struct Part {
  CsrMatrix<Complex<double>, Int> matrix;
  bool inside;

  KOKKOS_INLINE_FUNCTION bool is_own(Index row, Int k) const { return inside && matrix.column(k) == row; }
  KOKKOS_INLINE_FUNCTION void operator()(const Index row, Phases &sum) const
  {
    for (Int k = matrix.begin(row); k < matrix.end(row); k++) (is_own(row, k) ? sum.diagonals : sum.couplings) += doubled(matrix.values[k]);
  }
};

/// The root of a sum of v^2 / |v|, of size 1; 1 of nothing.
KOKKOS_INLINE_FUNCTION Complex<double> turn_of(const Complex<double> &sum)
{
  const double size = modulus(sum);
  if (!(size > 0) || !finite(size)) return 1;
  // The larger part first, from which the other one follows without cancellation.
  const double cosine = sum.real() / size, sine = sum.imag() / size, larger = Kokkos::sqrt((1 + Kokkos::abs(cosine)) / 2);
  if (cosine >= 0) return {larger, sine / (2 * larger)};
  return {Kokkos::abs(sine) / (2 * larger), sine < 0 ? -larger : larger};
}

/// The turns of rows: those of all, where they are the same to rounding.
template <class Int>
struct TurnRows {
  Part<Int> inside, outside;
  bool has_outside;
  Complex<double> of_all;
  Complex<double> *turn;

  KOKKOS_INLINE_FUNCTION void operator()(const Index row) const
  {
    Phases sum;
    inside(row, sum);
    if (has_outside) outside(row, sum);
    Complex<double> own = turn_of(modulus(sum.couplings) > 0 ? sum.couplings : sum.diagonals);
    if ((own * conjugate(of_all)).real() < 0) own = -own;
    turn[row] = modulus(own - of_all) < 1e-12 ? of_all : own;
  }
};

template <class Int>
struct SplitRows {
  Part<Int> part;
  const Complex<double> *turn;
  double *real; ///< where the matrix has its values
  double *own, *beside, *size;

  KOKKOS_INLINE_FUNCTION void operator()(const Index row) const
  {
    const auto &a = part.matrix;
    for (Int k = a.begin(row); k < a.end(row); k++) {
      const Complex<double> v = conjugate(turn[row]) * a.values[k];
      real[k]                 = finite(v) ? v.real() : v.real() + v.imag(); // what is no number is none in R
      size[row] += modulus(v);
      if (part.is_own(row, k))
        own[row] += v.imag();
      else
        beside[row] += modulus(v.imag());
    }
  }
};

/// Calls body(node, number) for the nodes of a box, x fastest.
template <class Body>
void over_nodes(const Index (&first)[3], const Index (&nodes)[3], const Body &body)
{
  std::size_t number = 0;
  Index at[3];
  for (at[2] = first[2]; at[2] < first[2] + nodes[2]; at[2]++) {
    for (at[1] = first[1]; at[1] < first[1] + nodes[1]; at[1]++) {
      for (at[0] = first[0]; at[0] < first[0] + nodes[0]; at[0]++) body(at, number++);
    }
  }
}

} // namespace

template <class Scalar, class Int>
RealRows<Scalar, Int>::RealRows(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &inside,
                                const CsrMatrix<Scalar, Int> &outside, const AllRanks &all_ranks)
{
  on_backend(execution, [&](const auto &space) {
    using Space        = std::decay_t<decltype(space)>;
    const bool has_out = outside.row_starts != nullptr;
    const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> range(space, 0, rows);
    const Part<Int> parts[2] = {{inside, true}, {outside, false}};
    Phases sums[2];
    for (int k = 0; k < (has_out ? 2 : 1); k++)
      Kokkos::parallel_reduce("weft phases", range, parts[k], Kokkos::Sum<Phases, Kokkos::HostSpace>(sums[k]));
    space.fence("weft: phases");
    sums[0] += sums[1];
    double all[4] = {sums[0].couplings.real(), sums[0].couplings.imag(), sums[0].diagonals.real(), sums[0].diagonals.imag()};
    if (all_ranks) all_ranks(all, 4, Combine::sum);
    const int which            = all[0] == 0 && all[1] == 0 ? 2 : 0;
    const Complex<double> turn = turn_of({all[which], all[which + 1]});
    turn_                      = turn;
    OwnedArray<Complex<double>, Space> turns(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft turns"), static_cast<std::size_t>(rows));
    Kokkos::parallel_for("weft turns", range, TurnRows<Int>{parts[0], parts[1], has_out, turn, turns.data()});
    OwnedArray<double, Space> own("weft imaginary parts", static_cast<std::size_t>(rows)),
        beside("weft imaginary parts", static_cast<std::size_t>(rows)), size("weft row sizes", static_cast<std::size_t>(rows));
    const auto split = [&](const Part<Int> &part, CsrMatrix<double, Int> &real, OwnerOfAny &memory) {
      const auto &a = part.matrix;
      Int entries   = 0;
      Kokkos::deep_copy(space, Kokkos::View<Int, Kokkos::HostSpace>(&entries),
                        Kokkos::View<const Int, typename Space::memory_space>(a.row_starts + a.first + rows));
      space.fence("weft: entries");
      const OwnedArray<double, Space> values("weft real parts", static_cast<std::size_t>(entries));
      real   = {a.row_starts, a.columns, values.data(), a.first};
      memory = make_owner<std::any>(values);
      Kokkos::parallel_for("weft real parts", range,
                           SplitRows<Int>{part, turns.data(), values.data(), own.data(), beside.data(), size.data()});
    };
    split(parts[0], inside_, inside_values_);
    if (has_out) split(parts[1], outside_, outside_values_);
    space.fence("weft: real parts");
    const auto to_host = [&](const auto &array) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array); };
    const auto t       = to_host(turns);
    const auto o = to_host(own), b = to_host(beside), s = to_host(size);
    for (std::size_t row = 0; row < o.size(); row++) rows_.push_back({t(row), o(row), b(row), s(row)});
  });
}

template <class Scalar, class Int>
void RealRows<Scalar, Int>::add_turns_of_faces(const Index (&first)[3], const Index (&nodes)[3], const AllRanks &all_ranks,
                                               Separation &found) const
{
  double other = std::any_of(rows_.begin(), rows_.end(), [&](const Row &row) { return row.turn != found.turn; });
  if (all_ranks) all_ranks(&other, 1, Combine::max);
  if (other == 0) return;
  for (int d = 0; d < 3; d++) {
    const int a = across(d, 0), b = across(d, 1);
    for (int side : {0, 1}) {
      FaceRows &face = found.faces[d][side];
      if (!face.eliminated()) continue;
      std::vector<double> parts(2 * face.diagonal.size());
      over_nodes(first, nodes, [&](const Index(&at)[3], std::size_t row) {
        if (at[d] != (side == 0 ? 0 : found.grid[d] - 1)) return;
        const auto place = static_cast<std::size_t>(at[a] + found.grid[a] * at[b]);
        parts[2 * place] = rows_[row].turn.real(), parts[2 * place + 1] = rows_[row].turn.imag();
      });
      if (all_ranks) all_ranks(parts.data(), parts.size(), Combine::sum);
      for (std::size_t k = 0; k < face.diagonal.size(); k++) face.turn.emplace_back(parts[2 * k], parts[2 * k + 1]);
    }
  }
}

/// What the shift is times in the row of each node: weights and the row's factor within the eliminated faces; 0 on them, and where the diagonal
/// says what the unknown is.
std::vector<double> factors_of_shift(const Index (&first)[3], const Index (&nodes)[3], const Separation &found)
{
  std::vector<double> factors(static_cast<std::size_t>(nodes[0] * nodes[1] * nodes[2]));
  auto scale = found.row_scale.begin();
  over_nodes(first, nodes, [&](const Index(&at)[3], std::size_t row) {
    double factor = 1;
    for (int d = 0, k = 0; d < 3; d++) {
      const Index place = at[d] - found.first[d];
      if (place < 0 || place >= found.nodes[d]) return;
      if (found.nodes[d] == 1 || k >= found.separable.dimension) continue; // directions of one node are left out
      const auto &weight = found.separable.directions[k++].weight;
      if (!weight.empty()) factor *= weight[static_cast<std::size_t>(place)];
    }
    const double of_row = found.row_scale.empty() ? 1 : *scale++;
    factors[row]        = found.known && of_row != 1 ? 0 : factor * of_row;
  });
  return factors;
}

/// The largest of all; what is no number is larger than any.
void take_larger(double &most, double value)
{
  if (!(value <= most)) most = std::isfinite(value) ? value : std::numeric_limits<double>::max();
}

template <class Scalar, class Int>
void RealRows<Scalar, Int>::add_weights(const Index (&first)[3], const Index (&nodes)[3], const AllRanks &all_ranks,
                                        Separation &found) const
{
  if (found.separable.dimension != 1 || !found.separable.directions[0].weight.empty() || !found.row_scale.empty()) return;
  Direction &line = found.separable.directions[0];
  int d           = 0;
  while (d < 2 && found.nodes[d] == 1) d++;
  std::vector<double> own(static_cast<std::size_t>(line.n));
  over_nodes(first, nodes, [&](const Index(&at)[3], std::size_t row) {
    for (int k = 0; k < 3; k++) {
      if (at[k] < found.first[k] || at[k] >= found.first[k] + found.nodes[k]) return;
    }
    own[static_cast<std::size_t>(at[d] - found.first[d])] = rows_[row].own / found.unit;
  });
  if (all_ranks) all_ranks(own.data(), own.size(), Combine::sum);
  double mean = 0;
  for (double value : own) mean += value / static_cast<double>(line.n);
  if (mean == 0 || !std::all_of(own.begin(), own.end(), [&](double value) { return value / mean > 0 && std::isfinite(value / mean); }))
    return;
  if (std::all_of(own.begin(), own.end(), [&](double value) { return std::abs(value - mean) <= 1e-14 * std::abs(mean); })) return;
  for (double &value : line.diagonal) value += found.separable.shift;
  found.separable.shift = 0;
  for (double value : own) line.weight.push_back(value / mean);
}

template <class Scalar, class Int>
void RealRows<Scalar, Int>::add_shift(const Index (&first)[3], const Index (&nodes)[3], const AllRanks &all_ranks, Separation &found) const
{
  constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
  found.turn                = turn_;
  found.imaginary_shift     = 0;
  if (found.foreign + found.unusable > 0 || found.pencil) return;
  add_weights(first, nodes, all_ranks, found);
  const std::vector<double> factors = factors_of_shift(first, nodes, found);
  // Squares of what is relative to a row, as the deviation is.
  double sums[4] = {};
  for (std::size_t row = 0; row < factors.size(); row++) {
    const Row &r = rows_[row];
    if (factors[row] == 0 || r.size == 0) continue;
    const double own = r.own / r.size, factor = factors[row] * (found.unit / r.size);
    sums[0] += own * factor;
    sums[1] += factor * factor;
    sums[2] += r.turn.real();
    sums[3] += r.turn.imag();
  }
  if (all_ranks) all_ranks(sums, 4, Combine::sum);
  if (sums[1] > 0) found.imaginary_shift = sums[0] / sums[1];
  // The rows of faces have had a say in the turn of all.
  const std::complex<double> turns = {sums[2], sums[3]};
  if (std::abs(turns) > 0 && !(std::abs(turns / std::abs(turns) - turn_) <= 1e-12)) found.turn = turns / std::abs(turns);
  double most[2] = {}; // deviation, largest share of the shift in a row
  for (std::size_t row = 0; row < factors.size(); row++) {
    const Row &r       = rows_[row];
    const double shift = found.unit * (found.imaginary_shift * factors[row]);
    if (r.size == 0) continue;
    take_larger(most[0], (r.beside + std::abs(r.own - shift)) / r.size);
    take_larger(most[1], std::abs(shift) / r.size);
    if (factors[row] != 0) take_larger(most[0], std::abs(r.turn - found.turn));
  }
  if (all_ranks) all_ranks(most, 2, Combine::max);
  found.deviation += most[0];
  if (most[1] <= rounding) found.imaginary_shift = 0; // of a turn that is a rounded number
  add_turns_of_faces(first, nodes, all_ranks, found);
}

template class RealRows<KernelScalar, std::int32_t>;
template class RealRows<KernelScalar, std::int64_t>;

} // namespace weft
