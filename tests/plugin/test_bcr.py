"""PCBCR: PETSc's tutorials solved in one iteration, its interface, ranks, and what it says to wrong input."""

import os
import re
from pathlib import Path

import pytest

from test_tutorials import grid

METHODS = ["buneman1", "buneman2", "partial", "separable", "facr"]  # plain loses its digits by design
ENDS = ["dirichlet", "neumann", "cells", "fixed", "fixed-y", "removed", "onesided"]
KINDS = ["laplacian", "stretched", "random", "rows", "upwind"]


def vector(output):
    """The numbers of a vector that a program printed, in the grid's own order."""
    return [float(line) for line in output.splitlines() if re.fullmatch(r"-?\d[\d.]*(e[-+]\d+)?", line.strip())]


# ------------------------------------------------------------------------------------------------------------- tutorials


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_ex45_boundary_rows_apart(run, ranks):
    options = f"{grid(9, 13, 11)} -pc_type bcr -ksp_rtol 1e-12 -ksp_converged_reason -ksp_view -ksp_view_solution"
    result = run("ex45", options, ranks=ranks)
    assert result.iterations() == 1
    assert result.number("Residual norm") < 1e-12
    assert "grid: 9 x 13 x 11 nodes, 7 x 11 x 9 within boundary rows that are solved separately" in result.output
    assert ("ranks:" in result.output) == (ranks > 1)
    one = vector(run("ex45", f"{grid(9, 13, 11)} -pc_type lu -ksp_rtol 1e-12 -ksp_view_solution").output)
    assert len(one) == 9 * 13 * 11
    assert vector(result.output) == pytest.approx(one, abs=1e-13)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_ex50_pure_neumann(run, ranks):
    result = run("ex50", f"{grid(40, 27)} -pc_type bcr -ksp_rtol 1e-12 -ksp_converged_reason -ksp_view -ksp_view_solution", ranks=ranks)
    assert result.iterations() <= 2
    assert "separable, largest relative deviation" in result.output and "singular (constants)" in result.output
    one = vector(run("ex50", f"{grid(40, 27)} -pc_type jacobi -ksp_type cg -ksp_rtol 1e-14 -ksp_view_solution").output)
    assert len(one) == 40 * 27
    assert vector(result.output) == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("rho", ["1", "1e3"])
def test_ex29_rows_with_a_factor(run, ranks, rho):
    """ex29 multiplies each row by its own conductivity."""
    result = run("ex29", f"-da_refine 4 -rho {rho} -pc_type bcr -ksp_rtol 1e-11 -ksp_converged_reason -ksp_view", ranks=ranks)
    assert result.iterations() == 1
    assert ("a factor of each row" in result.output) == (rho != "1")


@pytest.mark.parametrize("ranks", [2, 3])
def test_factors_of_rows_are_gathered(run, ranks):
    """Methods that one rank solves with have it know the factors of all rows."""
    result = run("ex29", "-da_refine 4 -rho 1e3 -pc_type bcr -pc_bcr_type separable -ksp_rtol 1e-11 -ksp_converged_reason -ksp_view", ranks=ranks)
    assert result.iterations() == 1
    assert "a factor of each row" in result.output and f"gathered on rank 0 of {ranks}" in result.output


def test_ex29_pure_neumann(run):
    assert run("ex29", "-da_refine 4 -bc_type neumann -pc_type bcr -ksp_rtol 1e-11 -ksp_converged_reason").iterations() <= 2


@pytest.mark.parametrize("tutorial", ["ex32", "ex34"])
def test_cell_centred_tutorials(run, tutorial):
    assert run(tutorial, "-pc_type bcr -ksp_rtol 1e-11 -ksp_converged_reason").iterations() <= 2


