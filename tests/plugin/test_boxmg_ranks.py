"""PCBOXMG on ranks that share its levels: what one rank makes, on any process grid. -pc_boxmg_share 0 has them share small grids."""

import re
from pathlib import Path

import programs
import pytest
from test_boxmg import KINDS, TUTORIALS, each, iterations, on_one_rank, solution
from test_tutorials import grid

PARTS = Path(__file__).parent / "programs" / "boxmg_parts.py"
SHARE = "-pc_type boxmg -pc_boxmg_share 0 -pc_boxmg_coarsest 9"


def shared(result, ranks):
    """Levels that all ranks have a part of."""
    return len(re.findall(rf"^ *level \d+: .* {ranks} ranks(?: in boxes of whole lines)?, \d+ bytes$", result.output, re.M))


# Nodes, the ranks' parts of them, what there is on them, options.
CASES = [
    ("40", "17,23", "star", ""),
    ("40", "1,1,37,1", "star skew", ""),
    ("26x21", "26x10,11", "star", ""),
    ("26x21", "7,19x21", "box", ""),
    ("26x21", "7,19x21", "box skew", ""),
    ("26x21", "9,17x20,1", "star skew", ""),
    ("26x21", "1,25x2,19", "box", "-pc_boxmg_cycle w"),
    ("26x21", "9,8,9x10,11", "star skew", "-pc_boxmg_cycle f -pc_boxmg_smoother points"),
    ("26x21", "2,24x21", "box skew", "-pc_boxmg_smoother lines -pc_boxmg_sweeps 2"),
    ("26x21", "13,13x21", "star", "-pc_boxmg_smoother alternating -pc_boxmg_coarse lines -pc_boxmg_coarsest 50"),
    ("26x21", "26x4,5,12", "box skew", "-pc_boxmg_interpolation linear -pc_boxmg_coarsen y"),
    ("26x21", "9,17x21", "box", "-pc_boxmg_levels 2"),
    ("26x2", "13,13x1,1", "box", ""),
    ("3x40", "1,1,1x20,20", "star skew", ""),
    ("24x21", "11,13x21", "star 10", ""),
    ("24x16", "7,8,9x7,9", "box skew 11", ""),
    ("24x16", "24x3,13", "star skew 11", "-pc_boxmg_smoother alternating"),
    ("9x10x11", "4,5x10x11", "star skew", ""),
    ("9x10x11", "9x10x1,4,6", "star", "-pc_boxmg_smoother points"),
    ("9x10x11", "4,5x3,7x11", "box", ""),
    ("9x10x11", "9x7,3x5,6", "box skew", "-pc_boxmg_smoother alternating -pc_boxmg_cycle w"),
    ("8x7x12", "3,5x7x6,6", "star skew 101", ""),
]


def differences(result):
    found = [float(number) for number in re.findall(r"(?:difference|transposed|values) (\d[\d.e+-]*)", result.output)]
    assert len(found) == 4, result.output
    return max(found)


@programs.needs_petsc4py
@pytest.mark.parametrize("nodes, parts, operator, options", CASES)
def test_a_cycle_is_that_of_one_rank(nodes, parts, operator, options):
    """To rounding, transposed too, and with new values."""
    ranks = 1
    for part in parts.split("x"):
        ranks *= part.count(",") + 1
    result = programs.python(PARTS, f"{nodes} {parts} {operator} {SHARE} {options}", ranks=ranks)
    assert shared(result, ranks) > 0, result.output
    assert differences(result) < 1e-11, result.output


@programs.needs_petsc4py
def test_single_precision_is_that_of_one_rank():
    result = programs.python(PARTS, f"26x21 9,17x10,11 box skew {SHARE} -pc_boxmg_precision single", ranks=4)
    assert shared(result, 4) > 0
    assert 1e-9 < differences(result) < 1e-4, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("nodes, parts, operator, options", [("25x20", "12,13x20", "star 10", ""), ("13x11", "6,7x11", "star", "-pc_boxmg_levels 1"), ("9x8", "4,5x8", "star", "-pc_boxmg_coarsest 100"),
                                                              ("9x10x11", "9x4,6x11", "star", "-pc_boxmg_smoother planes")])
