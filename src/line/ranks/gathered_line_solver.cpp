#include "line/ranks/gathered_line_solver.hpp"

#include <limits>
#include <stdexcept>

#include "base/backend.hpp"
#include "base/messages.hpp"
#include "line/csr.hpp"

namespace weft {

namespace {

/// Rows of each rank.
std::vector<int> rows_of_ranks(MPI_Comm communicator, Index rows)
{
  int size;
  MPI_Comm_size(communicator, &size);
  std::vector<Index> here(static_cast<std::size_t>(size));
  MPI_Allgather(&rows, 1, MPI_INT64_T, here.data(), 1, MPI_INT64_T, communicator);
  Index all = 0;
  for (Index n : here) all += n;
  if (all > std::numeric_limits<int>::max() / 3) // MPI counts words by int
    throw std::invalid_argument("a line that one rank solves for all has at most " + std::to_string(std::numeric_limits<int>::max() / 3) +
                                " rows, and this one has " + std::to_string(all));
  return {here.begin(), here.end()};
}

/// The first rank with rows, or rank 0.
std::size_t solver_of(const std::vector<int> &rows)
{
  for (std::size_t rank = 0; rank < rows.size(); rank++) {
    if (rows[rank] > 0) return rank;
  }
  return 0;
}

Items items_of(MPI_Comm communicator, Index rows)
{
  const std::vector<int> all = rows_of_ranks(communicator, rows), none(all.size(), 0);
  std::vector<int> sent      = none;
  int rank;
  MPI_Comm_rank(communicator, &rank);
  const std::size_t solver = solver_of(all);
  sent[solver]             = static_cast<int>(rows);
  return {communicator, sent, static_cast<std::size_t>(rank) == solver ? all : none};
}

} // namespace

template <class Scalar>
struct GatheredLineSolver<Scalar>::Work {
  virtual ~Work() = default;
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &matrix, const Scalar *before, const Scalar *after, LineSolver<Scalar> *) = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &matrix, const Scalar *before, const Scalar *after, LineSolver<Scalar> *) = 0;
  virtual void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options, LineSolver<Scalar> *whole)           = 0;
};

template <class Scalar>
template <class Space>
struct GatheredLineSolver<Scalar>::WorkIn final : Work {
  using Values = OwnedArray<Scalar, Space>;

  /// `all`: rows of the whole line on the rank that solves, 0 elsewhere.
  WorkIn(const Space &on, const Items &between, const LineProblem &rows, Index all, bool has_before, bool has_after, bool device_messages)
      : space(on), items(between), piece(rows), before_is_read(has_before), after_is_read(has_after), line(values(all))
  {
    for (Values &array : own) array = values(rows.layout.length);
    for (Values &array : coefficients) array = values(all);
    mine.allocate(3 * rows.layout.length, device_messages);
    theirs.allocate(3 * all, device_messages);
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix, const Scalar *before, const Scalar *after, LineSolver<Scalar> *whole) override
  {
    take(matrix, before, after, whole);
  }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix, const Scalar *before, const Scalar *after, LineSolver<Scalar> *whole) override
  {
    take(matrix, before, after, whole);
  }
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options, LineSolver<Scalar> *whole) override
  {
    SolveOptions<Scalar> plain;
    plain.transpose = options.transpose;
    for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld) {
      copy(space, rhs, mine.data(), piece.layout.length);
      space.fence("weft: the right-hand side travels");
      items.there(mine.data(), theirs.data(), 1);
      if (whole) {
        copy(space, theirs.data(), line.data(), size(line));
        whole->solve(line.data(), line.data(), plain);
        copy(space, line.data(), theirs.data(), size(line));
        space.fence("weft: the solution travels");
      }
      items.back(theirs.data(), mine.data(), 1);
      place(space, mine.data(), solution, piece.layout.length, options.update);
    }
  }

  // Launches; public for nvcc.

  static void copy(const Space &space, const Scalar *from, Scalar *to, Index count)
  {
    Kokkos::parallel_for(
        "weft gathered line copy", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index i) { to[i] = from[i]; });
  }
  static void place(const Space &space, const Scalar *from, Scalar *to, Index count, const Update<Scalar> &update)
  {
    Kokkos::parallel_for(
        "weft gathered line solution", Kokkos::RangePolicy<Space>(space, 0, count),
        KOKKOS_LAMBDA(const Index i) { put(to[i], update, from[i]); });
  }
  /// The three coefficients of each row, together.
  static void pack(const Space &space, const Values &lower, const Values &diagonal, const Values &upper, const Scalar *before,
                   const Scalar *after, Scalar *to)
  {
    const Index last = size(lower) - 1;
    Kokkos::parallel_for(
        "weft gathered line pack", Kokkos::RangePolicy<Space>(space, 0, last + 1), KOKKOS_LAMBDA(const Index i) {
          to[3 * i]     = i == 0 && before ? before[0] : lower(i);
          to[3 * i + 1] = diagonal(i);
          to[3 * i + 2] = i == last && after ? after[0] : upper(i);
        });
  }
  static void unpack(const Space &space, const Scalar *from, const Values &lower, const Values &diagonal, const Values &upper)
  {
    Kokkos::parallel_for(
        "weft gathered line unpack", Kokkos::RangePolicy<Space>(space, 0, size(lower)), KOKKOS_LAMBDA(const Index i) {
          lower(i)    = from[3 * i];
          diagonal(i) = from[3 * i + 1];
          upper(i)    = from[3 * i + 2];
        });
  }

  static Index size(const Values &array) { return static_cast<Index>(array.extent(0)); }
  static Values values(Index count) { return Values("weft gathered line", static_cast<std::size_t>(count)); }

  template <class Int>
  void take(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after, LineSolver<Scalar> *whole)
  {
    tridiagonal_of_csr(space, piece, matrix, own[0], own[1], own[2]);
    pack(space, own[0], own[1], own[2], before_is_read ? before : nullptr, after_is_read ? after : nullptr, mine.data());
    space.fence("weft: coefficients travel");
    items.there(mine.data(), theirs.data(), 3);
    if (!whole) return;
    unpack(space, theirs.data(), coefficients[0], coefficients[1], coefficients[2]);
    whole->use(coefficients[0].data(), coefficients[1].data(), coefficients[2].data());
    space.fence("weft: the messages are free again");
  }

  Space space;
  const Items &items;
  LineProblem piece;
  bool before_is_read, after_is_read;
  Values own[3], coefficients[3], line;
  Messages<Space, Scalar> mine, theirs;
};

