"""Compact differences on a GPU, also by ranks that share it: node by node what the host finds, however messages travel."""

import pytest
from compact_fields import compact, fields, furthest, rounding
from device_types import KIND

GRID = "-da_grid_x 37 -da_grid_y 130 -da_grid_z 260 -da_processors_x 1"
SCHEMES = ["", "-compact_order 6 -compact_derivative second", "-compact_order 6 -compact_periodic"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("way", ["-compact_one_pass", ""])
@pytest.mark.parametrize("ranks, boxes", [(1, ""), (2, "-da_processors_y 1 -compact_boxes_z 120,140"), (3, "-da_processors_y 1 -compact_boxes_z 70,110,80"), (2, "-da_processors_z 1 -compact_boxes_y 59,71")])
@pytest.mark.parametrize("messages, word", [("", None), ("-weft_messages mpi", None), ("-weft_messages mpi -use_gpu_aware_mpi 0", "pinned")])
def test_fields_are_those_of_the_host(run, scheme, way, ranks, boxes, messages, word, tmp_path):
    if ranks == 1 and messages:
        pytest.skip("one rank sends nothing")
    expected = [values for _, values in fields(run, f"{GRID} {scheme}", tmp_path)]
    for (row, values), there in zip(fields(run, f"{GRID} {boxes} {scheme} {way} {messages} -dm_vec_type {KIND}", tmp_path, ranks=ranks), expected, strict=True):
        assert row["one_pass"] == bool(way) and row["vec"] in (f"seq{KIND}", f"mpi{KIND}")
        assert not word or row["messages"] == word
        assert furthest(values, there) < rounding(row)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("way", ["-compact_one_pass", ""])
def test_lines_along_x_are_cut(run, scheme, way, tmp_path):
    grid = "-da_grid_x 130 -da_grid_y 37 -da_grid_z 40 -da_processors_y 1 -da_processors_z 1"
    expected = [values for _, values in fields(run, f"{grid} {scheme}", tmp_path)]
    cut = "-da_processors_x 2 -compact_boxes_x 59,71"
    for (row, values), there in zip(fields(run, f"{grid} {cut} {scheme} {way} -dm_vec_type {KIND}", tmp_path, ranks=2), expected, strict=True):
        assert furthest(values, there) < rounding(row)


def test_the_way_of_messages_is_told(run):
    output = compact(run, f"-dim 1 -da_grid_x 90 -dm_vec_type {KIND} -weft_messages mpi -use_gpu_aware_mpi 0", ranks=2).output
    assert "messages between 2 ranks: staged through pinned memory of the host" in output
