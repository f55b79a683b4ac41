// PCLINE's options, each told once.
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "line/line_impl.h"
#include "line/methods/toeplitz/swept.hpp"
#include "petsc/option_table.h"

namespace weft {

const char *const line_directions[] = {"x", "y", "z", "xy", "xz", "yz", "xyz", "auto", "PCLineDirection", "PC_LINE_", NULL};
const char *const line_orderings[]  = {"jacobi", "zebra", "multicolor", "auto", "PCLineOrdering", "PC_LINE_", NULL};
const char *const line_sweeps[]     = {"forward", "backward", "symmetric", "auto", "PCLineSweep", "PC_LINE_", NULL};
const char *const line_sources[]    = {"map", "grid", "graph", "rows", "auto", "PCLineSource", "PC_LINE_", NULL};
const char *const line_ranks[]      = {"exact", "cut", "PCLineRanks", "PC_LINE_", NULL};
const char *const line_components[] = {"together", "apart", "auto", "PCLineComponents", "PC_LINE_", NULL};
const char *const line_precisions[] = {"double", "single", "PCLinePrecision", "PC_LINE_", NULL};

std::vector<const char *> LineKernels()
{
  std::vector<const char *> kernels = tridiagonal_method_names();
  kernels.push_back("auto");
  return kernels;
}

namespace {

bool KernelIs(const PC_Line &line, std::initializer_list<std::string_view> names)
{
  const auto &sets = line.sets[line.sets[0].empty() ? 1 : 0];
  return std::any_of(sets.begin(), sets.end(), [&](const auto &set) {
    const std::string_view method = set->method();
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return method.substr(0, method.find(' ')) == name; });
  });
}

// The kernel wide has a shape of its own on a host.
bool WideIsTold(const PC_Line &line)
{
  return KernelIs(line, {"wide"}) && line.shape.memory == Memory::device;
}

// Whether some line goes on on another rank, be it cut there or not.
bool SomeMeetRanks(const PC_Line &line)
{
  if (line.shape.source == PC_LINE_GRAPH) return line.processes > 1; // each may have cut its rows from the others'
  if (line.shape.source == PC_LINE_MAP) return CrossingLines(line) > 0;
  return std::any_of(line.shape.directions.begin(), line.shape.directions.end(), [&](int k) { return line.grid.ranks[k] > 1; });
}

// Whether some of a grid is solved by several ranks together.
bool SomeCross(const PC_Line &line)
{
  if (!InBoxes(line.shape) || SolvedByOne(line)) return false;
  return std::any_of(line.shape.directions.begin(), line.shape.directions.end(), [&](int k) { return Crosses(line, k); });
}

// Whether an ordering by colours sorts the lines that there are.
bool SomeColours(const PC_Line &line)
{
  const Grid &grid      = line.grid;
  const LineShape &from = line.shape;
  if (line.plane_cycles > 0) return false;
  if (from.source == PC_LINE_GRID) {
    const Index rows = grid.global[0] * grid.global[1] * grid.global[2] * (from.together ? 1 : from.components);
    return std::any_of(from.directions.begin(), from.directions.end(), [&](int k) { return rows > grid.global[k]; });
  }
  return line.applied.passes.size() > 1;
}

// Whether some solve may drop couplings.
bool SomeDrop(const PC_Line &line)
{
  const auto &sets = line.sets[line.sets[0].empty() ? 1 : 0];
  const auto swept = [&](const auto &set) { return swept_by_toeplitz(set->longest(), line.kernel_parameters); };
  const bool all   = line.shape.memory == Memory::host && std::all_of(sets.begin(), sets.end(), swept);
  return KernelIs(line, {"spike"}) || (KernelIs(line, {"toeplitz"}) && !all) || SomeCross(line);
}

// Lines that are all of the matrix: each set-up that meets no zero pivot looks at what they are worth.
bool Checked(const PC_Line &line)
{
  return line.direct && line.sweeps == 1;
}

using Row = Option<PC_Line>;

