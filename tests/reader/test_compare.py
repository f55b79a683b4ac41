"""-compare: every set of options is a row, whatever happens to it, and no set is felt by the next."""

import json
import re

import programs
import pytest

SPD = "HB__gr_30_30.mtx.gz"
HEADINGS = ["option set", "iterations", "residual", "set-up s", "solve s", "again s", "memory MiB", "why it stopped"]


def iterations(outcome):
    return [row[1] for row in outcome.rows()]


def reasons(outcome):
    return [row[7] for row in outcome.rows()]


def notes(outcome):
    return [line for line in outcome.out.splitlines() if line.startswith("note: ")]


def test_rows_are_what_single_runs_are(weft_mm, matrices):
    sets = ["-pc_type jacobi", "-pc_type ilu", "-pc_type bjacobi -pc_bjacobi_blocks 4 -sub_pc_type lu", "-pc_type gamg -mg_levels_pc_type jacobi"]
    singles = [weft_mm(matrices / SPD, "-ksp_type", "cg", *options.split()) for options in sets]
    together = weft_mm(matrices / SPD, "-ksp_type", "cg", "-compare", "; ".join(sets))
    assert together.code == 0 and [single.code for single in singles] == [0] * 4
    assert [row[0] for row in together.rows()] == sets
    assert iterations(together) == [iterations(single)[0] for single in singles]
    assert len(set(iterations(together))) == 4  # else this test would see no difference
    assert reasons(together) == ["CONVERGED_RTOL"] * 4
    assert [float(row[2]) for row in together.rows()] == [float(single.rows()[0][2]) for single in singles]
    progress = [line for line in together.err.splitlines() if line.startswith("weft_mm: [")]
    assert progress == [f"weft_mm: [{number + 1}/4] {options}{end}" for number, options in enumerate(sets) for end in (" ...", ": CONVERGED_RTOL")]


@pytest.mark.parametrize("ranks", [1, 2])
def test_sets_do_not_leak(weft_mm, matrices, ranks):
    common = ["-ksp_rtol", "1e-30", "-ksp_atol", "0", "-ksp_max_it", "7"]
    sets = [
        "-ksp_max_it 3",  # changes the command line's
        "-ksp_norm_type unpreconditioned",  # the command line's is back
        "-ksp_max_it 4 -pc_type nosuch",  # an error in between
        "-pc_type jacobi",
        "-ksp_max_it",  # without a value: an error
        "-pc_type bjacobi -sub_pc_type lu -sub_ksp_type preonly",
        "-pc_type bjacobi",
        "-KSP_MAX_IT 5",  # PETSc's names know no case
        "-ksp_rtol 1e-29",
    ]
    outcome = weft_mm(matrices / "HB__orsirr_1.mtx.gz", *common, "-compare", ";".join(sets), ranks=ranks)
    assert outcome.code == 2
    found = iterations(outcome)
    assert [found[0], found[1], found[2], found[3], found[7], found[8]] == ["3", "7", "-", "7", "5", "7"]
    alone = weft_mm(matrices / "HB__orsirr_1.mtx.gz", *common, "-pc_type", "bjacobi", ranks=ranks)
    rows = outcome.rows()
    assert rows[6][1:3] == alone.rows()[0][1:3]  # iterations and residual: the blocks are ILU again
    assert rows[5][2] != rows[6][2]


def test_numbered_prefixes_do_not_leak(weft_mm, matrices):
    """PETSc answers -fieldsplit_0_pc_type with -fieldsplit_pc_type where the former is not there; laying sets over and off must not confuse them."""
    common = ["-ksp_type", "gmres", "-pc_type", "fieldsplit", "-pc_fieldsplit_block_size", "2", "-fieldsplit_pc_type", "jacobi"]
    sets = ["-ksp_rtol 1e-5", "-fieldsplit_0_pc_type ilu", "-ksp_rtol 1e-5", "-fieldsplit_pc_type ilu", "-ksp_rtol 1e-5"]
    found = [row[1:3] for row in weft_mm(matrices / SPD, *common, "-compare", ";".join(sets)).rows()]
    assert found[0] == found[2] == found[4]
    assert found[0] != found[1] != found[3] != found[0]


def test_used_options_of_the_command_line_are_not_called_unused(weft_mm, matrices):
    """PETSc warns of unused options at the end: a set that hides an option for a while must not bring that about."""
    outcome = weft_mm(matrices / SPD, "-ksp_rtol", "1e-3", "-pc_type", "jacobi", "-compare", "-pc_type none; -ksp_rtol 1e-4; -pc_type ilu")
    assert "WARNING! There are options" not in outcome.out and "has used the option" not in outcome.out


