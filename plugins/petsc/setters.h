/// What setters and getters of all types share, and how PETSc finds them.
#pragma once
#include <petsc/private/pcimpl.h>

#include <cstddef>

#include "petsc/petsc_compat.h"

namespace weft {

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
PetscErrorCode Get(Result *result, Value value)
{
  PetscFunctionBegin;
  *result = static_cast<Result>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Pointer>
struct MemberPointer;
template <class Data, class Value>
struct MemberPointer<Value Data::*> {
  using Class = Data;
  using Type  = Value;
};

/// The getter of a member of a PC's data.
template <auto member, class Result = typename MemberPointer<decltype(member)>::Type>
PetscErrorCode GetMember(PC pc, Result *result)
{
  using Data = typename MemberPointer<decltype(member)>::Class;

  PetscFunctionBegin;
  *result = static_cast<Result>(static_cast<const Data *>(pc->data)->*member);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A setter or getter under the name by which PETSc finds it.
struct Composed {
  const char *name;
  void (*function)(void);
};

template <class Function>
Composed composed(const char name[], Function *function)
{
  return {name, reinterpret_cast<void (*)(void)>(function)};
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
