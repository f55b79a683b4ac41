static char help[] =
    "Compact finite differences on a DMDA: A g = B f along x, y and z, B a stencil, A tridiagonal with constant coefficients.\n\
  -case derivative : one derivative along each direction, its errors and times (the default)\n\
  -case operators  : gradient, divergence and Laplacian of a field, and their errors\n\
  -case pulse      : a pulse that is carried along and spreads in a periodic box, by TS; its energy beside that of the exact solution\n\
  -case wavenumber : the modified wavenumber of the scheme, in 64 steps to pi\n\
  -compact_derivative <first> (first|second|filter), -compact_order <4> (4|6), -compact_alpha <0.45> : the scheme; alpha is the filter's\n\
  -compact_stretch <0> : gives the grid coordinates x + stretch sin(2 pi x) / (2 pi), which is refused: there is no mapping here\n\
  -compact_gap <0> : moves the second half of the nodes away from the first, which is refused too\n\
  -compact_along <xyz> : the directions of the case derivative\n\
  -compact_view_x, _y, _z : viewers of the derivatives, binary:FILE say\n\
  -dim <3>, -da_grid_x, _y, _z <33>, -compact_periodic : the grid, [0, 1] in each direction\n\
  -compact_boxes_x, _y, _z <n,n,...> : the nodes of each rank's box along a direction\n\
  -compact_assembled : A as an assembled matrix of the whole grid, for any PC, in place of the matrix of one line\n\
  -compact_one_pass : stencil and elimination in one pass over memory, without a KSP, where the couplings of A decay fast enough; for devices\n\
  -compact_both_ways : one pass, then the KSP, on the same grid\n\
  -repeat <0> : timed calls of a derivative, five at a time\n\
  -compact_profile : milliseconds of each step of them, which the host then waits for one by one\n\
  -pulse_nu <0.002>, -pulse_filter_every <0> : the pulse's diffusion, and after how many steps it is filtered\n\
  -output <name> : of the pulse, name.vts (with real scalars, not in 1-D), name.bin and name.csv\n\
The solvers have the prefixes x_, y_ and z_. They are -pc_type line of libweft.so, with the options of examples/compact/compact.opts, unless you say others.\n";

#include <petscdevice.h>

#include <cstring>
#include <numbers>

#if defined(WEFT_DISTRIBUTED)
#include "base/rank_messages.hpp"
#endif
#include "derivative.hpp"
#include "flow.hpp"
#include "grid.hpp"
#include "petsc/agreed.h"
#include "petsc/kokkos_start.h"
#include "petsc/message_way.h"
#include "petsc/petsc_compat.h"

#include "profile.hpp"

using namespace compact;

