"""Weft as a package of PETSc's configure: with this file in config/BuildSystem/config/packages of PETSc's sources,

    ./configure --download-weft=FOLDER

builds Weft after PETSc, by ./weft build, and installs it beside. FOLDER holds Weft's sources, or is an archive of them; its name begins with weft.
"""

import os

import config.package


class Configure(config.package.Package):
    def __init__(self, framework):
        config.package.Package.__init__(self, framework)
        self.download = ["weft"]  # no address: the option names the sources
        self.functions = []
        self.includes = []
        self.buildLanguages = ["Cxx"]
        self.precisions = ["single", "double"]
        self.linkedbypetsc = 0
        self.builtafterpetsc = 1

    def setupDependencies(self, framework):
        config.package.Package.setupDependencies(self, framework)
        self.sharedLibraries = framework.require("PETSc.options.sharedLibraries", self)
        self.blasLapack = framework.require("config.packages.BlasLapack", self)
        self.mpi = framework.require("config.packages.MPI", self)
        self.kokkos = framework.require("config.packages.kokkos", self)
        self.kokkoskernels = framework.require("config.packages.kokkos-kernels", self)
        self.deps = [self.blasLapack]
        self.odeps = [self.mpi, self.kokkos, self.kokkoskernels]

    def Install(self):
        if not self.checkSharedLibrariesEnabled():
            raise RuntimeError("Weft is loaded when a program runs: it needs PETSc's shared libraries. Configure without --with-shared-libraries=0.")
        if self.argDB["prefix"] and "package-prefix-hash" not in self.argDB:
            prefix = os.path.abspath(os.path.expanduser(self.argDB["prefix"]))
            petsc = f"PETSC_DIR={prefix} PETSC_ARCH="
        else:
            prefix = os.path.join(self.petscdir.dir, self.arch)
            petsc = f"PETSC_DIR={self.petscdir.dir} PETSC_ARCH={self.arch}"
        kokkos = f" Kokkos_ROOT={self.kokkos.installDir}" if self.kokkos.found else ""  # else Weft brings a private one
        # PETSc's make rules have their dollars doubled.
        self.addPost(
            self.packageDir,
            [f"{petsc}{kokkos} ./weft build --stack own", f'cmake --install "$$(ls -dt build/own-* | head -n 1)" --prefix {prefix}'],
        )
        return self.installDir
