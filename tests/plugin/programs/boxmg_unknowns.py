"""Operators with several unknowns a node on a DMDA, solved and applied as a user does: iterations, the error beside a direct solve, adjoints, new values.

Usage: boxmg_unknowns.py [-n 9,8] [-unknowns 2] [-ring 1,0] [-kind random|exchange|elasticity|...] [-size 1.0] [PETSc options]"""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
given = PETSc.Options()
n = [int(k) for k in given.getString("n", "9,8").split(",")]
unknowns, kind, size = given.getInt("unknowns", 2), given.getString("kind", "random"), given.getReal("size", 1.0)
rings = [ring == "1" for ring in given.getString("ring", "0,0,0").split(",")]
nodes, directions = int(np.prod(n)), range(len(n))


def along(part, d):
    """A matrix for one direction's nodes, for all nodes; x fastest."""
    whole = sp.eye(1)
    for k in reversed(directions):
        whole = sp.kron(whole, part(n[k], rings[k]) if k == d else sp.eye(n[k]))
    return sp.csr_matrix(whole)


def second(m, ring):
    T = sp.lil_matrix(2 * sp.eye(m) - sp.eye(m, k=1) - sp.eye(m, k=-1))
    if ring and m > 2:
        T[0, -1] = T[-1, 0] = -1
    return T


def first(m, ring):
    T = sp.lil_matrix((sp.eye(m, k=1) - sp.eye(m, k=-1)) / 2)
    if ring and m > 2:
        T[0, -1], T[-1, 0] = -0.5, 0.5
    return T


def near(rng):
    """Couplings of random size to all neighbours."""
    box = sp.eye(1)
    for k in reversed(directions):
        box = sp.csr_matrix(sp.kron(box, abs(second(n[k], rings[k]))))
    box.eliminate_zeros()  # of the blocks that kron makes
    box = sp.coo_matrix(box)
    return sp.csr_matrix((rng.uniform(-1, 1, box.nnz), (box.row, box.col)), box.shape)


L, D, one = [along(second, d) for d in directions], [along(first, d) for d in directions], sp.eye(nodes)


def operator(seed):
    """The matrix of each pair of unknowns."""
    rng = np.random.default_rng(seed)
    pairs = [[0 * one for _ in range(unknowns)] for _ in range(unknowns)]
    for c in range(unknowns):
        for d in range(unknowns):
            if kind == "random":  # not symmetric
                N = abs(near(rng))
                pairs[c][d] = sum(L) * rng.uniform(0.5, 2) + sp.diags(np.asarray(N.sum(axis=1)).ravel()) - N if c == d else 0.3 / unknowns * near(rng)
            elif kind == "alike":  # symmetric: one matrix of all unknowns times the Laplacian
                pairs[c][d] = (sum(L) + 0.1 * one) * (unknowns + 1 + seed if c == d else 0.9)
            elif kind == "exchange":  # of species that diffuse, at the rate `size`
                pairs[c][d] = sum(L) + (unknowns - 1) * size * one if c == d else -size * one
            elif kind == "still":  # the same, and only the first of them diffuses
                pairs[c][d] = (sum(L) if c == 0 else 0 * one) + (unknowns - 1) * size * one if c == d else -size * one
            elif kind == "units":  # the same, each unknown and its equation in a unit of its own
                pairs[c][d] = given.getReal("unit", 100.0) ** (c + d) * (sum(L) + (unknowns - 1) * size * one if c == d else -size * one)
            elif kind == "elasticity":  # Lamé's parameters are `size` and 1
                pairs[c][d] = sum(L) + (size + 1) * L[c] if c == d else -(size + 1) * D[c] @ D[d]
            elif kind == "indefinite":
                pairs[c][d] = sum(L) if c == d else 3 * one
            elif kind == "dominant":  # not symmetric, by the least that dominance asks for: nearly singular
                N = near(rng)
                N.data *= rng.uniform(size=N.nnz) < 0.7
                pairs[c][d] = -abs(N)
    A = sp.bmat(pairs).tocsr()
    together = np.arange(nodes * unknowns).reshape(unknowns, nodes).T.ravel()
    A = sp.lil_matrix(A[together][:, together])
    if kind == "dominant":
        A.setdiag(0)
        A.setdiag(np.maximum(1e-3, (1 + 1e-5) * np.asarray(abs(A).sum(axis=1)).ravel()))
    known = np.random.default_rng(5).choice(A.shape[0], given.getInt("known", 0), replace=False)  # rows of the identity
    A[known] = 0
    A[known, known] = 1
    if given.getBool("zero", False):
        A[7, 7] = 0
    if given.getBool("poison", False):
        A[7, 8] = np.nan
    if given.getBool("far", False):
        A[0, 3 * unknowns] = 1
    return sp.csr_matrix(A)


