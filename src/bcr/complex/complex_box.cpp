// BoxSolver for complex scalars: a real separable operator with a complex shift, by the modes of all directions.
//
// With T'_k = W_k^-1 T_k = V_k diag(l_k) V_k^-1 the operator sum_k T_k (x) prod W + z prod W has the inverse
//
//     (V_x (x) V_y (x) V_z) diag(1 / (l_x + l_y + l_z + z)) (V_x^-1 (x) V_y^-1 (x) V_z^-1) prod W^-1.                                 (1)
//
// Source: R. E. Lynch, J. R. Rice, D. H. Thomas, Numer. Math. 6 (1964) 185. Only the division is complex: transforms, weights and eliminated
// faces are real, and work on real and imaginary parts, which lie one after the other, as on two right-hand sides.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/backend.hpp"
#include "base/real_of.hpp"
#include "bcr/box_solver.hpp"
#include "bcr/detect/boundary_rows.hpp"
#include "bcr/mirror.hpp"
#include "bcr/right_hand_side.hpp"
#include "bcr/transforms/eigen.hpp"
#include "bcr/transforms/transform.hpp"

namespace weft {

namespace {

using poisson::BasisSource;
using poisson::EigenBasis;
using poisson::LineMatrix;

/// 1 / turn, of all rows or of each.
struct TurnBack {
  Complex<double> of_all;
  const Complex<double> *of_rows; ///< or null

  KOKKOS_INLINE_FUNCTION Complex<double> operator()(Index i) const { return of_rows ? of_rows[i] : of_all; }
};

/// Complex numbers times a factor become real parts and, `apart` elements further, imaginary ones.
struct TakeApart {
  TurnBack factor;
  const Complex<double> *from;
  double *to;
  Index apart;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    const Complex<double> z = factor(i) * from[i];
    to[i]                   = z.real();
    to[apart + i]           = z.imag();
  }
};
struct PutTogether {
  TurnBack factor;
  const double *from;
  Complex<double> *to;
  Index apart;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { to[i] = factor(i) * Complex<double>(from[i], from[apart + i]); }
};

/// The eigenvalues of the operator, by mode.
template <class Space>
struct Eigenvalues {
  Index n[3] = {1, 1, 1};
  OwnedArray<double, Space> along[3];
  Complex<double> shift = 0;
  Index constant        = -1; ///< the mode of the constant vector, which a singular operator has in its null space; else -1

  KOKKOS_INLINE_FUNCTION Complex<double> operator()(Index mode, double &size) const
  {
    const Index xy = mode / n[0], x = mode - xy * n[0], z = xy / n[1], y = xy - z * n[1];
    size = modulus(shift) + Kokkos::abs(along[0](x)) + Kokkos::abs(along[1](y)) + Kokkos::abs(along[2](z));
    return shift + (along[0](x) + along[1](y) + along[2](z));
  }
};

/// Counts the modes whose eigenvalue is no more than the rounding of its terms, or no number.
template <class Space>
struct CountBadModes {
  Eigenvalues<Space> eigenvalues;

  KOKKOS_INLINE_FUNCTION void operator()(const Index mode, Index &count) const
  {
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
    double size               = 0;
    const double value        = modulus(eigenvalues(mode, size));
    count += mode != eigenvalues.constant && !(value > rounding * size && finite(value));
  }
};

/// The middle factor of (1). The mode of a null space gets nothing.
template <class Space>
struct DivideModes {
  Eigenvalues<Space> eigenvalues;
  double *modes;
  Index apart;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    double size                 = 0;
    const Complex<double> value = eigenvalues(i, size), mode = {modes[i], modes[apart + i]};
    const Complex<double> quotient = i == eigenvalues.constant ? Complex<double>(0) : mode / value;
    modes[i]                       = quotient.real();
    modes[apart + i]               = quotient.imag();
  }
};

/// V^-1 and V of a direction, and where its lines lie in both arrays of parts.
template <class Space>
struct ModesAlong {
  using Modes = poisson::ModeTransform<Space, double>;

  Modes to, from;
  poisson::Transform<Space, double> lines; ///< without its arrays

