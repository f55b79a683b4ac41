"""Lines with constant coefficients on grids whose edges differ: what -pc_line_kernel auto takes for them, and whether it solves as thomas does."""

import itertools
import sys

import petsc4py

petsc4py.init(sys.argv[1:])
import numpy  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
comm = PETSc.COMM_WORLD


def matrix(grid, sizes, ends):
    """The star with weights 1, 0.1, 0.01; each direction has its ends: dirichlet, neumann, or rows of known values."""
    A = grid.createMat()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    for at in itertools.product(*(range(a, b) for a, b in grid.getRanges())):
        known = any(end == "known" and place in (0, size - 1) for place, size, end in zip(at, sizes, ends))
        row.index = at
        diagonal = 0.01
        for k, weight in enumerate((1, 0.1, 0.01)[: len(sizes)]):
            for step in (-1, 1):
                there = at[k] + step
                inside = 0 <= there < sizes[k]
                if inside or ends[k] != "neumann":
                    diagonal += weight
                if inside and not known:
                    column.index = tuple(there if j == k else at[j] for j in range(len(sizes)))
                    A.setValueStencil(row, column, -weight)
        column.index = at
        A.setValueStencil(row, column, 1.0 if known else diagonal)
    A.assemble()
    return A


def applied(A, grid, kernel, direction, right, transposed):
    options["pc_line_kernel"], options["pc_line_direction"] = kernel, direction
    pc = PETSc.PC().create(comm)
    pc.setOperators(A)
    pc.setDM(grid)
    pc.setType("line")
    pc.setFromOptions()
    pc.setUp()
    x = right.duplicate()
    (pc.applyTranspose if transposed else pc.apply)(right, x)
    return x


for sizes in ((23, 19), (12, 2), (11, 9, 10)):
    for ends in itertools.product(("dirichlet", "neumann", "known"), repeat=len(sizes)):
        if len(set(ends)) > 2:
            continue
        grid = PETSc.DMDA().create(sizes, stencil_width=1, comm=comm)
        A = matrix(grid, sizes, ends)
        right = A.createVecLeft()
        first, end = right.getOwnershipRange()
        right.setArray(numpy.sin(1.0 + numpy.arange(first, end) ** 2))
        for direction, transposed in itertools.product("xyz"[: len(sizes)], (False, True)):
            x = applied(A, grid, "toeplitz", direction, right, transposed)
            difference = x.copy()
            difference.axpy(-1, applied(A, grid, "thomas", direction, right, transposed))
            worst = difference.norm(PETSc.NormType.INFINITY) / x.norm(PETSc.NormType.INFINITY)
            if not worst < 1e-13:
                PETSc.Sys.Print(f"wrong: {sizes}, {ends}, {direction}, transposed {transposed}: {worst:.1e}")
PETSc.Sys.Print("done")
