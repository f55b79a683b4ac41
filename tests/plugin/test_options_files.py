"""The options files of the examples: each says at its top how to run it, and does what it says."""

import json
import os
import re
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WEFT_SOURCE"])
FILES = sorted((SOURCE / "examples").glob("*/*.opts"))


def commands(file):
    """The command lines of a file's head: those set in, that begin with the program's name."""
    lines = file.read_text().split("\n")
    head = lines[: next(number for number, line in enumerate(lines) if not line.startswith("#"))]
    return [line.removeprefix("#   ") for line in head if line.startswith(f"#   {file.parent.name} ")]


def test_every_example_in_c_has_one():
    with_files = {file.parent.name for file in FILES}
    assert with_files == {"channel", "compact", "diffusion", "heat", "helmholtz", "potential", "weft_mm"}
    assert {program.parent.name for program in (SOURCE / "examples").glob("*/*.c")} <= with_files
    assert not list((SOURCE / "examples").glob("*/*.options"))


# helmholtz wants complex scalars: tests/complex
@pytest.mark.parametrize("file", [file for file in FILES if file.parent.name != "helmholtz"], ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_file_does_what_its_head_says(run, file):
    told = commands(file)
    assert told, f"{file} does not say how to run it"
    for command in told:
        program, *words = command.split()
        assert words[words.index("-options_file") + 1] == file.name
        words = [str(file.parent / word) if (file.parent / word).is_file() else word for word in words]
        words = [str(SOURCE / "matrices" / "HB__sherman1.mtx.gz") if word == "FILE.mtx" else word for word in words]
        # The library is what the test loads, and grids of millions of nodes become small.
        del words[words.index("-dll_append") : words.index("-dll_append") + 2]
        output = run(program, re.sub(r"-da_refine [2-9]", "-da_refine 1", " ".join(words))).output
        told_reasons = re.findall(r"(?:CON|DI)VERGED_\w+", output) + ["CONVERGED" if json.loads(line).get("middle", 1) < 1e-2 else "wrong" for line in output.split("\n") if '"middle"' in line]
        if program == "heat":  # which prints the error after all steps
            told_reasons += ["CONVERGED" if float(output.split()[-1]) < 1e-3 else "wrong"]
        assert told_reasons and all(reason.startswith("CONVERGED") for reason in told_reasons), output
