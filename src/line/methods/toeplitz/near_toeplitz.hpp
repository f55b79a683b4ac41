/// NearToeplitz: a line whose rows are all equal but for some at either end, in the precision of the tables, and what elimination makes of
/// it. For the host; no right-hand side is seen here.
///
/// A line cut into chunks of R rows, of which only the last unknown of each is kept, is near-Toeplitz again: chunks of equal rows give equal
/// rows. R = 2 is a level of cyclic reduction (A. Trikuta Srinath, thesis, Clemson 2015, section 2.2, for any length and any number of
/// special rows). Inside a chunk, with x_-1 the unknown before it,
///   x_j = value_j - before_j x_-1 - after_j x_{j+1},   value_j = inverse_j rhs_j - low_j value_{j-1},
///   inverse_j = 1 / (diagonal_j - lower_j after_{j-1}),   low_j = lower_j inverse_j,   after_j = upper_j inverse_j,
///   before_0 = lower_0 inverse_0,   before_j = -low_j before_{j-1}.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/real_of.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// A row in the precision of the tables, long double or Complex<long double>. `scale` measures its pivot, see usable_pivot.
template <class Exact>
struct ExactRow {
  Exact lower = 0, diagonal = 1, upper = 0;
  long double scale = 1;
};

/// Rows of a line: `head` special ones, equal ones, `tail` special ones.
struct NearToeplitzForm {
  Index length = 0, head = 0, tail = 0;

  NearToeplitzForm() = default;
  /// Where the special rows leave no others, all of them are the head.
  NearToeplitzForm(Index rows, Index first, Index last) : length(rows), head(first + last < rows ? first : rows), tail(length - head)
  {
    tail = head < rows ? last : 0;
  }
};

/// How such a line is cut into chunks of equal length, the last one with what is left over. Chunks with special rows, and a short one, have
/// tables of their own: [0, first_inner) and [first_tail, chunks).
struct ChunkCut {
  Index length = 0, rows = 1, chunks = 0, first_inner = 0, first_tail = 0;

  ChunkCut() = default;
  ChunkCut(const NearToeplitzForm &form, Index rows_of_chunk)
      : length(form.length), rows(rows_of_chunk), chunks((form.length + rows - 1) / rows), first_inner((form.head + rows - 1) / rows),
        first_tail((form.length - form.tail) / rows)
  {
    if (first_inner >= first_tail) first_inner = first_tail = chunks;
  }
  Index own_tables() const { return first_inner + chunks - first_tail; }
  Index rows_of(Index chunk) const { return std::min(rows, length - chunk * rows); }
  /// The form of the line of last unknowns. The row of a chunk knows the chunk after it too.
  NearToeplitzForm kept() const { return {chunks, first_inner, first_tail < chunks ? chunks - first_tail + 1 : 0}; }
};

/// Watches pivots. One that is `smallest` times its row or less spoils the solution by a factor of 1 / smallest and is unusable.
struct PivotWatch {
  long double smallest = 0;
  std::optional<Index> bad_row;                           ///< the first one, of the user's line
  long double least = std::numeric_limits<double>::min(); ///< of the tables' precision: inverses of smaller pivots are none of its numbers

  template <class Exact>
  void see(const Exact &pivot, long double scale, Index row)
  {
    const long double size = modulus(pivot);
    if (!bad_row && !(size > smallest * scale && size >= least && std::isfinite(size))) bad_row = row;
  }
};

/// What elimination leaves of a chunk's rows, and its first unknown: x_0 = head_value - head_before x_-1 - head_after x_last.
template <class Exact>
struct ExactChunk {
  std::vector<Exact> low, inverse, before, after;
  Exact head_before = 0, head_after = -1;

  Index rows() const { return static_cast<Index>(low.size()); }
};

template <class Exact>
class NearToeplitz {
public:
  using Row   = ExactRow<Exact>;
  using Chunk = ExactChunk<Exact>;

  NearToeplitz() = default;
  /// row_of(i) gives row i of the line; a ring couples its ends.
  template <class RowOf>
  NearToeplitz(const NearToeplitzForm &form, bool ring, RowOf &&row_of) : form_(form), ring_(ring), original_length_(form.length)
  {
    for (Index i = 0; i < form.head; i++) head_.push_back(row_of(i));
    for (Index i = form.length - form.tail; i < form.length; i++) tail_.push_back(row_of(i));
    if (form.head < form.length) inner_ = row_of(form.head);
  }

  const NearToeplitzForm &form() const { return form_; }
  Index length() const { return form_.length; }
  bool ring() const { return ring_; }
  const Row &row(Index i) const
  {
    if (i < form_.head) return head_[static_cast<std::size_t>(i)];
    const Index t = i - (form_.length - form_.tail);
    return t < 0 ? inner_ : tail_[static_cast<std::size_t>(t)];
  }
  /// Row of the user's line that row i stands for.
  Index user_row(Index i) const { return std::min((i + 1) * stands_for_, original_length_) - 1; }