namespace {

constexpr double pi = std::numbers::pi;

struct Settings {
  PetscInt derivative = 1, order = 4, repeat = 0;
  PetscReal alpha    = 0.45;
  PetscBool periodic = PETSC_FALSE;
  Ways ways;
  PetscBool both = PETSC_FALSE, profile = PETSC_FALSE;
  char along[4] = "xyz";
};

/// A wave along one direction: sin(2 pi x + phase), a derivative of it, or what the filter leaves of it.
Along Wave(double phase, int derivative)
{
  return [=](double x) {
    return derivative == 1 ? 2 * pi * std::cos(2 * pi * x + phase) : (derivative == 2 ? -4 * pi * pi : 1) * std::sin(2 * pi * x + phase);
  };
}

Field Waves(int direction, int derivative)
{
  const double phase[3] = {0.3, 0.5, 0.7};
  Field field;
  for (int k = 0; k < 3; k++) field[(std::size_t)k] = Wave(phase[k], k == direction ? derivative : 0);
  return field;
}

/// Seconds of one call, the least of `repeat` groups of five: the device is waited for once a group.
template <class Body>
PetscErrorCode Time(PetscInt repeat, PetscReal *seconds, const Body &body)
{
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  *seconds = PETSC_MAX_REAL;
  for (PetscInt k = 0; k < repeat; k++) {
    PetscLogDouble start, end;
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    for (int call = 0; call < 5; call++) PetscCall(body());
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&end));
    *seconds = PetscMin(*seconds, (PetscReal)(end - start) / 5);
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

/// How messages of vectors like this one travel, for people and as one word.
PetscErrorCode MessagesOf(Vec u, const char **words, const char **word)
{
  const PetscScalar *array;
  PetscMemType type;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(u, &array, &type));
  PetscCall(VecRestoreArrayReadAndMemType(u, &array));
  *words = "from host to host";
  *word  = "host";
  if (PetscMemTypeDevice(type)) {
    bool on_stream = false, written = false;
#if defined(WEFT_DISTRIBUTED)
    MPI_Comm comm = PetscObjectComm((PetscObject)u);
    PetscCall(weft::ReadMessageWay());
    PetscCall(weft::CallTogether(comm, [&] {
      const weft::RankMessages messages(comm, weft::DeviceMessages(), true);
      on_stream = messages.on_stream();
      written   = messages.peers();
    }));
#endif
    *words = written                  ? "written into each other's memory"
             : on_stream              ? "from device to device, by NCCL"
             : weft::DeviceMessages() ? "from device to device"
                                      : "staged through pinned memory of the host";
    *word  = written ? "written" : on_stream ? "nccl" : weft::DeviceMessages() ? "device" : "pinned";
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

/// A derivative along one direction by one way: its errors, its times and a line of JSON.
PetscErrorCode Measure(DM da, int direction, const Ways &ways, const Settings &settings, const Scheme &scheme, const Events &events,
                       const Axes &axes, const char message[], Vec f, Vec g)
{
  Derivative derivative;
  PetscLogStage stage;
  PetscReal whole = 0, stencil = 0, copy = 0;
  Errors errors;
  PetscMPIInt ranks;
  VecType type;
  std::string steps;
  const char axis[]      = {"xyz"[direction], 0};
  const std::string view = std::string("-compact_view_") + axis, way = ways.one_pass ? "one pass" : "solver";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(VecGetType(f, &type));
  PetscCall(derivative.Create(da, direction, scheme, axes.h[direction], ways, "", events));
  PetscCall(derivative.Apply(f, g));
  PetscCall(ErrorsOf(da, direction, g, Waves(direction, scheme.derivative), &errors));
  PetscCall(VecViewFromOptions(g, NULL, view.c_str()));
  if (settings.repeat > 0) {
    PetscCall(StageOf(std::string(axis).append(", ").append(way), &stage));
    PetscCall(PetscLogStagePush(stage));
    PetscCall(Time(settings.repeat, &whole, [&]() { return derivative.Apply(f, g); }));
    PetscCall(PetscLogStagePop());
    if (settings.profile) PetscCall(StepsOf(stage, 5 * settings.repeat, &steps));
    PetscCall(Time(settings.repeat, &copy, [&]() { return VecCopy(f, g); }));
    if (!derivative.InOnePass()) PetscCall(Time(settings.repeat, &stencil, [&]() { return derivative.ApplyRight(f, g); }));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s along %s: errors %.3e at most, %.3e in the mean, %.3e in the middle", scheme.name.c_str(),
                        axis, (double)errors.most, (double)errors.mean_square, (double)errors.middle));
  if (settings.repeat > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; %.4g ms, %.4g of them the stencil; a copy %.4g ms", 1e3 * (double)whole,
                          1e3 * (double)stencil, 1e3 * (double)copy));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "\n{\"case\": \"derivative\", \"derivative\": %d, \"order\": %d, \"periodic\": %s, \"axis\": \"%s\", \"grid\": [%d, %d, %d], "
      "\"ranks\": %d, \"vec\": \"%s\", \"messages\": \"%s\", \"way\": \"%s\", \"one_pass\": %s, \"most\": %.6e, \"mean_square\": %.6e, "
      "\"middle\": %.6e, \"seconds\": %.6e, \"stencil\": %.6e, \"copy\": %.6e, \"steps\": {%s}}\n",
      scheme.derivative, scheme.order, settings.periodic ? "true" : "false", axis, (int)axes.n[0], (int)axes.n[1], (int)axes.n[2],
      (int)ranks, type, message, way.c_str(), derivative.InOnePass() ? "true" : "false", (double)errors.most, (double)errors.mean_square,
      (double)errors.middle, (double)whole, (double)stencil, (double)copy, steps.c_str()));
  PetscCall(derivative.Destroy());
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode RunDerivative(DM da, const Settings &settings, const Scheme &scheme, const Events &events)
{
  Axes axes;
  Vec f, g;
  PetscMPIInt ranks;
  const char *messages = "", *message = "none";

  PetscFunctionBeginUser;
  PetscCall(AxesOf(da, &axes));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(DMCreateGlobalVector(da, &f));
  PetscCall(VecDuplicate(f, &g));
  PetscCall(Fill(da, Waves(0, 0), f));
  if (ranks > 1) {
    PetscCall(MessagesOf(f, &messages, &message));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "messages between %d ranks: %s\n", (int)ranks, messages));
  }
  for (int d = 0; d < axes.dim; d++) {
    if (!std::strchr(settings.along, "xyz"[d])) continue;
    for (const bool one_pass : {true, false}) {
      Ways ways = settings.ways;
      if (settings.both)
        ways.one_pass = one_pass;
      else if (one_pass != ways.one_pass)
        continue;
      PetscCall(Measure(da, d, ways, settings, scheme, events, axes, message, f, g));
    }
  }
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// Gradient, divergence and Laplacian are sums of derivatives along the directions.
PetscErrorCode RunOperators(DM da, const Settings &settings)
{
  Axes axes;
  Vec f, g, part, divergence, laplacian;
  Errors errors;

  PetscFunctionBeginUser;
  PetscCall(AxesOf(da, &axes));
  PetscCall(DMCreateGlobalVector(da, &f));
  PetscCall(VecDuplicate(f, &g));
  PetscCall(VecDuplicate(f, &part));
  PetscCall(VecDuplicate(f, &divergence));
  PetscCall(VecDuplicate(f, &laplacian));
  PetscCall(VecZeroEntries(divergence));
  PetscCall(VecZeroEntries(laplacian));
  PetscCall(Fill(da, Waves(0, 0), f));
  for (int d = 0; d < axes.dim; d++) {
    WeftCompact first, second;
    PetscCall(CreateBoth(da, d, (int)settings.order, axes.h[d], &first, &second));
    PetscCall(WeftCompactApply(first, f, g));
    PetscCall(ErrorsOf(da, d, g, Waves(d, 1), &errors));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "gradient, %c: error %.3e\n", "xyz"[d], (double)errors.most));
    PetscCall(WeftCompactApplyAgain(second, f, part));
    PetscCall(VecAXPY(laplacian, 1, part));
    PetscCall(WeftCompactApply(first, g, part));
    PetscCall(VecAXPY(divergence, 1, part));
    PetscCall(WeftCompactDestroy(&first));
    PetscCall(WeftCompactDestroy(&second));
  }
  Field expected      = Waves(0, 0);
  const Along along   = expected[0];
  const double factor = -4 * pi * pi * (double)axes.dim;
  expected[0]         = [=](double x) { return factor * along(x); };
  PetscCall(ErrorsOf(da, 0, divergence, expected, &errors));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "divergence of the gradient: error %.3e\n", (double)errors.most));
  PetscCall(ErrorsOf(da, 0, laplacian, expected, &errors));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Laplacian: error %.3e\n", (double)errors.most));
  for (Vec *v : {&f, &g, &part, &divergence, &laplacian}) PetscCall(VecDestroy(v));
  PetscFunctionReturn((PetscErrorCode)0);
}

