// The load hook, the version check and the one list of types.
#include <petscksp.h>

#include <cstdio>
#include <vector>

#include "crout/factor_pcs.h"
#include "line/replace_sor.h"
#include "petsc/message_way.h"
#include "petsc/petsc_compat.h"
#include "petsc/watch_preonly.h"
#include "types.h"
#include "weft.h"

namespace {

struct PCEntry {
  const char *name;
  PetscErrorCode (*create)(PC);
};

struct KSPEntry {
  const char *name;
  PetscErrorCode (*create)(KSP);
};

struct FactorEntry {
  const char *name;
  MatType matrix;
  MatFactorType factor;
  PetscErrorCode (*create)(Mat, MatFactorType, Mat *);
};

// A library may be built without some types, as ./weft demo does to be quick. Their names stand for this then, so that nobody looks for a slip
// of the pen.
template <class... Arguments>
PetscErrorCode NotBuilt(Arguments...)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "this libweft was built without this type, as ./weft demo does to be quick: type ./weft build in the folder of Weft, which "
          "builds all "
          "types in the same place (with CMake: leave -DWEFT_TYPES out)");
}

#if defined(WEFT_HAS_ADI)
constexpr auto create_adi_pc  = PCCreate_ADI;
constexpr auto create_adi_ksp = KSPCreate_ADI;
#else
constexpr auto create_adi_pc  = NotBuilt<PC>;
constexpr auto create_adi_ksp = NotBuilt<KSP>;
#endif
#if defined(WEFT_HAS_BCR)
constexpr auto create_bcr = PCCreate_BCR;
#else
constexpr auto create_bcr     = NotBuilt<PC>;
#endif
#if defined(WEFT_HAS_BOXMG)
constexpr auto create_boxmg = PCCreate_Boxmg;
#else
constexpr auto create_boxmg   = NotBuilt<PC>;
#endif
#if defined(WEFT_HAS_CROUT)
constexpr auto create_crout = PCCreate_Crout;
constexpr auto crout_factor = MatGetFactor_Crout;
#else
constexpr auto create_crout   = NotBuilt<PC>;
constexpr auto crout_factor   = NotBuilt<Mat, MatFactorType, Mat *>;
#endif

// To add a type: a line here, its creator in types.h.
const std::vector<PCEntry> preconditioners = {
    {"adi", create_adi_pc}, {"bcr", create_bcr}, {"boxmg", create_boxmg}, {"crout", create_crout}, {"line", PCCreate_Line},
};
const std::vector<KSPEntry> iterations = {
    {"adi", create_adi_ksp},
};
// PETSc finds a solver type by the beginning of the matrix' type, so these stand for seqaijcusparse, seqaijhipsparse, seqaijkokkos, seqdensecuda and seqdensehip too.
// Entries for those names, or for what PETSc itself cannot factor, would make Weft the default where no solver type is asked for.
const std::vector<FactorEntry> factorizations = {
    {"crout", MATSEQAIJ, MAT_FACTOR_LU, crout_factor},         {"crout", MATSEQAIJ, MAT_FACTOR_ILU, crout_factor},
    {"crout", MATSEQAIJ, MAT_FACTOR_CHOLESKY, crout_factor},   {"crout", MATSEQAIJ, MAT_FACTOR_ICC, crout_factor},
    {"crout", MATSEQBAIJ, MAT_FACTOR_LU, crout_factor},        {"crout", MATSEQBAIJ, MAT_FACTOR_ILU, crout_factor},
    {"crout", MATSEQBAIJ, MAT_FACTOR_CHOLESKY, crout_factor},  {"crout", MATSEQBAIJ, MAT_FACTOR_ICC, crout_factor},
    {"crout", MATSEQSBAIJ, MAT_FACTOR_CHOLESKY, crout_factor}, {"crout", MATSEQSBAIJ, MAT_FACTOR_ICC, crout_factor},
    {"crout", MATSEQDENSE, MAT_FACTOR_LU, crout_factor},       {"crout", MATSEQDENSE, MAT_FACTOR_CHOLESKY, crout_factor},
};

PetscBool registered = PETSC_FALSE;

