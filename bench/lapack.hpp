/// LAPACK on the host, its lines shared out among the threads of the host backend. LAPACK knows no stride: strided lines are gathered and
/// the solutions scattered within the timed work, as its user would have to, by as many lines at once as share a cache line.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "backend.hpp"
#include "methods.hpp"

extern "C" {
void dgtsv_(const int *n, const int *nrhs, double *dl, double *d, double *du, double *b, const int *ldb, int *info);
void sgtsv_(const int *n, const int *nrhs, float *dl, float *d, float *du, float *b, const int *ldb, int *info);
void dgttrf_(const int *n, double *dl, double *d, double *du, double *du2, int *ipiv, int *info);
void sgttrf_(const int *n, float *dl, float *d, float *du, float *du2, int *ipiv, int *info);
// Fortran passes the length of the text `trans` last.
void dgttrs_(const char *trans, const int *n, const int *nrhs, const double *dl, const double *d, const double *du, const double *du2,
             const int *ipiv, double *b, const int *ldb, int *info, std::size_t length);
void sgttrs_(const char *trans, const int *n, const int *nrhs, const float *dl, const float *d, const float *du, const float *du2,
             const int *ipiv, float *b, const int *ldb, int *info, std::size_t length);
void ilaver_(int *major, int *minor, int *patch);
}

namespace weft::bench {

template <class Scalar>
struct Lapack;
template <>
struct Lapack<double> {
  static constexpr auto gtsv  = dgtsv_;
  static constexpr auto gttrf = dgttrf_;
  static constexpr auto gttrs = dgttrs_;
};
template <>
struct Lapack<float> {
  static constexpr auto gtsv  = sgtsv_;
  static constexpr auto gttrf = sgttrf_;
  static constexpr auto gttrs = sgttrs_;
};

/// The lines of a problem in blocks that one thread solves at a time: a contiguous line, or strided ones that share cache lines.
template <class Scalar>
class LapackLines {
public:
  using Values = OwnedArray<Scalar, HostBackend>;

  explicit LapackLines(const LineLayout &layout)
      : contiguous(layout.stride == 1), length(layout.length), layout_(layout), width_(contiguous ? 1 : Index(64 / sizeof(Scalar))),
        blocks_((layout.count() + width_ - 1) / width_), threads_(std::min<Index>(HostBackend().concurrency(), blocks_))
  {
  }

  const bool contiguous;
  const Index length;

  /// Scratch arrays for one block, for each thread its own.
  std::vector<Values> scratch() const
  {
    std::vector<Values> arrays(static_cast<std::size_t>(threads_));
    for (Values &array : arrays) array = make_array<HostBackend, Scalar>(width_ * length);
    return arrays;
  }

  /// body(first line, number of lines, thread) for all blocks, on all threads.
  template <class Body>
  void for_each_block(const Body &body) const
  {
    Kokkos::parallel_for("weft bench lapack", Kokkos::RangePolicy<HostBackend>(0, threads_), [&](const Index thread) {
      for (Index block = blocks_ * thread / threads_; block < blocks_ * (thread + 1) / threads_; block++) {
        const Index first = block * width_;
        body(first, std::min(width_, layout_.count() - first), static_cast<std::size_t>(thread));
      }
    });
  }

  /// Copies a block into contiguous lines, and back.
  void gather(const Values &from, Index first, Index count, Scalar *to) const
  {
    const Scalar *start = from.data() + layout_.start(first);
    for (Index row = 0; row < length; row++)
      for (Index line = 0; line < count; line++) to[line * length + row] = start[row * layout_.stride + line];
  }
  void scatter(const Scalar *from, Index first, Index count, const Values &to) const
  {
    Scalar *start = to.data() + layout_.start(first);
    for (Index row = 0; row < length; row++)
      for (Index line = 0; line < count; line++) start[row * layout_.stride + line] = from[line * length + row];
  }

private:
  LineLayout layout_;
  Index width_, blocks_, threads_;
};

/// How many problems of a layout LAPACK takes in turn.
template <class Scalar>
int lapack_copies(const LineLayout &layout)
{
  return copies_beyond_cache<HostBackend>(Problem<HostBackend, Scalar>::words * Index(sizeof(Scalar)) * layout.rows());
}

/// gtsv. It overwrites all it is given: contiguous lines are solved in place, and what was overwritten is brought back outside the timed
/// work, in LAPACK's favour.
template <class Scalar>
class LapackOneShot final : public Work {
public:
  explicit LapackOneShot(const LineLayout &layout)
      : lines_(layout), lower_(lines_.scratch()), diagonal_(lines_.scratch()), upper_(lines_.scratch()), rhs_(lines_.scratch())
  {
    const auto array = [&] { return make_array<HostBackend, Scalar>(lines_.contiguous ? layout.rows() : 0); };
    for (int seed = 0; seed < lapack_copies<Scalar>(layout); seed++)
      copies_.push_back({make_problem<HostBackend, Scalar>(HostBackend(), layout, seed), array(), array(), array()});
  }

  int copies() const override { return static_cast<int>(copies_.size()); }

  void restore() override
  {
    if (!lines_.contiguous) return;
    for (const Copy &at : copies_) {
      Kokkos::deep_copy(at.lower, at.problem.lower);
      Kokkos::deep_copy(at.diagonal, at.problem.diagonal);
      Kokkos::deep_copy(at.upper, at.problem.upper);
      Kokkos::deep_copy(at.problem.solution, at.problem.rhs);
    }
  }

