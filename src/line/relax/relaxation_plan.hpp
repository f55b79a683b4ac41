/// RelaxationPlan: tables and work space of a LineRelaxation on one backend, and its two ways to relax.
#pragma once
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/native.hpp"
#include "base/native_forms.hpp"
#include "line/methods/reduction/equations.hpp"
#include "line/methods/thomas/thomas_host.hpp"
#include "line/methods/wide/wide_kernel.hpp"
#include "line/relax/couplings.hpp"
#include "line/relax/line_kinds.hpp"
#include "line/relax/line_relaxation.hpp"
#include "line/relax/storage.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "line/relax/cluster_relaxation.hpp"
#include "line/relax/coloured_lines.hpp"
#include "line/relax/contiguous_relaxation.hpp"
#endif

namespace weft {

/// Native forms of a relaxation in one pass for a backend that has some.
template <class Space, class Scalar>
struct NativeRelaxation {
  NativeRelaxation() = default;
  NativeRelaxation(const LineLayout &, const MethodParameters &, bool) {}
  bool any() const { return false; }
  bool take(const Space &, const Tridiagonal<Scalar, Space> &, const Scalar *, const Coupling *, int, const LineKinds<Space> &, const int *)
  {
    return false;
  }
  bool takes(Colour, bool, const Scalar *, const Scalar *) const { return false; }
  void launch(const Space &, const WideArguments<Space, Scalar> &, const Couplings<Scalar> &) const {}
};

#if defined(WEFT_NATIVE_HOPPER)
template <class Scalar>
requires std::is_floating_point_v<Scalar>
class NativeRelaxation<Kokkos::Cuda, Scalar> {
public:
  NativeRelaxation() = default;
  NativeRelaxation(const LineLayout &layout, const MethodParameters &parameters, bool by_colour)
  {
    if (!native_forms.relaxation || parameters.slice != 0 || parameters.partitions != 0) return;
    contiguous_ = cuda::ContiguousLines<Scalar>(layout);
    shape_      = cuda::cluster_shape(layout);
    if (by_colour) coloured_ = cuda::ColouredLines<Scalar>(layout);
  }
  bool any() const { return contiguous_.possible() || shape_.blocks > 0 || coloured_.possible(); }
  /// The matrix as it is now: T, and the couplings to other lines. True if it also looked how lines couple.
  bool take(const Kokkos::Cuda &space, const Tridiagonal<Scalar, Kokkos::Cuda> &t, const Scalar *values, const Coupling *outside, int count,
            const LineKinds<Kokkos::Cuda> &kinds, const int *numbers)
  {
    return coloured_.take(space, t.lower.data(), t.diagonal.data(), t.upper.data(), values, outside, count, kinds, numbers);
  }
  /// True if line solutions for b of a colour can be written over x, or with `add` added to it.
  bool takes(Colour colour, bool add, const Scalar *b, const Scalar *x) const
  {
    return (contiguous_.possible() && contiguous_.takes(b, x)) || shape_.blocks > 0 || coloured_.takes(colour, add);
  }
  void launch(const Kokkos::Cuda &space, const WideArguments<Kokkos::Cuda, Scalar> &a, const Couplings<Scalar> &couplings) const
  {
    if (contiguous_.possible()) {
      contiguous_.launch(space, a, couplings);
      return;
    }
    if (coloured_.takes(a.colour, a.update.add)) {
      coloured_.launch(space, a, couplings);
      return;
    }
    cuda::launch_cluster_relaxation<Scalar>(space, shape_,
                                            {a.matrix.lower.data(), a.matrix.diagonal.data(), a.matrix.upper.data(), a.rhs.data(),
                                             a.solution.data(), a.update, couplings, a.shape.layout, a.colour, a.flag, shape_.chunks});
  }

private:
  cuda::ContiguousLines<Scalar> contiguous_;
  cuda::ClusterShape shape_;
  cuda::ColouredLines<Scalar> coloured_;
};
#endif

/// Shapes of WideKernel with which a team holds a line, unless it says several tiles.
template <class Space>
WideShape team_shape(const LineLayout &layout, const MethodParameters &parameters)
{
  WideShape shape = wide_shape<Space>(layout, parameters);
  if (!is_host_space<Space> && parameters.slice == 0 && parameters.partitions == 0) {
    // Fewer rows a thread are done sooner, more save threads; no thread is there for nothing (measured on an H200, docs/results/lines.md).
    const auto take = [&](int rows, int lines) {
      shape.rows    = rows;
      shape.threads = static_cast<int>((layout.length + rows - 1) / rows);
      shape.lines   = lines;
    };
    constexpr Index most = 512, least_teams = 64;
    if (shape.rows_first) {
      if (layout.length > 1024 && layout.length <= 6 * most) take(6, 1);
    } else if (layout.length > 64 && layout.length <= 4 * most) {
      take(layout.length <= most + 4 ? 4 : 9, 8);
      while (shape.lines > 1 && (shape.threads * shape.lines > most || layout.count() / 2 / shape.lines < least_teams)) shape.lines /= 2;
    } else if (layout.length > 4 * most && layout.length <= 9 * most) {
      take(9, layout.length <= 9 * most / 2 ? 2 : 1);
    }
  }
  shape.cut();
  if (shape.tiles > 1 && parameters.slice == 0) {
    MethodParameters longer = parameters;
    longer.slice            = 16;
    WideShape more          = wide_shape<Space>(layout, longer);
    more.cut();
    if (more.tiles == 1) return more;
  }
  return shape;
}

template <class Space, class Scalar>
class RelaxationPlan final : public LineRelaxation<Scalar>::Plan {
public:
  RelaxationPlan(const Space &space, const StencilMatrix<Scalar> &matrix, const LineSolver<Scalar> &solver,
                 const MethodParameters &parameters, bool by_colour)
      : space_(space), storage_(matrix.storage()), rows_(matrix.rows()), by_colour_(by_colour)
  {
    lines_.problem          = solver.problem();
    const LineLayout &lines = lines_.problem.layout;
    own_diagonals_          = lines_.problem.coefficients == Coefficients::general && !lines_.problem.periodic;
    if (!own_diagonals_ || lines.rows() == 0) return;
    by_team_ = std::string_view(solver.method()) == "wide";
    by_pack_ = is_host_space<Space> && lines.stride == 1 && std::string_view(solver.method()) == "thomas";
    if (by_team_) {
      shape_ = team_shape<Space>(lines, parameters);
      fit_team<Space, Scalar>(shape_);
      shape_.cut();
      by_team_ = shape_.tiles == 1;
      native_  = Native(lines, parameters, by_colour);
    }
    Index parts = by_team_ ? (lines.count() + shape_.lines - 1) / shape_.lines : 0; // of a norm: one of a team or a pack in work
    flag_       = PivotFlag<typename Space::memory_space>(lines);
    if constexpr (is_host_space<Space>) {
      if (by_pack_) {
        packs_      = ThomasOnHost::plan_coupled<Space, Scalar>(lines_.problem);
        flag_       = packs_.flag;
        pack_lines_ = table<Scalar, Space>("weft relaxation lines", static_cast<Index>(packs_.z.extent(0)));
        parts       = packs_.packs.slots;
      }
    }
    if (!in_one_pass()) return;
    kinds_     = LineKinds<Space>(lines, rows_);
    residuals_ = table<double, Space>("weft residual parts", parts);
    changes_   = table<double, Space>("weft change parts", parts);
    couplings_ = OwnedArray<Coupling, Space>("weft couplings", most_diagonals);
  }

