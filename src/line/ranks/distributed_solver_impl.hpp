/// DistributedImplOn: what a rank does for lines in pieces on one backend, whatever solves the pieces. Included by the .cpp files of the solvers
/// only.
#pragma once
#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/backend.hpp"
#include "base/messages.hpp"
#include "line/host_copies.hpp"
#include "line/ranks/distributed_line_solver.hpp"
#include "line/ranks/end_windows.hpp"
#include "line/ranks/piece.hpp"
#include "line/ranks/reduced.hpp"
#include "line/relax/storage.hpp"

namespace weft {

/// Lines of nodes of b unknowns.
template <class Space, class Problem, class Scalar, int b>
class DistributedImplOn final : public DistributedLines<Problem, Scalar>::Impl {
public:
  using Local     = typename DistributedLines<Problem, Scalar>::Local;
  using Values    = OwnedArray<Scalar, Space>;
  using Square    = Block<Scalar, b>;
  using Vector    = BlockVector<Scalar, b>;
  using Ends      = EndWords<Scalar, b>;
  using Words     = Kokkos::View<Ends *, typename Space::memory_space>;
  using Indices   = Kokkos::View<Index *, typename Space::memory_space>;
  using Near      = FromNeighbours<Space, Scalar, b>;
  using Kernels   = PieceKernels<Space, Scalar, b>;
  using AllSpikes = Kokkos::View<Spikes<Scalar, b> *, typename Space::memory_space>;

  /// What is known of the matrix or of its transpose. Tables for every line, or for the one that stands for all.
  struct Side {
    Values before, after; ///< couplings, in blocks
    InverseEnds<Scalar, Space, b> inverse;
    AllSpikes spikes;
    OwnedSystems<Space, Scalar, b> owned;
    Kokkos::View<typename Near::Weights *, typename Space::memory_space> weights;
    bool neighbours_only = false;
  };

  /// `each`: on some rank the lines differ from one another.
  DistributedImplOn(const Space &space, const Ranks &ranks, const LineProblem &problem, bool each, double tolerance, bool device_messages)
      : space_(space), ranks_(ranks), problem_(problem), nodes_(lines_of_nodes<b>(problem.layout)), each_(each), tolerance_(tolerance),
        exact_(nodes_, ranks.size()), close_(nodes_, 1), exact_places_(indices(exact_.places())), close_places_(indices(close_.places())),
        owned_lines_(indices(exact_.lines(ranks.rank()))), starts_(indices(ranks.starts())),
        before_("weft couplings", size(block * (each ? count() : 1))), after_("weft couplings", before_.extent(0))
  {
    flag_.length     = ranks.length();
    const Index most = Kokkos::max(count(), Index(1)), owned = Kokkos::max(static_cast<Index>(owned_lines_.extent(0)), Index(1));
    device_messages = device_messages || ranks.on_stream();
    mine_.allocate(4 * block * most, device_messages);
    theirs_.allocate(block * Kokkos::max(4 * ranks.pieces() * owned, 2 * most), device_messages);
    sides_[0] = make_side();
    if (ranks.is_empty() || !ranks.coupled()) return;
    products_ = EndProducts<Space, Scalar, b>(space, problem.layout);
    own_      = Words("weft own products", size(count()));
    kept_     = Words("weft kept ends", size(count()));
  }

  void use(const Scalar *lower, const Scalar *upper) override
  {
    lower_ = lower;
    upper_ = upper;
  }
  void use_couplings(const Scalar *before, const Scalar *after) override
  {
    use(nullptr, nullptr);
    if (ranks_.has_before()) copy(space_, before, before_.data(), matrices(), false);
    if (ranks_.has_after()) copy(space_, after, after_.data(), matrices(), false);
  }
  void use_couplings(const std::vector<Scalar> &before, const std::vector<Scalar> &after) override
  {
    use(nullptr, nullptr);
    copy_from_host(space_, before_, before);
    copy_from_host(space_, after_, after);
  }
  std::array<std::vector<Scalar>, 2> host_couplings() const override
  {
    update_couplings();
    return {to_host(space_, before_), to_host(space_, after_)};
  }

