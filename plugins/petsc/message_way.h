/// -weft_messages: what carries messages between devices.
#pragma once
#include <petscsys.h>

namespace weft {

/// Reads the option, before the first messages are made. Not collective.
PetscErrorCode ReadMessageWay();

} // namespace weft
