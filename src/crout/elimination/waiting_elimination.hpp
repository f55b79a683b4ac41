/// Exact factors on a pattern in one launch: a warp a row, rows in an order in which none comes before what it waits for (ready_rows.hpp). Values
/// of U are published as they are found, and whoever needs one waits for that word itself (in_order.hpp). What is subtracted from an entry is
/// so in the order of the columns: the same bits every time.
///
///     l_im = a_im / u_mm,   a_ij -= l_im u_mj for all (m, j) of U with (i, j) in the pattern,   m ascending
///
/// While a row waits, it has found already where the products of its next few m belong.
#pragma once
#include <algorithm>

#include "base/native.hpp"
#include "base/native_forms.hpp"
#include "crout/elimination/short_pattern.hpp"
#include "crout/sweeps/values.hpp"
#if defined(WEFT_NATIVE_CUDA)
#include "crout/elimination/short_rows.hpp"
#endif

namespace weft::crout {

/// Threads of a row: all of a warp, since rows wait for each other.
template <class Space>
inline constexpr int lanes_of_waiting = triangular::on_host<Space> ? 32 : warp_threads<Space>;

template <class Scalar, class Space, int lanes = lanes_of_waiting<Space>>
struct WaitingElimination {
  FactorEntries<Space> entries;
  Array<std::uint64_t, Space> mirror; ///< symmetric: the upper entry of each lower one
  PivotRule<Space> rule;
  const Scalar *matrix;
  Scalar *values; ///< of U: unfinished() until they are known
  const std::int32_t *order;
  triangular::Ticket<Space> ticket;
  Index *not_finite; ///< the first row with such a value
  Scalar *sums;      ///< rows that do not fit into scratch memory; null where all do
  Index row_entries; ///< of the longest row
  int bits;          ///< 2^bits words of U, the pivot first, of a lower entry are at hand when it is its turn
  Symmetry symmetric;

  static constexpr int held              = 128; ///< words of U at hand
  static constexpr Index most_in_scratch = 512; ///< entries of a row
  static constexpr int lowers            = 64;  ///< lower entries looked up at a time
  static constexpr int each              = held / lanes;
  static_assert(each * lanes == held);

  /// What a warp has in scratch memory.
  struct Hand {
    Scalar *row;          ///< lower, upper, diagonal, as far as they are eliminated
    Scalar *seen;         ///< words of U
    std::int32_t *places; ///< where in the row their products belong; -1: nowhere
    Position *begins, *ends;
    std::int32_t *columns; ///< of lower entries, and where their rows of U begin and end
  };
  /// Elements that a row takes of it: whole words of 8 bytes.
  KOKKOS_INLINE_FUNCTION static Index row_room(Index row_entries) { return row_entries <= most_in_scratch ? (row_entries + 1) / 2 * 2 : 0; }
  KOKKOS_INLINE_FUNCTION static std::size_t hand_bytes(Index row_entries)
  {
    return static_cast<std::size_t>(row_room(row_entries)) * sizeof(Scalar) + held * (sizeof(Scalar) + sizeof(std::int32_t)) +
           lowers * (2 * sizeof(Position) + sizeof(std::int32_t));
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index position = triangular::take_number<Member, Space>(team, ticket) * team.team_size() + team.team_rank();
    if (position >= entries.rows) return;
    const Index i     = order[position];
    const Index first = entries.lower_starts(i), above = entries.upper_start(i);
    const int below = static_cast<int>(entries.lower_starts(i + 1) - first), right = static_cast<int>(entries.upper_start(i + 1) - above);
    const Hand hand = hand_of(team, first + above - entries.lower + i);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, below + right + 1), [&](const int k) {
      hand.row[k] = matrix[k < below ? first + k : k < below + right ? above + k - below : entries.diagonal(i)];
    });
    for (int done = 0; done < below; done += lowers) {
      const int some = below - done < lowers ? below - done : lowers;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, some), [&](const int k) {
        const Index l   = first + done + k;
        const Index m   = entries.columns(l);
        hand.columns[k] = static_cast<std::int32_t>(m);
        hand.begins[k]  = static_cast<Position>(symmetric ? mirror(l) & 0xffffffffu : entries.upper_start(m));
        hand.ends[k]    = static_cast<Position>(entries.upper_start(m + 1));
      });
      // A few at a time, up to one whose row of U is long: its products are not to wait for what comes after it.
      for (int begin = 0, end = 0; begin < some; begin = end) {
        do end++;
        while (end < some && end - begin < (held >> bits) && hand.ends[end - 1] - hand.begins[end - 1] < Position(1) << bits);
        look_ahead(team, hand, i, begin, end);
        for (int k = begin; k < end; k++) subtract(team, hand, i, first + done + k, done + k, k, k - begin);
      }
    }
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, right + 1), [&](const int k) {
      Scalar value     = k < right ? hand.row[below + k] : symmetric.diagonal(hand.row[below + k]);
      const auto pivot = widened(value);
      if (k == right && !rule.usable(pivot, i)) value = static_cast<Scalar>(rule.replacement(pivot, i));
      triangular::publish(values[k < right ? above + k : entries.diagonal(i)], triangular::finished(value));
      look_at(value, i);
    });
  }

