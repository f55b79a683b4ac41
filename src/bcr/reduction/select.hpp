/// The list of direct Poisson methods. Tests, benchmarks and the option -pc_bcr_type come from here.
///
/// A method is a type, without Kokkos, with
///   name                          as users type it
///   refuses(problem, options)     why it cannot solve such rows, or nothing
///   schedule(problem, options)    what it does with them, see schedule.hpp
#pragma once
#include <tuple>

#include "bcr/reduction/buneman.hpp"
#include "bcr/reduction/facr.hpp"
#include "bcr/reduction/partial_fraction.hpp"
#include "bcr/reduction/plain.hpp"
#include "bcr/reduction/separable.hpp"

namespace weft::poisson {

using PoissonMethods = std::tuple<PartialFraction, Buneman1, Buneman2, Separable, Facr, Plain>;

/// Calls visit(Method{}) for each method of the list.
template <class Visit>
void for_each_poisson_method(Visit &&visit)
{
  std::apply([&](auto... method) { (visit(method), ...); }, PoissonMethods{});
}

} // namespace weft::poisson