@pytest.mark.parametrize("options", ["ts_ex13", "ts_ex15 -boundary 0", "ts_ex15 -boundary 1"])
def test_time_steps(run, options):
    program, *rest = options.split(" ", 1)
    steps = f"{rest[0] if rest else ''} {grid(20, 17)} -ts_max_steps 4 -ksp_rtol 1e-12 -ts_view_solution"
    reference = vector(run(program, f"{steps} -pc_type jacobi -ksp_type bcgs").output)[-20 * 17 :]
    assert len(reference) == 20 * 17
    for ranks in (1, 2, 4):
        result = run(program, f"{steps} -pc_type bcr -ksp_converged_reason", ranks=ranks)
        assert set(re.findall(r"iterations (\d+)", result.output)) == {"1"}
        assert vector(result.output)[-20 * 17 :] == pytest.approx(reference, abs=1e-10)


def test_the_example_converges_with_the_square_of_the_step(run):
    options = ["-options_file", str(Path(os.environ["WEFT_SOURCE"]) / "examples" / "potential" / "bcr.opts")]
    errors = []
    for nodes in (33, 65, 129):
        result = run("potential", f"{' '.join(options)} -problem gyre {grid(nodes, nodes)}", ranks=2 if nodes == 65 else 1)
        assert "CONVERGED_ITS, iterations 1" in result.output
        errors.append(result.number("largest error"))
    assert 3.8 < errors[1] / errors[2] < 4.3 and errors[2] < 2e-3


# --------------------------------------------------------------------------------------------- separable operators, exactly


def each(result, name):
    return [float(value) for value in re.findall(rf"{name} (\S+)", result.output, re.M)]


ALL = f"-kind {','.join(KINDS)} -ends {','.join(ENDS)} -shift 0.7"


@pytest.mark.parametrize("n", ["13", "9,14", "6,7,5"])
def test_separable_operators_are_solved_by_one_application(run, n):
    result = run("bcr_probe", f"-pc_type bcr -pc_bcr_require_separable {ALL} -n {n} -probe apply,adjoint")
    for name in ("error", "adjoint difference"):
        assert len(each(result, name)) == len(KINDS) * len(ENDS) and max(each(result, name)) < 1e-13


@pytest.mark.parametrize("n", ["1", "2", "3", "1,1", "1,7", "7,1", "2,2", "2,9", "3,3", "3,1,5", "1,1,4", "2,2,2", "3,3,3", "64,3"])
def test_small_grids(run, n):
    errors = each(run("bcr_probe", f"-pc_type bcr -n {n} -ends dirichlet,neumann,fixed -shift 0.3 -probe apply"), "error")
    assert len(errors) == 3 and max(errors) < 1e-13


@pytest.mark.parametrize("method", METHODS)
def test_methods(run, method):
    options = "-n 15,15 -shift 0.5 -probe apply -pc_bcr_require_separable"
    assert run("bcr_probe", f"{options} -pc_type bcr -pc_bcr_type {method}").number("error") < 1e-12


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("grid", ["100,90 -ratio 1.2", "300,20 -ratio 1.06", "60,12,13 -ratio 1.35"])
@pytest.mark.parametrize("ends", ["cells", "fixed"])
def test_graded_meshes(run, grid, ends, ranks):
    """Sizes of cells that differ by 7e7, in volumes and in differences."""
    graded = f"-n {grid} -kind graded,differences -ends {ends} -pc_type bcr"
    result = run("bcr_probe", f"{graded} -ksp_type preonly -ksp_view", ranks=ranks)
    assert result.output.count("operator: separable") == 2 and max(each(result, "^error")) < 1e-12
    run("bcr_probe", f"{graded} -ksp_type richardson -pc_bcr_precision single -ksp_rtol 1e-10", ranks=ranks)
    assert max(each(run("bcr_probe", f"{graded.replace(',differences', '')} -probe adjoint", ranks=ranks), "adjoint difference")) < 1e-12


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "problem",
    [f"-n 63,61 -velocity {v}" for v in ("0,0.9", "0.9,0", "1.5,0", "0,1.5")] + [f"-n 40,20,21 -velocity {v}" for v in ("0.9", "0,0.9", "0,0,0.9", "0,0,1.5")],
)
def test_convection_along_one_direction_loses_no_digit(run, problem, ranks):
    """Lines take it, and transforms the other directions."""
    result = run("bcr_probe", f"{problem} -kind central -pc_type bcr -ksp_type preonly -probe solve,adjoint -ksp_view", ranks=ranks)
    assert max(each(result, "^error") + each(result, "adjoint difference")) < 1e-12
    assert "takes a step of refinement" not in result.output


