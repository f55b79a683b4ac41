"""Complete and incomplete Crout factors where pivots are tiny, rows and columns are in odd units, or new values change what was decided. Ends
with an AssertionError that names the case. All matrices are well conditioned once their rows and columns are scaled."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np
from crout_solvers import hear, petsc
from petsc4py import PETSc
from scipy import sparse

random = np.random.default_rng(5)


def solver(A, ksp_type, **options):
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType(ksp_type)
    ksp.setTolerances(rtol=1e-9, max_it=400)
    hear(ksp, options)
    return ksp


def error(ksp, A):
    """The residual of the solve, row by row against what the row adds up, and the reason: rows in any units count the same."""
    x, b = A.createVecs()
    known = x.duplicate()
    known.setArray(np.cos(np.arange(x.getSize())))
    A.mult(known, b)
    ksp.setOperators(A)
    ksp.solve(b, x)
    residual = b.duplicate()
    A.mult(x, residual)
    residual.axpy(-1, b)
    starts, columns, values = A.getValuesCSR()
    matrix = sparse.csr_matrix((abs(values), columns, starts), shape=A.getSize())
    return np.max(abs(residual.getArray()) / (matrix @ abs(x.getArray()) + abs(b.getArray()))), ksp.getConvergedReason()


def dominant(n=10):
    return sparse.diags([-1.0, 2.5, -1.2], [-1, 0, 1], shape=(n, n)).tolil()


def saddle(noise, n=40, m=15):
    B = sparse.random(m, n, density=0.2, random_state=3).tolil()
    for i in range(m):
        B[i, i] = 1.5
    H = sparse.diags(1 + random.random(n))
    return sparse.bmat([[noise * sparse.eye(m), B], [B.T, H]]).tocsr()


tiny = {"2x2 %g" % t: np.array([[t, 1.0], [1.0, 1.0]]) for t in (1e-8, 1e-14, 1e-20, 1e-300)}
tiny |= {"2x2 in other units": np.array([[1.0, 1.0], [1e20, 1.0]]), "cycle of three": np.array([[1e-15, 1, 0], [0, 1e-15, 1], [1, 0, 1e-15]])}
tiny |= {"saddle %g" % t: saddle(t) for t in (1e-6, 1e-10, 1e-17, 1e-30)}
units = {}
for what in ("row", "column", "rows", "both"):
    for size in (1e28, 1e-28):
        matrix = dominant().toarray()
        if what == "row":
            matrix[4] *= size
        elif what == "column":
            matrix[:, 4] *= size
        elif what == "rows":
            matrix[2], matrix[6] = matrix[2] * size, matrix[6] / size
        else:
            scale = np.logspace(0, np.log10(size), 10)
            matrix = scale[:, None] * matrix * scale[::-1][None, :]
        units["%s times %g" % (what, size)] = matrix

direct = [dict(pc_type="crout", pc_crout_pattern="full"), dict(pc_type="lu", pc_factor_mat_solver_type="crout")]
for name, matrix in (tiny | units).items():
    for options in direct:
        A = petsc(matrix)
        found, reason = error(solver(A, "preonly", **options), A)
        assert reason > 0 and found < 1e-9, (name, options, found, reason)

# What cannot be solved says so: never a number that is wrong and a reason that is right.
for name, matrix in {"singular": np.array([[1.0, 2.0], [2.0, 4.0]]), "singular, three": np.array([[1.0, 1, 0], [1, 1, 1], [2, 2, 1]])}.items():
    for options in direct:
        A = petsc(matrix)
        x, b = A.createVecs()
        b.set(1)
        ksp = solver(A, "preonly", **options)
        ksp.solve(b, x)
        assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED, (name, options, ksp.getConvergedReason())

# Values change, the pattern stays: what a fresh PC finds is found.
A = petsc(dominant().toarray())


def set_values(matrix, symmetric=None):
    for i, j in zip(*dominant().nonzero()):
        A[int(i), int(j)] = matrix[i, j]
    A.assemble()
    if symmetric is not None:
        A.setOption(PETSc.Mat.Option.SYMMETRIC, symmetric)


laplace = sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(10, 10)).toarray()
no_diagonal = sparse.diags([1.0, 1e-20, 3.0], [-1, 0, 1], shape=(10, 10)).toarray()
scaled = dominant().toarray()
scaled[3] *= 1e28
history = [(laplace, True), (dominant().toarray(), False), (no_diagonal, False), (laplace, True), (scaled, False), (no_diagonal, False), (dominant().toarray(), False)]
for options in [*direct, dict(pc_type="crout"), dict(pc_type="crout", pc_crout_pattern="threshold"), dict(pc_type="ilu", pc_factor_mat_solver_type="crout")]:
    kind = "preonly" if options in direct else "gmres"
    set_values(laplace, True)
    old = solver(A, kind, **options)
    for step, (values, symmetric) in enumerate(history):
        set_values(values, symmetric)
        found, reason = error(old, A)
        fresh, fresh_reason = error(solver(A, kind, **options), A)
        assert reason == fresh_reason and reason > 0 and found <= max(10 * fresh, 1e-8), ("history", step, options, found, fresh, reason, fresh_reason)

# Negative pivots of incomplete factors: a definite matrix stays one for conjugate gradients (D. S. Kershaw, J. Comput. Phys. 26 (1978) 43).
kershaw = sparse.kron(sparse.eye(20), np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]])).tolil()
for i in range(3, 76, 4):
    kershaw[i, i + 1] = kershaw[i + 1, i] = -0.1
A = petsc(kershaw)
A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
for options in (dict(pc_type="crout"), dict(pc_type="icc", pc_factor_mat_solver_type="crout"), dict(pc_type="crout", pc_crout_method="sweeps")):
    found, reason = error(solver(A, "cg", **options), A)
    assert reason > 0 and found < 1e-6, ("Kershaw", options, found, reason)
# A long chain: rows that are matched one after the other find columns near by, and columns that nobody can have are looked for once.
chain = 60000
long = sparse.diags([-1.0, np.where(np.arange(chain) % 2, 1e-8, 1.0), -1.0], [-1, 0, 1], shape=(chain, chain), format="csr")
for pattern in ("levels", "full"):
    A = petsc(long)
    left, reason = error(solver(A, "gmres", pc_type="crout", pc_crout_pattern=pattern), A)
    assert reason > 0 and left < 1e-5, ("chain", pattern, left, reason)
kept = sparse.diags(np.where(np.arange(chain) % 100 < 50, 1.0, 0.0))
A = petsc(long @ kept + sparse.csr_matrix(([1e-300], ([0], [0])), shape=long.shape))
assert error(solver(A, "gmres", pc_type="crout", pc_crout_pattern="full"), A)[1] < 0, "chain without half of its columns"
# L D L^T of a tiny leading entry is right for some right-hand sides by luck: it solves all, or fails.
for exponent in range(5, 300, 7):
    for n in (2, 3):
        A = petsc(sparse.diags([1.0, [10.0**-exponent] * (n - 1) + [1.0], 1.0], [-1, 0, 1], shape=(n, n)))
        ksp = solver(A, "preonly", pc_type="cholesky", pc_factor_mat_solver_type="crout")
        b, x = A.createVecs()
        b.setArray(np.random.default_rng(1).standard_normal(n))
        ksp.solve(b, x)
        left = b.duplicate()
        A.mult(x, left)
        left.axpy(-1, b)
        assert ksp.getConvergedReason() < 0 or left.norm() < 1e-4 * b.norm(), ("tiny leading entry", exponent, n)

print("done")