  void run(int copy) override
  {
    const Copy &at       = copies_[copy];
    const auto &problem  = at.problem;
    const auto solve_one = [&](Scalar *lower, Scalar *diagonal, Scalar *upper, Scalar *rhs) {
      const int n = static_cast<int>(lines_.length), one = 1;
      int info = 0; // a singular line would show as a wrong result
      Lapack<Scalar>::gtsv(&n, &one, lower + 1, diagonal, upper, rhs, &n, &info);
    };
    lines_.for_each_block([&](Index first, Index count, std::size_t thread) {
      if (lines_.contiguous) {
        const Index row = first * lines_.length;
        solve_one(at.lower.data() + row, at.diagonal.data() + row, at.upper.data() + row, problem.solution.data() + row);
        return;
      }
      Scalar *lower = lower_[thread].data(), *diagonal = diagonal_[thread].data(), *upper = upper_[thread].data();
      Scalar *rhs = rhs_[thread].data();
      lines_.gather(problem.lower, first, count, lower);
      lines_.gather(problem.diagonal, first, count, diagonal);
      lines_.gather(problem.upper, first, count, upper);
      lines_.gather(problem.rhs, first, count, rhs);
      for (Index row = 0; row < count * lines_.length; row += lines_.length) solve_one(lower + row, diagonal + row, upper + row, rhs + row);
      lines_.scatter(rhs, first, count, problem.solution);
    });
  }

  double error(int copy) override { return largest_residual(HostBackend(), copies_[copy].problem); }

private:
  using Values = typename LapackLines<Scalar>::Values;
  struct Copy {
    Problem<HostBackend, Scalar> problem;
    Values lower, diagonal, upper; ///< what gtsv may overwrite
  };
  LapackLines<Scalar> lines_;
  std::vector<Values> lower_, diagonal_, upper_, rhs_; ///< of a block, for each thread
  std::vector<Copy> copies_;
};

/// gttrs with the factors that gttrf made before; these lie in contiguous lines whatever the layout. gttrs overwrites the right-hand side:
/// see gtsv above.
template <class Scalar>
class LapackSolve final : public Work {
public:
  explicit LapackSolve(const LineLayout &layout) : lines_(layout), rhs_(lines_.scratch())
  {
    const auto array = [&] { return make_array<HostBackend, Scalar>(layout.rows()); };
    for (int seed = 0; seed < lapack_copies<Scalar>(layout); seed++) {
      copies_.push_back({make_problem<HostBackend, Scalar>(HostBackend(), layout, seed), array(), array(), array(), array(),
                         make_array<HostBackend, int>(layout.rows())});
      factor(copies_.back());
    }
  }

  int copies() const override { return static_cast<int>(copies_.size()); }

  void restore() override
  {
    if (!lines_.contiguous) return;
    for (const Copy &at : copies_) Kokkos::deep_copy(at.problem.solution, at.problem.rhs);
  }

  void run(int copy) override
  {
    const Copy &at       = copies_[copy];
    const auto solve_one = [&](Index line, Scalar *rhs) {
      const int n = static_cast<int>(lines_.length), one = 1;
      const Index row = line * lines_.length;
      int info        = 0;
      Lapack<Scalar>::gttrs("N", &n, &one, at.lower.data() + row + 1, at.diagonal.data() + row, at.upper.data() + row,
                            at.second_upper.data() + row, at.pivots.data() + row, rhs, &n, &info, 1);
    };
    lines_.for_each_block([&](Index first, Index count, std::size_t thread) {
      if (lines_.contiguous) {
        solve_one(first, at.problem.solution.data() + first * lines_.length);
        return;
      }
      Scalar *rhs = rhs_[thread].data();
      lines_.gather(at.problem.rhs, first, count, rhs);
      for (Index line = 0; line < count; line++) solve_one(first + line, rhs + line * lines_.length);
      lines_.scatter(rhs, first, count, at.problem.solution);
    });
  }

  double error(int copy) override { return largest_residual(HostBackend(), copies_[copy].problem); }

private:
  using Values = typename LapackLines<Scalar>::Values;
  struct Copy {
    Problem<HostBackend, Scalar> problem;
    Values lower, diagonal, upper, second_upper; ///< the factors
    OwnedArray<int, HostBackend> pivots;
  };

  void factor(const Copy &at) const
  {
    const int n = static_cast<int>(lines_.length);
    lines_.for_each_block([&](Index first, Index count, std::size_t) {
      const Index begin = first * n;
      lines_.gather(at.problem.lower, first, count, at.lower.data() + begin);
      lines_.gather(at.problem.diagonal, first, count, at.diagonal.data() + begin);
      lines_.gather(at.problem.upper, first, count, at.upper.data() + begin);
      for (Index row = begin; row < begin + count * n; row += n) {
        int info = 0;
        Lapack<Scalar>::gttrf(&n, at.lower.data() + row + 1, at.diagonal.data() + row, at.upper.data() + row, at.second_upper.data() + row,
                              at.pivots.data() + row, &info);
      }
    });
  }

  LapackLines<Scalar> lines_;
  std::vector<Values> rhs_; ///< of a block, for each thread
  std::vector<Copy> copies_;
};

inline std::string lapack_version()
{
  int major = 0, minor = 0, patch = 0;
  ilaver_(&major, &minor, &patch);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

} // namespace weft::bench
