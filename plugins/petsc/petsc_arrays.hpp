/// The staircase between PETSc's memory and Weft's kernels: arrays of Vec and AIJ matrices where they are, without a copy. The kernels wrap
/// the pointers in unmanaged Kokkos Views of the execution space that belongs to `memory`; src/base/backend.hpp holds that half.
#pragma once
#include <petscdevice.h>
#include <petscmat.h>

#include <memory>

#include "base/csr_copy.hpp"
#include "base/execution.hpp"
#include "petsc/petsc_compat.h"

namespace weft {

/// PETSc's current stream (a cudaStream_t or hipStream_t), so that kernels run in order with PETSc's own; null where PETSc has no device.
inline PetscErrorCode CurrentStream(void **stream)
{
  PetscFunctionBegin;
  *stream = NULL;
#if defined(PETSC_HAVE_CUDA) || defined(PETSC_HAVE_HIP)
  PetscDeviceContext context;
  void *handle = NULL;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  if (handle) *stream = *static_cast<void **>(handle);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An execution in `memory` on PETSc's current stream.
inline PetscErrorCode MakeExecution(Memory memory, std::unique_ptr<Execution> *execution)
{
  void *stream = NULL;

  PetscFunctionBegin;
  if (memory == Memory::device) PetscCall(CurrentStream(&stream));
  PetscCallCXX(*execution = std::make_unique<Execution>(memory, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static_assert(sizeof(KernelScalar) == sizeof(PetscScalar) && complex_built == PetscDefined(USE_COMPLEX));

/// PETSc's numbers as those of kernels, where they are.
inline KernelScalar *ToKernel(PetscScalar *array)
{
  return reinterpret_cast<KernelScalar *>(array);
}
inline const KernelScalar *ToKernel(const PetscScalar *array)
{
  return reinterpret_cast<const KernelScalar *>(array);
}

/// The other way round.
inline const PetscScalar *ToPetsc(const KernelScalar *array)
{
  return reinterpret_cast<const PetscScalar *>(array);
}

/// read: the values at Close are those at Open, but kernels may change some of them in between, where they say so.
enum class Access { read, write, read_write };

/// The array of a vector between Open and Close.
class VecArray {
public:
  VecArray(Vec vec, Access access) : vec_(vec), access_(access) {}

  /// Where PETSc has the values: on the device for vectors that live there.
  PetscErrorCode Open()
  {
    PetscMemType type = PETSC_MEMTYPE_HOST;

    PetscFunctionBegin;
    if (access_ == Access::read) PetscCall(VecGetArrayReadAndMemType(vec_, read_only(), &type));
    if (access_ == Access::write) PetscCall(VecGetArrayWriteAndMemType(vec_, &array_, &type));
    if (access_ == Access::read_write) PetscCall(VecGetArrayAndMemType(vec_, &array_, &type));
    memory_ = PetscMemTypeDevice(type) ? Memory::device : Memory::host;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// On the host in any case; PETSc copies the values if it has to.
  PetscErrorCode OpenOnHost()
  {
    PetscFunctionBegin;
    if (access_ == Access::read) PetscCall(VecGetArrayRead(vec_, read_only()));
    if (access_ == Access::write) PetscCall(VecGetArrayWrite(vec_, &array_));
    if (access_ == Access::read_write) PetscCall(VecGetArray(vec_, &array_));
    memory_  = Memory::host;
    on_host_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Close()
  {
    PetscFunctionBegin;
    if (on_host_) {
      if (access_ == Access::read) PetscCall(VecRestoreArrayRead(vec_, read_only()));
      if (access_ == Access::write) PetscCall(VecRestoreArrayWrite(vec_, &array_));
      if (access_ == Access::read_write) PetscCall(VecRestoreArray(vec_, &array_));
    } else {
      if (access_ == Access::read) PetscCall(VecRestoreArrayReadAndMemType(vec_, read_only()));
      if (access_ == Access::write) PetscCall(VecRestoreArrayWriteAndMemType(vec_, &array_));
      if (access_ == Access::read_write) PetscCall(VecRestoreArrayAndMemType(vec_, &array_));
    }
    on_host_ = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  KernelScalar *data() const { return ToKernel(array_); }
  Memory memory() const { return memory_; }

private:
  const PetscScalar **read_only() { return const_cast<const PetscScalar **>(&array_); }

  Vec vec_;
  Access access_;
  PetscScalar *array_ = nullptr;
  Memory memory_      = Memory::host;
  bool on_host_       = false;
};

/// The arrays of a right-hand side and a solution in one memory: the device if both vectors live there and this build has kernels for it, the
/// host otherwise (vectors bound to the CPU, or one of each kind).
class VecArrays {
public:
  VecArrays(Vec rhs, Access rhs_access, Vec solution, Access solution_access) : rhs_(rhs, rhs_access), solution_(solution, solution_access)
  {
  }

  PetscErrorCode Open()
  {
    PetscFunctionBegin;
    PetscCall(rhs_.Open());
    PetscCall(solution_.Open());
    if (rhs_.memory() == solution_.memory() && has_backend(rhs_.memory())) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Close());
    PetscCall(rhs_.OpenOnHost());
    PetscCall(solution_.OpenOnHost());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Close()
  {
    PetscFunctionBegin;
    PetscCall(solution_.Close());
    PetscCall(rhs_.Close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Memory memory() const { return rhs_.memory(); }
  KernelScalar *rhs() const { return rhs_.data(); }
  KernelScalar *solution() const { return solution_.data(); }

private:
  VecArray rhs_, solution_;
};

/// Calls body(memory, right-hand side, solution) with them open.
template <class Body>
PetscErrorCode WithVecArrays(Vec rhs, Access rhs_access, Vec solution, Access solution_access, const Body &body)
{
  VecArrays arrays(rhs, rhs_access, solution, solution_access);

  PetscFunctionBegin;
  PetscCall(arrays.Open());
  PetscCall(body(arrays.memory(), arrays.rhs(), arrays.solution()));
  PetscCall(arrays.Close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Operations where they were made: PETSc counts those of a device by themselves.
inline PetscErrorCode LogFlops(Memory memory, PetscLogDouble flops)
{
  PetscFunctionBegin;
  if (memory == Memory::device) PetscCall(PetscLogGpuFlops(flops));
  if (memory == Memory::host) PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls body(b, x), which returns an error code, with each column of two dense matrices, one to be read and one to be written.
template <class Body>
PetscErrorCode ForEachColumn(Mat rhs, Mat solution, const Body &body)
{
  PetscInt columns;
  Vec b, x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(rhs, NULL, &columns));
  for (PetscInt k = 0; k < columns; k++) {
    PetscCall(MatDenseGetColumnVecRead(rhs, k, &b));
    PetscCall(MatDenseGetColumnVecWrite(solution, k, &x));
    PetscCall(body(b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(solution, k, &x));
    PetscCall(MatDenseRestoreColumnVecRead(rhs, k, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls body(memory, b, x, nrhs, ld), which returns an error code, with the arrays of two dense matrices, one to be read and one to be written,
/// if their columns lie alike in one memory of which takes(memory) is true. *done says whether it did. Not collective.
template <class Takes, class Body>
PetscErrorCode WithDenseArrays(Mat rhs, Mat solution, const Takes &takes, const Body &body, bool *done)
{
  PetscScalar *b, *x;
  PetscMemType b_type, x_type;
  PetscInt columns, b_ld, x_ld;

  PetscFunctionBegin;
  *done = false;
  PetscCall(MatGetSize(rhs, NULL, &columns));
  PetscCall(MatDenseGetLDA(rhs, &b_ld));
  PetscCall(MatDenseGetLDA(solution, &x_ld));
  if (b_ld != x_ld) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDenseGetArrayReadAndMemType(rhs, const_cast<const PetscScalar **>(&b), &b_type));
  PetscCall(MatDenseGetArrayWriteAndMemType(solution, &x, &x_type));
  const Memory memory = PetscMemTypeDevice(x_type) ? Memory::device : Memory::host;
  if (PetscMemTypeDevice(b_type) == PetscMemTypeDevice(x_type) && takes(memory)) {
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(body(memory, ToKernel(b), ToKernel(x), static_cast<int>(columns), static_cast<Index>(b_ld)));
    PetscCall(PetscLogGpuTimeEnd());
    *done = true;
  }
  PetscCall(MatDenseRestoreArrayWriteAndMemType(solution, &x));
  PetscCall(MatDenseRestoreArrayReadAndMemType(rhs, const_cast<const PetscScalar **>(&b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An error, on all ranks or on none, unless A is assembled and has as many columns as rows on each rank. `who` needs it.
inline PetscErrorCode MatCheckSquare(Mat A, const char who[])
{
  PetscBool assembled;
  PetscInt rows, columns;

  PetscFunctionBegin;
  PetscCall(MatAssembled(A, &assembled));
  PetscCheck(assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "%s needs an assembled matrix: call MatAssemblyBegin() and MatAssemblyEnd() first", who);
  PetscCall(MatGetLocalSize(A, &rows, &columns));
  PetscMPIInt square = rows == columns, all_square;
  PetscCallMPI(MPI_Allreduce(&square, &all_square, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  PetscCheck(all_square, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "%s requires equal local row and column sizes on every rank, so a square matrix", who);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for an AIJ matrix.
inline PetscErrorCode MatCheckAij(Mat A, const char who[])
{
  PetscBool aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "%s works on AIJ matrices and this one is of type %s: use -mat_type aij (-dm_mat_type aij), or give KSPSetOperators() an AIJ "
             "matrix as its second one",
             who, ((PetscObject)A)->type_name);
  PetscCall(MatCheckSquare(A, who));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The part of an AIJ matrix that this rank owns: its rows with the columns of its own unknowns, and those with the columns of other ranks. The
/// arrays are PETSc's and only to be read; they are valid until the matrix changes.
struct LocalMatrix {
  Memory memory = Memory::host;
  CsrMatrix<KernelScalar, PetscInt> inside;
  CsrMatrix<KernelScalar, PetscInt> outside; ///< no rows where the matrix is sequential; as long as this lives
  std::shared_ptr<const CsrCopy<KernelScalar, PetscInt>> outside_copy;
  const PetscInt *outside_columns = NULL; ///< of each column of `outside`, its number in the whole matrix; rising; on the host
  PetscInt outside_size           = 0;    ///< columns of `outside`
  PetscInt rows                   = 0;
  PetscInt first_row              = 0; ///< number of the first row in the whole matrix
};

/// A sequential AIJ matrix, as CSR, and the memory it is in.
inline PetscErrorCode MatGetLocalCsr(Mat A, CsrMatrix<KernelScalar, PetscInt> *csr, Memory *memory)
{
  PetscMemType type = PETSC_MEMTYPE_HOST;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr->row_starts, &csr->columns, &values, &type));
  csr->values = ToKernel(values);
  *memory     = PetscMemTypeDevice(type) ? Memory::device : Memory::host;
  PetscCheck(has_backend(*memory), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "the matrix is on a device and this libweft has no device kernels: build Weft with a PETSc that was configured with Kokkos, "
             "or use -mat_type aij");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The memory that the rows of an AIJ matrix are in, without a copy of what couples to other ranks.
inline PetscErrorCode MatGetMemory(Mat A, Memory *memory)
{
  Mat inside;
  CsrMatrix<KernelScalar, PetscInt> rows;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonalBlock(A, &inside));
  PetscCall(MatGetLocalCsr(inside, &rows, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A sequential AIJ matrix, as CSR on the host, wherever PETSc has it.
inline PetscErrorCode MatGetHostCsr(Mat A, CsrMatrix<KernelScalar, PetscInt> *csr)
{
  const PetscScalar *values;
  PetscInt rows;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &csr->row_starts, &csr->columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "an AIJ matrix does not give its rows");
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  csr->values                = ToKernel(values);
  const PetscInt *row_starts = csr->row_starts, *columns = csr->columns;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_starts, &columns, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A copy of LocalMatrix::outside on a device, of a matrix and a pattern: with them as they were, its values alone are copied again. Its row starts are as
/// many as the rank has rows.
struct KeptOutside {
  PetscObjectId of         = 0;
  PetscObjectState pattern = 0;
  std::shared_ptr<CsrCopy<KernelScalar, PetscInt>> copy;

  PetscErrorCode Update(Mat outside, PetscInt rows, const CsrMatrix<KernelScalar, PetscInt> &host)
  {
    std::unique_ptr<Execution> execution;
    PetscObjectId id;
    PetscObjectState now;

    PetscFunctionBegin;
    PetscCall(MakeExecution(Memory::device, &execution));
    PetscCall(PetscObjectGetId((PetscObject)outside, &id));
    PetscCall(MatGetNonzeroState(outside, &now));
    if (copy && of == id && pattern == now) {
      PetscCallCXX(copy->take(*execution, host.values));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    copy.reset();
    PetscCallCXX(copy = std::make_shared<CsrCopy<KernelScalar, PetscInt>>(*execution, rows, host));
    of      = id;
    pattern = now;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// kept: where a caller that asks again keeps what need not be copied again.
inline PetscErrorCode MatGetLocal(Mat A, LocalMatrix *local, KeptOutside *kept = nullptr)
{
  KeptOutside once;
  Mat inside = A, outside = NULL;
  PetscBool parallel;

  PetscFunctionBegin;
  *local = {};
  PetscCall(MatGetLocalSize(A, &local->rows, NULL));
  PetscCall(MatGetOwnershipRange(A, &local->first_row, NULL));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &inside, &outside, &local->outside_columns));
  PetscCall(MatGetLocalCsr(inside, &local->inside, &local->memory));
  if (!outside) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(outside, NULL, &local->outside_size));
  // On a device PETSc may keep the rows that have entries only. There are few: they come from the host.
  PetscCall(MatGetHostCsr(outside, &local->outside));
  if (local->memory == Memory::device) {
    if (!kept) kept = &once;
    PetscCall(kept->Update(outside, local->rows, local->outside));
    local->outside_copy = kept->copy;
    local->outside      = local->outside_copy->matrix();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
