"""Runs cases in one process a rank, says "case SEED" before each and "FAIL SEED {…}" for what does not hold. See driver.py."""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import petsc4py
import scipy.sparse as sp

arguments = argparse.ArgumentParser()
arguments.add_argument("--seeds", nargs=2, type=int)
arguments.add_argument("--only", help="a type: only its cases")
arguments.add_argument("--case", help="a case as JSON, instead of seeds")
arguments.add_argument("--facts", default="{}", help="of operators by their seeds, as JSON: a tool that watches memory is not kept busy with them, nor with dense references")
arguments.add_argument("--lists", required=True, help="the options of the library, as JSON")
arguments, rest = arguments.parse_known_args()
petsc4py.init(["worker", *rest])
from petsc4py import PETSc  # noqa: E402

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
import operators  # noqa: E402
import solvers  # noqa: E402

WORLD = PETSc.COMM_WORLD
FACTS = json.loads(arguments.facts)
INTERNAL = (76, 77, 59)  # PETSC_ERR_LIB, PETSC_ERR_PLIB, PETSC_ERR_SIG: not what a user did
PETSc.Sys.pushErrorHandler("python")


class Failure(Exception):
    pass


class Refused(Exception):
    """A PETSc error, which is right for input that cannot be worked with."""


def check(holds, kind, text=""):
    if not holds:
        raise Failure(f"{kind}: {text}")


