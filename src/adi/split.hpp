/// From a CSR matrix on a box to its parts along the directions: A = H_x + H_y + H_z + rest.
///
/// Each part has the couplings along its direction and a share of the diagonal. With o_k the sum of |couplings| of a row along direction k,
/// e = d - sum_k o_k its excess and e_min the least one of all rows, a separable operator has e - e_min = sum_k a_k(i_k). Its terms are the
/// least values of the slabs: a_k(i) = min { e - e_min over the rows with i_k = i }. The share is
///     o_k + e_min / directions + a_k min(1, (e - e_min) / sum a) + max(0, e - e_min - sum a) w_k / sum w.
/// So separable operators split into parts that commute, whatever happens at their ends, and no share is less than its row's couplings and
/// e_min need. What is not separable goes to the directions along which the row lacks a coupling (an eliminated boundary), w_k = a_k where a
/// term says so and else the strength of what is lacking (the other side's; the mean of all rows where both are), and equally to all where
/// it lacks none.
///
/// Of a complex matrix the excess is that of the diagonal turned back (AdiSolver::turn), and its imaginary part is shared in the same way.
///
/// Rows whose diagonal outweighs their couplings as a penalty does are taken for known values, as rows without couplings are.
#pragma once
#include "adi/adi_solver.hpp"
#include "base/scalar_parts.hpp"
#include "base/sums.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// The parts, all arrays of rows() elements in the layout of the box. lower of a line's first row and upper of its last one couple to the
/// neighbouring piece or around the ring; 0 where there is nothing.
template <class Scalar>
struct AdiParts {
  Scalar *lower[3], *share[3], *upper[3];
  Scalar *diagonal;    ///< of the matrix
  std::uint8_t *fixed; ///< not 0: the row is solved by itself, being one without couplings (1) or a penalty (2)
};

/// Where nodes are in a box.
struct AdiGrid {
  Index n[3], stride[3];
  Index rows, components;
  bool has[3], closed[3]; ///< closed: in this box

  explicit AdiGrid(const AdiBox &box) : rows(box.rows()), components(box.components)
  {
    Index step = box.components;
    for (int k = 0; k < 3; k++) {
      n[k]      = box.n[k];
      stride[k] = step;
      has[k]    = box.has(k);
      closed[k] = box.closed(k) && !box.crosses[k];
      step *= n[k];
    }
  }
  KOKKOS_INLINE_FUNCTION Index at(Index i, int k) const { return i / stride[k] % n[k]; }
};

/// Where an entry with this column offset belongs: direction + 1 for lower, -(direction + 1) for upper, 0 for none.
KOKKOS_INLINE_FUNCTION int place_on_line(const AdiGrid &grid, const Index (&at)[3], Index offset)
{
  for (int k = 0; k < 3; k++) {
    if (!grid.has[k]) continue;
    const Index around = (grid.n[k] - 1) * grid.stride[k];
    if ((offset == -grid.stride[k] && at[k] > 0) || (grid.closed[k] && offset == around && at[k] == 0)) return k + 1;
    if ((offset == grid.stride[k] && at[k] + 1 < grid.n[k]) || (grid.closed[k] && offset == -around && at[k] + 1 == grid.n[k]))
      return -(k + 1);
  }
  return 0;
}

/// Couplings on lines, the diagonal, which rows are penalties (fixed), and for each row how many entries are left over (rest_starts[i + 1]).
template <class Space, class Scalar, class Int>
void split_couplings(const Space &space, const AdiGrid &grid, const CsrMatrix<Scalar, Int> &matrix, const AdiParts<Scalar> &parts,
                     Index *rest_starts)
{
  Kokkos::parallel_for(
      "weft adi split", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Index at[3] = {grid.at(i, 0), grid.at(i, 1), grid.at(i, 2)};
        Scalar lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0}, diagonal = 0;
        double off = 0;
        Index left = 0, all = 0;
        for (Int e = matrix.row_starts[i]; e < matrix.row_starts[i + 1]; e++) {
          const Index j = matrix.columns[e], offset = j - i;
          const int place = place_on_line(grid, at, offset);
          for (int k = 0; k < 3; k++) {
            if (place == k + 1) lower[k] = matrix.values[e];
            if (place == -(k + 1)) upper[k] = matrix.values[e];
          }
          if (offset == 0) diagonal = matrix.values[e];
          if (offset == 0 || matrix.values[e] == 0) continue;
          off += modulus(widened(matrix.values[e]));
          all++;
          if (place == 0) left++;
        }
        const bool penalty = off > 0 && is_penalty(widened(diagonal), off);
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          parts.lower[k][i] = penalty ? Scalar(0) : lower[k];
          parts.upper[k][i] = penalty ? Scalar(0) : upper[k];
        }
        parts.diagonal[i]  = diagonal;
        parts.fixed[i]     = penalty ? 2 : 0;
        rest_starts[i + 1] = penalty ? all : left;
      });
}

