/// LAPACK on the host, its lines shared out among the threads of the host backend. LAPACK knows no stride: strided lines are gathered and
/// the solutions scattered within the timed work, as its user would have to, by as many lines at once as share a cache line.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/backend.hpp"
#include "problem.hpp"

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
  void gather(const Scalar *from, Index first, Index count, Scalar *to) const
  {
    const Scalar *start = from + layout_.start(first);
    for (Index row = 0; row < length; row++)
      for (Index line = 0; line < count; line++) to[line * length + row] = start[row * layout_.stride + line];
  }
  void scatter(const Scalar *from, Index first, Index count, Scalar *to) const
  {
    Scalar *start = to + layout_.start(first);
    for (Index row = 0; row < length; row++)
      for (Index line = 0; line < count; line++) start[row * layout_.stride + line] = from[line * length + row];
  }

private:
  LineLayout layout_;
  Index width_, blocks_, threads_;
};

/// gtsv. It overwrites all it is given: contiguous lines are solved in place, and what was overwritten is brought back outside the timed
/// work, in LAPACK's favour.
template <class Scalar>
class LapackOneShot final : public SolveWork<HostBackend, Scalar> {
public:
  explicit LapackOneShot(const Problems<HostBackend, Scalar> &problems)
      : SolveWork<HostBackend, Scalar>(problems, problems.copies), general_(with_general_coefficients(HostBackend(), problems)),
        lines_(problems.lines.layout), lower_(lines_.scratch()), diagonal_(lines_.scratch()), upper_(lines_.scratch()),
        rhs_(lines_.scratch())
  {
    const Index size = lines_.contiguous ? problems.copies * problems.pitch : 0;
    for (Values *array : {&own_lower_, &own_diagonal_, &own_upper_}) *array = make_array<HostBackend, Scalar>(size);
  }
  bool in_place() const override { return lines_.contiguous; }
  void restore() override
  {
    if (!lines_.contiguous) return;
    Kokkos::deep_copy(own_lower_, general_.lower);
    Kokkos::deep_copy(own_diagonal_, general_.diagonal);
    Kokkos::deep_copy(own_upper_, general_.upper);
    Kokkos::deep_copy(general_.solution, general_.rhs);
  }

  void run(int copy) override
  {
    const auto solve_one = [&](Scalar *lower, Scalar *diagonal, Scalar *upper, Scalar *rhs) {
      const int n = static_cast<int>(lines_.length), one = 1;
      int info = 0; // a singular line would show as a wrong result
      Lapack<Scalar>::gtsv(&n, &one, lower + 1, diagonal, upper, rhs, &n, &info);
    };
    const auto &p = general_;
    lines_.for_each_block([&](Index first, Index count, std::size_t thread) {
      if (lines_.contiguous) {
        const Index row = first * lines_.length;
        solve_one(p.of(own_lower_, copy) + row, p.of(own_diagonal_, copy) + row, p.of(own_upper_, copy) + row,
                  p.of(p.solution, copy) + row);
        return;
      }
      Scalar *lower = lower_[thread].data(), *diagonal = diagonal_[thread].data(), *upper = upper_[thread].data();
      Scalar *rhs = rhs_[thread].data();
      lines_.gather(p.of(p.lower, copy), first, count, lower);
      lines_.gather(p.of(p.diagonal, copy), first, count, diagonal);
      lines_.gather(p.of(p.upper, copy), first, count, upper);
      lines_.gather(p.of(p.rhs, copy), first, count, rhs);
      for (Index row = 0; row < count * lines_.length; row += lines_.length) solve_one(lower + row, diagonal + row, upper + row, rhs + row);
      lines_.scatter(rhs, first, count, p.of(p.solution, copy));
    });
  }

private:
  using Values = typename LapackLines<Scalar>::Values;
  Problems<HostBackend, Scalar> general_;
  LapackLines<Scalar> lines_;
  std::vector<Values> lower_, diagonal_, upper_, rhs_; ///< of a block, for each thread
  Values own_lower_, own_diagonal_, own_upper_;        ///< what gtsv may overwrite
};

