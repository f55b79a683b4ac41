"""Regular matrices some of whose diagonals are small beside their rows, preconditioned by PCLINE: what KSP calls converged is a solution.

Usage: line_weak_rows.py [-kind any|grid] [-small 1e-9] [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
given = PETSc.Options()
kind, small = given.getString("kind", "any"), given.getReal("small", 1e-9)
rng = np.random.default_rng(3)
unknowns, side = 2, 12  # of the grid
n = 200 if kind == "any" else unknowns * side * side
A = np.zeros((n, n))
dm = None
if kind == "any":
    for i in range(n):
        A[i, rng.integers(0, n, 4)] += rng.uniform(-1, 1, 4)
    np.fill_diagonal(A, 3)
    for i in range(0, n, 7):
        A[i, i] = small
        A[i, (i + 1) % n] += 2
        A[(i + 1) % n, i] += 2
else:
    for node in range(side * side):
        x, y = node % side, node // side
        for other in {(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1), (x, y)}:
            if not (0 <= other[0] < side and 0 <= other[1] < side):
                continue
            to = other[0] + side * other[1]
            block = rng.uniform(-1, 1, (unknowns, unknowns)) * (0.05 if other[1] != y else 0.3)
            A[node * unknowns : (node + 1) * unknowns, to * unknowns : (to + 1) * unknowns] = block + 2 * (to == node) * np.eye(unknowns)
        if x % 4 == 0:  # the pivot of a line's node is small as a whole, and its neighbour makes up for it
            at, beside = slice(node * unknowns, (node + 1) * unknowns), slice((node + 1) * unknowns, (node + 2) * unknowns)
            A[at, at] = small * np.eye(unknowns)
            A[at, beside] = A[beside, at] = 2 * np.eye(unknowns)
    dm = PETSc.DMDA().create(dim=2, dof=unknowns, sizes=(side, side), stencil_width=1, comm=comm, setup=False)
    dm.setFromOptions()
    dm.setUp()
P = PETSc.Mat().createAIJ(((PETSc.DECIDE, n), (PETSc.DECIDE, n)), comm=comm) if dm is None else dm.createMatrix()
P.setUp()
P.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
number = np.arange(n) if dm is None or comm.size == 1 else dm.getAO().app2petsc(np.arange(n, dtype=PETSc.IntType))
first, last = P.getOwnershipRange()
for i in range(n):
    if first <= number[i] < last:
        for j in np.flatnonzero(A[i]):
            P.setValue(int(number[i]), int(number[j]), A[i, j])
P.assemble()
b, x = P.createVecLeft(), P.createVecRight()
b.set(1)
ksp = PETSc.KSP().create(comm)
if dm:
    ksp.setDM(dm)
    ksp.setDMActive(False)
ksp.setOperators(P)
ksp.setTolerances(rtol=1e-8)
ksp.getPC().setType("line")
ksp.setFromOptions()
ksp.solve(b, x)
residual = b.duplicate()
P.mult(x, residual)
residual.aypx(-1, b)
PETSc.Sys.Print(f"reason {ksp.getConvergedReason()}\ncondition {np.linalg.cond(A):.3g}\nresidual {residual.norm() / b.norm():.3g}")
