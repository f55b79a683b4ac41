"""An option that does nothing with the method that was chosen says so; one that says nothing does something."""

import re

import programs
import pytest

GRID = "-da_grid_x 17 -da_grid_y 65 -ksp_view -ksp_monitor -ksp_rtol 1e-6 -pc_type"
PARAMETERS = {"switch": "4", "steps": "1", "partitions": "4", "slice": "8", "tolerance": "1e-2"}
KERNELS = [kernel for kernel in programs.tridiagonal_kernels() + ["auto"] if kernel != "toeplitz"]  # which takes lines of constant coefficients only


def told(result):
    return set(re.findall(r"-(pc_\w+) does nothing here", result.output))


def monitor(result):
    return re.findall(r"KSP Residual norm.*", result.output)


@pytest.mark.parametrize("kernel", KERNELS)
def test_parameters_of_kernels(run, kernel):
    lines = f"{GRID} line -pc_line_direction y -pc_line_kernel {kernel}"
    plain = run("ex50", lines)
    assert not told(plain)
    for name, value in PARAMETERS.items():
        option = f"pc_line_kernel_{name}"
        result = run("ex50", f"{lines} -{option} {value}")
        if option in told(result):
            assert monitor(result) == monitor(plain), option
    everything = run("ex50", lines + "".join(f" -pc_line_kernel_{name} {value}" for name, value in PARAMETERS.items()))
    assert len(told(everything)) >= 2, "no kernel uses all parameters"


def test_each_parameter_acts_somewhere(run):
    idle = [told(run("ex50", f"{GRID} line -pc_line_direction y -pc_line_kernel {kernel} -pc_line_kernel_slice 8 -pc_line_kernel_steps 1 "
                             "-pc_line_kernel_switch 4 -pc_line_kernel_partitions 4 -pc_line_kernel_tolerance 1e-2")) for kernel in KERNELS]
    assert set.intersection(*idle) == set()


@pytest.mark.parametrize(
    "options, idle",
    [
        ("line -pc_line_direction x -pc_line_sweep backward", "pc_line_sweep"),
        ("line -pc_line_components together", "pc_line_components"),
        ("line -pc_line_file nothing -pc_line_source grid", "pc_line_file"),
        ("line -pc_line_estimate_omega -pc_line_omega 0.5", "pc_line_omega"),
        ("line -pc_line_source graph -pc_line_diagonal_products", "pc_line_diagonal_products"),
        ("bcr -pc_bcr_radix 3 -pc_bcr_type facr", "pc_bcr_radix"),
        ("bcr -pc_bcr_levels 2 -pc_bcr_type separable", "pc_bcr_levels"),
        ("bcr -pc_bcr_inverse leja -pc_bcr_type facr", "pc_bcr_inverse"),
        ("adi -pc_adi_type douglas_rachford -pc_adi_symmetric -ksp_type cg", "pc_adi_type"),
        ("adi -pc_adi_shifts 1,10 -pc_adi_bounds_method gershgorin", "pc_adi_bounds_method"),
        ("adi -pc_adi_shifts 1,10 -pc_adi_bounds 1,10", "pc_adi_bounds"),
    ],
)
def test_options_without_use(run, options, idle):
    assert told(run("ex50", f"{GRID} {options}", expect=None)) == {idle}


def test_blocks_of_a_map_are_none(run, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{2 * i} " for i in range(64)))
    output = run("pc_probe", f"-n 64 -dof 2 -pc_type line -pc_line_file {lines} -pc_line_components together -info :pc", expect=None)
    assert told(output) == {"pc_line_components"}, output.output


def test_a_prefix_is_named(run):
    result = run("ex50", "-da_grid_x 17 -da_grid_y 65 -pc_type mg -pc_mg_levels 2 -mg_levels_pc_type line -mg_levels_pc_line_kernel thomas -mg_levels_pc_line_kernel_slice 8 -ksp_view")
    assert "-mg_levels_1_pc_line_kernel_slice does nothing here" in result.output, result.output


CROUT = {"pattern threshold": {"pattern"}, "levels 1": {"levels"}, "droptol 0.1": {"droptol"}, "row_quota 3": {"row_quota"}, "method exact": {"method"},
         "sweeps 100": set(), "rtol 1e-8": set(), "omega 0.5": {"omega"}, "sections 2": set(), "async": {"async"}, "shift 0.1": {"shift"},
         "scaling ruiz": {"scaling"}, "ordering rcm": {"ordering"}, "symmetric": {"symmetric"}, "most_operations 1e9": {"most_operations"},
         "check_warn 1e-8": set(), "check_fail 1e-2": set(), "trisolve isai": {"trisolve"},
         "trisolve_steps 3": {"trisolve_steps"}}


@pytest.mark.parametrize("option", CROUT)
def test_options_of_crout_with_dense_matrices(run, option):
    result = run("ex23", f"-n 60 -mat_type dense -pc_type crout -ksp_view -pc_crout_{option}", expect=None)
    assert told(result) == {f"pc_crout_{name}" for name in CROUT[option]}, result.output


@pytest.mark.parametrize(
    "options, idle",
    [
        ("", ()),
        ("-pc_crout_levels 2", ()),
        ("-pc_crout_levels 2 -pc_crout_pattern threshold", ("levels",)),
        ("-pc_crout_most_operations 1e9 -pc_crout_check_warn 1e-8 -pc_crout_check_fail 1e-2", ("most_operations", "check_warn", "check_fail")),
        ("-pc_crout_pattern full -pc_crout_check_warn 1e-8 -pc_crout_check_fail 1e-2", ()),
        ("-pc_crout_most_operations 1e9 -pc_crout_pattern full", ()),
        ("-pc_crout_droptol 0.1 -pc_crout_row_quota 3", ("droptol", "row_quota")),
        ("-pc_crout_droptol 0.1 -pc_crout_row_quota 3 -pc_crout_pattern threshold", ()),
        ("-pc_crout_method exact -pc_crout_omega 0.5 -pc_crout_rtol 1e-2", ("omega", "rtol")),
        ("-pc_crout_method sweeps -pc_crout_omega 0.5 -pc_crout_rtol 1e-2", ()),
        ("-pc_crout_sweeps 4 -pc_crout_sections 2", ()),
        ("-pc_crout_shift 0.1 -pc_crout_scaling none -pc_crout_ordering rcm -pc_crout_symmetric", ()),
        ("-pc_crout_trisolve isai -pc_crout_trisolve_steps 3", ("trisolve_steps",)),
        ("-pc_crout_trisolve levels -pc_crout_trisolve_steps 3", ("trisolve_steps",)),
        ("-pc_crout_trisolve jacobi -pc_crout_trisolve_steps 3", ()),
    ],
)
def test_options_of_crout(run, options, idle):
    result = run("ex2", f"-m 20 -n 13 -pc_type crout -ksp_view {options}", expect=None)
    assert told(result) == {f"pc_crout_{name}" for name in idle}, result.output


def test_monitor_of_dense_factors_counts_their_sweeps(run):
    assert re.search(r"2 sections, [1-9]\d* sweeps", run("ex23", "-n 60 -mat_type dense -pc_type crout -pc_crout_monitor").output)
