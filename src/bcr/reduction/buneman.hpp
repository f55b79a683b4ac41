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

struct BunemanLevels {
  static std::optional<std::string> refuses(const char *name, const RowProblem &problem, const DirectOptions &options)
  {
    if (options.inverse != "fractions" && options.inverse != "leja")
      return "the inverse of " + std::string(name) + " is 'fractions' or 'leja', not '" + options.inverse + "'";
    return halving_refused(name, problem.block);
  }

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
};

struct Buneman1 {
  static constexpr const char *name = "buneman1";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &options)
  {
    return BunemanLevels::refuses(name, problem, options);
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &options)
  {
    const Halving halving(problem.block);
    const Rows rows{halving.rows, problem.block.n};
    Schedule schedule = halving.schedule(problem);
    int last          = halving.last;
    for (int k = 0; k < last; k++) {
      const Index h = Index(1) << k;
      LineStep step = BunemanLevels::inverse(k, {-1, 2}, options);
      halving.for_each_kept(k, [&](Index j) {
        Combination rhs, kept;
        for (Index neighbour : {j - h, j + h}) {
          rows.add_p(rhs, neighbour, k, 1);
          rows.add_q(kept, neighbour, 1);
        }
        rows.add_q(rhs, j, -1);
        rows.add_p(kept, j, k, -2);
        Combination p;
        rows.add_p(p, j, k, 1);
        step.groups.push_back({0, static_cast<int>(h), {rhs}, {{rows.p(j), p}, {rows.q(j), kept}}});
      });
      schedule.steps.push_back(std::move(step));
    }
    if (halving.pair()) {
      const Index n = Index(1) << last, p0 = rows.p(0), pn = rows.p(n), q0 = rows.q(0), qn = rows.q(n);
      if (last == 0) { // p is 0 and its rows not yet written
        schedule.steps.push_back(pair_sums(q0, qn, 1));
        schedule.steps.push_back(pair_solve(last--, {{{q0, 1}}, {{qn, 1}}}, {{q0, {}}, {qn, {}}}));
      } else {
        schedule.steps.push_back(pair_sums(p0, pn, 1));
        schedule.steps.push_back(pair_sums(q0, qn, 1));
        schedule.steps.push_back(pair_solve(last--, {{{q0, 1}, {p0, -2}}, {{qn, 1}, {pn, 2}}}, {{q0, {{p0, 1}}}, {qn, {{pn, 1}}}}));
      }
      schedule.steps.push_back(pair_sums(q0, qn, 0.5));
    }
    for (int k = last; k >= 0; k--) {
      const Index h = Index(1) << k;
      LineStep step = BunemanLevels::inverse(k, {1}, options);
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
    Index p(Index j) const { return n + line.row(j); }
    void add_q(Combination &sum, Index j, double factor) const { add(sum, q(j), factor); }
    /// p_j of level 0 is 0 and has not been written.
    void add_p(Combination &sum, Index j, int k, double factor) const
    {
      if (k > 0 && q(j) >= 0) add(sum, p(j), factor);
    }
  };
};

struct Buneman2 {
  static constexpr const char *name = "buneman2";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &options)
  {
    return BunemanLevels::refuses(name, problem, options);
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &options)
  {
    const Halving halving(problem.block);
    const ConstantLine &rows = halving.rows;
    Schedule schedule        = halving.schedule(problem);
    int last                 = halving.last;
    for (int k = 0; k < last; k++) {
      const Index h = Index(1) << k;
      LineStep step = BunemanLevels::inverse(k, {2}, options);
      halving.for_each_kept(k, [&](Index j) {
        Combination rhs, kept;
        for (Index neighbour : {j - h, j + h}) {
          add_p(rhs, rows, neighbour, k, 1);
          add(kept, rows.row(neighbour), 1);
        }
        add(rhs, rows.row(j), -1);
        add_p(kept, rows, j, k, -2);
        step.groups.push_back({0, static_cast<int>(h), {rhs}, {{rows.row(j), kept}}});
      });
      schedule.steps.push_back(std::move(step));
    }
    if (halving.pair()) {
      const Index n = Index(1) << last, q0 = rows.row(0), qn = rows.row(n), sum = problem.block.n, difference = sum + 1;
      Combination p0, pn;
      add_p(p0, rows, 0, last, 1);
      add_p(pn, rows, n, last, 1);
      LineStep take_p; // to the work array, since q_0 and q_n are about to change
      take_p.sources = 0;
      take_p.outputs = 2;
      take_p.groups.push_back({0, 0, {}, {{sum, p0}, {difference, pn}}});
      schedule.steps.push_back(std::move(take_p));
      schedule.steps.push_back(pair_sums(sum, difference, 1));
      schedule.steps.push_back(pair_sums(q0, qn, 1));
      schedule.steps.push_back(
          pair_solve(last--, {{{q0, 1}, {sum, -2}}, {{qn, 1}, {difference, 2}}}, {{q0, {{sum, 1}}}, {qn, {{difference, 1}}}}));
      schedule.steps.push_back(pair_sums(q0, qn, 0.5));
    }
    for (int k = last; k >= 0; k--) {
      const Index h = Index(1) << k;
      LineStep step = BunemanLevels::inverse(k, {1}, options);
      halving.for_each_eliminated(k, [&](Index j) {
        Combination rhs{{rows.row(j), 1}}, kept;
        for (Index neighbour : {j - h, j + h}) add(rhs, rows.row(neighbour), -1);
        add_p(kept, rows, j, k, 1);
        step.groups.push_back({0, static_cast<int>(h), {rhs}, {{rows.row(j), kept}}});
      });
      schedule.steps.push_back(std::move(step));
    }
    return schedule;
  }

private:
  static void add_p(Combination &sum, const ConstantLine &rows, Index j, int k, double factor)
  {
    if (k == 0 || rows.row(j) < 0) return;
    const Index g = Index(1) << (k - 1);
    add(sum, rows.row(j - g), factor / 2);
    add(sum, rows.row(j + g), factor / 2);
    add(sum, rows.row(j), -factor / 2);
  }
};

} // namespace weft::poisson
