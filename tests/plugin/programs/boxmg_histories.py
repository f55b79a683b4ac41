"""PCBOXMG after other matrices, ways and starts. Usage: boxmg_histories.py CASE [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv[2:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm, options = PETSc.COMM_WORLD, PETSc.Options()


def operator(grid, diffusion, velocity=0.0, stranger=None):
    """Five points on a grid, upwind; a stranger is one more entry, a row and a column by their places."""
    A = grid.createMat()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (x0, x1), (y0, y1) = grid.getRanges()
    nx, ny = grid.getSizes()
    number = grid.getAO()
    for j in range(y0, y1):
        for i in range(x0, x1):
            row.index = (i, j)
            total = 0.1
            for di, dj, c in ((-1, 0, diffusion[0] + velocity), (1, 0, diffusion[0]), (0, -1, diffusion[1] + velocity / 3), (0, 1, diffusion[1])):
                total += c
                if 0 <= i + di < nx and 0 <= j + dj < ny:
                    column.index = (i + di, j + dj)
                    A.setValueStencil(row, column, -c)
            A.setValueStencil(row, row, total)
            if stranger and stranger[0] == (i, j):
                natural = stranger[1][0] + nx * stranger[1][1]
                A.setValue(number.app2petsc([i + nx * j])[0], number.app2petsc([natural])[0], -0.5)
    A.assemble()
    return A


def grid_of(n):
    return PETSc.DMDA().create(n, stencil_type="star", stencil_width=1, comm=comm)


def ksp_of(grid, A, kind):
    ksp = PETSc.KSP().create(comm)
    ksp.setType(kind)
    ksp.getPC().setType("boxmg")
    ksp.setDM(grid)
    ksp.setDMActive(False)
    ksp.setOperators(A)
    ksp.setTolerances(rtol=1e-9, max_it=60)
    ksp.setFromOptions()
    return ksp


def solve(ksp, A, b, x=None):
    x = x or b.duplicate()
    ksp.solve(b, x)
    r = b.duplicate()
    A.mult(x, r)
    r.aypx(-1, b)
    PETSc.Sys.Print(f"reason {ksp.reason}, iterations {ksp.its}, residual {r.norm() / (b.norm() or 1):.2e}")
    return x


def random(A, seed=0):
    b = A.createVecLeft()
    first, last = b.getOwnershipRange()
    b.array = np.random.default_rng(seed).uniform(-1, 1, b.size)[first:last]
    return b


case = sys.argv[1]
if case == "other":  # a matrix made by the same calls, under a preconditioner that is kept
    grid = grid_of((40, 30))
    A, B = operator(grid, (1, 1)), operator(grid, (1, 1.3))
    ksp = ksp_of(grid, A, "richardson")
    solve(ksp, A, random(A))
    ksp.getPC().setReusePreconditioner(True)
    ksp.setOperators(B)
    solve(ksp, B, random(B))
elif case == "small":  # a grid that is solved directly
    grid = grid_of((9, 9))
    A = operator(grid, (1, 1e-7))
    ksp = ksp_of(grid, A, "richardson")
    solve(ksp, A, random(A))
elif case == "infinite":  # a right-hand side that is at a row of its own, beside which a step leaves no residual
    grid = grid_of((5, 3))
    A = operator(grid, (1, 1))
    A.zeroRowsColumns([row for row in range(*A.getOwnershipRange()) if grid.getAO().petsc2app([row])[0] not in (6, 7, 8)])
    ksp = ksp_of(grid, A, "richardson")
    b = random(A)
    if comm.rank == comm.size - 1:
        b.setValue(b.getOwnershipRange()[1] - 1, -np.inf)
    b.assemble()
    x = b.duplicate()
    ksp.solve(b, x)
    PETSc.Sys.Print(f"reason {ksp.reason}, iterations {ksp.its}, residual {x.norm()}")
elif case == "zero":  # a right-hand side of 0, and a guess that is not
    grid = grid_of((40, 30))
    A = operator(grid, (1, 1))
    ksp = ksp_of(grid, A, "richardson")
    ksp.setInitialGuessNonzero(True)
    b = A.createVecLeft()
    x = solve(ksp, A, b, random(A))
elif case == "symmetric":  # after a matrix that is not, in single precision
    grid = grid_of((65, 65))
    A = operator(grid, (1, 1), 2)
    ksp = ksp_of(grid, A, "cg")
    pc = ksp.getPC()
    ksp.setUp()
    operator(grid, (1, 1)).copy(A, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
    ksp.setUp()
    b, c = random(A), random(A, 1)
    x, y = b.duplicate(), b.duplicate()
    pc.apply(b, x)
    pc.apply(c, y)
    PETSc.Sys.Print(f"asymmetry {abs(c.dot(x) - b.dot(y)) / abs(c.dot(x)):.1e}")
elif case == "stranger":  # in a row far from other ranks, to one of theirs, after a matrix without
    grid = grid_of((40, 30))
    ksp = ksp_of(grid, operator(grid, (1, 1)), "richardson")
    ksp.setUp()
    ksp.setOperators(operator(grid, (1, 1), stranger=((5, 5), (35, 25))))
    try:
        ksp.setUp()
        PETSc.Sys.Print("taken")
    except PETSc.Error as error:
        PETSc.Sys.Print(f"refused with error {error.ierr}")
elif case == "share":  # levels that were gathered are shared then, and gathered again
    grid = grid_of((40, 30))
    A = operator(grid, (1, 1))
    ksp = ksp_of(grid, A, "richardson")
    for share in ("100000", "0", "100000"):
        options["pc_boxmg_share"] = share
        ksp.setFromOptions()
        ksp.getPC().reset() if "reset" in sys.argv else None
        A.scale(1.5)
        solve(ksp, A, random(A))
