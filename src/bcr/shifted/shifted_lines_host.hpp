/// shifted_lines.hpp on the host: a thread eliminates several lines at once, so that the inner loop runs over lines and vectorizes. The
/// lanes are poles of a group, or of several groups where a group has few.
///
///   downwards  after_i = upper_i / (b_i + mu - pole - lower_i after_{i-1}),   value_i = (rhs_i - lower_i value_{i-1}) / (the same pivot)
///   upwards    x_i = value_i - after_i x_{i+1}
///
/// Equal rows, as constant coefficients give them, have equal after and pivots once these have come to rest. A ring keeps its last unknown
/// out: it hangs on row i by before_i, and the last row on unknown i by `coupling`, until both have met at the end.
#pragma once
#include "base/backend.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson {

template <class Space, class Scalar>
struct HostLines {
  static constexpr int lanes = 128 / sizeof(Scalar); ///< two cache lines: their divisions hide one another's waiting times
  static constexpr int block = 256 / sizeof(Scalar); ///< rows of the grid pass through tiles of so many elements
  using Values               = Scalar[lanes];

  LineArguments<Scalar> a;
  OwnedArray<Scalar, Space> scratch; ///< of all threads
  Index slots       = 1;             ///< threads
  int together      = 1;             ///< groups of a pack
  int poles_at_once = lanes;         ///< lanes of a group

  /// Words of a thread: value, after, before of every lane, and the sums of a pack.
  static Index scratch_of_thread(Index length, int outputs) { return length * (3 * lanes + lanes * outputs) + 64; }

  Index packs() const { return (a.step.groups + together - 1) / together; }
  Index units() const { return packs() * a.rows.grid.planes * a.step.splits; }

  /// A pack: some groups of a plane.
  struct Pack {
    Index first_group, plane;
    int groups, split;
  };

  void operator()(const Index slot) const
  {
    Scalar *const own = scratch.data() + slot * scratch_of_thread(a.rows.grid.length, most_outputs);
    for (Index unit = slot; unit < units(); unit += slots) {
      const Index number = unit / a.step.splits;
      Pack pack{number / a.rows.grid.planes * together, number % a.rows.grid.planes, 0, static_cast<int>(unit % a.step.splits)};
      pack.groups = static_cast<int>(std::min<Index>(together, a.step.groups - pack.first_group));
      if (a.b.ring)
        solve_pack<true>(pack, own);
      else
        solve_pack<false>(pack, own);
    }
  }

private:
  /// The lanes in work: lane g * poles_at_once + p is pole number p of group g.
  struct Lanes {
    Values pole, out[most_outputs];
    const Scalar *in[lanes]; ///< weights of the sources, or null in an idle lane
    int pinned = -1;
  };

  static constexpr Scalar far_away = 1e30f; ///< a pole for idle lanes: no line is singular there

  Lanes lanes_from(const Pack &pack, int begin, int end) const
  {
    Lanes l;
    for (int lane = 0; lane < lanes; lane++) {
      const int g = std::min(lane / poles_at_once, pack.groups - 1), p = begin + lane % poles_at_once;
      const Index group = pack.first_group + g;
      const bool busy   = lane / poles_at_once < pack.groups && p < end && p < a.step.poles(group);
      const Index pole  = a.step.first_pole(group) + (busy ? p : 0);
      l.pole[lane]      = busy ? a.step.pole(pole) - a.b.plane_shift(pack.plane) : far_away;
      l.in[lane]        = busy ? a.step.in.data() + pole * a.step.sources : nullptr;
      for (int d = 0; d < a.step.outputs; d++) l.out[d][lane] = busy ? a.step.out(pole * a.step.outputs + d) : 0;
      if (busy && a.pins(pole, pack.plane)) l.pinned = lane;
    }
    return l;
  }

  /// What becomes of the solutions of some elements.
  enum class Give { nothing, begin_sums, add_to_sums, rows };

