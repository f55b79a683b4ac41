/// A rank's piece A of each line, cut off from its neighbours: the kernels that bring a right-hand side down to two words, and that put the
/// neighbours' unknowns back into it.
///
/// With the couplings `before` (of the first row to the row before the piece) and `after` (of the last row to the row after it),
///   A x = rhs - before x_before e_0 - after x_after e_{m-1},
/// so the ends of the piece are
///   x_0     = first.rhs - before first_0 x_before - after first_{m-1} x_after,      first = row 0 of A^-1
///   x_{m-1} = last.rhs  - before last_0  x_before - after last_{m-1}  x_after,      last  = row m-1 of A^-1.
/// A solve reads rhs once for the two products, 3 words a row, 1 where the lines share `first` and `last`; and only the rows near the ends
/// where the rows of the inverse decay below a tolerance. Once x_before and x_after are known they are taken to the right-hand side, and any
/// method solves the piece: nothing is added to the solution afterwards.
#pragma once
#include "tridiagonal/tridiagonal.hpp"

namespace weft {

/// Two words of a line: of its first row and of its last.
template <class Scalar>
struct EndWords {
  Scalar first = 0, last = 0;

  KOKKOS_INLINE_FUNCTION EndWords &operator+=(const EndWords &other)
  {
    first += other.first;
    last += other.last;
    return *this;
  }
};

} // namespace weft

template <class Scalar>
struct Kokkos::reduction_identity<weft::EndWords<Scalar>> {
  KOKKOS_FORCEINLINE_FUNCTION static weft::EndWords<Scalar> sum() { return {}; }
};

namespace weft {

/// The first and the last row of the inverse of each line's piece.
template <class Scalar, class Space>
struct InverseEnds {
  LineLayout layout;
  bool each = true; ///< rows for every line, in its layout; else one line's do for all
  OwnedArray<Scalar, Space> first, last;
  Index head = 0, tail = 0; ///< rows from the start that `first` needs, and from the end that `last` needs

  InverseEnds() = default;
  explicit InverseEnds(const LineProblem &problem)
      : layout(problem.layout), each(problem.coefficients == Coefficients::general),
        first("weft first rows of inverses", static_cast<std::size_t>(own().span())),
        last("weft last rows of inverses", static_cast<std::size_t>(own().span()))
  {
  }
  /// The layout of `first` and `last`.
  LineLayout own() const { return each ? layout : one_line(layout.length); }
  /// Where row `row` stands in them, of the line that starts at element `start` of `layout`.
  KOKKOS_INLINE_FUNCTION Index at(Index start, Index row) const { return each ? start + row * layout.stride : row; }

  /// Rows that the products visit, and each of them.
  KOKKOS_INLINE_FUNCTION Index visited() const { return Kokkos::min(head + tail, layout.length); }
  KOKKOS_INLINE_FUNCTION Index row(Index k) const { return head + tail < layout.length && k >= head ? k - head + layout.length - tail : k; }
  KOKKOS_INLINE_FUNCTION EndWords<Scalar> term(Index start, Index k, const Array<Scalar, Space> &rhs) const
  {
    const Index r = row(k), j = at(start, r);
    const Scalar b = rhs(start + r * layout.stride);
    return {r < head ? first(j) * b : Scalar(0), r >= layout.length - tail ? last(j) * b : Scalar(0)};
  }
};

/// The sums of a solve, cut into parts so that a few long lines occupy the backend as well.
template <class Space, class Scalar>
class EndProducts {
public:
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

  EndProducts() = default;
  EndProducts(const Space &space, const LineLayout &layout) : teams_(!on_host && layout.rows_are_closest())
  {
    const Index wanted = on_host ? space.concurrency() : teams_ ? 2048 : 65536, smallest = on_host ? 1024 : teams_ ? 4096 : 64;
    const Index count = Kokkos::max(layout.count(), Index(1));
    parts_            = Kokkos::max(Index(1), Kokkos::min((wanted + count - 1) / count, layout.length / smallest));
    sums_ = Kokkos::View<EndWords<Scalar> *, typename Space::memory_space>("weft end products", static_cast<std::size_t>(count * parts_));
  }

  void launch(const Space &space, const InverseEnds<Scalar, Space> &ends, const Array<Scalar, Space> &rhs, Colour colour) const
  {
    if (teams_)
      by_teams(space, *this, ends, rhs, colour);
    else
      by_threads(space, *this, ends, rhs, colour);
  }
  KOKKOS_INLINE_FUNCTION EndWords<Scalar> total(Index line, Index count) const
  {
    EndWords<Scalar> sum;
    for (Index part = 0; part < parts_; part++) sum += sums_(part * count + line);
    return sum;
  }