@pytest.mark.parametrize("more", [[], ["-compare", "-pc_type none; -ksp_rtoll 1e-4"]])
def test_mistyped_option_of_the_command_line_is_told(weft_mm, matrices, more):
    outcome = weft_mm(matrices / SPD, "-ksp_rtoll", "1e-3", *more)
    assert "-ksp_rtoll" in outcome.out[outcome.out.index("WARNING! There are options you set that were not used!") :]


def test_mistyped_option_is_noted(weft_mm, matrices):
    outcome = weft_mm(matrices / SPD, "-pc_type", "jacobi", "-compare", "-pc_typ ilu; -pc_type ilu; -ksp_type cg -pc_factor_level 2")
    assert outcome.code == 0
    assert notes(outcome) == [
        "note: -pc_typ ilu: nothing has used the option -pc_typ; is it mistyped?",
        "note: -ksp_type cg -pc_factor_level 2: nothing has used the option -pc_factor_level; is it mistyped?",
    ]


def test_option_that_only_another_set_used_is_noted(weft_mm, matrices):
    outcome = weft_mm(matrices / SPD, "-sub_pc_type", "ilu", "-compare", "-pc_type bjacobi; -pc_type jacobi -sub_pc_type lu")
    assert notes(outcome) == ["note: -pc_type jacobi -sub_pc_type lu: nothing has used the option -sub_pc_type; is it mistyped?"]


FAILING = {
    "-pc_type nosuch": "ERROR: Unable to find requested PC type nosuch",
    "-ksp_type nosuch": "ERROR: Unable to find requested KSP type nosuch",
    "-mat_type nosuch": "ERROR: Unknown Mat type given: nosuch",
    "-options_file no/such/file": "ERROR: Unable to open ",
    "-pc_type bjacobi -sub_pc_type ilu": "ERROR: Matrix is missing diagonal entr",
    "-pc_type none -ksp_max_it 2": "DIVERGED_ITS",
    "-pc_type none -ksp_max_it 2 -ksp_error_if_not_converged": ("ERROR: KSPSolve() has not converged", "ERROR: KSPSolve has not converged", "DIVERGED_ITS"),
}


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_failing_set_does_not_stop_the_others(weft_mm, matrices, ranks):
    good = "-pc_type jacobi -ksp_type fgmres -ksp_gmres_restart 67 -ksp_rtol 1e-3"
    sets = [good] + [part for failing in FAILING for part in (failing, good)]
    outcome = weft_mm(matrices / "HB__west0067.mtx.gz", "-compare", ";".join(sets), ranks=ranks)
    assert outcome.code == 2
    assert outcome.complaints == ["weft_mm: 7 of 15 option sets gave no solution"]
    assert "PETSC ERROR" not in outcome.out + outcome.err
    rows = outcome.rows()
    assert [row[0] for row in rows] == sets
    for row, start in zip(rows[1::2], FAILING.values()):
        assert row[7].startswith(start)
    assert all(row[7] == "CONVERGED_RTOL" and row[1:3] == rows[0][1:3] for row in rows[0::2])


def test_an_error_on_one_rank_only(weft_mm, write):
    """Rows 3 and 4, which are the second rank's, have no diagonal: its block has no ILU, and the first rank, whose block has one, must hear of it."""
    file = write("%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 2\n2 2 2\n3 4 1\n4 3 1\n")
    outcome = weft_mm(file, "-compare", "-pc_type bjacobi -sub_pc_type ilu; -pc_type none", ranks=2)
    assert outcome.code == 2 and outcome.complaints == ["weft_mm: 1 of 2 option sets gave no solution"]
    assert reasons(outcome)[0].startswith("ERROR: Matrix is missing diagonal entr") and reasons(outcome)[1].startswith("CONVERGED_")


def test_zero_pivot(weft_mm, write):
    """Numerically singular: [[1, 1], [1, 1]], in a single run and in a comparison."""
    write("%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n")
    single = weft_mm("A.mtx", "-pc_type", "lu")
    assert single.code == 2
    assert len(single.complaints) == 1
    assert single.complaints[0].startswith("weft_mm: no solution: DIVERGED_PC_FAILED (FACTOR_NUMERIC_ZEROPIVOT); a pivot is zero or missing; try -pc_factor_shift_type")
    both = weft_mm("A.mtx", "-compare", "-pc_type lu; -pc_type none")
    assert both.code == 2
    assert both.rows()[0][2] in ("nan", "inf")
    assert reasons(both)[0] == "DIVERGED_PC_FAILED (FACTOR_NUMERIC_ZEROPIVOT)" and reasons(both)[1].startswith("CONVERGED_")


