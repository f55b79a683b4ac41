/// How the lines of a matrix couple to each other: what may be relaxed in place. And the small kernels of a relaxation.
#pragma once
#include <cstdint>
#include <limits>

#include "line/relax/diagonals_of_csr.hpp"
#include "line/relax/residual.hpp"

namespace weft {

struct LineKind {
  bool known               = false;
  bool same_colour_couples = false; ///< some line to another one of its colour
  bool any_couple          = false; ///< some line to another one
  bool own_couple          = false; ///< rows of a line beyond their neighbours, around a period say
  bool ends_couple         = false; ///< something stands in the matrix where a line's first row has its lower, or its last its upper
  bool dominant            = false; ///< no elimination of T can meet an unusable pivot

  friend bool operator==(const LineKind &, const LineKind &) = default;
};

/// What the entries of a row say of the lines, as bits.
struct LineLook {
  enum : int { same_colour = 1, any = 2, own = 4, ends = 8, weak = 16 };
  static constexpr Index no_line = -2;

  const Index *codes = nullptr; ///< of each row: twice the number of its line, and the line's colour; no_line where it has none
  /// Of each row, for few diagonals: a byte for each of the first four findings, of which bit d says that diagonal d is such a one if it is not 0.
  const std::uint32_t *words        = nullptr;
  static constexpr int most_in_word = 8;

  /// What row i says whose entries on the diagonals of these bits are not 0.
  KOKKOS_INLINE_FUNCTION int row(Index i, std::uint32_t diagonals) const
  {
    const std::uint32_t found = words[i] & diagonals * 0x01010101u;
    int what                  = 0;
    for (int finding = 0; finding < 4; finding++) what |= (found >> 8 * finding & 0xffu) != 0 ? 1 << finding : 0;
    return what;
  }

  /// For an entry that is not 0 beside the diagonal, `offset` from it, of row i that is in a line of stride `stride` (0: of one row).
  KOKKOS_INLINE_FUNCTION int entry(Index i, Index offset, Index stride) const
  {
    const Index from = codes[i], to = codes[i + offset];
    const bool same_line = (to >> 1) == (from >> 1);
    if (offset == stride || offset == -stride) return same_line ? 0 : ends;
    if (same_line) return own;
    return to >= 0 && ((to ^ from) & 1) == 0 ? any | same_colour : any;
  }
  /// A row of T whose diagonal is larger than the others together leaves a pivot larger than its other coupling, in whatever order the rows of
  /// such a matrix are eliminated; by more than rounding errors of many rows here.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION static int weakness(Scalar lower, Scalar diagonal, Scalar upper)
  {
    using Real           = RealOf<Scalar>;
    constexpr Real least = sizeof(Real) == 8 ? Real(1e-8) : Real(1e-3);
    const Real others = modulus(lower) + modulus(upper), size = modulus(diagonal);
    const bool strong = size > 0 && size >= (1 + least) * others && size <= std::numeric_limits<Real>::max() / 4;
    return strong ? 0 : weak;
  }
};

template <class Space>
class LineKinds {
public:
  LineKinds() = default;
  LineKinds(const LineLayout &layout, Index rows)
      : layout_(layout), rows_(rows), found_("weft how lines couple"),
        told_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft how lines couple"))
  {
  }

  /// To be called where the matrix has other diagonals than before.
  template <class Scalar>
  void prepare(const Space &space, const Diagonals<Scalar> &matrix)
  {
    number_rows(space);
    words_ = {};
    if (matrix.count > LineLook::most_in_word || layout_.rows() != matrix.rows) return;
    words_              = table<std::uint32_t, Space>("weft couplings of a row", codes_.extent(0));
    const auto words    = words_;
    const LineLook look = this->look();
    const Index stride  = layout_.length > 1 ? layout_.stride : 0;
    Kokkos::parallel_for(
        "weft couplings of a row", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, matrix.rows),
        KOKKOS_LAMBDA(const Index i) {
          std::uint32_t word = 0;
          for (int d = 0; d < matrix.count; d++) {
            const Index offset = matrix.offsets[d], j = i + offset;
            if (offset == 0 || j < 0 || j >= matrix.rows) continue;
            const int what = look.entry(i, offset, stride);
            for (int finding = 0; finding < 4; finding++) word |= static_cast<std::uint32_t>(what >> finding & 1) << (8 * finding + d);
          }
          words(i) = word;
        });
    codes_ = {}; // their place is free again: waits
  }
  /// How kernels that see all entries anyway can look at them, if their words are known.
  LineLook look() const
  {
    LineLook look;
    look.codes = codes_.data();
    look.words = words_.data();
    return look;
  }

