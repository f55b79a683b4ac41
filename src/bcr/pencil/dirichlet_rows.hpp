/// DirichletRows: the faces of a grid whose rows couple to nothing, around the inner box of a pencil's operator: their values first, what
/// the rows within take from them, the inner solve.
///
///     ( A_00  A_01 )     D is diagonal: x_1 = D^-1 b_1, A_00 x_0 = b_0 - A_01 x_1; transposed A_00^T x_0 = b_0, D x_1 = b_1 - A_01^T x_0.
///     (       D    )
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "bcr/box_range.hpp"
#include "bcr/pencil/box_stencil.hpp"

namespace weft {

/// Rows of a sparse matrix on a backend, those that have something.
template <class Space>
struct SomeRows {
  Kokkos::View<Index *, typename Space::memory_space> row, start, column;
  Kokkos::View<double *, typename Space::memory_space> value;

  Index rows() const { return static_cast<Index>(row.extent(0)); }
};

/// A node of the inner box and its place in the grid.
struct InnerNodes {
  Box inner;
  Index grid[3];

  WEFT_INLINE Index node(Index i, Index j, Index k) const { return i + inner.size(0) * (j + inner.size(1) * k); }
  WEFT_INLINE Index element(Index i, Index j, Index k) const
  {
    return inner.lo[0] + i + grid[0] * (inner.lo[1] + j + grid[1] * (inner.lo[2] + k));
  }
};

/// Into the inner box and out of it: to = factor * from.
template <class Scalar>
struct IntoInner {
  InnerNodes nodes;
  double factor;
  const KernelReal *from;
  Scalar *to;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, const Index j, const Index k) const
  {
    to[nodes.node(i, j, k)] = static_cast<Scalar>(factor * from[nodes.element(i, j, k)]);
  }
};

template <class Scalar>
struct OutOfInner {
  InnerNodes nodes;
  double factor;
  const Scalar *from;
  KernelReal *to;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, const Index j, const Index k) const
  {
    to[nodes.element(i, j, k)] = factor * static_cast<double>(from[nodes.node(i, j, k)]);
  }
};

/// Takes the couplings to known values from right-hand sides of the inner box.
template <class Space, class Scalar>
struct TakeKnown {
  SomeRows<Space> couplings; ///< columns: elements of the grid; values over the diagonals there
  double factor;
  const KernelReal *rhs;
  Scalar *inner;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    double sum = 0;
    for (Index e = couplings.start(k); e < couplings.start(k + 1); e++) sum += couplings.value(e) * (factor * rhs[couplings.column(e)]);
    inner[couplings.row(k)] -= static_cast<Scalar>(sum);
  }
};

/// The faces' values: rhs over the diagonal, less (transposed) what the inner solution takes from it.
template <class Space, class Scalar>
struct SolveKnown {
  SomeRows<Space> couplings; ///< of all nodes of faces; columns: of the inner box; values over the diagonal
  Kokkos::View<double *, typename Space::memory_space> diagonal;
  double factor, after;
  bool transposed;
  const KernelReal *rhs;
  const Scalar *inner;
  KernelReal *solution;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    double value = factor * rhs[couplings.row(k)] / diagonal(k);
    for (Index e = couplings.start(k); transposed && e < couplings.start(k + 1); e++)
      value -= couplings.value(e) * static_cast<double>(inner[couplings.column(e)]);
    solution[couplings.row(k)] = after * value;
  }
};

template <class Space, class Scalar>
class DirichletRows {
public:
  DirichletRows(const Space &space, const Separation &separation) : space_(space)
  {
    // Half of a unit before the solve and half after it, within the range of numbers.
    const int power = separation.unit == 1 ? 0 : std::ilogb(separation.unit);
    before_         = std::ldexp(1.0, -(power / 2));
    after_          = std::ldexp(1.0, -(power - power / 2));
    for (int d = 0; d < 3; d++) {
      grid_[d]     = separation.grid[d];
      inner_.lo[d] = separation.first[d];
      inner_.hi[d] = separation.first[d] + separation.nodes[d];
    }
    if (separation.size() < grid_[0] * grid_[1] * grid_[2]) list_couplings(separation);
  }

  /// True where the inner box is the grid, in its unit.
  bool none() const { return known_.rows() == 0 && after_ == 1; }
  double flops() const { return 2.0 * static_cast<double>(within_.value.size() + known_.value.size()); }
  std::size_t bytes() const { return (within_.value.size() + known_.value.size()) * (sizeof(double) + sizeof(Index)); }

