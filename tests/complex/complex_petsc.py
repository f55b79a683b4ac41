"""The petsc4py for the PETSc with complex scalars that Weft was built with."""

import os
import subprocess
import sys

import programs
import pytest

PETSC = {"PETSC_DIR": os.environ["WEFT_PETSC_PREFIX"], "PETSC_ARCH": ""}


def has_petsc4py():
    program = "import petsc4py; petsc4py.init(); from petsc4py import PETSc; print(PETSc.ScalarType)"
    found = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(programs.ENVIRONMENT, **PETSC))
    return "complex" in found.stdout


needs_petsc4py = pytest.mark.skipif(not has_petsc4py(), reason="no complex petsc4py here (Debian: python3-petsc4py-complex3.18)")
