// MappedSolver of scalars.
#include <stdexcept>

#include "line/host_copies.hpp"
#include "line/maps/line_arrays.hpp"
#include "line/maps/mapped_solver.hpp"

namespace weft {

std::optional<std::string> mapped_method_refuses(const std::string &method, const LineMap &map, const MethodParameters &parameters)
{
  for (int colour = 0; colour < map.colours(); colour++) {
    const LineProblem problem(
        one_line(map.colour_rows()[static_cast<std::size_t>(colour) + 1] - map.colour_rows()[static_cast<std::size_t>(colour)]));
    if (auto why = tridiagonal_method_refuses(method, problem, parameters)) return why;
  }
  return tridiagonal_method_refuses(method, LineProblem(one_line(map.rows())), parameters);
}

namespace {

/// Fills the three diagonals, `position` - `first` being the element of a row at `position`, for the positions first .. last-1.
template <class Space, class Scalar, class Value, class Int>
void mapped_tridiagonal_of_csr(const Space &space, const LineArrays<Space> &lines, Index first, Index last,
                               const CsrMatrix<Value, Int> &matrix, Scalar *lower, Scalar *diagonal, Scalar *upper)
{
  const auto rows = static_cast<Index>(lines.order.extent(0));
  Kokkos::parallel_for(
      "weft tridiagonal of mapped lines", Kokkos::RangePolicy<Space>(space, first, last), KOKKOS_LAMBDA(const Index position) {
        const RowNumber i      = lines.order(position);
        const RowNumber before = lines.begins(position) ? -1 : lines.order(position - 1);
        const RowNumber after  = position + 1 == rows || lines.begins(position + 1) ? -1 : lines.order(position + 1);
        Row<Scalar> row{0, 0, 0};
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Int column = matrix.columns[k];
          if (column == static_cast<Int>(i))
            row.diagonal = static_cast<Scalar>(matrix.values[k]);
          else if (before >= 0 && column == static_cast<Int>(before))
            row.lower = static_cast<Scalar>(matrix.values[k]);
          else if (after >= 0 && column == static_cast<Int>(after))
            row.upper = static_cast<Scalar>(matrix.values[k]);
        }
        lower[position - first]    = row.lower;
        diagonal[position - first] = row.diagonal;
        upper[position - first]    = row.upper;
      });
}

template <class Space, class Scalar, class Value>
void gather_rows(const Space &space, const LineArrays<Space> &lines, Index first, Index last, const Value *rhs, Scalar *work)
{
  const auto order = lines.order;
  Kokkos::parallel_for(
      "weft gather rows", Kokkos::RangePolicy<Space>(space, first, last),
      KOKKOS_LAMBDA(const Index position) { work[position - first] = static_cast<Scalar>(rhs[order(position)]); });
}

template <class Space, class Scalar, class Value>
void scatter_rows(const Space &space, const LineArrays<Space> &lines, Index first, Index last, const Scalar *work, Value *solution,
                  const Update<Value> &update)
{
  const auto order = lines.order;
  Kokkos::parallel_for(
      "weft scatter rows", Kokkos::RangePolicy<Space>(space, first, last),
      KOKKOS_LAMBDA(const Index position) { put(solution[order(position)], update, static_cast<Value>(work[position - first])); });
}

/// Calls visit(colour) for the colours that are meant.
template <class Visit>
void for_colours(Colour wanted, int colours, const Visit &visit)
{
  const int colour = static_cast<int>(wanted);
  if (wanted == Colour::all) {
    for (int c = 0; c < colours; c++) visit(c);
  } else if (colour < 0 || colour >= colours) {
    throw std::invalid_argument("these lines have no colour " + std::to_string(colour) + ", they have " + std::to_string(colours));
  } else {
    visit(colour);
  }
}

/// The coefficients of a solver, whichever memory they are in.
template <class Scalar, class Value>
class MappedCoefficients : public MappedSolver<Value> {
public:
  virtual std::vector<Scalar> host_coefficients() const = 0;
};

template <class Space, class Scalar, class Value>
class MappedLinesIn final : public MappedCoefficients<Scalar, Value> {
public:
  MappedLinesIn(const Space &space, const LineMap &map, const std::string &method, const MethodParameters &parameters)
      : space_(space), map_(map)
  {
    // The rows of a colour start where vector loads like them to.
    constexpr Index alignment = 64;
    for (int colour = 0; colour < map.colours(); colour++) {
      offset_.push_back(size_);
      size_ += (last(colour) - first(colour) + alignment - 1) / alignment * alignment;
    }
    coefficients_ = OwnedArray<Scalar, Space>("weft coefficients", static_cast<std::size_t>(3 * size_));
    work_         = OwnedArray<Scalar, Space>("weft mapped right-hand side", static_cast<std::size_t>(size_));
    for (int colour = 0; colour < map.colours(); colour++) {
      solvers_.push_back(
          LineSolver<Scalar>::make(map.execution(), LineProblem(one_line(last(colour) - first(colour))), method, parameters));
      solvers_.back()->use(at(colour, 0), at(colour, 1), at(colour, 2));
    }
  }