  void factor(const StencilMatrix<Scalar> &matrix, LineSolver<Scalar> &solver) override
  {
    kind_                              = {};
    safe_                              = false;
    expected_                          = std::nullopt;
    const Diagonals<Scalar> *diagonals = storage_.diagonals();
    if (own_diagonals_ && !diagonals) {
      looked_at_ = {};
      work();
      storage_.visit([&](const auto &rows) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(rows)>, Diagonals<Scalar>>) solver.read(rows.matrix);
      });
    } else if (own_diagonals_) {
      take_diagonals(*diagonals, matrix.offsets());
      if (in_one_pass()) {
        flag_.clear(space_);
        if constexpr (is_host_space<Space>) {
          if (by_pack_) ThomasOnHost::factor(space_, packs_, lines_);
        }
        look(*diagonals);
        kind_ = kinds_.read(space_);
      }
      if (!fused(by_colour_ ? Colour::even : Colour::all)) work();
      // Methods that keep no factors only look at pivots, and at these one need not.
      const std::array<const Scalar *, 3> t = tridiagonal();
      safe_                                 = kind_.dominant && std::string_view(solver.method()) == "wide";
      if (safe_ && t == looked_at_) return;
      looked_at_ = safe_ ? t : std::array<const Scalar *, 3>{};
      solver.use(t[0], t[1], t[2]);
    }
    if (!own_diagonals_) work();
    solver.factor();
  }

  void refactor(const StencilMatrix<Scalar> &matrix, LineSolver<Scalar> &solver) override
  {
    const Diagonals<Scalar> *diagonals = storage_.diagonals();
    if (!safe_ || !own_diagonals_ || !diagonals || offsets_ != matrix.offsets()) {
      factor(matrix, solver);
      return;
    }
    take_diagonals(*diagonals, offsets_);
    if (looked_at_ != tridiagonal()) {
      factor(matrix, solver);
      return;
    }
    flag_.clear(space_);
    look(*diagonals);
    expected_ = kind_;
  }
  bool as_expected() override
  {
    if (!expected_) return true;
    const bool same = kinds_.read(space_) == *expected_;
    expected_       = std::nullopt;
    return same;
  }

  bool fused(Colour colour) const override
  {
    return kind_.known && !kind_.ends_couple && !(colour == Colour::all ? kind_.any_couple : kind_.same_colour_couples);
  }
  std::optional<LineRow> bad_pivot(const LineSolver<Scalar> &solver) const override
  {
    if (safe_) return std::nullopt;
    if (const auto bad = solver.bad_pivot()) return bad;
    return kind_.known ? flag_.read(space_) : std::nullopt;
  }

  void relax(const LineSolver<Scalar> &solver, Scalar *b, Scalar *x, const RelaxOptions<Scalar> &options) override
  {
    const LineLayout &layout = solver.layout();
    const SolveOptions<Scalar> solve{{options.omega}, options.colour, options.transpose};
    const SomeRows lines = SomeRows::of_lines(layout, options.colour);
    const bool norms     = options.residual || options.change;
    if (options.guess == Guess::zero) {
      // The solvers of longer lines of other strides need two passes, and all of them look at lines that are not wanted.
      const bool native = !norms && native_.takes(options.colour, false, b, x), strided = by_team_ && !layout.rows_are_closest();
      if (!is_host_space<Space> && (native || strided) && options.transpose == Transpose::no && kind_.known) {
        relax_fused(b, x, options, 0, false);
        return;
      }
      solver.solve(b, x, solve);
      measure_array(lines, b, options.residual);
      measure_array(lines, x, options.change);
      return;
    }
    // In one pass the rest of the matrix will do, x of the lines themselves need not be read: T^-1 (b - (A - T) x) is x + T^-1 (b - A x).
    const bool needs_own = options.guess == Guess::given ? options.omega != 1 : kind_.own_couple;
    const bool one_pass  = options.transpose == Transpose::no && fused(options.colour) &&
                          (by_team_ || by_pack_ || (!norms && native_.takes(options.colour, needs_own, b, x)));
    const bool whole = !one_pass || needs_own || norms;
    if (options.guess == Guess::zero_lines && whole) set_zero(lines, x);
    if (one_pass)
      relax_fused(b, x, options, whole ? storage_.diagonals()->count : outside_, whole);
    else
      relax_in_two(solver, lines, b, x, options, solve);
  }