// One of the numbers that tell a kernel how to work; 0 leaves it the choice.
template <auto member, class Number>
PetscErrorCode SetParameter(PC pc, Number value)
{
  MethodParameters p = Data(pc)->kernel_parameters;

  PetscFunctionBegin;
  p.*member = static_cast<std::remove_reference_t<decltype(p.*member)>>(value);
  PetscCall(PCLineSetKernelParameters(pc, (PetscInt)p.switch_rows, p.steps, p.partitions, p.slice, p.tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <auto member>
Row::Whole WholeParameter()
{
  return {[](const PC_Line &line) { return static_cast<PetscInt>(line.kernel_parameters.*member); }, SetParameter<member, PetscInt>};
}

const Row options[] = {
    {"pc_line_source", "where the lines come from", "PCLineSetSource", Row::ChoiceOf<&PC_Line::source, PCLineSetSource>(line_sources)},
    {"pc_line_file", "file with the user's lines", "PCLineSetFile",
     Row::Text{[](const PC_Line &line) { return line.file; }, [](PC pc, const char *file) { return PCLineSetFile(pc, file); }},
     "it is for -pc_line_source map or auto, and a map composed with the matrix goes first",
     [](const PC_Line &line) { return line.from_file; }},
    {"pc_line_direction", "directions of the lines on a grid", "PCLineSetDirection",
     Row::ChoiceOf<&PC_Line::direction, PCLineSetDirection>(line_directions)},
    {"pc_line_ordering", "all lines at once, or by colours", "PCLineSetOrdering",
     Row::ChoiceOf<&PC_Line::ordering, PCLineSetOrdering>(line_orderings),
     "it is for several lines that couple, and planes have colours of their own", SomeColours},
    {"pc_line_sweep", "order of directions and colours", "PCLineSetSweep", Row::ChoiceOf<&PC_Line::sweep, PCLineSetSweep>(line_sweeps),
     "it is for several directions or colours",
     [](const PC_Line &line) { return (line.for_richardson ? line.relaxed : line.applied).passes.size() > 1; }},
    {"pc_line_plane_cycles", "cycles of lines inside planes", "PCLineSetPlaneCycles",
     Row::Whole{[](const PC_Line &line) { return line.plane_cycles; }, PCLineSetPlaneCycles}},
    {"pc_line_ranks", "lines that cross ranks", "PCLineSetRanks", Row::ChoiceOf<&PC_Line::ranks, PCLineSetRanks>(line_ranks),
     "it is for lines that continue on other ranks: of a grid, and in double precision of a map or the graph of scalars",
     [](const PC_Line &line) {
       return SomeMeetRanks(line) && (InBoxes(line.shape) || (line.precision == PC_LINE_DOUBLE && !line.shape.together));
     }},
    {"pc_line_components", "unknowns of a node", "PCLineSetComponents",
     Row::ChoiceOf<&PC_Line::components, PCLineSetComponents>(line_components),
     "it is for several unknowns a node, on a grid or of the matrix's graph",
     [](const PC_Line &line) { return line.shape.components > 1; }},
    {"pc_line_precision", "precision of the line solves", "PCLineSetPrecision",
     Row::ChoiceOf<&PC_Line::precision, PCLineSetPrecision>(line_precisions),
     "lines of blocks, and lines of a grid across ranks, are solved in double precision", InSingle},
    {"pc_line_kernel", "tridiagonal method", "PCLineSetKernel",
     Row::Name{LineKernels, [](const PC_Line &line) { return line.kernel; },
               [](PC pc, const char *name) { return PCLineSetKernel(pc, name); }}},
    {"pc_line_kernel_switch", "number of rows left of a line at which a hybrid kernel changes its method", "PCLineSetKernelParameters",
     WholeParameter<&MethodParameters::switch_rows>(), "it is for the kernel cr-pcr",
     [](const PC_Line &line) { return KernelIs(line, {"cr-pcr"}); }},
    {"pc_line_kernel_steps", "reduction steps before a hybrid kernel changes its method", "PCLineSetKernelParameters",
     WholeParameter<&MethodParameters::steps>(), "it is for the kernels pcr-thomas and cr-pcr-thomas",
     [](const PC_Line &line) {
       return KernelIs(line, {"pcr-thomas", "cr-pcr-thomas"});
     }},
    {"pc_line_kernel_partitions", "parts that a line is cut into, or threads that share it", "PCLineSetKernelParameters",
     WholeParameter<&MethodParameters::partitions>(), "it is for the kernels spike, toeplitz and block-wide, and wide on a device",
     [](const PC_Line &line) {
       return KernelIs(line, {"spike", "toeplitz", "block-wide"}) || WideIsTold(line);
     }},
    {"pc_line_kernel_slice", "rows of a slice, or of a thread", "PCLineSetKernelParameters", WholeParameter<&MethodParameters::slice>(),
     "it is for the kernels tpr, toeplitz, pivoted, cr-pcr-thomas and those of blocks, and wide on a device",
     [](const PC_Line &line) {
       return KernelIs(line, {"tpr", "toeplitz", "pivoted", "cr-pcr-thomas", "block-thomas", "block-wide"}) || WideIsTold(line);
     }},
    {"pc_line_kernel_tolerance", "size below which couplings may be dropped", "PCLineSetKernelParameters",
     Row::Real{[](const PC_Line &line) -> PetscReal { return line.kernel_parameters.tolerance; },
               SetParameter<&MethodParameters::tolerance, PetscReal>},
     "it is for the kernel spike, for toeplitz where a host does not sweep, and for lines of a grid across ranks", SomeDrop},
    {"pc_line_sweeps", "sweeps in one application", "PCLineSetSweeps",
     Row::Whole{[](const PC_Line &line) { return line.sweeps; }, PCLineSetSweeps}},
    {"pc_line_omega", "damping factor", "PCLineSetOmega", Row::Real{[](const PC_Line &line) { return line.omega; }, PCLineSetOmega},
     "-pc_line_estimate_omega finds another", [](const PC_Line &line) { return !line.estimate_omega; }},
    {"pc_line_find_again", "lines of the graph are found again where they carry less than this share of what they carried at first",
     "PCLineSetFindAgain", Row::Real{[](const PC_Line &line) { return line.find_again; }, PCLineSetFindAgain},
     "it is for lines of the matrix's graph", [](const PC_Line &line) { return line.shape.source == PC_LINE_GRAPH; }},
    {"pc_line_estimate_omega", "damping factor from the largest eigenvalue", "PCLineSetEstimateOmega",
     Row::Flag{[](const PC_Line &line) { return line.estimate_omega; }, PCLineSetEstimateOmega}},
    {"pc_line_diagonal_products", "products and residuals with the matrix from its diagonals", "PCLineSetDiagonalProducts",
     Row::Flag{[](const PC_Line &line) { return line.diagonal_products; }, PCLineSetDiagonalProducts},
     "it is for matrices in diagonals on one rank, whose lines are of scalars in double precision",
     [](const PC_Line &line) { return line.with_products != NULL; }},
    {"pc_line_check_warn", "relative residual of a random solve above which it is reported and solves are refined", "PCLineSetCheck",
     Row::Real{[](const PC_Line &line) { return line.check.warn; },
               [](PC pc, PetscReal warn) { return PCLineSetCheck(pc, warn, Data(pc)->check.fail); }},
     "it is for lines that are all that the matrix couples, by one sweep", Checked},
    {"pc_line_check_fail", "relative residual of a random solve above which set-up fails", "PCLineSetCheck",
     Row::Real{[](const PC_Line &line) { return line.check.fail; },
               [](PC pc, PetscReal fail) { return PCLineSetCheck(pc, Data(pc)->check.warn, fail); }},
     "it is for lines that are all that the matrix couples, by one sweep", Checked},
};

} // namespace

PetscErrorCode PCSetFromOptions_Line(PC pc, OptionItems items)
{
  PetscFunctionBegin;
  PetscCall(OptionsFromTable(pc, *Data(pc), "line relaxation options", options, items));
  PetscCall(GuessRichardson(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLineTellOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(TellOptions(pc, *Data(pc), options, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
