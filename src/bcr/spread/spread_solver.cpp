#include "bcr/spread/spread_solver.hpp"

#include <algorithm>
#include <optional>

#include "base/messages.hpp"
#include "bcr/detect/boundary_rows.hpp"
#include "bcr/make_on_backend.hpp"
#include "bcr/mirror.hpp"
#include "bcr/spread/joined_pieces.hpp"
#include "bcr/spread/piece_lines.hpp"
#include "bcr/spread/spread_transforms.hpp"

namespace weft {

namespace {

/// Where a solve stands: what travels next.
enum class Stage {
  hanging,      ///< how the ends of pieces hang on what is beside them: once
  mean_of_rhs,  ///< of singular operators
  ends,         ///< of pieces by themselves, to those who join them
  neighbours,   ///< what stands beside them, back
  mean_of_modes ///< of singular operators
};

using poisson::SlabAt;

template <class Space, class Scalar>
class SpreadSolverImpl final : public SpreadSolver {
public:
  SpreadSolverImpl(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process, bool device_messages)
      : SpreadSolver(execution), space_(space_of<Space>(execution)), plan_(plan), process_(process), mine_(plan.joins(process)),
        slab_nodes_(slab.grid[0] * slab.grid[1] * slab.grid[2]),
        inner_first_(slab.first[0] + slab.grid[0] * (slab.first[1] + slab.grid[1] * slab.first[2])), device_messages_(device_messages),
        boundary_(space_, slab)
  {
    const poisson::Prepared prepared = poisson::prepare_tensor(slab.separable);
    const double share               = static_cast<double>(slab.nodes[2]) / static_cast<double>(plan.nodes[2]);
    facts_     = {"facr", describe(prepared), prepared.singular, prepared.bad_pivot, prepared.flops() * share + boundary_.flops()};
    definite_  = prepared.dominant;
    separable_ = slab.separable;
    if (!slab.symmetric) operator_ = slab.separable;
    make(tables_[0], prepared);
    const auto pieces = static_cast<Index>(plan.processes);
    shares_.allocate(2 * plan.modes(), device_messages);
    joined_.allocate(2 * pieces * mine_.size(), device_messages);
    beside_     = Array<Scalar>("weft rows beside pieces", static_cast<std::size_t>(2 * plan.modes()));
    to_joins_   = exchange(shares_.data(), joined_.data(), true, 2);
    from_joins_ = exchange(joined_.data(), shares_.data(), false, 2);
    if (prepared.singular) {
      mean_.allocate(1, device_messages);
      means_.allocate(pieces, device_messages);
      to_all_ = {{}, {}, mean_.data(), means_.data(), sizeof(double)};
      for (int p = 0; p < plan.processes; p++) {
        to_all_.sent.push_back({p, 0, 1});
        to_all_.received.push_back({p, p, 1});
      }
    }
    space_.fence("weft: tables of a spread solve");
  }

  KernelReal *slab() override
  {
    if (slab_.size() == 0) slab_ = Array<KernelReal>("weft slab", static_cast<std::size_t>(slab_nodes_));
    return slab_.data();
  }

  void set_factor(double factor) override { boundary_.set_factor(factor); }

  const Exchange *begin(const KernelReal *rhs, KernelReal *solution, Transpose transpose) override
  {
    rhs_       = rhs;
    solution_  = solution;
    transpose_ = transpose;
    here_      = &tables(transpose);
    meets_     = false;
    return here_->joined ? to_modes() : give_hanging();
  }
  const Exchange *meet() override
  {
    here_  = tables_[0].get();
    meets_ = true;
    return here_->joined ? nullptr : give_hanging();
  }

  const Exchange *go_on() override
  {
    switch (stage_) {
    case Stage::hanging:
      take_hanging();
      return meets_ ? nullptr : to_modes();
    case Stage::mean_of_rhs:
      here_->lines.take_mean(means_.data(), modes());
      return solve_pieces();
    case Stage::ends:
      (*here_->joined)(joined_.data());
      return sends(Stage::neighbours, from_joins_);
    case Stage::neighbours:
      here_->lines.take_neighbours(shares_.data(), beside_.data(), modes());
      return facts_.singular ? give_mean(Stage::mean_of_modes) : from_modes();
    case Stage::mean_of_modes:
      here_->lines.take_mean(means_.data(), modes());
      break;
    }
    return from_modes();
  }

  std::size_t work_bytes() const override
  {
    const Index ends = 2 * (2 * plan_.modes() + plan_.processes * mine_.size());
    std::size_t bytes =
        slab_.size() * sizeof(KernelReal) + (static_cast<std::size_t>(ends) + modes_[0].size() + modes_[1].size()) * sizeof(Scalar);
    for (const auto &tables : tables_) {
      if (tables) bytes += tables->transforms.bytes() + tables->lines.bytes() + (tables->joined ? tables->joined->bytes() : 0);
    }
    return bytes + boundary_.factor_bytes();
  }

private:
  /// Those of an operator.
  struct Tables {
    Tables(const Space &space, const poisson::Prepared &p, const SpreadPlan &plan, int process)
        : transforms(space, p, plan, process), lines(space, p, plan, process)
    {
    }
    poisson::SpreadTransforms<Space, Scalar> transforms;
    poisson::PieceLines<Space, Scalar> lines;
    std::optional<poisson::JoinedPieces<Space, Scalar>> joined; ///< after the first exchange
  };
  template <class Number>
  using Array = OwnedArray<Number, Space>;