@pytest.mark.parametrize("velocity", [0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999, 1.5])
@pytest.mark.parametrize("n, ranks", [(31, 1), (63, 1), (63, 2), (127, 1)])
def test_convection_along_two_directions_is_solved_or_fails(run, n, velocity, ranks):
    problem = f"-n {n},{n} -kind central -velocity {velocity},{velocity} -pc_type bcr -ksp_type"
    direct = run("bcr_probe", f"{problem} preonly", ranks=ranks)
    assert "DIVERGED_PC_FAILED" in direct.output or each(direct, "^error")[0] < 1e-3  # -pc_bcr_check_fail is 1e-4
    corrected = run("bcr_probe", f"{problem} richardson -ksp_rtol 1e-10", ranks=ranks)
    assert "DIVERGED_PC_FAILED" in corrected.output or each(corrected, "^error")[0] < 1e-7


@pytest.mark.parametrize("columns, left_over", [(64, 1), (128, 1), (129, 2), (257, 2)])
@pytest.mark.parametrize("kind", ["laplacian", "positive"])
@pytest.mark.parametrize("shift", [1e-3, -9.201])
def test_columns_left_over_whichever_end_of_the_spectrum_is_near(run, columns, left_over, kind, shift):
    """Couplings of either sign, and diagonals of either sign: definite operators whose smallest eigenvalue is at either end."""
    result = run("bcr_probe", f"-n {columns},40 -kind {kind} -shift {shift} -probe solve,adjoint -pc_type bcr -ksp_type preonly -ksp_view")
    assert f"columns left over: {left_over}" in result.output
    assert max(each(result, "error") + each(result, "adjoint difference")) < 1e-12
    assert "takes a step of refinement" not in result.output


@pytest.mark.parametrize("columns, left_over", [(64, 1), (129, 2)])
def test_columns_without_a_fast_transform(run, columns, left_over):
    result = run("bcr_probe", f"-n {columns},70 -probe solve,apply,adjoint -pc_type bcr -pc_bcr_require_separable -ksp_view")
    assert f"columns left over: {left_over}" in result.output
    assert max(each(result, "error") + each(result, "adjoint difference")) < 1e-12


def test_the_way_of_a_method(run):
    for way in ("-pc_bcr_type buneman1 -pc_bcr_inverse leja", "-pc_bcr_type separable -pc_bcr_radix 3", "-pc_bcr_type facr -pc_bcr_levels 2"):
        assert run("bcr_probe", f"-n 15,15 -probe apply -pc_type bcr {way}").number("error") < 1e-12


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_any_process_grid(run, ranks):
    for problem, count in [(f"-n 5,4,6 {ALL}", len(KINDS) * len(ENDS)), ("-n 7,5,6 -periodic 0,1,1 -ends fixed,cells -kind stretched,laplacian", 4),
                           ("-n 9,7 -ends neumann -kind stretched,laplacian -nullspace", 2)]:
        result = run("bcr_probe", f"-pc_type bcr -pc_bcr_require_separable {problem} -probe apply,adjoint", ranks=ranks)
        for name in ("error", "adjoint difference"):
            assert len(each(result, name)) == count and max(each(result, name)) < 1e-13, result.output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("how", ["", "-pc_bcr_precision single", "-apart"])
def test_many_right_hand_sides(run, ranks, how):
    differences = each(run("bcr_probe", f"-pc_type bcr -n 12,9 -ends dirichlet,fixed {how} -probe many", ranks=ranks), "column")
    assert len(differences) == 6 and max(differences) < 1e-14


