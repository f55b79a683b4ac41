"""Values that change in a matrix which a KSP has solved with: in place, and by less than what is called separable."""

import sys

import numpy
import petsc4py

petsc4py.init(sys.argv)

from petsc4py import PETSc  # noqa: E402

n = 10
size = n * n
line = 2 * numpy.eye(n) - numpy.eye(n, k=1) - numpy.eye(n, k=-1)
laplacian = numpy.kron(line, numpy.eye(n)) + numpy.kron(numpy.eye(n), line)
grid = PETSc.DMDA().create([n, n], stencil_width=1, stencil_type=PETSc.DMDA.StencilType.STAR, setup=True)
matrix = grid.createMat()
first, last = matrix.getOwnershipRange()
order = grid.getAO().petsc2app(numpy.arange(size, dtype=PETSc.IntType))  # the node of a row


def fill(values):
    for row in range(first, last):
        columns = numpy.flatnonzero(values[order[row], order]).astype(PETSc.IntType)
        matrix.setValues([row], columns, values[order[row], order[columns]])
    matrix.assemble()


def solver():
    ksp = PETSc.KSP().create()
    ksp.setDM(grid)
    ksp.setDMActive(False)
    ksp.setType("preonly")
    ksp.pc.setType("bcr")
    ksp.setFromOptions()
    return ksp


b, x, r = matrix.createVecLeft(), matrix.createVecRight(), matrix.createVecLeft()
b.setRandom()


def tell(name, ksp):
    ksp.solve(b, x)
    matrix.mult(x, r)
    r.aypx(-1, b)
    PETSc.Sys.Print(f"{name}: reason {ksp.getConvergedReason()} residual {r.norm() / b.norm():.2e}")


scales = numpy.where(numpy.arange(size) < size // 3, 3.0, 1.0)
ksp = solver()
fill(laplacian)
ksp.setOperators(matrix)
tell("separable", ksp)
fill(scales[:, None] * laplacian * scales)
tell("no longer, in place", ksp)
fill(laplacian)
tell("again, in place", ksp)

# Nearly singular, and one row off by less than the tolerance: what was measured of the first says nothing of the second.
line[0, 0] = line[-1, -1] = 1
neumann = numpy.kron(line, numpy.eye(n)) + numpy.kron(numpy.eye(n), line) + 1e-8 * numpy.eye(size)
kept = solver()
fill(neumann)
kept.setOperators(matrix)
tell("nearly singular", kept)
neumann[n + 2, n + 2] *= 1 + 1.2e-10
fill(neumann)
for name, ksp in (("kept", kept), ("fresh", solver())):
    ksp.setOperators(matrix)
    tell(f"one row off, {name}", ksp)