  /// Rows [first, first + rows) eliminated.
  Chunk chunk(Index first, Index rows, PivotWatch &watch) const
  {
    Chunk c;
    Exact before = 0, after = 0;
    for (Index j = 0; j < rows; j++) {
      const Row &r      = row(first + j);
      const Exact pivot = r.diagonal - r.lower * after;
      watch.see(pivot, r.scale, user_row(first + j));
      const Exact inverse = 1 / pivot;
      before              = (j == 0 ? r.lower : -r.lower * before) * inverse;
      after               = r.upper * inverse;
      c.low.push_back(j == 0 ? 0 : r.lower * inverse);
      c.inverse.push_back(inverse);
      c.before.push_back(before);
      c.after.push_back(after);
    }
    for (auto j = static_cast<std::size_t>(rows) - 1; j-- > 0;) {
      c.head_before = c.before[j] - c.after[j] * c.head_before;
      c.head_after *= -c.after[j];
    }
    return c;
  }

  /// All chunks of a cut that differ: those with tables of their own in order, with one for all others between them, if there are any.
  struct Chunks {
    ChunkCut cut;
    std::vector<Chunk> own;
    Chunk inner;

    const Chunk &at(Index k) const
    {
      if (k < cut.first_inner) return own[static_cast<std::size_t>(k)];
      return k < cut.first_tail ? inner : own[static_cast<std::size_t>(k - cut.first_tail + cut.first_inner)];
    }
  };
  Chunks chunks(Index rows, PivotWatch &watch) const
  {
    Chunks all{ChunkCut(form_, rows), {}, {}};
    const auto of = [&](Index k) { return chunk(k * rows, all.cut.rows_of(k), watch); };
    for (Index k = 0; k < all.cut.first_inner; k++) all.own.push_back(of(k));
    if (all.cut.first_inner < all.cut.first_tail) all.inner = of(all.cut.first_inner);
    for (Index k = all.cut.first_tail; k < all.cut.chunks; k++) all.own.push_back(of(k));
    return all;
  }

  /// The line of the chunks' last unknowns. Its row k has the right-hand side value_last - after_last head_value of chunk k + 1.
  NearToeplitz kept(const Chunks &chunks) const
  {
    const Index count = chunks.cut.chunks;
    NearToeplitz line(chunks.cut.kept(), ring_, [&](Index k) {
      const Chunk &own = chunks.at(k);
      Row r{own.before.back(), 1, 0, 1 + modulus(own.before.back()) + modulus(own.after.back())};
      if (k + 1 < count || ring_) {
        const Chunk &next = chunks.at(k + 1 < count ? k + 1 : 0);
        r.diagonal -= own.after.back() * next.head_before;
        r.upper = -own.after.back() * next.head_after;
      }
      return r;
    });
    line.stands_for_      = stands_for_ * chunks.cut.rows;
    line.original_length_ = original_length_;
    return line;
  }

  /// The line without its last row and without a ring.
  NearToeplitz opened() const
  {
    NearToeplitz line = *this;
    line.ring_        = false;
    line.form_.length--;
    if (line.tail_.empty()) {
      line.head_.pop_back();
      line.form_.head--;
    } else {
      line.tail_.pop_back();
      line.form_.tail--;
    }
    return line;
  }

private:
  NearToeplitzForm form_;
  bool ring_ = false;
  std::vector<Row> head_, tail_;
  Row inner_;
  Index stands_for_ = 1, original_length_ = 0;
};

/// Parallel cyclic reduction of an open near-Toeplitz line: at distance d = 1, 2, 4 ..
///   rhs_k -= left_k rhs_{k-d} + right_k rhs_{k+d},   at last   x_k = inverse_k rhs_k.
/// The rows that the ends have touched grow by d at either end; all others stay equal.
template <class Exact>
class ExactSteps {
public:
  struct Step {
    std::vector<Exact> left, right;
    Index first_inner = 0, first_tail = 0; ///< rows [first_inner, first_tail) are equal
  };

  /// Stops where all couplings are `tolerance` times the diagonal or less.
  ExactSteps(const NearToeplitz<Exact> &line, long double tolerance, PivotWatch &watch)
  {
    const Index n     = line.length();
    Index first_inner = std::min(line.form().head, n), first_tail = std::max(n - line.form().tail, first_inner);
    std::vector<ExactRow<Exact>> rows;
    for (Index k = 0; k < n; k++) {
      rows.push_back(line.row(k));
      watch.see(rows.back().diagonal, rows.back().scale, line.user_row(k));
    }
    for (Index distance = 1; distance < n && !decoupled(rows, tolerance); distance *= 2) {
      first_inner = std::min(first_inner + distance, n);
      first_tail  = std::max(first_tail - distance, first_inner);
      Step step{std::vector<Exact>(rows.size()), std::vector<Exact>(rows.size()), first_inner, first_tail};
      std::vector<ExactRow<Exact>> next(rows.size());
      for (Index k = 0; k < n; k++) {
        const auto i = static_cast<std::size_t>(k), d = static_cast<std::size_t>(distance);
        if (k > first_inner && k < first_tail) {
          step.left[i]  = step.left[i - 1];
          step.right[i] = step.right[i - 1];
          next[i]       = next[i - 1];
          continue;
        }
        ExactRow<Exact> r{0, rows[i].diagonal, 0, modulus(rows[i].lower) + modulus(rows[i].diagonal) + modulus(rows[i].upper)};
        if (k >= distance) {
          step.left[i] = rows[i].lower / rows[i - d].diagonal;
          r.lower      = -step.left[i] * rows[i - d].lower;
          r.diagonal -= step.left[i] * rows[i - d].upper;
        }
        if (k + distance < n) {
          step.right[i] = rows[i].upper / rows[i + d].diagonal;
          r.upper       = -step.right[i] * rows[i + d].upper;
          r.diagonal -= step.right[i] * rows[i + d].lower;
        }
        watch.see(r.diagonal, r.scale, line.user_row(k));
        next[i] = r;
      }
      rows = std::move(next);
      steps_.push_back(std::move(step));
    }
    last_.first_inner = first_inner;
    last_.first_tail  = first_tail;
    for (const ExactRow<Exact> &r : rows) last_.left.push_back(1 / r.diagonal);
  }

