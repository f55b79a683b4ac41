/// The reduced systems of lines in pieces: s_j and t_j are the first and last unknown of piece j, and with the products y of piece.hpp
///   s_j = yfirst_j + ff_j t_{j-1} + fl_j s_{j+1},     ff = -before first_0,  fl = -after first_{m-1},
///   t_j = ylast_j  + lf_j t_{j-1} + ll_j s_{j+1},     lf = -before last_0,   ll = -after last_{m-1}
/// (Mattor, Williams and Hewett 1995; the signs of the thesis of seed NEATO, (3.8), are wrong). Two ways to solve them:
///
/// OwnedSystems, exact. Elimination from piece to piece, in blocks of the two unknowns beside an interface, a thread per line: with
/// t_{j-1} = a_{j-1} + b_{j-1} s_j + e_{j-1} tau the first equation gives s_j = S_j + c_j s_{j+1} + h_j tau, where 1 - ff_j b_{j-1} is the
/// pivot, and the second gives t_j. On a ring tau = t of the last piece, which comes before the first; elsewhere e, h and tau are 0.
///
/// NeighbourSystems. Where fl and lf vanish every interface stands alone: t_{j-1} = (ylast_{j-1} + ll_{j-1} yfirst_j) / (1 - ff_j ll_{j-1}),
/// s_j likewise, and both neighbours solve the 2 x 2 system themselves.
#pragma once
#include "distributed/piece.hpp"

namespace weft {

/// ff, fl, lf, ll of a line's piece.
template <class Scalar>
struct Spikes {
  Scalar ff = 0, fl = 0, lf = 0, ll = 0;
};

/// Keeps the first unusable pivot of the reduced systems, as 2 line + 1, then the row of the whole line at which the piece starts. Even
/// numbers are for the pivots of the pieces, which come first.
template <class Space>
struct ReducedFlag {
  static constexpr Index none = std::numeric_limits<Index>::max();
  Index length                = 1;
  Kokkos::View<Index, typename Space::memory_space> first{"weft reduced pivot flag"};

  KOKKOS_INLINE_FUNCTION void report(Index line, Index row) const { Kokkos::atomic_min(&first(), (2 * line + 1) * length + row); }
};

template <class Space, class Scalar>
class OwnedSystems {
public:
  using Words = Kokkos::View<EndWords<Scalar> *, typename Space::memory_space>;
  /// A piece of a matrix after elimination.
  struct Eliminated {
    Scalar inverse, before, c, h, lf, b, e, product;
  };
  /// sigma and tau from the sum of the S_j, weighted, and a of the last piece.
  struct Closing {
    Scalar sum_to_sigma, a_to_sigma, sum_to_tau, a_to_tau;
  };

  OwnedSystems() = default;
  /// `lines` are the numbers of those that this rank owns; the matrices are all the same unless `each`.
  OwnedSystems(const Kokkos::View<Index *, typename Space::memory_space> &lines,
               const Kokkos::View<Index *, typename Space::memory_space> &starts, bool each, bool ring)
      : lines_(lines), starts_(starts), ring_(ring), matrices_(each ? count() : 1), rows_("weft reduced rows", size(pieces() * matrices_)),
        closing_("weft reduced closings", size(ring ? matrices_ : 0)), work_("weft reduced work", size(pieces() * count()))
  {
  }

  Index count() const { return static_cast<Index>(lines_.extent(0)); }
  Index pieces() const { return static_cast<Index>(starts_.extent(0)); }

  /// Eliminates. `spikes`: of each line (or the one), piece by piece.
  static void factor(const Space &space, const OwnedSystems &self, const Spikes<Scalar> *spikes, const ReducedFlag<Space> &flag)
  {
    const Index matrices = self.matrices_, pieces = self.pieces();
    const bool ring    = self.ring_;
    const auto rows    = self.rows_;
    const auto closing = self.closing_;
    const auto lines   = self.lines_;
    const auto starts  = self.starts_;
    const bool each    = matrices == self.count();
    Kokkos::parallel_for(
        "weft reduced factor", Kokkos::RangePolicy<Space>(space, 0, matrices), KOKKOS_LAMBDA(const Index k) {
          const Index line = each ? lines(k) : 0;
          Scalar b = 0, e = ring ? 1 : 0, product = 1, h_sum = 0;
          for (Index j = 0; j < pieces; j++) {
            const Spikes<Scalar> s = spikes[j * matrices + k];
            const Scalar pivot     = 1 - s.ff * b;
            if (!usable_pivot(pivot, 1 + Kokkos::abs(s.ff * b))) flag.report(line, starts(j));
            Eliminated r;
            r.inverse = 1 / pivot;
            r.before  = s.ff * r.inverse;
            r.c       = s.fl * r.inverse;
            r.h       = r.before * e;
            r.lf      = s.lf;
            r.product = product;
            h_sum += product * r.h;
            product *= r.c;
            e                      = s.lf * (e + b * r.h);
            b                      = s.ll + s.lf * b * r.c;
            r.b                    = b;
            r.e                    = e;
            rows(j * matrices + k) = r;
          }
          if (!ring) return;
          // s_0 = sigma = A + product sigma + h_sum tau,   tau = a + b sigma + e tau
          const Scalar one = (1 - product) * (1 - e), other = h_sum * b, determinant = one - other;
          if (!usable_pivot(determinant, 1 + Kokkos::abs(product) + Kokkos::abs(e) + Kokkos::abs(other))) flag.report(line, starts(0));
          closing(k) = {(1 - e) / determinant, h_sum / determinant, b / determinant, (1 - product) / determinant};
        });
  }

