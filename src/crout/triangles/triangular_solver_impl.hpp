/// Triangular solves on one backend.
#pragma once
#include "base/backend.hpp"
#include "crout/triangles/isai.hpp"
#include "crout/triangles/jacobi_steps.hpp"
#include "crout/triangles/level_solve.hpp"
#include "crout/triangles/sequential_solve.hpp"
#include "crout/triangles/syncfree_solve.hpp"
#include "crout/triangles/transposed_triangle.hpp"
#include "crout/triangles/triangular_probe.hpp"
#include "crout/triangular_solver.hpp"

namespace weft {

namespace triangular {

/// First row whose columns are not in ascending order, or not on their side of the diagonal.
template <class Scalar>
struct CheckRow {
  Triangle<Scalar> t;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, Index &first) const
  {
    Index last = t.forward ? -1 : i;
    bool good  = t.starts[i] <= t.starts[i + 1];
    for (std::int64_t k = t.starts[i]; k < t.starts[i + 1]; k++) {
      good = good && t.columns[k] > last && t.columns[k] < (t.forward ? i : t.rows);
      last = t.columns[k];
    }
    if (!good && i < first) first = i;
  }
};

template <class Scalar>
struct Invert {
  const Scalar *diagonal;
  Scalar *inverse;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { inverse[i] = 1 / diagonal[i]; }
};

/// as_device: work as on a device, with waiting rows and sorted keys (tests do so on a host).
template <class Space, class Scalar, bool as_device = !on_host<Space>>
class TriangularSolverImpl final : public TriangularSolver<Scalar> {
public:
  TriangularSolverImpl(const Space &space, TriangularMethod method, const TriangularOptions &options)
      : TriangularSolver<Scalar>(method), space_(space), options_(options)
  {
  }

  void analyse(const SparseTriangles<Scalar> &triangles, const FactorTransform &transform) override
  {
    given_            = triangles;
    updated_          = false;
    transform_        = transform;
    plain_            = {};
    transposed_       = {};
    transposed_lower_ = transposed_upper_ = {};
    facts_.probe.reset();
    facts_.levels = 0;
    lower_        = triangle(triangles.lower_starts, triangles.lower_columns, triangles.lower_entries, true);
    upper_        = triangle(triangles.upper_starts, triangles.upper_columns, triangles.upper_entries, false);
    if (!triangles.checked) check(lower_, "lower");
    if (!triangles.checked && !implied()) check(upper_, "upper");
    use(!as_device && (asked_ == TriangularMethod::automatic || asked_ == TriangularMethod::syncfree) ? TriangularMethod::sequential
        : asked_ == TriangularMethod::automatic                                                       ? TriangularMethod::jacobi
                                                                                                      : asked_);
    facts_.steps = options_.steps;
    inverse_     = uninitialized<Scalar, Space>("weft inverse diagonal", rows());
    if (implied()) transpose(lower_, transposed_lower_);
    plain_.first  = lower_;
    plain_.second = implied() ? transposed_lower_.as_triangle(lower_) : upper_;
    prepare(plain_);
    slices_[0] = slices_[1] = {};
    if (slicing()) {
      slices_[0].analyse(space_, plain_.first);
      slices_[1].analyse(space_, plain_.second);
    }
    work_ = {};
    each_ = 0;
    reserve(1);
    space_.fence("weft: analyse the triangles");
  }

