/// The copy that everything is measured by, and the methods of select.hpp.
#pragma once
#include <vector>

#include "problem.hpp"
#include "tridiagonal/select.hpp"

namespace weft::bench {

/// b = a: two words a row, the bandwidth that a simple kernel gets.
template <class Space, class Scalar>
class CopyWork final : public Work {
public:
  static constexpr int words = 2; ///< of a row

  explicit CopyWork(Index rows)
  {
    pairs_.resize(static_cast<std::size_t>(copies_beyond_cache<Space>(words * Index(sizeof(Scalar)) * rows)));
    for (Pair &pair : pairs_) {
      pair = {make_array<Space, Scalar>(rows), make_array<Space, Scalar>(rows)};
      fill(space_, pair.from, pair.to);
    }
  }
  int copies() const override { return static_cast<int>(pairs_.size()); }
  void run(int copy) override { copy_array(space_, pairs_[copy].from, pairs_[copy].to); }
  double error(int copy) override { return differences(space_, pairs_[copy].from, pairs_[copy].to); }

  using Values = OwnedArray<Scalar, Space>;
  static void fill(const Space &space, const Values &from, const Values &to)
  {
    Kokkos::parallel_for(
        "weft bench fill", Kokkos::RangePolicy<Space>(space, 0, from.extent(0)), KOKKOS_LAMBDA(const Index i) {
          from(i) = static_cast<Scalar>(random_value(static_cast<std::uint64_t>(i)));
          to(i)   = 2; // which no random value is
        });
  }
  static void copy_array(const Space &space, const Values &from, const Values &to)
  {
    Kokkos::parallel_for(
        "weft bench copy", Kokkos::RangePolicy<Space>(space, 0, from.extent(0)), KOKKOS_LAMBDA(const Index i) { to(i) = from(i); });
  }
  static double differences(const Space &space, const Values &from, const Values &to)
  {
    double count = 0;
    Kokkos::parallel_reduce(
        "weft bench compare", Kokkos::RangePolicy<Space>(space, 0, from.extent(0)),
        KOKKOS_LAMBDA(const Index i, double &sum) { sum += from(i) == to(i) ? 0 : 1; }, count);
    return count;
  }

private:
  struct Pair {
    Values from, to;
  };
  Space space_;
  std::vector<Pair> pairs_;
};

enum class Operation { one_shot, solve };

/// One method: factor and solve, or solve with the factors of before. Each copy has a plan of its own, as the factors are inputs too.
template <class Method, class Space, class Scalar>
class MethodWork final : public Work {
public:
  MethodWork(const LineLayout &layout, Operation operation) : operation_(operation)
  {
    const int count = copies_beyond_cache<Space>(Problem<Space, Scalar>::words * Index(sizeof(Scalar)) * layout.rows());
    for (int copy = 0; copy < count; copy++) {
      copies_.push_back({make_problem<Space, Scalar>(space_, layout, copy), Method::template plan<Space, Scalar>(layout)});
      factor(copies_.back());
      if (copies_.back().plan.flag.read(space_)) throw std::runtime_error(std::string(Method::name) + " finds a pivot unusable");
    }
  }
  int copies() const override { return static_cast<int>(copies_.size()); }
  void run(int copy) override
  {
    const Copy &at = copies_[copy];
    if (operation_ == Operation::one_shot) factor(at);
    Method::solve(space_, at.plan, Array<Scalar, Space>(at.problem.rhs), Array<Scalar, Space>(at.problem.solution), SolveOptions<Scalar>());
  }
  double error(int copy) override { return largest_residual(space_, copies_[copy].problem); }

private:
  struct Copy {
    Problem<Space, Scalar> problem;
    typename Method::template Plan<Space, Scalar> plan;
  };
  void factor(const Copy &at) const
  {
    const auto &problem = at.problem;
    Method::factor(space_, at.plan, Tridiagonal<Scalar, Space>{problem.lower, problem.diagonal, problem.upper});
  }

  Operation operation_;
  Space space_;
  std::vector<Copy> copies_;
};

} // namespace weft::bench
