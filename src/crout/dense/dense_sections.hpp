/// The sections of the dense method. One array holds, entry by entry, first the products of finished sections P_ij = sum_k l_ik u_kj, then,
/// once its own section is finished, z_ij. With S_ij = P_ij + sum_k z_ik z_kj over the section's k < min(i, j), summed upwards,
///
///     i >= j: z_ij = a_ij - S_ij,      i < j: z_ij = (a_ij - S_ij) / z_ii.
///
/// A product is rounded by itself or, fused, only with the sum that it is added to: which is what sequential Crout on a device does, where sums
/// come out half as wrong on matrices with large factors.
///
/// The diagonal section is iterated, all entries from those of the sweep before. A section right of or below a finished diagonal one
/// depends on its own earlier rows or columns only: its fixed point is reached by going through them once.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/pivot_flag.hpp"
#include "line/line_layout.hpp"

namespace weft::dense {

template <class Scalar>
struct Matrix {
  Scalar *data;
  Index ld;
  KOKKOS_INLINE_FUNCTION Scalar &operator()(Index i, Index j) const { return data[i + j * ld]; }
};

/// A part of A, its rows in the order in which they are taken.
template <class Scalar>
struct OrderedRows {
  const Scalar *data;
  Index ld;
  const Index *rows; ///< of A
  KOKKOS_INLINE_FUNCTION const Scalar &operator()(Index i, Index j) const { return data[rows[i] + j * ld]; }
};

template <bool fused, class Scalar>
KOKKOS_INLINE_FUNCTION Scalar add_product(Scalar sum, Scalar l, Scalar u)
{
  if constexpr (fused && !is_complex<Scalar>) return Kokkos::fma(l, u, sum);
  return sum + l * u;
}

/// The section's entries are numbered down its columns.
template <bool fused, class Scalar>
struct Sweep {
  OrderedRows<Scalar> a;  ///< the section of A
  Matrix<const Scalar> p; ///< the section of finished products
  Index size;
  RealOf<Scalar> tolerance;
  bool of_residual, scaled_start;

  KOKKOS_INLINE_FUNCTION Scalar start(Index i, Index j) const
  {
    const Scalar left = a(i, j) - p(i, j), pivot = a(i, i) - p(i, i);
    return i < j && scaled_start && pivot != Scalar(0) ? left / pivot : left;
  }
  /// One entry of a sweep, in small integers where it can be, whose quotients are cheap; adds 1 to `unsettled` unless it has converged. NaN never has.
  template <class Old, class New, class Int>
  KOKKOS_INLINE_FUNCTION void step(const Old &old_z, const New &new_z, Int entry, Index &unsettled) const
  {
    const Int rows = static_cast<Int>(size), i = entry % rows, j = entry / rows, last = i < j ? i : j;
    Scalar sum = p(i, j);
    for (Int k = 0; k < last; k++) sum = add_product<fused>(sum, old_z(i, k), old_z(k, j));
    finish(old_z, new_z, i, j, a(i, j), sum, unsettled);
  }
  template <class Old, class New, class Int>
  KOKKOS_INLINE_FUNCTION void finish(const Old &old_z, const New &new_z, Int i, Int j, Scalar a_ij, Scalar sum, Index &unsettled) const
  {
    const Scalar z = i < j ? (a_ij - sum) / old_z(i, i) : a_ij - sum;
    auto change    = modulus(z - old_z(i, j));
    if (of_residual && i < j) change *= modulus(old_z(i, i));
    if (!(change <= tolerance)) unsettled++;
    new_z(i, j) = z;
  }
};

/// A whole diagonal section by one team, in its scratch memory. Leaves the number of sweeps.
template <class Space, bool fused, class Scalar>
struct SmallDiagonal {
  using Memory = typename Space::scratch_memory_space;
  template <class Number>
  using Scratch              = Kokkos::View<Number *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int flags = 3; ///< one is set, one read and one cleared
  Sweep<fused, Scalar> sweep;
  Matrix<Scalar> z;
  int most_sweeps;
  int *sweeps; ///< negative where they did not converge

