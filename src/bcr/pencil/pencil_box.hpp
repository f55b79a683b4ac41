/// The BoxSolver of a separation that has a pencil.
#pragma once
#include "bcr/box_solver.hpp"

namespace weft {

/// Why a method, which the options name, cannot solve such an operator, or nothing: `auto` and `facr` without levels can.
std::optional<std::string> pencil_method_refuses(const DirectOptions &options);

/// Throws std::invalid_argument where poisson::pencil_refused. Nothing is allocated after this, but by the first transposed solve of an
/// operator that is not symmetric.
Owner<BoxSolver> make_pencil_box(const Execution &execution, const Separation &separation, Precision precision);

} // namespace weft
