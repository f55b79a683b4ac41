#include "line/maps/mapped_line_solver.hpp"

#include <stdexcept>

#include "line/host_copies.hpp"
#include "line/maps/mapped_lines.hpp"

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

/// What a solver keeps in the memory of its execution, its types hidden.
template <class Scalar, class Value>
class MappedLineSolver<Scalar, Value>::Impl {
public:
  using Host = Kokkos::View<Scalar *, Kokkos::HostSpace>;

  virtual ~Impl()                                                 = default;
  virtual void read(const CsrMatrix<Value, std::int32_t> &matrix) = 0;
  virtual void read(const CsrMatrix<Value, std::int64_t> &matrix) = 0;
  virtual void read(const Host &coefficients)                     = 0;
  virtual Host host_coefficients() const                          = 0;
  virtual const Scalar *coefficients(int colour, int which) const = 0; ///< of a colour: 0 lower, 1 diagonal, 2 upper
  virtual Scalar *gather(int colour, const Value *rhs) const      = 0; ///< the right-hand side in the order of the lines
  virtual void scatter(int colour, Value *solution, const Update<Value> &update) const = 0;
  virtual Index row(Index position) const                                              = 0; ///< of the matrix; waits
};

namespace {

template <class Space, class Scalar, class Value>
class ImplOn final : public MappedLineSolver<Scalar, Value>::Impl {
public:
  using Base = typename MappedLineSolver<Scalar, Value>::Impl;
  using Host = typename Base::Host;

  ImplOn(const Space &space, const LineMap &map) : space_(space), map_(map)
  {
    // The rows of a colour start where vector loads like them to.
    constexpr Index alignment = 64;
    for (int colour = 0; colour < map.colours(); colour++) {
      offset_.push_back(size_);
      size_ += (last(colour) - first(colour) + alignment - 1) / alignment * alignment;
    }
    coefficients_ = OwnedArray<Scalar, Space>("weft coefficients", static_cast<std::size_t>(3 * size_));
    work_         = OwnedArray<Scalar, Space>("weft mapped right-hand side", static_cast<std::size_t>(size_));
  }

  void read(const CsrMatrix<Value, std::int32_t> &matrix) override { read_csr(matrix); }
  void read(const CsrMatrix<Value, std::int64_t> &matrix) override { read_csr(matrix); }
  void read(const Host &coefficients) override { copy_from_host(space_, coefficients_, coefficients); }
  Host host_coefficients() const override { return copy_to_host(space_, coefficients_); }
  const Scalar *coefficients(int colour, int which) const override { return at(colour, which); }
  Scalar *gather(int colour, const Value *rhs) const override
  {
    Scalar *work = work_.data() + offset(colour);
    gather_rows(space_, lines(), first(colour), last(colour), rhs, work);
    return work;
  }
  void scatter(int colour, Value *solution, const Update<Value> &update) const override
  {
    scatter_rows(space_, lines(), first(colour), last(colour), static_cast<const Scalar *>(work_.data() + offset(colour)), solution,
                 update);
  }
  Index row(Index position) const override { return value_at(space_, lines().order, position); }

private:
  const LineArrays<Space> &lines() const { return arrays_of<Space>(map_.arrays()); }
  Index first(int colour) const { return map_.colour_rows()[static_cast<std::size_t>(colour)]; }
  Index last(int colour) const { return map_.colour_rows()[static_cast<std::size_t>(colour) + 1]; }
  Index offset(int colour) const { return offset_[static_cast<std::size_t>(colour)]; }
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
};

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

} // namespace

template <class Scalar, class Value>
MappedLineSolver<Scalar, Value>::MappedLineSolver(const LineMap &map, const std::string &method, const MethodParameters &parameters)
    : map_(map)
{
  if (method != "auto")
    if (const auto why = mapped_method_refuses(method, map, parameters)) throw std::invalid_argument(*why);
  impl_ = on_backend(map.execution(), [&](const auto &space) -> std::unique_ptr<Impl> {
    return std::make_unique<ImplOn<std::decay_t<decltype(space)>, Scalar, Value>>(space, map);
  });
  for (std::size_t colour = 0; colour + 1 < map.colour_rows().size(); colour++) {
    const LineProblem problem(one_line(map.colour_rows()[colour + 1] - map.colour_rows()[colour]));
    solvers_.push_back(LineSolver<Scalar>::make(map.execution(), problem, method, parameters));
    const int c = static_cast<int>(colour);
    solvers_.back()->use(impl_->coefficients(c, 0), impl_->coefficients(c, 1), impl_->coefficients(c, 2));
  }
}

template <class Scalar, class Value>
MappedLineSolver<Scalar, Value>::~MappedLineSolver()
{
  destroy_or_leave(impl_);
}

template <class Scalar, class Value>
template <class Int>
void MappedLineSolver<Scalar, Value>::read(const CsrMatrix<Value, Int> &matrix)
{
  impl_->read(matrix);
}

template <class Scalar, class Value>
void MappedLineSolver<Scalar, Value>::read(const MappedLineSolver &other)
{
  impl_->read(other.impl_->host_coefficients());
}

template <class Scalar, class Value>
void MappedLineSolver<Scalar, Value>::factor()
{
  for (const auto &solver : solvers_) solver->factor();
}

template <class Scalar, class Value>
std::optional<Index> MappedLineSolver<Scalar, Value>::bad_pivot() const
{
  for (std::size_t colour = 0; colour < solvers_.size(); colour++)
    if (const auto bad = solvers_[colour]->bad_pivot()) return impl_->row(map_.colour_rows()[colour] + bad->row);
  return std::nullopt;
}

template <class Scalar, class Value>
void MappedLineSolver<Scalar, Value>::solve(const Value *rhs, Value *solution, const SolveOptions<Value> &options) const
{
  SolveOptions<Scalar> plain;
  plain.transpose = options.transpose;
  for (int k = 0; k < options.nrhs; k++, rhs += options.ld, solution += options.ld) {
    for_colours(options.colour, map_.colours(), [&](int colour) {
      Scalar *work = impl_->gather(colour, rhs);
      solvers_[static_cast<std::size_t>(colour)]->solve(work, work, plain);
      impl_->scatter(colour, solution, options.update);
    });
  }
}

template <class Scalar, class Value>
const char *MappedLineSolver<Scalar, Value>::method() const
{
  return solvers_.empty() ? "none" : solvers_.front()->method();
}

template <class Scalar, class Value>
double MappedLineSolver<Scalar, Value>::flops(Colour colour) const
{
  double flops = 0;
  for_colours(colour, map_.colours(), [&](int c) { flops += solvers_[static_cast<std::size_t>(c)]->flops(); });
  return flops;
}

template class MappedLineSolver<double, double>;
template class MappedLineSolver<float, double>;
template class MappedLineSolver<float, float>;
template void MappedLineSolver<double, double>::read(const CsrMatrix<double, std::int32_t> &);
template void MappedLineSolver<double, double>::read(const CsrMatrix<double, std::int64_t> &);
template void MappedLineSolver<float, double>::read(const CsrMatrix<double, std::int32_t> &);
template void MappedLineSolver<float, double>::read(const CsrMatrix<double, std::int64_t> &);
template void MappedLineSolver<float, float>::read(const CsrMatrix<float, std::int32_t> &);
template void MappedLineSolver<float, float>::read(const CsrMatrix<float, std::int64_t> &);

} // namespace weft
