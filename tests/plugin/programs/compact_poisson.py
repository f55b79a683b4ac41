"""-Laplace u = f between Dirichlet ends by fourth-order compact stencils, u = product of sin(pi x) exp(x): errors on refined grids.

Usage: compact_poisson.py POINTS N,N,... [PETSc options]. POINTS: 9 in the plane, 19 or 27 in space; 5 or 7, of second order, beside them. N: intervals along each side.
Prints N, the largest error, the ratio to the one before, iterations, seconds of a solve and of the
set-up."""

import sys
import time

import petsc4py

petsc4py.init(sys.argv[3:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

points, sides = int(sys.argv[1]), [int(n) for n in sys.argv[2].split(",")]
dimension = 2 if points in (5, 9) else 3
steps = [(p, q, r) for r in (-1, 0, 1) for q in (-1, 0, 1) for p in (-1, 0, 1)]
if dimension == 2:
    steps = [s for s in steps if s[2] == 0]


def entry(step):
    """Of -h^2 times the Laplacian, times a number that leaves whole ones: sums of rows are then 0 to the last bit."""
    apart = sum(s != 0 for s in step)
    if points in (5, 7):
        return (2 * dimension, -1, 0, 0)[apart]
    if points == 9:  # A. Collatz, The Numerical Treatment of Differential Equations, 1960: Mehrstellenverfahren
        return (20, -4, -1)[apart]
    if points == 19:
        return (24, -2, -1, 0)[apart]
    W, T = (10, 1), (2, -1)  # sums of T W W
    return sum(np.prod([(T if k == d else W)[abs(step[k])] for k in range(3)]) for d in range(3))


def rows(n):
    """The matrix of (n - 1)^d unknowns as rows, columns, values."""
    shape = (n - 1,) * dimension
    number = np.arange((n - 1) ** dimension, dtype=PETSc.IntType).reshape(shape)
    found = []
    for step in steps:
        if entry(step) == 0:
            continue
        here, there = [], []
        for s in step[dimension - 1 :: -1]:  # the last direction is the slowest
            here.append(slice(max(0, -s), n - 1 - max(0, s)))
            there.append(slice(max(0, s), n - 1 - max(0, -s)))
        found.append((number[tuple(here)].ravel(), number[tuple(there)].ravel(), entry(step)))
    row = np.concatenate([f[0] for f in found])
    column = np.concatenate([f[1] for f in found])
    value = np.concatenate([np.full(len(f[0]), f[2]) for f in found])
    order = np.lexsort((column, row))
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=number.size))]).astype(PETSc.IntType)
    return starts, column[order], value[order]


def right_hand_side(f, h):
    """h^2 times that of the stencil, from f at all nodes."""
    if points == 27:  # W W W f
        for axis in range(3):
            f = np.moveaxis(f, axis, 0)
            f = np.moveaxis(f[:-2] + 10 * f[1:-1] + f[2:], 0, axis)
        return h * h * f / 12
    inner = (slice(1, -1),) * dimension
    if points in (5, 7):
        return h * h * f[inner]
    g = f[inner] * (1 - 2 * dimension / 12)
    for axis in range(dimension):
        for part in (slice(0, -2), slice(2, None)):
            at = list(inner)
            at[axis] = part
            g = g + f[tuple(at)] / 12
    return 6 * h * h * g


before = None
for n in sides:
    x = np.linspace(0, 1, n + 1)
    value, second = np.sin(np.pi * x) * np.exp(x), np.exp(x) * ((1 - np.pi**2) * np.sin(np.pi * x) + 2 * np.pi * np.cos(np.pi * x))
    along = [[second if k == d else value for k in range(dimension)] for d in range(dimension)]
    product = lambda v: v[0] if len(v) == 1 else np.multiply.outer(v[0], product(v[1:]))  # noqa: E731
    u, f = product([value] * dimension), -sum(product(v) for v in along)
    grid = PETSc.DMDA().create([n - 1] * dimension, stencil_width=1, stencil_type=PETSc.DMDA.StencilType.BOX, comm=PETSc.COMM_SELF)
    size = (n - 1) ** dimension
    A = PETSc.Mat().createAIJ((size, size), csr=rows(n), comm=PETSc.COMM_SELF)
    A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    ksp.setOperators(A)
    ksp.setDM(grid)
    ksp.setDMActive(False)
    ksp.setType("preonly")
    ksp.getPC().setType("bcr")
    ksp.setFromOptions()
    begin = time.perf_counter()
    ksp.setUp()
    set_up = time.perf_counter() - begin
    b = PETSc.Vec().createWithArray(right_hand_side(f, 1 / n).ravel(), comm=PETSc.COMM_SELF)
    solution = b.duplicate()
    ksp.solve(b, solution)
    begin = time.perf_counter()
    ksp.solve(b, solution)
    seconds = time.perf_counter() - begin
    error = np.abs(solution.getArray() - u[(slice(1, -1),) * dimension].ravel()).max()
    PETSc.Sys.Print(f"{n:5d} {error:.2e} {before / error if before else 0:6.2f} {ksp.its} {seconds:.4f} {set_up:.4f}")
    before = error
