"""matrices/fetch, from a mirror of our own on this machine."""

import contextlib
import gzip
import http.server
import io
import os
import subprocess
import sys
import tarfile
import threading

import pytest

MATRIX = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n"
COLUMN = b"%%MatrixMarket matrix array real general\n2 1\n3\n4\n"


def archive(members):
    """A .tar.gz of {name: content}."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def mirror(tmp_path):
    folder = tmp_path / "mirror" / "HB"
    folder.mkdir(parents=True)
    contents = {
        "small": archive({"small/small.mtx": MATRIX, "small/small_b.mtx": COLUMN, "small/small_coord.mtx": b"unwanted"}),
        "plain": archive({"plain/plain.mtx": MATRIX}),
        "cut": archive({"cut/cut_b.mtx": COLUMN, "cut/cut.mtx": MATRIX + os.urandom(4000)})[:3000],
        "other": archive({"other/something.mtx": MATRIX}),
        "page": b"<html>not an archive</html>",
        "text": archive({"text/text.mtx": b"hello\n"}),
    }
    for name, content in contents.items():
        (folder / f"{name}.tar.gz").write_bytes(content)
    return tmp_path / "mirror"


@contextlib.contextmanager
def served(folder):
    """The folder over HTTP."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(params=["file", "http"])
def site(request, mirror):
    if request.param == "file":
        yield mirror.as_uri()
    else:
        with served(mirror) as address:
            yield address


@pytest.fixture
def fetch(matrices, tmp_path):
    def run(site, *names, to=tmp_path / "got"):
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")} | {"WEFT_MATRIX_MIRROR": site}
        command = [sys.executable, str(matrices / "fetch"), *names, "--to", str(to)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50)

    return run


def files(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_matrix_and_right_hand_side(fetch, site, tmp_path):
    done = fetch(site, "HB/small", "HB/plain")
    assert done.returncode == 0, done.stderr
    got = tmp_path / "got"
    assert files(got) == ["HB__plain.mtx.gz", "HB__small.mtx.gz", "HB__small_b.mtx.gz"]
    assert gzip.decompress((got / "HB__small.mtx.gz").read_bytes()) == MATRIX
    assert gzip.decompress((got / "HB__small_b.mtx.gz").read_bytes()) == COLUMN


def test_what_is_there_is_kept(fetch, site, mirror, tmp_path):
    assert fetch(site, "HB/plain").returncode == 0
    (mirror / "HB" / "plain.tar.gz").unlink()
    again = fetch(site, "HB/plain")
    assert again.returncode == 0 and "is there already" in again.stdout


def test_unknown_name(fetch, site, tmp_path):
    done = fetch(site, "HB/nosuch", "HB/plain")  # the others are fetched all the same
    assert done.returncode == 1 and done.stderr.startswith("fetch: there is no HB/nosuch (") and done.stderr.count("\n") == 1
    assert files(tmp_path / "got") == ["HB__plain.mtx.gz"]


@pytest.mark.parametrize("name, words", [
    ("HB/cut", "broke off or is damaged"),
    ("HB/page", "broke off or is damaged"),
    ("HB/other", "holds no other/other.mtx"),
    ("HB/text", "is no Matrix Market file"),
    ("sherman1", "'sherman1' is no name of a matrix; names look like HB/sherman1"),
    ("../HB/small", "is no name of a matrix"),
])
def test_no_half_files(fetch, mirror, tmp_path, name, words):
    with served(mirror) as address:
        done = fetch(address, name)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1
    assert files(tmp_path / "got") == []


def test_network_off(fetch, tmp_path):
    done = fetch("http://127.0.0.1:9", "HB/small")
    assert done.returncode == 1 and "cannot be reached" in done.stderr and done.stderr.count("\n") == 1
    assert files(tmp_path / "got") == []


def test_folder_that_cannot_be_made(fetch, mirror, tmp_path):
    (tmp_path / "file").write_text("")
    done = fetch(mirror.as_uri(), "HB/small", to=tmp_path / "file" / "below")
    assert done.returncode == 1 and done.stderr.startswith("fetch: cannot write into ") and done.stderr.count("\n") == 1


def test_weft_mm_reads_what_was_fetched(fetch, mirror, weft_mm, tmp_path):
    assert fetch(mirror.as_uri(), "HB/small").returncode == 0
    got = tmp_path / "got"
    outcome = weft_mm(got / "HB__small.mtx.gz", "-rhs", got / "HB__small_b.mtx.gz", "-pc_type", "jacobi")
    assert outcome.code == 0 and outcome.rows()[0][1] == "1"
