#include "line/matrix_look.hpp"

#include <algorithm>
#include <limits>

#include "base/backend.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

namespace {

template <class Space, class Scalar, class Int>
MatrixLook look_on(const Space &space, const PlaceOfRows &place, Index line_rows, const CsrMatrix<Scalar, Int> &inside,
                   const CsrMatrix<Scalar, Int> &outside)
{
  constexpr Index none      = std::numeric_limits<Index>::max();
  constexpr double rounding = 1e-6; // of single precision too
  Index bad = none, beside = 0, corners = 0, between = 0, elsewhere = 0, weak = 0;
  Kokkos::parallel_reduce(
      "weft look at a matrix", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, place.rows),
      KOKKOS_LAMBDA(const Index i, Index &first_bad, Index &entries, Index &closing, Index &linking, Index &leaving, Index &not_dominant) {
        const bool first = place.first + i == 0, last = place.first + i + 1 == place.all;
        bool finite     = true;
        double diagonal = 0, others = 0;
        for (Int k = inside.begin(i); k < inside.end(i); k++) {
          const double size  = static_cast<double>(modulus(inside.values[k]));
          const Index offset = inside.column(k) - i;
          finite             = finite && Kokkos::isfinite(size);
          (offset == 0 ? diagonal : others) += size;
          if (offset == 0 || !(size > 0)) continue;
          if (offset == 1 || offset == -1)
            linking += (offset == 1 ? i + 1 : i) % line_rows == 0;
          else if ((first && offset == place.all - 1) || (last && offset == 1 - place.all))
            closing++;
          else
            entries++;
        }
        if (outside.row_starts) {
          for (Int k = outside.begin(i); k < outside.end(i); k++) {
            const double size  = static_cast<double>(modulus(outside.values[k]));
            const Index column = outside.column(k);
            finite             = finite && Kokkos::isfinite(size);
            if (!(size > 0)) continue;
            others += size;
            leaving++;
            if ((i == 0 && column == place.before) || (i + 1 == place.rows && column == place.after))
              linking++;
            else if ((first && column == place.last_of_all) || (last && column == place.first_of_all))
              closing++;
            else
              entries++;
          }
        }
        not_dominant += diagonal * (1 + rounding) < others;
        if (!finite) first_bad = Kokkos::min(first_bad, i);
      },
      Kokkos::Min<Index>(bad), beside, corners, between, elsewhere, weak);
  MatrixLook look;
  if (bad < place.rows) look.not_finite = bad;
  look.beside    = beside;
  look.corners   = corners;
  look.between   = between;
  look.elsewhere = elsewhere;
  look.weak      = weak;
  return look;
}

template <class Space, class Scalar, class Int>
Index beyond_on(const Space &space, Index first, Index end, const LineLayout &lines, bool together, bool closed,
                const CsrMatrix<Scalar, Int> &inside)
{
  Index beyond = 0;
  Kokkos::parallel_reduce(
      "weft couplings beyond lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, first, end),
      KOKKOS_LAMBDA(const Index number, Index &count) {
        const LineRow at = line_row(lines, number);
        const Index b = lines.components, i = lines.start(at.line) + at.row * lines.stride, next = lines.stride / b;
        const Index last = lines.length - 1, around = next * last;
        for (Int k = inside.begin(i); k < inside.end(i); k++) {
          const Index column = inside.column(k), apart = column / b - i / b;
          const bool same = column % b == i % b;
          const bool near = apart == 0 || (apart == next && at.row < last) || (apart == -next && at.row > 0) ||
                            (closed && ((apart == around && at.row == 0) || (apart == -around && at.row == last)));
          count += !(near && (same || together)) && modulus(inside.values[k]) > 0;
        }
      },
      beyond);
  return beyond;
}

} // namespace

template <class Scalar, class Int>
MatrixLook look_at(const Execution &execution, const PlaceOfRows &place, Index line_rows, const CsrMatrix<Scalar, Int> &inside,
                   const CsrMatrix<Scalar, Int> &outside)
{
  return on_backend(execution, [&](const auto &space) { return look_on(space, place, line_rows, inside, outside); });
}

template <class Scalar, class Int>
Index couplings_beyond(const Execution &execution, const LineLayout &lines, bool together, bool closed,
                       const CsrMatrix<Scalar, Int> &inside)
{
  constexpr Index few = 1024;
  const Index rows = lines.rows(), middle = rows / 2;
  return on_backend(execution, [&](const auto &space) {
    const Index some = beyond_on(space, middle, std::min(middle + few, rows), lines, together, closed, inside);
    return some > 0 ? some : beyond_on(space, 0, rows, lines, together, closed, inside);
  });
}

template Index couplings_beyond(const Execution &, const LineLayout &, bool, bool, const CsrMatrix<KernelScalar, std::int32_t> &);
template Index couplings_beyond(const Execution &, const LineLayout &, bool, bool, const CsrMatrix<KernelScalar, std::int64_t> &);
template MatrixLook look_at(const Execution &, const PlaceOfRows &, Index, const CsrMatrix<KernelScalar, std::int32_t> &,
                            const CsrMatrix<KernelScalar, std::int32_t> &);
template MatrixLook look_at(const Execution &, const PlaceOfRows &, Index, const CsrMatrix<KernelScalar, std::int64_t> &,
                            const CsrMatrix<KernelScalar, std::int64_t> &);

} // namespace weft