  void factor(Transpose transpose, const Local *ends, const std::function<void()> &factor_ends) override
  {
    const int number = transpose == Transpose::yes;
    if (!sides_[number]) sides_[number] = make_side();
    Side &side = *sides_[number];
    if (transpose == Transpose::no) Kokkos::deep_copy(space_, flag_.first, flag_.none);
    if (!ranks_.coupled()) return;
    if (!ranks_.is_empty()) {
      update_couplings();
      couple(side, transpose);
      if (!invert_in_windows(side, transpose, ends)) {
        factor_ends();
        invert(side, transpose, ends);
      }
    }
    const double here    = ranks_.is_empty() ? 0 : reach(space_, side);
    const double across  = ranks_.largest(ranks_.has_before() && ranks_.has_after() ? here : 0);
    side.neighbours_only = across <= tolerance_;
    if (side.neighbours_only)
      factor_neighbours(side);
    else
      factor_owned(side);
    space_.fence("weft: factored, the messages are free again");
  }
  bool neighbours_only(Transpose transpose) const override
  {
    const auto &side = sides_[transpose == Transpose::yes];
    return side && side->neighbours_only;
  }
  Index bad_pivot() const override { return flag_.read(space_); }

  void solve(const Local *piece, Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    SolveOptions<Scalar> one = options;
    one.nrhs                 = 1;
    for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld)
      solve_one(rhs, solution, one, [&] { piece->solve(rhs, solution, one); });
  }
  void solve_once(Local *piece, Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    solve_one(rhs, solution, options, [&] { piece->solve_once(rhs, solution, options); });
  }

  void take_neighbours(Scalar *rhs, const StencilMatrix<Scalar> &matrix, const Scalar *x, Colour colour) const override
  {
    const Diagonals<Scalar> *diagonals = matrix.storage().diagonals();
    if (!diagonals) throw std::invalid_argument("lines across ranks: the matrix is not in diagonals");
    if (!ranks_.coupled()) return;
    const Array<Scalar, Space> given(rhs, size(problem_.layout.span()));
    if constexpr (b == 1) {
      if (x) {
        const Index stride = problem_.layout.length > 1 ? problem_.layout.stride : 0; // else that of other lines may be the same
        exchange(*sides_[0], given, colour, RelaxedNodes<Scalar, Space>{given, *diagonals, x, stride});
        return;
      }
    }
    exchange(*sides_[0], given, colour, GivenNodes<Scalar, Space, b>{given});
  }
  void put_back(Scalar *rhs, Colour colour) const override
  {
    if (!ranks_.coupled() || ranks_.is_empty()) return;
    Kernels::put_back(space_, nodes_, Array<Scalar, Space>(rhs, size(problem_.layout.span())), kept_, colour);
  }

  // Launches; public for nvcc.

