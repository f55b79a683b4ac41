// PCBCR on several ranks where each has a part of the solve: a slab of the grid, whose lines are joined with those of the others.
#include <vector>

#include "bcr/bcr_impl.h"
#include "petsc/grid_owners.h"

namespace weft {

namespace {

// Each node of this rank's slab comes from the rank that owns it.
PetscErrorCode MakeToSlabs(PC pc, int rank)
{
  PC_BCR *bcr            = Bcr(pc);
  const SpreadPlan &plan = *bcr->plan;
  const Share layers     = plan.layers(rank);
  GridOwners owners;
  PetscSFNode *nodes;
  PetscInt rows, count, k = 0;
  Index at[3];

  PetscFunctionBegin;
  PetscCall(owners.Find(bcr->grid, pc->pmat));
  PetscCall(MatGetLocalSize(pc->pmat, &rows, NULL));
  PetscCall(PetscIntCast(plan.grid[0] * plan.grid[1] * layers.size(), &count));
  PetscCall(PetscMalloc1(count, &nodes));
  for (Index c = layers.begin; c < layers.end; c++) {
    for (Index b = 0; b < plan.grid[1]; b++) {
      for (Index a = 0; a < plan.grid[0]; a++) {
        at[plan.order[0]]            = a;
        at[plan.order[1]]            = b;
        at[plan.order[2]]            = c;
        const GridOwners::Place from = owners.place(at);
        nodes[k].rank                = from.rank;
        nodes[k++].index             = from.row;
      }
    }
  }
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &bcr->to_slabs));
  PetscCall(PetscSFSetGraph(bcr->to_slabs, rows, count, NULL, PETSC_OWN_POINTER, nodes, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(bcr->to_slabs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From the leaves of a star forest to its roots, one of which each leaf has for itself: back where Bcast brought them from.
PetscErrorCode Return(PetscSF forest, MPI_Datatype unit, PetscMemType leaf_type, const void *leaves, PetscMemType root_type, void *roots)
{
  PetscFunctionBegin;
  PetscCall(PetscSFReduceWithMemTypeBegin(forest, unit, leaf_type, leaves, root_type, roots, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(forest, unit, leaves, roots, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Bring(PetscSF forest, MPI_Datatype unit, PetscMemType root_type, const void *roots, PetscMemType leaf_type, void *leaves)
{
  PetscFunctionBegin;
  PetscCall(PetscSFBcastWithMemTypeBegin(forest, unit, root_type, roots, leaf_type, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest, unit, roots, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Messages in that memory, unless they are there. Collective.
PetscErrorCode MakeMessages(PC pc, [[maybe_unused]] Memory memory)
{
  PetscFunctionBegin;
#if defined(WEFT_DISTRIBUTED)
  PC_BCR *bcr          = Bcr(pc);
  const bool on_device = memory == Memory::device;
  MPI_Comm comm        = PetscObjectComm((PetscObject)pc);

  if (bcr->messages && (bcr->messages_on_device || !on_device)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CallTogether(comm, [&] { bcr->messages = std::make_unique<RankMessages>(comm, DeviceMessages(), on_device); }));
  bcr->messages_on_device = on_device;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool MessagesOnDevice([[maybe_unused]] const RankMessages &messages)
{
#if defined(WEFT_DISTRIBUTED)
  return messages.device_messages();
#else
  return false;
#endif
}

// From an exchange to the last one.
void GoOn([[maybe_unused]] SpreadSolver &solver, [[maybe_unused]] const RankMessages &messages,
          [[maybe_unused]] const SpreadSolver::Exchange *exchange)
{
#if defined(WEFT_DISTRIBUTED)
  send_to_the_end(solver, messages, exchange);
#endif
}

// A whole solve. Complex operators are not spread.
void SolveTogether(SpreadSolver &solver, const RankMessages &messages, const KernelScalar *rhs, KernelScalar *solution, Transpose transpose)
{
  GoOn(solver, messages, solver.begin(reinterpret_cast<const KernelReal *>(rhs), reinterpret_cast<KernelReal *>(solution), transpose));
}

// By way of the slabs, where they are others than what the rank has of vectors.
PetscErrorCode SolveIn(PC pc, Memory memory, const KernelScalar *b, KernelScalar *x, Transpose transpose)
{
  PC_BCR *bcr             = Bcr(pc);
  const PetscMemType type = memory == Memory::device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  KernelReal *slab        = NULL;

  PetscFunctionBegin;
  PetscCall(EnsureSolver(pc, memory));
  SpreadSolver &solver = *bcr->spread_solver[static_cast<int>(memory)];
  if (bcr->to_slabs) {
    PetscCallCXX(slab = solver.slab());
    auto *const values = reinterpret_cast<KernelScalar *>(slab);
    PetscCall(Bring(bcr->to_slabs, MPIU_SCALAR, type, b, type, slab));
    PetscCallCXX(SolveTogether(solver, *bcr->messages, values, values, transpose));
    PetscCall(Return(bcr->to_slabs, MPIU_SCALAR, type, slab, type, x));
  } else {
    PetscCallCXX(SolveTogether(solver, *bcr->messages, b, x, transpose));
  }
  PetscCall(LogSolve(solver, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SpreadMakeWays(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (!bcr->plan->in_place && !bcr->to_slabs) PetscCall(MakeToSlabs(pc, rank));
  PetscCallCXX(bcr->factors.clear());
  if (!bcr->separation.scaled) PetscFunctionReturn(PETSC_SUCCESS);
  Separation slab;
  std::vector<PetscScalar> of_nodes, of_slab;
  PetscCallCXX(slab = slab_of(bcr->separation, *bcr->plan, rank));
  PetscCallCXX(of_nodes.resize(static_cast<size_t>(bcr->grid.nodes[0] * bcr->grid.nodes[1] * bcr->grid.nodes[2])));
  PetscCall(FactorsOfNodes(*bcr, of_nodes.data()));
  if (bcr->to_slabs) {
    PetscCallCXX(of_slab.resize(static_cast<size_t>(slab.grid[0] * slab.grid[1] * slab.grid[2])));
    PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
    PetscCall(Bring(bcr->to_slabs, MPIU_SCALAR, PETSC_MEMTYPE_HOST, of_nodes.data(), PETSC_MEMTYPE_HOST, of_slab.data()));
  }
  PetscCallCXX(bcr->factors = InnerValues(slab.grid, slab.first, slab.nodes, bcr->to_slabs ? of_slab.data() : of_nodes.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadMakeSolver(PC pc, Memory memory, Precision precision)
{
  PC_BCR *bcr     = Bcr(pc);
  const auto here = static_cast<int>(memory);
  PetscMPIInt rank;
  Separation slab;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(MakeMessages(pc, memory));
  PetscCallCXX(slab = slab_of(bcr->separation, *bcr->plan, rank));
  PetscCallCXX(slab.row_scale = bcr->factors);
  PetscCallCXX(bcr->spread_solver[here] =
                   SpreadSolver::make(*bcr->execution[here], slab, *bcr->plan, rank, precision, MessagesOnDevice(*bcr->messages)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadWarmUp(PC pc, Memory memory)
{
  PC_BCR *bcr          = Bcr(pc);
  SpreadSolver &solver = *bcr->spread_solver[static_cast<int>(memory)];
  Vec rhs, solution;
  const ApplicationInSetUp applies;

  PetscFunctionBegin;
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallCXX(GoOn(solver, *bcr->messages, solver.meet()));
  if (!bcr->to_slabs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, &solution, &rhs));
  PetscCall(VecSet(rhs, 0));
  PetscCall(SpreadSolve(pc, rhs, solution, Transpose::no));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadReset(PC pc)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&bcr->to_slabs));
  PetscCallCXX(bcr->messages.reset());
  PetscCallCXX(bcr->plan.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadSolve(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(WithVecArrays(rhs, Access::read, solution, Access::write,
                          [&](Memory memory, const KernelScalar *b, KernelScalar *x) { return SolveIn(pc, memory, b, x, transpose); }));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
