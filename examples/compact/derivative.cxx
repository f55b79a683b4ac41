#include "derivative.hpp"

#include <cmath>

#include <petscdevice.h>

#if defined(WEFT_DISTRIBUTED)
#include "base/rank_messages.hpp"
#endif
#include "petsc/agreed.h"
#include "petsc/kokkos_start.h"
#include "petsc/message_way.h"
#include "petsc/petsc_arrays.hpp"
#include "weft.h"

namespace compact {

namespace {

/// An error where the DMDA has coordinates and they are not `spacing` apart along the direction, also between boxes and across the ends of a ring.
PetscErrorCode CheckSpacing(DM da, const Boxes &boxes, int direction, PetscReal spacing)
{
  Vec coordinates;
  DM nodes;
  const PetscScalar *x;
  PetscInt from[3], size[3];
  std::string why;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinatesLocal(da, &coordinates));
  if (!coordinates) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(DMGetCoordinateDM(da, &nodes));
  PetscCall(DMDAGetGhostCorners(nodes, &from[0], &from[1], &from[2], &size[0], &size[1], &size[2]));
  const PetscInt strides[3] = {1, size[0], size[0] * size[1]}, whole = boxes.global[direction], end = from[direction] + size[direction];
  const bool ring = boxes.boundary[direction] == DM_BOUNDARY_PERIODIC;
  PetscCall(VecGetArrayRead(coordinates, &x));
  for (PetscInt k = boxes.first[2]; k < boxes.first[2] + boxes.nodes[2]; k++) {
    for (PetscInt j = boxes.first[1]; j < boxes.first[1] + boxes.nodes[1]; j++) {
      for (PetscInt i = boxes.first[0]; i < boxes.first[0] + boxes.nodes[0]; i++) {
        const PetscInt at[3] = {i, j, k}, next = at[direction] + 1;
        if (next >= end || (next >= whole && !ring)) continue;
        PetscInt here = 0;
        for (int d = 0; d < 3; d++) here += (at[d] - from[d]) * strides[d];
        PetscReal apart = PetscRealPart(x[(here + strides[direction]) * boxes.dim + direction] - x[here * boxes.dim + direction]);
        if (next >= whole) apart += spacing * (PetscReal)whole;
        if (!(std::abs(apart - spacing) <= 1e-8 * spacing))
          why = "nodes are " + std::to_string(apart) + " apart along " + std::string(1, "xyz"[direction]) + ", and " +
                std::to_string(spacing) +
                " elsewhere: differences are taken on even spacing: map the coordinates onto it, and multiply by the mapping's derivative";
      }
    }
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscCheck(why.empty(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s", why.c_str());
  PetscFunctionReturn((PetscErrorCode)0);
}

/// The event of this name, registered if it is not yet.
PetscErrorCode EventOf(const char name[], PetscClassId id, PetscLogEvent *event)
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, event));
  if (*event < 0) PetscCall(PetscLogEventRegister(name, id, event));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// PCLINE, where no option of the program's has loaded it.
PetscErrorCode RegisterLines()
{
  void (*line)(void) = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListFind(PCList, "line", &line));
  if (!line) PetscCall(PetscDLLibraryRegister_weft());
  PetscFunctionReturn((PetscErrorCode)0);
}

/// The end of a step.
PetscErrorCode End(const Events &events, PetscLogEvent event, Vec f, Vec to)
{
  PetscFunctionBeginUser;
  if (events.wait) {
    PetscDeviceContext context;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCall(PetscLogEventEnd(event, f, to, NULL, NULL));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace

PetscErrorCode RegisterEvents(Events *events)
{
  PetscClassId id = 0;
  PetscLogEvent known;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("CompactHalo", &known));
  if (known < 0) PetscCall(PetscClassIdRegister("Compact", &id));
  PetscCall(EventOf("CompactHalo", id, &events->halo));
  PetscCall(EventOf("CompactStencil", id, &events->stencil));
  PetscCall(EventOf("CompactSolve", id, &events->solve));
  PetscCall(EventOf("CompactSweep", id, &events->sweep));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode WaysFromOptions(const char prefix[], Ways *ways)
{
  PetscBool assembled = PETSC_FALSE, one_pass = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, prefix, "-compact_assembled", &assembled, NULL));
  PetscCall(PetscOptionsGetBool(NULL, prefix, "-compact_one_pass", &one_pass, NULL));
  *ways = {assembled == PETSC_TRUE, one_pass == PETSC_TRUE};
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
    PetscCall(weft::RanksAgree(PetscObjectComm((PetscObject)da_)));
    PetscCall(MatCreateShell(PetscObjectComm((PetscObject)da_), local, local, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &matrix_));
    PetscCall(MatSetUp(matrix_));
    PetscCall(MatShellSetVecType(matrix_, type));
    PetscCall(PetscObjectCompose((PetscObject)matrix_, "weft_line", (PetscObject)one));
    PetscCall(MatDestroy(&one));
    PetscFunctionReturn((PetscErrorCode)0);
  }
  PetscCall(weft::RanksAgree(PetscObjectComm((PetscObject)da_)));
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
  PetscCall(weft::RanksAgree(PetscObjectComm((PetscObject)da_)));
  PetscCall(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// -pc_type line with what it needs for lines of constant coefficients, where the options say nothing else.
PetscErrorCode Derivative::TakeLines(KSP ksp) const
{
  const char *prefix;
  const char axis[]            = {"xyz"[direction_], 0};
  const char *const tells[][2] = {
      {"pc_type", "line"}, {"pc_line_direction", axis}, {"pc_line_kernel", "toeplitz"}, {"pc_line_kernel_tolerance", "1e-16"}};
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PetscOptionsHasName(NULL, prefix, "-pc_type", &given));
  if (given) PetscFunctionReturn((PetscErrorCode)0);
  for (const auto &[name, value] : tells) {
    const std::string option = std::string("-") + prefix + name;
    PetscCall(PetscOptionsHasName(NULL, NULL, option.c_str(), &given));
    if (!given) PetscCall(PetscOptionsSetValue(NULL, option.c_str(), value));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Create(DM da, int direction, const Scheme &scheme, PetscReal spacing, const Ways &ways, const char prefix[],
                                  const Events &events, const Derivative *with)
{
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(weft::KokkosStart());
  PetscCall(weft::TogetherBegin((PetscObject)da));
  error = weft::GuardedWork([&] { return Make(da, direction, scheme, spacing, ways, prefix, events, with); });
  PetscCall(weft::TogetherEnd((PetscObject)da, error));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Make(DM da, int direction, const Scheme &scheme, PetscReal spacing, const Ways &ways, const char prefix[],
                                const Events &events, const Derivative *with)
{
  weft::CompactRows right = scheme.right;
  const auto divide       = [&](std::vector<double> &weights) {
    for (double &weight : weights) weight /= std::pow((double)spacing, scheme.derivative);
  };
  Boxes boxes;

  PetscFunctionBeginUser;
  divide(right.inner);
  for (auto &row : right.head) divide(row);
  for (auto &row : right.tail) divide(row);
  PetscCall(BoxesOf(da, &boxes));
  if (scheme.derivative > 0) PetscCall(CheckSpacing(da, boxes, direction, spacing));
  PetscCall(MakeStencil(da, direction, right, ways.one_pass ? &scheme : nullptr, events, with));
  if (sweep_) PetscFunctionReturn((PetscErrorCode)0);
  left_.inner = {scheme.inner.begin(), scheme.inner.end()};
  for (const bool first : {true, false}) {
    auto &rows = first ? scheme.head : scheme.tail;
    for (std::size_t row = 0; row < rows.size(); row++) {
      // Couplings of the row by their distance from the end: the one before the first row is none.
      std::vector<double> weights(row + 2, 0.0);
      if (row > 0) weights[row - 1] = rows[row][first ? 0 : 2];
      weights[row]     = rows[row][1];
      weights[row + 1] = rows[row][first ? 2 : 0];
      (first ? left_.head : left_.tail).push_back(weights);
    }
  }
  PetscCall(MakeSolver(scheme, ways.assembled, prefix));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// The KSP with A. Collective.
PetscErrorCode Derivative::MakeSolver(const Scheme &scheme, bool assembled, const char prefix[])
{
  const char axis[] = {"xyz"[direction_], '_', 0};
  MPI_Comm comm     = PetscObjectComm((PetscObject)da_);
  PC pc;
  VecType type;
  PCFailedReason failed;

  PetscFunctionBeginUser;
  PetscCall(weft::RanksAgree(comm));
  PetscCall(DMCreateGlobalVector(da_, &right_));
  PetscCall(VecGetType(right_, &type));
  PetscCall(MakeMatrix(scheme, assembled, type));
  PetscCall(RegisterLines());
  PetscCall(weft::RanksAgree(comm));
  PetscCall(KSPCreate(comm, &ksp_));
  PetscCall(KSPGetPC(ksp_, &pc));
  PetscCall(PCSetDM(pc, da_));
  PetscCall(KSPSetOperators(ksp_, matrix_, matrix_));
  PetscCall(KSPSetOptionsPrefix(ksp_, prefix));
  PetscCall(KSPAppendOptionsPrefix(ksp_, axis));
  PetscCall(KSPSetType(ksp_, KSPPREONLY));
  PetscCall(TakeLines(ksp_));
  PetscCall(KSPSetFromOptions(ksp_));
  PetscCall(KSPSetUp(ksp_));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCheck(failed == PC_NOERROR, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the scheme's matrix along %c cannot be factored: with so few nodes it may be singular; take more of them along %c",
             "xyz"[direction_], "xyz"[direction_]);
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::MakeStencil(DM da, int direction, const weft::CompactRows &right, const Scheme *one_pass, const Events &events,
                                       const Derivative *with)
{
  Boxes boxes;
  Vec like;
  PetscMemType where;
  const PetscScalar *array;

  PetscFunctionBeginUser;
  da_        = da;
  direction_ = direction;
  events_    = events;
  PetscCall(BoxesOf(da, &boxes));
  PetscCall(weft::RanksAgree(PetscObjectComm((PetscObject)da)));
  PetscCall(DMCreateGlobalVector(da, &like));
  PetscCall(VecGetArrayReadAndMemType(like, &array, &where));
  PetscCall(VecRestoreArrayReadAndMemType(like, &array));
  PetscCall(VecDestroy(&like));
  const auto memory = PetscMemTypeDevice(where) ? weft::Memory::device : weft::Memory::host;
  if (with && with->execution_->memory() == memory) {
    execution_ = with->execution_;
  } else {
    std::unique_ptr<weft::Execution> made;
    PetscCall(weft::MakeExecution(memory, &made));
    execution_ = std::move(made);
  }

  weft::BoxPiece piece;
  for (int k = 0; k < 3; k++) piece.n[k] = boxes.nodes[k];
  piece.direction = direction;
  piece.first     = boxes.first[direction];
  piece.length    = boxes.global[direction];
  piece.ring      = boxes.boundary[direction] == DM_BOUNDARY_PERIODIC;
  lines_          = (PetscInt)piece.lines();
  PetscCall(MakeMessages());
  PetscCallCXX(stencil_ = std::make_unique<weft::CompactStencil<weft::KernelScalar>>(*execution_, piece, right));
  needs_before_ = stencil_->needs_before();
  needs_after_  = stencil_->needs_after();
  depth_        = stencil_->width();
  if (one_pass) PetscCall(MakeSweep(piece, *one_pass, right));
  if (with && !sweep_ && !with->sweep_ && with->halo_->Words() >= depth_) {
    halo_   = with->halo_;
    shares_ = true;
  } else {
    halo_ = std::make_shared<Halo>();
    PetscCall(halo_->Create(da, direction, sweep_ ? sweep_->words() : depth_, lines_, needs_before_, needs_after_, execution_,
                            sweep_ && sweep_->teller() ? sweep_->teller() : execution_, messages_));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

/// How the ranks of the DMDA tell each other what they need.
PetscErrorCode Derivative::MakeMessages()
{
  PetscFunctionBeginUser;
#if defined(WEFT_DISTRIBUTED)
  MPI_Comm comm        = PetscObjectComm((PetscObject)da_);
  const bool on_device = execution_->memory() == weft::Memory::device;
  PetscCall(weft::ReadMessageWay());
  PetscCall(
      weft::CallTogether(comm, [&] { messages_ = std::make_shared<const weft::RankMessages>(comm, weft::DeviceMessages(), on_device); }));
  slow_messages_ = on_device && !weft::DeviceMessages() && !messages_->on_stream();
#endif
  PetscFunctionReturn((PetscErrorCode)0);
}

/// One pass on all ranks, or on none.
PetscErrorCode Derivative::MakeSweep(const weft::BoxPiece &piece, const Scheme &scheme, const weft::CompactRows &right)
{
  PetscMPIInt can = 1;
  std::string refusal;
  const auto sweep = [&] {
    try {
      sweep_ = std::make_unique<weft::CompactSweep<weft::KernelScalar>>(
          *execution_, piece, weft::CompactMatrix{scheme.inner, scheme.head, scheme.tail}, right, slow_messages_);
    } catch (const std::invalid_argument &refused) {
      refusal = refused.what();
    }
  };

  PetscFunctionBeginUser;
  PetscCallCXX(sweep());
  if (!sweep_) {
    PetscCall(PetscInfo(da_, "not in one pass along %c: %s\n", "xyz"[direction_], refusal.c_str()));
    can = 0;
  }
  PetscCall(weft::RanksAgree(PetscObjectComm((PetscObject)da_)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)da_)));
  if (!can) sweep_.reset();
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Destroy()
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&ksp_));
  PetscCall(MatDestroy(&matrix_));
  PetscCall(VecDestroy(&right_));
  if (halo_.use_count() == 1) PetscCall(halo_->Destroy());
  halo_.reset();
  sweep_.reset();
  stencil_.reset();
  execution_.reset();
  PetscFunctionReturn((PetscErrorCode)0);
}

/// Begins to send what the neighbours need of f.
PetscErrorCode Derivative::Tell(Vec f)
{
  weft::VecArray array(f, weft::Access::read);

  PetscFunctionBeginUser;
  PetscCall(array.Open());
  PetscCall(halo_->Begin([&](weft::KernelScalar *to_before, weft::KernelScalar *to_after) {
    if (sweep_)
      sweep_->tell(array.data(), to_before, to_after);
    else
      stencil_->tell(array.data(), halo_->Words(), to_before, to_after);
  }));
  PetscCall(array.Close());
  PetscFunctionReturn((PetscErrorCode)0);
}

/// to = what `on` makes of f, stencil or sweep: first on the rows that need no neighbour, while theirs are on their way.
template <class On>
PetscErrorCode Derivative::ApplyTo(On &on, PetscLogEvent event, Vec f, Vec to, bool again)
{
  using weft::Access;
  const bool fetches = !again || !shares_;

  PetscFunctionBeginUser;
  if (fetches) {
    PetscCall(PetscLogEventBegin(events_.halo, f, to, NULL, NULL));
    // A sweep writes to `to` on two streams, which know of what came before Tell: the array is made by then.
    PetscCall(weft::WithVecArrays(f, Access::read, to, Access::write,
                                  [](weft::Memory, weft::KernelScalar *, weft::KernelScalar *) { return (PetscErrorCode)0; }));
    PetscCall(Tell(f));
    if (events_.wait && sweep_ && sweep_->teller()) PetscCallCXX(sweep_->teller()->wait());
    PetscCall(End(events_, events_.halo, f, to));
  }
  PetscCall(PetscLogEventBegin(event, f, to, NULL, NULL));
  PetscCall(
      weft::WithVecArrays(f, Access::read, to, Access::write, [&](weft::Memory, weft::KernelScalar *from, weft::KernelScalar *result) {
        PetscFunctionBeginUser;
        PetscCallCXX(on.apply_inside(from, result));
        PetscFunctionReturn((PetscErrorCode)0);
      }));
  PetscCall(End(events_, event, f, to));
  if (fetches) {
    PetscCall(PetscLogEventBegin(events_.halo, f, to, NULL, NULL));
    PetscCall(halo_->End());
    PetscCall(End(events_, events_.halo, f, to));
  }
  if (!needs_before_ && !needs_after_) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(PetscLogEventBegin(event, f, to, NULL, NULL));
  // A halo that is shared may be deeper: of the rows before, the last ones are nearest.
  const weft::KernelScalar *const before = halo_->FromBefore() + (sweep_ ? 0 : (halo_->Words() - depth_) * lines_);
  PetscCall(
      weft::WithVecArrays(f, Access::read, to, Access::read_write, [&](weft::Memory, weft::KernelScalar *from, weft::KernelScalar *result) {
        PetscFunctionBeginUser;
        PetscCallCXX(on.apply_ends(from, before, halo_->FromAfter(), result));
        PetscFunctionReturn((PetscErrorCode)0);
      }));
  PetscCall(End(events_, event, f, to));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// A sweep whose kernel waits by itself for what neighbours write into this device's memory.
PetscErrorCode Derivative::ApplyByMail(Vec f, Vec g)
{
  using weft::Access;

  PetscFunctionBeginUser;
  PetscCall(weft::WithVecArrays(f, Access::read, g, Access::write, [&](weft::Memory, weft::KernelScalar *from, weft::KernelScalar *result) {
    PetscFunctionBeginUser;
    PetscCall(PetscLogEventBegin(events_.halo, f, g, NULL, NULL));
    const auto tell = [&](weft::KernelScalar *to_before, weft::KernelScalar *to_after) {
      sweep_->tell_in_order(from, to_before, to_after);
    };
    PetscCall(halo_->Begin(tell, true));
    PetscCall(End(events_, events_.halo, f, g));
    PetscCall(PetscLogEventBegin(events_.sweep, f, g, NULL, NULL));
    PetscCallCXX(sweep_->apply(from, halo_->Mail(), result));
    PetscCall(End(events_, events_.sweep, f, g));
    PetscFunctionReturn((PetscErrorCode)0);
  }));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::ApplyRight(Vec f, Vec right)
{
  PetscFunctionBeginUser;
  PetscCall(ApplyTo(*stencil_, events_.stencil, f, right, false));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::Apply(Vec f, Vec g, bool again)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  if (sweep_) {
    if (halo_->HasMail())
      PetscCall(ApplyByMail(f, g));
    else
      PetscCall(ApplyTo(*sweep_, events_.sweep, f, g, again));
    PetscFunctionReturn((PetscErrorCode)0);
  }
  PetscCall(ApplyTo(*stencil_, events_.stencil, f, right_, again));
  PetscCall(PetscLogEventBegin(events_.solve, f, g, NULL, NULL));
  PetscCall(KSPSolve(ksp_, right_, g));
  PetscCall(End(events_, events_.solve, f, g));
  PetscCall(KSPGetConvergedReason(ksp_, &reason));
  PetscCheck(reason > 0, PetscObjectComm((PetscObject)f), PETSC_ERR_NOT_CONVERGED, "the solve along %c ended by %s", "xyz"[direction_],
             KSPConvergedReasons[reason]);
  if (!looked_at_) PetscCall(LookAt(g));
  looked_at_ = true;
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Derivative::LookAt(Vec g)
{
  Derivative left;
  Vec residual;
  PetscReal tolerance, norm, apart;
  const char *prefix;

  PetscFunctionBeginUser;
  PetscCall(left.MakeStencil(da_, direction_, left_, nullptr, events_, nullptr));
  PetscCall(VecDuplicate(g, &residual));
  PetscCall(left.ApplyRight(g, residual));
  PetscCall(VecAXPY(residual, -1, right_));
  PetscCall(VecNorm(residual, NORM_2, &apart));
  PetscCall(VecNorm(right_, NORM_2, &norm));
  PetscCall(VecDestroy(&residual));
  PetscCall(left.Destroy());
  PetscCall(KSPGetTolerances(ksp_, &tolerance, NULL, NULL, NULL));
  PetscCall(KSPGetOptionsPrefix(ksp_, &prefix));
  PetscCheck(apart <= 10 * tolerance * norm, PetscObjectComm((PetscObject)g), PETSC_ERR_NOT_CONVERGED,
             "the solver along %c leaves |A g - B f| = %.3g |B f|, so g is no derivative: leave -%spc_type out, which takes line, or add "
             "-compact_assembled and a solver that iterates (-%sksp_type gmres) or a direct one (-%spc_type lu)",
             "xyz"[direction_], (double)(apart / norm), prefix, prefix, prefix);
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
