/// What setters and getters of all types share, and how PETSc finds them.
#pragma once
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "petsc/petsc_compat.h"

namespace weft {

// ------------------------------------------------------------------------------------------- the functions that programs call

inline PetscClassId ClassOf(PC)
{
  return PC_CLASSID;
}
inline PetscClassId ClassOf(KSP)
{
  return KSP_CLASSID;
}

/// In a PETSc for debugging: an error where an argument is not the same on all ranks. Texts and arrays are not looked at.
template <class Solver, class Value>
PetscErrorCode CheckSameOnAllRanks(Solver solver, Value value, int argument)
{
  PetscFunctionBegin;
  if constexpr (std::is_same_v<Value, PetscInt>) {
    PetscValidLogicalCollectiveInt(solver, value, argument);
  } else if constexpr (std::is_same_v<Value, PetscReal>) {
    PetscValidLogicalCollectiveReal(solver, value, argument);
  } else if constexpr (std::is_same_v<Value, PetscBool>) {
    PetscValidLogicalCollectiveBool(solver, value, argument);
  } else if constexpr (std::is_enum_v<Value>) {
    PetscValidLogicalCollectiveEnum(solver, value, argument);
  }
  static_cast<void>(solver);
  static_cast<void>(value);
  static_cast<void>(argument);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a program's call of a setter does: on a solver of the type, the setter of that name; on another one nothing.
template <class Solver, class... Values>
PetscErrorCode CallSetter(Solver solver, const char name[], Values... values)
{
  PetscErrorCode error = PETSC_SUCCESS;
  int argument         = 1;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(solver, ClassOf(solver), 1);
  ((error = error ? error : CheckSameOnAllRanks(solver, values, ++argument)), ...);
  PetscCall(error);
  PetscTryMethod(solver, name, (Solver, Values...), (solver, values...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Result>
PetscErrorCode CheckPointer(Result *result, int argument)
{
  PetscFunctionBegin;
  PetscAssertPointer(result, argument);
  static_cast<void>(argument);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a program's call of a getter does: on a solver of the type, the getter of that name; on another one it is an error.
template <class Solver, class... Results>
PetscErrorCode CallGetter(Solver solver, const char name[], Results *...results)
{
  PetscErrorCode error = PETSC_SUCCESS;
  int argument         = 1;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(solver, ClassOf(solver), 1);
  ((error = error ? error : CheckPointer(results, ++argument)), ...);
  PetscCall(error);
  PetscUseMethod(solver, name, (Solver, Results * ...), (solver, results...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------- what types do in them

/// A choice that set-up depends on: another one has the next set-up begin anew.
template <class Value>
PetscErrorCode Choose(PC pc, Value *chosen, Value value)
{
  PetscFunctionBegin;
  if (*chosen != value) pc->setupcalled = PETSC_FALSE;
  *chosen = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Result, class Value>
PetscErrorCode Get(Result *result, const Value &value)
{
  PetscFunctionBegin;
  if constexpr (std::is_same_v<Value, std::string>)
    *result = value.c_str();
  else
    *result = static_cast<Result>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a getter of two values does.
template <class Result, class Value, class OtherResult, class OtherValue>
PetscErrorCode GetBoth(Result *result, const Value &value, OtherResult *other_result, const OtherValue &other_value)
{
  PetscFunctionBegin;
  PetscCall(Get(result, value));
  PetscCall(Get(other_result, other_value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Pointer>
struct MemberPointer;
template <class Data, class Value>
struct MemberPointer<Value Data::*> {
  using Class = Data;
};

/// Where a path of members leads, as &PC_BCR::options, &DirectOptions::radix.
template <auto first, auto... rest, class Data>
auto &Follow(Data &data)
{
  if constexpr (sizeof...(rest) == 0)
    return data.*first;
  else
    return Follow<rest...>(data.*first);
}

/// The member to which a path leads from a PC's data.
template <auto first, auto... rest>
auto &MemberOf(PC pc)
{
  return Follow<first, rest...>(*static_cast<typename MemberPointer<decltype(first)>::Class *>(pc->data));
}

/// The getter of a member.
template <class Result, auto... path>
PetscErrorCode GetMember(PC pc, Result *result)
{
  PetscFunctionBegin;
  PetscCall(Get(result, MemberOf<path...>(pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The setter of a member that takes any value.
template <class Value, auto... path>
PetscErrorCode SetMember(PC pc, Value value)
{
  auto &member = MemberOf<path...>(pc);

  PetscFunctionBegin;
  PetscCall(Choose(pc, &member, static_cast<std::remove_reference_t<decltype(member)>>(value)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A part of a function's name, as PCLine and Ordering in PCLineSetOrdering().
template <std::size_t size>
struct PartOfName {
  char text[size];

  constexpr PartOfName(const char (&from)[size]) { std::copy_n(from, size, text); }
};

inline constexpr auto not_negative = [](auto number) { return number >= 0; };
/// Beyond that rounding leaves nothing of the number beside it.
inline constexpr auto share_of_a_number   = [](PetscReal number) { return number >= 0 && number * PETSC_MACHINE_EPSILON <= 1; };
inline constexpr auto finite_not_negative = [](PetscReal number) { return number >= 0 && !PetscIsInfOrNanReal(number); };

/// The setter of a number that `fits` takes. In the message: the name of its option, and what it must be.
template <class Number, PartOfName option, PartOfName needs, auto fits, auto... path>
PetscErrorCode SetBounded(PC pc, Number number)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  if constexpr (std::is_same_v<Number, PetscInt>)
    PetscCheck(fits(number), comm, PETSC_ERR_ARG_OUTOFRANGE, "-%s %" PetscInt_FMT ": %s", option.text, number, needs.text);
  else
    PetscCheck(fits(number), comm, PETSC_ERR_ARG_OUTOFRANGE, "-%s %g: %s", option.text, (double)number, needs.text);
  PetscCall(SetMember<Number, path...>(pc, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The setter of a member of an enumeration (PCLineOrdering), which begins with 0.
template <PartOfName type, PartOfName what, auto last, auto... path>
PetscErrorCode SetChoice(PC pc, decltype(last) value)
{
  PetscFunctionBegin;
  PetscCheck(value >= 0 && value <= last, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "%sSet%s(): invalid %s%s %d",
             type.text, what.text, type.text, what.text, (int)value);
  PetscCall(SetMember<decltype(last), path...>(pc, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The setter of a member that holds one of these names. `what` they are names of, in the message.
template <auto... path>
PetscErrorCode SetName(PC pc, const char setter[], const char what[], const char name[], const std::vector<const char *> &known)
{
  std::string list;
  bool found = false;

  PetscFunctionBegin;
  PetscCheck(name, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "%s(): no name is given", setter);
  for (const char *other : known) {
    found = found || std::string(name) == other;
    PetscCallCXX(list += std::string(list.empty() ? "" : ", ") + other);
  }
  PetscCheck(found, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown %s '%s'; available: %s", what, name,
             list.c_str());
  PetscCall(SetMember<std::string, path...>(pc, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The bounds of DirectCheck. `type`: what the options begin with.
inline PetscErrorCode AcceptCheck(MPI_Comm comm, const char type[], PetscReal warn, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCheck(warn >= 0 && fail >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-%s_check_warn %g, -%s_check_fail %g: bounds of a residual must be non-negative", type, (double)warn, type, (double)fail);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Their setter.
inline PetscErrorCode SetCheck(PC pc, const char type[], PetscReal *chosen_warn, PetscReal warn, PetscReal *chosen_fail, PetscReal fail)
{
  PetscFunctionBegin;
  PetscCall(AcceptCheck(PetscObjectComm((PetscObject)pc), type, warn, fail));
  PetscCall(Choose(pc, chosen_warn, warn));
  PetscCall(Choose(pc, chosen_fail, fail));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ------------------------------------------------------------------------------------------------------------ how PETSc finds them

/// A setter or getter under the name by which PETSc finds it.
struct Composed {
  const char *name;
  void (*function)(void);
};

/// Of a function, or of a lambda that captures nothing.
template <class Function>
Composed composed(const char name[], Function function)
{
  return {name, reinterpret_cast<void (*)(void)>(+function)};
}

/// Composes a type's setters and getters with a solver, or removes them.
template <std::size_t count>
PetscErrorCode Compose(PetscObject solver, const Composed (&functions)[count], bool there)
{
  PetscFunctionBegin;
  for (const Composed &one : functions) PetscCall(PetscObjectComposeFunction(solver, one.name, there ? one.function : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
