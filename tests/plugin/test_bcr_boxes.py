"""PCBCR where rows couple to all neighbours in a box: compact fourth-order stencils, Galerkin operators, elements; against numpy and PETSc's LU."""

import re
from pathlib import Path

import programs
import pytest

from test_bcr import vector
from test_tutorials import grid

PROGRAMS = Path(__file__).parent / "programs"
WRITTEN = {"MALLOC_PERTURB_": "165", "OPENBLAS_NUM_THREADS": "1"}  # memory that nobody wrote is not 0


def solve(operator, options="", ranks=1, expect=0):
    return programs.python(PROGRAMS / "grid_operators.py", f"{operator} {options}", ranks=ranks, environment=WRITTEN, expect=expect)


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks, first, last", [(1, 0, 600), (2, 600, 700), (3, 700, 800), (7, 800, 840)])
def test_random_operators(ranks, first, last):
    output = programs.python(PROGRAMS / "separable_operators.py", f"{first} {last} -cases boxes", ranks=ranks, environment=WRITTEN).output
    assert output.splitlines() == [f"cases {first} to {last - 1} are done"], output


@programs.needs_petsc4py
@pytest.mark.parametrize("points, sides", [(9, "8,16,32,64,128,256"), (19, "8,16,32"), (27, "8,16,32")])
def test_compact_stencils_are_of_fourth_order(points, sides):
    result = programs.python(PROGRAMS / "compact_poisson.py", f"{points} {sides} -pc_bcr_require_separable", environment=WRITTEN)
    lines = [line.split() for line in result.output.splitlines()]
    assert [line[0] for line in lines] == sides.split(",")
    assert all(15 < float(line[2]) < 17 for line in lines[1:]), result.output
    assert all(line[3] == "1" for line in lines)


@programs.needs_petsc4py
def test_smooth_modes_keep_their_digits():
    """Elimination along lines of 1023 would leave 1e-11."""
    result = programs.python(PROGRAMS / "compact_poisson.py", "9 512,1024 -pc_bcr_require_separable", environment=WRITTEN)
    assert float(result.output.splitlines()[-1].split()[1]) < 3e-12, result.output


# ---------------------------------------------------------------------------------------------------- PETSc's Galerkin operators

GALERKIN = "-pc_type mg -pc_mg_galerkin both -mg_coarse_ksp_type preonly -ksp_rtol 1e-10 -ksp_converged_reason -ksp_view"


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("program, sizes, levels", [("ex50", (65, 33), 2), ("ex50", (65, 65), 4)])
def test_galerkin_operators_between_neumann_ends_are_solved(run, program, sizes, levels, ranks):
    """Singular, and PETSc attaches no null space to them."""
    options = f"{grid(*sizes)} {GALERKIN} -pc_mg_levels {levels}"
    result = run(program, f"{options} -mg_coarse_pc_type bcr -mg_coarse_pc_bcr_require_separable", ranks=ranks)
    assert result.iterations() <= run(program, f"{options} -mg_coarse_pc_type svd" if ranks == 1 else f"{options} -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type svd", ranks=ranks).iterations()
    assert "singular (constants), products of two tridiagonal matrices along each direction" in result.output
    assert ("gathered on rank 0" in result.output) == (ranks > 1)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("levels", [2, 3])
def test_galerkin_operators_of_boundary_rows_in_the_plane_are_solved(run, levels, ranks):
    """All but the corners is of tensor form."""
    options = f"{grid(65, 65)} {GALERKIN} -pc_mg_levels {levels}"
    result = run("ex29", f"{options} -mg_coarse_pc_type bcr -mg_coarse_pc_bcr_require_separable", ranks=ranks)
    assert "rows that are no products: 4" in result.output
    assert result.iterations() == run("ex29", f"{options} -mg_coarse_pc_type redundant", ranks=ranks).iterations()


@pytest.mark.parametrize("ranks", [1, 3])
def test_galerkin_operators_of_boundary_rows_in_space_are_nearly_solved(run, ranks):
    """All but the edges is of tensor form."""
    options = f"{grid(17, 17, 17)} {GALERKIN} -pc_mg_levels 2"
    result = run("ex45", f"{options} -mg_coarse_pc_type bcr", ranks=ranks)
    assert "the nearest separable one" in result.output and "products of two tridiagonal matrices" in result.output
    assert result.iterations() <= run("ex45", f"{options} -mg_coarse_pc_type redundant", ranks=ranks).iterations() + 4


# ------------------------------------------------------------------------------------------------------------------ options