  void update(const SparseTriangles<Scalar> &triangles) override
  {
    if (triangles.rows != given_.rows || triangles.lower_entries != given_.lower_entries || triangles.upper_entries != given_.upper_entries)
      throw std::invalid_argument("the triangles have another pattern than the one analysed: call analyse again");
    given_        = triangles;
    const auto at = [](Triangle<Scalar> &t, const std::int64_t *starts, const std::int32_t *columns, const Scalar *values) {
      t.starts = starts, t.columns = columns, t.values = values;
    };
    at(lower_, triangles.lower_starts, triangles.lower_columns, triangles.lower_values);
    at(upper_, triangles.upper_starts, triangles.upper_columns, triangles.upper_values);
    for_each(Invert<Scalar>{triangles.diagonal, inverse_.data()}, "weft invert the diagonal", rows());
    if (asked_ == TriangularMethod::isai) {
      approximate(lower_, nullptr, isai_lower_);
      if (!implied() && given_.symmetric)
        mirror_isai();
      else if (!implied())
        approximate(upper_, inverse_.data(), isai_upper_);
    }
    updated_ = true;
    take_values();
    double sizes = 0; // of the iteration: the largest sum in a row
    if (slicing()) {
      const Plan p = plan(false);
      sizes        = slices_[0].update(space_, p.first.triangle, p.first.scale);
      sizes        = std::max(sizes, slices_[1].update(space_, p.second.triangle, p.second.scale));
    }
    if (asked_ == TriangularMethod::automatic && as_device && (options_.probe_again || !facts_.probe)) choose(sizes);
  }

  void solve(TriangularPart part, const KernelScalar *rhs, KernelScalar *x, int nrhs, Index ld) override
  {
    if (rows() == 0) return;
    if (part == TriangularPart::transposed) analyse_transpose();
    int k = 0;
    if (nrhs >= many) {
      reserve(many);
      for (; k + many <= nrhs; k += many) part_of_solve<many>(part, rhs + k * ld, x + k * ld, ld);
    }
    for (; k < nrhs; k++) part_of_solve<1>(part, rhs + k * ld, x + k * ld, ld);
  }

private:
  static constexpr int many        = 4;    ///< right-hand sides that share a reading of the factors
  static constexpr double hopeless = 1000; ///< a ratio of the probe that twice as many steps do not mend

  using Method = TriangularMethod;
  using TriangularSolver<Scalar>::asked_;
  using TriangularSolver<Scalar>::facts_;

  /// The two halves of a solve or of a transposed one.
  struct Halves {
    Triangle<Scalar> first, second;
    Levels<Space> first_levels, second_levels;
    bool known = false, has_levels = false;
  };
  struct Transposed {
    TransposedPattern<Space> pattern;
    Owned<Scalar, Space> values;
    bool known = false;

    Triangle<Scalar> as_triangle(const Triangle<Scalar> &of) const
    {
      return {of.rows, of.entries, pattern.starts.data(), pattern.columns.data(), values.data(), !of.forward};
    }
  };

  Index rows() const { return given_.rows; }
  /// U is not stored: it is D L^T.
  bool implied() const { return given_.symmetric && !given_.upper_starts; }
  Triangle<Scalar> triangle(const std::int64_t *starts, const std::int32_t *columns, Index entries, bool forward) const
  {
    return {rows(), entries, starts, columns, nullptr, forward};
  }
  void use(Method method) { facts_.in_use = method; }
  /// Steps work on slices of rows: on a device, with so many rows that a launch a step is worth it.
  bool slicing() const
  {
    return as_device && rows() > small_jacobi && (asked_ == Method::jacobi || asked_ == Method::isai || asked_ == Method::automatic);
  }
  /// The slices of a half of plan(transposed), if there are any.
  Sliced<Scalar> sliced(bool transposed, int half) const
  {
    return transposed && !given_.symmetric ? Sliced<Scalar>() : slices_[half].sliced();
  }

