/// PencilSolver: a PencilPlan on a backend. Transforms along two directions, lines of modes along the third, transforms back; or transforms
/// along all and numbers.
#pragma once
#include <utility>

#include "bcr/detect/star.hpp"
#include "bcr/modes/mode_lines.hpp"
#include "bcr/pencil/pencil_lines.hpp"
#include "bcr/pencil/pencil_plan.hpp"
#include "bcr/transforms/transform.hpp"

namespace weft::poisson {

template <class Space, class Scalar>
class PencilSolver {
public:
  using Values = OwnedArray<Scalar, Space>;

  PencilSolver(const Space &space, const PencilOperator &op) : space_(space), plan_(plan_pencil(op))
  {
    const auto &p          = plan_;
    const Index strides[3] = {1, p.n[0], p.n[0] * p.n[1]};
    const int a = across(p.along, 0), b = across(p.along, 1);
    at_ = {p.modes_of_lines(), p.n[a], strides[a], strides[b], p.n[p.along], strides[p.along]};
    for (int d = 0; d < 3; d++) {
      if (!p.transforms(d)) continue;
      to_modes_[d]   = ModeTransform<Space, Scalar>(space_, p.n[d], p.modes[d].left, p.modes[d].to_modes);
      from_modes_[d] = ModeTransform<Space, Scalar>(space_, p.n[d], p.modes[d].right, p.modes[d].from_modes);
    }
    std::vector<double> rows;
    const Pencil &along = op.directions[p.along];
    for (std::size_t i = 0; i < along.matrix[0].size(); i++) {
      for (int which : {0, 1}) {
        const LineMatrix &m = along.matrix[which];
        if (p.lines)
          rows.insert(rows.end(), {m.lower[i], m.diagonal[i], m.upper[i]});
        else
          rows.push_back(p.n[p.along] == 1 ? m.diagonal[i] : p.modes[p.along].values[which][i]);
      }
    }
    if (p.constant) constant_ = ModeLines<Space, Scalar>(*p.constant, p.n[p.along]);
    others_ = upload<Index, Space>("weft pencil lines", p.others);
    rows_   = upload<double, Space>("weft pencil rows", rows);
    alpha_  = upload<double, Space>("weft pencil modes", p.alpha);
    beta_   = upload<double, Space>("weft pencil modes", p.beta);
    work_   = Values(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft pencil work"),
                     static_cast<std::size_t>(p.n[0] * p.n[1] * p.n[2]));
  }

  const PencilPlan &plan() const { return plan_; }
  std::size_t bytes() const
  {
    std::size_t bytes = constant_.bytes() + others_.size() * sizeof(Index) +
                        (rows_.size() + alpha_.size() + beta_.size()) * sizeof(double) + work_.size() * sizeof(Scalar);
    for (int d = 0; d < 3; d++) bytes += to_modes_[d].bytes() + from_modes_[d].bytes();
    return bytes;
  }

  /// Arrays of n_0 n_1 n_2 elements, x fastest; rhs may be solution and is kept otherwise. Does not wait.
  void operator()(const Scalar *rhs, Scalar *solution) const
  {
    // From one array to the other, twice for each direction, so that the last one is the solution's.
    Scalar *here = work_.data(), *other = solution;
    const Scalar *from = rhs;
    const auto move    = [&](const ModeTransform<Space, Scalar> &transform, int d) {
      run(transform, d, from, here);
      from = here;
      std::swap(here, other);
    };
    for (int d = 0; d < 3; d++) {
      if (plan_.transforms(d)) move(to_modes_[d], d);
    }
    if (here == work_.data() && from == rhs) { // nothing but lines
      copy(rhs, solution);
      from = solution;
    }
    solve_lines(const_cast<Scalar *>(from), here);
    for (int d = 2; d >= 0; d--) {
      if (plan_.transforms(d)) move(from_modes_[d], d);
    }
  }

private:
  static constexpr int lanes = is_host_space<Space> ? static_cast<int>(128 / sizeof(Scalar)) : 1;

  void run(const ModeTransform<Space, Scalar> &transform, int d, const Scalar *from, Scalar *to) const
  {
    const Index strides[3] = {1, plan_.n[0], plan_.n[0] * plan_.n[1]};
    const int a = across(d, 0), b = across(d, 1);
    Transform<Space, Scalar> t = transform.lines;
    t.n                        = plan_.n[d];
    t.from_stride = t.to_stride = strides[d];
    t.inner                     = plan_.n[a];
    t.inner_stride              = strides[a];
    t.outer                     = plan_.n[b];
    t.outer_stride              = strides[b];
    t.from                      = from;
    t.to                        = to;
    transform(space_, t);
  }

  void copy(const Scalar *from, Scalar *to) const
  {
    if (from == to) return;
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::deep_copy(space_, Kokkos::View<Scalar *, typename Space::memory_space, Unmanaged>(to, work_.size()),
                      Kokkos::View<const Scalar *, typename Space::memory_space, Unmanaged>(from, work_.size()));
  }

  void solve_lines(Scalar *values, Scalar *ratios) const
  {
    using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;
    if (plan_.constant) constant_(space_, values, at_.stride);
    if (!plan_.others.empty())
      Kokkos::parallel_for("weft pencil lines", Range(space_, 0, (static_cast<Index>(others_.size()) + lanes - 1) / lanes),
                           SolvePencilLines<Space, Scalar, lanes>{at_, alpha_, beta_, rows_, others_, values, ratios});
    if (!plan_.lines)
      Kokkos::parallel_for("weft pencil numbers", Range(space_, 0, at_.modes * at_.rows),
                           DivideByNumbers<Space, Scalar>{at_, alpha_, beta_, rows_, values, plan_.pinned_mode, plan_.pinned_row});
  }

  Space space_;
  PencilPlan plan_;
  ModesAt at_;
  ModeTransform<Space, Scalar> to_modes_[3], from_modes_[3];
  ModeLines<Space, Scalar> constant_;
  OwnedArray<Index, Space> others_;
  OwnedArray<double, Space> rows_, alpha_, beta_;
  Values work_;
};

} // namespace weft::poisson
