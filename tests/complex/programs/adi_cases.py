"""PCADI and KSPADI with complex scalars, each case by its name: -case NAME. Beside a dense twin, or by what iterations do."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import common  # noqa: E402
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print


class Grid:
    """A matrix on a box of nodes from a function of a node: row(at) gives {offsets of a neighbour: value} for each unknown of the node."""

    def __init__(self, sizes, row, dof=1, wraps=False, corners=False):
        self.sizes, self.dof, n = sizes, dof, len(sizes)
        self.da = PETSc.DMDA().create(
            sizes=sizes, dof=dof, stencil_width=1, stencil_type="box" if corners else "star", boundary_type=["periodic" if wraps else "none"] * n
        )
        self.da.setUp()
        self.matrix = self.da.createMat()
        total = int(np.prod(sizes)) * dof
        self.dense = np.zeros((total, total), dtype=complex) if total <= 1500 else None
        here, there = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        ranges = self.da.getRanges()
        for backwards in np.ndindex(*sizes[::-1]):
            at = backwards[::-1]
            mine = all(first <= i < last for i, (first, last) in zip(at, ranges))
            if not mine and self.dense is None:
                continue
            for c in range(dof):
                here.index, here.field = tuple(at) + (0,) * (3 - n), c
                for offset, value in row(at, c).items():
                    other = [i + o for i, o in zip(at, offset)]
                    if not wraps and not all(0 <= i < m for i, m in zip(other, sizes)):
                        continue
                    field = c if len(offset) == n else offset[n]
                    there.index, there.field = tuple(other) + (0,) * (3 - n), field
                    if mine:
                        self.matrix.setValueStencil(here, there, value)
                    if self.dense is not None:
                        self.dense[self.number(at, c), self.number([i % m for i, m in zip(other, sizes)], field)] = value
        self.matrix.assemble()

    def number(self, at, c=0):
        return c + self.dof * sum(i * int(np.prod(self.sizes[:k])) for k, i in enumerate(at))

    def vector(self, values):
        """From an array in the grid's own order."""
        natural, x = self.da.createNaturalVec(), self.da.createGlobalVec()
        first, last = natural.getOwnershipRange()
        natural.setArray(values[first:last])
        self.da.naturalToGlobal(natural, x)
        return x

    def array(self, x):
        natural = self.da.createNaturalVec()
        self.da.globalToNatural(x, natural)
        scatter, whole = PETSc.Scatter.toAll(natural)
        scatter.scatter(natural, whole)
        return whole.getArray().copy()

    def applied(self, values, settings, how="apply"):
        pc = common.pc_of(self.matrix, settings, "adi", self.da)
        b, x = self.vector(values), self.da.createGlobalVec()
        getattr(pc, how)(b, x)
        return self.array(x)

    def ksp(self, kind, settings=(), operator=None, pc="adi"):
        ksp = PETSc.KSP().create()
        ksp.getPC().setDM(self.da)
        ksp.setOperators(operator or self.matrix, self.matrix)
        ksp.setType(kind)
        ksp.getPC().setType(pc)
        for name, value in dict(settings).items():
            options[name] = value
        ksp.setFromOptions()
        for name in dict(settings):
            options.delValue(name)
        return ksp

    def solved(self, kind, settings=(), operator=None):
        """Reason, iterations and relative residual of a random right-hand side."""
        ksp, b = self.ksp(kind, settings, operator), common.numbers(self.da)
        x = self.da.createGlobalVec()
        ksp.solve(b, x)
        r = b - (operator or self.matrix) * x
        return ksp.getConvergedReason(), ksp.getIterationNumber(), r.norm() / b.norm()


def unit(k, n, step):
    return tuple(step if d == k else 0 for d in range(n))


