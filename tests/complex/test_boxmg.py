"""-pc_type boxmg with complex scalars, from petsc4py: what turning a matrix does to its cycle, and waves by the shifted Laplacian."""

import re
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

CASES = Path(__file__).parent / "programs" / "boxmg_cases.py"


def case(name, options="", ranks=1, expect=0):
    return programs.python(CASES, f"-case {name} {options}", ranks=ranks, environment=complex_petsc.PETSC, expect=expect).output


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name, count", [("turned", 8), ("bilinear", 12)])
def test_cycles_know_no_phase(name, count, ranks):
    output = case(name, ranks=ranks)
    assert "apart" not in output, output
    assert output.count(": alike") == count, output


def iterations(options, ranks=1):
    output = case("waves", f"-ksp_type fgmres -ksp_gmres_restart 100 -ksp_rtol 1e-8 {options}", ranks)
    reason, count, residual = re.search(r"reason (-?\d+), iterations (\d+), residual (\S+)", output).groups()
    assert int(reason) > 0 and float(residual) < 2e-8, output
    return int(count)


@needs_petsc4py
@pytest.mark.parametrize("smoother", ["auto", "points", "alternating"])
def test_helmholtz_by_the_shifted_laplacian(smoother):
    options = f"-pc_type boxmg -pc_boxmg_smoother {smoother}"
    alone = iterations(options)
    assert alone <= 30
    assert iterations(options, ranks=3) == alone


@needs_petsc4py
def test_several_unknowns_say_what_to_do():
    assert "PCBOXMG takes one unknown a node where scalars are complex: take it for each field alone" in " ".join(case("several_unknowns", expect=None).split())
