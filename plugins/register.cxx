// The load hook, the version check and the one list of types.
#include <petscksp.h>

#include "petsc_compat.h"
#include "types.h"
#include "weft.h"

namespace {

struct PCEntry {
  const char *name;
  PetscErrorCode (*create)(PC);
};

// To add a type: a line here, its creator in types.h.
constexpr PCEntry preconditioners[] = {
    {"line", PCCreate_Line},
};

PetscBool registered = PETSC_FALSE;

PetscErrorCode WeftForgetRegistration()
{
  PetscFunctionBegin;
  registered = PETSC_FALSE; // the library stays in memory, PETSc's lists of types do not
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc's private structures differ between releases, scalar types and index sizes, so the library serves the PETSc it was built with and
// no other.
PetscErrorCode WeftCheckPetsc()
{
  PetscInt major, minor, subminor;
  PetscDataType real, scalar;
  PetscBool found;
  size_t index_size;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, NULL));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libweft was built with PETSc %d.%d and this program runs PETSc %" PetscInt_FMT ".%" PetscInt_FMT
             ": build Weft with PETSC_DIR set to this PETSc",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscCall(PetscDataTypeFromString("real", &real, &found));
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(real == PETSC_REAL && scalar == PETSC_SCALAR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libweft was built with PETSc scalars of type %s and this program's are %s: build Weft with PETSC_DIR set to this PETSc",
             PetscDataTypes[PETSC_SCALAR], PetscDataTypes[scalar]);
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index_size));
  PetscCheck(index_size == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libweft was built with PETSc indices of %d bits and this program's have %d: build Weft with PETSC_DIR set to this PETSc",
             (int)(8 * sizeof(PetscInt)), (int)(8 * index_size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

/*@C
  PetscDLLibraryRegister_weft - registers all types of Weft with PETSc

  Not Collective, No Fortran Support

  Level: advanced

  Notes:
  PETSc calls it when a program runs with -dll_append /path/libweft.so. A program that is linked to libweft calls it after
`PetscInitialize()`. It may be called any number of times.

  It fails with `PETSC_ERR_LIB` if this PETSc is not the one that Weft was built with (minor version, scalar type, index size), or if a type
of the same name is registered already; nothing is overwritten.

.seealso: `PCLINE`, `PetscDLLibraryAppend()`
@*/
PetscErrorCode PetscDLLibraryRegister_weft(void)
{
  void (*known)(void) = NULL;

  PetscFunctionBegin;
  if (registered) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WeftCheckPetsc());
  PetscCall(PCInitializePackage());
  for (const PCEntry &type : preconditioners) {
    PetscCall(PetscFunctionListFind(PCList, type.name, &known));
    PetscCheck(!known, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "a PC type '%s' is registered already, and Weft overwrites none: load one of the two libraries only", type.name);
  }
  for (const PCEntry &type : preconditioners) PetscCall(PCRegister(type.name, type.create));
  PetscCall(PetscRegisterFinalize(WeftForgetRegistration));
  registered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
