"""PCLINE whose lines are all that the matrix couples, a direct solver: it looks at its own solve, wherever the lines come from."""

from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "line_direct.py"
KINDS = {
    "unknowns of a node": "-kind nodes",
    "a ring of them": "-kind ring",
    "scalars along a grid": "-kind nodes -unknowns 1 -pc_line_direction x",
    "scalars of a grid as such": "-kind nodes -unknowns 1 -pc_line_source grid",
    "lines beside each other": "-kind decoupled -unknowns 1 -pc_line_direction y",
    "lines of nodes beside each other": "-kind decoupled -unknowns 2 -pc_line_direction y",
}


def solve(options, ranks=1, expect=0):
    return programs.python(PROGRAM, options, ranks=ranks, expect=expect)


def check(result, most):
    assert result.number("condition") < 1e4 and result.number("reason") > 0, result.output
    assert result.number("error") < most, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damping", ["", " -pc_line_omega 0.7", " -pc_line_omega 0.7 -pc_line_sweeps 3"])
def test_digits_are_not_lost_unseen(kind, damping):
    check(solve(KINDS[kind] + damping), 1e-11)


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_lines_of_the_graph_that_carry_all_are_looked_at(ranks):
    result = solve("-kind permuted -unknowns 1 -ksp_view", ranks=ranks)
    check(result, 1e-11)
    assert "a random right-hand side is solved" in result.output, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("ordering", ["jacobi", "zebra"])
def test_a_colour_of_which_no_line_crosses_ranks(ordering):
    check(solve(f"-kind chains -unknowns 1 -pc_line_source graph -pc_line_ordering {ordering} -ksp_type gmres -ksp_rtol 1e-12", ranks=2), 1e-10)


@programs.needs_petsc4py
def test_lines_of_a_map(tmp_path):
    check(solve(f"-kind map -unknowns 1 -lines {tmp_path}/lines -pc_line_file {tmp_path}/lines"), 1e-11)


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_on_ranks(kind, ranks):
    across = f"-da_processors_x 1 -da_processors_y {ranks}" if "decoupled" in KINDS[kind] else ""  # each line lies on all ranks
    check(solve(f"{KINDS[kind]} {across}", ranks=ranks), 1e-11)


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [2, 3])
def test_lines_of_a_map_on_ranks(ranks, tmp_path):
    check(solve(f"-kind map -unknowns 1 -lines {tmp_path}/lines -pc_line_file {tmp_path}/lines", ranks=ranks), 1e-11)


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("small", ["1e-6", "1e-11", "1e-12", "1e-13", "1e-14", "1e-16", "0"])
def test_right_or_refused(small, ranks):
    result = solve(f"-kind nodes -small {small}", ranks=ranks)
    assert result.number("reason") < 0 or result.number("error") < 1e-9, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("options", ["-kind nodes -pc_line_sweeps 2", "-kind nodes -pc_line_ranks cut"])
def test_what_is_no_direct_solver_is_not_measured(options):
    ranks = 2 if "cut" in options else 1
    result = solve(f"{options} -ksp_view", ranks=ranks)
    assert "a random right-hand side is solved" not in result.output, result.output


WEAK_ROWS = Path(__file__).parent / "programs" / "line_weak_rows.py"


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("small", ["1", "1e-2", "1e-4", "1e-8", "1e-12"])
@pytest.mark.parametrize("options", ["-kind any", "-kind any -pc_line_source rows", "-kind any -pc_line_ordering zebra", "-kind grid -pc_line_direction x", "-kind grid -pc_line_direction x -da_processors_y 1"])
@pytest.mark.parametrize("solver", ["gmres", "bcgs"])
def test_what_is_called_converged_is_a_solution(solver, options, small, ranks):
    result = programs.python(WEAK_ROWS, f"{options} -small {small} -ksp_type {solver}", ranks=ranks)
    assert result.number("condition") < 1e4, result.output
    assert result.number("reason") < 0 or result.number("residual") < 1e-5, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("options, said", [("-kind any", "diagonals are small beside couplings that no line carries"), ("-kind grid -pc_line_direction x", "elimination without exchanges of rows grows")])
def test_what_applications_lose_is_said(options, said):
    result = programs.python(WEAK_ROWS, f"{options} -small 1e-13 -ksp_error_if_not_converged", expect=None)
    assert "reason" not in result.output and said in result.output, result.output


@programs.needs_petsc4py
def test_rows_that_lose_digits_are_pivoted():
    result = programs.python(WEAK_ROWS, "-kind any -pc_line_source rows -small 1e-12 -ksp_type gmres -ksp_view")
    assert "kernel: pivoted" in result.output and result.number("residual") < 1e-7, result.output
