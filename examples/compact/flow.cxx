#include "flow.hpp"

#include <petscts.h>
#include <petscviewer.h>

#include <cmath>
#include <string>

#include "grid.hpp"

namespace compact {

namespace {

struct Pulse {
  DM da;
  Axes axes;
  PetscReal nu = 0.002, wind[3] = {1, 0.5, 0.25};
  WeftCompact first[3] = {}, second[3] = {}, filter[3] = {};
  PetscInt filter_every = 0;
  Vec part;
  FILE *table = NULL;
};

constexpr double start = 1; // the pulse has spread for so long at time 0

/// exp(-(x - x0 - c t)^2 / (4 nu (t + start))) sqrt(start / (t + start)), periodic: the images that count are summed.
Along Shape(const Pulse &pulse, int direction, double t)
{
  const double c = pulse.wind[direction], width = 4 * pulse.nu * (t + start), height = std::sqrt(start / (t + start));
  return [=](double x) {
    double sum = 0, d = x - 0.5 - c * t;
    d -= std::round(d);
    for (int image = -3; image <= 3; image++) sum += std::exp(-(d + image) * (d + image) / width);
    return height * sum;
  };
}

Field Exact(const Pulse &pulse, double t)
{
  return {Shape(pulse, 0, t), Shape(pulse, 1, t), Shape(pulse, 2, t)};
}

/// The mean of u^2 of the exact solution: a product again, of sums over the nodes, which for a smooth periodic function are integrals.
double ExactEnergy(const Pulse &pulse, double t)
{
  double energy = 1;
  for (int k = 0; k < pulse.axes.dim; k++) {
    const Along shape = Shape(pulse, k, t);
    double sum        = 0;
    for (PetscInt i = 0; i < pulse.axes.n[k]; i++) sum += std::pow(shape((double)i * (double)pulse.axes.h[k]), 2);
    energy *= sum / (double)pulse.axes.n[k];
  }
  return energy;
}

PetscErrorCode RightHandSide(TS, PetscReal, Vec u, Vec change, void *context)
{
  Pulse *pulse = static_cast<Pulse *>(context);

  PetscFunctionBeginUser;
  PetscCall(VecSet(change, 0));
  for (int k = 0; k < pulse->axes.dim; k++) {
    PetscCall(WeftCompactApply(pulse->first[k], u, pulse->part));
    PetscCall(VecAXPY(change, -pulse->wind[k], pulse->part));
    PetscCall(WeftCompactApplyAgain(pulse->second[k], u, pulse->part));
    PetscCall(VecAXPY(change, pulse->nu, pulse->part));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Monitor(TS, PetscInt step, PetscReal time, Vec u, void *context)
{
  Pulse *pulse = static_cast<Pulse *>(context);
  PetscReal norm;
  PetscInt size;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(VecGetSize(u, &size));
  if (pulse->table)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, pulse->table, "%d,%.10g,%.12e,%.12e\n", (int)step, (double)time, (double)(norm * norm / size),
                           ExactEnergy(*pulse, (double)time)));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode AfterStep(TS ts)
{
  Pulse *pulse;
  PetscInt step;
  Vec u;

  PetscFunctionBeginUser;
  PetscCall(TSGetApplicationContext(ts, &pulse));
  PetscCall(TSGetStepNumber(ts, &step));
  if (pulse->filter_every == 0 || step % pulse->filter_every != 0) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(TSGetSolution(ts, &u));
  for (int k = 0; k < pulse->axes.dim; k++) {
    PetscCall(WeftCompactApply(pulse->filter[k], u, pulse->part));
    PetscCall(VecCopy(pulse->part, u));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode Write(const Pulse &pulse, const std::string &name, Vec u)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectSetName((PetscObject)u, "u"));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, (name + ".bin").c_str(), FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySkipInfo(viewer));
  PetscCall(VecView(u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (pulse.axes.dim > 1 && !PetscDefined(USE_COMPLEX)) { // PETSc writes no such files of complex numbers
    PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, (name + ".vts").c_str(), FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(u, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace

PetscErrorCode CreateBoth(DM da, int direction, int order, PetscReal spacing, WeftCompact *first, WeftCompact *second)
{
  PetscFunctionBeginUser;
  PetscCall(WeftCompactCreate(da, direction, order == 4 ? WEFT_COMPACT_FIRST_4 : WEFT_COMPACT_FIRST_6, spacing, first));
  PetscCall(WeftCompactCreateBeside(*first, order == 4 ? WEFT_COMPACT_SECOND_4 : WEFT_COMPACT_SECOND_6, second));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode RunPulse(DM da, int order)
{
  Pulse pulse;
  TS ts;
  Vec u;
  Errors errors;
  PetscReal time, norm;
  PetscInt steps, size;
  char name[PETSC_MAX_PATH_LEN] = "";
  PetscBool write;

  PetscFunctionBeginUser;
  pulse.da = da;
  PetscCall(AxesOf(da, &pulse.axes));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-pulse_nu", &pulse.nu, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-pulse_filter_every", &pulse.filter_every, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", name, sizeof(name), &write));
  PetscCheck(pulse.nu > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-pulse_nu %g: the pulse spreads, so it must be positive",
             (double)pulse.nu);
  for (int k = 0; k < pulse.axes.dim; k++) {
    PetscCall(CreateBoth(da, k, order, pulse.axes.h[k], &pulse.first[k], &pulse.second[k]));
    if (pulse.filter_every > 0) PetscCall(WeftCompactCreateFilter(da, k, order, 0.45, &pulse.filter[k]));
  }
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &pulse.part));
  PetscCall(Fill(da, Exact(pulse, 0), u));
  if (write) {
    PetscCall(PetscFOpen(PETSC_COMM_WORLD, (std::string(name) + ".csv").c_str(), "w", &pulse.table));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, pulse.table, "step,time,energy,exact\n"));
  }
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, TSRK4));
  PetscCall(TSSetRHSFunction(ts, NULL, RightHandSide, &pulse));
  PetscCall(TSMonitorSet(ts, Monitor, &pulse, NULL));
  PetscCall(TSSetApplicationContext(ts, &pulse));
  PetscCall(TSSetPostStep(ts, AfterStep));
  PetscCall(TSSetMaxTime(ts, 1));
  PetscCall(TSSetTimeStep(ts, 0.25 * PetscMin(pulse.axes.h[0], PetscMin(pulse.axes.h[1], pulse.axes.h[2]))));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(TSGetSolveTime(ts, &time));
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(ErrorsOf(da, 0, u, Exact(pulse, (double)time), &errors));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(VecGetSize(u, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pulse: time %g after %d steps, error %.3e, energy %.6e, exact %.6e\n", (double)time, (int)steps,
                        (double)errors.most, (double)(norm * norm / size), ExactEnergy(pulse, (double)time)));
  if (write) {
    // rank 0 has the file; PETSc writes and closes it without a word on a full disk
    PetscCheck(!pulse.table || !ferror(pulse.table), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s.csv could not be written to its end", name);
    PetscCall(PetscFClose(PETSC_COMM_WORLD, pulse.table));
    PetscCall(Write(pulse, name, u));
  }
  for (int k = 0; k < pulse.axes.dim; k++) {
    for (WeftCompact *compact : {&pulse.first[k], &pulse.second[k], &pulse.filter[k]}) PetscCall(WeftCompactDestroy(compact));
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&pulse.part));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
