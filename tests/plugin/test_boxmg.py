"""PCBOXMG: PETSc's tutorials solved with it alone, its interface, ranks, and what it says to wrong input."""

import array
import functools
import re
import tempfile
from pathlib import Path

import programs
import pytest
from test_tutorials import grid

# name: program, its problem, how it shows its solution, most iterations of a linear solve to 1e-9 of a residual
TUTORIALS = {
    "ex29": ("ex29", "-da_refine 4", "ksp", 12),
    "ex29, rho 100": ("ex29", "-da_refine 4 -rho 100", "ksp", 12),
    "ex29, Neumann": ("ex29", "-da_refine 4 -bc_type neumann", "ksp", 12),
    "ex32": ("ex32", grid(40, 33), "ksp", 12),
    "ex34": ("ex34", grid(14, 13, 12), "ksp", 14),
    "ex45": ("ex45", grid(17, 13, 20), "ksp", 12),
    "ex50": ("ex50", grid(40, 27), "ksp", 12),
    "ex50, stretched": ("ex50", grid(17, 257), "ksp", 12),
    "snes_ex5": ("snes_ex5", f"{grid(40, 31)} -snes_rtol 1e-10", "snes", 12),
    "snes_ex14": ("snes_ex14", f"{grid(12, 11, 10)} -snes_rtol 1e-10", "snes", 12),
    "ts_ex13": ("ts_ex13", f"{grid(30, 27)} -ts_max_steps 4 -snes_rtol 1e-10", "ts", 12),
}


def solution(name, ranks, solver):
    """The solution in the grid's own order, and the output."""
    program, problem, shows, _ = TUTORIALS[name]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "solution"
        result = programs.execute(program, f"{problem} -{shows}_view_solution binary:{file} -ksp_rtol 1e-9 {solver}", ranks=ranks)
        words = array.array("d", file.read_bytes()[8:])  # after the kind and the length
    words.byteswap()
    return words.tolist(), result


@functools.lru_cache(maxsize=None)
def answer(name):
    return solution(name, 1, "-pc_type sor -ksp_type gmres -ksp_gmres_restart 200 -ksp_max_it 20000 -ksp_rtol 1e-12")[0]


def iterations(result):
    counts = [int(count) for count in re.findall(r"Linear \S*\s*solve converged due to \w+ iterations (\d+)", result.output)]
    assert counts, result.output
    return counts


@functools.lru_cache(maxsize=None)
def on_one_rank(name):
    return solution(name, 1, "-pc_type boxmg -ksp_converged_reason")


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorials_with_nothing_else(name, ranks):
    """Right solutions, few iterations, as many on any number of ranks."""
    found, result = on_one_rank(name) if ranks == 1 else solution(name, ranks, "-pc_type boxmg -ksp_converged_reason")
    right = answer(name)
    assert len(found) == len(right) > 0
    assert max(abs(a - b) for a, b in zip(found, right)) < 1e-6 * max(map(abs, right))
    assert max(iterations(result)) <= TUTORIALS[name][3]
    assert iterations(result) == iterations(on_one_rank(name)[1])


@pytest.mark.parametrize("processors", [(1, 4), (2, 2), (4, 1)])
def test_iterations_do_not_depend_on_the_process_grid(run, processors):
    options = f"{grid(23, 30)} -pc_type boxmg -ksp_type cg -ksp_rtol 1e-8 -ksp_monitor"
    history = [
        [float(norm) for norm in re.findall(r"KSP Residual norm (\S+)", run("ex50", f"{options} {where}", ranks=ranks).output)]
        for ranks, where in ((1, ""), (4, "-da_processors_x {} -da_processors_y {}".format(*processors)))
    ]
    assert len(history[0]) > 3 and history[1] == pytest.approx(history[0], rel=1e-6)


# ------------------------------------------------------------------------------------------------------- many kinds of operators

KINDS = "laplacian,stretched,random,rows,smooth,jump,upwind"
ENDS = "dirichlet,neumann,cells,fixed,fixed-y,removed,onesided"


