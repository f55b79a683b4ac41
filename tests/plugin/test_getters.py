"""Each getter says what its setter was told, by default and with other options; -ksp_view says which options were given."""

import json
import re
from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "getters.py"

# By kind: options, and of each getter what it gives (see programs/getters.py), of a new solver and with these options.
ADI = "-pc_adi_type douglas_gunn -pc_adi_shifts 3,4,5 -pc_adi_cycle 4 -pc_adi_iterations 2 -pc_adi_bounds 1,2,3,4 -pc_adi_bounds_method gershgorin \
-pc_adi_line_solver pcr -pc_adi_symmetric -pc_adi_keep_factors 0 -ksp_adi_check_every 3"
BCR = "-pc_bcr_type separable -pc_bcr_inverse leja -pc_bcr_radix 3 -pc_bcr_levels 2 -pc_bcr_precision single -pc_bcr_require_separable \
-pc_bcr_separable_tolerance 0.5 -pc_bcr_check_warn 0.25 -pc_bcr_check_fail 0.5"
BOXMG = "-pc_boxmg_levels 3 -pc_boxmg_cycle w -pc_boxmg_smoother points -pc_boxmg_coarsen xy -pc_boxmg_interpolation linear -pc_boxmg_sweeps 2 \
-pc_boxmg_coarse lines -pc_boxmg_coarsest 9 -pc_boxmg_precision single -pc_boxmg_share 7 -pc_boxmg_monitor"
CROUT = "-pc_crout_pattern threshold -pc_crout_levels 2 -pc_crout_droptol 0.25 -pc_crout_row_quota 7 -pc_crout_most_operations 1e9 -pc_crout_method sweeps \
-pc_crout_sweeps 3 -pc_crout_rtol 0.5 -pc_crout_omega 0.75 -pc_crout_sections 1 -pc_crout_async -pc_crout_shift 0.125 -pc_crout_check_warn 0.25 \
-pc_crout_check_fail 0.5 -pc_crout_scaling ruiz -pc_crout_ordering rcm -pc_crout_symmetric 0 -pc_crout_trisolve jacobi -pc_crout_trisolve_steps 5 \
-pc_crout_precision single"
LINE = "-pc_line_source graph -pc_line_file lines -pc_line_ordering zebra -pc_line_sweep backward -pc_line_ranks cut -pc_line_components apart \
-pc_line_precision single -pc_line_kernel spike -pc_line_kernel_switch 3 -pc_line_kernel_steps 4 -pc_line_kernel_partitions 5 -pc_line_kernel_slice 6 \
-pc_line_kernel_tolerance 0.125 -pc_line_sweeps 3 -pc_line_omega 0.75 -pc_line_find_again 0.5 -pc_line_estimate_omega -pc_line_diagonal_products \
-pc_line_check_warn 0.25 -pc_line_check_fail 0.5"
OF_A_GRID = " -pc_line_direction yz -pc_line_plane_cycles 2"  # an error beside the others, once there is a matrix
GETTERS = {
    "adi": (
        ADI,
        {
            "PCADIGetType": ("i", [0], [2]),
            "PCADIGetShifts": ("n*", [], [3, 4, 5]),
            "PCADIGetCycle": ("i", [0], [4]),
            "PCADIGetIterations": ("i", [1], [2]),
            "PCADIGetBounds": ("n*", [], [1, 2, 3, 4]),
            "PCADIGetBoundsMethod": ("i", [1], [0]),
            "PCADIGetLineSolver": ("s", ["auto"], ["pcr"]),
            "PCADIGetSymmetric": ("i", [0], [1]),
            "PCADIGetKeepFactors": ("i", [1], [0]),
            "KSPADIGetCheckEvery": ("i", [1], [3]),
        },
    ),
    "line": (
        LINE + OF_A_GRID,
        {
            "PCLineGetSource": ("i", [4], [2]),
            "PCLineGetFile": ("s", [""], ["lines"]),
            "PCLineGetDirection": ("i", [7], [5]),
            "PCLineGetOrdering": ("i", [3], [1]),
            "PCLineGetSweep": ("i", [3], [1]),
            "PCLineGetPlaneCycles": ("i", [0], [2]),
            "PCLineGetRanks": ("i", [0], [1]),
            "PCLineGetComponents": ("i", [2], [1]),
            "PCLineGetPrecision": ("i", [0], [1]),
            "PCLineGetKernel": ("s", ["auto"], ["spike"]),
            "PCLineGetKernelParameters": ("iiiid", [0, 0, 0, 0, 0], [3, 4, 5, 6, 0.125]),
            "PCLineGetSweeps": ("i", [1], [3]),
            "PCLineGetOmega": ("d", [1], [0.75]),
            "PCLineGetFindAgain": ("d", [0.95], [0.5]),
            "PCLineGetEstimateOmega": ("i", [0], [1]),
            "PCLineGetDiagonalProducts": ("i", [0], [1]),
            "PCLineGetCheck": ("dd", [1e-10, 1e-4], [0.25, 0.5]),
        },
    ),
    "bcr": (
        BCR,
        {
            "PCBCRGetMethod": ("s", ["auto"], ["separable"]),
            "PCBCRGetInverse": ("s", ["fractions"], ["leja"]),
            "PCBCRGetRadix": ("i", [0], [3]),
            "PCBCRGetLevels": ("i", [-1], [2]),
            "PCBCRGetPrecision": ("i", [0], [1]),
            "PCBCRGetRequireSeparable": ("i", [0], [1]),
            "PCBCRGetSeparableTolerance": ("d", [1e-10], [0.5]),
            "PCBCRGetCheck": ("dd", [1e-10, 1e-4], [0.25, 0.5]),
        },
    ),
    "boxmg": (
        BOXMG,
        {
            "PCBoxmgGetLevels": ("i", [0], [3]),
            "PCBoxmgGetCycle": ("i", [0], [2]),
            "PCBoxmgGetSmoother": ("i", [0], [4]),
            "PCBoxmgGetCoarsen": ("i", [0], [3]),
            "PCBoxmgGetInterpolation": ("i", [0], [1]),
            "PCBoxmgGetSweeps": ("i", [1], [2]),
            "PCBoxmgGetCoarse": ("i", [0], [1]),
            "PCBoxmgGetCoarsest": ("i", [0], [9]),
            "PCBoxmgGetShare": ("i", [-1], [7]),
            "PCBoxmgGetPrecision": ("i", [0], [1]),
            "PCBoxmgGetMonitor": ("i", [0], [1]),
        },
    ),
    "crout": (
        CROUT,
        {
            "PCCroutGetPattern": ("i", [0], [1]),
            "PCCroutGetLevels": ("i", [0], [2]),
            "PCCroutGetDropTolerance": ("di", [1e-3, 0], [0.25, 7]),
            "PCCroutGetMostOperations": ("d", [1e11], [1e9]),
            "PCCroutGetMethod": ("i", [2], [0]),
            "PCCroutGetSweeps": ("i", [0], [3]),
            "PCCroutGetTolerance": ("d", [0], [0.5]),
            "PCCroutGetOmega": ("d", [0], [0.75]),
            "PCCroutGetSections": ("i", [0], [1]),
            "PCCroutGetAsynchronous": ("i", [0], [1]),
            "PCCroutGetShift": ("d", [0], [0.125]),
            "PCCroutGetCheck": ("dd", [1e-10, 1e-4], [0.25, 0.5]),
            "PCCroutGetScaling": ("i", [1], [2]),
            "PCCroutGetOrdering": ("s", ["auto"], ["rcm"]),
            "PCCroutGetSymmetric": ("ii", [0, 0], [1, 0]),
            "PCCroutGetTriangularSolve": ("si", ["auto", 0], ["jacobi", 5]),
            "PCCroutGetPrecision": ("i", [0], [1]),
        },
    ),
}


