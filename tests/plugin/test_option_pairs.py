"""Every option beside every choice of every other: it changes what is computed, or -ksp_view says that it does nothing there."""

import json
import os
import re
import sys
from pathlib import Path

import programs
import pytest

sys.path.append(str(Path(os.environ["WEFT_SOURCE"]) / "scripts"))
import option_tables  # noqa: E402

PROGRAM = Path(__file__).parent / "programs" / "option_pairs.py"

# Another value than the default, for what is neither a choice among names nor a flag, or where the last choice is refused.
VALUES = {
    "pc_adi_cycle": "3",
    "pc_adi_iterations": "2",
    "pc_adi_shifts": "1,10",
    "pc_adi_bounds": "1,40",
    "ksp_adi_check_every": "2",
    "pc_crout_levels": "1",
    "pc_crout_droptol": "0.1",
    "pc_crout_row_quota": "1",
    "pc_crout_most_operations": "1",
    "pc_crout_shift": "0.1",
    "pc_crout_check_warn": "1e-3",
    "pc_crout_check_fail": "1e-2",
    "pc_crout_ordering": "nd",
    "pc_crout_sweeps": "2",
    "pc_crout_rtol": "0.1",
    "pc_crout_omega": "0.5",
    "pc_crout_sections": "2",
    "pc_crout_trisolve_steps": "1",
    "pc_bcr_radix": "3",
    "pc_bcr_levels": "1",
    "pc_bcr_separable_tolerance": "1e-3",
    "pc_bcr_check_warn": "1e-3",
    "pc_bcr_check_fail": "1e-2",
    "pc_boxmg_levels": "2",
    "pc_boxmg_coarsen": "y",
    "pc_boxmg_sweeps": "2",
    "pc_boxmg_coarsest": "9",
    "pc_line_file": "{lines}",
    "pc_line_direction": "xy",
    "pc_line_plane_cycles": "2",
    "pc_line_kernel": "cr",
    "pc_line_kernel_switch": "8",
    "pc_line_kernel_steps": "3",
    "pc_line_kernel_partitions": "4",
    "pc_line_kernel_slice": "4",
    "pc_line_kernel_tolerance": "0.3",
    "pc_line_sweeps": "2",
    "pc_line_omega": "0.7",
    "pc_line_find_again": "2",
    "pc_line_check_warn": "1e-3",
    "pc_line_check_fail": "1e-2",
}
# What a choice cannot do without, or other options do nothing without.
WITH = {
    ("pc_line_source", "map"): {"pc_line_file": "{lines}"},
    ("pc_line_kernel", "spike"): {"pc_line_kernel_partitions": "4"},
    ("pc_line_kernel", "toeplitz"): {"pc_line_kernel_partitions": "4"},
}
# Options that act without changing what a solve computes, where, and why.
QUIET = [
    ("pc_adi_keep_factors", "", "factors that are made anew are the same"),
    ("pc_crout_check_warn", "", "the factors are sound"),
    ("pc_crout_check_fail", "", "so they are"),
    ("pc_crout_symmetric", "", "the matrix is symmetric"),
    ("pc_crout_monitor", "", "it prints"),
    ("pc_crout_sections", "dense", "sections are swept until nothing changes; whether sums round otherwise is up to the processor"),
    ("pc_bcr_require_separable", "", "the operator is separable"),
    ("pc_bcr_separable_tolerance", "", "so it is"),
    ("pc_bcr_check_warn", "", "the solver is sound"),
    ("pc_bcr_check_fail", "", "so it is"),
    ("pc_boxmg_monitor", "", "it prints"),
    ("pc_boxmg_coarsest", "space.*'alternating'", "lines solve a grid of 2 x 2 x 5 nodes as well as its inverse does"),
    ("pc_line_find_again", "", "the matrix has one set of values"),
    ("pc_line_check_warn", "", "the solver is sound"),
    ("pc_line_check_fail", "", "so it is"),
    ("pc_line_diagonal_products", "", "sums in the same order are the same"),
    ("pc_line_kernel_tolerance", "on 2", "two ranks are neighbours whatever is dropped"),
    ("pc_line_components", "pairs.*(graph|toeplitz)", "lines of such are apart by themselves"),
    ("pc_line_source", "row", "auto takes its rows, which are those of the grid"),
    ("pc_line_sweeps", "row", "the first one solves it"),
    ("pc_line_estimate_omega", "row|space", "the largest eigenvalue is 1"),
    ("pc_line_ranks", "rows", "PETSc's numbering couples no last row of a rank to the first one of the next"),
    ("pc_line_kernel_slice", "pairs", "chunks of rows of blocks are factored one by one"),
    ("pc_line_kernel_partitions", "pairs", "one thread has all parts of a line"),
    ("pc_line_kernel_slice", "space.*'x'", "lines of four rows are one slice"),
    ("pc_line_kernel_partitions", "space.*'x'", "and one part"),
]
FLAGS = {"FALSE": ["true"], "TRUE": ["false"]}  # by their default
# The operators of the program that each type is tried with, and on how many ranks.
OPERATORS = [("adi", "plane", 1), ("adi", "column", 1), ("bcr", "plane", 1), ("boxmg", "plane", 1), ("boxmg", "space", 1), ("crout", "plane", 1), ("crout", "dense", 1)]
OPERATORS += [("line", operator, 1) for operator in ("plane", "pairs", "row", "space")]


