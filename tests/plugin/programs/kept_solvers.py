"""A preconditioner, factors, or a mask that outlive the values they were made of. Usage: kept_solvers.py CASE [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv[2:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()


def five_points(grid, centre, lower=-1.0, upper=-1.0, changes=()):
    """On a grid of dof 1: `centre`, and couplings down and up each direction; changes: (node, node's new diagonal)."""
    A, (nx, ny) = grid.createMat(), grid.getSizes()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (x0, x1), (y0, y1) = grid.getRanges()
    for j in range(y0, y1):
        for i in range(x0, x1):
            row.index = (i, j)
            A.setValueStencil(row, row, dict(changes).get((i, j), centre))
            for di, dj, value in ((-1, 0, lower), (0, -1, lower), (1, 0, upper), (0, 1, upper)):
                if 0 <= i + di < nx and 0 <= j + dj < ny:
                    column.index = (i + di, j + dj)
                    A.setValueStencil(row, column, value)
    A.assemble()
    return A


def grid_of(nx, ny):
    return PETSc.DMDA().create((nx, ny), stencil_type="star", stencil_width=1, comm=PETSc.COMM_WORLD)


def solve(ksp, A, b, transposed=False):
    x, r = A.createVecRight(), b.duplicate()
    (ksp.solveTranspose if transposed else ksp.solve)(b, x)
    (A.multTranspose if transposed else A.mult)(x, r)
    r.aypx(-1, b)
    PETSc.Sys.Print(f"reason {ksp.reason}, iterations {ksp.its}, residual {r.norm() / b.norm():.1e}")
    return x


def ksp_of(A, P=None, grid=None):
    ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
    if grid:
        ksp.getPC().setDM(grid)
    ksp.setOperators(A, P or A)
    ksp.setTolerances(rtol=1e-8, max_it=200)
    ksp.setFromOptions()
    return ksp


def scaled():
    """The same preconditioner for A and, kept, for 2 A: as many iterations. Convection makes bcr's modes lose digits, which refinement cures."""
    grid = grid_of(options.getInt("nx", 33), options.getInt("ny", 31))
    A = five_points(grid, options.getReal("centre", 4.0), -1.3, -0.7)
    b = A.createVecLeft()
    b.setRandom()
    ksp = ksp_of(A, grid=grid)
    transposed = options.getBool("transposed", False)
    solve(ksp, A, b)
    ksp.getPC().setReusePreconditioner(True)
    A.scale(2)
    ksp.setOperators(A)
    solve(ksp, A, b, transposed)


def factors():
    """Factors are what they were, whatever becomes of the matrix. This one needs a step of refinement, as its diagonal is tiny."""
    n = 60
    for seed in range(12):
        values = np.random.default_rng(seed).normal(size=(n, n))
        values[np.arange(n), np.arange(n)] *= 1e-6
        A = PETSc.Mat().createAIJ((n, n), nnz=n, comm=PETSc.COMM_SELF)
        A.setValues(range(n), range(n), values)
        A.assemble()
        pc = PETSc.PC().create(PETSc.COMM_SELF)
        pc.setOperators(A)
        pc.setType("lu")
        pc.setFactorSolverType("crout")
        pc.setUp()
        b, x = A.createVecs()
        b.set(1)
        A.zeroEntries()
        pc.getFactorMatrix().solve(b, x)
        PETSc.Sys.Print(f"residual {np.linalg.norm(values @ x.array - 1) / n**0.5:.1e}")


def penalties():
    """KSPADI takes penalties lightly in its norm: those of the operator, and not those of the matrix that it is preconditioned with."""
    grid = grid_of(17, 17)
    A = five_points(grid, 4.01)
    P = five_points(grid, 4.01, changes=[((i, 8), 1e8) for i in range(4, 13)])
    b = A.createVecLeft()
    b.setRandom()
    solve(ksp_of(A, P, grid), A, b)


def stiff_row():
    """One diagonal entry of 1e8, which the nearest separable operator has on a whole cross of rows."""
    grid = grid_of(17, 17)
    A = five_points(grid, 4.1, changes=[((8, 8), 1e8)])
    b = A.createVecLeft()
    b.set(1)
    solve(ksp_of(A, grid=grid), A, b)


globals()[sys.argv[1]]()
