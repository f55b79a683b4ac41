"""Random tridiagonal systems and rings in their own order, on ranks with any numbers of rows, against numpy. Prints what is wrong."""

import sys

import petsc4py

petsc4py.init(sys.argv[1:])
import numpy  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
comm = PETSc.COMM_WORLD
kernels = options.getString("kernels", "auto").split(",")
kind = options.getString("kind", "solve")
random = numpy.random.default_rng(options.getInt("seed", 1))
cases = options.getInt("cases", 20)
single = options.getString("pc_line_precision", "double") == "single"
wrong = done = 0


def tell(text):
    global wrong
    wrong += 1
    PETSc.Sys.Print(text)


def parts(rows):
    """Rows of each rank: equal ones, any, or none on some."""
    ranks = comm.size
    how = random.integers(3)
    if how == 0:
        return [rows // ranks + (r < rows % ranks) for r in range(ranks)]
    cuts = sorted(random.integers(0, rows + 1, ranks - 1))
    if how == 1 and ranks > 1:
        cuts[random.integers(ranks - 1)] = 0
        cuts.sort()
    return [int(b - a) for a, b in zip([0, *cuts], [*cuts, rows])]


def matrix(dense, sizes):
    rows = len(dense)
    A = PETSc.Mat().create(comm)
    A.setSizes(((sizes[comm.rank], rows), (sizes[comm.rank], rows)))
    A.setType("aij")
    A.setPreallocationNNZ((min(rows, 8), min(rows, 8)))
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    first, end = A.getOwnershipRange()
    for i in range(first, end):
        for j in numpy.flatnonzero(dense[i]):
            A.setValue(i, int(j), dense[i, j])
    A.assemble()
    return A


def system(rows, ring, how):
    off = random.uniform(-1, 1, (2, rows))
    diagonal = random.uniform(-1, 1, rows)
    if how == "dominant":
        diagonal = numpy.sign(diagonal) * (numpy.abs(off).sum(0) + 0.5)
    if how == "constant":
        off = numpy.tile([[-1.0], [-1.0]], (1, rows))
        diagonal = numpy.full(rows, 2.5)
    if how == "zeros":
        diagonal = diagonal * (random.random(rows) < 0.5)
    if how == "antisymmetric":
        off = numpy.tile([[-1.0], [1.0]], (1, rows))
        diagonal = numpy.full(rows, 1e-3)
    dense = numpy.diag(diagonal) + numpy.diag(off[0, 1:], -1) + numpy.diag(off[1, :-1], 1)
    if ring and rows > 2:
        dense[0, -1], dense[-1, 0] = off[0, 0], off[1, -1]
    return dense


def solve(dense, kernel, sizes, b, transposed=False):
    """KSP's reason and the solution, on all ranks."""
    A = matrix(dense, sizes)
    options["pc_line_kernel"] = kernel
    ksp = PETSc.KSP().create(comm)
    ksp.setOperators(A)
    ksp.setType("preonly")
    ksp.getPC().setType("line")
    ksp.setFromOptions()
    x, right = A.createVecs()
    first, end = A.getOwnershipRange()
    right.setArray(b[first:end])
    (ksp.solveTranspose if transposed else ksp.solve)(right, x)
    scatter, whole = PETSc.Scatter.toAll(x)
    scatter.scatter(x, whole)
    result = whole.getArray().copy()
    reason = ksp.getConvergedReason()
    for thing in (ksp, A, x, right, scatter, whole):
        thing.destroy()
    return reason, result


def random_cases():
    global done
    for case in range(cases):
        rows = int(random.choice([random.integers(1, 9), random.integers(9, 70), random.integers(70, 300)]))
        ring = bool(random.integers(2))
        how = str(random.choice(["dominant", "random", "constant", "zeros", "antisymmetric"]))
        dense = system(rows, ring, how) * 10.0 ** random.integers(-3, 4)
        sizes = parts(rows)
        b = random.uniform(-1, 1, rows)
        transposed = bool(random.integers(2))
        operator = dense.T if transposed else dense
        condition = numpy.linalg.cond(dense, numpy.inf) if numpy.linalg.matrix_rank(dense) == rows else numpy.inf
        for kernel in kernels:
            if kernel == "toeplitz" and how != "constant":
                continue
            done += 1
            name = f"case {case}: {how}, rows {sizes}, ring {ring}, transposed {transposed}, condition {condition:.1e}, {kernel}"
            reason, x = solve(dense, kernel, sizes, b, transposed)
            if reason < 0:
                if condition < (1e4 if single else 1e11) and (kernel in ("auto", "pivoted") and not single or how in ("dominant", "constant")):
                    tell(f"{name}: fails with {reason}")
                continue
            residual = numpy.abs(b - operator @ x).max()
            backward = residual / (numpy.abs(operator).sum(1).max() * numpy.abs(x).max() + numpy.abs(b).max())
            sure = kernel in ("auto", "pivoted") or how in ("dominant", "constant") or (ring and comm.size == 1)
            bound = (1e-3 if single else 1e-12) if sure else 1e-3
            if not backward <= bound:
                tell(f"{name}: backward error {backward:.1e}")


def some(values, turn):
    """All of them on one or two ranks; on more, where a solve takes ten times as long, one in turn."""
    return values if comm.size < 3 else [values[turn % len(values)]]


def bad_values():
    """A value that is no number, at each place; entries of any size."""
    global done
    rows = 9
    sizes = parts(rows)
    b = random.uniform(-1, 1, rows)
    for number, kernel in enumerate(kernels):
        for ring in (False, True):
            dense = system(rows, ring, "constant")
            for place, (i, j) in enumerate(zip(*numpy.nonzero(dense))):
                for value in some([numpy.inf, -numpy.inf, numpy.nan], place + number):
                    spoilt = dense.copy()
                    spoilt[i, j] = value
                    done += 1
                    reason, _ = solve(spoilt, kernel, sizes, b)
                    if reason >= 0:
                        tell(f"{kernel}, ring {ring}, {value} at {i}, {j}: {reason}")
            for exponent in (-309, -300, -200, 200, 300):
                scale = float(f"1e{exponent}")
                done += 1
                reason, x = solve(dense * scale, kernel, sizes, b * scale)
                if exponent == -309 or (single and abs(exponent) > 30):
                    if reason > 0 and not numpy.isfinite(x).all():
                        tell(f"{kernel}, ring {ring}, 1e{exponent}: {reason} and {x}")
                elif reason < 0 or not numpy.abs(dense @ x - b).max() < (1e-4 if single else 1e-12):
                    tell(f"{kernel}, ring {ring}, 1e{exponent}: {reason} and {x}")


def singular():
    """Rings without a solution: a zero pivot, whatever closes them."""
    global done
    for kernel in kernels:
        for rows in (3, 4, 7, 12, 30, 100, 333):
            for sign in (-1.0, 1.0):
                dense = numpy.diag(numpy.full(rows, 2.0))
                for i in range(rows):
                    dense[i, (i + 1) % rows] += sign
                    dense[i, (i - 1) % rows] += sign
                if sign > 0 and rows % 2:
                    continue
                done += 1
                reason, x = solve(dense, kernel, parts(rows), numpy.sin(2 * numpy.pi * numpy.arange(rows) / rows))
                if reason >= 0:
                    tell(f"{kernel}, {rows} rows, off the diagonal {sign}: {reason}, {numpy.abs(x).max():.1e}")


def few_rows():
    global done
    for number, kernel in enumerate(kernels):
        for rows in range(8):
            for source in some(["rows", "graph", "auto"], rows + number):
                if kernel == "toeplitz" and source == "graph":
                    continue
                options["pc_line_source"] = source
                done += 1
                b = random.uniform(-1, 1, rows)
                dense = system(rows, False, "constant")
                reason, x = solve(dense, kernel, parts(rows), b)
                if reason < 0 or (rows > 0 and not numpy.abs(dense @ x - b).max() < (1e-5 if single else 1e-13)) and source != "graph":
                    tell(f"{kernel}, {rows} rows, {source}: {reason}, {x}")
                if kernel == "toeplitz":
                    continue
                # A matrix without an entry: each row takes 1 in a sweep, and as a system it is singular, so that it is solved for b = 0 alone.
                for right in (b, 0 * b):
                    done += 1
                    reason, x = solve(numpy.zeros((rows, rows)), kernel, parts(rows), right)
                    refused = right.any()  # lines of the graph are all of it too
                    if (reason >= 0 if refused else reason < 0 or (x != right).any()):
                        tell(f"{kernel}, {rows} empty rows, {source}: {reason}, {x}")


{"solve": random_cases, "values": bad_values, "singular": singular, "few": few_rows}[kind]()
PETSc.Sys.Print(f"cases: {done}, wrong: {wrong}")