  InnerArray inner_array() const { return {plan_.line(), plan_.modes()}; }
  /// Where the caller's arrays have the inner box, for transforms that begin or end there; else nothing.
  SlabAt<const Scalar> rhs_at() const
  {
    if constexpr (std::is_same_v<Scalar, KernelReal>) {
      if (boundary_.reads_as_it_is() && !mirrors(transpose_)) return {rhs_ + inner_first_, plan_.grid[0], plan_.grid[0] * plan_.grid[1]};
    }
    return {};
  }
  SlabAt<Scalar> solution_at() const
  {
    if constexpr (std::is_same_v<Scalar, KernelReal>) {
      if (boundary_.writes_as_it_is() && !mirrors(transpose_))
        return {solution_ + inner_first_, plan_.grid[0], plan_.grid[0] * plan_.grid[1]};
    }
    return {};
  }
  Scalar *modes() const { return modes_[here_->transforms.products() % 2].data(); }

  // ------------------------------------------------------------------------------------------------------------------- the solve

  /// How the pieces of this process hang on what is beside them, to the processes that join them.
  const Exchange *give_hanging()
  {
    const Index modes = plan_.modes();
    own_hanging_.allocate(4 * modes, device_messages_);
    all_hanging_.allocate(4 * plan_.processes * mine_.size(), device_messages_);
    const Array<double> kinds("weft how pieces hang", static_cast<std::size_t>(4 * modes));
    double fringe;
    if constexpr (std::is_same_v<Scalar, double>) {
      fringe = here_->lines.make_fringes(here_->lines, this->modes(), kinds.data());
    } else {
      const poisson::Prepared prepared = poisson::prepare_tensor(here_ == tables_[0].get() ? separable_ : transposed(separable_));
      const poisson::PieceLines<Space, double> exact(space_, prepared, plan_, process_);
      const Array<double> values("weft pieces in double precision", modes_[0].size());
      fringe = here_->lines.make_fringes(exact, values.data(), kinds.data());
    }
    worth_ = here_->lines.least_pivot() / std::max(fringe, 1.0);
    here_->lines.give_hanging(kinds.data(), own_hanging_.data());
    space_.fence("weft: how pieces hang");
    hanging_ = exchange(own_hanging_.data(), all_hanging_.data(), true, 4);
    return sends(Stage::hanging, hanging_);
  }
  /// Pieces of definite operators have pivots and fringes of 1 at most, and what joins them is near singular only as far as the whole is. Those of others may
  /// each be near singular, and what they lose multiplies.
  void take_hanging()
  {
    here_->joined.emplace(space_, plan_.processes, mine_.size(), all_hanging_.data());
    space_.fence("weft: joined pieces");
    own_hanging_ = all_hanging_ = {};
    const double least          = here_->joined->least_pivot();
    const double bound          = definite_ ? poisson::small_pivot : std::is_same_v<Scalar, double> ? 1e-3 : 0.1;
    facts_.bad_pivot            = facts_.bad_pivot || !(worth_ * least >= bound);
  }

  const Exchange *to_modes()
  {
    const SlabAt<const Scalar> rhs = rhs_at();
    if (!here_->transforms.reads(rhs)) boundary_.reduce(rhs_, solution_, modes_[0].data(), transpose_, inner_array());
    if (mirrors(transpose_)) mirror().into(space_, modes_[0].data());
    here_->transforms.to_modes({modes_[0].data(), modes_[1].data()}, rhs);
    return facts_.singular ? give_mean(Stage::mean_of_rhs) : solve_pieces();
  }
  const Exchange *solve_pieces()
  {
    here_->lines.solve(modes());
    here_->lines.give_ends(modes(), shares_.data());
    return sends(Stage::ends, to_joins_);
  }
  const Exchange *give_mean(Stage stage)
  {
    here_->lines.give_mean(modes(), mean_.data());
    return sends(stage, to_all_);
  }
  const Exchange *from_modes()
  {
    const SlabAt<Scalar> solution = solution_at();
    here_->transforms.from_modes({modes_[0].data(), modes_[1].data()}, solution);
    if (mirrors(transpose_)) mirror().back(space_, modes_[0].data());
    if (!here_->transforms.writes(solution)) boundary_.fill(modes_[0].data(), rhs_, solution_, transpose_, inner_array());
    boundary_.fill_faces(rhs_, solution_, transpose_);
    return nullptr;
  }

