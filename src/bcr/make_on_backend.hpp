/// From a memory and a precision, which callers choose, to the types that kernels are made for.
#pragma once
#include <type_traits>

#include "base/backend.hpp"
#include "bcr/direct_facts.hpp"

namespace weft {

template <class Solver, template <class Space, class Scalar> class Impl, class... Arguments>
Owner<Solver> make_on_backend(const Execution &execution, Precision precision, const Arguments &...arguments)
{
  return on_backend(execution, [&](const auto &space) -> Owner<Solver> {
    using Space = std::decay_t<decltype(space)>;
    if (precision == Precision::single_inside) return make_owner<Impl<Space, float>>(execution, arguments...);
    return make_owner<Impl<Space, double>>(execution, arguments...);
  });
}

} // namespace weft
