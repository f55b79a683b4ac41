/// BlockMethodModel: the LineModel of a method for one block size. Included by METHOD.cpp only.
#pragma once
#include "base/backend.hpp"
#include "line/blocks/block_csr.hpp"
#include "line/blocks/block_model.hpp"
#include "line/blocks/block_tridiagonal.hpp"

namespace weft {

template <class Method, class Space, class Scalar, int b>
class BlockMethodModel final : public LineModel<Scalar> {
public:
  using Base             = LineModel<Scalar>;
  using HostCoefficients = typename Base::HostCoefficients;
  using Pointers         = typename Base::Pointers;
  using Values           = Array<Scalar, Space>;

  BlockMethodModel(const Space &space, const BlockLines &lines, const MethodParameters &parameters, Transpose transpose)
      : space_(space), plan_(Method::template plan<Space, Scalar, b>(lines, parameters))
  {
    matrix_.lines      = lines;
    matrix_.transposed = transpose == Transpose::yes;
  }

  void read(const CsrMatrix<Scalar, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<Scalar, std::int64_t> &matrix) override { read_csr(matrix); }
  void read(const HostCoefficients &from) override
  {
    own();
    Kokkos::deep_copy(space_, owned_[0], from.lower);
    Kokkos::deep_copy(space_, owned_[1], from.diagonal);
    Kokkos::deep_copy(space_, owned_[2], from.upper);
    space_.fence("weft: read the blocks");
  }
  HostCoefficients host_coefficients() const override
  {
    const auto to_host = [&](const auto &array) {
      typename Base::Host host("weft blocks", array.extent(0));
      Kokkos::deep_copy(space_, host, array);
      return host;
    };
    const HostCoefficients host{to_host(matrix_.lower), to_host(matrix_.diagonal), to_host(matrix_.upper)};
    space_.fence("weft: write the blocks");
    return host;
  }

  void use(const Pointers &p) override
  {
    const auto size  = static_cast<std::size_t>(matrix_.lines.coefficient_size());
    matrix_.lower    = Array<const Scalar, Space>(p.lower, size);
    matrix_.diagonal = Array<const Scalar, Space>(p.diagonal, size);
    matrix_.upper    = Array<const Scalar, Space>(p.upper, size);
  }
  Pointers pointers() const override { return {matrix_.lower.data(), matrix_.diagonal.data(), matrix_.upper.data()}; }

  void factor() override { Method::factor(space_, plan_, matrix_); }
  std::optional<LineRow> bad_pivot() const override { return plan_.flag.read(space_); }

  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const override
  {
    const auto span = static_cast<std::size_t>(matrix_.lines.layout.span());
    for (int k = 0; k < options.nrhs; k++)
      Method::solve(space_, plan_, Values(rhs + k * options.ld, span), Values(solution + k * options.ld, span), options);
  }
  void solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override
  {
    if constexpr (requires(Values x) { Method::solve_once(space_, plan_, matrix_, x, x, options); }) {
      if (options.nrhs == 1) {
        const auto span = static_cast<std::size_t>(matrix_.lines.layout.span());
        Method::solve_once(space_, plan_, matrix_, Values(rhs, span), Values(solution, span), options);
        return;
      }
    }
    factor();
    solve(rhs, solution, options);
  }

private:
  void own()
  {
    const Index size = matrix_.lines.coefficient_size();
    for (auto &array : owned_) {
      if (static_cast<Index>(array.extent(0)) != size) array = OwnedArray<Scalar, Space>("weft blocks", static_cast<std::size_t>(size));
    }
    use({owned_[0].data(), owned_[1].data(), owned_[2].data()});
  }
  template <class Int>
  void read_csr(const CsrMatrix<Scalar, Int> &matrix)
  {
    own();
    block_tridiagonal_of_csr(space_, matrix_.lines, matrix, owned_[0], owned_[1], owned_[2]);
  }

  Space space_;
  typename Method::template Plan<Space, Scalar, b> plan_;
  OwnedArray<Scalar, Space> owned_[3]; ///< empty where the caller owns the blocks
  BlockTridiagonal<Scalar, Space, b> matrix_;
};

/// Goes down from the largest block to that of the lines.
template <class Method, class Scalar, int b = BlockLines::largest_block, class Space>
std::unique_ptr<LineModel<Scalar>> make_block_model(const Space &space, const BlockLines &lines, const MethodParameters &parameters,
                                                    Transpose transpose)
{
  if (lines.layout.components == b)
    return std::make_unique<BlockMethodModel<Method, Space, Scalar, b>>(space, lines, parameters, transpose);
  if constexpr (b > 1)
    return make_block_model<Method, Scalar, b - 1>(space, lines, parameters, transpose);
  else
    return nullptr;
}

template <class Method, class Scalar>
std::unique_ptr<LineModel<Scalar>> BlockModels<Method, Scalar>::make(const Execution &execution, const BlockLines &lines,
                                                                     const MethodParameters &parameters, Transpose transpose)
{
  return on_backend(execution, [&](const auto &space) { return make_block_model<Method, Scalar>(space, lines, parameters, transpose); });
}

} // namespace weft
