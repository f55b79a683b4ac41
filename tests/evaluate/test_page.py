"""The whole way with the programs that were built, and its page in a headless browser where there is one."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from conftest import SOURCE
from programs import BUILD, ENVIRONMENT

from evaluate import browser, check_page, plots, recommend


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two matrices, one of them with hardly anything on its diagonal, and one model problem."""
    folder = tmp_path_factory.mktemp("evaluation")
    (folder / "list.txt").write_text("HB/gr_30_30\nHB/west0067\n")
    for name in ("HB__gr_30_30.mtx.gz", "HB__west0067.mtx.gz"):
        (folder / name).symlink_to(SOURCE / "matrices" / name)
    command = [sys.executable, "-m", "evaluate", "--build", str(BUILD), "--output", str(folder / "out"), "--matrices", str(folder / "list.txt"), "--models", "jumps", "--quick",
               "--repeat", "0", "--types", "line,bcr,ilu,none,umfpack", "--max-it", "500", "--backend", "host", "--jobs", "2"]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=300, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"


def test_results_of_real_solvers(folder):
    document = json.loads((folder / "results.json").read_text())
    rows = {(row["problem"], row["configuration"]): row for row in document["results"]}
    good = rows["HB/gr_30_30", "line"]
    assert good["outcome"] == "solved" and good["iterations"] > 5 and good["residual"] <= 1.5e-8 and good["options"] == "-ksp_type cg -pc_type line"
    assert (good["rows"], good["nonzeros"], good["structure"]) == (900, 7744, "symmetric positive definite")
    zero = rows["HB/west0067", "ilu(0)"]
    assert zero["outcome"] == "failed" and "missing diagonal entry" in zero["reason"]
    assert ("HB/west0067", "bcr") not in rows and rows["jumps of 1e4, 129²", "bcr"]["outcome"] == "solved"
    assert rows["HB/gr_30_30", "bcr"]["options"] == "-grid 30,30 -ksp_type cg -pc_type bcr" and "needs a grid" not in rows["HB/gr_30_30", "bcr"]["reason"]
    assert rows["jumps of 1e4, 129²", "none"]["outcome"] in ("solved", "iterations")
    recommended = {entry["problem"]: entry for entry in json.loads((folder / "recommendations.json").read_text())["recommendations"]}
    assert set(recommended) == {"HB/gr_30_30", "HB/west0067", "jumps of 1e4, 129²", "jumps of 1e4, eps 1e-3, 129²"}
    assert recommended["HB/gr_30_30"]["seconds"] <= 1.1 * min(row["total_seconds"] for key, row in rows.items() if key[0] == "HB/gr_30_30" and row["outcome"] == "solved")
    # As it is pasted, the advice solves.
    matrix = str(SOURCE / "matrices" / "HB__gr_30_30.mtx.gz")
    for case in ("line", "bcr"):
        advice = recommend.paste(rows["HB/gr_30_30", case], BUILD / "lib" / "libweft.so")
        subprocess.run(f"{shlex.quote(str(BUILD / 'bin' / 'weft_mm'))} {shlex.quote(matrix)} {advice} -ksp_rtol 1e-8", shell=True, check=True, timeout=60, env=ENVIRONMENT)
    assert document["facts"]["PETSc"] == os.environ["WEFT_PETSC_VERSION"]


def test_pictures(folder):
    if not plots.matplotlib():
        pytest.skip("no matplotlib here, so no pictures")
    assert (folder / "profile.png").read_bytes().startswith(b"\x89PNG") and "<svg" in (folder / "profile.svg").read_text()
    page = (folder / "index.html").read_text()
    assert page.count("<figure") >= 2 and plots.INK not in page


def test_the_page_is_self_contained(folder):
    page = (folder / "index.html").read_text()
    outside = [word for word in ('src="http', 'href="http', "url(http", "@import", "<link", "<img") if word in page]
    assert not outside and "%DATA%" not in page


def test_the_page_in_a_browser(folder):
    if not browser.program():
        pytest.skip("no Chromium here: ./weft evaluate --check-page installs one (Debian's package chromium) and checks its page")
    assert check_page.check(folder) == []
    assert (folder / "page-dark.png").exists()
    # The check can fail: a column that does not sort, a row that is lost, text that cannot be read.
    page = (folder / "index.html").read_text()
    faults = [("up ? order : -order", "order", "rows are not in order"), ("!type.value || row.type", "true || row.type", "filtered by type"),
              ("--ink: #1d2126", "--ink: #bbbbbb", "the contrast of"), ("</body>", "<script>fetch('http://127.0.0.1:9/x').catch(() => 0)</script></body>", "asks the network")]
    for right, wrong, _ in faults:
        assert right in page
        page = page.replace(right, wrong)
    (folder / "index.html").write_text(page)
    found = check_page.check(folder, themes=["light"])
    assert [complaint for _, _, complaint in faults if not any(complaint in line for line in found)] == [], found