  /// From yfirst, ylast of every line and piece to t of the piece before it and s of the piece after it. Lines from `begin` to `end`.
  static void solve(const Space &space, const OwnedSystems &self, EndWords<Scalar> *words, Index begin, Index end)
  {
    const Index count = self.count(), matrices = self.matrices_, pieces = self.pieces();
    const bool ring = self.ring_, each = matrices == count;
    const auto rows    = self.rows_;
    const auto closing = self.closing_;
    const auto work    = self.work_;
    Kokkos::parallel_for(
        "weft reduced solve", Kokkos::RangePolicy<Space>(space, begin, end), KOKKOS_LAMBDA(const Index line) {
          const Index k = each ? line : 0;
          Scalar a = 0, b = 0, sum = 0;
          for (Index j = 0; j < pieces; j++) {
            const Eliminated r       = rows(j * matrices + k);
            const EndWords<Scalar> y = words[j * count + line];
            const Scalar s           = r.inverse * y.first + r.before * a;
            a                        = y.last + r.lf * (a + b * s);
            b                        = r.b;
            sum += r.product * s;
            work(j * count + line) = {s, a};
          }
          Scalar after = 0, tau = 0;
          if (ring) {
            const Closing c = closing(k);
            after           = c.sum_to_sigma * sum + c.a_to_sigma * a;
            tau             = c.sum_to_tau * sum + c.a_to_tau * a;
          }
          for (Index j = pieces - 1; j >= 0; j--) {
            const Eliminated r   = rows(j * matrices + k);
            const Scalar s       = work(j * count + line).first + r.c * after + r.h * tau;
            const Index previous = j - 1;
            Scalar t             = tau;
            if (j > 0) {
              const Eliminated p = rows(previous * matrices + k);
              t                  = work(previous * count + line).last + p.b * s + p.e * tau;
            }
            words[j * count + line] = {t, after};
            after                   = s;
          }
        });
  }

private:
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  Kokkos::View<Index *, typename Space::memory_space> lines_, starts_;
  bool ring_      = false;
  Index matrices_ = 0;
  Kokkos::View<Eliminated *, typename Space::memory_space> rows_;
  Kokkos::View<Closing *, typename Space::memory_space> closing_;
  Words work_; ///< S_j and a_j
};

/// What a piece takes from its right-hand side in exact solves: its couplings times the unknowns that its lines' owners found.
template <class Space, class Scalar>
struct FromOwners {
  OwnedArray<Scalar, Space> before, after; ///< couplings
  bool each;
  Kokkos::View<Index *, typename Space::memory_space> places;
  const EndWords<Scalar> *unknowns;

  KOKKOS_INLINE_FUNCTION EndWords<Scalar> operator()(Index line) const
  {
    const EndWords<Scalar> u = unknowns[places(line)];
    const Index k            = each ? line : 0;
    return {before(k) * u.first, after(k) * u.last};
  }
};

/// And where interfaces stand alone: so much of a neighbour's product and so much of its own.
template <class Space, class Scalar>
struct FromNeighbours {
  struct Weights {
    Scalar before, own_first, after, own_last;
  };
  Kokkos::View<Weights *, typename Space::memory_space> weights;
  bool each;
  Kokkos::View<Index *, typename Space::memory_space> places;
  Kokkos::View<EndWords<Scalar> *, typename Space::memory_space> own;
  const Scalar *from_before, *from_after;

  KOKKOS_INLINE_FUNCTION EndWords<Scalar> operator()(Index line) const
  {
    const Weights w          = weights(each ? line : 0);
    const EndWords<Scalar> y = own(line);
    const Index place        = places(line);
    return {(w.before != 0 ? w.before * from_before[place] : Scalar(0)) + w.own_first * y.first,
            (w.after != 0 ? w.after * from_after[place] : Scalar(0)) + w.own_last * y.last};
  }
};

} // namespace weft
