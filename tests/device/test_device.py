"""On a GPU: the same iterations as on the host, and nothing crosses between host and device during a solve."""

import re

import pytest
from device_types import KIND, ON_DEVICE, TYPES

MULTIGRID = "-pc_type mg -pc_mg_galerkin both -ksp_rtol 1e-8 -ksp_converged_reason -mg_levels_pc_type line"
on_device = pytest.mark.parametrize("types", TYPES.values(), ids=TYPES.keys())
kernels = pytest.mark.parametrize("kernel", ["thomas", "cr-pcr", "spike", "tpr", "wide", "pivoted", "auto"])


def grid(*sizes):
    return " ".join(f"-da_grid_{axis} {size}" for axis, size in zip("xyz", sizes))


@on_device
@kernels
@pytest.mark.parametrize("ordering", ["jacobi", "zebra"])
def test_same_iterations_as_the_host(run, types, kernel, ordering):
    for program, levels, sizes in [("ex50", 4, (129, 129)), ("ex50", 4, (33, 513)), ("ex50", 4, (17, 1025)), ("ex45", 3, (17, 17, 129))]:
        options = f"{grid(*sizes)} {MULTIGRID} -pc_mg_levels {levels} -mg_levels_pc_line_kernel {kernel} -mg_levels_pc_line_ordering {ordering}"
        assert run(program, f"{options} {types}").iterations() == run(program, options).iterations()


@on_device
@kernels
@pytest.mark.parametrize("settings", ["", "-pc_line_direction z", "-pc_line_ordering zebra -pc_line_sweeps 2"])
def test_no_transfers_in_a_hundred_applications(run, types, kernel, settings):
    output = run("pc_probe", f"-probe transfers -pc_type line -pc_line_kernel {kernel} -n 33,17,300 {settings} {types}").output
    to_device, to_host = re.search(r"transfers to device (\S+), to host (\S+);", output).groups()
    assert float(to_device) == 0 and float(to_host) == 0, output


def test_the_counter_can_count(run):
    """PCSOR has no device kernel: PETSc must be seen to carry its vectors to the host and back."""
    output = run("pc_probe", f"-probe transfers -transposed 0 -pc_type sor {TYPES[KIND]}").output
    to_device, to_host = re.search(r"transfers to device (\S+), to host (\S+);", output).groups()
    assert float(to_device) > 0 and float(to_host) > 0, output


@on_device
def test_view_names_the_device(run, types):
    assert ON_DEVICE in run("pc_probe", f"-probe pivot -diagonal 1 -pc_type line -ksp_view {types}").output


@on_device
@kernels
@pytest.mark.parametrize("problem", ["-n 1", "-n 777", "-n 40,9 -stretch 1,0", "-n 4,5,3000 -stretch 0,0,1", "-n 5000,5,4 -stretch 1,0,0"])
def test_exact_on_lines(run, types, kernel, problem):
    assert run("pc_probe", f"-probe exact -pc_type line -pc_line_kernel {kernel} {problem} {types}").number("exact difference") < 1e-12


@on_device
@kernels
def test_transpose_is_the_adjoint(run, types, kernel):
    options = f"-pc_type line -pc_line_kernel {kernel} -pc_line_ordering zebra -pc_line_sweeps 2"
    for problem in ("-n 40", "-n 12,17", "-n 13,11,7", "-n 5,6,7 -dof 2"):
        assert run("pc_probe", f"{options} {problem} {types}").number("adjoint difference") < 1e-12


@on_device
def test_new_values_and_host_vectors(run, types):
    refresh = run("pc_probe", f"-probe refresh -pc_type line {types}")
    assert refresh.number("old values difference") > 1e-3
    assert refresh.number("refresh difference") == 0
    host = run("pc_probe", f"-probe host -pc_type line {types}")
    assert host.number("host difference") < 1e-13
    assert host.number("mixed difference") < 1e-13


@on_device
@kernels
@pytest.mark.parametrize("diagonal", ["nan", "inf"])
def test_bad_pivots_fail_the_pc(run, types, kernel, diagonal):
    output = run("pc_probe", f"-probe pivot -pc_type line -pc_line_kernel {kernel} -diagonal {diagonal} {types}").output
    assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output
    assert "then FACTOR_NOERROR" in output


