#include "line/matrix_look.hpp"

#include <limits>

#include "base/backend.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

namespace {

template <class Space, class Scalar, class Int>
MatrixLook look_on(const Space &space, const PlaceOfRows &place, Index line_rows, const CsrMatrix<Scalar, Int> &inside,
                   const CsrMatrix<Scalar, Int> &outside)
{
  constexpr Index none = std::numeric_limits<Index>::max();
  Index bad = none, beside = 0, corners = 0, between = 0;
  Kokkos::parallel_reduce(
      "weft look at a matrix", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, place.rows),
      KOKKOS_LAMBDA(const Index i, Index &first_bad, Index &entries, Index &closing, Index &linking) {
        const bool first = place.first + i == 0, last = place.first + i + 1 == place.all;
        bool finite = true;
        for (Int k = inside.begin(i); k < inside.end(i); k++) {
          const double size  = static_cast<double>(modulus(inside.values[k]));
          const Index offset = inside.column(k) - i;
          finite             = finite && Kokkos::isfinite(size);
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
            if ((i == 0 && column == place.before) || (i + 1 == place.rows && column == place.after))
              linking++;
            else if ((first && column == place.last_of_all) || (last && column == place.first_of_all))
              closing++;
            else
              entries++;
          }
        }
        if (!finite) first_bad = Kokkos::min(first_bad, i);
      },
      Kokkos::Min<Index>(bad), beside, corners, between);
  MatrixLook look;
  if (bad < place.rows) look.not_finite = bad;
  look.beside  = beside;
  look.corners = corners;
  look.between = between;
  return look;
}

} // namespace

template <class Scalar, class Int>
MatrixLook look_at(const Execution &execution, const PlaceOfRows &place, Index line_rows, const CsrMatrix<Scalar, Int> &inside,
                   const CsrMatrix<Scalar, Int> &outside)
{
  return on_backend(execution, [&](const auto &space) { return look_on(space, place, line_rows, inside, outside); });
}

template MatrixLook look_at(const Execution &, const PlaceOfRows &, Index, const CsrMatrix<KernelScalar, std::int32_t> &,
                            const CsrMatrix<KernelScalar, std::int32_t> &);
template MatrixLook look_at(const Execution &, const PlaceOfRows &, Index, const CsrMatrix<KernelScalar, std::int64_t> &,
                            const CsrMatrix<KernelScalar, std::int64_t> &);

} // namespace weft
