"""matrices/: the manifest says what is in the files, and weft_mm reads them all."""

import csv
import gzip

import pytest

from conftest import run_many

COLUMNS = ["file", "suitesparse_name", "rows", "columns", "nonzeros", "symmetry", "values", "kind", "source", "licence"]


@pytest.fixture
def manifest(matrices):
    with open(matrices / "manifest.csv", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == COLUMNS
        return list(reader)


def test_manifest_lists_the_files(matrices, manifest):
    assert [row["file"] for row in manifest] == sorted((path.name for path in matrices.glob("*.mtx.gz")), key=str.lower)
    assert sum(path.stat().st_size for path in matrices.glob("*.mtx.gz")) < 1_500_000


def test_manifest_says_what_the_files_hold(matrices, manifest):
    for row in manifest:
        lines = gzip.decompress((matrices / row["file"]).read_bytes()).decode().splitlines()
        banner, sizes, *entries = [line.split() for line in lines if line and not line.startswith("%") or line.startswith("%%MatrixMarket")]
        places, values = [(int(entry[0]), int(entry[1])) for entry in entries], [float(entry[2]) for entry in entries]
        mirrored = sum(first != second for first, second in places) if banner[4] == "symmetric" else 0
        assert row["file"] == row["suitesparse_name"].replace("/", "__") + ".mtx.gz"
        assert [row["rows"], row["columns"]] == sizes[:2]
        assert int(sizes[2]) == len(entries) == len(set(places))
        assert int(row["nonzeros"]) == len(entries) + mirrored
        assert row["symmetry"] == banner[4]
        assert banner[3] == "real"
        assert row["values"] in ("real", "integer", "pattern")
        assert row["values"] == "real" or all(value.is_integer() for value in values)
        assert row["values"] != "pattern" or set(values) == {1}
        assert row["kind"] and row["source"] and row["licence"] == "CC-BY 4.0"


def test_weft_mm_reads_them_as_the_manifest_says(tmp_path, matrices, manifest):
    outcomes = run_many([(tmp_path, [matrices / row["file"], "-pc_type", "none", "-ksp_max_it", "1"], 1) for row in manifest])
    for row, outcome in zip(manifest, outcomes):
        assert f"{row['file']}: {row['rows']} x {row['columns']}, {row['nonzeros']} non-zeros, real {row['symmetry']};" in outcome.out, outcome