/// From counts in starts[i + 1] to starts.
template <class Space, class View>
void count_rest(const Space &space, const View &starts)
{
  Kokkos::parallel_scan(
      "weft adi rest starts", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(starts.extent(0))),
      KOKKOS_LAMBDA(const Index i, Index &sum, const bool last) {
        sum += starts(i);
        if (last) starts(i) = sum;
      });
}

/// The entries that are left over, in CSR form.
template <class Space, class Scalar, class Int>
void split_rest(const Space &space, const AdiGrid &grid, const CsrMatrix<Scalar, Int> &matrix, const std::uint8_t *penalties,
                const Index *rest_starts, Index *rest_columns, Scalar *rest_values)
{
  Kokkos::parallel_for(
      "weft adi rest", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Index at[3] = {grid.at(i, 0), grid.at(i, 1), grid.at(i, 2)};
        Index to          = rest_starts[i];
        for (Int e = matrix.row_starts[i]; e < matrix.row_starts[i + 1]; e++) {
          const Index j = matrix.columns[e], offset = j - i;
          const int place = place_on_line(grid, at, offset);
          if (offset == 0 || (place != 0 && !penalties[i]) || matrix.values[e] == 0) continue;
          rest_columns[to] = j;
          rest_values[to]  = matrix.values[e];
          to++;
        }
      });
}

/// Couplings of a direction to the pieces before and after, a value for each line; null where there is none. Penalties have none.
template <class Space, class Scalar>
void put_ends(const Space &space, const LineLayout &layout, const Scalar *before, const Scalar *after, const std::uint8_t *penalties,
              Scalar *lower, Scalar *upper)
{
  const Index last = (layout.length - 1) * layout.stride;
  Kokkos::parallel_for(
      "weft adi ends", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
        const Index start = layout.start(line);
        if (before && !penalties[start]) lower[start] = before[line];
        if (after && !penalties[start + last]) upper[start + last] = after[line];
      });
}

/// Sums over the rows.
struct AdiSums {
  using is_sum = void;
  enum { sign, strength, count = strength + 3, on = count + 3, rest, fixed, penalties, empty, rows, bad, size };
  double value[size] = {};

  KOKKOS_INLINE_FUNCTION AdiSums &operator+=(const AdiSums &other)
  {
    for (int k = 0; k < size; k++) value[k] += other.value[k];
    return *this;
  }
};

/// Marks the fixed rows, beside the penalties that are marked already, and adds up what is needed to share the diagonal. Waits.
template <class Space, class Scalar>
AdiSums sum_couplings(const Space &space, const AdiGrid &grid, const AdiParts<Scalar> &parts, const Index *rest_starts,
                      const Scalar *rest_values)
{
  AdiSums total;
  Kokkos::parallel_reduce(
      "weft adi sums", Kokkos::RangePolicy<Space>(space, 0, grid.rows),
      KOKKOS_LAMBDA(const Index i, AdiSums &sums) {
        double on = 0, rest = 0;
        const InDouble<Scalar> d = widened(parts.diagonal[i]);
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          const double l = modulus(widened(parts.lower[k][i])), u = modulus(widened(parts.upper[k][i]));
          on += l + u;
          sums.value[AdiSums::strength + k] += l + u;
          sums.value[AdiSums::count + k] += (l != 0) + (u != 0);
        }
        for (Index e = rest_starts[i]; e < rest_starts[i + 1]; e++) rest += modulus(widened(rest_values[e]));
        const bool penalty = parts.fixed[i], fixed = penalty || (on == 0 && rest == 0);
        if (fixed && !penalty) parts.fixed[i] = 1;
        sums.value[AdiSums::on] += on;
        if (!penalty) sums.value[AdiSums::rest] += rest;
        sums.value[AdiSums::fixed] += fixed;
        sums.value[AdiSums::penalties] += penalty;
        sums.value[AdiSums::empty] += fixed && d == InDouble<Scalar>(0);
        sums.value[AdiSums::rows] += 1;
        sums.value[AdiSums::bad] += !(modulus(d) + on + rest <= Kokkos::Experimental::finite_max_v<double>);
        if (!fixed) sums.value[AdiSums::sign] += (real_part(d) > 0) - (real_part(d) < 0);
      },
      Kokkos::Sum<AdiSums>(total));
  return total;
}

