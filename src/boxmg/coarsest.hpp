/// The inverse on the coarsest grid, also of a singular operator; of a stack of planes that of each.
#pragma once
#include "base/backend.hpp"
#include "boxmg/block_sweep.hpp"
#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// The pieces of a stack, and the nodes of each in their order.
struct Pieces {
  Grid grid, piece;
  Index count = 1, size = 0;

  Pieces() = default;
  explicit Pieces(const Grid &whole) : grid(whole), piece(whole.piece()), count(whole.nodes() / piece.nodes()), size(piece.nodes()) {}
  WEFT_INLINE Index node(Index of, Index row) const
  {
    if (count == 1) return row;
    Index at[3];
    piece.position(row, at);
    for (int d = 0; d < 3; d++) {
      if (grid.apart[d]) at[d] = of % grid.n[d];
      if (grid.apart[d]) of /= grid.n[d];
    }
    return grid.node(at);
  }
  WEFT_INLINE void find(const Index (&at)[3], Index *of, Index *row) const
  {
    Index within[3], times = 1;
    *of = 0;
    for (int d = 0; d < 3; d++) {
      within[d] = grid.apart[d] ? 0 : at[d];
      if (grid.apart[d]) *of += times * at[d];
      if (grid.apart[d]) times *= grid.n[d];
    }
    *row = piece.node(within);
  }
};

/// A^-1 of a small operator as a dense matrix, row after row, by in-place elimination with the largest diagonal as the pivot (the sweep operator:
/// Goodnight, The American Statistician 33 (1979)). A pivot that is nothing beside its own diagonal is left out, with its row and column: so
/// the operator of a singular problem has an inverse on what the other unknowns span, symmetric where it is, and each part of a grid that
/// falls to pieces leaves out one of its own. In blocks, as a device does with real scalars but for stacks, pivots come in the order of the rows
/// first (block_sweep.hpp: on an H200 125 rows take 112 us so, and 81 take 554 by size), and by size where that is in doubt.
template <class Space>
struct Inverse {
  using Policy                        = Kokkos::TeamPolicy<Space>;
  using Team                          = typename Policy::member_type;
  using Best                          = Kokkos::MaxLoc<double, Index>;
  static constexpr int held_by_thread = 20, held_threads = 512; ///< elements of a matrix in registers
  static constexpr double nothing =
      1e-12; ///< what rounding leaves of a pivot that should be 0; contrasts of coefficients make small ones that are not

  OwnedArray<KernelScalar, Space> values, diagonal; ///< n * n for each piece; the diagonal as it was
  OwnedArray<KernelScalar, Space> column;           ///< of the pivot: work space
  OwnedArray<double, Space> state;                  ///< by row: 1 once it was a pivot, else 0
  OwnedArray<KernelScalar, Space> given, between;   ///< in blocks: the matrix, work space
  OwnedArray<double, Space> doubts;                 ///< in blocks: 1 where pivots in order are in doubt
  /// The first node, or how many nodes there are:
  struct Found {
    Index other_sign; ///< whose pivot has the other sign than its diagonal
    Index left_out;   ///< that was left out although others that were couple to it, so that what is left of the operator is not nothing
  };
  Kokkos::View<Found, typename Space::memory_space> found;
  Pieces pieces;
  Index n = 0; ///< nodes of a piece

  Inverse() = default;
  explicit Inverse(const Grid &grid)
      : Inverse(grid, !is_host_space<Space> && !is_complex<KernelScalar>) {} // a team has room for blocks of reals
  /// blocks: not of a stack.
  Inverse(const Grid &grid, bool blocks)
      : values("weft boxmg inverse", static_cast<std::size_t>(grid.piece().nodes() * grid.nodes())),
        diagonal("weft boxmg coarsest diagonal", static_cast<std::size_t>(grid.nodes())),
        column("weft boxmg coarsest column", static_cast<std::size_t>(grid.nodes())),
        state("weft boxmg coarsest pivots", static_cast<std::size_t>(grid.nodes())), found("weft boxmg coarsest faults"), pieces(grid),
        n(grid.piece().nodes())
  {
    if (!blocks || pieces.count > 1) return;
    given   = OwnedArray<KernelScalar, Space>("weft boxmg coarsest operator", values.size());
    between = OwnedArray<KernelScalar, Space>("weft boxmg half an inverse", values.size());
    doubts  = OwnedArray<double, Space>("weft boxmg coarsest doubts", 1);
  }
  static bool fits_registers(Index rows) { return rows * rows <= held_by_thread * held_threads; }
  /// Whether pivots come in the order of the rows first.
  bool in_blocks() const { return given.size() > 0; }
  /// Where the matrix goes.
  const OwnedArray<KernelScalar, Space> &matrix() const { return in_blocks() ? given : values; }
  double bytes() const { return static_cast<double>(sizeof(KernelScalar) * (values.size() + given.size() + between.size())); }

