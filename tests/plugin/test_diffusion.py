"""examples/diffusion: its discretization, and line relaxation on it with the options files that are shipped."""

import json
import re
from pathlib import Path

import pytest

OPTIONS = Path(__file__).resolve().parents[2] / "examples" / "diffusion"
MULTIGRID, MULTIGRID_3D, DIRECT, KRYLOV = (
    f"-options_file {OPTIONS}/{name}.opts" for name in ("multigrid-line", "multigrid-line-3d", "multigrid-line-direct", "krylov-line")
)
GRIDS = {65: "-da_grid_x 33 -da_grid_y 33 -da_refine 1", 129: "-da_grid_x 33 -da_grid_y 33 -da_refine 2"}
GRID_3D = "-dim 3 -da_grid_x 17 -da_grid_y 17 -da_grid_z 17 -da_refine 1"


@pytest.fixture
def solve(run):
    def solve(options, **keywords):
        output = run("diffusion", f"{options} -repeat 1", **keywords).output
        result = json.loads(re.search(r"^\{.*\}$", output, re.M).group(0))
        assert result["converged"] and 0 < result["residual"] <= 1.01e-8, output
        return result

    return solve


@pytest.fixture
def solution(run, tmp_path):
    """u at the nodes of a grid of 33 x 33, as rows of constant y."""

    def solution(options):
        # the matrix of the last solve is twice that of the equation
        run("diffusion", f"{options} -da_grid_x 33 -da_grid_y 33 -rhs one -repeat 1 -pc_type lu -ksp_type preonly -ksp_view_solution ascii:{tmp_path}/u", load=False)
        values = [2 * float(line) for line in (tmp_path / "u").read_text().splitlines() if re.fullmatch(r"[-+.\de]+", line.strip())]
        assert len(values) == 2 * 33 * 33  # the solve for warm-up and the timed one
        values = values[33 * 33 :]
        return [values[33 * j : 33 * j + 33] for j in range(33)]

    return solution


def test_the_equation_is_that_of_poisson(solution):
    u = solution("")
    assert u[16][16] == pytest.approx(0.0736713, rel=2e-3)
    assert max(u[0] + u[32] + [row[0] for row in u] + [row[32] for row in u]) == 0


def test_a_stretched_mesh_has_the_same_solution(solution):
    assert max(map(max, solution("-stretch 5"))) == pytest.approx(0.0736713, rel=1e-2)


def test_strength_is_along_y_and_turns(solution):
    along_y, turned = solution("-k 1,100"), solution("-k 100,1 -angle 90")
    assert along_y[16][16] == pytest.approx(turned[16][16], rel=1e-10)
    assert along_y[16][4] > 0.9 * along_y[16][16] > along_y[4][16]
    diagonal = solution("-k 1,10 -angle 45")  # y turned to the left
    assert diagonal[24][8] > 1.5 * diagonal[8][8]
    assert diagonal[24][8] == pytest.approx(diagonal[8][24], rel=1e-10)


def test_convection_carries_downstream(solution):
    u = solution("-velocity 0,50")
    assert u[28][16] > 3 * u[4][16]


def test_jumps_flatten_the_solution(solution):
    u = solution("-contrast 1e6")
    assert abs(u[8][8] - u[10][6]) < 1e-4 * u[8][8]


VARIANTS = ["-contrast 1e4 -material smooth", "-contrast 1e4 -material checkerboard -squares 5", "-contrast 1e4 -material random", "-contrast 1e3 -material turning", "-ends neumann -stretch 9",
            "-ends neumann -contrast 1e2 -material random", "-ends periodic -k 1,30,2", "-ends periodic -contrast 10 -material smooth -angle 20", "-mask circle", "-mask holes -ends neumann",
            "-mask holes -ends periodic"]


