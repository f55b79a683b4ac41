#include "line/ranks/joined_line_solver.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "line/ranks/distributed_solver_impl.hpp"

namespace weft {

namespace {

/// Lines are owned in nearly equal shares, in their order, so that a rank's pieces lie in the order of the owners. An owner's systems have
/// as many pieces as the longest of its lines: those that a line lacks couple to nothing.
template <class Space, class Scalar>
class JoinedColour {
public:
  using Values  = OwnedArray<Scalar, Space>;
  using Ends    = EndWords<Scalar, 1>;
  using Indices = Kokkos::View<Index *, typename Space::memory_space>;
  using Words   = Kokkos::View<Ends *, typename Space::memory_space>;
  using Systems = OwnedSystems<Space, Scalar, 1>;

  /// The lines of one colour.
  JoinedColour(const Space &space, const LineMap &map, int colour, MPI_Comm ranks, const JoinedPieces &pieces, bool device_messages)
      : space_(space), pieces_(pieces), colour_(colour < map.colours() ? static_cast<Colour>(colour) : Colour::all),
        rows_of_map_(map.rows()), rows_(copy(pieces.own.rows)), starts_(copy(pieces.own.starts)), plan_(plan_of(ranks, pieces)),
        items_(ranks, plan_.sent, plan_.received, !is_host_space<Space>), from_(copy(plan_.from)),
        couplings_("weft couplings", size(2 * count())), kept_("weft kept ends", size(count())),
        words_("weft reduced words", plan_.from.size())
  {
    device_messages = device_messages || items_.on_stream();
    mine_.allocate(4 * std::max(count(), Index(1)), device_messages);
    theirs_.allocate(4 * std::max(plan_.items, Index(1)), device_messages);
    std::vector<Index> places(size(plan_.most));
    for (std::size_t j = 0; j < places.size(); j++) places[j] = static_cast<Index>(j);
    places_      = copy(places);
    owned_lines_ = copy(plan_.lines);
    flag_.length = 1;
    for (Index line = 0; line < pieces.count(); line++)
      flag_.length = std::max(flag_.length, pieces.starts[size(line) + 1] - pieces.starts[size(line)]);
  }

  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &outside, const std::vector<std::int64_t> &columns)
  {
    std::vector<Index> found;
    for (std::size_t piece = 0; piece < size(count()); piece++) {
      for (const std::int64_t row : {pieces_.before[piece], pieces_.after[piece]}) {
        const auto at = std::lower_bound(columns.begin(), columns.end(), row);
        found.push_back(at != columns.end() && *at == row ? at - columns.begin() : -1);
      }
    }
    read_ends(space_, outside, copy(found), rows_, starts_, count(), couplings_);
  }
  void read(const std::vector<Scalar> &couplings) { copy_from_host(space_, couplings_, couplings); }
  std::vector<Scalar> host_couplings() const { return to_host(space_, couplings_); }

  void factor(Transpose transpose, const MappedSolver<Scalar> &local)
  {
    auto &made = sides_[transpose == Transpose::yes];
    if (!made) made = std::make_unique<Side>(*this);
    Side &side = *made;
    if (transpose == Transpose::no) Kokkos::deep_copy(space_, flag_.first, flag_.none);
    couple(side, transpose);
    // Row r of A^-1 is column r of A^-T.
    SolveOptions<Scalar> other;
    other.transpose = transpose == Transpose::no ? Transpose::yes : Transpose::no;
    other.colour    = colour_;
    const Values column("weft column of an inverse", size(rows_of_map_));
    for (int end = 0; end < 2; end++) {
      unit(space_, rows_, starts_, count(), column, end);
      local.solve(column.data(), column.data(), other);
      gather(space_, rows_, column, end == 0 ? side.first : side.last);
    }
    auto *mine = reinterpret_cast<Spikes<Scalar, 1> *>(mine_.data());
    make_spikes(space_, starts_, count(), side, mine);
    wait_to_send(space_, items_, "weft: spikes to send");
    items_.there(mine_.data(), theirs_.data(), 4, stream());
    const Kokkos::View<Spikes<Scalar, 1> *, typename Space::memory_space> spikes("weft spikes", from_.extent(0));
    unpack(space_, from_, reinterpret_cast<const Spikes<Scalar, 1> *>(theirs_.data()), spikes);
    Systems::factor(space_, side.owned, spikes.data(), flag_);
    space_.fence("weft: factored, the messages are free again");
  }
  std::optional<Index> bad_pivot() const
  {
    const Index first = items_.smallest(flag_.read(space_));
    if (first == flag_.none) return std::nullopt;
    const Index line = first / flag_.length / 2, piece = pieces_.starts[size(line)] + first % flag_.length;
    if (pieces_.ranks[size(piece)] != plan_.rank) return std::nullopt; // its rank names it
    const auto own = std::count(pieces_.ranks.begin(), pieces_.ranks.begin() + piece, plan_.rank);
    return pieces_.own.rows[size(pieces_.own.starts[size(own)])];
  }