  template <bool ring>
  void solve_pack(const Pack &pack, Scalar *own) const
  {
    const Index n       = a.rows.grid.length;
    Scalar *const value = own, *const after = value + n * lanes, *const before = after + n * lanes, *const sums = before + n * lanes;
    const bool chain = a.step.kind != Lines::fractions;
    int most         = 0;
    for (int g = 0; g < pack.groups; g++) most = std::max(most, a.step.poles(pack.first_group + g));
    const int begin = static_cast<int>(Index(most) * pack.split / a.step.splits);
    const int end   = static_cast<int>(Index(most) * (pack.split + 1) / a.step.splits);
    if (begin == end) { // nothing to solve
      std::fill_n(value, n * lanes, Scalar(0));
      give_all(pack, Lanes{}, value, sums, a.step.splits > 1 ? Give::begin_sums : Give::rows);
    }
    for (int p = begin; p < end; p += chain ? 1 : poles_at_once) {
      const Lanes l         = lanes_from(pack, p, end);
      const bool first_turn = p == begin, last_turn = p + (chain ? 1 : poles_at_once) >= end;
      const bool take = !chain || first_turn;
      Give give       = Give::rows;
      if (a.step.splits > 1 || !(first_turn && last_turn)) give = first_turn ? Give::begin_sums : Give::add_to_sums;
      if (chain) give = last_turn ? Give::rows : Give::nothing;
      const Lanes weights = chain ? lanes_from(pack, 0, 1) : l;
      if (a.step.kind == Lines::products) {
        if (take) gather_all(pack, l, value);
        multiply<ring>(l, value);
        give_all(pack, weights, value, sums, give);
      } else {
        Steady steady;
        downwards<ring>(pack, l, take, value, after, before, steady);
        upwards<ring>(value, after, before, steady,
                      [&](Index first, int count) { this->give(pack, weights, value, sums, first, count, give); });
      }
      if (give == Give::rows) return;
    }
    if (begin == end && a.step.splits == 1) return;
    for (int g = 0; g < pack.groups; g++) {
      const Index group  = pack.first_group + g;
      const Scalar *from = sums + g * a.step.outputs * n;
      if (a.step.splits > 1) {
        for (int d = 0; d < a.step.outputs; d++) std::copy_n(from + d * n, n, a.part(group, pack.plane, pack.split, d));
      } else {
        for (Index i = 0; i < n; i += block) {
          const int count = static_cast<int>(std::min<Index>(block, n - i));
          Scalar sum[most_outputs][block];
          for (int d = 0; d < a.step.outputs; d++) std::copy_n(from + d * n + i, count, sum[d]);
          finish(group, pack.plane, i, count, sum);
        }
      }
    }
  }

  /// Elements first .. first + count - 1 of a combination, added up term by term.
  void combine(Index group, int which, Index plane, Index first, int count, Scalar *sum) const
  {
    for (int r = 0; r < count; r++) sum[r] = 0;
    const Index l = a.step.list_of(group, which), stride = a.rows.grid.line_stride;
    for (int t = a.step.list(l); t < a.step.list(l + 1); t++) {
      const Scalar factor = a.step.term_factor(t);
      const Scalar *row   = a.rows.row(a.step.term_row(t), plane) + first * stride;
      for (int r = 0; r < count; r++) sum[r] += factor * row[r * stride];
    }
  }
  /// Calls body with the lanes of a group, as a constant where it is a usual one.
  template <class Body>
  void with_poles(const Body &body) const
  {
    if (poles_at_once == lanes) return body(std::integral_constant<int, lanes>());
    if (poles_at_once == 1) return body(std::integral_constant<int, 1>());
    if (poles_at_once == 2) return body(std::integral_constant<int, 2>());
    if (poles_at_once == 4) return body(std::integral_constant<int, 4>());
    body(poles_at_once);
  }
  /// Right-hand sides of all lanes for some elements, to value.
  void gather(const Pack &pack, const Lanes &l, Index first, int count, Scalar *KOKKOS_RESTRICT value) const
  {
    if (a.step.sources == 0 || pack.groups * poles_at_once < lanes) std::fill_n(value, count * lanes, Scalar(0));
    with_poles([&](auto poles) {
      for (int g = 0; g < pack.groups; g++) {
        const int from = g * poles;
        for (int s = 0; s < a.step.sources; s++) {
          Scalar source[block];
          combine(pack.first_group + g, s, pack.plane, first, count, source);
          Values weight;
          for (int p = 0; p < poles; p++) weight[p] = l.in[from + p] ? l.in[from + p][s] : 0;
          for (int r = 0; r < count; r++) {
            Scalar *const row = value + r * lanes + from;
            if (s == 0) {
              for (int p = 0; p < poles; p++) row[p] = weight[p] * source[r];
            } else {
              for (int p = 0; p < poles; p++) row[p] += weight[p] * source[r];
            }
          }
        }
      }
    });
  }
  void gather_all(const Pack &pack, const Lanes &l, Scalar *value) const
  {
    const Index n = a.rows.grid.length;
    for (Index i = 0; i < n; i += block) gather(pack, l, i, static_cast<int>(std::min<Index>(block, n - i)), value + i * lanes);
  }

