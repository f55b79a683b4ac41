/// A pulse carried by a constant wind while it spreads, u_t + c . grad u = nu Laplace(u) in the periodic unit box, marched by a TS.
#pragma once
#include "weft_compact.h"

namespace compact {

/// The first and the second derivative of order 4 or 6 along a direction; the second one can be applied again.
PetscErrorCode CreateBoth(DM da, int direction, int order, PetscReal spacing, WeftCompact *first, WeftCompact *second);

/// Options: -pulse_nu <0.002>, -pulse_filter_every <0> (steps between filters; 0: none), -output <name>, and those of TS (-ts_max_time, -ts_dt, ...).
PetscErrorCode RunPulse(DM da, int order);

} // namespace compact