  /// found |= body(k) for k = 0 .. n-1. Does not wait.
  template <class Body>
  void for_each(const char *label, const Space &space, Index n, const Body &body) const
  {
    const auto found = found_;
    found.clear(space);
    if constexpr (is_host_space<Space>) {
      int bits = 0;
      Kokkos::parallel_reduce(
          label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, n),
          KOKKOS_LAMBDA(const Index k, int &here) { here |= body(k); }, Kokkos::BOr<int>(bits));
      found.report(bits);
    } else {
      // A reduction over a range would take few teams.
      constexpr int together = 256, turns = 2;
      using Team = Kokkos::TeamPolicy<Space>;
      Kokkos::parallel_for(
          label, Team(space, static_cast<int>((n + turns * together - 1) / (turns * together)), together),
          KOKKOS_LAMBDA(const typename Team::member_type &team) {
            const Index first = Index(team.league_rank()) * turns * together + team.team_rank();
            int bits          = 0;
            for (int turn = 0; turn < turns; turn++) {
              const Index k = first + turn * together;
              if (k < n) bits |= body(k);
            }
            team.team_reduce(Kokkos::BOr<int>(bits));
            if (team.team_rank() == 0) found.report(bits);
          });
    }
    found.tell(space, told_);
  }

  /// Looks at all entries that are not 0. Does not wait.
  template <class Scalar>
  void look(const Space &space, const Diagonals<Scalar> &matrix, const int (&of_t)[3]) const
  {
    if (words_.data())
      look_by_words(space, matrix, of_t);
    else
      look_at_all(space, matrix);
  }

  /// of_t: which diagonals are T's lower, diagonal and upper; -1 for none.
  template <class Scalar>
  void look_by_words(const Space &space, const Diagonals<Scalar> &matrix, const int (&of_t)[3]) const
  {
    const LineLook look = this->look();
    const int lower = of_t[0], diagonal = of_t[1], upper = of_t[2];
    for_each(
        "weft how lines couple", space, matrix.rows, KOKKOS_LAMBDA(const Index i) {
          constexpr int most = LineLook::most_in_word;
          Scalar values[most], t[3] = {0, 0, 0}; // on their way together
          for (int d = 0; d < most; d++) values[d] = d < matrix.count ? matrix.values[d * matrix.pitch + i] : Scalar(0);
          std::uint32_t there = 0;
          for (int d = 0; d < most; d++) {
            there |= values[d] != 0 ? 1u << d : 0u;
            if (d == lower) t[0] = values[d];
            if (d == diagonal) t[1] = values[d];
            if (d == upper) t[2] = values[d];
          }
          return look.row(i, there) | LineLook::weakness(t[0], t[1], t[2]);
        });
  }

  template <class Scalar>
  void look_at_all(const Space &space, const Diagonals<Scalar> &matrix) const
  {
    const LineLook look = this->look();
    const Index stride  = layout_.length > 1 ? layout_.stride : 0;
    for_each(
        "weft how lines couple", space, matrix.rows, KOKKOS_LAMBDA(const Index i) {
          if (look.codes[i] < 0) return 0;
          int what    = 0;
          Scalar t[3] = {0, 0, 0};
          for (int d = 0; d < matrix.count; d++) {
            const Scalar value = matrix.values[d * matrix.pitch + i];
            const Index offset = matrix.offsets[d];
            if (value == 0) continue;
            if (offset == -stride) t[0] = value;
            if (offset == 0) t[1] = value;
            if (offset == stride) t[2] = value;
            if (offset != 0) what |= look.entry(i, offset, stride);
          }
          return what | LineLook::weakness(stride == 0 ? Scalar(0) : t[0], t[1], stride == 0 ? Scalar(0) : t[2]);
        });
  }

  /// What was found. Waits.
  LineKind read(const Space &space) const
  {
    space.fence("weft: how lines couple");
    const int f = told_();
    return {true,
            (f & LineLook::same_colour) != 0,
            (f & LineLook::any) != 0,
            (f & LineLook::own) != 0,
            (f & LineLook::ends) != 0,
            (f & LineLook::weak) == 0};
  }

  /// The line of every row that has one.
  void number_rows(const Space &space)
  {
    const LineLayout layout = layout_;
    if (codes_.extent(0) == 0) codes_ = table<Index, Space>("weft line of a row", rows_);
    const auto codes = codes_;
    if (layout.rows() < static_cast<Index>(codes.extent(0))) Kokkos::deep_copy(space, codes, LineLook::no_line);
    Kokkos::parallel_for(
        "weft line of a row", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index k) {
          const LineRow at                                      = line_row(layout, k);
          codes(layout.start(at.line) + at.row * layout.stride) = 2 * at.line + static_cast<Index>(layout.colour(at.line));
        });
  }

private:
  LineLayout layout_;
  Index rows_ = 0;
  OwnedArray<Index, Space> codes_;
  OwnedArray<std::uint32_t, Space> words_;
  Findings<Space> found_;
  Pinned told_; ///< the same on the host
};

template <class Scalar>
struct ValueOfRow {
  SomeRows rows;
  const Scalar *values;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    return i < 0 ? 0 : measure(type, values[i]);
  }
};

template <class Scalar>
struct AddToRow {
  SomeRows rows;
  const Scalar *values;
  Scalar *x;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    if (i < 0) return 0;
    x[i] += values[i];
    return measure(type, values[i]);
  }
};

template <class Scalar>
struct ZeroOfRow {
  SomeRows rows;
  Scalar *x;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    if (i >= 0) x[i] = 0;
    return 0;
  }
};

/// A part of a norm that a team left.
struct Part {
  const double *parts;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const { return parts[k]; }
};

} // namespace weft