  template <class Functor>
  void for_each(const Functor &functor, const char *label, Index size) const
  {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, size), functor);
  }

  void check(const Triangle<Scalar> &t, const char *which) const
  {
    Index first = t.rows;
    Kokkos::parallel_reduce("weft check a triangle", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, t.rows),
                            CheckRow<Scalar>{t}, Kokkos::Min<Index>(first));
    if (first < t.rows)
      throw std::invalid_argument("row " + std::to_string(first) + " of the strictly " + which +
                                  " triangle has columns out of order or on the wrong side of the diagonal");
  }

  void transpose(const Triangle<Scalar> &t, Transposed &to)
  {
    to.pattern = transpose_pattern(space_, t, as_device);
    to.values  = uninitialized<Scalar, Space>("weft transposed values", t.entries);
    to.known   = true;
  }
  void approximate(const Triangle<Scalar> &t, const Scalar *scale, Owned<Scalar, Space> &q)
  {
    if (static_cast<Index>(q.size()) != t.entries) q = uninitialized<Scalar, Space>("weft isai", t.entries);
    find_isai(space_, t, scale, q.data());
  }
  /// The approximate inverse of D L^T is that of L, transposed: by rows it would be another one where rows have three entries or more.
  void mirror_isai()
  {
    if (!transposed_lower_.known) transpose(lower_, transposed_lower_);
    if (static_cast<Index>(isai_upper_.size()) != upper_.entries) isai_upper_ = uninitialized<Scalar, Space>("weft isai", upper_.entries);
    transpose_values(space_, transposed_lower_.pattern, isai_lower_.data(), isai_upper_);
  }
  /// Levels where the method in use needs them. Once for a pattern.
  void prepare(Halves &halves)
  {
    halves.known = true;
    if (halves.has_levels || (facts_.in_use != Method::levels && facts_.in_use != Method::syncfree)) return;
    for (auto &ticket : tickets_)
      if (!ticket.data()) ticket = Ticket<Space>("weft ticket");
    const auto find = [&](const Triangle<Scalar> &t) {
      return find_levels(space_, t, as_device, facts_.in_use == Method::syncfree && solved_in_blocks<Space>(t));
    };
    halves.first_levels  = find(halves.first);
    halves.second_levels = find(halves.second);
    halves.has_levels    = true;
    facts_.levels        = std::max(facts_.levels, halves.first_levels.count() + halves.second_levels.count());
  }
  /// Where the values of all halves are: the factors' own, or those of the approximate inverses.
  void take_values()
  {
    const bool isai     = asked_ == Method::isai;
    const Scalar *lower = isai ? isai_lower_.data() : lower_.values, *upper = isai ? isai_upper_.data() : upper_.values;
    if (transposed_lower_.known) transpose_values(space_, transposed_lower_.pattern, lower, transposed_lower_.values);
    if (transposed_upper_.known) transpose_values(space_, transposed_upper_.pattern, upper, transposed_upper_.values);
    plain_.first        = lower_;
    plain_.first.values = lower;
    if (!implied()) {
      plain_.second        = upper_;
      plain_.second.values = upper;
    }
  }

  /// Work space for `width` right-hand sides: what iterates, or what the halves pass on.
  void reserve(int width)
  {
    const int arrays = facts_.in_use == Method::sequential || facts_.in_use == Method::levels ? 1
                       : facts_.in_use == Method::syncfree                                    ? 2
                                                                                              : 3;
    if (each_ >= width * rows() && static_cast<Index>(work_.size()) >= arrays * each_) return;
    each_ = width * rows();
    work_ = uninitialized<KernelScalar, Space>("weft triangular work", arrays * each_);
  }
  KernelScalar *array(int k) const { return (k + 1) * each_ <= static_cast<Index>(work_.size()) ? work_.data() + k * each_ : nullptr; }

  /// The halves of a part, before it is said what they read and where they write. `between`: factors of what the second half reads.
  struct Plan {
    Half<Scalar> first, second;
    const Levels<Space> *first_levels, *second_levels;
    const Scalar *between;
  };
  Plan plan(bool transposed) const
  {
    const bool turned = transposed && !given_.symmetric, isai = asked_ == Method::isai;
    const Halves &halves  = turned ? transposed_ : plain_;
    const Scalar *inverse = inverse_.data();
    Plan plan{{}, {}, &halves.first_levels, &halves.second_levels, inverse};
    plan.first.triangle  = halves.first;
    plan.second.triangle = halves.second;
    if (!turned && !implied() && !isai) plan.second.scale = inverse;
    if (turned && !isai) {
      plan.first.scale = plan.first.before = inverse;
      plan.between                         = nullptr;
    }
    return plan;
  }

  /// Makes what transposed solves need, once for a pattern.
  void analyse_transpose()
  {
    if (given_.symmetric || transposed_.known || rows() == 0) return;
    transpose(lower_, transposed_lower_);
    transpose(upper_, transposed_upper_);
    transposed_.first  = transposed_upper_.as_triangle(upper_);
    transposed_.second = transposed_lower_.as_triangle(lower_);
    prepare(transposed_);
    if (updated_) take_values();
  }

  template <int width>
  void part_of_solve(TriangularPart part, const KernelScalar *rhs, KernelScalar *x, Index ld)
  {
    const bool transposed = part == TriangularPart::transposed;
    Vectors in{const_cast<KernelScalar *>(rhs), 1, ld, nullptr, nullptr}, out{x, 1, ld, nullptr, nullptr};
    if (part != TriangularPart::backward) {
      in.order = transposed ? transform_.column_order : transform_.row_order;
      in.scale = transposed ? transform_.column_scale : transform_.row_scale;
    }
    if (part != TriangularPart::forward) {
      out.order = transposed ? transform_.row_order : transform_.column_order;
      out.scale = transposed ? transform_.row_scale : transform_.column_scale;
    }
    Plan p = plan(transposed);
    if (part == TriangularPart::forward) {
      p.first.in = in, p.first.out = out;
      one_half<width>(p.first, *p.first_levels, sliced(transposed, 0));
    } else if (part == TriangularPart::backward) {
      p.second.in = in, p.second.out = out, p.second.before = p.between;
      one_half<width>(p.second, *p.second_levels, sliced(transposed, 1));
    } else {
      p.first.in = in, p.second.out = out;
      both_halves<width>(p, {sliced(transposed, 0), sliced(transposed, 1)});
    }
  }

  int lanes(const Half<Scalar> &half) const { return lanes_of<Space>(half.triangle.rows, half.triangle.entries); }
  int jacobi_steps() const { return facts_.in_use == Method::isai ? 1 : facts_.steps; }

  /// Where an exact solve may keep the solution: in the caller's array if that is one like the work space.
  template <int width>
  KernelScalar *room(Half<Scalar> &last) const
  {
    if (width > 1 || !last.out.plain()) return array(0);
    KernelScalar *x = last.out.data;
    last.out        = {};
    return x;
  }

  template <int width>
  void one_half(Half<Scalar> half, const Levels<Space> &levels, const Sliced<Scalar> &sliced)
  {
    KernelScalar *const work[3] = {array(0), array(1), array(2)};
    if (facts_.in_use == Method::sequential) {
      if constexpr (!as_device) sequential_half<width>(half, room<width>(half));
    } else if (facts_.in_use == Method::levels) {
      KernelScalar *x = room<width>(half);
      level_half<width>(space_, half, levels, lanes(half), x);
    } else if (facts_.in_use == Method::syncfree) {
      refresh(space_, work[0], work[1], tickets_[0], tickets_[1], width * rows());
      syncfree_half<width>(space_, half, levels, lanes(half), work[0], tickets_[0]);
    } else {
      jacobi_half<width>(space_, half, sliced, jacobi_steps(), lanes(half), work);
    }
  }

  template <int width>
  void both_halves(Plan &p, const Sliced<Scalar> (&sliced)[2])
  {
    KernelScalar *const work[3] = {array(0), array(1), array(2)};
    if (facts_.in_use == Method::jacobi || facts_.in_use == Method::isai) {
      p.first.after = p.between;
      jacobi_both<width>(space_, p.first, p.second, sliced, jacobi_steps(), {lanes(p.first), lanes(p.second)}, work);
      return;
    }
    p.second.before = p.between;
    if (facts_.in_use == Method::syncfree) {
      refresh(space_, work[0], work[1], tickets_[0], tickets_[1], width * rows());
      syncfree_half<width>(space_, p.first, *p.first_levels, lanes(p.first), work[0], tickets_[0]);
      p.second.in = inner<width>(work[0]);
      syncfree_half<width>(space_, p.second, *p.second_levels, lanes(p.second), work[1], tickets_[1]);
      return;
    }
    KernelScalar *x = room<width>(p.second);
    p.second.in     = inner<width>(x);
    if (facts_.in_use == Method::levels) {
      level_half<width>(space_, p.first, *p.first_levels, lanes(p.first), x);
      level_half<width>(space_, p.second, *p.second_levels, lanes(p.second), x);
    } else if constexpr (!as_device) {
      sequential_half<width>(p.first, x);
      sequential_half<width>(p.second, x);
    }
  }

  /// auto: as few Jacobi steps as the probe lets through, else the exact solve. Where each step shrinks what is left by `sizes`, in the
  /// largest norm, nothing need be probed, and fewer steps than a probe begins with may be enough. With new values no fewer steps are tried than were needed before, and where none were enough only
  /// the fewest.
  void choose(double sizes)
  {
    const bool was_exact = facts_.probe && facts_.in_use == Method::syncfree;
    use(Method::jacobi);
    reserve(1);
    const auto left  = [sizes](int steps) { return std::pow(sizes, steps + 1); };
    facts_.tolerance = rows() <= small_jacobi ? options_.small_tolerance : options_.tolerance;
    facts_.bounded   = slicing() && left(options_.steps) <= facts_.tolerance;
    if (facts_.bounded) {
      facts_.steps = std::min(options_.fewest_steps, options_.steps);
      while (facts_.steps < options_.steps && left(facts_.steps) > options_.certain) facts_.steps++;
      facts_.probe = left(facts_.steps);
      return;
    }
    const int from = facts_.probe && !was_exact ? std::max(facts_.steps, options_.steps) : options_.steps;
    const int most = std::max(options_.steps, options_.most_steps);
    for (facts_.steps = from;; facts_.steps = std::min(2 * facts_.steps, most)) {
      const Plan p       = plan(false);
      const double first = probe_half(p.first, 0), second = probe_half(p.second, 1);
      facts_.probe = std::isfinite(first) && !(second <= first) ? second : first;
      if (*facts_.probe <= facts_.tolerance) return;
      if (was_exact || facts_.steps == most || !(*facts_.probe <= hopeless)) break;
    }
    use(Method::syncfree);
    prepare(plain_);
    if (transposed_.known) prepare(transposed_);
    reserve(1);
    space_.fence("weft: levels of the triangles");
  }
  double probe_half(const Half<Scalar> &half, int which) const
  {
    return probe_residual(space_, half, sliced(false, which), facts_.steps, lanes(half), {array(0), array(1), array(2)});
  }

  Space space_;
  TriangularOptions options_;
  SparseTriangles<Scalar> given_;
  FactorTransform transform_;
  bool updated_ = false; ///< values are known
  Triangle<Scalar> lower_, upper_;
  Owned<Scalar, Space> inverse_, isai_lower_, isai_upper_;
  Transposed transposed_lower_, transposed_upper_;
  Halves plain_, transposed_;
  Slices<Space, Scalar> slices_[2]; ///< of plain_
  Owned<KernelScalar, Space> work_; ///< up to three arrays
  Index each_ = 0;                  ///< elements of each
  Ticket<Space> tickets_[2];        ///< of exact solves
};

// Those of a host are compiled once: triangular_solver.cpp.
extern template class TriangularSolverImpl<HostBackend, KernelScalar>;
extern template class TriangularSolverImpl<HostBackend, OtherScalar>;

} // namespace triangular

} // namespace weft