grid = PETSc.DMDA().create(
    n, dof=unknowns, stencil_width=1, stencil_type="box", boundary_type=["periodic" if rings[d] else "none" for d in directions], comm=comm
)
new = grid.getAO().app2petsc(np.arange(nodes * unknowns, dtype=PETSc.IntType))
old = np.argsort(new)
own = slice(*grid.createGlobalVec().getOwnershipRange())


def matrix(A):
    rows = A[old][:, old].tocsr()[own]
    rows.sort_indices()
    local = own.stop - own.start
    return PETSc.Mat().createAIJ(((local, None), (local, None)), bsize=unknowns, csr=(rows.indptr.astype(PETSc.IntType), rows.indices.astype(PETSc.IntType), rows.data), comm=comm)


def vector(values):
    v = grid.createGlobalVec()
    v.setArray(values[old[own]])
    return v


def values(v):
    scatter, whole = PETSc.Scatter.toAll(v)
    scatter.scatter(v, whole)
    return whole.getArray()[new].copy()


def solver(M):
    ksp = PETSc.KSP().create(comm)
    ksp.setOperators(M)
    ksp.setDM(grid)
    ksp.setDMActive(False)
    ksp.setTolerances(rtol=1e-10, max_it=200)
    ksp.setFromOptions()
    return ksp


def applied(ksp, b, transpose=False):
    pc, x = ksp.getPC(), grid.createGlobalVec()
    (pc.applyTranspose if transpose else pc.apply)(vector(b), x)
    return values(x)


def say(name, value):
    PETSc.Sys.Print(f"{name} {value:.3e}" if isinstance(value, float) else f"{name} {value}", comm=comm)


def apart(a, b):
    return float(np.abs(a - b).max() / np.abs(b).max())


A = operator(given.getInt("seed", 0))
M = matrix(A)
ksp = solver(M)
rng = np.random.default_rng(9)
b, c = rng.uniform(-1, 1, (2, A.shape[0]))
x = vector(0 * b)
ksp.solve(vector(b), x)
say("reason", ksp.getConvergedReason())
say("iterations", ksp.getIterationNumber())
if ksp.getConvergedReason() > 0:
    if nodes < 3000:
        say("error", apart(values(x), scipy.sparse.linalg.spsolve(A.tocsc(), b)))
    p, q = applied(ksp, b), applied(ksp, c, transpose=True)
    say("adjoint difference", float(abs(c @ p - q @ b) / (np.linalg.norm(c) * np.linalg.norm(p))))
    say("asymmetry", float(abs(c @ p - applied(ksp, c) @ b) / (np.linalg.norm(c) * np.linalg.norm(p))))
    say("nonlinearity", apart(applied(ksp, b + 2 * c), p + 2 * applied(ksp, c)))
    other = matrix(operator(1))
    other.copy(M, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
    ksp.setUp()
    fresh = solver(other)
    fresh.setUp()
    say("new values difference", apart(applied(ksp, b), applied(fresh, b)))