  /// Rows [from, to) whose `after` have come to rest: where rows of B are equal they soon do, to the last bit, and need no division any
  /// more.
  struct Steady {
    Index from, to;
    Values after = {};
    bool has(Index first, int count) const { return first >= from && first + count <= to; }
  };

  template <bool ring>
  void downwards(const Pack &pack, const Lanes &lane, bool take, Scalar *KOKKOS_RESTRICT value, Scalar *KOKKOS_RESTRICT after,
                 Scalar *KOKKOS_RESTRICT before, Steady &steady) const
  {
    const Index n = a.rows.grid.length, rows = ring ? n - 1 : n;
    const Scalar *const lower = a.b.lower.data(), *const diagonal = a.b.diagonal.data(), *const upper = a.b.upper.data();
    Values pole, v = {}, u = {};           // value and after of the row above
    Values inverse = {}, low_inverse = {}; // of steady rows
    steady.from = steady.to = n;
    // Of a ring: how a row hangs on the last unknown, the last row on a row's unknown, what the last row has become.
    Values hang = {}, coupling = {}, last_diagonal = {}, last_rhs = {};
    for (int l = 0; l < lanes; l++) {
      pole[l] = lane.pole[l];
      if constexpr (ring) {
        coupling[l]      = upper[n - 1];
        last_diagonal[l] = diagonal[n - 1] - pole[l];
      }
    }
    for (Index first = 0; first < n; first += block) {
      const int count = static_cast<int>(std::min<Index>(block, n - first));
      if (take) gather(pack, lane, first, count, value + first * lanes);
      if (!ring && steady.has(first, count)) {
        for (Index i = first; i < first + count; i++) {
          Scalar *const value_i = value + i * lanes;
          for (int l = 0; l < lanes; l++) value_i[l] = v[l] = value_i[l] * inverse[l] - low_inverse[l] * v[l];
        }
        continue;
      }
      for (Index i = first; i < std::min(first + count, rows); i++) {
        Scalar *const value_i = value + i * lanes, *const after_i = after + i * lanes, *const before_i = before + i * lanes;
        const Scalar low = ring && i == 0 ? Scalar(0) : lower[i], diag = diagonal[i], up = upper[i];
        if constexpr (ring) {
          if (i == rows - 1) {
            for (int l = 0; l < lanes; l++) coupling[l] += lower[n - 1];
          }
        } else {
          if (lane.pinned >= 0) // its unknown is 0, whatever its row says
            pole[lane.pinned] = i == a.b.pinned_row ? far_away : lane.pole[lane.pinned];
        }
        for (int l = 0; l < lanes; l++) {
          const Scalar pivot_inverse = 1 / (diag - pole[l] - low * u[l]);
          v[l]                       = (value_i[l] - low * v[l]) * pivot_inverse;
          u[l]                       = up * pivot_inverse;
          value_i[l]                 = v[l];
          after_i[l]                 = u[l];
          if constexpr (ring) {
            const Scalar to_last = (i == 0 ? lower[0] : Scalar(0)) + (i == rows - 1 ? up : Scalar(0));
            hang[l]              = (to_last - low * hang[l]) * pivot_inverse;
            before_i[l]          = hang[l];
            last_diagonal[l] -= coupling[l] * hang[l];
            last_rhs[l] -= coupling[l] * v[l];
            coupling[l] *= -u[l];
          }
        }
      }
      if (!ring && lane.pinned < 0 && steady.from == n && first >= a.b.equal_from && first + count < a.b.equal_to && count == block) {
        const Scalar *const before_last = after + (first + count - 2) * lanes;
        bool rests                      = true;
        for (int l = 0; l < lanes; l++) rests = rests && before_last[l] == u[l];
        if (rests) {
          steady.from = first + count;
          steady.to   = a.b.equal_to;
          for (int l = 0; l < lanes; l++) {
            steady.after[l] = u[l];
            inverse[l]      = 1 / (diagonal[first] - pole[l] - lower[first] * u[l]);
            low_inverse[l]  = lower[first] * inverse[l];
          }
        }
      }
    }
    Scalar *const last = value + (n - 1) * lanes;
    if constexpr (ring) {
      if (lane.pinned >= 0) last_diagonal[lane.pinned] = 1;
      for (int l = 0; l < lanes; l++) last[l] = (last[l] + last_rhs[l]) / last_diagonal[l];
    }
    if (lane.pinned >= 0 && a.b.pinned_row == n - 1) last[lane.pinned] = 0;
  }