  ModesAlong(const Space &space, const EigenBasis &basis, const Index (&n)[3], int direction)
      : to(modes(space, basis, true)), from(modes(space, basis, false))
  {
    const Index all = n[0] * n[1] * n[2], before = direction == 0 ? 1 : direction == 1 ? n[0] : n[0] * n[1];
    lines.n           = n[direction];
    lines.from_stride = lines.to_stride = before;
    lines.inner                         = direction == 0 ? 2 * all / n[0] : before;
    lines.inner_stride                  = direction == 0 ? n[0] : 1;
    lines.outer                         = direction == 0 ? 1 : 2 * all / (before * n[direction]);
    lines.outer_stride                  = before * n[direction];
  }

  /// From one array to the other, which are swapped, or in place.
  void run(const Space &space, const Modes &transform, double *&values, double *&other) const
  {
    poisson::Transform<Space, double> t = lines;
    t.matrix                            = transform.lines.matrix;
    t.ld                                = transform.lines.ld;
    t.transposed                        = transform.lines.transposed;
    t.from                              = values;
    t.to                                = transform.fast ? values : other;
    transform(space, t);
    if (!transform.fast) std::swap(values, other);
  }
  /// Operations of both ways, for both parts.
  double flops() const
  {
    const double n = static_cast<double>(lines.n), of_line = to.fast ? 5 * n * std::log2(std::max(2.0, n)) : 2 * n * n;
    return 2 * of_line * static_cast<double>(lines.inner * lines.outer);
  }

private:
  static Modes modes(const Space &space, const EigenBasis &basis, bool to_modes)
  {
    if (basis.there) return Modes(space, *basis.there, to_modes);
    const auto n = static_cast<Index>(basis.values.size());
    return Modes(space, n, to_modes ? basis.inverse : basis.vectors, to_modes ? basis.to_modes() : basis.from_modes());
  }
};

/// What solves (1) for the inner box.
template <class Space>
class ModeSolver {
public:
  ModeSolver(const Space &space, const BasisSource &source, const SeparableOperator &op, double imaginary_shift) : space_(space)
  {
    double sum = op.shift, scale = std::abs(op.shift);
    bool constant = imaginary_shift == 0; // all lines have the constant vector for an eigenvector
    std::vector<EigenBasis> bases;
    std::optional<double> of_constant[3];
    for (int k = 0; k < op.dimension; k++) {
      const LineMatrix line = poisson::line_matrix(op.directions[k]);
      if (const auto why = poisson::mode_basis_refused(line)) throw std::invalid_argument(*why);
      bases.push_back(poisson::mode_basis(line, source));
      eigenvalues_.n[k] = line.n;
      of_constant[k]    = line.of_constant();
      constant          = constant && of_constant[k];
      sum += of_constant[k].value_or(0);
      scale += line.row_size(line.weakest_row());
      const auto &weight = op.directions[k].weight;
      std::vector<double> inverse;
      if (!std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; }))
        std::transform(weight.begin(), weight.end(), std::back_inserter(inverse), [](double w) { return 1 / w; });
      weights_.scale[k] = poisson::upload<double, Space>("weft inverse weights", inverse);
      weighted_         = weighted_ || !inverse.empty();
    }
    const bool singular = constant && std::abs(sum) <= 64 * std::numeric_limits<double>::epsilon() * scale;
    if (singular) eigenvalues_.constant = 0;
    Index step = 1;
    for (int k = 0; k < 3; k++) {
      const std::vector<double> none = {0}, &values = k < op.dimension ? bases[static_cast<std::size_t>(k)].values : none;
      eigenvalues_.along[k] = poisson::upload<double, Space>("weft eigenvalues", values);
      if (singular) eigenvalues_.constant += step * nearest(values, of_constant[k].value_or(0));
      step *= eigenvalues_.n[k];
    }
    eigenvalues_.shift = {op.shift, imaginary_shift};
    std::copy_n(eigenvalues_.n, 3, weights_.n);
    weights_.factor = 1;
    for (int k = 0; k < op.dimension; k++) along_.emplace_back(space, bases[static_cast<std::size_t>(k)], eigenvalues_.n, k);
    Index bad = 0;
    Kokkos::parallel_reduce("weft bad modes", modes(), CountBadModes<Space>{eigenvalues_}, bad);
    space.fence("weft: tables of modes");
    bad_pivot_ = bad > 0;
  }

  Index size() const { return eigenvalues_.n[0] * eigenvalues_.n[1] * eigenvalues_.n[2]; }
  bool singular() const { return eigenvalues_.constant >= 0; }
  bool bad_pivot() const { return bad_pivot_; }
  bool dense() const
  {
    return std::any_of(along_.begin(), along_.end(), [](const auto &modes) { return !modes.to.fast; });
  }
  double flops() const
  {
    double sum = 20 * static_cast<double>(size());
    for (const auto &modes : along_) sum += modes.flops();
    return sum;
  }
  std::size_t bytes() const
  {
    std::size_t sum = 0;
    for (const auto &modes : along_) sum += modes.to.bytes() + modes.from.bytes();
    return sum;
  }
  std::string description() const
  {
    std::string text = "modes along " + std::to_string(along_.size()) + (along_.size() == 1 ? " direction" : " directions");
    for (std::size_t k = 0; k < along_.size(); k++)
      text += (k == 0 ? ": " : ", ") + std::string(along_[k].to.fast ? "fast transform" : "products by " + along_[k].to.products.name());
    return text;
  }

  /// The solution takes the place of the right-hand side, both parts; `work` is as much again. Returns the one of both where it is.
  double *solve(double *values, double *work) const
  {
    for (Index part = 0; weighted_ && part < 2; part++) {
      auto divide = weights_;
      divide.from = divide.to = values + part * size();
      Kokkos::parallel_for("weft weights", modes(), divide);
    }
    for (const auto &modes : along_) modes.run(space_, modes.to, values, work);
    Kokkos::parallel_for("weft divide modes", modes(), DivideModes<Space>{eigenvalues_, values, size()});
    for (const auto &modes : along_) modes.run(space_, modes.from, values, work);
    return values;
  }

