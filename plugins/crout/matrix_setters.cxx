// PCCROUT's setters and getters of what is done to the matrix before it is factored.
#include "crout/crout_impl.h"
#include "petsc/setters.h"

using namespace weft;

/*@
  PCCroutSetShift - adds to the diagonal of the matrix before a `PCCROUT` factors it

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- shift - the fraction of the diagonal that is added to it, at least 0, at most 1 over the machine's epsilon

  Options Database Key:
. -pc_crout_shift <0> - the fraction

  Level: advanced

.seealso: `PCCROUT`, `PCCroutGetShift()`, `PCCroutSetOmega()`
@*/
PetscErrorCode PCCroutSetShift(PC pc, PetscReal shift)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetShift_C", shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetShift - gets what a `PCCROUT` adds to the diagonal of its matrix

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. shift - the fraction of the diagonal that is added to it

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetShift()`
@*/
PetscErrorCode PCCroutGetShift(PC pc, PetscReal *shift)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetShift_C", shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetScaling - sets how a `PCCROUT` scales rows and columns before it factors

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- scaling - `PC_CROUT_SCALING_NONE`, `PC_CROUT_SCALING_DIAGONAL` to make the diagonal one, or `PC_CROUT_SCALING_RUIZ` to make the largest
            entry of each row and column about one

  Options Database Key:
. -pc_crout_scaling (none|diagonal|ruiz) - the scaling

  Level: advanced

.seealso: `PCCROUT`, `PCCroutGetScaling()`
@*/
PetscErrorCode PCCroutSetScaling(PC pc, PCCroutScaling scaling)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetScaling_C", scaling));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetScaling - gets how a `PCCROUT` scales rows and columns

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. scaling - `PC_CROUT_SCALING_NONE`, `PC_CROUT_SCALING_DIAGONAL` or `PC_CROUT_SCALING_RUIZ`

  Level: advanced

.seealso: `PCCROUT`, `PCCroutSetScaling()`
@*/
PetscErrorCode PCCroutGetScaling(PC pc, PCCroutScaling *scaling)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetScaling_C", scaling));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCroutSetOrdering_Crout(PC pc, const char ordering[])
{
  PetscFunctionList known;
  void (*found)(void) = NULL;

  PetscFunctionBegin;
  PetscCheck(ordering, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCCroutSetOrdering(): no name is given");
  PetscCall(MatGetOrderingList(&known));
  PetscCall(PetscFunctionListFind(known, ordering, &found));
  PetscCheck(found || std::string(ordering) == "auto", PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-pc_crout_ordering %s: this PETSc has no ordering of that name; -help lists them with -pc_type ilu", ordering);
  PetscCall(Choose(pc, &Data(pc)->ordering, std::string(ordering)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCCroutSetOrdering - sets the order of rows and columns in which a `PCCROUT` factors

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
- ordering - a `MatOrderingType`, or "auto" for one that reduces fill with the pattern `PC_CROUT_FULL`, and the natural one otherwise

  Options Database Key:
. -pc_crout_ordering (auto|natural|rcm|amd|...) - the ordering

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutGetOrdering()`, `MatGetOrdering()`, `MatOrderingType`
@*/
PetscErrorCode PCCroutSetOrdering(PC pc, const char ordering[])
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetOrdering_C", ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCCroutGetOrdering - gets the order of rows and columns in which a `PCCROUT` factors

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. ordering - a `MatOrderingType`, or "auto"

  Level: intermediate

  Note:
  `PCView()` shows which one "auto" has chosen.

.seealso: `PCCROUT`, `PCCroutSetOrdering()`
@*/
PetscErrorCode PCCroutGetOrdering(PC pc, const char *ordering[])
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetOrdering_C", ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutSetSymmetric - tells a `PCCROUT` that its matrix is symmetric, so that it factors L D L^T, or that it is not

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- symmetric - `PETSC_TRUE` to read only the upper triangle

  Options Database Key:
. -pc_crout_symmetric (true|false) - symmetric or not

  Level: intermediate

  Note:
  Without this choice, the matrix counts as symmetric if `MatIsSymmetricKnown()` says so. The factors of a dense matrix are always L U.

.seealso: `PCCROUT`, `PCCroutGetSymmetric()`, `MatSetOption()`
@*/
PetscErrorCode PCCroutSetSymmetric(PC pc, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCCroutSetSymmetric_C", symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCCroutGetSymmetric - gets what a `PCCROUT` was told of the symmetry of its matrix

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ told      - whether it was told; otherwise the matrix says whether it is symmetric
- symmetric - what it was told

  Level: intermediate

.seealso: `PCCROUT`, `PCCroutSetSymmetric()`
@*/
PetscErrorCode PCCroutGetSymmetric(PC pc, PetscBool *told, PetscBool *symmetric)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCCroutGetSymmetric_C", told, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode weft::PCCroutComposeMatrixSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed(
          "PCCroutSetShift_C",
          SetBounded<PetscReal, "pc_crout_shift",
                     "the shift must be at least 0 and at most 1 over the machine's epsilon, as nothing is left of the matrix beyond that",
                     share_of_a_number, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::base_shift>),
      composed("PCCroutGetShift_C", GetMember<PetscReal, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::base_shift>),
      composed(
          "PCCroutSetScaling_C",
          SetChoice<"PCCrout", "Scaling", PC_CROUT_SCALING_RUIZ, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::scaling>),
      composed("PCCroutGetScaling_C", GetMember<PCCroutScaling, &PC_Crout::settings, &CroutSettings::options, &CroutOptions::scaling>),
      composed("PCCroutSetOrdering_C", PCCroutSetOrdering_Crout),
      composed("PCCroutGetOrdering_C", GetMember<const char *, &PC_Crout::ordering>),
      composed("PCCroutSetSymmetric_C",
               [](PC pc, PetscBool symmetric) { return Choose(pc, &Data(pc)->symmetric, PetscBoolToBool3(symmetric)); }),
      composed("PCCroutGetSymmetric_C",
               [](PC pc, PetscBool *told, PetscBool *symmetric) {
                 const PetscBool3 chosen = Data(pc)->symmetric;
                 return GetBoth(told, chosen != PETSC_BOOL3_UNKNOWN, symmetric, chosen == PETSC_BOOL3_TRUE);
               }),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
