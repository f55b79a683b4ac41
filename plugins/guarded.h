/// Where PETSc calls C++: an exception must not leave it, or the program ends without a word of PETSc's.
#pragma once
#include <petscsys.h>

#include <exception>
#include <new>

namespace weft {

template <auto Function, class... Arguments>
PetscErrorCode GuardedCall(Arguments... arguments)
{
  try {
    return Function(arguments...);
  } catch (const std::bad_alloc &) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM,
            "libweft got no more memory on the host: take a smaller problem, more ranks on more nodes, or "
            "options that store less (-help lists them with the type)");
  } catch (const std::exception &error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", error.what());
  }
}

template <auto Function, class... Arguments>
constexpr auto GuardOf(PetscErrorCode (*)(Arguments...))
{
  return &GuardedCall<Function, Arguments...>;
}

/// The function to give to PETSc: calls Function, and makes PETSc errors of exceptions.
template <auto Function>
inline constexpr auto Guarded = GuardOf<Function>(Function);

} // namespace weft
