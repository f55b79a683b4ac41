#include "poisson/box_solver.hpp"

#include <algorithm>
#include <type_traits>

#include "backend.hpp"
#include "poisson/faces.hpp"

namespace weft {

struct BoxSolver::Model {
  explicit Model(const Execution &where) : execution(where) {}
  virtual ~Model()                                                                                    = default;
  virtual void solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) = 0;
  virtual bool singular() const                                                                       = 0;
  virtual bool bad_pivot() const                                                                      = 0;
  virtual const char *method() const                                                                  = 0;
  virtual std::string description() const                                                             = 0;
  virtual std::size_t work_bytes() const                                                              = 0;
  virtual double flops() const                                                                        = 0;

  const Execution &execution;
};

namespace {

/// T^T in each direction.
SeparableOperator transposed(SeparableOperator op)
{
  for (int d = 0; d < op.dimension; d++) {
    Direction &direction = op.directions[d];
    const auto n         = static_cast<std::size_t>(direction.n);
    const auto lower = direction.lower, upper = direction.upper;
    for (std::size_t i = 0; i < n; i++) {
      direction.lower[i] = upper[i > 0 ? i - 1 : n - 1];
      direction.upper[i] = lower[i + 1 < n ? i + 1 : 0];
    }
  }
  return op;
}

template <class Space, class Scalar>
class BoxModel : public BoxSolver::Model {
public:
  BoxModel(const Execution &where, const Space &space, const Separation &separation, const DirectOptions &options)
      : Model(where), space_(space), options_(options)
  {
    std::copy_n(separation.grid, 3, faces_.grid);
    for (int d = 0; d < 3; d++) {
      inner_.lo[d] = separation.first[d];
      inner_.hi[d] = separation.first[d] + separation.nodes[d];
      for (int side : {0, 1}) copy_face(separation.faces[d][side], d, side);
    }
    list_nodes();
    row_scale_ = on_the_backend(separation.row_scale, "weft row factors");
    size_      = separation.size();
    if (size_ > 0) {
      solver_ = std::make_unique<DirectSolver<Scalar>>(execution, separation.separable, options);
      if (!separation.symmetric) operator_ = separation.separable;
    }
    if (direct()) return;
    rhs_ = decltype(rhs_)(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft inner rhs"), static_cast<std::size_t>(size_));
    solution_ =
        decltype(solution_)(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft inner solution"), static_cast<std::size_t>(size_));
  }

  void solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) override
  {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (direct()) {
        solver(transpose).solve(rhs, solution, many, apart);
        return;
      }
    }
    for (int k = 0; k < many; k++) solve_one(rhs + k * apart, solution + k * apart, transpose);
  }

  bool singular() const override { return solver_ && solver_->singular(); }
  bool bad_pivot() const override { return solver_ && solver_->bad_pivot(); }
  const char *method() const override { return solver_ ? solver_->method() : "diagonal"; }
  std::string description() const override { return solver_ ? solver_->description() : ""; }
  std::size_t work_bytes() const override
  {
    return (solver_ ? solver_->work_bytes() : 0) + sizeof(Scalar) * (rhs_.size() + solution_.size()) + sizeof(double) * row_scale_.size();
  }
  double flops() const override { return (solver_ ? solver_->flops() : 0) + 4.0 * static_cast<double>(nodes_.size()); }

private:
  /// True where nothing stands between the caller's arrays and DirectSolver.
  bool direct() const { return std::is_same_v<Scalar, double> && nodes_.size() == 0 && row_scale_.size() == 0; }

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
    nodes_     = on_the_backend(all, "weft face nodes");
  }

  template <class Value>
  Kokkos::View<Value *, typename Space::memory_space> on_the_backend(const std::vector<Value> &values, const char *name) const
  {
    const Kokkos::View<Value *, typename Space::memory_space> copy(std::string(name), values.size());
    Kokkos::deep_copy(
        space_, copy,
        Kokkos::View<const Value *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(), values.size()));
    space_.fence(name); // the vector may go
    return copy;
  }

  void at_faces(FaceStep step, int c, const double *rhs, double *solution) const
  {
    if (starts_[c - 1] == starts_[c]) return;
    Kokkos::parallel_for("weft faces", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, starts_[c - 1], starts_[c]),
                         SolveFaces<Space>{faces_, nodes_, rhs, solution, step});
  }

  void solve_one(const double *rhs, double *solution, Transpose transpose)
  {
    const bool backward = transpose == Transpose::yes;
    const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> inner(space_, 0, size_);
    if (backward) {
      for (int c = 3; c >= 1; c--) at_faces(FaceStep::before_transposed, c, rhs, solution);
    }
    if (size_ > 0) {
      Kokkos::parallel_for("weft reduce to the inner box", inner,
                           ReduceToInner<Space, Scalar>{faces_, inner_, rhs, solution, rhs_.data(), row_scale_, backward});
      solver(transpose).solve(rhs_.data(), solution_.data());
      Kokkos::parallel_for("weft fill the inner box", inner,
                           FillInner<Space, Scalar>{faces_, inner_, solution_.data(), solution, row_scale_, backward});
    }
    if (backward)
      at_faces(FaceStep::after_transposed, 1, rhs, solution);
    else
      for (int c = 1; c <= 3; c++) at_faces(FaceStep::after, c, rhs, solution);
  }

  const DirectSolver<Scalar> &solver(Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_) return *solver_;
    if (!transposed_) transposed_ = std::make_unique<DirectSolver<Scalar>>(execution, transposed(*operator_), options_);
    return *transposed_;
  }

  Space space_;
  DirectOptions options_;
  Faces<Space> faces_;
  Box inner_;
  Index size_;
  Kokkos::View<Index *, typename Space::memory_space> nodes_;
  Index starts_[4];
  OwnedArray<double, Space> row_scale_;
  OwnedArray<Scalar, Space> rhs_, solution_;
  std::unique_ptr<DirectSolver<Scalar>> solver_, transposed_;
  std::optional<SeparableOperator> operator_; ///< of an operator that is not symmetric
};

} // namespace

BoxSolver::BoxSolver(const Execution &execution, const Separation &separation, const DirectOptions &options, Precision precision)
{
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    if (precision == Precision::both_double)
      model_ = std::make_unique<BoxModel<Space, double>>(execution, space, separation, options);
    else
      model_ = std::make_unique<BoxModel<Space, float>>(execution, space, separation, options);
  });
}

BoxSolver::~BoxSolver()
{
  destroy_or_leave(model_);
}

void BoxSolver::solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) const
{
  model_->solve(rhs, solution, transpose, many, apart);
}

const Execution &BoxSolver::execution() const
{
  return model_->execution;
}

bool BoxSolver::singular() const
{
  return model_->singular();
}

bool BoxSolver::bad_pivot() const
{
  return model_->bad_pivot();
}

const char *BoxSolver::method() const
{
  return model_->method();
}

std::string BoxSolver::description() const
{
  return model_->description();
}

std::size_t BoxSolver::work_bytes() const
{
  return model_->work_bytes();
}

double BoxSolver::flops() const
{
  return model_->flops();
}

} // namespace weft