@on_device
def test_levels_bound_to_the_host(run, types):
    """All levels: with only some of them bound, multigrid of PETSc 3.26 loses convergence with its own smoothers too."""
    options = f"{grid(65, 513)} {MULTIGRID} -pc_mg_levels 4"
    assert run("ex50", f"{options} {types} -dm_bind_below 1000000").iterations() == run("ex50", options).iterations()


@on_device
def test_two_ranks(run, types):
    options = f"{grid(33, 513)} {MULTIGRID} -pc_mg_levels 4"
    assert run("ex50", f"{options} {types}", ranks=2).iterations() == run("ex50", options, ranks=2).iterations()


@on_device
def test_leaves_quietly(run, types):
    output = run("ex50", f"{grid(17, 65)} -pc_type line {types}").output
    assert "Kokkos" not in output and "ERROR" not in output, output


LINES = [
    "-pc_line_direction xyz -pc_line_ordering zebra",
    "-pc_line_direction xy -pc_line_ordering multicolor -diagonals",
    "-pc_line_direction x -ring 1,0,1 -pc_line_ordering zebra",
    "-pc_line_direction xyz -pc_line_sweep symmetric -pc_line_sweeps 2 -ring 1,1,1",
    "-pc_line_direction xz -pc_line_plane_cycles 2",
    "-dof 3 -couple -n 20,300",
    "-dof 3 -n 20,300 -pc_line_ordering zebra",
    "-pc_line_precision single -n 300,40 -pc_line_direction x",
    "-pc_line_source graph -stretch 10,1,1",
    "-pc_line_source graph -stretch 10,1,1 -pc_line_ordering zebra -pc_line_precision single",
    "-n 70000 -pc_line_source rows",
    "-n 600,500 -pc_line_ordering zebra -diagonals",
    "-n 2000,9 -pc_line_ordering zebra -pc_line_direction x -pc_line_omega 0.8",
    "-n 9,2000 -pc_line_ordering zebra -pc_line_direction y",
]


def norms(result):
    return result.number("(?m)^norm"), result.number("transposed norm")


@on_device
@pytest.mark.parametrize("options", LINES)
def test_every_kind_of_lines_agrees_with_the_host(run, types, options):
    close = 1e-5 if "single" in options else 1e-11
    host = norms(run("pc_probe", f"-probe norm -pc_type line {options}"))
    assert norms(run("pc_probe", f"-probe norm -pc_type line {options} {types}")) == pytest.approx(host, rel=close)
    assert run("pc_probe", f"-probe adjoint -pc_type line {options} {types}").number("adjoint difference") < close


@on_device
@pytest.mark.parametrize("options", LINES)
def test_every_kind_of_lines_stays_on_the_device(run, types, options):
    # PETSc's own transposed product of some device types goes through the host
    output = run("pc_probe", f"-probe transfers -transposed 0 -pc_type line {options} {types}").output
    to_device, to_host = re.search(r"transfers to device (\S+), to host (\S+);", output).groups()
    assert float(to_device) == 0 and float(to_host) == 0, output


@on_device
@pytest.mark.parametrize("options", ["-pc_line_ordering jacobi", "-pc_line_ordering zebra", "-pc_line_ordering jacobi -pc_line_direction xyz -pc_line_sweeps 2"])
def test_richardson_and_columns(run, types, options):
    result = run("pc_probe", f"-probe richardson -pc_type line {options} {types}")
    assert result.number("zero richardson difference") < 1e-12
    assert result.number("guess richardson difference") < 1e-12
    output = run("pc_probe", f"-probe columns -pc_type line {options} {types}").output
    differences = [float(line.split()[-1]) for line in output.splitlines() if line.startswith("columns difference")]
    assert len(differences) == 3 and max(differences) < 1e-13


@on_device
def test_both_sides(run, types):
    assert run("pc_probe", f"-probe halves -values_symmetric -pc_type line -n 30,200 {types}").number("halves difference") < 1e-13


ACROSS = [
    "-n 40,300 -pc_line_ordering zebra",
    "-pc_line_direction xyz",
    "-n 200 -ring 1",
    "-dof 3 -couple -n 20,300",
    "-dof 2 -n 9,50 -ring 0,1 -pc_line_sweeps 2",
]


