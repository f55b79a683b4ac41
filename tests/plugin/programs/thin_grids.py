"""Lines on grids of one node or two along some directions: applications as a dense matrix has them, for every direction and ordering; planes
on all ranks as on one.

Prints each case that differs, how many there were, and the largest difference."""

import itertools
import sys

import petsc4py

petsc4py.init(sys.argv[1:])
import numpy  # noqa: E402
from petsc4py import PETSc  # noqa: E402

WORLD = PETSc.COMM_WORLD
ORDERINGS = ("jacobi", "zebra", "multicolor")
CHOICES = [{"ordering": ordering} for ordering in ORDERINGS] + [{"ordering": ordering, "sweeps": 2, "sweep": "symmetric"} for ordering in ORDERINGS]
OMEGA = 0.8


def grids():
    """Nodes along each direction, and the one that is a ring, or none."""
    shapes = {1: ((1,), (5,)), 2: ((1, 5), (5, 1), (2, 5)), 3: ((1, 1, 5), (1, 5, 1), (5, 1, 1), (2, 1, 3), (1, 3, 4))}
    for nodes in itertools.chain(*shapes.values()):
        for ring in (None, int(numpy.argmax(nodes))):
            yield nodes, ring


def directions(dimension):
    single = "xyz"[:dimension]
    return [*single, *("".join(pair) for pair in itertools.combinations(single, 2)), *(["xyz"] if dimension == 3 else [])]


def operator(nodes, ring):
    """The star with weights 1, 2, 3, convection and reaction, which is another in each node. In the grid's natural order."""
    count = int(numpy.prod(nodes))
    dense = numpy.diag(2 + 0.3 * numpy.cos(numpy.arange(count)))
    number = numpy.arange(count).reshape(nodes[::-1]).T
    for at in itertools.product(*(range(n) for n in nodes)):
        for k, n in enumerate(nodes):
            for step in (-1, 1):
                there = list(at)
                there[k] += step
                dense[number[at], number[at]] += k + 1
                if k == ring:
                    there[k] %= n
                if 0 <= there[k] < n:
                    dense[number[at], number[tuple(there)]] -= (k + 1) * (1 + 0.1 * step)
    return dense


def right_hand_side(count):
    return numpy.sin(1 + numpy.arange(count) ** 2)


def expected(nodes, ring, options, transposed):
    """Of the manual: x += omega T^-1 (b - A x) on the lines of a colour after those of another, direction after direction."""
    A = operator(nodes, ring)
    at = numpy.array(numpy.unravel_index(numpy.arange(len(A)), nodes[::-1]))[::-1]
    passes = []
    for k in map("xyz".index, options["direction"]):
        across = [at[d] for d in range(len(nodes)) if d != k]
        on_line = numpy.all([a[:, None] == a[None, :] for a in across], axis=0) if across else numpy.ones_like(A, bool)
        if options["ordering"] == "jacobi":
            colour, colours = 0 * at[0], 1
        elif options["ordering"] == "multicolor" and len(nodes) == 3:
            colour, colours = across[0] % 2 + 2 * (across[1] % 2), 4
        else:
            colour, colours = sum(across, 0 * at[0]) % 2, 2
        passes += [(numpy.where(on_line, A, 0), colour == which) for which in range(colours)]
    if options.get("sweep") == "symmetric":
        passes += passes[-2::-1]
    passes *= options.get("sweeps", 1)
    if transposed:
        A, passes = A.T, [(T.T, rows) for T, rows in passes[::-1]]
    x, b = numpy.zeros(len(A)), right_hand_side(len(A))
    for T, rows in passes:
        x = x + OMEGA * numpy.where(rows, numpy.linalg.solve(T, b - A @ x), 0)
    return x


class OnRanks:
    def __init__(self, nodes, ring, comm):
        boundary = ["periodic" if k == ring else "none" for k in range(len(nodes))]
        self.grid = PETSc.DMDA().create(nodes, boundary_type=boundary, stencil_type="star", stencil_width=1, comm=comm)
        count = int(numpy.prod(nodes))
        self.natural = self.grid.getAO().app2petsc(numpy.arange(count, dtype=PETSc.IntType))
        size = self.grid.createGlobalVec().getLocalSize()
        self.A = PETSc.Mat().createAIJ(((size, count), (size, count)), nnz=count, comm=comm)
        back = numpy.argsort(self.natural)
        dense = operator(nodes, ring)[numpy.ix_(back, back)]
        self.first, self.last = self.A.getOwnershipRange()
        for row in range(self.first, self.last):
            columns = numpy.flatnonzero(dense[row]).astype(PETSc.IntType)
            self.A.setValues([row], columns, dense[row, columns])
        self.A.assemble()

    def applied(self, options, transposed):
        """In the grid's natural order, on every rank."""
        database = PETSc.Options()
        for name, value in options.items():
            database["pc_line_" + name] = value
        pc = PETSc.PC().create(self.grid.comm)
        pc.setOperators(self.A)
        pc.setDM(self.grid)
        pc.setType("line")
        pc.setFromOptions()
        pc.setUp()
        for name in options:
            database.delValue("pc_line_" + name)
        right, x = self.A.createVecRight(), self.A.createVecRight()
        values = numpy.empty(self.A.getSize()[0])
        values[self.natural] = right_hand_side(values.size)
        right.setArray(values[self.first : self.last])
        (pc.applyTranspose if transposed else pc.apply)(right, x)
        scatter, whole = PETSc.Scatter.toAll(x)
        scatter.scatter(x, whole)
        result = whole.getArray().copy()[self.natural]
        for thing in (pc, scatter, whole, right, x):
            thing.destroy()
        return result


cases, largest = 0, 0.0
for nodes, ring in grids():
    if numpy.prod(nodes) < WORLD.size:
        continue
    # Whichever way the ranks lie: PETSc finds one of them for most grids.
    try:
        PETSc.Sys.pushErrorHandler("ignore")
        together = OnRanks(nodes, ring, WORLD)
    except PETSc.Error:
        continue
    finally:
        PETSc.Sys.popErrorHandler()
    alone = OnRanks(nodes, ring, PETSc.COMM_SELF)
    for direction in directions(len(nodes)):
        choices = CHOICES + ([{"plane_cycles": 2}] if len(nodes) == 3 and len(direction) == 2 else [])
        for choice, transposed in itertools.product(choices, (False, True)):
            options = dict(choice, direction=direction, omega=OMEGA)
            known = alone.applied(options, transposed) if "plane_cycles" in options else expected(nodes, ring, options, transposed)
            difference = abs(together.applied(options, transposed) - known).max() / abs(known).max()
            cases, largest = cases + 1, max(largest, difference)
            if not difference < 1e-12:
                PETSc.Sys.Print("nodes", nodes, "ring", ring, options, "transposed" if transposed else "", "difference", difference)
PETSc.Sys.Print("cases", cases, "largest", largest)
