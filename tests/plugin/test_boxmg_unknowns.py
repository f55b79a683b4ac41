"""PCBOXMG of several unknowns a node: through KSP and options as a user goes, beside direct solves; PETSc's driven cavity; wrong input."""

import re
from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "boxmg_unknowns.py"
ALL = {"-n 70": "", "-n 9,8": "", "-n 17,14": "-ring 1,0", "-n 15,13 ": "-ring 1,1", "-n 6,7,5": "", "-n 6,5,8": "-ring 0,1,0", "-n 1,12": "", "-n 2,2": "", "-n 1": ""}
SMALL = "-pc_boxmg_coarsest 10"


def solve(options, ranks=1, expect=0):
    return programs.python(PROGRAM, f"-pc_type boxmg -ksp_type gmres {options}", ranks=ranks, expect=expect)


def check(result, most, symmetric=False):
    assert result.number("reason") > 0 and result.number("iterations") <= most, result.output
    assert result.number("error") < 1e-7, result.output
    assert result.number("adjoint difference") < 1e-11 and result.number("nonlinearity") < 1e-11, result.output
    assert result.number("new values difference") == 0, result.output
    assert not symmetric or result.number("asymmetry") < 1e-11, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("unknowns", range(2, 9))
@pytest.mark.parametrize("n", ["-n 9,8", "-n 6,7,5 -ring 0,1,0"])
def test_any_number_of_unknowns(unknowns, n):
    check(solve(f"{n} -unknowns {unknowns} {SMALL}"), 20)


@programs.needs_petsc4py
@pytest.mark.parametrize("n", ALL)
@pytest.mark.parametrize("kind, most", [("random", 20), ("alike", 15)])
def test_grids_and_ends(n, kind, most):
    check(solve(f"{n} {ALL[n]} -unknowns 3 -kind {kind} {SMALL}"), most, symmetric=kind == "alike")


OPTIONS = [
    ("-pc_boxmg_cycle w", 15),
    ("-pc_boxmg_cycle f", 15),
    ("-pc_boxmg_smoother points -pc_boxmg_sweeps 2", 25),
    ("-pc_boxmg_smoother lines", 25),
    ("-pc_boxmg_smoother alternating -pc_boxmg_coarse lines", 20),
    ("-pc_boxmg_interpolation linear -pc_boxmg_coarsen all", 20),
    ("-pc_boxmg_levels 2", 20),
    ("-ksp_type richardson", 40),
    ("-ksp_type richardson -ksp_norm_type none -ksp_max_it 60", 60),
    ("-ksp_type fgmres -known 20", 25),
]


@programs.needs_petsc4py
@pytest.mark.parametrize("options, most", OPTIONS)
@pytest.mark.parametrize("n", ["-n 17,14", "-n 7,8,6 -ring 1,0,0"])
def test_options(n, options, most):
    check(solve(f"{n} -unknowns 2 {SMALL} {options}"), most)


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [2, 3])
def test_several_ranks_are_gathered(ranks):
    """The iterations of one rank."""
    options = "-n 14,13 -unknowns 3 -ksp_view"
    alone, together = solve(options), solve(options, ranks=ranks)
    check(together, 20)
    assert together.number("iterations") == alone.number("iterations")
    assert f"ranks: gathered on rank 0 of {ranks}, which solves" in together.output
    assert "operator: not symmetric, 3 unknowns a node" in alone.output


@programs.needs_petsc4py
@pytest.mark.parametrize("kind, size, most", [("exchange", 1e-3, 9), ("exchange", 1, 9), ("exchange", 1e3, 9), ("still", 1e-3, 9), ("still", 1, 9), ("still", 1e3, 9), ("units", 1, 9), ("elasticity", 1, 9), ("elasticity", 10, 12)])
@pytest.mark.parametrize("n", ["-n 33,33", "-n 65,65"])
def test_coupled_problems_take_few_iterations(kind, size, most, n):
    """With interpolation that does not see what other unknowns balance, an exchange of 1 takes 19 and 34 iterations, and 70 at 129²."""
    result = solve(f"{n} -unknowns 2 -kind {kind} -size {size} -ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-8")
    assert result.number("reason") > 0 and result.number("iterations") <= most, result.output
    assert result.number("asymmetry") < 1e-11, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("unit", [1e-6, 1e3, 1e6])
