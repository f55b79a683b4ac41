"""The Debian packages that ./weft package made: what is in them, and how they work on a Debian that has nothing else."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WEFT_SOURCE"])
PACKAGES = Path(os.environ.get("WEFT_PACKAGES", "."))
DEBS = {deb.name.split("_")[0]: deb for deb in PACKAGES.glob("*.deb")}
needs_packages = pytest.mark.skipif(not DEBS, reason="./weft package makes the Debian packages, with Debian's PETSc")
VERSION = re.search(r"project\(weft VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
COMPLEX = "/usr/lib/petscdir/petsc3.18/$(dpkg-architecture -qDEB_HOST_MULTIARCH)-complex"
TUTORIALS = "/usr/lib/petscdir/petsc3.18/*-real/share/petsc/examples/src/ksp/ksp/tutorials"


def output(*words, code=0):
    process = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.returncode == code, process.stdout
    return process.stdout


def contents(package):
    listed = output("dpkg-deb", "--contents", DEBS[package])
    return {line.split()[5].removeprefix("./usr/") for line in listed.splitlines() if not line.startswith("d")}


def test_the_version_is_that_of_the_project():
    """Where a file format wants the version written out, it is the one of CMakeLists.txt."""
    assert (SOURCE / "packaging" / "debian" / "changelog").read_text().startswith(f"weft ({VERSION}-")
    assert f'version("{VERSION}")' in (SOURCE / "packaging" / "spack" / "spack_repo" / "weft" / "packages" / "weft" / "package.py").read_text()
    soname = ".".join(VERSION.split(".")[:2])
    for name in (f"libweft{soname}.install", f"libweft{soname}.symbols"):
        assert (SOURCE / "packaging" / "debian" / name).is_file()
    assert f"WEFT_{soname} {VERSION}" in (SOURCE / "packaging" / "debian" / f"libweft{soname}.symbols").read_text()


@needs_packages
def test_what_is_in_which_package():
    soname = ".".join(VERSION.split(".")[:2])
    assert {"weft", "libweft-dev", f"libweft{soname}"} <= set(DEBS)
    library = {name for name in contents(f"libweft{soname}") if not name.startswith("share/doc")}
    assert sorted(Path(name).name for name in library) == [f"libweft.so.{soname}", f"libweft_compact.so.{soname}"]
    development = contents("libweft-dev")
    for name in ("include/weft/weft.h", "include/weft/weft_compact.h", "include/weft/pc/line/line.h", "share/man/man3/PCLINE.3.gz", "share/man/man3/PCLineSetDirection.3.gz"):
        assert name in development
    assert {"libweft.so", "libweft_compact.so", "weft.pc", "weft-compact.pc", "weft-config.cmake"} <= {Path(name).name for name in development}
    assert {"bin/weft-config", "bin/weft_mm", "share/man/man1/weft-config.1.gz", "share/weft/examples/diffusion/multigrid-line.opts"} <= contents("weft")
    assert "libpetsc-real3.18" in output("dpkg-deb", "--field", DEBS[f"libweft{soname}"], "Depends")


@needs_packages
@pytest.mark.skipif("weft-complex" not in DEBS, reason="built with DEB_BUILD_PROFILES=pkg.weft.nocomplex")
def test_complex_scalars_have_a_package_of_their_own():
    inside = contents("weft-complex")
    for name in ("lib/weft-complex/lib/libweft.so", "lib/weft-complex/include/weft/weft.h", "lib/weft-complex/bin/weft_mm", "bin/weft-config-complex", "bin/weft_mm-complex"):
        assert name in inside, name
    assert "libpetsc-complex3.18" in output("dpkg-deb", "--field", DEBS["weft-complex"], "Depends")
    assert not inside & (contents("weft") | contents("libweft-dev"))  # so that both can be installed


@needs_packages
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("debootstrap"), reason="a clean Debian is made by root, with debootstrap")
def test_a_clean_debian(tmp_path):
    """debootstrap's smallest system, the packages by apt, and a tutorial of PETSc's."""
    root = tmp_path / "root"
    output("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root)
    (root / "debs").mkdir()
    for file in [*DEBS.values(), *PACKAGES.glob("*.changes"), *PACKAGES.glob("*.buildinfo")]:
        shutil.copy(file, root / "debs")
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    # Where the package is there, the same tutorial by a PETSc with complex scalars too.
    complex_too = f"""apt-get install -y -qq --no-install-recommends dpkg-dev libpetsc-complex3.18-dev > /install.log 2>&1 || {{ tail -n 30 /install.log; exit 1; }}
mpicc {TUTORIALS}/ex50.c -o ex50c $(PKG_CONFIG_PATH={COMPLEX}/lib/pkgconfig pkg-config --cflags --libs PETSc) -lm
echo complex scalars: $(weft-config-complex --scalars)
./ex50c $(weft-config-complex --options) -da_grid_x 17 -da_grid_y 129 -pc_type bcr -ksp_view -ksp_converged_reason
! ./ex50c $(weft-config --options) -da_grid_x 17 -da_grid_y 129 > /other.log 2>&1
grep -q 'libweft was built with PETSc scalars of type DOUBLE and this program.s are COMPLEX' /other.log
"""
    (root / "try").write_text(
        f"""set -e
export DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HWLOC_HIDE_ERRORS=2
apt-get update -qq
apt-get install -y -qq --no-install-recommends /debs/*.deb lintian libpetsc3.18-dev-examples gcc pkg-config > /install.log 2>&1 || {{ tail -n 30 /install.log; exit 1; }}
mount -t proc proc /proc
trap 'umount /proc' EXIT
lintian --allow-root --fail-on error /debs/*.changes
cd /tmp
mpicc {TUTORIALS}/ex50.c -o ex50 $(pkg-config --cflags --libs PETSc) -lm
./ex50 $(weft-config --options) -da_grid_x 17 -da_grid_y 129 -pc_type line -ksp_view -ksp_converged_reason
{complex_too if "weft-complex" in DEBS else ""}apt-get remove -y -qq weft libweft-dev libweft0.2 > /remove.log
! test -e /usr/bin/weft-config
"""
    )
    tried = output("chroot", root, "/usr/bin/env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "/bin/bash", "/try")
    assert "type: line" in tried and "Linear solve converged due to CONVERGED_RTOL" in tried
    if "weft-complex" in DEBS:
        assert "complex scalars: complex" in tried and "type: bcr" in tried and tried.count("Linear solve converged due to CONVERGED_RTOL") == 2, tried
