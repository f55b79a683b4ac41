"""-pc_type bcr with complex scalars, from petsc4py: operators with a complex shift are solved, others preconditioned, and what there is not says so."""

import re
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

CASES = Path(__file__).parent / "programs" / "bcr_cases.py"

pytestmark = needs_petsc4py


def case(name, options="", ranks=1, expect=0):
    return programs.python(CASES, f"-case {name} {options}", ranks=ranks, environment=complex_petsc.PETSC, expect=expect).output


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name, count", [("direct", 52), ("values", 6), ("null_space", 6), ("penalty", 1), ("one_sided", 1), ("many", 1)])
def test_one_application_is_the_solution(name, count, ranks):
    lines = case(name, ranks=ranks).splitlines()
    assert [line for line in lines if not line.endswith("solved")] == []
    assert len(lines) == count


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_nearest_operator_is_a_preconditioner(ranks):
    output = case("nearest", ranks=ranks)
    count, residual = re.search(r"iterations (\d+), residual (\S+)", output).groups()
    assert int(count) <= 30 and float(residual) < 1e-7, output
    assert "alone: reason -11" in output


@pytest.mark.parametrize("k, most", [(5, 12), (10, 25), (20, 70)])
def test_helmholtz_by_the_shifted_laplacian(k, most):
    output = case("waves", f"-k {k}")
    reason, count, residual = re.search(r"reason (-?\d+), iterations (\d+), residual (\S+)", output).groups()
    assert int(reason) > 0 and int(count) <= most and float(residual) < 2e-8, output


@pytest.mark.parametrize(
    "what, sentence",
    [
        ("single", "-pc_bcr_precision single: complex operators are solved in double precision"),
        ("method", "-pc_bcr_type facr: complex operators are solved by the modes of all directions, which is auto"),
    ],
)
def test_what_there_is_not_is_an_error(what, sentence):
    assert sentence in " ".join(case("wrong", f"-what {what}", expect=None).split())


@pytest.mark.parametrize("what", ["elements", "nan", "resonance"])
def test_what_cannot_be_solved_fails(what):
    assert "reason -11" in case("wrong", f"-what {what}")
