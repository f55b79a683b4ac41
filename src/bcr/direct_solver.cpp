// DirectSolver: a prepared problem on one backend, its types hidden.
#include "bcr/direct_solver.hpp"

#include <Kokkos_Core.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "base/backend.hpp"
#include "base/native.hpp"
#include "bcr/modes/bordered_lines.hpp"
#include "bcr/modes/tensor_lines.hpp"
#include "bcr/prepare.hpp"
#include "bcr/right_hand_side.hpp"
#include "bcr/shifted/shifted_lines.hpp"
#include "bcr/shifted/shifted_lines_device.hpp"
#include "bcr/shifted/shifted_lines_host.hpp"
#include "bcr/shifted/side_by_side.hpp"
#include "bcr/transforms/transform.hpp"
#if defined(WEFT_NATIVE_CUDA)
#include "bcr/shifted/fraction_launch.hpp"
#endif

namespace weft {

namespace poisson {

/// Native kernels for the lines of a step, where a backend has some: here none.
template <class Space, class Scalar>
struct NativeLines {
  NativeLines() = default;
  NativeLines(const LineMatrix &, const LineStep &, const Grid &) {}
  explicit operator bool() const { return false; }
  std::size_t bytes() const { return 0; }
  static int splits(const Space &, const StepTables<Scalar> &) { return 1; }
  void launch(const Space &, const LineArguments<Scalar> &) const {}
};
#if defined(WEFT_NATIVE_CUDA)
template <class Scalar>
struct NativeLines<Kokkos::Cuda, Scalar> : cuda::NativeFractions<Scalar> {
  using cuda::NativeFractions<Scalar>::NativeFractions;
};
#endif

template <class Space, class Scalar>
class DirectSolverImpl final : public DirectSolver<Scalar> {
public:
  using Values = OwnedArray<Scalar, Space>;

  DirectSolverImpl(const Execution &execution, Prepared prepared, const DirectOptions &options)
      : DirectSolver<Scalar>(execution), space_(space_of<Space>(execution)), prepared_(std::move(prepared)),
        side_by_side_(options.side_by_side)
  {
    const Prepared &p          = prepared_;
    const bool lines_only      = BorderedLines<Space, Scalar>::fits(p) || TensorLines<Space, Scalar>::fits(p);
    pads_                      = !lines_only && p.all_products() && (options.pads < 0 ? padding_pays(p) : options.pads > 0);
    array_                     = make_array();
    grid_                      = {p.n[p.line], length().stride, p.n[p.block], rows().stride, p.n[p.batch], planes().stride};
    std::vector<double> shifts = p.modes.values;
    for (double &s : shifts) s *= p.schedule.factor;
    may_be_planes_ = !lines_only && p.n[2] == 1 && !p.line_modes && !p.transforms();
    if (may_be_planes_) shifts.resize(most_side_by_side, shifts[0]);
    b_              = make_operator(p.schedule.line, shifts, p.pinned_row, store_);
    b_.pinned_plane = p.pinned_plane;
    for (int k = 0; k < 3; k++) {
      scale_[k] = upload<Scalar, Space>("weft poisson scale", p.scale[k]);
      left_[k]  = upload<double, Space>("weft poisson null vector", p.left[k]);
    }
    if (p.singular) {
      left_sum_ = 1;
      for (const auto &left : p.left) {
        double sum = 0;
        for (double v : left) sum += v;
        left_sum_ *= sum;
      }
      mean_         = Mean("weft poisson mean");
      perturbation_ = Mean("weft poisson perturbation");
    }
    if (BorderedLines<Space, Scalar>::fits(p)) {
      make_bordered();
    } else if (TensorLines<Space, Scalar>::fits(p)) {
      make_tensor();
    } else {
      check_length();
      if (p.transforms()) {
        to_modes_   = to_modes(p.modes, folds(p.batch));
        from_modes_ = from_modes(p.modes, folds(p.batch));
      }
      if (p.line_modes) {
        const auto &basis = *p.line_modes;
        to_line_modes_    = to_modes(basis);
        from_line_modes_  = from_modes(basis);
        if (!basis.fast) along_ = allocate("weft poisson lines", array_.size());
      }
      make_steps();
    }
    for (int k : {p.block, p.batch}) prepared_.folds[k] = folds(k) > 0;
    this->facts_ = p.facts();
    if (p.multiplied_rows() > 0) this->facts_.description += ", products by " + Products<Space>(space_).name();
    if (bordered_) this->facts_.description += ", columns left over: " + std::to_string(bordered_->left_over());
    space_.fence("weft: poisson tables");
  }