@on_device
@pytest.mark.parametrize("ranks", [2, 3, 7])
@pytest.mark.parametrize("options", ACROSS)
def test_lines_across_ranks(run, types, ranks, options):
    host = norms(run("pc_probe", f"-probe norm -pc_type line {options}"))
    assert norms(run("pc_probe", f"-probe norm -pc_type line {options} {types}", ranks=ranks)) == pytest.approx(host, rel=1e-11)


@on_device
@pytest.mark.parametrize("ranks", [2, 4])
def test_lines_of_a_file_across_ranks(run, types, ranks, tmp_path):
    """Each line of the file goes through all ranks and comes back: down a column and up the next one."""
    columns = [list(range(column, 8 * 60, 8)) for column in range(8)]
    path = tmp_path / "lines.txt"
    path.write_text("".join(" ".join(map(str, down + up[::-1])) + "\n" for down, up in zip(columns[::2], columns[1::2])))
    options = f"-probe norm -pc_type line -pc_line_file {path} -pc_line_sweeps 2 -n 8,60 -da_processors_x 1"
    device = run("pc_probe", f"{options} {types} -view", ranks=ranks)
    assert norms(device) == pytest.approx(norms(run("pc_probe", options)), rel=1e-11)
    assert ", 4 of them across ranks" in device.output


@on_device
def test_sor_is_replaced_on_request(run, types):
    options = f"{grid(33, 257)} -pc_type mg -pc_mg_levels 4 -pc_mg_galerkin both -ksp_converged_reason -ksp_view {types}"
    replaced = run("ex50", options + " -weft_replace_sor")
    assert replaced.output.count("Warning: -weft_replace_sor") == 1
    assert "type: line" in replaced.output and "type: sor" not in replaced.output
    assert replaced.iterations() < run("ex50", options).iterations()


@on_device
def test_nothing_crosses_in_a_whole_solve_with_multigrid(run, types):
    """The first solve brings the right-hand side; a second one brings nothing more."""
    options = (f"{grid(129, 129)} -pc_type mg -pc_mg_levels 4 -pc_mg_galerkin both -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -ksp_type cg "
               f"-mg_levels_pc_type line -mg_levels_pc_line_ordering zebra -mg_levels_pc_line_sweep symmetric -mg_coarse_ksp_type richardson "
               f"-mg_coarse_ksp_max_it 8 -mg_coarse_pc_type line -mg_coarse_pc_line_ordering zebra -mg_coarse_pc_line_sweep symmetric {types}")
    counts = run("two_solves", options).output
    to_device, to_host = re.search(r"transfers in the second solve: to device (\S+), to host (\S+)", counts).groups()
    assert float(to_device) == 0 and float(to_host) == 0, counts


@on_device
@pytest.mark.parametrize("ranks", [1, 2])
def test_alternating_directions(run, types, ranks):
    for options in (f"{grid(65, 40)} -ksp_type adi", f"{grid(65, 40)} -pc_type adi -ksp_type gmres"):
        options += " -ksp_rtol 1e-8 -ksp_converged_reason"
        assert abs(run("ex50", f"{options} {types}", ranks=ranks).iterations() - run("ex50", options).iterations()) <= 1
    output = run("pc_probe", f"-probe transfers -transposed 0 -pc_type adi -n 33,300 {types}").output
    to_device, to_host = re.search(r"transfers to device (\S+), to host (\S+);", output).groups()
    assert float(to_device) == 0 and float(to_host) == 0, output


@on_device
@pytest.mark.parametrize("products", ["true", "false"])
@pytest.mark.parametrize("sizes", ["-da_grid_x 17 -da_grid_y 601", "-da_grid_x 17 -da_grid_y 1201 -eps 1e-2", "-da_grid_x 601 -da_grid_y 17"])
def test_multigrid_on_long_lines(run, types, sizes, products):
    """Lines across memory of more rows than a team holds, and of few more than a power of two along it."""
    options = (f"{sizes} -da_refine 1 -repeat 1 -ksp_type cg -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned -pc_type mg -mg_levels_ksp_type richardson "
               "-mg_levels_ksp_max_it 1 -mg_levels_pc_type line -mg_levels_pc_line_ordering zebra -mg_coarse_ksp_type preonly -mg_coarse_pc_type bcr "
               f"-mg_levels_pc_line_diagonal_products {products}")
    device, host = (run("diffusion", f"{options} {more}").number("after") for more in (types, ""))
    assert device == host <= 8
