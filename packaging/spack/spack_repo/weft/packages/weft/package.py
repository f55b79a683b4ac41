from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Weft(CMakePackage, CudaPackage):
    """Line relaxation, alternating directions, direct solvers for separable operators and Crout factorizations
    for PETSc, on hosts and GPUs: a library that PETSc loads at run time."""

    license("BSD-2-Clause")

    # The recipe lies in Weft's own repository: spack dev-build weft@0.2.0, or spack develop, builds the checkout around it.
    version("0.2.0")

    variant("examples", default=False, description="Build the examples and weft_mm")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    depends_on("petsc@3.18:3.26+shared+double~complex")
    depends_on("blas")
    depends_on("lapack")
    depends_on("mpi", when="^petsc+mpi")
    # PETSc's own Kokkos, or a private one whose symbols stay inside the library.
    depends_on("kokkos@4.5:5")
    depends_on("kokkos+shared", when="^petsc+kokkos")
    depends_on("kokkos~shared+pic+serial", when="^petsc~kokkos")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc@3.20:+cuda+kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=90")
    with when("+examples"):
        depends_on("suite-sparse")
        depends_on("nlohmann-json")
        depends_on("zlib-api")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("PETSC_DIR", self.spec["petsc"].prefix),
            self.define("PETSC_ARCH", ""),
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            # The BLAS and LAPACK of this spec, not the first that CMake finds on the machine.
            self.define("BLAS_LIBRARIES", self.spec["blas"].libs),
            self.define("LAPACK_LIBRARIES", self.spec["lapack"].libs + self.spec["blas"].libs),
            # PETSc's tutorials are for the demo and the tests, and nothing of them is installed.
            self.define("WEFT_TUTORIALS", False),
            self.define_from_variant("WEFT_EXAMPLES", "examples"),
        ]
