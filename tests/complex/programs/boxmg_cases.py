"""PCBOXMG with complex scalars, each case by its name: -case NAME. What must be alike is printed as a relative difference."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import common  # noqa: E402
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print


class Diffusion:
    """-div K grad u - k2 u on a box, times a factor; K varies by some and is larger along x by `stretch`."""

    def __init__(self, sizes, k2=0.0, factor=1.0, stretch=1.0, wraps=False):
        n = len(sizes)
        self.da = PETSc.DMDA().create(sizes=sizes, dof=1, stencil_width=1, stencil_type="star", boundary_type=["periodic" if wraps else "none"] * n)
        self.da.setUp()
        self.matrix = self.da.createMat()
        ranges = self.da.getRanges()
        row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        h2 = [float(max(sizes)) ** 2 * (stretch if d == 0 else 1) for d in range(n)]
        at = [0] * n
        for place in np.ndindex(*[last - first for first, last in ranges]):
            at = [first + i for (first, _), i in zip(ranges, place)]
            row.index = tuple(at) + (0,) * (3 - n)
            centre = -k2
            for d in range(n):
                for step in (-1, 1):
                    other = list(at)
                    other[d] += step
                    value = h2[d] * self.coefficient(at, other, sizes)
                    centre += value
                    if wraps or 0 <= other[d] < sizes[d]:
                        column.index = tuple(other) + (0,) * (3 - n)
                        self.matrix.setValueStencil(row, column, -factor * value)
            self.matrix.setValueStencil(row, row, factor * centre)
        self.matrix.assemble()

    @staticmethod
    def coefficient(a, b, sizes):
        middle = sum((i + j) % (2 * n) / n for i, j, n in zip(a, b, sizes))
        return 1.5 + np.sin(3 * middle)

    def pc(self, **settings):
        return common.pc_of(self.matrix, settings, "boxmg", self.da)

    def numbers(self, seed=0):
        return common.numbers(self.da, seed)

    def applied(self, pc, b, how="apply"):
        x = self.da.createGlobalVec()
        getattr(pc, how)(b, x)
        return x


def report(what, difference, most):
    say(f"{what}: {'alike' if difference <= most else 'apart by %.2e' % difference}")


def apart(got, expected):
    difference = got - expected
    return difference.norm() / expected.norm()


SHAPES = {
    "plane": dict(sizes=[33, 30]),
    "stretched": dict(sizes=[33, 32], stretch=100.0),
    "ring": dict(sizes=[32, 32], wraps=True, k2=-50.0),
    "space": dict(sizes=[9, 12, 10]),
}


def turned():
    """A matrix that is turned by a complex factor has the same cycle, turned back."""
    factor = 0.3 - 1.1j
    for name, shape in SHAPES.items():
        for precision, most in (("double", 1e-12), ("single", 1e-4)):
            straight, other = Diffusion(**shape), Diffusion(factor=factor, **shape)
            b = straight.numbers()
            expected = straight.applied(straight.pc(pc_boxmg_precision=precision), b)
            got = other.applied(other.pc(pc_boxmg_precision=precision), b)
            got.scale(factor)
            report(f"{name} in {precision} precision", apart(got, expected), most)


def bilinear():
    """The cycle of a complex symmetric matrix is symmetric, without a conjugate, and linear over the complex numbers."""
    for name, shape in SHAPES.items():
        problem = Diffusion(**dict(shape, k2=shape.get("k2", 0) + 30 - 20j))
        pc = problem.pc()
        y, z = problem.numbers(1), problem.numbers(2)
        once = problem.applied(pc, z)
        product = problem.applied(pc, y).tDot(z)
        report(f"{name} symmetric", abs(product - once.tDot(y)) / abs(product), 1e-11)
        report(f"{name} transposed", apart(problem.applied(pc, z, "applyTranspose"), once), 1e-11)
        z.scale(1j)
        once.scale(1j)
        report(f"{name} times i", apart(problem.applied(pc, z), once), 1e-13)


def waves():
    """Helmholtz with the multigrid of the shifted Laplacian (Erlangga, Oosterlee, Vuik, SIAM J. Sci. Comput. 27, 2006)."""
    n, k = 48, options.getReal("k", 12.0)
    A, M = Diffusion([n, n], k2=k**2 * (1 - 0.1j)), Diffusion([n, n], k2=k**2 * (1 - 0.5j))
    ksp = PETSc.KSP().create()
    ksp.getPC().setDM(A.da)
    ksp.setOperators(A.matrix, M.matrix)
    ksp.setFromOptions()
    b, x = A.numbers(), A.da.createGlobalVec()
    ksp.solve(b, x)
    r = b - A.matrix * x
    say(f"reason {ksp.getConvergedReason()}, iterations {ksp.getIterationNumber()}, residual {r.norm() / b.norm():.1e}")


def several_unknowns():
    da = PETSc.DMDA().create(sizes=[8, 8], dof=2, stencil_width=1)
    da.setUp()
    A = da.createMat()
    A.shift(1 + 1j)
    common.pc_of(A, {}, "boxmg", da)


globals()[options.getString("case")]()
