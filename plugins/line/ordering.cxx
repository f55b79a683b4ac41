#include "line/line_impl.h"

namespace weft {

namespace {

// What speaks against zebra where the ordering is auto and the KSP Richardson's; NULL if nothing does.
const char *NoZebra(const PC_Line &line, const LineShape &shape)
{
  if (line.plane_cycles > 0) return "planes have colours of their own";
  if (shape.source != PC_LINE_GRID) return "zebra is for the lines of a grid";
  if (line.line_matrix) return "the matrix of one line says nothing of how lines couple";
  if (line.estimate_omega || line.omega != 1) return "damped, it is a smoother";
  const Index nodes = line.grid.global[0] * line.grid.global[1] * line.grid.global[2];
  for (const int direction : shape.directions) {
    if (nodes > line.grid.global[direction]) return NULL;
  }
  return "there is one line";
}

bool TakesZebra(const PC_Line &line, const LineShape &shape)
{
  return line.ordering == PC_LINE_ORDERING_AUTO && !NoZebra(line, shape);
}

// The passes of planes of one colour after those of the other; in each, lines of either direction in turn. The colour of a line has a bit for
// each direction across; that of the planes is the direction in which neither of their lines runs.
std::vector<LinePass> PassesOfPlanes(const PC_Line &line)
{
  std::vector<LinePass> passes;
  const std::vector<int> &directions = line.shape.directions;
  const int normal                   = 3 - directions[0] - directions[1];
  for (int plane = 0; plane < 2; plane++) {
    for (PetscInt cycle = 0; cycle < line.plane_cycles; cycle++) {
      for (int set = 0; set < static_cast<int>(directions.size()); set++) {
        const bool second = normal == 2 || (normal == 1 && directions[static_cast<std::size_t>(set)] == 2);
        for (int inside = 0; inside < 2; inside++)
          passes.push_back({set, static_cast<Colour>(second ? inside + 2 * plane : plane + 2 * inside)});
      }
    }
  }
  return passes;
}

// A colour relaxed twice in a row gains nothing the second time, where its lines do not couple: the middle pass of a symmetric sweep is done
// once.
LineSweep Sweep(const std::vector<LinePass> &forward, PCLineSweep order)
{
  LineSweep sweep{order, forward};
  if (order == PC_LINE_BACKWARD) sweep.passes.assign(forward.rbegin(), forward.rend());
  if (order == PC_LINE_SYMMETRIC) sweep.passes.insert(sweep.passes.end(), forward.rbegin() + 1, forward.rend());
  return sweep;
}

// One after the other, the colours of each set.
std::vector<LinePass> PassesOfColours(const std::vector<int> &colours)
{
  std::vector<LinePass> passes;
  for (int set = 0; set < static_cast<int>(colours.size()); set++) {
    const int count = colours[static_cast<std::size_t>(set)];
    if (count == 1) passes.push_back({set, Colour::all});
    for (int colour = 0; count > 1 && colour < count; colour++) passes.push_back({set, static_cast<Colour>(colour)});
  }
  return passes;
}

// Zebra as auto takes it, unless the user wants another sweep. It is symmetric, as are all lines at once and PETSc's SOR: what smooths before
// and after a coarser grid are then adjoint, as CG wants it. The odd lines, which a coarser grid leaves out, come first and last: the
// residual that is restricted is zero there, and they correct what was interpolated (Stüben and Trottenberg 1982).
LineSweep Zebra(const PC_Line &line)
{
  const int sets = static_cast<int>(line.shape.directions.size());
  if (line.sweep != PC_LINE_SWEEP_AUTO) return Sweep(PassesOfColours(std::vector<int>(static_cast<std::size_t>(sets), 2)), line.sweep);
  std::vector<LinePass> passes;
  for (int set = 0; set < sets; set++) {
    for (const Colour colour : {Colour::odd, Colour::even}) passes.push_back({set, colour});
  }
  return Sweep(passes, PC_LINE_SYMMETRIC);
}

} // namespace

int ColoursOfSets(const PC_Line &line, const LineShape &shape)
{
  if (line.plane_cycles > 0) return 4;
  if (AllAtOnce(line)) return line.for_richardson && TakesZebra(line, shape) ? 2 : 1;
  return line.ordering == PC_LINE_MULTICOLOR && line.grid.dimension == 3 ? 4 : 2;
}

void FindSweeps(PC_Line *line, const std::vector<std::unique_ptr<LineSet>> &sets)
{
  const bool alternates   = line->direction == PC_LINE_AUTO && line->shape.directions.size() > 1;
  const PCLineSweep order = line->sweep != PC_LINE_SWEEP_AUTO ? line->sweep : alternates ? PC_LINE_SYMMETRIC : PC_LINE_FORWARD;
  std::vector<int> colours;
  for (const auto &set : sets) colours.push_back(AllAtOnce(*line) ? 1 : set->colours());
  line->applied = Sweep(line->plane_cycles > 0 ? PassesOfPlanes(*line) : PassesOfColours(colours), order);
  line->relaxed = TakesZebra(*line, line->shape) ? Zebra(*line) : line->applied;
}

std::string OrderingFound(const PC_Line &line)
{
  if (line.ordering != PC_LINE_ORDERING_AUTO) return line_orderings[line.ordering];
  if (!line.for_richardson) return "jacobi (auto: zebra is for Richardson's iteration)";
  const char *why = NoZebra(line, line.shape);
  return why ? std::string("jacobi (auto: ") + why + ")" : "zebra (auto: under Richardson all lines at once are no smoother)";
}

PetscErrorCode GuessRichardson(PC pc)
{
  const char *prefix;
  char type[64] = "";
  PetscBool given, same;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-ksp_type", type, sizeof(type), &given));
  PetscCall(PetscStrcmp(type, KSPRICHARDSON, &same));
  if (given) Data(pc)->for_richardson = same;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