@pytest.mark.parametrize("ranks", [1, 2])
def test_new_values_are_taken(run, ranks):
    result = run("bcr_probe", "-pc_type bcr -ksp_type preonly -n 12,9 -probe again", ranks=ranks)
    assert len(each(result, "error")) == 3 and max(each(result, "error")) < 1e-13
    result = run("pc_probe", "-probe refresh -pc_type bcr -n 9,8,7", ranks=ranks)
    assert result.number("old values difference") > 1e-4
    assert result.number("refresh difference") == 0


def test_host_vectors_with_any_matrix(run):
    result = run("pc_probe", "-probe host -pc_type bcr")
    assert result.number("host difference") < 1e-14
    assert result.number("mixed difference") < 1e-14


def test_single_precision_inside_a_krylov_method(run):
    options = "-pc_type bcr -n 60,50 -kind stretched -ksp_rtol 1e-12"
    once = run("bcr_probe", f"{options} -probe apply -pc_bcr_precision single").number("error")
    assert 1e-9 < once < 1e-4
    for solver in ("cg", "richardson", "fgmres"):
        result = run("bcr_probe", f"{options} -pc_bcr_precision single -ksp_type {solver}")
        assert result.iterations() <= 4 and result.number("error") < 1e-10, result.output


# -------------------------------------------------------------------------------------------- operators that are near to one


@pytest.mark.parametrize("kind", ["smooth", "jump"])
@pytest.mark.parametrize("ends", ["cells", "fixed", "neumann -shift 1e-3"])
def test_iterations_do_not_grow_with_the_grid(run, kind, ends):
    options = f"-pc_type bcr -kind {kind} -ends {ends} -contrast 10 -ksp_type {'gmres' if 'fixed' in ends else 'cg'} -ksp_rtol 1e-8"
    counts = [run("bcr_probe", f"{options} -n {n},{n}").iterations() for n in (33, 65, 129)]
    assert counts[0] <= 20 and counts[2] <= counts[0] + 3, counts


def test_nearest_operator_is_better_than_none(run):
    options = "-kind smooth,jump -contrast 100 -n 128,128 -ends cells -ksp_type cg -ksp_rtol 1e-8"
    for pc, least, most in (("bcr", 1, 40), ("sor", 80, 1000)):
        counts = each(run("bcr_probe", f"{options} -pc_type {pc}"), "iterations")
        assert len(counts) == 2 and least <= min(counts) <= max(counts) <= most


@pytest.mark.parametrize("ranks", [2, 4])
def test_nearest_operator_does_not_depend_on_the_ranks(run, ranks):
    options = "-pc_type bcr -kind jump -n 23,14 -ends cells -ksp_type cg -ksp_rtol 1e-8 -ksp_monitor"
    history = [re.findall(r"norm (\S+)", run("bcr_probe", options, ranks=n).output) for n in (1, ranks)]
    assert len(history[0]) == len(history[1])
    assert [float(v) for v in history[0][:12]] == pytest.approx([float(v) for v in history[1][:12]], rel=1e-8)


def test_view(run):
    output = run("bcr_probe", "-pc_type bcr -kind jump -n 20,12 -ends cells -ksp_view").output
    assert "operator: the nearest separable one, largest relative deviation" in output and "deviation 0;" not in output
    output = run("bcr_probe", "-pc_type bcr -kind stretched -n 20,12 -periodic 1,0 -ksp_view").output
    assert re.search(r"operator: separable, largest relative deviation \S+; symmetric", output)
    assert "periodic along direction 1, weights along direction 1, weights along direction 2" in output
    assert "grid: 20 x 12 nodes\n" in output
    assert re.search(r"solver: \w+ \(auto\) on the host", output)


def test_all_options_are_used(run):
    options = "-pc_bcr_type separable -pc_bcr_inverse leja -pc_bcr_radix 4 -pc_bcr_levels 1 -pc_bcr_precision double -pc_bcr_require_separable 0 -pc_bcr_separable_tolerance 1e-9"
    output = run("bcr_probe", f"-pc_type bcr {options} -options_left").output
    assert "pc_bcr" not in output.split("There are")[-1], output


