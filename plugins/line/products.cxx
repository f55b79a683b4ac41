// Products and residuals with the matrix of a PCLINE from the diagonals that it keeps for its sweeps: 8 bytes an entry where CSR moves 12, and
// a residual in one pass. PETSc's own operations stay behind: for vectors elsewhere, and when the matrix was changed since.
#include <petsc/private/matimpl.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>

#include "line/line_impl.h"

namespace weft {

namespace {

constexpr const char *products_name = "weft_products";

struct Products {
  const PC_Line *line    = nullptr;
  PetscContainer mark    = NULL; ///< composed with the matrix: gone once PETSc has put another in its place
  PetscObjectState state = 0;    ///< of the matrix when its diagonals were read
  PetscErrorCode (*mult)(Mat, Vec, Vec);
  PetscErrorCode (*residual)(Mat, Vec, Vec, Vec);
};

// Of the matrices that have such products now. PETSc may drop what is composed with a matrix and keep its operations: MatTranspose() in place
// does.
std::map<Mat, Products> &AllProducts()
{
  static std::map<Mat, Products> all;
  return all;
}

PetscErrorCode GetProducts(Mat A, Products **products)
{
  const auto found = AllProducts().find(A);

  PetscFunctionBegin;
  PetscCheck(found != AllProducts().end(), PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB,
             "a matrix has the products of PCLINE that were given to another");
  *products = &found->second;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// False once the matrix is another in the same place.
PetscErrorCode IsMarked(Mat A, const Products &products, bool *marked)
{
  PetscObject mark;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, products_name, &mark));
  *marked = mark && mark == (PetscObject)products.mark;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls body(stencil) if the diagonals still are those of the matrix, and PETSc's current stream is theirs.
template <class Body>
PetscErrorCode WithStencil(Mat A, const Products &products, const Body &body)
{
  const StencilMatrix<KernelScalar> *stencil = products.line->stencil.get();
  PetscObjectState state;
  void *stream = NULL;
  bool marked;

  PetscFunctionBegin;
  PetscCall(IsMarked(A, products, &marked));
  if (!stencil || !marked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (stencil->execution().memory() == Memory::device) PetscCall(CurrentStream(&stream));
  if (state != products.state || stream != stencil->execution().stream()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(body(*stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Allocates nothing, as PETSc calls products past what looks after exceptions. Opens arrays for body(), and calls it if all are where the diagonals are, whose operations are logged, and `extra` ones a row.
template <class Body>
PetscErrorCode OnDiagonals(const StencilMatrix<KernelScalar> &stencil, std::initializer_list<VecArray *> arrays, PetscLogDouble extra,
                           const Body &body, bool *done)
{
  const Memory memory       = stencil.execution().memory();
  const PetscLogDouble rows = static_cast<PetscLogDouble>(stencil.rows());

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  for (VecArray *array : arrays) PetscCall(array->Open());
  *done = std::all_of(arrays.begin(), arrays.end(), [memory](const VecArray *array) { return array->memory() == memory; });
  if (*done) PetscCallCXX(body());
  for (auto array = std::make_reverse_iterator(arrays.end()); array != std::make_reverse_iterator(arrays.begin()); ++array)
    PetscCall((*array)->Close());
  PetscCall(PetscLogGpuTimeEnd());
  if (*done) PetscCall(LogFlops(memory, (2 * static_cast<PetscLogDouble>(stencil.offsets().size()) + extra) * rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_Diagonals(Mat A, Vec x, Vec y)
{
  Products *products = NULL;
  bool done          = false;

  PetscFunctionBegin;
  PetscCall(GetProducts(A, &products));
  PetscCall(WithStencil(A, *products, [&](const StencilMatrix<KernelScalar> &stencil) {
    VecArray from(x, Access::read), to(y, Access::write);
    return OnDiagonals(
        stencil, {&from, &to}, -1, [&] { stencil.multiply(from.data(), to.data()); }, &done);
  }));
  if (!done) PetscCall(products->mult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatResidual_Diagonals(Mat A, Vec b, Vec x, Vec r)
{
  Products *products = NULL;
  bool done          = false;

  PetscFunctionBegin;
  PetscCall(GetProducts(A, &products));
  if (r != b && r != x) {
    PetscCall(WithStencil(A, *products, [&](const StencilMatrix<KernelScalar> &stencil) {
      VecArray rhs(b, Access::read), from(x, Access::read), to(r, Access::write);
      VecArray *const guess = x == b ? &rhs : &from; // an array is opened once
      const auto product    = [&] { stencil.residual(rhs.data(), guess->data(), to.data()); };
      return x == b ? OnDiagonals(stencil, {&rhs, &to}, 0, product, &done) : OnDiagonals(stencil, {&rhs, &from, &to}, 0, product, &done);
    }));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (products->residual) {
    PetscCall(products->residual(A, b, x, r));
  } else {
    PetscCall(products->mult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCLineLeaveProducts(PC pc)
{
  PC_Line *line      = Data(pc);
  Products *products = NULL;
  bool marked;

  PetscFunctionBegin;
  if (!line->with_products) PetscFunctionReturn(PETSC_SUCCESS);
  Mat A = line->with_products;
  PetscCall(GetProducts(A, &products));
  // Others may have put operations of their own there since.
  if (A->ops->mult == MatMult_Diagonals) A->ops->mult = products->mult;
  if (A->ops->residual == MatResidual_Diagonals) A->ops->residual = products->residual;
  PetscCall(IsMarked(A, *products, &marked));
  if (marked) PetscCall(PetscObjectCompose((PetscObject)A, products_name, NULL));
  PetscCall(PetscContainerDestroy(&products->mark));
  AllProducts().erase(A);
  PetscCall(MatDestroy(&line->with_products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineTakeProducts(PC pc)
{
  PC_Line *line = Data(pc);
  Mat A         = pc->pmat;
  PetscBool sequential;

  PetscFunctionBegin;
  if (!line->diagonal_products || !line->stencil || !line->stencil->in_diagonals()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &sequential));
  if (!sequential || AllProducts().count(A)) PetscFunctionReturn(PETSC_SUCCESS); // another PCLINE has given it its products
  Products products;
  products.line     = line;
  products.mult     = A->ops->mult;
  products.residual = A->ops->residual;
  PetscCall(PetscObjectStateGet((PetscObject)A, &products.state));
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &products.mark));
  PetscCall(PetscObjectCompose((PetscObject)A, products_name, (PetscObject)products.mark));
  PetscCallCXX(AllProducts()[A] = products);
  A->ops->mult     = MatMult_Diagonals;
  A->ops->residual = MatResidual_Diagonals;
  PetscCall(PetscObjectReference((PetscObject)A));
  line->with_products = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
