"""PCBCR with complex scalars, each case by its name: -case NAME. Beside PETSc's LU."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import common  # noqa: E402
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print


def tridiagonal(n, widths, ends, drift=0.0):
    """-u'' + drift u' on a line of cells, rows times their widths: a matrix and the weights."""
    h = widths(np.arange(n + 1) / n)
    h = h / h.sum() * (n + 1) / n if ends != "periodic" else np.full(n + 1, 1 / n)
    T, w = np.zeros((n, n)), (h[:-1] + h[1:]) / 2
    for i in range(n):
        for j, width in ((i - 1, h[i]), (i + 1, h[i + 1])):
            T[i, i] += 1 / width
            if ends == "periodic":
                T[i, j % n] -= 1 / width
            elif 0 <= j < n:
                T[i, j] -= 1 / width + (drift / 2 if j < i else -drift / 2)
            elif ends in ("neumann", "mirror"):
                T[i, i] -= 1 / width
    if ends == "mirror": # nodes beyond the ends have the values of those within
        T[0], T[-1] = 2 * T[0], 2 * T[-1]
    return T, w


class Separable:
    """turn (sum T (x) W + shift W), with the boundary's values in the matrix where `faces`."""

    def __init__(self, sizes, shift=0.0, turn=1.0, ends="dirichlet", stretch=0.0, drift=0.0, faces=False, potential=None):
        n = len(sizes)
        wraps = ends == "periodic"
        self.da = PETSc.DMDA().create(sizes=sizes, dof=1, stencil_width=1, stencil_type="box", boundary_type=["periodic" if wraps else "none"] * n)
        self.da.setUp()
        self.matrix = self.da.createMat()
        lines = [tridiagonal(m, lambda t: 1 + stretch * np.sin(3 * t) ** 2, ends, drift) for m in sizes]
        row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        ranges = self.da.getRanges()
        for place in np.ndindex(*[last - first for first, last in ranges]):
            at = [first + i for (first, _), i in zip(ranges, place)]
            row.index = tuple(at) + (0,) * (3 - n)
            if faces and any(i in (0, m - 1) for i, m in zip(at, sizes)):
                self.matrix.setValueStencil(row, row, 1)
                continue
            weight = np.prod([w[i] for (_, w), i in zip(lines, at)])
            centre = weight * (shift if potential is None else shift + potential(at, sizes))
            for d, (T, w) in enumerate(lines):
                others = weight / w[at[d]]
                centre += others * T[at[d], at[d]]
                for step in (-1, 1):
                    other = list(at)
                    other[d] += step
                    if wraps or 0 <= other[d] < sizes[d]:
                        column.index = tuple(other) + (0,) * (3 - n)
                        self.matrix.setValueStencil(row, column, turn * others * T[at[d], other[d] % sizes[d]])
            self.matrix.setValueStencil(row, row, turn * centre)
        self.matrix.assemble()

    def numbers(self, seed=0):
        return common.numbers(self.da, seed)

    def solver(self, kind="preonly", matrix=None, **settings):
        ksp = PETSc.KSP().create()
        ksp.getPC().setDM(self.da)
        ksp.setOperators(matrix or self.matrix, self.matrix)
        ksp.setType(kind)
        ksp.getPC().setType("bcr")
        for name, value in settings.items():
            options[name] = value
        ksp.setFromOptions()
        for name in settings:
            options.delValue(name)
        return ksp

    def residual(self, x, b, transposed=False):
        r = b.duplicate()
        (self.matrix.multTranspose if transposed else self.matrix.mult)(x, r)
        return (r - b).norm() / b.norm()


SHAPES = {
    "plane": dict(sizes=[33, 30]),
    "stretched": dict(sizes=[33, 31], stretch=5.0),
    "faces": dict(sizes=[33, 20], stretch=1.0, faces=True),
    "ring": dict(sizes=[32, 24], ends="periodic"),
    "no flux": dict(sizes=[17, 24], ends="neumann", stretch=2.0),
    "drift": dict(sizes=[17, 24], drift=5.0),
    "space": dict(sizes=[9, 12, 10], stretch=1.0),
    "line": dict(sizes=[50], stretch=3.0),
    "column": dict(sizes=[3, 40], stretch=3.0, faces=True),
}
NUMBERS = {
    "shifted Laplacian": dict(shift=-300 + 150j),
    "absorbing": dict(shift=3j),
    "turned": dict(shift=5 - 2j, turn=np.exp(2.2j)),
    "Schroedinger": dict(shift=-1e3j, turn=1e-3j),
    "real": dict(shift=7.0),
    "small numbers": dict(shift=3j, turn=1e-200),
}