def test_log_view_counts_the_work(run):
    output = run("ex50", f"{grid(65, 65)} -pc_type bcr -log_view :/dev/stdout").output
    assert float(next(line for line in output.splitlines() if line.startswith("PCApply")).split()[5]) > 0


def test_nothing_of_petscs_memory_is_left(run):
    for ranks in (1, 2):
        output = run("bcr_probe", "-pc_type bcr -ends fixed -malloc_debug -malloc_dump", ranks=ranks).output
        assert "bytes" not in output and len(output.splitlines()) <= 2, output


# ------------------------------------------------------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    "options, message",
    [
        ("-dof 2", "PCBCR solves for one unknown a node and this DMDA has 2"),
        ("-kind jump -pc_bcr_require_separable", "the matrix is not separable: it differs by"),
        ("-ends neumann -ksp_error_if_not_converged", "the operator is singular (constants are in its null space): attach them to the matrix"),
        ("-periodic 1,1 -ksp_error_if_not_converged", "the operator is singular (constants are in its null space): attach them to the matrix"),
        ("-dm_mat_type baij", "PCBCR works on AIJ matrices and this one is of type"),
        ("-kind random -shift 1 -pc_bcr_type buneman1", "-pc_bcr_type buneman1:"),
        ("-pc_bcr_type gauss", "gauss"),
        ("-pc_bcr_inverse gauss", "gauss"),
        ("-pc_bcr_radix 1", "-pc_bcr_radix 1: a radix is from 2 to 5"),
        ("-pc_bcr_radix 6", "-pc_bcr_radix 6: a radix is from 2 to 5"),
        ("-pc_bcr_levels -2", "-pc_bcr_levels -2: levels are 0 or more"),
        ("-pc_bcr_precision half", "half"),
        ("-pc_bcr_check_warn -1", "-pc_bcr_check_warn -1., -pc_bcr_check_fail 0.0001: bounds of a residual must be non-negative"),
        ("-pc_bcr_separable_tolerance -1", "-pc_bcr_separable_tolerance -1.: the tolerance must be finite and not negative"),
    ],
)
def test_wrong_input_says_what_to_do(run, options, message):
    ranks = 1 if options.startswith("-pc") else 3
    failed = run("bcr_probe", f"-pc_type bcr -n 8,9 {options}", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output, failed.output


@pytest.mark.parametrize("ranks", [1, 2])
def test_without_a_grid(run, ranks):
    failed = run("ex2", "-pc_type bcr", ranks=ranks, expect=None)
    assert failed.code != 0
    assert "PCBCR needs a grid and none is known for this matrix: give the KSP or the PC a DMDA" in failed.output


@pytest.mark.parametrize("solver", ["gmres", "cg", "preonly", "richardson"])
def test_entries_that_are_no_numbers_fail_the_pc(run, solver):
    output = run("bcr_probe", f"-pc_type bcr -n 8,9 -bad nan -ksp_type {solver}", ranks=3 if solver == "gmres" else 1).output
    assert "DIVERGED_PC_FAILED" in output and "FACTOR_NUMERIC_ZEROPIVOT" in output, output


def test_a_failure_can_be_an_error_and_ends_with_good_values(run):
    failed = run("bcr_probe", "-pc_type bcr -bad nan -ksp_error_if_not_converged", expect=None)
    assert failed.code != 0
    assert "an entry of the matrix is not finite" in failed.output
    for ranks in (1, 2):
        assert "then FACTOR_NOERROR" in run("pc_probe", "-probe pivot -pc_type bcr -diagonal nan -n 9,8", ranks=ranks).output


def test_a_singular_operator_without_its_null_space_fails_the_solve(run):
    for options in ("-ends neumann", "-periodic 1,1"):
        for ranks in (1, 3):
            output = run("bcr_probe", f"-pc_type bcr -n 8,9 {options}", ranks=ranks).output
            assert "DIVERGED_PC_FAILED" in output and "FACTOR_NUMERIC_ZEROPIVOT" in output
            # Within another preconditioner too: what is left of constants would be seen by nobody.
            assert "DIVERGED" in run("bcr_probe", f"-pc_type ksp -ksp_pc_type bcr -ksp_ksp_type preonly -n 8,9 {options}", ranks=ranks).output


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", ["smooth", "jump"])
def test_one_application_of_a_nearest_operator_is_no_solution(run, kind, ranks):
    options = f"-pc_type bcr -n 20,21 -kind {kind} -ksp_type"
    output = run("bcr_probe", f"{options} preonly -ksp_view", ranks=ranks).output
    assert "DIVERGED_PC_FAILED" in output and "FACTOR_OTHER" in output
    assert "iterate, with -ksp_type cg" in output
    failed = run("bcr_probe", f"{options} preonly -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0 and "iterate, with -ksp_type cg" in failed.output
    assert "the nearest operator" in run("bcr_probe", f"{options} cg -info :pc", ranks=ranks).output
    for name in ("preonly", "none"):  # two names of one type
        output = run("bcr_probe", f"{options} {name} -probe many -matsolve -info :pc", ranks=ranks).output
        assert "KSPMatSolve() DIVERGED_PC_FAILED" in output and "iterate, with -ksp_type cg" in output
    failed = run("bcr_probe", f"{options} preonly -probe many -matsolve -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0 and "iterate, with -ksp_type cg" in failed.output
    # Within another preconditioner it is one.
    for inner in ("ksp -ksp_ksp_type preonly -ksp_pc_type bcr", "bjacobi -sub_ksp_type preonly -sub_pc_type bcr"):
        if inner.startswith("ksp") or ranks == 1:
            run("bcr_probe", f"-n 20,21 -kind {kind} -pc_type {inner} -ksp_type fgmres -ksp_rtol 1e-8").iterations()


def test_a_linear_snes_does_not_take_a_nearest_operators_result(run):
    """It looks at no residual of its own."""
    solve = "-da_grid_x 14 -da_grid_y 11 -snes_type ksponly -snes_converged_reason -pc_type bcr -ksp_type"
    assert "DIVERGED_LINEAR_SOLVE" in run("snes_ex5", f"{solve} preonly").output
    assert "CONVERGED_ITS" in run("snes_ex5", f"{solve} gmres").output


@pytest.mark.parametrize("ranks", [1, 2])
def test_each_set_up_measures_a_solve(run, ranks):
    said = r"check: a random right-hand side is solved with a relative residual of (\S+) \((\S+) in backward error\)"
    solves = "-n 17,12 -kind laplacian,stretched -probe solve -pc_type bcr -ksp_type preonly -ksp_view"
    for precision, residual, backward in (("double", 1e-12, 1e-14), ("single", 1e-3, 1e-5)):
        found = re.findall(said, run("bcr_probe", f"{solves} -pc_bcr_precision {precision}", ranks=ranks).output)
        assert len(found) == 2 and all(0 < float(r) < residual and 0 < float(b) < backward for r, b in found), found
    nearest = "-n 17,12 -kind smooth -pc_type bcr -ksp_view"
    for precision, difference in (("double", 1e-13), ("single", 1e-4)):
        output = run("bcr_probe", f"{nearest} -pc_bcr_precision {precision}", ranks=ranks).output
        assert 0 < float(re.search(r"check: a random right-hand side and a third of it have solutions that leave a difference of (\S+)", output)[1]) < difference, output
    for case in (solves, nearest):
        assert "check:" not in run("bcr_probe", f"{case} -pc_bcr_check_warn 1e300 -pc_bcr_check_fail 1e300", ranks=ranks).output


def test_an_operator_that_is_singular_otherwise_fails(run):
    """-T (x) 1 - 1 (x) T + s with s = minus its smallest eigenvalue, to the last digits."""
    import math

    n = 15
    shift = -sum(4 * base * math.sin(math.pi / (2 * (n + 1))) ** 2 for base in (1.0, 1.3))
    result = run("bcr_probe", f"-pc_type bcr -n {n},{n} -shift {shift!r} -ksp_type preonly", expect=None)
    assert "DIVERGED_PC_FAILED" in result.output or result.number("error") > 1e-3