private:
  template <class Member>
  KOKKOS_INLINE_FUNCTION Hand hand_of(const Member &team, Index begin) const
  {
    const std::size_t bytes = hand_bytes(row_entries);
    char *at                = static_cast<char *>(team.thread_scratch(0).get_shmem(static_cast<std::ptrdiff_t>(bytes)));
    const auto take         = [&](auto *&array, Index size) {
      array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(at);
      at += size * static_cast<Index>(sizeof(*array));
    };
    Hand hand;
    if (sums)
      hand.row = sums + begin;
    else
      take(hand.row, row_room(row_entries));
    take(hand.seen, held);
    take(hand.places, held);
    take(hand.begins, lowers);
    take(hand.ends, lowers);
    take(hand.columns, lowers);
    return hand;
  }

  /// Where the product of l_im and u_mj belongs in row i, or -1.
  KOKKOS_INLINE_FUNCTION int place(Index i, std::int32_t j) const
  {
    const Index e = entries.find(i, j), below = entries.lower_starts(i + 1) - entries.lower_starts(i);
    if (e < entries.lower) return e < 0 ? -1 : static_cast<int>(e - entries.lower_starts(i));
    return static_cast<int>(below + (e < entries.lower + entries.upper ? e : entries.upper_start(i + 1)) - entries.upper_start(i));
  }
  KOKKOS_INLINE_FUNCTION void look_at(Scalar value, Index i) const
  {
    if (!finite(value)) Kokkos::atomic_min(not_finite, i);
  }
  KOKKOS_INLINE_FUNCTION Scalar wait(Index e) const
  {
    Scalar value = triangular::look(values[e]);
    while (triangular::is_unfinished(value)) value = triangular::look(values[e]);
    return value;
  }

  /// Puts pivot and first words of U of lower entries k up to `some` into the hand.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void look_ahead(const Member &team, const Hand &hand, Index i, int k, int some) const
  {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](const int lane) {
      Index from[each];
      Scalar seen[each];
      int places[each];
      for (int a = 0; a < each; a++) {
        const int h = a * lanes + lane, which = k + (h >> bits), word = h & ((1 << bits) - 1);
        const bool there = which < some && (word == 0 || Index(hand.begins[which]) + word <= Index(hand.ends[which]));
        from[a]          = !there ? -1 : word == 0 ? entries.diagonal(hand.columns[which]) : Index(hand.begins[which]) + word - 1;
        seen[a]          = there ? triangular::look(values[from[a]]) : Scalar(0);
      }
      for (int a = 0; a < each; a++)
        places[a] = from[a] >= 0 && from[a] < entries.lower + entries.upper ? place(i, entries.columns(from[a])) : -1;
      for (int a = 0; a < each; a++) {
        hand.seen[a * lanes + lane]   = triangular::is_unfinished(seen[a]) ? wait(from[a]) : seen[a];
        hand.places[a * lanes + lane] = places[a];
      }
    });
  }

  /// The products of lower entry l of row i, which is number `number` of its row and `k` of those looked up.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void subtract(const Member &team, const Hand &hand, Index i, Index l, int number, int k, int turn) const
  {
    const Scalar *const u   = hand.seen + (turn << bits);
    const int *const places = hand.places + (turn << bits);
    const Scalar size       = symmetric ? symmetric.mirrored(u[1]) : hand.row[number];
    const Scalar factor     = size / u[0];
    // Read before the warp meets: a lane that is through may look up the next entries already.
    const Index rest = Index(hand.begins[k]) + (1 << bits) - 1, end = Index(hand.ends[k]);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, (1 << bits) - 1), [&](const int word) {
      if (places[word + 1] >= 0) hand.row[places[word + 1]] -= factor * u[word + 1];
      if (word > 0) return;
      values[l] = factor;
      look_at(factor, i);
    });
    if (rest >= end) return;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<int>(end - rest)), [&](const int word) {
      const int to = place(i, entries.columns(rest + word));
      if (to >= 0) hand.row[to] -= factor * wait(rest + word);
    });
  }
};

