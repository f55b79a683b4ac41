/// From a matrix on a grid to the separable operator that it is, or that is nearest to it. The way in for callers without Kokkos.
///
/// A separable operator on a box is a sum over the directions k of  T_k (x) prod_{m != k} W_m  plus  shift * prod_m W_m  (direct_solver.hpp):
/// T_k tridiagonal along k, W_m a diagonal of weights along m. Its couplings along k at the node (i_x, i_y, i_z) are products
///
///     t_k(i_k) prod_{m != k} w_m(i_m),                                                                                        (1)
///
/// and its row sums are, with e_k the row sums of T_k,
///
///     (sum_k e_k(i_k) / w_k(i_k) + shift) prod_m w_m(i_m).                                                                    (2)
///
/// The nearest operator takes (1) in the least-squares sense of logarithms, so that the ratio of a matrix's couplings to the operator's is as
/// much above 1 as below, whatever the mesh width: the main effects of a balanced two-way layout (R. A. Fisher; e.g. Searle, Linear Models,
/// 1971, ch. 7), exact for a separable matrix. Then (2), additive after the division by the weights, in the least-squares sense over the inner
/// nodes; rows at the ends of a direction get their e_k from the inner nodes of the others. Where no row sum of the matrix is negative (positive), none
/// of the operator's is. A matrix that is separable but for a factor of each row (a diagonal matrix times a separable one) is found to be
/// that: the factors make the couplings along one direction those of the line through the middle. So -div(a grad u) keeps its kind: a Laplacian in each direction, its boundary conditions, its null space.
#pragma once
#include <complex>
#include <functional>
#include <optional>
#include <vector>

#include "base/execution.hpp"
#include "bcr/direct_solver.hpp"
#include "bcr/pencil/pencil_operator.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// The rows of a matrix on a grid that one process holds: those of the nodes of a box, x fastest. Pointers in the memory of the Execution.
template <class Int>
struct GridMatrix {
  Index grid[3]  = {1, 1, 1};         ///< nodes of the whole grid
  Index first[3] = {0, 0, 0};         ///< first node of the box
  Index nodes[3] = {1, 1, 1};         ///< nodes of the box
  CsrMatrix<KernelReal, Int> inside;  ///< columns: rows of the box
  CsrMatrix<KernelReal, Int> outside; ///< couplings to other processes; row_starts is null where there are none
  std::vector<Index> outside_nodes;   ///< the node behind each column of `outside`, numbered x fastest over the whole grid
  bool as_stars = false;              ///< couplings to other neighbours in a box become those along x, y and z (separate_boxes.hpp)
};

enum class Combine { sum, max };
/// Combines arrays over all processes that hold parts of the matrix. One process: does nothing.
using AllRanks = std::function<void(double *values, std::size_t count, Combine how)>;

/// The rows of a face of the grid that couple to nothing along the face (eliminated boundary values, one-sided conditions), so that they and
/// the rest can be solved one after the other. Arrays over the face, the lower of its two directions fastest; empty: no such face.
struct FaceRows {
  std::vector<double> diagonal;
  std::vector<double> outward;            ///< of the face's row to its neighbour inside
  std::vector<double> inward;             ///< of that neighbour's row to the face
  std::vector<std::complex<double>> turn; ///< of the face's rows, where a complex matrix has others than its own; else empty

  bool eliminated() const { return !diagonal.empty(); }
  friend bool operator==(const FaceRows &, const FaceRows &) = default;
};

/// What separate() finds; the same on all processes but for row_scale.
struct Separation {
  Index grid[3] = {1, 1, 1};
  FaceRows faces[3][2];                    ///< by direction, lower and upper end
  Index first[3]              = {0, 0, 0}; ///< first node within the eliminated faces
  Index nodes[3]              = {1, 1, 1}; ///< nodes within them; the product may be 0
  bool periodic[3]            = {};        ///< couplings across the ends of the grid
  SeparableOperator separable = {};        ///< of these nodes; directions of one node are left out
  bool symmetric              = true;      ///< the separable operator is
  bool scaled                 = false;     ///< rows of the matrix are those of the operator times factors
  bool known  = false; ///< row_scale is 1, but where the diagonal says what the unknown is (Star::penalty()): there it is the diagonal
  double unit = 1;     ///< of all numbers here: the matrix is `unit` times what they say, a power of 2; 1 unless the matrix is out of range
  std::vector<double> row_scale;        ///< these factors, of those of the nodes that this process holds
  std::optional<PencilOperator> pencil; ///< in the place of `separable`, which is not set (separate_boxes.hpp): faces then have no
                                        ///< `outward`, and nine numbers a node in `inward`, to the face's node there and its neighbours
  /// A complex matrix is turn * (what is said here + i imaginary_shift prod W), W the weights of `separable` (complex/real_rows.hpp).
  std::complex<double> turn = 1;
  double imaginary_shift    = 0;
  double deviation          = 0; ///< largest sum over a row of |matrix - operator|, over the row's sum of magnitudes
  double foreign            = 0; ///< entries that are not zero and couple to no neighbour along x, y or z: nothing else is found then
  double unusable =
      0; ///< entries that are not finite, zero diagonals of eliminated rows, rows that are nothing beside the largest entries of a
         ///< matrix that is not separable: nothing else is found then

  Index size() const { return nodes[0] * nodes[1] * nodes[2]; }
};

/// True if solvers made for one can serve the other, as far as this process knows: the others may have other factors.
bool same_operator(const Separation &a, const Separation &b);

/// T^T in each direction.
SeparableOperator transposed(SeparableOperator op);

/// Waits for the result. Collective over the processes that `all_ranks` combines. last: what was found of other values of this matrix, the same on
/// all processes; its faces are looked for first.
template <class Int>
Separation separate(const Execution &execution, const GridMatrix<Int> &matrix, const AllRanks &all_ranks, const Separation *last = nullptr);

} // namespace weft
