#include "crout_kokkos_kernels.hpp"

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spiluk.hpp>
#include <KokkosSparse_sptrsv.hpp>
#include <cstdio>
#include <stdexcept>

#include "base/backend.hpp"

namespace weft::bench {
namespace {

using Offset = std::int32_t;

/// SPILUK's work space has a row of the matrix's width for each row of the largest level. On a device it takes levels in chunks that fit
/// its memory, on a host it does not: 4 GiB at most for this many rows.
constexpr Index most_host_rows = 32768;

/// By rows, columns ascending, with its diagonal: last in a lower one, where it is 1, first in an upper one.
template <class Space>
struct Triangle {
  DeviceArray<Offset, Space> starts, columns;
  DeviceArray<double, Space> values;

  Triangle(Index rows, Index entries)
      : starts("weft bench starts", static_cast<std::size_t>(rows) + 1), columns("weft bench columns", static_cast<std::size_t>(entries)),
        values("weft bench values", static_cast<std::size_t>(entries))
  {
  }
};

/// Entries of a row below or above the diagonal, in all rows.
template <class Space>
Index count_entries(const Space &space, const CroutProblem<Space> &problem, bool below)
{
  const auto starts = problem.starts, columns = problem.columns;
  Index count = 0;
  Kokkos::parallel_reduce(
      "weft bench triangle", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problem.rows),
      KOKKOS_LAMBDA(const Index i, Index &sum) {
        for (Offset k = starts(i); k < starts(i + 1); k++) sum += below ? columns(k) < i : columns(k) > i;
      },
      count);
  return count;
}

/// The entry of a matrix by rows, columns ascending; 0 where it has none.
template <class Matrix>
KOKKOS_INLINE_FUNCTION double entry(const Matrix &matrix, Index row, Offset column)
{
  Offset first = matrix.starts(row), end = matrix.starts(row + 1);
  while (first < end) {
    const Offset middle = first + (end - first) / 2;
    if (matrix.columns(middle) == column) return matrix.values(middle);
    if (matrix.columns(middle) < column)
      first = middle + 1;
    else
      end = middle;
  }
  return 0;
}

/// |sum| over the sum of what was added up, infinite where that is no number.
KOKKOS_INLINE_FUNCTION double relative(double sum, double size)
{
  const double error = size > 0 ? Kokkos::abs(sum) / size : Kokkos::abs(sum);
  return Kokkos::isfinite(error) && Kokkos::isfinite(size) ? error : Kokkos::Experimental::infinity_v<double>;
}

/// |a_ij - sum_k l_ik u_kj| / (|a_ij| + sum_k |l_ik u_kj|)
template <class Matrix, class Half>
KOKKOS_INLINE_FUNCTION double entry_error(const Matrix &a, const Half &l, const Half &u, Index i, Offset j)
{
  double sum = entry(a, i, j), size = Kokkos::abs(sum);
  for (Offset k = l.starts(i); k < l.starts(i + 1); k++) {
    const double product = l.values(k) * entry(u, l.columns(k), j);
    sum -= product;
    size += Kokkos::abs(product);
  }
  return relative(sum, size);
}

/// The largest of them in the pattern of L and U: rounding where elimination was exact, however the factors have grown.
template <class Space>
double product_error(const Space &space, const CroutProblem<Space> &a, const Triangle<Space> &l, const Triangle<Space> &u)
{
  double largest = 0;
  Kokkos::parallel_reduce(
      "weft bench product", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, a.rows),
      KOKKOS_LAMBDA(const Index i, double &worst) {
        for (Offset k = l.starts(i); k < l.starts(i + 1); k++) worst = Kokkos::max(worst, entry_error(a, l, u, i, l.columns(k)));
        for (Offset k = u.starts(i); k < u.starts(i + 1); k++) worst = Kokkos::max(worst, entry_error(a, l, u, i, u.columns(k)));
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// The largest |b_i - sum_k t_ik x_k| / (|b_i| + sum_k |t_ik x_k|)
template <class Space>
double solve_error(const Space &space, const Triangle<Space> &t, const DeviceArray<double, Space> &b, const DeviceArray<double, Space> &x)
{
  double largest = 0;
  Kokkos::parallel_reduce(
      "weft bench solve", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(x.extent(0))),
      KOKKOS_LAMBDA(const Index i, double &worst) {
        double sum = b(i), size = Kokkos::abs(sum);
        for (Offset k = t.starts(i); k < t.starts(i + 1); k++) {
          const double product = t.values(k) * x(t.columns(k));
          sum -= product;
          size += Kokkos::abs(product);
        }
        worst = Kokkos::max(worst, relative(sum, size));
      },
      Kokkos::Max<double>(largest));
  return largest;
}

} // namespace

template <class Space>
struct KokkosKernelsIlu<Space>::Parts {
  using Memory = typename Space::memory_space;
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<Offset, Offset, double, Space, Memory, Memory>;

  DeviceArray<Offset, Space> starts, columns;
  Triangle<Space> lower, upper;
  DeviceArray<double, Space> between;
  Handle factors, forward, backward;

