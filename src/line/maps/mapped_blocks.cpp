// MappedSolver of blocks.
#include <cmath>

#include "line/blocks/block_line_solver.hpp"
#include "line/host_copies.hpp"
#include "line/maps/line_arrays.hpp"
#include "line/maps/mapped_solver.hpp"

namespace weft {

namespace {

template <class Space, class Scalar, class Int>
std::unique_ptr<CsrCopy<Scalar, Int>> couplings_on(const Execution &execution, const Space &space, Index nodes, Index block,
                                                   const CsrMatrix<Scalar, Int> &matrix)
{
  const auto starts   = to_host(space, matrix.row_starts, nodes * block + 1);
  const Index entries = starts.back();
  const auto columns  = to_host(space, matrix.columns, entries);
  const auto values   = to_host(space, matrix.values, entries);
  std::vector<Int> node_starts{0}, node_columns;
  std::vector<Scalar> norms;
  std::vector<Index> place(static_cast<std::size_t>(nodes), -1); // of a column's norm, where it is this node's
  for (Index node = 0; node < nodes; node++) {
    const Index first = static_cast<Index>(norms.size());
    for (Int k = starts[static_cast<std::size_t>(node * block)]; k < starts[static_cast<std::size_t>((node + 1) * block)]; k++) {
      const Index column = static_cast<Index>(columns[static_cast<std::size_t>(k)]) / block;
      if (columns[static_cast<std::size_t>(k)] < 0 || column >= nodes) continue;
      Index &at = place[static_cast<std::size_t>(column)];
      if (at < first) {
        at = static_cast<Index>(norms.size());
        node_columns.push_back(static_cast<Int>(column));
        norms.push_back(0);
      }
      Scalar &norm = norms[static_cast<std::size_t>(at)];
      norm         = std::hypot(real_part(norm), modulus(values[static_cast<std::size_t>(k)]));
    }
    node_starts.push_back(static_cast<Int>(norms.size()));
  }
  CsrMatrix<Scalar, Int> graph;
  graph.row_starts = node_starts.data();
  graph.columns    = node_columns.data();
  graph.values     = norms.data();
  return std::make_unique<CsrCopy<Scalar, Int>>(execution, nodes, graph);
}

/// Fills the blocks that couple each node, in the order of the lines, to the one before it, to itself and to the one after it.
template <class Space, class Scalar, class Int>
void mapped_blocks_of_csr(const Space &space, const LineArrays<Space> &lines, Index block, const CsrMatrix<Scalar, Int> &matrix,
                          Scalar *lower, Scalar *diagonal, Scalar *upper)
{
  const auto nodes  = static_cast<Index>(lines.order.extent(0));
  const auto order  = lines.order;
  const auto begins = lines.begins;
  Kokkos::parallel_for(
      "weft blocks of mapped lines", Kokkos::RangePolicy<Space>(space, 0, nodes * block), KOKKOS_LAMBDA(const Index element) {
        const Index position = element / block, start = element * block; // of this row of the block
        const Index node = order(position), row = node * block + element % block;
        const Index before = begins(position) ? -1 : static_cast<Index>(order(position - 1));
        const Index after  = position + 1 == nodes || begins(position + 1) ? -1 : static_cast<Index>(order(position + 1));
        for (Index q = 0; q < block; q++) lower[start + q] = diagonal[start + q] = upper[start + q] = 0;
        for (Int k = matrix.row_starts[row]; k < matrix.row_starts[row + 1]; k++) {
          const Index column = matrix.columns[k], other = column / block, entry = start + column % block;
          if (column < 0) continue;
          if (other == node)
            diagonal[entry] = matrix.values[k];
          else if (other == before)
            lower[entry] = matrix.values[k];
          else if (other == after)
            upper[entry] = matrix.values[k];
        }
      });
}

LineLayout one_line_of_nodes(Index nodes, Index block)
{
  const Index box[3] = {nodes, 1, 1}, first[3] = {0, 0, 0};
  return lines_of_box(0, box, block, first);
}

/// Solves the blocks, wherever they are.
template <class Scalar>
class MappedBlocks : public MappedSolver<Scalar> {
public:
  const BlockLineSolver<Scalar> &solver() const { return *solver_; }
  void factor() override { solver_->factor(); }
  const char *method() const override { return solver_->method(); }
  double flops(Colour) const override { return solver_->flops(); }

protected:
  std::unique_ptr<BlockLineSolver<Scalar>> solver_;
};

template <class Space, class Scalar>
class MappedBlocksIn final : public MappedBlocks<Scalar> {
public:
  MappedBlocksIn(const Space &space, const LineMap &map, Index block, const std::string &method, const MethodParameters &parameters)
      : space_(space), map_(map), block_(block), size_(map.rows() * block * block),
        coefficients_("weft blocks", static_cast<std::size_t>(3 * size_)),
        work_("weft right-hand side of blocks", static_cast<std::size_t>(map.rows() * block))
  {
    solver_ = BlockLineSolver<Scalar>::make(map.execution(), one_line_of_nodes(map.rows(), block), method, parameters);
    solver_->use(at(0), at(1), at(2));
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix) override { read_csr(matrix); }
  void read(const MappedSolver<Scalar> &other) override { solver_->read(static_cast<const MappedBlocks<Scalar> &>(other).solver()); }
  std::optional<Index> bad_pivot() const override
  {
    const auto bad = solver_->bad_pivot();
    return bad ? std::optional(value_at(space_, lines().order, bad->row) * block_) : std::nullopt;
  }
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    SolveOptions<Scalar> plain;
    plain.transpose = options.transpose;
    for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld) {
      gather(rhs);
      solver_->solve(work_.data(), work_.data(), plain);
      scatter(solution, options.update);
    }
  }

