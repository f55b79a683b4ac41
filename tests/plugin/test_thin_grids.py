"""PCLINE where a grid, or a rank's part of one, has one line or one colour of them along some direction."""

import re
from pathlib import Path

import programs
import pytest

pytestmark = programs.needs_petsc4py


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_lines_of_thin_grids_are_those_of_the_manual(ranks):
    output = programs.python(Path(__file__).with_name("programs") / "thin_grids.py", ranks=ranks).output
    assert re.search(r"^cases \d{3,} largest ", output, re.M) and "difference" not in output, output
