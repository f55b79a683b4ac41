"""cmake --install, and programs that use what it installed."""

import os
import subprocess
from pathlib import Path

import programs
import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["WEFT_BUILD"])
PETSC_PKGCONFIG = os.environ["WEFT_PETSC_PKGCONFIG"]


def command(*words, **environment):
    process = subprocess.run(list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(programs.ENVIRONMENT, **environment))
    assert process.returncode == 0, process.stdout
    return process.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    command("cmake", "--install", str(BUILD), "--prefix", str(folder))
    return folder


def installed_library(prefix):
    (library,) = prefix.glob("lib*/**/libweft.so")
    return library


def check_consumer(output):
    for line in ("type: line", "ordering jacobi, sweeps 2 forward, omega 0.5", "lines: 4 of at most 1 rows", "kernel: pcr on the host"):
        assert line in output, output


def test_the_installed_library_loads_by_option(prefix):
    output = command(str(BUILD / "bin" / "ex2"), "-dll_append", str(installed_library(prefix)), "-pc_type", "line", "-ksp_view")
    assert "type: line" in output


def test_a_program_finds_the_cmake_package(prefix, tmp_path):
    configured = command("cmake", "-S", str(HERE / "consumer"), "-B", str(tmp_path), f"-Dweft_ROOT={prefix}", PKG_CONFIG_PATH=PETSC_PKGCONFIG)
    assert f"library for -dll_append: {installed_library(prefix)}" in configured
    command("cmake", "--build", str(tmp_path))
    check_consumer(command(str(tmp_path / "consumer")))


def test_a_program_finds_the_pkg_config_file(prefix, tmp_path):
    folder = next(prefix.glob("lib*/**/pkgconfig"))
    options = command("pkg-config", "--cflags", "--libs", "weft", PKG_CONFIG_PATH=f"{folder}:{PETSC_PKGCONFIG}").split()
    library = installed_library(prefix).parent
    petsc = subprocess.run(["pkg-config", "--variable=libdir", "PETSc"], stdout=subprocess.PIPE, text=True, env=dict(os.environ, PKG_CONFIG_PATH=PETSC_PKGCONFIG))
    program = tmp_path / "consumer"
    command("mpicc", str(HERE / "consumer" / "consumer.c"), "-o", str(program), *options, f"-L{library}", f"-Wl,-rpath,{library}:{petsc.stdout.strip()}")
    check_consumer(command(str(program)))
