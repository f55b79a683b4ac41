#include "line/maps/line_map.hpp"

#include <algorithm>
#include <stdexcept>

#include "line/maps/colouring.hpp"
#include "line/maps/line_arrays.hpp"
#include "line/maps/open_lines.hpp"
#include "line/maps/paths.hpp"
#include "line/maps/safe_pivots.hpp"

namespace weft {

namespace {

RowNumber checked_rows(Index rows)
{
  if (rows < 0 || rows > most_forest_rows)
    throw std::invalid_argument("lines of any matrix can have at most " + std::to_string(most_forest_rows) + " rows, not " +
                                std::to_string(rows));
  return static_cast<RowNumber>(rows);
}

template <class View>
std::vector<Index> to_host(const View &array)
{
  const auto host = host_copy(array);
  return std::vector<Index>(host.data(), host.data() + host.extent(0));
}

} // namespace

template <class Scalar, class Int>
LineMap::LineMap(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &matrix, const ForestOptions &options,
                 const GhostRows *ghosts)
    : execution_(execution), rows_(rows), arrays_(std::make_unique<Arrays>())
{
  const RowNumber n = checked_rows(rows);
  if (ghosts) checked_rows(ghosts->all);
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    auto &lines = arrays_of<Space>(*arrays_);
    const Ghosts<Space> others(space, n, ghosts);
    const auto graph  = graph_of(space, others, matrix, options, not_finite_);
    const auto factor = find_factor(space, graph);
    if (options.safe_pivots) make_pivots_safe(space, graph, factor);
    const auto order = [&] {
      longest_ = order_rows(space, factor, lines);
      if (ghosts) open_lines_ = find_open_lines(space, *ghosts, factor, lines);
    };
    order();
    while (ghosts && cut_cycles_across(space, *ghosts, factor, lines, open_lines_)) order();
    lines_ = static_cast<Index>(lines.starts.extent(0)) - 1;
    space.fence("weft: lines of a matrix");
  });
  start_with_one_colour();
}

LineMap::LineMap(const Execution &execution, Index rows, const HostLines &lines)
    : execution_(execution), rows_(rows), arrays_(std::make_unique<Arrays>())
{
  const auto n = static_cast<std::size_t>(checked_rows(rows));
  std::vector<bool> seen(n, false);
  std::vector<RowNumber> order, starts{0};
  order.reserve(n);
  const auto end_line = [&] {
    if (static_cast<std::size_t>(starts.back()) == order.size()) return; // a line without rows
    longest_ = std::max(longest_, static_cast<Index>(order.size()) - starts.back());
    starts.push_back(static_cast<RowNumber>(order.size()));
  };
  if (lines.starts.empty() || lines.starts.front() != 0 || lines.starts.back() != static_cast<Index>(lines.rows.size()) ||
      !std::is_sorted(lines.starts.begin(), lines.starts.end()))
    throw std::invalid_argument("the starts of the lines must rise from 0 to the number of rows in them");
  for (std::size_t line = 0; line + 1 < lines.starts.size(); line++) {
    for (Index k = lines.starts[line]; k < lines.starts[line + 1]; k++) {
      const Index row = lines.rows[static_cast<std::size_t>(k)];
      if (row < 0 || row >= rows)
        throw std::invalid_argument("row " + std::to_string(row) + " of a line is not one of the " + std::to_string(rows) + " rows");
      if (seen[static_cast<std::size_t>(row)])
        throw std::invalid_argument("row " + std::to_string(row) + " is in the lines twice: a row can be in one line only");
      seen[static_cast<std::size_t>(row)] = true;
      order.push_back(static_cast<RowNumber>(row));
    }
    end_line();
  }
  for (std::size_t row = 0; row < n; row++) {
    if (seen[row]) continue;
    order.push_back(static_cast<RowNumber>(row));
    end_line();
  }
  lines_ = static_cast<Index>(starts.size()) - 1;
  on_backend(execution, [&](const auto &space) {
    auto &arrays  = arrays_of<std::decay_t<decltype(space)>>(*arrays_);
    arrays.order  = from_host(space, "weft line order", order);
    arrays.starts = from_host(space, "weft line starts", starts);
    mark_begins(space, arrays);
    space.fence("weft: a user's lines");
  });
  start_with_one_colour();
}

LineMap::LineMap(const Execution &execution, const LineMap &other) : LineMap(execution, other.rows(), other.host_lines())
{
  colour_rows_ = other.colour_rows_;
  not_finite_  = other.not_finite_;
}

LineMap::~LineMap()
{
  destroy_or_leave(arrays_);
}

void LineMap::start_with_one_colour()
{
  colour_rows_ = {0};
  if (rows_ > 0) colour_rows_.push_back(rows_);
}

template <class Scalar, class Int>
std::vector<int> LineMap::colour(const CsrMatrix<Scalar, Int> &matrix, const GhostRows *ghosts, const JoinedPieces *joined)
{
  const JoinedPieces none;
  std::vector<int> of_joined;
  on_backend(execution_, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    auto &lines = arrays_of<Space>(*arrays_);
    const Ghosts<Space> others(space, static_cast<RowNumber>(rows_), ghosts);
    const auto colours = colour_lines(space, lines, matrix, others, ghosts && joined ? *joined : none);
    colour_rows_       = sort_lines(space, colours.own, lines);
    of_joined          = colours.joined;
    space.fence("weft: colours of lines");
  });
  open_lines_.clear(); // their places have changed
  if (ghosts) {
    std::vector<Index> places;
    const auto counts = ghosts->gather({colours()}, places);
    colour_rows_.resize(1 + static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end())), rows_);
  }
  return of_joined;
}

void LineMap::turn_round(const std::vector<Index> &lines)
{
  if (lines.empty()) return;
  on_backend(execution_, [&](const auto &space) {
    turn_lines_round(space, arrays_of<std::decay_t<decltype(space)>>(*arrays_), row_numbers(space, lines));
    space.fence("weft: lines turned round");
  });
}

HostLines LineMap::host_lines() const
{
  return on_backend(execution_, [&](const auto &space) {
    const auto &lines = arrays_of<std::decay_t<decltype(space)>>(*arrays_);
    return HostLines{to_host(lines.order), to_host(lines.starts)};
  });
}

template LineMap::LineMap(const Execution &, Index, const CsrMatrix<KernelScalar, std::int32_t> &, const ForestOptions &,
                          const GhostRows *);
template LineMap::LineMap(const Execution &, Index, const CsrMatrix<KernelScalar, std::int64_t> &, const ForestOptions &,
                          const GhostRows *);
template LineMap::LineMap(const Execution &, Index, const CsrMatrix<OtherScalar, std::int32_t> &, const ForestOptions &, const GhostRows *);
template LineMap::LineMap(const Execution &, Index, const CsrMatrix<OtherScalar, std::int64_t> &, const ForestOptions &, const GhostRows *);
template std::vector<int> LineMap::colour(const CsrMatrix<KernelScalar, std::int32_t> &, const GhostRows *, const JoinedPieces *);
template std::vector<int> LineMap::colour(const CsrMatrix<KernelScalar, std::int64_t> &, const GhostRows *, const JoinedPieces *);
template std::vector<int> LineMap::colour(const CsrMatrix<OtherScalar, std::int32_t> &, const GhostRows *, const JoinedPieces *);
template std::vector<int> LineMap::colour(const CsrMatrix<OtherScalar, std::int64_t> &, const GhostRows *, const JoinedPieces *);

} // namespace weft