/// What the scheme makes of exp(i k x): i k' (first derivative), -k'^2 (second; its root is printed), or a factor (filter).
PetscErrorCode RunWavenumber(const Scheme &scheme)
{
  const int width = scheme.right.width();

  PetscFunctionBeginUser;
  for (int step = 0; step <= 64; step++) {
    const double k = pi * step / 64, below = scheme.inner[1] + 2 * scheme.inner[0] * std::cos(k);
    double above = scheme.derivative == 1 ? 0 : scheme.right.inner[(std::size_t)width];
    for (int j = 1; j <= width; j++) {
      const double weight = scheme.right.inner[(std::size_t)(width + j)];
      above += 2 * weight * (scheme.derivative == 1 ? std::sin(j * k) : std::cos(j * k));
    }
    const double ratio = above / below, modified = scheme.derivative == 2 ? std::sqrt(std::max(-ratio, 0.0)) : ratio;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.10f %.10f\n", k, modified));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Run()
{
  const char *const cases[] = {"derivative", "operators", "pulse", "wavenumber"}, *const names[] = {"filter", "first", "second"};
  Settings settings;
  PetscInt which = 0;
  DM da;
  Events events;
  Scheme scheme;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-case", cases, 4, &which, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-compact_derivative", names, 3, &settings.derivative, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-compact_order", &settings.order, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-compact_alpha", &settings.alpha, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compact_periodic", &settings.periodic, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-compact_along", settings.along, sizeof(settings.along), NULL));
  PetscCheck(std::strspn(settings.along, "xyz") == std::strlen(settings.along) && settings.along[0], PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-compact_along %s: name directions, of x, y and z", settings.along);
  PetscCall(WaysFromOptions(NULL, &settings.ways));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compact_both_ways", &settings.both, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compact_profile", &settings.profile, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &settings.repeat, NULL));
  try {
    scheme = make_scheme((int)settings.derivative, (int)settings.order, (double)settings.alpha);
  } catch (const std::invalid_argument &refused) {
    SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-compact_order %d, -compact_alpha %g: %s", (int)settings.order,
            (double)settings.alpha, refused.what());
  }
  PetscCall(weft::KokkosStart());
  PetscCall(RegisterEvents(&events));
  if (settings.profile) {
    PetscCheck(settings.repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "-compact_profile has no calls to look at: add -repeat 5, say");
    PetscCall(PetscLogDefaultBegin());
    events.wait = true;
  }
  if (which == 3) {
    PetscCall(RunWavenumber(scheme));
    PetscFunctionReturn((PetscErrorCode)0);
  }
  PetscCall(MakeGrid(which == 2 ? PETSC_TRUE : settings.periodic, &da));
  if (which == 0) PetscCall(RunDerivative(da, settings, scheme, events));
  if (which == 1) PetscCall(RunOperators(da, settings));
  if (which == 2) PetscCall(RunPulse(da, (int)settings.order));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
