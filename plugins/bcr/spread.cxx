// PCBCR on several ranks where each has a part of the solve: slabs are transformed, columns of modes solved, and values sent between.
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

// Each block of this rank's columns comes from the slab of its row.
PetscErrorCode MakeToColumns(PC pc, int rank)
{
  PC_BCR *bcr            = Bcr(pc);
  const SpreadPlan &plan = *bcr->plan;
  const Share columns    = plan.columns(rank);
  PetscSFNode *blocks;
  PetscInt roots, count, k = 0;

  PetscFunctionBegin;
  PetscCall(PetscIntCast(plan.rows(rank).size() * plan.blocks(), &roots));
  PetscCall(PetscIntCast(plan.nodes[2] * columns.size(), &count));
  PetscCall(PetscMalloc1(count, &blocks));
  for (int from = 0; from < plan.processes; from++) {
    const Share rows = plan.rows(from);
    for (Index row = 0; row < rows.size(); row++) {
      for (Index block = columns.begin; block < columns.end; block++) {
        blocks[k].rank    = from;
        blocks[k++].index = (PetscInt)(row * plan.blocks() + block);
      }
    }
  }
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &bcr->to_columns));
  PetscCall(PetscSFSetGraph(bcr->to_columns, roots, count, NULL, PETSC_OWN_POINTER, blocks, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(bcr->to_columns));
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

template <class Kernels>
PetscErrorCode Timed(const Kernels &kernels)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCallCXX(kernels());
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SpreadMakeWays(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (!bcr->to_slabs) {
    PetscCall(MakeToSlabs(pc, rank));
    PetscCall(MakeToColumns(pc, rank));
    PetscCallMPI(MPI_Type_contiguous(bcr->plan->block, bcr->inside() == PC_BCR_SINGLE ? MPI_FLOAT : MPIU_SCALAR, &bcr->block));
    PetscCallMPI(MPI_Type_commit(&bcr->block));
    bcr->new_ways = true;
  }
  PetscCallCXX(bcr->factors.clear());
  if (!bcr->separation.scaled) PetscFunctionReturn(PETSC_SUCCESS);
  Separation slab;
  std::vector<PetscScalar> of_nodes, of_slab;
  PetscCallCXX(slab = slab_of(bcr->separation, *bcr->plan, rank));
  PetscCallCXX(of_nodes.resize(static_cast<size_t>(bcr->grid.nodes[0] * bcr->grid.nodes[1] * bcr->grid.nodes[2])));
  PetscCallCXX(of_slab.resize(static_cast<size_t>(slab.grid[0] * slab.grid[1] * slab.grid[2])));
  PetscCall(FactorsOfNodes(*bcr, of_nodes.data()));
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(Bring(bcr->to_slabs, MPIU_SCALAR, PETSC_MEMTYPE_HOST, of_nodes.data(), PETSC_MEMTYPE_HOST, of_slab.data()));
  PetscCallCXX(bcr->factors = InnerValues(slab.grid, slab.first, slab.nodes, of_slab.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadWarmUp(PC pc)
{
  PC_BCR *bcr = Bcr(pc);
  Vec rhs, solution;
  const ApplicationInSetUp applies;

  PetscFunctionBegin;
  if (!bcr->new_ways) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCall(MatCreateVecs(pc->pmat, &solution, &rhs));
  PetscCall(VecSet(rhs, 0));
  PetscCall(SpreadSolve(pc, rhs, solution, Transpose::no));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  bcr->new_ways = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadReset(PC pc)
{
  PC_BCR *bcr = Bcr(pc);

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&bcr->to_slabs));
  PetscCall(PetscSFDestroy(&bcr->to_columns));
  if (bcr->block != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&bcr->block));
  PetscCallCXX(bcr->plan.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpreadSolve(PC pc, Vec rhs, Vec solution, Transpose transpose)
{
  PC_BCR *bcr = Bcr(pc);
  PetscMemType type, solution_type;
  const PetscScalar *b;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(rhs, &b, &type));
  const bool on_device = PetscMemTypeDevice(type) && has_backend(Memory::device);
  const Memory memory  = on_device ? Memory::device : Memory::host;
  if (!on_device) {
    PetscCall(VecRestoreArrayReadAndMemType(rhs, &b));
    PetscCall(VecGetArrayRead(rhs, &b));
    type = PETSC_MEMTYPE_HOST;
  }
  PetscCall(EnsureSolver(pc, memory));
  SpreadSolver &solver = *bcr->spread_solver[static_cast<int>(memory)];
  void *slab_modes     = NULL;
  PetscCallCXX(slab_modes = solver.slab_modes(transpose));

  PetscCall(Bring(bcr->to_slabs, MPIU_SCALAR, type, b, type, solver.slab()));
  if (on_device)
    PetscCall(VecRestoreArrayReadAndMemType(rhs, &b));
  else
    PetscCall(VecRestoreArrayRead(rhs, &b));
  PetscCall(Timed([&] { solver.to_modes(transpose); }));
  PetscCall(Bring(bcr->to_columns, bcr->block, type, slab_modes, type, solver.column_modes()));
  PetscCall(Timed([&] { solver.solve_lines(transpose); }));
  PetscCall(Return(bcr->to_columns, bcr->block, type, solver.column_modes(), type, slab_modes));
  PetscCall(Timed([&] { solver.from_modes(transpose); }));
  PetscCall(VecGetArrayWriteAndMemType(solution, &x, &solution_type));
  PetscCall(Return(bcr->to_slabs, MPIU_SCALAR, type, solver.slab(), solution_type, x));
  PetscCall(VecRestoreArrayWriteAndMemType(solution, &x));
  PetscCall(LogSolve(solver, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