  static std::size_t scratch_bytes(Index size)
  {
    return 2 * Scratch<Scalar>::shmem_size(static_cast<std::size_t>(size * size)) + Scratch<int>::shmem_size(flags);
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const int size = static_cast<int>(sweep.size), count = size * size, threads = team.team_size();
    if (count == 0) return;
    const Scratch<Scalar> one(team.team_scratch(0), static_cast<std::size_t>(count)),
        two(team.team_scratch(0), static_cast<std::size_t>(count));
    const Scratch<int> flag(team.team_scratch(0), flags);
    Matrix<Scalar> old_z{one.data(), sweep.size}, new_z{two.data(), sweep.size};
    for (int e = team.team_rank(); e < count; e += threads) old_z.data[e] = sweep.start(e % size, e / size);
    for (int k = team.team_rank(); k < flags; k += threads) flag(k) = 0;
    Entry mine(sweep, team.team_rank() < count ? team.team_rank() : 0);
    team.team_barrier();
    int done       = 0;
    bool unsettled = true;
    while (unsettled && done < most_sweeps) {
      done++;
      Index count_of_mine = 0;
      if (count > threads) {
        for (int e = team.team_rank(); e < count; e += threads) sweep.step(old_z, new_z, e, count_of_mine);
      } else if (team.team_rank() < count) {
        mine.step(sweep, old_z, new_z, done, count_of_mine);
      }
      if (count_of_mine > 0) Kokkos::atomic_store(&flag(done % flags), 1);
      if (team.team_rank() == 0) flag((done + 1) % flags) = 0;
      team.team_barrier();
      unsettled                 = flag(done % flags) != 0;
      const Matrix<Scalar> swap = old_z;
      old_z                     = new_z;
      new_z                     = swap;
    }
    for (int e = team.team_rank(); e < count; e += threads) z.data[e % size + (e / size) * z.ld] = old_z.data[e];
    if (team.team_rank() == 0) *sweeps = unsettled ? -done : done;
  }

private:
  /// An entry that a thread has for itself, and what it need not compute again. From the entries before it, z_ij is final after sweep 2 j + 1
  /// (i >= j) or 2 i + 2 (i < j), whatever the numbers: later sweeps would give the same bits, and so would the part of a sum whose factors
  /// are final.
  struct Entry {
    int i, j, last, known = 0; ///< products k < known are in the sum for good
    Scalar a, sum;

    KOKKOS_INLINE_FUNCTION Entry(const Sweep<fused, Scalar> &sweep, int entry)
        : i(entry % static_cast<int>(sweep.size)), j(entry / static_cast<int>(sweep.size)), last(i < j ? i : j), a(sweep.a(i, j)),
          sum(sweep.p(i, j))
    {
    }
    KOKKOS_INLINE_FUNCTION void step(const Sweep<fused, Scalar> &sweep, const Matrix<Scalar> &old_z, const Matrix<Scalar> &new_z,
                                     int number, Index &unsettled)
    {
      const int final_after = i < j ? 2 * i + 2 : 2 * j + 1;
      if (number > final_after + 1) return; // both arrays have it
      for (; known < last && 2 * known + 2 < number; known++) sum = add_product<fused>(sum, old_z(i, known), old_z(known, j));
      Scalar all = sum;
      for (int k = known; k < last; k++) all = add_product<fused>(all, old_z(i, k), old_z(k, j));
      sweep.finish(old_z, new_z, i, j, a, all, unsettled);
    }
  };
};

/// The start, a sweep and the end of a diagonal section of any size, for a launch each.
template <bool fused, class Scalar>
struct LargeStart {
  Sweep<fused, Scalar> sweep;
  Matrix<Scalar> z;
  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const { z.data[e] = sweep.start(e % sweep.size, e / sweep.size); }
};
template <bool fused, class Scalar>
struct LargeSweep {
  Sweep<fused, Scalar> sweep;
  Matrix<Scalar> old_z, new_z;
  KOKKOS_INLINE_FUNCTION void operator()(const Index e, Index &unsettled) const { sweep.step(old_z, new_z, e, unsettled); }
};
template <class Scalar>
struct LargeEnd {
  Matrix<Scalar> from, z;
  Index size;
  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const { z(e % size, e / size) = from.data[e]; }
};

/// body(0) .. body(count - 1), each with its number known to the compiler.
template <int count, class Body>
KOKKOS_INLINE_FUNCTION void in_turn(const Body &body)
{
  if constexpr (count > 0) {
    in_turn<count - 1>(body);
    body.template operator()<count - 1>();
  }
}

/// Columns right of a finished diagonal section, downwards, or rows below it, to the right, a thread each. A thread keeps its column or row, a
/// constant number of entries long so that a device has it in registers. All is read before anything is written: what may be the same memory
/// would be waited for entry by entry.
template <bool right, bool fused, class Scalar, int most>
struct Beside {
  OrderedRows<Scalar> a;         ///< of A
  Matrix<const Scalar> diagonal; ///< the finished section
  Matrix<Scalar> z;
  int length; ///< of a column or row, up to most

