// The operators of PCBOXMG's levels as matrices, for tests and the curious; in PCMG's order.
#include "boxmg/boxmg_impl.h"

namespace weft {

namespace {

PetscErrorCode MatOf(MPI_Comm comm, const Multigrid::Csr &csr, Mat *A)
{
  std::vector<PetscInt> sizes, columns;

  PetscFunctionBegin;
  PetscCallCXX(columns.assign(csr.column.begin(), csr.column.end()));
  for (Index row = 0; row < csr.rows; row++) {
    const auto at = csr.row_starts.begin() + row;
    PetscCallCXX(sizes.push_back(static_cast<PetscInt>(at[1] - at[0])));
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, static_cast<PetscInt>(csr.rows), static_cast<PetscInt>(csr.columns), PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, sizes.data()));
  for (Index row = 0; row < csr.rows; row++) {
    const PetscInt i = static_cast<PetscInt>(row);
    const auto from  = static_cast<std::size_t>(csr.row_starts[static_cast<std::size_t>(row)]);
    PetscCall(MatSetValues(*A, 1, &i, sizes[static_cast<std::size_t>(row)], columns.data() + from, ToPetsc(csr.values.data() + from),
                           INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What `of` gives of all levels but the finest, coarsest first; the matrix that it tells of level k + 1 belongs to the step to level k.
template <class Of>
PetscErrorCode Matrices(PC pc, PetscInt *count, Mat *matrices[], const Of &of)
{
  const Multigrid *multigrid = Boxmg(pc)->any();
  PetscMPIInt ranks;
  PetscInt levels = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCheck(ranks == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PCBOXMG gives the matrices of its levels on one rank only");
  PetscCheck(pc->setupcalled && multigrid && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "PCBOXMG has no levels: call PCSetUp() first, and see that it did not fail");
  PetscCallCXX(levels = static_cast<PetscInt>(multigrid->levels().size()));
  if (count) *count = levels;
  if (!matrices) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(levels, matrices));
  for (PetscInt k = 0; k < levels - 1; k++) {
    Multigrid::Csr csr;
    PetscCallCXX(csr = of(*multigrid, static_cast<int>(levels - 1 - k)));
    PetscCall(MatOf(PetscObjectComm((PetscObject)pc), csr, &(*matrices)[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCGetInterpolations_Boxmg(PC pc, PetscInt *count, Mat *interpolations[])
{
  PetscFunctionBegin;
  PetscCall(
      Matrices(pc, count, interpolations, [](const Multigrid &multigrid, int level) { return multigrid.interpolation_of(level - 1); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGetCoarseOperators_Boxmg(PC pc, PetscInt *count, Mat *operators[])
{
  PetscFunctionBegin;
  PetscCall(Matrices(pc, count, operators, [](const Multigrid &multigrid, int level) { return multigrid.operator_of(level); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