  /// done(first, count) is called for every block of elements as soon as it is solved, from the last one to the first.
  template <bool ring, class Done>
  void upwards(Scalar *KOKKOS_RESTRICT value, const Scalar *KOKKOS_RESTRICT after, const Scalar *KOKKOS_RESTRICT before,
               const Steady &steady, const Done &done) const
  {
    const Index n = a.rows.grid.length;
    Values x, last;
    for (int l = 0; l < lanes; l++) {
      last[l] = value[(n - 1) * lanes + l];
      x[l]    = ring ? Scalar(0) : last[l];
    }
    for (Index first = (n - 1) / block * block; first >= 0; first -= block) {
      const int count = static_cast<int>(std::min<Index>(block, n - first));
      if (!ring && steady.has(first, count)) { // also where the last row is one of them: no couplings at all
        for (Index i = std::min(first + count, n - 1) - 1; i >= first; i--) {
          Scalar *const value_i = value + i * lanes;
          for (int l = 0; l < lanes; l++) value_i[l] = x[l] = value_i[l] - steady.after[l] * x[l];
        }
        done(first, count);
        continue;
      }
      for (Index i = std::min(first + count, n - 1) - 1; i >= first; i--) {
        Scalar *const value_i       = value + i * lanes;
        const Scalar *const after_i = after + i * lanes, *const before_i = before + i * lanes;
        for (int l = 0; l < lanes; l++) {
          x[l] = value_i[l] - after_i[l] * x[l];
          if constexpr (ring) x[l] -= before_i[l] * last[l];
          value_i[l] = x[l];
        }
      }
      done(first, count);
    }
  }

  /// value <- (B + mu - pole) value
  template <bool ring>
  void multiply(const Lanes &lane, Scalar *value) const
  {
    const Index n = a.rows.grid.length;
    Values above, first;
    for (int l = 0; l < lanes; l++) {
      above[l] = ring ? value[(n - 1) * lanes + l] : Scalar(0);
      first[l] = value[l];
    }
    for (Index i = 0; i < n; i++) {
      for (int l = 0; l < lanes; l++) {
        const Scalar own     = value[i * lanes + l];
        const Scalar below   = i + 1 < n ? value[(i + 1) * lanes + l] : ring ? first[l] : Scalar(0);
        value[i * lanes + l] = a.b.lower(i) * above[l] + (a.b.diagonal(i) - lane.pole[l]) * own + a.b.upper(i) * below;
        above[l]             = own;
      }
    }
  }

