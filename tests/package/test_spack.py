"""The Spack recipe, read without Spack: a stand-in for its language records what the recipe says, and the build system must know it."""

import os
import re
import sys
import types
from pathlib import Path

SOURCE = Path(os.environ["WEFT_SOURCE"])
RECIPE = SOURCE / "packaging" / "spack" / "spack_repo" / "weft" / "packages" / "weft" / "package.py"


class Spec(dict):
    """Of a dependency, as far as cmake_args asks."""

    prefix = "/prefix"
    libs = []

    def __getitem__(self, name):
        return self


class Base:
    cuda_arch_values = ("80", "90")
    spec = Spec()

    def define(self, name, value):
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        return f"-D{name}={variant}"


class When:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def recipe(monkeypatch):
    """(class, {directive: [(arguments, keywords), ...]})"""
    said = {}

    def directive(name):
        return lambda *words, **more: said.setdefault(name, []).append((words, more))

    dsl = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts", "generator"):
        setattr(dsl, name, directive(name))
    dsl.when = lambda condition: When()
    modules = {"spack": types.ModuleType("spack"), "spack.package": dsl}
    for name in ("", ".builtin", ".builtin.build_systems"):
        modules["spack_repo" + name] = types.ModuleType("spack_repo" + name)
    for name, kind in (("cmake", "CMakePackage"), ("cuda", "CudaPackage")):
        module = types.ModuleType(f"spack_repo.builtin.build_systems.{name}")
        setattr(module, kind, type(kind, (Base,), {}))
        modules[module.__name__] = module
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    space = {}
    exec(compile(RECIPE.read_text(), str(RECIPE), "exec"), space)
    return space["Weft"], said


def test_the_build_system_knows_what_the_recipe_sets(monkeypatch):
    weft, _ = recipe(monkeypatch)
    known = "".join(path.read_text() for path in [SOURCE / "CMakeLists.txt", *(SOURCE / "cmake").glob("*.cmake"), SOURCE / "tests" / "plugin" / "tutorials" / "CMakeLists.txt"])
    known += "BLAS_LIBRARIES LAPACK_LIBRARIES"  # CMake's own
    names = [re.match(r"-D(\w+)=", word)[1] for word in weft().cmake_args()]
    assert len(names) >= 4
    for name in names:
        assert name in known, f"no CMake file knows {name}"


def test_the_recipe_asks_for_what_the_build_system_asks_for(monkeypatch):
    _, said = recipe(monkeypatch)
    asked = [words[0] for words, _ in said["depends_on"]]
    petsc = re.search(r"WEFT_PETSC_VERSION VERSION_LESS ([\d.]+) OR NOT WEFT_PETSC_VERSION VERSION_LESS (\d+)\.(\d+)", (SOURCE / "cmake" / "WeftPetsc.cmake").read_text())
    assert f"petsc@{petsc[1]}:{petsc[2]}.{int(petsc[3]) - 1}+shared+double~complex" in asked
    kokkos = re.search(r"find_package\(Kokkos ([\d.]+)", (SOURCE / "cmake" / "WeftKokkos.cmake").read_text())
    assert any(words.startswith(f"kokkos@{kokkos[1]}:") for words in asked)
    cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (SOURCE / "CMakeLists.txt").read_text())
    assert f"cmake@{cmake[1]}:" in asked
