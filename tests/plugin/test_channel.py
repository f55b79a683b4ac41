"""examples/channel: bodies of a picture in a stretched channel, what it writes, and scripts/channel.py, which draws that."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
PICTURE = SOURCE / "examples" / "channel" / "bodies.pgm"
BOXMG = "-ksp_type cg -ksp_rtol 1e-10 -pc_type boxmg"


@pytest.fixture
def channel(run):
    """(iterations, heat from the bodies, heat to the walls)."""

    def solve(options, picture=PICTURE, **keywords):
        output = run("channel", f"-picture {picture} {options}", **keywords).output
        words = output.split()
        assert words[0].startswith("CONVERGED"), output
        return int(words[2]), float(words[8].rstrip(",")), float(words[12])

    return solve


@pytest.mark.parametrize("grid", ["-da_grid_x 200 -da_grid_y 77", "-da_grid_x 257 -da_grid_y 129 -stretch 1e3", "-da_grid_x 65 -da_grid_y 200 -stretch 1"])
def test_few_iterations_as_many_on_any_ranks(channel, grid):
    one = channel(f"{grid} {BOXMG}")
    assert one[0] <= 12
    assert one[1] == pytest.approx(one[2], rel=1e-7)
    assert one[1:] == pytest.approx(channel(f"{grid} -ksp_type preonly -pc_type lu", load=False)[1:], rel=1e-7)
    for ranks in (2, 3):
        assert channel(f"{grid} {BOXMG}", ranks=ranks) == pytest.approx(one, rel=1e-8)


def test_heat_of_a_plate_is_known(channel, tmp_path):
    """A body from end to end at half the height: u is linear on either side, and 2 * length / (1/2 - 1/8) flows where it is a quarter thick."""
    (tmp_path / "plate").write_text("P2 # one column\n1 8 1\n1 1 1 0 0 1 1 1\n")
    _, out, into = channel(f"-length 3 -stretch 5 -da_grid_x 9 -da_grid_y 801 {BOXMG}", tmp_path / "plate")
    assert out == pytest.approx(2 * 3 / 0.375, rel=1e-2) and into == pytest.approx(out, rel=1e-8)


def test_plain_and_raw_pictures_are_the_same(channel, tmp_path):
    head, body = PICTURE.read_bytes().split(b"\n255\n", 1)
    plain = head.replace(b"P5", b"P2") + b"\n255\n" + "\n".join(map(str, body)).encode()
    (tmp_path / "plain").write_bytes(plain)
    assert channel(BOXMG, tmp_path / "plain") == channel(BOXMG)


@pytest.mark.parametrize(
    "content, words",
    [
        (None, "there is no such file"),
        (b"GIF89a", "not a PGM file"),
        (b"P5\n# no size", "at most 32768 a side"),
        (b"P5 4 4 65535\n", "255 levels are read"),
        (b"P5\n4 4\n255\n123", "pixel 3 of 4 x 4 is missing"),
        (b"P2\n2 1\n9\n3 12", "pixel 1 of 2 x 1 is missing or too large"),
    ],
)
def test_what_is_no_picture_is_an_error(run, tmp_path, content, words):
    if content is not None:
        (tmp_path / "picture").write_bytes(content)
    result = run("channel", f"-picture {tmp_path / 'picture'}", expect=None)
    assert result.code != 0 and words in result.output, result.output


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_it_writes_can_be_drawn(channel, tmp_path, ranks):
    numpy = pytest.importorskip("numpy")
    sys.path.insert(0, str(SOURCE / "scripts"))
    try:
        import channel as drawing
    finally:
        sys.path.pop(0)
    channel(f"-da_grid_x 130 -da_grid_y 60 -stretch 30 {BOXMG} -vts {tmp_path}/channel.vts", ranks=ranks)
    x, y, u = drawing.read(tmp_path / "channel.vts")
    assert x.shape == (60, 130) and not numpy.isnan(u).any()
    assert x[0, -1] == 4 and y[-1, 0] == 1 and numpy.allclose(x, x[0])
    gaps = numpy.diff(y[:, 0])
    assert gaps.max() / gaps.min() == pytest.approx(30, rel=0.2) and gaps[0] == pytest.approx(gaps.min())
    assert u.min() >= -1e-9 and u.max() <= 1 + 1e-9 and abs(u[0]).max() == 0
    disc = numpy.hypot(x - 0.45, y - 0.35) < 0.12
    assert disc.any() and u[disc] == pytest.approx(1, abs=1e-8)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    subprocess.run([sys.executable, SOURCE / "scripts" / "channel.py", tmp_path / "channel.vts", tmp_path / "channel.png"], check=True, env=os.environ)
    assert (tmp_path / "channel.png").read_bytes().startswith(b"\x89PNG")
