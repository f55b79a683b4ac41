/// The list of direct Poisson methods. Tests, benchmarks and the option -pc_bcr_type come from here.
///
/// A method is a type, without Kokkos, with
///   name                          as users type it
///   refuses(problem, options)     why it cannot solve such rows, or nothing
///   schedule(problem, options)    what it does with them, see schedule.hpp
#pragma once
#include <tuple>

#include "base/type_list.hpp"
#include "bcr/reduction/buneman.hpp"
#include "bcr/reduction/facr.hpp"
#include "bcr/reduction/partial_fraction.hpp"
#include "bcr/reduction/plain.hpp"
#include "bcr/reduction/separable.hpp"

namespace weft::poisson {

/// All, in the order of -help.
using PoissonMethods = std::tuple<PartialFraction, Buneman1, Buneman2, Separable, Facr, Plain>;

/// Those that are kept to compare with: older forms of PartialFraction, and Plain, which is unstable. `auto` takes none of them.
using ComparedMethods = std::tuple<Buneman1, Buneman2, Plain>;

/// Those that callers should choose from, as `auto` does: PartialFraction, Separable, Facr.
using ServingMethods = Without<PoissonMethods, ComparedMethods>;

/// Calls visit(Method{}) for each method of a list.
template <class Methods = PoissonMethods, class Visit>
void for_each_poisson_method(Visit &&visit)
{
  std::apply([&](auto... method) { (visit(method), ...); }, Methods{});
}

} // namespace weft::poisson
