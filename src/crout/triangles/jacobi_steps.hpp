/// Jacobi steps for x = g - scale (N x): x <- g - scale (N x), starting from x = g. N is nilpotent: as many steps as there are levels less
/// one give the solution in every bit; fewer give an approximation whose error may first grow where the triangle is far from normal.
///
/// The first step reads the right-hand side itself at each neighbour (permuted, scaled) and keeps g for the others; the last one writes
/// where the result belongs. Words a row and step: the entries (values in Scalar, 32-bit columns), g, x old and new.
#pragma once
#include "crout/triangles/sliced.hpp"

namespace weft::triangular {

template <int width, class Scalar>
struct JacobiStep {
  Triangle<Scalar> triangle;
  const Scalar *scale, *before, *after;
  Vectors rhs; ///< g = before * rhs
  Vectors x;   ///< what the step before left; not read by the first
  Vectors out;
  KernelScalar *keep; ///< where g goes for later steps; null: nowhere
  bool first;

  KOKKOS_INLINE_FUNCTION Index row(Index position) const { return position; }
  KOKKOS_INLINE_FUNCTION KernelScalar neighbour(Index j, int c) const { return first ? times(before, j, rhs.get(j, c)) : x.get(j, c); }
  KOKKOS_INLINE_FUNCTION void finish(Index i, const KernelScalar *sums) const
  {
    for (int c = 0; c < width; c++) {
      const KernelScalar g = times(before, i, rhs.get(i, c));
      if (keep) keep[i * width + c] = g;
      out.put(i, c, times(after, i, g - times(scale, i, sums[c])));
    }
  }
};

/// Work space of a solve: rows side by side, the vectors of a row next to each other.
template <int width>
KOKKOS_INLINE_FUNCTION Vectors inner(KernelScalar *data)
{
  return {data, width, 1, nullptr, nullptr};
}

/// From step k - 1 of a half to step k. `work` are arrays of width * rows elements; half.in may be work[0]. The last step writes to
/// half.out if that is given, else to work[1] or work[2].
template <int width, class Scalar>
KOKKOS_INLINE_FUNCTION void next_step(JacobiStep<width, Scalar> &step, const Half<Scalar> &half, int k, int steps,
                                      KernelScalar *const (&work)[3])
{
  const bool last = k + 1 == steps;
  if (k == 0) step = {half.triangle, half.scale, half.before, nullptr, half.in, {}, {}, nullptr, true};
  if (k == 1) step.rhs = inner<width>(work[0]), step.before = nullptr, step.first = false;
  if (k > 0) step.x = step.out;
  step.keep  = k == 0 && !last && half.in.data != work[0] ? work[0] : nullptr;
  step.out   = last && half.out.data ? half.out : inner<width>(step.x.data == work[1] ? work[2] : work[1]);
  step.after = last ? half.after : nullptr;
}

/// Work space as a kernel knows it that is compiled for it: no branch and no wait stands between its loads.
template <int width>
struct Inner {
  KernelScalar *data;

  KOKKOS_INLINE_FUNCTION KernelScalar get(Index i, int c) const { return data[i * width + c]; }
  KOKKOS_INLINE_FUNCTION void put(Index i, int c, KernelScalar value) const { data[i * width + c] = value; }
};

/// A JacobiStep over slices, whose values are scaled. In, Out: Vectors, or Inner where they are work space; all but a first step read that.
template <int width, class Scalar, bool first, class In, class Out>
struct SlicedStep {
  In rhs;
  Inner<width> x;
  Out out;
  const Scalar *before, *after;
  KernelScalar *keep;