  /// A thread for each part of a line: neighbouring threads have neighbouring lines.
  static void by_threads(const Space &space, const EndProducts &self, const InverseEnds<Scalar, Space> &ends,
                         const Array<Scalar, Space> &rhs, Colour colour)
  {
    const Index count = ends.layout.count(), parts = self.parts_, length = (ends.visited() + parts - 1) / parts;
    const auto sums = self.sums_;
    Kokkos::parallel_for(
        "weft end products", Kokkos::RangePolicy<Space>(space, 0, count * parts), KOKKOS_LAMBDA(const Index item) {
          const Index line = item % count, begin = item / count * length, end = Kokkos::min(begin + length, ends.visited());
          if (!ends.layout.has_colour(line, colour)) return;
          const Index start = ends.layout.start(line);
          EndWords<Scalar> sum;
          for (Index k = begin; k < end; k++) sum += ends.term(start, k, rhs);
          sums(item) = sum;
        });
  }
  /// A team for each part, its threads on neighbouring rows.
  static void by_teams(const Space &space, const EndProducts &self, const InverseEnds<Scalar, Space> &ends, const Array<Scalar, Space> &rhs,
                       Colour colour)
  {
    using Policy      = Kokkos::TeamPolicy<Space>;
    const Index count = ends.layout.count(), parts = self.parts_, length = (ends.visited() + parts - 1) / parts, items = count * parts;
    const auto sums = self.sums_;
    const int teams = static_cast<int>(Kokkos::min(items, Index(1) << 20)), threads = length <= 256 ? 32 : 256;
    Kokkos::parallel_for(
        "weft end products", Policy(space, teams, threads), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          for (Index item = team.league_rank(); item < items; item += team.league_size()) {
            const Index line = item % count, begin = item / count * length, end = Kokkos::min(begin + length, ends.visited());
            if (!ends.layout.has_colour(line, colour)) continue;
            const Index start = ends.layout.start(line);
            EndWords<Scalar> sum;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, begin, end), [&](const Index k, EndWords<Scalar> &part) { part += ends.term(start, k, rhs); },
                Kokkos::Sum<EndWords<Scalar>>(sum));
            Kokkos::single(Kokkos::PerTeam(team), [&]() { sums(item) = sum; });
          }
        });
  }

private:
  bool teams_  = false;
  Index parts_ = 1;
  Kokkos::View<EndWords<Scalar> *, typename Space::memory_space> sums_; ///< part by part
};

/// The kernels of a piece's set-up and of the right-hand side's correction.
template <class Space, class Scalar>
struct PieceKernels {
  using Values = OwnedArray<Scalar, Space>;

  /// values = e_row on every line.
  static void unit(const Space &space, const LineLayout &layout, const Values &values, Index unit_row)
  {
    Kokkos::parallel_for(
        "weft unit vectors", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at                                       = line_row(layout, number);
          values(layout.start(at.line) + at.row * layout.stride) = at.row == unit_row ? 1 : 0;
        });
  }

  /// Rows, counted from the end that the values decay from, beyond which none is larger than tolerance times the one at that end.
  static Index significant(const Space &space, const LineLayout &layout, const Values &values, double tolerance, bool from_start)
  {
    Index rows = 0;
    Kokkos::parallel_reduce(
        "weft significant rows", Kokkos::RangePolicy<Space>(space, 0, layout.rows()),
        KOKKOS_LAMBDA(const Index number, Index &most) {
          const LineRow at  = line_row(layout, number);
          const Index start = layout.start(at.line), end = from_start ? 0 : layout.length - 1;
          const Scalar value   = Kokkos::abs(values(start + at.row * layout.stride)),
                       largest = Kokkos::abs(values(start + end * layout.stride));
          if (value <= static_cast<Scalar>(tolerance) * largest) return; // NaN stays
          most = Kokkos::max(most, from_start ? at.row + 1 : layout.length - at.row);
        },
        Kokkos::Max<Index>(rows));
    return Kokkos::max(rows, Index(0)); // no rows at all: the reduction's identity
  }

  /// The couplings to the neighbours, 0 where there is none.
  static void couplings(const Space &space, const LineProblem &problem, const Array<const Scalar, Space> &lower,
                        const Array<const Scalar, Space> &upper, bool has_before, bool has_after, const Values &before, const Values &after)
  {
    const Index last = problem.layout.length - 1;
    Kokkos::parallel_for(
        "weft couplings", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(before.extent(0))), KOKKOS_LAMBDA(const Index line) {
          const Index start = problem.layout.start(line);
          before(line)      = has_before ? lower(problem.coefficient(0, start)) : Scalar(0);
          after(line)       = has_after ? upper(problem.coefficient(last, start + last * problem.layout.stride)) : Scalar(0);
        });
  }

  /// rhs -= taken(line).first at the first row, .last at the last one; what stood there goes to `kept`.
  template <class Taken>
  static void take(const Space &space, const LineLayout &layout, const Array<Scalar, Space> &rhs, const Taken &taken,
                   const Kokkos::View<EndWords<Scalar> *, typename Space::memory_space> &kept, Colour colour)
  {
    Kokkos::parallel_for(
        "weft take the neighbours' unknowns", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!layout.has_colour(line, colour)) return;
          const Index start = layout.start(line), end = start + (layout.length - 1) * layout.stride;
          const EndWords<Scalar> amount = taken(line);
          kept(line)                    = {rhs(start), rhs(end)};
          rhs(start) -= amount.first;
          rhs(end) -= amount.last;
        });
  }
  /// The other way.
  static void put_back(const Space &space, const LineLayout &layout, const Array<Scalar, Space> &rhs,
                       const Kokkos::View<EndWords<Scalar> *, typename Space::memory_space> &kept, Colour colour)
  {
    Kokkos::parallel_for(
        "weft put the right-hand side back", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!layout.has_colour(line, colour)) return;
          rhs(layout.start(line))                                       = kept(line).first;
          rhs(layout.start(line) + (layout.length - 1) * layout.stride) = kept(line).last;
        });
  }
};

} // namespace weft