template <class Scalar>
GatheredLineSolver<Scalar>::GatheredLineSolver(const Execution &execution, MPI_Comm ranks, Index rows, bool ring, const std::string &method,
                                               const MethodParameters &parameters, bool device_messages)
    : execution_(execution), method_(method), ranks_(ranks, rows, ring), items_(items_of(ranks, rows)), piece_(one_line(rows))
{
  LineProblem line(one_line(ranks_.length()));
  line.periodic = ring;
  if (method != "auto") {
    if (const auto why = tridiagonal_method_refuses(method, line, parameters)) throw std::invalid_argument(*why);
  }
  const bool solves = !ranks_.is_empty() && ranks_.piece() == 0;
  if (solves) whole_ = LineSolver<Scalar>::make(execution, line, method, parameters);
  piece_.periodic = ring && ranks_.pieces() == 1; // else `before` and `after` close it
  on_backend(execution, [&](const auto &space) {
    work_ = std::make_unique<WorkIn<std::decay_t<decltype(space)>>>(space, items_, piece_, solves ? ranks_.length() : 0,
                                                                    ranks_.has_before() && ranks_.pieces() > 1,
                                                                    ranks_.has_after() && ranks_.pieces() > 1, device_messages);
  });
}

template <class Scalar>
GatheredLineSolver<Scalar>::~GatheredLineSolver()
{
  destroy_or_leave(work_);
}

template <class Scalar>
template <class Int>
void GatheredLineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after)
{
  work_->read(matrix, before, after, whole_.get());
}

template <class Scalar>
void GatheredLineSolver<Scalar>::read(const AnyLines<Scalar> &other)
{
  if (whole_) whole_->read(*static_cast<const GatheredLineSolver &>(other).whole_);
}

template <class Scalar>
void GatheredLineSolver<Scalar>::factor()
{
  if (whole_) whole_->factor();
}

template <class Scalar>
std::optional<LineRow> GatheredLineSolver<Scalar>::bad_pivot() const
{
  constexpr Index none = std::numeric_limits<Index>::max();
  const auto bad       = whole_ ? whole_->bad_pivot() : std::nullopt;
  const Index row      = ranks_.smallest(bad ? bad->row : none);
  return row == none ? std::nullopt : std::optional(LineRow{0, row});
}

template <class Scalar>
void GatheredLineSolver<Scalar>::solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  work_->solve(rhs, solution, options, whole_.get());
}

template class GatheredLineSolver<double>;
template void GatheredLineSolver<double>::read(const CsrMatrix<double, std::int32_t> &, const double *, const double *);
template void GatheredLineSolver<double>::read(const CsrMatrix<double, std::int64_t> &, const double *, const double *);

} // namespace weft