  /// Adds up the solutions of each group's lanes, and does with the sums what it is told.
  void give(const Pack &pack, const Lanes &lane, const Scalar *x, Scalar *sums, Index first, int count, Give what) const
  {
    if (what == Give::nothing) return;
    const Index n = a.rows.grid.length;
    with_poles([&](auto poles) {
      for (int g = 0; g < pack.groups; g++) {
        Scalar sum[most_outputs][block];
        for (int d = 0; d < a.step.outputs; d++) {
          const Scalar *const own = x + first * lanes + g * poles, *const weight = lane.out[d] + g * poles;
          for (int r = 0; r < count; r++) sum[d][r] = weighted_sum(poles, weight, own + r * lanes);
        }
        if (what == Give::rows) {
          finish(pack.first_group + g, pack.plane, first, count, sum);
          continue;
        }
        for (int d = 0; d < a.step.outputs; d++) {
          Scalar *const to = sums + (g * a.step.outputs + d) * n + first;
          for (int r = 0; r < count; r++) to[r] = what == Give::begin_sums ? sum[d][r] : to[r] + sum[d][r];
        }
      }
    });
  }
  void give_all(const Pack &pack, const Lanes &lane, const Scalar *x, Scalar *sums, Give what) const
  {
    const Index n = a.rows.grid.length;
    for (Index i = 0; i < n; i += block) give(pack, lane, x, sums, i, static_cast<int>(std::min<Index>(block, n - i)), what);
  }
  /// In a few sums side by side, so that it vectorizes.
  template <class Number>
  static Scalar weighted_sum(Number count, const Scalar *weight, const Scalar *x)
  {
    constexpr int width = 16 / sizeof(Scalar);
    Scalar part[width]  = {};
    int p               = 0;
    for (; p + width <= count; p += width) {
      for (int w = 0; w < width; w++) part[w] += weight[p + w] * x[p + w];
    }
    Scalar sum = part[0];
    for (int w = 1; w < width; w++) sum += part[w];
    for (; p < count; p++) sum += weight[p] * x[p];
    return sum;
  }
  /// Writes some elements of a group's outputs.
  void finish(Index group, Index plane, Index first, int count, const Scalar (&sums)[most_outputs][block]) const
  {
    const Index stride = a.rows.grid.line_stride;
    Scalar value[most_outputs][block];
    for (int d = 0; d < a.step.outputs; d++) {
      combine(group, a.step.sources + d, plane, first, count, value[d]);
      for (int r = 0; r < count; r++) value[d][r] += sums[d][r];
    }
    for (int d = 0; d < a.step.outputs; d++) {
      const Index row = a.step.output_row(group * a.step.outputs + d);
      if (row < 0) continue;
      Scalar *const to = a.rows.row(row, plane) + first * stride;
      for (int r = 0; r < count; r++) to[r * stride] = value[d][r];
    }
  }
};

/// How many parts the poles of a step are split into on the host: enough for all threads.
template <class Space, class Scalar>
int host_splits(const Space &space, const StepTables<Scalar> &step, const Grid &grid)
{
  using Kernel = HostLines<Space, Scalar>;
  if (step.kind != Lines::fractions || step.groups == 0 || step.most_poles == 0) return 1;
  const Index threads = space.concurrency();
  const Index units   = grid.planes * ((step.groups * step.most_poles + Kernel::lanes - 1) / Kernel::lanes);
  const Index packs   = grid.planes * step.groups;
  if (packs >= threads || units <= packs) return 1;
  return static_cast<int>(std::min<Index>((threads + packs - 1) / packs, (step.most_poles + Kernel::lanes - 1) / Kernel::lanes));
}

template <class Space, class Scalar>
void run_lines_on_host(const Space &space, const LineArguments<Scalar> &a, const OwnedArray<Scalar, Space> &scratch)
{
  using Kernel = HostLines<Space, Scalar>;
  if (a.step.groups == 0) return;
  Kernel kernel{a, scratch, space.concurrency()};
  kernel.poles_at_once = a.step.kind == Lines::fractions ? std::clamp(a.step.most_poles, 1, Kernel::lanes) : 1;
  kernel.together      = Kernel::lanes / kernel.poles_at_once;
  Kokkos::parallel_for("weft poisson lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, kernel.slots), kernel);
  if (a.step.splits > 1) add_parts(space, a);
}

// Compiled once: host_kernels_SCALAR.cpp.
extern template void run_lines_on_host(const HostBackend &, const LineArguments<double> &, const OwnedArray<double, HostBackend> &);
extern template void run_lines_on_host(const HostBackend &, const LineArguments<float> &, const OwnedArray<float, HostBackend> &);

} // namespace weft::poisson
