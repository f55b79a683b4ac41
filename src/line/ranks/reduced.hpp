/// The reduced systems of lines in pieces: s_j and t_j are the first and last unknown of piece j, and with the products y of piece.hpp
///   s_j = yfirst_j + ff_j t_{j-1} + fl_j s_{j+1},     ff = -before first_0,  fl = -after first_{m-1},
///   t_j = ylast_j  + lf_j t_{j-1} + ll_j s_{j+1},     lf = -before last_0,   ll = -after last_{m-1}
/// (Mattor, Williams and Hewett 1995; the signs of the thesis of seed NEATO, (3.8), are wrong). Two ways to solve them:
///
/// All of them are vectors of b unknowns, ff .. ll b x b blocks, and what follows is said for these. Two ways to solve the systems:
///
/// OwnedSystems, exact. Elimination from piece to piece, in blocks of the unknowns beside an interface, a thread per line: with
/// t_{j-1} = a_{j-1} + g_{j-1} s_j + e_{j-1} tau the first equation gives s_j = S_j + c_j s_{j+1} + h_j tau, where 1 - ff_j g_{j-1} is the
/// pivot, and the second gives t_j. On a ring tau = t of the last piece, which comes before the first; elsewhere e, h and tau are 0.
///
/// NeighbourSystems. Where fl and lf vanish every interface stands alone: t_{j-1} = (1 - ll_{j-1} ff_j)^-1 (ylast_{j-1} + ll_{j-1} yfirst_j),
/// s_j likewise, and both neighbours solve the system themselves.
#pragma once
#include "line/ranks/piece.hpp"

namespace weft {

/// ff, fl, lf, ll of a line's piece.
template <class Scalar, int b>
struct Spikes {
  Block<Scalar, b> ff, fl, lf, ll;
};

/// Replaces m by (1 - m)^-1. False where a pivot is unusable next to what it is the difference of.
template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION bool invert_one_minus(Block<Scalar, b> &m)
{
  BlockVector<RealOf<Scalar>, b> scale;
  for (int p = 0; p < b; p++) {
    scale(p) = 1;
    for (int q = 0; q < b; q++) scale(p) += modulus(m(p, q));
  }
  m = identity<Scalar, b>() + -m;
  return invert(m, scale);
}

/// Keeps the first unusable pivot of the reduced systems, as 2 line + 1, then the row of the whole line at which the piece starts. Even
/// numbers are for the pivots of the pieces, which come first.
template <class Space>
struct ReducedFlag {
  static constexpr Index none = std::numeric_limits<Index>::max();
  Index length                = 1;
  Kokkos::View<Index, typename Space::memory_space> first{"weft reduced pivot flag"};

  KOKKOS_INLINE_FUNCTION void report(Index line, Index row) const { Kokkos::atomic_min(&first(), (2 * line + 1) * length + row); }

  /// What it keeps, or `none`. Waits.
  Index read(const Space &space) const
  {
    Index kept = none;
    Kokkos::deep_copy(space, Kokkos::View<Index, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&kept), first);
    space.fence("weft: read the reduced pivot flag");
    return kept;
  }
};

