"""PCBCR against numpy: random separable operators, and the kinds that once went wrong."""

from pathlib import Path

import programs
import pytest

PROGRAMS = Path(__file__).parent / "programs"

pytestmark = programs.needs_petsc4py

WRITTEN = {"MALLOC_PERTURB_": "165", "OPENBLAS_NUM_THREADS": "1"}  # memory that nobody wrote is not 0


@pytest.mark.parametrize("ranks, first, last", [(1, 0, 400), (2, 400, 480), (3, 480, 560), (7, 560, 590)])
def test_random_operators(ranks, first, last):
    output = programs.python(PROGRAMS / "separable_operators.py", f"{first} {last}", ranks=ranks, environment=WRITTEN).output
    assert output.splitlines() == [f"cases {first} to {last - 1} are done"], output


def solve(operator, options="", ranks=1):
    return programs.python(PROGRAMS / "grid_operators.py", f"{operator} {options}", ranks=ranks, environment=WRITTEN)


EXACT = [
    "eliminated:3:3",
    "eliminated:3:3:3",
    "eliminated:5:3:3",
    "diagonal:1:4:6",
    "diagonal:3:3",
    "diagonal:24",
    "uncoupled:39",
    "helmholtz:15:16:3",
    "helmholtz:15:16:4",
    "helmholtz:15:16:5",
    "helmholtz:9:10:11:4",
    "helmholtz:60:2",
    "stretched:1.2:1:1",
    "stretched:1.2:1.1:1",
    "stretched:0.5:0.6:30",
    "penalty:1e20:7",
    "penalty:1e12:6:7",
    "penalty:1e20:6:7",
    "penalty:1e300:4:5:4",
    "scale:1e-300",
    "scale:1e-306",
    "scale:1e300",
    "scale:1e307",
]


@pytest.mark.parametrize("operator", EXACT)
def test_operators_that_once_went_wrong(operator):
    result = solve(operator, ranks=1 + EXACT.index(operator) % 3 if operator.count(":") > 1 else 1)
    assert result.number("reason") == 4, result.output
    assert result.number("residual") < 1e-11 and result.number("adjoint difference") < 1e-11, result.output


def test_convection_around_a_ring_is_singular_in_a_way_that_fails():
    assert solve("ring").number("reason") == -11


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("operator, options", [("winds:26", ""), ("winds:34", ""), ("winds:14", "-pc_bcr_precision single")])
def test_nearest_operators_whose_eigenvectors_are_nearly_parallel_fail(operator, options, ranks):
    """Else GMRES "converges" with residuals of 0.1, 2e4 and 2."""
    solver = f"{options} -ksp_type gmres -ksp_rtol 1e-8"
    assert solve(operator, solver, ranks).number("reason") == -11
    failed = programs.python(PROGRAMS / "grid_operators.py", f"{operator} {solver} -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0 and "this preconditioner loses digits: a random right-hand side" in failed.output and "take upwind differences" in failed.output, failed.output


def test_nearest_operators_that_lose_some_digits_say_how_many():
    result = solve("winds:14", "-ksp_type gmres -ksp_rtol 1e-8 -ksp_view -info :pc,mat")
    lost = result.number("check: a random right-hand side and a third of it have solutions that leave a difference of")
    assert 1e-10 < lost < 1e-7 and result.number("residual") < 10 * max(lost, 1e-8), result.output
    assert result.output.count("have solutions that leave a difference") == 2, result.output


@pytest.mark.parametrize("operator", ["mask:7", "mask:3", "mask:0.8"])
def test_masks(operator):
    """Rows of the identity inside a domain, which leave couplings without a way back."""
    result = solve(operator, "-ksp_type gmres -ksp_rtol 1e-8")
    assert result.number("reason") == 2 and result.number("iterations") < 30 and result.number("residual") < 1e-6, result.output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("penalty", ["1e10", "1e20"])
def test_penalties_on_a_part_of_the_boundary_keep_the_symmetry(penalty, ranks):
    result = solve(f"penalty:{penalty}:9:10", "-part -ksp_type cg -ksp_rtol 1e-10", ranks=ranks)
    assert result.number("reason") == 2 and result.number("residual") < 1e-6 and result.number("adjoint difference") < 1e-12, result.output


@pytest.mark.parametrize("solver", ["preonly", "gmres", "cg", "richardson"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_right_hand_side_that_is_no_number_does_not_converge(solver, value):
    assert solve(f"rhs:{value}:30", f"-ksp_type {solver}", ranks=2 if solver == "preonly" else 1).number("reason") < 0


@pytest.mark.parametrize("value", ["nan", "inf", "4e307"])
@pytest.mark.parametrize("column", [1, 5, 6])
def test_an_entry_that_is_no_number_or_nearly_none(value, column):
    """Solved, or failed."""
    result = solve(f"entry:{value}:{column}")
    assert result.number("reason") < 0 or result.number("residual") < 1e-8, result.output
    assert value == "4e307" or result.number("reason") == -11


@pytest.mark.parametrize("chosen, words", [("", "along directions x and y: these have no real eigenvectors, and one direction at most can do without: take upwind differences"), ("-pc_bcr_type facr", "-pc_bcr_type facr: eigenvectors are needed")])
def test_a_refusal_names_what_the_user_typed(chosen, words):
    failed = programs.python(PROGRAMS / "grid_operators.py", f"convection {chosen} -ksp_error_if_not_converged", expect=None)
    assert failed.code != 0 and words in failed.output, failed.output


def test_values_that_no_method_solves_fail_the_solve():
    assert solve("convection").number("reason") == -11
