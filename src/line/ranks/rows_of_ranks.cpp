#include "line/ranks/rows_of_ranks.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/backend.hpp"
#include "line/host_copies.hpp"
#include "line/maps/edge.hpp"

namespace weft {

/// a_ij of row i of this rank and row j of another, both by their numbers.
struct RowsOfRanks::Entry {
  Index i, j;
  double value;
};

namespace {

std::vector<Index> first_rows(MPI_Comm communicator, Index rows)
{
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  std::vector<Index> first(static_cast<std::size_t>(ranks) + 1, 0);
  MPI_Allgather(&rows, 1, MPI_INT64_T, first.data() + 1, 1, MPI_INT64_T, communicator);
  for (std::size_t r = 1; r < first.size(); r++) first[r] += first[r - 1];
  return first;
}

std::size_t rank_of(const std::vector<Index> &first_rows, Index row)
{
  return static_cast<std::size_t>(std::upper_bound(first_rows.begin(), first_rows.end(), row) - first_rows.begin()) - 1;
}

} // namespace

template <class Scalar, class Int>
RowsOfRanks::RowsOfRanks(const Execution &execution, MPI_Comm communicator, Index rows, const CsrMatrix<Scalar, Int> &outside,
                         const std::vector<std::int64_t> &columns)
    : communicator_(communicator), first_rows_(weft::first_rows(communicator, rows))
{
  MPI_Comm_rank(communicator, &rank);
  first = first_rows_[static_cast<std::size_t>(rank)];
  all   = first_rows_.back();
  std::vector<Entry> own;
  if (!columns.empty()) {
    on_backend(execution, [&](const auto &space) {
      const auto begins  = to_host(space, outside.row_starts, rows + 1);
      const auto entries = static_cast<Index>(begins.back());
      const auto column  = to_host(space, outside.columns, entries);
      const auto value   = to_host(space, outside.values, entries);
      for (Index i = 0; i < rows; i++) {
        for (auto k = static_cast<std::size_t>(begins[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(begins[static_cast<std::size_t>(i) + 1]); k++)
          own.push_back({first + i, columns[static_cast<std::size_t>(column[k])], value_in_graph(value[k])});
      }
    });
  }
  take(own, rows);
}

/// Each entry goes to the rank of its column too: that rank may store nothing of the two rows.
void RowsOfRanks::take(const std::vector<Entry> &own, Index rows)
{
  const std::size_t ranks = first_rows_.size() - 1;
  std::vector<std::vector<double>> words(ranks); // row numbers are below 2^53
  for (const Entry &entry : own) {
    auto &to = words[rank_of(first_rows_, entry.j)];
    for (const double word : {static_cast<double>(entry.i), static_cast<double>(entry.j), entry.value}) to.push_back(word);
  }
  std::vector<int> sent(ranks), received(ranks);
  for (std::size_t r = 0; r < ranks; r++) sent[r] = static_cast<int>(words[r].size() / 3);
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, communicator_);
  std::vector<double> out, in;
  for (const auto &part : words) out.insert(out.end(), part.begin(), part.end());
  std::size_t count = 0;
  for (const int n : received) count += static_cast<std::size_t>(n);
  in.resize(3 * count);
  Items(communicator_, sent, received).there(out.data(), in.data(), 3);

  struct Both {
    double mine = 0, theirs = 0;
  };
  std::map<std::pair<Index, Index>, Both> couplings; // of a row of this rank and the number of a ghost
  for (const Entry &entry : own) couplings[{entry.i - first, entry.j}].mine += entry.value;
  for (std::size_t k = 0; k < count; k++)
    couplings[{static_cast<Index>(in[3 * k + 1]) - first, static_cast<Index>(in[3 * k])}].theirs += in[3 * k + 2];
  for (const auto &[rows_of, both] : couplings) numbers.push_back(rows_of.second);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());

  starts.assign(static_cast<std::size_t>(rows) + 1, 0);
  std::vector<std::vector<Index>> shown_to(ranks);
  for (const auto &[rows_of, both] : couplings) {
    const auto &[row, number] = rows_of;
    starts[static_cast<std::size_t>(row) + 1]++;
    ghosts.push_back(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
    mine.push_back(both.mine);
    theirs.push_back(both.theirs);
    auto &rows_shown = shown_to[rank_of(first_rows_, number)];
    if (rows_shown.empty() || rows_shown.back() != row) rows_shown.push_back(row);
  }
  for (std::size_t row = 1; row < starts.size(); row++) starts[row] += starts[row - 1];
  // Both ranks of a coupling know of it, so that what one shows is what the other has as ghosts, in the same order.
  std::vector<int> shown_counts, ghost_counts(ranks, 0);
  for (const auto &part : shown_to) {
    shown.insert(shown.end(), part.begin(), part.end());
    shown_counts.push_back(static_cast<int>(part.size()));
  }
  for (const Index number : numbers) ghost_counts[rank_of(first_rows_, number)]++;
  items_ = std::make_unique<Items>(communicator_, shown_counts, ghost_counts);
}

void RowsOfRanks::bring(const double *shown_rows, double *ghost_rows, int words) const
{
  items_->there(shown_rows, ghost_rows, words);
}

Index RowsOfRanks::sum(Index here) const
{
  Index total = 0;
  MPI_Allreduce(&here, &total, 1, MPI_INT64_T, MPI_SUM, communicator_);
  return total;
}

std::vector<std::int64_t> RowsOfRanks::gather(const std::vector<std::int64_t> &here, std::vector<Index> &places) const
{
  const std::size_t ranks = first_rows_.size() - 1;
  std::vector<int> counts(ranks), starts_of(ranks, 0);
  const int count = static_cast<int>(here.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, communicator_);
  places.assign(ranks + 1, 0);
  for (std::size_t r = 0; r < ranks; r++) {
    starts_of[r]  = static_cast<int>(places[r]);
    places[r + 1] = places[r] + counts[r];
  }
  if (places.back() > std::numeric_limits<int>::max()) // MPI counts words by int
    throw std::invalid_argument("the lines that cross ranks have too many pieces: cut them where ranks meet");
  std::vector<std::int64_t> words(static_cast<std::size_t>(places.back()));
  MPI_Allgatherv(here.data(), count, MPI_INT64_T, words.data(), counts.data(), starts_of.data(), MPI_INT64_T, communicator_);
  return words;
}

template RowsOfRanks::RowsOfRanks(const Execution &, MPI_Comm, Index, const CsrMatrix<KernelScalar, std::int32_t> &,
                                  const std::vector<std::int64_t> &);
template RowsOfRanks::RowsOfRanks(const Execution &, MPI_Comm, Index, const CsrMatrix<KernelScalar, std::int64_t> &,
                                  const std::vector<std::int64_t> &);
template RowsOfRanks::RowsOfRanks(const Execution &, MPI_Comm, Index, const CsrMatrix<OtherScalar, std::int32_t> &,
                                  const std::vector<std::int64_t> &);
template RowsOfRanks::RowsOfRanks(const Execution &, MPI_Comm, Index, const CsrMatrix<OtherScalar, std::int64_t> &,
                                  const std::vector<std::int64_t> &);

} // namespace weft
