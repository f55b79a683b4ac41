/// A number as PETSc's options take it.
#pragma once
#include <petscsys.h>

#include <cstdio>
#include <string>

namespace weft {

/// 0.5, or of a complex number 0.5-2i.
inline std::string NumberText(PetscScalar value)
{
  char text[64];
  if (PetscImaginaryPart(value) == 0)
    std::snprintf(text, sizeof(text), "%g", (double)PetscRealPart(value));
  else
    std::snprintf(text, sizeof(text), "%g%+gi", (double)PetscRealPart(value), (double)PetscImaginaryPart(value));
  return text;
}

} // namespace weft