  template <class Scalar>
  void make(const Space &space, const Operator<Scalar> &a)
  {
    const Index size = n;
    const auto v = matrix(), d = diagonal;
    const auto s        = state;
    const auto wrong    = found;
    const Pieces stack  = pieces;
    const Index nowhere = a.grid.nodes();
    Kokkos::deep_copy(space, v, KernelScalar(0));
    over_nodes(
        "weft boxmg coarsest", space, a.grid, KOKKOS_LAMBDA(const Index node, const Index(&at)[3]) {
          Index piece, row, column;
          stack.find(at, &piece, &row);
          const Index here = piece * size + row;
          for (int k = 0; k < a.stencil.count; k++) {
            Index there[3] = {at[0], at[1], at[2]};
            if (!a.grid.move(there, a.stencil.offset[k])) continue;
            stack.find(there, &piece, &column);
            v(here * size + column) += widened(a.entry(k, node));
          }
          d(here) = v(here * size + row);
          s(here) = 0;
          if (node == 0) wrong() = {nowhere, nowhere};
        });
    // One of the other sign may be the rounding of the sums that all nodes of the finest grid have gone into.
    eliminate(space, Kokkos::sqrt(static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon())));
  }

  /// The inverse, where matrix(), diagonal, state (0) and found (n) are there. doubtful: a pivot of the other sign is none from so
  /// much of its diagonal down.
  void eliminate(const Space &space, double doubtful)
  {
    if (in_blocks()) sweep_blocks(space, doubtful);
    if (!is_host_space<Space> && fits_registers(n))
      eliminate_held(space, doubtful);
    else
      eliminate_stored(space, doubtful);
  }

  /// How many rows have no pivot: the inverse is nothing there. Waits.
  Index rows_left_out(const Space &space) const
  {
    const Index size = n;
    const auto v     = values;
    Index count      = 0;
    Kokkos::parallel_reduce(
        "weft boxmg rows left out", range(space, pieces.grid.nodes()),
        KOKKOS_LAMBDA(const Index row, Index &sum) {
          for (Index j = 0; j < size; j++) {
            if (v(row * size + j) != KernelScalar(0)) return;
          }
          sum++;
        },
        count);
    return count;
  }

  /// x = A^-1 b, or its transpose.
  template <class Scalar>
  void apply(const Space &space, const Scalar *b, Scalar *x, Transpose transpose) const
  {
    const Index size = n, row = transpose == Transpose::no ? n : 1, along = transpose == Transpose::no ? 1 : n;
    const auto v       = values;
    const Pieces stack = pieces;
    Kokkos::parallel_for(
        "weft boxmg coarsest solve", Policy(space, static_cast<int>(stack.grid.nodes()), 1, warp_threads<Space>),
        KOKKOS_LAMBDA(const Team &team) {
          const Index piece = team.league_rank() / size, i = team.league_rank() - piece * size;
          const KernelScalar *const inverse = v.data() + piece * size * size;
          KernelScalar sum                  = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, size),
              [&](const Index j, KernelScalar &part) { part += inverse[i * row + j * along] * widened(b[stack.node(piece, j)]); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&]() { x[stack.node(piece, i)] = static_cast<Scalar>(sum); });
        });
  }

  // What eliminate() is made of; a device's kernels cannot be private.

  /// Whether a pivot has the other sign than its diagonal: complex ones have none.
  KOKKOS_INLINE_FUNCTION static bool opposite(KernelScalar pivot, KernelScalar own)
  {
    return !is_complex<KernelScalar> && real_part(pivot) * real_part(own) < 0;
  }
  /// Whether what stands between two rows that were left out is more than rounding.
  KOKKOS_INLINE_FUNCTION static bool is_left(KernelScalar entry, KernelScalar own, KernelScalar other, bool same)
  {
    return !same && modulus(entry) > 1e-6 * Kokkos::sqrt(modulus(own) * modulus(other));
  }

  /// The blocks in turn, each from one array to another, the last to `values`.
  void sweep_blocks(const Space &space, double little)
  {
    using Sweep     = BlockSweep<Space>;
    const int steps = static_cast<int>((n + Sweep::tile - 1) / Sweep::tile), threads = is_host_space<Space> ? 1 : 256;
    Kokkos::deep_copy(space, doubts, 0.0);
    Sweep sweep{given.data(), nullptr, diagonal.data(), state.data(), doubts.data(), static_cast<int>(n), 0, nothing, little};
    for (int step = 0; step < steps; step++) {
      sweep.first = step * Sweep::tile;
      sweep.to    = (steps - step) % 2 == 1 ? values.data() : between.data();
      sweep_in_blocks(space, sweep, threads);
      sweep.from = sweep.to;
    }
    const Index size = n;
    const auto v = values, own = diagonal;
    const auto done = state, doubt = doubts;
    Kokkos::parallel_for(
        "weft boxmg rows left out", range(space, size * size), KOKKOS_LAMBDA(const Index k) {
          const Index i = k / size, j = k - i * size;
          if (done(i) == 1 && done(j) == 1) return;
          const bool could = i == j && modulus(v(k)) > nothing * modulus(own(i)); // be a pivot after the others
          if (done(i) != 1 && done(j) != 1 && (could || is_left(v(k), own(i), own(j), i == j))) doubt(0) = 1;
          v(k) = 0;
        });
  }

  /// One team eliminates a piece, each step after the other; after blocks, where there are doubts.
  void eliminate_stored(const Space &space, double doubtful)
  {
    const Index size = n;
    const int rows   = static_cast<int>(n); // a device divides 64-bit numbers slowly
    const auto v = values, d = diagonal, factors = column;
    const auto s                       = state;
    const auto wrong                   = found;
    const Pieces stack                 = pieces;
    const KernelScalar *const original = given.data();
    const double *const doubt          = doubts.data();
    Kokkos::parallel_for(
        "weft boxmg inverse", Policy(space, static_cast<int>(stack.count), is_host_space<Space> ? 1 : 512),
        KOKKOS_LAMBDA(const Team &team) {
          const Index first                = team.league_rank() * size;
          KernelScalar *const m            = v.data() + first * size;
          KernelScalar *const own          = d.data() + first; // the diagonal as it was
          KernelScalar *const pivot_column = factors.data() + first;
          double *const done               = s.data() + first;
          const int elements               = rows * rows;
          if (original) {
            if (*doubt == 0) return;
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, elements), [&](const int k) {
              m[k] = original[k];
              if (k < rows) done[k] = 0;
            });
            team.team_barrier();
          }
          for (Index step = 0; step < size; step++) {
            typename Best::value_type best;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, size),
                [&](const Index i, typename Best::value_type &most) {
                  const double share = own[i] != KernelScalar(0) ? modulus(m[i * size + i] / own[i]) : 0;
                  if (done[i] == 0 && share > most.val) most = {share, i};
                },
                Best(best));
            if (!(best.val > nothing)) break;
            const Index p            = best.loc;
            const KernelScalar pivot = m[p * size + p];
            if (opposite(pivot, own[p]) && best.val < doubtful) break;
            team.team_barrier();
            Kokkos::single(Kokkos::PerTeam(team), [&]() {
              done[p] = 1;
              if (opposite(pivot, own[p])) Kokkos::atomic_min(&wrong().other_sign, stack.node(team.league_rank(), p));
              m[p * size + p] = 1;
            });
            team.team_barrier();
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](const Index j) {
              m[p * size + j] /= pivot;
              pivot_column[j] = j == p ? KernelScalar(0) : m[j * size + p];
            });
            team.team_barrier();
            const KernelScalar *const pivot_row = m + p * size;
            if constexpr (is_host_space<Space>) { // row by row, so that the compiler takes some elements at a time
              for (Index i = 0; i < size; i++) {
                const KernelScalar factor = pivot_column[i];
                KernelScalar *const to    = m + i * size;
                if (i == p || factor == KernelScalar(0)) continue;
                to[p] = 0;
                for (Index j = 0; j < size; j++) to[j] -= factor * pivot_row[j];
              }
            } else {
              Kokkos::parallel_for(Kokkos::TeamThreadRange(team, elements), [&](const int k) {
                const int i = k / rows, j = k - i * rows;
                const KernelScalar factor = pivot_column[i];
                if (i != p)
                  m[k] = (j == p ? KernelScalar(0) : m[k]) - (factor == KernelScalar(0) ? KernelScalar(0) : factor * pivot_row[j]);
              });
            }
            team.team_barrier();
          }
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, elements), [&](const int k) {
            const int i = k / rows, j = k - i * rows;
            if (done[i] != 1 && done[j] != 1 && is_left(m[k], own[i], own[j], i == j))
              Kokkos::atomic_min(&wrong().left_out, stack.node(team.league_rank(), i));
            if (done[i] != 1 || done[j] != 1) m[k] = 0;
          });
        });
  }

  /// The same where each thread holds some of the elements and looks for the pivot by itself, so that nothing but the pivot's row and column goes through
  /// memory and there are two barriers a step.
  void eliminate_held(const Space &space, double doubtful)
  {
    const int rows = static_cast<int>(n);
    const auto v = values, d = diagonal;
    const auto wrong                   = found;
    const Pieces stack                 = pieces;
    const KernelScalar *const original = given.data();
    const double *const doubt          = doubts.data();
    const int words                    = 6 * rows * static_cast<int>(sizeof(KernelScalar));
    Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<held_threads>> policy(space, static_cast<int>(stack.count), held_threads);
    Kokkos::parallel_for(
        "weft boxmg inverse", policy.set_scratch_size(0, Kokkos::PerTeam(words)), KOKKOS_LAMBDA(const Team &team) {
          if (original && *doubt == 0) return;
          const Index first          = Index(team.league_rank()) * rows;
          KernelScalar *const m      = v.data() + first * rows;
          KernelScalar *const own    = static_cast<KernelScalar *>(team.team_shmem().get_shmem(words)); // the diagonal as it was
          KernelScalar *const now    = own + rows;                                                      // and as it is
          double *const share        = reinterpret_cast<double *>(now + rows);                          // of it; -1 once it was the pivot
          KernelScalar *const row    = now + 2 * rows;                                                  // of the pivot
          KernelScalar *const column = row + rows;
          KernelScalar *const scale  = column + rows; // 1 / own
          KernelScalar held[held_by_thread];
          int place[held_by_thread]; // row and column; -1: no element
          for (int k = 0; k < held_by_thread; k++) {
            const int number = team.team_rank() + k * held_threads, i = number / rows;
            place[k] = number < rows * rows ? i << 16 | (number - i * rows) : -1;
            held[k]  = number < rows * rows ? (original ? original : m)[number] : KernelScalar(0);
          }
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](const int i) {
            own[i] = now[i] = d(first + i);
            share[i]        = own[i] != KernelScalar(0) ? 1 : 0;
            scale[i]        = own[i] != KernelScalar(0) ? 1 / own[i] : KernelScalar(0);
          });
          team.team_barrier();
          for (int step = 0; step < rows; step++) {
            // Of four in a row, so that a comparison need not wait for the last one.
            double best[4] = {-1, -1, -1, -1};
            int at[4]      = {};
            for (int i = 0; i < rows; i += 4) {
              for (int k = 0; k < 4; k++) {
                const double here = i + k < rows ? share[i + k] : -1;
                at[k]             = here > best[k] ? i + k : at[k];
                best[k]           = here > best[k] ? here : best[k];
              }
            }
            int p       = at[0];
            double most = best[0];
            for (int k = 1; k < 4; k++) {
              p    = best[k] > most ? at[k] : p;
              most = best[k] > most ? best[k] : most;
            }
            if (!(most > nothing)) break;
            const KernelScalar pivot = now[p], inverse = 1 / pivot;
            const bool other = opposite(pivot, own[p]); // sign
            if (other && most < doubtful) break;
            for (int k = 0; k < held_by_thread; k++) {
              const int i = place[k] >> 16, j = place[k] & 0xffff;
              if (i == p) row[j] = (j == p ? KernelScalar(1) : held[k]) * inverse;
              if (i >= 0 && j == p) column[i] = i == p ? KernelScalar(0) : held[k];
            }
            team.team_barrier();
            if (other && team.team_rank() == 0) Kokkos::atomic_min(&wrong().other_sign, stack.node(team.league_rank(), p));
            for (int k = 0; k < held_by_thread; k++) {
              const int i = place[k] >> 16, j = place[k] & 0xffff;
              if (i < 0) continue;
              const KernelScalar factor = column[i];
              held[k] =
                  i == p ? row[j] : (j == p ? KernelScalar(0) : held[k]) - (factor == KernelScalar(0) ? KernelScalar(0) : factor * row[j]);
              if (i != j) continue;
              now[i]   = held[k];
              share[i] = i == p || share[i] < 0 ? -1 : modulus(held[k] * scale[i]);
            }
            team.team_barrier();
          }
          for (int k = 0; k < held_by_thread; k++) {
            const int i = place[k] >> 16, j = place[k] & 0xffff;
            if (i < 0) continue;
            if (share[i] >= 0 && share[j] >= 0 && is_left(held[k], own[i], own[j], i == j))
              Kokkos::atomic_min(&wrong().left_out, stack.node(team.league_rank(), i));
            m[i * rows + j] = share[i] >= 0 || share[j] >= 0 ? KernelScalar(0) : held[k];
          }
        });
  }
};

} // namespace weft::boxmg
