"""evaluate as a package, and a build folder whose programs only pretend to solve."""

import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ["WEFT_SOURCE"])
sys.path.insert(0, str(SOURCE))

#: Behaves as the matrix' name says, or as -pc_type does; otherwise writes what weft_mm would.
PRETENDER = r'''#!/usr/bin/env python3
import json, os, pathlib, signal, sys, time
words = sys.argv[1:]
def option(name, default=""):
    return words[words.index(name) + 1] if name in words[:-1] else default
with open(os.environ["PRETENDER_LOG"], "a") as log:
    log.write(option("-pc_type", "reading") + "\n")
pc, out = option("-pc_type"), option("-json")
if "-describe" in words:
    if "broken" in words[0]:
        print("weft_mm: the file ends too early", file=sys.stderr)
        sys.exit(1)
    facts = {"symmetric": True, "definite": "positive", "zero_diagonals": 0}
    pathlib.Path(out).write_text(json.dumps({"matrix": {"rows": 10, "nonzeros": 28, "field": "real"}, "petsc": "0.0.0", "structure": facts}))
    sys.exit(0)
if pc == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if pc == "hang":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        pathlib.Path(os.environ["PRETENDER_LOG"] + ".child").write_text(str(os.getpid()))
    time.sleep(1000)
if pc == "eat":
    eaten = []
    while True:
        eaten.append(bytearray(b"x") * (32 << 20))
        time.sleep(0.01)
if pc == "refused":
    print("[0]PETSC ERROR: --------------------- Error Message -----\n[0]PETSC ERROR: Out of memory. Allocated: 0, Used by process: 1", file=sys.stderr)
    sys.exit(55)
if pc == "unknown":
    print("[0]PETSC ERROR: ---- Error Message ----\n[0]PETSC ERROR: Unknown type. Check for miss-spelling\n[0]PETSC ERROR: Unable to find requested PC type unknown", file=sys.stderr)
    sys.exit(86)
if pc == "silent":
    sys.exit(0)
if pc == "slow":
    time.sleep(0.4)
row = {"options": "", "solved": True, "reason": "CONVERGED_RTOL", "detail": "", "iterations": 7, "residual": 5e-9, "setup_seconds": 0.02, "solve_seconds": 0.03,
       "least_setup_seconds": 0.01, "least_solve_seconds": 0.02, "memory_bytes": 1048576.0, "unused_options": []}
row |= {"nan": {"residual": None}, "liar": {"residual": 1e-3}, "its": {"reason": "DIVERGED_ITS"}, "grows": {"reason": "DIVERGED_DTOL"},
        "pivot": {"reason": "DIVERGED_PC_FAILED", "detail": "FACTOR_NUMERIC_ZEROPIVOT", "residual": None}}.get(pc, {})
text = json.dumps({"petsc": "0.0.0", "results": [row]})
pathlib.Path(out).write_text(text[:40] if pc == "torn" else text.replace("5e-09", "NaN") if pc == "printsnan" else text)
sys.exit(0 if row["reason"] == "CONVERGED_RTOL" else 2)
'''
MARKET = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 2 2\n"


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A build folder of pretenders. build.log: the preconditioners that were run, in order."""
    folder = tmp_path / "build"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / "libweft.so").write_text("")
    for name in ("weft_mm", "diffusion"):
        (folder / "bin" / name).write_text(PRETENDER)
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PRETENDER_LOG", str(tmp_path / "log"))
    return folder


@pytest.fixture
def matrices(tmp_path):
    folder = tmp_path / "matrices"
    folder.mkdir()
    (folder / "HB__one.mtx").write_text(MARKET)
    return folder


@pytest.fixture
def configure(tmp_path):
    """A file of configurations, one for each word, which is its preconditioner."""
    def write(*words):
        path = tmp_path / "configurations.json"
        path.write_text("[" + ", ".join(f'{{"name": "{word}", "options": "-pc_type {word}"}}' for word in words) + "]")
        return path
    return write


@pytest.fixture
def evaluate(build, tmp_path):
    """Runs the command; the results are in evaluate.output."""
    def command(*words):
        return [sys.executable, "-m", "evaluate", "--build", str(build), "--output", str(tmp_path / "out"), "--memory-limit", "300M", "--no-pictures", *map(str, words)]

    def run(*words, **more):
        return subprocess.run(command(*words), cwd=SOURCE, capture_output=True, text=True, timeout=120, **more)

    run.command, run.output, run.log = command, tmp_path / "out", tmp_path / "log"
    return run
