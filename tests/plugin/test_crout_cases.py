"""The solver type crout and PCCROUT on many small matrices, case by case, against numpy; and that wrong input ends on all ranks."""

from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "crout_cases.py"


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks, cases", [(1, "dense,dense_tolerance,block,again,not_finite,recover,given_up,isai,far,growth"), (2, "block,not_finite"), (3, "small"), (8, "small"), (1, "small")])
def test_cases(ranks, cases):
    for case in cases.split(","):
        result = programs.python(PROGRAM, case, ranks=ranks, timeout=120)
        assert "wrong" not in result.output, result.output
        assert result.number("") > 5, result.output


@programs.needs_petsc4py
@pytest.mark.parametrize("case", ["contradiction", "no_entry"])
def test_all_ranks_end_where_one_cannot_go_on(case):
    result = programs.python(PROGRAM, case, ranks=3, timeout=60)
    assert "wrong" not in result.output, result.output


@programs.needs_petsc4py
def test_tiny_pivots_odd_units_and_what_new_values_change():
    result = programs.python(Path(__file__).parent / "programs" / "crout_pivots.py", "", ranks=1, timeout=120)
    assert result.output.strip().endswith("done"), result.output


@programs.needs_petsc4py
def test_factors_are_taken_unseen_where_rows_are_dominated_alone():
    result = programs.python(Path(__file__).parent / "programs" / "crout_known_good.py", "", ranks=1, timeout=120)
    assert result.output.strip().endswith("done"), result.output
