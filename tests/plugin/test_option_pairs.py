"""Every option beside every choice of every other: it changes what is computed, or -ksp_view says that it does nothing there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import programs
import pytest

sys.path.append(str(Path(os.environ["WEFT_SOURCE"]) / "scripts"))
import option_tables  # noqa: E402

PROGRAM = Path(__file__).parent / "programs" / "option_pairs.py"

# Another value than the default, for what is neither a choice among names nor a flag. None: a file or an order, which tests of its own look at.
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
}
# Options that act without changing what a solve computes here, and why.
QUIET = {
    "pc_adi_keep_factors": "factors that are made anew are the same",
    "pc_crout_check_warn": "the factors are sound",
    "pc_crout_check_fail": "so they are",
    "pc_crout_symmetric": "the matrix is symmetric",
    "pc_crout_monitor": "it prints",
    "pc_bcr_require_separable": "the operator is separable",
    "pc_bcr_separable_tolerance": "so it is",
    "pc_bcr_check_warn": "the solver is sound",
    "pc_bcr_check_fail": "so it is",
}
FLAGS = {"FALSE": ["true"], "TRUE": ["false"]}  # by their default


def results(matrix, lists):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *matrix],
        input=json.dumps(lists),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
        env=dict(programs.ENVIRONMENT, PETSC_OPTIONS=f"-dll_append {programs.LIBRARY}", OMP_NUM_THREADS="1"),
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(lists), done.stderr
    return lines


@programs.needs_petsc4py
@pytest.mark.parametrize("kind, matrix", [(kind, ("7", "30")) for kind in option_tables.PAGES] + [("adi", ("1", "30")), ("crout", ("7", "30", "dense"))])
def test_an_option_acts_or_says_that_it_does_not(kind, matrix):
    _, prefixes, options = option_tables.PAGES[kind]
    base = dict(option.split(" ") for option in options[1:].split(" -"))
    helped = programs.execute("ex50", f"-da_grid_x 5 -da_grid_y 5 {options} -help", expect=None).output
    rows = list(option_tables.rows(helped, prefixes))
    assert len(rows) > 5
    values = {name: [choice for choice in choices or FLAGS.get(now, [VALUES.get(name)]) if choice != now] for name, choices, now, _ in rows}
    values = {name: kept for name, kept in values.items() if kept != [None]}
    contexts = [{}] + [{name: value} for name, choices, now, _ in rows if choices or now in FLAGS for value in values[name]]
    pairs = [(context, {name: value}) for context in contexts for name in values if name not in context for value in values[name]]
    alone = results(matrix, [base | context for context in contexts])
    both = results(matrix, [base | context | option for context, option in pairs])
    wrong, quiet, loud = [], {}, set()
    for (context, option), found in zip(pairs, both):
        before = alone[contexts.index(context)]
        (name, value), same, place = *option.items(), found["norms"] == before["norms"], (contexts.index(context), *option)
        if found["error"] or before["error"]:
            loud.add(place)  # said in a sentence, which tests of messages look at
        elif not same:
            loud.add(place)
            if name in found["idle"]:
                wrong.append(f"{context} {option}: said to do nothing, and does")
        elif name not in found["idle"] and name not in QUIET:
            quiet[place] = f"{context} {option}: does nothing, and does not say so"
    # One of its choices may be what is chosen without it.
    wrong += [sentence for place, sentence in quiet.items() if place not in loud]
    assert not wrong, "\n".join(wrong)
    assert sum(not found["error"] for found in both) > len(both) / 3
