"""A PCBCR that is kept while the grid changes its shape, and the ranks' numbers of rows do not. Usage: bcr_other_grid.py [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv[1:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402


def operator(sizes):
    grid = PETSc.DMDA().create(sizes, stencil_type="star", stencil_width=1)
    A = grid.createMat()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (x0, x1), (y0, y1) = grid.getRanges()
    for j in range(y0, y1):
        for i in range(x0, x1):
            row.index = (i, j)
            A.setValueStencil(row, row, 8)
            for at, c in (((i - 1, j), -1), ((i + 1, j), -1), ((i, j - 1), -3), ((i, j + 1), -3)):
                if 0 <= at[0] < sizes[0] and 0 <= at[1] < sizes[1]:
                    column.index = at
                    A.setValueStencil(row, column, c)
    A.assemble()
    return A


ksp = PETSc.KSP().create()
ksp.setType("preonly")
ksp.getPC().setType("bcr")
ksp.setFromOptions()
for sizes in ((7, 9), (9, 7), (7, 9)):
    A = operator(sizes)
    ksp.setOperators(A)
    x, b = A.createVecs()
    b.setArray(np.cos(np.arange(*b.getOwnershipRange()) * 1.3))
    ksp.solve(b, x)
    r = b.duplicate()
    A.mult(x, r)
    r.axpy(-1, b)
    PETSc.Sys.Print(f"{sizes}: reason {ksp.reason}, residual {r.norm() / b.norm():.1e}")