@pytest.mark.parametrize("options, names, ranks", [
    ("-pc_type line -pc_line_source rows -pc_line_kernel thomas", {"-pc_line_kernel"}, 1),
    ("-pc_type ilu", {"-pc_factor_shift_type"}, 1),
    ("-pc_type bjacobi -sub_pc_type ilu", {"-sub_pc_factor_shift_type"}, 2),
    ("-pc_type bjacobi -sub_pc_type ilu", {"-sub_pc_factor_shift_type"}, 1),
    ("-pc_type line -pc_line_source rows", set(), 1),  # auto has tried pivoted
    ("-pc_type line -pc_line_source rows -pc_line_kernel pivoted", set(), 1),
    ("-pc_type crout -pc_crout_pattern full", {"-pc_crout_shift"}, 1),
])
def test_advice_after_a_zero_pivot_names_options_of_that_type(weft_mm, write, options, names, ranks):
    """Singular without a zero on the diagonal: [[1, 1], [1, 1]] on each rank."""
    entries = [f"{2 * k + i} {2 * k + j} 1" for k in range(ranks) for i in (1, 2) for j in (1, 2)]
    write("\n".join(["%%MatrixMarket matrix coordinate real general", f"{2 * ranks} {2 * ranks} {4 * ranks}", *entries]) + "\n")
    outcome = weft_mm("A.mtx", "-dll_append", programs.LIBRARY, *options.split(), ranks=ranks)
    assert outcome.code == 2 and len(outcome.complaints) == 1, outcome
    offered = set(re.findall(r"-(?:sub_)?pc_\w+", outcome.complaints[0])) - {"-pc_type", "-pc_factor_mat_solver_type"}
    assert offered == names, outcome


def test_unknown_type_in_a_single_run(weft_mm, matrices):
    outcome = weft_mm(matrices / SPD, "-pc_type", "nosuch")
    assert outcome.code == 2
    assert outcome.complaints == [
        "weft_mm: no solution: ERROR: Unable to find requested PC type nosuch; check the name's spelling; "
        "a type of a plugin needs its library: -dll_append LIBRARY.so"
    ]


def test_overflow_is_not_a_solution(weft_mm, write, tmp_path):
    write("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-300\n2 2 1\n")
    write("%%MatrixMarket matrix array real general\n2 1\n1e300\n1\n", "b.mtx")
    outcome = weft_mm("A.mtx", "-rhs", "b.mtx", "-ksp_type", "preonly", "-pc_type", "jacobi", "-json", "x.json")
    assert outcome.code == 2 and outcome.rows()[0][2] in ("nan", "inf")
    assert json.loads((tmp_path / "x.json").read_text())["results"][0]["residual"] is None


def test_false_convergence_is_noted(weft_mm, matrices):
    outcome = weft_mm(matrices / "HB__nos1.mtx.gz", "-pc_type", "ilu")
    assert outcome.code == 0 and float(outcome.rows()[0][2]) > 1e-3
    assert notes(outcome) == [
        "note: (command line): converged in the norm the solver watches, but not in the true residual; try -ksp_norm_type unpreconditioned -ksp_pc_side right"
    ]


@pytest.mark.parametrize("ranks", [1, 2])
def test_json_is_the_table(weft_mm, matrices, tmp_path, ranks):
    sets = "-pc_type bjacobi -typo; -pc_type nosuch; -pc_type none -ksp_max_it 2"
    outcome = weft_mm(matrices / SPD, "-rhs", "random", "-compare", sets, "-json", "here.json", ranks=ranks)
    assert "The results as JSON: here.json" in outcome.out
    document = json.loads((tmp_path / "here.json").read_text())
    assert document["matrix"] == {
        "file": str(matrices / SPD), "rows": 900, "columns": 900, "nonzeros": 7744, "field": "real", "symmetry": "symmetric",
    }
    assert (document["right_hand_side"], document["ranks"]) == ("random", ranks)
    printed = []
    for result in document["results"]:
        def cell(key, form, scale=1):
            return "-" if result[key] is None else form % (result[key] / scale)

        reason = result["reason"] + (f": {result['detail']}" if result["detail"] else "")
        printed.append([
            result["options"], cell("iterations", "%d"), cell("residual", "%.2e"), cell("setup_seconds", "%.4f"), cell("solve_seconds", "%.4f"),
            cell("again_seconds", "%.4f"), cell("memory_bytes", "%.1f", 2**20), reason,
        ])
    assert printed == outcome.rows()
    assert [result["solved"] for result in document["results"]] == [True, False, False]
    assert [result["unused_options"] for result in document["results"]] == [["-typo"], [], []]