def results(operator, ranks, lists, folder):
    (folder / "lists").write_text(json.dumps(lists))
    programs.python(PROGRAM, f"{operator} {folder}/lists {folder}/results", ranks=ranks, environment={"OMP_NUM_THREADS": "1"}, timeout=600)
    return json.loads((folder / "results").read_text())


@programs.needs_petsc4py
@pytest.mark.parametrize("kind, operator, ranks", OPERATORS)
def test_an_option_acts_or_says_that_it_does_not(kind, operator, ranks, tmp_path):
    _, prefixes, options = option_tables.PAGES[kind]
    base = dict(option.split(" ") for option in options[1:].split(" -"))
    helped = programs.execute("ex50", f"-da_grid_x 5 -da_grid_y 5 {options} -help", expect=None).output
    rows = list(option_tables.rows(helped, prefixes))
    assert len(rows) > 5
    others = {name: [choice for choice in choices or FLAGS.get(now, []) if choice != now] for name, choices, now, _ in rows}
    values = {name: [VALUES[name]] if name in VALUES else choices for name, choices in others.items()}
    contexts = [{}] + [{name: value} | WITH.get((name, value), {}) for name, choices in others.items() for value in choices]
    if ranks > 1:
        contexts = [context for context in contexts if not any(name.endswith("_kernel") for name in context)]  # kernels know of no ranks
    pairs = [(context, {name: value}) for context in contexts for name in values if name not in context for value in values[name]]
    alone = results(operator, ranks, [base | context for context in contexts], tmp_path)
    both = results(operator, ranks, [base | context | option for context, option in pairs], tmp_path)
    wrong, quiet, loud = [], {}, set()
    for (context, option), found in zip(pairs, both):
        before = alone[contexts.index(context)]
        (name, value), same, place = *option.items(), found["came out"] == before["came out"], (contexts.index(context), *option)
        if found["error"] or before["error"]:
            loud.add(place)  # said in a sentence, which tests of messages look at
        elif not same:
            loud.add(place)
            if name in found["idle"]:
                wrong.append(f"{context} {option}: said to do nothing, and does")
        elif name not in found["idle"] and not any(name == silent and re.search(where, f"{operator} on {ranks}: {context}") for silent, where, _ in QUIET):
            quiet[place] = f"{context} {option}: does nothing, and does not say so"
    # One of its choices may be what is chosen without it.
    wrong += [sentence for place, sentence in quiet.items() if place not in loud]
    assert not wrong, "\n".join(wrong)
    assert sum(not found["error"] for found in both) > len(both) / 3