def test_units_do_not_matter(unit):
    result = solve(f"-n 17,17 -unknowns 2 -kind units -size 0.3 -unit {unit} -ksp_type cg -ksp_rtol 1e-8")
    assert result.number("reason") > 0 and result.number("iterations") <= 9, result.output


def counts(result):
    return [int(count) for count in re.findall(r"Linear solve converged due to CONVERGED_RTOL iterations (\d+)", result.output)]


@pytest.mark.parametrize("n, grashof, most", [(17, 1, 12), (33, 1, 12), (65, 1, 14), (33, 1000, 14), (33, 10000, 14)])
def test_the_driven_cavity(run, n, grashof, most):
    """Velocities, vorticity and temperature (PETSc's SNES ex19), with nothing else."""
    options = f"-da_grid_x {n} -da_grid_y {n} -grashof {grashof} -ksp_rtol 1e-8 -snes_converged_reason -ksp_converged_reason"
    result = run("snes_ex19", f"{options} -pc_type boxmg")
    assert "Nonlinear solve converged" in result.output and max(counts(result)) <= most, result.output
    direct = run("snes_ex19", f"{options} -pc_type lu")
    assert len(counts(direct)) == len(counts(result)), direct.output + result.output


def test_view_and_monitor(run):
    output = run("snes_ex19", "-da_grid_x 20 -da_grid_y 17 -pc_type boxmg -snes_max_it 1 -ksp_max_it 2 -snes_view -pc_boxmg_monitor -pc_boxmg_smoother alternating").output
    assert re.search(r"operator: not symmetric, 4 unknowns a node", output), output
    assert re.search(r"level 0: 20 x 17, coarsened along xy, lines along y then x, stencil of 5 points, 1 rank, \d+ bytes", output), output
    assert re.search(r"level 1: 10 x 9, coarsest, solved directly, stencil of 9 points", output), output
    before, after = (float(re.search(rf"level 0, 20 x 17: residual norm (\S+) {when}", output)[1]) for when in ("before the correction", "after the last sweep"))
    assert 0 < after < before, output


REFUSED = [
    ("-unknowns 9", "PCBOXMG takes at most 8 unknowns a node and this DMDA has 9: take it for each field alone"),
    ("-pc_boxmg_smoother planes", "-pc_boxmg_smoother planes is for one unknown a node: take alternating"),
    ("-pc_boxmg_precision single", "-pc_boxmg_precision single is for one unknown a node: take double"),
    ("-pc_boxmg_coarsest 600", "-pc_boxmg_coarsest 600: the inverse of at most 500 nodes is made"),
    ("-far", "row 0 couples to a node of the grid that is no neighbour of its own"),
    ("-zero -ksp_error_if_not_converged", "the diagonal at node (3, 0), unknown 1 is zero: take -pc_type crout"),
    ("-poison -ksp_error_if_not_converged", "an entry is not finite"),
    ("-kind indefinite -ksp_error_if_not_converged", "is indefinite"),
]


@programs.needs_petsc4py
@pytest.mark.parametrize("options, sentence", REFUSED)
@pytest.mark.parametrize("ranks", [1, 2])
def test_wrong_input(options, sentence, ranks):
    failed = solve(options, ranks=ranks, expect=None)
    assert failed.code != 0 and sentence in failed.output, failed.output


@programs.needs_petsc4py
@pytest.mark.parametrize("options", ["-zero", "-poison", "-kind indefinite"])
def test_a_failure_ends_the_solve(options):
    assert solve(options).number("reason") == -11


@programs.needs_petsc4py
@pytest.mark.parametrize("case", ["-n 4,9 -unknowns 1 -seed 4276", "-n 11,5 -unknowns 2 -seed 1962"])
def test_a_dominant_matrix_that_is_not_symmetric_has_its_cycle_tried(case):
    """Restrictions of weights of any size: errors of all of the answer were called converged."""
    result = solve(f"{case} -kind dominant -pc_boxmg_coarsest 1 -ksp_rtol 1e-8 -ksp_view")
    assert result.number("reason") == -11 and "failed: a cycle leaves" in result.output, result.output
