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
///
/// All this holds for rows of nodes of b unknowns as well, where couplings are blocks and `first` and `last` have b rows each; scalar lines are
/// those with b = 1.
#pragma once
#include "line/blocks/block_tridiagonal.hpp"
#include "line/relax/matrix_rows.hpp"

namespace weft {

/// What belongs to the two ends of a line: to its first node and to its last.
template <class Scalar, int b>
struct EndWords {
  BlockVector<Scalar, b> first, last;

  KOKKOS_INLINE_FUNCTION EndWords &operator+=(const EndWords &other)
  {
    first = first + other.first;
    last  = last + other.last;
    return *this;
  }
};

} // namespace weft

template <class Scalar, int b>
struct Kokkos::reduction_identity<weft::EndWords<Scalar, b>> {
  KOKKOS_FORCEINLINE_FUNCTION static weft::EndWords<Scalar, b> sum() { return {}; }
};

namespace weft {

/// Right-hand sides at nodes, as an array has them.
template <class Scalar, class Space, int b>
struct GivenNodes {
  Array<Scalar, Space> rhs;

  KOKKOS_INLINE_FUNCTION BlockVector<Scalar, b> operator()(Index i) const { return get_node<b>(rhs, i); }
};

/// Those of a relaxation: an array's less what the rows couple to beside their lines of stride `stride`.
template <class Scalar, class Space>
struct RelaxedNodes {
  Array<Scalar, Space> rhs;
  Diagonals<Scalar> matrix;
  const Scalar *x;
  Index stride;

  KOKKOS_INLINE_FUNCTION BlockVector<Scalar, 1> operator()(Index i) const
  {
    BlockVector<Scalar, 1> r;
    r(0) = rhs(i);
    for (int d = 0; d < matrix.count; d++) {
      const Index offset = matrix.offsets[d];
      if (offset != 0 && offset != stride && offset != -stride)
        r(0) -= times(matrix.values[d * matrix.pitch + i], matrix.at(x, i + offset));
    }
    return r;
  }
};

/// The lines of nodes of b unknowns: their numbers, colours and first elements.
template <int b>
LineLayout lines_of_nodes(LineLayout layout)
{
  layout.components /= b;
  return layout;
}

/// Block `number` of an array of b * b blocks.
template <int b, class View>
KOKKOS_INLINE_FUNCTION Block<typename View::non_const_value_type, b> get_block(const View &from, Index number)
{
  Block<typename View::non_const_value_type, b> block;
  for (int p = 0; p < b; p++) {
    for (int q = 0; q < b; q++) block(p, q) = from(number * b * b + p * b + q);
  }
  return block;
}

/// The first and the last b rows of the inverse of each line's piece.
template <class Scalar, class Space, int b>
struct InverseEnds {
  LineLayout layout; ///< of nodes
  LineLayout own;    ///< of each row of `first` and `last`
  bool each = true;  ///< rows for every line, in its layout; else one line's do for all
  OwnedArray<Scalar, Space> first, last;
  Index head = 0, tail = 0; ///< nodes from the start that `first` needs, and from the end that `last` needs

  InverseEnds() = default;
  explicit InverseEnds(const LineProblem &problem)
      : layout(lines_of_nodes<b>(problem.layout)),
        own(problem.coefficients == Coefficients::general ? problem.layout : one_line(problem.layout.length)),
        each(problem.coefficients == Coefficients::general), first("weft first rows of inverses", static_cast<std::size_t>(b * own.span())),
        last("weft last rows of inverses", static_cast<std::size_t>(b * own.span()))
  {
  }
  /// Where row `row` stands in them, of the line that starts at element `start` of `layout`.
  KOKKOS_INLINE_FUNCTION Index at(Index start, Index row) const { return each ? start + row * layout.stride : row; }

