#include "compact/compact_stencil.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>

#include "backend.hpp"

namespace weft {

namespace {

/// B with its sizes, as a kernel gets it: by value.
template <class Scalar>
struct Weights {
  int width = 0, heads = 0, tails = 0, head_reach = 0, tail_reach = 0;
  Scalar inner[2 * most_stencil_width + 1]              = {};
  Scalar head[most_stencil_width + 1][most_end_weights] = {};
  Scalar tail[most_stencil_width + 1][most_end_weights] = {};
};

void check(bool holds, const std::string &message)
{
  if (!holds) throw std::invalid_argument(message);
}

/// Rows that the rows near an end make use of.
int reach(const std::vector<std::vector<double>> &ends)
{
  std::size_t most = ends.size();
  for (const auto &row : ends) most = std::max(most, row.size());
  return static_cast<int>(most);
}

template <class Scalar>
Weights<Scalar> weights_of(const CompactRows &rows)
{
  Weights<Scalar> weights;
  weights.width      = rows.width();
  weights.heads      = static_cast<int>(rows.head.size());
  weights.tails      = static_cast<int>(rows.tail.size());
  weights.head_reach = reach(rows.head);
  weights.tail_reach = reach(rows.tail);
  check(rows.inner.size() % 2 == 1 && weights.width <= most_stencil_width && weights.heads <= most_stencil_width + 1 &&
            weights.tails <= most_stencil_width + 1 && weights.head_reach <= most_end_weights && weights.tail_reach <= most_end_weights,
        "a stencil has an odd number of weights, up to 7, and at most 4 rows of their own at an end, with up to 6");
  for (std::size_t j = 0; j < rows.inner.size(); j++) weights.inner[j] = static_cast<Scalar>(rows.inner[j]);
  const auto take = [](const std::vector<std::vector<double>> &from, Scalar(&to)[most_stencil_width + 1][most_end_weights]) {
    for (std::size_t i = 0; i < from.size(); i++) {
      for (std::size_t j = 0; j < from[i].size(); j++) to[i][j] = static_cast<Scalar>(from[i][j]);
    }
  };
  take(rows.head, weights.head);
  take(rows.tail, weights.tail);
  return weights;
}

} // namespace

template <class Scalar>
class CompactStencil<Scalar>::Model {
public:
  virtual ~Model()                                                                                          = default;
  virtual void apply_inside(const Scalar *f, Scalar *result) const                                          = 0;
  virtual void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const = 0;
};

template <class Scalar>
template <class Space>
class CompactStencil<Scalar>::ModelOn final : public CompactStencil<Scalar>::Model {
public:
  ModelOn(const Space &space, const BoxPiece &piece, const CompactRows &rows, bool needs_before, bool needs_after)
      : space_(space), piece_(piece), weights_(weights_of<Scalar>(rows)), begin_(needs_before ? weights_.width : 0),
        end_(piece.rows() - (needs_after ? weights_.width : 0))
  {
  }

  void apply_inside(const Scalar *f, Scalar *result) const override
  {
    if (static_cast<std::uint64_t>(piece_.rows()) * static_cast<std::uint64_t>(piece_.lines()) < (1u << 31))
      inside<std::uint32_t>(space_, piece_, weights_, begin_, end_, f, result);
    else
      inside<std::uint64_t>(space_, piece_, weights_, begin_, end_, f, result);
  }
  void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const override
  {
    const Index rows = begin_ + piece_.rows() - end_;
    if (rows > 0) ends(space_, piece_, weights_, begin_, end_, f, before, after, result);
  }