def each(result, name):
    return [float(value) for value in re.findall(rf"{name} (\S+)", result.output, re.M)]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("n, most", [("50", 12), ("33,40", 25), ("9,10,11", 25)])
def test_operators(run, ranks, n, most):
    kinds, ends = (KINDS, ENDS) if "," in n else (KINDS, "dirichlet,neumann,cells,fixed")
    result = run("bcr_probe", f"-n {n} -kind {kinds} -ends {ends} -shift 0.1 -pc_type boxmg -ksp_rtol 1e-10 -ksp_max_it 60", ranks=ranks)
    counts = each(result, "iterations")
    assert len(counts) == len(kinds.split(",")) * len(ends.split(","))
    assert "DIVERGED" not in result.output and max(counts) <= most, result.output
    assert max(each(result, "^error")) < 1e-6, result.output


@pytest.mark.parametrize("problem", ["-n 40,33 -ends neumann", "-n 9,12,10 -ends neumann", "-n 32,27 -periodic 1,1", "-n 33,27 -periodic 1,0", "-n 10,9,11 -periodic 1,1,1", "-n 30 -periodic 1"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_singular_operators(run, problem, ranks):
    for kind in ("laplacian", "jump"):
        result = run("bcr_probe", f"{problem} -kind {kind} -nullspace -pc_type boxmg -ksp_type cg -ksp_rtol 1e-10", ranks=ranks)
        assert result.iterations() <= 20 and result.number("^error|\nerror") < 1e-6, result.output


@pytest.mark.parametrize("n", ["1", "2", "3", "1,1", "1,7", "7,1", "2,2", "2,9", "3,3", "3,1,5", "1,1,4", "2,2,2", "3,3,3", "64,3"])
def test_small_grids(run, n):
    for periodic in ("", "-periodic 1,1,1"):
        result = run("bcr_probe", f"-pc_type boxmg -n {n} {periodic} -ends dirichlet,neumann,fixed -shift 0.3 -ksp_rtol 1e-12")
        assert len(each(result, "^error")) == 3 and max(each(result, "^error")) < 1e-9, result.output


@pytest.mark.parametrize("ends", ["none", "ghosted", "mirror", "twist"])
def test_kinds_of_boundaries(run, ends):
    """What a DMDA's ghosts hold says nothing of its matrix."""
    assert run("boxmg_probe", f"-da_bd_all {ends} -pc_type boxmg").number("Galerkin difference") < 1e-12


# ------------------------------------------------------------------------------------------------------------------ what it makes

PROBLEMS = ["-n 40", "-n 30,25", "-n 30,25 -diagonals", "-n 13,11,9", "-n 7,8,9 -diagonals", "-n 24,17 -ring 1,0,0", "-n 30,25 -stretch 1,0"]
OPTIONS = ["", "-pc_boxmg_cycle v", "-pc_boxmg_cycle w", "-pc_boxmg_cycle f", "-pc_boxmg_smoother points -pc_boxmg_sweeps 2", "-pc_boxmg_smoother alternating -pc_boxmg_coarse lines",
           "-pc_boxmg_interpolation linear -pc_boxmg_coarsen all", "-pc_boxmg_levels 2 -pc_boxmg_smoother lines"]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("options", OPTIONS)
def test_transpose_is_the_adjoint(run, problem, options):
    for ranks in (1, 2):
        assert run("pc_probe", f"-pc_type boxmg -pc_boxmg_coarsest 20 {problem} {options}", ranks=ranks).number("adjoint difference") < 1e-11


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("options", [options for options in OPTIONS if "cycle f" not in options])
def test_a_cycle_of_a_symmetric_matrix_is_symmetric(run, problem, options):
    result = run("pc_probe", f"-probe symmetric -values_symmetric -pc_type boxmg -pc_boxmg_coarsest 20 {problem} {options}")
    assert result.number("symmetric difference") < 1e-11


SPACE = ["-n 13,11,9", "-n 7,8,9 -diagonals", "-n 9,11,8 -ring 1,0,1", "-n 12,9,7 -stretch 0.001,1,1", "-n 2,9,12"]
PLANES = ["", "-pc_boxmg_cycle w", "-pc_boxmg_sweeps 2 -pc_boxmg_interpolation linear", "-pc_boxmg_coarse lines -pc_boxmg_levels 2", "-pc_boxmg_coarsen yz", "-pc_boxmg_cycle f"]


@pytest.mark.parametrize("problem", SPACE)
@pytest.mark.parametrize("options", PLANES)
def test_planes_are_adjoint_symmetric_and_linear(run, problem, options):
    planes = f"-pc_type boxmg -pc_boxmg_smoother planes -pc_boxmg_coarsest 20 {problem} {options}"
    assert run("pc_probe", planes, ranks=2 if "cycle" in options else 1).number("adjoint difference") < 1e-11
    if "cycle f" not in options:
        assert run("pc_probe", f"-probe symmetric -values_symmetric {planes}").number("symmetric difference") < 1e-11


@pytest.mark.parametrize("n", ["-dim 1 -da_grid_x 200", "-dim 2", "-dim 2 -da_grid_x 40 -da_grid_y 9", "-dim 3 -da_grid_x 9"])
@pytest.mark.parametrize("options", ["", "-pc_boxmg_interpolation linear", "-pc_boxmg_coarsest 5", "-pc_boxmg_coarsen x"])
def test_coarse_operators_are_galerkins(run, n, options):
    result = run("boxmg_probe", f"{n} -pc_type boxmg {options} -ksp_view")
    counts = [int(count) for count in re.search(r"^levels (\d+) (\d+)$", result.output, re.M).groups()]
    assert counts[0] == counts[1] > 1
    assert result.number("Galerkin difference") < 1e-12


def test_the_matrices_of_levels_are_on_one_rank(run):
    failed = run("boxmg_probe", "-pc_type boxmg", ranks=2, expect=None)
    assert failed.code != 0 and "PCBOXMG gives the matrices of its levels on one rank only" in failed.output


@pytest.mark.parametrize("ranks", [1, 3])
def test_new_values_are_taken(run, ranks):
    result = run("bcr_probe", "-pc_type boxmg -ksp_rtol 1e-12 -n 33,29 -probe again", ranks=ranks)
    assert len(each(result, "error")) == 3 and max(each(result, "error")) < 1e-9
    for kind in ("", "-diagonals"):
        result = run("pc_probe", f"-probe refresh -pc_type boxmg -n 19,8,7 {kind}", ranks=ranks)
        assert result.number("old values difference") > 1e-4
        assert result.number("refresh difference") < 1e-12
    result = run("boxmg_probe", "-pc_type boxmg -probe lagged", ranks=ranks)
    assert result.number("kept difference") == 0 and result.number("new difference") > 1e-3
    assert run("boxmg_probe", "-pc_type boxmg -probe reset", ranks=ranks).number("reset difference") == 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_many_right_hand_sides(run, ranks):
    differences = each(run("boxmg_probe", "-pc_type boxmg -probe many", ranks=ranks), "column difference")
    assert len(differences) == 3 and max(differences) < 1e-14
    for how in ("", "-apart", "-pc_boxmg_precision single"):
        differences = each(run("bcr_probe", f"-pc_type boxmg -n 22,19 {how} -probe many", ranks=ranks), "column")
        assert len(differences) == 3 and max(differences) < 1e-14


def test_host_vectors_with_any_matrix(run):
    result = run("pc_probe", "-probe host -pc_type boxmg -n 20,21")
    assert result.number("host difference") < 1e-14
    assert result.number("mixed difference") < 1e-14


@pytest.mark.parametrize("ranks", [1, 2])
def test_single_precision(run, ranks):
    counts = {}
    for options in ("-pc_boxmg_precision double", "-pc_boxmg_precision single", "-pc_precision single"):
        result = run("ex45", f"{grid(17, 17, 17)} -pc_type boxmg {options} -ksp_type fcg -ksp_rtol 1e-9 -ksp_converged_reason -ksp_view", ranks=ranks)
        assert ("single precision" in result.output) == ("single" in options)
        counts[options] = result.iterations()
    assert max(counts.values()) <= min(counts.values()) + 1


# ----------------------------------------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("ranks", [1, 2])
def test_view_has_a_row_for_each_level(run, ranks):
    output = run("ex50", f"{grid(33, 100)} -pc_type boxmg -ksp_view", ranks=ranks).output
    rows = re.findall(r"^ +level (\d+): (\d+) x (\d+), (coarsened along \w+|coarsest), (lines along .*|points|solved directly), stencil of (\d+) points, 1 rank, (\d+) bytes$", output, re.M)
    assert [int(row[0]) for row in rows] == list(range(len(rows))) and len(rows) > 2, output
    assert rows[0][1:3] == ("33", "100") and rows[0][5] == "5" and rows[1][5] == "9"
    assert rows[-1][3] == "coarsest" and rows[-1][4] == "solved directly"
    assert all(int(row[6]) > 0 for row in rows)
    assert ("ranks: gathered on rank 0 of 2, which solves" in output) == (ranks == 2)
    assert re.search(r"operator: symmetric\n", output) and "cycles on the host (" in output


def test_log_view_counts_the_work(run):
    output = run("ex50", f"{grid(65, 65)} -pc_type boxmg -log_view :/dev/stdout").output
    for event in ("PCBoxmgSetUp", "PCBoxmgCycle"):
        assert int(next(line for line in output.splitlines() if line.startswith(event)).split()[1]) > 0
    assert float(next(line for line in output.splitlines() if line.startswith("PCBoxmgCycle")).split()[5]) > 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_monitor_prints_the_residual_of_each_level(run, ranks):
    plain = run("ex50", f"{grid(33, 29)} -pc_type boxmg -ksp_type cg -ksp_converged_reason", ranks=ranks)
    result = run("ex50", f"{grid(33, 29)} -pc_type boxmg -ksp_type cg -ksp_converged_reason -pc_boxmg_monitor", ranks=ranks)
    assert result.iterations() == plain.iterations()
    told = re.findall(r"^ +level (\d+), (\d+) x (\d+): residual norm (\S+) (before the correction|after the last sweep)$", result.output, re.M)
    assert told[0][:3] == ("0", "33", "29") and told[0][4] == "before the correction"
    before, after = ([float(line[3]) for line in told if line[0] == "0" and line[4].startswith(when)] for when in ("before", "after"))
    assert len(before) == len(after) == result.iterations() + 1
    assert sum(a < b for a, b in zip(after, before)) >= len(before) - 1
    assert {line[0] for line in told} == {str(level) for level in range(max(int(line[0]) for line in told) + 1)}


# K of two strong directions: the same everywhere, or others in each half of the cube.
STRONG = {"pair": "-k 1,1e3,1e3", "varies": "-k 1,1,1e3 -contrast 1e3 -material turning"}


@pytest.mark.parametrize("n", [17, 33])
@pytest.mark.parametrize("k, options, relaxed, most", [
    ("pair", "", "lines along y", 8), ("pair", "-pc_boxmg_smoother planes", "planes yz", 6), ("varies", "", "planes yz then xz", 6),
    ("varies", "-pc_boxmg_smoother planes -pc_boxmg_precision single", "planes yz then xz", 6), ("varies", "-ends periodic", "planes yz then xz", 9),
    ("varies", "-ends neumann", "planes yz then xz", 10), ("varies", "-mask holes", "planes yz then xz", 6), ("varies", "-angle 10", "planes yz then xz", 6),
])
def test_two_strong_directions(run, n, k, options, relaxed, most):
    """Planes where the two vary, which lines cannot follow: 28 and 53 iterations with them."""
    output = run("diffusion", f"-dim 3 {STRONG[k]} -da_grid_x {n} -da_grid_y {n} -da_grid_z {n} -pc_type boxmg -ksp_type cg -ksp_rtol 1e-8 -repeat 1 -ksp_view {options}").output
    assert re.search(rf"level 0: {n} x {n} x {n}, coarsened along xyz, {relaxed}, stencil", output.replace("coarsened along yz,", "coarsened along xyz,")), output
    assert int(re.search(r"after (\d+) iterations", output)[1]) <= most, output


def test_planes_bytes_are_counted(run):
    def megabytes(options):
        return run("ex45", f"{grid(17, 17, 17)} -pc_type boxmg -ksp_view {options}").number("cycles on the host .*\\),")

    assert megabytes("-pc_boxmg_smoother planes") > 1.3 * megabytes("-pc_boxmg_smoother lines")


def test_all_options_are_used(run):
    options = ("-pc_boxmg_levels 3 -pc_boxmg_cycle w -pc_boxmg_smoother lines -pc_boxmg_coarsen xy -pc_boxmg_interpolation operator -pc_boxmg_sweeps 2 "
               "-pc_boxmg_coarse direct -pc_boxmg_coarsest 20 -pc_boxmg_precision double -pc_boxmg_monitor 0")
    output = run("ex50", f"{grid(33, 33)} -pc_type boxmg {options} -options_left").output
    assert "pc_boxmg" not in output.split("There are")[-1], output


@pytest.mark.parametrize(
    "options, idle",
    [
        ("-pc_boxmg_levels 1 -pc_boxmg_cycle w -pc_boxmg_coarsen x -pc_boxmg_interpolation linear -pc_boxmg_sweeps 2 -pc_boxmg_smoother points",
         {"cycle", "coarsen", "interpolation", "sweeps", "smoother"}),
        ("-pc_boxmg_levels 1 -pc_boxmg_coarse lines -pc_boxmg_sweeps 2 -pc_boxmg_smoother points", set()),
        ("-pc_boxmg_levels 2 -pc_boxmg_cycle f", {"cycle"}),
        ("-pc_boxmg_levels 40", {"levels"}),
        ("-pc_boxmg_levels 1 -pc_boxmg_coarsest 500", {"levels"}),
        ("-pc_boxmg_levels 2 -pc_boxmg_coarsest 9", {"coarsest"}),
        ("-pc_boxmg_cycle w -pc_boxmg_coarsest 9", set()),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_options_that_do_nothing(run, options, idle, ranks):
    output = run("ex50", f"{grid(23, 19)} -pc_type boxmg -ksp_view {options}", ranks=ranks).output
    assert set(re.findall(r"-pc_boxmg_(\w+) does nothing here", output)) == idle, output


def test_nothing_of_petscs_memory_is_left(run):
    for ranks in (1, 2):
        for probe in ("reset", "lagged", "many"):
            output = run("boxmg_probe", f"-pc_type boxmg -probe {probe} -malloc_debug -malloc_dump", ranks=ranks).output
            assert "bytes" not in output, output
    output = run("boxmg_probe", "-pc_type boxmg -probe levels -malloc_debug -malloc_dump").output
    assert "bytes" not in output, output


# ------------------------------------------------------------------------------------------------------------------ wrong input


@pytest.mark.parametrize(
    "options, message",
    [
        ("-dof 9", "PCBOXMG takes at most 8 unknowns a node and this DMDA has 9"),
        ("-dm_mat_type baij", "PCBOXMG works on AIJ matrices and this one is of type"),
        ("-pc_boxmg_levels -1", "-pc_boxmg_levels -1: the number must be from 0 to 62"),
        ("-pc_boxmg_sweeps 0", "-pc_boxmg_sweeps 0: the number must be from 1 to"),
        ("-pc_boxmg_coarsest -1", "-pc_boxmg_coarsest -1: the number must be from 0 to"),
        ("-pc_boxmg_coarsest 5000", "-pc_boxmg_coarsest 5000: the inverse of at most 1000 nodes is made; take -pc_boxmg_coarse lines with more"),
        ("-pc_boxmg_coarsen z", "-pc_boxmg_coarsen z: this grid, 8 x 9, has one node along z"),
        ("-pc_boxmg_smoother planes", "-pc_boxmg_smoother planes: this grid, 8 x 9, has one node along z: take alternating, whose lines along each direction in turn do"),
        ("-pc_boxmg_coarsen xz", "-pc_boxmg_coarsen xz: this grid, 8 x 9, has one node along z"),
        ("-pc_precision single -pc_boxmg_precision double", "-pc_precision single and -pc_boxmg_precision double contradict each other: give one of the two"),
        ("-pc_boxmg_cycle u", "u"),
        ("-pc_boxmg_smoother gauss", "gauss"),
        ("-pc_boxmg_precision half", "half"),
    ],
)
def test_wrong_input_says_what_to_do(run, options, message):
    ranks = 1 if options.startswith("-pc") else 3
    failed = run("bcr_probe", f"-pc_type boxmg -n 8,9 {options}", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output, failed.output


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_row_that_couples_too_far(run, ranks):
    failed = run("boxmg_probe", "-pc_type boxmg -probe foreign", ranks=ranks, expect=None)
    assert failed.code != 0
    assert "PCBOXMG: row 0 couples to a node of the grid that is no neighbour of its own: give KSPSetOperators() a matrix of neighbours as its second one, or take" in failed.output


@pytest.mark.parametrize("ranks", [1, 2])
def test_without_a_grid(run, ranks):
    failed = run("ex2", "-pc_type boxmg", ranks=ranks, expect=None)
    assert failed.code != 0
    assert "PCBOXMG needs a grid and none is known for this matrix: give the KSP or the PC a DMDA" in failed.output
    failed = run("boxmg_probe", "-pc_type boxmg -probe mismatch", ranks=ranks, expect=None)
    assert failed.code != 0
    assert "the DMDA does not fit the matrix: it has 50 unknowns and the matrix 289 rows" in failed.output


@pytest.mark.parametrize("probe, message", [("unassembled", "needs an assembled matrix"), ("layout", "requires equal local row and column sizes")])
def test_matrices_that_cannot_be_used(run, probe, message):
    failed = run("pc_probe", f"-probe {probe} -pc_type boxmg", ranks=2, expect=None)
    assert failed.code != 0 and message in failed.output, failed.output


@pytest.mark.parametrize("solver", ["gmres", "cg", "preonly", "richardson"])
def test_entries_that_are_no_numbers_fail_the_pc(run, solver):
    output = run("bcr_probe", f"-pc_type boxmg -n 8,9 -bad nan -ksp_type {solver}", ranks=3 if solver == "gmres" else 1).output
    assert "DIVERGED_PC_FAILED" in output and "FACTOR_NUMERIC_ZEROPIVOT" in output, output


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_failure_can_be_an_error_and_ends_with_good_values(run, ranks):
    failed = run("bcr_probe", "-pc_type boxmg -bad nan -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0 and "is not finite" in failed.output
    assert "then FACTOR_NOERROR" in run("pc_probe", "-probe pivot -pc_type boxmg -diagonal nan -n 9,8", ranks=ranks).output
    output = run("pc_probe", "-probe pivot -pc_type boxmg -diagonal 0 -n 9,8", ranks=ranks).output
    assert "FACTOR_NUMERIC_ZEROPIVOT" in output and "then FACTOR_NOERROR" in output


@pytest.mark.parametrize("ranks", [1, 3])
def test_indefinite_operators_fail_and_say_what_to_take(run, ranks):
    """Helmholtz problems: the diagonals of a coarse grid, or a pivot of the coarsest one, have the other sign."""
    output = run("bcr_probe", "-pc_type boxmg -n 33,33 -shift -1 -ksp_view -info :pc", ranks=ranks).output
    assert "DIVERGED_PC_FAILED" in output and "FACTOR_OTHER" in output, output
    assert re.search(r"failed: the operator.* is indefinite: its diagonal at node \(\d+, \d+\) has the other sign, as in Helmholtz problems: take -pc_type crout", output), output


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_line_without_factors_says_what_to_take(run, ranks):
    """Lines of a problem that is periodic along them and couples to nothing else are singular."""
    lines = "-pc_type boxmg -n 33,30 -periodic 1,0 -pc_boxmg_smoother lines -kind laplacian -nullspace -ksp_view"
    output = run("bcr_probe", lines, ranks=ranks, expect=None).output
    assert "DIVERGED_PC_FAILED" not in output or "take -pc_boxmg_smoother alternating or points" in output, output


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "operator, options",
    [
        ("shifted:20:17:0.9:0.9:-2", ""),  # a coarse operator
        ("shifted:13:16:0:0.9:-1", "-pc_boxmg_cycle w"),
        ("shifted:9:9:0:0.3:-0.37", "-pc_boxmg_coarse lines -pc_boxmg_coarsest 10"),
    ],
)
def test_a_cycle_that_amplifies_fails(operator, options, ranks):
    """Norms of preconditioned residuals hide what is left of the true one."""
    program = Path(__file__).parent / "programs" / "grid_operators.py"
    solver = f"{operator} -pc_type boxmg {options} -ksp_type gmres -ksp_rtol 1e-8"
    output = programs.python(program, f"{solver} -ksp_view -info :pc", ranks=ranks).output
    assert "reason -11" in output, output
    assert len(re.findall(r"a cycle leaves \S+ times a random right-hand side: a line or a coarse operator is nearly singular", output)) == 2, output
    failed = programs.python(program, f"{solver} -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0 and "take -pc_type crout, or upwind differences" in failed.output, failed.output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("problem", ["-kind laplacian", "-kind laplacian -ends neumann -nullspace", "-kind jump", "-kind laplacian -pc_boxmg_precision single"])
def test_no_cycle_is_tried_where_the_matrix_is_dominant(run, problem, ranks):
    output = run("bcr_probe", f"-pc_type boxmg -n 33,30 {problem} -ksp_view -pc_boxmg_monitor", ranks=ranks).output
    assert "check: no cycle is tried, as each diagonal is at least the sum of the magnitudes beside it" in output, output


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 3])
def test_each_set_up_tries_a_cycle_elsewhere(ranks):
    program = Path(__file__).parent / "programs" / "grid_operators.py"
    output = programs.python(program, "shifted:20:17:0:0:-0.01 -pc_type boxmg -ksp_type gmres -ksp_rtol 1e-8 -ksp_view", ranks=ranks).output
    assert 0 < float(re.search(r"check: a cycle leaves (\S+) of a random right-hand side", output)[1]) < 1, output


@pytest.mark.parametrize("options, most", [("-ksp_type cg", 15), ("-ksp_type richardson -ksp_max_it 40", 40)])
def test_coefficients_that_are_random_at_each_node(run, options, most):
    """The sums of a coarse operator's columns may have any sign there, and constants are to be interpolated all the same."""
    output = run("diffusion", f"-pc_type boxmg {options} -da_grid_x 129 -da_grid_y 129 -contrast 1e4 -material random -ksp_rtol 1e-8 -repeat 1").output
    assert "CONVERGED_RTOL" in output, output
    assert int(re.search(r"after (\d+) iterations", output)[1]) <= most, output


@pytest.mark.parametrize("nx, ny, k, most", [(129, 128, "1e7,1", 6), (513, 512, "1e5,1", 6)])
def test_rounding_does_not_grow_at_the_ends_of_a_ring(run, nx, ny, k, most):
    """Of an odd number of nodes along strong couplings: there the stencil is another one, and what cancels across them leaves other rounding."""
    output = run("diffusion", f"-pc_type boxmg -ksp_type cg -ends periodic -k {k} -da_grid_x {nx} -da_grid_y {ny} -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned -repeat 1").output
    assert "CONVERGED_RTOL" in output and int(re.search(r"after (\d+) iterations", output)[1]) <= most, output


@pytest.mark.parametrize("n", [100, 257, 1025])
def test_a_strong_direction_that_jumps(run, n):
    """Lines along the direction in which it does, whose other one is coarsened: few iterations, whatever the grid, of a stationary iteration too."""
    options = f"-pc_type boxmg -ksp_type richardson -ksp_norm_type unpreconditioned -material turning -contrast 1e3 -da_grid_x {n} -da_grid_y {n} -ksp_rtol 1e-8 -repeat 1 -ksp_view"
    output = run("diffusion", options).output
    assert "CONVERGED_RTOL" in output and "cycle: v, chosen from the matrix" in output, output
    assert f"level 0: {n} x {n}, coarsened along x, lines along y," in output, output
    assert int(re.search(r"after (\d+) iterations", output)[1]) <= 8, output


@pytest.mark.parametrize("material, n, cycle, most", [("checkerboard", 1025, "v", 9), ("checkerboard", 257, "v", 9), ("checkerboard -contrast 1e6", 513, "v", 7), ("checkerboard -squares 16", 1025, "w", 12), ("squares", 1025, "v", 8)])
def test_coefficients_that_jump_along_both_directions(run, material, n, cycle, most):
    """Squares that touch at their corners: weights know of these where the grid of two steps a square has an inverse; else a large grid takes more corrections. Islands need neither."""
    options = f"-pc_type boxmg -ksp_type cg -ksp_norm_type unpreconditioned -contrast 1e4 -material {material} -da_grid_x {n} -da_grid_y {n} -ksp_rtol 1e-8 -repeat 1 -ksp_view"
    output = run("diffusion", options).output
    assert "CONVERGED_RTOL" in output and f"cycle: {cycle}, chosen from the matrix" in output, output
    assert int(re.search(r"after (\d+) iterations", output)[1]) <= most, output


def test_upwind_convection_is_no_jump(run):
    """Couplings to both sides differ by the cell Péclet number, 100 here, as where two materials meet: lines along both directions all the same."""
    flow = "-velocity 25600,7680 -da_grid_x 257 -da_grid_y 257"
    output = run("diffusion", f"-pc_type boxmg -ksp_type fgmres -ksp_norm_type unpreconditioned {flow} -ksp_rtol 1e-8 -repeat 1 -ksp_view").output
    assert "level 0: 257 x 257, coarsened along xy, lines along y then x," in output and int(re.search(r"after (\d+) iterations", output)[1]) <= 10, output


@pytest.mark.parametrize("n, peclet, most", [(129, 100, 9), (129, 1e4, 15), (257, 100, 12)])
def test_flow_that_comes_back(run, n, peclet, most):
    """Convection leaves couplings of the diagonal's sign on coarse levels, more from level to level."""
    flow = f"-flow recirculating -velocity {peclet * (n - 1)},0 -da_grid_x {n} -da_grid_y {n}"
    output = run("diffusion", f"-pc_type boxmg -ksp_type fgmres -ksp_gmres_restart 100 -ksp_norm_type unpreconditioned {flow} -ksp_rtol 1e-8 -repeat 1 -ksp_view").output
    assert "CONVERGED_RTOL" in output and "cycle: f, chosen from the matrix" in output, output
    assert int(re.search(r"after (\d+) iterations", output)[1]) <= most, output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", ["", "-k 1,1e3", "-k 1e3,1 -pc_boxmg_precision single", "-velocity 1e3,3e2"])
def test_richardson_ends_by_the_true_residual(run, options, ranks):
    output = run("diffusion", f"-pc_type boxmg -ksp_type richardson {options} -da_grid_x 65 -da_grid_y 50 -ksp_rtol 1e-8 -repeat 1", ranks=ranks).output
    assert "CONVERGED_RTOL" in output, output
    assert 1e-10 < float(re.search(r"true residual (\S+),", output)[1]) <= 1e-8, output


def test_richardson_says_that_it_has_not_converged(run):
    output = run("diffusion", "-pc_type boxmg -ksp_type richardson -da_grid_x 65 -da_grid_y 50 -ksp_rtol 1e-8 -ksp_max_it 2 -repeat 1").output
    assert "DIVERGED_ITS" in output, output