  void solve(const Scalar *rhs, Scalar *solution, int nrhs, Index ld) const override
  {
    const Index together = side_by_side(nrhs);
    if (together > 1) make_room(together);
    for (Index k = 0; k < nrhs; k += together) solve_some(rhs + k * ld, solution + k * ld, std::min<Index>(together, nrhs - k), ld);
  }
  /// On a device a launch for one of a small grid takes longer than its work; on a host they would only drive one another out of the caches.
  Index side_by_side(int nrhs) const override
  {
    if (nrhs <= 1 || prepared_.singular || !(tensor_ || may_be_planes_)) return 1;
    if (!tensor_ && side_by_side_ == 0 && !prepared_.all_products() && array_.size() > most_points) return 1;
    constexpr Index most_bytes = Index(1) << 26;
    const Index elements       = tensor_ ? tensor_->work_apart() : 2 * array_.size();
    const Index fit            = std::max<Index>(1, most_bytes / static_cast<Index>(sizeof(Scalar)) / elements);
    const Index asked          = side_by_side_ > 0 ? side_by_side_ : is_host_space<Space> ? 1 : most_side_by_side;
    return std::min({Index(nrhs), asked, most_side_by_side, fit});
  }
  bool renew(const SeparableOperator &problem, const DirectOptions &options) override
  {
    if (!tensor_ || !is_tensor(problem)) return false;
    Prepared p        = prepare(problem, options, is_host_space<Space>);
    const Prepared &q = prepared_;
    if (!TensorLines<Space, Scalar>::fits(p) || !std::equal(p.n, p.n + 3, q.n) || p.line != q.line || p.singular || q.singular ||
        p.bad_pivot || p.schedule.factor != q.schedule.factor || !std::equal(p.scale, p.scale + 3, q.scale) || !same_transforms(p, q) ||
        !tensor_->renew(p))
      return false;
    prepared_    = std::move(p);
    this->facts_ = prepared_.facts();
    space_.fence("weft: poisson tables");
    return true;
  }
  KnownBases bases() const override { return prepared_.bases(); }
  double perturbation() const override
  {
    if (!prepared_.singular) return 0;
    const auto host = Kokkos::create_mirror_view(perturbation_);
    Kokkos::deep_copy(space_, host, perturbation_);
    space_.fence("weft: read the perturbation");
    return host();
  }
  std::size_t work_bytes() const override
  {
    return bytes_ + store_.bytes() + (work_.size() + padded_.size()) * sizeof(Scalar) + (tensor_ ? tensor_->bytes() : 0);
  }

private:
  static constexpr Index most_side_by_side = 16;
  /// Of a grid whose right-hand sides share launches, where steps with native lines have portable ones then.
  static constexpr Index most_points = Index(1) << 20;

  using Mean  = Kokkos::View<double, typename Space::memory_space>;
  using Modes = ModeTransform<Space, Scalar>;
  struct LinesOfStep {
    StepTables<Scalar> tables;
    NativeLines<Space, Scalar> native;
    bool side_by_side = false;
  };
  struct Step {
    std::variant<LinesOfStep, Modes> what;
    Index from = 0, to = 0; ///< first rows of a transform
  };