  /// Rows that the products visit, and each of them.
  KOKKOS_INLINE_FUNCTION Index visited() const { return Kokkos::min(head + tail, layout.length); }
  KOKKOS_INLINE_FUNCTION Index row(Index k) const { return head + tail < layout.length && k >= head ? k - head + layout.length - tail : k; }
  /// The part of some of the rows that belongs to the node at `at`.
  KOKKOS_INLINE_FUNCTION Block<Scalar, b> block(const OwnedArray<Scalar, Space> &rows, Index at) const
  {
    Block<Scalar, b> block;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) block(p, q) = rows(p * span() + at + q);
    }
    return block;
  }
  template <class Nodes>
  KOKKOS_INLINE_FUNCTION EndWords<Scalar, b> term(Index start, Index k, const Nodes &rhs) const
  {
    const Index r = row(k), j = at(start, r);
    const BlockVector<Scalar, b> x = rhs(start + r * layout.stride);
    EndWords<Scalar, b> product;
    if (r < head) product.first = block(first, j) * x;
    if (r >= layout.length - tail) product.last = block(last, j) * x;
    return product;
  }

private:
  /// Elements from a row of `first` or `last` to the next one.
  KOKKOS_INLINE_FUNCTION Index span() const { return b == 1 ? 0 : own.span(); }
};

/// The sums of a solve, cut into parts so that a few long lines occupy the backend as well.
template <class Space, class Scalar, int b>
class EndProducts {
public:
  EndProducts() = default;
  EndProducts(const Space &space, const LineLayout &layout) : teams_(on_device<Space> && layout.rows_are_closest())
  {
    constexpr bool device = on_device<Space>;
    const Index wanted = !device ? space.concurrency() : teams_ ? 2048 : 65536, smallest = !device ? 1024 : teams_ ? 4096 : 64;
    const Index count = Kokkos::max(lines_of_nodes<b>(layout).count(), Index(1));
    parts_            = Kokkos::max(Index(1), Kokkos::min((wanted + count - 1) / count, layout.length / smallest));
    sums_ =
        Kokkos::View<EndWords<Scalar, b> *, typename Space::memory_space>("weft end products", static_cast<std::size_t>(count * parts_));
  }

  /// rhs(i): the right-hand side of node i.
  template <class Nodes>
  void launch(const Space &space, const InverseEnds<Scalar, Space, b> &ends, const Nodes &rhs, Colour colour) const
  {
    if (teams_ && length(ends) <= most_by_lanes)
      by_lanes(space, *this, ends, rhs, colour);
    else if (teams_)
      by_teams(space, *this, ends, rhs, colour);
    else
      by_threads(space, *this, ends, rhs, colour);
  }
  KOKKOS_INLINE_FUNCTION EndWords<Scalar, b> total(Index line, Index count) const
  {
    EndWords<Scalar, b> sum;
    for (Index part = 0; part < parts_; part++) sum += sums_(part * count + line);
    return sum;
  }

