"""What fails on one rank fails on all of them, wherever in a set-up it happens; and then the PC works again."""

from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "agreement.py"

SOLVERS = [
    "-pc_type line",
    "-pc_type line -pc_line_direction xy -pc_line_estimate_omega",
    "-pc_type line -pc_line_source graph -pc_line_ordering zebra",
    "-pc_type line -pc_line_kernel toeplitz -pc_line_direction x",
    "-pc_type adi",
    "-ksp_type adi",
    "-pc_type bcr",
    "-pc_type bcr -pc_bcr_type facr",
    "-pc_type bcr -boxes",
    "-pc_type boxmg",
    "-pc_type boxmg -pc_boxmg_smoother points -pc_boxmg_coarsest 9",
    "-pc_type boxmg -pc_boxmg_smoother alternating -pc_boxmg_coarsest 9 -pc_boxmg_share 0",
    "-pc_type crout",
    "-pc_type crout -pc_crout_pattern full",
]


@programs.needs_petsc4py
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_rank_fails(solver):
    rank = SOLVERS.index(solver) % 3
    result = programs.python(PROGRAM, f"{solver} -weft_fail_rank {rank}", ranks=3, timeout=60)
    calls, words = result.output.strip().splitlines()[-1].split(maxsplit=1)
    assert int(calls) >= 3 and "then converged" in words, result.output
