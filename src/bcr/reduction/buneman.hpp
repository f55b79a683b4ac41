/// Buneman's stable forms of block cyclic reduction, in place (Buzbee, Golub, Nielson, SIAM J. Numer. Anal. 7 (1970) 627).
/// With F_j^(k) = B^(k) p_j + q_j, level k, h = 2^k:
///
///   forward   p_j <- p_j - [B^(k)]^-1 (p_{j-h} + p_{j+h} - q_j),   q_j <- q_{j-h} + q_{j+h} - 2 p_j,    j = 2h, 4h, ...
///   backward  U_j = p_j + [B^(k)]^-1 (q_j - U_{j-h} - U_{j+h}),                                       j = h, 3h, ...
///
/// Variant 1 keeps p in the work array. Variant 2 takes it from q: p_j^(k) = (q_{j-h/2}^(k-1) + q_{j+h/2}^(k-1) - q_j^(k)) / 2, all of
/// which are still in place.
/// [B^(k)]^-1 is a sum of partial fractions, or the product of factors in Leja order. (In natural order partial products leave the range of
/// the numbers like exp(0.65 2^k): N = 511 in float, 4095 in double.)
/// Neumann and periodic rows end with two rows, B^(k) U_0 + 2 U_n = F_0 and its mirror image; their sum and difference have B^(k) + 2 and
/// B^(k) - 2, whose roots are double and which partial fractions do not fit: these two are always products.
#pragma once
#include "bcr/reduction/constant_method.hpp"

namespace weft::poisson {

/// Variant 1, with rows for p, or 2.
template <bool keeps_p>
struct Buneman {
  static constexpr const char *name = keeps_p ? "buneman1" : "buneman2";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &options)
  {
    if (options.inverse != "fractions" && options.inverse != "leja")
      return "the inverse of " + std::string(name) + " is 'fractions' or 'leja', not '" + options.inverse + "'";
    return halving_refused(name, problem.block);
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &options)
  {
    const Halving halving(problem.block);
    const Rows rows{halving.rows, problem.block.n};
    Schedule schedule = halving.schedule(problem);
    int last          = halving.last;
    for (int k = 0; k < last; k++) {
      const Index h = Index(1) << k;
      LineStep step = inverse(k, keeps_p ? std::vector<double>{-1, 2} : std::vector<double>{2}, options);
      halving.for_each_kept(k, [&](Index j) {
        Combination rhs, kept, p;
        for (Index neighbour : {j - h, j + h}) {
          rows.add_p(rhs, neighbour, k, 1);
          rows.add_q(kept, neighbour, 1);
        }
        rows.add_q(rhs, j, -1);
        rows.add_p(kept, j, k, -2);
        rows.add_p(p, j, k, 1);
        std::vector<LineStep::Output> outputs{{rows.q(j), kept}};
        if (keeps_p) outputs.insert(outputs.begin(), {rows.p(j), p});
        step.groups.push_back({0, static_cast<int>(h), {rhs}, outputs});
      });
      schedule.steps.push_back(std::move(step));
    }
    if (halving.pair()) add_pair(schedule, rows, last--);
    for (int k = last; k >= 0; k--) {
      const Index h = Index(1) << k;
      LineStep step = inverse(k, {1}, options);
      halving.for_each_eliminated(k, [&](Index j) {
        Combination rhs, p;
        rows.add_q(rhs, j, 1);
        for (Index neighbour : {j - h, j + h}) rows.add_q(rhs, neighbour, -1);
        rows.add_p(p, j, k, 1);
        step.groups.push_back({0, static_cast<int>(h), {rhs}, {{rows.q(j), p}}}); // U_j takes the place of q_j
      });
      schedule.steps.push_back(std::move(step));
    }
    return schedule;
  }

private:
  struct Rows {
    ConstantLine line;
    Index n;

    Index q(Index j) const { return line.row(j); }
    Index p(Index j) const { return n + line.row(j); } ///< variant 1
    void add_q(Combination &sum, Index j, double factor) const { add(sum, q(j), factor); }
    /// p_j of level 0 is 0 and has not been written.
    void add_p(Combination &sum, Index j, int k, double factor) const
    {
      if (k == 0 || q(j) < 0) return;
      if (keeps_p) {
        add(sum, p(j), factor);
        return;
      }
      const Index g = Index(1) << (k - 1);
      add_q(sum, j - g, factor / 2);
      add_q(sum, j + g, factor / 2);
      add_q(sum, j, -factor / 2);
    }
  };

  /// A step that works with weight_d [B^(k)]^-1 source.
  static LineStep inverse(int k, const std::vector<double> &weights, const DirectOptions &options)
  {
    const Index n = Index(1) << k;
    LineStep step;
    step.outputs = static_cast<int>(weights.size());
    if (options.inverse == "leja") {
      step.kind = Lines::solves;
      std::vector<double> roots, out;
      for (Index l = 1; l <= n; l++) roots.push_back(chebyshev_root(l, n));
      for (double w : weights) out.push_back(sign_of_level(k) * w);
      for (double root : leja_order(roots)) step.add_pole(root, {1}, out);
    } else {
      for (Index l = 1; l <= n; l++) step.add_pole(chebyshev_root(l, n), {fraction_weight(k, l)}, weights);
    }
    return step;
  }

  /// The two rows left.
  static void add_pair(Schedule &schedule, const Rows &rows, int level)
  {
    const Index n = Index(1) << level, q0 = rows.q(0), qn = rows.q(n);
    const Index p0 = keeps_p ? rows.p(0) : rows.n, pn = keeps_p ? rows.p(n) : rows.n + 1;
    if (!keeps_p) { // to the work array, since q_0 and q_n are about to change
      LineStep take_p;
      take_p.sources = 0;
      take_p.outputs = 2;
      take_p.groups.push_back({0, 0, {}, {{p0, {}}, {pn, {}}}});
      rows.add_p(take_p.groups[0].outputs[0].kept, 0, level, 1);
      rows.add_p(take_p.groups[0].outputs[1].kept, n, level, 1);
      schedule.steps.push_back(std::move(take_p));
    }
    const bool written = !keeps_p || level > 0;
    if (written) schedule.steps.push_back(pair_sums(p0, pn, 1));
    schedule.steps.push_back(pair_sums(q0, qn, 1));
    schedule.steps.push_back(written ? pair_solve(level, {{{q0, 1}, {p0, -2}}, {{qn, 1}, {pn, 2}}}, {{q0, {{p0, 1}}}, {qn, {{pn, 1}}}})
                                     : pair_solve(level, {{{q0, 1}}, {{qn, 1}}}, {{q0, {}}, {qn, {}}}));
    schedule.steps.push_back(pair_sums(q0, qn, 0.5));
  }
};

using Buneman1 = Buneman<true>;
using Buneman2 = Buneman<false>;

} // namespace weft::poisson