private:
  static Index nearest(const std::vector<double> &values, double value)
  {
    return std::min_element(values.begin(), values.end(), [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); }) -
           values.begin();
  }
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> modes() const { return {space_, 0, size()}; }

  Space space_;
  std::vector<ModesAlong<Space>> along_;
  Eigenvalues<Space> eigenvalues_;
  poisson::ScaleRightHandSide<Space, double> weights_{};
  bool weighted_ = false, bad_pivot_ = false;
};

template <class Space>
class ComplexBox final : public BoxSolver {
public:
  ComplexBox(const Execution &execution, const Separation &separation, const KnownBases &known)
      : BoxSolver(execution), space_(space_of<Space>(execution)), size_(separation.size()),
        grid_(separation.grid[0] * separation.grid[1] * separation.grid[2]),
        shift_(separation.imaginary_shift), source_{is_host_space<Space> ? nullptr : &execution, known}, boundary_(space_, separation)
  {
    facts_.method = "diagonal";
    if (size_ > 0) {
      solver_.emplace(space_, source_, separation.separable, shift_);
      facts_ = {"modes", solver_->description(), solver_->singular(), solver_->bad_pivot(), solver_->flops()};
      if (!separation.symmetric) operator_ = separation.separable;
    }
    facts_.flops += 2 * boundary_.flops() + 8 * static_cast<double>(grid_);
    take_turns(separation);
    for (auto *parts : {&rhs_, &solution_}) *parts = parts_of(grid_);
    inner_ = parts_of(size_);
    if (solver_ && (solver_->dense() || operator_)) work_ = parts_of(size_);
  }

  void solve(const KernelScalar *rhs, KernelScalar *solution, Transpose transpose, int nrhs, Index ld) override
  {
    for (Index k = 0; k < nrhs; k++) solve_one(rhs + k * ld, solution + k * ld, transpose);
  }
  void set_factor(double factor) override { boundary_.set_factor(factor); }
  void set_faces(const Separation &separation) override
  {
    const double factor = boundary_.factor();
    boundary_           = BoundaryRows<Space, double>(space_, separation);
    boundary_.set_factor(factor);
    take_turns(separation);
  }
  KnownBases bases() const override { return source_.known; }
  std::size_t work_bytes() const override
  {
    return sizeof(double) * (rhs_.size() + solution_.size() + inner_.size() + work_.size()) + boundary_.factor_bytes() +
           (solver_ ? solver_->bytes() : 0) + (transposed_ ? transposed_->bytes() : 0);
  }

private:
  using Parts = OwnedArray<double, Space>;

