/// BoundaryRows: what a solve does before and after that of the inner box, on a backend: eliminated faces (faces.hpp), factors of the rows.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bcr/box_range.hpp"
#include "bcr/detect/faces.hpp"

namespace weft {

template <class Space, class Scalar>
class BoundaryRows {
public:
  /// Of the faces, the inner box and the factors of a separation.
  BoundaryRows(const Space &space, const Separation &separation) : space_(space), size_(separation.size())
  {
    // Of a unit one half is taken before the solve and the other one after it, so that right-hand sides of its size, and of that of 1, stay
    // within the range of numbers.
    const int power   = separation.unit == 1 ? 0 : std::ilogb(separation.unit);
    before_           = std::ldexp(1.0, -(power / 2));
    after_            = std::ldexp(1.0, -(power - power / 2));
    faces_.rhs_factor = before_;
    faces_.known      = separation.known;
    std::copy_n(separation.grid, 3, faces_.grid);
    for (int d = 0; d < 3; d++) {
      inner_.lo[d] = separation.first[d];
      inner_.hi[d] = separation.first[d] + separation.nodes[d];
      for (int side : {0, 1}) copy_face(separation.faces[d][side], d, side);
    }
    list_nodes();
    row_scale_ = from_host(space_, "weft row factors", separation.row_scale);
  }

  /// The matrix is `factor` times the separation from now on.
  void set_factor(double factor)
  {
    factor_           = factor;
    faces_.rhs_factor = before_ / factor;
  }
  double factor() const { return factor_; }

  /// True where the inner box is the grid and its rows are those of the operator, in its unit, but for the factor of all.
  bool none() const { return nodes_.size() == 0 && row_scale_.size() == 0 && after_ == 1; }
  std::size_t factor_bytes() const { return sizeof(double) * row_scale_.size(); }
  double flops() const { return 4.0 * static_cast<double>(nodes_.size()); }

  /// The right-hand side of the inner box, x fastest. A transposed solve begins with the faces' solution. rhs and solution are arrays over the grid, and
  /// may be the same one.
  void reduce(const KernelReal *rhs, KernelReal *solution, Scalar *inner_rhs, Transpose transpose) const
  {
    reduce(rhs, solution, inner_rhs, transpose, inner_array());
  }
  /// The same into an array that is laid out otherwise.
  void reduce(const KernelReal *rhs, KernelReal *solution, Scalar *inner_rhs, Transpose transpose, const InnerArray &array) const
  {
    const bool backward = transpose == Transpose::yes;
    if (backward) {
      for (int c = 3; c >= 1; c--) at_faces(FaceStep::before_transposed, c, rhs, solution);
    }
    if (size_ > 0)
      Kokkos::parallel_for("weft reduce to the inner box", inner_nodes(),
                           ReduceToInner<Space, Scalar>{faces_, inner_, rhs, solution, inner_rhs, row_scale_, backward, array});
  }

  /// True where the right-hand side of the inner box is what the caller's array has there; where solutions are.
  bool reads_as_it_is() const { return nodes_.size() == 0 && row_scale_.size() == 0 && faces_.rhs_factor == 1; }
  bool writes_as_it_is() const { return row_scale_.size() == 0; }

  /// The solution over the grid from that of the inner box; rhs as it was given to `reduce`.
  void fill(const Scalar *inner_solution, const KernelReal *rhs, KernelReal *solution, Transpose transpose) const
  {
    fill(inner_solution, rhs, solution, transpose, inner_array());
    fill_faces(rhs, solution, transpose);
  }
  /// The same in two parts, from an array that is laid out otherwise.
  void fill(const Scalar *inner_solution, const KernelReal *rhs, KernelReal *solution, Transpose transpose, const InnerArray &array) const
  {
    const bool backward = transpose == Transpose::yes;
    if (size_ > 0)
      Kokkos::parallel_for("weft fill the inner box", inner_nodes(),
                           FillInner<Space, Scalar>{faces_, inner_, inner_solution, rhs, solution, row_scale_, backward, array});
  }
  void fill_faces(const KernelReal *rhs, KernelReal *solution, Transpose transpose) const
  {
    if (transpose == Transpose::yes)
      at_faces(FaceStep::after_transposed, 1, rhs, solution);
    else
      for (int c = 1; c <= 3; c++) at_faces(FaceStep::after, c, rhs, solution);
    if (after_ != 1) multiply(solution, after_);
  }

  /// Divides the solution by the factor: all that there is to do where there is none() else.
  void divide_by_factor(KernelReal *solution) const
  {
    if (factor_ != 1) multiply(solution, 1 / factor_);
  }

private:
  auto inner_nodes() const { return box_range(space_, inner_.size(0), inner_.size(1), inner_.size(2)); }
  InnerArray inner_array() const { return {inner_.size(0), inner_.size(0) * inner_.size(1)}; }

  void multiply(KernelReal *solution, double factor) const
  {
    const Index all = faces_.grid[0] * faces_.grid[1] * faces_.grid[2];
    Kokkos::parallel_for("weft factor", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, all),
                         TimesFactor{solution, factor});
  }

  void copy_face(const FaceRows &face, int d, int side)
  {
    faces_.eliminated[d][side] = face.eliminated();
    if (!face.eliminated()) return;
    auto &rows      = faces_.rows[d][side];
    rows            = typename Faces<Space>::Rows("weft face rows", face.diagonal.size());
    const auto host = Kokkos::create_mirror_view(rows);
    for (std::size_t k = 0; k < face.diagonal.size(); k++) {
      host(k, 0) = face.diagonal[k];
      host(k, 1) = face.outward[k];
      host(k, 2) = face.inward[k];
    }
    Kokkos::deep_copy(space_, rows, host);
    space_.fence("weft face rows");
  }

  /// The nodes on eliminated faces, those on one first.
  void list_nodes()
  {
    std::vector<Index> nodes[3];
    const auto &grid = faces_.grid;
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        if (!faces_.eliminated[d][side]) continue;
        const int a = across(d, 0), b = across(d, 1);
        Index at[3];
        at[d] = side == 0 ? 0 : grid[d] - 1;
        for (at[b] = 0; at[b] < grid[b]; at[b]++) {
          for (at[a] = 0; at[a] < grid[a]; at[a]++) {
            bool listed = false;
            for (int before = 0; before < d; before++) listed = listed || faces_.holds(before, 0, at) || faces_.holds(before, 1, at);
            if (!listed) nodes[faces_.count(at) - 1].push_back(faces_.element(at));
          }
        }
      }
    }
    std::vector<Index> all;
    for (int c = 0; c < 3; c++) {
      starts_[c] = static_cast<Index>(all.size());
      all.insert(all.end(), nodes[c].begin(), nodes[c].end());
    }
    starts_[3] = static_cast<Index>(all.size());
    nodes_     = from_host(space_, "weft face nodes", all);
  }

  void at_faces(FaceStep step, int c, const KernelReal *rhs, KernelReal *solution) const
  {
    if (starts_[c - 1] == starts_[c]) return;
    Kokkos::parallel_for("weft faces", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, starts_[c - 1], starts_[c]),
                         SolveFaces<Space>{faces_, nodes_, rhs, solution, step});
  }

  Space space_;
  Faces<Space> faces_;
  Box inner_;
  Index size_;
  double before_, after_; ///< of a unit, before and after a solve
  double factor_ = 1;
  Kokkos::View<Index *, typename Space::memory_space> nodes_;
  Index starts_[4];
  OwnedArray<double, Space> row_scale_;
};

} // namespace weft
