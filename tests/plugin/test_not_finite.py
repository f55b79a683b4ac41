"""What is no number never ends in convergence, on any number of ranks; no rank waits for another; and a matrix without entries is refused."""

from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "not_finite.py"


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks, cases", [(3, "aij,baij,sbaij,dense"), (4, "adi,right_hand_side"), (2, "no_rows,right_hand_side"), (1, "no_entries")])
def test_all_ranks_say_the_same(ranks, cases):
    result = programs.python(PROGRAM, cases, ranks=ranks, timeout=60)
    assert "wrong" not in result.output and result.output.count("done") == cases.count(",") + 1, result.output