def laplacian(sizes, factor=1.0, shift=0.0, drift=0.0, coefficient=lambda k, at: 1.0, phase=0.0, ends="values", **more):
    """factor (-div c grad u + drift sum u_k + shift u), in units of the mesh. phase: of couplings, e^{i phase} one way and e^{-i phase} the other."""
    n = len(sizes)

    def row(at, c):
        entries = {(0,) * n: factor * shift}
        for k in range(n):
            for step in (-1, 1):
                strength = coefficient(k, at if step > 0 else tuple(i - (d == k) for d, i in enumerate(at)))
                inside = 0 <= at[k] + step < sizes[k]
                entries[unit(k, n, step)] = factor * (-strength + step * drift / 2) * np.exp(1j * step * phase * at[(k + 1) % n])
                entries[(0,) * n] += factor * strength * (inside or ends == "values" or bool(more.get("wraps")))
        return entries

    return Grid(sizes, row, **more)


def random_grid(sizes, seed=3, **more):
    """Couplings of any phase and size, and a diagonal that is larger than most."""
    rng = np.random.default_rng(seed)
    n, dof = len(sizes), more.get("dof", 1)
    known = {}

    def row(at, c):
        if (at, c) not in known:
            offsets = [unit(k, n, step) for k in range(n) for step in (-1, 1)]
            if more.get("corners"):
                offsets += [(1, 1) + (0,) * (n - 2)]
            values = {offset: complex(*rng.normal(size=2)) for offset in offsets}
            if dof > 1:
                values[(0,) * n + ((c + 1) % dof,)] = 0.3j
            values[(0,) * n] = (2 - 0.7j) * sum(abs(v) for v in values.values()) + complex(*rng.normal(size=2))
            known[at, c] = values
        return known[at, c]

    for backwards in np.ndindex(*sizes[::-1]): # in one order on all ranks
        for c in range(dof):
            row(backwards[::-1], c)
    return Grid(sizes, row, **more)