@programs.needs_petsc4py
@pytest.mark.parametrize("kind", GETTERS)
def test_getters_say_what_was_set(kind):
    options, getters = GETTERS[kind]
    forms = ",".join(f"{name}:{form}" for name, (form, _, _) in getters.items())
    found = [json.loads(line) for line in programs.python(PROGRAM, f"{kind} {forms} {options}").output.splitlines()]
    assert found == [{name: values[which] for name, values in getters.items()} for which in (1, 2)]


@pytest.mark.parametrize("kind", GETTERS)
def test_the_view_lists_what_was_given(run, kind):
    options = GETTERS[kind][0].replace(OF_A_GRID, "")
    solver = "-ksp_type adi" if kind == "adi" else f"-pc_type {kind}"
    plain = run("ex50", f"-da_grid_x 9 -da_grid_y 9 {solver} -ksp_view").output
    assert "given: -" not in plain and "does nothing here" not in plain
    view = run("ex50", f"-da_grid_x 9 -da_grid_y 9 {solver} {options} -ksp_view", expect=None).output
    told = re.findall(r"^ +given: -(\w+) \S+$|^ +-(\w+) does nothing here: ", view, re.M)
    assert sorted("".join(one) for one in told) == sorted(re.findall(r"-((?:pc|ksp)_\w+)", options)), view


@programs.needs_petsc4py
def test_a_number_of_shifts_below_zero_is_an_error(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import ctypes, petsc4py
petsc4py.init()
from petsc4py import PETSc
library = ctypes.CDLL(PETSc.Options().getString("dll_append"))
pc = PETSc.PC().create()
pc.setType("adi")
PETSc.Sys.pushErrorHandler("traceback")
assert library.PCADISetShifts(ctypes.c_void_p(pc.handle), -1, (ctypes.c_double * 1)(1.0)) == 63
""")
    assert "PCADISetShifts(): -1 is no number of shifts" in programs.python(program).output


def test_every_getter_is_asked():
    exported = re.findall(r'^        "(\w+Get\w+)",$', (Path(__file__).parent / "test_loading.py").read_text(), re.M)
    assert set(exported) - {"PCCroutGetHistory"} == {name for _, getters in GETTERS.values() for name in getters}