  /// `kinds` numbers of each mode, between arrays of all modes by shares and those of this process's share by processes.
  template <class Number>
  Exchange exchange(const Number *from, Number *to, bool to_joins, Index kinds) const
  {
    std::vector<Message> shares, pieces;
    for (int p = 0; p < plan_.processes; p++) {
      const Share theirs = plan_.joins(p);
      if (theirs.size() > 0) shares.push_back({p, kinds * theirs.begin, kinds * theirs.size()});
      if (mine_.size() > 0) pieces.push_back({p, kinds * p * mine_.size(), kinds * mine_.size()});
    }
    return to_joins ? Exchange{shares, pieces, from, to, sizeof(Number)} : Exchange{pieces, shares, from, to, sizeof(Number)};
  }
  const Exchange *sends(Stage stage, const Exchange &exchange)
  {
    stage_ = stage;
    return &exchange;
  }

  // ------------------------------------------------------------------------------------------------------------------ what it has

  void make(std::unique_ptr<Tables> &tables, const poisson::Prepared &prepared)
  {
    tables = std::make_unique<Tables>(space_, prepared, plan_, process_);
    for (int k = 0; k <= std::min(1, tables->transforms.products()); k++) {
      const Index size = plan_.rows(process_).size() * plan_.modes();
      if (modes_[k].size() == 0) modes_[k] = Array<Scalar>("weft slab of modes", static_cast<std::size_t>(size));
    }
  }

  Tables &tables(Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_ || mirrors(transpose)) return *tables_[0];
    if (!tables_[1]) make(tables_[1], poisson::prepare_tensor(transposed(*operator_)));
    return *tables_[1];
  }

  /// True where the operator's own tables serve its transpose.
  bool mirrors(Transpose transpose) const { return transpose == Transpose::yes && operator_ && facts_.singular; }

  const poisson::Mirror<Space, Scalar> &mirror()
  {
    if (mirror_) return *mirror_;
    const Share rows  = plan_.rows(process_);
    const Index plane = plan_.modes(), n[3] = {plane, 1, rows.size()};
    std::vector<double> along[3], factors[3];
    for (int k = 0; k < 3; k++) along[k] = poisson::mirror_factors(operator_->directions[k]);
    factors[0].assign(static_cast<std::size_t>(plane), 0);
    for (Index m = 0; m < plane; m++) {
      if (plan_.is_mode(m))
        factors[0][static_cast<std::size_t>(m)] =
            along[0][static_cast<std::size_t>(m % plan_.line())] * along[1][static_cast<std::size_t>(m / plan_.line())];
    }
    factors[2].assign(along[2].begin() + rows.begin, along[2].begin() + rows.end);
    mirror_.emplace(n, factors);
    return *mirror_;
  }

  std::string describe(const poisson::Prepared &p) const
  {
    static constexpr char names[] = "xyz";
    const bool fast[2]            = {std::get<poisson::TransformStep>(p.schedule.steps.front()).fast.has_value(), p.modes.fast.has_value()};
    std::string text              = "facr: ";
    for (int k : {0, 1}) {
      if (plan_.nodes[k] == 1) continue;
      text += std::string(fast[k] ? "fast transforms" : "matrix products") + " along " + names[plan_.order[k]] + ", ";
    }
    return text + "lines along " + names[plan_.order[2]] + (p.singular ? ", singular" : "");
  }

  Space space_;
  SpreadPlan plan_;
  int process_;
  Share mine_;                     ///< modes whose pieces this process joins
  Index slab_nodes_, inner_first_; ///< the first node of the inner box is that one of the slab
  bool device_messages_;
  BoundaryRows<Space, Scalar> boundary_;
  std::unique_ptr<Tables> tables_[2]; ///< of the operator; of its transpose, where that is another one
  std::optional<SeparableOperator> operator_;
  std::optional<poisson::Mirror<Space, Scalar>> mirror_;
  Array<KernelReal> slab_;
  Array<Scalar> modes_[2], beside_; ///< the second one for matrix products
  Messages<Space, Scalar> shares_, joined_;
  Messages<Space, double> own_hanging_, all_hanging_, mean_, means_;
  SeparableOperator separable_;
  bool definite_ = false;
  double worth_  = 1; ///< of pieces: the least pivot over the largest fringe
  Exchange hanging_, to_joins_, from_joins_, to_all_;
  // Of the solve under way:
  const KernelReal *rhs_ = nullptr;
  KernelReal *solution_  = nullptr;
  Transpose transpose_   = Transpose::no;
  Tables *here_          = nullptr;
  Stage stage_           = Stage::ends;
  bool meets_            = false; ///< it ends when the pieces are joined
};

} // namespace

Owner<SpreadSolver> SpreadSolver::make(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process,
                                       Precision precision, bool device_messages)
{
  return make_on_backend<SpreadSolver, SpreadSolverImpl>(execution, precision, slab, plan, process, device_messages);
}

} // namespace weft
