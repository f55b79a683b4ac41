"""Set-up fails in each of its calls on one rank, in turn: all ranks must come back with an error, and then with the right answer."""

import sys

import petsc4py

petsc4py.init(sys.argv[1:])
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
comm = PETSc.COMM_WORLD
nodes = (9, 8)


def box(i, j):
    """-u_xx - 100 u_yy + 0.1 u with mass matrices (1, 10, 1) / 12; one row is another."""
    T, W = {0: 2, 1: -1, -1: -1}, {0: 10 / 12, 1: 1 / 12, -1: 1 / 12}
    entries = {}
    for di in T:
        for dj in T:
            if 0 <= i + di < nodes[0] and 0 <= j + dj < nodes[1]:
                entries[i + di, j + dj] = T[di] * W[dj] + 100 * W[di] * T[dj] + 0.1 * W[di] * W[dj] + ((i, j) == (2, 2))
    return entries


def star(i, j):
    x, y = 1, 100
    entries = {(i, j): 2 * x + 2 * y + 0.1}
    for di, dj, value in ((1, 0, -x), (-1, 0, -x), (0, 1, -y), (0, -1, -y)):
        if 0 <= i + di < nodes[0] and 0 <= j + dj < nodes[1]:
            entries[i + di, j + dj] = value
    return entries


stencil = box if options.getBool("boxes", False) else star
grid = PETSc.DMDA().create(nodes, stencil_width=1, comm=comm)
A = grid.createMat()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
(x_begin, x_end), (y_begin, y_end) = grid.getRanges()
for j in range(y_begin, y_end):
    for i in range(x_begin, x_end):
        row.index = (i, j)
        for at, value in stencil(i, j).items():
            column.index = at
            A.setValueStencil(row, column, value)
A.assemble()
ksp = PETSc.KSP().create(comm)
ksp.setOperators(A)
ksp.setDM(grid)
ksp.setDMActive(False)
ksp.setFromOptions()
b, x = A.createVecLeft(), A.createVecRight()
b.set(1)
failures = 0
for at in range(1, 500):
    options["weft_fail_at"] = at
    A.scale(1)  # new values, as far as PETSc knows: set-up once more
    try:
        ksp.setUp()
        failed = 0
    except PETSc.Error:
        failed = 1
    total = PETSc.Vec().createMPI((1, comm.size), comm=comm)
    total.set(failed)
    count = int(total.sum())
    if count not in (0, comm.size):
        PETSc.Sys.Print(f"call {at}: {count} of {comm.size} ranks failed")
        sys.exit(1)
    if count == 0:
        break
    failures += 1
options["weft_fail_at"] = 0
ksp.solve(b, x)
r = A * x - b
PETSc.Sys.Print(f"{failures} calls failed, then {'converged' if ksp.reason > 0 else 'diverged'} with residual {r.norm() / b.norm():.1e}")
