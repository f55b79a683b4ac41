#include "derivative.hpp"

#include <climits>
#include <cmath>

#include "device_view.hpp"

namespace compact {

namespace {

/// The box of this rank and of its neighbours, as DMDA numbers them.
struct Boxes {
  PetscInt dim, global[3], first[3], nodes[3], ranks[3];
  const PetscInt *sizes[3] = {};
  DMBoundaryType boundary[3];
};

PetscErrorCode BoxesOf(DM da, Boxes *boxes)
{
  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &boxes->dim, &boxes->global[0], &boxes->global[1], &boxes->global[2], &boxes->ranks[0], &boxes->ranks[1],
                        &boxes->ranks[2], NULL, NULL, &boxes->boundary[0], &boxes->boundary[1], &boxes->boundary[2], NULL));
  PetscCall(DMDAGetCorners(da, &boxes->first[0], &boxes->first[1], &boxes->first[2], &boxes->nodes[0], &boxes->nodes[1], &boxes->nodes[2]));
  PetscCall(DMDAGetOwnershipRanges(da, &boxes->sizes[0], &boxes->sizes[1], &boxes->sizes[2]));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// An error on all ranks where some rank has one.
PetscErrorCode Together(MPI_Comm comm, const std::string &why)
{
  PetscMPIInt rank, mine, first;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = why.empty() ? INT_MAX : rank;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_ARG_SIZ, "rank %d: %s", (int)first, rank == first ? why.c_str() : "its message says why");
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace

PetscErrorCode RegisterEvents(Events *events)
{
  PetscClassId id;

  PetscFunctionBeginUser;
  PetscCall(PetscClassIdRegister("Compact", &id));
  PetscCall(PetscLogEventRegister("CompactHalo", id, &events->halo));
  PetscCall(PetscLogEventRegister("CompactStencil", id, &events->stencil));
  PetscCall(PetscLogEventRegister("CompactSolve", id, &events->solve));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// The neighbours' rows next to this box, row by row, go to halo_: on a device PETSc packs and sends them there, or through pinned memory where MPI knows
/// no device (-use_gpu_aware_mpi 0).
PetscErrorCode Derivative::MakeHalo(Vec f)
{
  Boxes boxes;
  std::vector<PetscInt> indices;
  PetscMPIInt ranks, here;
  PetscInt start, local;
  VecType type;
  IS from;
  const int d = direction_, width = stencil_->width();

  PetscFunctionBeginUser;
  PetscCall(BoxesOf(da_, &boxes));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)da_), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)da_), &here));
  std::vector<PetscInt> starts((std::size_t)ranks);
  PetscCall(VecGetOwnershipRange(f, &start, NULL));
  PetscCallMPI(MPI_Allgather(&start, 1, MPIU_INT, starts.data(), 1, MPIU_INT, PetscObjectComm((PetscObject)da_)));
  const PetscInt steps[3] = {1, boxes.ranks[0], boxes.ranks[0] * boxes.ranks[1]}; // DMDA numbers ranks like nodes, along x first
  PetscInt at             = 0;                                                    // of this box among those along the direction
  for (PetscInt sum = 0; sum < boxes.first[d]; at++) sum += boxes.sizes[d][at];
  for (int side = -1; side <= 1; side += 2) {
    if (!(side < 0 ? stencil_->needs_before() : stencil_->needs_after())) continue;
    const PetscInt other   = (at + side + boxes.ranks[d]) % boxes.ranks[d];
    const PetscMPIInt rank = here + (PetscMPIInt)((other - at) * steps[d]);
    PetscInt n[3]          = {boxes.nodes[0], boxes.nodes[1], boxes.nodes[2]}, x[3];
    n[d]                   = boxes.sizes[d][other];
    for (int plane = 0; plane < width; plane++) {
      PetscInt size[3] = {n[0], n[1], n[2]};
      size[d]          = 1;
      for (x[2] = 0; x[2] < size[2]; x[2]++) {
        for (x[1] = 0; x[1] < size[1]; x[1]++) {
          for (x[0] = 0; x[0] < size[0]; x[0]++) {
            PetscInt node[3] = {x[0], x[1], x[2]};
            node[d]          = side < 0 ? n[d] - width + plane : plane;
            indices.push_back(starts[(std::size_t)rank] + (node[2] * n[1] + node[1]) * n[0] + node[0]);
          }
        }
      }
    }
  }
  local = (PetscInt)indices.size();
  PetscCall(VecGetType(f, &type));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)f), &halo_));
  PetscCall(VecSetSizes(halo_, local, PETSC_DETERMINE));
  PetscCall(VecSetType(halo_, type));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)f), local, indices.data(), PETSC_COPY_VALUES, &from));
  PetscCall(VecScatterCreate(f, from, halo_, NULL, &exchange_));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::MakeMatrix(const Scheme &scheme, bool assembled, VecType type)
{
  Boxes boxes;
  Mat one;

  PetscFunctionBeginUser;
  PetscCall(BoxesOf(da_, &boxes));
  const PetscInt n  = boxes.global[direction_];
  const bool ring   = boxes.boundary[direction_] == DM_BOUNDARY_PERIODIC;
  const auto row_of = [&](PetscInt row) {
    const PetscInt left = n - 1 - row;
    if (!ring && row < (PetscInt)scheme.head.size()) return scheme.head[(std::size_t)row];
    if (!ring && left < (PetscInt)scheme.tail.size()) return scheme.tail[(std::size_t)left];
    return scheme.inner;
  };
  if (!assembled) {
    const PetscInt local = boxes.nodes[0] * boxes.nodes[1] * boxes.nodes[2];
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &one));
    for (PetscInt row = 0; row < n; row++) {
      const Couplings values = row_of(row);
      for (PetscInt k = -1; k <= 1; k++) {
        const PetscInt column = ring ? (row + k + n) % n : row + k;
        if (column >= 0 && column < n) PetscCall(MatSetValue(one, row, column, values[(std::size_t)(k + 1)], ADD_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(one, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(one, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateShell(PetscObjectComm((PetscObject)da_), local, local, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &matrix_));
    PetscCall(MatSetUp(matrix_));
    PetscCall(MatShellSetVecType(matrix_, type));
    PetscCall(PetscObjectCompose((PetscObject)matrix_, "weft_line", (PetscObject)one));
    PetscCall(MatDestroy(&one));
    PetscFunctionReturn((PetscErrorCode)0);
  }
  PetscCall(DMCreateMatrix(da_, &matrix_));
  PetscCall(MatSetOption(matrix_, MAT_IGNORE_ZERO_ENTRIES, PETSC_FALSE));
  for (PetscInt k = boxes.first[2]; k < boxes.first[2] + boxes.nodes[2]; k++) {
    for (PetscInt j = boxes.first[1]; j < boxes.first[1] + boxes.nodes[1]; j++) {
      for (PetscInt i = boxes.first[0]; i < boxes.first[0] + boxes.nodes[0]; i++) {
        const PetscInt at[3] = {i, j, k}, row = at[direction_];
        const Couplings values = row_of(row);
        MatStencil to          = {}, from[3];
        PetscScalar stored[3];
        PetscInt count = 0;
        to.i = i, to.j = j, to.k = k;
        for (PetscInt step = -1; step <= 1; step++) {
          if (!ring && (row + step < 0 || row + step >= n)) continue;
          from[count] = to;
          (direction_ == 0 ? from[count].i : direction_ == 1 ? from[count].j : from[count].k) += step;
          stored[count++] = values[(std::size_t)(step + 1)];
        }
        PetscCall(MatSetValuesStencil(matrix_, 1, &to, count, from, stored, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Create(DM da, int direction, const Scheme &scheme, PetscReal spacing, bool assembled, const char prefix[],
                                  const Events &events)
{
  Boxes boxes;
  VecType type;
  PetscMemType where;
  const PetscScalar *array;
  std::string why;
  PC pc;

  PetscFunctionBeginUser;
  da_        = da;
  direction_ = direction;
  events_    = events;
  PetscCall(BoxesOf(da, &boxes));
  PetscCall(DMCreateGlobalVector(da, &right_));
  PetscCall(VecGetType(right_, &type));
  PetscCall(VecGetArrayReadAndMemType(right_, &array, &where));
  PetscCall(VecRestoreArrayReadAndMemType(right_, &array));
  PetscCall(weft::MakeExecution(PetscMemTypeDevice(where) ? weft::Memory::device : weft::Memory::host, &execution_));

  weft::BoxPiece piece;
  for (int k = 0; k < 3; k++) piece.n[k] = boxes.nodes[k];
  piece.direction         = direction;
  piece.first             = boxes.first[direction];
  piece.length            = boxes.global[direction];
  piece.ring              = boxes.boundary[direction] == DM_BOUNDARY_PERIODIC;
  weft::CompactRows right = scheme.right;
  const auto divide       = [&](std::vector<double> &weights) {
    for (double &weight : weights) weight /= std::pow((double)spacing, scheme.derivative);
  };
  divide(right.inner);
  for (auto &row : right.head) divide(row);
  for (auto &row : right.tail) divide(row);
  try {
    stencil_ = std::make_unique<weft::CompactStencil<PetscScalar>>(*execution_, piece, right);
  } catch (const std::invalid_argument &refused) {
    why = refused.what();
  }
  PetscCall(Together(PetscObjectComm((PetscObject)da), why));
  PetscCall(MakeHalo(right_));
  PetscCall(MakeMatrix(scheme, assembled, type));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)da), &ksp_));
  PetscCall(KSPGetPC(ksp_, &pc));
  PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetOperators(ksp_, matrix_, matrix_));
  const char axis[] = {"xyz"[direction], '_', 0};
  PetscCall(KSPSetOptionsPrefix(ksp_, prefix));
  PetscCall(KSPAppendOptionsPrefix(ksp_, axis));
  PetscCall(KSPSetType(ksp_, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp_));
  PetscCall(KSPSetUp(ksp_));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Destroy()
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&ksp_));
  PetscCall(MatDestroy(&matrix_));
  PetscCall(VecDestroy(&right_));
  PetscCall(VecDestroy(&halo_));
  PetscCall(VecScatterDestroy(&exchange_));
  stencil_.reset();
  execution_.reset();
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::ApplyRight(Vec f, Vec right)
{
  using weft::Access;
  const weft::CompactStencil<PetscScalar> &stencil = *stencil_;
  const PetscInt before                            = stencil.needs_before() ? (PetscInt)(stencil.width() * stencil.piece().lines()) : 0;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventBegin(events_.halo, f, right, NULL, NULL));
  PetscCall(VecScatterBegin(exchange_, f, halo_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PetscLogEventEnd(events_.halo, f, right, NULL, NULL));
  PetscCall(PetscLogEventBegin(events_.stencil, f, right, NULL, NULL));
  PetscCall(weft::WithVecArrays(f, Access::read, right, Access::write, [&](weft::Memory, PetscScalar *from, PetscScalar *to) {
    PetscFunctionBeginUser;
    PetscCallCXX(stencil.apply_inside(from, to));
    PetscFunctionReturn((PetscErrorCode)0);
  }));
  PetscCall(PetscLogEventEnd(events_.stencil, f, right, NULL, NULL));
  PetscCall(PetscLogEventBegin(events_.halo, f, right, NULL, NULL));
  PetscCall(VecScatterEnd(exchange_, f, halo_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PetscLogEventEnd(events_.halo, f, right, NULL, NULL));
  if (!stencil.needs_before() && !stencil.needs_after()) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(PetscLogEventBegin(events_.stencil, f, right, NULL, NULL));
  weft::VecArray rows(halo_, Access::read);
  PetscCall(rows.Open());
  PetscCall(weft::WithVecArrays(f, Access::read, right, Access::read_write, [&](weft::Memory, PetscScalar *from, PetscScalar *to) {
    PetscFunctionBeginUser;
    PetscCallCXX(stencil.apply_ends(from, rows.data(), rows.data() + before, to));
    PetscFunctionReturn((PetscErrorCode)0);
  }));
  PetscCall(rows.Close());
  PetscCall(PetscLogEventEnd(events_.stencil, f, right, NULL, NULL));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Apply(Vec f, Vec g)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(ApplyRight(f, right_));
  PetscCall(PetscLogEventBegin(events_.solve, f, g, NULL, NULL));
  PetscCall(KSPSolve(ksp_, right_, g));
  PetscCall(PetscLogEventEnd(events_.solve, f, g, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp_, &reason));
  PetscCheck(reason > 0, PetscObjectComm((PetscObject)f), PETSC_ERR_NOT_CONVERGED, "the solve along %c ended by %s", "xyz"[direction_],
             KSPConvergedReasons[reason]);
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
