"""Factors of complex matrices, from petsc4py: complete ones against dense solves, incomplete ones against a twin, on several ranks."""

import re
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

CASES = Path(__file__).parent / "programs" / "crout_cases.py"


def case(name, options="", ranks=1, expect=0):
    return programs.python(CASES, f"-case {name} {options}", ranks=ranks, environment=complex_petsc.PETSC, expect=expect).output


@needs_petsc4py
@pytest.mark.parametrize("name, count", [("complete", 44), ("incomplete", 24), ("rows_exchanged", 4), ("many", 1)])
def test_factors_are_those_of_a_twin(name, count):
    output = case(name)
    assert "apart" not in output, output
    assert output.count(": alike") == count, output


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "options, most",
    [
        ("-pc_type crout", 60),
        ("-pc_type crout -symmetric", 60),
        ("-pc_type crout -pc_crout_pattern threshold", 45),
        ("-pc_type crout -pc_crout_method sweeps -pc_crout_trisolve jacobi", 65),
        ("-pc_type crout -pc_crout_trisolve isai", 150),
        ("-pc_type crout -pc_crout_pattern full -pc_crout_precision single", 3),
    ],
)
def test_waves_with_absorption(options, most, ranks):
    output = case("solve", f"-ksp_type gmres -ksp_gmres_restart 200 -ksp_rtol 1e-10 {options}", ranks)
    reason, iterations, residual = re.search(r"reason (-?\d+), iterations (\d+), residual (\S+)", output).groups()
    assert int(reason) > 0 and float(residual) < 1e-8
    if ranks == 1:
        assert int(iterations) <= most


@needs_petsc4py
@pytest.mark.parametrize("options", ["-pc_type crout -pc_crout_pattern full", "-pc_type lu -pc_factor_mat_solver_type crout"])
def test_a_singular_matrix_is_told_to_petsc(options):
    assert "reason -11" in case("singular", f"{options} -ksp_type preonly")  # KSP_DIVERGED_PC_FAILED


@needs_petsc4py
def test_factors_are_of_what_the_matrix_is_marked_as_now():
    output = case("taken_for_another")
    assert "apart" not in output and output.count(": alike") == 3, output


@needs_petsc4py
def test_a_hermitian_matrix_is_not_taken_for_a_symmetric_one():
    output = case("only_hermitian")
    assert "apart" not in output and output.count(": alike") == 35, output
    assert all(0 < int(count) < 25 for count in re.findall(r"reason 2, iterations (\d+)", output)) and output.count("reason 2,") == 7, output
