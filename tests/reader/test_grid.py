"""-grid: a matrix in a file gets its grid, on any number of ranks; wrong ones are one sentence."""

import json

import pytest
import programs
from conftest import run_many


WEFT = ["-dll_append", programs.LIBRARY]
SHIPPED = 5


def poisson(n, components=1):
    """sum_k (-1, 2, -1) along each direction of a grid of n nodes, each component for itself, as a Matrix Market file; x fastest."""
    nodes = 1
    for size in n:
        nodes *= size
    entries, stride = [], 1
    for size in n:
        for node in range(nodes):
            for c in range(components):
                row = node * components + c + 1
                if stride == 1:
                    entries.append((row, row, 2 * len(n)))
                if node // stride % size + 1 < size:
                    entries.append((row + stride * components, row, -1))
        stride *= size
    return "\n".join(["%%MatrixMarket matrix coordinate real symmetric", f"{nodes * components} {nodes * components} {len(entries)}", *(f"{i} {j} {v}" for i, j, v in entries)]) + "\n"


def test_the_grids_that_evaluate_knows_are_those_of_the_patterns(tmp_path, matrices):
    known = json.loads((matrices.parent / "evaluate" / "grids.json").read_text())
    files = [(entry, matrices / (entry["matrix"].replace("/", "__") + ".mtx.gz")) for entry in known]
    shipped = [(entry, file) for entry, file in files if file.exists()]
    assert len(shipped) == SHIPPED
    words = [[file, "-describe", "-grid", entry["grid"], "-grid-components", entry.get("components", 1), "-json", f"{file.name}.json"] for entry, file in shipped]
    for (entry, file), outcome in zip(shipped, run_many([(tmp_path, line, 1) for line in words])):
        assert outcome.code == 0, outcome
        grid = json.loads((tmp_path / f"{file.name}.json").read_text())["matrix"]["grid"]
        assert grid["nodes"] == [int(word) for word in entry["grid"].split(",")] and grid["far_entries"] == 0
        assert (grid["diagonal_entries"] > 0) == (entry["matrix"] == "HB/gr_30_30") == ("neighbours and diagonal ones are coupled" in outcome.out)


@pytest.mark.parametrize("n", [(7,), (9, 7), (5, 4, 6)])
def test_bcr_solves_at_once_on_any_ranks(tmp_path, write, n):
    """No iteration but the one that applies it: the rows lie where the DMDA has them."""
    write(poisson(n))
    grid = ",".join(map(str, n))
    jobs = [(tmp_path, ["A.mtx", "-grid", grid, *WEFT, "-ksp_type", "preonly", "-pc_type", "bcr", "-pc_bcr_require_separable", "-rhs", "random"], ranks) for ranks in (1, 2, 3, 5)]
    for job, outcome in zip(jobs, run_many(jobs)):
        assert outcome.code == 0, outcome
        assert float(outcome.rows()[0][2]) < 1e-13, outcome
        assert f"ranks: {job[2]}; on the grid {' x '.join(map(str, n))}: neighbours are coupled" in outcome.out


def test_several_components(tmp_path, write):
    write(poisson((9, 8), components=2))
    words = ["A.mtx", "-grid", "9,8", "-grid-components", "2", *WEFT, "-ksp_type", "cg", "-ksp_rtol", "1e-10", "-pc_type", "boxmg"]
    alone, shared = run_many([(tmp_path, words, ranks) for ranks in (1, 3)])
    for outcome in (alone, shared):
        assert outcome.code == 0 and "on the grid 9 x 8 with 2 components a node" in outcome.out, outcome
    assert alone.rows()[0][1] == shared.rows()[0][1]


def test_a_comparison_has_it_in_each_set(weft_mm, matrices):
    outcome = weft_mm(matrices / "Bai__pde900.mtx.gz", "-grid", "30,30", *WEFT, "-compare", "-pc_type bcr; -pc_type boxmg; -pc_type line -pc_line_direction y")
    assert outcome.code == 0 and [row[7] for row in outcome.rows()] == ["CONVERGED_RTOL"] * 3, outcome


def test_another_grid_of_that_size_is_told(weft_mm, matrices):
    outcome = weft_mm(matrices / "HB__sherman1.mtx.gz", "-grid", "10,100", *WEFT, "-pc_type", "bcr")
    assert outcome.code == 2 and "630 entries couple nodes further apart than neighbours; is it this matrix's grid?" in outcome.out, outcome


@pytest.mark.parametrize("words, ranks, said", [
    (["-grid", "10,10,9"], 1, "10 x 10 x 9 has another number of rows than the matrix, which has 1000: give -grid the nodes along x, y, z"),
    (["-grid", "10,10"], 1, "-grid-components 10 if each node has so many"),
    (["-grid", "10,10,10", "-grid-components", "2"], 2, "10 x 10 x 10 with 2 components a node has another number of rows"),
    (["-grid", "10,ten"], 1, "-grid 10,ten: it takes 1 to 3 numbers of nodes"),
    (["-grid", "10,10,"], 1, "takes 1 to 3 numbers"),
    (["-grid", "0,1000"], 1, "takes 1 to 3 numbers"),
    (["-grid", "1,10,10,10"], 1, "takes 1 to 3 numbers"),
    (["-grid", "99999999999,10"], 1, "takes 1 to 3 numbers|has another number of rows"),  # a number for indices of 64 bits
    (["-grid", "2000000000,2000000000,2000000000"], 1, "has another number of rows"),
    (["-grid"], 1, "-grid needs a value"),
    (["-grid-components", "3"], 1, "give the nodes too"),
    (["-grid", "10,10,10", "-grid-components", "none"], 1, "takes the number of rows of a node"),
    (["-grid", "500,2"], 3, "is shared in slabs along y, of which there are 2 for 3 ranks: take at most as many ranks"),
])
def test_wrong_grids(weft_mm, matrices, words, ranks, said):
    outcome = weft_mm(matrices / "HB__sherman1.mtx.gz", *words, ranks=ranks)
    assert outcome.code == 1 and len(outcome.complaints) == 1 and any(message in outcome.complaints[0] for message in said.split("|")) and "PETSC ERROR" not in outcome.err, outcome
