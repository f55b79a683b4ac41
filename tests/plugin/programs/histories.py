"""What comes after a failure, and right-hand sides that have no solution; each by its name: -case NAME."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print


def solver(A, da=None):
    ksp = PETSc.KSP().create()
    if da:
        ksp.setDM(da)
        ksp.setDMActive(False)
    ksp.setOperators(A)
    ksp.setFromOptions()
    return ksp


def after_a_failure():
    """Values that no factors have, then others of the same pattern: as a fresh solver."""
    n = 6
    A = PETSc.Mat().createAIJ([n, n], nnz=3, comm=PETSc.COMM_SELF)
    for bad in (np.nan, "zero", "singular"):
        for value in (bad, 2.5):
            for i in range(n):
                for j in range(max(i - 1, 0), min(i + 2, n)):
                    A[i, j] = 2.5 if i == j else -1.0
            if value == "zero":
                for j in (1, 2, 3):
                    A[2, j] = A[j, 2] = 0.0
            elif value == "singular":  # to working precision: the check of complete factors finds it
                for i in range(n):
                    A[i, i] = 1.0 if i in (0, n - 1) else 2.0
            elif value is bad:
                A[2, 2] = value
            A.assemble()
            if value == bad or value is bad:
                ksp = solver(A)
            x, b = A.createVecs()
            b.setArray(np.arange(1.0, n + 1))
            ksp.solve(b, x)
            if value == bad or value is bad:
                say("failed", bad, ksp.getConvergedReason() < 0)
        residual = A.createVecLeft()
        A.mult(x, residual)
        residual.axpy(-1, b)
        say("after", bad, ksp.getConvergedReason() > 0 and residual.norm() < 1e-3 * b.norm())


def empty_row():
    """A tridiagonal system with an empty row has no solution unless the right-hand side is zero there."""
    n = 9
    A = PETSc.Mat().createAIJ([n, n], nnz=3)
    for i in range(*A.getOwnershipRange()):
        for j in range(max(i - 1, 0), min(i + 2, n)):
            A[i, j] = 0.0 if 4 in (i, j) else 2.5 if i == j else -1.0
    A.assemble()
    x, b = A.createVecs()
    for there in (1.0, 0.0):
        b.set(1.0)
        if b.getOwnershipRange()[0] <= 4 < b.getOwnershipRange()[1]:
            b[4] = there
        b.assemble()
        ksp = solver(A)
        ksp.solve(b, x)
        say("reason", ksp.getConvergedReason())


def five_points(da, centre, A=None):
    A, row, column = A or da.createMat(), PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    (first, last), (low, high) = da.getRanges()
    nx, ny = da.getSizes()
    for i, j in ((i, j) for j in range(low, high) for i in range(first, last)):
        row.index = (i, j)
        for p, q, value in ((i, j, centre), (i - 1, j, -1.0), (i + 1, j, -1.0), (i, j - 1, -1.0), (i, j + 1, -1.0)):
            if 0 <= p < nx and 0 <= q < ny:
                column.index = (p, q)
                A.setValueStencil(row, column, value)
    A.assemble()
    return A


def no_number():
    """One application, and a right-hand side that is no number."""
    da = PETSc.DMDA().create([5, 4], stencil_width=1)
    A = five_points(da, 4.0)
    x, b = A.createVecs()
    b.set(1.0)
    if A.getComm().rank == 0:
        b[2] = np.nan
    b.assemble()
    ksp = solver(A, da)
    ksp.solve(b, x)
    say("reason", ksp.getConvergedReason())


def found_again():
    """Lines of the graph that are to be looked for in each set-up, after values for which they carried little."""
    n = 16
    A = PETSc.Mat().createAIJ([n, n], nnz=n, comm=PETSc.COMM_SELF)
    ksp = None
    for coupled in ([(0, i) for i in range(1, n)], [(0, 1), (0, 2), (3, 4)]):
        for i in range(n):
            for j in range(n):
                A[i, j] = 4.0 if i == j else -1.0 if (min(i, j), max(i, j)) in coupled else 0.0
        A.assemble()
        ksp = ksp or solver(A)
        x, b = A.createVecs()
        b.setArray(np.arange(1.0, n + 1))
        ksp.getPC().setUp()
        ksp.getPC().apply(b, x)
    fresh = x.duplicate()
    solver(A).getPC().apply(b, fresh)
    x.axpy(-1, fresh)
    say("difference", x.norm())


def solver_of_five_points(centre):
    da = PETSc.DMDA().create([9, 8], stencil_width=1)
    A = five_points(da, centre)
    x, b = A.createVecs()
    b.set(1)
    return da, A, x, b, solver(A, da)


def more_cycles():
    """Cycles that make errors grow, few in an application first and then many."""
    da, A, x, b, ksp = solver_of_five_points(3.5)
    for iterations in (1, 40):
        options["pc_adi_iterations"] = iterations
        ksp.setFromOptions()
        ksp.setOperators(A)
        ksp.solve(b, x)
        say("reason", ksp.getConvergedReason())


def in_place():
    """Richardson's iteration, and values that come into the same matrix without KSPSetOperators(): iterations, and those of a fresh solver."""
    da, A, x, b, ksp = solver_of_five_points(4.5)
    ksp.solve(b, x)
    five_points(da, 4.1, A)
    for each in (ksp, solver(A, da)):
        each.solve(b, x)
        say("iterations", each.getIterationNumber())


def penalties_in_place():
    """KSPADI with penalties, and values that come into the same matrix without KSPSetOperators(): what is left of the other rows."""
    da, A, x, b, ksp = solver_of_five_points(4.5)
    residual, penalties = b.duplicate(), b.duplicate()
    first, last = b.getOwnershipRange()
    penalties.setArray([1e8 if row % 9 == 0 else 0.0 for row in range(first, last)])
    b.setArray(1 + 3 * penalties.array)
    for centre in (4.5, 4.1):
        five_points(da, centre, A)
        A.setDiagonal(penalties, addv=True)
        ksp.solve(b, x)
        A.mult(x, residual)
        residual.axpy(-1, b)
        residual.setArray(np.where(penalties.array > 0, 0, residual.array))
        say("left", residual.norm())


def fails_in_place():
    """A solver that looks at no norm, and values without a preconditioner that come into the same matrix without KSPSetOperators()."""
    da, A, x, b, ksp = solver_of_five_points(4.5)
    for centre in (4.5, -0.5):
        five_points(da, centre, A)
        ksp.solve(b, x)
        say("reason", ksp.getConvergedReason())


def another_pc():
    """KSPADI whose PC the program changes after a set-up: iterations of each solve, and the PC's type in the end."""
    da, A, x, b, ksp = solver_of_five_points(4.5)
    for change in ("none", "type", "PC"):
        if change == "type":
            ksp.getPC().setType("jacobi")
        elif change == "PC":
            pc = PETSc.PC().create()
            pc.setOperators(A)
            pc.setType("jacobi")
            ksp.setPC(pc)
        ksp.solve(b, x)
        say("iterations", ksp.getIterationNumber(), ksp.getPC().getType())


for name, case in list(globals().items()):
    if name == options.getString("case", ""):
        case()
