"""Richardson's iteration with a preconditioner that is kept for other values. Usage: kept_matrix.py TYPE CHANGE [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv[3:])
from petsc4py import PETSc  # noqa: E402

kind, change = sys.argv[1:3]
grid = PETSc.DMDA().create((7, 6), stencil_type="star", stencil_width=1, comm=PETSc.COMM_WORLD)


def operator(shift):
    A = grid.createMat()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (x0, x1), (y0, y1) = grid.getRanges()
    for j in range(y0, y1):
        for i in range(x0, x1):
            row.index = (i, j)
            A.setValueStencil(row, row, 4 + shift)
            for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if 0 <= i + di < 7 and 0 <= j + dj < 6:
                    column.index = (i + di, j + dj)
                    A.setValueStencil(row, column, -1)
    A.assemble()
    return A


A = P = operator(0.5)
ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
ksp.setType("richardson")
ksp.getPC().setType(kind)
ksp.setDM(grid)
ksp.setDMActive(False)
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-8, max_it=80)
ksp.setFromOptions()
for round in range(3):
    if round > 0:
        ksp.getPC().setReusePreconditioner(True)
        if change == "values":
            A.shift(0.25)
        elif change == "scale":
            A.scale(1.25)
        elif change == "matrix":  # made by the same calls
            A = P = operator(0.5 + 0.25 * round)
        else:  # another operator than the matrix of the preconditioner
            A = operator(0.5 + 0.25 * round)
        ksp.setOperators(A, P)
    b, x = A.createVecLeft(), A.createVecRight()
    b.set(1)
    if round == 2:
        x.set(3)
        ksp.setInitialGuessNonzero(True)
    ksp.solve(b, x)
    r = b.duplicate()
    A.mult(x, r)
    r.aypx(-1, b)
    PETSc.Sys.Print(f"reason {ksp.reason}, residual {r.norm() / b.norm():.2e}")
