"""The reader of manifests (evaluate/inputs.py) fed with bytes: libFuzzer by way of atheris, with libFuzzer's options. The first byte says which kind
of manifest the rest is. What is wrong with one must be an InputError. Without atheris, or without an option, FILE... are read once each."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
try:
    import atheris

    with atheris.instrument_imports(include=["evaluate"]):
        from evaluate import InputError, inputs
except ImportError:
    atheris = None
    from evaluate import InputError, inputs

KINDS = (".json", ".csv", ".txt")
scratch = tempfile.TemporaryDirectory(prefix="weft-fuzz")
folder = pathlib.Path(scratch.name)


def matrices():
    """What manifests can name."""
    header = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"
    (folder / "HB__good.mtx").write_text(header)
    (folder / "complex.mtx").write_text(header.replace("real", "complex"))
    (folder / "none.mtx.gz").write_bytes(b"\x1f\x8bno")
    (folder / "bad.tar.gz").write_bytes(b"no archive")


def read(data):
    path = folder / ("manifest" + KINDS[data[0] % len(KINDS)] if data else "manifest")
    path.write_bytes(data[1:])
    try:
        found = inputs.find(path, folder / "unpacked")
    except InputError as refused:
        str(refused).encode("utf-8", "backslashreplace")
        return
    assert all(file.is_file() for file in found.values())


def main():
    matrices()
    if atheris and any(word.startswith("-") for word in sys.argv[1:]):
        atheris.Setup(sys.argv, read)
        atheris.Fuzz()
    else:
        files = [file for given in map(pathlib.Path, sys.argv[1:]) for file in (sorted(given.iterdir()) if given.is_dir() else [given])]
        for file in files:
            read(file.read_bytes())
        print(f"{len(files)} inputs")


if __name__ == "__main__":
    main()
