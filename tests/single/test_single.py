"""All types with a PETSc of real scalars in single precision, on a program that knows nothing of Weft: the residuals that this precision allows, on one
rank and on several."""

import json

import pytest

ROUNDING = 1.2e-7
DIRECT = [
    "-pc_type bcr -ksp_type preonly",
    "-pc_type bcr -ksp_type preonly -stretch 10",
    "-pc_type bcr -ksp_type preonly -dim 3 -da_grid_x 17 -da_grid_y 15 -da_grid_z 13",
    "-pc_type lu -pc_factor_mat_solver_type crout -ksp_type preonly",
]
ITERATIVE = {  # options: most iterations to a thousandth of the tolerance that PETSc has for double precision
    "-pc_type line -ksp_type cg -k 1,1e3": 12,
    "-pc_type line -pc_line_ordering zebra -ksp_type richardson -k 1,1e3 -ksp_max_it 30": 30,
    "-pc_type boxmg -ksp_type richardson": 7,
    "-pc_type boxmg -ksp_type cg -k 1,1e3 -da_grid_x 100 -da_grid_y 129": 7,
    "-pc_type boxmg -ksp_type cg -dim 3 -k 1,1,1e3": 7,
    "-pc_type boxmg -ksp_type fgmres -velocity 1e3,3e2": 12,
    "-pc_type bcr -ksp_type cg -contrast 2": 10,
    "-pc_type adi -ksp_type cg": 8,
    "-ksp_type adi -pc_type adi": 10,
    "-pc_type bjacobi -sub_pc_type crout -ksp_type cg": 80,
    "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type crout -ksp_type gmres": 90,
    "-pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type crout -ksp_type cg": 80,
}


def solved(run, options, ranks):
    result = run("diffusion", f"-repeat 1 {options}", ranks=ranks)
    return json.loads(next(line for line in result.output.splitlines() if line.startswith("{")))


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", DIRECT)
def test_direct_solves_leave_rounding(run, options, ranks):
    if ranks > 1 and "crout" in options:
        pytest.skip("it solves for one rank")
    assert 0 < solved(run, options, ranks)["residual"] < 100 * ROUNDING


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", ITERATIVE)
def test_iterations_converge(run, options, ranks):
    result = solved(run, f"{options} -ksp_rtol 1e-5 -ksp_norm_type unpreconditioned" if "-ksp_type adi" not in options else options, ranks)
    assert result["converged"], result
    assert 0 < result["residual"] < 2e-5 and result["iterations"] <= ITERATIVE[options], result


@pytest.mark.parametrize("name, option", [("line", "line"), ("boxmg", "boxmg"), ("bcr", "bcr"), ("crout", "crout")])
def test_single_precision_inside_is_what_all_is(run, name, option):
    """Another precision inside than PETSc's is there no more: the same answers."""
    options = f"-pc_type {name} -ksp_type richardson -ksp_max_it 3 -ksp_norm_type none"
    assert solved(run, f"{options} -pc_{option}_precision single", 1)["residual"] == pytest.approx(solved(run, options, 1)["residual"], rel=1, abs=1e-6)
