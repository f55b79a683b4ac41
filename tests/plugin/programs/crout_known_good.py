"""Where incomplete factors are taken without a solve that looks at them, and where they are not. Ends with an AssertionError that names the case."""

import sys
import tempfile

import petsc4py

petsc4py.init(sys.argv)
import numpy as np
from crout_solvers import hear, petsc
from petsc4py import PETSc
from scipy import sparse

random = np.random.default_rng(8)


def grid(n=12):
    chain = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return sparse.csr_matrix(sparse.kron(chain, sparse.eye(n)) + sparse.kron(sparse.eye(n), chain))


def neumann(n=12):
    """Singular; the pivots of ILU(0) do not say so."""
    m = grid(n)
    m.setdiag(0)
    m.eliminate_zeros()
    return sparse.csr_matrix(m + sparse.diags(np.asarray(abs(m).sum(axis=1)).ravel()))


def factor(A, **options):
    pc = PETSc.PC().create()
    pc.setOperators(A)
    hear(pc, options)
    pc.setUp()
    return pc


def said(pc):
    with tempfile.NamedTemporaryFile("r") as file:
        viewer = PETSc.Viewer().createASCII(file.name)
        pc.view(viewer)
        viewer.destroy()
        return file.read()


def expect(known, pc, what):
    text = said(pc)
    assert ("no probe: diagonal entries dominate" in text) == known, f"{what}: {text}"


crout, solver = dict(pc_type="crout"), dict(pc_factor_mat_solver_type="crout")
units = sparse.diags(10.0 ** random.uniform(-9, 9, 144))
for options in (crout, dict(crout, pc_crout_levels=2), dict(solver, pc_type="ilu"), dict(solver, pc_type="ilu", pc_factor_mat_ordering_type="rcm")):
    expect(True, factor(petsc(grid()), **options), f"a grid, {options}")
    expect(True, factor(petsc(units @ grid()), **options), f"rows in odd units, {options}")
    expect(False, factor(petsc(grid() - 0.01 * sparse.eye(144)), **options), f"rows that are outweighed, {options}")
spd = petsc(grid())
spd.setOption(PETSc.Mat.Option.SPD, True)
expect(True, factor(spd, **dict(solver, pc_type="icc")), "a symmetric grid")
for options in (dict(pc_crout_method="sweeps"), dict(pc_crout_trisolve="jacobi"), dict(pc_crout_precision="single"), dict(pc_crout_pattern="threshold")):
    expect(False, factor(petsc(grid()), **dict(crout, **options)), f"a grid, {options}")
pc = factor(petsc(neumann()), **crout)
expect(True, pc, "a singular matrix with good pivots")
weak = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(144, 144)).tolil()
weak[0, 0], weak[143, 143] = 1, 1 + 1e-6
expect(False, factor(petsc(weak), **crout), "a pivot of 1e-6")

# New values are looked at anew.
A = petsc(grid())
pc = factor(A, **crout)
for known in (True, False, True):
    A.shift(0 if known else -0.5)
    pc.setOperators(A)
    pc.setUp()
    expect(known, pc, "new values")
    A.shift(0 if known else 0.5)
print("done")
