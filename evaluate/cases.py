"""What is compared: problems, configurations, and the cases they make together."""

import dataclasses
import hashlib
import json
import pathlib

from . import InputError, grids, inputs
from .child import RESULT

HERE = pathlib.Path(__file__).resolve().parent
GMRES = "-ksp_type gmres -ksp_gmres_restart 50 -ksp_pc_side right"
WEFT = ("line", "crout", "adi", "bcr", "boxmg")
READING = "reading"  # the configuration of rows about matrices, not solves
# Where vectors and matrices live: options of a program that reads a matrix, and with dm_ before them of one with a grid. device is CUDA's.
BACKENDS = {"host": {}, "device": {"mat_type": "aijcusparse", "vec_type": "cuda"}, "hip": {"mat_type": "aijhipsparse", "vec_type": "hip"},
            "kokkos": {"mat_type": "aijkokkos", "vec_type": "kokkos"}}
# What makes a program that knows nothing of this evaluation say what it did; -log_view's file is the result.
WATCHED = f"-ksp_converged_reason -ksp_monitor -ksp_view_final_residual -log_view :{RESULT}"


@dataclasses.dataclass
class Problem:
    """A matrix (file) or a model problem: options of a program, examples/diffusion or one of PETSc's tutorials, untouched. grid: the options that give a
    matrix its grid, where it is known. facts: what is known of it, filled in as it becomes known."""
    name: str
    kind: str  # matrix, grid
    file: str = ""
    program: str = "diffusion"
    options: str = ""
    grid: str = ""
    family: str = ""
    parameter: float | None = None
    quick: bool = False
    facts: dict = dataclasses.field(default_factory=dict)

    @property
    def untouched(self):
        """Whether its program knows nothing of this evaluation."""
        return self.kind == "grid" and self.program != "diffusion"

    @property
    def kinds(self):
        """What a configuration calls it."""
        return {self.kind, "gridded"} if self.grid else {self.kind}

    @property
    def symmetric(self):
        return bool(self.facts.get("symmetric"))

    @property
    def hermitian(self):
        """What real symmetric matrices are too."""
        return bool(self.facts.get("hermitian", self.symmetric))

    @property
    def definite(self):
        """Hermitian and of one sign, as far as is known: where a factorization would have taken too long, a diagonal of one sign must do."""
        return self.facts.get("definite") in ("positive", "negative", "unknown")


@dataclasses.dataclass
class Configuration:
    """A set of PETSc options. kinds: the problems it can be tried on; needs: "", symmetric, definite; krylov: auto, or none where the options name it."""
    name: str
    options: str
    type: str = ""
    kinds: tuple = ("matrix", "grid")
    needs: str = ""
    krylov: str = "auto"
    quick: bool = False

    def fits(self, problem):
        if not problem.kinds & set(self.kinds):
            return False
        # L D L^T without pivoting is of symmetric matrices: definite ones, or complex ones, which have no sign.
        return {"": True, "symmetric": problem.symmetric, "definite": problem.symmetric and (problem.definite or not problem.hermitian)}[self.needs]

    def full_options(self, problem):
        """What to paste: the matrix's grid where it is needed, the Krylov method and the preconditioner."""
        words = [problem.grid] if problem.kind not in self.kinds else []
        if self.krylov != "none":
            words.append("-ksp_type cg" if self.krylov != "gmres" and problem.definite else self.krylov_options())
        return " ".join(filter(None, [*words, self.options]))

    def krylov_options(self):
        return "-ksp_type fgmres -ksp_gmres_restart 50" if self.krylov == "flexible" else GMRES


@dataclasses.dataclass
class Case:
    problem: Problem
    configuration: Configuration
    command: list
    key: str = ""

    @property
    def name(self):
        return f"{self.problem.name} + {self.configuration.name}"


def read_json(path, what):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: it should be {what}") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} is no JSON: {error}; it should be {what}") from None


def first_type(options):
    """The type that the options name: what the results can be filtered by."""
    words = options.split()
    for option in ("-mg_levels_pc_type", "-pc_factor_mat_solver_type", "-pc_type", "-ksp_type"):
        if option in words[:-1]:
            return words[words.index(option) + 1]
    return "default"


