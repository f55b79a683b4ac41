"""PCLINE with complex scalars, each case by its name: -case NAME. What must be alike is printed as a relative difference."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import common  # noqa: E402
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print


class Problem:
    """A box of nodes, `dof` unknowns each, that couple to their neighbours: as a matrix of PETSc, and as a dense one in the grid's own order."""

    def __init__(self, sizes, dof=1, wraps=False, constant=False, hermitian=False):
        self.sizes, self.dof = sizes, dof
        boundary = ["periodic" if wraps else "none"] * len(sizes)
        self.da = PETSc.DMDA().create(sizes=sizes, dof=dof, stencil_width=1, boundary_type=boundary, stencil_type="star")
        self.da.setUp()
        random = np.random.default_rng(7)
        nodes = int(np.prod(sizes))
        self.dense = np.zeros((nodes * dof, nodes * dof), dtype=complex)
        strides = [int(np.prod(sizes[:k])) for k in range(len(sizes))]
        self.neighbour = {}  # of a node and a direction, the next one along it
        for node in range(nodes):
            for k, size in enumerate(sizes):
                at = node // strides[k] % size
                if at + 1 < size or (wraps and size > 2):
                    other = node + strides[k] * (1 if at + 1 < size else 1 - size)
                    self.neighbour[node, k] = other
                    for i in range(dof):
                        for j in range(dof):
                            a, b = (0.7 - 0.4j, 0.6 + 0.5j) if constant else random.normal(size=2) + 1j * random.normal(size=2)
                            self.dense[node * dof + i, other * dof + j] = a
                            self.dense[other * dof + j, node * dof + i] = np.conj(a) if hermitian else b
            for i in range(dof):
                for j in range(i):
                    self.dense[node * dof + i, node * dof + j] = 0.3 + 0.1j * (i + j)
                    self.dense[node * dof + j, node * dof + i] = 0.3 - 0.1j * (i + j)
        size = np.abs(self.dense).sum(axis=0) + np.abs(self.dense).sum(axis=1)
        turn = 1 if hermitian else 0.6 - 0.8j
        np.fill_diagonal(self.dense, turn * (5 * dof * len(sizes) if constant else size + 1))
        self.matrix = self.da.createMat()
        self.fill()

    def fill(self):
        ao = self.da.getAO()
        first, last = self.matrix.getOwnershipRange()
        for row in range(first, last):
            here = ao.petsc2app(np.array([row], dtype=PETSc.IntType))[0]
            columns = np.flatnonzero(self.dense[here])
            self.matrix.setValues([row], ao.app2petsc(columns.astype(PETSc.IntType)), self.dense[here, columns])
        self.matrix.assemble()

    def vector(self, values):
        """From an array in the grid's own order."""
        x = self.da.createGlobalVec()
        first, last = x.getOwnershipRange()
        x.setArray(values[self.da.getAO().petsc2app(np.arange(first, last, dtype=PETSc.IntType))])
        return x

    def array(self, x):
        """The same the other way round, whole on every rank."""
        scatter, whole = PETSc.Scatter.toAll(x)
        scatter.scatter(x, whole)
        order = self.da.getAO().app2petsc(np.arange(x.getSize(), dtype=PETSc.IntType))
        return whole.getArray()[order]

    def lines(self, direction, together=False):
        """What is left of the matrix on the lines of a direction."""
        kept = np.zeros_like(self.dense)
        dof = self.dof
        for node in range(len(self.dense) // dof):
            for other in {node, self.neighbour.get((node, direction), node)}:
                for i in range(dof):
                    for j in range(dof) if together else (i,):
                        a, b = node * dof + i, other * dof + j
                        kept[a, b], kept[b, a] = self.dense[a, b], self.dense[b, a]
        return kept

    def pc(self, settings):
        return common.pc_of(self.matrix, settings, "line", self.da)

    def applied(self, pc, values, how="apply"):
        b, x = self.vector(values), self.da.createGlobalVec()
        getattr(pc, how)(b, x)
        return self.array(x)


def numbers(size, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=size) + 1j * random.normal(size=size)


def apart(got, expected):
    return np.abs(got - expected).max() / np.abs(expected).max()


def report(what, difference, most):
    say(f"{what}: {'alike' if difference <= most else 'apart by %.2e' % difference}")


JACOBI = {"pc_line_ordering": "jacobi", "pc_line_sweeps": 1, "pc_line_omega": 1.0, "pc_line_direction": "x"}


def compare(name, problem, settings, twin, most=1e-13):
    """One Jacobi sweep is the solve with the lines alone; its transpose is that with their transpose, not with the adjoint."""
    pc = problem.pc(dict(JACOBI, **settings))
    b = numbers(len(twin))
    report(name, apart(problem.applied(pc, b), np.linalg.solve(twin, b)), most)
    report(f"{name}, transposed", apart(problem.applied(pc, b, "applyTranspose"), np.linalg.solve(twin.T, b)), most)


def kernels():
    for wraps in (False, True):
        problem = Problem([11, 6], wraps=wraps)
        for direction, letter in enumerate("xy"):
            for kernel in ("auto", "thomas", "spike", "wide", "pivoted"):
                name = f"{kernel} along {letter}{' of a ring' if wraps else ''}"
                compare(name, problem, {"pc_line_kernel": kernel, "pc_line_direction": letter}, problem.lines(direction))


def constant():
    for wraps in (False, True):
        problem = Problem([40, 5], wraps=wraps, constant=True)
        compare(f"toeplitz{' of a ring' if wraps else ''}", problem, {"pc_line_kernel": "toeplitz"}, problem.lines(0))


def space():
    problem = Problem([5, 4, 6])
    compare("in space along z", problem, {"pc_line_direction": "z"}, problem.lines(2))


def blocks():
    for dof in (2, 3):
        problem = Problem([9, 5], dof=dof)
        together = {"pc_line_components": "together"}
        compare(f"blocks of {dof}", problem, together, problem.lines(0, together=True))
        compare(f"{dof} unknowns apart", problem, {"pc_line_components": "apart"}, problem.lines(0))


def single():
    problem = Problem([20, 6])
    compare("in single precision", problem, {"pc_line_precision": "single"}, problem.lines(0), 1e-5)


def bilinear():
    """(P^T y, z) = (y, P z) without a conjugate, and P is linear over the complex numbers, whatever the sweeps do."""
    for sizes in ([9, 8], [5, 4, 6]):
        problem = Problem(sizes)
        size = len(problem.dense)
        for ordering in ("jacobi", "zebra"):
            for direction in ("x", "y", "xy"):
                pc = problem.pc({"pc_line_ordering": ordering, "pc_line_direction": direction, "pc_line_sweeps": 2})
                y, z = numbers(size, 1), numbers(size, 2)
                once = problem.applied(pc, z)
                name = f"{ordering} {direction} {len(sizes)}D"
                report(name, abs(problem.applied(pc, y, "applyTranspose") @ z - y @ once) / abs(y @ once), 1e-12)
                report(f"{name} times i", apart(problem.applied(pc, 1j * z), 1j * once), 1e-14)


def sides():
    """Left and right halves of Hermitian lines: together they are the lines, and each is the adjoint of the other."""
    problem = Problem([10, 4], hermitian=True)
    pc = problem.pc(dict(JACOBI, pc_line_ranks="cut"))
    twin = problem.lines(0)
    b, y = numbers(len(twin)), numbers(len(twin), 3)
    left = problem.applied(pc, b, "applySymmetricLeft")
    report("both halves", apart(problem.applied(pc, left, "applySymmetricRight"), np.linalg.solve(twin, b)), 1e-13)
    right = problem.applied(pc, y, "applySymmetricRight")
    report("adjoint halves", abs(np.vdot(b, right) - np.vdot(left, y)) / abs(np.vdot(b, right)), 1e-13)


def graph():
    """Lines of a matrix without a grid: the strongest couplings, along x."""
    n, rng = 12, np.random.default_rng(4)
    dense = np.zeros((n * n, n * n), dtype=complex)
    for row in range(n * n):
        dense[row, row] = 30 - 9j
        if row % n < n - 1:
            dense[row, row + 1], dense[row + 1, row] = 10 * np.exp(1j * rng.uniform(0, 6, 2))
        if row + n < n * n:
            dense[row, row + n], dense[row + n, row] = 0.1 * np.exp(1j * rng.uniform(0, 6, 2))
    A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    first, last = A.getOwnershipRange()
    for row in range(first, last):
        columns = np.flatnonzero(dense[row])
        A.setValues([row], columns.astype(PETSc.IntType), dense[row, columns])
    A.assemble()
    lines = np.where(np.abs(dense) > 1, dense, 0)
    for name, value in dict(JACOBI, pc_line_source="graph", pc_line_direction="auto").items():
        options[name] = value
    pc = PETSc.PC().create()
    pc.setOperators(A)
    pc.setType("line")
    pc.setFromOptions()
    b, x = A.createVecs()
    values = numbers(n * n)
    b.setArray(values[first:last])
    for how, twin in (("apply", lines), ("applyTranspose", lines.T)):
        getattr(pc, how)(b, x)
        expected = np.linalg.solve(twin, values)[first:last]
        report(f"graph, {how}", apart(x.getArray(), expected), 1e-13)


def helmholtz():
    """Waves with absorption: -u'' - k^2 (1 - i/4) u on a square, refined across y so that lines along y matter."""
    nx, ny, k2 = 24, 24, 40.0
    da = PETSc.DMDA().create(sizes=[nx, ny], dof=1, stencil_width=1)
    da.setUp()
    A = da.createMat()
    hx, hy = 1 / (nx + 1), 0.1 / (ny + 1)
    ao = da.getAO()
    for row in range(*A.getOwnershipRange()):
        here = int(ao.petsc2app(np.array([row], dtype=PETSc.IntType))[0])
        i, j = here % nx, here // nx
        near = [(here, 2 / hx**2 + 2 / hy**2 - k2 * (1 - 0.25j))]
        near += [(here + d, -1 / hx**2) for d in (-1, 1) if 0 <= i + d < nx] + [(here + d * nx, -1 / hy**2) for d in (-1, 1) if 0 <= j + d < ny]
        for column, value in near:
            A.setValue(row, int(ao.app2petsc(np.array([column], dtype=PETSc.IntType))[0]), value)
    A.assemble()
    ksp = PETSc.KSP().create()
    ksp.getPC().setDM(da)
    ksp.setOperators(A)
    ksp.setFromOptions()
    b, x = A.createVecs()
    b.set(1 + 2j)
    ksp.solve(b, x)
    r = b - A * x
    say(f"reason {ksp.getConvergedReason()}, iterations {ksp.getIterationNumber()}, residual {r.norm() / b.norm():.1e}")


def pivots():
    """A row that holds nothing on its line, but for a neighbour across it, is told to PETSc."""
    problem = Problem([8, 5])
    row, *columns = problem.da.getAO().app2petsc(np.array([13, 12, 13, 14], dtype=PETSc.IntType))
    problem.matrix.setValues([row], columns, np.zeros(3))
    problem.matrix.assemble()
    ksp = PETSc.KSP().create()
    ksp.getPC().setDM(problem.da)
    ksp.setOperators(problem.matrix)
    ksp.setType("gmres")
    ksp.getPC().setType("line")
    ksp.setFromOptions()
    b = problem.vector(numbers(len(problem.dense)))
    x = b.duplicate()
    ksp.solve(b, x)
    say(f"reason {ksp.getConvergedReason()}")


def not_finite():
    """KSPPREONLY looks at no norm: parts that are no numbers, or cancel to none, are seen all the same."""
    problem = Problem([8, 5])
    ksp = PETSc.KSP().create()
    ksp.getPC().setDM(problem.da)
    ksp.setOperators(problem.matrix)
    ksp.setType("preonly")
    ksp.getPC().setType("line")
    for name, places in {"good": {}, "NaN": {7: complex(0, float("nan"))}, "infinite": {7: complex(float("inf"), 0)}, "opposite": {7: complex(0, float("inf")), 30: complex(0, float("-inf"))}}.items():
        values = numbers(len(problem.dense))
        for place, value in places.items():
            values[place] = value
        b = problem.vector(values)
        ksp.solve(b, b.duplicate())
        say(f"{name}: reason {ksp.getConvergedReason()}")


globals()[options.getString("case")]()
