/// Short names of the types of alternating directions, for their tests.
#pragma once
#include "adi/shifts.hpp"

namespace weft::test {

constexpr auto pr = AdiType::peaceman_rachford, dr = AdiType::douglas_rachford, dg = AdiType::douglas_gunn;

} // namespace weft::test