  KOKKOS_INLINE_FUNCTION void operator()(const Index line) const { length == most ? of<true>(line) : of<false>(line); }
  template <bool all>
  KOKKOS_INLINE_FUNCTION void of(const Index line) const
  {
    const auto at = [line](const auto &matrix, Index n) -> auto &
    {
      return right ? matrix(n, line) : matrix(line, n);
    };
    Scalar left[most], found[most]; // of A, and products of finished sections, which become the column or row
    in_turn<most>([&]<int n>() {
      const bool exists = all || n < length;
      left[n]           = exists ? at(a, n) : Scalar(0);
      found[n]          = exists ? at(z, n) : Scalar(0);
    });
    in_turn<most>([&]<int n>() {
      if (!all && n >= length) return;
      in_turn<n>([&]<int k>() { found[n] = add_product<fused>(found[n], right ? diagonal(n, k) : diagonal(k, n), found[k]); });
      found[n] = left[n] - found[n];
      if constexpr (right) found[n] /= diagonal(n, n);
    });
    in_turn<most>([&]<int n>() {
      if (all || n < length) at(z, n) = found[n];
    });
  }
};

/// The largest size in each row of a matrix; the first row that is not finite.
template <class Scalar>
struct RowSizes {
  Matrix<const Scalar> a;
  Index n;
  RealOf<Scalar> *sizes;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, Index &first) const
  {
    RealOf<Scalar> most = 0, sum = 0;
    for (Index j = 0; j < n; j++) {
      const auto size = modulus(a(i, j));
      most            = size > most ? size : most;
      sum += size * 0; // NaN where anything is not finite
    }
    sizes[i] = most;
    if (sum != 0 && i < first) first = i;
  }
};

/// The largest size in each column, a team each.
template <class Scalar>
struct ColumnSizes {
  Matrix<const Scalar> a;
  Index n;
  RealOf<Scalar> *sizes;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index j = team.league_rank();
    using Real    = RealOf<Scalar>;
    Real most     = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n),
        [&](const Index i, Real &largest) {
          const Real size = modulus(a(i, j));
          if (size > largest) largest = size;
        },
        Kokkos::Max<Real>(most));
    Kokkos::single(Kokkos::PerTeam(team), [&] { sizes[j] = most; });
  }
};

template <class Real>
struct LargestOf {
  const Real *sizes;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i, Real &largest) const
  {
    if (sizes[i] > largest) largest = sizes[i];
  }
};

struct FirstRows {
  Index *rows;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { rows[i] = i; }
};

/// The sum of |a_ij / largest|^2, which neither overflows nor vanishes whatever the scale.
template <class Scalar>
struct SquaresOfColumn {
  Matrix<const Scalar> a;
  Index n;
  RealOf<Scalar> largest;

  KOKKOS_INLINE_FUNCTION void operator()(const Index j, double &sum) const
  {
    for (Index i = 0; i < n; i++) {
      const double part = static_cast<double>(modulus(a(i, j))) / static_cast<double>(largest);
      sum += part * part;
    }
  }
};

/// The first pivot that cannot be divided by, or is 100 units of rounding of the largest entry of its row of A, or of its column where that is
/// smaller, or less: scaling a row or a column makes no pivot small.
template <class Scalar>
struct FirstBadPivot {
  Matrix<const Scalar> z;
  const Index *rows;
  const RealOf<Scalar> *row_sizes, *column_sizes;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, Index &first) const
  {
    const RealOf<Scalar> of_row = row_sizes[rows[i]], of_column = column_sizes[i];
    if (!usable_pivot(z(i, i), of_row < of_column ? of_row : of_column) && i < first) first = i;
  }
};

// ---------------------------------------------------------------------------------------------- rows exchanged

/// A round of the tournament for the pivot rows of a section (L. Grigori, J. W. Demmel, H. Xiang, "CALU: a communication optimal LU factorization
/// algorithm", SIAM J. Matrix Anal. Appl. 32, 2011): each team eliminates with partial pivoting among `block` rows, and its pivot rows, as many
/// as the section has, go on. Of equal sizes the first row is taken. What is left of A in the section's columns is a - p.
template <class Space, class Scalar>
struct PivotRound {
  using Memory  = typename Space::scratch_memory_space;
  using Scratch = Kokkos::View<Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  OrderedRows<Scalar> a;
  Matrix<const Scalar> p;
  const Index *candidates; ///< numbers of rows in a and p; null: all from 0 on
  Index count, width, block;
  Scalar *work;   ///< count * width elements where scratch memory is too small; else null
  char *used;     ///< count
  Index *winners; ///< of team t from t * width on

