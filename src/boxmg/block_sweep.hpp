/// The inverse of a dense matrix by some pivots at a time, so that many teams of a device share the work. Included by coarsest.hpp.
#pragma once
#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"

namespace weft::boxmg {

/// Of a block of rows, S are those that can be pivots, and E = A_SS^-1 (the sweep operator of coarsest.hpp for a block):
///
///   A_SS <- E,   A_Sj <- E A_Sj,   A_iS <- -A_iS E,   A_ij <- A_ij - A_iS E A_Sj
///
/// Pivots come in the order of the rows. One that is nothing beside its own diagonal is left out. One that is little, or of the other sign, is a
/// doubt: another order may do better. A team makes a tile of the result, and E for itself.
template <class Space>
struct BlockSweep {
  using Policy              = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<256>>;
  using Team                = typename Policy::member_type;
  static constexpr int tile = 32, row = tile + 1; ///< row: words from one row of a tile to the next, without conflicts of banks
  static constexpr int words = 4 * tile * row + tile;

  const KernelScalar *from; ///< n * n, row after row
  KernelScalar *to;         ///< the same elsewhere
  const KernelScalar *own;  ///< the diagonal as it was
  double *state;            ///< by row: 1 once it was a pivot
  double *doubts;           ///< 1 once there is one
  int n, first;             ///< first: row of the block
  double nothing, little;

  KOKKOS_INLINE_FUNCTION static std::size_t bytes() { return words * sizeof(KernelScalar); }

  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const int tiles = (n + tile - 1) / tile, down = team.league_rank() / tiles * tile, right = team.league_rank() % tiles * tile;
    KernelScalar *const scratch = static_cast<KernelScalar *>(team.team_shmem().get_shmem(bytes()));
    KernelScalar *const left = scratch + 2 * tile * row, *const above = left + tile * row, *const taken = above + tile * row;
    each(team, [&](int i, int j) {
      scratch[i * row + j] = entry(first + i, first + j);
      left[i * row + j]    = entry(down + i, first + j);
      above[i * row + j]   = entry(first + i, right + j);
    });
    team.team_barrier();
    const bool tells = down == first && right == first;
    invert(team, scratch, taken, tells);
    const KernelScalar *const e = scratch;
    // What rows of S have of E with the other sign, and other rows times E.
    KernelScalar *const factors = scratch + tile * row;
    each(team, [&](int i, int j) {
      KernelScalar sum = -e[i * row + j];
      if (!is_taken(taken, down + i)) {
        sum = 0;
        for (int k = 0; k < tile; k++) sum += left[i * row + k] * e[k * row + j];
      }
      factors[i * row + j] = sum;
    });
    team.team_barrier();
    each(team, [&](int i, int j) {
      if (down + i >= n || right + j >= n) return;
      KernelScalar sum = is_taken(taken, down + i) ? KernelScalar(0) : from[(down + i) * n + right + j];
      if (is_taken(taken, right + j))
        sum = -factors[i * row + j];
      else
        for (int k = 0; k < tile; k++) sum -= factors[i * row + k] * above[k * row + j];
      to[(down + i) * n + right + j] = sum;
    });
    if (!tells) return;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile), [&](const int p) {
      if (first + p < n) state[first + p] = real_part(taken[p]);
    });
  }

