"""cmake --install, and what uses it: programs by CMake and pkg-config, weft-config, manual pages, examples. All of it from a folder that was moved."""

import os
import re
import shutil
from pathlib import Path

import pytest
from installed import BUILD, LIBRARY, PETSC_PKGCONFIG, SOURCE, VERSION, command, installed_library, petsc_flags, pkg_config_path, rpath

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def weft_config(prefix):
    return lambda *words, code=0: command(str(prefix / "bin" / "weft-config"), *words, code=code).rstrip("\n")


def check_consumer(output):
    for line in ("type: line", "ordering jacobi, sweeps 2 forward, omega 0.5", "lines: 1 of at most 4 rows", "kernel: pcr on the host"):
        assert line in output, output


def test_the_option_that_weft_config_prints_loads_the_library(prefix, weft_config):
    options = weft_config("--options")
    assert options == f"-dll_append {installed_library(prefix).parent}/{LIBRARY}"
    assert "type: line" in command(str(BUILD / "bin" / "ex2"), *options.split(), "-pc_type", "line", "-ksp_view")
    assert "type: line" in command(str(BUILD / "bin" / "ex2"), "-dll_append", str(installed_library(prefix)), "-pc_type", "line", "-ksp_view")


def test_weft_config_knows_its_installation(prefix, weft_config, tmp_path):
    assert weft_config("--version", "--prefix") == f"{VERSION}\n{prefix}"
    assert weft_config("--petsc") == os.environ["WEFT_PETSC_VERSION"]
    assert weft_config("--scalars") == "real"
    assert Path(weft_config("--libdir"), LIBRARY).is_file()
    assert Path(weft_config("--includedir"), "pc", "line", "line.h").is_file()
    assert Path(weft_config("--datadir"), "examples", "diffusion", "multigrid-line.opts").is_file()
    (tmp_path / "weft-config").symlink_to(prefix / "bin" / "weft-config")
    assert command(str(tmp_path / "weft-config"), "--prefix").strip() == str(prefix)
    assert "unknown word '--option'" in weft_config("--option", code=2)
    assert "Usage: weft-config" in weft_config(code=2)


def test_weft_config_prints_no_option_that_would_not_work(prefix, tmp_path):
    bin_folder = tmp_path / "with blank" / "bin"
    shutil.copytree(prefix / "bin", bin_folder)
    assert "is not there: install Weft again" in command(str(bin_folder / "weft-config"), "--options", code=1)
    shutil.copytree(installed_library(prefix).parent, bin_folder.parent / installed_library(prefix).parent.relative_to(prefix))
    assert "PETSc splits options at blanks and commas" in command(str(bin_folder / "weft-config"), "--options", code=1)


def configure(prefix, folder, *options, replace=(), code=0, **environment):
    shutil.copytree(HERE / "consumer", folder / "consumer", dirs_exist_ok=True)
    lists = folder / "consumer" / "CMakeLists.txt"
    for old, new in replace:
        assert old in lists.read_text()
        lists.write_text(lists.read_text().replace(old, new))
    return command("cmake", "-S", str(lists.parent), "-B", str(folder), f"-DWeft_ROOT={prefix}", f"-Dweft_ROOT={prefix}", *options, code=code, **environment)


@pytest.mark.parametrize(
    "options, replace, environment, takes",
    [
        ("", [], {}, "PkgConfig::WEFT_PETSC"),
        ("", [("find_package(Weft", "find_package(weft"), ("Weft::", "weft::")], {}, "PkgConfig::WEFT_PETSC"),
        ("", [("LANGUAGES C)", "LANGUAGES CXX)"), ("consumer.c)", "consumer.cxx)")], {}, "PkgConfig::WEFT_PETSC"),
        ("-DOWN_PETSC=ON", [], {"PKG_CONFIG_PATH": PETSC_PKGCONFIG}, "mine"),
        ("-DOWN_PETSC=ON", [("MINE", "PETSC"), ("set(Weft_PETSC_TARGET mine)", "")], {"PKG_CONFIG_PATH": PETSC_PKGCONFIG}, "PkgConfig::PETSC"),
    ],
)
def test_the_cmake_package_brings_what_its_headers_need(prefix, tmp_path, options, replace, environment, takes):
    (tmp_path / "consumer").mkdir()
    shutil.copy(HERE / "consumer" / "consumer.c", tmp_path / "consumer" / "consumer.cxx")
    configured = configure(prefix, tmp_path, *options.split(), replace=replace, **environment)
    assert f"library for -dll_append: {installed_library(prefix).parent}/{LIBRARY}, for PETSc {os.environ['WEFT_PETSC_VERSION']}, with {takes}\n" in configured
    command("cmake", "--build", str(tmp_path))
    output = command(str(tmp_path / "consumer_program"))
    check_consumer(output)
    assert ("with a PETSc target of its own" in output) == (takes == "mine")