/// |couplings| of a row on lines.
template <class Scalar>
KOKKOS_INLINE_FUNCTION RealOf<Scalar> on_lines(const AdiGrid &grid, const AdiParts<Scalar> &parts, Index i)
{
  RealOf<Scalar> sum = 0;
  for (int k = 0; k < 3; k++) {
    if (grid.has[k]) sum += modulus(parts.lower[k][i]) + modulus(parts.upper[k][i]);
  }
  return sum;
}

/// Of a row's diagonal, turned back, over its couplings on lines.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar excess_of(const AdiGrid &grid, const AdiParts<Scalar> &parts, Scalar turn, Index i)
{
  return conjugate(turn) * parts.diagonal[i] - on_lines(grid, parts, i);
}

/// The least excess of the rows that are not fixed, of its real (0) or imaginary (1) part. Waits.
template <class Space, class Scalar>
double least_excess(const Space &space, const AdiGrid &grid, const AdiParts<Scalar> &parts, Scalar turn, int part)
{
  double least = 0;
  Kokkos::parallel_reduce(
      "weft adi excess", Kokkos::RangePolicy<Space>(space, 0, grid.rows),
      KOKKOS_LAMBDA(const Index i, double &so_far) {
        const double excess = static_cast<double>(part_of(excess_of(grid, parts, turn, i), part));
        if (!parts.fixed[i] && excess < so_far) so_far = excess;
      },
      Kokkos::Min<double>(least));
  return least;
}