  /// The right-hand side of the inner box, x fastest.
  void reduce(const KernelReal *rhs, Scalar *inner_rhs, Transpose transpose) const
  {
    Kokkos::parallel_for("weft into the inner box", inner_nodes(), IntoInner<Scalar>{nodes(), before_, rhs, inner_rhs});
    if (transpose == Transpose::no)
      Kokkos::parallel_for("weft take known values", range(within_.rows()), TakeKnown<Space, Scalar>{within_, before_, rhs, inner_rhs});
  }
  /// The solution over the grid from that of the inner box.
  void fill(const Scalar *inner_solution, const KernelReal *rhs, KernelReal *solution, Transpose transpose) const
  {
    Kokkos::parallel_for(
        "weft known values", range(known_.rows()),
        SolveKnown<Space, Scalar>{known_, diagonal_, before_, after_, transpose == Transpose::yes, rhs, inner_solution, solution});
    Kokkos::parallel_for("weft out of the inner box", inner_nodes(), OutOfInner<Scalar>{nodes(), after_, inner_solution, solution});
  }

private:
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> range(Index count) const { return {space_, 0, count}; }
  auto inner_nodes() const { return box_range(space_, inner_.size(0), inner_.size(1), inner_.size(2)); }
  InnerNodes nodes() const { return {inner_, {grid_[0], grid_[1], grid_[2]}}; }
  Index element(const Index (&at)[3]) const { return at[0] + grid_[0] * (at[1] + grid_[1] * at[2]); }
  bool within(const Index (&at)[3], int d) const { return at[d] >= inner_.lo[d] && at[d] < inner_.hi[d]; }

  struct Lists {
    std::vector<Index> row, start{0}, column;
    std::vector<double> value;

    void end(Index of)
    {
      row.push_back(of);
      start.push_back(static_cast<Index>(column.size()));
    }
    SomeRows<Space> on(const Space &space) const
    {
      return {from_host(space, "weft face rows", row), from_host(space, "weft face starts", start),
              from_host(space, "weft face columns", column), from_host(space, "weft face values", value)};
    }
  };

  /// Calls body(face's node, its diagonal, inner node, coupling) for the couplings of the rows beside faces, as Separation has them.
  template <class Body>
  void for_each_coupling(const Separation &separation, const Index (&at)[3], const Body &body) const
  {
    for (int d = 0; d < 3; d++) {
      for (int side : {0, 1}) {
        const FaceRows &face = separation.faces[d][side];
        const Index layer    = side == 0 ? inner_.lo[d] : inner_.hi[d] - 1;
        if (!face.eliminated() || at[d] != layer) continue;
        const int a = across(d, 0), b = across(d, 1);
        const Index node = at[a] + grid_[a] * at[b];
        for (int n = 0; n < 9; n++) {
          const double value = face.inward[static_cast<std::size_t>(9 * node + n)];
          if (value == 0) continue;
          Index to[3] = {at[0], at[1], at[2]};
          to[d] += 2 * side - 1;
          to[a] = pencils::around(to[a] + n % 3 - 1, grid_[a]);
          to[b] = pencils::around(to[b] + n / 3 - 1, grid_[b]);
          body(element(to), face.diagonal[static_cast<std::size_t>(to[a] + grid_[a] * to[b])], value);
        }
      }
    }
  }

  void list_couplings(const Separation &separation)
  {
    Lists of_inner, of_faces;
    std::vector<std::vector<std::pair<Index, double>>> back(static_cast<std::size_t>(grid_[0] * grid_[1] * grid_[2]));
    Index at[3], k = 0;
    for (at[2] = inner_.lo[2]; at[2] < inner_.hi[2]; at[2]++) {
      for (at[1] = inner_.lo[1]; at[1] < inner_.hi[1]; at[1]++) {
        for (at[0] = inner_.lo[0]; at[0] < inner_.hi[0]; at[0]++, k++) {
          const std::size_t before = of_inner.column.size();
          for_each_coupling(separation, at, [&](Index node, double diagonal, double value) {
            of_inner.column.push_back(node);
            of_inner.value.push_back(value / diagonal);
            back[static_cast<std::size_t>(node)].push_back({k, value / diagonal});
          });
          if (of_inner.column.size() > before) of_inner.end(k);
        }
      }
    }
    std::vector<double> diagonals;
    for (at[2] = 0; at[2] < grid_[2]; at[2]++) {
      for (at[1] = 0; at[1] < grid_[1]; at[1]++) {
        for (at[0] = 0; at[0] < grid_[0]; at[0]++) {
          int d = 0;
          while (d < 3 && within(at, d)) d++;
          if (d == 3) continue;
          const FaceRows &face = separation.faces[d][at[d] < inner_.lo[d] ? 0 : 1];
          diagonals.push_back(face.diagonal[static_cast<std::size_t>(at[across(d, 0)] + grid_[across(d, 0)] * at[across(d, 1)])]);
          for (const auto &[inner_node, value] : back[static_cast<std::size_t>(element(at))]) {
            of_faces.column.push_back(inner_node);
            of_faces.value.push_back(value);
          }
          of_faces.end(element(at));
        }
      }
    }
    within_   = of_inner.on(space_);
    known_    = of_faces.on(space_);
    diagonal_ = from_host(space_, "weft face diagonals", diagonals);
  }

  Space space_;
  Index grid_[3];
  Box inner_;
  double before_ = 1, after_ = 1;
  SomeRows<Space> within_, known_;
  Kokkos::View<double *, typename Space::memory_space> diagonal_;
};

} // namespace weft
