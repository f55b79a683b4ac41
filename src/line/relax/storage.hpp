/// The Kokkos side of StencilMatrix. Included by kernel files only.
#pragma once
#include <stdexcept>
#include <variant>

#include "base/backend.hpp"
#include "line/host_copies.hpp"
#include "line/relax/diagonals_of_csr.hpp"
#include "line/relax/matrix_rows.hpp"

namespace weft {

template <class Scalar>
struct StencilMatrix<Scalar>::Storage {
  /// What was read, for kernels.
  std::variant<std::monostate, Diagonals<Scalar>, CsrRows<Scalar, std::int32_t>, CsrRows<Scalar, std::int64_t>> form;
  std::vector<Index> offsets;

  virtual ~Storage() = default;
  /// The diagonals, or null.
  const Diagonals<Scalar> *diagonals() const { return std::get_if<Diagonals<Scalar>>(&form); }

  /// Calls body(rows) with the matrix in the form in which it is kept.
  template <class Body>
  void visit(const Body &body) const
  {
    std::visit(
        [&](const auto &rows) {
          if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, std::monostate>)
            throw std::invalid_argument("no matrix was read yet");
          else
            body(rows);
        },
        form);
  }
};

template <class Space, class Scalar>
struct StencilStorage final : StencilMatrix<Scalar>::Storage {
  OwnedArray<Scalar, Space> values;
  OwnedArray<Index, Space> offsets_here;
  Pinned missing{"weft entries beside the diagonals"};

  void use(const Space &space, Index rows, const Scalar *given, Index pitch, const std::vector<Index> &ascending)
  {
    values = {};
    if (this->offsets != ascending || offsets_here.extent(0) != ascending.size()) keep_offsets(space, ascending);
    this->form = Diagonals<Scalar>{given, offsets_here.data(), static_cast<int>(ascending.size()), pitch, rows};
  }
  template <class Int>
  void read(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix)
  {
    // Diagonals begin at multiples of 256 bytes at least, so that rows can be moved in pieces.
    const Index pitch = (rows + 63) / 64 * 64;
    if (this->diagonals() && values.extent(0) > 0 && fill_diagonals(space, rows, matrix, offsets_here, pitch, values, missing)) return;
    this->form = CsrRows<Scalar, Int>{matrix, rows};
    this->offsets.clear();
    // Some rows tell what most matrices have; where there are others the diagonals cannot be filled.
    for (const bool all : {false, true}) {
      const auto found = offsets_of_csr(space, rows, matrix, all);
      // Small matrices may be padded as they like.
      if (!found || static_cast<Index>(found->size()) * rows > 2 * entries_of_csr(space, rows, matrix) + 4096) break;
      const auto size = static_cast<std::size_t>(pitch) * found->size();
      if (values.extent(0) != size) {
        values = {}; // before there are others
        values = table<Scalar, Space>("weft diagonals", size);
      }
      keep_offsets(space, *found);
      if (!fill_diagonals(space, rows, matrix, offsets_here, pitch, values, missing)) continue;
      this->form = Diagonals<Scalar>{values.data(), offsets_here.data(), static_cast<int>(found->size()), pitch, rows};
      return;
    }
    this->offsets.clear();
    values = {};
  }

private:
  void keep_offsets(const Space &space, const std::vector<Index> &ascending)
  {
    offsets_here  = from_host(space, "weft diagonals' offsets", ascending);
    this->offsets = ascending;
  }
};

} // namespace weft