def test_the_cmake_package_refuses_another_petsc(prefix, tmp_path):
    folder = tmp_path / "other" / "lib" / "pkgconfig"
    folder.mkdir(parents=True)
    (folder / "PETSc.pc").write_text("Name: PETSc\nDescription: another\nVersion: 3.99.0\nCflags:\nLibs:\n")
    output = " ".join(configure(prefix, tmp_path, f"-DPETSC_DIR={tmp_path}/other", code=1).split())
    assert f"it serves PETSc {'.'.join(os.environ['WEFT_PETSC_VERSION'].split('.')[:2])} and this is PETSc 3.99.0" in output


def test_another_version_is_not_taken(prefix, tmp_path):
    output = configure(prefix, tmp_path, replace=[("find_package(Weft 0.2", "find_package(Weft 0.3")], code=1)
    assert f"version: {VERSION}" in output


def test_a_program_finds_the_pkg_config_file(prefix, tmp_path):
    path = pkg_config_path(prefix)
    options = command("pkg-config", "--cflags", "--libs", "weft", PKG_CONFIG_PATH=path).split()
    assert command("pkg-config", "--modversion", "weft", PKG_CONFIG_PATH=path).strip() == VERSION
    library = installed_library(prefix).parent
    program = tmp_path / "consumer"
    command("mpicc", str(HERE / "consumer" / "consumer.c"), "-o", str(program), *options, f"-L{library}", rpath(library))
    check_consumer(command(str(program)))
    assert LIBRARY in command("readelf", "-d", str(program))


@pytest.mark.parametrize("name, least", [("libweft.so", 40), ("libweft_compact.so", 6)])
def test_every_symbol_has_a_version(library, name, least):
    """The library's own, and that of a program that was linked to it; nothing else is to be seen, of Kokkos say."""
    table = command("readelf", "--wide", "--dyn-syms", str(library.with_name(name)))
    defined = [line.split()[-1] for line in table.splitlines() if re.search(" (GLOBAL|WEAK) +DEFAULT ", line) and " UND " not in line and " ABS " not in line]
    assert len(defined) >= least
    assert all(name.endswith(f"@@WEFT_{LIBRARY.removeprefix('libweft.so.')}") for name in defined), defined


def test_every_public_function_has_a_manual_page(prefix):
    declared = set()
    for header in (*(SOURCE / "plugins").glob("**/*.h"), SOURCE / "examples" / "compact" / "weft_compact.h.in"):
        declared |= set(re.findall(r"WEFT_EXTERN PetscErrorCode (\w+)\(", header.read_text()))
    pages = {page.stem: page.read_text() for page in (prefix / "share" / "man" / "man3").glob("*.3")}
    assert len(declared) > 40
    assert declared | {"PCLINE", "PCADI", "PCBCR", "PCBOXMG", "PCCROUT", "KSPADI", "MATSOLVERCROUT"} == set(pages)
    for name, page in pages.items():
        (header,) = re.findall(r"^#include <(\S+)>$", page, re.MULTILINE)
        text = (prefix / "include" / "weft" / header).read_text()
        assert re.search(rf"\b{name}\b", text), f"{header} does not declare {name}"
        for section in (".SH NAME", ".SH DESCRIPTION", ".SH LEVEL", ".SH SEE ALSO"):
            assert section in page, f"{name} has no {section}"
        for option in re.findall(r"\.TP\n\\fB\\-(\w+)", page):
            assert option.startswith(("pc_", "ksp_", "mat_", "weft_", "compact_", "x_pc_")), f"{name}: {option}"


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff here")
def test_manual_pages_are_set_without_a_warning(prefix):
    pages = sorted(map(str, (prefix / "share" / "man").glob("man?/*")))
    assert len(pages) > 40
    for page in pages:
        assert command("groff", "-man", "-Tutf8", "-ww", "-z", page) == "", page


def test_a_comment_that_is_no_manual_page_stops_the_build(tmp_path):
    source = tmp_path / "source.cxx"
    source.write_text("/*@\n  PCLineSetNothing sets nothing\n@*/\nPetscErrorCode PCLineSetNothing(PC pc)\n")
    output = command("python3", str(SOURCE / "scripts" / "man_pages.py"), "--version", "0", "--output", str(tmp_path / "man3"), str(source), code=1)
    assert "a manual page begins with 'NAME - what it is', not with 'PCLineSetNothing sets nothing'" in output


def test_an_installed_example_runs_with_its_options(prefix, weft_config, tmp_path):
    examples = prefix / "share" / "weft" / "examples"
    program = tmp_path / "diffusion"
    command("mpicc", str(examples / "diffusion" / "diffusion.c"), "-o", str(program), *petsc_flags(), "-lm", rpath())
    options = f"{weft_config('--options')} -options_file {examples}/diffusion/multigrid-line.opts -eps 1e-3 -da_grid_x 17 -da_grid_y 17 -da_refine 2 -ksp_view -ksp_converged_reason"
    output = command(str(program), *options.split())
    assert "type: line" in output and "CONVERGED_RTOL" in output
