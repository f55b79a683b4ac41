"""The package file for PETSc's configure, read with a stand-in for PETSc's classes: which rules it adds to PETSc's build."""

import importlib.util
import os
import sys
import types
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WEFT_SOURCE"])


class Package:
    """What the package file takes from config.package.Package."""

    def __init__(self, framework):
        self.argDB = framework.arguments
        self.arch = "arch"
        self.installDir = "/petsc/arch"
        self.packageDir = "/petsc/arch/externalpackages/weft"
        self.petscdir = types.SimpleNamespace(dir="/petsc")
        self.posted = []
        self.shared = framework.shared

    def setupDependencies(self, framework):
        pass

    def checkSharedLibrariesEnabled(self):
        return self.shared

    def addPost(self, directory, rules):
        self.posted.append((directory, rules))


class Framework:
    def __init__(self, arguments=None, shared=True, kokkos=False):
        self.arguments = {"prefix": None, **(arguments or {})}
        self.shared = shared
        self.kokkos = kokkos

    def require(self, name, _):
        return types.SimpleNamespace(found=self.kokkos and "kokkos" in name, installDir="/kokkos")


def configured(monkeypatch, **given):
    config, package = types.ModuleType("config"), types.ModuleType("config.package")
    package.Package = Package
    config.package = package
    monkeypatch.setitem(sys.modules, "config", config)
    monkeypatch.setitem(sys.modules, "config.package", package)
    spec = importlib.util.spec_from_file_location("weft_of_petsc", SOURCE / "packaging" / "petsc" / "weft.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    framework = Framework(**given)
    made = module.Configure(framework)
    made.setupDependencies(framework)
    return made


def test_weft_is_built_after_petsc_and_installed_beside(monkeypatch):
    made = configured(monkeypatch)
    made.Install()
    assert made.builtafterpetsc and not made.linkedbypetsc
    ((directory, (build, install)),) = made.posted
    assert directory.endswith("externalpackages/weft")
    assert build == "PETSC_DIR=/petsc PETSC_ARCH=arch ./weft build --stack own"
    assert install == 'cmake --install "$$(ls -dt build/own-* | head -n 1)" --prefix /petsc/arch'


def test_a_prefix_is_where_petsc_will_be(monkeypatch):
    made = configured(monkeypatch, arguments={"prefix": "/opt/petsc"}, kokkos=True)
    made.Install()
    build, install = made.posted[0][1]
    assert build.startswith("PETSC_DIR=/opt/petsc PETSC_ARCH= Kokkos_ROOT=/kokkos ")
    assert install.endswith("--prefix /opt/petsc")


def test_static_libraries_are_refused(monkeypatch):
    with pytest.raises(RuntimeError, match="--with-shared-libraries=0"):
        configured(monkeypatch, shared=False).Install()
