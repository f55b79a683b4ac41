/// How the lines of a matrix couple to each other: what may be relaxed in place. And the small kernels of a relaxation.
#pragma once
#include <limits>

#include "smooth/diagonals_of_csr.hpp"
#include "smooth/residual.hpp"

namespace weft {

struct LineKind {
  bool known               = false;
  bool same_colour_couples = false; ///< some line to another one of its colour
  bool any_couple          = false; ///< some line to another one
  bool own_couple          = false; ///< rows of a line beyond their neighbours, around a period say
  bool ends_couple         = false; ///< something stands in the matrix where a line's first row has its lower, or its last its upper
  bool dominant            = false; ///< no elimination of T can meet an unusable pivot
};

/// What the entries of a row say of the lines, as bits.
struct LineLook {
  enum : int { same_colour = 1, any = 2, own = 4, ends = 8, weak = 16 };
  static constexpr Index no_line = -2;

  const Index *codes = nullptr; ///< of each row: twice the number of its line, and the line's colour; no_line where it has none

  /// For an entry that is not 0 and not of T, of a row of code `from`.
  KOKKOS_INLINE_FUNCTION int coupling(Index from, Index row) const
  {
    const Index to = codes[row];
    if ((to >> 1) == (from >> 1)) return own;
    return to >= 0 && ((to ^ from) & 1) == 0 ? any | same_colour : any;
  }
  /// A row of T whose diagonal is larger than the others together leaves a pivot larger than its other coupling, in whatever order the rows of
  /// such a matrix are eliminated; by more than rounding errors of many rows here.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION static int weakness(Scalar lower, Scalar diagonal, Scalar upper)
  {
    constexpr Scalar least = sizeof(Scalar) == 8 ? Scalar(1e-8) : Scalar(1e-3);
    const Scalar others = Kokkos::abs(lower) + Kokkos::abs(upper), size = Kokkos::abs(diagonal);
    const bool strong = size > 0 && size >= (1 + least) * others && size <= std::numeric_limits<Scalar>::max() / 4;
    return strong ? 0 : weak;
  }
};

template <class Space>
class LineKinds {
public:
  LineKinds() = default;
  LineKinds(const LineLayout &layout, Index rows)
      : layout_(layout), codes_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft line of a row"), static_cast<std::size_t>(rows)),
        found_("weft how lines couple")
  {
  }

  /// For kernels that see all entries anyway: how to look at them, and found |= body(k) for k = 0 .. n-1. Does not wait.
  LineLook look(const Space &space)
  {
    if (!numbered_) number_rows(space);
    LineLook look;
    look.codes = codes_.data();
    return look;
  }

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
  }

  /// Looks at all entries that are not 0. Does not wait.
  template <class Scalar>
  void look(const Space &space, const Diagonals<Scalar> &matrix)
  {
    const LineLook look = this->look(space);
    const Index stride  = layout_.length > 1 ? layout_.stride : 0;
    for_each(
        "weft how lines couple", space, matrix.rows, KOKKOS_LAMBDA(const Index i) {
          constexpr int some = 8; // on their way together
          const Index code   = look.codes[i];
          if (code < 0) return 0;
          int what     = 0;
          Scalar lower = 0, diagonal = 0, upper = 0;
          for (int first = 0; first < matrix.count; first += some) {
            Scalar values[some];
            for (int k = 0; k < some; k++) values[k] = first + k < matrix.count ? matrix.values[(first + k) * matrix.pitch + i] : Scalar(0);
            for (int k = 0; k < some; k++) {
              if (values[k] == 0) continue;
              const Index offset = matrix.offsets[first + k];
              if (offset == 0) {
                diagonal = values[k];
              } else if (offset == stride || offset == -stride) {
                (offset > 0 ? upper : lower) = values[k];
                if ((look.codes[i + offset] >> 1) != (code >> 1)) what |= LineLook::ends;
              } else {
                what |= look.coupling(code, i + offset);
              }
            }
          }
          return what | LineLook::weakness(lower, diagonal, upper);
        });
  }

  /// What was found. Waits.
  LineKind read(const Space &space) const
  {
    const int f = found_.read(space);
    return {true,
            (f & LineLook::same_colour) != 0,
            (f & LineLook::any) != 0,
            (f & LineLook::own) != 0,
            (f & LineLook::ends) != 0,
            (f & LineLook::weak) == 0};
  }

  /// The line of every row that has one: once, it does not depend on values.
  void number_rows(const Space &space)
  {
    const LineLayout layout = layout_;
    const auto codes        = codes_;
    if (layout.rows() < static_cast<Index>(codes.extent(0))) Kokkos::deep_copy(space, codes, LineLook::no_line);
    Kokkos::parallel_for(
        "weft line of a row", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index k) {
          const LineRow at                                      = line_row(layout, k);
          codes(layout.start(at.line) + at.row * layout.stride) = 2 * at.line + static_cast<Index>(layout.colour(at.line));
        });
    numbered_ = true;
  }

private:
  LineLayout layout_;
  OwnedArray<Index, Space> codes_;
  Findings<Space> found_;
  bool numbered_ = false;
};

template <class Scalar>
struct ValueOfRow {
  SomeRows rows;
  const Scalar *values;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    return i < 0 ? 0 : measure(type, static_cast<double>(values[i]));
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
    return measure(type, static_cast<double>(values[i]));
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
