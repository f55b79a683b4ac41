"""Lines that -pc_line_kernel toeplitz takes get values that it does not take, and the old ones again. Prints the reason of each solve."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

rows = 60
A = PETSc.Mat().createAIJ([rows, rows], nnz=3)
first, end = A.getOwnershipRange()
for i in range(first, end):
    for j in range(max(0, i - 1), min(rows, i + 2)):
        A[i, j] = 4.0 if i == j else -1.0
A.assemble()
constant, other = A.getDiagonal(), A.getDiagonal()
other.setRandom()
other.axpy(1, constant)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setFromOptions()
x, b = A.createVecs()
b.set(1)
for diagonal in (constant, other, other, constant):
    A.setDiagonal(diagonal)
    ksp.setUp()
    ksp.solve(b, x)
    PETSc.Sys.Print("reason", ksp.getConvergedReason())