  KOKKOS_INLINE_FUNCTION KernelScalar neighbour(Index j, int c) const
  {
    if constexpr (first)
      return times(before, j, rhs.get(j, c));
    else
      return x.get(j, c);
  }
  KOKKOS_INLINE_FUNCTION void start(Index i, KernelScalar *g) const
  {
    for (int c = 0; c < width; c++) {
      g[c] = rhs.get(i, c);
      if constexpr (first) g[c] = times(before, i, g[c]);
    }
  }
  KOKKOS_INLINE_FUNCTION void finish(Index i, const KernelScalar *g, const KernelScalar *sums) const
  {
    for (int c = 0; c < width; c++) {
      if (first && keep) keep[i * width + c] = g[c];
      out.put(i, c, times(after, i, g[c] - sums[c]));
    }
  }
};

template <int width, class Space, class Scalar>
void sliced_step(const Space &space, const JacobiStep<width, Scalar> &step, const Sliced<Scalar> &sliced, bool backwards)
{
  const auto launch = [&]<bool first>(const auto &in, const auto &out) {
    using Step = SlicedStep<width, Scalar, first, std::decay_t<decltype(in)>, std::decay_t<decltype(out)>>;
    const RowBySlice<width, Scalar, Step> rows{{in, {step.x.data}, out, step.before, step.after, step.keep},
                                               sliced,
                                               static_cast<int>(step.triangle.rows),
                                               step.triangle.forward,
                                               backwards};
    Kokkos::parallel_for("weft jacobi step",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, Index(rows.slices()) * slice_rows), rows);
  };
  // Several vectors at once have one form less of each, for the compiler's time.
  const auto is_inner = [](const Vectors &v) { return width == 1 && v.plain() && v.step == 1; };
  const auto to       = [&]<bool first>(const auto &in) {
    if constexpr (width == 1) {
      if (is_inner(step.out)) return launch.template operator()<first>(in, Inner<width>{step.out.data});
    }
    launch.template operator()<first>(in, step.out);
  };
  if (!step.first) return to.template operator()<false>(Inner<width>{step.rhs.data});
  if constexpr (width == 1) {
    if (is_inner(step.rhs)) return to.template operator()<true>(Inner<width>{step.rhs.data});
  }
  to.template operator()<true>(step.rhs);
}

/// Jacobi steps of one half; returns where they left the result. before: steps that have gone over rows as many, of this half or the other.
template <int width, class Space, class Scalar>
KernelScalar *jacobi_half(const Space &space, const Half<Scalar> &half, const Sliced<Scalar> &sliced, int steps, int lanes,
                          KernelScalar *const (&work)[3], int before = 0)
{
  JacobiStep<width, Scalar> step{};
  for (int k = 0; k < steps; k++) {
    next_step(step, half, k, steps, work);
    if (sliced.starts)
      sliced_step(space, step, sliced, (before + k) % 2 == 1);
    else
      for_rows<width>("weft jacobi step", space, step, lanes, 0, half.triangle.rows);
  }
  return step.out.data;
}

/// What the second half reads and may write, when the first one has left its result in `between`.
template <int width, class Scalar>
KOKKOS_INLINE_FUNCTION void pass_on(KernelScalar *between, Half<Scalar> &second, KernelScalar *(&work)[3])
{
  KernelScalar *const free = between == work[1] ? work[2] : work[1];
  second.in                = inner<width>(between);
  work[1]                  = work[0];
  work[0]                  = between;
  work[2]                  = free;
}

/// All steps of both halves by one team: for so few rows that launches would take most of the time.
template <int width, class Scalar>
struct SmallJacobi {
  Half<Scalar> halves[2];
  int steps;
  KernelScalar *arrays[3];

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    KernelScalar *work[3] = {arrays[0], arrays[1], arrays[2]};
    Half<Scalar> half     = halves[0];
    for (int h = 0; h < 2; h++) {
      JacobiStep<width, Scalar> step{};
      for (int k = 0; k < steps; k++) {
        next_step(step, half, k, steps, work);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(half.triangle.rows)),
                             [&](const int i) { RowByThread<width, JacobiStep<width, Scalar>>{step}(i); });
        team.team_barrier();
      }
      half = halves[1];
      if (h == 0) pass_on<width>(step.out.data, half, work);
    }
  }
};

template <int width, class Space, class Scalar>
void jacobi_small(const Space &space, const Half<Scalar> &first, const Half<Scalar> &second, int steps, KernelScalar *const (&arrays)[3])
{
  const SmallJacobi<width, Scalar> kernel{{first, second}, steps, {arrays[0], arrays[1], arrays[2]}};
  Kokkos::parallel_for("weft small jacobi", one_team(space, kernel), kernel);
}

/// Rows up to which one team is faster than a launch for each step.
inline constexpr Index small_jacobi = 2048;

template <int width, class Space, class Scalar>
void jacobi_both(const Space &space, const Half<Scalar> &first, Half<Scalar> second, const Sliced<Scalar> (&sliced)[2], int steps,
                 const int (&lanes)[2], KernelScalar *const (&arrays)[3])
{
  if (!on_host<Space> && first.triangle.rows <= small_jacobi) {
    jacobi_small<width>(space, first, second, steps, arrays);
    return;
  }
  KernelScalar *work[3] = {arrays[0], arrays[1], arrays[2]};
  pass_on<width>(jacobi_half<width>(space, first, sliced[0], steps, lanes[0], arrays), second, work);
  jacobi_half<width>(space, second, sliced[1], steps, lanes[1], {work[0], work[1], work[2]}, steps);
}

} // namespace weft::triangular
