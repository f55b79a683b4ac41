// Which options of PCLINE act with which lines and kernels.
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "line/line_impl.h"
#include "line/ranks.h"
#include "petsc/idle_options.h"

namespace weft {

namespace {

bool KernelIs(const PC_Line &line, std::initializer_list<std::string_view> names)
{
  const auto &sets = line.sets[line.sets[0].empty() ? 1 : 0];
  return std::any_of(sets.begin(), sets.end(), [&](const auto &set) {
    const std::string_view method = set->method();
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return method.substr(0, method.find(' ')) == name; });
  });
}

bool SomeCross(const PC_Line &line)
{
  if (!InBoxes(line.shape)) return CrossingLines(line) > 0 && MayJoinLines(line);
  return std::any_of(line.shape.directions.begin(), line.shape.directions.end(), [&](int k) { return Crosses(line, k); });
}

// Lines that are all of the matrix: each set-up that meets no zero pivot looks at what they are worth.
bool Checked(const PC_Line &line)
{
  return line.shape.direct && line.sweeps == 1;
}

const OptionUse<PC_Line> uses[] = {
    {"pc_line_file", [](const PC_Line &line) { return !line.file.empty(); },
     [](const PC_Line &line) { return line.shape.source == PC_LINE_MAP; }, "it is for -pc_line_source map"},
    {"pc_line_find_again", [](const PC_Line &line) { return line.find_again != 0.95; },
     [](const PC_Line &line) { return line.shape.source == PC_LINE_GRAPH; }, "it is for lines of the matrix's graph"},
    {"pc_line_ordering", [](const PC_Line &line) { return line.ordering != PC_LINE_JACOBI; },
     [](const PC_Line &line) { return line.shape.source != PC_LINE_ROWS; }, "the rows in their order are one line"},
    {"pc_line_sweep", [](const PC_Line &line) { return line.sweep != PC_LINE_SWEEP_AUTO; },
     [](const PC_Line &line) { return line.passes.size() > 1; }, "it is for several directions or colours"},
    {"pc_line_components", [](const PC_Line &line) { return line.components != PC_LINE_COMPONENTS_AUTO; },
     [](const PC_Line &line) { return (line.shape.source == PC_LINE_GRID && line.grid.components > 1) || line.shape.together; },
     "it is for several unknowns a node"},
    {"pc_line_precision", [](const PC_Line &line) { return line.precision == PC_LINE_SINGLE; },
     [](const PC_Line &line) { return !line.shape.together && !(InBoxes(line.shape) && SomeCross(line)); },
     "lines of blocks and lines across ranks are solved in double precision"},
    {"pc_line_kernel_switch", [](const PC_Line &line) { return line.kernel_parameters.switch_rows != 0; },
     [](const PC_Line &line) { return KernelIs(line, {"cr-pcr"}); }, "it is for the kernel cr-pcr"},
    {"pc_line_kernel_steps", [](const PC_Line &line) { return line.kernel_parameters.steps != 0; },
     [](const PC_Line &line) {
       return KernelIs(line, {"pcr-thomas", "cr-pcr-thomas"});
     },
     "it is for the kernels pcr-thomas and cr-pcr-thomas"},
    {"pc_line_kernel_partitions", [](const PC_Line &line) { return line.kernel_parameters.partitions != 0; },
     [](const PC_Line &line) {
       return KernelIs(line, {"spike", "toeplitz", "wide", "block-wide"});
     },
     "it is for the kernels spike, toeplitz, wide and block-wide"},
    {"pc_line_kernel_slice", [](const PC_Line &line) { return line.kernel_parameters.slice != 0; },
     [](const PC_Line &line) {
       return KernelIs(line, {"tpr", "toeplitz", "wide", "pivoted", "cr-pcr-thomas", "block-thomas", "block-wide"});
     },
     "it is for the kernels tpr, toeplitz, wide, pivoted, cr-pcr-thomas and those of blocks"},
    {"pc_line_kernel_tolerance", [](const PC_Line &line) { return line.kernel_parameters.tolerance != 0; },
     [](const PC_Line &line) {
       return KernelIs(line, {"spike", "toeplitz"}) || SomeCross(line);
     },
     "it is for the kernels spike and toeplitz, and for lines across ranks"},
    {"pc_line_omega", [](const PC_Line &line) { return line.omega != 1; }, [](const PC_Line &line) { return !line.estimate_omega; },
     "-pc_line_estimate_omega finds the damping"},
    {"pc_line_check_warn", [](const PC_Line &line) { return line.check.warn != DirectCheck{}.warn; }, Checked,
     "it is for one tridiagonal system, by one sweep"},
    {"pc_line_check_fail", [](const PC_Line &line) { return line.check.fail != DirectCheck{}.fail; }, Checked,
     "it is for one tridiagonal system, by one sweep"},
    {"pc_line_diagonal_products", [](const PC_Line &line) { return line.diagonal_products; },
     [](const PC_Line &line) { return line.with_products != NULL; },
     "it is for matrices in diagonals, whose lines are of scalars in double precision"},
};

} // namespace

PetscErrorCode PCLineTellIdleOptions(PC pc, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(TellIdleOptions(pc, *Data(pc), uses, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