def direct():
    """One application is the solution, of the transpose too, and of many right-hand sides."""
    for shape, settings in SHAPES.items():
        for numbers, more in NUMBERS.items():
            if settings.get("faces") and numbers == "small numbers":
                continue # a boundary's 1 beside 1e-200 is refused, as with real scalars
            problem = Separable(**settings, **more)
            ksp = problem.solver()
            b, x = problem.numbers(), problem.da.createGlobalVec()
            ksp.solve(b, x)
            residual, reason = problem.residual(x, b), ksp.getConvergedReason()
            ksp.solveTranspose(b, x)
            transposed = problem.residual(x, b, True)
            good = reason > 0 and residual < 1e-10 and transposed < 1e-10
            say(f"{shape}, {numbers}: {'solved' if good else f'reason {reason}, residual {residual:.1e}, {transposed:.1e} transposed'}")


def values():
    """New values: a factor, another shift, another turn, and back."""
    problem = Separable([33, 30], shift=4 + 3j)
    b, x = problem.numbers(), problem.da.createGlobalVec()
    first = problem.matrix.copy()
    ksp = problem.solver()
    for name, factor, shift in (("first", 1, 0), ("twice", 2, 0), ("turned", 1 - 1j, 0), ("shifted", 1, 1e-3j), ("more", 1, 2e-3), ("back", 1, 0)):
        first.copy(problem.matrix)
        problem.matrix.scale(factor)
        problem.matrix.shift(shift)
        ksp.solve(b, x)
        residual = problem.residual(x, b)
        say(f"{name}: {'solved' if ksp.getConvergedReason() > 0 and residual < 1e-11 else f'residual {residual:.1e}'}")


def nearest():
    """A wave number that varies: the nearest operator is a preconditioner, and no solution."""
    problem = Separable([40, 40], shift=-100 + 60j, potential=lambda at, sizes: 30 * (1 + 0.5j) * np.sin(0.3 * at[0] * at[1]))
    b, x = problem.numbers(), problem.da.createGlobalVec()
    ksp = problem.solver("gmres", ksp_rtol=1e-9)
    ksp.solve(b, x)
    say(f"iterations {ksp.getIterationNumber()}, residual {problem.residual(x, b):.1e}")
    alone = problem.solver("preonly")
    alone.solve(b, x)
    say(f"alone: reason {alone.getConvergedReason()}")


def waves():
    """Helmholtz with the shifted Laplacian (Erlangga, Oosterlee, Vuik, SIAM J. Sci. Comput. 27, 2006)."""
    n, k = 64, options.getReal("k", 20.0)
    A = Separable([n, n], shift=-(k**2) * (1 - 0.05j), potential=lambda at, sizes: -0.2 * k**2 * (at[0] > n / 2))
    M = Separable([n, n], shift=-(k**2) * (1 - 0.5j))
    ksp = M.solver("fgmres", matrix=A.matrix, ksp_rtol=1e-8, ksp_gmres_restart=100)
    b, x = A.numbers(), A.da.createGlobalVec()
    ksp.solve(b, x)
    say(f"reason {ksp.getConvergedReason()}, iterations {ksp.getIterationNumber()}, residual {A.residual(x, b):.1e}")


def null_space():
    """No flux all round and no shift: the solution without constants."""
    for settings in (
        dict(ends="neumann"),
        dict(ends="periodic"),
        dict(ends="neumann", turn=1j),
        dict(ends="neumann", turn=np.exp(0.7j)),
        dict(ends="neumann", stretch=5.0, turn=1 - 1j),
        dict(ends="mirror", turn=1j),
    ):
        problem = Separable([17, 24], **settings)
        problem.matrix.setNullSpace(PETSc.NullSpace().create(constant=True, comm=problem.matrix.comm))
        b, x = problem.matrix * problem.numbers(), problem.da.createGlobalVec()
        ksp = problem.solver("gmres", ksp_rtol=1e-11)
        ksp.solve(b, x)
        residual = problem.residual(x, b)
        pc, y, z = ksp.getPC(), problem.da.createGlobalVec(), problem.da.createGlobalVec()
        other = problem.numbers(1)
        pc.apply(b, y)
        pc.applyTranspose(other, z)
        adjoint = abs(other.tDot(y) - z.tDot(b)) / (other.norm() * y.norm())
        good = residual < 1e-10 and ksp.getIterationNumber() <= 2 and adjoint < 1e-11
        say(f"{settings['ends']}: {'solved' if good else f'{ksp.getIterationNumber()} iterations, residual {residual:.1e}, adjoint to {adjoint:.1e}'}")


