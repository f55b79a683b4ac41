"""What must hold of the solver type crout and of PCCROUT, case by case, against numpy. Prints a line for each case that it does not hold of, and
the number of cases. crout_cases.py CASES [PETSc's options]"""

import itertools
import sys
import tempfile

import petsc4py

petsc4py.init(sys.argv[1:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

COMM = PETSc.COMM_WORLD
count = 0


def check(holds, *what):
    global count
    count += 1
    if not holds:
        print("wrong:", *what, flush=True)


def sparse(a, kind="aij", block=1):
    """The matrix of an array, entries that are zero stored where the array is masked or on the diagonal."""
    n = len(a)
    A = PETSc.Mat().create(COMM)
    A.setSizes((n, n))
    A.setBlockSize(block)
    A.setType(kind)
    A.setUp()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    if kind == "sbaij":
        A.setOption(PETSc.Mat.Option.IGNORE_LOWER_TRIANGULAR, True)
    put(A, a)
    return A


def put(A, a, stored=None):
    begin, end = A.getOwnershipRange()
    for i in range(begin, end):
        for j in np.nonzero((a != 0)[i] if stored is None else stored[i])[0]:
            A[i, j] = a[i, j]
    A.assemble()


def dense(a):
    A = PETSc.Mat().createDense(a.shape, array=np.array(a, order="F").T.copy().T, comm=COMM)
    A.assemble()
    return A


class Solver:
    """A KSP with options of its own."""

    number = 0

    def __init__(self, options, ksp="preonly"):
        Solver.number += 1
        prefix = f"s{Solver.number}_"
        values = PETSc.Options()
        words = options.split()
        for k, word in enumerate(words):
            if word.startswith("-"):
                follows = k + 1 < len(words) and not words[k + 1].startswith("-")
                values[prefix + word[1:]] = words[k + 1] if follows else ""
        self.ksp = PETSc.KSP().create(COMM)
        self.ksp.setOptionsPrefix(prefix)
        self.ksp.setType(ksp)
        self.ksp.setTolerances(rtol=1e-10, max_it=200)
        self.ksp.setFromOptions()
        self.options = [prefix + word[1:] for word in words if word.startswith("-")]

    def solve(self, A, b, transposed=False):
        """The reason and the solution, whole on each rank."""
        self.ksp.setOperators(A)
        rhs, x = A.createVecLeft(), A.createVecRight()
        begin, end = rhs.getOwnershipRange()
        rhs.setArray(b[begin:end])
        (self.ksp.solveTranspose if transposed else self.ksp.solve)(rhs, x)
        for name in self.options:  # PETSc has room for 512
            PETSc.Options().delValue(name)
        self.options = []
        scatter, whole = PETSc.Scatter.toAll(x)
        scatter.scatter(x, whole)
        return self.ksp.getConvergedReason(), whole.getArray().copy()


def residual(a, x, b):
    with np.errstate(all="ignore"):
        return np.linalg.norm(b - a @ x) / np.linalg.norm(b)


random = np.random.default_rng(5)


def gaussian(n):
    return random.standard_normal((n, n))


# ------------------------------------------------------------------------------------------------------------------------- dense matrices


def swapped(n):
    return np.eye(n)[::-1]


def with_entry(a, i, j, value):
    a[i, j] = value
    return a


def dense_cases():
    regular = {
        "[[0, 1], [1, 0]]": swapped(2),
        "[[1e-13, 1], [1, 1]]": np.array([[1e-13, 1], [1, 1]]),
        "[[1e-20, 1], [1, 1]]": np.array([[1e-20, 1], [1, 1]]),
        "one row": np.array([[3.0]]),
        "reversed identity 200": swapped(200),
        "gaussian 33": gaussian(33),
        "gaussian 300": gaussian(300),
        "gaussian 100 with a tiny first entry": with_entry(gaussian(100), 0, 0, 1e-11),
        "gaussian 100 with a leading block of zeros": np.block([[np.zeros((50, 50)), gaussian(50)], [gaussian(50), gaussian(50)]]),
        "a row times 1e28": np.diag(np.where(np.arange(40) == 7, 1e28, 1.0)) @ (gaussian(40) + 50 * np.eye(40)),
        "a column times 1e-28": (gaussian(40) + 50 * np.eye(40)) @ np.diag(np.where(np.arange(40) == 7, 1e-28, 1.0)),
        "entries of 1e-290": 1e-290 * gaussian(60),
        "entries of 1e290": 1e290 * gaussian(60),
    }
    solvers = ("-pc_type lu -pc_factor_mat_solver_type crout", "-pc_type crout", "-pc_type crout -pc_crout_sections 2",
               "-pc_type lu -pc_factor_mat_solver_type crout -pc_factor_mat_ordering_type rcm")
    for (name, a), options, turned in itertools.product(regular.items(), solvers, (False, True)):
        b = (a.T if turned else a) @ np.ones(len(a))
        reason, x = Solver(options).solve(dense(a), b, turned)
        scale = np.abs(a).max() * max(np.abs(x).max(), 1e-300) * len(a)
        left = np.abs(b - (a.T if turned else a) @ x).max() / scale
        check(reason > 0 and left < 1e-13, name, options, turned, reason, left)
    singular = {"zero": np.zeros((3, 3)), "equal rows": np.ones((40, 40)), "a zero column": gaussian(50) @ np.diag(np.arange(50) != 20)}
    for (name, a), options in itertools.product(singular.items(), solvers):
        reason, _ = Solver(options).solve(dense(a), np.ones(len(a)))
        check(reason == PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED, name, options, reason)
    # Cholesky factors exchange nothing: definite matrices are solved, others are right or fail.
    spd = gaussian(80)
    spd = spd @ spd.T + np.eye(80)
    options = "-pc_type cholesky -pc_factor_mat_solver_type crout"
    b = spd @ np.ones(80)
    reason, x = Solver(options).solve(dense(spd), b)
    check(reason > 0 and residual(spd, x, b) < 1e-12, "definite", reason)
    reason, _ = Solver(options).solve(dense(swapped(2)), np.ones(2))
    check(reason < 0, "cholesky of [[0, 1], [1, 0]]", reason)


def dense_tolerance_cases():
    a = gaussian(150)
    b = a @ np.ones(150)
    found = []
    for scale in (1e-200, 1e-9, 1.0, 1e9, 1e200):
        reason, x = Solver("-pc_type crout -pc_crout_rtol 1e-3").solve(dense(scale * a), scale * b)
        found.append(residual(a, x, b))
        check(reason > 0 and found[-1] < 1e-2, "-pc_crout_rtol 1e-3", scale, reason, found[-1])
    check(max(found) < 2 * min(found), "the same at any scale", found)


# ------------------------------------------------------------------------------------------------------------------------- blocks of rows


def block_cases():
    nodes = 12
    for kind, block in itertools.product(("aij", "baij", "sbaij"), (1, 2, 3)):
        n = nodes * block
        couplings = np.kron(np.eye(nodes, k=1) + np.eye(nodes, k=5), random.uniform(-1, 1, (block, block)))
        a = couplings + couplings.T + 8 * np.eye(n)
        factors = ("cholesky",) if kind == "sbaij" else ("lu", "cholesky")
        ways = [f"-pc_type {factor} -pc_factor_mat_solver_type crout -pc_factor_mat_ordering_type {order}"
                for factor in factors for order in ("natural", "rcm", "nd", "amd", "1wd", "qmd")]
        if COMM.size > 1:
            ways = [f"-pc_type bjacobi -sub_{way[1:].replace(' -', ' -sub_')}" for way in ways]
        for options in (*ways, "-pc_type crout -pc_crout_pattern full", "-pc_type crout -pc_crout_ordering rcm"):
            solver = Solver(options, ksp="gmres")
            A = sparse(a, kind, block)
            for value in (8, 30, 11):  # new values of the same pattern
                now = a + (value - 8) * np.eye(n)
                put(A, now)
                b = now @ np.arange(1.0, n + 1)
                reason, x = solver.solve(A, b)
                check(reason > 0 and residual(now, x, b) < 1e-8, kind, block, options, value, reason, residual(now, x, b))


# ---------------------------------------------------------------------------------------------------------------------------- life of a PC


def again_cases():
    n = 6
    stored = np.ones((n, n), bool)
    good = gaussian(n) + 10 * np.eye(n)
    no_diagonal = good - np.diag(np.diag(good))
    one_zero = with_entry(good.copy(), 2, 2, 0)
    permuted = good[[1, 2, 3, 4, 5, 0]]
    singular = np.ones((n, n))
    wrong = with_entry(good.copy(), 1, 3, np.nan)
    values = {"good": good, "no diagonal": no_diagonal, "one zero": one_zero, "permuted": permuted, "singular": singular, "NaN": wrong}
    b = np.arange(1.0, n + 1)
    for options in ("-pc_type crout -pc_crout_pattern full", "-pc_type crout", "-pc_type lu -pc_factor_mat_solver_type crout"):
        for first, second in itertools.product(values, values):
            A = sparse(np.ones((n, n)))
            solver = Solver(options)
            for name in (first, second, "good"):
                put(A, values[name], stored)
                A.stateIncrease()
                reason, x = solver.solve(A, b)
                fresh_reason, fresh = Solver(options).solve(A, b)
                same = reason == fresh_reason and (reason < 0 or name == "singular" or np.allclose(x, fresh, rtol=1e-9))
                check(same, options, "after", first, second, ":", name, reason, fresh_reason, x, fresh)


# ------------------------------------------------------------------------------------------------------------------- what is not finite


def not_finite_cases():
    n = 7
    a = 10 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1) + 1e-6 * (np.eye(n, k=3) + np.eye(n, k=-3))
    ways = [f"-pc_type crout -pc_crout_pattern {pattern} -pc_crout_symmetric {symmetric}"
            for pattern in ("levels", "threshold", "full") for symmetric in (0, 1)]
    ways += [f"-pc_type {pc} -pc_factor_mat_solver_type crout" for pc in ("lu", "ilu", "cholesky", "icc")] if COMM.size == 1 else []
    stored = a != 0
    for options, value in itertools.product(ways, (np.nan, np.inf) if COMM.size == 1 else (np.nan,)):
        for i, j in zip(*np.nonzero(stored)):
            A = sparse(a)
            put(A, with_entry(a.copy(), i, j, value), stored)
            for ksp in ("preonly", "gmres") if COMM.size == 1 else ("preonly",):
                reason, _ = Solver(options, ksp=ksp).solve(A, np.ones(n))
                check(reason < 0, options, value, (i, j), ksp, reason)
    blocks = [f"-pc_type bjacobi -sub_pc_type {sub}" for sub in ("crout", "line", "lu -sub_pc_factor_mat_solver_type crout")]
    direct = [f"-pc_type {pc} -pc_factor_mat_solver_type crout" for pc in ("lu", "cholesky")] if COMM.size == 1 else []
    cases = [(options, ksp, sparse) for options in ways for ksp in ("preonly", "gmres")]
    cases += [(options, "gmres", sparse) for options in blocks]
    cases += [(options, ksp, dense) for options in direct for ksp in ("preonly", "gmres")]
    for (options, ksp, matrix), value in itertools.product(cases, (np.nan, np.inf)):
        solver, A, b = Solver(options, ksp=ksp), matrix(a), np.ones(n)
        b[3] = value
        reason, _ = solver.solve(A, b)
        check(reason < 0, options, ksp, matrix.__name__, value, "in the right-hand side", reason)
        reason, x = solver.solve(A, np.ones(n))
        no_solution = COMM.size > 1 and "full" in options and ksp == "preonly"  # blocks that couple
        check((reason < 0 if no_solution else reason > 0) and np.isfinite(x).all(), options, ksp, matrix.__name__, "the right-hand side after", value, reason)


def recover_cases():
    """Values that factors fail with, for whatever reason, and then good ones."""
    n = 80
    growing = np.eye(n) - np.tril(np.ones((n, n)), -1)  # its symmetric factors, of the upper triangle, are others
    growing[:, -1] = 1
    singular = np.ones((n, n))
    ways = ["-pc_type crout -pc_crout_pattern full", "-pc_type crout -pc_crout_pattern full -pc_crout_symmetric"]
    ways += [f"-pc_type {pc} -pc_factor_mat_solver_type crout" for pc in ("lu", "cholesky")]
    strict = [way + " -pc_crout_check_warn 1e-18 -pc_crout_check_fail 1e-17" for way in ways]
    failed = 0
    for options, a in itertools.product(ways + strict, (growing, singular)):
        solver, A = Solver(options), sparse(a)
        reason, _ = solver.solve(A, np.ones(n))
        failed += reason < 0
        put(A, 4 * np.eye(n), a != 0)  # whose factors have no rounding
        reason, x = solver.solve(A, np.ones(n))
        check(reason > 0 and np.allclose(x, 0.25), options, "after", reason)
    check(failed >= 8, "cases that fail at first", failed)


def given_up_cases():
    """Sweeps that grow give way to elimination, whose factors are complete and lose digits: they are refined as a direct solver's, or useless."""
    n, eliminated = 40, 0
    for seed, options in itertools.product(range(60), ("-pc_crout_sweeps 7", "-pc_crout_method sweeps", "-pc_crout_sweeps 5 -pc_crout_ordering nd")):
        of = np.random.default_rng(seed)
        a = np.where(of.uniform(size=(n, n)) < 0.2, of.standard_normal((n, n)), 0)
        np.fill_diagonal(a, 1e-3 * of.uniform(1, 2, n))
        b = of.standard_normal(n)
        solver = Solver(f"-pc_type crout -pc_crout_pattern full {options}")
        reason, x = solver.solve(sparse(a), b)
        with tempfile.NamedTemporaryFile("r") as file:
            solver.ksp.view(PETSc.Viewer().createASCII(file.name, comm=COMM))
            exact = "factors: exact elimination" in file.read()
        eliminated += exact and reason > 0
        check(reason < 0 or not exact or residual(a, x, b) < 1e-10, options, seed, residual(a, x, b))
    check(eliminated > 5, "eliminated", eliminated)


# ----------------------------------------------------------------------------------------------------------------------- a few rows


def small_cases():
    shared = ("", "-pc_crout_levels 2", "-pc_crout_pattern threshold", "-pc_crout_pattern full", "-pc_crout_sweeps 3", "-pc_crout_rtol 1e-6",
              "-pc_crout_omega 0.5", "-pc_crout_sections 3", "-pc_crout_async", "-pc_crout_shift 0.1", "-pc_crout_scaling ruiz",
              "-pc_crout_scaling none", "-pc_crout_ordering rcm", "-pc_crout_ordering amd -pc_crout_pattern full", "-pc_crout_symmetric",
              "-pc_crout_trisolve jacobi", "-pc_crout_trisolve isai", "-pc_crout_trisolve levels", "-pc_crout_trisolve syncfree",
              "-pc_crout_precision single", "-pc_crout_method sweeps", "-pc_crout_method exact",
              "-pc_crout_pattern threshold -pc_crout_method sweeps -pc_crout_symmetric -pc_crout_trisolve isai")
    for n in range(0, 8) if COMM.size < 5 else (1, 3, 7):
        a = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) - 0.5 * np.eye(n, k=4) - 0.5 * np.eye(n, k=-4)
        b = a @ np.ones(n)
        for kind, options in itertools.product(("aij", "sbaij", "dense"), shared):
            if kind == "sbaij" and COMM.size > 1 and "pattern" not in options:
                continue
            if kind == "dense" and ("single" in options or "sweeps 3" in options):
                continue  # refused, and too few for dense sections
            if kind == "dense":
                A = PETSc.Mat().createDense((n, n), comm=COMM)
                A.setUp()
                put(A, a)
            else:
                A = sparse(a, kind)
            reason, x = Solver(f"-pc_type crout {options}", ksp="gmres").solve(A, b)
            check(n == 0 or (reason > 0 and np.allclose(x, 1, atol=1e-7)), n, kind, options, reason, x)


