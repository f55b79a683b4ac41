/// How often a level is corrected in a cycle, and how the next one is gone through for it.
#pragma once
#include "boxmg/choose.hpp"

namespace weft::boxmg {

struct Corrections {
  bool twice;
  BoxmgCycle shape[2]; ///< of the next level's cycle: first, second
};

/// Of a level of `count` all in all. chosen: the shape was not asked for, see cycle_for().
inline Corrections corrections_of(std::size_t level, std::size_t count, BoxmgCycle shape, bool chosen, Transpose transpose)
{
  const bool can = level + 2 < count;
  if (shape == BoxmgCycle::w && chosen) {
    constexpr TwiceOn on;
    const BoxmgCycle next = level + 1 < on.end ? BoxmgCycle::w : BoxmgCycle::v;
    return {can && level >= on.first && level < on.end, {next, next}};
  }
  Corrections all{can && shape != BoxmgCycle::v, {shape, shape}};
  // The adjoint of an F cycle takes its corrections in the opposite order.
  if (all.twice && shape == BoxmgCycle::f) all.shape[transpose == Transpose::no] = BoxmgCycle::v;
  return all;
}

} // namespace weft::boxmg
