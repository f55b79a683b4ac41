"""The programs of the gallery: where their untouched sources come from, how they are built and run, and the option sets that are compared."""

import base64
import re
import zlib

import numpy

PETSC = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/share/petsc/examples/src"
SLEPC = "/usr/share/slepc/3.18/share/slepc/examples/src"
DEALII = "/usr/share/doc/libdeal.ii-doc/examples"
DOLFINX = "/usr/share/dolfinx"
PACKAGES = {  # of a way to build; Weft's library needs the first
    "petsc": "libopenblas0-pthread libpetsc-real3.18-dev libpetsc3.18-dev-examples openmpi-bin gcc pkg-config",
    "slepc": "libopenblas0-pthread libslepc-real3.18-dev libslepc3.18-dev-examples openmpi-bin gcc pkg-config",
    "deal.II": "libopenblas0-pthread libdeal.ii-dev libdeal.ii-doc g++ cmake make",
    "python": "libopenblas0-pthread python3-dolfinx-real dolfinx-doc python3-h5py gcc",
}

ONE_SWEEP = "-mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1"
AMG = {"GAMG": "-pc_type gamg", "BoomerAMG": "-pc_type hypre"}
LU = {"LU": "-pc_type lu", **{f"LU of {name}": f"-pc_type lu -pc_factor_mat_solver_type {name.lower()}" for name in ("MUMPS", "UMFPACK")}}
CHOLESKY = {"Cholesky": "-pc_type cholesky", **{f"Cholesky of {name}": f"-pc_type cholesky -pc_factor_mat_solver_type {name.lower()}" for name in ("MUMPS", "CHOLMOD")}}


def under(prefix, options):
    """The option sets with each option under a prefix."""
    return {name: re.sub(r"(^| )-", rf"\1-{prefix}", text) for name, text in options.items()}


def of_block(options):
    """The option sets for the one block that a rank has: a program whose matrix is MPIAIJ on one rank too gets those of SeqAIJ."""
    return {name: f"-pc_type bjacobi {text}" for name, text in under("sub_", options).items()}


def cg(options):
    return {f"CG, {name}": f"-ksp_type cg {text}" for name, text in options.items()}


def levels(text):
    """A smoother's options for each level: a program that sets those of all levels itself does not touch them."""
    return " ".join(word for level in range(1, 6) for word in re.sub(r"(^| )-", rf"\1-mg_levels_{level}_", text).split())


def square(unknowns, which):
    """One unknown at the nodes of a square grid."""
    return lambda folder, x: x.reshape(-1, unknowns)[:, which].reshape(int(round((len(x) / unknowns) ** 0.5)), -1)


def largest(x):
    """What can be compared where meshes are adapted: errors of mirrored cells are the same but for rounding, and which of them are refined is chance."""
    return abs(x).max(initial=0, keepdims=True)


def vtk(path, of):
    """x, y, triangles and values of a VTK file of deal.II, text or compressed XML, cells of four corners: `of` makes values of its arrays by name."""
    text = path.read_text(errors="replace")
    if text.startswith("# vtk"):
        points = numpy.array(re.search(r"POINTS \d+ \w+\n(.*?)\n\s*\n?CELLS", text, re.S)[1].split(), float).reshape(-1, 3)
        cells = numpy.array(re.search(r"CELLS \d+ \d+\n(.*?)CELL_TYPES", text, re.S)[1].split(), int).reshape(-1, 5)[:, 1:]
        arrays = {name: numpy.array(values.split(), float) for name, values in re.findall(r"SCALARS (\w+) double 1\nLOOKUP_TABLE default\n([-+.\deinf\s]*)", text)}
        return points[:, 0], points[:, 1], cells, of(arrays)
    arrays, kinds = {}, {"Float64": "<f8", "Float32": "<f4", "Int32": "<i4", "UInt32": "<u4", "Int64": "<i8", "UInt64": "<u8", "UInt8": "<u1"}
    for kind, name, data in re.findall(r'<DataArray type="(\w+)"(?: Name="(\w+)")?[^>]*format="binary"[^>]*>\s*([^<]*?)\s*</DataArray>', text):
        # the header says how many blocks there are, how large they are, and how many bytes each has when packed
        blocks = int.from_bytes(base64.b64decode(data[:8])[:4], "little")
        end = (4 * (3 + blocks) + 2) // 3 * 4
        sizes = numpy.frombuffer(base64.b64decode(data[:end])[: 4 * (3 + blocks)], "<u4")[3:]
        packed, begin, out = base64.b64decode(data[end:]), 0, b""
        for size in sizes:
            out += zlib.decompress(packed[begin : begin + size])
            begin += size
        arrays[name or "points"] = numpy.frombuffer(out, kinds[kind])
    points = arrays["points"].reshape(-1, 3)
    return points[:, 0], points[:, 1], arrays["connectivity"].reshape(-1, 4), of(arrays)