  static void copy(const Space &space, const Scalar *from, Scalar *to, Index blocks, bool transposed)
  {
    Kokkos::parallel_for(
        "weft copy blocks", Kokkos::RangePolicy<Space>(space, 0, blocks * block), KOKKOS_LAMBDA(const Index i) {
          const Index entry = i % block, other = entry % b * b + entry / b;
          to[i] = from[i - entry + (transposed ? other : entry)];
        });
  }
  /// Makes the spikes; the largest that reaches across a piece, from one neighbour to another.
  static double reach(const Space &space, const Side &side)
  {
    double largest     = 0;
    const auto before  = side.before;
    const auto after   = side.after;
    const auto spikes  = side.spikes;
    const auto inverse = side.inverse;
    Kokkos::parallel_reduce(
        "weft spikes", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(spikes.extent(0))),
        KOKKOS_LAMBDA(const Index line, double &most) {
          const Index at = inverse.layout.start(line), start = inverse.at(at, 0), end = inverse.at(at, inverse.layout.length - 1);
          const Square to_before = -get_block<b>(before, line), to_after = -get_block<b>(after, line);
          Spikes<Scalar, b> &s = spikes(line);
          s.ff                 = inverse.block(inverse.first, start) * to_before;
          s.fl                 = inverse.block(inverse.first, end) * to_after;
          s.lf                 = inverse.block(inverse.last, start) * to_before;
          s.ll                 = inverse.block(inverse.last, end) * to_after;
          for (const Square *across : {&s.fl, &s.lf}) {
            for (int p = 0; p < b; p++) {
              for (int q = 0; q < b; q++) {
                const auto value = modulus((*across)(p, q));
                most = Kokkos::max(most, Kokkos::isfinite(value) ? static_cast<double>(value) : std::numeric_limits<double>::infinity());
              }
            }
          }
        },
        Kokkos::Max<double>(largest));
    return Kokkos::max(largest, 0.0);
  }
  /// The spikes at a piece's ends, for its neighbours.
  static void tell_spikes(const Space &space, const AllSpikes &spikes, Square *to_before, Square *to_after)
  {
    Kokkos::parallel_for(
        "weft tell the spikes", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(spikes.extent(0))),
        KOKKOS_LAMBDA(const Index line) {
          to_before[line] = spikes(line).ff;
          to_after[line]  = spikes(line).ll;
        });
  }
  /// All of them, for the lines' owners.
  static void send_spikes(const Space &space, const AllSpikes &spikes, const Indices &places, Spikes<Scalar, b> *to_owners)
  {
    Kokkos::parallel_for(
        "weft send the spikes", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(spikes.extent(0))),
        KOKKOS_LAMBDA(const Index line) { to_owners[spikes.extent(0) == 1 ? 0 : places(line)] = spikes(line); });
  }
  static void weigh(const Space &space, const Side &side, const Square *ll_before, const Square *ff_after, bool has_before, bool has_after,
                    Index start, const ReducedFlag<Space> &flag)
  {
    const auto before  = side.before;
    const auto after   = side.after;
    const auto spikes  = side.spikes;
    const auto weights = side.weights;
    Kokkos::parallel_for(
        "weft reduced factor, neighbours", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(spikes.extent(0))),
        KOKKOS_LAMBDA(const Index line) {
          Square ll, ff;
          if (has_before) ll = ll_before[line];
          if (has_after) ff = ff_after[line];
          Square inverse = ll * spikes(line).ff, inverse_after = ff * spikes(line).ll;
          if (!invert_one_minus(inverse)) flag.report(line, start);
          invert_one_minus(inverse_after); // the piece after this one reports it
          typename Near::Weights &w = weights(line);
          w.before                  = get_block<b>(before, line) * inverse;
          w.own_first               = w.before * ll;
          w.after                   = get_block<b>(after, line) * inverse_after;
          w.own_last                = w.after * ff;
        });
  }
  /// Adds the products up and puts them where they travel from.
  static void tell(const Space &space, const EndProducts<Space, Scalar, b> &products, const LineLayout &nodes, Colour colour,
                   const Indices &places, const Words &own, Scalar *message, bool neighbours_only)
  {
    const Index count = nodes.count();
    auto *vectors     = reinterpret_cast<Vector *>(message);
    auto *ends        = reinterpret_cast<Ends *>(message);
    Kokkos::parallel_for(
        "weft tell the products", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index line) {
          if (!nodes.has_colour(line, colour)) return;
          const Ends sum    = products.total(line, count);
          const Index place = places(line);
          if (neighbours_only) {
            own(line)              = sum;
            vectors[place]         = sum.first;
            vectors[count + place] = sum.last;
          } else {
            ends[place] = sum;
          }
        });
  }