/// gttrs with the factors that gttrf made before; these lie in contiguous lines whatever the layout. Lines with the same coefficients share
/// one set of factors. gttrs overwrites the right-hand side: see gtsv above.
template <class Scalar>
class LapackSolve final : public SolveWork<HostBackend, Scalar> {
public:
  explicit LapackSolve(const Problems<HostBackend, Scalar> &problems)
      : SolveWork<HostBackend, Scalar>(problems, problems.copies), lines_(problems.lines.layout),
        each_(problems.lines.coefficients == Coefficients::general), rhs_(lines_.scratch())
  {
    const Index size = each_ ? problems.copies * problems.pitch : lines_.length;
    for (Values *array : {&lower_, &diagonal_, &upper_, &second_upper_}) *array = make_array<HostBackend, Scalar>(size);
    pivots_ = make_array<HostBackend, int>(size);
    if (each_) {
      for (int copy = 0; copy < problems.copies; copy++) factor(copy);
      return;
    }
    for (Index row = 0; row < lines_.length; row++) {
      const Index k  = problems.lines.coefficient(row, row);
      lower_(row)    = problems.lower(k);
      diagonal_(row) = problems.diagonal(k);
      upper_(row)    = problems.upper(k);
    }
    factor_line(0);
  }
  bool in_place() const override { return lines_.contiguous; }
  void restore() override
  {
    if (lines_.contiguous) Kokkos::deep_copy(this->problems_.solution, this->problems_.rhs);
  }

  void run(int copy) override
  {
    const auto &p        = this->problems_;
    const auto solve_one = [&](Index line, Scalar *rhs) {
      const int n = static_cast<int>(lines_.length), one = 1;
      const Index row = each_ ? copy * p.pitch + line * lines_.length : 0;
      int info        = 0;
      Lapack<Scalar>::gttrs("N", &n, &one, &lower_(row) + 1, &diagonal_(row), &upper_(row), &second_upper_(row), &pivots_(row), rhs, &n,
                            &info, 1);
    };
    lines_.for_each_block([&](Index first, Index count, std::size_t thread) {
      if (lines_.contiguous) {
        solve_one(first, p.of(p.solution, copy) + first * lines_.length);
        return;
      }
      Scalar *rhs = rhs_[thread].data();
      lines_.gather(p.of(p.rhs, copy), first, count, rhs);
      for (Index line = 0; line < count; line++) solve_one(first + line, rhs + line * lines_.length);
      lines_.scatter(rhs, first, count, p.of(p.solution, copy));
    });
  }

private:
  using Values = typename LapackLines<Scalar>::Values;
  void factor(int copy) const
  {
    const auto &p = this->problems_;
    lines_.for_each_block([&](Index first, Index count, std::size_t) {
      const Index begin = copy * p.pitch + first * lines_.length;
      lines_.gather(p.of(p.lower, copy), first, count, &lower_(begin));
      lines_.gather(p.of(p.diagonal, copy), first, count, &diagonal_(begin));
      lines_.gather(p.of(p.upper, copy), first, count, &upper_(begin));
      for (Index line = 0; line < count; line++) factor_line(begin + line * lines_.length);
    });
  }
  /// The line whose row 0 is element `row`.
  void factor_line(Index row) const
  {
    const int n = static_cast<int>(lines_.length);
    int info    = 0;
    Lapack<Scalar>::gttrf(&n, &lower_(row) + 1, &diagonal_(row), &upper_(row), &second_upper_(row), &pivots_(row), &info);
  }

  LapackLines<Scalar> lines_;
  bool each_;                                      ///< each line has factors of its own
  std::vector<Values> rhs_;                        ///< of a block, for each thread
  Values lower_, diagonal_, upper_, second_upper_; ///< the factors
  OwnedArray<int, HostBackend> pivots_;
};

template <class Scalar>
std::unique_ptr<Work> make_rival(const Problems<HostBackend, Scalar> &problems, const std::string &name)
{
  if (name == "lapack:gtsv") return std::make_unique<LapackOneShot<Scalar>>(problems);
  if (name == "lapack:gttrs") return std::make_unique<LapackSolve<Scalar>>(problems);
  throw std::runtime_error("no library function is called " + name);
}

inline std::string lapack_version()
{
  int major = 0, minor = 0, patch = 0;
  ilaver_(&major, &minor, &patch);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

} // namespace weft::bench
