"""KSPRICHARDSON with a preconditioner that is kept while the operator changes solves for the operator."""

import re
from pathlib import Path

import programs
import pytest

pytestmark = programs.needs_petsc4py
PROGRAM = Path(__file__).parent / "programs" / "kept_matrix.py"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("change", ["values", "matrix", "operator"])
@pytest.mark.parametrize("kind", ["line", "adi", "bcr", "crout", "boxmg"])
def test_the_operator_is_solved(kind, change, ranks):
    output = programs.python(PROGRAM, f"{kind} {change}", ranks).output
    rounds = [(int(reason), float(residual)) for reason, residual in re.findall(r"reason (-?\d+), residual (\S+)", output)]
    assert len(rounds) == 3 and all(reason > 0 and residual <= 1e-6 for reason, residual in rounds), output


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", ["adi", "bcr", "boxmg"])
def test_a_matrix_that_is_scaled_is_solved(kind, ranks):
    """Each is kept for a matrix of 25 and then 56 % less, with which cycles of alternating directions across ranks would grow."""
    test_the_operator_is_solved(kind, "scale", ranks)
