"""Factors of complex matrices against numpy, each case by its name: -case NAME. What must be alike is printed as a relative difference."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from common import pc_of  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print
random = np.random.default_rng(3)


def numbers(*shape):
    return random.normal(size=shape) + 1j * random.normal(size=shape)


def grid_matrix(n, kind="general", turn=0.8 - 0.6j):
    """Five points on n x n nodes with random complex couplings; symmetric, Hermitian or neither."""
    a = np.zeros((n * n, n * n), dtype=complex)
    for row in range(n * n):
        for other in (row + 1 if row % n < n - 1 else -1, row + n):
            if 0 <= other < n * n:
                value = numbers()
                a[row, other] = value
                a[other, row] = {"general": numbers(), "symmetric": value, "hermitian": np.conj(value)}[kind]
    size = np.abs(a).sum(axis=1)
    np.fill_diagonal(a, size + 0.5 if kind == "hermitian" else (size + 0.5) * turn)
    return a


def matrix(a, kind="aij"):
    A = PETSc.Mat().create()
    A.setSizes(a.shape)
    A.setType(kind)
    A.setUp()
    if kind == "dense":
        A.setValues(range(len(a)), range(len(a)), a)
    else:
        A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
        if kind == "sbaij":
            A.setOption(PETSc.Mat.Option.IGNORE_LOWER_TRIANGULAR, True)
        for row in range(*A.getOwnershipRange()):
            columns = np.flatnonzero(a[row]) if a[row, row] != 0 else np.union1d(np.flatnonzero(a[row]), [row])
            A.setValues([row], columns.astype(PETSc.IntType), a[row, columns])
    A.assemble()
    return A


def applied(pc, A, b, how="apply"):
    x, y = A.createVecs()
    y.setArray(b)
    getattr(pc, how)(y, x)
    return x.getArray().copy()


def report(what, got, expected, most):
    difference = np.abs(got - expected).max() / np.abs(expected).max()
    say(f"{what}: {'alike' if difference <= most else 'apart by %.2e' % difference}")


def compare(what, a, settings, twin, kind="aij", most=1e-11, before=lambda A: None):
    A = matrix(a, kind)
    before(A)
    pc = pc_of(A, settings)
    b = numbers(len(a))
    report(what, applied(pc, A, b), np.linalg.solve(twin, b), most)
    report(f"{what}, transposed", applied(pc, A, b, "applyTranspose"), np.linalg.solve(twin.T, b), most)


def symmetric(A):
    A.setOption(PETSc.Mat.Option.SYMMETRIC, True)


def hermitian(A):
    A.setOption(PETSc.Mat.Option.HERMITIAN, True)


CROUT = {"pc_type": "crout"}
FULL = dict(CROUT, pc_crout_pattern="full")


def complete():
    a, s, h = grid_matrix(8), grid_matrix(8, "symmetric"), grid_matrix(8, "hermitian")
    for ordering in ("natural", "rcm", "auto"):
        compare(f"all fill, {ordering}", a, dict(FULL, pc_crout_ordering=ordering), a)
        compare(f"symmetric, {ordering}", s, dict(FULL, pc_crout_ordering=ordering), s, before=symmetric)
    for scaling in ("none", "diagonal", "ruiz"):
        compare(f"scaled {scaling}", a, dict(FULL, pc_crout_scaling=scaling), a)
    for solve in ("levels", "syncfree"):
        compare(f"triangles by {solve}", a, dict(FULL, pc_crout_trisolve=solve), a)
    compare("swept", a, dict(FULL, pc_crout_method="sweeps", pc_crout_rtol=1e-15), a)
    compare("swept symmetric", s, dict(FULL, pc_crout_method="sweeps", pc_crout_rtol=1e-15), s, before=symmetric)
    compare("in single precision", a, dict(FULL, pc_crout_precision="single"), a, most=1e-4)
    compare("blocks", a, FULL, a, kind="baij")
    compare("half of a symmetric matrix", s, FULL, s, kind="sbaij")
    compare("Hermitian", h, FULL, h, before=hermitian)
    compare("half of a Hermitian matrix", h, FULL, h, kind="sbaij", before=hermitian)
    for name in ("lu", "cholesky"):
        compare(f"PETSc's {name}", s, {"pc_type": name, "pc_factor_mat_solver_type": "crout"}, s, before=symmetric)
        compare(f"dense {name}", s, {"pc_type": name, "pc_factor_mat_solver_type": "crout"}, s, kind="dense", before=symmetric)


def ilu0(a):
    lu = a.copy()
    pattern = a != 0
    for i in range(len(a)):
        for k in np.flatnonzero(pattern[i, :i]):
            lu[i, k] /= lu[k, k]
            for j in np.flatnonzero(pattern[i]):
                if j > k:
                    lu[i, j] -= lu[i, k] * lu[k, j]
    return (np.tril(lu, -1) + np.eye(len(a))) @ np.triu(lu)


def incomplete():
    a, s = grid_matrix(12), grid_matrix(12, "symmetric")
    natural = dict(CROUT, pc_crout_ordering="natural")
    compare("ILU(0)", a, dict(natural, pc_crout_method="exact"), ilu0(a))
    compare("ILU(0) by sweeps", a, dict(natural, pc_crout_method="sweeps", pc_crout_sweeps=60), ilu0(a))
    compare("ILU(0) by sweeps over pivots", a, dict(natural, pc_crout_method="sweeps", pc_crout_rtol=1e-14), ilu0(a))
    compare("ILU(0) by sweeps in place", a, dict(natural, pc_crout_method="sweeps", pc_crout_sweeps=80, pc_crout_async=1), ilu0(a))
    compare("ICC(0)", s, dict(natural, pc_crout_method="exact"), ilu0(s), before=symmetric)
    compare("ICC(0) by sweeps", s, dict(natural, pc_crout_method="sweeps", pc_crout_sweeps=60), ilu0(s), before=symmetric)
    compare("triangles by Jacobi steps", a, dict(natural, pc_crout_trisolve="jacobi", pc_crout_trisolve_steps=30), ilu0(a))
    for solve in ("levels", "syncfree"):
        compare(f"triangles by {solve}", a, dict(natural, pc_crout_trisolve=solve), ilu0(a))
    compare("PETSc's ilu", a, {"pc_type": "ilu", "pc_factor_mat_solver_type": "crout"}, ilu0(a))
    compare("PETSc's icc", s, {"pc_type": "icc", "pc_factor_mat_solver_type": "crout"}, ilu0(s), before=symmetric)
    compare("nine points have products off the diagonal", nine(9), dict(natural, pc_crout_method="sweeps", pc_crout_sweeps=80), ilu0(nine(9)))


def nine(n):
    one = np.random.default_rng(5)
    a = np.zeros((n * n, n * n), dtype=complex)
    for row in range(n * n):
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                i, j = row % n + dx, row // n + dy
                if 0 <= i < n and 0 <= j < n:
                    a[row, i + n * j] = one.normal() + 1j * one.normal()
    np.fill_diagonal(a, (np.abs(a).sum(axis=1) + 0.5) * (0.6 + 0.8j))
    return a


def rows_exchanged():
    """No entry on the diagonal in every second row: rows are matched by the sizes of entries."""
    a = grid_matrix(7)
    order = np.arange(len(a)) ^ 1
    order[-1] = len(a) - 1
    a = a[order]
    np.fill_diagonal(a[:-1, :-1], 0)
    compare("rows matched", a, FULL, a)
    compare("rows exchanged", a, {"pc_type": "lu", "pc_factor_mat_solver_type": "crout"}, a, kind="dense")


def many():
    a = grid_matrix(8)
    A, B = matrix(a), numbers(len(a), 6)
    pc = pc_of(A, FULL)
    X, Y = PETSc.Mat().createDense(B.shape), PETSc.Mat().createDense(B.shape, array=np.asfortranarray(B))
    X.setUp()
    Y.assemble()
    X.assemble()
    pc.matApply(Y, X)
    report("many right-hand sides", X.getDenseArray(), np.linalg.solve(a, B), 1e-12)


def solve():
    """Waves with absorption, on some ranks."""
    n, k2 = 30, 300.0
    h = 1 / (n + 1)
    a = np.zeros((n * n, n * n), dtype=complex)
    for row in range(n * n):
        a[row, row] = 4 / h**2 - k2 * (1 - 0.5j)
        for other in (row + 1 if row % n < n - 1 else -1, row + n):
            if 0 <= other < n * n:
                a[row, other] = a[other, row] = -1 / h**2
    A = matrix(a)
    if options.getBool("symmetric", False):
        symmetric(A)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setFromOptions()
    b, x = A.createVecs()
    b.set(1 - 2j)
    ksp.solve(b, x)
    r = b - A * x
    say(f"reason {ksp.getConvergedReason()}, iterations {ksp.getIterationNumber()}, residual {r.norm() / b.norm():.1e}")


def singular():
    a = grid_matrix(5)
    a[7] = 2j * a[8]
    A = matrix(a)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setFromOptions()
    b, x = A.createVecs()
    b.set(1)
    ksp.solve(b, x)
    say(f"reason {ksp.getConvergedReason()}")


def taken_for_another():
    """The same factors for a Hermitian matrix, for a symmetric one of its pattern, and for a Hermitian one again."""
    kinds = {"hermitian": grid_matrix(8, "hermitian"), "symmetric": grid_matrix(8, "symmetric")}
    A = matrix(kinds["hermitian"])
    pc = None
    for now, before in (("hermitian", "symmetric"), ("symmetric", "hermitian"), ("hermitian", "symmetric")):
        A.setOption(getattr(PETSc.Mat.Option, before.upper()), False)
        for row, values in enumerate(kinds[now]):
            columns = np.flatnonzero(values)
            A.setValues([row], columns.astype(PETSc.IntType), values[columns])
        A.assemble()
        A.setOption(getattr(PETSc.Mat.Option, before.upper()), False)
        A.setOption(getattr(PETSc.Mat.Option, now.upper()), True)
        if pc is None:
            pc = pc_of(A, {"pc_type": "cholesky", "pc_factor_mat_solver_type": "crout"})
        else:
            pc.setOperators(A, A)
            pc.setUp()
        b = numbers(len(values))
        report(now, applied(pc, A, b), np.linalg.solve(kinds[now], b), 1e-12)


def only_hermitian():
    """L D L^H of matrices that are Hermitian and not symmetric: solves, inertia, M^-1 = M^-H, and conjugate gradients."""
    h = grid_matrix(8, "hermitian")
    cholesky = {"pc_type": "cholesky", "pc_factor_mat_solver_type": "crout"}
    for kind in ("aij", "sbaij", "dense"):
        compare(f"cholesky of {kind}", h, cholesky, h, kind=kind, before=hermitian)
    for ordering in ("natural", "rcm", "nd", "qmd"):
        compare(f"cholesky, {ordering}", h, {**cholesky, "pc_factor_mat_ordering_type": ordering}, h, before=hermitian)
    whole = {"pc_type": "crout", "pc_crout_pattern": "full"}
    compare("crout", h, whole, h, before=hermitian)
    compare("crout by sweeps", h, {**whole, "pc_crout_method": "sweeps", "pc_crout_sweeps": 200}, h, before=hermitian)
    shifted = h - np.median(np.linalg.eigvalsh(h)) * np.eye(len(h))
    A = matrix(shifted)
    hermitian(A)
    negative, zero, positive = pc_of(A, cholesky).getFactorMatrix().getInertia()
    below = int((np.linalg.eigvalsh(shifted) < 0).sum())
    say(f"inertia: {'alike' if (negative, zero, positive) == (below, 0, len(h) - below) else (negative, zero, positive, below)}")
    compare("marked as definite too", h, cholesky, h, before=lambda A: (hermitian(A), A.setOption(PETSc.Mat.Option.SPD, True)))
    incomplete = {"pc_type": "icc", "pc_factor_mat_solver_type": "crout"}
    ours = [{"pc_type": "crout", **more} for more in ({}, {"pc_crout_pattern": "threshold"}, {"pc_crout_method": "sweeps"}, {"pc_crout_levels": 2, "pc_crout_ordering": "rcm"})]
    for settings in (incomplete, {**incomplete, "pc_factor_levels": 1}, {**incomplete, "pc_factor_mat_ordering_type": "rcm"}, *ours):
        A = matrix(h)
        hermitian(A)
        pc = pc_of(A, settings)
        inverse = np.array([applied(pc, A, one) for one in np.eye(len(h), dtype=complex)]).T
        report(f"{settings}, M^-1", inverse, inverse.conj().T, 1e-13)
        ksp = PETSc.KSP().create()
        ksp.setOperators(A)
        ksp.setType("cg")
        ksp.setPC(pc)
        ksp.setTolerances(rtol=1e-12)
        x, b = A.createVecs()
        b.setArray(numbers(len(h)))
        ksp.solve(b, x)
        say(f"reason {ksp.getConvergedReason()}, iterations {ksp.getIterationNumber()}")
        report("conjugate gradients", x.getArray(), np.linalg.solve(h, b.getArray()), 1e-9)


globals()[options.getString("case")]()