private:
  static constexpr int block = b * b;

  /// Tells the observer that a step begins, and at the end of its life that it ends.
  class Step {
  public:
    Step(const DistributedImplOn &impl, SolveStep step) : observer_(impl.observer), step_(step)
    {
      if (observer_) observer_(step_, true);
    }
    ~Step()
    {
      if (observer_) observer_(step_, false);
    }
    Step(const Step &)            = delete;
    Step &operator=(const Step &) = delete;

  private:
    const SolveObserver &observer_;
    SolveStep step_;
  };

  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
  Indices indices(const std::vector<Index> &values) const { return from_host(space_, "weft places", values); }
  Index matrices() const { return static_cast<Index>(before_.extent(0)) / block; }
  Index count() const { return nodes_.count(); }

  /// Takes the other pieces to the right-hand side, and solves the piece by solve_piece().
  template <class SolvePiece>
  void solve_one(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options, const SolvePiece &solve_piece) const
  {
    const Array<Scalar, Space> given(rhs, size(problem_.layout.span()));
    if (ranks_.coupled())
      exchange(*sides_[options.transpose == Transpose::yes], given, options.colour, GivenNodes<Scalar, Space, b>{given});
    if (ranks_.is_empty()) return;
    const Step step(*this, SolveStep::piece);
    solve_piece();
    if (ranks_.coupled() && !options.update.add && rhs != solution) Kernels::put_back(space_, nodes_, given, kept_, options.colour);
  }

  std::unique_ptr<Side> make_side() const
  {
    auto side = std::make_unique<Side>();
    if (!ranks_.coupled()) return side;
    side->owned = OwnedSystems<Space, Scalar, b>(owned_lines_, starts_, each_, ranks_.ring());
    if (ranks_.is_empty()) return side;
    side->before  = Values("weft couplings", before_.extent(0));
    side->after   = Values("weft couplings", before_.extent(0));
    side->inverse = InverseEnds<Scalar, Space, b>(problem_);
    side->spikes  = AllSpikes("weft spikes", size(matrices()));
    side->weights = decltype(side->weights)("weft weights of neighbours", size(matrices()));
    return side;
  }
  void update_couplings() const
  {
    if (!lower_ || ranks_.is_empty()) return;
    const auto n = size(b * problem_.coefficient_size());
    Kernels::couplings(space_, problem_, Array<const Scalar, Space>(lower_, n), Array<const Scalar, Space>(upper_, n), ranks_.has_before(),
                       ranks_.has_after(), before_, after_);
  }
  void *stream() const { return stream_of_messages(space_); }
  /// The couplings of the transposed matrix are the neighbours' own.
  void couple(const Side &side, Transpose transpose) const
  {
    const Index n = matrices(), words = n * block;
    if (transpose == Transpose::no) {
      copy(space_, before_.data(), side.before.data(), n, false);
      copy(space_, after_.data(), side.after.data(), n, false);
      return;
    }
    copy(space_, before_.data(), mine_.data(), n, true);
    copy(space_, after_.data(), mine_.data() + words, n, true);
    wait_to_send(space_, ranks_, "weft: couplings to send");
    ranks_.swap(mine_.data(), mine_.data() + words, theirs_.data(), theirs_.data() + words, words, stream());
    if (ranks_.has_before()) copy(space_, theirs_.data(), side.before.data(), n, false);
    if (ranks_.has_after()) copy(space_, theirs_.data() + words, side.after.data(), n, false);
  }
  /// Smaller effects add up to less than the rounding of a product of ten thousand rows.
  double least() const { return Kokkos::max(tolerance_, 1e-4 * static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon())); }

  /// The rows of the inverses from windows at the ends, where these are long enough. An end without a neighbour nobody asks for.
  bool invert_in_windows(Side &side, Transpose transpose, const Local *ends) const
  {
    if constexpr (std::is_same_v<Problem, LineProblem> && b == 1) {
      InverseEnds<Scalar, Space, b> &inverse = side.inverse;
      const LineLayout &lines                = inverse.own;
      const auto given                       = ends->coefficients();
      for (const Index window : {Index(128), Index(1024)}) {
        if (!inverse.each || 2 * window > lines.length) return false;
        const EndWindows<Space, Scalar> windows{lines,
                                                given.lower,
                                                given.diagonal,
                                                given.upper,
                                                transpose == Transpose::yes,
                                                {ranks_.has_before(), ranks_.has_after()},
                                                {inverse.first, inverse.last},
                                                window,
                                                least()};
        Index count[2];
        if (!windows.fill(space_, count)) continue;
        inverse.head = count[0];
        inverse.tail = count[1];
        return true;
      }
    }
    return false;
  }
  /// Row r of A^-1 is column r of A^-T.
  void invert(Side &side, Transpose transpose, const Local *ends) const
  {
    InverseEnds<Scalar, Space, b> &inverse = side.inverse;
    const LineLayout &lines                = inverse.own;
    SolveOptions<Scalar> other;
    other.transpose = transpose == Transpose::no ? Transpose::yes : Transpose::no;
    other.nrhs      = b;
    other.ld        = lines.span();
    Kernels::unit(space_, lines, inverse.first, 0);
    ends->solve(inverse.first.data(), inverse.first.data(), other);
    Kernels::unit(space_, lines, inverse.last, lines.length - 1);
    ends->solve(inverse.last.data(), inverse.last.data(), other);
    inverse.head = ranks_.has_before() ? Kernels::significant(space_, lines, inverse.first, least(), true) : 0;
    inverse.tail = ranks_.has_after() ? Kernels::significant(space_, lines, inverse.last, least(), false) : 0;
  }
  void factor_neighbours(const Side &side) const
  {
    if (ranks_.is_empty()) return;
    const Index n = matrices(), words = n * block;
    tell_spikes(space_, side.spikes, reinterpret_cast<Square *>(mine_.data()), reinterpret_cast<Square *>(mine_.data()) + n);
    wait_to_send(space_, ranks_, "weft: spikes to send");
    ranks_.swap(mine_.data(), mine_.data() + words, theirs_.data(), theirs_.data() + words, words, stream());
    const auto *theirs = reinterpret_cast<const Square *>(theirs_.data());
    weigh(space_, side, theirs, theirs + n, ranks_.has_before(), ranks_.has_after(),
          ranks_.starts()[static_cast<std::size_t>(ranks_.piece())], flag_);
  }
  void factor_owned(const Side &side) const
  {
    if (!ranks_.is_empty()) send_spikes(space_, side.spikes, exact_places_, reinterpret_cast<Spikes<Scalar, b> *>(mine_.data()));
    wait_to_send(space_, ranks_, "weft: spikes to send");
    if (each_)
      ranks_.to_owners(mine_.data(), theirs_.data(), 4 * block, exact_, Colour::all, stream());
    else
      ranks_.to_all(mine_.data(), theirs_.data(), 4 * block, stream());
    side.owned.factor(space_, side.owned, reinterpret_cast<const Spikes<Scalar, b> *>(theirs_.data()), flag_);
  }

  /// Takes what the other pieces do to this one to its right-hand side, which nodes(i) is.
  template <class Nodes>
  void exchange(const Side &side, const Array<Scalar, Space> &rhs, Colour colour, const Nodes &nodes) const
  {
    const bool near = side.neighbours_only;
    Scalar *mine = mine_.data(), *theirs = theirs_.data();
    {
      const Step step(*this, SolveStep::products);
      if (!ranks_.is_empty()) {
        products_.launch(space_, side.inverse, nodes, colour);
        tell(space_, products_, nodes_, colour, near ? close_places_ : exact_places_, own_, mine, near);
      }
      wait_to_send(space_, ranks_, "weft: products to send");
    }
    const Step step(*this, SolveStep::reduced);
    if (near) {
      const LineOrder::Range range = close_.share(0, colour);
      const Index begin = b * range.begin, after = b * count();
      ranks_.swap(mine + begin, mine + after + begin, theirs + begin, theirs + after + begin, b * range.size(), stream());
      const auto *from = reinterpret_cast<const Vector *>(theirs);
      if (!ranks_.is_empty())
        Kernels::take(space_, nodes_, rhs,
                      Near{side.weights, each_, ranks_.has_before(), ranks_.has_after(), close_places_, own_, from, from + count()}, kept_,
                      colour);
      return;
    }
    const LineOrder::Range all = exact_.share(ranks_.rank(), Colour::all), own = exact_.share(ranks_.rank(), colour);
    ranks_.to_owners(mine, theirs, 2 * b, exact_, colour, stream());
    side.owned.solve(space_, side.owned, reinterpret_cast<Ends *>(theirs), own.begin - all.begin, own.end - all.begin);
    wait_to_send(space_, ranks_, "weft: unknowns to send");
    ranks_.to_pieces(theirs, mine, 2 * b, exact_, colour, stream());
    if (!ranks_.is_empty())
      Kernels::take(space_, nodes_, rhs,
                    FromOwners<Space, Scalar, b>{side.before, side.after, each_, exact_places_, reinterpret_cast<const Ends *>(mine)},
                    kept_, colour);
  }

  Space space_;
  const Ranks &ranks_;
  LineProblem problem_; ///< of a piece, cut off
  LineLayout nodes_;    ///< its lines of nodes
  bool each_;
  double tolerance_;
  LineOrder exact_, close_; ///< of the messages to the owners, and to the neighbours
  Indices exact_places_, close_places_, owned_lines_, starts_;
  const Scalar *lower_ = nullptr, *upper_ = nullptr; ///< null where the couplings were given
  Values before_, after_;
  Messages<Space, Scalar> mine_, theirs_;
  std::unique_ptr<Side> sides_[2]; ///< of the matrix, of its transpose
  ReducedFlag<Space> flag_;
  EndProducts<Space, Scalar, b> products_;
  Words own_, kept_;
};

} // namespace weft
