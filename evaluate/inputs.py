"""Matrices: from a folder, a manifest (CSV, JSON) or a list of Group/Name to the files they are."""

import csv
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import tarfile
import zlib

from . import InputError

ENDS = (".mtx", ".mtx.gz", ".tar.gz", ".tgz")
BANNER = re.compile(r"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(\w+)\s+([\w-]+)\s*$", re.IGNORECASE)


def stem(path):
    return next(path.name.removesuffix(end) for end in (*ENDS, "") if path.name.endswith(end))


def name_of(path):
    """HB__sherman1.mtx.gz is HB/sherman1, as in SuiteSparse's collection."""
    return stem(path).replace("__", "/", 1)


def find(given, unpack_to, scalars="real"):
    """{name: file} for what --matrices named; archives are unpacked into the folder unpack_to. scalars: of the solver, real, complex, or "" where that is
    not known yet."""
    given = pathlib.Path(given)
    if given.is_dir():
        files = sorted(file for file in given.iterdir() if file.is_file() and file.name.endswith(ENDS))
        if not files:
            raise InputError(f"{given} holds no matrix: Matrix Market files end in .mtx or .mtx.gz, SuiteSparse's archives in .tar.gz")
        # SuiteSparse keeps a right-hand side beside its matrix, as NAME_b.
        names = {stem(file) for file in files}
        files = [file for file in files if not (stem(file).endswith("_b") and stem(file)[:-2] in names)]
    elif not given.exists():
        raise InputError(f"{given} does not exist: --matrices takes a folder, a manifest (.csv, .json), a text file of Group/Name lines, or a matrix")
    elif given.name.endswith(ENDS):
        files = [given]
    else:
        files = [resolve(word, given) for word in listed(given)]
        if not files:
            raise InputError(f"{given} lists no matrix")
    matrices = {}
    for file in files:
        if file.name.endswith((".tar.gz", ".tgz")):
            file = unpack(file, unpack_to)
        check_header(file, scalars)
        name = name_of(file)
        if name in matrices and matrices[name] != file:
            raise InputError(f"{name} is there twice: {matrices[name]} and {file}")
        matrices[name] = file
    return matrices


def listed(path):
    """The words that a manifest or a list has for its matrices, with the line each stands on."""
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path} cannot be read as text: {error}") from None
    if path.suffix == ".json":
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, nesting without end
            raise InputError(f"{path} is no JSON: {error}") from None
        entries = entries.get("matrices") if isinstance(entries, dict) else entries
        if not isinstance(entries, list):
            raise InputError(f'{path}: a manifest in JSON is a list, or an object with a list "matrices"')
        return [(word_of(entry, f"{path}, entry {number}"), f"{path}, entry {number}") for number, entry in enumerate(entries, 1)]
    if path.suffix == ".csv":
        reader = csv.DictReader(text.splitlines())
        try:
            known = {"file", "name", "suitesparse_name"} & set(reader.fieldnames or [])
            if not known:
                raise InputError(f"{path}: the first line of a manifest names its columns, one of them file, name or suitesparse_name")
            return [(word_of(row, f"{path}, line {reader.line_num}"), f"{path}, line {reader.line_num}") for row in reader]
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.reader.line_num} is no CSV: {error}") from None
    lines = ((line.split("#")[0].strip(), number) for number, line in enumerate(text.splitlines(), 1))
    return [(line, f"{path}, line {number}") for line, number in lines if line]


def word_of(entry, where):
    word = entry if isinstance(entry, str) else None
    if isinstance(entry, dict):
        word = next((entry[key] for key in ("file", "name", "suitesparse_name") if entry.get(key)), None)
    if not isinstance(word, str):
        raise InputError(f"{where} names no matrix: file, name or suitesparse_name is what counts")
    return word.strip()


def resolve(word_and_place, manifest):
    """A path, or Group/Name: as Group__Name.mtx.gz, Group/Name.mtx, Name.tar.gz ... in the manifest's folder or one named in it."""
    word, where = word_and_place
    folder = manifest.parent
    if os.path.isfile(folder / word):  # where pathlib's raises an error: names too long
        return folder / word
    short = word.split("/")[-1]
    tried = [folder / (form + end) for form in (word.replace("/", "__"), word, short, f"{word}/{short}") for end in ENDS]
    found = next((path for path in tried if os.path.isfile(path)), None)
    if not found:
        raise InputError(f"{where}: there is no {word} in {folder} (neither a file of that name nor {tried[0].name}, {tried[1].name} ...); "
                         f"matrices/fetch {word} --to {folder} gets it from the SuiteSparse collection")
    return found


def unpack(archive, folder):
    """NAME/NAME.mtx of SuiteSparse's archive, else the archive's only Matrix Market file."""
    target = folder / (stem(archive) + ".mtx")
    try:
        with tarfile.open(archive, "r:gz") as tar:
            members = [member for member in tar.getmembers() if member.isfile() and member.name.endswith(".mtx")]
            short = stem(archive).split("__")[-1]
            member = next((m for m in members if pathlib.PurePosixPath(m.name).name == f"{short}.mtx"), None)
            if not member and len(members) == 1:
                member = members[0]
            if not member:
                raise InputError(f"{archive} holds {'no' if not members else 'several'} Matrix Market files and none is called {short}.mtx")
            if not target.exists() or target.stat().st_size != member.size:
                folder.mkdir(parents=True, exist_ok=True)
                with tar.extractfile(member) as source, open(target, "wb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(f"{archive} cannot be unpacked: {error}") from None
    return target


def check_header(file, scalars):
    """The first line alone: everything else is the solver's to judge, in a process of its own."""
    try:
        with (gzip.open if file.name.endswith(".gz") else open)(file, "rb") as stream:
            first = stream.readline(200).decode("ascii", "replace").strip()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    header = BANNER.match(first)
    if not header:
        raise InputError(f"{file} is no Matrix Market file: its first line is '{first[:60]}' and not '%%MatrixMarket matrix coordinate real general' or the like")
    field = header.group(2).lower()
    if field == "complex" and scalars == "real":
        raise InputError(f"{file}: its numbers are '{header.group(2)}'; real, integer and pattern are what can be solved here: complex ones by a PETSc with complex scalars (--stack debian-complex)")
    if field not in ("real", "integer", "pattern", "complex"):
        raise InputError(f"{file}: its numbers are '{header.group(2)}'; real, integer, pattern and, by a PETSc with complex scalars, complex are what can be solved here")


def digest(path):
    found = hashlib.sha256()
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            found.update(block)
    return found.hexdigest()
