"""-pc_type adi and -ksp_type adi with complex scalars, from petsc4py: beside a dense twin, and by what turning and shifting a matrix does."""

import re
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

CASES = Path(__file__).parent / "programs" / "adi_cases.py"

pytestmark = needs_petsc4py


def case(name, options="", ranks=1, expect=0):
    return programs.python(CASES, f"-case {name} {options}", ranks=ranks, environment=complex_petsc.PETSC, expect=expect).output


def solves(output):
    """{name: (reason, iterations, residual)}"""
    found = re.findall(r"^(.+): reason (-?\d+), iterations (\d+), residual (\S+)$", output, re.MULTILINE)
    return {name: (int(reason), int(iterations), float(residual)) for name, reason, iterations, residual in found}


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("name, count", [("twins", 70), ("lines", 6)])
def test_applications_are_those_of_a_dense_twin(name, count, ranks):
    lines = case(name, ranks=ranks).splitlines()
    assert [line for line in lines if not line.endswith(": alike")] == []
    assert len(lines) == count


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_turned_matrix_takes_the_iterations_of_the_real_one(ranks):
    found = {}
    for line in case("turned", ranks=ranks).splitlines():
        found.setdefault(line.split(":")[0], []).append(line.split(": ")[1])
    assert {shape: len(counts) for shape, counts in found.items()} == {"plane": 6, "ring": 6, "space": 6}
    for shape, counts in found.items():
        assert set(counts) == {counts[0]} and max(map(int, counts[0].split())) <= 10, (shape, counts)


@pytest.mark.parametrize("ranks", [1, 4])
def test_time_steps_of_schroedingers_equation(ranks):
    found = solves(case("steps", ranks=ranks))
    assert len(found) == 8
    for name, (reason, iterations, residual) in found.items():
        assert reason > 0 and iterations <= 8 and residual < 1e-8, name
    assert found["2 directions, dt 0.01"][1] <= 3


@pytest.mark.parametrize("ranks", [1, 3])
def test_shifted_laplacians(ranks):
    found = solves(case("shifted", ranks=ranks))
    assert len(found) == 7
    for name, (reason, iterations, residual) in found.items():
        assert reason > 0 and residual < 1e-8, name
        assert iterations <= (15 if name.endswith("adi") else 90), name


def test_a_cycle_keeps_its_promise():
    output = case("promise")
    left = [float(value) for value in re.findall(r"has left (\S+)$", output, re.MULTILINE)]
    promised = [float(value) for value in re.findall(r"a cycle leaves (\S+) of the error at most", output)]
    assert len(left) == len(promised) == 18
    for now, most in zip(left, promised):
        assert 0.5 * most <= now <= 1.005 * most, output


@pytest.mark.parametrize("ranks", [1, 2])
def test_strong_convection(ranks):
    found = solves(case("convection", ranks=ranks))
    assert len(found) == 4
    for name, (reason, iterations, residual) in found.items():
        assert reason > 0 and iterations <= 12 and residual < 1e-8, name


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_symmetric_form_is_hermitian_or_complex_symmetric(ranks):
    output = case("hermitian", ranks=ranks)
    found = solves(output)
    assert "adjoint: alike" in output and "definite: yes" in output
    assert found["magnetic, cg"][0] > 0 and found["magnetic, cg"][1] <= 12
    assert found["magnetic, gmres"][0] > 0 and found["magnetic, gmres"][1] <= 8
    output = case("symmetric", ranks=ranks)
    found = solves(output)
    assert "symmetric: alike" in output
    assert found["form"][0] > 0 and found["form"][1] <= 20 and found["scheme"][0] > 0
    assert "nothing is promised of a cycle: the parts do not commute" in output


@pytest.mark.parametrize("ranks", [1, 3])
def test_known_values_are_met_at_once(ranks):
    output = case("known", ranks=ranks)
    assert output.count("known: alike") == 6, output
    assert all(int(reason) > 0 for reason in re.findall(r"rest: reason (-?\d+)", output)), output


@pytest.mark.parametrize("ranks", [1, 2])
def test_shifts_and_bounds_by_hand(ranks):
    output = case("given", ranks=ranks)
    assert "shifts (given, 3 in a cycle): 0.5+2i 0.-3i 0.5+2i" in output and "given: -pc_adi_shifts 0.5+2i,0-3i" in output, output
    found = solves(output)
    assert len(found) == 4 and all(reason > 0 and iterations <= 8 for reason, iterations, _ in found.values()), found


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "what, reason, sentence",
    [
        ("indefinite", -11, "PCADI: the spectra of this matrix's parts lie on all sides of zero, so no cycle of shifts is best for it"),
        ("nan", -11, "PCADI's matrix has a NaN or an infinity in it"),
        ("pivot", -11, "zero or non-finite pivot of a shifted line of PCADI"),
        ("large", -11, "times a random right-hand side: take other shifts"),
        ("diverging", -4, "the shifts of PCADI make the iteration diverge"),
    ],
)
def test_what_cannot_be_solved_fails(what, reason, sentence, ranks):
    output = case("wrong", f"-what {what} -info :pc,ksp", ranks)
    assert f"{what}: reason {reason}" in output
    assert sentence in " ".join(output.split())


@pytest.mark.parametrize("what, value", [("zero", "0"), ("infinite", "1+infi")])
def test_shifts_that_are_none_are_errors(what, value):
    sentence = f"-pc_adi_shifts: shift 1 is {value}, and complex shifts must be finite and not 0"
    assert sentence in " ".join(case("wrong", f"-what {what}", expect=None).split())


def test_petscs_own_program():
    real = programs.execute("ex50", "-da_grid_x 65 -da_grid_y 65 -ksp_rtol 1e-8 -ksp_converged_reason -ksp_type adi -ksp_view")
    assert real.iterations() == 4 and "Wachspress and Jordan" in real.output