  Parts(const CroutProblem<Space> &p, Index below, Index above)
      : starts(p.starts), columns(p.columns), lower(p.rows, p.rows + below), upper(p.rows, p.rows + above),
        between("weft bench between", static_cast<std::size_t>(p.rows))
  {
    using namespace KokkosSparse::Experimental;
    const auto rows = static_cast<Offset>(p.rows);
    factors.create_spiluk_handle(SPILUKAlgorithm::SEQLVLSCHD_TP1, rows, static_cast<Offset>(p.rows + below),
                                 static_cast<Offset>(p.rows + above));
    forward.create_sptrsv_handle(SPTRSVAlgorithm::SEQLVLSCHD_TP1, rows, true);
    backward.create_sptrsv_handle(SPTRSVAlgorithm::SEQLVLSCHD_TP1, rows, false);
  }

  void solve(Space &space, Handle &handle, const Triangle<Space> &triangle, const double *rhs, double *x)
  {
    const auto rows = between.extent(0);
    KokkosSparse::Experimental::sptrsv_solve(space, &handle, triangle.starts, triangle.columns, triangle.values,
                                             Kokkos::View<const double *, Memory, Kokkos::MemoryUnmanaged>(rhs, rows),
                                             Kokkos::View<double *, Memory, Kokkos::MemoryUnmanaged>(x, rows));
  }
};

template <class Space>
KokkosKernelsIlu<Space>::KokkosKernelsIlu(const Space &space) : space_(space)
{
}

template <class Space>
KokkosKernelsIlu<Space>::~KokkosKernelsIlu() = default;

template <class Space>
void KokkosKernelsIlu<Space>::set_up(const CroutProblem<Space> &p)
{
  if (std::is_same_v<typename Space::memory_space, Kokkos::HostSpace> && p.rows > most_host_rows)
    throw std::runtime_error("not run: SPILUK's work space may grow with the square of " + std::to_string(p.rows) + " rows on a host");
  forget();
  parts_     = std::make_unique<Parts>(p, count_entries(space_, p, true), count_entries(space_, p, false));
  Parts &own = *parts_;
  KokkosSparse::Experimental::spiluk_symbolic(&own.factors, 0, own.starts, own.columns, own.lower.starts, own.lower.columns,
                                              own.upper.starts, own.upper.columns);
  refactor(p.values);
  KokkosSparse::Experimental::sptrsv_symbolic(space_, &own.forward, own.lower.starts, own.lower.columns);
  KokkosSparse::Experimental::sptrsv_symbolic(space_, &own.backward, own.upper.starts, own.upper.columns);
}

template <class Space>
void KokkosKernelsIlu<Space>::refactor(const DeviceArray<double, Space> &values)
{
  Parts &own = *parts_;
  KokkosSparse::Experimental::spiluk_numeric(&own.factors, 0, own.starts, own.columns, values, own.lower.starts, own.lower.columns,
                                             own.lower.values, own.upper.starts, own.upper.columns, own.upper.values);
}

template <class Space>
void KokkosKernelsIlu<Space>::forget()
{
  parts_.reset();
}

template <class Space>
void KokkosKernelsIlu<Space>::forward(const double *rhs, double *x)
{
  parts_->solve(space_, parts_->forward, parts_->lower, rhs, x);
}

template <class Space>
void KokkosKernelsIlu<Space>::backward(const double *rhs, double *x)
{
  parts_->solve(space_, parts_->backward, parts_->upper, rhs, x);
}

template <class Space>
void KokkosKernelsIlu<Space>::apply(const double *rhs, double *x)
{
  forward(rhs, parts_->between.data());
  backward(parts_->between.data(), x);
}

template <class Space>
std::string KokkosKernelsIlu<Space>::checked(const CroutProblem<Space> &problem)
{
  Parts &own      = *parts_;
  const auto rows = own.between.extent(0);
  const DeviceArray<double, Space> b("weft bench vector", rows), x("weft bench vector", rows);
  Kokkos::deep_copy(space_, b, 1.0);
  apply(b.data(), x.data());
  const double product = product_error(space_, problem, own.lower, own.upper);
  const double solve   = std::max(solve_error(space_, own.lower, b, own.between), solve_error(space_, own.upper, own.between, x));
  const int levels     = static_cast<int>(own.factors.get_spiluk_handle()->get_num_levels());
  const int levels_up  = static_cast<int>(own.backward.get_sptrsv_handle()->get_num_levels());
  char text[160];
  std::snprintf(text, sizeof text, "ILU(0) in %d levels, solves in %d; of A - L U at most %.1e of an entry's terms, of solves %.1e", levels,
                levels + levels_up, product, solve);
  if (!(std::max(product, solve) < 1e-10)) // a zero pivot becomes 1e6, and nothing says so
    throw std::runtime_error(std::string("wrong, so not timed (SPILUK makes a zero pivot 1e6): ") + text);
  return text;
}

template class KokkosKernelsIlu<DeviceBackend>;

} // namespace weft::bench