PetscErrorCode WeftForgetRegistration()
{
  PetscFunctionBegin;
  registered = PETSC_FALSE; // the library stays in memory, PETSc's lists of types do not
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where PETSc belongs to an extension module (petsc4py), a libweft for another PETSc brings its own along, and is bound to that one: nobody
// has started it, and it cannot even raise an error of its own.
bool PetscIsAsleep()
{
  if (PETSC_COMM_WORLD != MPI_COMM_NULL) return false;
  std::fputs("libweft: its PETSc has not started. Either PetscInitialize() has not been called yet, or this program runs another PETSc "
             "than the one\n"
             "libweft was built with (" PETSC_LIB_DIR "): build Weft with PETSC_DIR set to this program's PETSc\n",
             stderr);
  return true;
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

  Options Database Key:
+ -weft_messages (auto|mpi|nccl) - what carries messages between devices: NCCL, for which no host waits, or MPI; `auto` is NCCL if it starts, and on one host messages of `PCBOXMG` are written into the memory of the other device
- -weft_replace_sor <false>      - preconditioners of type `PCSOR` become `PCLINE` if their matrix is on a device

  Level: advanced

  Notes:
  PETSc calls this function when a program runs with -dll_append /path/libweft.so. A program that is linked with libweft calls it after
  `PetscInitialize()`. It may be called any number of times.

  It fails with `PETSC_ERR_LIB` if PETSc has not started, or is not the one that Weft was built with (minor version, scalar type, index size). It
  fails with `PETSC_ERR_ARG_WRONG` if a type of the same name is registered already; nothing is overwritten.

  `PCLU`, `PCILU`, `PCCHOLESKY` and `PCICC` that are created from then on check that the solution is finite if their solver type is
  `MATSOLVERCROUT` and the solve computes no norm. `KSPPREONLY` asks Weft's preconditioners whether the result of `KSPMatSolve()` is a solution,
  as `KSPSolve()` does.

.seealso: `PCADI`, `PCBCR`, `PCBOXMG`, `PCCROUT`, `PCLINE`, `KSPADI`, `MATSOLVERCROUT`, `PetscDLLibraryAppend()`
@*/
PetscErrorCode PetscDLLibraryRegister_weft(void)
{
  void (*known)(void) = NULL;
  PetscBool name_taken, replace_sor = PETSC_FALSE;

  if (PetscIsAsleep()) return PETSC_ERR_LIB;
  PetscFunctionBegin;
  if (registered) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WeftCheckPetsc());
  PetscCall(MatInitializePackage());
  PetscCall(PCInitializePackage());
  PetscCall(KSPInitializePackage());
  for (const PCEntry &type : preconditioners) {
    PetscCall(PetscFunctionListFind(PCList, type.name, &known));
    PetscCheck(!known, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "a PC type '%s' is registered already, and Weft overwrites none: load one of the two libraries only", type.name);
  }
  for (const KSPEntry &type : iterations) {
    PetscCall(PetscFunctionListFind(KSPList, type.name, &known));
    PetscCheck(!known, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "a KSP type '%s' is registered already, and Weft overwrites none: load one of the two libraries only", type.name);
  }
  for (const FactorEntry &type : factorizations) {
    PetscCall(MatSolverTypeGet(type.name, type.matrix, type.factor, &name_taken, NULL, NULL));
    PetscCheck(!name_taken, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "a MatSolverType '%s' is registered already, and Weft overwrites none: load one of the two libraries only", type.name);
  }
  PetscCall(PCLineRegisterEvents());
  for (const PCEntry &type : preconditioners) PetscCall(PCRegister(type.name, type.create));
  for (const KSPEntry &type : iterations) PetscCall(KSPRegister(type.name, type.create));
  for (const FactorEntry &type : factorizations) PetscCall(MatSolverTypeRegister(type.name, type.matrix, type.factor, type.create));
#if defined(WEFT_HAS_BOXMG)
  PetscCall(PCBoxmgRegisterEvents());
#endif
#if defined(WEFT_HAS_CROUT)
  PetscCall(weft::WatchFactorPCs());
#endif
  PetscCall(weft::WatchPreonly());
  PetscCall(weft::ReadMessageWay());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-weft_replace_sor", &replace_sor, NULL));
  if (replace_sor) PetscCall(weft::ReplaceSor());
  PetscCall(PetscRegisterFinalize(WeftForgetRegistration));
  registered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
