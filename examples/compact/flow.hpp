/// A pulse carried by a constant wind while it spreads, u_t + c . grad u = nu Laplace(u) in the periodic unit box, marched by a TS.
#pragma once
#include "derivative.hpp"

namespace compact {

/// Options: -pulse_nu <0.002>, -pulse_filter_every <0> (steps between filters; 0: none), -output <name>, and those of TS (-ts_max_time, -ts_dt, ...).
PetscErrorCode RunPulse(DM da, int order, const Ways &ways, const Events &events);

} // namespace compact
