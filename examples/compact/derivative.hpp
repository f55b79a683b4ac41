/// A compact scheme along one direction of a DMDA: B f by a stencil, A by a KSP whose type and preconditioner are options.
#pragma once
#include <petscdmda.h>
#include <petscksp.h>

#include <memory>

#include "schemes.hpp"

namespace compact {

/// Steps that -log_view shows.
struct Events {
  PetscLogEvent halo, stencil, solve;
};
PetscErrorCode RegisterEvents(Events *events);

class Derivative {
public:
  /// `spacing`: between nodes along `direction`. The KSP's options begin with x_, y_ or z_, and `prefix` before that. With `assembled` its matrix is an AIJ
  /// matrix of the whole grid, which any PC takes; else a shell that carries the matrix of one line as "weft_line", which -pc_type line takes.
  PetscErrorCode Create(DM da, int direction, const Scheme &scheme, PetscReal spacing, bool assembled, const char prefix[],
                        const Events &events);
  PetscErrorCode Destroy();
  /// g = A^-1 B f; f is not g.
  PetscErrorCode Apply(Vec f, Vec g);
  /// B f alone.
  PetscErrorCode ApplyRight(Vec f, Vec right);

  KSP Solver() const { return ksp_; }

private:
  PetscErrorCode MakeHalo(Vec f);
  PetscErrorCode MakeMatrix(const Scheme &scheme, bool assembled, VecType type);

  DM da_         = NULL;
  int direction_ = 0;
  Events events_{};
  Mat matrix_          = NULL;
  KSP ksp_             = NULL;
  Vec right_           = NULL; ///< B f
  Vec halo_            = NULL; ///< rows of the rank before, then of the one after
  VecScatter exchange_ = NULL;
  std::unique_ptr<weft::Execution> execution_;
  std::unique_ptr<weft::CompactStencil<PetscScalar>> stencil_;
};

} // namespace compact
