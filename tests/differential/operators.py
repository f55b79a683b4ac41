"""Random operators, each from a seed and a dictionary of choices: the same dictionary gives the same matrix again, so that it can be shrunk."""

import numpy as np
import scipy.sparse as sp

GRAPH_KINDS = ("tridiagonal", "ring", "banded", "dominant", "general", "symmetric", "permuted", "saddle", "tiny pivots", "missing diagonal", "empty rows", "arrow", "triangular", "blocks", "decoupled")


def choose(rng):
    """The choices of an operator."""
    if rng.random() < 0.35:
        kind = str(rng.choice(GRAPH_KINDS))
        return {"kind": kind, "n": int(rng.integers(1, 60)), "seed": int(rng.integers(1 << 30)), "scale": scale(rng)}
    dimension = int(rng.choice([1, 2, 2, 2, 3]))
    most = {1: 70, 2: 14, 3: 7}[dimension]
    return {
        "kind": "grid",
        "nodes": [int(rng.integers(1, most + 1)) for _ in range(dimension)],
        "unknowns": int(rng.choice([1, 1, 1, 1, 2, 3, 4])),
        "periodic": [bool(rng.random() < 0.2) for _ in range(dimension)],
        "stencil": str(rng.choice(["star", "star", "star", "box"])),
        "coefficients": str(rng.choice(["constant", "constant", "separable", "jumps", "graded", "random"])),
        "stiff": [float(10.0 ** rng.choice([0, 0, 0, 1, 3, 6, -3])) for _ in range(dimension)],
        "convection": [float(rng.choice([0, 0, 0, 0.3, 0.9, 5])) for _ in range(dimension)],
        "ends": [str(rng.choice(["dirichlet", "dirichlet", "neumann"])) for _ in range(dimension)],
        "shift": float(rng.choice([0, 0, 0, 1e-3, 1, 1e4, -0.37, -2.9])),
        "eliminated": str(rng.choice(["no", "no", "no", "rows", "rows and columns"])),
        "mask": bool(rng.random() < 0.1),
        "missing": bool(rng.random() < 0.05),
        "seed": int(rng.integers(1 << 30)),
        "scale": scale(rng),
    }


def choose_complex(seed):
    """How an operator becomes complex. The choices of real ones do not depend on it."""
    return str(np.random.default_rng([seed, 1]).choice(["no", "shifted", "turned", "symmetric", "hermitian", "entries"]))


def in_complex(matrix, how, rng):
    """A real matrix with a complex shift, times a number, or with entries that are turned, by angles that keep it symmetric, make it Hermitian, or neither."""
    if how == "shifted":
        return sp.csr_matrix(matrix + 1j * rng.uniform(-2, 2) * sp.eye(matrix.shape[0]))
    if how == "turned":
        return sp.csr_matrix(matrix * np.exp(1j * rng.uniform(-np.pi, np.pi)))
    entries = sp.coo_matrix(matrix, dtype=complex)
    i, j = entries.row, entries.col
    angles = {"no": 0, "symmetric": 0.4 * np.cos(i + j), "hermitian": np.sin(i - j), "entries": rng.uniform(-np.pi, np.pi, entries.nnz)}[how]
    entries.data = entries.data * np.exp(1j * angles)
    return sp.csr_matrix(entries)


def scale(rng):
    return float(10.0 ** rng.choice([-300, -150, -20, 20, 150, 300])) if rng.random() < 0.06 else 1.0


