// PCLINE's setters, behind the functions of interface.cxx.
#include "line/line_impl.h"

namespace weft {

namespace {

// A choice that set-up depends on.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, Value value)
{
  PetscFunctionBegin;
  if (*chosen != value) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A choice among names.
template <auto member, auto last, class Value = decltype(last)>
PetscErrorCode SetName(PC pc, Value value)
{
  PetscFunctionBegin;
  PetscCheck(value >= 0 && value <= last, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "a PCLINE has no such choice: %d",
             (int)value);
  PetscCall(Choose(pc, &(Data(pc)->*member), value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetFile_Line(PC pc, const char file[])
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Data(pc)->file, std::string(file ? file : "")));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetPlaneCycles_Line(PC pc, PetscInt cycles)
{
  PetscFunctionBegin;
  PetscCheck(cycles >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_plane_cycles %" PetscInt_FMT ": 0 for no planes, or the number of cycles in each", cycles);
  PetscCall(Choose(pc, &Data(pc)->plane_cycles, cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetEstimateOmega_Line(PC pc, PetscBool estimate)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Data(pc)->estimate_omega, estimate == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetDiagonalProducts_Line(PC pc, PetscBool products)
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Data(pc)->diagonal_products, products == PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetKernel_Line(PC pc, const char kernel[])
{
  PetscFunctionBegin;
  PetscCheck(kernel, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "PCLineSetKernel(): no name is given");
  const std::string name = kernel;
  bool known             = name == "auto";
  std::string list;
  for (const char *method : tridiagonal_method_names()) {
    known = known || name == method;
    list += std::string(method) + ", ";
  }
  PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown line kernel '%s': there are %sand auto", kernel,
             list.c_str());
  PetscCall(Choose(pc, &Data(pc)->kernel, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetKernelParameters_Line(PC pc, PetscInt switch_rows, PetscInt steps, PetscInt partitions, PetscInt slice,
                                              PetscReal tolerance)
{
  MethodParameters parameters;

  PetscFunctionBegin;
  PetscCheck(switch_rows >= 0 && steps >= 0 && partitions >= 0 && slice >= 0 && tolerance >= 0 && !PetscIsInfOrNanReal(tolerance),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "parameters of a line kernel must not be negative: 0 leaves the kernel the choice");
  parameters.switch_rows = switch_rows;
  parameters.steps       = (int)steps;
  parameters.partitions  = (int)partitions;
  parameters.slice       = (int)slice;
  parameters.tolerance   = tolerance;
  PetscCall(Choose(pc, &Data(pc)->kernel_parameters, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetSweeps_Line(PC pc, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCheck(sweeps >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_sweeps %" PetscInt_FMT ": at least one sweep is needed", sweeps);
  Data(pc)->sweeps = sweeps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetOmega_Line(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCheck(omega > 0 && PetscIsNormalReal(omega), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_omega %g: the damping factor must be positive and finite", (double)omega);
  Data(pc)->omega = omega;
  if (!Data(pc)->estimate_omega) Data(pc)->found_omega = omega; // read by each application
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetFindAgain_Line(PC pc, PetscReal share)
{
  PetscFunctionBegin;
  PetscCheck(share >= 0 && !PetscIsInfOrNanReal(share), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_find_again %g: a share from 0 (never) to 1, or more than 1 for each set-up", (double)share);
  Data(pc)->find_again = share;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineGetFindAgain_Line(PC pc, PetscReal *share)
{
  PetscFunctionBegin;
  *share = Data(pc)->find_again;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineSetCheck_Line(PC pc, PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCheck(warn >= 0 && fail >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_check_warn %g, -pc_line_check_fail %g: bounds of a residual are not negative", (double)warn, (double)fail);
  PetscCall(Choose(pc, &Data(pc)->check.warn, warn));
  PetscCall(Choose(pc, &Data(pc)->check.fail, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCLineComposeSetters(PC pc, bool compose)
{
  const auto set = [pc, compose](const char name[], auto setter) {
    return PetscObjectComposeFunction((PetscObject)pc, name, compose ? setter : NULL);
  };

  PetscFunctionBegin;
  PetscCall(set("PCLineSetSource_C", SetName<&PC_Line::source, PC_LINE_SOURCE_AUTO>));
  PetscCall(set("PCLineSetDirection_C", SetName<&PC_Line::direction, PC_LINE_AUTO>));
  PetscCall(set("PCLineSetOrdering_C", SetName<&PC_Line::ordering, PC_LINE_MULTICOLOR>));
  PetscCall(set("PCLineSetSweep_C", SetName<&PC_Line::sweep, PC_LINE_SWEEP_AUTO>));
  PetscCall(set("PCLineSetRanks_C", SetName<&PC_Line::ranks, PC_LINE_CUT>));
  PetscCall(set("PCLineSetComponents_C", SetName<&PC_Line::components, PC_LINE_COMPONENTS_AUTO>));
  PetscCall(set("PCLineSetPrecision_C", SetName<&PC_Line::precision, PC_LINE_SINGLE>));
  PetscCall(set("PCLineSetFile_C", PCLineSetFile_Line));
  PetscCall(set("PCLineSetPlaneCycles_C", PCLineSetPlaneCycles_Line));
  PetscCall(set("PCLineSetKernel_C", PCLineSetKernel_Line));
  PetscCall(set("PCLineSetKernelParameters_C", PCLineSetKernelParameters_Line));
  PetscCall(set("PCLineSetSweeps_C", PCLineSetSweeps_Line));
  PetscCall(set("PCLineSetOmega_C", PCLineSetOmega_Line));
  PetscCall(set("PCLineSetFindAgain_C", PCLineSetFindAgain_Line));
  PetscCall(set("PCLineGetFindAgain_C", PCLineGetFindAgain_Line));
  PetscCall(set("PCLineSetEstimateOmega_C", PCLineSetEstimateOmega_Line));
  PetscCall(set("PCLineSetDiagonalProducts_C", PCLineSetDiagonalProducts_Line));
  PetscCall(set("PCLineSetCheck_C", PCLineSetCheck_Line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