class OnRanks:
    """An operator as a PETSc matrix on a communicator, and vectors to and from the natural order."""

    def __init__(self, operator, comm, order, matrix=None):
        A = operator.matrix if matrix is None else matrix
        n = A.shape[0]
        self.comm, self.dm, self.n = comm, None, n
        if operator.grid:
            c = operator.grid
            box = c["stencil"] == "box"
            self.dm = PETSc.DMDA().create(
                c["nodes"],
                dof=c["unknowns"],
                boundary_type=["periodic" if p else "none" for p in c["periodic"]],
                stencil_type="box" if box else "star",
                stencil_width=1,
                comm=comm,
            )
            natural = self.dm.getAO().app2petsc(np.arange(n, dtype=PETSc.IntType))
            sizes = self.dm.createGlobalVec().getLocalSize()
        else:
            natural = np.arange(n, dtype=PETSc.IntType)
            sizes = int(np.random.default_rng(order // 2).multinomial(n, np.ones(comm.size) / comm.size)[comm.rank]) if comm.size > 1 else n
        self.natural = natural
        back = np.empty(n, PETSc.IntType)
        back[natural] = np.arange(n)
        permuted = A[back][:, back].tocsr()
        permuted.sort_indices()
        start = exscan(comm, sizes)
        own = permuted[start : start + sizes]
        with np.errstate(over="ignore", under="ignore"):
            data = own.data * operator.scale
        self.A = PETSc.Mat().createAIJ(((sizes, n), (sizes, n)), csr=(own.indptr.astype(PETSc.IntType), own.indices.astype(PETSc.IntType), data), comm=comm)
        if operator.symmetric and matrix is None and order % 2:
            self.A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        if operator.singular:
            self.A.setNullSpace(PETSc.NullSpace().create(constant=True, comm=comm))
        self.start, self.size = start, sizes

    def vector(self, values):
        v = self.A.createVecRight()
        petsc_order = np.empty(self.n, PETSc.ScalarType)
        petsc_order[self.natural] = values
        v.setArray(petsc_order[self.start : self.start + self.size])
        return v

    def values(self, v):
        if self.comm.size == 1:
            return v.getArray().copy()[self.natural]
        scatter, whole = PETSc.Scatter.toAll(v)
        scatter.scatter(v, whole)
        result = whole.getArray().copy()[self.natural]
        scatter.destroy()
        whole.destroy()
        return result


def exscan(comm, size):
    return PETSc.Vec().createMPI((size, PETSc.DETERMINE), comm=comm).getOwnershipRange()[0]


class Solver:
    """A KSP with the options of a case. What fails is None."""

    prefix = 0

    def __init__(self, options, on_ranks, **more):
        Solver.prefix += 1
        prefix = f"case{Solver.prefix}_"
        database = PETSc.Options()
        self.names = []
        for name, value in dict(options, **more).items():
            database[prefix + name] = value
            self.names.append(prefix + name)
        self.on = on_ranks
        self.ksp = PETSc.KSP().create(on_ranks.comm)
        self.ksp.setOptionsPrefix(prefix)
        self.ksp.setOperators(on_ranks.A)
        if on_ranks.dm:
            self.ksp.setDM(on_ranks.dm)
            self.ksp.setDMActive(False)
        try:
            self.ksp.setFromOptions()
        finally:
            for name in self.names:
                database.delValue(name)

    def apply(self, values, transpose=False):
        """None where the PC has failed: it fills its result with infinities."""
        b, x = self.on.vector(values), self.on.A.createVecLeft()
        self.ksp.setUp()
        pc = self.ksp.getPC()
        (pc.applyTranspose if transpose else pc.apply)(b, x)
        result = self.on.values(x)
        return None if result.size and np.isinf(result).all() else result

    def solve(self, values):
        b, x = self.on.vector(values), self.on.A.createVecLeft()
        self.ksp.solve(b, x)
        return self.ksp.getConvergedReason(), self.on.values(x)

    def lost(self):
        """What the check of a nearest operator says of the digits of its applications; 0 of other preconditioners."""
        said = 0.0
        with tempfile.NamedTemporaryFile("r") as file:  # of rank 0, which writes
            viewer = PETSc.Viewer().createASCII(file.name, comm=self.on.comm)
            self.ksp.getPC().view(viewer)
            viewer.destroy()
            found = re.search(r"have solutions that leave a difference of (\S+)", file.read()) if self.on.comm.rank == 0 else None
            if found:
                said = float(found[1])
        v = PETSc.Vec().createMPI((1, PETSc.DETERMINE), comm=self.on.comm)
        v.setArray([said])
        return v.max()[1]

    def destroy(self):
        self.ksp.destroy()


def relative(a, b, size):
    return float(np.abs(a - b).max() / size) if size > 0 and a.size else 0.0


def rounding_of_factors(solver, n, single):
    """What rounding may leave of an application of factors: incomplete ones may be nearly singular though the matrix is not, PETSc's as well."""
    inverse = np.array([solver.apply(column) for column in np.eye(n)]).T
    return np.linalg.cond(inverse) * (1e-7 if single else 1e-15) if np.isfinite(inverse).all() else 0


def run(case):
    operator = operators.Operator(case["operator"], FACTS.get(str(case["seed"])))
    options, kind = case["solver"]["options"], case["solver"]["kind"]
    n, s = operator.matrix.shape[0], operator.scale
    rng = np.random.default_rng(case["seed"])
    b, b2, y = (rng.uniform(-1, 1, n) for _ in range(3))
    if "complex" in operator.choices:
        b, b2, y = (v + 1j * rng.uniform(-1, 1, n) for v in (b, b2, y))
    if operator.singular:
        b, b2, y = (v - v.mean() for v in (b, b2, y))
    single = "single" in options.values()
    reproducible = options.get("pc_crout_async") != "true"
    on = OnRanks(operator, WORLD, case["seed"])
    solver = Solver(options, on)
    # ---- an application
    p = solver.apply(b)
    if p is None:
        complete = options.get("pc_crout_pattern") == "full" or options["pc_type"] in ("lu",)
        # Without scaling nothing bounds how factors grow, nor is what is factored near 1: the check of a set-up refuses what single precision loses.
        complete = complete and not (single and options.get("pc_crout_scaling") == "none")
        check(not (complete and operator.condition < (1e5 if single else 1e8) and abs(np.log10(s)) < 250 and WORLD.size == 1), "refused", f"a regular matrix of condition {operator.condition:.1e}")
    if p is not None:
        with np.errstate(all="ignore"):
            p = p * s
            # Results may be beyond the range of numbers: KSPs look at norms.
            check(np.isfinite(p).all() or abs(np.log10(s)) > (10 if single else 200), "not finite", "an application, and no failed reason")
            growth = np.abs(p).max() * operator.norm if n else 1
            tolerance = max(least_tolerance(operator, options, single), growth * (1e-5 if single else 1e-12))
            if kind == "bcr":  # of strong convection's eigenvectors, which the set-up measures
                tolerance = max(tolerance, 10 * solver.lost())
            meaningful = np.isfinite(p).all() and tolerance < 1e-2 and n > 0 and 1e-250 < s < 1e250 and not loses_digits(operator, options)
        if meaningful:
            p = without_constants(operator, options, p)
            size = np.abs(p).max()
            again = Solver(options, on)
            q = again.apply(b)
            check(q is not None and (not reproducible or np.array_equal(without_constants(operator, options, q * s), p)), "not the same bits twice", "a fresh PC")
            again.destroy()
            p2, p3 = (without_constants(operator, options, solver.apply(v) * s) for v in (b2, b + 2 * b2))
            linear = relative(p3, p + 2 * p2, size + np.abs(p2).max())
            allowed = 10 * tolerance
            if linear >= allowed and kind == "crout" and n <= 200:
                allowed = max(allowed, 10 * rounding_of_factors(solver, n, single))
            check(linear < allowed, "not linear", f"{linear:.1e} > {allowed:.1e}")
            if options.get("pc_crout_trisolve") != "isai":
                try:
                    found = solver.apply(y, transpose=True)
                    t = without_constants(operator, options, (0 * y if found is None else found) * s)  # none of bcr, whose check refused it
                    ahead, back = y @ p, t @ b
                    check(found is None or abs(ahead - back) <= tolerance * 10 * (np.linalg.norm(p) * np.linalg.norm(y) + np.linalg.norm(t) * np.linalg.norm(b)), "not the adjoint", f"{ahead:.6e} {back:.6e}")
                except PETSc.Error as error:
                    if error.ierr not in (56, 58, 62):
                        raise
            history(case, operator, options, solver, b, tolerance)
            if WORLD.size > 1 and reproducible and same_on_ranks(kind, options):
                alone = OnRanks(operator, PETSc.COMM_SELF, case["seed"])
                one = Solver(options, alone)
                q = one.apply(b)
                check(q is not None and relative(q * s, p, size) < max(tolerance * 1e3, 1e-7), "ranks", "not as on one rank" + ("" if q is None else f": {relative(q * s, p, size):.1e}"))
                one.destroy()
            if not FACTS:
                reference(case, operator, options, p, b, size, tolerance)
    solver.destroy()
    direct(case, operator, options, on, b)
    iterate(case, operator, options, on, b)
    poison(case, operator, options, b)
    on.A.destroy()


def least_tolerance(operator, options, single):
    """What parts of a matrix lose does not show in the size of a result. ADI solves with the lines of one direction alone, which are nearly
    singular where the matrix is not: ends without values and a small excess of the diagonal. In single precision so do passes over several sets of lines."""
    if single:
        return 1e-3 if options["pc_type"] == "line" else 1e-4
    if options["pc_type"] == "adi":
        excess = np.abs(np.asarray(operator.matrix.sum(axis=1))).ravel()
        excess = excess[excess > 1e-13 * operator.norm]
        # A negative shift makes the part of a line that a rank eliminates nearly singular where the line is not.
        least = 1e-7 if WORLD.size > 1 and operator.choices.get("shift", 0) < 0 else 1e-10
        return max(least, 1e-15 * operator.norm / excess.min()) if excess.size else least
    return 1e-10


def without_constants(operator, options, values):
    """Complete factors of a singular matrix have rounding for their last pivot (the manual says so), and any amount of the constants comes of it, which
    a KSP takes out where it is told of them."""
    complete = options.get("pc_crout_pattern") == "full" or options["pc_type"] in ("lu", "cholesky")
    return values - values.mean() if operator.singular and complete and values.size else values


def loses_digits(operator, options):
    """Where the manual says that digits are lost and nothing measures them."""
    grid = operator.grid or {}
    # Lines without pivoting, where pivots are rounding: those of a matrix that is no tridiagonal one are not measured.
    if options["pc_type"] == "line" and operator.choices["kind"] == "tiny pivots":
        return True
    # A singular line has rounding for its last pivot, and its result any amount of the constants that a KSP takes out: only rings on one rank,
    # and one tridiagonal system, are looked at for that.
    return options["pc_type"] in ("line", "adi") and operator.singular and (WORLD.size > 1 or len(grid.get("nodes", [])) == 1)


def history(case, operator, options, solver, b, tolerance):
    """A PC after new values is a fresh one."""
    # Sweeps that are asked for begin with the factors that there are, as they should: another number of them has been made in all.
    sweeps = options.get("pc_crout_method") == "sweeps" or "pc_crout_sweeps" in options
    if sweeps or options.get("pc_crout_async") == "true" or (options["pc_type"] == "line" and (not operator.grid or options.get("pc_line_source") == "graph")):
        return
    rng = np.random.default_rng(case["seed"] + 1)
    n = operator.matrix.shape[0]
    changed = sp.csr_matrix(sp.diags(rng.uniform(0.5, 2, n)) @ operator.matrix)
    if operator.singular:
        return
    new = OnRanks(operator, WORLD, 2 * (case["seed"] // 2), matrix=changed)
    old = solver.on
    new.A.copy(old.A, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
    if operator.symmetric:
        old.A.setOption(PETSc.Mat.Option.SYMMETRIC, False)
    try:
        p, fresh = solver.apply(b), Solver(options, new)
        q = fresh.apply(b)
        check((p is None) == (q is None), "history", f"new values: {'failed' if p is None else 'worked'}, a fresh PC {'failed' if q is None else 'worked'}")
        if p is not None:
            size = np.abs(q).max()
            growth = size * operator.scale * operator.norm
            check(relative(p, q, size) <= max(tolerance * 10, 1e-11 * growth), "history", f"new values: {relative(p, q, size):.1e} from a fresh PC")
        fresh.destroy()
    finally:
        original = OnRanks(operator, WORLD, case["seed"])
        original.A.copy(old.A, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
        if operator.symmetric and case["seed"] % 2:
            old.A.setOption(PETSc.Mat.Option.SYMMETRIC, True)


def same_on_ranks(kind, options):
    if kind in ("bcr", "boxmg"):
        return True
    return kind == "line" and options.get("pc_line_ranks") != "cut" and options.get("pc_line_source") in (None, "grid", "auto") and "single" not in options.values()


def reference(case, operator, options, p, b, size, tolerance):
    """One sweep of lines along one direction is a solve with what the matrix has along them."""
    if options["pc_type"] != "line" or not operator.grid or operator.grid["unknowns"] > 1:
        return
    direction, sweeps = options.get("pc_line_direction"), options.get("pc_line_sweeps", "1")
    plain = options.get("pc_line_ordering", "jacobi") == "jacobi" and sweeps == "1" and "pc_line_omega" not in options and options.get("pc_line_ranks") != "cut"
    if direction not in ("x", "y", "z") or not plain or options.get("pc_line_source") in ("rows", "graph") or options.get("pc_line_kernel") == "spike":
        return
    nodes, k = operator.grid["nodes"], "xyz".index(direction)
    at = np.array(np.unravel_index(np.arange(b.size), nodes[::-1])[::-1])
    dense = operator.matrix.toarray()
    same = np.ones_like(dense, bool)
    for d in range(len(nodes)):
        if d != k:
            same &= at[d][:, None] == at[d][None, :]
    apart = abs(at[k][:, None] - at[k][None, :])
    near = (apart <= 1) | ((apart == nodes[k] - 1) & operator.grid["periodic"][k])
    T = np.where(same & near, dense, 0)
    if np.linalg.cond(T) > 1e8:
        return
    error = relative(p, np.linalg.solve(T, b), size)
    check(error < max(1e-3 if "single" in options.values() else 1e-7, tolerance * 100), "reference", f"{error:.1e} from the lines' own solve")


def backward_error(operator, x, b):
    with np.errstate(all="ignore"):
        x = x * operator.scale
        r = operator.matrix @ x - b
        if operator.singular:
            r = r - r.mean()
        return np.abs(r).max() / (operator.norm * np.abs(x).max() + np.abs(b).max())


def direct(case, operator, options, on, b):
    """What says that it has solved has."""
    if b.size == 0:
        return
    complete = options.get("pc_crout_pattern") == "full" or options["pc_type"] in ("lu", "cholesky") or options["pc_type"] == "bcr"
    if not complete or (WORLD.size > 1 and options["pc_type"] == "crout"):
        return
    if options["pc_type"] == "cholesky" and not operator.symmetric:
        return  # one triangle is read, as PETSc's own Cholesky does
    if options["pc_type"] == "crout" and (options.get("pc_crout_trisolve") in ("jacobi", "isai") or "pc_crout_sweeps" in options or options.get("pc_crout_method") == "sweeps"):
        return  # approximate by choice; what they are worth is measured and shown
    solver = Solver(options, on, ksp_type="preonly")
    try:
        reason, x = solver.solve(b)
    except PETSc.Error as error:
        if error.ierr in INTERNAL:
            raise
        return
    finally:
        solver.destroy()
    if reason > 0:
        allowed = 0.5 if "single" in options.values() else 1e-9  # the bounds of the manual: what works in single precision fails above a half
        error = backward_error(operator, x, b)
        check(error <= allowed, "wrong", f"preonly converged ({reason}) with backward error {error:.1e}, condition {operator.condition:.1e}")


def iterate(case, operator, options, on, b):
    """A Krylov method that converged on a matrix of moderate condition has a small residual."""
    if b.size == 0 or operator.scale != 1:
        return
    # Lines and half-sweeps solve a part of the matrix, which may be nearly singular where the matrix is not: the norm of a residual that is
    # preconditioned by it says little then, as with PETSc's own Jacobi and SOR. Factors and cycles are tried in each set-up, and are looked at from the left.
    # On several ranks they are factors of blocks, a part of the matrix too.
    side = "right" if options["pc_type"] in ("line", "adi") or WORLD.size > 1 else "left"
    solver = Solver(options, on, ksp_type="gmres", ksp_rtol="1e-8", ksp_max_it="100", ksp_pc_side=side)
    reason, x = solver.solve(b)
    lost = solver.lost() if options["pc_type"] == "bcr" else 0
    solver.destroy()
    check(reason != 0, "no reason")
    if reason > 0:
        check(np.isfinite(x).all(), "wrong", "gmres converged to what is not finite")
        if operator.condition < 1e6 and not loses_digits(operator, options):
            r = np.linalg.norm(operator.matrix @ x - b) / np.linalg.norm(b)
            if r >= max(1e-2, 10 * lost) and not FACTS:
                hides = condition_of(operator, options, on)
                allowed = 10 * hides * (1e-7 if "single" in options.values() else 1e-8)
                singular = hides >= 1e13 and options.get("pc_crout_trisolve") != "isai"  # sparse inverses that were asked for may be singular
                check(r < allowed and not singular, "useless", f"gmres converged ({reason}) with residual {r:.1e}, condition {operator.condition:.1e}, of the preconditioner {hides:.1e}")


def condition_of(operator, options, on):
    """Of a preconditioner M: GMRES from the left ends by the norm of M^-1 r, which hides so much of r, with PETSc's ILU too; an M that is rounded
    (single precision) loses as much from the right. Complete factors have that of the matrix, incomplete ones may have a larger one."""
    solver = Solver(options, on)
    columns = [solver.apply(row) for row in np.eye(operator.matrix.shape[0])]
    solver.destroy()
    with np.errstate(all="ignore"):
        return np.linalg.cond(np.array(columns)) if all(c is not None and np.isfinite(c).all() for c in columns) else np.inf


def poison(case, operator, options, b):
    """A value that is not finite never ends in convergence."""
    rng = np.random.default_rng(case["seed"] + 2)
    if b.size == 0 or rng.random() > 0.3 or operator.singular:
        return
    matrix, b = operator.matrix.copy(), b.copy()
    value = float(rng.choice([np.nan, np.inf, -np.inf]))
    in_rhs = rng.random() < 0.4 or matrix.nnz == 0
    if in_rhs:
        b[rng.integers(b.size)] = value
    else:
        matrix.data[rng.integers(matrix.nnz)] = value
    on = OnRanks(operator, WORLD, 2 * (case["seed"] // 2), matrix=matrix)
    for ksp in ("preonly", "gmres", "richardson"):
        solver = Solver(options, on, ksp_type=ksp, ksp_max_it="10")
        try:
            reason, _ = solver.solve(b)
            nothing = ksp == "preonly" and in_rhs  # PETSc's preonly looks at the PC only
            check(reason < 0 or nothing, "poison", f"{value} in {'the right-hand side' if in_rhs else 'the matrix'}: {ksp} ends with {reason}")
        except PETSc.Error as error:
            if error.ierr in INTERNAL:
                raise
        finally:
            solver.destroy()
    on.A.destroy()


def try_case(case):
    try:
        run(case)
    except Failure as failure:
        return str(failure)
    except PETSc.Error as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        if error.ierr in INTERNAL:
            return f"internal error {error.ierr}: {lines[-1][:300] if lines else ''}"
        return None
    return None


def main():
    if arguments.case:
        cases = [json.loads(arguments.case)]
    else:
        lists = json.loads(arguments.lists)
        cases = (solvers.case(seed, lists) for seed in range(*arguments.seeds))
    for case in cases:
        if arguments.only and case["solver"]["kind"] != arguments.only:
            continue
        if WORLD.rank == 0:
            print("case", case["seed"], flush=True)
            if FACTS:  # what the tool says is of this case
                print("case", case["seed"], file=sys.stderr, flush=True)
        what = try_case(case)
        if WORLD.rank == 0 and what:
            print("FAIL", json.dumps(dict(case, what=what, ranks=WORLD.size)), flush=True)
    if WORLD.rank == 0:
        print("done", flush=True)


if __name__ == "__main__":
    main()
