"""A matrix on a grid whose values change in many ways: what a PCBCR that has met them all says, beside a fresh one. Prints a line for each."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
n = [int(k) for k in options.getString("n").split(",")]
faces, neumann = options.getBool("faces", False), options.getBool("neumann", False)
rng = np.random.default_rng(3)


def constant(d, k):
    """A tridiagonal matrix with equal rows, and weights 1."""
    T = k * (2 * np.eye(n[d]) - np.eye(n[d], k=1) - np.eye(n[d], k=-1))
    if neumann:
        T[0, 1] *= 2
        T[-1, -2] *= 2
    return T, np.ones(n[d])


def varying(d, seed):
    some = np.random.default_rng(seed)
    c = some.uniform(0.5, 2, n[d] + 1)
    return np.diag(c[1:] + c[:-1]) - np.diag(c[1:-1], 1) - np.diag(c[1:-1], -1), some.uniform(0.5, 2, n[d])


def operator(directions, shift=0.0):
    """The entries of the operator, x fastest: sum of T_k and the other weights, and the shift."""
    total = 0
    for d in range(len(n)):
        factor = np.eye(1)
        for m in range(len(n)):
            T, W = directions[m]
            factor = np.kron(T if m == d else np.diag(W), factor)
        total = total + factor
    weights = np.ones(1)
    for _, W in directions:
        weights = np.kron(W, weights)
    return total + shift * np.diag(weights)


def on_face():
    shape = n[::-1]
    inside = np.zeros(shape, dtype=bool)
    inside[tuple(slice(1, -1) for _ in shape)] = True
    return ~inside.ravel()


def with_faces(A, diagonal):
    A = A.copy()
    if faces:
        A[on_face(), :] = 0
        A[on_face(), on_face()] = diagonal
    return A


def jump(A, by):
    """Couplings in a quarter of the grid times a factor, and the diagonals with them."""
    size = len(A)
    place = np.indices(n[::-1]).reshape(len(n), size)
    quarter = np.all(place < (np.array(n[::-1]) // 2)[:, None], axis=0)
    A = A.copy()
    A[np.ix_(quarter, quarter)] *= by
    return A


flat = [constant(d, 1 + d) for d in range(len(n))]
bent = [varying(d, 5 + d) for d in range(len(n))]
shift = 0.25
base, uneven = operator(flat, shift), operator(bent, shift)
other = operator([bent[0], *(varying(d, 50 + d) for d in range(1, len(n)))], shift)
nan = with_faces(base, 1).copy()
nan[len(nan) // 2, len(nan) // 2] = np.nan
rows = rng.uniform(0.5, 2, len(base))
VALUES = {
    "first": with_faces(base, 1),
    "same": with_faces(base, 1),
    "slightly other": with_faces(base, 1) + 1e-11 * np.diag(np.diag(with_faces(base, 1))),
    "scaled": 3.7 * with_faces(base, 1),
    "negative": -0.3 * with_faces(base, 1),
    "faces": 5.1 * with_faces(base, 0.7),
    "constant": with_faces(operator([constant(d, 2 - 0.3 * d) for d in range(len(n))], 0.5), 1),
    "constant scaled": 2 * with_faces(operator([constant(d, 2 - 0.3 * d) for d in range(len(n))], 0.5), 1),
    "constant, other faces": with_faces(operator([constant(d, 0.1 + d) for d in range(len(n))], 0.5), 3),
    "constant, indefinite": with_faces(operator(flat, -0.7), 1),
    "shift": with_faces(operator(flat, shift * 1.001), 1),
    "varying": with_faces(uneven, 1),
    "varying scaled": 0.37 * with_faces(uneven, 1),
    "one direction": with_faces(other, 1),
    "rows": rows[:, None] * with_faces(uneven, 1),
    "rows scaled": 7 * rows[:, None] * with_faces(uneven, 1),
    "other rows": rows[::-1, None] * with_faces(uneven, 1),
    "no faces": base,
    "faces again": with_faces(base, 1),
    "not separable": with_faces(jump(base, 3), 1),
    "not separable scaled": 3 * with_faces(jump(base, 3), 1),
    "not separable, less": with_faces(jump(base, 2), 1),
    "not finite": nan,
    "not finite again": nan,
    "first again": with_faces(base, 1),
    "scaled down": 1e-3 * with_faces(base, 1),
    "tiny": 1e-40 * with_faces(base, 1),
    "tiny twice": 2e-40 * with_faces(base, 1),
    "last": with_faces(base, 1),
}

da = PETSc.DMDA().create(n, stencil_width=1, setup=True)
A = da.createMat()
A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
ordering = da.getAO()


def fill(values):
    """The matrix keeps all of its places."""
    pattern = (base != 0) | np.eye(len(base), dtype=bool)
    first, last = A.getOwnershipRange()
    natural = ordering.petsc2app(np.arange(first, last, dtype=PETSc.IntType))
    for k, row in enumerate(natural):
        columns = np.flatnonzero(pattern[row]).astype(PETSc.IntType)
        A.setValues([first + k], ordering.app2petsc(columns.copy()), values[row, columns])
    A.assemble()


def made():
    pc = PETSc.PC().create()
    pc.setDM(da)
    pc.setOperators(A)
    pc.setFromOptions()
    return pc


def applied(pc):
    """An application, a transposed one, and the residual of the first."""
    b, x = A.createVecs()
    y = x.duplicate()
    for row in range(*b.getOwnershipRange()):
        b[row] = np.sin(1 + row)
    b.assemble()
    pc.setUp()
    pc.apply(b, x)
    pc.applyTranspose(b, y)
    r = b.duplicate()
    A.mult(x, r)
    r -= b
    return x, y, r.norm() / b.norm()


def difference(x, y):
    size = y.norm()
    if not np.isfinite(size):
        return 0.0 if not np.isfinite(x.norm()) else 1.0
    return (x - y).norm() / size


kept = made()
for name, values in VALUES.items():
    fill(values)
    kept.setOperators(A)
    mine, fresh = applied(kept), applied(made())
    PETSc.Sys.Print(
        f"{name}: difference {max(difference(mine[0], fresh[0]), difference(mine[1], fresh[1])):.2e} residual {mine[2]:.2e} "
        f"of a fresh one {fresh[2]:.2e}"
    )