/// Eliminates on one pattern, any number of times.
template <class Scalar, class Space, int lanes = lanes_of_waiting<Space>>
class WaitingEliminator {
public:
  /// entries and what else belongs to the pattern must live as long.
  WaitingEliminator(const Space &space, const FactorEntries<Space> &entries, const Array<std::uint64_t, Space> &mirror, Symmetry symmetric,
                    const ReadyRows<Space> &order)
      : entries_(entries), mirror_(mirror), order_(order), ticket_("weft ticket"),
        not_finite_(make_array<Index>(space, "weft not finite", 1)), symmetric_(symmetric)
  {
#if defined(WEFT_NATIVE_CUDA)
    if (native && native_forms.short_rows && order.longest <= most_in_registers)
      pattern_ = short_pattern(space, entries, mirror, symmetric.symmetric, order, cuda::free_bytes() / 4);
#endif
    if (pattern_.lanes > 0)
      inverses_ = make_array<Scalar>(space, "weft inverse pivots", entries.rows);
    else if (order.longest > Kernel::most_in_scratch)
      sums_ = make_array<Scalar>(space, "weft rows eliminated", entries.size());
  }

  Index levels() const
  {
    return order_.levels();
  }

  /// values = the exact factors of `matrix` on the pattern. Does not wait.
  void run(const Space &space, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix, const Array<Scalar, Space> &values) const
  {
    if (entries_.rows == 0) return;
    const auto ticket     = ticket_;
    const auto not_finite = not_finite_;
    const auto inverses   = inverses_;
    const Index begin = entries_.lower, size = entries_.upper + entries_.rows;
    Kokkos::parallel_for(
        "weft nothing eliminated", Range<Space>(space, 0, size), KOKKOS_LAMBDA(const Index k) {
          values(begin + k) = triangular::unfinished<Scalar>();
          if (k < static_cast<Index>(inverses.extent(0))) inverses(k) = triangular::unfinished<Scalar>();
          if (k > 0) return;
          ticket()      = 0;
          not_finite(0) = std::numeric_limits<Index>::max();
        });
    if (pattern_.lanes > 0)
      run_native(space, rule, matrix, values);
    else
      run_portable(space, rule, matrix, values);
  }

  /// The first row whose last factors have a value that is not finite, or the largest Index: on the space.
  const Array<Index, Space> &not_finite() const
  {
    return not_finite_;
  }

private:
  using Kernel = WaitingElimination<Scalar, Space, lanes>;
#if defined(WEFT_NATIVE_CUDA)
  static constexpr bool native = std::is_same_v<Space, Kokkos::Cuda> && !is_complex<Scalar>;
#else
  static constexpr bool native = false;
#endif

  /// Blocks of short rows that should share a multiprocessor at a time, 0: no matter. Where few rows are ready together, more of them would
  /// only keep asking, and who has an answer would wait in line with them.
  int blocks_at_a_time() const
  {
    const Index ready = entries_.rows / std::max<Index>(order_.levels(), 1);
    return ready >= 128 ? 0 : ready >= 32 ? 4 : ready >= 8 ? 2 : 1;
  }

  void run_native([[maybe_unused]] const Space &space, [[maybe_unused]] const PivotRule<Space> &rule,
                  [[maybe_unused]] const Array<Scalar, Space> &matrix, [[maybe_unused]] const Array<Scalar, Space> &values) const
  {
#if defined(WEFT_NATIVE_CUDA)
    if constexpr (native) {
      const cuda::ShortRows<Scalar> rows{
          entries_.rows, entries_.diagonal(0), pattern_.rows.data(), entries_.columns.data(), pattern_.begins.data(), pattern_.words.data(),
          rule,          matrix.data(),        values.data(),        inverses_.data(),        ticket_.data(),         not_finite_.data()};
      cuda::launch_short_rows(space, rows, pattern_.lanes, symmetric_.symmetric, blocks_at_a_time());
    }
#endif
  }

  void run_portable(const Space &space, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &values) const
  {
    int bits = 2;
    while ((1 << bits) < lanes && (entries_.rows << bits) < entries_.upper + entries_.rows) bits++;
    const int threads = triangular::on_host<Space> ? 1 : 4;
    Kokkos::TeamPolicy<Space> policy(space, static_cast<int>((entries_.rows + threads - 1) / threads), threads,
                                     triangular::on_host<Space> ? 1 : lanes);
    policy.set_scratch_size(0, Kokkos::PerThread(static_cast<int>(Kernel::hand_bytes(order_.longest)) + 16));
    Kokkos::parallel_for("weft waiting elimination", policy,
                         Kernel{entries_, mirror_, rule, matrix.data(), values.data(), order_.rows.data(), ticket_, not_finite_.data(),
                                sums_.data(), order_.longest, bits, symmetric_});
  }

  FactorEntries<Space> entries_;
  Array<std::uint64_t, Space> mirror_;
  ReadyRows<Space> order_;
  triangular::Ticket<Space> ticket_;
  Array<Index, Space> not_finite_;
  Array<Scalar, Space> sums_, inverses_;
  ShortPattern<Space> pattern_;
  Symmetry symmetric_;
};

} // namespace weft::crout
