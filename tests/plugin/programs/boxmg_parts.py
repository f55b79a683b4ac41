"""A cycle of PCBOXMG on ranks that share its levels, against the one of one rank: largest relative differences of applications, of transposed ones, and of
those after new values.

Usage: boxmg_parts.py NODES PARTS [star|box] [skew] [rings] [PETSc options]: NODES 20x9; PARTS, nodes of the ranks along each direction: 7,13x9; rings: 01"""

import itertools
import sys

import petsc4py

words = sys.argv[1:]
start = next((k for k, word in enumerate(words) if word.startswith("-")), len(words))
petsc4py.init(words[start:])
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
nodes = [int(n) for n in words[0].split("x")]
parts = [[int(n) for n in part.split(",")] for part in words[1].split("x")]
form, skew = words[2] if start > 2 else "star", "skew" in words[:start]
rings = [c == "1" for c in (words[start - 1] if start > 3 and set(words[start - 1]) <= {"0", "1"} else "0" * len(nodes))]
steps = [step for step in itertools.product((-1, 0, 1), repeat=len(nodes)) if any(step) and (form == "box" or sum(map(abs, step)) == 1)]


def size(a, b, values):
    """A number from 0.1 to 2 for two nodes."""
    if not skew:
        a, b = min(a, b), max(a, b)
    x = np.sin(12.9898 * np.array(a + b) @ np.arange(1, 2 * len(nodes) + 1) + values) * 43758.5453
    return 0.1 + 1.9 * (x - np.floor(x))


def operator(on, sizes, values, A=None):
    """Couplings of random size, the diagonal a little larger than their sum."""
    grid = PETSc.DMDA().create(nodes, boundary_type=["periodic" if ring else "none" for ring in rings], stencil_type="box", stencil_width=1, comm=on, **sizes)
    A = A or grid.createMat()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    for node in itertools.product(*(range(*limits) for limits in grid.getRanges())):
        row.index = node
        total = 0.01 * size(node, node, values)
        for step in steps:
            there = tuple(n + s for n, s in zip(node, step))
            if any(not ring and not 0 <= t < n for t, n, ring in zip(there, nodes, rings)):
                continue
            value = size(node, tuple(t % n for t, n in zip(there, nodes)), values)
            total += value
            column.index = there
            A.setValueStencil(row, column, -value)
        A.setValueStencil(row, row, total)
    A.assemble()
    return grid, A


def preconditioner(grid, A):
    pc = PETSc.PC().create(A.comm)
    pc.setOperators(A)
    pc.setDM(grid)
    pc.setFromOptions()
    pc.setUp()
    return pc


def natural(grid, of):
    """A vector of the grid's own order; from one, the values of all nodes."""
    if isinstance(of, PETSc.Vec):
        there = grid.createNaturalVec()
        grid.globalToNatural(of, there)
        scatter, whole = PETSc.Scatter.toAll(there)
        scatter.scatter(there, whole)
        return whole.array.copy()
    there = grid.createNaturalVec()
    there.array = of[slice(*there.getOwnershipRange())]
    vector = grid.createGlobalVec()
    grid.naturalToGlobal(there, vector)
    return vector


def apply(grid, pc, b, transposed):
    x = grid.createGlobalVec()
    (pc.applyTranspose if transposed else pc.apply)(natural(grid, b), x)
    return natural(grid, x)


b = np.random.default_rng(0).uniform(-1, 1, int(np.prod(nodes)))
shared = operator(comm, dict(proc_sizes=[len(part) for part in parts], ownership_ranges=parts), 0.3)
whole = operator(PETSc.COMM_SELF, {}, 0.3)
on_ranks, alone = preconditioner(*shared), preconditioner(*whole)


def difference(transposed):
    right = apply(whole[0], alone, b, transposed)
    return np.abs(apply(shared[0], on_ranks, b, transposed) - right).max() / np.abs(right).max()


PETSc.Sys.Print(f"difference {difference(False):.1e}, transposed {difference(True):.1e}")
for (grid, A), sizes, pc in ((shared, dict(proc_sizes=[len(part) for part in parts], ownership_ranges=parts), on_ranks), (whole, {}, alone)):
    operator(A.comm, sizes, 0.7, A)
    pc.setUp()
PETSc.Sys.Print(f"with new values {difference(False):.1e}, transposed {difference(True):.1e}")
on_ranks.view()