  static std::size_t scratch_bytes(Index block, Index width) { return Scratch::shmem_size(static_cast<std::size_t>(block * width)); }
  KOKKOS_INLINE_FUNCTION Index candidate(Index r) const { return candidates ? candidates[r] : r; }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index first = team.league_rank() * block, rest = count - first;
    const int rows = static_cast<int>(rest < block ? rest : block), columns = static_cast<int>(width);
    const Scratch own(team.team_scratch(0), work ? 0 : static_cast<std::size_t>(block * width));
    const Matrix<Scalar> w{work ? work + first * width : own.data(), rows};
    char *const taken = used + first;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * columns), [&](const int e) {
      const Index row = candidate(first + e % rows);
      w.data[e]       = a(row, e / rows) - p(row, e / rows);
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](const int r) { taken[r] = 0; });
    team.team_barrier();
    const int steps = rows < columns ? rows : columns;
    for (int k = 0; k < steps; k++) {
      using Real = RealOf<Scalar>;
      Real most  = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, rows),
          [&](const int r, Real &largest) {
            const Real size = modulus(w(r, k));
            if (!taken[r] && size > largest) largest = size;
          },
          Kokkos::Max<Real>(most));
      int pivot = rows;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, rows),
          [&](const int r, int &least) { // NaN is taken, so that it is found on the diagonal
            if (!taken[r] && !(modulus(w(r, k)) < most) && r < least) least = r;
          },
          Kokkos::Min<int>(pivot));
      const Scalar value = w(pivot, k);
      team.team_barrier();
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        taken[pivot]                            = 1;
        winners[team.league_rank() * width + k] = candidate(first + pivot);
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](const int r) {
        if (!taken[r]) w(r, k) = value != Scalar(0) ? w(r, k) / value : Scalar(0);
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * (columns - 1 - k)), [&](const int e) {
        const int r = e % rows, j = k + 1 + e / rows;
        if (!taken[r]) w(r, j) -= w(r, k) * w(pivot, j);
      });
      team.team_barrier();
    }
  }
};

/// By one thread: exchanges that bring the winners, one after the other, to the first places; done with the order of A's rows.
struct Exchanges {
  const Index *winners;
  Index width;
  Index *partners; ///< row k is exchanged with row partners[k]
  Index *rows;

  KOKKOS_INLINE_FUNCTION void operator()(const Index) const
  {
    for (Index k = 0; k < width; k++) {
      Index at = winners[k];
      for (Index j = 0; j < k; j++) {
        if (at == j) at = partners[j];
      }
      partners[k]     = at;
      const Index row = rows[k];
      rows[k]         = rows[at];
      rows[at]        = row;
    }
  }
};

/// The same with the rows of z, a thread a column.
template <class Scalar>
struct ExchangeRows {
  Matrix<Scalar> z;
  const Index *partners;
  Index width;

  KOKKOS_INLINE_FUNCTION void operator()(const Index j) const
  {
    for (Index k = 0; k < width; k++) {
      const Scalar value = z(k, j);
      z(k, j)            = z(partners[k], j);
      z(partners[k], j)  = value;
    }
  }
};

/// Substitution with a diagonal block of the factors, a team for each vector: column after column of the block.
template <class Scalar>
struct BlockSubstitution {
  Matrix<const Scalar> z; ///< the block
  Index size;
  bool forward, transposed, unit;
  Scalar *x; ///< the block's part of the first vector
  Index ld;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    Scalar *const mine = x + team.league_rank() * ld;
    for (Index step = 0; step < size; step++) {
      const Index k = forward ? step : size - 1 - step, first = forward ? k + 1 : 0;
      const Scalar value = unit ? mine[k] : mine[k] / z(k, k);
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(size - 1 - step)), [&](const int r) {
        const Index i = first + r;
        mine[i] -= (transposed ? z(k, i) : z(i, k)) * value;
      });
      Kokkos::single(Kokkos::PerTeam(team), [&] { mine[k] = value; });
      team.team_barrier();
    }
  }
};

template <class To, class From>
struct CopyVectors {
  const From *from;
  Index from_ld;
  To *to;
  Index to_ld, rows;
  const Index *from_rows = nullptr, *to_rows = nullptr; ///< where row i is; null: at i
  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const
  {
    const Index i = e % rows, vector = e / rows;
    to[(to_rows ? to_rows[i] : i) + vector * to_ld] = static_cast<To>(from[(from_rows ? from_rows[i] : i) + vector * from_ld]);
  }
};

} // namespace weft::dense
