"""What a program can do wrong, for each type: an error that says what to do, or a reason of PETSc's. Never a crash, a hang or a silent result."""

import os
import re
from pathlib import Path

import pytest
from solver_types import TYPES

PIVOT = r"^first: DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT"
SOLVED = r"^first: CONVERGED_RTOL FACTOR_NOERROR .*1\.7596121\d*e\+01$"
RECOVERED = r"^then: CONVERGED_RTOL FACTOR_NOERROR .*1\.7596121\d*e\+01$"
NO_GRID = "needs a grid and none is known for this matrix: give the KSP or the PC a DMDA"
NO_FIT = "the DMDA does not fit the matrix: it has"
NO_NUMBER = r"^first: DIVERGED_NANORINF FACTOR_NOERROR"
SIZES = "Incompatible vector local lengths"
LATE = "Not for unassembled matrix|needs an assembled matrix"
SQUARE = "requires equal local row and column sizes on every rank"
ASSEMBLED = "needs an assembled matrix: call MatAssemblyBegin"

# For each mistake and type: what the output must match, all of it, or the test elsewhere that makes this mistake.
MISTAKES = {
    "zero_row": {
        "line": [r"^first: \w+ FACTOR_NOERROR", RECOVERED],  # it takes 1, as with PCJACOBI
        "adi": [PIVOT, RECOVERED],
        # the nearest separable operator is regular though the matrix is not
        "bcr": [r"^first: DIVERGED_", RECOVERED],
        "boxmg": [PIVOT, RECOVERED],
        "crout": [PIVOT, RECOVERED],
        "ksp adi": [PIVOT, RECOVERED],
        "factors": [PIVOT, RECOVERED],
    },
    "nan_matrix": dict.fromkeys(TYPES, [PIVOT, RECOVERED]),
    "nan_rhs": dict.fromkeys(TYPES, [NO_NUMBER, RECOVERED]),
    "grid_size": {"line": [SOLVED], "adi": [NO_GRID], "bcr": [NO_GRID], "boxmg": [NO_FIT], "crout": [SOLVED], "ksp adi": [NO_GRID], "factors": [SOLVED]},
    "grid_kind": {"line": [SOLVED], "adi": [NO_GRID], "bcr": [NO_GRID], "boxmg": [NO_GRID], "crout": [SOLVED], "ksp adi": [NO_GRID], "factors": [SOLVED]},
    "no_grid": {
        "line": "test_pc.py::test_without_a_grid",
        "adi": "test_adi.py::test_without_a_grid",
        "bcr": "test_bcr.py::test_without_a_grid",
        "boxmg": "test_boxmg.py::test_without_a_grid",
        "crout": [SOLVED],
        "ksp adi": [NO_GRID],
        "factors": [SOLVED],
    },
    "vector_size": dict.fromkeys(TYPES, [SIZES]),
    "layout": {
        "line": "test_pc.py::test_matrices_that_cannot_be_used",
        "adi": "test_adi.py::test_matrices_that_cannot_be_used",
        "bcr": [SQUARE],
        "boxmg": "test_boxmg.py::test_matrices_that_cannot_be_used",
        "crout": "test_crout.py::test_matrices_that_cannot_be_used",
        "ksp adi": [SQUARE],
        "factors": "test_crout.py::test_rectangular_matrices_are_refused",
    },
    "unassembled": {
        "line": "test_pc.py::test_matrices_that_cannot_be_used",
        "adi": "test_adi.py::test_matrices_that_cannot_be_used",
        "bcr": [ASSEMBLED],
        "boxmg": "test_boxmg.py::test_matrices_that_cannot_be_used",
        "crout": "test_crout.py::test_matrices_that_cannot_be_used",
        "ksp adi": [ASSEMBLED],
        "factors": ["Not for unassembled matrix|Cannot get ordering for unassembled matrix"],
    },
    "late_unassembled": dict.fromkeys(TYPES, [LATE]),
    "pattern": {
        **dict.fromkeys(["line", "adi", "bcr", "boxmg", "ksp adi"], [SOLVED, r"^fewer difference \S+e-1\d$|^fewer difference 0\.0", r"^more difference \S+e-1\d$|^more difference 0\.0"]),
        "crout": "test_crout.py::test_new_nonzeros_between_solves",
        "factors": "test_crout.py::test_another_pattern_is_noticed",
    },
}
# Mistakes of one rank, which the others must hear of.
ON_RANKS = {"zero_row", "nan_matrix", "nan_rhs", "layout", "unassembled", "pattern"}

HERE = [(mistake, name) for mistake, row in MISTAKES.items() for name, expected in row.items() if isinstance(expected, list)]
ELSEWHERE = {expected for row in MISTAKES.values() for expected in row.values() if isinstance(expected, str)}


def test_the_table_is_full():
    assert all(set(row) == set(TYPES) for row in MISTAKES.values())
    for name in ELSEWHERE:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (Path(os.environ["WEFT_SOURCE"]) / "tests" / "plugin" / file).read_text(), name


@pytest.mark.parametrize("mistake, name", HERE, ids=lambda word: word.replace(" ", "-"))
def test_mistake(run, mistake, name):
    ranks = 3 if mistake in ON_RANKS and name != "factors" else 1  # factors are of a matrix of one rank
    result = run("fault_probe", f"-fault {mistake} {TYPES[name]}", ranks=ranks, expect=None)
    expected = MISTAKES[mistake][name]
    for pattern in expected:
        assert re.search(pattern, result.output, re.MULTILINE), result.output
    is_error = not any(pattern.startswith("^") for pattern in expected)
    assert (result.code != 0) == is_error, result.output


@pytest.mark.parametrize("name", [name for name in TYPES if name != "factors"])  # the matrix is singular: it has no complete factors
def test_nothing_is_divided_by_zero(run, name):
    run("ex50", f"-da_grid_x 33 -da_grid_y 21 {TYPES[name]} -ksp_max_it 20 -fp_trap")


@pytest.mark.parametrize("name", ["line", "adi"])
def test_a_failed_pc_is_no_converged_richardson(run, name):
    """Their own Richardson iteration looks at no norm."""
    output = run("fault_probe", f"-fault nan_matrix -ksp_type richardson -ksp_max_it 20 {TYPES[name]}").output
    assert re.search(PIVOT, output, re.MULTILINE) and re.search(r"^then: CONVERGED_ITS FACTOR_NOERROR", output, re.MULTILINE), output