def penalty():
    """Values that are known by a large diagonal."""
    problem = Separable([33, 30], shift=3j, stretch=1.0)
    large = problem.matrix.getDiagonal()
    with problem.da.getVecArray(large) as d:
        (x0, x1), (y0, y1) = problem.da.getRanges()
        if x0 == 0:
            d[0, y0:y1] += 1e20
    problem.matrix.setDiagonal(large)
    b, x = problem.numbers(), problem.da.createGlobalVec()
    ksp = problem.solver("gmres", ksp_rtol=1e-12)
    ksp.solve(b, x)
    r = b - problem.matrix * x
    good = ksp.getConvergedReason() > 0 and ksp.getIterationNumber() <= 2 and r.norm() < 1e-10 * b.norm()
    say(f"{'solved' if good else f'{ksp.getConvergedReason()}, {ksp.getIterationNumber()} iterations, {r.norm() / b.norm()}'}")


def one_sided():
    """Rows of a boundary that couple inwards, beside rows of another turn."""
    problem = Separable([20, 21], shift=-1e3j, turn=1e-3j, faces=True)
    A, (x0, x1), (y0, y1) = problem.matrix, *problem.da.getRanges()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_LOCATION_ERR, False)
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    for y in range(max(y0, 1), min(y1, 20)):
        if x0 == 0:
            row.index, column.index = (0, y, 0), (1, y, 0)
            A.setValueStencil(row, row, 7)
            A.setValueStencil(row, column, -7)
    A.assemble()
    b, x = problem.numbers(), problem.da.createGlobalVec()
    ksp = problem.solver()
    ksp.solve(b, x)
    residual = problem.residual(x, b)
    say(f"{'solved' if ksp.getConvergedReason() > 0 and residual < 1e-10 else f'{ksp.getConvergedReason()}, residual {residual:.1e}'}")


def many():
    problem = Separable([33, 30], shift=4 + 3j, faces=True)
    ksp = problem.solver()
    rows = problem.matrix.getLocalSize()[0]
    B = PETSc.Mat().createDense([[rows, None], 5], comm=problem.matrix.comm)
    B.setUp()
    random = np.random.default_rng(PETSc.COMM_WORLD.rank)
    B.getDenseArray()[:] = random.normal(size=(rows, 5)) + 1j * random.normal(size=(rows, 5))
    B.assemble()
    X = B.duplicate()
    ksp.setUp()
    ksp.getPC().matApply(B, X)
    R = problem.matrix.matMult(X)
    R.axpy(-1, B)
    say(f"{'solved' if R.norm() < 1e-11 * B.norm() else R.norm()}")


def wrong():
    """What there is not, or what is no number."""
    what = options.getString("what")
    settings = {"single": dict(pc_bcr_precision="single"), "method": dict(pc_bcr_type="facr")}.get(what, {})
    problem = Separable([16, 16], shift=2j)
    if what == "elements": # bilinear ones have nine points
        T, _ = tridiagonal(16, lambda t: 1 + 0 * t, "dirichlet")
        M = (4 * np.eye(16) + np.eye(16, k=1) + np.eye(16, k=-1)) / 6
        for i, row in enumerate(np.kron(M, T) + np.kron(T, M) + 2j * np.kron(M, M)):
            problem.matrix.setValues(i, np.flatnonzero(row).astype(PETSc.IntType), row[row != 0])
        problem.matrix.assemble()
    if what == "nan":
        problem.matrix.shift(complex(0, float("nan")))
    if what == "resonance":
        problem = Separable([16, 16], ends="periodic")
    ksp = problem.solver("gmres", **settings)
    b, x = problem.numbers(), problem.da.createGlobalVec()
    ksp.solve(b, x)
    say(f"reason {ksp.getConvergedReason()}")


globals()[options.getString("case")]()