@programs.needs_petsc4py
@pytest.mark.parametrize("options", ["", "-pc_bcr_type facr", "-pc_bcr_type facr -pc_bcr_levels 0", "-ksp_type richardson -ksp_rtol 1e-12", "-ksp_type cg -ksp_rtol 1e-12", "-ksp_type richardson -pc_bcr_precision single -ksp_rtol 1e-12"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_ways_to_a_solution(options, ranks):
    result = solve("nine:21:17", f"{options} -ksp_view", ranks)
    single = "single" in options
    assert result.number("reason") > 0 and result.number("residual") < 1e-11, result.output
    assert result.number("iterations") <= (5 if single else 2)
    assert result.number("adjoint difference") < (1e-5 if single else 1e-12)
    assert "lines along y, fast transforms along x" in result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("method", ["partial", "buneman1", "buneman2", "separable", "plain", "facr -pc_bcr_levels 1"])
def test_methods_for_stars_say_so(method):
    failed = solve("nine:15:15", f"-pc_bcr_type {method}", expect=None)
    assert failed.code != 0 and "it solves stars (3, 5 or 7 points)" in failed.output and "take auto, or facr without levels" in failed.output, failed.output


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_nodes_farther_away_are_an_error(ranks):
    failed = solve("nine:15:15:30:37:-1", ranks=ranks, expect=None)
    assert failed.code != 0 and "and 1 entries of this matrix couple to other nodes" in " ".join(failed.output.split()), failed.output


@programs.needs_petsc4py
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_an_entry_that_is_no_number_fails_the_solve(value):
    assert solve(f"nine:9:8:30:40:{value}").number("reason") == -11


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_other_matrices_are_preconditioned_by_their_stars(ranks):
    """Iterations follow the contrast more than the mesh."""
    for contrast, most in ((4, 24), (100, 60)):
        for n in (12, 24):
            result = solve(f"elements:{n}:{n}:{contrast}", "-ksp_type cg -ksp_rtol 1e-8 -ksp_view", ranks)
            assert result.number("reason") == 2 and result.number("iterations") <= most, result.output
            assert result.number("adjoint difference") < 1e-12
            assert "the nearest separable one" in result.output and "; symmetric" in result.output
    assert solve("elements:12:12:4", ranks=ranks).number("reason") == -11  # preonly: one application is no solution


@programs.needs_petsc4py
def test_a_matrix_that_is_none_can_be_made_an_error():
    failed = solve("elements:9:9:4", "-pc_bcr_require_separable", expect=None)
    assert failed.code != 0 and "the matrix is not separable" in failed.output
    result = solve("elements:9:8:1", "-pc_bcr_require_separable")
    assert result.number("reason") == 4 and result.number("residual") < 1e-12


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("entry", ["40:40:9.5", "40:41:9.5", "0:1:-1", "80:80:1e4"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_row_that_is_another_is_solved(entry, ranks, precision):
    """On the lines that the operator is read from, and elsewhere; transposed too."""
    iterative = "-ksp_type richardson -ksp_rtol 1e-12 -pc_bcr_precision single" if precision == "single" else ""
    result = solve(f"nine:9:9:{entry}", f"{iterative} -pc_bcr_require_separable -ksp_view", ranks)
    assert result.number("reason") > 0 and result.number("residual") < 1e-10, result.output
    assert result.number("adjoint difference") < (1e-5 if iterative else 1e-12), result.output
    assert "rows that are no products: 1" in result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("size", ["1e-6", "1e3", "1e12", "1e100"])
@pytest.mark.parametrize("row", [0, 40])
def test_a_value_may_be_fixed_by_a_row_of_any_size(row, size, ranks):
    """Row-scaled residuals and adjoints: what the row has less than the operator's would be all that is seen of it."""
    result = solve(f"pinned:9:9:{row}:{size}", "-pc_bcr_require_separable -ksp_view", ranks)
    assert result.number("reason") == 4 and result.number("residual") < 1e-12, result.output
    assert result.number("adjoint difference") < 1e-12, result.output
    assert "rows that are no products: 1" in result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_transposed_solves_are_measured(ranks):
    """Nearly parallel modes, and a correction of low rank whose transpose loses what it does not: nine digits of a matrix of condition 540."""
    operator = "pencils:12:9:0.99:90:77:100"
    unchecked = solve(operator, "-pc_bcr_check_warn 1e300 -pc_bcr_check_fail 1e300", ranks)
    assert unchecked.number("residual") < 1e-8 and unchecked.number("its residual") > 1e-6, unchecked.output
    result = solve(operator, "-pc_bcr_require_separable -ksp_view", ranks)
    assert result.number("reason of a transposed solve") == 4 and result.number("its residual") < 1e-10, result.output
    assert "transposed right-hand side is solved with a relative residual of" in result.output and "after a step of refinement" in result.output
    refused = solve(operator, "-pc_bcr_check_warn 1e300 -pc_bcr_check_fail 1e-7 -info", ranks)  # nothing is refined
    assert refused.number("reason") == 4 and refused.number("reason of a transposed solve") == -11, refused.output
    assert "this direct solver solves a random transposed right-hand side with a relative residual of" in refused.output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", ["laplacian", "stretched"])
def test_a_star_with_one_coupling_across_is_solved(run, kind, ranks):
    result = run("bcr_probe", f"-pc_type bcr -n 8,9 -kind {kind} -bad across -pc_bcr_require_separable -ksp_converged_reason -ksp_view", ranks=ranks)
    assert result.iterations() == 1 and "rows that are no products: 1" in result.output


def test_solutions_are_those_of_lu(run):
    options = f"{grid(33, 33)} -pc_type mg -pc_mg_galerkin both -pc_mg_levels 2 -ksp_rtol 1e-13 -ksp_view_solution -mg_coarse_ksp_type preonly"
    one = vector(run("ex29", f"{options} -mg_coarse_pc_type lu").output)
    assert len(one) == 33 * 33 and re.search(r"\d", str(one[0]))
    assert vector(run("ex29", f"{options} -mg_coarse_pc_type bcr").output) == pytest.approx(one, abs=1e-10)
