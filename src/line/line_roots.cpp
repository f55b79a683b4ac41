#include "line/line_roots.hpp"

#include "base/backend.hpp"
#include "line/csr.hpp"

namespace weft {

namespace {

template <class Space, class Scalar>
class LineRootsImpl final : public LineRoots<Scalar> {
public:
  LineRootsImpl(const Space &space, const LineLayout &layout) : space_(space), problem_(layout), flag_(layout)
  {
    const auto size = static_cast<std::size_t>(layout.span());
    lower_          = OwnedArray<Scalar, Space>("weft roots", size);
    root_           = OwnedArray<RealOf<Scalar>, Space>("weft roots", size);
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix) override { factor(matrix); }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix) override { factor(matrix); }
  std::optional<LineRow> bad_pivot() const override { return flag_.read(space_); }

  /// l_i = lower_i / d_{i-1}, d_i = diagonal_i - l_i conj(lower_i), a real number; kept: l_i and d_i^(-1/2).
  template <class Int>
  void factor(const CsrMatrix<Scalar, Int> &matrix)
  {
    flag_.clear(space_);
    const auto lower        = lower_;
    const auto root         = root_;
    const auto flag         = flag_;
    constexpr auto rounding = 100 * std::numeric_limits<RealOf<Scalar>>::epsilon();
    for_each_line(
        "weft factor roots", KOKKOS_LAMBDA(const LineProblem &problem, Index line) {
          const LineLayout &layout = problem.layout;
          RealOf<Scalar> pivot     = 1;
          for (Index row = 0; row < layout.length; row++) {
            const Index i       = layout.start(line) + row * layout.stride;
            const Row<Scalar> r = row_of_csr(problem, matrix, {line, row}, i);
            const Scalar l      = row > 0 ? r.lower / pivot : Scalar(0);
            const Scalar d      = r.diagonal - l * conjugate(r.lower);
            pivot               = real_part(d);
            if (!(pivot > 0 && usable_pivot(pivot, r.scale()) && modulus(d - pivot) <= rounding * r.scale())) flag.report(line, row);
            lower(i) = l;
            root(i)  = 1 / Kokkos::sqrt(pivot);
          }
        });
  }
  void solve_left(RealOf<Scalar> scale, const Scalar *rhs, Scalar *solution) const override
  {
    const auto lower = lower_;
    const auto root  = root_;
    for_each_line(
        "weft left roots", KOKKOS_LAMBDA(const LineProblem &problem, Index line) {
          const LineLayout &layout = problem.layout;
          Scalar z                 = 0;
          for (Index row = 0; row < layout.length; row++) {
            const Index i = layout.start(line) + row * layout.stride;
            z             = rhs[i] - lower(i) * z;
            solution[i]   = scale * root(i) * z;
          }
        });
  }
  void solve_right(RealOf<Scalar> scale, const Scalar *rhs, Scalar *solution) const override
  {
    const auto lower = lower_;
    const auto root  = root_;
    for_each_line(
        "weft right roots", KOKKOS_LAMBDA(const LineProblem &problem, Index line) {
          const LineLayout &layout = problem.layout;
          Scalar z = 0, below = 0;
          for (Index row = layout.length - 1; row >= 0; row--) {
            const Index i = layout.start(line) + row * layout.stride;
            z             = scale * root(i) * rhs[i] - below * z;
            below         = conjugate(lower(i));
            solution[i]   = z;
          }
        });
  }
  template <class Body>
  void for_each_line(const char *label, const Body &body) const
  {
    const LineProblem problem = problem_;
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, problem.layout.count()),
        KOKKOS_LAMBDA(const Index line) { body(problem, line); });
  }

private:
  Space space_;
  LineProblem problem_;
  PivotFlag<typename Space::memory_space> flag_;
  OwnedArray<Scalar, Space> lower_;
  OwnedArray<RealOf<Scalar>, Space> root_;
};

} // namespace

template <class Scalar>
Owner<LineRoots<Scalar>> LineRoots<Scalar>::make(const Execution &execution, const LineLayout &layout)
{
  return on_backend(execution, [&](const auto &space) -> Owner<LineRoots> {
    return make_owner<LineRootsImpl<std::decay_t<decltype(space)>, Scalar>>(space, layout);
  });
}

template class LineRoots<KernelScalar>;

} // namespace weft
