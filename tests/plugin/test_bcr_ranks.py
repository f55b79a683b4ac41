"""PCBCR on several ranks: spread over all of them, equal to one rank to rounding whatever the process grid, each rank with its share."""

import re
from pathlib import Path

import programs
import pytest

from test_bcr import each, vector
from test_tutorials import grid

KINDS = "laplacian,random,rows"
ENDS = "dirichlet,neumann,fixed,fixed-y,removed"


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("tutorial, options", [("ex45", grid(13, 9, 17)), ("ex50", grid(40, 27)), ("ex29", "-da_refine 4"), ("ex29", "-da_refine 4 -rho 1e3")])
def test_tutorials_equal_one_rank(run, tutorial, options, ranks):
    options += " -pc_type bcr -ksp_rtol 1e-12 -ksp_converged_reason -ksp_view_solution"
    result = run(tutorial, f"{options} -ksp_view", ranks=ranks)
    assert result.iterations() <= 2
    assert (f"spread over {ranks}," in result.output) == (ranks > 1), result.output
    one = vector(run(tutorial, options).output)
    assert len(one) > 900 and vector(result.output) == pytest.approx(one, rel=1e-11, abs=1e-11 * max(map(abs, one)))


@pytest.mark.parametrize(
    "n, processes", [("13,9", "2,1"), ("13,9", "1,3"), ("13,9", "2,2"), ("13,9", "7,1"), ("13,9", "2,4"), ("8,30", "4,1"), ("8,30", "1,8")]
)
def test_process_grids(run, n, processes):
    px, py = map(int, processes.split(","))
    options = f"-n {n} -da_processors_x {px} -da_processors_y {py} -kind {KINDS} -ends {ENDS} -shift 0.7 -pc_type bcr -pc_bcr_require_separable"
    result = run("bcr_probe", f"{options} -probe apply,adjoint", ranks=px * py)
    for name in ("error", "adjoint difference"):
        assert len(each(result, name)) == 15 and max(each(result, name)) < 1e-13


@pytest.mark.parametrize("processes", ["1,1,7", "7,1,1", "1,7,1"])
def test_process_grids_of_three_directions(run, processes):
    px, py, pz = processes.split(",")
    options = f"-n 8,9,7 -da_processors_x {px} -da_processors_y {py} -da_processors_z {pz} -kind {KINDS} -ends fixed,cells -shift 0.7"
    result = run("bcr_probe", f"{options} -pc_type bcr -probe apply,adjoint -pc_bcr_require_separable", ranks=7)
    for name in ("error", "adjoint difference"):
        assert len(each(result, name)) == 6 and max(each(result, name)) < 1e-13


@pytest.mark.parametrize("ranks", [2, 7])
@pytest.mark.parametrize(
    "problem",
    ["-n 9,7 -ends neumann", "-n 40,36 -ends neumann", "-n 8,6,12 -ends neumann", "-n 12,10 -periodic 1,1", "-n 7,8,9 -periodic 0,1,1 -ends neumann"],
)
def test_singular_operators(run, problem, ranks):
    result = run("bcr_probe", f"{problem} -kind laplacian,stretched -nullspace -pc_type bcr -probe solve,apply -ksp_view", ranks=ranks)
    assert result.output.count("singular (constants)") == result.output.count(f"spread over {ranks},") == 2
    assert len(each(result, "error")) == 4 and max(each(result, "error")) < 1e-12


@pytest.mark.parametrize("n", ["2,50", "2,2,8"])
def test_more_ranks_than_columns(run, n):
    """Two or four modes: most ranks join no lines, but all have something to transform or to send."""
    options = f"-n {n} -da_processors_x 1 -kind laplacian,random -shift 0.3 -pc_type bcr -probe solve,apply,adjoint -ksp_view"
    result = run("bcr_probe", options, ranks=8)
    assert result.output.count("ranks: spread over 8,") == 2
    assert len(each(result, "error")) == 4 and max(each(result, "error") + each(result, "adjoint difference")) < 1e-13


