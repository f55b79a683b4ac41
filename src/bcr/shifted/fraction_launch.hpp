/// Which steps fraction_cuda.hpp takes, and its launches. Included by direct_solver.cpp only.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>

#include "base/native_forms.hpp"
#include "bcr/shifted/fraction_cuda.hpp"
#include "bcr/shifted/launch.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson::cuda {

template <class Scalar>
class NativeFractions {
public:
  /// Nothing is taken.
  NativeFractions() = default;
  /// Tables of a step on lines B + shift I of a grid of one plane.
  NativeFractions(const LineMatrix &line, const LineStep &step, const Grid &grid)
  {
    if (!native_forms.fractions || grid.planes != 1 || grid.line_stride != 1 || grid.length > Index(fraction_threads) * chunk_rows) return;
    const auto tables = fraction_tables(line, step, static_cast<double>(std::numeric_limits<Scalar>::min()));
    if (!tables) return;
    tail_      = tables->tail;
    records_   = upload<Scalar, Kokkos::Cuda>("weft poisson pole records", tables->poles);
    matrices_  = upload<Scalar, Kokkos::Cuda>("weft poisson chunk matrices", tables->matrices);
    matrix_of_ = upload<int, Kokkos::Cuda>("weft poisson matrices of groups", tables->matrix_of);
  }
  explicit operator bool() const { return records_.size() > 0; }
  std::size_t bytes() const { return (records_.size() + matrices_.size()) * sizeof(Scalar) + matrix_of_.size() * sizeof(int); }

  /// How many parts the poles of a group are split into: two blocks for every multiprocessor, two poles for a block.
  static int splits(const Kokkos::Cuda &space, const StepTables<Scalar> &step)
  {
    const Index blocks = 2 * space.cuda_device_prop().multiProcessorCount;
    return static_cast<int>(std::clamp<Index>(blocks / std::max<Index>(step.groups, 1), 1, std::max(1, step.most_poles / 2)));
  }

  /// The step; parts of split sums are left to be added.
  void launch(const Kokkos::Cuda &space, const LineArguments<Scalar> &a) const
  {
    if (a.step.groups == 0) return;
    if (a.step.sources == 1)
      tail_ ? launch<1, true>(space, a) : launch<1, false>(space, a);
    else
      tail_ ? launch<2, true>(space, a) : launch<2, false>(space, a);
  }

private:
  template <int S, bool tail>
  void launch(const Kokkos::Cuda &space, const LineArguments<Scalar> &a) const
  {
    const auto &step        = a.step;
    const Index in_warp     = Index(chunk_rows) * warp_chunks;
    const int threads       = static_cast<int>((a.rows.grid.length + in_warp - 1) / in_warp * warp_chunks);
    const auto kernel       = shifted_fractions<Scalar, S, tail>;
    const std::size_t bytes = fraction_shared<Scalar>(threads, S);
    const FractionArguments<Scalar> arguments{step.first_pole.data(),
                                              step.term_row.data(),
                                              step.output_row.data(),
                                              step.poles.data(),
                                              step.list.data(),
                                              matrix_of_.data(),
                                              step.term_factor.data(),
                                              records_.data(),
                                              matrices_.data(),
                                              a.rows.solution,
                                              a.rows.work,
                                              a.parts,
                                              a.rows.grid.rows,
                                              a.rows.grid.row_stride,
                                              static_cast<int>(a.rows.grid.length),
                                              step.splits};
    allow_shared(kernel, bytes);
    kernel<<<static_cast<unsigned>(step.groups * step.splits), threads, bytes, space.cuda_stream()>>>(arguments);
    check(cudaGetLastError(), "shifted fractions");
  }

  bool tail_ = false;
  OwnedArray<Scalar, Kokkos::Cuda> records_, matrices_;
  OwnedArray<int, Kokkos::Cuda> matrix_of_;
};

} // namespace weft::poisson::cuda