class Operator:
    """matrix: CSR in natural order, of size about 1; the PETSc matrix is scale * matrix. singular: constants are its null space. `facts` are those
    of the same operator elsewhere: finding them takes dense factors, which a tool that watches memory makes slow."""

    def __init__(self, choices, facts=None):
        self.choices = choices
        rng = np.random.default_rng(choices["seed"])
        with np.errstate(all="ignore"):
            self.matrix = sp.csr_matrix(on_grid(choices, rng) if choices["kind"] == "grid" else any_graph(choices["kind"], choices["n"], rng))
        if "complex" in choices:
            self.matrix = in_complex(self.matrix, choices["complex"], rng)
        self.matrix.sort_indices()
        self.scale = choices["scale"]
        self.grid = choices if choices["kind"] == "grid" else None
        self.facts = facts or self.find()
        self.symmetric, self.norm, self.condition, self.singular = self.facts

    def find(self):
        n = self.matrix.shape[0]
        dense = self.matrix.toarray()
        symmetric = bool(np.array_equal(dense, dense.T))
        size = np.abs(dense).sum(axis=1).max() if n else 0
        sums = np.abs(dense.sum(axis=1))
        singular_values = np.linalg.svd(dense, compute_uv=False) if n else np.ones(1)
        condition = float(singular_values[0] / singular_values[-1]) if singular_values[-1] > 0 else np.inf
        constants = n > 1 and size > 0 and sums.max() <= 1e-13 * size
        singular = bool(constants and condition > 1e12 and singular_values[-2] > 1e-9 * singular_values[0])
        return symmetric, float(size), condition, singular