  void read(const CsrMatrix<Value, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<Value, std::int64_t> &matrix) override { read_csr(matrix); }
  void read(const MappedSolver<Value> &other) override
  {
    copy_from_host(space_, coefficients_, static_cast<const MappedCoefficients<Scalar, Value> &>(other).host_coefficients());
  }
  std::vector<Scalar> host_coefficients() const override { return to_host(space_, coefficients_); }

  void factor() override
  {
    for (const auto &solver : solvers_) solver->factor();
  }
  std::optional<Index> bad_pivot() const override
  {
    for (int colour = 0; colour < map_.colours(); colour++)
      if (const auto bad = solver(colour).bad_pivot()) return value_at(space_, lines().order, first(colour) + bad->row);
    return std::nullopt;
  }
  void solve(const Value *rhs, Value *solution, const SolveOptions<Value> &options) const override
  {
    SolveOptions<Scalar> plain;
    plain.transpose = options.transpose;
    for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld) {
      for_colours(options.colour, map_.colours(), [&](int colour) {
        Scalar *work = work_.data() + offset(colour);
        gather_rows(space_, lines(), first(colour), last(colour), rhs, work);
        solver(colour).solve(work, work, plain);
        scatter_rows(space_, lines(), first(colour), last(colour), static_cast<const Scalar *>(work), solution, options.update);
      });
    }
  }

  const char *method() const override { return solvers_.empty() ? "none" : solvers_.front()->method(); }
  double flops(Colour colour) const override
  {
    double flops = 0;
    for_colours(colour, map_.colours(), [&](int c) { flops += solver(c).flops(); });
    return flops;
  }

private:
  const LineArrays<Space> &lines() const { return arrays_of<Space>(map_.arrays()); }
  const LineSolver<Scalar> &solver(int colour) const { return *solvers_[static_cast<std::size_t>(colour)]; }
  Index first(int colour) const { return map_.colour_rows()[static_cast<std::size_t>(colour)]; }
  Index last(int colour) const { return map_.colour_rows()[static_cast<std::size_t>(colour) + 1]; }
  Index offset(int colour) const { return offset_[static_cast<std::size_t>(colour)]; }
  /// Coefficients of a colour: 0 lower, 1 diagonal, 2 upper.
  Scalar *at(int colour, int which) const { return coefficients_.data() + which * size_ + offset(colour); }
  template <class Int>
  void read_csr(const CsrMatrix<Value, Int> &matrix)
  {
    for (int colour = 0; colour < map_.colours(); colour++)
      mapped_tridiagonal_of_csr(space_, lines(), first(colour), last(colour), matrix, at(colour, 0), at(colour, 1), at(colour, 2));
  }

  Space space_;
  const LineMap &map_;
  std::vector<Index> offset_; ///< of each colour's rows in the arrays
  Index size_ = 0;
  OwnedArray<Scalar, Space> coefficients_; ///< lower, diagonal, upper
  OwnedArray<Scalar, Space> work_;
  std::vector<std::unique_ptr<LineSolver<Scalar>>> solvers_; ///< one for each colour
};

} // namespace

template <class Value>
template <class Scalar>
Owner<MappedSolver<Value>> MappedSolver<Value>::lines(const LineMap &map, const std::string &method, const MethodParameters &parameters)
{
  if (method != "auto")
    if (const auto why = mapped_method_refuses(method, map, parameters)) throw std::invalid_argument(*why);
  return on_backend(map.execution(), [&](const auto &space) -> Owner<MappedSolver> {
    return make_owner<MappedLinesIn<std::decay_t<decltype(space)>, Scalar, Value>>(space, map, method, parameters);
  });
}

template Owner<MappedSolver<KernelScalar>> MappedSolver<KernelScalar>::lines<KernelScalar>(const LineMap &, const std::string &,
                                                                                           const MethodParameters &);
template Owner<MappedSolver<KernelScalar>> MappedSolver<KernelScalar>::lines<OtherScalar>(const LineMap &, const std::string &,
                                                                                          const MethodParameters &);
template Owner<MappedSolver<OtherScalar>> MappedSolver<OtherScalar>::lines<OtherScalar>(const LineMap &, const std::string &,
                                                                                        const MethodParameters &);

} // namespace weft
