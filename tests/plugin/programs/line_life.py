"""What a program does with one PCLINE, each by its name: -case NAME. What must be alike is printed as a difference."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print


def square(n, x=1.0, y=1.0, shift=0.0):
    """Five points; couplings x and y."""
    A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    fill(A, n, lambda j: (x, y), shift)
    return A


def fill(A, n, couplings, shift=0.0):
    """The same, where couplings(j) are those of the j-th grid line along x."""
    for row in range(*A.getOwnershipRange()):
        i, j = row % n, row // n
        x, y = couplings(j)
        A[row, row] = 2 * x + 2 * y + shift
        for column, value, inside in ((row - 1, -x, i > 0), (row + 1, -x, i < n - 1), (row - n, -y, j > 0), (row + n, -y, j < n - 1)):
            if inside:
                A[row, column] = value
    A.assemble()


def line(A, da=None):
    pc = PETSc.PC().create()
    if da:
        pc.setDM(da)
    pc.setOperators(A)
    pc.setType("line")
    pc.setFromOptions()
    pc.setUp()
    return pc


def numbers(A):
    b = A.createVecLeft()
    b.setArray(1.0 + np.arange(*b.getOwnershipRange()) % 7)
    return b


def applied(pc, A, how="apply"):
    y = A.createVecRight()
    getattr(pc, how)(numbers(A), y)
    return y


def difference(pc, A, da=None):
    """From what a fresh PC does."""
    y, fresh = applied(pc, A), applied(line(A, da), A)
    fresh.axpy(-1, y)
    return fresh.norm() / y.norm()


def another_map():
    A = square(6)
    columns, rows = [], []
    for k in range(6):
        columns += [*range(k, 36, 6), -1]
        rows += [*range(6 * k, 6 * k + 6), -1]
    first = A.getComm().rank == 0

    def compose(lines):
        A.compose("weft_lines", PETSc.IS().createGeneral(np.array(lines if first else [], dtype=PETSc.IntType), comm=A.getComm()))

    compose(rows)
    pc = line(A)
    for lines in (columns, columns, rows):
        compose(lines)
        A.stateIncrease()
        pc.setOperators(A)
        say("difference", difference(pc, A))


def another_omega():
    A = square(6)
    pc = line(A)
    before = applied(pc, A)
    options["pc_line_omega"] = 0.5
    pc.setFromOptions()
    after = applied(pc, A)
    before.axpy(-2, after)
    say("difference", before.norm())


def damped_later():
    """Richardson's iteration: zebra without damping, all lines at once with it."""
    da = PETSc.DMDA().create([9, 9], stencil_width=1)
    A = da.createMat()
    fill(A, 9, lambda j: (1, 1), 0.1)

    def solved(ksp):
        x = A.createVecRight()
        ksp.solve(numbers(A), x)
        return x

    def made():
        ksp = PETSc.KSP().create()
        ksp.setDM(da)
        ksp.setDMActive(False)
        ksp.setOperators(A)
        ksp.setType("richardson")
        ksp.getPC().setType("line")
        ksp.setTolerances(max_it=5)
        ksp.setFromOptions()
        return ksp

    ksp = made()
    solved(ksp)
    for omega in (0.7, 1.0):
        options["pc_line_omega"] = omega
        ksp.setFromOptions()
        x = solved(ksp)
        x.axpy(-1, solved(made()))
        say("difference", x.norm())


def both_sides():
    A = PETSc.Mat().createAIJ([6, 6], nnz=3)
    A.setUp()
    for row in range(*A.getOwnershipRange()):
        A[row, row] = 1
        for column in (row - 1, row + 1):
            if 0 <= column < 6:
                A[row, column] = -1
    A.assemble()
    options["pc_line_source"] = "rows"
    options["pc_line_ranks"] = "cut"
    pc = line(A)
    for _ in range(2):
        y = applied(pc, A, "applySymmetricLeft")
        say("finite", np.isfinite(y.norm()))
    A.shift(2)
    pc.setOperators(A)
    pc.setUp()
    y = applied(pc, A, "applySymmetricLeft")
    say("finite", np.isfinite(y.norm()))


