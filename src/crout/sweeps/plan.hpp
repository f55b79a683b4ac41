/// SweepPlan: how one attempt sweeps. Knows no Kokkos.
#pragma once
#include "crout/factorization.hpp"

namespace weft::crout {

struct SweepPlan {
  double omega      = 1;
  int sections      = 1;
  int sweeps        = 5; ///< at most
  int few           = 5; ///< SweepStop::automatic: before the first look
  SweepStop stop    = SweepStop::automatic;
  double tolerance  = 0;
  bool asynchronous = false;
  bool warm         = false; ///< the values are those of other values of B
  double enough     = 0;     ///< SweepStop::automatic: a residual that ends sweeps, however large the first was
  bool watch        = true;  ///< give up early where the residual grows
};

/// Residuals that grow by more end an attempt.
inline constexpr double most_growth = 10;
/// SweepStop::automatic: sweeps that are enough for most matrices.
inline constexpr int most_few = 8;

} // namespace weft::crout