  /// A thread for each part of a line: neighbouring threads have neighbouring lines.
  template <class Nodes>
  static void by_threads(const Space &space, const EndProducts &self, const InverseEnds<Scalar, Space, b> &ends, const Nodes &rhs,
                         Colour colour)
  {
    const Index items = self.items(ends), length = self.length(ends);
    const auto sums = self.sums_;
    Kokkos::parallel_for(
        "weft end products", Kokkos::RangePolicy<Space>(space, 0, items), KOKKOS_LAMBDA(const Index item) {
          const Part part(ends, item, length);
          if (!ends.layout.has_colour(part.line, colour)) return;
          EndWords<Scalar, b> sum;
          for (Index k = part.begin; k < part.end; k++) sum += ends.term(part.start, k, rhs);
          sums(item) = sum;
        });
  }
  /// Lanes for each part, on neighbouring rows: where parts are short, many are under way at once.
  template <class Nodes>
  static void by_lanes(const Space &space, const EndProducts &self, const InverseEnds<Scalar, Space, b> &ends, const Nodes &rhs,
                       Colour colour)
  {
    using Policy      = Kokkos::TeamPolicy<Space>;
    const Index items = self.items(ends), length = self.length(ends);
    const auto sums = self.sums_;
    const int lanes = length <= 64 ? 8 : 32, together = 256 / lanes;
    const int teams = static_cast<int>(Kokkos::min((items + together - 1) / together, Index(1) << 20));
    Kokkos::parallel_for(
        "weft end products", Policy(space, teams, together, lanes), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          for (Index from = Index(team.league_rank()) * together; from < items; from += Index(team.league_size()) * together) {
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, from, Kokkos::min(from + together, items)), [&](const Index item) {
              const Part part(ends, item, length);
              if (!ends.layout.has_colour(part.line, colour)) return;
              EndWords<Scalar, b> sum;
              Kokkos::parallel_reduce(
                  Kokkos::ThreadVectorRange(team, part.begin, part.end),
                  [&](const Index k, EndWords<Scalar, b> &some) { some += ends.term(part.start, k, rhs); },
                  Kokkos::Sum<EndWords<Scalar, b>>(sum));
              Kokkos::single(Kokkos::PerThread(team), [&]() { sums(item) = sum; });
            });
          }
        });
  }
  /// A team for each part, its threads on neighbouring rows.
  template <class Nodes>
  static void by_teams(const Space &space, const EndProducts &self, const InverseEnds<Scalar, Space, b> &ends, const Nodes &rhs,
                       Colour colour)
  {
    using Policy      = Kokkos::TeamPolicy<Space>;
    const Index items = self.items(ends), length = self.length(ends);
    const auto sums = self.sums_;
    const int teams = static_cast<int>(Kokkos::min(items, Index(1) << 20));
    Kokkos::parallel_for(
        "weft end products", Policy(space, teams, 256), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          for (Index item = team.league_rank(); item < items; item += team.league_size()) {
            const Part part(ends, item, length);
            if (!ends.layout.has_colour(part.line, colour)) continue;
            EndWords<Scalar, b> sum;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, part.begin, part.end),
                [&](const Index k, EndWords<Scalar, b> &some) { some += ends.term(part.start, k, rhs); },
                Kokkos::Sum<EndWords<Scalar, b>>(sum));
            Kokkos::single(Kokkos::PerTeam(team), [&]() { sums(item) = sum; });
          }
        });
  }

  /// Rows of the visited ones that an item sums, `length` of them at most, and the line they are of.
  struct Part {
    Index line, start, begin, end;

    KOKKOS_INLINE_FUNCTION Part(const InverseEnds<Scalar, Space, b> &ends, Index item, Index length)
        : line(item % ends.layout.count()), start(ends.layout.start(line)), begin(item / ends.layout.count() * length),
          end(Kokkos::min(begin + length, ends.visited()))
    {
    }
  };

private:
  Index items(const InverseEnds<Scalar, Space, b> &ends) const { return ends.layout.count() * parts_; }
  Index length(const InverseEnds<Scalar, Space, b> &ends) const { return (ends.visited() + parts_ - 1) / parts_; }

  static constexpr Index most_by_lanes = 256;
  bool teams_                          = false;
  Index parts_                         = 1;
  Kokkos::View<EndWords<Scalar, b> *, typename Space::memory_space> sums_; ///< part by part
};

/// The kernels of a piece's set-up and of the right-hand side's correction. Layouts of nodes, unless their lines are those of a LineSolver.
template <class Space, class Scalar, int b>
struct PieceKernels {
  using Values = OwnedArray<Scalar, Space>;
  using Words  = Kokkos::View<EndWords<Scalar, b> *, typename Space::memory_space>;

