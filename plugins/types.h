/// The creators that register.cxx lists.
#pragma once
#include <petscpc.h>

PetscErrorCode PCCreate_Line(PC);
