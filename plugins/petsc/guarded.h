/// Where PETSc calls C++: an exception must not leave it, or the program ends without a word of PETSc's.
#pragma once
#include <petscsys.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace weft {

inline constexpr char no_host_memory[] =
    "out of host memory in libweft: use more nodes, or options that store less (-help lists them with the type)";

/// Throws where a test wants a call to fail; see TogetherBegin in agreed.cxx.
void FailHere();

/// Calls work(), which returns nothing or PETSc's error code.
template <class Work>
PetscErrorCode GuardedWork(const Work &work)
{
  try {
    if constexpr (std::is_void_v<decltype(work())>)
      work();
    else
      return work();
    return (PetscErrorCode)0;
  } catch (const std::bad_alloc &) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "%s", no_host_memory);
  } catch (const std::invalid_argument &error) { // a kernel refuses what it was asked for
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "%s", error.what());
  } catch (const std::exception &error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", error.what());
  }
}

template <auto Function, class... Arguments>
PetscErrorCode GuardedCall(Arguments... arguments)
{
  return GuardedWork([&] { return Function(arguments...); });
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

// PETSc's macro of this name takes a lack of memory for an error of a library, and no test can make it fail.
#undef PetscCallCXX
#define PetscCallCXX(...)                                                                                                                  \
  PetscCall(weft::GuardedWork([&] {                                                                                                        \
    weft::FailHere();                                                                                                                      \
    __VA_ARGS__;                                                                                                                           \
  }))
