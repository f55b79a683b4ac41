"""What tests of an installation need: the folders of the build, commands, and what is in a prefix."""

import os
import re
import subprocess
from pathlib import Path

import programs

BUILD = Path(os.environ["WEFT_BUILD"])
SOURCE = Path(os.environ["WEFT_SOURCE"])
PETSC_PKGCONFIG = os.environ["WEFT_PETSC_PKGCONFIG"]
VERSION = re.search(r"project\(weft VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
LIBRARY = "libweft.so." + ".".join(VERSION.split(".")[:2])


def command(*words, code=0, **environment):
    """The output of a command that ends with `code`."""
    process = subprocess.run(list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, env=dict(programs.ENVIRONMENT, **environment))
    assert process.returncode == code, process.stdout
    return process.stdout


def installed_library(prefix):
    (library,) = prefix.glob("lib*/**/libweft.so")
    return library


def pkg_config_path(prefix):
    return f"{next(prefix.glob('lib*/**/pkgconfig'))}:{PETSC_PKGCONFIG}"


def petsc_flags():
    return command("pkg-config", "--cflags", "--libs", "PETSc", PKG_CONFIG_PATH=PETSC_PKGCONFIG).split()


def rpath(*folders):
    petsc = command("pkg-config", "--variable=libdir", "PETSc", PKG_CONFIG_PATH=PETSC_PKGCONFIG).strip()
    return "-Wl,-rpath," + ":".join([*map(str, folders), petsc])