class Twin:
    """The parts of a dense matrix and the schemes, as docs/kernels/adi.md has them, without rows that are solved by themselves."""

    def __init__(self, grid):
        A, sizes, dof = grid.dense, grid.sizes, grid.dof
        total, d = len(A), len(sizes)
        component, node = np.arange(total) % dof, np.arange(total) // dof
        at = np.array([node // int(np.prod(sizes[:k])) % sizes[k] for k in range(d)])
        self.A, self.parts = A, np.zeros((d, total, total), dtype=complex)
        for i, j in zip(*np.nonzero(A)):
            apart = [k for k in range(d) if at[k, i] != at[k, j]]
            if component[i] == component[j] and len(apart) == 1:
                self.parts[apart[0], i, j] = A[i, j]
        diagonal, own = np.diag(A), np.abs(self.parts).sum(axis=2)
        squares = ((diagonal - diagonal.mean()) ** 2).sum() + sum((P * P.T).sum() for P in self.parts)
        turn = np.sqrt(squares / abs(squares))
        turn *= np.sign((turn.conjugate() * diagonal.mean()).real)
        shares = own.astype(complex)
        excess = diagonal / turn - own.sum(axis=0)
        for e, unit in ((excess.real, 1), (excess.imag, 1j)):
            over = e - e.min()
            terms = np.array([[over[(at[k] == at[k, m]) & (component == component[m])].min() for m in range(total)] for k in range(d)])
            rest = np.maximum(0, over - terms.sum(axis=0))
            kept = np.minimum(1, np.divide(over, terms.sum(axis=0), out=np.ones(total), where=terms.sum(axis=0) > 0))
            for m in range(total):
                there = [np.abs(P[m][P[m] != 0]) for P in self.parts]
                weight = np.array([terms[k, m] + 1e-10 * there[k][0] if len(there[k]) == 1 else 0 for k in range(d)])
                shares[:, m] += unit * (e.min() / d + terms[:, m] * kept[m] + rest[m] * (weight / weight.sum() if weight.any() else 1 / d))
        for k in range(d):
            self.parts[k] += np.diag(turn * shares[k])

    def inverses(self, p):
        return [np.linalg.inv(part + p * np.eye(len(self.A))) for part in self.parts]

    def cycle(self, kind, shifts):
        """M^-1 of a whole cycle."""
        eye, d = np.eye(len(self.A)), len(self.parts)
        left = eye
        for p in shifts:
            inverses = self.inverses(p)
            if kind == "peaceman_rachford" and d == 2:
                for S in inverses:
                    left = (eye - S @ self.A) @ left
            else:
                scale = (1 if kind == "douglas_rachford" else 2) * p ** (d - 1)
                left = (eye - scale * np.linalg.multi_dot([*inverses[::-1], self.A])) @ left
        return (eye - left) @ np.linalg.inv(self.A)

    def symmetric(self, shifts):
        """The sum of products there and back, for shifts in equal ratios."""
        step, d = abs(np.log(abs(shifts[1] / shifts[0]))), len(self.parts)
        return sum(2 * step * p ** (2 * d - 1) * np.linalg.multi_dot([*self.inverses(p), *self.inverses(p)[::-1]]) for p in shifts)


def numbers(size, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=size) + 1j * rng.normal(size=size)


def report(what, got, expected, most=1e-11):
    difference = np.abs(got - expected).max() / np.abs(expected).max()
    say(f"{what}: {'alike' if difference <= most else f'apart by {difference:.2e}'}")


SHAPES = {
    "plane": dict(sizes=(9, 7)),
    "ring": dict(sizes=(7, 8), wraps=True),
    "space": dict(sizes=(5, 4, 6)),
    "unknowns": dict(sizes=(6, 5), dof=2),
    "corners": dict(sizes=(7, 6), corners=True),
}
SHIFTS = [5 - 2j, 3 + 1.5j, 9j]
TYPES = ("peaceman_rachford", "douglas_rachford", "douglas_gunn")


def text(shifts):
    return ",".join(f"{p.real:g}{p.imag:+g}i" for p in map(complex, shifts))


def twins():
    """Applications and their transposes beside the dense twin."""
    for shape, settings in SHAPES.items():
        grid = random_grid(**settings)
        twin, b = Twin(grid), numbers(len(grid.dense))
        for kind, keep in ((kind, keep) for kind in TYPES for keep in (True, False)):
            M = twin.cycle(kind, SHIFTS)
            asked = dict(pc_adi_type=kind, pc_adi_shifts=text(SHIFTS), pc_adi_keep_factors=keep)
            report(f"{shape}, {kind}, kept {keep}", grid.applied(b, asked), M @ b)
            report(f"{shape}, {kind}, kept {keep}, transposed", grid.applied(b, asked, "applyTranspose"), M.T @ b)
        terms = [(4 - 3j) * 2**k for k in range(3)]
        asked = dict(pc_adi_symmetric=True, pc_adi_shifts=text(terms))
        M = twin.symmetric(terms)
        report(f"{shape}, symmetric", grid.applied(b, asked), M @ b)
        report(f"{shape}, symmetric, transposed", grid.applied(b, asked, "applyTranspose"), M.T @ b)


def lines():
    """One direction is solved."""
    for name, grid in (("line", random_grid((30,))), ("ring", random_grid((30,), wraps=True)), ("column", random_grid((1, 20)))):
        b = numbers(len(grid.dense))
        report(name, grid.applied(b, {}), np.linalg.solve(grid.dense, b))
        report(f"{name}, transposed", grid.applied(b, {}, "applyTranspose"), np.linalg.solve(grid.dense.T, b))


def told(name, found):
    reason, iterations, residual = found
    say(f"{name}: reason {reason}, iterations {iterations}, residual {residual:.1e}")


TIGHT = dict(ksp_rtol=1e-8, ksp_atol=0) # corrections of large matrices are small


def turned():
    """e^{i t} (diffusion + shift): the iterations of the real one, for the solver, Krylov methods and the symmetric form."""
    for shape, settings in (("plane", dict(sizes=(33, 20))), ("ring", dict(sizes=(32, 16), wraps=True, shift=0.01)), ("space", dict(sizes=(9, 12, 10)))):
        for t, size in ((0, 1), (0.4, 1), (np.pi / 2, 1), (2.2, 1e-120), (np.pi, 1), (-1.1, 1e120)):
            grid = laplacian(factor=size * np.exp(1j * t), **settings)
            counts = [grid.solved("adi", dict(TIGHT, pc_adi_type=kind)) for kind in TYPES]
            counts += [grid.solved("gmres", TIGHT), grid.solved("gmres", dict(TIGHT, pc_adi_symmetric=True))]
            good = all(reason > 0 and residual < 1e-6 for reason, _, residual in counts)
            say(f"{shape}: {' '.join(str(n) for _, n, _ in counts) if good else counts}")


def steps():
    """Time steps of Schroedinger's equation, 1 + i dt H, H in units of the mesh: the shorter, the fewer sweeps."""
    for sizes in ((64, 64), (16, 16, 16)):
        for dt in (0.01, 1.0, 100.0, 1e4):
            grid = laplacian(sizes, factor=1j * dt, shift=1 / (1j * dt))
            told(f"{len(sizes)} directions, dt {dt:g}", grid.solved("adi", TIGHT))


def shifted():
    """Shifted Laplacians, whose real part is indefinite: what there is of them and, around Helmholtz' equation, for it."""
    for n, k in ((64, 10.0), (64, 20.0), (64, 40.0)):
        k2 = (k / n) ** 2
        A, M = (laplacian((n, n), shift=-k2 * (1 - damping * 1j)) for damping in (0.05, 0.5))
        told(f"k {k:g}, adi", M.solved("adi", TIGHT))
        told(f"k {k:g}, helmholtz", M.solved("fgmres", dict(TIGHT, ksp_gmres_restart=200, pc_adi_iterations=2), A.matrix))
    M = laplacian((16, 16, 16), shift=-((8.0 / 16) ** 2) * (1 - 0.5j))
    told("space, adi", M.solved("adi", dict(TIGHT, ksp_max_it=400)))


def promise():
    """What a cycle leaves of normal matrices, in the 2-norm, beside what the view promises."""
    for name, settings in {
        "turned": dict(sizes=(20, 17), factor=np.exp(0.7j)),
        "time step": dict(sizes=(20, 17), factor=1j, shift=0.3 - 0.2j),
        "shifted": dict(sizes=(20, 17), shift=-0.1 + 0.1j),
        "space": dict(sizes=(7, 6, 5), factor=1j, shift=0.3 - 0.2j),
        "rotation": dict(sizes=(15, 16), wraps=True, drift=8.0, coefficient=lambda k, at: 0.5, shift=1.0),
        "slanted": dict(sizes=(12, 13), coefficient=lambda k, at: np.exp(0.5j * k), shift=0.2),
    }.items():
        for kind in TYPES:
            grid = laplacian(**settings)
            pc = common.pc_of(grid.matrix, dict(pc_adi_type=kind), "adi", grid.da)
            e, most = common.numbers(grid.da), 0.0
            r, z = e.duplicate(), e.duplicate()
            for _ in range(12):
                e.scale(1 / e.norm())
                grid.matrix.mult(e, r)
                pc.apply(r, z)
                e.axpy(-1, z)
                most = max(most, e.norm())
            say(f"{name}, {kind}: has left {most:.6g}")
            pc.view()


def convection():
    """Central differences of strong convection, whose spectra are nearly imaginary: complex shifts reduce them at once."""
    for drift in (0.0, 1.0, 4.0, 20.0):
        told(f"drift {drift:g}", laplacian((40, 40), drift=drift).solved("adi", dict(TIGHT, ksp_max_it=300)))


def hermitian():
    """A magnetic Laplacian, whose couplings have phases: conjugate gradients with the symmetric form."""
    grid = laplacian((24, 20), phase=0.15, shift=0.05)
    told("magnetic, cg", grid.solved("cg", dict(TIGHT, pc_adi_symmetric=True, ksp_norm_type="unpreconditioned")))
    told("magnetic, gmres", grid.solved("gmres", TIGHT))
    pc = common.pc_of(grid.matrix, dict(pc_adi_symmetric=True), "adi", grid.da)
    y, z, b, c = grid.da.createGlobalVec(), grid.da.createGlobalVec(), common.numbers(grid.da, 1), common.numbers(grid.da, 2)
    pc.apply(b, y)
    pc.apply(c, z)
    say(f"adjoint: {'alike' if abs(c.dot(y) - z.dot(b)) <= 1e-12 * abs(c.dot(y)) else 'apart'}")
    say(f"definite: {'yes' if b.dot(y).real > 0 and abs(b.dot(y).imag) <= 1e-12 * b.dot(y).real else 'no'}")


def symmetric():
    """A complex symmetric matrix whose parts do not commute: the symmetric form is so too, without a conjugate, and the schemes promise nothing."""
    grid = laplacian((24, 20), coefficient=lambda k, at: (1 + 9 * (at[0] > 12)) * (1 + 0.3j), shift=0.3j)
    pc = common.pc_of(grid.matrix, dict(pc_adi_symmetric=True), "adi", grid.da)
    y, z, b, c = grid.da.createGlobalVec(), grid.da.createGlobalVec(), common.numbers(grid.da, 1), common.numbers(grid.da, 2)
    pc.apply(b, y)
    pc.apply(c, z)
    say(f"symmetric: {'alike' if abs(c.tDot(y) - z.tDot(b)) <= 1e-12 * abs(c.tDot(y)) else 'apart'}")
    told("form", grid.solved("gmres", dict(TIGHT, pc_adi_symmetric=True)))
    told("scheme", grid.solved("gmres", TIGHT))
    common.pc_of(grid.matrix, {}, "adi", grid.da).view()


def known():
    """Identity rows at the faces of a box and penalties within: their unknowns are met in one application, and the rest converges."""
    for factor, penalty in ((1j, 0), (np.exp(0.4j), 1e7 * (1 - 2j))):
        inner = laplacian((14, 12), factor=factor, shift=0.1)

        def row(at, c):
            if 0 in at or at[0] == 13 or at[1] == 11:
                return {(0, 0): 2 + 1j}
            return {**entries(at), (0, 0): entries(at)[(0, 0)] + (penalty if at == (5, 6) else 0)}

        def entries(at):
            i = inner.number(at)
            return {(dx, dy): inner.dense[i, inner.number((at[0] + dx, at[1] + dy))] for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))}

        grid = Grid((14, 12), row)
        b = numbers(len(grid.dense))
        rows = [i for i in range(len(b)) if np.count_nonzero(grid.dense[i]) == 1] + ([grid.number((5, 6))] if penalty else [])
        for settings in ({}, dict(pc_adi_type="douglas_gunn"), dict(pc_adi_symmetric=True)):
            x = grid.applied(b, settings)
            report("known", x[rows], (b / np.diag(grid.dense))[rows], 1e-5 if penalty else 1e-13)
        told("rest", grid.solved("adi", TIGHT)[:2] + (0,))


