"""PCADI on rings with strong convection and a small shift: applications and transposed ones are each other's adjoints. Prints the largest difference."""

import sys

import numpy as np
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

NX, NY = 13, 4


def matrix(seed):
    """-(a u')' + v u' on a ring along x, nearly nothing along y, and a small excess of the diagonal; row, column and value of each entry."""
    rng = np.random.default_rng(seed)
    a, c = rng.uniform(0.2, 5, NX), rng.uniform(0.2, 5, NY + 1)
    for j in range(NY):
        for i in range(NX):
            row, west, east = j * NX + i, a[i], a[(i + 1) % NX]
            drift = 5 * a.mean()
            entries = {row: 1e6 * (west + east) + 1e-3, j * NX + (i - 1) % NX: 1e6 * (-west - drift), j * NX + (i + 1) % NX: 1e6 * (-east + drift)}
            for other, flux in ((j - 1, c[j]), (j + 1, c[j + 1])):
                if 0 <= other < NY:
                    entries[row] += 1e-3 * flux
                    entries[other * NX + i] = -1e-3 * flux
            for column, value in entries.items():
                yield row, column, value


worst = 0
dm = PETSc.DMDA().create([NX, NY], stencil_width=1, boundary_type=["periodic", "none"], comm=PETSc.COMM_SELF)
for seed in range(40):
    A = dm.createMat()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    for entry in matrix(seed):
        A.setValue(*entry)
    A.assemble()
    pc = PETSc.PC().create(PETSc.COMM_SELF)
    pc.setOperators(A)
    pc.setDM(dm)
    pc.setType("adi")
    pc.setFromOptions()
    pc.setUp()
    x, y = A.createVecRight(), A.createVecLeft()
    rng = np.random.default_rng(seed)
    b, c = rng.uniform(-1, 1, NX * NY), rng.uniform(-1, 1, NX * NY)
    x.setArray(b)
    pc.apply(x, y)
    ahead = y.getArray().copy()
    x.setArray(c)
    pc.applyTranspose(x, y)
    back = y.getArray().copy()
    if np.isfinite(ahead).all():  # else the set-up has refused it
        worst = max(worst, abs(c @ ahead - b @ back) / (np.linalg.norm(ahead) * np.linalg.norm(c)))
    pc.destroy()
print("difference", worst)
