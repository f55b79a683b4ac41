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
  constexpr Index most = std::numeric_limits<int>::max() / (3 * sizeof(KernelScalar) / sizeof(float));
  Index all            = 0;
  for (Index n : here) all += n;
  if (all > most) // MPI counts words by int
    throw std::invalid_argument("a line that one rank solves for all has at most " + std::to_string(most) + " rows, and this one has " +
                                std::to_string(all));
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

Items items_of(MPI_Comm communicator, Index rows, bool on_device)
{
  const std::vector<int> all = rows_of_ranks(communicator, rows), none(all.size(), 0);
  std::vector<int> sent      = none;
  int rank;
  MPI_Comm_rank(communicator, &rank);
  const std::size_t solver = solver_of(all);
  sent[solver]             = static_cast<int>(rows);
  return {communicator, sent, static_cast<std::size_t>(rank) == solver ? all : none, on_device};
}

template <class Space, class Scalar>
class GatheredLineIn final : public GatheredLineSolver<Scalar> {
public:
  using GatheredLineSolver<Scalar>::read;
  using Values = OwnedArray<Scalar, Space>;

  GatheredLineIn(const Space &space, const Execution &execution, MPI_Comm ranks, Index rows, bool ring, const std::string &method,
                 const MethodParameters &parameters, bool device_messages)
      : GatheredLineSolver<Scalar>(execution, ranks, rows, ring, method, parameters), space_(space), piece_(one_line(rows))
  {
    const Index all = whole_ ? ranks_.length() : 0; // rows of the whole line on the rank that solves
    piece_.periodic = ring && ranks_.pieces() == 1; // else `before` and `after` close it
    line_           = values(all);
    for (Values &array : own_) array = values(rows);
    for (Values &array : coefficients_) array = values(all);
    device_messages = device_messages || items_.on_stream();
    mine_.allocate(3 * rows, device_messages);
    theirs_.allocate(3 * all, device_messages);
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix, const Scalar *before, const Scalar *after) override
  {
    take(matrix, before, after);
  }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix, const Scalar *before, const Scalar *after) override
  {
    take(matrix, before, after);
  }
  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    SolveOptions<Scalar> plain;
    plain.transpose = options.transpose;
    for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld) {
      copy(space_, rhs, mine_.data(), piece_.layout.length);
      wait_to_send(space_, items_, "weft: the right-hand side travels");
      items_.there(mine_.data(), theirs_.data(), 1, stream());
      if (whole_) {
        copy(space_, theirs_.data(), line_.data(), size(line_));
        whole_->solve(line_.data(), line_.data(), plain);
        copy(space_, line_.data(), theirs_.data(), size(line_));
        wait_to_send(space_, items_, "weft: the solution travels");
      }
      items_.back(theirs_.data(), mine_.data(), 1, stream());
      place(space_, mine_.data(), solution, piece_.layout.length, options.update);
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

private:
  using GatheredLineSolver<Scalar>::items_;
  using GatheredLineSolver<Scalar>::ranks_;
  using GatheredLineSolver<Scalar>::whole_;

  template <class Int>
  void take(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after)
  {
    const bool several = ranks_.pieces() > 1;
    tridiagonal_of_csr(space_, piece_, matrix, own_[0], own_[1], own_[2]);
    pack(space_, own_[0], own_[1], own_[2], several && ranks_.has_before() ? before : nullptr,
         several && ranks_.has_after() ? after : nullptr, mine_.data());
    wait_to_send(space_, items_, "weft: coefficients travel");
    items_.there(mine_.data(), theirs_.data(), 3, stream());
    if (!whole_) return;
    unpack(space_, theirs_.data(), coefficients_[0], coefficients_[1], coefficients_[2]);
    whole_->use(coefficients_[0].data(), coefficients_[1].data(), coefficients_[2].data());
    space_.fence("weft: the messages are free again");
  }

  void *stream() const { return stream_of_messages(space_); }

  Space space_;
  LineProblem piece_;
  Values own_[3], coefficients_[3], line_;
  Messages<Space, Scalar> mine_, theirs_;
};

} // namespace

template <class Scalar>
GatheredLineSolver<Scalar>::GatheredLineSolver(const Execution &execution, MPI_Comm ranks, Index rows, bool ring, const std::string &method,
                                               const MethodParameters &parameters)
    : method_(method), ranks_(ranks, rows, ring), items_(items_of(ranks, rows, execution.memory() == Memory::device))
{
  LineProblem line(one_line(ranks_.length()));
  line.periodic = ring;
  if (method != "auto") {
    if (const auto why = tridiagonal_method_refuses(method, line, parameters)) throw std::invalid_argument(*why);
  }
  if (!ranks_.is_empty() && ranks_.piece() == 0) whole_ = LineSolver<Scalar>::make(execution, line, method, parameters);
}

template <class Scalar>
Owner<GatheredLineSolver<Scalar>> GatheredLineSolver<Scalar>::make(const Execution &execution, MPI_Comm ranks, Index rows, bool ring,
                                                                   const std::string &method, const MethodParameters &parameters,
                                                                   bool device_messages)
{
  return on_backend(execution, [&](const auto &space) -> Owner<GatheredLineSolver> {
    using Solver = GatheredLineIn<std::decay_t<decltype(space)>, Scalar>;
    return make_owner<Solver>(space, execution, ranks, rows, ring, method, parameters, device_messages);
  });
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

template class GatheredLineSolver<KernelScalar>;

} // namespace weft
