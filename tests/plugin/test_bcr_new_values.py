"""PCBCR where the values of a matrix change, again and again: what stays of a set-up must not be seen in an answer."""

import re
from pathlib import Path

import programs
import pytest

PROGRAMS = Path(__file__).parent / "programs"

pytestmark = programs.needs_petsc4py
NEAREST = ("not separable", "not separable scaled", "not separable, less")
NOT_FINITE = ("not finite", "not finite again")


@pytest.mark.parametrize("ranks,method", [(1, "auto"), (1, "separable"), (2, "auto"), (2, "separable"), (3, "auto")])
@pytest.mark.parametrize("grid", ["14,11", "14,11 -faces 1", "14,11 -neumann 1", "7,6,5", "7,6,5 -faces 1"])
def test_new_values_of_every_kind(grid, ranks, method):
    options = f"-n {grid} -pc_type bcr" + ("" if method == "auto" else f" -pc_bcr_type {method}")
    output = programs.python(PROGRAMS / "bcr_new_values.py", options, ranks=ranks).output
    lines = re.findall(r"^(.*): difference (\S+) residual (\S+) of a fresh one (\S+)$", output, re.M)
    assert len(lines) == 29, output
    for name, difference, residual, fresh in lines:
        assert float(difference) < 1e-12, output
        if name in NOT_FINITE:
            assert residual == "nan", output
        elif name not in NEAREST:
            assert float(residual) < 1e-12, output


@pytest.mark.parametrize("method", ["auto", "separable"])
def test_new_values_in_single_precision(method):
    more = "" if method == "auto" else f" -pc_bcr_type {method}"
    output = programs.python(PROGRAMS / "bcr_new_values.py", f"-n 14,11 -faces 1 -pc_type bcr -pc_bcr_precision single{more}").output
    differences = [float(number) for number in re.findall(r"difference (\S+)", output)]
    assert len(differences) == 29 and max(differences) < 1e-4, output


@pytest.mark.parametrize("ranks", [1, 2])
def test_values_that_change_in_place_and_by_little(ranks):
    output = programs.python(PROGRAMS / "bcr_in_place.py", "", ranks=ranks).output
    found = {name: (int(reason), float(residual)) for name, reason, residual in re.findall(r"^(.*): reason (\S+) residual (\S+)$", output, re.M)}
    assert found["separable"][0] > 0 and found["again, in place"][0] > 0 and found["again, in place"][1] < 1e-12, output
    assert found["no longer, in place"][0] < 0, output  # one application of the nearest operator is no solution
    assert found["one row off, kept"] == found["one row off, fresh"], output
