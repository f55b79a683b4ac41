"""Random separable operators on grids in one to three directions, solved by -pc_type bcr and beside it by numpy: prints what is wrong.

Usage: separable_operators.py FIRST LAST [PETSc options]. With -cases boxes those of box_cases.py; else, case by case: stretched, decoupled, periodic and indefinite directions, weights,
factors of rows, eliminated boundary rows, Dirichlet conditions by penalty, scales from 1e-300 to 1e300, methods, both precisions."""

import sys

import petsc4py

petsc4py.init(sys.argv[3:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
options = PETSc.Options()
NAMES = ("type", "precision", "inverse", "radix", "levels")


def direction(rng, n):
    """A tridiagonal matrix, and whether it wraps around."""
    kind = rng.choice(["laplacian", "laplacian", "stretched", "random", "positive", "upwind", "none", "gaps", "signs"])
    end = rng.choice(["dirichlet", "cells", "half", "node"])
    periodic = bool(n > 2 and rng.random() < 0.2)
    up = -rng.uniform(0.1, 2, n)
    if kind == "laplacian":
        up[:] = -(10.0 ** rng.integers(-2, 3))
    elif kind == "positive":
        up = -up
    elif kind == "signs":
        up *= rng.choice([-1, 1], n)
    elif kind == "gaps":
        up *= rng.random(n) < 0.6
    elif kind == "none":
        up[:] = 0
    low = np.roll(up, 1)
    if kind == "stretched" and not periodic:
        h = rng.uniform(1, 1.5) ** np.arange(n + 1)
        low, up = -2 / (h[:-1] * (h[1:] + h[:-1])), -2 / (h[1:] * (h[1:] + h[:-1]))
    elif kind == "upwind" and not periodic:
        low, up = np.full(n, -1 - rng.uniform(0, 2)), np.full(n, -1.0)
    diagonal = -(low + up)
    T = np.zeros((n, n))
    if not periodic:
        if n > 1 and kind == "laplacian" and end == "node":
            up[0] *= 2
            low[-1] *= 2
        if end in ("cells", "half"):
            diagonal[0] += low[0]
        if end == "cells":
            diagonal[-1] += up[-1]
        if end == "node":
            diagonal[0], diagonal[-1] = -up[0] if n > 1 else 0, -low[-1] if n > 1 else 0
    for i in range(n):
        T[i, i] += diagonal[i]
        for j, value in ((i - 1, low[i]), (i + 1, up[i])):
            if periodic or 0 <= j < n:
                T[i, j % n] += value
    return T, periodic


def case(seed):
    """Sizes, periodic directions, the matrix and its scale, options, a description."""
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(1, 4))
    most = (40, 20, 8)[dimension - 1] if rng.random() < 0.85 else 3
    sizes = [int(rng.integers(1, most + 1)) for _ in range(dimension)]
    size = int(np.prod(sizes))
    T, periodic = zip(*(direction(rng, n) for n in sizes))
    W = [np.diag(rng.uniform(0.5, 2, n)) if rng.random() < 0.15 else np.eye(n) for n in sizes]
    if any(not np.any(t - np.diag(np.diag(t))) for t in T):
        W = [np.eye(n) for n in sizes]  # couplings tell weights
    shift = float(rng.choice([0, 0, 0.7, 1e-3, 3, -0.7, -3, -1.5, -7.3, 100]))
    product = lambda factors: factors[0] if len(factors) == 1 else np.kron(product(factors[1:]), factors[0])  # noqa: E731
    A = shift * product(W) + sum(product([T[k] if m == k else W[m] for m in range(dimension)]) for k in range(dimension))
    about = [f"{sizes} shift {shift}"]
    whole = all(np.all(np.diag(t, 1) != 0) for t in T if len(t) > 1)
    if whole and rng.random() < 0.15:
        A = np.diag(10 ** rng.uniform(-1, 1, size)) @ A
        about.append("factors of rows")
    if dimension > 1 and rng.random() < 0.35:
        known, stride, at = np.zeros(size, bool), 1, np.arange(size)
        for k in range(dimension):
            for end in (0, sizes[k] - 1):
                if not periodic[k] and sizes[k] > 2 and rng.random() < 0.6:
                    known |= at // stride % sizes[k] == end
            stride *= sizes[k]
        way = rng.choice(["rows", "both", "penalty"])
        if way == "penalty" and whole:
            A += np.diag(10.0 ** rng.choice([14, 20, 30]) * known)
            about.append("penalty")
        else:
            A[known] = np.diag(np.full(size, rng.choice([1, 30.0])))[known]
            if way != "rows":
                A[np.ix_(~known, known)] = 0
            about.append(f"eliminated {way}")
    scale = float(rng.choice([1] * 12 + [1e-300, 1e300, 1e-100, 1e150, 1e10])) if "penalty" not in about else 1.0
    chosen = {"type": str(rng.choice(["auto"] * 6 + ["buneman1", "buneman2", "partial", "separable", "facr"])),
              "precision": str(rng.choice(["double"] * 4 + ["single"]))}  # fmt: skip
    if rng.random() < 0.3 and chosen["type"] in ("buneman1", "buneman2"):
        chosen["inverse"] = "leja"
    if chosen["type"] == "separable":
        chosen["radix"] = int(rng.choice([0, 2, 3, 5]))
    if rng.random() < 0.3 and chosen["type"] == "facr":
        chosen["levels"] = 1
    return rng, sizes, periodic, A, scale, chosen, f"{', '.join(about)}, times {scale:g}, {chosen}"


class Problem:
    """A matrix on a DMDA, vectors by the grid's own numbers."""

    def __init__(self, sizes, periodic, A, scale):
        types = [PETSc.DM.BoundaryType.PERIODIC if p else PETSc.DM.BoundaryType.NONE for p in periodic]
        self.grid = PETSc.DMDA().create(sizes, stencil_width=1, boundary_type=types, comm=comm)
        self.like = self.grid.createGlobalVec()
        self.numbers = self.grid.getAO().app2petsc(np.arange(len(A), dtype=PETSc.IntType))
        self.node = np.argsort(self.numbers)
        self.range = self.like.getOwnershipRange()
        self.matrix = PETSc.Mat().createAIJ(((self.like.getLocalSize(), len(A)),) * 2, nnz=7, comm=comm)
        self.matrix.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
        for row in range(*self.range):
            i = self.node[row]
            columns = np.flatnonzero(A[i])
            self.matrix.setValues([row], self.numbers[columns], A[i, columns] * scale)
        self.matrix.assemble()

    def vector(self, values):
        vector = self.like.duplicate()
        vector.setArray(values[self.node[slice(*self.range)]])
        return vector

    def values(self, vector):
        scatter, whole = PETSc.Scatter.toAll(vector)
        scatter.scatter(vector, whole)
        return whole.getArray()[self.numbers].copy()


def wrong(seed):
    """What is wrong with a case, or nothing."""
    rng, sizes, periodic, A, scale, chosen, about = case(seed)
    if not np.any(A):
        return None
    rows = np.abs(A).max(axis=1)
    rows[rows < 1e12] = 1  # of penalties
    rows = rows[:, None]
    singular_values = np.linalg.svd(A / rows, compute_uv=False)
    condition = singular_values[0] / max(singular_values[-1], 1e-300)
    size = np.abs(A / rows).sum(axis=1).max()
    constants = len(A) > 1 and condition > 1e12 and singular_values[-2] > 1e-8 * singular_values[0] and np.abs(A.sum(axis=1)).max() < 1e-13 * size
    if 1e10 < condition and not constants:
        return None
    try:
        problem = Problem(sizes, periodic, A, scale)
    except PETSc.Error:
        return None  # more ranks than nodes
    if constants:
        problem.matrix.setNullSpace(PETSc.NullSpace().create(constant=True, comm=comm))
    for name in NAMES:
        options.delValue(f"-pc_bcr_{name}")
        if name in chosen:
            options[f"pc_bcr_{name}"] = chosen[name]
    ksp = PETSc.KSP().create(comm)
    ksp.setOperators(problem.matrix)
    ksp.setDM(problem.grid)
    ksp.setDMActive(False)
    ksp.setType("preonly")
    ksp.getPC().setType("bcr")
    ksp.setFromOptions()
    result = problem.like.duplicate()
    tolerance = 1e-10 if chosen["precision"] == "double" else 3e-4
    try:
        ksp.setUp()
    except PETSc.Error as error:
        refused = str(error).splitlines()[-1]
        return None if f"-pc_bcr_type {chosen['type']}" in refused and chosen["type"] != "auto" else f"{about}: {refused}"
    b = A @ rng.standard_normal(len(A))
    ksp.solve(problem.vector(b), result)
    if ksp.reason < 0:  # what a method needs beside the matrix is its own affair, what `auto` takes is not
        return None if chosen["type"] not in ("auto", "facr") or chosen["precision"] == "single" else f"{about}: reason {ksp.reason}, condition {condition:.0e}"
    x = problem.values(result) * scale
    # The backward error, row by row scaled.
    error = np.linalg.norm((A @ x - b) / rows[:, 0]) / (size * np.linalg.norm(x) + np.linalg.norm(b / rows[:, 0]))
    if not error < tolerance:
        return f"{about}: backward error {error:.1e}, condition {condition:.0e}"
    p, q = rng.standard_normal(len(A)), rng.standard_normal(len(A))
    ksp.getPC().apply(problem.vector(p), result)
    forward = problem.values(result) * scale
    ksp.getPC().applyTranspose(problem.vector(q), result)
    backward = problem.values(result) * scale
    difference = abs(q @ forward - p @ backward) / (np.linalg.norm(q) * np.linalg.norm(forward) + np.linalg.norm(p) * np.linalg.norm(backward))
    if not difference < tolerance * min(max(1, condition * 1e-4), 1e6):
        return f"{about}: adjoint difference {difference:.1e}, condition {condition:.0e}"
    return None


if options.getString("cases", "stars") == "boxes":
    from box_cases import case  # noqa: F811
first, last = int(sys.argv[1]), int(sys.argv[2])
for number in range(first, last):
    found = wrong(number)
    if found:
        PETSc.Sys.Print(f"case {number}: {found}")
PETSc.Sys.Print(f"cases {first} to {last - 1} are done")