def in_place():
    """Products from the diagonals, then an operation of PETSc's that leaves another matrix in the same place."""
    n = 5
    options["pc_line_diagonal_products"] = 1
    A = square(n)
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_LOCATION_ERR, False)
    A[3, 4] = -0.25
    A.assemble()
    da = PETSc.DMDA().create([n, n], stencil_width=1)
    pc = line(A, da)
    right, y, z = A.copy(), A.createVecLeft(), A.createVecLeft()
    right.transpose()
    how = options.getString("how")
    if how == "transpose":
        A.transpose()
    elif how == "convert":
        A.convert("baij")
        A.transpose()
    for step in ("still there", "gone"):
        A.mult(numbers(A), y)
        right.mult(numbers(A), z)
        z.axpy(-1, y)
        say("difference", z.norm())
        if step == "still there":
            pc.setOperators(A)
            pc.setUp()
            say("difference", difference(pc, A, da))
            pc.destroy()
    A.destroy()


def empty_rows():
    """As on Galerkin's coarse levels: rows and columns 7 and 20 have no entries, or zeros."""
    n = 6
    A, full = square(n, y=0.1), square(n, y=0.1)
    one = [row for row in (7, 20) if A.getOwnershipRange()[0] <= row < A.getOwnershipRange()[1]]
    A.setOption(PETSc.Mat.Option.KEEP_NONZERO_PATTERN, options.getBool("stored", True))
    A.zeroRowsColumns(one, diag=0)
    full.zeroRowsColumns(one, diag=1)
    pc, like = line(A), line(full)
    y = applied(pc, A)
    y.axpy(-1, applied(like, full))
    say("difference", y.norm())
    say("difference", A.norm() - (full.norm() ** 2 - 2) ** 0.5)
    A.zeroEntries()
    for row in range(*A.getOwnershipRange()):
        A[row, row] = 2.0
    A.assemble()
    pc.setOperators(A)
    say("difference", difference(pc, A))


def nan_under_richardson():
    A = square(6)
    x, b = A.createVecs()
    for where in ("right-hand side", "guess"):
        ksp = PETSc.KSP().create()
        ksp.setOperators(A)
        ksp.setType("richardson")
        ksp.getPC().setType("line")
        ksp.setTolerances(max_it=5)
        ksp.setFromOptions()
        b.set(1)
        x.set(0)
        ksp.setInitialGuessNonzero(where == "guess")
        bad = b if where == "right-hand side" else x
        if A.getComm().rank == 0:
            bad[3] = np.nan
        bad.assemble()
        ksp.solve(b, x)
        say(where, ksp.getConvergedReason())


def estimated_omega():
    A = square(8, y=0.9)
    options["pc_line_estimate_omega"] = 1
    if options.getString("lines", "graph") == "grid":
        da = PETSc.DMDA().create([8, 9], stencil_width=1)
        A = da.createMat()
        row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        (x0, x1), (y0, y1) = da.getRanges()
        for j in range(y0, y1):
            for i in range(x0, x1):
                row.index = (i, j)
                for di, dj, value in ((0, 0, 4.2 + 0.01 * i), (-1, 0, -1), (1, 0, -1), (0, -1, -1.1), (0, 1, -1.1)):
                    if 0 <= i + di < 8 and 0 <= j + dj < 9:
                        column.index = (i + di, j + dj)
                        A.setValueStencil(row, column, value)
        A.assemble()
    pc = line(A)
    pc.view()


