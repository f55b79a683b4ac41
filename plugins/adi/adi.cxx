// PCADI: its creation, its end, its page.
#include <cmath>

#include "adi/adi_impl.h"
#include "petsc/agreed.h"
#include "petsc/finite_solution.h"
#include "types.h"

namespace weft {

namespace {

PetscErrorCode PCReset_ADI(PC pc)
{
  PC_ADI *adi = Adi(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) adi->forget_solver(which);
  PetscCall(VecDestroy(&adi->residual));
  PetscCall(adi->penalties.Destroy());
  adi->outside = {};
  PetscCall(AdiGridDestroy(&adi->grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_ADI(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_ADI(pc));
  PetscCall(PCADIComposeSetters(pc, false));
  delete Adi(pc);
  pc->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCADIGetPenalties(PC pc, const AdiPenalties **penalties)
{
  bool same = false;

  PetscFunctionBegin;
  PetscCall(Adi(pc)->set_up_of.is_operator(pc, &same));
  *penalties = same && Adi(pc)->penalties.others ? &Adi(pc)->penalties : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal AdiCyclesFor(const PC_ADI &adi, PetscReal part)
{
  return adi.reduction > 0 ? (adi.log_condition - std::log(part)) / -std::log(adi.reduction) : 1;
}

} // namespace weft

/*MC
  PCADI - alternating directions: cycles of tridiagonal solves along x, y and z with shifts chosen from the spectra, on the host or on a GPU

  Options Database Keys:
+ -pc_adi_type (peaceman_rachford|douglas_rachford|douglas_gunn) - the scheme, see `PCADISetType()`
. -pc_adi_shifts <p1,p2,...>                   - the shifts of a cycle, all positive, or complex with complex scalars
. -pc_adi_cycle <n>                            - shifts in a cycle; 0 (the default) for as many as reduce the error tenfold
. -pc_adi_iterations <1>                       - cycles in one application
. -pc_adi_bounds <a,b>                         - bounds of the spectra of all parts, or two bounds for each direction
. -pc_adi_bounds_method (gershgorin|lanczos)   - how bounds are found if none are given
. -pc_adi_line_solver (thomas|...|auto)        - the tridiagonal method, see `PCLINE`
. -pc_adi_symmetric <false>                    - a symmetric and definite form, for `KSPCG`
- -pc_adi_keep_factors <true>                  - if false, refactor in every sweep to save memory

  Level: beginner

  Notes:
  This type is for matrices on a `DMDA` whose couplings lie along the grid's directions: diffusion and convection-diffusion, steady or in
  time, with one unknown a node or several. It splits the matrix into a tridiagonal part for each direction. Couplings that lie on no line
  stay on the right-hand side, and `-ksp_view` gives their share. If the parts commute, a cycle of n shifts reduces the error by a known
  factor; `-ksp_view` shows this factor, and how many cycles eight digits take. The number of sweeps grows with the logarithm of the grid's
  size. If no bound holds, `-ksp_view` says that nothing is promised, and why.

  Lines that cross ranks are solved exactly, on any process grid.

  Two kinds of rows are solved by themselves in each sweep: rows without couplings (known values, nodes outside a masked domain), and
  penalties, whose diagonal is at least 1e4 times the sum of their couplings. A direction without couplings is ignored.

  With complex scalars the shifts are complex, because the spectra may lie off the real axis: time steps 1 + i dt H, shifted Laplacians, a
  matrix times e^{i t}, strong convection. Regions that contain the spectra are found, and `-ksp_view` shows them.

  For `KSPCG` use `-pc_adi_symmetric`, which is symmetric positive definite whenever the matrix's parts are. The schemes are so only if the
  parts commute.

  A zero or non-finite pivot, a NaN in the matrix, or parts whose spectra reach below zero (with complex scalars: lie on all sides of zero) end
  in `KSP_DIVERGED_PC_FAILED` with `PC_FACTOR_NUMERIC_ZEROPIVOT`.

.seealso: `PCCreate()`, `PCSetType()`, `KSPADI`, `PCLINE`, `PCMG`, `PCADISetType()`, `PCADISetShifts()`, `PCADISetCycle()`,
          `PCADISetIterations()`, `PCADISetBounds()`, `PCADISetBoundsMethod()`, `PCADISetLineSolver()`, `PCADISetSymmetric()`,
          `PCADISetKeepFactors()`
M*/
PetscErrorCode PCCreate_ADI(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new weft::PC_ADI);
  pc->ops->setup           = weft::Together<weft::PCSetUp_ADI>;
  pc->ops->apply           = weft::Guarded<weft::PCApply_ADI<weft::Transpose::no>>;
  pc->ops->applytranspose  = weft::Guarded<weft::PCApply_ADI<weft::Transpose::yes>>;
  pc->ops->postsolve       = weft::Guarded<weft::RefuseNonFiniteSolution>;
  pc->ops->applyrichardson = weft::Guarded<weft::PCApplyRichardson_ADI>;
  pc->ops->presolve        = weft::Guarded<weft::PCPreSolve_ADI>;
  pc->ops->setfromoptions  = weft::Guarded<weft::PCSetFromOptions_ADI>;
  pc->ops->view            = weft::Guarded<weft::PCView_ADI>;
  pc->ops->reset           = weft::PCReset_ADI;
  pc->ops->destroy         = weft::PCDestroy_ADI;
  PetscCall(weft::PCADIComposeSetters(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