  void take(Scalar *rhs, Transpose transpose)
  {
    const Side &side = *sides_[transpose == Transpose::yes];
    auto *mine       = reinterpret_cast<Ends *>(mine_.data());
    auto *theirs     = reinterpret_cast<Ends *>(theirs_.data());
    products(space_, rows_, starts_, count(), side, rhs, mine);
    wait_to_send(space_, items_, "weft: products to send");
    items_.there(mine_.data(), theirs_.data(), 2, stream());
    unpack(space_, from_, static_cast<const Ends *>(theirs), words_);
    Systems::solve(space_, side.owned, words_.data(), 0, side.owned.count());
    pack(space_, from_, words_, theirs);
    wait_to_send(space_, items_, "weft: unknowns to send");
    items_.back(theirs_.data(), mine_.data(), 2, stream());
    take_unknowns(space_, rows_, starts_, count(), side.couplings, mine, kept_, rhs);
  }
  void put_back(Scalar *rhs) const { put_kept(space_, rows_, starts_, count(), kept_, rhs); }

  // Launches; public for nvcc.

  /// What is known of the matrix or of its transpose.
  struct Side {
    explicit Side(const JoinedColour &impl)
        : couplings("weft couplings", impl.couplings_.extent(0)), first("weft first rows of inverses", impl.rows_.extent(0)),
          last("weft last rows of inverses", impl.rows_.extent(0)), owned(impl.owned_lines_, impl.places_, true, false)
    {
    }
    Values couplings;   ///< of each piece to the row before and to the row after it
    Values first, last; ///< of the inverse of each piece
    Systems owned;
  };

