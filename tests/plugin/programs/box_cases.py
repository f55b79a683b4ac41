"""Random operators whose rows couple to a box of neighbours, in tensor form: cases of separable_operators.py."""

import numpy as np


def product(factors):
    return factors[0] if len(factors) == 1 else np.kron(product(factors[1:]), factors[0])


def difference(rng, n, end, ring):
    """-u'' with ends of a kind."""
    T = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    if ring:
        T[0, -1] -= 1
        T[-1, 0] -= 1
    elif n > 1:
        for i, inner in ((0, 1), (n - 1, n - 2)):
            if end == "cells":
                T[i, i] = 1
            elif end == "cell values":
                T[i, i] = 3
            elif end == "nodes":
                T[i, inner] = -2
    return T


def elements(rng, n, end, ring):
    """Stiffness and mass of linear elements on a mesh that varies."""
    h = rng.uniform(1, 1.5) ** np.arange(n + 1) * rng.uniform(0.5, 2, n + 1)
    K, W = np.zeros((n, n)), np.zeros((n, n))
    for e in range(0 if end == "dirichlet" or ring else 1, n + 1 if end == "dirichlet" else n):
        for i in (e - 1, e):
            for j in (e - 1, e):
                if ring or (0 <= i < n and 0 <= j < n):
                    K[i % n, j % n] += (1 if i == j else -1) / h[e]
                    W[i % n, j % n] += h[e] / 6 * (2 if i == j else 1)
    return K, W


def prolongation(n):
    P = np.zeros((2 * n - 1, n))
    P[2 * np.arange(n), np.arange(n)] = 1
    for i in range(n - 1):
        P[2 * i + 1, i : i + 2] = 0.5
    return P


def pencil(rng, n):
    """Two tridiagonal matrices of a direction, and whether it is a ring."""
    ring = bool(n > 2 and rng.random() < 0.2)
    kind = rng.choice(["constant", "elements", "galerkin"])
    end = rng.choice(["dirichlet", "cells", "cell values", "nodes"])
    if kind == "elements":
        return (*elements(rng, n, end, ring), ring)
    if kind == "galerkin" and not ring and n > 1:
        P = prolongation(n)
        return P.T @ difference(rng, 2 * n - 1, "cells", False) @ P, P.T @ P, ring
    T = difference(rng, n, end, ring)
    W = np.eye(n) - rng.uniform(-0.2, 0.2) * T
    if end == "nodes" and n > 1 and not ring and rng.random() < 0.5:  # as elements have it
        half = np.diag([0.5] + [1.0] * (n - 2) + [0.5])
        T, W = half @ T, half @ W
    return T, W, ring


def case(seed):
    rng = np.random.default_rng([seed, 36])
    dimension = int(rng.integers(2, 4))
    most = (14, 7)[dimension - 2] if rng.random() < 0.85 else 3
    sizes = [int(rng.integers(1, most + 1)) for _ in range(dimension)]
    size = int(np.prod(sizes))
    T, W, periodic = zip(*(pencil(rng, n) for n in sizes))
    size_of = lambda M: np.abs(M).max() or 1.0  # noqa: E731
    if rng.random() < 0.3:  # any combination
        A = sum(rng.uniform(0.2, 1) * product([m / size_of(m) for m in (T[k] if c >> k & 1 else W[k] for k in range(dimension))]) for c in range(2**dimension))
        about = [f"{sizes} any combination"]
    else:
        shift = float(rng.choice([0, 0, 0.7, 1e-3, -0.3, 50]))
        A = shift * product(W) + sum(product([T[k] if m == k else W[m] for m in range(dimension)]) for k in range(dimension))
        about = [f"{sizes} shift {shift}"]
    if rng.random() < 0.35:
        known, stride, at = np.zeros(size, bool), 1, np.arange(size)
        for k in range(dimension):
            for end in (0, sizes[k] - 1):
                if not periodic[k] and sizes[k] > 2 and rng.random() < 0.6:
                    known |= at // stride % sizes[k] == end
            stride *= sizes[k]
        A[known] = np.diag(rng.uniform(0.5, 30, size))[known]
        way = rng.choice(["rows", "both"])
        if way == "both":
            A[np.ix_(~known, known)] = 0
        about.append(f"eliminated {way}")
    scale = float(rng.choice([1] * 12 + [1e-300, 1e300, 1e-100, 1e150, 1e10]))
    chosen = {"type": str(rng.choice(["auto"] * 3 + ["facr"])), "precision": str(rng.choice(["double"] * 4 + ["single"]))}
    return rng, sizes, periodic, A, scale, chosen, f"{', '.join(about)}, times {scale:g}, {chosen}"
