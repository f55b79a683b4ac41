#include "line/relax/probe.hpp"

#include "base/backend.hpp"
#include "base/probe_value.hpp"

namespace weft {

/// Calls body(value, column) for the entries of row i in the columns of this process.
template <class Int, class Body>
KOKKOS_INLINE_FUNCTION void for_each_inside(const ProbeRows<Int> &matrix, Index i, const Body &body)
{
  if (matrix.dense) {
    for (Index j = 0; j < matrix.rows; j++) body(matrix.dense[j * matrix.ld + i], j);
  } else {
    for (Int k = matrix.inside.begin(i); k < matrix.inside.end(i); k++) body(matrix.inside.values[k], matrix.inside.column(k));
  }
}

template <class Int>
struct SizeOfRow {
  ProbeRows<Int> matrix;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &logarithms, double &rows) const
  {
    double largest = 0;
    for_each_inside(matrix, i, [&](KernelScalar value, Index) { largest = Kokkos::max<double>(largest, modulus(value)); });
    if (!(largest > 0) || Kokkos::isinf(largest)) return;
    logarithms += Kokkos::log2(largest);
    rows += 1;
  }
};

template <class Int>
struct ProbeRow {
  ProbeRows<Int> matrix;
  double unit;
  const KernelScalar *product, *b, *x;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &residuals, double &rhs, double &backwards) const
  {
    KernelScalar sum = 0;
    double size      = 0;
    for_each_inside(matrix, i, [&](KernelScalar value, Index j) {
      const KernelScalar term = value * x[j];
      sum += term;
      size += modulus(term);
    });
    // NaN goes on in any sum.
    const double residual = modulus(b[i] - (product ? product[i] : sum)), of_b = modulus(b[i]), of_rhs = of_b / unit,
                 of_row   = residual / unit;
    const double backward = residual == 0 ? 0 : residual / (of_b + size);
    residuals += of_row * of_row;
    rhs += of_rhs * of_rhs;
    backwards += backward * backward;
  }
};

struct SetProbe {
  Index first;
  double unit;
  KernelScalar *x;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { x[i] = unit * probe_value(first + i); }
};

void set_probe(const Execution &execution, Index first, Index rows, double unit, KernelScalar *x)
{
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Kokkos::parallel_for("weft probe", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, rows), SetProbe{first, unit, x});
  });
}

template <class Int>
ProbeSizes probe_sizes(const Execution &execution, const ProbeRows<Int> &matrix)
{
  ProbeSizes total;
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Kokkos::parallel_reduce("weft sizes of rows", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, matrix.rows),
                            SizeOfRow<Int>{matrix}, total.logarithms, total.rows);
  });
  return total;
}

template <class Int>
ProbeSums probe_sums(const Execution &execution, const ProbeRows<Int> &matrix, double unit, const KernelScalar *product,
                     const KernelScalar *b, const KernelScalar *x)
{
  ProbeSums total;
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Kokkos::parallel_reduce("weft probe of a solve", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, matrix.rows),
                            ProbeRow<Int>{matrix, unit, product, b, x}, total.residual, total.rhs, total.backward);
  });
  return total;
}

template ProbeSizes probe_sizes(const Execution &, const ProbeRows<std::int32_t> &);
template ProbeSizes probe_sizes(const Execution &, const ProbeRows<std::int64_t> &);
template ProbeSums probe_sums(const Execution &, const ProbeRows<std::int32_t> &, double, const KernelScalar *, const KernelScalar *,
                              const KernelScalar *);
template ProbeSums probe_sums(const Execution &, const ProbeRows<std::int64_t> &, double, const KernelScalar *, const KernelScalar *,
                              const KernelScalar *);

} // namespace weft