  /// True where prepare() finds all in closed form.
  bool is_tensor(const SeparableOperator &problem) const
  {
    for (int k = 0; k < problem.dimension; k++) {
      const LineMatrix line = line_matrix(problem.directions[k]);
      if (k == prepared_.line ? !equal_inside(line) : !fast_modes(line)) return false;
    }
    return prepared_.line < problem.dimension;
  }
  static bool same_transforms(const Prepared &p, const Prepared &q)
  {
    for (std::size_t s : {std::size_t(0), p.schedule.steps.size() - 1}) {
      if (std::get<TransformStep>(p.schedule.steps[s]).fast != std::get<TransformStep>(q.schedule.steps[s]).fast) return false;
    }
    return p.modes.to_modes() == q.modes.to_modes() && p.modes.from_modes() == q.modes.from_modes();
  }
  Modes to_modes(const EigenBasis &basis, Index first = 0) const
  {
    return basis.there ? Modes(space_, *basis.there, true)
                       : modes_of(static_cast<Index>(basis.values.size()), basis.inverse, basis.to_modes(), first, true);
  }
  Modes from_modes(const EigenBasis &basis, Index first = 0) const
  {
    return basis.there ? Modes(space_, *basis.there, false)
                       : modes_of(static_cast<Index>(basis.values.size()), basis.vectors, basis.from_modes(), first, false);
  }
  Modes modes_of(Index n, const std::vector<double> &matrix, const std::optional<TransformShape> &fast, Index first, bool to_modes) const
  {
    return Modes(space_, n, matrix, fast, pads_ || !is_host_space<Space>, first, to_modes);
  }
  /// Lengths that products ask for, along the farthest direction too where it is transformed; x and y by parity where their transforms are.
  PaddedArray make_array() const
  {
    const Prepared &p = prepared_;
    const auto half   = [&](int k) {
      const Index length  = pads_ ? padded_length(p.n[k]) : p.n[k];
      const Parity parity = pads_ ? p.parity(k) : Parity();
      return Halves{p.n[k], length, parity ? parity.first : (length + 1) / 2, static_cast<bool>(parity), parity.even_first};
    };
    return {half(0), half(1), p.n[2], pads_ && p.line != 2 ? padded_length(p.n[2]) : p.n[2]};
  }
  /// Modes of the first parity along a direction that is solved by parity, else 0.
  Index folds(int direction) const
  {
    const Halves &half = direction == 0 ? array_.x : array_.y;
    return direction < 2 && half.folds ? half.first : 0;
  }
  void make_room(Index columns) const
  {
    if (tensor_) {
      if (tensor_->room() < columns) tensor_->make_room(columns);
      return;
    }
    const Index size = columns * array_.size();
    for (Values *values : {&work_, &padded_}) {
      if (static_cast<Index>(values->size()) < size) *values = uninitialized("weft poisson columns", size);
    }
  }
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> range(Index count) const { return {space_, 0, count}; }
  /// Two more passes over all numbers, into arrays of padded lengths and out of them, take less time than products of doubles gain.
  static bool padding_pays(const Prepared &p)
  {
    constexpr Index many_rows = 512; // counted: 32 bytes a point at 4 TB/s against 2 n operations at 36 or 57 Tflop/s
    if (is_host_space<Space> || sizeof(Scalar) < sizeof(double) || p.multiplied_rows() < many_rows) return false;
    return std::any_of(p.n, p.n + 3, [](Index n) { return n > 1 && n % 2 == 1; });
  }

