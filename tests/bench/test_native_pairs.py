"""scripts/native_pairs.py: its table from what programs print, its commands, and two of the programs on the host, where both forms are one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import BUILD, ENVIRONMENT

SCRIPTS = Path(os.environ["WEFT_SOURCE"]) / "scripts"
sys.path.insert(0, str(SCRIPTS))

import native_pairs  # noqa: E402
from bench_results import parse_name  # noqa: E402
from native_pairs import Key, Time  # noqa: E402


def run(*arguments):
    command = [sys.executable, SCRIPTS / "native_pairs.py", "--build", BUILD, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))


def rows_of(text):
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_pairs_are_set_side_by_side():
    fast, slow, other = Key("wide", "wide_cuda", "a"), Key("wide", "wide_cuda", "b"), Key("toeplitz", native_pairs.NOTHING, "c")
    native = native_pairs.fastest([{fast: Time(0.3, 0.1), slow: Time(1, None)}, {fast: Time(0.2, 0.11), slow: Time(2, None)}, {other: Time(4, 2)}])
    portable = native_pairs.fastest([{fast: Time(0.5, 0.12), slow: Time(1.2, None)}, {other: Time(4, 2)}])
    rows = rows_of("\n".join(native_pairs.report(native, portable)))
    assert rows[2] == ["wide", "wide_cuda", "a", "0.2", "0.5", "2.5", "2", "5"]
    assert rows[3] == ["wide", "wide_cuda", "b", "1", "1.2", "1.2", "–", "–"]
    assert rows[4][:6] == ["toeplitz", "–", "c", "4", "4", "1"]
    assert rows[7:] == [["wide_cuda", "1.2", "2.5", "1 of 2"]]  # lines without a native form count for no file


@pytest.mark.parametrize("name, page, file", [
    ("Cuda/fp64/65536x256/contiguous/general/one-shot/wide", "wide", "wide_direct"),
    ("Cuda/fp64/65536x256/contiguous/shared/solve/wide", "wide", "wide_cuda"),
    ("Cuda/fp64/4096x4096/contiguous/general/solve/wide", "wide", "wide_cuda"),
    ("Cuda/fp64/1024x16384/contiguous/general/solve/wide", "wide", "wide_long"),
    ("Cuda/fp64/4096x4096/strided/general/solve/wide", "wide", "wide_strided"),
    ("Cuda/fp64/1024x16384/strided/general/solve/wide", "wide", "wide_strided_long"),
    ("Cuda/fp64/64x262144/strided/shared/solve/wide", "wide", "–"),
    ("Cuda/fp64/4096x4096/contiguous/constant/solve/toeplitz", "toeplitz", "toeplitz_cuda"),
    ("Cuda/fp64/4096x4096/strided/uniform/solve/pivoted", "pivoted", "–"),
    ("Cuda/fp64/1024x1024/strided/blocks-of-4/one-shot/block-wide", "block_tridiagonal", "block_wide_cuda"),
])
def test_each_line_solve_has_its_file(name, page, file):
    assert native_pairs.key_of_lines(parse_name(name))[:2] == (page, file)


def test_every_native_file_has_a_pair():
    """A native form that nobody times cannot be told from one that gains nothing."""
    source = (SCRIPTS / "native_pairs.py").read_text()
    files = {path.stem for path in (SCRIPTS.parent / "src").rglob("*_cuda.hpp")} | {path.stem for path in (SCRIPTS.parent / "src/line/relax").glob("*_relaxation.hpp")}
    files -= {"line_relaxation"}
    assert len(files) >= 11
    assert not {file for file in files if file not in source and f'{file.removesuffix("_cuda")}' not in ("toeplitz", "pivoted")}


def test_dry_runs_print_a_pair_of_commands_for_each_case():
    done = run("--dry-run")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * len(native_pairs.cases(False))
    for native, portable in zip(lines[::2], lines[1::2]):
        words = set(portable.split()) - set(native.split())
        assert len(words) == 1 and words.pop().startswith("--portable=")


def test_programs_print_what_is_read():
    done = run("--backend", "host", "--quick", "--rounds", "1", "--only", "relaxation|damped|adi|chirps|crout|levels")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [row for row in rows_of(done.stdout) if len(row) == 8][2:]
    assert {row[0] for row in rows} == {"smooth", "adi", "poisson", "crout", "boxmg"}
    for row in rows:
        assert float(row[3]) > 0 and float(row[4]) > 0 and float(row[5]) > 0


def test_other_names_of_forms_are_refused():
    done = subprocess.run([BUILD / "bin" / "smooth_times", "1", "--portable=wrong", "--grids=9x9x1/x"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 2 and "unknown option --portable=wrong" in done.stderr