  /// 1 in the first (end 0) or last (end 1) row of each piece, else 0.
  static void unit(const Space &space, const Indices &rows, const Indices &starts, Index count, const Values &column, int end)
  {
    Kokkos::deep_copy(space, column, Scalar(0));
    Kokkos::parallel_for(
        "weft unit vectors", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(const Index piece) { column(rows(end == 0 ? starts(piece) : starts(piece + 1) - 1)) = 1; });
  }
  static void gather(const Space &space, const Indices &rows, const Values &from, const Values &to)
  {
    Kokkos::parallel_for(
        "weft gather rows", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(rows.extent(0))),
        KOKKOS_LAMBDA(const Index k) { to(k) = from(rows(k)); });
  }
  static void make_spikes(const Space &space, const Indices &starts, Index count, const Side &side, Spikes<Scalar, 1> *spikes)
  {
    const Values first = side.first, last = side.last, couplings = side.couplings;
    Kokkos::parallel_for(
        "weft spikes", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index piece) {
          const Index begin = starts(piece), end = starts(piece + 1) - 1;
          const Scalar before = -couplings(2 * piece), after = -couplings(2 * piece + 1);
          Spikes<Scalar, 1> &s = spikes[piece];
          s.ff(0, 0)           = first(begin) * before;
          s.fl(0, 0)           = first(end) * after;
          s.lf(0, 0)           = last(begin) * before;
          s.ll(0, 0)           = last(end) * after;
        });
  }
  /// Items as they came, in the order of the systems; where no piece is, nothing.
  template <class Item>
  static void unpack(const Space &space, const Indices &from, const Item *items,
                     const Kokkos::View<Item *, typename Space::memory_space> &to)
  {
    Kokkos::parallel_for(
        "weft unpack items", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(from.extent(0))),
        KOKKOS_LAMBDA(const Index k) { to(k) = from(k) < 0 ? Item() : items[from(k)]; });
  }
  static void pack(const Space &space, const Indices &from, const Words &words, Ends *items)
  {
    Kokkos::parallel_for(
        "weft pack items", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(from.extent(0))), KOKKOS_LAMBDA(const Index k) {
          if (from(k) >= 0) items[from(k)] = words(k);
        });
  }
  /// From what pieces couple with to what their neighbours couple to them with.
  static void swap_couplings(const Space &space, const Indices &from, const Words &words, Index lines, Ends *items)
  {
    const Index all = static_cast<Index>(from.extent(0));
    Kokkos::parallel_for(
        "weft swap couplings", Kokkos::RangePolicy<Space>(space, 0, all), KOKKOS_LAMBDA(const Index k) {
          if (from(k) < 0) return;
          Ends other;
          if (k >= lines) other.first = words(k - lines).last;
          if (k + lines < all) other.last = words(k + lines).first;
          items[from(k)] = other;
        });
  }
  static void products(const Space &space, const Indices &rows, const Indices &starts, Index count, const Side &side, const Scalar *rhs,
                       Ends *ends)
  {
    if (count == 0) return;
    using Policy       = Kokkos::TeamPolicy<Space>;
    const Values first = side.first, last = side.last;
    Kokkos::parallel_for(
        "weft end products", Policy(space, static_cast<int>(count), on_device<Space> ? 128 : 1),
        KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          const Index piece = team.league_rank();
          Ends sum;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, starts(piece), starts(piece + 1)),
              [&](const Index k, Ends &part) {
                const Scalar b = rhs[rows(k)];
                part.first(0) += first(k) * b;
                part.last(0) += last(k) * b;
              },
              Kokkos::Sum<Ends>(sum));
          Kokkos::single(Kokkos::PerTeam(team), [&]() { ends[piece] = sum; });
        });
  }
  static void take_unknowns(const Space &space, const Indices &rows, const Indices &starts, Index count, const Values &couplings,
                            const Ends *unknowns, const Words &kept, Scalar *rhs)
  {
    Kokkos::parallel_for(
        "weft take the neighbours' unknowns", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index piece) {
          const Index begin = rows(starts(piece)), end = rows(starts(piece + 1) - 1);
          kept(piece).first(0) = rhs[begin];
          kept(piece).last(0)  = rhs[end];
          rhs[begin] -= couplings(2 * piece) * unknowns[piece].first(0);
          rhs[end] -= couplings(2 * piece + 1) * unknowns[piece].last(0);
        });
  }
  static void put_kept(const Space &space, const Indices &rows, const Indices &starts, Index count, const Words &kept, Scalar *rhs)
  {
    Kokkos::parallel_for(
        "weft put the right-hand side back", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index piece) {
          rhs[rows(starts(piece))]         = kept(piece).first(0);
          rhs[rows(starts(piece + 1) - 1)] = kept(piece).last(0);
        });
  }
  /// The entries of the pieces' end rows in the columns of the rows that follow; 0 where none is stored.
  template <class Int>
  static void read_ends(const Space &space, const CsrMatrix<Scalar, Int> &outside, const Indices &columns, const Indices &rows,
                        const Indices &starts, Index count, const Values &couplings)
  {
    Kokkos::parallel_for(
        "weft couplings outside", Kokkos::RangePolicy<Space>(space, 0, 2 * count), KOKKOS_LAMBDA(const Index k) {
          const Index piece = k / 2, i = rows(k % 2 == 0 ? starts(piece) : starts(piece + 1) - 1);
          Scalar value = 0;
          if (columns(k) >= 0) {
            for (Int e = outside.begin(i); e < outside.end(i); e++) {
              if (outside.column(e) == columns(k)) value = outside.values[e];
            }
          }
          couplings(k) = value;
        });
  }