  static Values uninitialized(const std::string &label, Index size)
  {
    return Values(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
  }
  Values allocate(const std::string &label, Index size)
  {
    bytes_ += static_cast<std::size_t>(size) * sizeof(Scalar);
    return uninitialized(label, size);
  }

  LinesOfStep lines_of_step(const LineStep &step, Index pinned, const Grid &grid)
  {
    const Prepared &p = prepared_;
    LinesOfStep made{make_tables(step, store_), {}};
    made.tables.pinned = pinned;
    if (grid.planes == 1)
      made.native = NativeLines<Space, Scalar>(p.schedule.line.shifted(p.modes.values[0] * p.schedule.factor, 1), step, grid);
    bytes_ += made.native.bytes();
    if constexpr (is_host_space<Space>)
      made.tables.splits = host_splits(space_, made.tables, grid);
    else
      made.tables.splits = made.native ? made.native.splits(space_, made.tables) : device_splits(space_, made.tables, grid);
    return made;
  }

  void make_steps()
  {
    const Prepared &p = prepared_;
    Index last_row = -1, parts = 0;
    for (std::size_t s = 0; s < p.schedule.steps.size(); s++) {
      if (const auto *lines = std::get_if<LineStep>(&p.schedule.steps[s])) {
        LinesOfStep made  = lines_of_step(*lines, p.pinned[s], grid_);
        made.side_by_side = !is_host_space<Space> && p.schedule.tensor && lies_side_by_side(*lines, p.schedule.line, grid_);
        parts             = std::max(parts, parts_of(made.tables, grid_));
        for (const auto &group : lines->groups) {
          for (const auto &output : group.outputs) last_row = std::max(last_row, output.row);
        }
        steps_.push_back({std::move(made)});
      } else {
        const auto &t = std::get<TransformStep>(p.schedule.steps[s]);
        Modes modes   = t.there ? Modes(space_, *t.there, t.to_modes) : modes_of(t.n, t.matrix, t.fast, folds(p.block), t.to_modes);
        Transform<Space, Scalar> &transform = modes.lines;
        transform.n                         = pads_ ? rows().nodes : t.n;
        transform.inner                     = length().nodes;
        transform.inner_stride              = grid_.line_stride;
        transform.outer                     = planes().nodes;
        transform.outer_stride              = grid_.plane_stride;
        transform.from_stride               = t.from_step * grid_.row_stride;
        transform.to_stride                 = t.to_step * grid_.row_stride;
        last_row                            = std::max(last_row, t.to_first + (t.n - 1) * t.to_step);
        bytes_ += modes.bytes();
        steps_.push_back({std::move(modes), t.from_first, t.to_first});
      }
    }
    // Modes live in the work array, the solution array is then free to be theirs.
    const Index work_rows = last_row + 1 - grid_.rows;
    may_be_planes_        = may_be_planes_ && work_rows <= grid_.rows;
    const Index some      = (work_rows - 1) * grid_.row_stride + (grid_.length - 1) * grid_.line_stride + 1;
    if (p.transforms() || work_rows > 0) work_ = uninitialized("weft poisson work", p.transforms() || pads_ ? array_.size() : some);
    if (pads_) padded_ = uninitialized("weft poisson padded", array_.size());
    parts_ = allocate("weft poisson parts", parts);
    make_scratch();
  }

  void check_length() const
  {
    if (!is_host_space<Space> && grid_.length > DeviceShape::longest)
      throw std::invalid_argument("rows of " + std::to_string(grid_.length) + " points do not fit a team of a device, which takes " +
                                  std::to_string(DeviceShape::longest) + ": solve on the host");
  }
  void make_tensor()
  {
    tensor_.emplace(space_, prepared_);
    const Grid grid = tensor_->rows().grid;
    if (!tensor_->others().groups.empty()) check_length();
    lines_apart_ = lines_of_step(tensor_->others(), tensor_->pinned(), grid);
    parts_       = allocate("weft poisson parts", parts_of(lines_apart_.tables, grid));
    make_scratch();
  }
  void make_bordered()
  {
    check_length();
    bordered_.emplace(space_, prepared_);
    bytes_ += bordered_->bytes();
    const Grid grid = bordered_->rows().grid;
    lines_apart_    = lines_of_step(prepared_.schedule.bordering->step, -1, grid);
    parts_          = allocate("weft poisson parts", parts_of(lines_apart_.tables, grid));
    make_scratch();
  }
  void make_scratch()
  {
    if constexpr (is_host_space<Space>)
      scratch_ =
          allocate("weft poisson scratch", space_.concurrency() * HostLines<Space, Scalar>::scratch_of_thread(grid_.length, most_outputs));
  }

  /// `columns` right-hand sides, of which there are several for tensor_ and where they may be planes only.
  void solve_some(const Scalar *rhs, Scalar *solution, Index columns, Index ld) const
  {
    const Prepared &p = prepared_;
    const Index all   = grid_.unknowns();
    const bool owns   = pads_ || (columns > 1 && !tensor_);
    Scalar *const own = owns ? padded_.data() : solution;   // where it is solved
    const Index apart = columns > 1 ? ld : p.n[0] * p.n[1]; // of right-hand sides as planes, or of planes
    const auto points = range(all);
    ScaleRightHandSide<Space, Scalar> scale{{p.n[0], p.n[1], p.n[2]}, {scale_[0], scale_[1], scale_[2]}, 1, rhs, own, {}};
    if (p.singular) {
      take_mean(points, scale, perturbation_);
      scale.perturbation = perturbation_;
    }
    scale.factor      = static_cast<Scalar>(p.schedule.factor);
    const bool scales = !p.scale[0].empty() || !p.scale[1].empty() || !p.scale[2].empty() || p.schedule.factor != 1;
    if (owns) {
      Kokkos::parallel_for("weft poisson right-hand sides", array_.range(space_, columns > 1 ? columns : array_.length),
                           IntoPadded<Space, Scalar>{array_, scale, apart});
    } else if (scales || p.singular || (rhs != solution && !tensor_ && !bordered_)) {
      for (Index column = 0; column < columns; column++, scale.from += ld, scale.to += ld)
        Kokkos::parallel_for("weft poisson right-hand side", points, scale);
      rhs = solution;
    }
    if (tensor_) {
      const auto solve_others = [&](Index column) {
        run_lines({lines_apart_.tables, b_, tensor_->rows(column), parts_.data()}, lines_apart_.native);
      };
      (*tensor_)(rhs, solution, solve_others, columns, ld);
      make_mean_free(points, solution);
      return;
    }
    if (bordered_) {
      (*bordered_)(rhs, solution, [&] { run_lines({lines_apart_.tables, b_, bordered_->rows(), parts_.data()}, lines_apart_.native); });
      return;
    }
    if (p.line_modes) transform_lines(to_line_modes_, own);
    RowArrays<Scalar> rows{grid_, own, work_.data()};
    if (columns > 1) { // as planes, which nothing couples
      rows.grid.planes       = columns;
      rows.grid.plane_stride = array_.size();
    }
    if (p.transforms()) {
      transform_modes(to_modes_, own, work_.data());
      std::swap(rows.solution, rows.work);
    }
    for (const Step &step : steps_) {
      if (const auto *lines = std::get_if<LinesOfStep>(&step.what)) {
        LineArguments<Scalar> arguments{lines->tables, b_, rows, parts_.data()};
        if (columns > 1) arguments.step.splits = 1; // there are lines enough
        if (lines->side_by_side)
          run_side_by_side(space_, SideBySide<Scalar>{arguments, rows.solution}); // where nothing is but what the transforms have read
        else
          run_lines(arguments, columns > 1 ? NativeLines<Space, Scalar>() : lines->native);
      } else {
        const Modes &modes                 = std::get<Modes>(step.what);
        Transform<Space, Scalar> transform = modes.lines;
        if (columns > 1) {
          transform.outer        = columns;
          transform.outer_stride = rows.grid.plane_stride;
        }
        transform.from = rows.row(step.from, 0);
        transform.to   = rows.row(step.to, 0);
        modes(space_, transform);
      }
    }
    if (p.transforms()) transform_modes(from_modes_, work_.data(), own);
    if (p.line_modes) transform_lines(from_line_modes_, own);
    if (owns)
      Kokkos::parallel_for("weft poisson solutions", array_.range(space_, columns > 1 ? columns : array_.n),
                           OutOfPadded<Scalar>{array_, own, solution, apart});
    make_mean_free(points, solution);
  }

  template <class Policy>
  void make_mean_free(const Policy &points, Scalar *solution) const
  {
    const Prepared &p = prepared_;
    if (!p.singular) return;
    ScaleRightHandSide<Space, Scalar> shift{{p.n[0], p.n[1], p.n[2]}, {}, 1, solution, solution, {}};
    take_mean(points, shift, mean_);
    shift.perturbation = mean_;
    Kokkos::parallel_for("weft poisson mean-free", points, shift);
  }

  template <class Policy>
  void take_mean(const Policy &points, const ScaleRightHandSide<Space, Scalar> &of, const Mean &mean) const
  {
    Kokkos::parallel_reduce("weft poisson mean", points, MeanOf<Space, Scalar>{of, {left_[0], left_[1], left_[2]}}, mean);
    Kokkos::parallel_for("weft poisson mean", Kokkos::RangePolicy<Space>(space_, 0, 1), Divide<Space>{mean, left_sum_});
  }

  /// A direction of array_: elements, and how far these are from each other.
  struct Along {
    Index nodes, stride;
  };
  /// The transform of all lines of a direction.
  void transform_along(const Modes &modes, Along lines, Along inner, Along outer, const Scalar *from, Scalar *to) const
  {
    Transform<Space, Scalar> t = modes.lines;
    t.n                        = lines.nodes;
    t.from_stride = t.to_stride = lines.stride;
    t.inner                     = inner.nodes;
    t.inner_stride              = inner.stride;
    t.outer                     = outer.nodes;
    t.outer_stride              = outer.stride;
    t.from                      = from;
    t.to                        = to;
    modes(space_, t);
  }
  Along along(int direction) const
  {
    const PaddedArray &a = array_;
    const Along all[3]   = {{a.x.length, 1}, {a.y.length, a.x.length}, {a.length, a.x.length * a.y.length}};
    return all[direction];
  }
  Along length() const { return along(prepared_.line); }
  Along rows() const { return along(prepared_.block); }
  Along planes() const { return along(prepared_.batch); }

  void transform_modes(const Modes &modes, const Scalar *from, Scalar *to) const
  {
    transform_along(modes, planes(), length(), rows(), from, to);
  }

  /// All lines of an array, in place.
  void transform_lines(const Modes &modes, Scalar *values) const
  {
    transform_along(modes, length(), rows(), planes(), values, modes.fast ? values : along_.data());
    if (modes.fast) return;
    const Kokkos::View<Scalar *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> back(values, along_.size());
    Kokkos::deep_copy(space_, back, along_);
  }

  void run_lines(const LineArguments<Scalar> &a, const NativeLines<Space, Scalar> &native) const
  {
    if constexpr (is_host_space<Space>) {
      run_lines_on_host(space_, a, scratch_);
    } else if (native) {
      native.launch(space_, a);
      if (a.step.splits > 1) add_parts(space_, a);
    } else {
      run_lines_on_device(space_, a);
    }
  }

  Space space_;
  Prepared prepared_;
  int side_by_side_;
  Grid grid_;
  PaddedArray array_; ///< of padded_, work_ and along_; of the grid's lengths, as they are, where it is solved in the caller's array
  bool pads_          = false;
  bool may_be_planes_ = false; ///< several right-hand sides, of a problem in three directions, of which the third one couples nothing
  TableStore<Space, Scalar> store_;
  LineOperator<Scalar> b_;
  Values scale_[3], parts_, scratch_, along_;
  mutable Values work_, padded_; ///< they grow with the right-hand sides
  Modes to_modes_, from_modes_, to_line_modes_, from_line_modes_;
  mutable std::optional<TensorLines<Space, Scalar>> tensor_; ///< its work space grows with the right-hand sides
  std::optional<BorderedLines<Space, Scalar>> bordered_;
  LinesOfStep lines_apart_; ///< those that tensor_ or bordered_ leave
  OwnedArray<double, Space> left_[3];
  double left_sum_ = 1;
  Mean mean_, perturbation_;
  std::vector<Step> steps_;
  std::size_t bytes_ = 0;
};

} // namespace poisson

template <class Scalar>
Owner<DirectSolver<Scalar>> DirectSolver<Scalar>::make(const Execution &execution, const SeparableOperator &problem,
                                                       const DirectOptions &options, const KnownBases &known)
{
  const bool on_host = execution.memory() == Memory::host;
  const poisson::BasisSource source{on_host ? nullptr : &execution, known};
  poisson::Prepared prepared = poisson::prepare(problem, options, on_host, source);
  return on_backend(execution, [&](const auto &space) -> Owner<DirectSolver> {
    return make_owner<poisson::DirectSolverImpl<std::decay_t<decltype(space)>, Scalar>>(execution, std::move(prepared), options);
  });
}

template class DirectSolver<double>;
template class DirectSolver<float>;

} // namespace weft