def test_what_cannot_be_shared_is_gathered(nodes, parts, operator, options):
    """A ring of odd length; a finest level that is solved directly, or relaxed by planes."""
    result = programs.python(PARTS, f"{nodes} {parts} {operator} {SHARE} {options}", ranks=2)
    assert "ranks: gathered on rank 0 of 2, which solves" in result.output
    assert differences(result) < 1e-11, result.output


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials(name, ranks):
    found, result = solution(name, ranks, f"{SHARE} -pc_boxmg_coarsest 100 -ksp_converged_reason -ksp_view")
    right, alone = on_one_rank(name)
    assert iterations(result) == iterations(alone) and shared(result, ranks) > 0
    assert max(abs(a - b) for a, b in zip(found, right)) < 1e-6 * max(map(abs, right))


@pytest.mark.parametrize("n, most", [("50", 12), ("33,40", 25), ("9,10,11", 25)])
def test_operators(run, n, most):
    results = [run("bcr_probe", f"-n {n} -kind {KINDS} -ends dirichlet,neumann,cells,fixed -shift 0.1 {SHARE} -ksp_rtol 1e-10 -ksp_max_it 60 -ksp_view", ranks=ranks) for ranks in (1, 3, 6)]
    counts = [each(result, "iterations") for result in results]
    assert len(counts[0]) == 28 and max(counts[0]) <= most and counts[1] == counts[0] == counts[2]
    assert max(max(each(result, "^error")) for result in results) < 1e-6
    assert all(shared(result, ranks) >= 28 for result, ranks in zip(results[1:], (3, 6)))


@pytest.mark.parametrize("problem", ["-n 40,33 -ends neumann", "-n 9,12,10 -ends neumann", "-n 32,28 -periodic 1,1", "-n 10,8,12 -periodic 1,1,1", "-n 32 -periodic 1"])
def test_singular_operators(run, problem):
    for kind in ("laplacian", "jump"):
        counts = []
        for ranks in (1, 2, 4):
            result = run("bcr_probe", f"{problem} -kind {kind} -nullspace {SHARE} -ksp_type cg -ksp_rtol 1e-10 -ksp_view", ranks=ranks)
            assert result.number("^error|\nerror") < 1e-6 and shared(result, ranks) > (0 if ranks > 1 else -1), result.output
            counts.append(result.iterations())
        assert max(counts) <= 20 and max(counts) - min(counts) <= (2 if counts[0] < 3 else 1), counts  # the node that the coarsest grid leaves out is a matter of rounding


def test_rows_of_levels_tell_their_ranks(run):
    output = run("ex50", f"{grid(140, 150)} -pc_type boxmg -pc_boxmg_share 5000 -ksp_view", ranks=2).output
    assert "ranks: 2 share the levels of 5000 nodes a rank or more, and rank 0 has the others; messages go by MPI" in output
    assert "share the levels of 2000 nodes a rank" in run("ex50", f"{grid(140, 150)} -pc_type boxmg -ksp_view", ranks=2).output
    assert [int(count) for count in re.findall(r"^ *level \d+: .* (\d+) ranks?(?: in boxes of whole lines)?, \d+ bytes$", output, re.M)][:3] == [2, 1, 1], output
    assert "gathered on rank 0" in run("ex50", f"{grid(140, 150)} -pc_type boxmg -pc_boxmg_share 10501 -ksp_view", ranks=2).output
    assert "-pc_boxmg_share does nothing here: it is for several ranks and one unknown a node" in run("ex50", f"{grid(14, 15)} -pc_type boxmg -pc_boxmg_share 9 -ksp_view").output


