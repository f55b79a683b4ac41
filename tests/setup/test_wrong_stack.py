"""What cannot be built with ends in one sentence that says what to do."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WEFT_SOURCE"])
# What ./weft itself sets for its own stack must not reach the runs below.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PETSC_DIR", "PETSC_ARCH", "Kokkos_ROOT", "PKG_CONFIG_PATH")}
CONF = "#define PETSC_USE_REAL_DOUBLE 1\n"


def petsc(folder, version=(3, 20, 1), conf=CONF):
    """A folder that looks like an installed PETSc to whoever reads no further than its version and configuration."""
    (folder / "include").mkdir(parents=True)
    (folder / "lib" / "pkgconfig").mkdir(parents=True)
    lines = (f"#define PETSC_VERSION_{name} {number}\n" for name, number in zip(("MAJOR", "MINOR", "SUBMINOR"), version))
    (folder / "include" / "petscversion.h").write_text("".join(lines))
    (folder / "include" / "petscconf.h").write_text(conf)
    (folder / "lib" / "pkgconfig" / "PETSc.pc").write_text(
        f"prefix={folder}\nincludedir=${{prefix}}/include\nName: PETSc\nDescription: none\nVersion: {'.'.join(map(str, version))}\nCflags: -I${{includedir}}\nLibs:\n"
    )
    return folder


def configure(tmp_path, *options, **environment):
    process = subprocess.run(
        ["cmake", "-S", str(SOURCE), "-B", str(tmp_path / "build"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(ENVIRONMENT, **environment),
    )
    assert process.returncode != 0, process.stdout
    return " ".join(process.stdout.split())


@pytest.mark.parametrize(
    "version, conf, message",
    [
        ((3, 17, 4), CONF, "PETSc 3.17.4 in {} is out of range: Weft builds with PETSc 3.18 to 3.26"),
        ((3, 27, 0), CONF, "PETSc 3.27.0 in {} is out of range: Weft builds with PETSc 3.18 to 3.26"),
        ((3, 20, 1), "#define PETSC_USE_COMPLEX 1\n#define PETSC_USE_REAL_SINGLE 1\n", "the PETSc in {} has complex scalars in single precision, which Weft does not serve"),
        ((3, 20, 1), "#define PETSC_USE_REAL___FLOAT128 1\n", "the PETSc in {} is in neither double nor single precision: configure one with --with-precision=double or single"),
    ],
)
def test_a_petsc_that_does_not_fit(tmp_path, version, conf, message):
    folder = petsc(tmp_path / "petsc", version, conf)
    assert message.format(folder) in configure(tmp_path, f"-DPETSC_DIR={folder}")


@pytest.mark.parametrize("version, message", [((3, 20, 1), "no Kokkos 4.5 or newer was found"), ((3, 17, 4), "PETSc 3.17.4 in {} is out of range")])
def test_a_petsc_that_was_not_installed(tmp_path, version, message):
    """PETSC_DIR has its own headers, PETSC_ARCH what configure made."""
    arch = petsc(tmp_path / "arch", version)
    (tmp_path / "include").mkdir()
    (arch / "include" / "petscversion.h").rename(tmp_path / "include" / "petscversion.h")
    file = arch / "lib" / "pkgconfig" / "PETSc.pc"
    file.write_text(file.read_text().replace("-I${includedir}", f"-I${{includedir}} -I{tmp_path / 'include'}"))
    output = configure(tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON", PETSC_DIR=str(tmp_path), PETSC_ARCH="arch")
    assert message.format(arch) in output


def test_petsc_dir_that_is_none(tmp_path):
    output = configure(tmp_path, PETSC_DIR=str(tmp_path), PETSC_ARCH="arch-none")
    assert f"PETSC_DIR='{tmp_path}' with PETSC_ARCH='arch-none' holds no lib/pkgconfig/PETSc.pc: point both at a built PETSc" in output


def test_no_petsc(tmp_path):
    assert "no PETSc was found: set PETSC_DIR" in configure(tmp_path, PETSC_DIR="", PKG_CONFIG_LIBDIR=str(tmp_path))


def test_no_mpi_compiler(tmp_path):
    folder = petsc(tmp_path / "petsc")
    output = configure(tmp_path, f"-DPETSC_DIR={folder}", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
    assert "this PETSc uses MPI and no MPI compiler was found: install the one that PETSc was built with" in output


def test_no_kokkos(tmp_path):
    folder = petsc(tmp_path / "petsc")
    assert "no Kokkos 4.5 or newer was found: set Kokkos_ROOT to one built static" in configure(tmp_path, f"-DPETSC_DIR={folder}", "-DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON")
    (tmp_path / "build" / "CMakeCache.txt").unlink()
    with_kokkos = petsc(tmp_path / "with", conf=CONF + "#define PETSC_HAVE_KOKKOS 1\n")
    assert "this PETSc was configured with Kokkos and its CMake package was not found" in configure(
        tmp_path, f"-DPETSC_DIR={with_kokkos}", "-DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON"
    )


# The front door, with stand-ins for the programs of the system.


def stand_in(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def front_door(folder, *words, **environment):
    process = subprocess.run(
        [str(SOURCE / "weft"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(ENVIRONMENT, PATH=f"{folder}:{os.environ['PATH']}", WEFT_CACHE=str(folder / "cache"), **environment),
    )
    return process.returncode, process.stdout


def sentence(output):
    lines = [line for line in output.splitlines() if line.startswith("weft: ")]
    return lines[-1] if lines else output


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="no Debian package manager here")
def test_no_root(tmp_path):
    stand_in(tmp_path, "id", "echo 1000")
    stand_in(tmp_path, "dpkg-query", 'case "${@: -1}" in ninja-build) exit 1 ;; *) echo "install ok installed" ;; esac')
    code, output = front_door(tmp_path, "build")
    assert code == 1
    assert sentence(output) == "weft: missing packages can only be installed by root; run: sudo apt-get install --no-install-recommends ninja-build"


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="no Debian package manager here")
def test_no_network_for_packages(tmp_path):
    stand_in(tmp_path, "id", "echo 0")
    stand_in(tmp_path, "apt-get", "echo 'Could not resolve host' >&2; exit 100")
    stand_in(tmp_path, "dpkg-query", 'case "${@: -1}" in ninja-build) exit 1 ;; *) echo "install ok installed" ;; esac')
    code, output = front_door(tmp_path, "build")
    assert code == 1
    assert "apt-get could not install ninja-build (no network, or no such package in this release): make apt-get work and run this command again" in sentence(output)


def test_an_archive_that_does_not_unpack_is_not_taken_for_good(tmp_path):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    stand_in(tmp_path, "sha256sum", "cat > /dev/null")  # one that does not read breaks the pipe
    stand_in(tmp_path, "python3", 'while [ "$1" != -d ]; do shift; done; echo archive > "$2/petsc-3.26.1.tar.gz"')
    stand_in(tmp_path, "tar", 'mkdir -p "$4/petsc-3.26.1"; exit 2')
    for _ in range(2):
        code, output = front_door(tmp_path, "build", "--stack", "petsc-3.26")
        assert code == 1
        assert "could not be unpacked into" in sentence(output)
    assert not (tmp_path / "cache" / "sources" / "petsc-3.26.1").exists()


def test_no_petsc_for_the_front_door(tmp_path):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    code, output = front_door(tmp_path, "build", "--stack", "own", PKG_CONFIG_LIBDIR=str(tmp_path), PKG_CONFIG_PATH="")
    assert code == 1
    assert sentence(output).startswith("weft: no PETSc was found: set PETSC_DIR (and PETSC_ARCH) to one")


def test_a_build_folder_stays_with_its_petsc(tmp_path):
    one, other = petsc(tmp_path / "one"), petsc(tmp_path / "other")
    configure(tmp_path, f"-DPETSC_DIR={one}", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
    assert "no MPI compiler" in configure(tmp_path, PETSC_DIR=str(other))
    output = configure(tmp_path, f"-DPETSC_DIR={other}", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
    assert f"this build folder was made for the PETSc in {one}/lib/pkgconfig and now finds another in {other}/lib/pkgconfig" in output


@pytest.mark.parametrize("device", ["CUDA", "HIP"])
def test_old_petsc_with_a_device(tmp_path, device):
    folder = petsc(tmp_path / "petsc", (3, 19, 0), CONF + f"#define PETSC_HAVE_{device} 1\n")
    assert f"PETSc 3.19.0 with {device} gives no access to its streams: use PETSc 3.20 or newer" in configure(tmp_path, f"-DPETSC_DIR={folder}")


def test_a_kokkos_that_is_not_petscs(tmp_path):
    folder = petsc(tmp_path / "petsc", conf=CONF + "#define PETSC_HAVE_KOKKOS 1\n#define PETSC_HAVE_MPIUNI 1\n")
    output = configure(tmp_path, f"-DPETSC_DIR={folder}", f"-DKokkos_ROOT={os.environ['WEFT_KOKKOS_PREFIX']}")
    assert "is not the shared one that this PETSc was configured with, and two Kokkos in one process do not work" in output


def test_no_network_for_sources(tmp_path):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    stand_in(tmp_path, "python3", "echo 'no route to host' >&2; exit 1")
    code, output = front_door(tmp_path, "build", "--stack", "petsc-3.26")
    assert code == 1
    assert "could not download petsc 3.26.1 (no network?): put its release file from the Python package index, SHA256 a4dc46c1" in sentence(output)


def test_a_download_with_other_content_is_not_used(tmp_path):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    stand_in(tmp_path, "python3", 'while [ "$1" != -d ]; do shift; done; echo other > "$2/petsc-3.26.1.tar.gz"')
    code, output = front_door(tmp_path, "build", "--stack", "petsc-3.26")
    assert code == 1
    assert "petsc 3.26.1 was downloaded with another SHA256 than a4dc46c1" in sentence(output)
    assert not list((tmp_path / "cache" / "downloads").glob("a4dc46c1*"))


def test_no_cuda_compiler(tmp_path):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    for name in ("bash", "dirname", "readlink", "nproc", "grep", "env", "mkdir"):
        (tmp_path / name).symlink_to(shutil.which(name))
    process = subprocess.run(
        [str(SOURCE / "weft"), "build", "--stack", "cuda"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
    )
    assert process.returncode == 1
    assert sentence(process.stdout) == "weft: no nvcc on the PATH: install the CUDA toolkit (12.2 or newer), or take another stack with --stack"


def test_a_hipcc_is_taken_as_it_is_if_it_is_new_enough(tmp_path):
    """An older one is not: a newer package is installed, or a Debian 13 is made, which no mirror gives here."""
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    stand_in(tmp_path, "debootstrap", "echo 'no mirror' >&2; exit 1")
    stand_in(tmp_path, "apt-cache", "echo '  Candidate: (none)'")
    stand_in(tmp_path, "python3", "exit 1")
    stand_in(tmp_path, "hipcc", "echo 'HIP version: 5.10.1'")
    code, output = front_door(tmp_path, "build", "--stack", "hip")
    assert code == 1 and "could not download pycompadre" in sentence(output)
    stand_in(tmp_path, "hipcc", "echo 'HIP version: 5.2.3'")
    code, output = front_door(tmp_path, "build", "--stack", "hip")
    assert code == 1 and "debootstrap could not make a Debian 13 (no network?)" in sentence(output)
    stand_in(tmp_path, "apt-cache", "echo '  Candidate: 6.1.2-3'")
    code, output = front_door(tmp_path, "build", "--stack", "hip")
    assert code == 1 and "no hipcc of ROCm 5.7 or newer is on the PATH" in sentence(output)


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["demos"], 2, "weft: unknown command 'demos'; see ./weft help"),
        (["demo", "--stak", "debian"], 2, "weft: unknown option '--stak'; see ./weft help"),
        (["demo", "--petsc-only"], 2, "weft: --petsc-only goes with check; see ./weft help"),
        (["demo", "--with-tests"], 2, "weft: --with-tests goes with build; see ./weft help"),
        (["demo", "--unoptimized"], 2, "weft: --unoptimized goes with build and check; see ./weft help"),
        (["check", "--kernels-only"], 2, "weft: --kernels-only goes with build; see ./weft help"),
        (["build", "--kernels-only"], 1, "weft: --kernels-only goes with --stack cuda, cuda-complex, cuda-single or hip"),
        (["build", "--kernels-only", "--stack", "debian"], 1, "weft: --kernels-only goes with --stack cuda, cuda-complex, cuda-single or hip"),
        (["demo", "--stack"], 2, "weft: --stack needs a value; see ./weft help"),
        (["build", "--stack", "cuda", "--arch", "42"], 1, "weft: Kokkos 4.5.01 knows no CUDA architecture '42'"),
        (["build", "--stack", "hip", "--arch", "90"], 1, "weft: --stack hip takes --arch gfx90a, gfx942 or gfx1100, not '90'"),
        (["build", "--largest-block"], 2, "weft: --largest-block needs a value; see ./weft help"),
        (["build", "--stack", "petsc-3.99"], 1, "weft: unknown stack 'petsc-3.99'; --stack takes debian, debian64, debian-complex, own, petsc-3.26, petsc-3.26-complex, petsc-3.26-single, cuda, cuda-complex, cuda-single or hip"),
        (["help"], 0, "Usage: ./weft COMMAND"),
        ([], 0, "Usage: ./weft COMMAND"),
    ],
)
def test_words_of_the_front_door(tmp_path, words, code, message):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    got, output = front_door(tmp_path, *words)
    assert got == code, output
    assert message in output


def test_petsc_dir_for_the_front_door(tmp_path):
    stand_in(tmp_path, "dpkg-query", 'echo "install ok installed"')
    code, output = front_door(tmp_path, "build", PETSC_DIR="/nowhere", PETSC_ARCH="arch")
    assert code == 1
    assert sentence(output) == "weft: PETSC_DIR=/nowhere with PETSC_ARCH=arch holds no include/petscconf.h: point both at a built PETSc, or unset them"