private:
  template <class Body>
  KOKKOS_INLINE_FUNCTION static void each(const Team &team, const Body &body)
  {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tile * tile), [&](const int k) { body(k / tile, k % tile); });
  }
  KOKKOS_INLINE_FUNCTION KernelScalar entry(int i, int j) const { return i < n && j < n ? from[i * n + j] : KernelScalar(0); }
  KOKKOS_INLINE_FUNCTION bool is_taken(const KernelScalar *taken, int i) const
  {
    return i >= first && i < first + tile && taken[i - first] == KernelScalar(1);
  }

  /// From the first of two arrays E is made in the second, then again in the first, and so on, with some more of the pivots each time, in the end in the
  /// first; with 0 in rows and columns that are not in S.
  KOKKOS_INLINE_FUNCTION void invert(const Team &team, KernelScalar *arrays, KernelScalar *taken, bool tells) const
  {
    constexpr int times = tile / Pivots::count;
    static_assert(times % 2 == 0 && times * Pivots::count == tile);
    for (int time = 0; time < times; time++) {
      const KernelScalar *const e = arrays + time % 2 * tile * row;
      KernelScalar *const next    = arrays + (time + 1) % 2 * tile * row;
      const int begin             = time * Pivots::count;
      Pivots pivots(e, begin);
      const bool doubt =
          pivots.invert([&](int p) { return first + begin + p < n ? own[first + begin + p] : KernelScalar(0); }, nothing, little);
      Kokkos::single(Kokkos::PerTeam(team), [&]() {
        for (int p = 0; p < Pivots::count; p++) taken[begin + p] = pivots.takes[p] ? 1 : 0;
        if (doubt && tells) *doubts = 1;
      });
      each(team, [&](int i, int j) { next[i * row + j] = pivots.swept(e, i, j); });
      team.team_barrier();
    }
    each(team, [&](int i, int j) {
      if (taken[i] != 1 || taken[j] != 1) arrays[i * row + j] = 0;
    });
    team.team_barrier();
  }

  /// Some pivots in the registers of each thread, which sweeps a tile by all of them at once: with a barrier a pivot those of a tile take 46 us on an H200.
  struct Pivots {
    static constexpr int count = 4;

    int begin; ///< the first row
    KernelScalar e[count][count];
    bool takes[count];

    KOKKOS_INLINE_FUNCTION Pivots(const KernelScalar *tile_of_s, int begin) : begin(begin)
    {
      for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) e[i][j] = tile_of_s[(begin + i) * row + begin + j];
      }
    }
    /// To E, one after the other. own(p): the diagonal as it was. Returns whether there is a doubt.
    template <class Own>
    KOKKOS_INLINE_FUNCTION bool invert(const Own &own, double nothing, double little)
    {
      bool doubt = false;
      for (int p = 0; p < count; p++) {
        const KernelScalar pivot = e[p][p], diagonal = own(p), inverse = 1 / pivot;
        const double size = modulus(pivot);
        takes[p]          = !(size <= nothing * modulus(diagonal));
        const bool sure   = (is_complex<KernelScalar> || real_part(pivot) * real_part(diagonal) > 0) && size > little * modulus(diagonal);
        doubt             = doubt || (takes[p] && !sure);
        KernelScalar across[count], along[count];
        for (int k = 0; k < count; k++) {
          across[k] = k == p ? -inverse : e[k][p] * inverse;
          along[k]  = k == p ? KernelScalar(1) : e[p][k];
        }
        for (int i = 0; i < count; i++) {
          for (int j = 0; j < count; j++) {
            const KernelScalar here = i == p || j == p ? KernelScalar(0) : e[i][j];
            if (takes[p]) e[i][j] = here - across[i] * along[j];
          }
        }
      }
      for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) e[i][j] = takes[i] && takes[j] ? e[i][j] : KernelScalar(0);
      }
      return doubt;
    }
    /// An element of a tile once these are pivots.
    KOKKOS_INLINE_FUNCTION KernelScalar swept(const KernelScalar *of, int i, int j) const
    {
      bool row_taken = false, column_taken = false;
      KernelScalar factors[count] = {}, of_column = 0; // rows of S have those of E with the other sign
      for (int p = 0; p < count; p++) {
        row_taken    = row_taken || (i == begin + p && takes[p]);
        column_taken = column_taken || (j == begin + p && takes[p]);
        for (int k = 0; k < count; k++) factors[k] += of[i * row + begin + p] * e[p][k];
      }
      for (int p = 0; p < count; p++) {
        for (int k = 0; k < count; k++) factors[k] = i == begin + p && takes[p] ? -e[p][k] : factors[k];
      }
      KernelScalar sum = row_taken ? KernelScalar(0) : of[i * row + j];
      for (int k = 0; k < count; k++) {
        sum -= factors[k] * of[(begin + k) * row + j];
        of_column = j == begin + k ? factors[k] : of_column;
      }
      return column_taken ? -of_column : sum;
    }
  };
};

/// Of so many teams and threads as the work has tiles. Does not wait.
template <class Space>
void sweep_in_blocks(const Space &space, BlockSweep<Space> sweep, int threads)
{
  using Sweep     = BlockSweep<Space>;
  const int tiles = (sweep.n + Sweep::tile - 1) / Sweep::tile;
  typename Sweep::Policy policy(space, tiles * tiles, threads);
  Kokkos::parallel_for("weft boxmg inverse", policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Sweep::bytes()))), sweep);
}

} // namespace weft::boxmg
