// KSPADI: the stationary iteration whose corrections are PCADI's cycles.
#include "adi/ksp_adi.h"

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#include <cmath>

#include "adi/adi_impl.h"
#include "petsc/agreed.h"
#include "petsc/petsc_compat.h"
#include "petsc/setters.h"
#include "types.h"

namespace weft {

namespace {

// KSPADI iterates with PCADI. A KSP has a PC of its own, ILU or so by default, before it knows its type: that one is replaced.
PetscErrorCode TakePCADI(KSP ksp, PetscBool *taken)
{
  PetscBool adi;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCADI, &adi));
  *taken = adi ? PETSC_FALSE : PETSC_TRUE;
  if (!adi) PetscCall(PCSetType(ksp->pc, PCADI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Not PetscObjectOptionsBegin(): -help has printed that object's options already, those of the PC before.
PetscErrorCode OptionsOfPCADI(KSP ksp)
{
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(ksp->pc, &prefix));
  PetscOptionsBegin(PetscObjectComm((PetscObject)ksp->pc), prefix, "Alternating directions (PCADI)", "PC");
  PetscTryTypeMethod(ksp->pc, setfromoptions, PetscOptionsObject);
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where the PC is another by now.
PetscErrorCode TakePCADIAgain(KSP ksp)
{
  PetscBool taken;

  PetscFunctionBegin;
  PetscCall(TakePCADI(ksp, &taken));
  if (taken && ksp->setfromoptionscalled) PetscCall(OptionsOfPCADI(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetUp_ADI(KSP ksp)
{
  PetscFunctionBegin;
  // Newer releases of PETSc ask the PC for its options after the KSP, and -pc_type none takes PCADI away again.
  PetscCall(TakePCADIAgain(ksp));
  PetscCall(KSPSetWorkVecs(ksp, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The end of what double precision can do: A x is a sum of products that are |A| |x| large, whose rounding stays in the residual.
class RoundingFloor {
public:
  /// After each look at the residual's norm: reached where it no longer shrinks, which must be said first, and is of that size.
  PetscErrorCode Look(Mat A, Vec x, PetscReal norm, bool *reached)
  {
    PetscReal of_solution;
    PetscBool has;

    PetscFunctionBegin;
    *reached = false;
    if (norm < 0.9 * least_) {
      least_ = norm;
      looks_ = 0;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (++looks_ < 3) PetscFunctionReturn(PETSC_SUCCESS);
    if (of_matrix_ < 0) {
      PetscCall(MatHasOperation(A, MATOP_NORM, &has));
      of_matrix_ = 0;
      if (has) PetscCall(MatNorm(A, NORM_INFINITY, &of_matrix_));
    }
    PetscCall(VecNorm(x, NORM_2, &of_solution));
    *reached = norm <= 16 * PETSC_MACHINE_EPSILON * of_matrix_ * of_solution;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscReal least_ = PETSC_MAX_REAL, of_matrix_ = -1;
  int looks_ = 0; ///< since the norm was that
};

// What it costs a user to find out otherwise.
PetscErrorCode ExplainDivergence(KSP ksp)
{
  PetscFunctionBegin;
  if (ksp->reason == KSP_DIVERGED_BREAKDOWN) {
    const char *what = "is the rounding of A x, below which nothing goes in this precision: ask for no less, by -ksp_rtol or -ksp_atol";
    PetscCall(PetscInfo(ksp, "the residual norm %g, %g at the start, %s\n", (double)ksp->rnorm, (double)ksp->rnorm0, what));
    PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
               "KSPADI: the residual norm %g after %" PetscInt_FMT " iterations, %g at the start, %s", (double)ksp->rnorm, ksp->its,
               (double)ksp->rnorm0, what);
  }
  if (ksp->reason != KSP_DIVERGED_DTOL && ksp->reason != KSP_DIVERGED_NANORINF) PetscFunctionReturn(PETSC_SUCCESS);
  const char *what = "the shifts of PCADI make the iteration diverge: the parts of the matrix do not commute or reach outside the bounds. "
                     "Raise the smallest shift, use fewer shifts (-pc_adi_cycle), or -ksp_type gmres -pc_type adi";
  PetscCall(PetscInfo(ksp, "%s\n", what));
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "KSPADI: residual norm %g after %" PetscInt_FMT " iterations, %g at the start; %s", (double)ksp->rnorm, ksp->its,
             (double)ksp->rnorm0, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r = b - A x; of a zero guess x becomes 0.
PetscErrorCode StartResidual(KSP ksp, Mat A, bool zero_guess, Vec r)
{
  PetscFunctionBegin;
  if (zero_guess) {
    PetscCall(VecZeroEntries(ksp->vec_sol));
    PetscCall(VecCopy(ksp->vec_rhs, r));
  } else {
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1.0, ksp->vec_rhs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Penalties, which say what a value is, are as large in the residual as they are heavy: what the iteration starts from would be nothing beside them. They
// are met before it begins, by the PC's answer to them alone.
PetscErrorCode MeetPenalties(KSP ksp, const AdiPenalties &penalties, Mat A)
{
  Vec x = ksp->vec_sol, r = ksp->work[0], z = ksp->work[1];

  PetscFunctionBegin;
  PetscCall(StartResidual(ksp, A, ksp->guess_zero, r));
  PetscCall(VecPointwiseMult(z, penalties.others, r));
  PetscCall(VecAXPY(r, -1.0, z));
  PetscCall(KSP_PCApply(ksp, r, z));
  PetscCall(VecAXPY(x, 1.0, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of r = b - A x. Penalties count as if their diagonals were those of other rows: by the errors of their unknowns, and so not at all where these are the
// rounding of known values.
PetscErrorCode ResidualNorm(Vec r, Vec x, const AdiPenalties *penalties, Vec work, PetscReal *norm)
{
  PetscReal of_penalties, of_values;

  PetscFunctionBegin;
  if (!penalties) {
    PetscCall(VecNorm(r, NORM_2, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecPointwiseMult(work, penalties->weights, r));
  PetscCall(VecNorm(work, NORM_2, &of_penalties));
  PetscCall(VecPointwiseMult(work, penalties->others, x));
  PetscCall(VecAYPX(work, -1.0, x));
  PetscCall(VecNorm(work, NORM_2, &of_values));
  PetscCall(VecPointwiseMult(work, penalties->others, r));
  PetscCall(VecNorm(work, NORM_2, norm));
  const bool rounding = of_penalties <= 16 * PETSC_MACHINE_EPSILON * penalties->diagonal * of_values; // NaN is not
  if (!rounding) *norm = std::hypot(*norm, of_penalties);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Tells monitors and the convergence test of a norm. from_first: the test shall compare with the first norm, not with the right-hand side's.
PetscErrorCode Look(KSP ksp, PetscReal norm, bool from_first)
{
  const PetscBool guess_zero = ksp->guess_zero;

  PetscFunctionBegin;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  if (from_first) ksp->guess_zero = PETSC_TRUE;
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  ksp->guess_zero = guess_zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_ADI(KSP ksp)
{
  const PetscInt every = Adi(ksp)->check_every;
  Mat A, P;
  Vec x = ksp->vec_sol, r = ksp->work[0], z = ksp->work[1];
  const AdiPenalties *penalties;
  PetscReal norm = 0.0;
  RoundingFloor rounding;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  ksp->its = 0;
  if (ksp->reason == KSP_DIVERGED_PC_FAILED) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->reason = KSP_CONVERGED_ITERATING;
  // KSPSetUp() sees neither values that came into the same matrix nor another PC.
  PetscCall(TakePCADIAgain(ksp));
  PetscCall(PCSetUp(ksp->pc));
  if (ksp->pc->failedreason) ksp->reason = KSP_DIVERGED_PC_FAILED;
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCADIGetPenalties(ksp->pc, &penalties));
  if (penalties) PetscCall(MeetPenalties(ksp, *penalties, A));
  for (;;) {
    // A cycle starts from a zero guess on the residual: its own first residual then costs nothing.
    const bool first = ksp->its == 0 && ksp->guess_zero && !penalties, last = ksp->its >= ksp->max_it;
    const bool look = ksp->normtype != KSP_NORM_NONE && (ksp->its % every == 0 || last);
    if (last && !look) break;
    PetscCall(StartResidual(ksp, A, first, r));
    if (look && ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
      PetscCall(ResidualNorm(r, x, penalties, z, &norm));
      KSPCheckNorm(ksp, norm);
      PetscCall(Look(ksp, norm, penalties != NULL));
      if (ksp->reason) break;
      bool reached = false;
      if (!penalties) PetscCall(rounding.Look(P, x, norm, &reached)); // a penalty's size says nothing of other rows
      if (reached) {
        ksp->reason = KSP_DIVERGED_BREAKDOWN;
        break;
      }
    }
    if (last && ksp->normtype == KSP_NORM_UNPRECONDITIONED) break;
    PetscCall(KSP_PCApply(ksp, r, z));
    if (look && ksp->normtype == KSP_NORM_PRECONDITIONED) {
      PetscCall(VecNorm(z, NORM_2, &norm));
      KSPCheckNorm(ksp, norm);
      PetscCall(Look(ksp, norm, penalties != NULL));
      if (ksp->reason) break;
      if (last) break;
    }
    PetscCall(VecAXPY(x, 1.0, z));
    PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
    ksp->its++;
    PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  }
  if (!ksp->reason) ksp->reason = ksp->normtype == KSP_NORM_NONE ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
  PetscCall(ExplainDivergence(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

static PetscErrorCode KSPADISetCheckEvery_ADI(KSP ksp, PetscInt every)
{
  PetscFunctionBegin;
  PetscCheck(every >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_adi_check_every %" PetscInt_FMT ": must be at least 1 (to skip norms entirely use -ksp_norm_type none)", every);
  Adi(ksp)->check_every = every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  KSPADISetCheckEvery - sets after how many iterations a `KSPADI` looks at the norm

  Logically Collective

  Input Parameters:
+ ksp   - the solver
- every - the number of iterations, at least 1

  Options Database Key:
. -ksp_adi_check_every <1> - the number of iterations

  Level: intermediate

  Note:
  Monitors and convergence tests see only these iterations and the last one. In between, nothing waits for the device.

.seealso: `KSPADI`, `KSPADIGetCheckEvery()`, `KSPSetNormType()`
@*/
PetscErrorCode KSPADISetCheckEvery(KSP ksp, PetscInt every)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(ksp, "KSPADISetCheckEvery_C", every));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPADIGetCheckEvery - gets after how many iterations a `KSPADI` looks at the norm

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. every - the number of iterations

  Level: intermediate

.seealso: `KSPADI`, `KSPADISetCheckEvery()`
@*/
PetscErrorCode KSPADIGetCheckEvery(KSP ksp, PetscInt *every)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(ksp, "KSPADIGetCheckEvery_C", every));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

namespace {

PetscErrorCode ComposeSetters(KSP ksp, bool compose)
{
  static const Composed functions[] = {
      composed("KSPADISetCheckEvery_C", KSPADISetCheckEvery_ADI),
      composed("KSPADIGetCheckEvery_C", [](KSP ksp, PetscInt *every) { return Get(every, Adi(ksp)->check_every); }),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)ksp, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The PC may have been asked for its options before the KSP is: PCADI's are asked for here. An option that wants another PC is a contradiction.
PetscErrorCode PCFromOptions(KSP ksp)
{
  PetscBool taken, set, none, adi;
  char asked[64] = "";
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(TakePCADI(ksp, &taken));
  if (!taken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOptionsPrefix(ksp->pc, &prefix));
  PetscCall(PetscOptionsGetString(((PetscObject)ksp)->options, prefix, "-pc_type", asked, sizeof(asked), &set));
  PetscCall(PetscStrcmp(asked, PCNONE, &none));
  PetscCall(PetscStrcmp(asked, PCADI, &adi));
  PetscCheck(!set || none || adi, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_INCOMP,
             "KSPADI always uses PCADI, but -pc_type %s was given: remove -pc_type, or use -ksp_type richardson with it", asked);
  PetscCall(OptionsOfPCADI(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_ADI(KSP ksp, OptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(KSPADIReadOptions(ksp, PetscOptionsObject));
  PetscCall(PCFromOptions(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPView_ADI(KSP ksp, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  an iteration is a cycle of the PC; convergence looked at every %" PetscInt_FMT "\n",
                                   Adi(ksp)->check_every));
  PetscCall(KSPADITellOptions(ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_ADI(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(ComposeSetters(ksp, false));
  delete Adi(ksp);
  ksp->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace weft

/*MC
  KSPADI - alternating directions as a solver: x += M^-1 (b - A x), where M^-1 is an application of `PCADI`

  Options Database Keys:
+ -ksp_adi_check_every <1> - iterations from one look at the norm to the next
- -pc_adi_...              - options of the cycles, see `PCADI`

  Level: beginner

  Notes:
  `-ksp_type adi` is all that is needed. If the KSP's own PC is not a `PCADI`, the KSP changes it to one during set-up, whatever type it had by
  default or by `PCSetType()`. Only an option `-pc_type` other than adi or none is an error.

  An iteration is an application of the PC, which makes `-pc_adi_iterations` cycles of `-pc_adi_cycle` sweeps each. By default the norm is that
  of the residual. With `-ksp_norm_type preconditioned` it is that of the correction, which is the change of the solution.

  Penalties (see `PCADI`) are satisfied before the first iteration, and count in the residual's norm as if their diagonals were those of other
  rows, because they would dominate it.

  Shifts given by hand, or parts that do not commute, can make the iteration diverge. The solve then ends in `KSP_DIVERGED_DTOL`, and
  `-info :ksp` says what to do; `-ksp_error_if_not_converged` makes it an error that says so. `-ksp_type gmres -pc_type adi` avoids this.

  A residual that no longer shrinks because it is the rounding of A x ends in `KSP_DIVERGED_BREAKDOWN`: the tolerance asks for more digits than
  there are. This happens where strong couplings cancel and weak ones determine the solution.

.seealso: `KSPCreate()`, `KSPSetType()`, `PCADI`, `KSPRICHARDSON`, `KSPADISetCheckEvery()`
M*/
PetscErrorCode KSPCreate_ADI(KSP ksp)
{
  PetscFunctionBegin;
  PetscCallCXX(ksp->data = new weft::KSP_ADI);
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup          = weft::Together<weft::KSPSetUp_ADI>;
  ksp->ops->solve          = weft::Guarded<weft::KSPSolve_ADI>;
  ksp->ops->setfromoptions = weft::Guarded<weft::KSPSetFromOptions_ADI>;
  ksp->ops->view           = weft::Guarded<weft::KSPView_ADI>;
  ksp->ops->destroy        = weft::KSPDestroy_ADI;
  ksp->ops->buildsolution  = KSPBuildSolutionDefault;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  PetscCall(weft::ComposeSetters(ksp, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