@pytest.mark.parametrize("ranks", [2, 5])
def test_single_precision_and_many_right_hand_sides(run, ranks):
    options = "-pc_type bcr -n 60,50 -kind laplacian,stretched -ends fixed,cells -shift 0.1"
    errors = each(run("bcr_probe", f"{options} -probe apply -pc_bcr_precision single", ranks=ranks), "error")
    assert len(errors) == 4 and 1e-9 < min(errors) and max(errors) < 1e-4
    result = run("bcr_probe", f"{options} -ksp_rtol 1e-12 -pc_bcr_precision single -ksp_type fgmres", ranks=ranks)
    assert max(each(result, "iterations")) <= 4 and max(each(result, "error")) < 1e-10
    columns = each(run("bcr_probe", f"{options} -probe many", ranks=ranks), "column")
    assert len(columns) == 12 and max(columns) == 0


@pytest.mark.parametrize(
    "options, spread",
    [
        ("-n 40,31", True),
        ("-n 40,31 -pc_bcr_type facr -pc_bcr_levels 0", True),
        ("-n 40,31 -pc_bcr_type facr -pc_bcr_levels 2", False),
        ("-n 40,31 -pc_bcr_type partial", False),
        ("-n 40,31 -pc_bcr_type buneman1", False),
        ("-n 40,1", False),
        ("-n 300,310 -kind stretched", False),  # matrix products take longer than `separable` on one rank
        ("-n 300,310 -kind stretched -pc_bcr_type facr", True),
    ],
)
def test_view_says_which(run, options, spread):
    result = run("bcr_probe", f"{options} -pc_type bcr -ksp_view", ranks=3)
    assert ("ranks: spread over 3," in result.output) == spread
    assert ("ranks: gathered on rank 0 of 3, which solves" in result.output) != spread
    assert result.number("error") < 1e-4


def test_no_rank_has_more_than_its_share(run):
    """Arrays of one rank, as -ksp_view has them: one of the grid where slabs are what ranks have, else two; and fringes of slow modes."""
    for ranks, boxes, arrays in ((2, "1,2", 1), (7, "1,7", 1), (4, "2,2", 2)):
        x, y = boxes.split(",")
        output = run("bcr_probe", f"-n 511,511 -da_processors_x {x} -da_processors_y {y} -pc_type bcr -ksp_view", ranks=ranks).output
        rows, brought = re.search(r"at most (\d+) of 511 nodes along y, where lines are joined(.*)", output).groups()
        assert int(rows) <= 511 // ranks + 1
        assert (brought == "; values are brought there") == (arrays == 2), output
        assert float(re.search(r"(\S+) MB on the rank with most", output).group(1)) < 1.1 * arrays * 2.09 / ranks + 0.8


def test_ways_between_ranks_stay_while_values_change(run):
    for ranks in (2, 3):
        result = run("bcr_probe", "-pc_type bcr -ksp_type preonly -n 20,19 -probe again -kind laplacian,stretched -ends fixed", ranks=ranks)
        assert len(each(result, "error")) == 6 and max(each(result, "error")) < 1e-13


def test_a_failure_is_one_of_all_ranks(run):
    output = run("bcr_probe", "-pc_type bcr -n 18,19 -bad nan -ksp_type gmres", ranks=4).output
    assert "DIVERGED_PC_FAILED" in output and "FACTOR_NUMERIC_ZEROPIVOT" in output
    failed = run("bcr_probe", "-pc_type bcr -n 18,19 -ends neumann -ksp_error_if_not_converged", ranks=4, expect=None)
    assert failed.code != 0 and "the operator is singular (constants are in its null space)" in failed.output


def test_nothing_of_petscs_memory_is_left(run):
    output = run("bcr_probe", "-pc_type bcr -ends fixed,cells -shift 1 -n 20,17 -probe solve,again -malloc_debug -malloc_dump", ranks=3).output
    assert "bytes" not in output, output


@programs.needs_petsc4py
@pytest.mark.parametrize("options", ["-pc_bcr_type buneman1", "-pc_bcr_type separable", ""])
def test_another_grid_of_as_many_rows(options):
    """The order in which the first rank has the rows is that of the grid."""
    output = programs.python(Path(__file__).parent / "programs" / "bcr_other_grid.py", options, 2).output
    residuals = [float(r) for r in re.findall(r"reason 4, residual (\S+)", output)]
    assert len(residuals) == 3 and max(residuals) < 1e-10, output