def test_new_values_are_taken(run):
    result = run("bcr_probe", f"{SHARE} -ksp_rtol 1e-12 -n 33,29 -probe again", ranks=3)
    assert len(each(result, "error")) == 3 and max(each(result, "error")) < 1e-9
    for kind in ("", "-diagonals"):
        result = run("pc_probe", f"-probe refresh {SHARE} -n 19,8,7 {kind}", ranks=3)
        assert result.number("old values difference") > 1e-4
        assert result.number("refresh difference") < 1e-12
    result = run("boxmg_probe", f"{SHARE} -probe lagged", ranks=3)
    assert result.number("kept difference") == 0 and result.number("new difference") > 1e-3
    assert run("boxmg_probe", f"{SHARE} -probe reset", ranks=3).number("reset difference") == 0
    columns = each(run("boxmg_probe", f"{SHARE} -probe many", ranks=3), "column difference")
    assert len(columns) == 3 and max(columns) < 1e-14


def test_nothing_of_petscs_memory_is_left(run):
    for probe in ("reset", "lagged", "many"):
        output = run("boxmg_probe", f"{SHARE} -probe {probe} -malloc_debug -malloc_dump", ranks=2).output
        assert "bytes" not in output, output


@pytest.mark.parametrize("options", ["", "-pc_boxmg_cycle f", "-pc_boxmg_precision single", "-pc_boxmg_smoother points", "-pc_boxmg_smoother alternating"])
def test_a_second_solve_allocates_nothing(run, options):
    before, within = programs.allocations(run("two_solves", f"{grid(65, 65)} {SHARE} {options}", ranks=2, environment=programs.COUNTS_ALLOCATIONS))
    assert before > 0 and within == 0


def test_the_monitor_tells_the_same(run):
    told = [re.findall(r"level (\d+), (\S+ x \S+): residual norm (\S+) ", run("ex50", f"{grid(33, 29)} {SHARE} -ksp_type cg -pc_boxmg_monitor -ksp_max_it 3 -pc_boxmg_levels 3", ranks=ranks).output) for ranks in (1, 4)]
    assert len(told[0]) > 10 and [line[:2] for line in told[0]] == [line[:2] for line in told[1]]
    levels_above = [k for k, line in enumerate(told[0]) if line[0] == "0"]
    assert [float(told[1][k][2]) for k in levels_above] == pytest.approx([float(told[0][k][2]) for k in levels_above], rel=1e-3)


@pytest.mark.parametrize("problem", ["-n 23,19 -bad nan", "-n 33,33 -shift -1", "-n 23,19 -kind jump -shift -0.5"])
def test_failures_are_those_of_one_rank(run, problem):
    said = [run("bcr_probe", f"{SHARE} {problem} -ksp_view", ranks=ranks).output for ranks in (1, 3)]
    failures = [re.findall(r"^ *failed: .*$|^DIVERGED\S+|^FACTOR\S+", output, re.M) for output in said]
    assert len(failures[0]) >= 2 and failures[0] == failures[1]


def test_a_zero_diagonal_and_good_values_after_it(run):
    output = run("pc_probe", f"-probe pivot {SHARE} -diagonal 0 -n 20,21", ranks=3).output
    assert "FACTOR_NUMERIC_ZEROPIVOT" in output and "then FACTOR_NOERROR" in output
    assert "then FACTOR_NOERROR" in run("pc_probe", f"-probe pivot {SHARE} -diagonal nan -n 20,21", ranks=3).output


def test_a_row_that_couples_too_far(run):
    failed = run("boxmg_probe", f"{SHARE} -probe foreign", ranks=2, expect=None)
    assert failed.code != 0
    assert "PCBOXMG: row 0 couples to a node of the grid that is no neighbour of its own: give KSPSetOperators() a matrix of neighbours as its second one, or take" in failed.output


@pytest.mark.parametrize("options", ["", "-k 1,1e3", "-k 1e3,1 -pc_boxmg_precision single", "-velocity 1e3,3e2", "-pc_boxmg_cycle f", "-pc_boxmg_smoother alternating", "-pc_boxmg_levels 2 -da_grid_x 33 -da_grid_y 26",
                                     "-pc_boxmg_levels 1 -pc_boxmg_coarse lines -k 1,1e6"])