private:
  using Native = NativeRelaxation<Space, Scalar>;

  std::array<const Scalar *, 3> tridiagonal() const { return {lines_.lower.data(), lines_.diagonal.data(), lines_.upper.data()}; }
  /// At how the lines couple; native forms take their copies of the matrix on the way.
  void look(const Diagonals<Scalar> &diagonals)
  {
    if (!native_.take(space_, lines_, diagonals.values, first_, outside_, kinds_, numbers_.data()))
      kinds_.look(space_, diagonals, {numbers_[0], numbers_[1], numbers_[2]});
  }

  void take_diagonals(const Diagonals<Scalar> &diagonals, const std::vector<Index> &offsets)
  {
    const LineLayout &layout = lines_.problem.layout;
    const Index stride       = layout.length > 1 ? layout.stride : 0; // a line of one row has its diagonal only
    const auto size          = static_cast<std::size_t>(layout.span());
    const auto of_offset     = [&](Index offset) {
      const auto found = std::lower_bound(offsets.begin(), offsets.end(), offset);
      if (found != offsets.end() && *found == offset) return diagonals.values + (found - offsets.begin()) * diagonals.pitch;
      if (zeros_.extent(0) == 0) zeros_ = OwnedArray<Scalar, Space>("weft zeros", static_cast<std::size_t>(diagonals.pitch));
      return static_cast<const Scalar *>(zeros_.data());
    };
    lines_.lower    = Array<const Scalar, Space>(of_offset(-stride), size);
    lines_.diagonal = Array<const Scalar, Space>(of_offset(0), size);
    lines_.upper    = Array<const Scalar, Space>(of_offset(stride), size);
    if (!in_one_pass() || (!numbers_.empty() && offsets_ == offsets)) return; // a matrix without an entry has no offsets either
    // What is outside T first.
    std::vector<Coupling> outside, inside;
    for (std::size_t d = 0; d < offsets.size(); d++) {
      const bool on_line = offsets[d] == 0 || offsets[d] == stride || offsets[d] == -stride;
      (on_line ? inside : outside).push_back({offsets[d], static_cast<Index>(d) * diagonals.pitch});
    }
    outside_ = static_cast<int>(outside.size());
    outside.insert(outside.end(), inside.begin(), inside.end());
    Kokkos::deep_copy(space_, Kokkos::subview(couplings_, std::make_pair(std::size_t(0), outside.size())),
                      Array<const Coupling, Kokkos::HostSpace>(outside.data(), outside.size()));
    space_.fence("weft: couplings");
    std::copy_n(outside.begin(), std::min<std::size_t>(outside.size(), std::size(first_)), first_);
    offsets_ = offsets;
    // A line of one row has its diagonal only.
    const Index of_t[3] = {-stride, 0, stride};
    numbers_            = {-1, -1, -1};
    for (int k = 0; k < 3; k++) {
      const auto found = std::find(offsets.begin(), offsets.end(), of_t[k]);
      if (found != offsets.end() && (k == 1 || stride != 0))
        numbers_[static_cast<std::size_t>(k)] = static_cast<int>(found - offsets.begin());
    }
    for (int k = 0; k < outside_; k++) numbers_.push_back(static_cast<int>(outside[static_cast<std::size_t>(k)].begin / diagonals.pitch));
    kinds_.prepare(space_, diagonals);
  }

  bool in_one_pass() const { return by_team_ || by_pack_ || native_.any(); }

  /// With the first `count` of the couplings; `add` says that these are all there are, and line solutions are changes of x.
  void relax_fused(Scalar *b, Scalar *x, const RelaxOptions<Scalar> &options, int count, bool add)
  {
    const Diagonals<Scalar> &matrix = *storage_.diagonals();
    Couplings<Scalar> couplings{couplings_.data(), count, matrix.values, matrix.rows, x};
    std::copy_n(first_, std::size(first_), couplings.first);
    if (options.residual) {
      couplings.residuals     = residuals_.data();
      couplings.residual_type = options.residual->type();
    }
    if (options.change) {
      couplings.changes     = changes_.data();
      couplings.change_type = options.change->type();
    }
    couplings.scale = options.omega;
    const Update<Scalar> update{options.omega, add};
    const auto size = static_cast<std::size_t>(lines_.problem.layout.span());
    const Array<Scalar, Space> rhs(b, size), solution(x, size); // rhs is only read
    auto parts = static_cast<Index>(residuals_.extent(0));      // of the norms that are written
    if constexpr (is_host_space<Space>) {
      if (by_pack_) {
        if (options.residual) Kokkos::deep_copy(space_, residuals_, 0.0);
        if (options.change) Kokkos::deep_copy(space_, changes_, 0.0);
        PackCouplings<Scalar> packs{couplings, b, nullptr, lines_.problem.layout.length};
        ThomasOnHost::solve_coupled(
            space_, packs_,
            [this, packs](Index slot) {
              PackCouplings<Scalar> here = packs;
              here.lines                 = packs_.slot(pack_lines_, slot);
              here.slot                  = slot;
              return here;
            },
            solution, SolveOptions<Scalar>{update, options.colour});
      }
    }
    const bool native = native_.takes(options.colour, add, b, x) && !options.residual && !options.change;
    if (by_team_ || native) {
      WideArguments<Space, Scalar> a;
      a.matrix          = lines_;
      a.rhs             = rhs;
      a.solution        = solution;
      a.update          = update;
      a.colour          = options.colour;
      a.shape           = shape_;
      a.flag            = flag_;
      a.checks          = true;
      a.original_length = shape_.layout.length;
      a.in_pieces       = a.shape.layout.stride == 1 && begins_in_pieces(a);
      parts             = (lines_of_colour(shape_.layout, options.colour) + shape_.lines - 1) / shape_.lines;
      if (native)
        native_.launch(space_, a, couplings);
      else
        launch_wide_coupled(space_, a, TeamCouplings<Scalar>{couplings});
    }
    join_parts(residuals_, parts, options.residual);
    join_parts(changes_, parts, options.change);
  }

  /// Work space of relaxations that are not done in one pass. Whatever is asked for in an ordinary sweep is so in factor().
  Scalar *work()
  {
    if (work_.extent(0) == 0) work_ = table<Scalar, Space>("weft relaxation", rows_);
    return work_.data();
  }
  /// The residual of all lines of the colour, then the line solves.
  void relax_in_two(const LineSolver<Scalar> &solver, const SomeRows &lines, const Scalar *b, Scalar *x,
                    const RelaxOptions<Scalar> &options, const SolveOptions<Scalar> &solve)
  {
    Scalar *const r = work();
    residual_of<Space, Scalar>(space_, storage_, lines, b, x, r, options.residual, options.transpose);
    if (!options.change) {
      SolveOptions<Scalar> add = solve;
      add.update.add           = true;
      solver.solve(r, x, add);
      return;
    }
    solver.solve(r, r, solve);
    add_measured(lines, x, *options.change);
  }

  void measure_array(const SomeRows &lines, const Scalar *array, const Norm *norm) const
  {
    if (norm) for_each_measured("weft norm", space_, lines.count, ValueOfRow<Scalar>{lines, array, norm->type()}, norm);
  }
  void add_measured(const SomeRows &lines, Scalar *x, const Norm &norm) const
  {
    for_each_measured("weft relaxation add", space_, lines.count, AddToRow<Scalar>{lines, work_.data(), x, norm.type()}, &norm);
  }
  void set_zero(const SomeRows &lines, Scalar *x) const
  {
    for_each_measured("weft relaxation zero", space_, lines.count, ZeroOfRow<Scalar>{lines, x}, nullptr);
  }
  void join_parts(const OwnedArray<double, Space> &parts, Index count, const Norm *norm) const
  {
    if (norm) for_each_measured("weft norm parts", space_, count, Part{parts.data()}, norm);
  }

  Space space_;
  const typename StencilMatrix<Scalar>::Storage &storage_;
  Index rows_;
  bool by_colour_;
  OwnedArray<Scalar, Space> work_, zeros_;
  Tridiagonal<Scalar, Space> lines_; ///< diagonals of the matrix
  bool own_diagonals_ = false, by_team_ = false, by_pack_ = false;
  WideShape shape_;
  Native native_;
  ThomasOnHost::Plan<HostBackend, Scalar> packs_;
  OwnedArray<Scalar, Space> pack_lines_; ///< right-hand sides of packs in work
  PivotFlag<typename Space::memory_space> flag_;
  LineKinds<Space> kinds_;
  LineKind kind_;
  std::optional<LineKind> expected_;
  std::vector<Index> offsets_;                      ///< of the couplings
  std::vector<int> numbers_;                        ///< of the diagonals: of T\'s lower, diagonal, upper, then of the couplings
  bool safe_                               = false; ///< T has no unusable pivot, whatever the solver's flag says
  std::array<const Scalar *, 3> looked_at_ = {};    ///< the diagonals that the solver has, with safe pivots
  OwnedArray<Coupling, Space> couplings_;
  Coupling first_[Couplings<Scalar>::at_hand] = {};
  int outside_                                = 0; ///< couplings that are not of T
  OwnedArray<double, Space> residuals_, changes_;
};

} // namespace weft
