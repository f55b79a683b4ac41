/// A compact scheme along one direction of a DMDA: B f by a stencil, A by a KSP whose type and preconditioner are options. Its coefficients are
/// real, so that real and imaginary parts of a complex field do not mix.
#pragma once
#include <petscdmda.h>
#include <petscksp.h>

#include <memory>

#include "halo.hpp"
#include "kernels/compact_sweep.hpp"
#include "schemes.hpp"

namespace compact {

/// Steps that -log_view shows.
struct Events {
  PetscLogEvent halo, stencil, solve, sweep;
  bool wait = false; ///< the host waits for the device before a step ends: the log's times are then those of the device too
};
/// Registers them where they are not yet.
PetscErrorCode RegisterEvents(Events *events);

/// How g = A^-1 B f is worked out.
struct Ways {
  bool assembled =
      false; ///< A is an AIJ matrix of the whole grid, which any PC takes; else a shell that carries the matrix of one line as "weft_line",
             ///< which -pc_type line takes
  bool one_pass = false; ///< B f and the elimination in one pass over memory, without a KSP, where the couplings of A decay fast enough
};

/// -compact_assembled and -compact_one_pass, with `prefix` before them; it may be null.
PetscErrorCode WaysFromOptions(const char prefix[], Ways *ways);

class Derivative {
public:
  /// `spacing`: between nodes along `direction`; an error where the DMDA has coordinates that are spaced otherwise, unless the scheme is a
  /// filter. The KSP's options begin with x_, y_ or z_, and `prefix` before that; it may be null. Collective, its errors too. `with`: a derivative along the same direction whose neighbours' rows serve this one too,
  /// if they are enough.
  PetscErrorCode Create(DM da, int direction, const Scheme &scheme, PetscReal spacing, const Ways &ways, const char prefix[],
                        const Events &events, const Derivative *with = nullptr);
  PetscErrorCode Destroy();
  /// g = A^-1 B f; f is not g. again: `with` was applied to this f just before.
  PetscErrorCode Apply(Vec f, Vec g, bool again = false);
  /// B f alone, where it is not part of one pass; the solve does not read it.
  PetscErrorCode ApplyRight(Vec f, Vec right);

  bool InOnePass() const { return sweep_ != nullptr; }
  /// Where its kernels take f and g; in one pass and in ApplyRight() both must be there.
  weft::Memory WhereKernelsRun() const { return execution_->memory(); }

private:
  PetscErrorCode Make(DM da, int direction, const Scheme &scheme, PetscReal spacing, const Ways &ways, const char prefix[],
                      const Events &events, const Derivative *with);
  /// The stencil of `right`, with its messages; one_pass: a sweep with this scheme's matrix too, where it can be.
  PetscErrorCode MakeStencil(DM da, int direction, const weft::CompactRows &right, const Scheme *one_pass, const Events &events,
                             const Derivative *with);
  PetscErrorCode MakeSolver(const Scheme &scheme, bool assembled, const char prefix[]);
  PetscErrorCode TakeLines(KSP ksp) const;
  /// An error where A g is not B f: a KSPPREONLY says "converged" whatever its preconditioner is.
  PetscErrorCode LookAt(Vec g);
  PetscErrorCode MakeMatrix(const Scheme &scheme, bool assembled, VecType type);
  PetscErrorCode MakeMessages();
  PetscErrorCode MakeSweep(const weft::BoxPiece &piece, const Scheme &scheme, const weft::CompactRows &right);
  PetscErrorCode Tell(Vec f);
  PetscErrorCode ApplyByMail(Vec f, Vec g);
  template <class On>
  PetscErrorCode ApplyTo(On &on, PetscLogEvent event, Vec f, Vec to, bool again);

  DM da_         = NULL;
  int direction_ = 0;
  Events events_{};
  Mat matrix_ = NULL;
  KSP ksp_    = NULL;
  Vec right_  = NULL;      ///< B f
  weft::CompactRows left_; ///< the rows of A
  bool looked_at_ = false;
  PetscInt depth_ = 0, lines_ = 0;
  bool needs_before_ = false, needs_after_ = false, shares_ = false;
  std::shared_ptr<Halo> halo_;
  std::shared_ptr<const weft::RankMessages> messages_; ///< null where PETSc has no MPI
  bool slow_messages_ = false;                         ///< they go through a host
  std::shared_ptr<const weft::Execution> execution_;   ///< that of `with`, whose messages its kernels wait for
  std::unique_ptr<weft::CompactStencil<weft::KernelScalar>> stencil_;
  std::unique_ptr<weft::CompactSweep<weft::KernelScalar>> sweep_; ///< where it all is one pass
};

} // namespace compact
