"""Grids of matrices, which their files cannot say: those of grids.json, and the user's own."""

import pathlib
import re

from . import InputError

HERE = pathlib.Path(__file__).resolve().parent
FORM = '[{"matrix": "HB/sherman5", "grid": "16,23,3", "components": 3}]'
NODES = re.compile(r"[1-9]\d*(,[1-9]\d*){0,2}")


def options(path, read_json):
    """{matrix: the options of weft_mm that give it its grid}."""
    entries = read_json(path, "a list of grids")
    if not isinstance(entries, list):
        raise InputError(f"{path}: grids are a list of objects like {FORM}")
    found = {}
    for number, entry in enumerate(entries, 1):
        where = f"{path}, entry {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("matrix"), str) or not NODES.fullmatch(str(entry.get("grid"))) or set(entry) - {"matrix", "grid", "components"}:
            raise InputError(f"{where}: a grid needs its matrix and 1 to 3 numbers of nodes, those along x first, like {FORM}")
        components = entry.get("components", 1)
        if type(components) is not int or components < 1:
            raise InputError(f"{where}: components is the number of rows of a node, from 1 on")
        found[entry["matrix"]] = f"-grid {entry['grid']}" + (f" -grid-components {components}" if components > 1 else "")
    return found
