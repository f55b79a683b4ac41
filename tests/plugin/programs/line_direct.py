"""Matrices whose lines are all that they couple, and whose elimination without pivots loses digits: PCLINE alone solves with them, or says that it does not.

Usage: line_direct.py [-kind nodes|ring|decoupled|permuted|chains|map] [-unknowns 3] [-small 1e-9] [-lines FILE] [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
given = PETSc.Options()
kind, unknowns, small = given.getString("kind", "nodes"), given.getInt("unknowns", 3), given.getReal("small", 1e-9)
length, across = given.getInt("length", 40), 5 if kind == "decoupled" else 1
rng = np.random.default_rng(7)
n = length * unknowns


def line():
    """A block-tridiagonal matrix whose condition is moderate: `small` at one node couples to 1 beside it, which a pivot in the node's rows does not reach."""
    A = np.zeros((n, n))
    for i in range(length):
        for j in {i - 1, i, i + 1, *((i + 1 - length, i - 1 + length) if kind == "ring" else ())} & set(range(length)):
            block = rng.uniform(-1, 1, (unknowns, unknowns)) / (4 * unknowns)
            A[i * unknowns : (i + 1) * unknowns, j * unknowns : (j + 1) * unknowns] = block + 2 * (i == j) * np.eye(unknowns)
    for i in range(0, length, 8):  # the nodes' own blocks
        at, beside = slice(i * unknowns, (i + 1) * unknowns), slice((i + 1) * unknowns, (i + 2) * unknowns)
        A[at, :] = 0
        A[at, at] = small * np.eye(unknowns)
        A[at, beside] = A[beside, at] = np.eye(unknowns)
    return A


A = np.zeros((across * n, across * n))
for k in range(across):
    A[k::across, k::across] = line()  # the lines of a grid run along its second direction
if kind == "permuted":  # couplings that lines of the graph take, and pivots that do not cut them
    A = 2.1 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
if kind == "chains":  # two of them, the second within the last of two ranks, with a weak coupling across, so that their colours differ
    A = 2.1 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    cut = 3 * n // 4
    A[cut, cut - 1] = A[cut - 1, cut] = 0
    A[cut, 0] = A[0, cut] = -1e-3
    order = np.concatenate([rng.permutation(n // 2), n // 2 + rng.permutation(n - n // 2)])
    A = A[np.ix_(order, order)]
if kind in ("permuted", "map"):
    order = rng.permutation(n)
    A = A[np.ix_(order, order)]
if kind == "map" and comm.rank == 0:
    place = np.argsort(order)
    with open(given.getString("lines"), "w") as file:
        file.write(" ".join(map(str, place)) + "\n")
comm.barrier()

P = PETSc.Mat().create(comm)
dm = None
if kind in ("nodes", "ring", "decoupled"):
    sizes = (across, length) if kind == "decoupled" else (length,)
    dm = PETSc.DMDA().create(dim=len(sizes), dof=unknowns, sizes=sizes, stencil_width=1, comm=comm, setup=False)
    dm.setBoundaryType(("periodic" if kind == "ring" else "none",) * len(sizes))
    dm.setFromOptions()
    dm.setUp()
    P = dm.createMatrix()
    P.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    number = dm.getAO().app2petsc(np.arange(across * n, dtype=PETSc.IntType)) if comm.size > 1 else np.arange(across * n)
else:
    P.setSizes(n)
    P.setType("aij")
    P.setUp()
    P.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    number = np.arange(n)
if kind == "decoupled":  # natural numbers of the grid: unknowns of a node are neighbours
    node, unknown = np.divmod(np.arange(n), unknowns)
    natural = np.concatenate([(node * across + k) * unknowns + unknown for k in range(across)])
    number = np.asarray(number)[natural]
    A = A[np.ix_(*2 * (np.concatenate([np.arange(k, across * n, across) for k in range(across)]),))]
first, last = P.getOwnershipRange()
for i in range(A.shape[0]):
    if first <= number[i] < last:
        for j in np.flatnonzero(A[i]):
            P.setValue(int(number[i]), int(number[j]), A[i, j])
P.assemble()

exact = P.createVecRight()
for i in range(A.shape[0]):
    if first <= number[i] < last:
        exact.setValue(int(number[i]), np.sin(1 + i))
exact.assemble()
b, x = P.createVecLeft(), P.createVecRight()
P.mult(exact, b)
ksp = PETSc.KSP().create(comm)
if dm:
    ksp.setDM(dm)
    ksp.setDMActive(False)
ksp.setOperators(P)
ksp.setType("preonly")
ksp.getPC().setType("line")
ksp.setFromOptions()
ksp.solve(b, x)
x.scale(1 / (1 - (1 - given.getReal("pc_line_omega", 1)) ** given.getInt("pc_line_sweeps", 1)))  # damped sweeps leave a part of the solution
x.axpy(-1, exact)
PETSc.Sys.Print(f"reason {ksp.getConvergedReason()}\ncondition {np.linalg.cond(A):.3g}\nerror {x.norm() / exact.norm():.3g}")