  /// b vectors after each other, on every line the b unit vectors of node `unit_row`.
  static void unit(const Space &space, const LineLayout &layout, const Values &values, Index unit_row)
  {
    const Index span = layout.span();
    Kokkos::parallel_for(
        "weft unit vectors", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(layout, number);
          const Index i    = layout.start(at.line) + at.row * layout.stride;
          for (int p = 0; p < b; p++) values(p * span + i) = at.row == unit_row && at.line % b == p ? 1 : 0;
        });
  }

  /// Nodes, counted from the end that the b vectors decay from, beyond which no value is larger than tolerance times the largest at that end.
  static Index significant(const Space &space, const LineLayout &layout, const Values &values, double tolerance, bool from_start)
  {
    const Index span = layout.span();
    Index rows       = 0;
    Kokkos::parallel_reduce(
        "weft significant rows", Kokkos::RangePolicy<Space>(space, 0, layout.rows()),
        KOKKOS_LAMBDA(const Index number, Index &most) {
          const LineRow at  = line_row(layout, number);
          const Index start = layout.start(at.line), end = start - at.line % b + (from_start ? 0 : (layout.length - 1) * layout.stride);
          RealOf<Scalar> largest = 0;
          bool small             = true;
          for (int p = 0; p < b; p++) {
            for (int q = 0; q < b; q++) largest = Kokkos::max(largest, modulus(values(p * span + end + q)));
          }
          for (int p = 0; p < b; p++) // NaN is not small
            small = small && modulus(values(p * span + start + at.row * layout.stride)) <= static_cast<RealOf<Scalar>>(tolerance) * largest;
          if (!small) most = Kokkos::max(most, from_start ? at.row + 1 : layout.length - at.row);
        },
        Kokkos::Max<Index>(rows));
    return Kokkos::max(rows, Index(0)); // no rows at all: the reduction's identity
  }

  /// The couplings to the neighbours, a block for each of `before` and `after`, 0 where there is none.
  static void couplings(const Space &space, const LineProblem &problem, const Array<const Scalar, Space> &lower,
                        const Array<const Scalar, Space> &upper, bool has_before, bool has_after, const Values &before, const Values &after)
  {
    const LineLayout nodes = lines_of_nodes<b>(problem.layout);
    const Index last       = nodes.length - 1;
    Kokkos::parallel_for(
        "weft couplings", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(before.extent(0)) / (b * b)),
        KOKKOS_LAMBDA(const Index line) {
          const Index start = nodes.start(line), end = start + last * nodes.stride;
          const Index lower_at = problem.coefficient(0, start) * b, upper_at = problem.coefficient(last, end) * b;
          for (int e = 0; e < b * b; e++) {
            before(line * b * b + e) = has_before ? lower(lower_at + e) : Scalar(0);
            after(line * b * b + e)  = has_after ? upper(upper_at + e) : Scalar(0);
          }
        });
  }

  /// rhs -= taken(line).first at the first node, .last at the last one; what stood there goes to `kept`.
  template <class Taken>
  static void take(const Space &space, const LineLayout &layout, const Array<Scalar, Space> &rhs, const Taken &taken, const Words &kept,
                   Colour colour)
  {
    Kokkos::parallel_for(
        "weft take the neighbours' unknowns", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!layout.has_colour(line, colour)) return;
          const Index start = layout.start(line), end = start + (layout.length - 1) * layout.stride;
          const EndWords<Scalar, b> amount = taken(line);
          kept(line)                       = {get_node<b>(rhs, start), get_node<b>(rhs, end)};
          for (int p = 0; p < b; p++) {
            rhs(start + p) -= amount.first(p);
            rhs(end + p) -= amount.last(p);
          }
        });
  }
  /// The other way.
  static void put_back(const Space &space, const LineLayout &layout, const Array<Scalar, Space> &rhs, const Words &kept, Colour colour)
  {
    Kokkos::parallel_for(
        "weft put the right-hand side back", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!layout.has_colour(line, colour)) return;
          const Index start = layout.start(line), end = start + (layout.length - 1) * layout.stride;
          put_node(rhs, start, Update<Scalar>{}, kept(line).first);
          put_node(rhs, end, Update<Scalar>{}, kept(line).last);
        });
  }
};

} // namespace weft
