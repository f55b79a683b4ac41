#include "line/relax/norm.hpp"

#include <cmath>

#include "base/backend.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

Norm::Norm(const Execution &execution, NormType type) : execution_(execution), type_(type)
{
  on_backend(execution, [&](const auto &space) {
    const OwnedArray<double, std::decay_t<decltype(space)>> total("weft norm", 2);
    total_   = total.data();
    storage_ = make_owner<std::any>(total);
  });
}

void Norm::clear()
{
  on_backend(execution_, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Kokkos::deep_copy(space, Array<double, Space>(total_, 1), 0.0);
  });
}

double Norm::value() const
{
  double total = 0;
  on_backend(execution_, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Kokkos::deep_copy(space, Array<double, Kokkos::HostSpace>(&total, 1), Array<const double, Space>(total_, 1));
    space.fence("weft: read a norm");
  });
  return type_ == NormType::two ? std::sqrt(total) : total;
}

} // namespace weft
