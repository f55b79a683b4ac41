// PCLINE at work: passes over the colours of its lines.
#include <algorithm>
#include <cmath>
#include <utility>

#include "line/line_impl.h"
#include "petsc/refuse_solution.h"
#include "petsc/residual.h"
#include "petsc/richardson_reason.h"

namespace weft {

namespace {

// PETSc itself counts the residuals.
PetscErrorCode LogSolve(const LineSet &set, const LineSolveOptions &options)
{
  PetscFunctionBegin;
  PetscCall(LogFlops(set.execution().memory(), options.nrhs * set.flops(options.colour)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

LineSolveOptions OptionsOf(const PC_Line &line, const LinePass &pass, Transpose transpose, bool add = false)
{
  LineSolveOptions options;
  options.update    = {line.found_omega, add};
  options.colour    = pass.colour;
  options.transpose = transpose;
  return options;
}

// Solves the lines of a pass where the arrays are.
PetscErrorCode SolveIn(PC pc, Memory memory, const LinePass &pass, KernelScalar *rhs, KernelScalar *solution,
                       const LineSolveOptions &options)
{
  const std::vector<std::unique_ptr<LineSet>> *sets;

  PetscFunctionBegin;
  PetscCall(PCLineSetsIn(pc, memory, &sets));
  const LineSet &set = *(*sets)[static_cast<size_t>(pass.set)];
  PetscCallCXX(set.solve(rhs, solution, options));
  PetscCall(LogSolve(set, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = omega T^-1 b on the lines of a pass, or, with `add`, y += that, where b is work space.
PetscErrorCode SolveLines(PC pc, Vec b, Vec y, const LinePass &pass, Transpose transpose, bool add)
{
  const bool keeps = add || pass.colour != Colour::all; // something of y
  VecArrays arrays(b, add ? Access::read_write : Access::read, y, keeps ? Access::read_write : Access::write);

  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(arrays.Open());
  PetscCall(SolveIn(pc, arrays.memory(), pass, arrays.rhs(), arrays.solution(), OptionsOf(*Data(pc), pass, transpose, add)));
  PetscCall(arrays.Close());
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The work space of corrections, made in set-up unless the sweeps were raised since.
PetscErrorCode ResidualVec(PC pc, Vec *r)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  if (!line->residual) PetscCall(MatCreateVecs(pc->pmat, NULL, &line->residual));
  *r = line->residual;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y += omega T^-1 (b - A y) on the lines of a pass, with a residual of its own.
PetscErrorCode CorrectLines(PC pc, Vec b, Vec y, const LinePass &pass, Transpose transpose)
{
  Vec r = NULL;

  PetscFunctionBegin;
  PetscCall(ResidualVec(pc, &r));
  PetscCall(Residual(pc->pmat, b, y, r, transpose));
  PetscCall(SolveLines(pc, r, y, pass, transpose, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The passes of a number of sweeps, by sets that keep the matrix: they know what of y is zero, and need no residual.
PetscErrorCode RelaxPasses(PC pc, const std::vector<std::unique_ptr<LineSet>> &sets, KernelScalar *b, KernelScalar *y,
                           const std::vector<LinePass> &passes, PetscInt sweeps, bool from_zero, Transpose transpose)
{
  const size_t many    = passes.size();
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
  for (PetscInt sweep = 0; sweep < sweeps; sweep++) {
    for (size_t k = 0; k < many; k++) {
      const LinePass &pass = passes[transpose == Transpose::no ? k : many - 1 - k];
      const LineSet &set   = *sets[static_cast<size_t>(pass.set)];
      // The second of two colours is still zero after the first.
      const Guess guess = !from_zero || sweep > 0 || k > 1 ? Guess::given
                          : k == 0                         ? Guess::zero
                          : pass.colour == Colour::all     ? Guess::given
                                                           : Guess::zero_lines;
      PetscCallCXX(set.relax(b, y, guess, OptionsOf(*Data(pc), pass, transpose)));
      flops += guess == Guess::zero ? set.flops(pass.colour) : set.relax_flops(pass.colour);
    }
  }
  PetscCall(LogFlops(sets.front()->execution().memory(), flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r = b - A y by the diagonals, as far as y is on this rank.
PetscErrorCode ResidualInside(const StencilMatrix<KernelScalar> &stencil, Vec b, Vec y, Vec r)
{
  VecArray rhs(b, Access::read), guess(y, Access::read), to(r, Access::write);
  const Memory here = stencil.execution().memory();

  PetscFunctionBegin;
  PetscCall(rhs.Open());
  PetscCall(guess.Open());
  PetscCall(to.Open());
  PetscCheck(rhs.memory() == here && guess.memory() == here && to.memory() == here, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "vectors went to other memory in the middle of a sweep");
  PetscCallCXX(stencil.residual(rhs.data(), guess.data(), to.data()));
  PetscCall(to.Close());
  PetscCall(guess.Close());
  PetscCall(rhs.Close());
  PetscCall(LogFlops(here, 2 * static_cast<PetscLogDouble>(stencil.offsets().size()) * static_cast<PetscLogDouble>(stencil.rows())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y += omega T^-1 (b - A y) on the lines of a pass that go on on other ranks: most of the residual while the ghosts are under way.
PetscErrorCode CorrectLinesAcross(PC pc, const LineSet &set, Vec b, Vec y, const LinePass &pass)
{
  PC_Line *line                  = Data(pc);
  const LineSolveOptions options = OptionsOf(*line, pass, Transpose::no, true);
  Vec r                          = NULL;

  PetscFunctionBegin;
  PetscCall(ResidualVec(pc, &r));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(VecScatterBegin(line->bring_ghosts, y, line->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(ResidualInside(*line->stencil, b, y, r));
  PetscCall(VecScatterEnd(line->bring_ghosts, y, line->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  VecArray ghosts(line->ghosts, Access::read);
  VecArrays arrays(r, Access::read_write, y, Access::read_write);
  PetscCall(ghosts.Open());
  PetscCall(arrays.Open());
  PetscCheck(ghosts.memory() == arrays.memory(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "vectors went to other memory in the middle of a sweep");
  PetscCallCXX(line->outside->take(arrays.rhs(), ghosts.data()));
  PetscCallCXX(set.solve(arrays.rhs(), arrays.solution(), options));
  PetscCall(LogSolve(set, options));
  PetscCall(arrays.Close());
  PetscCall(ghosts.Close());
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the sets whose kernels work where the vectors are are those that have the matrix in diagonals.
PetscErrorCode HasDiagonals(PC pc, Vec b, Vec y, bool *has)
{
  PC_Line *line = Data(pc);
  VecArray rhs(b, Access::read), guess(y, Access::read);
  const std::vector<std::unique_ptr<LineSet>> *sets;

  PetscFunctionBegin;
  PetscCall(rhs.Open());
  PetscCall(guess.Open());
  const Memory memory = rhs.memory();
  const bool together = guess.memory() == memory && has_backend(memory);
  PetscCall(guess.Close());
  PetscCall(rhs.Close());
  if (together) PetscCall(PCLineSetsIn(pc, memory, &sets)); // may forget the diagonals
  *has = together && line->stencil && line->outside && line->stencil->execution().memory() == memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A pass of a set that keeps the matrix: what the ghosts take from b is taken before, and put back.
PetscErrorCode RelaxWithGhosts(const PC_Line &line, const LineSet &set, const LinePass &pass, Guess guess, const VecArray &ghosts,
                               const VecArrays &arrays)
{
  const bool known = guess != Guess::zero; // what rows of other ranks are

  PetscFunctionBegin;
  if (known) {
    PetscCallCXX(set.clear_own(ghosts.data(), pass.colour));
    PetscCallCXX(line.outside->take(arrays.rhs(), ghosts.data()));
  }
  PetscCallCXX(set.relax(arrays.rhs(), arrays.solution(), guess, OptionsOf(line, pass, Transpose::no)));
  if (known) PetscCallCXX(line.outside->put_back(arrays.rhs()));
  PetscCall(LogFlops(arrays.memory(), known ? set.relax_flops(pass.colour) : set.flops(pass.colour)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The passes of a number of sweeps on several ranks.
PetscErrorCode RelaxPassesWithGhosts(PC pc, Vec b, Vec y, const std::vector<LinePass> &passes, PetscInt sweeps, bool from_zero, bool *done)
{
  PC_Line *line     = Data(pc);
  const size_t many = passes.size();

  PetscFunctionBegin;
  if (from_zero) PetscCall(VecZeroEntries(y)); // neighbours may ask for rows that the first pass leaves as they are
  PetscCall(HasDiagonals(pc, b, y, done));
  for (size_t k = 0; *done && k < many * static_cast<size_t>(sweeps); k++) {
    const LinePass &pass = passes[k % many];
    const Guess guess    = from_zero && k == 0 ? Guess::zero : Guess::given;
    const LineSet &set   = *line->sets[static_cast<int>(line->shape.memory)][static_cast<size_t>(pass.set)];
    if (!set.relaxes()) { // lines that go on on other ranks
      if (guess == Guess::zero)
        PetscCall(SolveLines(pc, b, y, pass, Transpose::no, false));
      else
        PetscCall(CorrectLinesAcross(pc, set, b, y, pass));
      continue;
    }
    if (guess != Guess::zero) {
      PetscCall(VecScatterBegin(line->bring_ghosts, y, line->ghosts, INSERT_VALUES, SCATTER_FORWARD));
      PetscCall(VecScatterEnd(line->bring_ghosts, y, line->ghosts, INSERT_VALUES, SCATTER_FORWARD));
    }
    VecArray ghosts(line->ghosts, Access::read_write);
    VecArrays arrays(b, Access::read, y, Access::read_write);
    PetscCall(ghosts.Open());
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(arrays.Open());
    *done = ghosts.memory() == arrays.memory();
    if (*done) PetscCall(RelaxWithGhosts(*line, set, pass, guess, ghosts, arrays));
    PetscCall(arrays.Close());
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(ghosts.Close());
    PetscCheck(*done || k == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "vectors went to other memory in the middle of a sweep");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MakeSweeps(PC pc, Vec b, Vec y, const std::vector<LinePass> &passes, PetscInt sweeps, bool from_zero, Transpose transpose)
{
  PC_Line *line     = Data(pc);
  const size_t many = passes.size();
  bool done         = false;

  PetscFunctionBegin;
  if (line->outside && transpose == Transpose::no) {
    if (many > 1 || sweeps > 1 || !from_zero) PetscCall(RelaxPassesWithGhosts(pc, b, y, passes, sweeps, from_zero, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
  } else if (line->stencil && !line->outside && (many > 1 || sweeps > 1 || !from_zero)) {
    VecArrays arrays(b, Access::read, y, from_zero ? Access::write : Access::read_write);
    const std::vector<std::unique_ptr<LineSet>> *sets;
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(arrays.Open());
    PetscCall(PCLineSetsIn(pc, arrays.memory(), &sets));
    done = line->stencil && std::all_of(sets->begin(), sets->end(), [](const auto &set) { return set->relaxes(); });
    if (done) PetscCall(RelaxPasses(pc, *sets, arrays.rhs(), arrays.solution(), passes, sweeps, from_zero, transpose));
    PetscCall(arrays.Close());
    PetscCall(PetscLogGpuTimeEnd());
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (many > 1 || sweeps > 1 || !from_zero) {
    // Residuals are formed with the matrix as it is, to which no factors of other values fit: what is kept follows it.
    bool same = true;
    PetscCall(line->set_up_of.is_matrix(pc, &same));
    if (!same) {
      PetscCall(Together<PCSetUp_Line>(pc));
      PetscCall(VecFlag(y, pc->failedreason != PC_NOERROR));
      if (!pc->failedreason) PetscCall(MakeSweeps(pc, b, y, passes, sweeps, from_zero, transpose));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (from_zero && passes.front().colour != Colour::all) PetscCall(VecZeroEntries(y));
  for (PetscInt sweep = 0; sweep < sweeps; sweep++) {
    for (size_t k = 0; k < many; k++) {
      const LinePass &pass = passes[transpose == Transpose::no ? k : many - 1 - k];
      if (from_zero && sweep == 0 && k == 0)
        PetscCall(SolveLines(pc, b, y, pass, transpose, false));
      else
        PetscCall(CorrectLines(pc, b, y, pass, transpose));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A number of sweeps, from a zero guess or from what y holds, which is marked where set-up failed. The transposed operator takes the passes the
// other way round.
PetscErrorCode Sweep(PC pc, Vec b, Vec y, const LineSweep &sweep, PetscInt sweeps, bool from_zero, Transpose transpose)
{
  const PC_Line *line = Data(pc);

  PetscFunctionBegin;
  PetscCall(VecFlag(y, pc->failedreason != PC_NOERROR));
  if (pc->failedreason != PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(line_sweep_event, pc, b, y, 0));
  if (line->check.refined() && !line->check.fails() && from_zero && (sweeps == 1 || line->found_omega != 1)) {
    PetscCall(line->check.Solve(b, y, transpose, [pc](Vec from, Vec to, Transpose how) { return PCLineSolve(pc, from, to, how); }));
    // Damped sweeps over lines that are all of the matrix leave that part of its solution, and what a solve loses with it.
    if (line->found_omega != 1) PetscCall(VecScale(y, 1 - std::pow(1 - line->found_omega, static_cast<PetscReal>(sweeps))));
  } else {
    PetscCall(MakeSweeps(pc, b, y, sweep.passes, sweeps, from_zero, transpose));
  }
  PetscCall(PetscLogEventEnd(line_sweep_event, pc, b, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Richardson's iteration is the same whether it hands its iterations over or, with a monitor, applies the PC in each.
const LineSweep &SweepOfApplication(const PC_Line &line)
{
  return line.in_richardson ? line.relaxed : line.applied;
}

} // namespace

PetscErrorCode PCLineSolve(PC pc, Vec b, Vec y, Transpose transpose)
{
  PC_Line *line = Data(pc);

  PetscFunctionBegin;
  const PetscReal damping = std::exchange(line->found_omega, 1);
  PetscCall(MakeSweeps(pc, b, y, line->applied.passes, 1, true, transpose));
  line->found_omega = damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_Line(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Sweep(pc, b, y, SweepOfApplication(*Data(pc)), Data(pc)->sweeps, true, Transpose::no));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_Line(PC pc, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Sweep(pc, b, y, SweepOfApplication(*Data(pc)), Data(pc)->sweeps, true, Transpose::yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPreSolve_Line(PC pc, KSP ksp, Vec, Vec)
{
  PetscBool richardson;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  Data(pc)->for_richardson = Data(pc)->in_richardson = richardson;
  PetscCall(AsksNorms(ksp, &Data(pc)->asks_norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Lines that are all of a matrix are taken to solve with it by one application. With empty rows it is singular, and solved only for a right-hand side that
// has nothing there.
PetscErrorCode RefuseEmptyRows(PC pc, KSP ksp, Vec b, Vec x)
{
  constexpr PetscReal most = 1e-4; // as of a kernel that loses digits
  PetscReal left, given;

  PetscFunctionBegin;
  PetscCall(LeftOfRightHandSide(ksp, pc->pmat, b, x, &left, &given));
  if (left <= most * given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RefuseSolution(ksp, "this matrix is singular, as " + std::to_string(Data(pc)->empty_rows) +
                                    " of its rows are empty, and its right-hand side is not zero there: put something on the diagonal, or "
                                    "take the rows out"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCPostSolve_Line(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  Data(pc)->in_richardson = false;
  PetscCall(RefuseNonFiniteSolution(pc, ksp, b, x));
  if (ksp->reason > 0 && Data(pc)->empty_rows > 0 && Data(pc)->check.measured && TakenForASolution(ksp))
    PetscCall(RefuseEmptyRows(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Richardson's iteration with this preconditioner is the sweeps themselves: they take the residual where they need it. Of a preconditioner that is
// kept they would solve the system before.
PetscErrorCode PCApplyRichardson_Line(PC pc, Vec b, Vec y, Vec r, PetscReal, PetscReal, PetscReal, PetscInt its, PetscBool zero_guess,
                                      PetscInt *done, PCRichardsonConvergedReason *reason)
{
  const auto sweeps = [pc](Vec rhs, Vec solution, PetscInt count, bool zero) {
    return Sweep(pc, rhs, solution, Data(pc)->relaxed, count * Data(pc)->sweeps, zero, Transpose::no);
  };
  bool same = false;

  PetscFunctionBegin;
  Data(pc)->for_richardson = true;
  PetscCall(Data(pc)->set_up_of.is_operator(pc, &same));
  if (same || pc->failedreason != PC_NOERROR)
    PetscCall(sweeps(b, y, its, zero_guess == PETSC_TRUE));
  else
    PetscCall(RichardsonSteps(pc, b, y, r, its, zero_guess == PETSC_TRUE, [&](Vec rhs, Vec z) { return sweeps(rhs, z, 1, true); }));
  *done = its;
  PetscCall(RichardsonReason(pc->failedreason != PC_NOERROR, Data(pc)->asks_norms, y, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All columns at once where a single pass does it, else one after the other.
PetscErrorCode PCMatApply_Line(PC pc, Mat B, Mat Y)
{
  PC_Line *line = Data(pc);
  Vec b, y;
  bool done;

  PetscFunctionBegin;
  if (pc->failedreason != PC_NOERROR) {
    PetscCall(MatDenseSetFailed(Y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool once = line->sweeps == 1 && !line->check.refined() && line->applied.passes.size() == 1;
  PetscCall(WithDenseArrays(
      B, Y, [&](Memory memory) { return once && has_backend(memory); },
      [&](Memory memory, KernelScalar *rhs, KernelScalar *solution, int nrhs, Index ld) {
        LineSolveOptions options = OptionsOf(*line, line->applied.passes.front(), Transpose::no);
        options.nrhs             = nrhs;
        options.ld               = ld;
        return SolveIn(pc, memory, line->applied.passes.front(), rhs, solution, options);
      },
      &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(pc->pmat, &y, &b)); // a column need not be a vector of the matrix' kind, which its products ask for
  PetscCall(ForEachColumn(B, Y, [&](Vec from, Vec to) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(VecCopy(from, b));
    PetscCall(PCApply_Line(pc, b, y));
    PetscCall(VecCopy(y, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