@pytest.mark.parametrize("options", VARIANTS + [f"-dim 3 -da_grid_z 9 {options}" for options in VARIANTS])
def test_variants_are_symmetric_and_solved(run, solve, options):
    """Singular where no u is known: then constants are PETSc's null space."""
    assert "Matrix is symmetric" in run("diffusion", f"{options} -da_grid_x 9 -da_grid_y 8 -repeat 1 -mat_is_symmetric 1e-10 -ksp_max_it 1", load=False, expect=None).output
    boxmg = "-da_grid_x 20 -da_grid_y 17 -ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-8 -pc_type boxmg"
    iterations = solve(f"{boxmg} {options}")["iterations"]
    assert iterations <= (30 if "angle" in options or "random" in options else 20)
    assert solve(f"{boxmg} {options}", ranks=2)["iterations"] == iterations
    assert abs(solve(f"{boxmg} {options} -assembly coo")["iterations"] - iterations) <= 1


def test_a_circle_is_known(solution):
    u = solution("-mask circle")
    assert u[16][16] == pytest.approx(0.45**2 / 4, rel=0.1) and u[4][4] == 0 == u[28][28]


def test_no_flux_means_the_same_along_the_walls(solution):
    """With holes alone to hold it, u does not change towards a wall."""
    u = solution("-mask holes -ends neumann")
    assert u[0][0] == pytest.approx(u[0][1], rel=0.05) and u[0][0] > 0
    around = solution("-mask holes -ends periodic -k 1,1")
    assert around[16][16] == 0 and around[0][5] > 0


def test_the_recirculating_flow_goes_around(solution):
    """By symmetry under a quarter turn: what it carries to the right above the middle it carries to the left below."""
    u = solution("-velocity 200 -flow recirculating")
    assert u[24][10] == pytest.approx(u[8][22], rel=1e-8) and u[24][10] != pytest.approx(u[24][22], rel=1e-3)


@pytest.mark.parametrize("options, words", [("-velocity 1,0 -ends neumann", "-velocity needs -ends dirichlet"), ("-material random -angle 10", "which -angle needs"),
                                            ("-da_grid_x 2 -ends periodic", "at least 3 are needed")])
def test_what_is_not_there_is_an_error(run, options, words):
    failed = run("diffusion", options, load=False, expect=None)
    assert failed.code != 0 and words in failed.output


@pytest.mark.parametrize("options, symmetric", [("-eps 1e-3 -contrast 10 -stretch 9", True), ("-eps 1e-3 -angle 30 -contrast 10", True), ("-velocity 1,0", False)])
def test_the_matrix_is_symmetric_without_convection(run, options, symmetric):
    output = run("diffusion", f"{options} -da_grid_x 9 -da_grid_y 9 -repeat 1 -mat_is_symmetric 1e-10", load=False).output
    assert "Matrix is symmetric" in output  # it is looked at
    assert ("Matrix is not symmetric" in output) != symmetric


def test_multigrid_is_flat(solve):
    for size, grid in GRIDS.items():
        counts = [solve(f"{MULTIGRID} {grid} -eps {eps}")["iterations"] for eps in ("1", "1e-1", "1e-2", "1e-3", "1e-4")]
        assert max(counts) <= 10 and max(counts) <= counts[0] + 2, (size, counts)


def test_a_direct_solver_on_the_coarsest_grid(solve):
    for grid in ("-da_grid_x 17 -da_grid_y 17 -da_refine 2", "-da_grid_x 65 -da_grid_y 65 -da_refine 1"):
        counts = [solve(f"{DIRECT} {grid} -eps {eps}")["iterations"] for eps in ("1", "1e-2", "1e-3", "1e-6")]
        assert max(counts) <= 7, (grid, counts)
    assert solve(f"{DIRECT} {GRIDS[65]} -eps 1e-3 -contrast 10")["iterations"] <= 8
    three = "-dim 3 -k 1,1e3,1e-3 -da_grid_x 17 -da_grid_y 17"
    assert solve(f"{DIRECT} {three} -da_grid_z 33 -da_refine_z 1 -da_refine 1")["iterations"] <= 6