  const std::vector<Step> &steps() const { return steps_; }
  /// The inverse diagonals, in `left`.
  const Step &last() const { return last_; }

  std::vector<Exact> solve(std::vector<Exact> rhs) const
  {
    std::size_t d = 1;
    for (const Step &step : steps_) {
      std::vector<Exact> next = rhs;
      for (std::size_t k = 0; k < rhs.size(); k++) {
        if (k >= d) next[k] -= step.left[k] * rhs[k - d];
        if (k + d < rhs.size()) next[k] -= step.right[k] * rhs[k + d];
      }
      rhs = std::move(next);
      d *= 2;
    }
    for (std::size_t k = 0; k < rhs.size(); k++) rhs[k] *= last_.left[k];
    return rhs;
  }

private:
  static bool decoupled(const std::vector<ExactRow<Exact>> &rows, long double tolerance)
  {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const ExactRow<Exact> &r) { return modulus(r.lower) + modulus(r.upper) <= tolerance * modulus(r.diagonal); });
  }

  std::vector<Step> steps_;
  Step last_;
};

/// How a line is cut into windows of equal length that overlap and are solved by themselves, where what lies beyond a window does not reach
/// the rows that it gives: [0, apart + overlap) of the first window, [overlap, overlap + apart) of the next ones, the rest of the last one.
struct WindowCut {
  Index rows = 0, apart = 0, overlap = 0;
  Index count = 0; ///< without the last window, which ends where the line does

  /// `shortest` is a multiple of all rows that a thread takes. No windows (count 0) where overlaps would be too long.
  template <class Exact>
  static WindowCut of(const NearToeplitz<Exact> &line, Index rows, Index shortest, long double tolerance)
  {
    WindowCut cut{rows, 0, (reach(line, rows, tolerance) + shortest - 1) / shortest * shortest, 0};
    const Index left = line.length() - rows, special = line.form().tail;
    // No window but the first and the last one may hold special rows.
    for (cut.apart = rows - 2 * cut.overlap; cut.apart >= rows / 2 && cut.apart >= line.form().head; cut.apart -= shortest) {
      cut.count = (left + cut.apart - 1) / cut.apart;
      if (left - (cut.count - 1) * cut.apart >= special) return cut;
    }
    return {};
  }

  /// Window 0 is the first one, 1 any of the next ones, 2 the last one.
  template <class Exact>
  static NearToeplitz<Exact> window(const NearToeplitz<Exact> &line, Index rows, int which)
  {
    const Index n                = line.length();
    const ExactRow<Exact> &inner = line.row(line.form().head);
    if (which == 0)
      return {NearToeplitzForm(rows, line.form().head, 1), false, [&](Index i) { return i + 1 < rows ? line.row(i) : inner; }};
    if (which == 1) return {NearToeplitzForm(rows, 1, 1), false, [&](Index) { return inner; }};
    return {NearToeplitzForm(rows, 1, line.form().tail), false, [&](Index i) { return i > 0 ? line.row(n - rows + i) : inner; }};
  }

  /// Rows from either end of a window in which an unknown beyond it counts for more than `tolerance`; `rows` where it counts everywhere.
  template <class Exact>
  static Index reach(const NearToeplitz<Exact> &line, Index rows, long double tolerance)
  {
    Index most = 0;
    PivotWatch ignored;
    for (int which = 0; which < 3; which++) {
      const ExactChunk<Exact> c = window(line, rows, which).chunk(0, rows, ignored);
      Exact from_left = 0, from_right = 1;
      for (Index j = rows - 1; j >= 0; j--) {
        const auto i = static_cast<std::size_t>(j);
        from_left    = c.before[i] - c.after[i] * from_left;
        from_right *= c.after[i];
        if (which > 0 && !(modulus(from_left) <= tolerance)) most = std::max(most, j + 1);
        if (which < 2 && !(modulus(from_right) <= tolerance)) most = std::max(most, rows - j);
      }
    }
    return most;
  }
};

} // namespace weft