# ------------------------------------------------------------------------------------------------- triangles that are solved approximately


def isai_cases():
    n = 8
    a = 4.2 * np.eye(n * n)
    for k in range(n * n):
        for m in (k - 1, k + 1, k - n, k + n):
            if 0 <= m < n * n and (abs(k - m) == n or k // n == m // n):
                a[k, m] = -1
    turned = a * (1 + 0.3 * np.triu(np.ones_like(a), 1))
    for (matrix, symmetric), levels, way in itertools.product(((a, 1), (a, 0), (turned, 0)), range(5), ("isai", "jacobi", "levels", "syncfree")):
        pc = Solver(f"-pc_type crout -pc_crout_trisolve {way} -pc_crout_symmetric {symmetric} -pc_crout_levels {levels}").ksp.getPC()
        pc.setOperators(sparse(matrix))
        pc.setUp()
        x, y = pc.getOperators()[0].createVecs()
        plain, transposed = np.zeros_like(a), np.zeros_like(a)
        for k in range(n * n):
            x.set(0)
            x[k] = 1
            x.assemble()
            pc.apply(x, y)
            plain[:, k] = y.getArray()
            pc.applyTranspose(x, y)
            transposed[:, k] = y.getArray()
        size = np.abs(plain).max()
        apart = np.abs(plain.T - transposed).max() / size
        check(apart < 1e-13, way, levels, symmetric, "adjoint", apart)
        if symmetric:
            apart = np.abs(plain - plain.T).max() / size
            check(apart < 1e-13, way, levels, "symmetric", apart)


# ------------------------------------------------------------------------------------- factors that are far from the matrix


def banded(n, width, of):
    values = lambda size: of.uniform(0.5, 2, size) * of.choice([-1, 1], size)
    return sum(np.diag(values(n - abs(k)), k) for k in range(-width, width + 1))


def far_cases():
    """Regular matrices, of conditions up to 1e4, whose factors as they are asked for are large, swept too little or solved with by too few steps:
    applications are linear, a Krylov method that converges from the
    left has converged, and Jacobi steps that are of no use give way to the exact solve."""
    of = np.random.default_rng(11)
    signs = lambda n: of.uniform(0.5, 2, (n, n)) * of.choice([-1, 1], (n, n))
    general = [np.where(of.random((36, 36)) < 0.17, signs(36), 0) + 0.1 * np.diag(np.diag(signs(36))) for _ in range(25)]
    saddles = []
    for n, m in itertools.product((7, 14), (1, 2, 4)):
        B = np.eye(m, n) + np.where(of.random((m, n)) < 0.3, signs(n)[:m], 0)
        saddles.append(np.block([[np.diag(of.uniform(1, 2, n)), B.T], [B, 1e-17 * np.eye(m)]]))
    bands = [banded(51, 4, of) for _ in range(10)] + [banded(20, 1, of) for _ in range(10)]
    ways = {
        "levels": (general, ("-pc_crout_levels 3", "-pc_crout_levels 3 -pc_crout_sweeps 10", "-pc_crout_pattern threshold")),
        "sweeps": (saddles, ("-pc_crout_pattern full -pc_crout_sweeps 2", "-pc_crout_pattern full -pc_crout_trisolve jacobi")),
        "steps": (bands, tuple(f"-pc_crout_pattern full -pc_crout_trisolve {way}" for way in ("jacobi", "isai")) + ("-pc_crout_trisolve isai -pc_crout_sweeps 8",)),
    }
    for name, (matrices, options) in ways.items():
        for k, a in enumerate(matrices):
            if np.linalg.cond(a) > 1e4:
                continue
            for option in options:
                A = sparse(a)
                A.setOption(PETSc.Mat.Option.SYMMETRIC, bool(np.array_equal(a, a.T)))
                b = a @ np.cos(np.arange(len(a)))
                reason, x = Solver(f"-pc_type crout {option}", ksp="gmres").solve(A, b)
                honest = residual(a, x, b) < 1e-4 or reason == PETSc.KSP.ConvergedReason.DIVERGED_MAX_IT or reason == PETSc.KSP.ConvergedReason.DIVERGED_BREAKDOWN
                solves = reason > 0 or "full -pc_crout_trisolve jacobi" not in option
                check(honest and solves, name, k, option, "condition", np.linalg.cond(a), reason, residual(a, x, b))
                pc = Solver(f"-pc_type crout {option}").ksp.getPC()
                pc.setOperators(A)
                pc.setUp()
                results = []
                for rhs in (b, np.abs(b), b + 2 * np.abs(b)):
                    x, y = A.createVecs()
                    y.setArray(rhs)
                    pc.apply(y, x)
                    results.append(x.getArray().copy())
                apart = np.abs(results[2] - results[0] - 2 * results[1]).max() / max(np.abs(r).max() for r in results)
                check(apart < 1e-8, name, k, option, "linear", apart)


def small_diagonal(n, size, of):
    """Symmetric and indefinite: factors without exchanges grow by as much as the diagonal is small."""
    a = np.triu(of.standard_normal((n, n)), 1)
    return a + a.T + size * np.diag(of.standard_normal(n))


def growth_cases():
    """Direct solvers that lost most of their digits: all right-hand sides are solved or refused, whatever the one of the check left. And the check of
    a matrix of blocks, which has no kernel, sees as much in any unit."""
    of = np.random.default_rng(3)
    for kind, unit in (("aij", 1), ("dense", 1), ("baij", 1e-200), ("sbaij", 1e-200), ("baij", 1e250)):
        for size in (1e-9, 1e-10):
            for _ in range(12):
                a = small_diagonal(48, size, of)
                A = sparse(a * unit, kind) if kind != "dense" else dense(a)
                if kind != "sbaij":
                    A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
                solver = Solver("-pc_type cholesky -pc_factor_mat_solver_type crout")
                for b in of.standard_normal((8, 48)):
                    reason, x = solver.solve(A, b * unit)
                    check(reason < 0 or residual(a, x, b) < 1e-8 * np.linalg.cond(a), kind, unit, size, reason, residual(a, x, b))
    for kind, unit in itertools.product(("aij", "baij", "sbaij", "dense"), (1e-250, 1e250)):
        a = 9 * np.eye(6) + np.ones((6, 6))
        reason, x = Solver("-pc_type cholesky -pc_factor_mat_solver_type crout").solve(dense(a * unit) if kind == "dense" else sparse(a * unit, kind), np.arange(6.0) * unit)
        check(reason > 0 and residual(a, x, np.arange(6.0)) < 1e-12, kind, unit, reason)


# ----------------------------------------------------------------------------------------------------------------- what one rank cannot do


def contradiction_cases():
    rows = 4 if COMM.rank == 0 else 0
    A = PETSc.Mat().create(COMM)
    A.setSizes(((rows, 4), (rows, 4)))
    A.setType("aij")
    A.setUp()
    put(A, 2 * np.eye(4))
    for options in ("-pc_crout_sweeps 5", "-pc_crout_sections 2", "-pc_crout_async"):
        pc = Solver(f"-pc_type crout -pc_crout_method exact {options}").ksp.getPC()
        pc.setOperators(A)
        refused = False
        try:
            pc.setUp()
        except PETSc.Error:
            refused = True
        check(refused, options)


def no_entry_cases():
    # The block of the rank in the middle has no entry, though its rows have.
    a = np.kron(np.array([[2.0, 1, 0], [1, 0, 1], [0, 1, 2]]), np.eye(2))
    for options in ("-pc_crout_pattern full", "-pc_crout_ordering rcm", ""):
        reason, _ = Solver(f"-pc_type crout {options}").solve(sparse(a), np.ones(6))
        check(reason == PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED, options, reason)


for which in sys.argv[1].split(","):
    globals()[f"{which}_cases"]()
if COMM.rank == 0:
    print(f"{count} cases")