  /// All points in the order of memory: neighbouring threads have neighbouring points. Unsigned says how far points are counted; 32 bits divide
  /// faster.
  template <class Unsigned>
  static void inside(const Space &space, const BoxPiece &piece, const Weights<Scalar> &weights, Index first, Index last, const Scalar *f,
                     Scalar *result)
  {
    const auto stride = static_cast<Unsigned>(piece.stride()), rows = static_cast<Unsigned>(piece.rows()),
               begin = static_cast<Unsigned>(first), end = static_cast<Unsigned>(last);
    const Index from = piece.first, length = piece.length;
    const bool ring = piece.ring;
    Kokkos::parallel_for(
        "weft compact stencil", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, piece.rows() * piece.lines()),
        KOKKOS_LAMBDA(const Index number) {
          const auto i       = static_cast<Unsigned>(number);
          const Unsigned row = i / stride % rows;
          if (row < begin || row >= end) return;
          const Index whole = from + static_cast<Index>(row), left = length - 1 - whole, step = static_cast<Index>(stride);
          Scalar sum = 0;
          if (!ring && whole < weights.heads) {
            const Scalar *start = f + (number - whole * step); // the line begins here: heads need no neighbour
            for (int j = 0; j < weights.head_reach; j++) sum += weights.head[whole][j] * start[j * step];
          } else if (!ring && left < weights.tails) {
            const Scalar *stop = f + (number + left * step);
            for (int j = 0; j < weights.tail_reach; j++) sum += weights.tail[left][j] * stop[-j * step];
          } else if (ring && (whole < weights.width || left < weights.width)) {
            for (int j = -weights.width; j <= weights.width; j++) {
              const Index k = whole + j, wrapped = k < 0 ? k + length : k >= length ? k - length : k;
              sum += weights.inner[weights.width + j] * f[number + (wrapped - whole) * step];
            }
          } else {
            for (int j = -weights.width; j <= weights.width; j++) sum += weights.inner[weights.width + j] * f[number + j * step];
          }
          result[number] = sum;
        });
  }

  /// The rows that reach over the piece's ends.
  static void ends(const Space &space, const BoxPiece &piece, const Weights<Scalar> &weights, Index begin, Index end, const Scalar *f,
                   const Scalar *before, const Scalar *after, Scalar *result)
  {
    const Index stride = piece.stride(), rows = piece.rows(), lines = piece.lines(), count = begin + rows - end;
    Kokkos::parallel_for(
        "weft compact stencil ends", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count * lines),
        KOKKOS_LAMBDA(const Index number) {
          const Index line = number % lines, k = number / lines, row = k < begin ? k : end + k - begin;
          const Index start = line % stride + line / stride * stride * rows;
          Scalar sum        = 0;
          for (int j = -weights.width; j <= weights.width; j++) {
            const Index r      = row + j;
            const Scalar value = r < 0       ? before[(weights.width + r) * lines + line]
                                 : r >= rows ? after[(r - rows) * lines + line]
                                             : f[start + r * stride];
            sum += weights.inner[weights.width + j] * value;
          }
          result[start + row * stride] = sum;
        });
  }

private:
  Space space_;
  BoxPiece piece_;
  Weights<Scalar> weights_;
  Index begin_, end_; ///< rows that need no neighbour
};

template <class Scalar>
CompactStencil<Scalar>::CompactStencil(const Execution &execution, const BoxPiece &piece, const CompactRows &rows)
    : piece_(piece), width_(rows.width()), needs_before_(piece.ring ? piece.rows() < piece.length : piece.first > 0),
      needs_after_(piece.ring ? piece.rows() < piece.length : piece.first + piece.rows() < piece.length)
{
  check(piece.ring || (static_cast<int>(rows.head.size()) >= width_ && static_cast<int>(rows.tail.size()) >= width_),
        "an open line needs rows of their own at both ends, as many as the stencil reaches");
  const int head = piece.ring || needs_before_ ? 0 : reach(rows.head), tail = piece.ring || needs_after_ ? 0 : reach(rows.tail),
            both  = head > 0 && tail > 0 ? static_cast<int>(rows.head.size() + rows.tail.size()) : 0,
            sides = width_ * (needs_before_ + needs_after_), needed = std::max({head, tail, both, sides, piece.ring ? 2 * width_ : width_});
  check(piece.rows() >= needed, "a box of " + std::to_string(piece.rows()) + " rows is shorter than the stencil, which needs " +
                                    std::to_string(needed) + " here: take fewer ranks along this direction, or more points");
  model_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<Model> {
    return std::make_unique<ModelOn<std::decay_t<decltype(space)>>>(space, piece, rows, needs_before_, needs_after_);
  });
}

template <class Scalar>
CompactStencil<Scalar>::~CompactStencil()
{
  destroy_or_leave(model_);
}

template <class Scalar>
void CompactStencil<Scalar>::apply_inside(const Scalar *f, Scalar *result) const
{
  model_->apply_inside(f, result);
}

template <class Scalar>
void CompactStencil<Scalar>::apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const
{
  model_->apply_ends(f, before, after, result);
}

template class CompactStencil<double>;
template class CompactStencil<float>;

} // namespace weft