def test_richardson_takes_the_iterations_of_one_rank(run, options):
    """By the true residual."""
    ends = []
    for ranks in (1, 3, 4):
        output = run("diffusion", f"{SHARE} -ksp_type richardson -da_grid_x 65 -da_grid_y 50 {options} -ksp_rtol 1e-8 -ksp_max_it 40 -repeat 1", ranks=ranks).output
        ends.append(re.search(r": (\w+) after (\d+) iterations, true residual (\S+),", output).groups())
    assert ends[0][:2] == ends[1][:2] == ends[2][:2], ends
    assert [float(end[2]) for end in ends[1:]] == pytest.approx([float(ends[0][2])] * 2, rel=0.05)


@pytest.mark.parametrize("problem", ["-flow recirculating -velocity 1e5,0", "-velocity 1e5,3e4", "-contrast 1e6 -material checkerboard", "-contrast 1e4 -material checkerboard -squares 4 -da_grid_y 65", "-contrast 1e3 -material turning", "-mask circle"])
def test_histories_of_harder_problems_are_those_of_one_rank(run, problem):
    """Diffusion is added to coarse operators of convection, on levels that are shared too."""
    options = f"{SHARE} -ksp_type fgmres -ksp_rtol 1e-8 -da_grid_x 129 -da_grid_y 100 {problem} -repeat 1 -ksp_monitor -ksp_max_it 30"
    histories = [[float(norm) for norm in re.findall(r"KSP \w* ?[Rr]esidual norm (\S+)", run("diffusion", f"{options} {where}", ranks=ranks).output)] for ranks, where in ((1, ""), (4, "-da_processors_x 2"))]
    assert len(histories[0]) > 3 and histories[1] == pytest.approx(histories[0], rel=1e-4, abs=1e-12 * histories[0][0])


@pytest.mark.parametrize("ranks, options", [(2, "-k 1,1e3 -da_processors_x 1 -da_processors_y 2"), (3, "-k 1e3,1 -da_processors_x 3 -da_processors_y 1"), (4, "-k 1,1e3 -da_processors_x 2 -da_processors_y 2"), (4, "-dim 3 -k 1,1,1e3 -da_grid_z 33 -da_processors_x 1 -da_processors_y 2 -da_processors_z 2")])
def test_lines_that_would_cross_ranks_are_whole_in_other_boxes(run, ranks, options):
    """The levels are worked on in boxes side by side along another direction; vectors go there and back."""
    size = "-da_grid_x 33 -da_grid_y 33" if "-dim 3" in options else "-da_grid_x 129 -da_grid_y 100"
    problem = f"{SHARE} -ksp_type cg -ksp_rtol 1e-8 {size} {options} -repeat 1 -setups 3 -ksp_view"
    here, alone = run("diffusion", problem, ranks=ranks).output, run("diffusion", re.sub(r"-da_processors_. \d", "", problem)).output
    assert f"{ranks} ranks in boxes of whole lines" in here and "whole lines" not in alone
    ends = [re.search(r": (\w+) after (\d+) iterations, true residual (\S+),", output).groups() for output in (here, alone)]
    assert ends[0][:2] == ends[1][:2] and float(ends[0][2]) == pytest.approx(float(ends[1][2]), rel=0.05)


def test_another_way_of_messages(run):
    for way in ("auto", "mpi"):
        assert run("ex50", f"{grid(40, 50)} {SHARE} -ksp_converged_reason -weft_messages {way}", ranks=2).iterations() < 10
    failed = run("ex50", f"{grid(40, 50)} {SHARE} -weft_messages nccl", ranks=2, expect=None)
    assert failed.code != 0 and "-weft_messages nccl: this libweft was built without NCCL" in failed.output
    failed = run("ex50", f"{grid(40, 50)} {SHARE} -weft_messages pigeon", ranks=2, expect=None)
    assert failed.code != 0 and "pigeon" in failed.output
