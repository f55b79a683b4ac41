"""-pc_line_ordering auto, the default: zebra for Richardson's iteration on a grid, all lines at once elsewhere."""

import re

import pytest
from test_tutorials import grid

MULTIGRID = ("-pc_type mg -pc_mg_levels 4 -pc_mg_galerkin both -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type line -ksp_rtol 1e-8 "
             "-ksp_max_it 400 -ksp_converged_reason")
ZEBRA = "ordering zebra (auto: under Richardson all lines at once are no smoother), sweeps 1 symmetric"
INNER = "-pc_type ksp -ksp_ksp_type richardson -ksp_ksp_max_it 2 -ksp_pc_type line"


def iterations(result):
    return int(re.search(r"Linear solve converged due to \w+ iterations (\d+)", result.output)[1])


def monitor(result):
    return [float(line.split()[-1]) for line in result.output.splitlines() if "KSP Residual norm" in line]


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("krylov", ["cg", "fgmres"])
@pytest.mark.parametrize("program, problem", [("ex50", grid(33, 513)), ("ex50", grid(129, 129)), ("ex45", grid(17, 33, 17))])
def test_an_untouched_program_smooths_as_with_zebra(run, program, problem, krylov, ranks):
    options = f"{problem} {MULTIGRID} -ksp_type {krylov}"
    zebra = iterations(run(program, f"{options} -mg_levels_pc_line_ordering zebra", ranks=ranks))
    auto = run(program, f"{options} -ksp_view", ranks=ranks)
    assert iterations(auto) <= zebra <= 9
    assert auto.output.count(ZEBRA) == 3


def test_all_lines_at_once_are_no_smoother(run):
    """What the default is for."""
    output = run("ex50", f"{grid(129, 129)} {MULTIGRID} -ksp_type fgmres -mg_levels_pc_line_ordering jacobi", expect=None).output
    assert "iterations 400" in output, output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("problem", ["-n 9,8", "-n 9,8 -ksp_pc_line_direction xy", "-n 5,6,7 -diagonals", "-n 9,7 -ring 1,1", "-n 1,9,5", "-n 7,6 -dof 2 -couple",
                                     "-n 1,9,1", "-n 5,6,7 -ksp_pc_line_direction xyz", "-n 6,5,4 -ring 0,1,1 -dof 3 -couple"])
def test_smoothers_before_and_after_are_adjoint(run, problem, ranks):
    """Two iterations are one symmetric operator, as with PETSc's SOR: the same smoother on both sides of a coarse grid suits CG."""
    difference = run("pc_probe", f"-probe symmetric -values_symmetric {INNER} {problem}", ranks=ranks).number("symmetric difference")
    assert difference < 1e-12


def test_what_is_not_adjoint_shows(run):
    difference = run("pc_probe", f"-probe symmetric -values_symmetric {INNER} -n 9,8 -ksp_pc_line_sweep forward").number("symmetric difference")
    assert difference > 1e-8


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("problem", ["-n 9,8", "-n 5,6,7 -diagonals", "-n 9,7 -ring 1,1", "-n 7,6 -dof 2 -couple", "-n 1,9,5", "-n 20,9 -stretch 1,10"])
def test_transposed_too(run, problem, ranks):
    assert run("pc_probe", f"-probe adjoint {INNER} {problem}", ranks=ranks).number("adjoint difference") < 1e-12


@pytest.mark.parametrize("problem", [grid(24, 15), grid(7, 9, 8)])
def test_ranks_take_the_same_iterations(run, problem):
    options = f"{problem} -ksp_type richardson -pc_type line -ksp_max_it 6 -ksp_monitor"
    program = "ex45" if "_z" in problem else "ex50"
    histories = [monitor(run(program, options, ranks=ranks)) for ranks in (1, 2, 3)]
    assert len(histories[0]) == 7
    for history in histories[1:]:
        assert history == pytest.approx(histories[0], rel=1e-8)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_monitor_changes_nothing(run, ranks, tmp_path):
    """With one KSPRICHARDSON applies the PC in each iteration, else it hands them to the PC."""
    options = f"{grid(9, 13, 11)} -ksp_type richardson -pc_type line -ksp_max_it 4 -ksp_view_solution ascii:"
    shown = []
    for name, more in (("with", "-ksp_monitor"), ("without", "")):
        run("ex45", f"{options}{tmp_path / name} {more}", ranks=ranks)
        shown.append([float(line) for line in (tmp_path / name).read_text().splitlines() if re.match(r"^-?\d", line)])
    assert len(shown[0]) == 9 * 13 * 11
    assert shown[0] == pytest.approx(shown[1], rel=1e-10)


@pytest.mark.parametrize("krylov", ["cg", "gmres", "chebyshev", "richardson -pc_line_omega 0.7", "richardson -pc_line_estimate_omega"])
def test_elsewhere_all_lines_at_once(run, krylov):
    options = f"{grid(9, 13, 11)} -pc_type line -ksp_monitor -ksp_max_it 5 -ksp_type {krylov}"
    auto = run("ex45", f"{options} -ksp_view", expect=None)
    assert "ordering jacobi (auto: " in auto.output
    assert monitor(auto) == monitor(run("ex45", f"{options} -pc_line_ordering jacobi", expect=None))


@pytest.mark.parametrize(
    "program, options, why",
    [
        ("ex2", "-ksp_type richardson", "jacobi (auto: zebra is for the lines of a grid)"),
        ("ex50", f"{grid(40, 1)} -pc_line_source grid -ksp_type richardson", "jacobi (auto: there is one line)"),
        ("ex45", f"{grid(9, 9, 9)} -pc_line_direction xy -pc_line_plane_cycles 1 -ksp_type richardson", "jacobi (auto: planes have colours of their own)"),
        ("ex50", f"{grid(9, 9)} -pc_line_omega 0.7 -ksp_type richardson", "jacobi (auto: damped, it is a smoother)"),
        ("ex50", f"{grid(9, 9)} -ksp_type richardson -pc_line_sweep forward", "zebra (auto: under Richardson all lines at once are no smoother), sweeps 1 forward"),
        ("ex50", f"{grid(9, 9)} -ksp_type richardson -pc_line_ordering jacobi", "jacobi, sweeps 1 forward"),
    ],
)
def test_the_view_says_what_and_why(run, program, options, why):
    assert f"ordering {why}" in run(program, f"{options} -pc_type line -ksp_max_it 3 -ksp_view", expect=None).output
