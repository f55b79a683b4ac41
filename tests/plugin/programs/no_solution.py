"""Preconditioners that hide from a Krylov method what they leave. Usage: no_solution.py CASE [PETSc options]. Prints reasons and true residuals."""

import sys

import numpy as np
import petsc4py

petsc4py.init(sys.argv[2:])
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()


def chain(weights, reaction=0.0):
    """Nodes in a row, `weights` of the couplings, and before the first and behind the last one those to known values."""
    n = len(weights) - 1
    grid = PETSc.DMDA().create((n,), stencil_width=1, comm=PETSc.COMM_WORLD)
    A = grid.createMat()
    first, last = A.getOwnershipRange()
    for i in range(first, last):
        A[i, i] = weights[i] + weights[i + 1] + reaction
        if i > 0:
            A[i, i - 1] = -weights[i]
        if i < n - 1:
            A[i, i + 1] = -weights[i + 1]
    A.assemble()
    return grid, A


def solve(grid, A, b, kind=None, pc=None, norm=None, guess=False):
    ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
    ksp.setDM(grid)
    ksp.setDMActive(False)
    ksp.setOperators(A)
    ksp.setTolerances(rtol=1e-8, max_it=100)
    if kind:
        ksp.setType(kind)
    if pc:
        ksp.getPC().setType(pc)
    ksp.setFromOptions()
    if norm is not None:
        ksp.setNormType(norm)
    x, r = A.createVecs()
    if guess:
        ksp.setInitialGuessNonzero(True)
        x.setRandom()
    ksp.solve(b, x)
    A.mult(x, r)
    r.aypx(-1, b)
    PETSc.Sys.Print(f"reason {ksp.reason}, residual {r.norm() / (b.norm() or 1):.1e}")
    return x


def known(grid, A):
    """The error of a solution that is known."""
    u, b = A.createVecs()
    first, last = u.getOwnershipRange()
    u.setArray(np.cos(3.0 * np.arange(first, last)))
    A.mult(u, b)
    x = solve(grid, A, b)
    x.axpy(-1, u)
    PETSc.Sys.Print(f"error {x.norm() / u.norm():.1e}")


def ones(A):
    b = A.createVecLeft()
    b.set(1)
    return b


def singular():
    """No flux at the ends: the right-hand side is in the range or not, and constants are attached or not."""
    grid, A = chain([0] + 9 * [1.0] + [0])
    b = ones(A)
    if options.getBool("attached", False):
        A.setNullSpace(PETSc.NullSpace().create(constant=True, comm=PETSc.COMM_WORLD))
    if options.getBool("in_range", False):
        b[0] = -9
        b.assemble()
    b.scale(options.getReal("b", 1.0))
    solve(grid, A, b, guess=options.getBool("guess", False))


def weak():
    """Nodes that weak couplings hold."""
    c = options.getReal("weak", 1e-13)
    grid, A = chain(4 * [1.0] + [c] + 3 * [1.0] + [c] + 4 * [1.0])
    solve(grid, A, ones(A))


def norms():
    """KSPPREONLY looks at no norm, whatever type of norm a program asks for."""
    grid, A = chain(13 * [1.0], 1)
    b = ones(A)
    b[4] = np.nan
    b.assemble()
    for pc in ("adi", "bcr", "boxmg", "crout", "line"):
        for norm in (PETSc.KSP.NormType.NONE, PETSc.KSP.NormType.PRECONDITIONED, PETSc.KSP.NormType.UNPRECONDITIONED, PETSc.KSP.NormType.NATURAL):
            solve(grid, A, b, "preonly", pc, norm)
    for kind in ("chebyshev", "richardson"):
        solve(grid, A, b, kind, "line", PETSc.KSP.NormType.NONE)


def blocks():
    """Lines of two ranks, which couple or not."""
    c = options.getReal("between", 1.0)
    grid, A = chain(6 * [1.0] + [c] + 6 * [1.0])
    solve(grid, A, ones(A))


def size():
    """Nodes in a row."""
    grid, A = chain(13 * [1.0])
    solve(grid, A, ones(A))


def penalties():
    """Nodes whose diagonals outweigh their couplings."""
    grid, A = chain(21 * [1.0])
    first, last = A.getOwnershipRange()
    for i in range(first, last):
        if i % 7 == 2:
            A[i, i] = options.getReal("penalty", 1e5)
    A.assemble()
    known(grid, A)


def insulated():
    """A plane with nodes of large known values, which the others see weakly or not at all. For one rank."""
    n, heavy, seen = 9, set(range(5, 81, 11)), options.getReal("seen", 0.0)
    grid = PETSc.DMDA().create((n, n), stencil_width=1, comm=PETSc.COMM_WORLD)
    A = grid.createMat()
    for row in range(n * n):
        A[row, row] = options.getReal("penalty", 1e5) * (1 + row / 100) if row in heavy else 4.01
        for other, there in ((row - 1, row % n > 0), (row + 1, row % n < n - 1), (row - n, row >= n), (row + n, row < n * (n - 1))):
            if there:
                A[row, other] = -seen if other in heavy else -1
    A.assemble()
    u, b = A.createVecs()
    u.array = [options.getReal("value", 1.0) * (1 + row / 300) if row in heavy else np.cos(3.0 * row) for row in range(n * n)]
    A.mult(u, b)
    x = solve(grid, A, b)
    PETSc.Sys.Print(f"error {max(abs(x.array[row] - u.array[row]) for row in range(n * n) if row not in heavy):.1e}")


def step():
    """A short time step: the ends have one coupling each, and outweigh it by 1e4."""
    known(*chain(41 * [1e-4], 1))


def newton():
    """No flux at the ends and u^3 = 1, from u = 0."""
    grid, A = chain([0] + 9 * [1.0] + [0])
    J = A.duplicate(copy=True)

    def function(snes, u, f):
        A.mult(u, f)
        f.array = f.array + u.array**3 - 1

    def jacobian(snes, u, J, P):
        A.copy(P, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
        diagonal = u.duplicate()
        diagonal.array = 3 * u.array**2
        P.setDiagonal(diagonal, addv=True)
        return True

    snes = PETSc.SNES().create(PETSc.COMM_WORLD)
    u, f = A.createVecs()
    snes.setFunction(function, f)
    snes.setJacobian(jacobian, J, J)
    snes.getKSP().setDM(grid)
    snes.getKSP().setDMActive(False)
    snes.setFromOptions()
    u.set(0 if PETSc.COMM_WORLD.size == 1 else 0.5)
    snes.solve(None, u)
    PETSc.Sys.Print(f"reason {snes.reason}, residual {f.norm():.1e}")


globals()[sys.argv[1]]()
