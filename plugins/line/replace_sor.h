/// -weft_replace_sor: line relaxation in SOR's place where the matrix is on a device.
#pragma once
#include <petscpc.h>

namespace weft {

/// Makes PCs of type "sor" turn to "line" when they are set up with an AIJ matrix whose values are on a device. For PCRegisterAll()'s list to be
/// complete, PCInitializePackage() must have been called.
PetscErrorCode ReplaceSor();

} // namespace weft
