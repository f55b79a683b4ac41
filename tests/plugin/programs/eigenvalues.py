"""SLEPc's shift and invert on the 2-D Laplacian: the eigenvalues nearest to a target, beside those that are known."""

import sys

import slepc4py

slepc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

nodes, target = (9, 8), 0.3
grid = PETSc.DMDA().create(nodes, stencil_width=1)
A = grid.createMat()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
(x_begin, x_end), (y_begin, y_end) = grid.getRanges()
for j in range(y_begin, y_end):
    for i in range(x_begin, x_end):
        row.index = (i, j)
        for di, dj, value in ((0, 0, 4), (1, 0, -1), (-1, 0, -1), (0, 1, -1), (0, -1, -1)):
            if 0 <= i + di < nodes[0] and 0 <= j + dj < nodes[1]:
                column.index = (i + di, j + dj)
                A.setValueStencil(row, column, value)
A.assemble()
solver = SLEPc.EPS().create()
solver.setOperators(A)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setDimensions(4)
solver.setTarget(target)
solver.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
solver.getST().setType("sinvert")
solver.setFromOptions()
solver.solve()
along = [2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1)) for n in nodes]
known = sorted(np.add.outer(*along).ravel(), key=lambda value: abs(value - target))[:4]
found = sorted((solver.getEigenvalue(k).real for k in range(min(4, solver.getConverged()))), key=lambda value: abs(value - target))
PETSc.Sys.Print("worst error", max(abs(a - b) for a, b in zip(known, found)) if len(found) == 4 else "inf")