/// The largest magnitude of an entry on a line of the rows that are not fixed. Waits.
template <class Space, class Scalar>
double largest_entry(const Space &space, const AdiGrid &grid, const AdiParts<Scalar> &parts)
{
  double largest = 0;
  Kokkos::parallel_reduce(
      "weft adi scale", Kokkos::RangePolicy<Space>(space, 0, grid.rows),
      KOKKOS_LAMBDA(const Index i, double &so_far) {
        if (parts.fixed[i]) return;
        so_far = Kokkos::max(so_far, static_cast<double>(modulus(parts.diagonal[i])));
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          so_far = Kokkos::max(so_far, static_cast<double>(Kokkos::max(modulus(parts.lower[k][i]), modulus(parts.upper[k][i]))));
        }
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// A row's place in the arrays of slabs: those along x, then y, then z, of each component and node of the whole grid.
struct AdiSlabs {
  Index start[3], first[3], components, size = 0;

  explicit AdiSlabs(const AdiBox &box) : components(box.components)
  {
    for (int k = 0; k < 3; k++) {
      start[k] = size;
      first[k] = box.first[k];
      size += components * box.global[k];
    }
  }
  KOKKOS_INLINE_FUNCTION Index at(const AdiGrid &grid, Index i, int k) const
  {
    return start[k] + components * (first[k] + grid.at(i, k)) + i % components;
  }
};

/// The least excess of each slab beyond `least`, into an array that holds infinity; of complex ones the imaginary parts, slab by slab, behind the
/// real ones.
template <class Space, class Scalar>
void slab_excess(const Space &space, const AdiGrid &grid, const AdiSlabs &slabs, const AdiParts<Scalar> &parts, Scalar turn, Scalar least,
                 double *slab)
{
  Kokkos::parallel_for(
      "weft adi slabs", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        if (parts.fixed[i]) return;
        const Scalar over = excess_of(grid, parts, turn, i) - least;
        for (int n = 0; n < parts_of<Scalar>; n++) {
          const double excess = static_cast<double>(part_of(over, n));
          for (int k = 0; k < 3; k++) {
            if (!grid.has[k]) continue;
            double *there = slab + n * slabs.size + slabs.at(grid, i, k);
            if (excess < Kokkos::atomic_load(there)) Kokkos::atomic_min(there, excess); // most rows have nothing to say
          }
        }
      });
}

/// Adds to the shares what each direction gets of a row's excess beyond the least one. term: of its slabs; lacking: the strength of couplings that
/// are not there, 0 where all are; both 0 along directions that there are not.
template <class Real>
KOKKOS_INLINE_FUNCTION void share_excess(Real excess, const Real (&term)[3], const Real (&lacking)[3], int directions, Real (&shares)[3])
{
  Real weight[3] = {0, 0, 0}, terms = 0, sum = 0;
  for (int k = 0; k < 3; k++) {
    terms += term[k];
    weight[k] = lacking[k] > 0 ? term[k] + Real(1e-10) * lacking[k] : Real(0);
    sum += weight[k];
  }
  const Real part = terms > excess ? excess / terms : Real(1), more = terms > excess ? Real(0) : excess - terms;
  for (int k = 0; k < 3; k++) {
    const Real rest = sum > 0 ? more * (weight[k] / sum) : more / directions;
    shares[k]       = shares[k] + term[k] * part + rest;
  }
}

/// Shares the diagonal out. `mean`: the mean strength of a coupling along each direction; `slab`: what slab_excess left, of all ranks.
template <class Space, class Scalar>
void share_diagonal(const Space &space, const AdiGrid &grid, const AdiSlabs &slabs, const AdiParts<Scalar> &parts, Scalar turn,
                    Scalar least, const std::array<RealOf<Scalar>, 3> &mean_strength, const double *slab)
{
  using Real           = RealOf<Scalar>;
  const Real mean[3]   = {mean_strength[0], mean_strength[1], mean_strength[2]};
  const int directions = grid.has[0] + grid.has[1] + grid.has[2];
  Kokkos::parallel_for(
      "weft adi share", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Scalar excess = excess_of(grid, parts, turn, i) - least;
        Real own[3] = {0, 0, 0}, lacking[3] = {0, 0, 0}, shares[parts_of<Scalar>][3];
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k] || parts.fixed[i]) continue;
          const Real l = modulus(parts.lower[k][i]), u = modulus(parts.upper[k][i]);
          own[k]     = l + u;
          lacking[k] = (l == 0 && u == 0) ? 2 * mean[k] : l == 0 ? u : u == 0 ? l : Real(0);
        }
        for (int n = 0; n < parts_of<Scalar>; n++) {
          Real term[3] = {0, 0, 0};
          for (int k = 0; k < 3; k++) {
            if (grid.has[k] && !parts.fixed[i]) term[k] = static_cast<Real>(slab[n * slabs.size + slabs.at(grid, i, k)]);
            shares[n][k] = (n == 0 ? own[k] : 0) + part_of(least, n) / directions;
          }
          share_excess(part_of(excess, n), term, lacking, directions, shares[n]);
        }
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          Real mine[parts_of<Scalar>];
          for (int n = 0; n < parts_of<Scalar>; n++) mine[n] = shares[n][k];
          parts.share[k][i] = parts.fixed[i] ? parts.diagonal[i] : turn * from_parts<Scalar>(mine);
        }
      });
}

/// Where the coefficients of the parts lie in each slab: for each coefficient (lower, share, upper) the least value and the least of its negative, one
/// array of slabs after the other, all beginning at infinity, then those of imaginary parts; in `counts` how many rows that are not fixed a slab has.
template <class Space, class Scalar>
void slab_ranges(const Space &space, const AdiGrid &grid, const AdiSlabs &slabs, const AdiParts<Scalar> &parts, double *ranges,
                 double *counts)
{
  const Index apart = slabs.size;
  Kokkos::parallel_for(
      "weft adi ranges", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        if (parts.fixed[i]) return;
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          const InDouble<Scalar> values[3] = {widened(parts.lower[k][i]), widened(parts.share[k][i]), widened(parts.upper[k][i])};
          const Index slab                 = slabs.at(grid, i, k);
          Kokkos::atomic_inc(&counts[slab]);
          for (int n = 0; n < 6 * parts_of<Scalar>; n++) {
            const double whole = part_of(values[n / 2 % 3], n / 6), value = n % 2 == 0 ? whole : -whole;
            double *there = ranges + n * apart + slab;
            if (value < Kokkos::atomic_load(there)) Kokkos::atomic_min(there, value);
          }
        }
      });
}

} // namespace weft