def test_json_by_default_under_compare_only(weft_mm, matrices, tmp_path):
    weft_mm(matrices / SPD, "-pc_type", "jacobi")
    assert list(tmp_path.iterdir()) == []
    assert "The results as JSON: weft_mm.json" in weft_mm(matrices / SPD, "-compare", "-pc_type jacobi").out
    assert len(json.loads((tmp_path / "weft_mm.json").read_text())["results"]) == 1


def test_table_is_aligned(weft_mm, matrices):
    outcome = weft_mm(matrices / SPD, "-compare", "-pc_type jacobi; -pc_type bjacobi -sub_pc_type lu; -pc_type nosuch")
    lines = outcome.out.splitlines()
    head = next(line for line in lines if line.startswith("option set"))
    assert [heading for heading in HEADINGS if heading not in head] == []
    last = head.index("why it stopped")
    table = lines[lines.index(head) + 1 : lines.index(head) + 4]
    assert all(line[last - 2 : last] == "  " and line[last] != " " for line in table)


@pytest.mark.parametrize("more", [[], ["-mat_type", "baij"]])
def test_default_solver_of_a_symmetric_matrix(weft_mm, matrices, more):
    """A symmetric file must not make PETSc choose ICC, its default for matrices known to be symmetric: this one is negative definite."""
    outcome = weft_mm(matrices / "HB__sherman1.mtx.gz", *more)
    assert outcome.code == 0 and int(outcome.rows()[0][1]) < 100


def test_matrix_may_come_later_or_by_f(weft_mm, matrices):
    rows = [weft_mm("-pc_type", "jacobi", matrices / SPD).rows(), weft_mm("-f", matrices / SPD, "-pc_type", "jacobi").rows()]
    assert rows[0][0][1:3] == rows[1][0][1:3]


def test_describe(weft_mm, matrices, write, tmp_path):
    """What a matrix is like, by names that the description and the JSON share; no solve."""
    wanted = {"HB__gr_30_30.mtx.gz": (True, True, "positive", 0, 900, 31), "HB__sherman1.mtx.gz": (True, True, "negative", 0, 529, 100),
              "HB__orsirr_1.mtx.gz": (False, True, "no", 0, 1030, 554), "HB__jagmesh7.mtx.gz": (True, True, "no", 0, 0, 903)}
    for name, facts in wanted.items():
        outcome = weft_mm(matrices / name, "-describe", "-json", "d.json")
        structure = json.loads((tmp_path / "d.json").read_text())["structure"]
        names = ["symmetric", "symmetric_pattern", "definite", "zero_diagonals", "dominant_rows", "bandwidth"]
        assert outcome.code == 0 and tuple(structure[key] for key in names) == facts
        assert f"definite: {facts[2]}" in outcome.out and "why it stopped" not in outcome.out
    write("%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n2 1 -2\n1 2 -2.5\n3 3 4\n2 3 1\n")
    assert "unsymmetric, definite: no, zeros on the diagonal: 1, dominant rows: 1, bandwidth: 1" in weft_mm("A.mtx", "-describe").out


def test_repeat_keeps_the_least_times(weft_mm, matrices, tmp_path):
    weft_mm(matrices / SPD, "-pc_type ilu", "-repeat", "3", "-json", "r.json")
    (row,) = json.loads((tmp_path / "r.json").read_text())["results"]
    assert row["repeats"] == 3 and 0 < row["least_setup_seconds"] <= row["setup_seconds"] and 0 < row["least_solve_seconds"] <= row["solve_seconds"]
    weft_mm(matrices / SPD, "-ksp_max_it", "1", "-repeat", "3", "-json", "r.json")
    (row,) = json.loads((tmp_path / "r.json").read_text())["results"]
    assert row["repeats"] == 0 and row["reason"] == "DIVERGED_ITS"  # what gave no solution is not done again