def turn():
    n = 16
    A = square(n, x=0.01)
    pc = line(A)
    states = [lambda j: (0.01, 1), lambda j: (0.02, 3), lambda j: (5, 0.01), lambda j: (0.01, 4) if j < n // 4 else (5, 0.01), lambda j: (1, 1), lambda j: (1, 30)]
    for couplings in states:
        fill(A, n, couplings)
        pc.setOperators(A)
        pc.setUp()
        say("difference", difference(pc, A))
        if options.getBool("view", False):
            pc.view()


def blocks():
    """Chains of nodes in any order, two unknowns each that are strongly coupled; -weak: what couples the chains beside them."""
    nodes, weak = 60, options.getReal("weak", 0.0)
    A = PETSc.Mat().create()
    A.setSizes(2 * nodes, 2)
    A.setType("aij")
    A.setUp()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    order = np.random.default_rng(3).permutation(nodes)
    if A.getComm().rank == 0:
        for k, node in enumerate(order):
            A.setValuesBlocked([node], [node], [4, 1.9, -1.9, 4])
            for other, size in ((k - 1, 1), (k + 1, 1), (k - 15, weak), (k + 15, weak)):
                if 0 <= other < nodes and (size == 1) == (k // 15 == other // 15) and size > 0:
                    A.setValuesBlocked([node], [order[other]], [0, -1.5 * size, -1.5 * size, 0])
    A.assemble()
    for round in range(2):
        pc = line(A) if round == 0 else pc
        pc.setOperators(A)
        x, b = A.createVecs()
        b = numbers(A)
        pc.apply(b, x)
        r = b.duplicate()
        A.mult(x, r)
        r.axpy(-1, b)
        say("residual", r.norm() / b.norm())
        say("difference", difference(pc, A))
        z, y = x.duplicate(), x.duplicate()
        z.setArray(np.cos(np.arange(*z.getOwnershipRange())))
        pc.applyTranspose(z, y)
        say("adjoint", abs(y.dot(b) - z.dot(x)) / abs(z.dot(x)))
        A.scale(1.7)
        A.shift(0.5)
    if options.getBool("view", False):
        pc.view()


def caught():
    """Set-up fails with an error that the program catches, in the middle of a good life, for each of these options."""
    A = square(6)
    pc = line(A)
    for name, wrong, right in (("source", "grid", "auto"), ("kernel", "toeplitz", "auto"), ("direction", "y", "auto"), ("file", "/nowhere", ""), ("plane_cycles", 2, 0)):
        options["pc_line_" + name] = wrong
        pc.setFromOptions()
        A.scale(1.5)
        pc.setOperators(A)
        for _ in range(2):
            try:
                applied(pc, A)
                say(name, "applied")
            except PETSc.Error:
                say(name, "refused")
        options["pc_line_" + name] = right
        pc.setFromOptions()
        say("difference", difference(pc, A))


def tiny_pivots():
    """Pairs of rows [[1e-20, 1], [1, 1]], and weak couplings of the pairs: of condition 3."""
    n = 12
    A = PETSc.Mat().createAIJ([n, n], nnz=4)
    A.setUp()
    for row in range(*A.getOwnershipRange()):
        A[row, row] = 1e-20 if row % 2 == 0 else 1
        A[row, row ^ 1] = 1
        A[row, (row + 2) % n] = 0.1
    A.assemble()
    tell_residual(solver(A), A)


def solver(A):
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.getPC().setType("line")
    ksp.setFromOptions()
    return ksp


def tell_residual(ksp, A):
    b = numbers(A)
    x, r = b.duplicate(), b.duplicate()
    ksp.solve(b, x)
    A.mult(x, r)
    r.axpy(-1, b)
    say("reason", ksp.getConvergedReason(), "residual", r.norm() / b.norm())


def other_sweeps():
    """A tridiagonal system with small pivots, of condition 17, by two sweeps, and then by one."""
    n = 12
    A = PETSc.Mat().createAIJ([n, n], nnz=3)
    A.setUp()
    for row in range(*A.getOwnershipRange()):
        for column in range(max(row - 1, 0), min(row + 2, n)):
            A[row, column] = 1 + 0.1 * row + 0.01 * column if row != column else 1e-13 * (1 + row) if row % 3 == 0 else 1
    A.assemble()
    ksp = solver(A)
    for sweeps in (2, 1):
        options["pc_line_sweeps"] = sweeps
        ksp.setFromOptions()
        tell_residual(ksp, A)


globals()[options.getString("case")]()
