// PCBCR's setters and getters: what it does, its page and the function that programs call, together.
#include <cstring>

#include "bcr/bcr_impl.h"
#include "petsc/setters.h"

using namespace weft;

/*@C
  PCBCRSetMethod - sets the method by which a `PCBCR` solves

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- method - the method's name, or "auto" for the fastest stable one

  Options Database Key:
. -pc_bcr_type (buneman1|buneman2|partial|separable|plain|facr|auto) - the method

  Level: intermediate

  Note:
  A method that cannot solve an operator says why when the `PC` is set up. buneman1, buneman2 and plain exist for comparison; plain is
  unstable.

.seealso: `PCBCR`, `PCBCRGetMethod()`, `PCBCRSetInverse()`, `PCBCRSetRadix()`, `PCBCRSetLevels()`
@*/
PetscErrorCode PCBCRSetMethod(PC pc, const char method[])
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCBCRGetMethod - gets the method by which a `PCBCR` solves

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. method - the method's name

  Level: intermediate

.seealso: `PCBCR`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRGetMethod(PC pc, const char *method[])
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetMethod_C", method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBCRSetInverse_BCR(PC pc, const char inverse[])
{
  std::string name;

  PetscFunctionBegin;
  PetscCheck(inverse && (!std::strcmp(inverse, "fractions") || !std::strcmp(inverse, "leja")), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_UNKNOWN_TYPE, "PCBCRSetInverse(): unknown inverse '%s'; available: fractions, leja", inverse ? inverse : "");
  PetscCallCXX(name = inverse);
  PetscCall(Choose(pc, &Bcr(pc)->options.inverse, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCBCRSetInverse - sets how the Buneman methods of a `PCBCR` apply the inverses of matrix polynomials

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- inverse - "fractions" to add the results of independent solves; "leja" to solve one after the other, with the poles in Leja's order

  Options Database Key:
. -pc_bcr_inverse (fractions|leja) - the choice

  Level: advanced

.seealso: `PCBCR`, `PCBCRGetInverse()`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRSetInverse(PC pc, const char inverse[])
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetInverse_C", inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCBCRGetInverse - gets how the Buneman methods of a `PCBCR` apply inverses of matrix polynomials

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. inverse - "fractions" or "leja"

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetInverse()`
@*/
PetscErrorCode PCBCRGetInverse(PC pc, const char *inverse[])
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetInverse_C", inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetRadix - sets by how much a level of method separable of a `PCBCR` reduces the lines

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- radix - 2 to 5, or 0 for the method's choice

  Options Database Key:
. -pc_bcr_radix <0> - the radix

  Level: advanced

.seealso: `PCBCR`, `PCBCRGetRadix()`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRSetRadix(PC pc, PetscInt radix)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetRadix_C", radix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRGetRadix - gets the radix of a `PCBCR`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. radix - 2 to 5, or 0 for the method's choice

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetRadix()`
@*/
PetscErrorCode PCBCRGetRadix(PC pc, PetscInt *radix)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetRadix_C", radix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetLevels - sets the levels of cyclic reduction before the transform in method facr of a `PCBCR`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- levels - 0 or more, or -1 for the method's choice

  Options Database Key:
. -pc_bcr_levels <-1> - the number of levels

  Level: advanced

.seealso: `PCBCR`, `PCBCRGetLevels()`, `PCBCRSetMethod()`
@*/
PetscErrorCode PCBCRSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetLevels_C", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRGetLevels - gets the levels of cyclic reduction of a `PCBCR`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. levels - 0 or more, or -1 for the method's choice

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetLevels()`
@*/
PetscErrorCode PCBCRGetLevels(PC pc, PetscInt *levels)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetLevels_C", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetPrecision - sets the precision in which a `PCBCR` solves

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- precision - `PC_BCR_DOUBLE`, or `PC_BCR_SINGLE`, which takes less time and memory and needs a Krylov method to correct the result

  Options Database Key:
. -pc_bcr_precision (double|single) - the precision

  Level: intermediate

.seealso: `PCBCR`, `PCBCRGetPrecision()`
@*/
PetscErrorCode PCBCRSetPrecision(PC pc, PCBCRPrecision precision)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRGetPrecision - gets the precision in which a `PCBCR` solves

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. precision - `PC_BCR_DOUBLE` or `PC_BCR_SINGLE`

  Level: intermediate

.seealso: `PCBCR`, `PCBCRSetPrecision()`
@*/
PetscErrorCode PCBCRGetPrecision(PC pc, PCBCRPrecision *precision)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetPrecision_C", precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetRequireSeparable - makes it an error if the matrix of a `PCBCR` is not separable

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- require - `PETSC_TRUE` to raise the error, `PETSC_FALSE` to solve with the nearest separable operator

  Options Database Key:
. -pc_bcr_require_separable <false> - the choice

  Level: intermediate

.seealso: `PCBCR`, `PCBCRGetRequireSeparable()`, `PCBCRSetSeparableTolerance()`
@*/
PetscErrorCode PCBCRSetRequireSeparable(PC pc, PetscBool require)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetRequireSeparable_C", require));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRGetRequireSeparable - gets whether a `PCBCR` takes separable matrices only

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. require - whether a matrix that is not separable is an error

  Level: intermediate

.seealso: `PCBCR`, `PCBCRSetRequireSeparable()`
@*/
PetscErrorCode PCBCRGetRequireSeparable(PC pc, PetscBool *require)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetRequireSeparable_C", require));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetSeparableTolerance - sets how far the matrix of a `PCBCR` may be from a separable one and still be called so

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- tolerance - bound of the sum of the differences over a row, relative to the sum of magnitudes of that row

  Options Database Key:
. -pc_bcr_separable_tolerance <1e-10> - the tolerance

  Level: advanced

  Note:
  The tolerance decides what counts as separable: what `PCView()` calls so, what `PCBCRSetRequireSeparable()` and `KSPPREONLY` accept, and
  which check of `PCBCRSetCheck()` a set-up makes. It does not change the operator that is solved.

.seealso: `PCBCR`, `PCBCRGetSeparableTolerance()`, `PCBCRSetRequireSeparable()`
@*/
PetscErrorCode PCBCRSetSeparableTolerance(PC pc, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetSeparableTolerance_C", tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRGetSeparableTolerance - gets how far the matrix of a `PCBCR` may be from a separable one

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. tolerance - the tolerance

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetSeparableTolerance()`
@*/
PetscErrorCode PCBCRGetSeparableTolerance(PC pc, PetscReal *tolerance)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetSeparableTolerance_C", tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRSetCheck - sets when a `PCBCR` says that its solves lose digits, and when it fails for that

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. warn - relative residual of a random solve above which `-info` reports it and iterative refinement is tried
- fail - relative residual above which the set-up fails with `PC_FACTOR_OTHER`

  Options Database Keys:
+ -pc_bcr_check_warn <1e-10> - the first bound
- -pc_bcr_check_fail <1e-4>  - the second bound

  Level: advanced

  Notes:
  Each set-up for a separable matrix solves once with a right-hand side that looks random, and `PCView()` shows the residual. If this is above
  `warn`, and larger than rounding explains for such a matrix, iterative refinement is tried; a step that makes the residual ten times
  smaller is one that all applications take, up to five. In single precision nothing is refined.

  For a matrix that is not separable, each set-up solves with such a right-hand side and with a third of it. What three times the second
  solution leaves of the first one is rounding; its product with the matrix is compared with the same bounds, and nothing is refined.

  If both bounds are 1e300 or more, nothing is measured.

.seealso: `PCBCR`, `PCBCRGetCheck()`, `PCBCRSetPrecision()`
@*/
PetscErrorCode PCBCRSetCheck(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCall(CallSetter(pc, "PCBCRSetCheck_C", warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBCRGetCheck - gets when a `PCBCR` says that its solves lose digits, and when it fails for that

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ warn - relative residual of a random solve above which it is reported
- fail - relative residual above which the set-up fails

  Level: advanced

.seealso: `PCBCR`, `PCBCRSetCheck()`
@*/
PetscErrorCode PCBCRGetCheck(PC pc, PetscReal *warn, PetscReal *fail)
{
  PetscFunctionBegin;
  PetscCall(CallGetter(pc, "PCBCRGetCheck_C", warn, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static constexpr auto is_radix   = [](PetscInt radix) { return radix == 0 || (radix >= 2 && radix <= 5); };
static constexpr auto are_levels = [](PetscInt levels) { return levels >= -1 && levels <= 62; };

PetscErrorCode weft::PCBCRComposeSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCBCRSetMethod_C",
               [](PC pc, const char method[]) {
                 return SetName<&PC_BCR::options, &DirectOptions::method>(pc, "PCBCRSetMethod", "method", method, BcrMethodNames());
               }),
      composed("PCBCRGetMethod_C", GetMember<const char *, &PC_BCR::options, &DirectOptions::method>),
      composed("PCBCRSetInverse_C", PCBCRSetInverse_BCR),
      composed("PCBCRGetInverse_C", GetMember<const char *, &PC_BCR::options, &DirectOptions::inverse>),
      composed("PCBCRSetRadix_C", SetBounded<PetscInt, "pc_bcr_radix", "a radix is from 2 to 5, or 0 for the method's choice", is_radix,
                                             &PC_BCR::options, &DirectOptions::radix>),
      composed("PCBCRGetRadix_C", GetMember<PetscInt, &PC_BCR::options, &DirectOptions::radix>),
      composed("PCBCRSetLevels_C", SetBounded<PetscInt, "pc_bcr_levels", "levels are 0 or more, or -1 for the method's choice", are_levels,
                                              &PC_BCR::options, &DirectOptions::levels>),
      composed("PCBCRGetLevels_C", GetMember<PetscInt, &PC_BCR::options, &DirectOptions::levels>),
      composed("PCBCRSetPrecision_C", SetChoice<"PCBCR", "Precision", PC_BCR_SINGLE, &PC_BCR::precision>),
      composed("PCBCRGetPrecision_C", GetMember<PCBCRPrecision, &PC_BCR::precision>),
      composed("PCBCRSetRequireSeparable_C", SetMember<PetscBool, &PC_BCR::require_separable>),
      composed("PCBCRGetRequireSeparable_C", GetMember<PetscBool, &PC_BCR::require_separable>),
      composed("PCBCRSetSeparableTolerance_C",
               SetBounded<PetscReal, "pc_bcr_separable_tolerance", "the tolerance must be finite and not negative", finite_not_negative,
                          &PC_BCR::tolerance>),
      composed("PCBCRGetSeparableTolerance_C", GetMember<PetscReal, &PC_BCR::tolerance>),
      composed("PCBCRSetCheck_C",
               [](PC pc, PetscReal warn, PetscReal fail) {
                 return SetCheck(pc, "pc_bcr", &Bcr(pc)->check.warn, warn, &Bcr(pc)->check.fail, fail);
               }),
      composed("PCBCRGetCheck_C",
               [](PC pc, PetscReal *warn, PetscReal *fail) { return GetBoth(warn, Bcr(pc)->check.warn, fail, Bcr(pc)->check.fail); }),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