  // Launches; public for nvcc.

  /// The right-hand side in the order of the lines.
  void gather(const Scalar *rhs) const
  {
    const auto order  = lines().order;
    const auto work   = work_;
    const Index block = block_;
    Kokkos::parallel_for(
        "weft gather blocks", Kokkos::RangePolicy<Space>(space_, 0, map_.rows() * block),
        KOKKOS_LAMBDA(const Index k) { work(k) = rhs[order(k / block) * block + k % block]; });
  }
  void scatter(Scalar *solution, const Update<Scalar> &update) const
  {
    const auto order  = lines().order;
    const auto work   = work_;
    const Index block = block_;
    Kokkos::parallel_for(
        "weft scatter blocks", Kokkos::RangePolicy<Space>(space_, 0, map_.rows() * block),
        KOKKOS_LAMBDA(const Index k) { put(solution[order(k / block) * block + k % block], update, work(k)); });
  }

private:
  using MappedBlocks<Scalar>::solver_;

  const LineArrays<Space> &lines() const { return arrays_of<Space>(map_.arrays()); }
  Scalar *at(int which) const { return coefficients_.data() + which * size_; }
  template <class Int>
  void read_csr(const CsrMatrix<Scalar, Int> &matrix)
  {
    mapped_blocks_of_csr(space_, lines(), block_, matrix, at(0), at(1), at(2));
    solver_->use(at(0), at(1), at(2));
  }

  Space space_;
  const LineMap &map_;
  Index block_, size_;
  OwnedArray<Scalar, Space> coefficients_; ///< lower, diagonal, upper
  OwnedArray<Scalar, Space> work_;
};

} // namespace

template <class Scalar, class Int>
std::unique_ptr<CsrCopy<Scalar, Int>> node_couplings(const Execution &execution, Index nodes, Index block,
                                                     const CsrMatrix<Scalar, Int> &matrix)
{
  return on_backend(execution, [&](const auto &space) { return couplings_on(execution, space, nodes, block, matrix); });
}

template <class Value>
Owner<MappedSolver<Value>> MappedSolver<Value>::blocks(const LineMap &nodes, Index block, const std::string &method,
                                                       const MethodParameters &parameters)
{
  return on_backend(nodes.execution(), [&](const auto &space) -> Owner<MappedSolver> {
    return make_owner<MappedBlocksIn<std::decay_t<decltype(space)>, Value>>(space, nodes, block, method, parameters);
  });
}

template Owner<MappedSolver<KernelScalar>> MappedSolver<KernelScalar>::blocks(const LineMap &, Index, const std::string &,
                                                                              const MethodParameters &);
template std::unique_ptr<CsrCopy<KernelScalar, std::int32_t>> node_couplings(const Execution &, Index, Index,
                                                                             const CsrMatrix<KernelScalar, std::int32_t> &);
template std::unique_ptr<CsrCopy<KernelScalar, std::int64_t>> node_couplings(const Execution &, Index, Index,
                                                                             const CsrMatrix<KernelScalar, std::int64_t> &);

} // namespace weft
