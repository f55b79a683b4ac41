"""The example of waves: with the shifted Laplacian bcr takes the iterations of LU, on any ranks, and it draws what it finds."""

import importlib.util
import re
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

EXAMPLE = Path(__file__).parents[2] / "examples" / "helmholtz" / "helmholtz.py"


def iterations(options, ranks=1):
    output = programs.python(EXAMPLE, f"-n 65 -waves 6 -ksp_type fgmres {options}", ranks=ranks, environment=complex_petsc.PETSC).output
    count, residual = re.search(r"(\d+) iterations, residual (\S+),", output).groups()
    assert "not converged" not in output and float(residual) < 2e-6, output
    return int(count)


@needs_petsc4py
@pytest.mark.parametrize("lens", [0, 0.2])
def test_the_shifted_laplacian_is_solved(lens):
    direct = iterations(f"-lens {lens} -pc_type lu")
    assert iterations(f"-lens {lens} -pc_type bcr") == direct
    assert iterations(f"-lens {lens} -pc_type bcr", ranks=3) == direct


@needs_petsc4py
@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="no matplotlib here")
def test_it_draws(tmp_path):
    iterations(f"-pc_type bcr -picture {tmp_path}/waves.png")
    assert (tmp_path / "waves.png").read_bytes()[:4] == b"\x89PNG"
