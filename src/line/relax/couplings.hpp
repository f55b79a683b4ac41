/// What the rows of a line couple to besides their tridiagonal part T: taken from the right-hand sides while a line solver loads them.
#pragma once
#include <algorithm>

#include "base/aligned.hpp"
#include "line/methods/thomas/host_packs.hpp"
#include "line/relax/residual.hpp"

namespace weft {

/// A diagonal: its offset, and where its coefficients begin.
struct Coupling {
  Index offset, begin;
};

/// The diagonals to take: either those outside T, then x of the lines themselves is not read, or all of them, then right-hand sides become
/// residuals.
template <class Scalar>
struct Couplings {
  static constexpr int at_hand = 8;

  const Coupling *diagonals = nullptr;
  int count                 = 0;
  const Scalar *values      = nullptr;
  Index rows                = 0;
  const Scalar *x           = nullptr;
  /// A part of each norm for every team or pack in work; null where a norm is not wanted.
  double *residuals = nullptr, *changes = nullptr;
  NormType residual_type = NormType::two, change_type = NormType::two;
  Scalar scale = 1; ///< from line solutions to changes
  /// The first diagonals once more: a kernel has its arguments at once, and would wait for each diagonal from memory before it can load.
  Coupling first[at_hand] = {};

  KOKKOS_INLINE_FUNCTION Coupling diagonal(int k) const { return k < at_hand ? first[k] : diagonals[k]; }
  KOKKOS_INLINE_FUNCTION double residual(Scalar r) const { return weft::measure(residual_type, r); }
  KOKKOS_INLINE_FUNCTION double change(Scalar z) const { return weft::measure(change_type, scale * z); }
};

/// For WideKernel, R rows a thread.
template <class Scalar>
struct TeamCouplings : Couplings<Scalar> {
  template <class Member, int R>
  KOKKOS_INLINE_FUNCTION void take(const Member &team, Index element, Index stride, int rows_here, bool pieces, Scalar (&rhs)[R]) const
  {
    for (int k = 0; k < this->count; k++) {
      const Coupling diagonal    = this->diagonal(k);
      const Scalar *coefficients = this->values + diagonal.begin + element;
      const Index neighbour      = element + diagonal.offset;
      Scalar c[R], x[R];
      if (pieces) {
        load_aligned(coefficients, c);
      } else {
        for (int j = 0; j < R; j++) c[j] = j < rows_here ? coefficients[j * stride] : Scalar(0);
      }
      if (pieces && neighbour >= 0 && neighbour + R <= this->rows && neighbour % static_cast<Index>(16 / sizeof(Scalar)) == 0) {
        load_aligned(this->x + neighbour, x);
      } else {
        for (int j = 0; j < R; j++) {
          const Index i = neighbour + j * stride;
          x[j]          = j < rows_here && i >= 0 && i < this->rows ? this->x[i] : Scalar(0);
        }
      }
      for (int j = 0; j < R; j++) {
        if (j < rows_here) rhs[j] -= times(c[j], x[j]);
      }
    }
    if (this->residuals) {
      double total = 0;
      for (int j = 0; j < R; j++) {
        if (j < rows_here) total = join(this->residual_type, total, this->residual(rhs[j]));
      }
      put(team, this->residual_type, total, this->residuals);
    }
  }
  template <class Member, int R>
  KOKKOS_INLINE_FUNCTION void measure(const Member &team, int rows_here, const Scalar (&z)[R]) const
  {
    if (!this->changes) return;
    double total = 0;
    for (int j = 0; j < R; j++) {
      if (j < rows_here) total = join(this->change_type, total, this->change(z[j]));
    }
    put(team, this->change_type, total, this->changes);
  }

private:
  template <class Member>
  KOKKOS_INLINE_FUNCTION static void put(const Member &team, NormType type, double total, double *parts)
  {
    if (type == NormType::two)
      team.team_reduce(Kokkos::Sum<double>(total));
    else
      team.team_reduce(Kokkos::Max<double>(total));
    if (team.team_rank() == 0) parts[team.league_rank()] = total;
  }
};

/// For ThomasOnHost, contiguous lines: the right-hand sides of a pack are made line by line, in the order of memory, and wait for the elimination
/// in work space that stays in cache. (Made tile by tile they would be read in as many streams as lanes times diagonals, of which a
/// processor follows few.)
template <class Scalar>
struct PackCouplings : Couplings<Scalar> {
  const Scalar *b = nullptr;
  Scalar *lines   = nullptr; ///< of the pack in work
  Index length    = 0;
  Index slot      = 0;

  template <class Number>
  void prepare(const typename Packs<Scalar>::Lanes &pack, Number lanes) const
  {
    double total = this->residuals ? this->residuals[slot] : 0;
    for (int l = 0; l < lanes; l++) {
      for (Index done = 0; done < length; done += run_rows) {
        const Index first = pack.start[l] + done, count = std::min(run_rows, length - done);
        Scalar *const run = lines + l * length + done;
        std::copy_n(b + first, count, run);
        for (int k = 0; k < this->count; k++) {
          const Coupling diagonal = this->diagonals[k];
          subtract_diagonal(this->values + diagonal.begin, diagonal.offset, this->rows, this->x, first, first + count, run);
        }
        if (this->residuals) {
          for (Index r = 0; r < count; r++) total = join(this->residual_type, total, this->residual(run[r]));
        }
      }
    }
    if (this->residuals) this->residuals[slot] = total;
  }
  /// Lines that were made a moment ago are in cache.
  template <class Number>
  void expect(const Tile<Scalar, Number> &, const typename Packs<Scalar>::Lanes &, Number, Index) const
  {
  }
  template <class Number>
  void gather(Tile<Scalar, Number> &tile, const typename Packs<Scalar>::Lanes &, Number lanes, Index first, int count) const
  {
    for (int l = 0; l < lanes; l++) {
      for (int r = 0; r < count; r++) tile.rows[r][l] = lines[l * length + first + r];
    }
  }
  template <class Number>
  void measure(Number lanes, int count, const Tile<Scalar, Number> &z) const
  {
    if (!this->changes) return;
    double total = this->changes[slot];
    for (int r = 0; r < count; r++) {
      for (int l = 0; l < lanes; l++) total = join(this->change_type, total, this->change(z.rows[r][l]));
    }
    this->changes[slot] = total;
  }
};

} // namespace weft
