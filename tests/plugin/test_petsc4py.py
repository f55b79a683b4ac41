"""From Python, where PETSc itself was loaded as an extension module's private library."""

import subprocess
import sys
from pathlib import Path

import programs
import pytest

MATRIX = """
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 100
A = PETSc.Mat().createAIJ([n, n], nnz=3)
for i in range(n):
    for j, value in ((i - 1, -1.0), (i, 2.5), (i + 1, -1.0)):
        if 0 <= j < n:
            A[i, j] = value
A.assemble()
"""

SCRIPT = f"""{MATRIX}
x, b = A.createVecs()
b.set(1.0)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setFromOptions()
ksp.solve(b, x)
print(ksp.getPC().getType(), ksp.getIterationNumber(), ksp.getConvergedReason() > 0)
"""

MANY = f"""{MATRIX}
A.zeroRows([7], diag=0.0)
B = PETSc.Mat().createDense([n, 3])
B.setUp()
for k in range(n):
    B[k, 1] = 1.0
B.assemble()
X = B.duplicate()
pc = PETSc.PC().create()
pc.setOperators(A)
pc.setFromOptions()
pc.setUp()
pc.matApply(B, X)
print(pc.getType(), *(bool(abs(X.getDenseArray()[:, k]).max() < 1e300) for k in range(3)))
"""


@programs.needs_petsc4py
@pytest.mark.parametrize("way", ["options", "environment"])
def test_petsc4py(library, way):
    options, environment = ["-dll_append", str(library), "-pc_type", "line"], dict(programs.ENVIRONMENT)
    if way == "environment":
        environment["PETSC_OPTIONS"] = " ".join(options)
        options = []
    result = subprocess.run([sys.executable, "-c", SCRIPT] + options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert result.stdout.split() == ["line", "1", "True"], result.stdout


@programs.needs_petsc4py
@pytest.mark.parametrize("options", ["-pc_type crout", "-pc_type lu -pc_factor_mat_solver_type crout"])
def test_no_column_is_finite_under_factors_that_failed(library, options):
    command = [sys.executable, "-c", MANY, "-dll_append", str(library), *options.split()]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(programs.ENVIRONMENT))
    assert result.stdout.split() == [options.split()[1], "False", "False", "False"], result.stdout


complex_petsc4py = next(Path("/usr/lib/petscdir").glob("petsc3*/*-complex/lib/python3/dist-packages/petsc4py"), None)


@pytest.mark.skipif(not complex_petsc4py, reason="no complex petsc4py here (Debian: python3-petsc4py-complex)")
def test_a_petsc4py_of_another_petsc_is_refused(library):
    """The library brings its own PETSc along, which nobody has started: the program's own is private to its extension module."""
    environment = dict(programs.ENVIRONMENT, PETSC_DIR=str(complex_petsc4py.parents[3]), PETSC_ARCH="")
    result = subprocess.run([sys.executable, "-c", SCRIPT, "-dll_append", str(library)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert result.returncode > 0, result.stdout  # and no signal
    assert "this program runs another PETSc than the one" in result.stdout
    assert "build Weft with PETSC_DIR set to this program's PETSc" in result.stdout