  Parts parts_of(Index size) const
  {
    return Parts(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft parts"), static_cast<std::size_t>(2 * size));
  }
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> nodes() const { return {space_, 0, grid_}; }

  void take_turns(const Separation &separation)
  {
    back_ = {Complex<double>(std::conj(separation.turn)), nullptr};
    std::vector<Complex<double>> of_rows;
    const Index steps[3] = {1, separation.grid[0], separation.grid[0] * separation.grid[1]};
    for (int d = 0; d < 3; d++) {
      const int a = across(d, 0), b = across(d, 1);
      for (int side : {0, 1}) {
        const auto &turn = separation.faces[d][side].turn;
        if (turn.empty()) continue;
        of_rows.resize(static_cast<std::size_t>(grid_), back_.of_all);
        const Index first = side == 0 ? 0 : (separation.grid[d] - 1) * steps[d];
        for (std::size_t k = 0; k < turn.size(); k++) {
          const Index place = static_cast<Index>(k), i = place % separation.grid[a], j = place / separation.grid[a];
          of_rows[static_cast<std::size_t>(first + i * steps[a] + j * steps[b])] = Complex<double>(std::conj(turn[k]));
        }
      }
    }
    if (of_rows.empty()) return;
    turns_ = OwnedArray<Complex<double>, Space>("weft turns", of_rows.size());
    Kokkos::deep_copy(space_, turns_, Kokkos::View<const Complex<double> *, Kokkos::HostSpace>(of_rows.data(), of_rows.size()));
    space_.fence("weft: turns");
    back_.of_rows = turns_.data();
  }

  void solve_one(const KernelScalar *rhs, KernelScalar *solution, Transpose transpose)
  {
    // Rows have turns: a transposed solve ends with them.
    const bool backward = transpose == Transpose::yes;
    const TurnBack one{1, nullptr}, before = backward ? one : back_, after = backward ? back_ : one;
    Kokkos::parallel_for("weft take parts apart", nodes(), TakeApart{before, rhs, rhs_.data(), grid_});
    for (Index part : {0, 1})
      boundary_.reduce(rhs_.data() + part * grid_, solution_.data() + part * grid_, inner_.data() + part * size_, transpose);
    double *inner = inner_.data();
    if (size_ > 0) inner = solve_inner(inner, transpose);
    for (Index part : {0, 1}) boundary_.fill(inner + part * size_, rhs_.data() + part * grid_, solution_.data() + part * grid_, transpose);
    Kokkos::parallel_for("weft put parts together", nodes(), PutTogether{after, solution_.data(), solution, grid_});
  }

  /// Both parts, in place or in the work space.
  double *solve_inner(double *parts, Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_) return solver_->solve(parts, work_.data());
    if (!facts_.singular) {
      if (!transposed_) transposed_.emplace(space_, source_, transposed(*operator_), shift_);
      return transposed_->solve(parts, work_.data());
    }
    if (!mirror_) mirror_.emplace(*operator_);
    for (Index part : {0, 1}) mirror_->into(space_, parts + part * size_);
    double *const solution = solver_->solve(parts, work_.data());
    for (Index part : {0, 1}) mirror_->back(space_, solution + part * size_);
    return solution;
  }

  Space space_;
  Index size_, grid_;
  double shift_;
  TurnBack back_{1, nullptr};
  OwnedArray<Complex<double>, Space> turns_; ///< of its rows
  BasisSource source_;
  BoundaryRows<Space, double> boundary_;
  Parts rhs_, solution_, inner_, work_;
  std::optional<ModeSolver<Space>> solver_, transposed_;
  std::optional<SeparableOperator> operator_; ///< of an operator that is not symmetric
  std::optional<poisson::Mirror<Space, double>> mirror_;
};

} // namespace

std::optional<std::string> BoxSolver::refuses(const Separation &separation, const DirectOptions &options, Precision precision)
{
  if (options.method != "auto") return "complex operators are solved by the modes of all directions, which is auto";
  if (precision != Precision::both_double) return "complex operators are solved in double precision";
  if (separation.pencil)
    return "complex operators have 3 points in a line, 5 in the plane, 7 in space here, and no couplings to nodes across";
  for (int k = 0; k < separation.separable.dimension; k++) {
    if (const auto why = poisson::mode_basis_refused(poisson::line_matrix(separation.separable.directions[k])))
      return "direction " + std::to_string(k) + ": " + *why;
  }
  return std::nullopt;
}

Owner<BoxSolver> BoxSolver::make(const Execution &execution, const Separation &separation, const DirectOptions &options,
                                 Precision precision, const KnownBases &known)
{
  if (const auto why = refuses(separation, options, precision)) throw std::invalid_argument(*why);
  return on_backend(execution, [&](const auto &space) -> Owner<BoxSolver> {
    return make_owner<ComplexBox<std::decay_t<decltype(space)>>>(execution, separation, known);
  });
}

} // namespace weft