def xdmf(path, of):
    """The same from dolfinx's XDMF with triangles, whose numbers are in an HDF5 file."""
    import h5py

    with h5py.File(path.with_suffix(".h5")) as file:
        points, cells = file["Mesh/mesh/geometry"][:], file["Mesh/mesh/topology"][:]
        values = next(iter(next(iter(file["Function"].values())).values()))[:]
    return points[:, 0], points[:, 1], cells, of(values)


# A program: its source, how it is built, its problem (options that all runs share), a tiny one for tests, what shows its answer (an option for PETSc, or a pattern
# of what it prints), and option sets. `solver` is the frame of its whole solver in PETSc's log, where that is more than linear systems; `timed` the frames that count
# in place of linear systems; `field` what its picture shows.
PROGRAMS = {
    "cavity": {
        "title": "PETSc SNES ex19: driven cavity",
        "source": f"{PETSC}/snes/tutorials/ex19.c",
        "build": "petsc",
        "binary": "snes_ex19",
        "problem": "-da_refine 5 -grashof 1e3",
        "tiny": "-da_refine 2 -grashof 100",
        "answer": "-snes_view_solution",
        "solver": "SNESSolve",
        "default": {"ILU": ""},
        "petsc": {"MG": "-pc_type mg", "MG, one sweep": f"-pc_type mg {ONE_SWEEP}", "ASM": "-pc_type asm", "BoomerAMG": "-pc_type hypre", **LU},
        "weft": {
            "MG, line": "-pc_type mg -mg_levels_pc_type line",
            "MG, line, one sweep": f"-pc_type mg {ONE_SWEEP} -mg_levels_pc_type line",
            "boxmg": "-pc_type boxmg",
            "crout": "-pc_type crout",
        },
        "field": square(4, 3),
        "shows": "temperature",
    },
    "ice": {
        "title": "PETSc SNES ex48: ice sheet",
        "source": f"{PETSC}/snes/tutorials/ex48.c",
        "build": "petsc",
        "binary": "snes_ex48",
        "problem": "-M 5 -P 3 -da_refine 3 -thi_hom x -thi_L 10e3 -thi_mat_type aij",
        "answer": "-snes_view_solution",
        "solver": "SNESSolve",
        "default": {"ILU": ""},
        "petsc": {
            "MG": "-pc_type mg",
            "MG, one sweep": f"-pc_type mg {ONE_SWEEP}",
            "MG, ILU": "-ksp_type fgmres -pc_type mg -mg_levels_ksp_type gmres -mg_levels_ksp_max_it 1 -mg_levels_pc_type ilu",
            "MG, ILU, one sweep": f"-pc_type mg {ONE_SWEEP} -mg_levels_pc_type ilu",
            "GAMG": "-pc_type gamg",
        },
        "weft": {
            "MG, line": "-pc_type mg -mg_levels_pc_type line",
            "MG, line, one sweep": f"-pc_type mg {ONE_SWEEP} -mg_levels_pc_type line",
            "boxmg": "-pc_type boxmg",
        },
        # the first unknown at the top of each column, which is the last node of it: 17 = (3 - 1) 8 + 1
        "field": lambda folder, x: x.reshape(-1, 17, 2)[:, -1, 0].reshape(int(round((len(x) / 34) ** 0.5)), -1).T,
        "shows": "velocity along x at the surface, scaled",
    },
    "bratu": {
        "title": "PETSc SNES ex5: Bratu's problem",
        "source": f"{PETSC}/snes/tutorials/ex5.c",
        "build": "petsc",
        "binary": "snes_ex5",
        "problem": "-da_grid_x 257 -da_grid_y 257",
        "tiny": "-da_grid_x 33 -da_grid_y 33",
        "answer": "-snes_view_solution",
        "solver": "SNESSolve",
        "default": {"ILU": ""},
        "petsc": {"MG": "-pc_type mg -pc_mg_levels 5 -pc_mg_galerkin", **AMG, **LU},
        "weft": {"CG, bcr": "-ksp_type cg -pc_type bcr", "CG, boxmg": "-ksp_type cg -pc_type boxmg"},
        "field": square(1, 0),
        "shows": "temperature",
    },
    "heat": {
        "title": "PETSc TS ex13: heat",
        "source": f"{PETSC}/ts/tutorials/ex13.c",
        "build": "petsc",
        "binary": "ts_ex13",
        "problem": "-da_grid_x 257 -da_grid_y 257 -ts_dt 1e-3 -ts_max_steps 20 -ksp_rtol 1e-8",
        "tiny": "-da_grid_x 17 -da_grid_y 17 -ts_dt 1e-3 -ts_max_steps 3 -ksp_rtol 1e-8",
        "answer": "-ts_view_solution",
        "solver": "TSStep",
        "default": {"ILU": ""},
        "petsc": {"CG, ICC": "-ksp_type cg -pc_type icc", "MG": "-pc_type mg -pc_mg_levels 5 -pc_mg_galerkin", **AMG, **LU},
        "weft": {"bcr": "-ksp_type preonly -pc_type bcr", "boxmg": "-pc_type boxmg", "adi": "-ksp_type adi"},
        "field": square(1, 0),
        "shows": "temperature",
    },
    "advection": {
        "title": "PETSc TS ex3: advection and diffusion",
        "source": f"{PETSC}/ts/tutorials/advection-diffusion-reaction/ex3.c",
        "build": "petsc",
        "problem": "-da_grid_x 100000 -a 1 -d 0.01 -ts_type cn -ts_dt 0.01 -ts_max_steps 20 -ksp_rtol 1e-10",
        "answer": "-ts_view_solution",
        "solver": "TSStep",
        "default": {"ILU": ""},
        "petsc": {**AMG, **LU},
        "weft": {"line": "-ksp_type preonly -pc_type line", "GMRES, line": "-pc_type line"},
    },
    "spots": {
        "title": "PETSc TS ex5: Gray-Scott's reaction and diffusion",
        "source": f"{PETSC}/ts/tutorials/advection-diffusion-reaction/ex5.c",
        "with": "reaction_diffusion.c",
        "build": "petsc",
        "problem": "-da_grid_x 128 -da_grid_y 128 -ts_dt 10 -ts_max_steps 20",
        "answer": "-ts_view_solution",
        "solver": "TSStep",
        "default": {"ILU": ""},
        "petsc": {"MG": "-pc_type mg -pc_mg_levels 3 -pc_mg_galerkin", "SOR": "-pc_type sor", **AMG, **LU},
        "weft": {"boxmg": "-pc_type boxmg", "line": "-pc_type line", "crout": "-pc_type crout"},
        "field": square(2, 1),
        "shows": "the second species",
    },
    "sponge": {
        "title": "PETSc KSP ex49: elasticity of a sponge",
        "source": f"{PETSC}/ksp/ksp/tutorials/ex49.c",
        "build": "petsc",
        "binary": "ex49",
        "problem": "-mx 240 -my 240 -c_str 3 -sponge_E0 1 -sponge_E1 1000 -sponge_nu0 0.4 -sponge_nu1 0.2 -sponge_t 1 -sponge_w 8 -no_view "
        "-elas_ksp_rtol 1e-8 -elas_ksp_max_it 20000",
        "tiny": "-mx 16 -my 16 -c_str 3 -sponge_E0 1 -sponge_E1 100 -sponge_t 2 -sponge_w 4 -no_view -elas_ksp_rtol 1e-8 -elas_ksp_max_it 2000",
        "prefix": "elas_",
        "answer": "-elas_ksp_view_solution",
        "default": {"ILU": ""},
        "petsc": under("elas_", {**cg(AMG), "CG, ICC": "-ksp_type cg -pc_type icc", **CHOLESKY}),
        "weft": under(
            "elas_",
            {
                "CG, GAMG, line": "-ksp_type cg -pc_type gamg -mg_levels_pc_type line",
                "Cholesky of crout": "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type crout",
            },
        ),
    },
    "brick": {
        "title": "PETSc KSP ex56: elasticity in space",
        "source": f"{PETSC}/ksp/ksp/tutorials/ex56.c",
        "build": "petsc",
        "problem": "-ne 24 -ksp_rtol 1e-8 -ksp_max_it 3000 -use_mat_nearnullspace -log_stages 0",
        "answer": "-ksp_view_solution",
        "default": {"ILU": ""},
        "petsc": {**cg(AMG), "CG, ICC": "-ksp_type cg -pc_type icc"},
        "weft": {"CG, GAMG, line": "-ksp_type cg -pc_type gamg -mg_levels_pc_type line", "CG, crout": "-ksp_type cg -pc_type crout"},
    },
    "eigenvalues": {
        "title": "SLEPc EPS ex19: eigenvalues by shift and invert",
        "source": f"{SLEPC}/eps/tutorials/ex19.c",
        "build": "slepc",
        "problem": "-da_grid_x 37 -da_grid_y 40 -da_grid_z 43 -eps_nev 8 -st_type sinvert -eps_target 0 -eps_target_magnitude",
        "prefix": "st_",
        "answer": r"^ +([\d.]+(?:e[-+]\d+)?) +[\d.]+(?:e[-+]\d+)? +[\d.]+(?:e[-+]\d+)?$",
        "first": 8,
        "timed": {"EPSSolve", "EPSSetUp", "STSetUp"},
        "default": {"LU": ""},
        "petsc": under(
            "st_",
            {
                "LU of MUMPS": "-pc_factor_mat_solver_type mumps",
                **CHOLESKY,
                "CG, GAMG": "-ksp_type cg -ksp_rtol 1e-10 -pc_type gamg",
                "CG, BoomerAMG": "-ksp_type cg -ksp_rtol 1e-10 -pc_type hypre",
            },
        ),
        "weft": under("st_", {"bcr": "-ksp_type preonly -pc_type bcr", "CG, boxmg": "-ksp_type cg -ksp_rtol 1e-10 -pc_type boxmg"}),
    },
    "step-17": {
        "title": "deal.II step-17: elasticity",
        "source": f"{DEALII}/step-17/step-17.cc",
        "build": "deal.II",
        "problem": "",
        "answer": "-ksp_view_solution",
        "compared": largest,
        "tolerance": 1e-2,
        "default": {"ILU of blocks": ""},
        "petsc": {"SOR": "-pc_type sor", "ILU(1)": "-sub_pc_factor_levels 1", **AMG, **of_block(LU)},
        "weft": {
            "GAMG, line": "-pc_type gamg -mg_levels_pc_type line",
            "line": "-pc_type line",
            "crout": "-pc_type crout",
            "crout, whole factors": "-pc_type crout -pc_crout_pattern full",
        },
        "field": lambda folder, x: vtk(folder / "solution-9.vtk", lambda arrays: arrays["x_displacement"]),
        "shows": "displacement along x",
    },
    "step-18": {
        "title": "deal.II step-18: a cylinder that is pressed",
        "source": f"{DEALII}/step-18/step-18.cc",
        "build": "deal.II",
        "problem": "",
        "answer": "-ksp_view_solution",
        "compared": largest,
        "tolerance": 1e-2,
        "default": {"ILU of blocks": ""},
        "petsc": {"SOR": "-pc_type sor", "ILU(1)": "-sub_pc_factor_levels 1", "GAMG": "-pc_type gamg", "Cholesky of CHOLMOD": of_block(CHOLESKY)["Cholesky of CHOLMOD"]},
        "weft": {
            "line": "-pc_type line",
            "crout": "-pc_type crout",
            "crout, whole factors": "-pc_type crout -pc_crout_pattern full",
        },
    },
    "step-40": {
        "title": "deal.II step-40: Laplace on adapted meshes",
        "source": f"{DEALII}/step-40/step-40.cc",
        "build": "deal.II",
        "problem": "",
        "answer": "-ksp_view_solution",
        "compared": largest,
        "tolerance": 1e-2,
        "default": {"BoomerAMG": ""},
        "petsc": {"GAMG": "-pc_type gamg", "ICC": "-pc_type bjacobi -sub_pc_type icc", "Cholesky of CHOLMOD": of_block(CHOLESKY)["Cholesky of CHOLMOD"]},
        "weft": {
            "GAMG, line": "-pc_type gamg -mg_levels_pc_type line",
            "line": "-pc_type line",
            "crout": "-pc_type crout",
            "crout, whole factors": "-pc_type crout -pc_crout_pattern full",
        },
        "field": lambda folder, x: vtk(folder / "solution_07.0.vtu", lambda arrays: arrays["u"]),
        "shows": "solution",
    },
    "elasticity": {
        "title": "dolfinx demo_elasticity",
        "source": f"{DOLFINX}/demo-python/demo_elasticity.py",
        "build": "python",
        "problem": "",
        "answer": "-ksp_view_solution",
        "default": {"GAMG, Jacobi": ""},
        "petsc": {
            "GAMG, SOR": levels("-pc_type sor"),
            "GAMG, Jacobi, one step": levels("-ksp_max_it 1"),
            "GAMG, Jacobi, four steps": levels("-ksp_max_it 4"),
            "GAMG, Jacobi, threshold": "-pc_gamg_threshold 0.02",
        },
        "weft": {
            "GAMG, line": levels("-pc_type line"),
            "GAMG, line, one step": levels("-pc_type line -ksp_max_it 1"),
            "GAMG, line, threshold": levels("-pc_type line") + " -pc_gamg_threshold 0.02",
        },
    },
    "stokes": {
        "title": "dolfinx demo_stokes",
        "source": f"{DOLFINX}/demo-python/demo_stokes.py",
        "build": "python",
        "problem": "",
        "answer": r"\([AB]\) Norm of \w+ coefficient vector .*: (\S+)",
        "solves": 2,  # the other two are by SuperLU_DIST, which options do not reach, and which fails with Debian's packages
        "not_timed": "^(KSPSolve;)?(PCSetUp;|PCApply;)?Mat(LUFactor|Solve)",
        "default": {"GAMG": ""},
        "petsc": under("fieldsplit_u_", {"BoomerAMG": "-pc_type hypre", **CHOLESKY}),
        "weft": under(
            "fieldsplit_u_",
            {"GAMG, line": "-pc_type gamg -mg_levels_pc_type line", "line": "-pc_type line", "Cholesky of crout": "-pc_type cholesky -pc_factor_mat_solver_type crout"},
        ),
        "field": lambda folder, x: xdmf(folder / "out_stokes" / "velocity.xdmf", lambda values: numpy.hypot(values[:, 0], values[:, 1])),
        "shows": "velocity",
    },
}