private:
  /// Who sends what to whom, and where it stands in an owner's systems.
  struct Plan {
    std::vector<int> sent, received;
    std::vector<Index> from;  ///< of piece j of owned line l: the number at j * lines + l of the item that came, -1 for none
    std::vector<Index> lines; ///< owned
    Index items = 0, most = 0;
    int rank = 0;
  };
  static Plan plan_of(MPI_Comm ranks, const JoinedPieces &pieces)
  {
    Plan plan;
    int count = 1;
    MPI_Comm_rank(ranks, &plan.rank);
    MPI_Comm_size(ranks, &count);
    plan.sent.resize(size(count));
    plan.received.resize(size(count));
    const Index all = pieces.count();
    std::vector<std::vector<Index>> came(size(count)); // from each rank: places in `from`, as (line, piece) for now
    const auto owner = [&](Index line) { return static_cast<int>(line * count / all); };
    for (Index line = 0; line < all; line++) {
      if (owner(line) == plan.rank) plan.lines.push_back(line);
      for (Index k = pieces.starts[size(line)]; k < pieces.starts[size(line) + 1]; k++) {
        if (pieces.ranks[size(k)] == plan.rank) plan.sent[size(owner(line))]++;
        if (owner(line) != plan.rank) continue;
        plan.received[size(pieces.ranks[size(k)])]++;
        plan.most = std::max(plan.most, k - pieces.starts[size(line)] + 1);
      }
    }
    const Index lines = static_cast<Index>(plan.lines.size());
    plan.from.assign(size(lines * plan.most), -1);
    std::vector<Index> next(size(count), 0);
    for (std::size_t r = 0; r < next.size(); r++) {
      next[r] = plan.items;
      plan.items += plan.received[r];
    }
    for (Index l = 0; l < lines; l++) {
      const std::size_t line = size(plan.lines[size(l)]);
      for (Index j = 0; j < pieces.starts[line + 1] - pieces.starts[line]; j++)
        plan.from[size(j * lines + l)] = next[size(pieces.ranks[size(pieces.starts[line] + j)])]++;
    }
    return plan;
  }

  template <class Number>
  static std::size_t size(Number n)
  {
    return static_cast<std::size_t>(n);
  }
  Indices copy(const std::vector<Index> &values) const { return from_host(space_, "weft places", values); }
  Index count() const { return static_cast<Index>(pieces_.own.starts.size()) - 1; }
  void *stream() const { return stream_of_messages(space_); }

  /// The couplings of the transposed matrix are the neighbours' own, which the owners know.
  void couple(const Side &side, Transpose transpose)
  {
    Kokkos::deep_copy(space_, side.couplings, couplings_);
    if (transpose == Transpose::no) return;
    const Kokkos::View<Scalar *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> mine(mine_.data(),
                                                                                                             couplings_.extent(0));
    Kokkos::deep_copy(space_, mine, couplings_);
    wait_to_send(space_, items_, "weft: couplings to send");
    items_.there(mine_.data(), theirs_.data(), 2, stream());
    auto *theirs = reinterpret_cast<Ends *>(theirs_.data());
    unpack(space_, from_, static_cast<const Ends *>(theirs), words_);
    swap_couplings(space_, from_, words_, static_cast<Index>(plan_.lines.size()), theirs);
    wait_to_send(space_, items_, "weft: couplings to send back");
    items_.back(theirs_.data(), mine_.data(), 2, stream());
    Kokkos::deep_copy(space_, side.couplings, mine);
  }

  Space space_;
  const JoinedPieces &pieces_;
  Colour colour_; ///< all where the map has no rows, and no colour
  Index rows_of_map_;
  Indices rows_, starts_; ///< of the own pieces
  Plan plan_;
  Items items_;
  Indices from_, places_, owned_lines_;
  Values couplings_;
  Words kept_, words_;
  Messages<Space, Scalar> mine_, theirs_;
  std::unique_ptr<Side> sides_[2]; ///< of the matrix, of its transpose
  ReducedFlag<Space> flag_;
};

