"""Operators on grids that once went wrong, by name: how the solve ends, its row-scaled residual, the difference of adjoints.

Usage: grid_operators.py NAME [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv[2:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
name, *numbers = sys.argv[1].split(":")
numbers = [float(n) for n in numbers]


def product(factors):
    return factors[0] if len(factors) == 1 else np.kron(product(factors[1:]), factors[0])


def laplacian(sizes, shift=0.0):
    """2 and -1, Dirichlet ends."""
    T = [2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) for n in sizes]
    return shift * np.eye(int(np.prod(sizes))) + sum(product([T[k] if m == k else np.eye(n) for m, n in enumerate(sizes)]) for k in range(len(sizes)))


def ends(sizes):
    """Whether a node is on the boundary."""
    at = np.indices(sizes[::-1])[::-1]
    return np.any([(a == 0) | (a == n - 1) for a, n in zip(at, sizes)], axis=0).ravel()


def stretched(n, ratio):
    """Neumann ends, finite differences on cells that grow."""
    h = ratio ** np.arange(n)
    T = np.zeros((n, n))
    for i, d in enumerate((h[1:] + h[:-1]) / 2):
        T[i : i + 2, i : i + 2] += np.array([[1, -1], [-1, 1]]) / d
    return T / h[:, None]


null_space = False
if name == "eliminated":  # identity rows, couplings to them removed: a coarsest grid of multigrid
    sizes = [int(n) for n in numbers]
    known = ends(sizes)
    A = laplacian(sizes)
    A[known] = np.eye(len(A))[known]
    A[np.ix_(~known, known)] = 0
elif name == "diagonal":
    sizes = [int(n) for n in numbers]
    A = np.diag(10 ** np.random.default_rng(0).uniform(-1, 1, int(np.prod(sizes))))
elif name == "uncoupled":
    sizes = [int(numbers[0])]
    A = 0.1 * np.eye(sizes[0])
elif name == "helmholtz":
    sizes = [int(n) for n in numbers[:-1]]
    A = laplacian(sizes, -numbers[-1])
elif name == "stretched":  # singular, not symmetric
    sizes = [8, 9]
    A = product([stretched(8, numbers[0]), np.eye(9)]) + product([np.eye(8), stretched(9, numbers[1])])
    A = np.diag(np.linspace(1, numbers[2], len(A))) @ A
    null_space = True
elif name == "mask":  # rows of the identity inside the domain, couplings to them left
    sizes = [16, 16]
    y, x = np.mgrid[0:16, 0:16]
    known = ((x - 7.5) ** 2 + (y - 7.5) ** 2 > numbers[0] ** 2).ravel()
    A = laplacian(sizes)
    A[known] = np.eye(len(A))[known]
elif name == "penalty":  # on the boundary, or on a part of it
    sizes = [int(n) for n in numbers[1:]]
    known = ends(sizes)
    if PETSc.Options().getBool("part", False):
        known[len(known) // 3 :] = False
    A = laplacian(sizes) + numbers[0] * np.diag(known)
elif name == "convection":  # so strong that no direction has real eigenvectors
    sizes = [6, 7]
    T = [2 * np.eye(n) + 3 * np.eye(n, k=1) - 3 * np.eye(n, k=-1) for n in sizes]
    A = product([T[0], np.eye(7)]) + product([np.eye(6), T[1]])
elif name == "winds":  # along x so strong that it has no real eigenvectors, along y with nearly parallel ones; no factors of rows make it separable
    sizes = [9, int(numbers[0])]
    T = [2 * np.eye(n) - (1 - v) * np.eye(n, k=1) - (1 + v) * np.eye(n, k=-1) for n, v in zip(sizes, (5, 0.9))]
    some = np.diag(np.sqrt(np.random.default_rng(0).uniform(0.5, 1.5, sizes[0] * sizes[1])))
    A = some @ (product([T[0], np.eye(sizes[1])]) + product([np.eye(sizes[0]), T[1]])) @ some
elif name == "shifted":  # central convection and a negative shift: nx, ny, along x, along y, the shift
    sizes = [int(n) for n in numbers[:2]]
    T = [2 * np.eye(n) - (1 - v) * np.eye(n, k=1) - (1 + v) * np.eye(n, k=-1) for n, v in zip(sizes, numbers[2:4])]
    A = product([T[0], np.eye(sizes[1])]) + product([np.eye(sizes[0]), T[1]]) + numbers[4] * np.eye(sizes[0] * sizes[1])
elif name == "ring":  # constants in the null space, and a left null vector that is none
    sizes = [14]
    up, low = -np.linspace(1, 2, 14), -np.linspace(3, 9, 14)
    A = np.diag(-up - low) + np.diag(up[:-1], 1) + np.diag(low[1:], -1)
    A[0, -1], A[-1, 0] = low[0], up[-1]
    null_space = True
elif name == "elements":  # bilinear ones, a coefficient between 1 and a contrast in each: nx, ny, contrast
    sizes = [int(n) for n in numbers[:2]]
    nx, ny = sizes[0] + 2, sizes[1] + 2
    some = np.random.default_rng(0).uniform(0, 1, (nx - 1, ny - 1))
    coefficient = numbers[2] ** some
    element = np.array([[4, -1, -1, -2], [-1, 4, -2, -1], [-1, -2, 4, -1], [-2, -1, -1, 4]]) / 6
    A = np.zeros((nx * ny, nx * ny))
    for i in range(nx - 1):
        for j in range(ny - 1):
            corners = [i + nx * j, i + 1 + nx * j, i + nx * (j + 1), i + 1 + nx * (j + 1)]
            A[np.ix_(corners, corners)] += coefficient[i, j] * element
    inner = (np.arange(1, nx - 1)[None, :] + nx * np.arange(1, ny - 1)[:, None]).ravel()
    A = A[np.ix_(inner, inner)]
elif name == "nine":  # [1 4 1; 4 -20 4; 1 4 1] with one entry changed: nx, ny, row, column, value
    sizes = [int(n) for n in numbers[:2]]
    T = [2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) for n in sizes]
    W = [12 * np.eye(n) - t for n, t in zip(sizes, T)]
    A = (product([T[0], W[1]]) + product([W[0], T[1]])) / 2
    if len(numbers) > 2:
        A[int(numbers[2]), int(numbers[3])] = numbers[4]
elif name == "pinned":  # the same, of any size, with a row of the identity: nx, ny, row, size
    sizes = [int(n) for n in numbers[:2]]
    T = [2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) for n in sizes]
    W = [12 * np.eye(n) - t for n, t in zip(sizes, T)]
    A = (product([T[0], W[1]]) + product([W[0], T[1]])) / 2 * numbers[3]
    A[int(numbers[2])] = np.eye(len(A))[int(numbers[2])]
elif name == "pencils":  # of convection along x, with one entry changed: nx, ny, convection, row, column, factor
    sizes = [int(n) for n in numbers[:2]]
    T = [2 * np.eye(n) - (1 - v) * np.eye(n, k=1) - (1 + v) * np.eye(n, k=-1) for n, v in zip(sizes, (numbers[2], 0))]
    W = [np.eye(n) - t / 10 for n, t in zip(sizes, T)]
    A = product([T[0], W[1]]) + product([W[0], T[1]])
    A[int(numbers[3]), int(numbers[4])] *= numbers[5]
elif name == "scale":
    sizes = [6, 5]
    A = laplacian(sizes)
elif name == "entry":  # one of the matrix
    sizes = [4, 3]
    A = laplacian(sizes)
    A[5, int(numbers[1])] = numbers[0]
else:
    sizes = [9, 8]
    A = laplacian(sizes)

size = len(A)
scale = numbers[0] if name == "scale" else 1.0
ring = [PETSc.DM.BoundaryType.PERIODIC if name == "ring" else PETSc.DM.BoundaryType.NONE] * len(sizes)
grid = PETSc.DMDA().create(sizes, stencil_width=1, boundary_type=ring, comm=comm)
like = grid.createGlobalVec()
new = grid.getAO().app2petsc(np.arange(size, dtype=PETSc.IntType))
node = np.argsort(new)
begin, end = like.getOwnershipRange()
M = PETSc.Mat().createAIJ(((like.getLocalSize(), size),) * 2, nnz=7, comm=comm)
M.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
for row in range(begin, end):
    i = node[row]
    columns = np.flatnonzero(A[i])
    M.setValues([row], new[columns], A[i, columns] * scale)
M.assemble()
if null_space:
    M.setNullSpace(PETSc.NullSpace().create(constant=True, comm=comm))


def vector(values):
    v = like.duplicate()
    v.setArray(values[node[begin:end]])
    return v


def values(v):
    scatter, whole = PETSc.Scatter.toAll(v)
    scatter.scatter(v, whole)
    return whole.getArray()[new].copy()


ksp = PETSc.KSP().create(comm)
ksp.setOperators(M)
ksp.setDM(grid)
ksp.setDMActive(False)
ksp.setType("preonly")
ksp.getPC().setType("bcr")
ksp.setFromOptions()
rng = np.random.default_rng(1)
b = A @ rng.standard_normal(size) if np.all(np.isfinite(A)) else np.ones(size)
if name == "rhs":
    b[int(numbers[1])] = numbers[0]
x = like.duplicate()
ksp.solve(vector(b), x)
rows = np.abs(A).max(axis=1)
with np.errstate(all="ignore"):
    residual = np.linalg.norm((A @ (values(x) * scale) - b) / rows) / np.linalg.norm(b / rows)
p, q = rng.standard_normal(size), rng.standard_normal(size)
ksp.getPC().apply(vector(p), x)
forward = values(x) * scale
ksp.getPC().applyTranspose(vector(q), x)
backward = values(x) * scale
with np.errstate(all="ignore"):
    adjoint = abs(q @ forward - p @ backward) / (np.linalg.norm(p) * np.linalg.norm(backward))
PETSc.Sys.Print(f"reason {ksp.reason}, iterations {ksp.its}, residual {residual:.1e}, adjoint difference {adjoint:.1e}")
if name == "pencils":
    ksp.solveTranspose(vector(q), x)
    transposed = np.linalg.norm(A.T @ values(x) - q) / np.linalg.norm(q)
    PETSc.Sys.Print(f"reason of a transposed solve {ksp.reason}, its residual {transposed:.1e}")