def given():
    """Shifts and bounds by hand: as they are, and of the turned matrix."""
    turn = np.exp(0.4j)
    grid = laplacian((24, 20), factor=turn)
    pc = common.pc_of(grid.matrix, dict(pc_adi_shifts="0.5+2i,-3i", pc_adi_cycle=3), "adi", grid.da)
    pc.view()
    told("found", grid.solved("adi", TIGHT))
    told("bounds", grid.solved("adi", dict(TIGHT, pc_adi_bounds="0.016,4")))
    told("circles", grid.solved("adi", dict(TIGHT, pc_adi_bounds_method="gershgorin")))
    step = laplacian((24, 20), factor=1j, shift=-0.5j)
    told("bounds of a time step", step.solved("adi", dict(TIGHT, pc_adi_bounds="0.01,4")))


def wrong():
    """What is not to be solved so, says so."""
    what = options.getString("what")
    shift = {"indefinite": -0.3, "nan": complex(0, float("nan"))}.get(what, 0.1j)
    grid = laplacian((16, 16), shift=shift)
    settings = {
        "zero": dict(pc_adi_shifts="0"),
        "infinite": dict(pc_adi_shifts="1+infi"),
        "large": dict(pc_adi_shifts="-0.4-0.1i,0.01", pc_adi_iterations=8),
        "diverging": dict(pc_adi_shifts="-0.6+0.1i", ksp_max_it=3000),
        "pivot": dict(pc_adi_shifts="-2-0.05i"),
    }.get(what, {})
    told(what, grid.solved("adi", settings))


globals()[options.getString("case")]()