template <class Space, class Scalar>
class JoinedLinesIn final : public JoinedLineSolver<Scalar> {
public:
  JoinedLinesIn(const Space &space, const LineMap &map, MPI_Comm ranks, std::shared_ptr<const std::vector<JoinedPieces>> pieces,
                const std::string &method, const MethodParameters &parameters, bool device_messages)
      : JoinedLineSolver<Scalar>(map, method, parameters), pieces_(std::move(pieces))
  {
    for (std::size_t colour = 0; colour < pieces_->size(); colour++) {
      const JoinedPieces &joined = (*pieces_)[colour];
      colours_.emplace_back();
      if (joined.count() == 0) continue;
      // MPI counts words by int.
      if (4 * joined.starts.back() > std::numeric_limits<int>::max() / static_cast<Index>(sizeof(Scalar) / sizeof(float)))
        throw std::invalid_argument("the lines that cross ranks have too many pieces: cut them where ranks meet");
      colours_.back() = std::make_unique<OfColour>(space, map, static_cast<int>(colour), ranks, joined, device_messages);
    }
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &inside, const CsrMatrix<Scalar, std::int32_t> &outside,
            const std::vector<std::int64_t> &columns) override
  {
    take(inside, outside, columns);
  }
  void read(const CsrMatrix<Scalar, std::int64_t> &inside, const CsrMatrix<Scalar, std::int64_t> &outside,
            const std::vector<std::int64_t> &columns) override
  {
    take(inside, outside, columns);
  }
  void read(const JoinedLineSolver<Scalar> &other) override
  {
    local_->read(other.local());
    for (std::size_t colour = 0; colour < colours_.size(); colour++)
      if (colours_[colour]) colours_[colour]->read(other.host_couplings(colour));
  }
  std::vector<Scalar> host_couplings(std::size_t colour) const override
  {
    return colours_[colour] ? colours_[colour]->host_couplings() : std::vector<Scalar>(); // none of its lines crosses
  }

  void factor() override
  {
    transposed_is_factored_ = false;
    local_->factor();
    for_joined(Colour::all, [&](OfColour &lines) { lines.factor(Transpose::no, *local_); });
  }
  std::optional<Index> bad_pivot() const override
  {
    std::optional<Index> bad = local_->bad_pivot();
    for_joined(Colour::all, [&](const OfColour &lines) {
      const auto joined = lines.bad_pivot();
      if (!bad) bad = joined;
    });
    return bad;
  }
  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override
  {
    if (options.transpose == Transpose::yes && !transposed_is_factored_) {
      for_joined(Colour::all, [&](OfColour &lines) { lines.factor(Transpose::yes, *local_); });
      transposed_is_factored_ = true;
    }
    const SolveOptions<Scalar> one{options.update, options.colour, options.transpose};
    for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld) {
      for_joined(one.colour, [&](OfColour &lines) { lines.take(rhs, one.transpose); });
      local_->solve(rhs, solution, one);
      if (rhs != solution) for_joined(one.colour, [&](const OfColour &lines) { lines.put_back(rhs); });
    }
  }

private:
  using OfColour = JoinedColour<Space, Scalar>;
  using JoinedLineSolver<Scalar>::local_;

  template <class Int>
  void take(const CsrMatrix<Scalar, Int> &inside, const CsrMatrix<Scalar, Int> &outside, const std::vector<std::int64_t> &columns)
  {
    local_->read(inside);
    for_joined(Colour::all, [&](OfColour &lines) { lines.read(outside, columns); });
  }
  /// Calls visit(lines) for the colours that are meant.
  template <class Visit>
  void for_joined(Colour colour, const Visit &visit) const
  {
    for (std::size_t c = 0; c < colours_.size(); c++)
      if (colours_[c] && (colour == Colour::all || colour == static_cast<Colour>(c))) visit(*colours_[c]);
  }

  std::shared_ptr<const std::vector<JoinedPieces>> pieces_;
  std::vector<std::unique_ptr<OfColour>> colours_; ///< none where no line of a colour goes on
  bool transposed_is_factored_ = false;
};

} // namespace

template <class Scalar>
Owner<JoinedLineSolver<Scalar>>
JoinedLineSolver<Scalar>::make(const LineMap &map, MPI_Comm ranks, std::shared_ptr<const std::vector<JoinedPieces>> pieces,
                               const std::string &method, const MethodParameters &parameters, bool device_messages)
{
  return on_backend(map.execution(), [&](const auto &space) -> Owner<JoinedLineSolver> {
    return make_owner<JoinedLinesIn<std::decay_t<decltype(space)>, Scalar>>(space, map, ranks, std::move(pieces), method, parameters,
                                                                            device_messages);
  });
}

template class JoinedLineSolver<KernelScalar>;
template class JoinedLineSolver<OtherScalar>;

} // namespace weft