def any_graph(kind, n, rng):
    values = lambda size: rng.uniform(0.5, 2, size) * rng.choice([-1, 1], size)
    sparse = lambda density: sp.random(n, n, min(1, density), random_state=rng, data_rvs=values)
    off = sp.diags([values(max(n - 1, 0)), values(max(n - 1, 0))], [-1, 1], (n, n)) if n > 1 else sp.csr_matrix((n, n))
    if kind in ("tridiagonal", "ring"):
        A = (off + sp.diags(values(n) * rng.choice([0.1, 1, 4]))).tolil()
        if kind == "ring" and n > 2:
            A[0, n - 1], A[n - 1, 0] = values(2)
        return A
    if kind == "banded":
        width = int(rng.integers(1, 6))
        return sp.diags([values(max(n - abs(k), 0)) for k in range(-width, width + 1) if abs(k) < n], [k for k in range(-width, width + 1) if abs(k) < n], (n, n))
    if kind in ("dominant", "symmetric", "decoupled", "empty rows", "missing diagonal"):
        A = sparse(4 / max(n, 4)).tolil()
        A.setdiag(0)
        A = A.tocsr()
        if kind == "symmetric":
            A = A + A.T
        A = A + sp.diags(np.asarray(abs(A).sum(axis=1)).ravel() * rng.uniform(1.01, 2) + 0.1)
        A = A.tolil()
        for row in rng.integers(0, n, 1 + n // 8):
            if kind == "empty rows":
                A[row, :] = 0
            if kind == "missing diagonal":
                A[row, row] = 0
            if kind == "decoupled":
                keep = A[row, row]
                A[row, :] = 0
                A[:, row] = 0
                A[row, row] = keep
        A = A.tocsr()
        A.eliminate_zeros()
        return A
    if kind == "general":
        return sparse(6 / max(n, 6)) + sp.diags(values(n) * 0.1)
    if kind == "permuted":
        order = rng.permutation(n)
        return (sp.diags(values(n) * 5) + sparse(2 / max(n, 4))).tocsr()[order]
    if kind == "saddle":
        m = max(1, n // 3)
        A, B = sp.diags(rng.uniform(1, 2, n)), sp.random(m, n, min(1, 3 / max(n, 3)), random_state=rng, data_rvs=values) + sp.eye(m, n)
        return sp.bmat([[A, B.T], [B, sp.csr_matrix((m, m)) if rng.random() < 0.5 else sp.eye(m) * 1e-17]])
    if kind == "tiny pivots":
        A = (off + sp.diags(values(n) * 0.3) + sparse(2 / max(n, 4))).tolil()
        for row in rng.integers(0, n, 1 + n // 4):
            A[row, row] = 10.0 ** rng.integers(-25, -12)
        return A
    if kind == "arrow":
        A = sp.diags(values(n) * 2).tolil()
        A[0, :], A[:, 0] = values(n), values(n).reshape(n, 1)
        return A
    if kind == "triangular":
        return sp.triu(sparse(5 / max(n, 5)), 1) + sp.diags(values(n))
    if kind == "blocks":
        return sp.block_diag([rng.uniform(-1, 1, (k, k)) + 3 * np.eye(k) for k in [1 + int(rng.integers(4)) for _ in range(max(1, n // 3))]])
    raise ValueError(kind)


def line_part(n, k, c, rng):
    """-d/dx (a d/dx) + v d/dx on n nodes, without the couplings to what lies beyond ends where values are known."""
    if n == 1:
        return np.array([[2.0]]) if c["ends"][k] == "dirichlet" and not c["periodic"][k] else np.zeros((1, 1))
    a = np.ones(n + 1)
    if c["coefficients"] in ("separable", "jumps"):
        a = rng.uniform(0.2, 5, n + 1)
    if c["coefficients"] == "graded":
        a = 1.3 ** np.arange(n + 1)
        a /= a.mean()
    ring = c["periodic"][k]
    if ring:
        a[n] = a[0]
    T = np.zeros((n, n))
    v = c["convection"][k]
    for i in range(n):
        for side, flux, flow in ((-1, a[i], -v), (1, a[i + 1], v)):
            j = i + side
            inside = 0 <= j < n
            if not inside and not ring:
                if c["ends"][k] == "dirichlet":
                    T[i, i] += flux
                continue
            T[i, i] += flux
            T[i, j % n] += -flux + flow * a.mean()
    return T * c["stiff"][k]


def on_grid(c, rng):
    nodes, b = c["nodes"], c["unknowns"]
    parts = [sp.csr_matrix(line_part(n, k, c, rng)) for k, n in enumerate(nodes)]
    count = int(np.prod(nodes))
    A = sp.csr_matrix((count, count))
    for k, part in enumerate(parts):
        term = sp.eye(1)
        for d in reversed(range(len(nodes))):  # x varies fastest
            term = sp.kron(term, part if d == k else sp.eye(nodes[d]))
        A = A + term
    if c["stencil"] == "box" and len(nodes) > 1:
        corner = sp.eye(1)
        for d in reversed(range(len(nodes))):
            corner = sp.kron(corner, abs(sp.csr_matrix(np.sign(parts[d].toarray()))))
        A = A - 0.05 * corner
    A = sp.csr_matrix(A + c["shift"] * sp.eye(count))
    if c["coefficients"] in ("random", "jumps"):
        factor = 10.0 ** rng.uniform(-1, 1, count) if c["coefficients"] == "jumps" else rng.uniform(0.5, 1.5, count)
        A = sp.diags(np.sqrt(factor)) @ A @ sp.diags(np.sqrt(factor))
    if b > 1:
        A = sp.csr_matrix(sp.kron(A, np.eye(b) + 0.2 * rng.uniform(-1, 1, (b, b))))
    known = np.zeros(count * b, bool)
    if c["eliminated"] != "no":
        at = np.unravel_index(np.arange(count), nodes[::-1])[::-1]
        faces = np.zeros(count, bool)
        for k, n in enumerate(nodes):
            if not c["periodic"][k]:
                faces |= (at[k] == 0) | (at[k] == n - 1)
        known |= np.repeat(faces, b)
    if c["mask"]:
        known |= rng.random(count * b) < 0.2
    if known.any():
        keep = sp.diags((~known).astype(float))
        A = keep @ A @ (keep if c["eliminated"] == "rows and columns" or c["mask"] else sp.eye(count * b)) + sp.diags(known.astype(float))
        A = sp.csr_matrix(A)
    if c["missing"]:
        A = A.tolil()
        row = int(rng.integers(count * b))
        A[row, row] = 0
    A = sp.csr_matrix(A)
    A.eliminate_zeros()
    return A