def configurations(path=HERE / "configurations.json"):
    entries = read_json(path, "a list of configurations")
    if not isinstance(entries, list) or not entries:
        raise InputError(f'{path}: configurations are a list of objects like {{"name": "my ilu", "options": "-pc_type ilu"}}')
    known = {field.name for field in dataclasses.fields(Configuration)}
    found = []
    for number, entry in enumerate(entries, 1):
        where = f"{path}, entry {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not isinstance(entry.get("options"), str):
            raise InputError(f"{where}: a configuration needs a name and options, both text")
        if strange := set(entry) - known:
            raise InputError(f"{where}: nothing is known of '{strange.pop()}'; it takes {', '.join(sorted(known))}")
        configuration = Configuration(**{**entry, "kinds": tuple(entry.get("kinds", ("matrix", "grid"))), "type": entry.get("type") or first_type(entry["options"])})
        if configuration.needs not in ("", "symmetric", "definite") or configuration.krylov not in ("auto", "none", "gmres", "flexible"):
            raise InputError(f"{where}: needs is symmetric or definite, krylov is auto, gmres, flexible or none")
        if not configuration.kinds or not set(configuration.kinds) <= {"matrix", "gridded", "grid"}:
            raise InputError(f"{where}: kinds are matrix, gridded (matrices whose grid is known) and grid (model problems)")
        if any(configuration.name == other.name for other in found):
            raise InputError(f"{where}: '{configuration.name}' is there twice")
        found.append(configuration)
    return found


def pick(configurations_, types):
    """Those of the types that --types named."""
    if not types:
        return configurations_
    known = sorted({configuration.type for configuration in configurations_})
    wanted = [word.strip() for word in types.split(",") if word.strip()]
    if unknown := [word for word in wanted if word not in known]:
        raise InputError(f"--types: there is no configuration of type '{unknown[0]}'; there are {', '.join(known)}")
    if not wanted:
        raise InputError(f"--types names none; there are {', '.join(known)}")
    return [configuration for configuration in configurations_ if configuration.type in wanted]


def models(path=HERE / "models.json"):
    return [Problem(kind="grid", **entry) for entry in read_json(path, "a list of model problems")]


def matrices(given, unpack_to, own_grids=None, scalars="real"):
    known = grids.options(HERE / "grids.json", read_json)
    if own_grids:
        known |= grids.options(own_grids, read_json)
    return [Problem(name=name, kind="matrix", file=str(file), grid=known.get(name, ""), facts={"digest": inputs.digest(file)}) for name, file in inputs.find(given, unpack_to, scalars).items()]


class Commands:
    """How a problem is solved with a configuration: the program's words, and the key by which a result is found again."""

    def __init__(self, arguments, fingerprint):
        self.build, self.backend, self.rtol = arguments.build, arguments.backend, arguments.rtol
        self.most, self.repeat = arguments.max_it, arguments.repeat
        self.fixed = [fingerprint, arguments.time_limit, arguments.memory_limit]

    def case(self, problem, configuration):
        matrix = problem.kind == "matrix"
        words = [str(self.build / "bin" / ("weft_mm" if matrix else problem.program))]
        words += [problem.file] if matrix else problem.options.split()
        words += ["-dll_append", str(self.build / "lib" / "libweft.so"), "-ksp_rtol", f"{self.rtol:g}", "-ksp_norm_type", "unpreconditioned",
                  "-ksp_max_it", str(self.most)]
        words += [word for name, value in BACKENDS[self.backend].items() for word in (f"-{'' if matrix else 'dm_'}{name}", value)]
        if not problem.untouched:
            # A random right-hand side, always the same: one of ones can be too easy.
            words += ["-rhs", "random", "-repeat", str(self.repeat if matrix else max(1, self.repeat))]
        words += configuration.full_options(problem).split()
        key = self.key(problem, words[1:])
        return Case(problem, configuration, words + (["-json", RESULT] if matrix else WATCHED.split() if problem.untouched else []), key)

    def describe(self, problem):
        words = [str(self.build / "bin" / "weft_mm"), problem.file, "-describe"]
        return Case(problem, Configuration(READING, "", type=READING), words + ["-json", RESULT], self.key(problem, words[1:]))

    def key(self, problem, words):
        """Two runs with the same key would give the same result: same file, options, limits, library."""
        words = [word for word in words if word != problem.file and not word.endswith("libweft.so")]
        which = problem.program if problem.untouched else problem.facts.get("digest", "")
        return hashlib.sha256(json.dumps([which, words, *self.fixed]).encode()).hexdigest()[:20]
