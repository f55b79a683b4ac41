/// JoinedPieces: what stands beside each piece of lines that are cut between processes.
///
/// Solved by itself, piece c of a line has y_c, and with the row before it, x_left, and the row behind it, x_right, it has y_c + x_left p_c + x_right q_c,
/// where p_c and q_c depend on the operator alone. So its first and last row, f_c and l_c, are
///   f_c = yF_c + pF_c l_{c-1} + qF_c f_{c+1},   l_c = yL_c + pL_c l_{c-1} + qL_c f_{c+1}.
/// With a, what stands before the first piece, those before c make l_{c-1} = A + B a + D f_c and f_0 = F + G a + H f_c, and piece c makes of that
///   f_c = phi + psi a + chi f_{c+1},   phi = (yF + pF A) / pivot,   psi = pF B / pivot,   chi = qF / pivot,   pivot = 1 - pF D,
///   A' = yL + pL (A + D phi),   B' = pL (B + D psi),   D' = qL + pL D chi,   F' = F + H phi,   G' = G + H psi,   H' = H chi.
/// Behind the last piece stands f_0, and a is its last row, in a ring; else nothing hangs there, and the same is right. Then f_c and l_{c-1} follow from
/// the last piece to the first one. (Block elimination of the reduced system of SPIKE, E. Polizzi, A. Sameh, Parallel Comput. 32 (2006) 177.)
#pragma once
#include <Kokkos_Core.hpp>
#include <string>

#include "base/backend.hpp"

namespace weft::poisson {

/// What is known of a piece before any right-hand side: eight numbers of each line, one kind after the other. In double precision for all: where modes decay
/// slowly pF and D are near 1, and 1 - pF D is what is left of their digits.
struct JoinTables {
  enum Kind { first_by_left, last_by_left, inverse, before_of_first, before_of_start, of_start, of_next, start_of_next, kinds };

  double *values; ///< [piece][kind][line]
  double *ring;   ///< [4][line]: (1 - H) / det, D / det, (1 - B) / det, G / det of all pieces, det = (1 - B)(1 - H) - D G
  Index lines;
  int pieces;

  KOKKOS_INLINE_FUNCTION double &at(int piece, Kind kind, Index line) const { return values[(piece * kinds + kind) * lines + line]; }
};

/// Makes the tables of a line. hanging: [piece][4][line], pF, pL, qF, qL.
struct MakeJoinTables {
  JoinTables tables;
  const double *hanging;

  /// least: the smallest pivot.
  KOKKOS_INLINE_FUNCTION void operator()(const Index line, double &least) const
  {
    using Tables = JoinTables;
    double B = 1, D = 0, G = 0, H = 1;
    for (int c = 0; c < tables.pieces; c++) {
      const double *const of = hanging + c * 4 * tables.lines + line;
      const double pF = of[0], pL = of[tables.lines], qF = of[2 * tables.lines], qL = of[3 * tables.lines];
      const double pivot = 1 - pF * D, inverse = 1 / pivot, psi = pF * B * inverse, chi = qF * inverse;
      least = worse(least, pivot);

      tables.at(c, Tables::first_by_left, line)   = pF;
      tables.at(c, Tables::last_by_left, line)    = pL;
      tables.at(c, Tables::inverse, line)         = inverse;
      tables.at(c, Tables::before_of_first, line) = D;
      tables.at(c, Tables::before_of_start, line) = B;
      tables.at(c, Tables::of_start, line)        = psi;
      tables.at(c, Tables::of_next, line)         = chi;
      tables.at(c, Tables::start_of_next, line)   = H;
      B                                           = pL * (B + D * psi);
      D                                           = qL + pL * D * chi;
      G += H * psi;
      H *= chi;
    }
    const double det        = (1 - B) * (1 - H) - D * G;
    least                   = worse(least, det);
    const double of_ring[4] = {1 - H, D, 1 - B, G};
    for (int k = 0; k < 4; k++) tables.ring[k * tables.lines + line] = of_ring[k] / det;
  }

private:
  /// NaN is the worst.
  KOKKOS_INLINE_FUNCTION static double worse(double least, double pivot)
  {
    const double size = Kokkos::abs(pivot);
    return size < least ? size : size == size ? least : 0.0;
  }
};

/// ends: [piece][2][line], the first and the last row of each piece by itself; becomes what stands before and behind it.
template <class Scalar>
struct JoinPieces {
  JoinTables tables;
  Scalar *ends;

  KOKKOS_INLINE_FUNCTION void operator()(const Index line) const
  {
    using Tables  = JoinTables;
    const Index n = tables.lines;
    double A = 0, F = 0;
    for (int c = 0; c < tables.pieces; c++) {
      Scalar *const own  = ends + c * 2 * n + line;
      const double phi   = (own[0] + tables.at(c, Tables::first_by_left, line) * A) * tables.at(c, Tables::inverse, line);
      const double after = own[n] + tables.at(c, Tables::last_by_left, line) * (A + tables.at(c, Tables::before_of_first, line) * phi);
      F += tables.at(c, Tables::start_of_next, line) * phi;
      A      = after;
      own[0] = static_cast<Scalar>(phi);
      own[n] = static_cast<Scalar>(after);
    }
    const double *const ring = tables.ring + line;
    const double start       = A * ring[0] + F * ring[n];
    double next              = F * ring[2 * n] + A * ring[3 * n];
    for (int c = tables.pieces - 1; c >= 0; c--) {
      Scalar *const own  = ends + c * 2 * n + line;
      const double first = own[0] + tables.at(c, Tables::of_start, line) * start + tables.at(c, Tables::of_next, line) * next;
      const double left  = (c > 0 ? static_cast<double>(own[-n]) : 0.0) + tables.at(c, Tables::before_of_start, line) * start +
                          tables.at(c, Tables::before_of_first, line) * first;
      own[0] = static_cast<Scalar>(left);
      own[n] = static_cast<Scalar>(next);
      next   = first;
    }
  }
};

template <class Space, class Scalar>
class JoinedPieces {
public:
  JoinedPieces() = default;
  /// hanging: as MakeJoinTables has it, of `lines` lines. Waits.
  JoinedPieces(const Space &space, int pieces, Index lines, const double *hanging) : space_(space), pieces_(pieces), lines_(lines)
  {
    constexpr int each = JoinTables::kinds;
    values_            = make("weft poisson joined pieces", pieces * each * lines);
    ring_              = make("weft poisson ring", 4 * lines);
    Kokkos::parallel_reduce("weft poisson join tables", range(), MakeJoinTables{tables(), hanging}, Kokkos::Min<double>(least_));
  }

  /// The smallest pivot, 1 where nothing hangs on anything: the sum of two pieces that together are nearly singular.
  double least_pivot() const { return lines_ > 0 ? least_ : 1; }
  std::size_t bytes() const { return (values_.size() + ring_.size()) * sizeof(double); }

  /// ends: as JoinPieces has them.
  void operator()(Scalar *ends) const { Kokkos::parallel_for("weft poisson join pieces", range(), JoinPieces<Scalar>{tables(), ends}); }

private:
  static OwnedArray<double, Space> make(const std::string &label, Index size)
  {
    return OwnedArray<double, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
  }
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> range() const { return {space_, 0, lines_}; }
  JoinTables tables() const { return {values_.data(), ring_.data(), lines_, pieces_}; }

  Space space_;
  int pieces_   = 0;
  Index lines_  = 0;
  double least_ = 1;
  OwnedArray<double, Space> values_, ring_;
};

} // namespace weft::poisson