template <class Space, class Scalar, int b>
class OwnedSystems {
public:
  using Words  = Kokkos::View<EndWords<Scalar, b> *, typename Space::memory_space>;
  using Square = Block<Scalar, b>;
  using Vector = BlockVector<Scalar, b>;
  /// A piece of a matrix after elimination.
  struct Eliminated {
    Square inverse, before, c, h, lf, g, e, product;
  };
  /// From the sum of the S_j, weighted, and a of the last piece to sigma = s_0 and tau.
  using Closing = Block<Scalar, 2 * b>;

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
  static void factor(const Space &space, const OwnedSystems &self, const Spikes<Scalar, b> *spikes, const ReducedFlag<Space> &flag)
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
          Square g, e, product = identity<Scalar, b>(), h_sum;
          if (ring) e = product;
          for (Index j = 0; j < pieces; j++) {
            const Spikes<Scalar, b> &s = spikes[j * matrices + k];
            Eliminated &r              = rows(j * matrices + k);
            r.inverse                  = s.ff * g;
            if (!invert_one_minus(r.inverse)) flag.report(line, starts(j));
            r.before  = r.inverse * s.ff;
            r.c       = r.inverse * s.fl;
            r.lf      = s.lf;
            r.product = product;
            if (ring) {
              r.h     = r.before * e;
              h_sum   = h_sum + product * r.h;
              product = product * r.c;
              e       = s.lf * (e + g * r.h);
            }
            g   = s.ll + s.lf * (g * r.c);
            r.g = g;
            r.e = e;
          }
          if (ring && !close(closing(k), product, h_sum, g, e)) flag.report(line, starts(0));
        });
  }

  /// From yfirst, ylast of every line and piece to t of the piece before it and s of the piece after it. Lines from `begin` to `end`.
  static void solve(const Space &space, const OwnedSystems &self, EndWords<Scalar, b> *words, Index begin, Index end)
  {
    const Index count = self.count(), matrices = self.matrices_, pieces = self.pieces();
    const bool ring = self.ring_, each = matrices == count;
    const auto rows    = self.rows_;
    const auto closing = self.closing_;
    const auto work    = self.work_;
    Kokkos::parallel_for(
        "weft reduced solve", Kokkos::RangePolicy<Space>(space, begin, end), KOKKOS_LAMBDA(const Index line) {
          const Index k = each ? line : 0;
          Vector a, sum;
          for (Index j = 0; j < pieces; j++) {
            const Eliminated &r         = rows(j * matrices + k);
            const EndWords<Scalar, b> y = words[j * count + line];
            const Vector s              = r.inverse * y.first + r.before * a;
            if (j > 0) a = a + rows((j - 1) * matrices + k).g * s;
            a = y.last + r.lf * a;
            if (ring) sum = sum + r.product * s;
            work(j * count + line) = {s, a};
          }
          Vector after, tau;
          if (ring) {
            const Closing &c = closing(k);
            for (int p = 0; p < b; p++) {
              for (int q = 0; q < b; q++) {
                after(p) += c(p, q) * sum(q) + c(p, b + q) * a(q);
                tau(p) += c(b + p, q) * sum(q) + c(b + p, b + q) * a(q);
              }
            }
          }
          for (Index j = pieces - 1; j >= 0; j--) {
            const Eliminated &r = rows(j * matrices + k);
            Vector s = work(j * count + line).first + r.c * after, t = tau;
            if (ring) s = s + r.h * tau;
            if (j > 0) {
              const Index previous = j - 1;
              const Eliminated &p  = rows(previous * matrices + k);
              t                    = work(previous * count + line).last + p.g * s;
              if (ring) t = t + p.e * tau;
            }
            words[j * count + line] = {t, after};
            after                   = s;
          }
        });
  }

private:
  /// A ring's last two unknowns: sigma = sum + product sigma + h_sum tau,  tau = a + g sigma + e tau.
  KOKKOS_INLINE_FUNCTION static bool close(Closing &closing, const Square &product, const Square &h_sum, const Square &g, const Square &e)
  {
    Closing m;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) {
        m(p, q)         = product(p, q);
        m(p, b + q)     = h_sum(p, q);
        m(b + p, q)     = g(p, q);
        m(b + p, b + q) = e(p, q);
      }
    }
    const bool usable = invert_one_minus(m);
    closing           = m;
    return usable;
  }
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }

  Kokkos::View<Index *, typename Space::memory_space> lines_, starts_;
  bool ring_      = false;
  Index matrices_ = 0;
  Kokkos::View<Eliminated *, typename Space::memory_space> rows_;
  Kokkos::View<Closing *, typename Space::memory_space> closing_;
  Words work_; ///< S_j and a_j
};

/// What a piece takes from its right-hand side in exact solves: its couplings times the unknowns that its lines' owners found.
template <class Space, class Scalar, int b>
struct FromOwners {
  OwnedArray<Scalar, Space> before, after; ///< couplings
  bool each;
  Kokkos::View<Index *, typename Space::memory_space> places;
  const EndWords<Scalar, b> *unknowns;

  KOKKOS_INLINE_FUNCTION EndWords<Scalar, b> operator()(Index line) const
  {
    const EndWords<Scalar, b> u = unknowns[places(line)];
    const Index k               = each ? line : 0;
    return {get_block<b>(before, k) * u.first, get_block<b>(after, k) * u.last};
  }
};

/// And where interfaces stand alone: so much of a neighbour's product and so much of its own.
template <class Space, class Scalar, int b>
struct FromNeighbours {
  struct Weights {
    Block<Scalar, b> before, own_first, after, own_last;
  };
  Kokkos::View<Weights *, typename Space::memory_space> weights;
  bool each, has_before, has_after;
  Kokkos::View<Index *, typename Space::memory_space> places;
  Kokkos::View<EndWords<Scalar, b> *, typename Space::memory_space> own;
  const BlockVector<Scalar, b> *from_before, *from_after; ///< not read where there is no such neighbour

  KOKKOS_INLINE_FUNCTION EndWords<Scalar, b> operator()(Index line) const
  {
    const Weights &w            = weights(each ? line : 0);
    const EndWords<Scalar, b> y = own(line);
    const Index place           = places(line);
    EndWords<Scalar, b> taken{w.own_first * y.first, w.own_last * y.last};
    if (has_before) taken.first = taken.first + w.before * from_before[place];
    if (has_after) taken.last = taken.last + w.after * from_after[place];
    return taken;
  }
};

} // namespace weft
