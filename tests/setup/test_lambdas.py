"""scripts/check_lambdas.py, of pointers that a program might have."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["WEFT_SOURCE"]) / "scripts"))

import check_lambdas  # noqa: E402


def test_a_pointer_that_is_set_where_another_one_is_used():
    pointers = {16: "one", 32: "one", 48: "other"}
    assert check_lambdas.strays(pointers, {16, 48}, {32, 48}) == ["one"]


def test_pointers_that_are_used_where_they_are_set():
    pointers = {16: "one", 32: "one", 48: "other"}
    assert check_lambdas.strays(pointers, {16, 32, 48}, {16, 32}) == []  # what copies the other has become a part of its caller
    assert check_lambdas.strays(pointers, {16}, {16, 32}) == []  # the second file has the function that copies, and never makes one


def test_lines_of_a_disassembly():
    assert check_lambdas.SET.search("mov    %rax,0x2708402(%rip)        # 27ac460 <x>")
    assert not check_lambdas.SET.search("call   *0x2708402(%rip)        # 27ac460 <x>")
    assert not check_lambdas.SET.search("mov    0x2708402(%rip),%rax        # 27ac460 <x>")
    assert int(check_lambdas.TARGET.search("call   *0x2708402(%rip)        # 27ac460 <x>").group(1), 16) == 0x27ac460


def test_a_program_without_lambdas(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_lambdas.py", sys.executable])
    assert check_lambdas.main() == 0
    assert "0 pointers of lambdas" in capsys.readouterr().out
