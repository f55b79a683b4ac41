"""Cases in processes of their own: whatever a solver does is a row; what is done is not done again."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import MARKET, SOURCE

WANTED = {"good": ("solved", "CONVERGED_RTOL"), "crash": ("crash", "SIGSEGV"), "hang": ("time", "stopped after 10 s"), "eat": ("memory", "stopped at 300 MiB"),
          "refused": ("memory", "Out of memory. Allocated: 0, Used by process: 1"), "silent": ("error", "ended with 0 and no result"), "torn": ("error", "ended with 0 and no result"),
          "nan": ("inaccurate", "CONVERGED_RTOL, but the residual is not a number"), "printsnan": ("inaccurate", "CONVERGED_RTOL, but the residual is not a number"),
          "liar": ("inaccurate", "CONVERGED_RTOL, but the true residual is 1.0e-03"),
          "its": ("iterations", "DIVERGED_ITS"), "grows": ("diverged", "DIVERGED_DTOL"), "pivot": ("failed", "DIVERGED_PC_FAILED (FACTOR_NUMERIC_ZEROPIVOT)")}


def results(folder):
    return json.loads((folder / "results.json").read_text())


def alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_whatever_happens_is_a_row(evaluate, matrices, configure):
    done = evaluate("--matrices", matrices, "--configurations", configure(*WANTED), "--time-limit", "10", "--jobs", "4")
    assert done.returncode == 0, done.stderr
    found = results(evaluate.output)["results"]
    assert {row["configuration"]: (row["outcome"], row["reason"]) for row in found} == WANTED
    good = next(row for row in found if row["configuration"] == "good")
    assert (good["setup_seconds"], good["total_seconds"], good["first_solve_seconds"]) == (0.01, pytest.approx(0.03), 0.03)
    eaten = next(row for row in found if row["configuration"] == "eat")
    assert eaten["peak_bytes"] > 250 * 2**20 and eaten["total_seconds"] is None
    assert not alive(int(pathlib.Path(f"{evaluate.log}.child").read_text()))  # what a solver has started ends with it
    with open(evaluate.output / "results.csv", newline="") as file:
        assert [(row["configuration"], row["outcome"]) for row in csv.DictReader(file)] == [(row["configuration"], row["outcome"]) for row in found]
    recommendations = json.loads((evaluate.output / "recommendations.json").read_text())["recommendations"]
    assert [(entry["problem"], entry["configuration"], entry["options"]) for entry in recommendations] == [("HB/one", "good", "-ksp_type cg -pc_type good")]


def test_the_address_space_is_limited_too(evaluate, build, matrices, configure):
    """A solver that asks for more at once than it may ever have is told so by the system, before anything watches."""
    program = build / "bin" / "weft_mm"
    program.write_text(program.read_text().replace('if pc == "eat":', 'if pc == "grab":\n    bytearray(3 << 30)\nif pc == "eat":'))
    evaluate("--matrices", matrices, "--configurations", configure("grab"))
    (row,) = results(evaluate.output)["results"]
    assert (row["outcome"], row["reason"]) == ("memory", "MemoryError")


def test_what_is_done_is_not_done_again(evaluate, matrices, configure):
    first = evaluate("--matrices", matrices, "--configurations", configure("good", "crash"))
    assert first.returncode == 0, first.stderr
    count = len(evaluate.log.read_text().split())
    before = results(evaluate.output)["results"]
    assert evaluate("--matrices", matrices, "--configurations", configure("good", "crash")).returncode == 0
    assert len(evaluate.log.read_text().split()) == count and results(evaluate.output)["results"] == before
    # Something more is asked for: that alone is run (its probe, and itself).
    assert evaluate("--matrices", matrices, "--configurations", configure("good", "crash", "its")).returncode == 0
    assert evaluate.log.read_text().split()[count:] == ["its", "its"]
    # Another matrix of the same name is another case.
    (matrices / "HB__one.mtx").write_text(MARKET.replace("1 1 2", "1 1 3"))
    assert evaluate("--matrices", matrices, "--configurations", configure("good")).returncode == 0
    assert evaluate.log.read_text().split()[count + 2:] == ["reading", "good"]
    assert evaluate("--matrices", matrices, "--configurations", configure("good"), "--no-resume").returncode == 0
    assert evaluate.log.read_text().split()[count + 4:] == ["reading", "none", "good", "good"]


@pytest.mark.parametrize(
    "words, threads, message",
    [
        ("--report", "2", "none of this: the library, the processor, OMP_NUM_THREADS (2 now)"),
        ("--report --time-limit 17", "", "none of this"),
        ("--report --types crash --max-rows 3", "", "none of this"),
        ("--report --no-resume", "", "take one of the two"),
        ("--max-rows 3", "", "each problem has more rows than --max-rows 3"),
    ],
)
def test_results_are_never_replaced_by_nothing(evaluate, matrices, configure, words, threads, message):
    assert evaluate("--matrices", matrices, "--configurations", configure("good", "crash")).returncode == 0
    before = {path.name: path.read_bytes() for path in evaluate.output.iterdir() if path.is_file()}
    environment = dict(os.environ, **({"OMP_NUM_THREADS": threads} if threads else {}))
    done = evaluate("--matrices", matrices, "--configurations", configure("good", "crash"), *words.split(), env=environment)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert {path.name: path.read_bytes() for path in evaluate.output.iterdir() if path.is_file()} == before


def test_a_file_of_something_else_is_left_alone(evaluate, matrices, configure):
    evaluate.output.mkdir()
    (evaluate.output / "results.jsonl").write_text('{"epoch": 1}\n{"epoch": 2}\n')
    done = evaluate("--matrices", matrices, "--configurations", configure("good"))
    assert done.returncode == 2 and "is no file of results" in done.stderr
    assert (evaluate.output / "results.jsonl").read_text() == '{"epoch": 1}\n{"epoch": 2}\n'


def test_a_line_that_is_spoilt_costs_itself_alone(evaluate, matrices, configure):
    assert evaluate("--matrices", matrices, "--configurations", configure("good", "crash")).returncode == 0
    kept = evaluate.output / "results.jsonl"
    lines = kept.read_text().splitlines()
    kept.write_text("\n".join(["not JSON", *lines]) + "\n")
    count = len(evaluate.log.read_text().split())
    assert evaluate("--matrices", matrices, "--configurations", configure("good", "crash")).returncode == 0
    assert len(evaluate.log.read_text().split()) == count


def test_advice_names_the_library_that_solved(evaluate, build, matrices, tmp_path):
    configurations = tmp_path / "line.json"
    configurations.write_text('[{"name": "line", "options": "-pc_type line"}]')
    done = evaluate("--matrices", matrices, "--configurations", configurations)
    assert done.returncode == 0, done.stderr
    advice = f"-dll_append {build}/lib/libweft.so -ksp_type cg -pc_type line"
    assert advice in done.stdout
    (entry,) = json.loads((evaluate.output / "recommendations.json").read_text())["recommendations"]
    assert entry["options"] == advice


@pytest.mark.parametrize("results_json", ['{"results": []}', "", None])
def test_a_page_without_results_is_a_complaint(evaluate, tmp_path, results_json, monkeypatch, capsys):
    from evaluate import check_page

    class Nothing:
        errors = []
        __enter__ = lambda self: self
        __exit__ = lambda self, *what: None
        theme = load = picture = lambda self, *what, **how: None
        run = lambda self, script: (21.0, "")

    monkeypatch.setattr(check_page, "Browser", Nothing)
    if results_json is not None:
        (tmp_path / "results.json").write_text(results_json)
    assert check_page.main(tmp_path) == 1
    assert "evaluate: the page" in capsys.readouterr().err


def test_a_torn_line_is_dropped(evaluate, matrices, configure):
    configurations = configure("good", "crash")
    assert evaluate("--matrices", matrices, "--configurations", configurations).returncode == 0
    before, kept = results(evaluate.output)["results"], evaluate.output / "results.jsonl"
    kept.write_bytes(kept.read_bytes()[:-30])
    count = len(evaluate.log.read_text().split())
    assert evaluate("--matrices", matrices, "--configurations", configurations).returncode == 0
    assert evaluate.log.read_text().split()[count:] == ["crash"]
    assert [row["outcome"] for row in results(evaluate.output)["results"]] == [row["outcome"] for row in before]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopped_and_gone_on_with(evaluate, matrices, configure, how):
    words = ["--matrices", matrices, "--configurations", configure(*(["slow"] + ["good", "hang"])), "--time-limit", "100"]
    process = subprocess.Popen(evaluate.command(*words, "--jobs", "1"), cwd=SOURCE, stderr=subprocess.PIPE, text=True)
    child = pathlib.Path(f"{evaluate.log}.child")
    deadline = time.monotonic() + 60
    while not child.exists() or not child.read_text():  # the probe of "hang" hangs
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    second = evaluate(*words)
    assert second.returncode == 2 and "another evaluation is writing into" in second.stderr
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and "the same command goes on from there" in said
    assert not alive(int(child.read_text()))
    count = len(evaluate.log.read_text().split())
    done = evaluate(*words, "--types", "slow,good", "--resume")
    assert done.returncode == 0, done.stderr
    assert evaluate.log.read_text().split()[count:] == ["slow", "good"]  # neither read nor probed again
    assert "-pc_type slow   # as fast: good" in done.stdout  # pretenders all take the same time
    assert evaluate(*words, "--report").returncode == 0
    assert [row["configuration"] for row in results(evaluate.output)["results"]] == ["slow", "good"]  # what there is, and nothing was run
    assert len(evaluate.log.read_text().split()) == count + 2
    assert "| slow | 1 | 1 | 1 | 1 |" in (evaluate.output / "summary.md").read_text()


def test_a_solver_does_not_outlive_its_evaluation(evaluate, matrices, configure):
    process = subprocess.Popen(evaluate.command("--matrices", matrices, "--configurations", configure("hang"), "--time-limit", "100"), cwd=SOURCE, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while "hang" not in (evaluate.log.read_text() if evaluate.log.exists() else ""):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.wait()
    assert children
    while any(alive(int(child)) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pretender = pathlib.Path(f"{evaluate.log}.child")
    if pretender.exists() and pretender.read_text():
        os.kill(int(pretender.read_text()), signal.SIGKILL)  # a grandchild is no one's


def test_what_this_petsc_lacks_is_left_out(evaluate, matrices, configure):
    done = evaluate("--matrices", matrices, "--configurations", configure("good", "unknown"))
    assert done.returncode == 0 and "left out: unknown: Unknown type" in done.stderr
    document = results(evaluate.output)
    assert [row["configuration"] for row in document["results"]] == ["good"]
    assert document["facts"]["Not in this PETSc"] == "unknown"


def test_a_library_that_does_not_load_is_said_once(evaluate, build, matrices, configure):
    program = build / "bin" / "weft_mm"
    program.write_text(program.read_text().replace('if pc == "crash":', 'if pc == "none":\n    sys.exit("[0]PETSC ERROR: --- Error Message ---\\n[0]PETSC ERROR: Unable to open file\\n  no such library")\nif pc == "crash":'))
    done = evaluate("--matrices", matrices, "--configurations", configure("good"))
    assert done.returncode == 1 and "the tiniest problem cannot be solved: Unable to open file no such library" in done.stderr


def test_a_matrix_that_cannot_be_read_is_a_row(evaluate, matrices, configure):
    (matrices / "broken.mtx").write_text(MARKET.replace("1 1 2", "1 1 4"))
    done = evaluate("--matrices", matrices, "--configurations", configure("good"))
    assert done.returncode == 0, done.stderr
    found = {(row["problem"], row["configuration"]): (row["outcome"], row["reason"]) for row in results(evaluate.output)["results"]}
    assert found == {("broken", "reading"): ("error", "the file ends too early"), ("HB/one", "good"): ("solved", "CONVERGED_RTOL")}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_said(evaluate, matrices, configure):
    evaluate.output.mkdir()
    (evaluate.output / "results.jsonl").symlink_to("/dev/full")
    done = evaluate("--matrices", matrices, "--configurations", configure("good"))
    assert done.returncode == 1 and "No space left" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
