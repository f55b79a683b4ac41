/// The staircase between PETSc's memory and Weft's kernels: arrays of Vec and AIJ matrices where they are, without a copy. The kernels wrap
/// the pointers in unmanaged Kokkos Views of the execution space that belongs to `memory`; src/backend.hpp holds that half.
#pragma once
#include <petscdevice.h>
#include <petscmat.h>

#include "execution.hpp"
#include "petsc_compat.h"
#include "tridiagonal/line_solver.hpp"

namespace weft {

/// PETSc's current stream (a cudaStream_t), so that kernels run in order with PETSc's own; null where PETSc has no device.
inline PetscErrorCode CurrentStream(void **stream)
{
  PetscFunctionBegin;
  *stream = NULL;
#if defined(PETSC_HAVE_CUDA)
  PetscDeviceContext context;
  void *handle = NULL;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  if (handle) *stream = *static_cast<void **>(handle);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum class Access { read, write, read_write };

/// The array of a vector between Open and Close.
class VecArray {
public:
  VecArray(Vec vec, Access access) : vec_(vec), access_(access) {}

  /// Where PETSc has the values: on the device for vectors that live there.
  PetscErrorCode Open()
  {
    PetscMemType type;

    PetscFunctionBegin;
    switch (access_) {
    case Access::read:
      PetscCall(VecGetArrayReadAndMemType(vec_, const_cast<const PetscScalar **>(&array_), &type));
      break;
    case Access::write:
      PetscCall(VecGetArrayWriteAndMemType(vec_, &array_, &type));
      break;
    case Access::read_write:
      PetscCall(VecGetArrayAndMemType(vec_, &array_, &type));
      break;
    }
    memory_ = PetscMemTypeDevice(type) ? Memory::device : Memory::host;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// On the host in any case; PETSc copies the values if it has to.
  PetscErrorCode OpenOnHost()
  {
    PetscFunctionBegin;
    switch (access_) {
    case Access::read:
      PetscCall(VecGetArrayRead(vec_, const_cast<const PetscScalar **>(&array_)));
      break;
    case Access::write:
      PetscCall(VecGetArrayWrite(vec_, &array_));
      break;
    case Access::read_write:
      PetscCall(VecGetArray(vec_, &array_));
      break;
    }
    memory_  = Memory::host;
    on_host_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Close()
  {
    PetscFunctionBegin;
    if (on_host_) {
      switch (access_) {
      case Access::read:
        PetscCall(VecRestoreArrayRead(vec_, const_cast<const PetscScalar **>(&array_)));
        break;
      case Access::write:
        PetscCall(VecRestoreArrayWrite(vec_, &array_));
        break;
      case Access::read_write:
        PetscCall(VecRestoreArray(vec_, &array_));
        break;
      }
    } else {
      switch (access_) {
      case Access::read:
        PetscCall(VecRestoreArrayReadAndMemType(vec_, const_cast<const PetscScalar **>(&array_)));
        break;
      case Access::write:
        PetscCall(VecRestoreArrayWriteAndMemType(vec_, &array_));
        break;
      case Access::read_write:
        PetscCall(VecRestoreArrayAndMemType(vec_, &array_));
        break;
      }
    }
    on_host_ = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscScalar *data() const { return array_; }
  Memory memory() const { return memory_; }

private:
  Vec vec_;
  Access access_;
  PetscScalar *array_ = nullptr;
  Memory memory_      = Memory::host;
  bool on_host_       = false;
};

/// Calls body(memory, first array, second array) with the arrays of two vectors in one memory: the device if both vectors live there and
/// this build has kernels for it, the host otherwise (vectors bound to the CPU, or one of each kind).
template <class Body>
PetscErrorCode WithVecArrays(Vec first, Access first_access, Vec second, Access second_access, const Body &body)
{
  VecArray a(first, first_access), b(second, second_access);

  PetscFunctionBegin;
  PetscCall(a.Open());
  PetscCall(b.Open());
  if (a.memory() != b.memory() || !has_backend(a.memory())) {
    PetscCall(b.Close());
    PetscCall(a.Close());
    PetscCall(a.OpenOnHost());
    PetscCall(b.OpenOnHost());
  }
  PetscCall(body(a.memory(), a.data(), b.data()));
  PetscCall(b.Close());
  PetscCall(a.Close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows and columns of a sequential or parallel AIJ matrix that this rank owns, as CSR, and the memory they are in. The arrays are
/// PETSc's and only to be read; they are valid until the matrix changes.
inline PetscErrorCode MatGetLocalCsr(Mat A, CsrMatrix<PetscScalar, PetscInt> *csr, Memory *memory)
{
  Mat local = A;
  PetscBool parallel;
  PetscMemType type = PETSC_MEMTYPE_HOST;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &local, NULL, NULL));
  PetscCall(MatSeqAIJGetCSRAndMemType(local, &csr->row_starts, &csr->columns, &values, &type));
  csr->values = values;
  *memory     = PetscMemTypeDevice(type) ? Memory::device : Memory::host;
  PetscCheck(has_backend(*memory), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "the matrix is on a device and this libweft has no device kernels: build Weft with a PETSc that was configured with Kokkos, "
             "or use -mat_type aij");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
