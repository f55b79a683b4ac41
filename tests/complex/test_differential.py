"""Random operators with complex values, and random options of every type: see tests/differential."""

import sys
from pathlib import Path

import complex_petsc
import programs
from complex_petsc import needs_petsc4py

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "differential"))
import driver  # noqa: E402


@needs_petsc4py
def test_random_complex_cases():
    failures, count, _ = driver.run(1500, 0, programs.LIBRARY, seconds=60, petsc=complex_petsc.PETSC)
    assert count >= 200
    assert not failures, "\n".join(str(failure) for failure in failures[:20])