def test_events_and_products_from_diagonals(run):
    """Residuals from the diagonals are no products of PETSc's; the iterations are the same."""

    def events(options):
        output = run("diffusion", f"{MULTIGRID} {GRIDS[65]} -eps 1e-2 -repeat 1 -mg_levels_pc_line_diagonal_products {options} -ksp_view -log_view :/dev/stdout").output
        counts = {m[1]: (int(m[2]), float(m[3])) for m in re.finditer(r"^(\w+) +(\d+) +1\.0 +\S+ +\S+ +(\S+)", output, re.M)}
        return output, counts, re.search(r"after (\d+) iterations", output)[1]

    with_output, with_counts, with_iterations = events("true")
    without_output, without_counts, without_iterations = events("false")
    assert with_iterations == without_iterations
    assert "products and residuals of the matrix: from its diagonals" in with_output and "from its diagonals" not in without_output
    assert with_counts["MatResidual"] == pytest.approx(without_counts["MatResidual"], rel=0.2) and with_counts["MatResidual"][1] > 0
    assert with_counts["MatMult"][0] <= without_counts["MatMult"][0] - with_counts["MatResidual"][0]
    for name in ("PCLineSetUp", "PCLineSweep"):
        assert with_counts[name][0] > 0
    assert with_counts["PCLineSweep"][1] > 0


def test_products_follow_the_matrix(run, tmp_path):
    """New values that the preconditioner was not set up for."""
    options = f"-pc_type line -pc_line_ordering zebra -ksp_type fgmres -ksp_rtol 1e-10 -repeat 1 -rhs one -ksp_reuse_preconditioner {GRIDS[65]}"
    solutions = []
    for products in ("true", "false"):
        run("diffusion", f"{options} -pc_line_diagonal_products {products} -ksp_view_solution ascii:{tmp_path}/{products}")
        lines = [line.strip() for line in (tmp_path / products).read_text().splitlines()]
        solutions.append([float(line) for line in lines if re.fullmatch(r"[-+.\de]+", line)][-65 * 65 :])
    assert max(map(abs, solutions[1])) == pytest.approx(0.0736 / 2, rel=1e-2)
    assert max(abs(a - b) for a, b in zip(*solutions)) < 1e-7


@pytest.mark.parametrize("options", [f"{MULTIGRID} {GRIDS[65]} -eps 1e-2", f"{MULTIGRID_3D} {GRID_3D} -k 1,1e3,1e-3", f"{KRYLOV} -eps 1e-4"])
def test_options_files_on_ranks(solve, options):
    one = solve(options)["iterations"]
    assert one <= 12
    assert abs(solve(options, ranks=2)["iterations"] - one) <= 1


@pytest.mark.parametrize(
    "options, most",
    [
        ("-contrast 1e4 -mg_coarse_ksp_type preonly -mg_coarse_pc_type redundant", 12),
        ("-eps 1e-3 -contrast 1e4 -mg_coarse_ksp_type preonly -mg_coarse_pc_type redundant", 12),
        ("-stretch 1e3", 12),
        ("-velocity 0,1e3 -ksp_type fgmres", 12),
        ("-velocity 1e3,3e2 -ksp_type fgmres", 40),
        ("-eps 1e-3 -angle 45 -mg_levels_pc_line_direction xy", 100),
        ("-eps 1e-3 -pc_mg_galerkin none", 12),  # matrices of the levels from the equation
    ],
)
def test_other_problems(solve, options, most):
    assert solve(f"{MULTIGRID} {GRIDS[65]} {options}")["iterations"] <= most


def test_semicoarsening_cures_two_strong_directions(solve):
    strong = "-dim 3 -k 1,3e2,1e3 -da_grid_y 9 -da_grid_z 9 -da_refine 1"
    semi = solve(f"{MULTIGRID_3D} {strong} -da_grid_x 17 -da_refine_x 1")["iterations"]
    full = solve(f"{MULTIGRID_3D} {strong} -da_grid_x 9")["iterations"]
    assert semi <= 8 < full


@pytest.mark.parametrize("method", ["-ksp_type preonly -pc_type bcr", "-ksp_type cg -ksp_rtol 1e-9 -pc_type mg"])
def test_set_ups_begin_again_when_all_is_warm(solve, run, method):
    """The last of several set-ups, of the preconditioner without its past, solves as the first did; each makes the matrix twice as large."""
    once, often = solve(f"{GRIDS[65]} {method}"), solve(f"{GRIDS[65]} {method} -setups 3")
    assert once["iterations"] == often["iterations"] and often["setup_again"] > 0 and often["update"] > 0
    assert once["setup_again"] == once["setup"] and often["setup_again"] != often["setup"]
    assert run("diffusion", f"{method} -setups 0", expect=None).code != 0
